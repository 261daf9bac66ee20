/* test: builds=both */
/* Answers through akgen-read: what it makes of them is what is made of them in this process, and what a text does to it is the
 * candidate's doing, whom the next one does not notice. */
#include "candidate/reader.h"
#include "base/files.h"
#include "base/inject.h"
#include "candidate/program.h"
#include "candidate/reader_internal.h"
#include "jail/job_exchange.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct candidate_asked any = {.scope = EVAL_PROJECT, .language = EVAL_ANY, .only_case = -1};

struct tried {
    struct arena arena;
    struct task task;
    struct answer answer;
    struct candidate candidate;
};

static void begin(struct tried *tried, const char *task)
{
    *tried = (struct tried){0};
    assert_null(task_find(&tried->arena, toolchain_home(), task, &tried->task));
}

static void read_there(struct tried *tried, const char *text, const struct candidate_asked *asked)
{
    candidate_read_answer(&tried->arena, "answer.txt", text, strlen(text), &tried->task, asked, &tried->answer,
                          &tried->candidate);
}

static const char *reason(const struct tried *tried, enum akgen_verdict_kind kind)
{
    assert_non_null(tried->candidate.refusal);
    assert_int_equal(tried->candidate.refusal->kind, kind);
    assert_int_equal(tried->answer.kind, ANSWER_IS_NOTHING);
    assert_string_equal(tried->answer.problem, tried->candidate.refusal->reason);
    assert_int_equal(tried->candidate.refusal->diagnostic_count, kind == AKGEN_VERDICT_COMPILE_ERROR);
    return tried->candidate.refusal->reason;
}

static void assert_same_text(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a)
        assert_string_equal(a, b);
}

static void assert_same_files(const struct op_file *a, const struct op_file *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(a[i].path, b[i].path);
        assert_int_equal(a[i].length, b[i].length);
        assert_memory_equal(a[i].bytes, b[i].bytes, a[i].length + 1);
    }
}

static void assert_same_refusal(const struct candidate_refusal *a, const struct candidate_refusal *b)
{
    assert_int_equal(!a, !b);
    if (!a)
        return;
    assert_int_equal(a->kind, b->kind);
    assert_string_equal(a->reason, b->reason);
    assert_int_equal(a->diagnostic_count, b->diagnostic_count);
    for (int i = 0; i < a->diagnostic_count; i++) {
        const struct diagnostic *one = &a->diagnostics[i], *other = &b->diagnostics[i];
        assert_int_equal(one->class, other->class);
        assert_int_equal(one->error, other->error);
        assert_int_equal(one->line, other->line);
        assert_int_equal(one->column, other->column);
        assert_same_text(one->file, other->file);
        assert_same_text(one->message, other->message);
        assert_same_text(one->text, other->text);
    }
}

/* What comes back of a text is what comes of it here. */
static void compare(struct tried *tried, const char *text, size_t length, const struct candidate_asked *asked)
{
    struct answer answer;
    struct candidate here = {0};
    candidate_read_answer(&tried->arena, "answer.txt", text, length, &tried->task, asked, &tried->answer,
                          &tried->candidate);
    answer_read_file(&tried->arena, "answer.txt", text, length, &tried->task, asked, &answer, &here);
    const struct candidate *there = &tried->candidate;
    assert_int_equal(answer.kind, tried->answer.kind);
    assert_int_equal(answer.language, tried->answer.language);
    assert_int_equal(answer.count, tried->answer.count);
    assert_same_files(answer.files, tried->answer.files, (size_t)answer.count);
    assert_same_text(answer.problem, tried->answer.problem);
    assert_same_text(answer.thinking, tried->answer.thinking);
    assert_string_equal(there->name, here.name);
    assert_int_equal(there->language, here.language);
    assert_int_equal(there->files.count, here.files.count);
    assert_same_files(here.files.items, there->files.items, here.files.count);
    assert_same_text(here.digest, there->digest);
    assert_same_text(here.program, there->program);
    assert_same_refusal(here.refusal, there->refusal);
    assert_int_equal(!here.response, !there->response);
    if (here.response)
        assert_string_equal(here.response->model->text, there->response->model->text);
    assert_int_equal(!here.map, !there->map);
    for (int line = 1; here.map && line < 60; line++) {
        const struct source_place a = source_map_find(here.map, "op_kernel/sqrt.cpp", line),
                                  b = source_map_find(there->map, "op_kernel/sqrt.cpp", line);
        assert_int_equal(a.line, b.line);
        assert_same_text(a.text, b.text);
        assert_same_text(a.program, b.program);
    }
}

