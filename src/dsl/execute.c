/* The interpreter: the operations, each a plain loop over elements. */
#include "base/array.h"
#include "dsl/interpret_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 1 << 28, RANGE_MAX = 1 << 20 };

bool memory_new(struct core *core, struct dsl_place place, enum akgen_dtype type, int64_t elements,
                struct dsl_memory **memory)
{
    struct arena *arena = core->number < 0 ? core->machine->arena : &core->arena;
    size_t size = akgen_dtype_size(type);
    if (elements < 0 || elements > ELEMENTS_MAX || !size)
        return CORE_FAIL(core, place, DSL_RULE_bounds, NULL, "%lld elements of %s cannot be had", (long long)elements,
                         akgen_dtype_name(type));
    *memory = arena_alloc(arena, sizeof **memory);
    (*memory)->tensor = (struct task_tensor){.type = type, .rank = 1, .dims = {elements}, .elements = elements};
    (*memory)->tensor.values = arena_alloc(arena, (size_t)elements * size + 1);
    (*memory)->state = arena_alloc(arena, (size_t)elements + 1);
    return true;
}

bool call_value(struct core *core, const struct dsl_expr *call, const char *name, struct value *value)
{
    const struct dsl_expr *expr = call_argument(call, name);
    *value = (struct value){.type = DSL_TYPE_NONE};
    return !expr || core_value(core, expr, value);
}

bool call_memory(struct core *core, const struct dsl_expr *call, const char *name, struct value *value)
{
    if (!call_value(core, call, name, value))
        return false;
    return value->memory ||
           CORE_FAIL(core, call->place, DSL_RULE_undefined,
                     "ask in the host function whether it is None, and launch with a number that says it",
                     "'%s' of tl.%s is a tensor that is not given", name, call->operation->name);
}

/* count=, or so many if it is left out. */
static bool call_count(struct core *core, const struct dsl_expr *call, int64_t instead, int64_t *count)
{
    struct value value;
    if (!call_value(core, call, "count", &value))
        return false;
    *count = value.type == DSL_TYPE_NONE ? instead : value.integer;
    return true;
}

bool memory_is_real(const struct dsl_memory *memory)
{
    return task_is_float(memory->tensor.type);
}

bool core_offset(struct core *core, const struct dsl_expr *call, int64_t from, int64_t n, int64_t step, int64_t *place)
{
    int64_t distance;
    return (!__builtin_mul_overflow(n, step, &distance) && !__builtin_add_overflow(from, distance, place)) ||
           CORE_FAIL(core, call->place, DSL_RULE_arithmetic, NULL, "an offset has no 64 bits");
}

bool memory_holds(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory, int64_t first,
                  int64_t n)
{
    int64_t last;
    if (n <= 0 || (first >= 0 && !__builtin_add_overflow(first, n, &last) && last <= memory->tensor.elements))
        return true;
    const char *remedy = memory->buffer ? "give count= as many elements as there are"
                                        : "cut the last tile: count=, or mask=offsets < bound";
    if (n == 1)
        return CORE_FAIL(core, call->place, DSL_RULE_bounds, remedy, "element %lld of '%s', which has %lld",
                         (long long)first, memory->name, (long long)memory->tensor.elements);
    return CORE_FAIL(core, call->place, DSL_RULE_bounds, remedy, "%lld elements from %lld on of '%s', which has %lld",
                     (long long)n, (long long)first, memory->name, (long long)memory->tensor.elements);
}

bool element_read(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory, int64_t at,
                  struct element *element)
{
    uint8_t state = memory->state[at];
    if (state == STATE_UNDEFINED)
        return CORE_FAIL(core, call->place, DSL_RULE_undefined,
                         memory->buffer ? "load as many elements as are computed, or count= those" : NULL,
                         "element %lld of '%s' is read, and nothing wrote it", (long long)at, memory->name);
    if (!memory->buffer && state >= STATE_CORE && state != STATE_CORE + core->number)
        return CORE_FAIL(core, call->place, DSL_RULE_shared, "put tl.sync_all() between",
                         "element %lld of '%s', which core %d stored, is read by core %d", (long long)at, memory->name,
                         state - STATE_CORE, core->number);
    if (memory_is_real(memory))
        task_read_double(&memory->tensor, at, 1, &element->real);
    else
        task_read_integer(&memory->tensor, at, 1, &element->integer);
    if (memory_is_real(memory))
        element->integer = 0;
    else
        element->real = (double)element->integer;
    return true;
}

