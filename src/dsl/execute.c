/* The interpreter: calls of operations. Those on elements, copies and rows have files of their own; here are reductions, single
 * elements, buffers and numbers, and the launch. */
#include "base/array.h"
#include "dsl/interpret_internal.h"
#include "dsl/usage.h"
#include "npu/npu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANGE_MAX = 1 << 20 };

/* dst[0] = all elements of src taken together, one after the other; what `shared` held is gone. */
static bool reduce(struct core *core, const struct dsl_expr *call, const struct lane *lane)
{
    struct value dst, src, shared;
    int64_t count;
    if (!call_memory(core, call, "dst", &dst) || !call_memory(core, call, "src", &src) ||
        !call_memory(core, call, "shared", &shared) ||
        !memory_has_type(core, call, dst.memory, src.memory->tensor.type) ||
        !memory_has_type(core, call, shared.memory, src.memory->tensor.type))
        return false;
    if (!call_count(core, call, src.length, &count) || !memory_holds(core, call, src.memory, src.offset, count) ||
        !memory_holds(core, call, dst.memory, dst.offset, 1) ||
        !memory_holds(core, call, shared.memory, shared.offset, count))
        return false;
    if (count < 1 || !memory_is_real(src.memory))
        return CORE_FAIL(core, call->place, count < 1 ? DSL_RULE_bounds : DSL_RULE_types, NULL,
                         "tl.%s of %lld elements of %s", call->operation->name, (long long)count,
                         akgen_dtype_name(src.memory->tensor.type));
    struct element all;
    struct elements next;
    struct machine *machine = core->machine;
    enum akgen_dtype type = src.memory->tensor.type;
    bool sums = lane->kinds & LANE_APPROXIMATE;
    if (!element_read(core, call, src.memory, src.offset, &all))
        return false;
    for (int64_t i = 1, n; i < count; i += n) {
        n = count - i < ELEMENTS_RUN ? count - i : ELEMENTS_RUN;
        if (!elements_read(core, call, src.memory, src.offset + i, (int)n, &next))
            return false;
        for (int64_t k = 0; k < n; k++)
            all.real = lane->real(all.real, sums ? machine_approximation(machine, type, next.real[k]) : next.real[k]);
    }
    if (sums && count > 1)
        all.real = machine_approximation(machine, type, all.real);
    memset(shared.memory->state + shared.offset, STATE_UNDEFINED, (size_t)count);
    return element_write(core, call, dst.memory, dst.offset, all);
}

/* Buffers of truth values are used as a whole: in the kernel that is made of the program they have a bit per element. */
static bool has_single_elements(struct core *core, const struct dsl_expr *call, const struct value *value)
{
    return !value->memory->buffer || value->memory->tensor.type != AKGEN_BOOL ||
           CORE_FAIL(core, call->place, DSL_RULE_types, "tl.vselect or tl.cast makes numbers of them",
                     "tl.%s of '%s', which holds truth values", call->operation->name, value->memory->name);
}

