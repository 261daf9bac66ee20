/* Operations element by element: what they compute of which data type, truth values, casts, elements without a value, and
 * additions to global memory. */
#include "dsl/dsl.h"
#include "dsl/interpret.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { N = 6, CORES = 3 };
static struct arena arena;

static int drop(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* d = f(a, b) on one core, where a and b hold x1 and x2, and p and q are buffers of truth values. Each core of CORES goes
 * through `all`. */
static const char *program_of(const char *compute, const char *all)
{
    return arena_printf(&arena,
                        "@ascend_kernel\n"
                        "def k(x1, x2, y, n, cores):\n"
                        "    a = tl.alloc_ub(n, dtype=x1.dtype)\n"
                        "    b = tl.alloc_ub(n, dtype=x2.dtype)\n"
                        "    d = tl.alloc_ub(n, dtype=y.dtype)\n"
                        "    p = tl.alloc_ub(n, dtype=tl.bool)\n"
                        "    q = tl.alloc_ub(n, dtype=tl.bool)\n"
                        "    with tl.copyin():\n"
                        "        tl.load(x1, a)\n"
                        "        tl.load(x2, b)\n"
                        "%s"
                        "    if tl.program_id(0) > 0:\n"
                        "        return\n"
                        "    with tl.compute():\n"
                        "        %s\n"
                        "    with tl.copyout():\n"
                        "        tl.store(y, d)\n"
                        "def h(x1: torch.Tensor, x2: torch.Tensor, y: torch.Tensor):\n"
                        "    cores = %s\n"
                        "    k[cores](x1, x2, y, x1.numel(), cores)\n",
                        all, compute, *all ? "tl.num_vec_cores()" : "1");
}

static struct task_tensor tensor_of(enum akgen_dtype type, const double *values)
{
    struct task_tensor tensor = {.type = type, .rank = 1, .dims = {N}, .elements = N};
    tensor.values = arena_alloc(&arena, N * sizeof(double));
    if (values)
        task_write_double(&tensor, 0, N, values);
    return tensor;
}

/* y in double; false: the messages say why. */
static bool run(const char *text, enum akgen_dtype from, enum akgen_dtype to, const double *x1, const double *x2,
                bool given, double *y, struct dsl_messages *messages)
{
    const struct dsl_tree *tree = dsl_parse(&arena, "x.py", text, strlen(text), messages);
    const struct dsl_program *program = tree ? dsl_check(&arena, tree, messages) : NULL;
    if (!program)
        return false;
    struct task_tensor in[] = {tensor_of(from, x1), tensor_of(from, x2)}, out = tensor_of(to, NULL);
    const struct dsl_argument arguments[] = {{.tensors = &in[0], .given = true},
                                             {.tensors = &in[1], .given = true},
                                             {.tensors = &out, .stored = true, .given = given}};
    struct dsl_run run = {.vector_cores = CORES, .cube_cores = 1, .ub_bytes = 4096, .arguments = arguments};
    bool good = dsl_interpret(&arena, program, &run, messages);
    task_read_double(&out, 0, N, y);
    return good;
}

static const double values[] = {-2.5, -0.75, 0, 0.25, 0.5, 3.5}, others[] = {2, 0.5, -1, 0.25, 3, -2};

static double fraction(double x)
{
    return x - trunc(x);
}

/* From values of Gamma that are known at the values of the test: the derivative of log |Gamma| by differences of fourth order. */
static double psi(double x)
{
    enum { PARTS = 4096 };
    const double h = 1.0 / PARTS;
    if (x <= 0 && x == floor(x))
        return x == 0 ? -INFINITY : NAN;
    return (8 * (lgamma(x + h) - lgamma(x - h)) - (lgamma(x + 2 * h) - lgamma(x - 2 * h))) / (12 * h);
}

static const struct {
    const char *name;
    double (*of)(double);
} functions[] = {{"vexp", exp},       {"vexp2", exp2},   {"vln", log},       {"vlog2", log2},   {"vlog10", log10},
                 {"vsqrt", sqrt},     {"vfloor", floor}, {"vceil", ceil},    {"vround", rint},  {"vtrunc", trunc},
                 {"vsin", sin},       {"vcos", cos},     {"vtan", tan},      {"vasin", asin},   {"vacos", acos},
                 {"vatan", atan},     {"vsinh", sinh},   {"vcosh", cosh},    {"vtanh", tanh},   {"verf", erf},
                 {"verfc", erfc},     {"vabs", fabs},    {"vasinh", asinh},  {"vacosh", acosh}, {"vatanh", atanh},
                 {"vlgamma", lgamma}, {"vdigamma", psi}, {"vfrac", fraction}};

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Each is what C's function of double yields, rounded once, to float32 and to float16. */
static void test_functions(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (int half = 0; half < 2; half++) {
            enum akgen_dtype type = half ? AKGEN_FLOAT16 : AKGEN_FLOAT;
            struct dsl_messages messages;
            double y[N];
            const char *compute = arena_printf(&arena, "tl.%s(d, a)", functions[f].name);
            if (!run(program_of(compute, ""), type, type, values, others, false, y, &messages))
                fail_msg("%s: %s", functions[f].name, messages.items[0].text);
            for (int i = 0; i < N; i++)
                if (!same(y[i], task_round(type, functions[f].of(values[i]))))
                    fail_msg("%s(%g) is %g", functions[f].name, values[i], y[i]);
        }
}

#define NEXT  "\n        " /* the next line */
#define FLOAT AKGEN_FLOAT
#define INT   AKGEN_INT32
static const struct {
    enum akgen_dtype from, to;
    const char *compute;
    double x1[N], x2[N], y[N];
} computed[] = {
    {FLOAT, FLOAT, "tl.vneg(d, a)", {-2, -0.5, 1, 3, INFINITY, NAN}, {0}, {2, 0.5, -1, -3, -INFINITY, NAN}},
    {FLOAT, FLOAT, "tl.vsign(d, a)", {-2, -0.5, 0, 3, INFINITY, NAN}, {0}, {-1, -1, 0, 1, 1, NAN}},
    {FLOAT, FLOAT, "tl.vpow(d, a, b)", {2, 4, -2, 0, 9, 2}, {3, 0.5, 3, 0, -0.5, -1}, {8, 2, -8, 1, 1 / 3.F, 0.5}},
    {FLOAT, FLOAT, "tl.vpow(d, a, 2)", {2, 4, -2, 0, 9, 0.5}, {0}, {4, 16, 4, 0, 81, 0.25}},
    {FLOAT, FLOAT, "tl.vfmod(d, a, b)", {7, -7, 7, 5.5, 1, INFINITY}, {3, 3, -3, 0.5, 0, 2}, {1, -1, 1, 0, NAN, NAN}},
    {FLOAT, FLOAT, "tl.vfmod(d, a, 1.5)", {7, -7, 1.25, 3, -0.5, NAN}, {0}, {1, -1, 1.25, 0, -0.5, NAN}},
    {FLOAT,
     FLOAT,
     "tl.vleaky_relu(d, a, 0.25)",
     {-2, -0.5, 0, 3, INFINITY, NAN},
     {0},
     {-0.5, -0.125, 0, 3, INFINITY, NAN}},
    {INT, INT, "tl.vpow(d, a, b)", {2, -3, 1, -1, 5, 1 << 20}, {10, 3, -4, -3, -1, 2}, {1024, -27, 1, -1, 0, 0}},
    {INT, INT, "tl.vneg(d, a)", {1, -5, 0, INT32_MIN, INT32_MAX, 7}, {0}, {-1, 5, 0, INT32_MIN, -INT32_MAX, -7}},
    {INT, INT, "tl.vsign(d, a)", {1, -5, 0, INT32_MIN, INT32_MAX, 7}, {0}, {1, -1, 0, -1, 1, 1}},
    {INT,
     INT,
     "tl.vadd(d, a, b)",
     {1, -5, INT32_MAX, INT32_MIN, 0, 7},
     {2, 3, 1, -1, 0, 8},
     {3, -2, INT32_MIN, INT32_MAX, 0, 15}},
    {INT, INT, "tl.vand(d, a, b)", {12, -1, 7, 255, 0, 5}, {10, 15, 8, 128, 1, -2}, {8, 15, 0, 128, 0, 4}},
    {INT, INT, "tl.vor(d, a, b)", {12, -1, 7, 255, 0, 5}, {10, 15, 8, 128, 1, -2}, {14, -1, 15, 255, 1, -1}},
    {INT, INT, "tl.vxor(d, a, 6)", {12, -1, 7, 6, 0, 5}, {0}, {10, -7, 1, 0, 6, 3}},
    {INT, INT, "tl.vnot(d, a)", {12, -1, 7, 255, 0, 5}, {0}, {-13, 0, -8, -256, -1, -6}},
    {INT, INT, "tl.vshift_left(d, a, b)", {1, 3, -1, 1, 1, 5}, {4, 31, 2, 40, -1, 0}, {16, INT32_MIN, -4, 0, 0, 5}},
    {INT, INT, "tl.vshift_right(d, a, b)", {16, -16, -1, 7, -7, 5}, {2, 2, 40, 64, 64, 0}, {4, -4, -1, 0, -1, 5}},
    /* 2^24 + 1 is no float32: the product is rounded, then the sum. */
    {FLOAT,
     FLOAT,
     "tl.vadd(d, b, 0)" NEXT "tl.vaxpy(d, a, 3)",
     {1, 2, 0x1p24 / 3, -1, 0, 0.5},
     {1, 1, 1, 1, 1, 1},
     {4, 7, 0x1p24, -2, 1, 2.5}},
    {FLOAT,
     FLOAT,
     "tl.duplicate(d, 1)" NEXT "tl.vmul_add(d, a, b)",
     {1, 2, 0x1p24 / 3, -1, 0, 0.5},
     {3, 3, 3, 3, 3, 3},
     {4, 7, 0x1p24, -2, 1, 2.5}},
    {INT,
     INT,
     "tl.duplicate(d, 1)" NEXT "tl.vmul_add(d, a, b)",
     {1, 2, 1 << 30, -1, 0, 5},
     {3, 3, 3, 3, 7, -1},
     {4, 7, 1 - (1 << 30), -2, 1, -4}},
    {INT,
     INT,
     "tl.vadd(d, b, 0)" NEXT "tl.vaxpy(d, a, 3)",
     {1, 2, 1 << 30, -1, 0, 5},
     {1, 1, 1, 1, 1, 1},
     {4, 7, 1 - (1 << 30), -2, 1, 16}},
    {FLOAT, AKGEN_BOOL, "tl.vlt(d, a, b)", {1, 2, 3, NAN, 0, -1}, {2, 2, 1, 1, NAN, 0}, {1, 0, 0, 0, 0, 1}},
    {FLOAT, AKGEN_BOOL, "tl.vne(d, a, b)", {1, 2, 3, NAN, 0, -1}, {2, 2, 1, NAN, NAN, -1}, {1, 0, 1, 1, 1, 0}},
    {FLOAT, AKGEN_BOOL, "tl.veq(d, a, 0)", {1, 0, -0., NAN, 0x1p-149, -1}, {0}, {0, 1, 1, 0, 0, 0}},
    {INT, AKGEN_BOOL, "tl.vge(d, a, b)", {1, 2, 3, INT32_MIN, 0, -1}, {2, 2, 1, INT32_MAX, 0, 0}, {0, 1, 1, 0, 1, 0}},
    {INT, AKGEN_BOOL, "tl.vgt(d, a, 2)", {1, 2, 3, INT32_MIN, 0, -1}, {0}, {0, 0, 1, 0, 0, 0}},
    {INT, AKGEN_BOOL, "tl.vle(d, a, 2)", {1, 2, 3, INT32_MIN, 0, -1}, {0}, {1, 1, 0, 1, 1, 1}},
    {AKGEN_INT64,
     AKGEN_BOOL,
     "tl.vlt(d, a, b)",
     {0x1p53, 1, 0, -0x1p60, 5, 5},
     {0x1p53, 2, 0, 0x1p60, 4, 5},
     {0, 1, 0, 1, 0, 0}},
    {FLOAT,
     FLOAT,
     "tl.vgt(p, a, b)" NEXT "tl.vselect(d, p, a, b)",
     {1, 2, 3, 4, 0, -1},
     {2, 1, 3, 5, -1, 1},
     {2, 2, 3, 5, 0, 1}},
    {FLOAT,
     FLOAT,
     "tl.vgt(p, a, 0)" NEXT "tl.vselect(d, p, 7, a)",
     {1, -2, 3, 0, NAN, -1},
     {0},
     {7, -2, 7, 0, NAN, -1}},
    {FLOAT,
     AKGEN_BOOL,
     "tl.vgt(p, a, 0)" NEXT "tl.vgt(q, b, 0)" NEXT "tl.vand(d, p, q)",
     {1, 1, -1, -1, 0, 1},
     {1, -1, 1, -1, 1, 2},
     {1, 0, 0, 0, 0, 1}},
    {FLOAT,
     AKGEN_BOOL,
     "tl.vgt(p, a, 0)" NEXT "tl.vgt(q, b, 0)" NEXT "tl.vxor(p, p, q)" NEXT "tl.vnot(d, p)",
     {1, 1, -1, -1, 0, 1},
     {1, -1, 1, -1, 1, 2},
     {1, 0, 0, 1, 0, 1}},
    {FLOAT,
     AKGEN_BOOL,
     "tl.duplicate(p, True)" NEXT "tl.vgt(d, a, 0)" NEXT "tl.vor(d, d, p)",
     {1, 1, -1, -1, 0, 1},
     {0},
     {1, 1, 1, 1, 1, 1}},
    {AKGEN_BOOL, AKGEN_BOOL, "tl.vand(d, a, b)", {1, 1, 0, 0, 1, 0}, {1, 0, 1, 0, 1, 0}, {1, 0, 0, 0, 1, 0}},
    {FLOAT, INT, "tl.cast(d, a)", {0.5, 1.5, -2.5, 3e9, NAN, -INFINITY}, {0}, {0, 2, -2, INT32_MAX, 0, INT32_MIN}},
    {FLOAT, INT, "tl.cast(d, a, round='away')", {0.5, 1.5, -2.5, 2.25, -2.75, 0}, {0}, {1, 2, -3, 2, -3, 0}},
    {FLOAT, INT, "tl.cast(d, a, 'down')", {0.5, 1.5, -2.5, 2.25, -2.75, 0}, {0}, {0, 1, -3, 2, -3, 0}},
    {FLOAT, INT, "tl.cast(d, a, 'up')", {0.5, 1.5, -2.5, 2.25, -2.75, 0}, {0}, {1, 2, -2, 3, -2, 0}},
    {FLOAT, INT, "tl.cast(d, a, 'zero')", {0.5, 1.5, -2.5, 2.25, -2.75, 0}, {0}, {0, 1, -2, 2, -2, 0}},
    {FLOAT, AKGEN_INT8, "tl.cast(d, a)", {127.5, 128, -129, 2.25, -128.5, NAN}, {0}, {127, 127, -128, 2, -128, 0}},
    {FLOAT, AKGEN_UINT8, "tl.cast(d, a)", {255.5, 256, -1, 2.25, 254.5, 0}, {0}, {255, 255, 0, 2, 254, 0}},
    {FLOAT,
     AKGEN_INT64,
     "tl.cast(d, a)",
     {0x1p40, 0x1p70, -1, 2.25, -0x1p70, 0},
     {0},
     {0x1p40, 0x1p63, -1, 2, -0x1p63, 0}},
    {FLOAT,
     AKGEN_FLOAT16,
     "tl.cast(d, a)",
     {1.0 + 0x1p-11, 1e6, -1, 0.1, NAN, 0},
     {0},
     {1, INFINITY, -1, 0x1.998p-4, NAN, 0}},
    {FLOAT,
     AKGEN_BF16,
     "tl.cast(d, a)",
     {1.0 + 0x1p-8, 0x1.ffp127, -1, 0.1, 2, 0},
     {0},
     {1, INFINITY, -1, 0x1.9ap-4, 2, 0}},
    {INT, FLOAT, "tl.cast(d, a)", {1, -1, 0x1p24 + 1, INT32_MAX, 0, 3}, {0}, {1, -1, 0x1p24, 0x1p31, 0, 3}},
    {INT, AKGEN_INT8, "tl.cast(d, a)", {1, -1, 200, INT32_MIN, 0, -128}, {0}, {1, -1, 127, -128, 0, -128}},
    {INT, AKGEN_BOOL, "tl.cast(d, a)", {1, -1, 0, INT32_MIN, 0, 256}, {0}, {1, 1, 0, 1, 0, 1}},
    {FLOAT, AKGEN_BOOL, "tl.cast(d, a, 'zero')", {1, -0.25, 0, -0., NAN, 256}, {0}, {1, 1, 0, 0, 1, 1}},
    {AKGEN_BOOL, FLOAT, "tl.cast(d, a)", {1, 0, 0, 1, 1, 0}, {0}, {1, 0, 0, 1, 1, 0}},
    {INT, INT, "tl.iota(d, 3)", {0}, {0}, {3, 4, 5, 6, 7, 8}},
    {INT, INT, "tl.iota(d, 3, step=-2)", {0}, {0}, {3, 1, -1, -3, -5, -7}},
    {FLOAT, FLOAT, "tl.iota(d, 0.25, 0.5)", {0}, {0}, {0.25, 0.75, 1.25, 1.75, 2.25, 2.75}},
    {FLOAT,
     FLOAT,
     "tl.iota(d, 0x1000001, 1)",
     {0},
     {0},
     {0x1p24, 0x1p24, 0x1p24 + 2, 0x1p24 + 4, 0x1p24 + 4, 0x1p24 + 4}},
    {INT,
     FLOAT,
     "tl.cast(d, a)" NEXT "tl.vadd(d, d, 1 if y.dtype.is_floating_point and x1.dtype != y.dtype else 2)",
     {1, 2, 3, 4, 5, 6},
     {0},
     {2, 3, 4, 5, 6, 7}},
    /* A number has the buffer's data type: 1 + 2^-11 is 1 in float16. */
    {AKGEN_FLOAT16, AKGEN_FLOAT16, "tl.vmul(d, a, 1 + 2.0 ** -11)", {2048, 1, 2, 3, 4, 5}, {0}, {2048, 1, 2, 3, 4, 5}},
    {FLOAT,
     FLOAT,
     "tl.duplicate(d, tl.floor(-1.5) + tl.ceil(1.25) + tl.abs(-8) + tl.pow(2, 4) + tl.log(1.0))",
     {0},
     {0},
     {24, 24, 24, 24, 24, 24}},
};

static void test_computed(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof computed / sizeof *computed; t++) {
        struct dsl_messages messages;
        double y[N];
        if (!run(program_of(computed[t].compute, ""), computed[t].from, computed[t].to, computed[t].x1, computed[t].x2,
                 false, y, &messages))
            fail_msg("%s: %s", computed[t].compute, messages.items[0].text);
        for (int i = 0; i < N; i++)
            if (!same(y[i], computed[t].y[i]))
                fail_msg("%s: element %d is %.17g, not %.17g", computed[t].compute, i, y[i], computed[t].y[i]);
    }
}

