/* The interpreter: expressions. */
#include "base/array.h"
#include "dsl/interpret_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct value value_of_integer(int64_t integer)
{
    return (struct value){.type = DSL_TYPE_INT, .integer = integer, .real = (double)integer};
}

static struct value value_of_truth(bool truth)
{
    return (struct value){.type = DSL_TYPE_BOOL, .integer = truth, .real = truth};
}

/* In the kernel real numbers are float32. */
struct value value_of_real(const struct core *core, double real)
{
    return (struct value){.type = DSL_TYPE_REAL, .real = core->number < 0 ? real : (double)(float)real};
}

struct value value_as_real(struct value value)
{
    if (value.type == DSL_TYPE_INT || value.type == DSL_TYPE_BOOL)
        value.type = DSL_TYPE_REAL;
    return value;
}

static struct value value_of_ints(const int64_t *ints, int64_t length)
{
    return (struct value){.type = DSL_TYPE_INTS, .ints = ints, .length = length};
}

struct value value_of_json(struct arena *arena, const json_t *json)
{
    if (json_is_array(json)) {
        size_t length = json_array_size(json);
        int64_t *ints = arena_alloc(arena, length * sizeof *ints);
        for (size_t i = 0; i < length; i++)
            ints[i] = json_integer_value(json_array_get(json, i));
        return value_of_ints(ints, (int64_t)length);
    }
    if (json_is_boolean(json))
        return value_of_truth(json_is_true(json));
    if (json_is_integer(json))
        return value_of_integer(json_integer_value(json));
    if (json_is_real(json))
        return (struct value){.type = DSL_TYPE_REAL, .real = json_real_value(json)};
    if (json_is_string(json))
        return (struct value){.type = DSL_TYPE_TEXT, .text = json_string_value(json)};
    return (struct value){.type = DSL_TYPE_NONE};
}

static bool is_integer(struct value value)
{
    return value.type == DSL_TYPE_INT || value.type == DSL_TYPE_BOOL;
}

bool value_is_true(struct value value)
{
    return is_integer(value)             ? value.integer != 0
           : value.type == DSL_TYPE_REAL ? value.real != 0
                                         : value.type != DSL_TYPE_NONE;
}

/* A tensor of global memory. */
static struct value machine_tensor(struct machine *machine, const struct dsl_argument *argument,
                                   const struct task_tensor *tensor, const char *name)
{
    struct dsl_memory *memory = arena_alloc(machine->arena, sizeof *memory);
    *memory = (struct dsl_memory){.tensor = *tensor, .name = name, .parameter = true, .input = !argument->stored};
    memory->count = task_scalars(tensor);
    if (machine->run->tally || machine->run->host_only)
        return (struct value){.type = DSL_TYPE_TENSOR, .memory = memory, .stride = 1};
    memory->state = arena_alloc(machine->arena, (size_t)memory->count + 1);
    memset(memory->state, argument->given ? STATE_GIVEN : STATE_UNDEFINED, (size_t)memory->count);
    if (argument->spare > 0)
        memset(memory->state + memory->count - argument->spare, STATE_GIVEN, (size_t)argument->spare);
    if (argument->stored)
        memory->readers = arena_alloc(machine->arena, (size_t)memory->count + 1);
    ARRAY_ADD(machine->arena, machine->memories, machine->memory_count, machine->memory_capacity, memory);
    return (struct value){.type = DSL_TYPE_TENSOR, .memory = memory, .stride = 1};
}

static struct value value_of_number(const struct task_tensor *tensor)
{
    struct value value = {.type = task_is_float(tensor->type) ? DSL_TYPE_REAL : DSL_TYPE_INT};
    if (!tensor->values) {
        value.unknown = true;
        return value;
    }
    task_read_double(tensor, 0, 1, &value.real);
    task_read_integer(tensor, 0, 1, &value.integer);
    return value;
}

