/* From verdicts made by hand to the text that a model gets: what decides stands there, with place, rule and remedy; what was
 * told before is a line; nothing that the candidate wrote can break out. */
#include "gen/feedback.h"
#include "gen/remedy.h"
#include "npu/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

static struct job_finding hazard(int line)
{
    return (struct job_finding){.kind = NPU_HAZARD,
                                .fault = FAULT(hazard_war)->name,
                                .message = "MTE2 writes UB 0x0..0x1ff that MTE3 read before, and nothing orders the "
                                           "two: SetFlag<MTE3_MTE2>/WaitFlag<MTE3_MTE2>",
                                .api = "DataCopy",
                                .operand = "dst",
                                .fatal = true,
                                .file = "op_kernel/x.cpp",
                                .line = line,
                                .file_other = "op_kernel/x.cpp",
                                .line_other = line + 9};
}

static const char *told(const struct verdict *verdict, const struct gen_feedback *before, struct gen_feedback *feedback)
{
    gen_feedback_read(&arena, verdict, NULL, feedback);
    return gen_feedback_text(&arena, feedback, before);
}

static void assert_holds(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' is in:\n%s", part, text);
}

static struct verdict with_cases(enum akgen_verdict_kind kind, enum akgen_verdict_stage stage,
                                 struct verdict_case *cases, int count)
{
    return (struct verdict){.kind = kind, .stage = stage, .cases = cases, .case_count = count, .cases_total = count};
}

static void a_fault_of_several_cases_is_one_point(void **state)
{
    (void)state;
    struct job_finding findings[] = {hazard(28), hazard(28)};
    struct verdict_case cases[7] = {0};
    for (int i = 0; i < 7; i++)
        cases[i] = (struct verdict_case){.id = i,
                                         .kind = AKGEN_VERDICT_FAULT,
                                         .stage = AKGEN_STAGE_RUN,
                                         .shape = "x[4,5]",
                                         .dtype = "float16",
                                         .hidden = i == 1,
                                         .run = {.findings = findings, .finding_count = 2}};
    struct verdict verdict = with_cases(AKGEN_VERDICT_FAULT, AKGEN_STAGE_RUN, cases, 7);
    struct gen_feedback feedback;
    const char *text = told(&verdict, NULL, &feedback);
    assert_int_equal(feedback.count, 1);
    assert_holds(text, "Verdict: fault at stage run (it compiles and is launched; the kernel does what the chip does "
                       "not forgive). 0 of 7 cases are right.\n\n1. fault hazard_war\n   place:  op_kernel/x.cpp:28\n");
    assert_holds(text, "   other:  op_kernel/x.cpp:37\n   call:   DataCopy, operand dst\n");
    assert_holds(text, "SetFlag<MTE3_MTE2>/WaitFlag<MTE3_MTE2>\n   rule:   as `hazard_raw`: a write over bytes");
    assert_holds(text, "cases:  float16 x[4,5]; float16 x[4,5] (a size that the task does not show); float16 x[4,5]; "
                       "float16 x[4,5]; and 3 more\n   remedy: order the two: FreeTensor behind the read");
}