bool element_write(struct core *core, const struct dsl_expr *call, struct dsl_memory *memory, int64_t at,
                   struct element element)
{
    uint8_t *state = &memory->state[at];
    if (memory->input)
        return CORE_FAIL(core, call->place, DSL_RULE_types, "store into an output or workspace",
                         "'%s' is an input, which is read alone", memory->name);
    if (!memory->buffer && *state >= STATE_CORE && *state != STATE_CORE + core->number)
        return CORE_FAIL(core, call->place, DSL_RULE_shared, "let each core store a part of its own",
                         "element %lld of '%s' is stored by core %d and by core %d", (long long)at, memory->name,
                         *state - STATE_CORE, core->number);
    if (memory_is_real(memory))
        task_write_double(&memory->tensor, at, 1, &element.real);
    else
        task_write_integer(&memory->tensor, at, 1, &element.integer);
    *state = memory->buffer ? STATE_GIVEN : (uint8_t)(STATE_CORE + core->number);
    return true;
}

/* A number as an element of the memory's data type. */
static bool element_of(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory,
                       struct value value, struct element *element)
{
    bool real = value.type == DSL_TYPE_REAL;
    *element = (struct element){value.real, value.integer};
    if (memory_is_real(memory) || !real)
        return true;
    element->integer = (int64_t)value.real;
    return (double)element->integer == value.real ||
           CORE_FAIL(core, call->place, DSL_RULE_types, "tl.int32 holds integers",
                     "%g is no value of '%s', which holds %s", value.real, memory->name,
                     akgen_dtype_name(memory->tensor.type));
}

bool memory_converts(struct core *core, const struct dsl_expr *call, const struct dsl_memory *gm,
                     const struct dsl_memory *ub)
{
    return memory_is_real(gm) == memory_is_real(ub) ||
           CORE_FAIL(core, call->place, DSL_RULE_types, NULL, "'%s' holds %s and '%s' %s", gm->name,
                     akgen_dtype_name(gm->tensor.type), ub->name, akgen_dtype_name(ub->tensor.type));
}

/* tl.load and tl.store: element i of the buffer and element offset + i * stride of the tensor. */
static bool transfer(struct core *core, const struct dsl_expr *call, bool load)
{
    struct value address, buffer, mask, other;
    int64_t n;
    if (!call_memory(core, call, "address", &address) || !call_memory(core, call, load ? "dst" : "src", &buffer) ||
        !call_value(core, call, "mask", &mask) || !call_value(core, call, "other", &other))
        return false;
    bool range = address.type == DSL_TYPE_ADDRESS;
    if (!call_count(core, call, range ? address.length : buffer.length, &n))
        return false;
    struct dsl_memory *gm = address.memory, *ub = buffer.memory;
    if (!memory_converts(core, call, gm, ub))
        return false;
    if (mask.type == DSL_TYPE_MASK && mask.length < n)
        return CORE_FAIL(core, call->place, DSL_RULE_bounds, NULL, "the mask has %lld elements, the transfer %lld",
                         (long long)mask.length, (long long)n);
    if (!memory_holds(core, call, ub, buffer.offset, n))
        return false;
    for (int64_t i = 0; i < n; i++) {
        int64_t at;
        if (!core_offset(core, call, address.offset, i, range ? address.stride : 1, &at))
            return false;
        struct element element;
        bool meant = mask.type != DSL_TYPE_MASK || mask.mask[i];
        if (!meant && load && other.type != DSL_TYPE_NONE) {
            if (!element_of(core, call, ub, other, &element) ||
                !element_write(core, call, ub, buffer.offset + i, element))
                return false;
        } else if (!meant && load) {
            ub->state[buffer.offset + i] = STATE_UNDEFINED;
        } else if (meant) {
            struct dsl_memory *from = load ? gm : ub, *to = load ? ub : gm;
            int64_t first = load ? at : buffer.offset + i, second = load ? buffer.offset + i : at;
            if (!memory_holds(core, call, gm, at, 1) || !element_read(core, call, from, first, &element) ||
                !element_write(core, call, to, second, element))
                return false;
        }
    }
    return true;
}

#define LANE(name, real_value, integer_value)                                                                          \
    static double real_##name(double a, double b)                                                                      \
    {                                                                                                                  \
        (void)a;                                                                                                       \
        (void)b;                                                                                                       \
        return real_value;                                                                                             \
    }                                                                                                                  \
    static int64_t integer_##name(int64_t a, int64_t b)                                                                \
    {                                                                                                                  \
        (void)a;                                                                                                       \
        (void)b;                                                                                                       \
        return integer_value;                                                                                          \
    }