struct value machine_argument(struct machine *machine, const struct dsl_argument *argument, const char *name)
{
    struct value value = {0};
    if (!argument->tensors) {
        value = value_of_json(machine->arena, argument->value);
        if (argument->single && value.type == DSL_TYPE_REAL)
            value.real = (double)(float)value.real;
        value.dtype = argument->type;
        return value;
    }
    if (argument->number)
        return value_of_number(argument->tensors);
    if (!argument->list)
        return machine_tensor(machine, argument, argument->tensors, name);
    struct value *tensors = arena_alloc(machine->arena, (size_t)argument->list * sizeof *tensors);
    for (int t = 0; t < argument->list; t++)
        tensors[t] =
            machine_tensor(machine, argument, &argument->tensors[t], arena_printf(machine->arena, "%s[%d]", name, t));
    return (struct value){.type = DSL_TYPE_TENSORS, .tensors = tensors, .length = argument->list};
}

bool machine_constants(struct machine *machine, struct core *host)
{
    const struct dsl_block *body = &machine->program->tree->body;
    machine->constants =
        arena_alloc(machine->arena, (size_t)(machine->program->file.count + 1) * sizeof *machine->constants);
    for (int i = 0; i < body->count; i++) {
        const struct dsl_statement *statement = body->items[i];
        struct value value;
        if (statement->kind != DSL_ASSIGN)
            continue;
        if (!core_value(host, statement->value, &value))
            return false;
        machine->constants[dsl_scope_find(&machine->program->file, statement->target->name)->number] = value;
    }
    return true;
}

static bool out_of_range(struct core *core, const struct dsl_expr *expr)
{
    return CORE_FAIL(core, expr->place, DSL_RULE_arithmetic, NULL, "the result of '%s' has no 64 bits",
                     dsl_operator_text(expr->op));
}

static bool integer_power(struct core *core, const struct dsl_expr *expr, int64_t a, int64_t b, int64_t *out)
{
    if (b < 0)
        return CORE_FAIL(core, expr->place, DSL_RULE_arithmetic, "write 1.0 / x ** n",
                         "a negative power of an integer is none");
    if (a >= -1 && a <= 1) { /* no matter how often */
        *out = b == 0 ? 1 : b % 2 ? a : a * a;
        return true;
    }
    for (*out = 1; b > 0; b--)
        if (__builtin_mul_overflow(*out, a, out))
            return out_of_range(core, expr);
    return true;
}

void dsl_divisions_add(struct dsl_divisions *divisions, const struct dsl_expr *division)
{
    bool known = divisions->count == sizeof divisions->items / sizeof *divisions->items;
    for (int i = 0; i < divisions->count; i++)
        known |= divisions->items[i] == division;
    if (!known)
        divisions->items[divisions->count++] = division;
}

/* '//' and '%' round down, as in Python. */
static bool integer_division(struct core *core, const struct dsl_expr *expr, int64_t a, int64_t b, int64_t *out)
{
    if (b == 0)
        return CORE_FAIL(core, expr->place, DSL_RULE_arithmetic, "a tensor may be empty: ask for that before",
                         "division by zero");
    if (a == INT64_MIN && b == -1)
        return out_of_range(core, expr);
    int64_t quotient = a / b - (a % b != 0 && (a % b < 0) != (b < 0));
    *out = expr->op == DSL_FLOOR_DIVIDE ? quotient : a - quotient * b;
    if (core->machine->run->divisions && expr->op == DSL_FLOOR_DIVIDE && a != quotient * b)
        dsl_divisions_add(core->machine->run->divisions, expr);
    return true;
}

static bool integer_shift(struct core *core, const struct dsl_expr *expr, int64_t a, int64_t b, int64_t *out)
{
    enum { BITS = 64 };
    if (b < 0 || b >= BITS)
        return CORE_FAIL(core, expr->place, DSL_RULE_arithmetic, NULL, "a shift by %lld bits", (long long)b);
    *out = expr->op == DSL_SHIFT_RIGHT ? a >> b : (int64_t)((uint64_t)a << b);
    return expr->op == DSL_SHIFT_RIGHT || *out >> b == a || out_of_range(core, expr);
}

