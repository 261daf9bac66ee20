/* The interpreter: elements of buffers and of global memory, who may read and write them, and the arguments of operations. */
#include "dsl/interpret_internal.h"

#include <math.h>
#include <string.h>

enum { ELEMENTS_MAX = 1 << 28 };

bool memory_new(struct core *core, struct dsl_place place, enum akgen_dtype type, int64_t elements,
                struct dsl_memory **memory)
{
    struct arena *arena = core->number < 0 ? core->machine->arena : &core->arena;
    size_t size = akgen_dtype_size(type);
    if (elements < 0 || elements > ELEMENTS_MAX || !size || type == AKGEN_COMPLEX64)
        return CORE_FAIL(core, place, DSL_RULE_bounds,
                         type == AKGEN_COMPLEX64 ? "its parts are float32, twice as many" : NULL,
                         "%lld elements of %s cannot be had", (long long)elements, akgen_dtype_name(type));
    *memory = arena_alloc(arena, sizeof **memory);
    (*memory)->tensor = (struct task_tensor){.type = type, .rank = 1, .dims = {elements}, .elements = elements};
    (*memory)->count = elements;
    if (core->machine->run->tally)
        return true;
    (*memory)->tensor.values = arena_alloc(arena, (size_t)elements * size + 1);
    (*memory)->state = arena_alloc(arena, (size_t)elements + 1);
    return true;
}

/* Whether a piece of a buffer begins where instructions can: they take operands by blocks of 32 bytes; the scalar unit does not. */
static bool begins_block(struct core *core, const struct dsl_expr *piece, const char *name, const struct value *value)
{
    enum { BLOCK = 32 };
    int64_t unit = BLOCK / (int64_t)akgen_dtype_size(value->memory->tensor.type);
    return value->offset % unit == 0 || strcmp(name, "from") == 0 || strcmp(name, "to") == 0 ||
           CORE_FAIL(
               core, piece->place, DSL_RULE_alignment,
               "begin at a multiple, tl.gather what lies elsewhere, or load it from its place into another buffer",
               "the piece begins at element %lld of '%s', no multiple of %lld: operands begin at 32 bytes",
               (long long)value->offset, value->memory->name, (long long)unit);
}