LANE(add, a + b, (int64_t)((uint64_t)a + (uint64_t)b))
LANE(sub, a - b, (int64_t)((uint64_t)a - (uint64_t)b))
LANE(mul, a *b, (int64_t)((uint64_t)a *(uint64_t)b))
LANE(max, isnan(a) || a > b ? a : b, a > b ? a : b)
LANE(min, isnan(a) || a < b ? a : b, a < b ? a : b)
LANE(abs, fabs(a), a < 0 ? (int64_t) - (uint64_t)a : a)
LANE(relu, isnan(a) || a > 0 ? a : 0, a > 0 ? a : 0)
LANE(copy, b, b)
LANE(div, a / b, 0)
LANE(exp, exp(a), 0)
LANE(ln, log(a), 0)
LANE(sqrt, sqrt(a), 0)
LANE(rsqrt, 1 / sqrt(a), 0)
LANE(reciprocal, 1 / a, 0)
LANE(tanh, tanh(a), 0)
LANE(sin, sin(a), 0)
LANE(cos, cos(a), 0)
LANE(erf, erf(a), 0)

static const struct lane lanes[] = {
    {"vadd", real_add, integer_add, true},        {"vsub", real_sub, integer_sub, true},
    {"vmul", real_mul, integer_mul, true},        {"vdiv", real_div, integer_div, false},
    {"vmax", real_max, integer_max, true},        {"vmin", real_min, integer_min, true},
    {"vadd_scalar", real_add, integer_add, true}, {"vsub_scalar", real_sub, integer_sub, true},
    {"vmul_scalar", real_mul, integer_mul, true}, {"vdiv_scalar", real_div, integer_div, false},
    {"vmax_scalar", real_max, integer_max, true}, {"vmin_scalar", real_min, integer_min, true},
    {"vclamp_max", real_min, integer_min, true},  {"vclamp_min", real_max, integer_max, true},
    {"vexp", real_exp, integer_exp, false},       {"vln", real_ln, integer_ln, false},
    {"vsqrt", real_sqrt, integer_sqrt, false},    {"vrsqrt", real_rsqrt, integer_rsqrt, false},
    {"vabs", real_abs, integer_abs, true},        {"vreciprocal", real_reciprocal, integer_reciprocal, false},
    {"vrelu", real_relu, integer_relu, true},     {"vtanh", real_tanh, integer_tanh, false},
    {"vsin", real_sin, integer_sin, false},       {"vcos", real_cos, integer_cos, false},
    {"verf", real_erf, integer_erf, false},       {"duplicate", real_copy, integer_copy, true},
    {"vconst", real_copy, integer_copy, true},    {"reduce_sum", real_add, integer_add, false},
    {"reduce_max", real_max, integer_max, false}, {"reduce_min", real_min, integer_min, false},
};

const struct lane *lane_find(const char *name)
{
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        if (strcmp(name, lanes[i].name) == 0)
            return &lanes[i];
    return NULL;
}

struct element lane_result(const struct lane *lane, struct element a, struct element b)
{
    return (struct element){lane->real(a.real, b.real), lane->integer(a.integer, b.integer)};
}

/* dst[i] = lane(a[i], b[i]), where a or b may be one number for all. Elements are read before they are written: dst may be an
 * operand. */
