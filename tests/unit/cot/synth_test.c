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

/* Whatever chance draws, a gradient without a named step for instance. */
static void test_every_seed_makes_an_operator(void **state)
{
    enum { SEEDS = 20000 };
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct arena arena = {0};
        struct synth_operator made;
        synth_operator_make(&arena, seed, &made);
        assert_non_null(strstr(made.answer, " = "));
        if (strlen(made.description) < 4)
            fail_msg("seed %lu, %s: \"%s\" for %s", (unsigned long)seed, made.family, made.description, made.answer);
        arena_free(&arena);
    }
}

/* Some operators round each step: the answer says which, the description that it is so. */
static void test_rounding(void **state)
{
    int rounded = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 8 * OPERATORS; seed++) {
        struct arena arena = {0};
        struct synth_operator made;
        synth_operator_make(&arena, seed, &made);
        assert_null(strstr(made.description, "type_as"));
        if (strstr(made.answer, "type_as(")) {
            rounded++;
            assert_non_null(strstr(made.yaml[0], "type_as("));
            assert_true(strstr(made.description, "type") && !strstr(made.description, "rounded once"));
        }
        arena_free(&arena);
    }
    assert_in_range(rounded, 4, 8 * OPERATORS / 10);
}

/* The judge takes the answer, in a thought's wake too, and none of what is wrong about it. Returns whether it took an answer that is wrong by a
 * millionth, which no data type shows. */
static bool judge(struct arena *arena, const struct synth_operator *made, const char *scratch, const char *brief)
{
    const char *last = strrchr(made->answer, ';'), *name = last ? last + 2 : made->answer,
               *wrong = arena_printf(arena, "%s; %.*s = 2 * %.*s + 1", made->answer, (int)strcspn(name, " "), name,
                                     (int)strcspn(name, " "), name);
    const char *drowned = arena_printf(arena, "%s; %.*s = 1.000001 * %.*s", made->answer, (int)strcspn(name, " "), name,
                                       (int)strcspn(name, " "), name);
    const char *const answers[] = {made->answer,
                                   arena_printf(arena, "<think>\n\n</think>\n\n%s", made->answer),
                                   wrong,
                                   arena_printf(arena, "%s)", made->answer),
                                   "I do not know.",
                                   "",
                                   NULL,
                                   drowned};
    enum synth_worth worth[8];
    struct akgen_error *error = synth_judge(arena, made, scratch, brief, answers, 8, worth);
    if (error)
        fail_msg("%s: %s", made->answer, error->message);
    if (worth[0] != SYNTH_RIGHT || worth[1] != SYNTH_RIGHT)
        fail_msg("%s: %d %d", made->answer, worth[0], worth[1]);
    if (worth[2] == SYNTH_RIGHT &&
        !strstr(made->answer, " == ")) /* where(h - h == 0, h, 8) may be either, everywhere */
        fail_msg("%s: nothing is wrong", wrong);
    for (int i = 3; i < 7; i++)
        assert_int_equal(worth[i], SYNTH_REFUSED);
    bool was_drowned = worth[7] == SYNTH_RIGHT;
    error = synth_judge(arena, made, scratch, "another question", answers, 1, worth);
    assert_non_null(strstr(error->message, "another akgen made the row"));
    error_free(error);
    return was_drowned;
}

/* A program, long or short, is of the task that is meant, proved, and right to the judge; a broken one and formulas are not. False: the
 * planner has none. */
static bool program(struct arena *arena, const struct synth_operator *made, const char *scratch,
                    const struct synth_proof *proof, bool brief)
{
    struct synth_proof of;
    assert_null(synth_prove_program(arena, made, scratch, brief, proof, &of));
    if (of.dropped && strncmp(of.dropped, "planner", 7) == 0)
        return false;
    if (of.dropped)
        fail_msg("%s: %s", made->answer, of.dropped);
    assert_non_null(strstr(of.verdict, "\"pass\""));
    assert_int_equal(made->lists, strstr(of.program, "list[torch.Tensor]") != NULL);
    if (brief) {
        assert_true(strncmp(of.program, arena_printf(arena, "# %s\nimport tile.language as tl\n", made->answer),
                            strlen(made->answer) + 30) == 0);
        assert_null(strchr(of.program + 1, '#'));
        assert_null(strstr(of.program, "assert"));
        assert_null(strstr(of.program, "strips"));
    }
    char *broken = arena_strdup(arena, of.program);
    memcpy(strstr(broken, "copyout"), "copyour", 7);
    const char *const answers[] = {of.program, arena_printf(arena, "```python\n%s```\n", of.program), broken,
                                   made->answer, NULL};
    const char *question = arena_printf(arena, "%s" SYNTH_PROGRAM_IS_ASKED, proof->brief);
    enum synth_worth worth[5];
    struct akgen_error *error = synth_judge(arena, made, scratch, question, answers, 5, worth);
    if (error)
        fail_msg("%s: %s", made->answer, error->message);
    for (int i = 0; i < 5; i++)
        if (worth[i] != (i < 2 ? SYNTH_RIGHT : SYNTH_REFUSED))
            fail_msg("answer %d is worth %d:\n%s", i, worth[i], of.program);
    return true;
}

static void test_programs(void **state)
{
    char scratch[] = "/tmp/akgen-synth-XXXXXX";
    int lists = 0, in_place = 0, without = 0;
    (void)state;
    assert_non_null(mkdtemp(scratch));
    for (uint64_t seed = 1000; seed < 1000 + 2 * OPERATORS; seed++) {
        struct arena arena = {0};
        struct synth_operator made;
        struct synth_proof proof;
        synth_operator_make(&arena, seed, &made);
        assert_null(synth_prove(&arena, &made, scratch, false, &proof));
        lists += !proof.dropped && made.lists;
        in_place += !proof.dropped && *made.in_place;
        for (int brief = 0; brief < 2 && !proof.dropped; brief++)
            without += !program(&arena, &made, scratch, &proof, brief);
        arena_free(&arena);
    }
    files_remove_tree(scratch);
    assert_true(lists > 2 && in_place > 2 && without < 5);
}

static void test_proofs(void **state)
{
    char scratch[] = "/tmp/akgen-synth-XXXXXX";
    int proved = 0, families = 0, drowned = 0;
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
            drowned += judge(&arena, &made, scratch, proof.brief);
        }
        arena_free(&arena);
    }
    files_remove_tree(scratch);
    assert_true(proved > OPERATORS * 8 / 10);
    print_message("%d of %d answers that are wrong by a millionth were taken for right\n", drowned, proved);
    assert_true(drowned < proved / 3); /* of those that jump, or are whole numbers */
    assert_true(families > OPERATORS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_seed), cmocka_unit_test(test_every_seed_makes_an_operator),
        cmocka_unit_test(test_rounding), cmocka_unit_test(test_proofs), cmocka_unit_test(test_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
