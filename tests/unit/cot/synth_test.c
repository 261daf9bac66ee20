/* Operators made at random: the same seed makes the same one; what is made is proved, and breaking an answer is noticed. */
#include "cot/synth_prove.h"
#include "base/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { OPERATORS = 60 };

static void test_same_seed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < OPERATORS; seed++) {
        struct arena arena = {0};
        struct synth_operator one, again;
        synth_operator_make(&arena, seed, &one);
        synth_operator_make(&arena, seed, &again);
        assert_string_equal(one.answer, again.answer);
        assert_string_equal(one.description, again.description);
        assert_string_equal(one.yaml[0], again.yaml[0]);
        assert_string_equal(one.cases, again.cases);
        arena_free(&arena);
    }
}

static void test_proofs(void **state)
{
    char scratch[] = "/tmp/akgen-synth-XXXXXX";
    int proved = 0, families = 0;
    const char *family = "";
    (void)state;
    assert_non_null(mkdtemp(scratch));
    for (uint64_t seed = 320; seed < 320 + OPERATORS; seed++) {
        struct arena arena = {0};
        struct synth_operator made;
        struct synth_proof proof;
        synth_operator_make(&arena, seed, &made);
        struct akgen_error *error = synth_prove(&arena, &made, scratch, false, &proof);
        if (error)
            fail_msg("seed %d: %s", (int)seed, error->message);
        families += strcmp(family, made.family) != 0;
        family = made.family;
        /* What the planner wrote is a program: seed 366 names a tensor as a buffer of its own would be. */
        assert_true(!proof.dropped || strncmp(proof.dropped, "program", 7) != 0);
        if (!proof.dropped) {
            proved++;
            assert_non_null(strstr(proof.verdict, "\"pass\""));
            assert_non_null(strstr(proof.brief, made.op));
            assert_non_null(strstr(proof.program, "@ascend_kernel"));
        }
        arena_free(&arena);
    }
    files_remove_tree(scratch);
    assert_true(proved > OPERATORS * 8 / 10);
    assert_true(families > OPERATORS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_seed), cmocka_unit_test(test_proofs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