/* What `all` does on every core, and compute on core 0; y was given if it begins with zeros. */
static const struct {
    enum akgen_dtype from, to;
    bool given;
    const char *all, *compute;
    enum dsl_rule rule;
    const char *says;
} stops[] = {
    {FLOAT, FLOAT, false, "", "tl.vabs(d, a, count=4)", DSL_RULE_undefined, "element 4 of 'd'"},
    {FLOAT, FLOAT, false, "", "tl.vabs(b, d)" NEXT "tl.vadd(d, a, b)", DSL_RULE_undefined, "element 0 of 'd'"},
    {FLOAT, FLOAT, false, "", "tl.vgt(p, a, 0, count=5)" NEXT "tl.vselect(d, p, a, b)", DSL_RULE_undefined,
     "element 5 of 'd'"},
    {FLOAT, FLOAT, false, "", "tl.reduce_max(d, d, b)", DSL_RULE_undefined, "'d' is read, and nothing writes it"},
    {FLOAT, INT, false, "", "tl.reduce_max(b, a, d)", DSL_RULE_types,
     "'d' holds int32, where tl.reduce_max wants float32"},
    {FLOAT, INT, false, "", "tl.duplicate(d, 1)" NEXT "tl.gather(d, a, d, 0)", DSL_RULE_types,
     "'d' holds int32, where tl.gather wants float32"},
    {FLOAT, FLOAT, false, "", "tl.cast(d, a, 'up')", DSL_RULE_types, "how real numbers become integers"},
    {FLOAT, INT, false, "", "tl.vabs(d, a)", DSL_RULE_types, "'a' holds float32 and 'd' int32"},
    {FLOAT, FLOAT, false, "", "tl.vand(d, a, b)", DSL_RULE_types, "tl.vand has no float32"},
    {INT, INT, false, "", "tl.vexp(d, a)", DSL_RULE_types, "tl.vexp has no int32"},
    {INT, INT, false, "", "tl.vadd(d, a, 1.5)", DSL_RULE_types, "1.5 is no value of 'a'"},
    {FLOAT, FLOAT, false, "", "tl.veq(d, a, b)", DSL_RULE_types, "'d' holds float32, where tl.veq wants bool"},
    {FLOAT, FLOAT, false, "", "tl.vselect(d, a, a, b)", DSL_RULE_types,
     "'a' holds float32, where tl.vselect wants bool"},
    {FLOAT, FLOAT, false, "", "tl.vgt(p[0:6], a, b)" NEXT "tl.vabs(d, a)", DSL_RULE_types, "a piece of 'p'"},
    {FLOAT, FLOAT, false, "", "tl.vgt(p, a, b)" NEXT "tl.vabs(d, a)" NEXT "s = tl.extract_scalar(p, 0)", DSL_RULE_types,
     "tl.extract_scalar of 'p'"},
    {AKGEN_INT8, AKGEN_INT8, false, "", "tl.iota(d, 0)", DSL_RULE_types, "tl.iota has no int8"},
    {FLOAT, FLOAT, false, "    with tl.copyin():\n        tl.load(x1, p)\n", "tl.duplicate(d, 0)", DSL_RULE_types,
     "'x1' holds float32 and 'p' bool"},
    {INT, FLOAT, false, "    with tl.copyin():\n        tl.load(x1, d)\n", "tl.duplicate(d, 0)", DSL_RULE_types,
     "'x1' holds int32 and 'd' float32"},
    {FLOAT, FLOAT, false, "    with tl.copyout():\n        tl.store_add(y, a)\n", "tl.duplicate(d, 0)",
     DSL_RULE_undefined, "element 0 of 'y' is added to, and nothing wrote it"},
    {FLOAT, FLOAT, true, "    with tl.copyout():\n        tl.store_add(y, a)\n", "tl.vabs(d, a)", DSL_RULE_shared,
     "element 0 of 'y' is stored and added to"},
    {FLOAT, FLOAT, true, "    with tl.copyout():\n        tl.store_add(y, a)\n    s = tl.extract_scalar(y, 1)\n",
     "tl.duplicate(d, 0)", DSL_RULE_shared, "element 1 of 'y', which is added to, is read by core 0"},
    {AKGEN_INT8, AKGEN_INT8, true, "    with tl.copyout():\n        tl.store_add(y, a)\n", "tl.duplicate(d, 0)",
     DSL_RULE_types, "'y' holds int8"},
    {FLOAT, FLOAT, true,
     "    with tl.copyin():\n        tl.load(y, b)\n    if tl.program_id(0) == 0:\n        return\n"
     "    with tl.copyout():\n        tl.store(y + 2, a, count=1)\n",
     "tl.duplicate(d, 0)", DSL_RULE_shared, "element 2 of 'y', which another core reads, is stored by core 1"},
};

