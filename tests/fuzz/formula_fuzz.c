/* Formulas of any text: parsing ends with a value or an error, and a value can be computed. */
#include "fuzz.h"

#include "task/expr/formula.h"
#include "task/tensor/tensor.h"

#include <string.h>

void fuzz_seeds(void)
{
    static const char *const texts[] = {"x",
                                        "x * sigmoid(k * x)",
                                        "-x ** 2 + 0.5 * y - 1e-3",
                                        "x > 0 ? y : y <= k ? 1 : x",
                                        "x < 0 ? k * (exp(x) - 1) : x",
                                        "max(x, y) / min(1, tanh(abs(y)))",
                                        "0.5 * x * (1 + erf(x / sqrt(2)))",
                                        "max(-k, min(k, floor(x)))",
                                        "d = x - mean(x); d * rsqrt(var(x) + 1e-5) * y",
                                        "silu(x[:size(x) // 2 + 1]) * x[k - 2:]",
                                        "softmax(x, -1) + cumsum(where(x > 0, x, -x[0])) / sum(x, all)",
                                        "softmax(x, 0) * mean(x, 1, -2) - cumsum(y, -1) / size(x, 0)",
                                        "x + k * index(z, 0) - index(z) % index(y)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fuzz_seed_text(texts[i]);
}

static void keep(void *state, int64_t first, int64_t n, const double *values)
{
    memcpy((double *)state + first, values, sizeof *values * (size_t)n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { LONGEST = 4096, NAMES = 3 }; /* of a text in task.yaml */
    const struct formula_name names[NAMES] = {{"x", NULL}, {"y", NULL}, {"k", NULL}};
    double x[] = {1.5, -1, 0, 7, 2, 3}, y[] = {-2, 0.5, 1}, out[6];
    const struct task_tensor matrix = {AKGEN_DOUBLE, 2, {2, 3}, 6, x}, row = {AKGEN_DOUBLE, 1, {3}, 3, y};
    const struct formula_argument arguments[NAMES] = {{&matrix, 0, false}, {&row, 0, false}, {NULL, 3, true}};
    const enum akgen_dtype steps = AKGEN_DOUBLE;
    struct arena arena = {0};
    const struct formula *formula;
    struct formula_bound *bound;
    const char *text = arena_strndup(&arena, (const char *)bytes, length < LONGEST ? length : LONGEST);
    struct akgen_error *error = formula_parse(&arena, text, names, NAMES, NULL, "z", 0, &formula);
    if (!error)
        error = formula_bind(&arena, formula, arguments, (const struct task_tensor *[]){&matrix}, &steps, &bound);
    if (!error)
        error = formula_fits(bound, formula->count - 1, &matrix);
    if (!error)
        formula_compute(bound, formula->count - 1, &matrix, keep, out);
    error_free(error);
    arena_free(&arena);
    return 0;
}