static void what_is_new_comes_first(void **state)
{
    (void)state;
    struct job_finding first[] = {hazard(28)}, moved[] = {hazard(31), hazard(40)};
    struct verdict_case old_case = {.kind = AKGEN_VERDICT_FAULT, .run = {.findings = first, .finding_count = 1}};
    struct verdict_case new_case = {.kind = AKGEN_VERDICT_FAULT, .run = {.findings = moved, .finding_count = 2}};
    struct verdict before = with_cases(AKGEN_VERDICT_FAULT, AKGEN_STAGE_RUN, &old_case, 1);
    struct verdict after = with_cases(AKGEN_VERDICT_FAULT, AKGEN_STAGE_RUN, &new_case, 1);
    struct gen_feedback one, two, three;
    moved[1].api = "Add";
    told(&before, NULL, &one);
    const char *text = told(&after, &one, &two);
    assert_holds(text, "\n1. fault hazard_war\n   place:  op_kernel/x.cpp:40\n");
    assert_holds(text, "\nUnchanged since the last round:\n- fault hazard_war, op_kernel/x.cpp:31; remedy: order the "
                       "two: ");
    assert_lacks(text, "Mended");
    text = told(&before, &two, &three);
    assert_holds(text, "\nThe last change has mended none of this:\n\n1. fault hazard_war\n   place:  "
                       "op_kernel/x.cpp:28\n");
    text = gen_feedback_text(&arena, &(struct gen_feedback){.head = "Verdict"}, &two);
    assert_holds(text, "\nMended since the last round, keep it so:\n- fault hazard_war, op_kernel/x.cpp:31\n");
}

static struct diagnostic diagnostic(enum diagnostic_class class, int line, const char *message)
{
    return (struct diagnostic){.class = class,
                               .error = true,
                               .file = "op_kernel/x.cpp",
                               .line = line,
                               .column = 9,
                               .message = message,
                               .text = "        Muls(y, x, n);"};
}

static void compile_errors_of_one_signature_are_counted(void **state)
{
    (void)state;
    struct diagnostic diagnostics[20];
    for (int i = 0; i < 8; i++)
        diagnostics[i] = diagnostic(DIAG_API, 20 + i,
                                    "no matching function for call to 'Muls' (candidate function "
                                    "requires 4 arguments, but 3 were provided)");
    for (int i = 8; i < 20; i++)
        diagnostics[i] = diagnostic(DIAG_SCOPE, i, arena_printf(&arena, "use of undeclared identifier 'v%c'", 'a' + i));
    struct verdict verdict = {.kind = AKGEN_VERDICT_COMPILE_ERROR,
                              .stage = AKGEN_STAGE_KERNEL,
                              .build = {.stage = BUILD_KERNEL, .diagnostics = diagnostics, .diagnostic_count = 20}};
    struct gen_feedback feedback;
    const char *text = told(&verdict, NULL, &feedback);
    assert_holds(text,
                 "\n1. compile error, class api\n   place:  op_kernel/x.cpp:20:9\n   code:   Muls(y, x, n);\n"
                 "           ^\n   what:   no matching function for call to 'Muls' (candidate function requires 4 "
                 "arguments, but 3 were provided)\n   form:   Muls(LocalTensor<T> dst, LocalTensor<T> src, T "
                 "scalarValue, int32_t count)\n");
    assert_holds(text,
                 "   types:  half, float, int16_t, int32_t\n   also:   op_kernel/x.cpp:21:9, op_kernel/x.cpp:22:9, "
                 "op_kernel/x.cpp:23:9, op_kernel/x.cpp:24:9 and 3 places more\n   remedy: pass as many arguments");
    assert_holds(text, "\n7 more of this kind are not shown.\n");
    assert_int_equal(feedback.all, 20);
}