/* dst[i] = the element of src at byte base + index[i]. */
static bool gather(struct core *core, const struct dsl_expr *call)
{
    struct value dst, src, index, base;
    int64_t count;
    if (!call_memory(core, call, "dst", &dst) || !call_memory(core, call, "src", &src) ||
        !call_memory(core, call, "index", &index) || !call_value(core, call, "base", &base) ||
        !has_single_elements(core, call, &src) || !has_single_elements(core, call, &dst) ||
        !memory_has_type(core, call, dst.memory, src.memory->tensor.type))
        return false;
    if (dst.memory == src.memory)
        return CORE_FAIL(core, call->place, DSL_RULE_undefined, "compute into another buffer",
                         "source and destination are the same: '%s'", dst.memory->name);
    int64_t size = (int64_t)akgen_dtype_size(src.memory->tensor.type);
    if (!call_count(core, call, index.length, &count) || !memory_holds(core, call, dst.memory, dst.offset, count) ||
        !memory_holds(core, call, index.memory, index.offset, count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        struct element at, element;
        if (!element_read(core, call, index.memory, index.offset + i, &at))
            return false;
        int64_t bytes;
        if (!core_offset(core, call, base.integer, at.integer, 1, &bytes))
            return false;
        if (bytes < 0 || bytes % size)
            return CORE_FAIL(core, call->place, DSL_RULE_bounds, "multiply indices by the size of an element",
                             "index %lld is byte %lld of '%s', no element begins there", (long long)i, (long long)bytes,
                             src.memory->name);
        int64_t from = src.offset + bytes / size;
        if (from >= src.memory->count)
            return CORE_FAIL(
                core, call->place, DSL_RULE_bounds,
                "an index is the number of an element times its size in bytes, and the element is one of src",
                "index %lld is byte %lld of '%s', which has %lld elements", (long long)i, (long long)bytes,
                src.memory->name, (long long)src.memory->count);
        if (!memory_holds(core, call, src.memory, from, 1))
            return false;
        if (src.memory->state[from] == STATE_UNDEFINED)
            dst.memory->state[dst.offset + i] = STATE_UNDEFINED;
        else if (!element_read(core, call, src.memory, from, &element) ||
                 !element_write(core, call, dst.memory, dst.offset + i, element))
            return false;
    }
    return true;
}

/* dst = the elements of src whose condition is true, one behind the other; what lies behind them has no value. Yields how many
 * there are. */
static bool compress(struct core *core, const struct dsl_expr *call, struct value *result)
{
    struct value dst, src, condition;
    int64_t count, kept = 0;
    if (!call_memory(core, call, "dst", &dst) || !call_memory(core, call, "src", &src) ||
        !call_memory(core, call, "condition", &condition) || !call_count(core, call, src.length, &count) ||
        !has_single_elements(core, call, &src) || !memory_has_type(core, call, condition.memory, AKGEN_BOOL) ||
        !memory_has_type(core, call, dst.memory, src.memory->tensor.type) ||
        !memory_holds(core, call, src.memory, src.offset, count) ||
        !memory_holds(core, call, dst.memory, dst.offset, count) ||
        !memory_holds(core, call, condition.memory, condition.offset, count))
        return false;
    if (dst.memory == src.memory)
        return CORE_FAIL(core, call->place, DSL_RULE_undefined, "compute into another buffer",
                         "source and destination are the same: '%s'", dst.memory->name);
    for (int64_t i = 0; i < count; i++) {
        struct element truth, element;
        if (!element_read(core, call, condition.memory, condition.offset + i, &truth))
            return false;
        if (!truth.integer)
            continue;
        if (!element_read(core, call, src.memory, src.offset + i, &element) ||
            !element_write(core, call, dst.memory, dst.offset + kept++, element))
            return false;
    }
    memset(dst.memory->state + dst.offset + kept, STATE_UNDEFINED, (size_t)(count - kept));
    *result = value_of_integer(kept);
    return true;
}

static bool extract(struct core *core, const struct dsl_expr *call, struct value *result)
{
    struct value from, index;
    struct element element;
    int64_t at;
    if (!call_memory(core, call, "from", &from) || !call_value(core, call, "index", &index) ||
        !has_single_elements(core, call, &from) || !core_offset(core, call, from.offset, index.integer, 1, &at) ||
        !memory_holds(core, call, from.memory, at, 1) || !element_read(core, call, from.memory, at, &element))
        return false;
    *result = memory_is_real(from.memory) ? value_of_real(core, element.real) : value_of_integer(element.integer);
    return true;
}

static bool set(struct core *core, const struct dsl_expr *call)
{
    struct value to, index, value;
    struct element element;
    int64_t at;
    return call_memory(core, call, "to", &to) && call_value(core, call, "index", &index) &&
           has_single_elements(core, call, &to) && call_value(core, call, "value", &value) &&
           core_offset(core, call, to.offset, index.integer, 1, &at) && memory_holds(core, call, to.memory, at, 1) &&
           element_of(core, call, to.memory, value, &element) && element_write(core, call, to.memory, at, element);
}

/* Buffers of a core have to fit into its memories, from 32 bytes to 32 bytes: all of L1 and L0C together, and each of UB, where
 * those whose lives do not meet may share memory. */
static bool take_room(struct core *core, const struct dsl_expr *call, enum akgen_dtype type, int64_t elements)
{
    enum { BLOCK = 32 };
    const struct dsl_run *run = core->machine->run;
    const struct {
        const char *operation, *name;
        int64_t bytes;
    } rooms[] = {
        {"alloc_ub", "UB", run->ub_bytes}, {"alloc_l1", "L1", run->l1_bytes}, {"alloc_l0c", "L0C", run->l0c_bytes}};
    for (int i = 0; i < 3; i++) {
        if (strcmp(call->operation->name, rooms[i].operation) != 0)
            continue;
        bool possible = elements >= 0 && elements <= rooms[i].bytes;
        int64_t bytes = possible ? (elements * (int64_t)akgen_dtype_size(type) + BLOCK - 1) / BLOCK * BLOCK : 0;
        core->used[i] = i == 0 ? bytes : core->used[i] + bytes;
        if (!possible || core->used[i] > rooms[i].bytes)
            return CORE_FAIL(core, call->place, DSL_RULE_fits, "make the tiles smaller",
                             "a buffer of %lld elements does not fit into %s, which has %lld bytes%s",
                             (long long)elements, rooms[i].name, (long long)rooms[i].bytes,
                             i == 0 ? "" : " for all of them");
    }
    return true;
}

static bool allocate(struct core *core, const struct dsl_expr *call, struct value *result)
{
    struct value size, type;
    int64_t elements = 1;
    if (!call_value(core, call, "size", &size) || !call_value(core, call, "dtype", &type))
        return false;
    if (size.type == DSL_TYPE_INTS)
        for (int64_t i = 0; i < size.length; i++)
            if (__builtin_mul_overflow(elements, size.ints[i], &elements))
                return CORE_FAIL(core, call->place, DSL_RULE_arithmetic, NULL,
                                 "the buffer has no size that is possible");
    if (size.type != DSL_TYPE_INTS)
        elements = size.integer;
    struct dsl_memory *memory;
    if (!take_room(core, call, type.dtype, elements) || !memory_new(core, call->place, type.dtype, elements, &memory))
        return false;
    memory->buffer = true;
    memory->cols = size.type == DSL_TYPE_INTS && size.length == 2 ? size.ints[1] : 0;
    memory->name = "the buffer";
    *result = (struct value){.type = DSL_TYPE_BUFFER, .memory = memory, .length = elements, .stride = 1};
    return true;
}

static double real_number(const char *name, double a)
{
    static const struct {
        const char *name;
        double (*of)(double);
    } functions[] = {{"sqrt", sqrt}, {"exp", exp}, {"log", log}, {"floor", floor}, {"ceil", ceil}, {"abs", fabs}};
    size_t i = 0;
    while (strcmp(name, functions[i].name) != 0)
        i++;
    return functions[i].of(a);
}

/* What a core approximates; the host function does not. */
static double number_of_chip(struct core *core, double value)
{
    return core->number < 0 ? value : machine_approximation(core->machine, AKGEN_FLOAT, value);
}

/* Numbers: tl.cdiv, tl.sqrt and the like. */
static bool number(struct core *core, const struct dsl_expr *call, struct value *result)
{
    struct value a, b = {.type = DSL_TYPE_NONE};
    const char *name = call->operation->name;
    bool pair = call->count > 2;
    if (!core_value(core, call->items[1]->kind == DSL_NAMED ? call->items[1]->items[0] : call->items[1], &a) ||
        (pair && !core_value(core, call->items[2]->kind == DSL_NAMED ? call->items[2]->items[0] : call->items[2], &b)))
        return false;
    if (strcmp(name, "cdiv") == 0) {
        if (b.integer <= 0)
            return CORE_FAIL(core, call->place, DSL_RULE_arithmetic, NULL, "tl.cdiv by %lld", (long long)b.integer);
        *result = value_of_integer(a.integer / b.integer + (a.integer % b.integer > 0));
    } else if (strcmp(name, "pitch") == 0) {
        int64_t cols;
        if (!core_offset(core, call, a.integer, DSL_PITCH - 1, 1, &cols))
            return false;
        *result = value_of_integer(cols / DSL_PITCH * DSL_PITCH);
    } else if (strcmp(name, "pow") == 0) {
        *result = value_of_real(core, number_of_chip(core, pow(a.real, b.real)));
    } else if (pair) {
        bool first = strcmp(name, "max") == 0 ? a.real >= b.real : a.real <= b.real;
        *result = first ? a : b;
    } else if (strcmp(name, "abs") == 0 && a.type != DSL_TYPE_REAL) {
        if (a.integer == INT64_MIN)
            return CORE_FAIL(core, call->place, DSL_RULE_arithmetic, NULL, "the result of tl.abs has no 64 bits");
        *result = value_of_integer(a.integer < 0 ? -a.integer : a.integer);
    } else {
        double real = real_number(name, a.real);
        bool approximate = strcmp(name, "exp") == 0 || strcmp(name, "log") == 0;
        *result = value_of_real(core, approximate ? number_of_chip(core, real) : real);
    }
    return true;
}

/* How many elements each tensor of a list has. */
static bool numels(struct core *core, const struct dsl_expr *call, struct value *result)
{
    struct value list;
    if (!core_value(core, call->items[1], &list))
        return false;
    int64_t *elements = arena_alloc(&core->arena, (size_t)(list.length + 1) * sizeof *elements);
    for (int64_t i = 0; i < list.length; i++)
        elements[i] = list.tensors[i].memory->count;
    *result = (struct value){.type = DSL_TYPE_INTS, .ints = elements, .length = list.length};
    return true;
}

/* What a core or the host asks about the chip and the launch. */
static bool circumstance(struct core *core, const struct dsl_expr *call, struct value *result)
{
    const struct dsl_run *run = core->machine->run;
    const struct {
        const char *name;
        int64_t value;
    } known[] = {{"program_id", core->number},
                 {"num_programs", run->cores},
                 {"num_vec_cores", run->vector_cores},
                 {"num_cube_cores", run->cube_cores},
                 {"ub_size", run->ub_bytes}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(call->operation->name, known[i].name) == 0) {
            *result = value_of_integer(known[i].value);
            return true;
        }
    return false;
}

static bool range_of(struct core *core, const struct dsl_expr *call, struct value *result)
{
    struct value from, to;
    if (!call_value(core, call, "start", &from) || !call_value(core, call, "end", &to))
        return false;
    int64_t length;
    if (__builtin_sub_overflow(to.integer, from.integer, &length) || length < 0 || length > RANGE_MAX)
        return CORE_FAIL(core, call->place, DSL_RULE_bounds, NULL, "a range from %lld to %lld", (long long)from.integer,
                         (long long)to.integer);
    *result = (struct value){.type = DSL_TYPE_RANGE, .offset = from.integer, .stride = 1, .length = length};
    return true;
}

static const struct {
    const char *name;
    bool (*execute)(struct core *core, const struct dsl_expr *call);
} statements[] = {
    {"load", execute_load},
    {"store", execute_store},
    {"store_add", execute_store_add},
    {"vaxpy", execute_multiply_add},
    {"vmul_add", execute_multiply_add},
    {"cast", execute_cast},
    {"vselect", execute_select},
    {"iota", execute_iota},
    {"set_scalar", set},
    {"gather", gather},
};
static const struct {
    const char *name;
    bool (*execute)(struct core *core, const struct dsl_expr *call, struct value *result);
} values[] = {
    {"alloc_ub", allocate}, {"alloc_l1", allocate}, {"alloc_l0c", allocate}, {"arange", range_of},
    {"cdiv", number},       {"pitch", number},      {"sqrt", number},        {"exp", number},
    {"log", number},        {"pow", number},        {"floor", number},       {"ceil", number},
    {"abs", number},        {"max", number},        {"min", number},         {"extract_scalar", extract},
    {"compress", compress}, {"numels", numels},
};

bool core_execute(struct core *core, const struct dsl_expr *call, struct value *result)
{
    const char *name = call->operation->name;
    const struct lane *lane = lane_find(name);
    bool good;
    if (core->machine->run->tally && tally_call(core, call, result, &good))
        return good;
    if (lane)
        return strncmp(name, "reduce", 6) == 0 ? reduce(core, call, lane) : execute_lane(core, call, lane);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (strcmp(name, statements[i].name) == 0)
            return statements[i].execute(core, call);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(name, values[i].name) == 0)
            return values[i].execute(core, call, result);
    if (strcmp(name, "sync_all") == 0)
        return core_sync_all(core, call->place);
    if (core_execute_rows(core, call, &good) || core_execute_tiles(core, call, &good))
        return good;
    if (!circumstance(core, call, result))
        abort(); /* operations.def has no others */
    return true;
}