static bool elementwise(struct core *core, const struct dsl_expr *call, const struct lane *lane)
{
    struct value dst, a, b;
    int64_t count;
    bool pair = call_argument(call, "a") != NULL;
    if (!call_memory(core, call, "dst", &dst) || !call_value(core, call, pair ? "a" : "src", &a) ||
        !call_value(core, call, pair ? "b" : "value", &b) ||
        !call_count(core, call, a.memory ? a.length : dst.length, &count))
        return false;
    if (!lane->both && !memory_is_real(dst.memory))
        return CORE_FAIL(core, call->place, DSL_RULE_types, NULL, "tl.%s has no %s", call->operation->name,
                         akgen_dtype_name(dst.memory->tensor.type));
    const struct value *operands[] = {&dst, &a, &b};
    for (int o = 0; o < 3; o++) {
        const struct dsl_memory *memory = operands[o]->memory;
        if (!memory)
            continue;
        if (memory->tensor.type != dst.memory->tensor.type)
            return CORE_FAIL(core, call->place, DSL_RULE_types, "one data type computes", "'%s' holds %s and '%s' %s",
                             memory->name, akgen_dtype_name(memory->tensor.type), dst.memory->name,
                             akgen_dtype_name(dst.memory->tensor.type));
        if (count > operands[o]->length || !memory_holds(core, call, memory, operands[o]->offset, count))
            return CORE_FAIL(core, call->place, DSL_RULE_bounds, NULL,
                             "%lld elements of '%s', which has %lld from there", (long long)count, memory->name,
                             (long long)operands[o]->length);
        int64_t distance = count > 0 ? operands[o]->offset - dst.offset : 0; /* both are inside */
        if (memory == dst.memory && distance && distance < count && -distance < count)
            return CORE_FAIL(core, call->place, DSL_RULE_undefined, "compute into another buffer",
                             "source and destination overlap in part: '%s' from %lld and from %lld on", memory->name,
                             (long long)operands[o]->offset, (long long)dst.offset);
    }
    for (int64_t i = 0; i < count; i++) {
        struct element x = {0}, y = {0};
        if ((a.memory && !element_read(core, call, a.memory, a.offset + i, &x)) ||
            (b.memory ? !element_read(core, call, b.memory, b.offset + i, &y)
                      : !element_of(core, call, dst.memory, b, &y)) ||
            !element_write(core, call, dst.memory, dst.offset + i, lane_result(lane, x, y)))
            return false;
    }
    return true;
}

/* dst[0] = all elements of src taken together, one after the other; what `shared` held is gone. */
static bool reduce(struct core *core, const struct dsl_expr *call, const struct lane *lane)
{
    struct value dst, src, shared;
    int64_t count;
    if (!call_memory(core, call, "dst", &dst) || !call_memory(core, call, "src", &src) ||
        !call_memory(core, call, "shared", &shared))
        return false;
    if (!call_count(core, call, src.length, &count) || !memory_holds(core, call, src.memory, src.offset, count) ||
        !memory_holds(core, call, dst.memory, dst.offset, 1) ||
        !memory_holds(core, call, shared.memory, shared.offset, count))
        return false;
    if (count < 1 || !memory_is_real(src.memory))
        return CORE_FAIL(core, call->place, count < 1 ? DSL_RULE_bounds : DSL_RULE_types, NULL,
                         "tl.%s of %lld elements of %s", call->operation->name, (long long)count,
                         akgen_dtype_name(src.memory->tensor.type));
    struct element all, next;
    if (!element_read(core, call, src.memory, src.offset, &all))
        return false;
    for (int64_t i = 1; i < count; i++) {
        if (!element_read(core, call, src.memory, src.offset + i, &next))
            return false;
        all = lane_result(lane, all, next);
    }
    memset(shared.memory->state + shared.offset, STATE_UNDEFINED, (size_t)count);
    return element_write(core, call, dst.memory, dst.offset, all);
}

/* dst[i] = the element of src at byte base + index[i]. */
static bool gather(struct core *core, const struct dsl_expr *call)
{
    struct value dst, src, index, base;
    int64_t count;
    if (!call_memory(core, call, "dst", &dst) || !call_memory(core, call, "src", &src) ||
        !call_memory(core, call, "index", &index) || !call_value(core, call, "base", &base))
        return false;
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
        if (!memory_holds(core, call, src.memory, src.offset + bytes / size, 1) ||
            !element_read(core, call, src.memory, src.offset + bytes / size, &element) ||
            !element_write(core, call, dst.memory, dst.offset + i, element))
            return false;
    }
    return true;
}

static bool extract(struct core *core, const struct dsl_expr *call, struct value *result)
{
    struct value from, index;
    struct element element;
    int64_t at;
    if (!call_memory(core, call, "from", &from) || !call_value(core, call, "index", &index) ||
        !core_offset(core, call, from.offset, index.integer, 1, &at) || !memory_holds(core, call, from.memory, at, 1) ||
        !element_read(core, call, from.memory, at, &element))
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
           call_value(core, call, "value", &value) && core_offset(core, call, to.offset, index.integer, 1, &at) &&
           memory_holds(core, call, to.memory, at, 1) && element_of(core, call, to.memory, value, &element) &&
           element_write(core, call, to.memory, at, element);
}

