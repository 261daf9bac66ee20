/* The interpreter: operations that compute element i of a buffer from elements i of others. An element that is computed from
 * one without a value has none. Elements are taken in runs; all of a run is read before it is written, so the destination
 * may be an operand. */
#include "dsl/interpret_internal.h"

#include <math.h>
#include <string.h>

#define U(value) ((uint64_t)(value))

/* base^exponent modulo 2^64; of a negative exponent the power cut off. */
static int64_t integer_power(int64_t base, int64_t exponent)
{
    if (exponent < 0)
        return base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : base == -1 ? -1 : 0;
    uint64_t power = 1;
    for (uint64_t square = U(base); exponent; exponent >>= 1, square *= square)
        power *= exponent & 1 ? square : 1;
    return (int64_t)power;
}

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* The derivative of log_gamma: by reflection where x is negative, by the recurrence up to 10, by the asymptotic series from there
 * (Abramowitz and Stegun 6.3.7, 6.3.5, 6.3.18), whose first term left out is below 1e-16. */
static double digamma(double x)
{
    static const double bernoulli[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                       1.0 / 132, -691.0 / 32760, 1.0 / 12};
    if (x < 0)
        return x == floor(x) ? NAN : digamma(1 - x) - M_PI / tan(M_PI * fmod(x, 1));
    double sum = 0, power = 1;
    while (x < 10)
        sum -= 1 / x++;
    for (size_t i = 0; i < sizeof bernoulli / sizeof *bernoulli; i++)
        sum -= bernoulli[i] * (power /= x * x);
    return sum + log(x) - 0.5 / x;
}

/* a - trunc(a / b) * b, in float32, each step rounded. */
static double rest(double a, double b)
{
    float quotient = (float)a / (float)b, whole = truncf(quotient) * (float)b;
    return a - whole;
}

#define LANE(name, kinds, real, integer)                                                                               \
    static double real_##name(double a, double b)                                                                      \
    {                                                                                                                  \
        (void)a;                                                                                                       \
        (void)b;                                                                                                       \
        return real;                                                                                                   \
    }                                                                                                                  \
    static int64_t integer_##name(int64_t a, int64_t b)                                                                \
    {                                                                                                                  \
        (void)a;                                                                                                       \
        (void)b;                                                                                                       \
        return (int64_t)(integer);                                                                                     \
    }
#include "dsl/lanes.def"
#undef LANE

const struct lane *lane_find(const char *name)
{
    enum {
        REAL = LANE_REAL,
        INTEGER = LANE_INTEGER,
        TRUTH = LANE_TRUTH,
        COMPARE = LANE_COMPARE,
        APPROXIMATE = LANE_APPROXIMATE,
        COARSE = LANE_COARSE,
        POWER = LANE_POWER,
        STEADY = LANE_STEADY
    };
    static const struct lane lanes[] = {
#define LANE(name, kinds, real, integer) {#name, kinds, real_##name, integer_##name},
#include "dsl/lanes.def"
#undef LANE
    };
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        if (strcmp(name, lanes[i].name) == 0)
            return &lanes[i];
    return NULL;
}

bool lane_takes(const struct lane *lane, const struct dsl_memory *memory)
{
    return lane->kinds & (memory_is_real(memory)              ? LANE_REAL
                          : memory->tensor.type == AKGEN_BOOL ? LANE_TRUTH
                                                              : LANE_INTEGER);
}

struct element lane_result(const struct lane *lane, struct element a, struct element b)
{
    return (struct element){lane->real(a.real, b.real), lane->integer(a.integer, b.integer)};
}

/* What an operation reads: a buffer, or a number for all elements, or nothing. */
struct operand {
    struct value value;
    struct elements elements; /* of the run; of a number the same n times */
};

static bool same_type(struct core *core, const struct dsl_expr *call, const struct dsl_memory *a,
                      const struct dsl_memory *b)
{
    return a->tensor.type == b->tensor.type ||
           CORE_FAIL(
               core, call->place, DSL_RULE_types,
               "one data type computes: make both buffers with it, dtype= of tl.alloc_ub, or tl.cast one into another",
               "'%s' holds %s and '%s' %s", a->name, akgen_dtype_name(a->tensor.type), b->name,
               akgen_dtype_name(b->tensor.type));
}