static bool integer_operation(struct core *core, const struct dsl_expr *expr, int64_t a, int64_t b, int64_t *out)
{
    switch (expr->op) {
    case DSL_ADD:
        return !__builtin_add_overflow(a, b, out) || out_of_range(core, expr);
    case DSL_SUBTRACT:
        return !__builtin_sub_overflow(a, b, out) || out_of_range(core, expr);
    case DSL_MULTIPLY:
        return !__builtin_mul_overflow(a, b, out) || out_of_range(core, expr);
    case DSL_FLOOR_DIVIDE:
    case DSL_REMAINDER:
        return integer_division(core, expr, a, b, out);
    case DSL_POWER:
        return integer_power(core, expr, a, b, out);
    case DSL_SHIFT_LEFT:
    case DSL_SHIFT_RIGHT:
        return integer_shift(core, expr, a, b, out);
    case DSL_BIT_AND:
        *out = a & b;
        return true;
    case DSL_BIT_OR:
        *out = a | b;
        return true;
    case DSL_BIT_XOR:
        *out = a ^ b;
        return true;
    default:
        abort(); /* the checker knows what integers are for */
    }
}

static double real_operation(enum dsl_operator op, double a, double b)
{
    switch (op) {
    case DSL_ADD:
        return a + b;
    case DSL_SUBTRACT:
        return a - b;
    case DSL_MULTIPLY:
        return a * b;
    case DSL_DIVIDE:
        return a / b;
    case DSL_FLOOR_DIVIDE:
        return floor(a / b);
    case DSL_REMAINDER:
        return a - floor(a / b) * b;
    case DSL_POWER:
        return pow(a, b);
    default:
        abort();
    }
}

static bool compare(enum dsl_operator op, double a, double b)
{
    switch (op) {
    case DSL_EQUAL:
        return a == b;
    case DSL_NOT_EQUAL:
        return a != b;
    case DSL_LESS:
        return a < b;
    case DSL_LESS_EQUAL:
        return a <= b;
    case DSL_GREATER:
        return a > b;
    default:
        return a >= b;
    }
}

static bool compare_integers(enum dsl_operator op, int64_t a, int64_t b)
{
    return compare(op, a < b ? -1 : a > b, 0);
}

/* Which offsets of the range are meant. */
static struct value mask_of(struct core *core, enum dsl_operator op, struct value a, struct value b)
{
    bool left = a.type == DSL_TYPE_RANGE;
    const struct value *range = left ? &a : &b;
    uint8_t *mask = arena_alloc(&core->arena, (size_t)range->length + 1);
    for (int64_t i = 0; i < range->length; i++) {
        int64_t offset = range->offset + i * range->stride;
        mask[i] = left ? compare_integers(op, offset, b.integer) : compare_integers(op, a.integer, offset);
    }
    return (struct value){.type = DSL_TYPE_MASK, .mask = mask, .length = range->length};
}

static bool comparison(struct core *core, const struct dsl_expr *expr, struct value a, struct value b,
                       struct value *value)
{
    bool equality = expr->op == DSL_EQUAL || expr->op == DSL_NOT_EQUAL, same = false;
    if (a.type == DSL_TYPE_RANGE || b.type == DSL_TYPE_RANGE) {
        const struct value *range = a.type == DSL_TYPE_RANGE ? &a : &b;
        int64_t last;
        if (__builtin_mul_overflow(range->length, range->stride, &last) ||
            __builtin_add_overflow(last, range->offset, &last))
            return out_of_range(core, expr);
        *value = mask_of(core, expr->op, a, b);
        return true;
    }
    if (expr->op == DSL_IS || expr->op == DSL_IS_NOT)
        *value = value_of_truth((a.type == b.type) == (expr->op == DSL_IS));
    else if (is_integer(a) && is_integer(b))
        *value = value_of_truth(compare_integers(expr->op, a.integer, b.integer));
    else if (type_is_number(a.type) && type_is_number(b.type))
        *value = value_of_truth(compare(expr->op, a.real, b.real));
    else if (equality && a.type == b.type) {
        if (a.type == DSL_TYPE_TEXT)
            same = strcmp(a.text, b.text) == 0;
        else if (a.type == DSL_TYPE_DTYPE)
            same = a.dtype == b.dtype;
        else
            same = a.length == b.length && memcmp(a.ints, b.ints, (size_t)a.length * sizeof *a.ints) == 0;
        *value = value_of_truth(same == (expr->op == DSL_EQUAL));
    } else {
        return CORE_FAIL(core, expr->place, DSL_RULE_types, NULL, "'%s' between %s and %s", dsl_operator_text(expr->op),
                         dsl_type_text(a.type), dsl_type_text(b.type));
    }
    return true;
}

