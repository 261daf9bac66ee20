/* A broken text differs from the right one in the lines that the mutation names, and nowhere else. Kinds of diagnostics, and intervals. */
#include "base/text.h"
#include "cot/failures.h"
#include "cot/mutate.h"
#include "cot/signature.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char formulas[] = "d = x - mean(x); s = sqrt(mean(d * d) + eps); y = d / s * 3";
static const char program[] =
    "@ascend_kernel\ndef k(x, y, total, per_core, tile):\n"
    "    first = tl.program_id(0) * per_core\n    last = min(first + per_core, total)\n"
    "    x_ub = tl.alloc_ub(tile, dtype=tl.float32)\n    for at in range(first, last, tile):\n"
    "        m = min(tile, last - at)\n        with tl.copyin():\n"
    "            tl.load(x + at, x_ub, count=m)\n        with tl.compute():\n"
    "            tl.vsub(x_ub, x_ub, x_ub, count=m)\n            tl.vexp(x_ub, x_ub, count=m)\n"
    "        with tl.copyout():\n            tl.store(y + at, x_ub, count=m)\n";
static const char kernel[] =
    "#include \"kernel_operator.h\"\nconstexpr int64_t TILE = 64;\n// Add(a, b, c, m);\nclass K {\npublic:\n"
    "    void Compute(int64_t m)\n    {\n        LocalTensor<float> a = q.DeQue<float>();\n"
    "        Sub(a, b, c, m);\n        PipeBarrier<PIPE_V>();\n        Muls(a, a, 2.0f, m);\n"
    "        q.EnQue(a);\n        q.FreeTensor(a);\n    }\n    TQue<TPosition::VECIN, 2> q;\n};\n";
static const char host[] = "void Finish()\n{\n    tiling.set_total(total);\n"
                           "    context->SetBlockDim(static_cast<uint32_t>(blocks));\n"
                           "    this->AICore().AddConfig(\"ascend910b\");\n}\n";
static const char *const texts[] = {
    [COT_FORMULAS] = formulas, [COT_PROGRAM] = program, [COT_KERNEL_FILE] = kernel, [COT_HOST_FILE] = host};

/* The text with the lines of `wrong` replaced by those of `right`, from the mutation's line on. */
static void mended(const struct cot_mutation *mutation, struct text *text)
{
    const char *at = mutation->text;
    for (int line = 1; line < mutation->line; line++)
        at = strchr(at, '\n') + 1;
    text_append(text, mutation->text, (size_t)(at - mutation->text));
    text_add(text, mutation->right);
    if (mutation->wrong) {
        assert_memory_equal(at, mutation->wrong, strlen(mutation->wrong));
        at += strlen(mutation->wrong);
    } else
        text_add(text, "\n");
    text_add(text, at);
}

static void test_one_change(void **state)
{
    (void)state;
    for (int of = COT_FORMULAS; of <= COT_HOST_FILE; of++)
        for (uint64_t seed = 0; seed < 500; seed++) {
            struct arena arena = {0};
            struct rng rng, again;
            struct cot_mutation one, other;
            struct text text = {0};
            rng_seed(&rng, seed);
            rng_seed(&again, seed);
            assert_true(cot_mutate(&arena, &rng, (enum cot_mutable)of, texts[of], &one));     // NOLINT: one of them
            assert_true(cot_mutate(&arena, &again, (enum cot_mutable)of, texts[of], &other)); // NOLINT: likewise
            assert_string_equal(one.text, other.text);
            assert_string_not_equal(one.text, texts[of]);
            mended(&one, &text);
            assert_string_equal(text.bytes, texts[of]);
            text_free(&text);
            arena_free(&arena);
        }
}

static void test_no_place(void **state)
{
    struct arena arena = {0};
    struct rng rng;
    struct cot_mutation mutation;
    (void)state;
    rng_seed(&rng, 1);
    assert_false(cot_mutate(&arena, &rng, COT_KERNEL_FILE, "// Add(a, b, c, m);\n", &mutation)); /* a comment */
    assert_false(cot_mutate(&arena, &rng, COT_FORMULAS, "", &mutation));
    arena_free(&arena);
}

static void test_signatures(void **state)
{
    struct arena arena = {0};
    (void)state;
    assert_string_equal(
        cot_signature(&arena, "no matching function for call to 'Exp' (requires 3 arguments, but 12 were)"),
        "no matching function for call to '_' (requires N arguments, but N were)");
    assert_string_equal(cot_signature(&arena, "element 170 of 'x', which has 170 [bounds]; fix: cut it"),
                        "element N of '_', which has N [bounds]");
    assert_string_equal(cot_signature(&arena, "the chip's UB has 196608\nsecond line"), "the chip's UB has N");
    assert_string_equal(cot_signature(&arena, "int32 and 'open"), "int32 and 'open");
    arena_free(&arena);
}

/* Published values of Wilson's interval (Brown, Cai, DasGupta 2001 give the formula): 1 of 10 and 50 of 100. */
static void test_intervals(void **state)
{
    double low, high;
    (void)state;
    cot_share_interval(1, 10, &low, &high);
    assert_true(fabs(low - 0.0179) < 5e-5 && fabs(high - 0.4042) < 5e-5);
    cot_share_interval(50, 100, &low, &high);
    assert_true(fabs(low - 0.4038) < 5e-5 && fabs(high - 0.5962) < 5e-5);
    cot_share_interval(0, 10, &low, &high);
    assert_true(low == 0 && fabs(high - 0.2775) < 5e-5);
    cot_share_interval(0, 0, &low, &high);
    assert_true(low == 0 && high == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_change), cmocka_unit_test(test_no_place),
                                       cmocka_unit_test(test_signatures), cmocka_unit_test(test_intervals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