/* The value that the launch gives a parameter of the kernel, as a core gets it. */
static bool given_by_launch(struct core *host, int number, struct value *value)
{
    const struct dsl_parameter *parameter = &host->machine->program->kernel->function->parameters[number];
    if (!core_value(host, launch_argument(host->machine->program, number), value))
        return false;
    if (dsl_scope_find(&host->machine->program->kernel_names, parameter->name)->type == DSL_TYPE_REAL)
        *value = value_as_real(*value);
    if (value->type == DSL_TYPE_REAL)
        value->real = (double)(float)value->real;
    return true;
}

/* What a launch gives, for who wants to know no more. */
static bool note_launch(struct machine *machine, struct value *given, int count, int cores)
{
    for (int i = 0; i < count; i++)
        if (given[i].type == DSL_TYPE_INTS)
            given[i].ints = arena_copy(machine->arena, given[i].ints, (size_t)given[i].length * sizeof *given[i].ints);
    machine->run->given = arena_copy(machine->arena, given, (size_t)(count + 1) * sizeof *given);
    machine->run->cores = cores;
    return true;
}

/* Whether that many cores can run; those that wait for each other have to be on the chip at once. */
static bool can_run(struct core *host, const struct dsl_expr *launch, int64_t cores)
{
    const struct machine *machine = host->machine;
    const struct npu_soc *soc = machine->run->soc;
    const bool cube = dsl_usage_cube(machine->program);
    const int most = soc && dsl_usage_waits(machine->program) ? cube ? soc->aic : soc->aiv : STATE_CORES_MAX;
    if (cores < 1 || cores > STATE_CORES_MAX)
        return CORE_FAIL(host, launch->place, DSL_RULE_launch,
                         cores < 1 ? "return before the launch where there is no work" : NULL,
                         "the kernel is launched on %lld cores", (long long)cores);
    if (cores > most)
        return CORE_FAIL(host, launch->place, DSL_RULE_launch,
                         cube ? "launch at most tl.num_cube_cores(), each with a larger part"
                              : "launch at most tl.num_vec_cores(), each with a larger part",
                         "the kernel is launched on %lld cores, which wait for each other, and the chip has %d",
                         (long long)cores, most);
    return true;
}