bool call_value(struct core *core, const struct dsl_expr *call, const char *name, struct value *value)
{
    const struct dsl_expr *expr = call_argument(call, name);
    *value = (struct value){.type = DSL_TYPE_NONE};
    if (expr && !core_value(core, expr, value))
        return false;
    bool piece = value->type == DSL_TYPE_PIECE && value->memory->tensor.type == AKGEN_BOOL;
    if (value->memory && value->memory->buffer && !piece && !begins_block(core, expr, name, value))
        return false;
    return !piece || CORE_FAIL(core, expr->place, DSL_RULE_types, "use a buffer of its own",
                               "a piece of '%s': buffers of truth values have none", value->memory->name);
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

bool call_count(struct core *core, const struct dsl_expr *call, int64_t instead, int64_t *count)
{
    struct value value;
    if (!call_value(core, call, "count", &value))
        return false;
    *count = value.type == DSL_TYPE_NONE ? instead : value.integer;
    return *count >= 0 || CORE_FAIL(core, call->place, DSL_RULE_bounds, "skip it, or write max(count, 0)",
                                    "tl.%s of %lld elements", call->operation->name, (long long)*count);
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
    if (n <= 0 || (first >= 0 && !__builtin_add_overflow(first, n, &last) && last <= memory->count))
        return true;
    const char *remedy = memory->buffer
                             ? "give count= as many elements as there are"
                             : "cut the last tile: count=, or mask=offsets < bound, end = min(start + part, total)";
    if (n == 1)
        return CORE_FAIL(core, call->place, DSL_RULE_bounds, remedy, "element %lld of '%s', which has %lld",
                         (long long)first, memory->name, (long long)memory->count);
    return CORE_FAIL(core, call->place, DSL_RULE_bounds, remedy, "%lld elements from %lld on of '%s', which has %lld",
                     (long long)n, (long long)first, memory->name, (long long)memory->count);
}

bool memory_has_type(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory,
                     enum akgen_dtype type)
{
    return memory->tensor.type == type ||
           CORE_FAIL(core, call->place, DSL_RULE_types,
                     "make the buffer with the data type that is wanted: dtype= of tl.alloc_ub",
                     "'%s' holds %s, where tl.%s wants %s", memory->name, akgen_dtype_name(memory->tensor.type),
                     call->operation->name, akgen_dtype_name(type));
}

bool memory_converts(struct core *core, const struct dsl_expr *call, const struct dsl_memory *gm,
                     const struct dsl_memory *ub)
{
    enum akgen_dtype from = gm->tensor.type, to = ub->tensor.type;
    return dsl_transfer_converts(from, to, call->operation->place == DSL_PLACE_COPYIN) ||
           CORE_FAIL(core, call->place, DSL_RULE_types, DSL_CONVERTED, "'%s' holds %s and '%s' %s", gm->name,
                     akgen_dtype_name(from), ub->name, akgen_dtype_name(to));
}

/* Whether the core may read element `at`, which others then may not store in this phase. */
static bool may_read(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory, int64_t at)
{
    uint8_t state = memory->state[at], *reader = memory->readers ? &memory->readers[at] : NULL;
    if (state == STATE_UNDEFINED)
        return CORE_FAIL(core, call->place, DSL_RULE_undefined,
                         memory->buffer
                             ? "write it before: load, compute and store as many elements, by the same mask= or count="
                             : "store it before; what other cores store is there behind a tl.sync_all()",
                         "element %lld of '%s' is read, and nothing wrote it", (long long)at, memory->name);
    if (state == STATE_ADDED)
        return CORE_FAIL(core, call->place, DSL_RULE_shared, "put tl.sync_all() between",
                         "element %lld of '%s', which is added to, is read by core %d", (long long)at, memory->name,
                         core->number);
    if (state >= STATE_CORE)
        return CORE_FAIL(core, call->place, DSL_RULE_shared,
                         "put tl.sync_all() between; what a core needs itself it keeps in a buffer",
                         "element %lld of '%s', which core %d stored, is read by core %d", (long long)at, memory->name,
                         state - STATE_CORE, core->number);
    if (reader)
        *reader =
            !*reader || *reader == READER_CORE + core->number ? (uint8_t)(READER_CORE + core->number) : READER_CORES;
    return true;
}

/* Whether the core may store element `at`. `add`: by adding to it, as other cores may. */
static bool may_write(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory, int64_t at,
                      bool add)
{
    uint8_t state = memory->state[at], reader = memory->readers ? memory->readers[at] : READER_NONE;
    struct dsl_run *run = core->machine->run;
    if (++run->written > run->written_max && run->written_max)
        return CORE_FAIL(core, call->place, DSL_RULE_refused, NULL, "more than %lld elements are written",
                         (long long)run->written_max);
    if (memory->buffer)
        return true;
    if (memory->input)
        return CORE_FAIL(core, call->place, DSL_RULE_types, "store into an output or workspace",
                         "'%s' is an input, which is read alone", memory->name);
    if (add && state == STATE_UNDEFINED)
        return CORE_FAIL(core, call->place, DSL_RULE_undefined, "store zeros before, and put tl.sync_all() behind",
                         "element %lld of '%s' is added to, and nothing wrote it", (long long)at, memory->name);
    if (add && state == STATE_ADDED)
        return true;
    if (add ? state >= STATE_CORE : state == STATE_ADDED)
        return CORE_FAIL(core, call->place, DSL_RULE_shared, "put tl.sync_all() between",
                         "element %lld of '%s' is stored and added to", (long long)at, memory->name);
    if (state == STATE_CORE + core->number)
        return CORE_FAIL(core, call->place, DSL_RULE_shared,
                         "store it once, at an offset that goes on with the loop, or put tl.sync_all() between",
                         "element %lld of '%s' is stored by core %d twice", (long long)at, memory->name, core->number);
    if (state >= STATE_CORE)
        return CORE_FAIL(
            core, call->place, DSL_RULE_shared,
            "let each core store a part of its own: mask or count end at the core's end, not at the tensor's",
            "element %lld of '%s' is stored by core %d and by core %d", (long long)at, memory->name, state - STATE_CORE,
            core->number);
    if (reader != READER_NONE && (add || reader != READER_CORE + core->number))
        return CORE_FAIL(core, call->place, DSL_RULE_shared, "put tl.sync_all() between",
                         "element %lld of '%s', which another core reads, is stored by core %d", (long long)at,
                         memory->name, core->number);
    return true;
}

void elements_of(const struct dsl_memory *memory, int64_t first, int n, struct elements *elements)
{
    if (memory_is_real(memory))
        task_read_double(&memory->tensor, first, n, elements->real);
    else
        task_read_integer(&memory->tensor, first, n, elements->integer);
}

bool elements_read(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory, int64_t first,
                   int n, struct elements *elements)
{
    for (int i = 0; i < n; i++)
        if (!may_read(core, call, memory, first + i))
            return false;
    elements_of(memory, first, n, elements);
    return true;
}

bool elements_write(struct core *core, const struct dsl_expr *call, struct dsl_memory *memory, int64_t first, int n,
                    const struct elements *elements)
{
    for (int i = 0; i < n; i++)
        if (!may_write(core, call, memory, first + i, false))
            return false;
    if (memory_is_real(memory))
        task_write_double(&memory->tensor, first, n, elements->real);
    else
        task_write_integer(&memory->tensor, first, n, elements->integer);
    memset(memory->state + first, memory->buffer ? STATE_GIVEN : STATE_CORE + core->number, (size_t)n);
    return true;
}

bool element_read(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory, int64_t at,
                  struct element *element)
{
    *element = (struct element){0};
    if (!may_read(core, call, memory, at))
        return false;
    if (memory_is_real(memory))
        task_read_double(&memory->tensor, at, 1, &element->real);
    else
        task_read_integer(&memory->tensor, at, 1, &element->integer);
    if (!memory_is_real(memory))
        element->real = (double)element->integer;
    return true;
}

bool element_write(struct core *core, const struct dsl_expr *call, struct dsl_memory *memory, int64_t at,
                   struct element element)
{
    if (!may_write(core, call, memory, at, false))
        return false;
    if (memory_is_real(memory))
        task_write_double(&memory->tensor, at, 1, &element.real);
    else
        task_write_integer(&memory->tensor, at, 1, &element.integer);
    memory->state[at] = memory->buffer ? STATE_GIVEN : (uint8_t)(STATE_CORE + core->number);
    return true;
}

bool element_add(struct core *core, const struct dsl_expr *call, struct dsl_memory *memory, int64_t at,
                 struct element by)
{
    double real;
    int64_t integer;
    if (!may_write(core, call, memory, at, true))
        return false;
    if (memory_is_real(memory)) {
        task_read_double(&memory->tensor, at, 1, &real);
        real += machine_approximation(core->machine, memory->tensor.type, task_round(memory->tensor.type, by.real));
        task_write_double(&memory->tensor, at, 1, &real);
    } else {
        task_read_integer(&memory->tensor, at, 1, &integer);
        integer += by.integer;
        task_write_integer(&memory->tensor, at, 1, &integer);
    }
    memory->state[at] = STATE_ADDED;
    return true;
}

bool element_of(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory, struct value value,
                struct element *element)
{
    enum akgen_dtype type = memory->tensor.type;
    bool real = value.type == DSL_TYPE_REAL;
    *element = (struct element){task_is_float(type) ? task_round(type, value.real) : value.real, value.integer};
    if (type == AKGEN_BOOL)
        element->integer = real ? value.real != 0 : value.integer != 0;
    if (memory_is_real(memory) || type == AKGEN_BOOL || !real)
        return true;
    element->integer = fabs(value.real) < 0x1p63 ? (int64_t)value.real : 0;
    return (double)element->integer == value.real ||
           CORE_FAIL(core, call->place, DSL_RULE_types, "tl.int32 holds integers",
                     "%g is no value of '%s', which holds %s", value.real, memory->name, akgen_dtype_name(type));
}