/* Buffers of a core have to fit into its memories, from 32 bytes to 32 bytes. */
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
        if (possible)
            core->used[i] += (elements * (int64_t)akgen_dtype_size(type) + BLOCK - 1) / BLOCK * BLOCK;
        if (!possible || core->used[i] > rooms[i].bytes)
            return CORE_FAIL(core, call->place, DSL_RULE_bounds, "make the tiles smaller",
                             "a buffer of %lld elements does not fit into %s, which has %lld bytes for all of them",
                             (long long)elements, rooms[i].name, (long long)rooms[i].bytes);
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
    memory->name = "the buffer";
    *result = (struct value){.type = DSL_TYPE_BUFFER, .memory = memory, .length = elements, .stride = 1};
    return true;
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
    } else if (pair) {
        bool first = strcmp(name, "max") == 0 ? a.real >= b.real : a.real <= b.real;
        *result = first ? a : b;
    } else {
        *result = value_of_real(core, strcmp(name, "sqrt") == 0 ? sqrt(a.real) : exp(a.real));
    }
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
    int64_t length = to.integer > from.integer ? to.integer - from.integer : 0;
    if (length > RANGE_MAX)
        return CORE_FAIL(core, call->place, DSL_RULE_bounds, NULL, "a range of %lld offsets", (long long)length);
    *result = (struct value){.type = DSL_TYPE_RANGE, .offset = from.integer, .stride = 1, .length = length};
    return true;
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

bool core_execute(struct core *core, const struct dsl_expr *call, struct value *result)
{
    static const char *const allocations[] = {"alloc_ub", "alloc_l1", "alloc_l0c", NULL};
    static const char *const numbers[] = {"cdiv", "pitch", "sqrt", "exp", "max", "min", NULL};
    const char *name = call->operation->name;
    const struct lane *lane = lane_find(name);
    bool good;
    if (lane)
        return strncmp(name, "reduce", 6) == 0 ? reduce(core, call, lane) : elementwise(core, call, lane);
    if (core_execute_rows(core, call, &good))
        return good;
    if (strcmp(name, "load") == 0 || strcmp(name, "store") == 0)
        return transfer(core, call, name[0] == 'l');
    if (is_one_of(name, allocations))
        return allocate(core, call, result);
    if (is_one_of(name, numbers))
        return number(core, call, result);
    if (strcmp(name, "arange") == 0)
        return range_of(core, call, result);
    if (strcmp(name, "extract_scalar") == 0)
        return extract(core, call, result);
    if (strcmp(name, "set_scalar") == 0)
        return set(core, call);
    if (strcmp(name, "gather") == 0)
        return gather(core, call);
    if (strcmp(name, "sync_all") == 0)
        return core_sync_all(core, call->place);
    return circumstance(core, call, result) ||
           CORE_FAIL(core, call->place, DSL_RULE_not_interpreted, NULL, "tl.%s is not interpreted yet", name);
}

/* The value that the launch gives a parameter of the kernel, as a core gets it. */
static bool launch_argument(struct core *host, const struct dsl_expr *launch, int number, struct value *value)
{
    const struct dsl_parameter *parameter = &host->machine->program->kernel->function->parameters[number];
    const struct dsl_expr *expr = number + 1 < launch->count && launch->items[number + 1]->kind != DSL_NAMED
                                      ? launch->items[number + 1]
                                      : parameter->value;
    for (int i = 1; i < launch->count; i++)
        if (launch->items[i]->kind == DSL_NAMED && strcmp(launch->items[i]->name, parameter->name) == 0)
            expr = launch->items[i]->items[0];
    if (!core_value(host, expr, value))
        return false;
    if (dsl_scope_find(&host->machine->program->kernel_names, parameter->name)->type == DSL_TYPE_REAL)
        *value = value_as_real(*value);
    if (value->type == DSL_TYPE_REAL)
        value->real = (double)(float)value->real;
    return true;
}

bool core_launch(struct core *host, const struct dsl_expr *launch)
{
    struct machine *machine = host->machine;
    const struct dsl_program *program = machine->program;
    int parameters = program->kernel->function->count;
    struct value count, *given = arena_alloc(&host->arena, (size_t)(parameters + 1) * sizeof *given);
    if (!core_value(host, launch->items[0]->items[1], &count))
        return false;
    if (count.integer < 1 || count.integer > STATE_CORES_MAX)
        return CORE_FAIL(host, launch->place, DSL_RULE_launch,
                         count.integer < 1 ? "return before the launch where there is no work" : NULL,
                         "the kernel is launched on %lld cores", (long long)count.integer);
    for (int i = 0; i < parameters; i++)
        if (!launch_argument(host, launch, i, &given[i]))
            return false;
    int cores = (int)count.integer;
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
    bool good = machine_run_cores(machine, all, cores);
    for (int c = 0; c < cores; c++)
        arena_free(&all[c].arena);
    return good || (host->failed = true, false);
}
