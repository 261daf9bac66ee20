/* Formulas of any text: parsing ends with a value or an error, and a value can be computed. */
#include "fuzz.h"

#include "task/expr/formula.h"

void fuzz_seeds(void)
{
    static const char *const texts[] = {"x",
                                        "x * sigmoid(k * x)",
                                        "-x ** 2 + 0.5 * y - 1e-3",
                                        "x > 0 ? y : y <= k ? 1 : x",
                                        "x < 0 ? k * (exp(x) - 1) : x",
                                        "max(x, y) / min(1, tanh(abs(y)))",
                                        "0.5 * x * (1 + erf(x / sqrt(2)))",
                                        "max(-k, min(k, floor(x)))"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fuzz_seed_text(texts[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { LONGEST = 4096, NAMES = 3 }; /* of a text in task.yaml */
    const struct formula_name names[NAMES] = {{"x", NULL}, {"y", NULL}, {"k", NULL}};
    const double x = 1.5, y = -2, k = 3, *const values[NAMES] = {&x, &y, &k};
    struct arena arena = {0};
    const struct formula *formula;
    const char *text = arena_strndup(&arena, (const char *)bytes, length < LONGEST ? length : LONGEST);
    struct akgen_error *error = formula_parse(&arena, text, names, NAMES, &formula);
    double value;
    if (!error)
        formula_block(formula, AKGEN_DOUBLE, values, 1, &value);
    error_free(error);
    arena_free(&arena);
    return 0;
}