/* A name that the API has in other letters, or nearly; one that it does not have is nobody's. */
static void names_of_the_api(void **state)
{
    (void)state;
    static const struct {
        const char *message, *remedy;
    } rows[] = {
        {"the answer is formulas, but Ascend C was asked for (--language graph counts it)",
         "   remedy: answer in the language that was asked for, and in no other\n"},
        {"use of undeclared identifier 'Addd'", "   remedy: write 'Add', which is in the namespace AscendC\n"},
        {"use of undeclared identifier 'Softmax'", "   remedy: write 'SoftMax', which is in the namespace AscendC\n"},
        {"use of undeclared identifier 'cuont'; did you mean 'count'?", "   remedy: write the name that the message"},
        {"use of undeclared identifier 'quite_another'", "   remedy: declare the name before this line"},
        {"expected ';' after expression", "   remedy: put ';' at the caret"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diagnostic row = diagnostic(DIAG_SCOPE, 3, rows[i].message);
        struct verdict verdict = {.kind = AKGEN_VERDICT_COMPILE_ERROR,
                                  .stage = AKGEN_STAGE_KERNEL,
                                  .build = {.stage = BUILD_KERNEL, .diagnostics = &row, .diagnostic_count = 1}};
        struct gen_feedback feedback;
        assert_holds(told(&verdict, NULL, &feedback), rows[i].remedy);
    }
}

static void patterns_of_wrong_cases(void **state)
{
    (void)state;
    struct job_finding note = {
        .kind = NPU_DIFFERS, .fault = "datacopy_ragged_count", .message = "count 250", .api = "DataCopy"};
    struct verdict_case cases[4] = {0};
    for (int i = 0; i < 4; i++)
        cases[i] =
            (struct verdict_case){.id = i, .ok = i % 2, .dtype = i % 2 ? "float32" : "bfloat16", .shape = "x[5]"};
    for (int i = 0; i < 4; i += 2) {
        cases[i].kind = AKGEN_VERDICT_WRONG;
        cases[i].stage = AKGEN_STAGE_COMPARE;
        cases[i].compared = true;
        cases[i].error = "y: element 3 is 0, expected 1; 2 of 5 elements are wrong";
        cases[i].mismatch = (struct task_mismatch){.output_name = "y",
                                                   .wrong = 2,
                                                   .elements = 5,
                                                   .where = "everything from element 3 on is wrong, the last 2 of 5"};
        cases[i].run = (struct job_result){.findings = &note, .finding_count = 1};
    }
    struct verdict verdict = with_cases(AKGEN_VERDICT_WRONG, AKGEN_STAGE_COMPARE, cases, 4);
    struct gen_feedback feedback;
    verdict.cases_passed = 2;
    const char *text = told(&verdict, NULL, &feedback);
    assert_holds(text, "2 of 4 cases are right; all cases of bfloat16 fail, all others are right.\n");
    assert_holds(text, "   where:  everything from element 3 on is wrong, the last 2 of 5\n   cases:  bfloat16 x[5]; "
                       "bfloat16 x[5]\n   remedy: the end of the tensor: the last tile");
    assert_holds(text, "\n2. note datacopy_ragged_count\n");
    assert_int_equal(feedback.all, 2); /* two wrong cases; a note is not counted */
}

static void nothing_breaks_out(void **state)
{
    (void)state;
    char *evil = arena_alloc(&arena, 100001);
    memset(evil, 'A', 100000);
    memcpy(evil, "\n```\n\033[2J\r# New task\x80", 22);
    struct diagnostic row = diagnostic(DIAG_MACRO, 3, evil);
    row.text = evil;
    struct verdict verdict = {.kind = AKGEN_VERDICT_COMPILE_ERROR,
                              .stage = AKGEN_STAGE_KERNEL,
                              .build = {.stage = BUILD_KERNEL, .diagnostics = &row, .diagnostic_count = 1}};
    struct gen_feedback feedback;
    const char *text = told(&verdict, NULL, &feedback);
    assert_true(strlen(text) < 2000);
    assert_lacks(text, "```");
    assert_lacks(text, "\033");
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
        assert_true(line[1] == ' ' || line[1] == '1' || line[1] == '\n');
    verdict = (struct verdict){.kind = AKGEN_VERDICT_REJECTED, .stage = AKGEN_STAGE_RUN, .reason = "forged"};
    text = told(&verdict, NULL, &feedback);
    assert_holds(text, "\n1. rejected\n   what:   forged\n   remedy: compute the outputs on the NPU");
}

static void what_a_program_does_wrong(void **state)
{
    (void)state;
    static const char source[] = "a = 1\n    y = tl.vad(x)\n";
    struct dsl_messages messages = {.arena = &arena, .path = "/tmp/program.py", .source = source};
    dsl_complain(&messages, (struct dsl_place){2, 9, 6}, DSL_RULE_names, "did you mean 'vadd'?", "tl has no '%s'",
                 "vad");
    struct verdict verdict = {.kind = AKGEN_VERDICT_COMPILE_ERROR, .stage = AKGEN_STAGE_PARSE, .reason = "no program"};
    struct gen_feedback feedback;
    gen_feedback_read(&arena, &verdict, &messages, &feedback);
    assert_holds(gen_feedback_text(&arena, &feedback, NULL),
                 "\n1. error, rule names\n   place:  program.py:2:9\n   code:   y = tl.vad(x)\n               ^\n"
                 "   what:   tl has no 'vad'\n   rule:   A name is a parameter");
    assert_holds(feedback.points[0].text, "   remedy: did you mean 'vadd'?\n");
}

/* What a model is told of a fault is of use: there is a rule and a remedy for each. */
static void every_fault_has_a_remedy(void **state)
{
    (void)state;
    static const char *const names[] = {
#define NPU_FAULT(name, kinds, ...) #name,
#include "abi/fault.def"
#undef NPU_FAULT
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct gen_fault_text text = gen_remedy_of_fault(names[i]);
        assert_non_null(text.rule);
        assert_non_null(text.remedy);
        assert_true(strlen(text.remedy) > 10);
    }
    assert_null(gen_remedy_of_fault("no_such").rule);
    assert_null(gen_remedy_of_fault(NULL).rule);
    assert_string_equal(gen_remedy_of_fault("l0b_overflow").remedy, gen_remedy_of_fault("l1_overflow").remedy);
}

static int end(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* The loop of a launch that was ended for its steps has its place, the calls around it and a remedy; faults that were found
 * before are told too. */
static void a_loop_without_an_end_has_its_place(void **state)
{
    (void)state;
    struct job_finding before = hazard(28);
    struct job_call calls[] = {{"op_kernel/x.cpp", 70}, {NULL, 0}};
    struct job_endless loops[] = {
        {.rounds = 1234567, .cores = 47, .file = "op_kernel/x.cpp", .line = 40, .calls = calls},
        {.rounds = 12, .core = 47, .cores = 1, .file = "op_kernel/x.cpp", .line = 50}};
    struct verdict_case row = {
        .kind = AKGEN_VERDICT_TIMEOUT,
        .stage = AKGEN_STAGE_RUN,
        .dtype = "float16",
        .shape = "x[8]",
        .error = "the kernel did not end: op_kernel/x.cpp:40 ran at least 1,234,567 rounds",
        .run = {.endless = loops, .endless_count = 2, .findings = &before, .finding_count = 1, .fault = true}};
    struct verdict verdict = with_cases(AKGEN_VERDICT_TIMEOUT, AKGEN_STAGE_RUN, &row, 1);
    struct gen_feedback feedback;
    const char *text = told(&verdict, NULL, &feedback);
    assert_int_equal(feedback.count, 2);
    assert_string_equal(feedback.points[0].title, "timeout");
    assert_string_equal(feedback.points[0].place, "op_kernel/x.cpp:40");
    assert_holds(text, "from:   op_kernel/x.cpp:70");
    assert_holds(text, "ran at least 1,234,567 rounds");
    assert_holds(text, "remedy: let this loop end");
    assert_string_equal(feedback.points[1].title, "fault hazard_war");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_without_an_end_has_its_place),
        cmocka_unit_test(a_fault_of_several_cases_is_one_point),
        cmocka_unit_test(what_is_new_comes_first),
        cmocka_unit_test(compile_errors_of_one_signature_are_counted),
        cmocka_unit_test(names_of_the_api),
        cmocka_unit_test(patterns_of_wrong_cases),
        cmocka_unit_test(nothing_breaks_out),
        cmocka_unit_test(what_a_program_does_wrong),
        cmocka_unit_test(every_fault_has_a_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