/* Whether a buffer has `count` elements, which the destination does not overlap in part. */
static bool fits(struct core *core, const struct dsl_expr *call, const struct value *dst, const struct value *operand,
                 int64_t count)
{
    const struct dsl_memory *memory = operand->memory;
    if (count > operand->length || !memory_holds(core, call, memory, operand->offset, count))
        return CORE_FAIL(core, call->place, DSL_RULE_bounds, NULL, "%lld elements of '%s', which has %lld from there",
                         (long long)count, memory->name, (long long)operand->length);
    int64_t distance = count > 0 ? operand->offset - dst->offset : 0; /* both are inside */
    return memory != dst->memory || !distance || distance >= count || -distance >= count ||
           CORE_FAIL(core, call->place, DSL_RULE_undefined, "compute into another buffer",
                     "source and destination overlap in part: '%s' from %lld and from %lld on", memory->name,
                     (long long)operand->offset, (long long)dst->offset);
}

/* Makes a number the elements of a run, of the memory's data type. */
static bool spread(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory,
                   struct operand *operand)
{
    struct element element;
    if (!element_of(core, call, memory, operand->value, &element))
        return false;
    if (dsl_number_misleads(call->operation, memory->tensor.type, element.integer))
        return CORE_FAIL(core, call->place, DSL_RULE_types, DSL_FITTING, "%lld is no value of '%s', which holds %s",
                         (long long)element.integer, memory->name, akgen_dtype_name(memory->tensor.type));
    for (int i = 0; i < ELEMENTS_RUN; i++)
        if (memory_is_real(memory))
            operand->elements.real[i] = element.real;
        else
            operand->elements.integer[i] = element.integer;
    return true;
}

/* How a run of elements is computed of the operands' into `out`; `how` is the operation's own. */
typedef void compute_run(const void *how, const struct operand *operands, int n, struct elements *out);

/* How a chip approximates a real result; NULL: it rounds it once. */
typedef double approximate(struct machine *machine, enum akgen_dtype type, double value);

/* Element i of the destination from elements i of `operands`, which have been seen to fit. */
static bool compute(struct core *core, const struct dsl_expr *call, const struct value *dst, struct operand *operands,
                    int operand_count, int64_t count, compute_run *run, const void *how, approximate *approximation)
{
    bool defined[ELEMENTS_RUN];
    struct elements out;
    for (int64_t i = 0; i < count; i += ELEMENTS_RUN) {
        int n = count - i < ELEMENTS_RUN ? (int)(count - i) : ELEMENTS_RUN;
        memset(defined, true, sizeof defined);
        for (int o = 0; o < operand_count; o++) {
            const struct value *value = &operands[o].value;
            for (int k = 0; value->memory && k < n; k++)
                defined[k] &= value->memory->state[value->offset + i + k] != STATE_UNDEFINED;
            if (value->memory)
                elements_of(value->memory, value->offset + i, n, &operands[o].elements);
        }
        run(how, operands, n, &out);
        for (int k = 0; approximation && k < n; k++)
            out.real[k] = approximation(core->machine, dst->memory->tensor.type, out.real[k]);
        if (!elements_write(core, call, dst->memory, dst->offset + i, n, &out))
            return false;
        for (int k = 0; k < n; k++)
            if (!defined[k])
                dst->memory->state[dst->offset + i + k] = STATE_UNDEFINED;
    }
    return true;
}

static void run_real(const void *how, const struct operand *operands, int n, struct elements *out)
{
    const struct lane *lane = how;
    for (int i = 0; i < n; i++)
        out->real[i] = lane->real(operands[0].elements.real[i], operands[1].elements.real[i]);
}

static void run_integer(const void *how, const struct operand *operands, int n, struct elements *out)
{
    const struct lane *lane = how;
    for (int i = 0; i < n; i++)
        out->integer[i] = lane->integer(operands[0].elements.integer[i], operands[1].elements.integer[i]);
}

static void run_truth(const void *how, const struct operand *operands, int n, struct elements *out)
{
    run_integer(how, operands, n, out);
    for (int i = 0; i < n; i++)
        out->integer[i] &= 1;
}

static void run_comparison(const void *how, const struct operand *operands, int n, struct elements *out)
{
    const struct lane *lane = how;
    for (int i = 0; i < n; i++)
        out->integer[i] = (int64_t)lane->real(operands[0].elements.real[i], operands[1].elements.real[i]);
}

static approximate *approximation_of(const struct lane *lane)
{
    return !(lane->kinds & LANE_APPROXIMATE)            ? NULL
           : (lane->kinds & LANE_COARSE) == LANE_COARSE ? machine_coarse_approximation
           : (lane->kinds & LANE_STEADY) == LANE_STEADY ? machine_steady_approximation
           : (lane->kinds & LANE_POWER) == LANE_POWER   ? machine_power_approximation
                                                        : machine_approximation;
}