bool core_launch(struct core *host, const struct dsl_expr *launch)
{
    struct machine *machine = host->machine;
    const struct dsl_program *program = machine->program;
    int parameters = program->kernel->function->count;
    struct value count, *given = arena_alloc(&host->arena, (size_t)(parameters + 1) * sizeof *given);
    if (!core_value(host, launch->items[0]->items[1], &count) || !tally_decides(host, launch->place, &count))
        return false;
    if (!can_run(host, launch, count.integer))
        return false;
    for (int i = 0; i < parameters; i++)
        if (!given_by_launch(host, i, &given[i]))
            return false;
    int cores = (int)count.integer;
    if (machine->run->host_only)
        return note_launch(machine, given, parameters, cores);
    struct core *all = arena_alloc(&host->arena, (size_t)cores * sizeof *all);
    machine->run->cores = cores;
    for (int c = 0; c < cores; c++) {
        all[c] = (struct core){.machine = machine, .names = &program->kernel_names, .number = c};
        all[c].variables =
            arena_alloc(&host->arena, (size_t)(program->kernel_names.count + 1) * sizeof *all->variables);
        for (int i = 0; i < parameters; i++)
            all[c].variables[dsl_scope_find(&program->kernel_names, program->kernel->function->parameters[i].name)
                                 ->number] = given[i];
    }
    if (machine->run->tally)
        tally_launch(host);
    bool good = machine_run_cores(machine, all, cores);
    for (int c = 0; c < cores; c++)
        arena_free(&all[c].arena);
    return good || (host->failed = true, false);
}