/* A range or a place plus, minus or times an integer; a tensor plus a range. */
static bool offset_operation(struct core *core, const struct dsl_expr *expr, struct value a, struct value b,
                             struct value *value)
{
    bool swap = is_integer(a) || (a.type == DSL_TYPE_RANGE && b.type != DSL_TYPE_RANGE && !is_integer(b));
    struct value base = swap ? b : a, by = swap ? a : b;
    struct dsl_expr step = *expr;
    *value = base;
    if (by.type == DSL_TYPE_RANGE) { /* base: a tensor, perhaps with an offset */
        value->type = DSL_TYPE_ADDRESS;
        value->stride = by.stride;
        value->length = by.length;
        step.op = DSL_ADD;
        return integer_operation(core, &step, base.offset, by.offset, &value->offset);
    }
    if (base.type == DSL_TYPE_TENSOR)
        value->type = DSL_TYPE_POINTER;
    if (base.type == DSL_TYPE_BUFFER)
        value->type = DSL_TYPE_PIECE;
    bool buffer = base.type == DSL_TYPE_BUFFER || base.type == DSL_TYPE_PIECE;
    if (buffer && __builtin_sub_overflow(base.length, by.integer, &value->length))
        return out_of_range(core, expr);
    if (expr->op == DSL_MULTIPLY && !integer_operation(core, expr, base.stride, by.integer, &value->stride))
        return false;
    return integer_operation(core, expr, base.offset, by.integer, &value->offset);
}

static struct value join_masks(struct core *core, enum dsl_operator op, struct value a, struct value b)
{
    uint8_t *mask = arena_alloc(&core->arena, (size_t)a.length + 1);
    for (int64_t i = 0; i < a.length && i < b.length; i++)
        mask[i] = op == DSL_BIT_AND ? a.mask[i] & b.mask[i] : a.mask[i] | b.mask[i];
    return (struct value){.type = DSL_TYPE_MASK, .mask = mask, .length = a.length};
}

static bool binary(struct core *core, const struct dsl_expr *expr, struct value *value)
{
    struct value a, b;
    if (!core_value(core, expr->items[0], &a))
        return false;
    if (expr->op == DSL_AND || expr->op == DSL_OR) {
        *value = a;
        return value_is_true(a) == (expr->op == DSL_OR) || core_value(core, expr->items[1], value);
    }
    if (!core_value(core, expr->items[1], &b))
        return false;
    if (dsl_operator_level(expr->op) == dsl_operator_level(DSL_EQUAL))
        return comparison(core, expr, a, b, value);
    if (type_is_number(a.type) && type_is_number(b.type)) {
        if (is_integer(a) && is_integer(b) && expr->op != DSL_DIVIDE) {
            *value = value_of_integer(0);
            bool good = integer_operation(core, expr, a.integer, b.integer, &value->integer);
            value->real = (double)value->integer;
            return good;
        }
        if (core->number < 0 && b.real == 0 && expr->op >= DSL_DIVIDE && expr->op <= DSL_REMAINDER)
            return CORE_FAIL(core, expr->place, DSL_RULE_arithmetic, NULL, "division by zero");
        *value = value_of_real(core, real_operation(expr->op, a.real, b.real));
        return true;
    }
    if (a.type == DSL_TYPE_MASK && b.type == DSL_TYPE_MASK) {
        if (a.length != b.length)
            return CORE_FAIL(core, expr->place, DSL_RULE_bounds, NULL, "a mask of %lld elements and one of %lld",
                             (long long)a.length, (long long)b.length);
        *value = join_masks(core, expr->op, a, b);
        return true;
    }
    if (a.type == DSL_TYPE_INTS && b.type == DSL_TYPE_INTS) {
        int64_t *ints = arena_alloc(&core->arena, (size_t)(a.length + b.length) * sizeof *ints);
        memcpy(ints, a.ints, (size_t)a.length * sizeof *ints);
        memcpy(ints + a.length, b.ints, (size_t)b.length * sizeof *ints);
        *value = value_of_ints(ints, a.length + b.length);
        return true;
    }
    return offset_operation(core, expr, a, b, value);
}