static void test_stops(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof stops / sizeof *stops; t++) {
        struct dsl_messages messages;
        double y[N];
        bool good = run(program_of(stops[t].compute, stops[t].all), stops[t].from, stops[t].to, values, others,
                        stops[t].given, y, &messages);
        if (good || messages.count != 1 || messages.items[0].rule != stops[t].rule ||
            !strstr(messages.items[0].text, stops[t].says))
            fail_msg("%s%s: %s", stops[t].all, stops[t].compute, messages.count ? messages.items[0].text : "nothing");
    }
}

/* What is loaded only in part computes with no count; what is stored behind a mask only has to be there. */
static void test_without_value(void **state)
{
    (void)state;
    struct dsl_messages messages;
    double y[N];
    const char *text = "@ascend_kernel\n"
                       "def k(x1, x2, y, n):\n"
                       "    a = tl.alloc_ub(2 * n, dtype=x1.dtype)\n"
                       "    p = tl.alloc_ub(2 * n, dtype=tl.bool)\n"
                       "    offsets = tl.arange(0, 2 * n)\n"
                       "    with tl.copyin():\n"
                       "        tl.load(x1 + offsets, a, mask=offsets < n)\n"
                       "    with tl.compute():\n"
                       "        tl.vgt(p, a, 0)\n"
                       "        tl.vexp2(a, a)\n"
                       "        tl.vaxpy(a, a, 1)\n"
                       "        tl.vselect(a, p, a, -1)\n"
                       "    with tl.copyout():\n"
                       "        tl.store(y + offsets, a, mask=offsets < n)\n"
                       "def h(x1: torch.Tensor, x2: torch.Tensor, y: torch.Tensor):\n"
                       "    k[1](x1, x2, y, x1.numel())\n";
    const double x1[] = {1, 2, 3, 0, -1, 4}, expected[] = {4, 8, 16, -1, -1, 32};
    if (!run(text, FLOAT, FLOAT, x1, others, false, y, &messages))
        fail_msg("%s", messages.items[0].text);
    assert_memory_equal(y, expected, sizeof y);
}

/* Every core adds; behind tl.sync_all() the sum is there. */
static void test_store_add(void **state)
{
    (void)state;
    struct dsl_messages messages;
    double y[N];
    const char *all = "    with tl.copyout():\n"
                      "        tl.store_add(y, a)\n"
                      "        tl.store_add(y + 1, b, count=2)\n"
                      "    tl.sync_all()\n"
                      "    with tl.copyin():\n"
                      "        tl.load(y, b)\n"
                      "    tl.sync_all()\n";
    const double x1[] = {1, 2, 3, 0, -1, 0.5}, x2[] = {8, 16, 0, 0, 0, 0}, expected[] = {3, 30, 57, 0, -3, 1.5};
    if (!run(program_of("tl.vadd(d, b, 0)", all), FLOAT, FLOAT, x1, x2, true, y, &messages))
        fail_msg("%s", messages.items[0].text);
    assert_memory_equal(y, expected, sizeof y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_functions, drop), cmocka_unit_test_teardown(test_computed, drop),
        cmocka_unit_test_teardown(test_stops, drop),     cmocka_unit_test_teardown(test_without_value, drop),
        cmocka_unit_test_teardown(test_store_add, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