bool execute_lane(struct core *core, const struct dsl_expr *call, const struct lane *lane)
{
    struct operand operands[2] = {0};
    struct value dst, *a = &operands[0].value, *b = &operands[1].value;
    int64_t count;
    bool pair = call_argument(call, "a") != NULL;
    if (!call_memory(core, call, "dst", &dst) || !call_value(core, call, pair ? "a" : "src", a) ||
        !call_value(core, call, pair ? "b" : "value", b) ||
        !call_count(core, call, a->memory ? a->length : dst.length, &count))
        return false;
    const struct dsl_memory *of = a->memory ? a->memory : dst.memory;
    bool compares = lane->kinds & LANE_COMPARE;
    if (!lane_takes(lane, of))
        return CORE_FAIL(core, call->place, DSL_RULE_types, NULL, "tl.%s has no %s", call->operation->name,
                         akgen_dtype_name(of->tensor.type));
    if (compares ? !memory_has_type(core, call, dst.memory, AKGEN_BOOL) : !same_type(core, call, of, dst.memory))
        return false;
    if (!fits(core, call, &dst, &dst, count) || (a->memory && !fits(core, call, &dst, a, count)))
        return false;
    if (b->memory ? !same_type(core, call, b->memory, of) || !fits(core, call, &dst, b, count)
                  : b->type != DSL_TYPE_NONE && !spread(core, call, of, &operands[1]))
        return false;
    compute_run *run = !memory_is_real(of) ? of->tensor.type == AKGEN_BOOL ? run_truth : run_integer
                       : compares          ? run_comparison
                                           : run_real;
    approximate *approximation = run == run_real ? approximation_of(lane) : NULL;
    return compute(core, call, &dst, operands, 2, count, run, lane, approximation);
}

/* dst += src * value, dst += a * b: rounded to the data type after the product and after the sum. */
static void run_multiply_add(const void *how, const struct operand *operands, int n, struct elements *out)
{
    enum akgen_dtype type = ((const struct dsl_memory *)how)->tensor.type;
    for (int i = 0; i < n; i++)
        if (task_is_float(type))
            out->real[i] = operands[0].elements.real[i] +
                           task_round(type, operands[1].elements.real[i] * operands[2].elements.real[i]);
        else
            out->integer[i] = (int64_t)(U(operands[0].elements.integer[i]) +
                                        U(operands[1].elements.integer[i]) * U(operands[2].elements.integer[i]));
}

bool execute_multiply_add(struct core *core, const struct dsl_expr *call)
{
    struct operand operands[3] = {0};
    struct value *dst = &operands[0].value, *a = &operands[1].value, *b = &operands[2].value;
    int64_t count;
    bool pair = call_argument(call, "a") != NULL;
    if (!call_memory(core, call, "dst", dst) || !call_memory(core, call, pair ? "a" : "src", a) ||
        !call_value(core, call, pair ? "b" : "value", b) || !call_count(core, call, a->length, &count) ||
        !same_type(core, call, a->memory, dst->memory) || !fits(core, call, dst, dst, count) ||
        !fits(core, call, dst, a, count))
        return false;
    return (b->memory ? same_type(core, call, b->memory, dst->memory) && fits(core, call, dst, b, count)
                      : spread(core, call, dst->memory, &operands[2])) &&
           compute(core, call, dst, operands, 3, count, run_multiply_add, dst->memory, NULL);
}

static void run_select(const void *how, const struct operand *operands, int n, struct elements *out)
{
    (void)how;
    for (int i = 0; i < n; i++) {
        const struct elements *from = &operands[operands[0].elements.integer[i] ? 1 : 2].elements;
        out->integer[i] = from->integer[i]; /* the bits of `real` too */
    }
}

bool execute_select(struct core *core, const struct dsl_expr *call)
{
    static const char *const names[] = {"condition", "a", "b"};
    struct operand operands[3] = {0};
    struct value dst;
    int64_t count;
    if (!call_memory(core, call, "dst", &dst) || !call_count(core, call, dst.length, &count) ||
        !fits(core, call, &dst, &dst, count))
        return false;
    for (int o = 0; o < 3; o++) {
        struct value *value = &operands[o].value;
        if (!call_value(core, call, names[o], value))
            return false;
        if (!value->memory
                ? !spread(core, call, dst.memory, &operands[o])
                : !fits(core, call, &dst, value, count) || (o > 0 && !same_type(core, call, value->memory, dst.memory)))
            return false;
    }
    return memory_has_type(core, call, operands[0].value.memory, AKGEN_BOOL) &&
           compute(core, call, &dst, operands, 3, count, run_select, NULL, NULL);
}

/* tl.cast. */
struct conversion {
    enum akgen_dtype from, to;
    double (*round)(double); /* to an integer */
};