static bool unary(struct core *core, const struct dsl_expr *expr, struct value *value)
{
    struct value of;
    if (!core_value(core, expr->items[0], &of))
        return false;
    if (expr->op == DSL_NOT)
        *value = value_of_truth(!value_is_true(of));
    else if (!is_integer(of))
        *value = value_of_real(core, -of.real);
    else if (of.integer == INT64_MIN)
        return out_of_range(core, expr);
    else
        *value = value_of_integer(-of.integer);
    return true;
}

static bool index_of(struct core *core, const struct dsl_expr *expr, int64_t length, int64_t instead, bool end,
                     int64_t *out)
{
    struct value index = value_of_integer(instead);
    if (expr && !core_value(core, expr, &index))
        return false;
    *out = index.integer < 0 ? index.integer + length : index.integer;
    return (*out >= 0 && *out < length + end) || !expr ||
           CORE_FAIL(core, expr->place, DSL_RULE_bounds, NULL, "index %lld of %lld elements", (long long)index.integer,
                     (long long)length);
}

static bool indexed(struct core *core, const struct dsl_expr *expr, struct value *value)
{
    const struct dsl_expr *index = expr->items[1];
    struct value of;
    bool slice = index->kind == DSL_SLICE;
    int64_t from, to;
    if (!core_value(core, expr->items[0], &of) ||
        !index_of(core, slice ? index->items[0] : index, of.length, 0, slice, &from))
        return false;
    to = of.length;
    if (slice && !index_of(core, index->items[1], of.length, of.length, true, &to))
        return false;
    *value = of;
    if (of.type == DSL_TYPE_TENSORS) {
        *value = of.tensors[from];
        return true;
    }
    if (of.type == DSL_TYPE_INTS && !slice) {
        *value = value_of_integer(of.ints[from]);
        return true;
    }
    value->length = to > from ? to - from : 0;
    if (of.type == DSL_TYPE_INTS)
        value->ints = of.ints + from;
    else
        value->type = DSL_TYPE_PIECE;
    value->offset += of.type == DSL_TYPE_INTS ? 0 : from;
    return true;
}

static bool attribute(struct core *core, const struct dsl_expr *expr, struct value *value)
{
    struct value of;
    *value = (struct value){.type = DSL_TYPE_DTYPE, .dtype = akgen_dtype_parse(expr->name)};
    if (expr_is(expr->items[0], "", "tl") || expr_is(expr->items[0], "", "torch"))
        return true;
    if (expr_is(expr->items[0], "", "math")) {
        *value = value_of_real(core, expr->name[0] == 'i'   ? INFINITY
                                     : expr->name[0] == 'n' ? NAN
                                     : expr->name[0] == 'p' ? M_PI
                                                            : M_E);
        return true;
    }
    if (!core_value(core, expr->items[0], &of))
        return false;
    if (of.type == DSL_TYPE_DTYPE) { /* is_floating_point */
        *value = value_of_truth(task_is_float(of.dtype) && of.dtype != AKGEN_COMPLEX64);
        return true;
    }
    bool dtype = strcmp(expr->name, "dtype") == 0;
    if (of.type != DSL_TYPE_TENSOR && !dtype)
        return CORE_FAIL(core, expr->place, DSL_RULE_types, NULL, "%s has no '%s'", dsl_type_text(of.type), expr->name);
    if (dtype)
        value->dtype = of.type == DSL_TYPE_TENSOR ? of.memory->tensor.type : of.dtype; /* of a missing tensor */
    else if (strcmp(expr->name, "device") == 0)
        *value = (struct value){.type = DSL_TYPE_DEVICE};
    else if (strcmp(expr->name, "ndim") == 0)
        *value = value_of_integer(of.memory->tensor.rank);
    else
        *value = value_of_ints(of.memory->tensor.dims, of.memory->tensor.rank);
    return true;
}