static void test_every_form(void **state)
{
    (void)state;
    struct tried tried;
    const char **paths, *folder;
    size_t count, compared = 0;
    begin(&tried, "Sqrt");
    folder = arena_printf(&tried.arena, "%s/tests/gen/answers", toolchain_home());
    assert_null(files_list(&tried.arena, folder, &paths, &count));
    for (size_t i = 0; i < count; i++) {
        char *text;
        size_t length;
        if (!strstr(paths[i], ".txt") || compared++ % 3)
            continue;
        assert_null(files_read_inside(&tried.arena, folder, paths[i], SIZE_MAX, &text, &length));
        compare(&tried, text, length, &any);
    }
    assert_true(compared > 60);
    static const char *const texts[] = {"y = sqrt(x)", "y = sqrt(x", "y = sqrt(z)", "",
                                        "```python\nimport nothing\n```"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        compare(&tried, texts[i], strlen(texts[i]), &any);
    assert_int_equal(tried.answer.kind, ANSWER_IS_NOTHING);
    arena_free(&tried.arena);
}

static void test_a_program_and_its_lines(void **state)
{
    (void)state;
    struct tried tried;
    char *program;
    size_t length;
    begin(&tried, "Sqrt");
    assert_null(files_read(&tried.arena, arena_printf(&tried.arena, "%s/program.py", tried.task.dir), SIZE_MAX,
                           &program, &length));
    compare(&tried, program, length, &any);
    assert_int_equal(tried.answer.kind, ANSWER_IS_PROGRAM);
    assert_non_null(tried.candidate.map);
    assert_true(tried.candidate.charged > 0);
    /* A program of another name does not compile; what is said of it names its lines. */
    char *broken = strstr(program, "tl.load");
    memcpy(broken, "tl.lead", 7);
    compare(&tried, program, length, &any);
    assert_non_null(tried.candidate.refusal);
    assert_true(tried.candidate.refusal->diagnostics[0].line > 1);
    struct dsl_messages here, there;
    const struct candidate_program reviewed = {.text = program, .length = length};
    assert_null(candidate_program_review(&tried.arena, &reviewed, &tried.task, -1, &here));
    assert_true(candidate_read_review(&tried.arena, program, length, &tried.task, &any, &there));
    assert_true(here.count > 0);
    assert_int_equal(here.count, there.count);
    assert_int_equal(here.kept, there.kept);
    for (int i = 0; i < here.kept; i++) {
        assert_same_text(here.items[i].text, there.items[i].text);
        assert_same_text(here.items[i].remedy, there.items[i].remedy);
        assert_same_text(dsl_message_line(&tried.arena, &here, &here.items[i]),
                         dsl_message_line(&tried.arena, &there, &there.items[i]));
        assert_int_equal(here.items[i].place.line, there.items[i].place.line);
        assert_int_equal(here.items[i].rule, there.items[i].rule);
    }
    arena_free(&tried.arena);
}

static void test_the_wrapper(void **state)
{
    (void)state;
    struct tried tried;
    char *text;
    size_t length;
    struct op_wrapper here, there;
    begin(&tried, "multikernelbench/level1/Activation/Relu");
    assert_null(files_read(&tried.arena,
                           arena_printf(&tried.arena, "%s/tests/cli/responses/relu_fenced.txt", toolchain_home()),
                           SIZE_MAX, &text, &length));
    compare(&tried, text, length, &any);
    assert_int_equal(tried.answer.kind, ANSWER_IS_STRINGS);
    static enum akgen_dtype types[] = {AKGEN_FLOAT};
    static int formats[] = {2};
    struct op_param x = {.name = "x", .types = types, .formats = formats, .count = 1}, y = x;
    struct op_attr slope = {.name = "slope", .type = OP_ATTR_FLOAT, .value = json_real(0.25)};
    struct op_def def = {.type = "ReluCustom",
                         .inputs = &x,
                         .input_count = 1,
                         .outputs = &y,
                         .output_count = 1,
                         .attrs = &slope,
                         .attr_count = 1,
                         .combinations = 1};
    for (int attrs = 0; attrs < 2; attrs++) {
        def.attr_count = attrs;
        op_wrapper_read(&tried.arena, tried.candidate.response, &def, &here);
        assert_null(candidate_read_wrapper(&tried.arena, tried.candidate.response, &def, NULL, &there));
        assert_int_equal(here.kind, there.kind);
        assert_int_equal(here.line, there.line);
        assert_same_text(here.reason, there.reason);
        assert_int_equal(here.attr_count, there.attr_count);
        op_wrapper_release(&here);
        op_wrapper_release(&there);
    }
    json_decref(slope.value);
    arena_free(&tried.arena);
}

/* Text in which everything has to be looked at: lines that could each begin a file. */
static char *long_text(struct arena *arena, size_t bytes)
{
    static const char line[] = "### op_kernel/sqrt.cpp `a`: y = b * (c + d), which is what the kernel computes\n";
    char *text = arena_alloc(arena, bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        text[i] = line[i % (sizeof line - 1)];
    return text;
}

static void test_too_long(void **state)
{
    (void)state;
    struct tried tried;
    begin(&tried, "Sqrt");
    const char *text = long_text(&tried.arena, 15 << 20);
    candidate_limit_reader((struct reader_limits){.seconds = 0.05, .memory = 1ULL << 30});
    read_there(&tried, text, &any);
    assert_string_equal(reason(&tried, AKGEN_VERDICT_COMPILE_ERROR),
                        "the answer cannot be read: it takes more than 0.05 seconds");
    assert_true(tried.candidate.charged >= 0.05);
    /* The candidate's own time. */
    candidate_limit_reader((struct reader_limits){0});
    struct candidate_asked soon = any;
    soon.seconds = 0.01;
    read_there(&tried, text, &soon);
    assert_non_null(strstr(reason(&tried, AKGEN_VERDICT_TIMEOUT), "--candidate-seconds"));
    compare(&tried, "y = sqrt(x)", 11, &any);
    assert_null(tried.candidate.refusal);
    arena_free(&tried.arena);
}

static void test_too_much_memory(void **state)
{
    (void)state;
    struct tried tried;
    if (SANITIZED) /* it has no limit */
        return;
    begin(&tried, "Sqrt");
    candidate_limit_reader((struct reader_limits){.seconds = 30, .memory = 64 << 20});
    read_there(&tried, long_text(&tried.arena, 15 << 20), &any);
    assert_string_equal(reason(&tried, AKGEN_VERDICT_COMPILE_ERROR),
                        "the answer cannot be read: it takes more than 64 MiB of memory");
    compare(&tried, "y = sqrt(x)", 11, &any); /* which is read in as much */
    assert_null(tried.candidate.refusal);
    candidate_limit_reader((struct reader_limits){0});
    read_there(&tried, long_text(&tried.arena, 15 << 20), &any);
    assert_null(strstr(reason(&tried, AKGEN_VERDICT_COMPILE_ERROR), "MiB"));
    arena_free(&tried.arena);
}

static void test_a_crash(void **state)
{
    (void)state;
    struct tried tried;
    begin(&tried, "Sqrt");
    inject_arm(INJECT_CRASH, 1, 2);
    read_there(&tried, "y = sqrt(x)", &any);
    assert_string_equal(reason(&tried, AKGEN_VERDICT_COMPILE_ERROR),
                        "the answer cannot be read: its reader ends with signal 4 (Illegal instruction)");
    compare(&tried, "y = sqrt(x)", 11, &any);
    assert_null(tried.candidate.refusal);
    /* Once alone says nothing, and neither does a kill of somebody's. */
    inject_arm(INJECT_CRASH, 1, 1);
    read_there(&tried, "y = sqrt(x)", &any);
    assert_null(tried.candidate.refusal);
    inject_arm(INJECT_CRASH, 0, 0);
    /* One that is not done before the signal comes. */
    const char *text = long_text(&tried.arena, 1 << 20);
    inject_arm(INJECT_KILL, 1, 2);
    read_there(&tried, text, &any);
    assert_string_equal(reason(&tried, AKGEN_VERDICT_INFRA_ERROR), "akgen-read was ended by signal 9");
    inject_arm(INJECT_KILL, 1, 1);
    compare(&tried, text, strlen(text), &any);
    inject_arm(INJECT_KILL, 0, 0);
    arena_free(&tried.arena);
}

static void test_a_server_that_is_gone(void **state)
{
    (void)state;
    struct tried tried;
    begin(&tried, "Sqrt");
    for (int i = 0; i < 2; i++) {
        read_there(&tried, "y = sqrt(x)", &any);
        assert_null(tried.candidate.refusal);
        candidate_end_reader();
    }
    arena_free(&tried.arena);
}

/* Sends a result that a reader which was taken over could send. */
static const char *refused(struct arena *arena, const struct reader_result *sent)
{
    size_t length;
    struct reader_result result;
    const void *bytes = reader_encode_result(arena, sent, &length);
    struct akgen_error *error = reader_decode_result(arena, bytes, length, &result);
    const char *message = error ? arena_strdup(arena, error->message) : NULL;
    error_free(error);
    /* Cut off anywhere it is none. */
    error = reader_decode_result(arena, bytes, length - 1, &result);
    assert_non_null(error);
    error_free(error);
    return message;
}

static void test_results_that_no_reader_has(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct op_file good = {"op_kernel/a.cpp", "int a;", 6};
    const struct reader_result plain = {.answer = {.files = &good, .count = 1, .language = EVAL_ASCENDC},
                                        .candidate = {.files = {&good, 1}}};
    assert_null(refused(&arena, &plain));
    static const char *const paths[] = {
        "../a.cpp", "/etc/a.cpp", "op_kernel/../../a.cpp", ".git/a", "a//b", "op_kernel/.a", "a\nb", "."};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct op_file bad = {paths[i], "int a;", 6};
        struct reader_result result = plain;
        result.candidate.files.items = &bad;
        assert_non_null(refused(&arena, &result));
        result = plain;
        result.answer.files = &bad;
        assert_true(refused(&arena, &result) || strcmp(paths[i], "a\nb") == 0); /* an answer's are never written */
    }
    struct reader_result result = plain;
    result.answer.kind = ANSWER_IS_NOTHING; /* without a problem */
    assert_non_null(refused(&arena, &result));
    result = plain;
    result.answer = (struct answer){.kind = ANSWER_IS_PROGRAM};
    assert_non_null(refused(&arena, &result));
    result = plain;
    result.answer.kind = (enum answer_kind)7;
    assert_non_null(refused(&arena, &result));
    result = plain;
    result.refusal = (struct candidate_refusal){AKGEN_VERDICT_PASS, "all is well", NULL, 0};
    assert_non_null(refused(&arena, &result));
    result = plain;
    result.candidate.language = (enum eval_language) - 1;
    assert_non_null(refused(&arena, &result));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form),
        cmocka_unit_test(test_a_program_and_its_lines),
        cmocka_unit_test(test_the_wrapper),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_too_much_memory),
        cmocka_unit_test(test_a_crash),
        cmocka_unit_test(test_a_server_that_is_gone),
        cmocka_unit_test(test_results_that_no_reader_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