/* What the type has no room for becomes the integer at its end. */
static int64_t saturated(enum akgen_dtype type, bool real, double value, int64_t integer)
{
    bool is_unsigned = type == AKGEN_UINT8 || type == AKGEN_UINT16 || type == AKGEN_UINT32;
    int bits = 8 * (int)akgen_dtype_size(type) - !is_unsigned;
    int64_t most = (int64_t)((U(1) << bits) - 1), least = is_unsigned ? 0 : -most - 1;
    if (real)
        return isnan(value) ? 0 : value >= (double)most ? most : value <= (double)least ? least : (int64_t)value;
    return integer > most ? most : integer < least ? least : integer;
}

/* The integer as a double, or where that has too few bits the nearer to 0 with the last one set: it is rounded only once more, as
 * if it were exact. */
static double odd_real(int64_t integer)
{
    double real = (double)integer;
    __int128 excess = (__int128)real - integer;
    uint64_t bits;
    if (excess == 0)
        return real;
    real = (excess > 0) == (real > 0) ? nextafter(real, 0) : real;
    memcpy(&bits, &real, sizeof bits);
    bits |= 1;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static void run_cast(const void *how, const struct operand *operands, int n, struct elements *out)
{
    const struct conversion *conversion = how;
    const struct elements *from = &operands[0].elements;
    bool from_real = task_is_float(conversion->from);
    for (int i = 0; i < n; i++) {
        if (task_is_float(conversion->to) && from_real)
            out->real[i] = from->real[i];
        else if (task_is_float(conversion->to))
            out->real[i] = odd_real(from->integer[i]);
        else if (conversion->to == AKGEN_BOOL)
            out->integer[i] = from_real ? from->real[i] != 0 : from->integer[i] != 0;
        else if (from_real)
            out->integer[i] = saturated(conversion->to, true, conversion->round(from->real[i]), 0);
        else
            out->integer[i] = saturated(conversion->to, false, 0, from->integer[i]);
    }
}

bool execute_cast(struct core *core, const struct dsl_expr *call)
{
    static const struct {
        const char *name;
        double (*round)(double);
    } roundings[] = {
#define ROUNDING(name, function) {name, function},
        DSL_ROUNDINGS(ROUNDING)
#undef ROUNDING
    };
    struct operand from = {0};
    struct value dst, mode;
    int64_t count;
    if (!call_memory(core, call, "dst", &dst) || !call_memory(core, call, "src", &from.value) ||
        !call_value(core, call, "round", &mode) || !call_count(core, call, from.value.length, &count) ||
        !fits(core, call, &dst, &dst, count) || !fits(core, call, &dst, &from.value, count))
        return false;
    struct conversion conversion = {.from = from.value.memory->tensor.type, .to = dst.memory->tensor.type};
    for (size_t i = 0; i < sizeof roundings / sizeof *roundings; i++)
        if (strcmp(mode.type == DSL_TYPE_TEXT ? mode.text : "even", roundings[i].name) == 0)
            conversion.round = roundings[i].round;
    if (conversion.round != rint && task_is_float(conversion.to))
        return CORE_FAIL(core, call->place, DSL_RULE_types, "tl.vfloor and the like round real numbers to whole ones",
                         "round='%s' to %s: it says how real numbers become integers", mode.text,
                         akgen_dtype_name(conversion.to));
    return compute(core, call, &dst, &from, 1, count, run_cast, &conversion, NULL);
}

/* dst[i] = start + i * step; of float32 the product and the sum are rounded. */
bool execute_iota(struct core *core, const struct dsl_expr *call)
{
    struct value dst, start, step;
    struct element first, by;
    int64_t count;
    if (!call_memory(core, call, "dst", &dst) || !call_value(core, call, "start", &start) ||
        !call_value(core, call, "step", &step) || !call_count(core, call, dst.length, &count) ||
        !fits(core, call, &dst, &dst, count))
        return false;
    enum akgen_dtype type = dst.memory->tensor.type;
    if (type != AKGEN_FLOAT && type != AKGEN_INT32 && type != AKGEN_INT16 && type != AKGEN_INT64)
        return CORE_FAIL(core, call->place, DSL_RULE_types, "float32 or an integer type, and tl.cast",
                         "tl.iota has no %s", akgen_dtype_name(type));
    if (step.type == DSL_TYPE_NONE)
        step = value_of_integer(1);
    if (!element_of(core, call, dst.memory, start, &first) || !element_of(core, call, dst.memory, step, &by))
        return false;
    for (int64_t i = 0; i < count; i++) {
        const struct element element = {first.real + task_round(type, (double)i * by.real),
                                        (int64_t)(U(first.integer) + U(i) * U(by.integer))};
        if (!element_write(core, call, dst.memory, dst.offset + i, element))
            return false;
    }
    return true;
}