/* x.numel(), x.size(i), x.dim(). */
static bool method(struct core *core, const struct dsl_expr *call, struct value *value)
{
    struct value of;
    const char *name = call->items[0]->name;
    int64_t axis;
    if (!core_value(core, call->items[0]->items[0], &of))
        return false;
    if (of.type != DSL_TYPE_TENSOR)
        return CORE_FAIL(core, call->place, DSL_RULE_types, NULL, "%s has no '%s'", dsl_type_text(of.type), name);
    const struct task_tensor *tensor = &of.memory->tensor;
    if (strcmp(name, "numel") == 0)
        *value = value_of_integer(tensor->elements);
    else if (strcmp(name, "dim") == 0)
        *value = value_of_integer(tensor->rank);
    else if (call->count == 1)
        *value = value_of_ints(tensor->dims, tensor->rank);
    else if (index_of(core, call->items[1], tensor->rank, 0, false, &axis))
        *value = value_of_integer(tensor->dims[axis]);
    else
        return false;
    return true;
}

/* Workspace: torch.empty(size, dtype=, device=). */
static bool workspace(struct core *core, const struct dsl_expr *call, struct value *value)
{
    struct value part;
    enum akgen_dtype type = AKGEN_FLOAT;
    struct task_tensor shape = {.rank = 0};
    int64_t elements = 1;
    for (int i = 1; i < call->count; i++) {
        const struct dsl_expr *argument = call->items[i];
        if (!core_value(core, argument->kind == DSL_NAMED ? argument->items[0] : argument, &part))
            return false;
        if (part.type == DSL_TYPE_DTYPE)
            type = part.dtype;
        const bool list = part.type == DSL_TYPE_INTS, axis = argument->kind != DSL_NAMED && is_integer(part);
        for (int64_t k = 0; k < (list ? part.length : axis); k++) {
            int64_t size = list ? part.ints[k] : part.integer;
            if (size < 0 || shape.rank == TASK_MAX_RANK || __builtin_mul_overflow(elements, size, &elements))
                return CORE_FAIL(core, call->place, DSL_RULE_arithmetic, NULL,
                                 "the workspace has no size that is possible");
            shape.dims[shape.rank++] = size;
        }
    }
    struct dsl_memory *memory;
    if (!memory_new(core, call->place, type, elements, &memory))
        return false;
    memory->name = "workspace";
    memory->tensor.rank = shape.rank;
    memcpy(memory->tensor.dims, shape.dims, sizeof shape.dims);
    *value = (struct value){.type = DSL_TYPE_TENSOR, .memory = memory, .stride = 1};
    if (core->machine->run->tally)
        return true;
    memory->readers = arena_alloc(core->machine->arena, (size_t)elements + 1);
    if (strcmp(call->items[0]->name, "zeros") == 0)
        memset(memory->state, STATE_GIVEN, (size_t)elements);
    struct machine *machine = core->machine;
    ARRAY_ADD(machine->arena, machine->memories, machine->memory_count, machine->memory_capacity, memory);
    return true;
}

static bool least_or_most(struct core *core, const struct dsl_expr *call, bool most, struct value *value)
{
    struct value next;
    if (!core_value(core, call->items[1], value))
        return false;
    for (int i = 2; i < call->count; i++) {
        if (!core_value(core, call->items[i], &next))
            return false;
        bool integers = is_integer(*value) && is_integer(next);
        bool less = integers ? next.integer < value->integer : next.real < value->real;
        bool more = integers ? next.integer > value->integer : next.real > value->real;
        if (most ? more : less)
            *value = next;
    }
    return true;
}

/* A function of numbers. */
static bool function_of_number(struct core *core, const struct dsl_expr *call, const char *name, struct value *value)
{
    struct value x;
    if (!core_value(core, call->items[1], &x))
        return false;
    bool to_integer = strcmp(name, "int") == 0 || strcmp(name, "ceil") == 0 || strcmp(name, "floor") == 0;
    if (strcmp(name, "len") == 0) {
        *value = value_of_integer(x.length);
    } else if (strcmp(name, "bool") == 0) {
        *value = value_of_truth(value_is_true(x));
    } else if (strcmp(name, "float") == 0) {
        *value = value_of_real(core, x.type == DSL_TYPE_TEXT ? strtod(x.text, NULL) : x.real);
    } else if (is_integer(x) && (to_integer || strcmp(name, "abs") == 0)) {
        *value = value_of_integer(to_integer || x.integer >= 0 ? x.integer : -x.integer);
    } else if (to_integer) {
        double whole = *name == 'i' ? trunc(x.real) : *name == 'c' ? ceil(x.real) : floor(x.real);
        if (!(fabs(whole) < 0x1p62))
            return CORE_FAIL(core, call->place, DSL_RULE_arithmetic, NULL, "%g is no integer of 64 bits", x.real);
        *value = value_of_integer((int64_t)whole);
    } else {
        double y = *name == 'a'   ? fabs(x.real)
                   : *name == 's' ? sqrt(x.real)
                   : *name == 'e' ? exp(x.real)
                   : name[3]      ? log2(x.real)
                                  : log(x.real);
        *value = value_of_real(core, y);
    }
    return true;
}

static bool called(struct core *core, const struct dsl_expr *call, struct value *value)
{
    const struct dsl_expr *function = call->items[0];
    if (call->operation)
        return core_execute(core, call, value);
    if (expr_is(function, "torch", "empty") || expr_is(function, "torch", "zeros"))
        return workspace(core, call, value);
    if (expr_is(function, "", "min") || expr_is(function, "", "max"))
        return least_or_most(core, call, expr_is(function, "", "max"), value);
    if (function->kind == DSL_NAME || expr_is(function->items[0], "", "math"))
        return function_of_number(core, call, function->name, value);
    return method(core, call, value);
}

static bool listed(struct core *core, const struct dsl_expr *expr, struct value *value)
{
    int64_t *ints = arena_alloc(&core->arena, (size_t)(expr->count + 1) * sizeof *ints);
    for (int i = 0; i < expr->count; i++) {
        struct value item;
        if (!core_value(core, expr->items[i], &item))
            return false;
        ints[i] = item.integer;
    }
    *value = value_of_ints(ints, expr->count);
    return true;
}

static bool evaluate(struct core *core, const struct dsl_expr *expr, struct value *value)
{
    struct value condition;
    *value = (struct value){.type = DSL_TYPE_NONE};
    switch (expr->kind) {
    case DSL_NAME:
        *value = expr->symbol->constant ? core->machine->constants[expr->symbol->number]
                                        : core->variables[expr->symbol->number];
        if (expr->symbol->constant && value->type == DSL_TYPE_REAL) /* the file's are the host function's: double */
            *value = value_of_real(core, value->real);
        return true;
    case DSL_INT:
        *value = value_of_integer(expr->integer);
        return true;
    case DSL_REAL:
        *value = value_of_real(core, expr->real);
        return true;
    case DSL_TEXT:
        *value = (struct value){.type = DSL_TYPE_TEXT, .text = expr->name};
        return true;
    case DSL_TRUE:
    case DSL_FALSE:
        *value = value_of_truth(expr->kind == DSL_TRUE);
        return true;
    case DSL_NONE:
        return true;
    case DSL_TUPLE:
    case DSL_LIST:
        return listed(core, expr, value);
    case DSL_UNARY:
        return unary(core, expr, value);
    case DSL_BINARY:
        return binary(core, expr, value);
    case DSL_CHOICE:
        return core_value(core, expr->items[1], &condition) &&
               core_value(core, expr->items[value_is_true(condition) ? 0 : 2], value);
    case DSL_CALL:
        return called(core, expr, value);
    case DSL_ATTRIBUTE:
        return attribute(core, expr, value);
    case DSL_INDEX:
        return indexed(core, expr, value);
    case DSL_SLICE:
    case DSL_NAMED:
        abort(); /* parts of others */
    }
    return false;
}

bool core_value(struct core *core, const struct dsl_expr *expr, struct value *value)
{
    const int unknowns = core->unknowns;
    if (!evaluate(core, expr, value))
        return false;
    core->unknowns += value->unknown;
    value->unknown = core->unknowns != unknowns; /* itself, or a part of it */
    return true;
}
