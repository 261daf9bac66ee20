/* Answers as models write them: tests/gen/answers holds each with what it is, NAME.txt and NAME.expected. A line of the latter
 *
 *     task level1/Math/Sqrt                  whose answer it is (default: Sqrt)
 *     scope kernel                           (default: project)
 *     kind project|response|program|none
 *     problem TEXT                           is part of the problem
 *     thinking TEXT                          is part of the thinking; without such a line there is none
 *     file PATH = PART                       this file is, byte for byte, parts/PART
 *     file PATH = PART:1-12                  .. its lines 1 to 12
 *     holds PATH TEXT                        the file has this text
 *     lacks PATH TEXT
 *
 * All files of the answer have a line `file` or `holds`. */
#include "base/files.h"
#include "base/text.h"
#include "candidate/answer.h"
#include "toolchain/toolchain.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const kinds[] = {[ANSWER_IS_PROJECT] = "project",
                                    [ANSWER_IS_STRINGS] = "response",
                                    [ANSWER_IS_PROGRAM] = "program",
                                    [ANSWER_IS_NOTHING] = "none"};

struct corpus {
    struct arena arena;
    const char *folder, *name;
    struct task task;
    enum eval_scope scope;
    const char *text;
    size_t length;
    struct answer answer;
    bool seen[64], thinks;
    int problems; /* of all answers */
};

static void complain(struct corpus *corpus, const char *line, const char *why)
{
    print_error("%s: '%s': %s\n", corpus->name, line, why);
    corpus->problems++;
}

static char *read_file(struct corpus *corpus, const char *path, size_t *length)
{
    char *text;
    struct akgen_error *error = files_read(&corpus->arena, arena_printf(&corpus->arena, "%s/%s", corpus->folder, path),
                                           SIZE_MAX, &text, length);
    if (error)
        fail_msg("%s", error->message);
    return text;
}

/* The file of the answer, which is noted as seen; NULL: there is none. */
static const char *file_of(struct corpus *corpus, const char *path)
{
    for (int i = 0; i < corpus->answer.count; i++)
        if (strcmp(corpus->answer.files[i].path, path) == 0) {
            corpus->seen[i] = true;
            return corpus->answer.files[i].bytes;
        }
    return NULL;
}

/* "sqrt.cpp" or "sqrt.cpp:3-7" */
static const char *part_of(struct corpus *corpus, const char *name)
{
    int first = 1, last = 0;
    char *path = arena_printf(&corpus->arena, "parts/%s", name), *colon = strchr(path, ':');
    if (colon) {
        *colon = '\0';
        assert_int_equal(sscanf(colon + 1, "%d-%d", &first, &last), 2);
    }
    char *text = read_file(corpus, path, NULL), *begin = text;
    for (int line = 1; last && line <= last; line++) {
        begin = line == first ? text : begin;
        text = strchr(text, '\n') + 1;
    }
    if (last)
        *text = '\0';
    return begin;
}

static void check_file(struct corpus *corpus, const char *line, const char *path, const char *part)
{
    const char *text = file_of(corpus, path), *expected = part_of(corpus, part);
    size_t at = 0;
    if (!text) {
        complain(corpus, line, "there is no such file");
    } else if (strcmp(text, expected) != 0) {
        while (text[at] && text[at] == expected[at])
            at++;
        complain(corpus, line,
                 arena_printf(&corpus->arena, "differs from byte %zu on: '%.40s' where '%.40s' was expected", at,
                              text + at, expected + at));
    }
}

static void check_line(struct corpus *corpus, const char *line)
{
    static char word[16], path[256], rest[512];
    int count = sscanf(line, "%15s %255s %511[^\n]", word, path, rest);
    const char *behind = strchr(line, ' ') ? strchr(line, ' ') + 1 : "";
    if (strcmp(word, "file") == 0 && count == 3) {
        check_file(corpus, line, path, rest + 2);
    } else if ((strcmp(word, "holds") == 0 || strcmp(word, "lacks") == 0) && count == 3) {
        const char *text = file_of(corpus, path);
        if (!text || (strstr(text, rest) != NULL) != (*word == 'h'))
            complain(corpus, line, text ? "it is not so" : "there is no such file");
    } else if (strcmp(word, "kind") == 0) {
        if (strcmp(kinds[corpus->answer.kind], behind) != 0)
            complain(corpus, line,
                     arena_printf(&corpus->arena, "is %s; %s", kinds[corpus->answer.kind],
                                  corpus->answer.problem ? corpus->answer.problem : ""));
    } else if (strcmp(word, "problem") == 0) {
        if (!corpus->answer.problem || !strstr(corpus->answer.problem, behind))
            complain(corpus, line, corpus->answer.problem ? corpus->answer.problem : "there is none");
    } else if (strcmp(word, "thinking") == 0) {
        corpus->thinks = true;
        if (!corpus->answer.thinking || !strstr(corpus->answer.thinking, behind))
            complain(corpus, line, corpus->answer.thinking ? corpus->answer.thinking : "there is none");
    } else if (strcmp(word, "task") != 0 && strcmp(word, "scope") != 0) {
        complain(corpus, line, "unknown");
    }
}

/* What reading promises of any answer. */
static void check_promises(struct corpus *corpus)
{
    const struct answer *answer = &corpus->answer;
    bool none = answer->kind == ANSWER_IS_NOTHING;
    if (none != (answer->problem != NULL) || none != (answer->count == 0))
        complain(corpus, "", "a problem and files, or neither");
    if (answer->problem && strchr(answer->problem, '\n'))
        complain(corpus, answer->problem, "more than a line");
    for (int i = 0; i < answer->count; i++)
        if (!corpus->seen[i])
            complain(corpus, answer->files[i].path, "is expected nowhere");
    if (!corpus->thinks && answer->thinking)
        complain(corpus, answer->thinking, "thinking that is expected nowhere");
}

static void find_task(struct corpus *corpus, const char *name)
{
    struct akgen_error *error = task_find(&corpus->arena, toolchain_home(), name, &corpus->task);
    if (error)
        fail_msg("%s", error->message);
}

static void check_answer(struct corpus *corpus, const char *stem)
{
    char *expected = read_file(corpus, arena_printf(&corpus->arena, "%s.expected", stem), NULL), *rest;
    corpus->name = stem;
    corpus->scope = strstr(expected, "scope kernel\n") ? EVAL_KERNEL : EVAL_PROJECT;
    const char *task = strstr(expected, "task ");
    find_task(corpus, task ? arena_strndup(&corpus->arena, task + 5, strcspn(task + 5, "\n")) : "Sqrt");
    corpus->text = read_file(corpus, arena_printf(&corpus->arena, "%s.txt", stem), &corpus->length);
    memset(corpus->seen, 0, sizeof corpus->seen);
    corpus->thinks = false;
    answer_read(&corpus->arena, corpus->text, corpus->length, &corpus->task, corpus->scope, EVAL_ANY, &corpus->answer);
    for (char *line = strtok_r(expected, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        check_line(corpus, line);
    check_promises(corpus);
}

static void test_corpus(void **state)
{
    (void)state;
    struct corpus corpus = {0};
    const char **paths;
    size_t count;
    int answers = 0;
    corpus.folder = arena_printf(&corpus.arena, "%s/tests/gen/answers", toolchain_home());
    assert_null(files_list(&corpus.arena, corpus.folder, &paths, &count));
    for (size_t i = 0; i < count; i++) {
        size_t stem = strlen(paths[i]) - 4;
        if (!strchr(paths[i], '/') && strcmp(paths[i] + stem, ".txt") == 0) {
            check_answer(&corpus, arena_strndup(&corpus.arena, paths[i], stem));
            answers++;
        }
    }
    arena_free(&corpus.arena);
    assert_int_equal(corpus.problems, 0);
    assert_true(answers >= 60);
}

/* Seconds of this thread alone: the machine may be busy. */
static double worked_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Texts that repeat what could make a reader look at everything again: twice as long takes twice as long. */
static double seconds_for(const char *piece, size_t bytes)
{
    struct arena arena = {0};
    struct task task = {.op = "Sqrt", .op_type = "Sqrt"};
    struct answer answer;
    struct text text = {0};
    while (text.length < bytes)
        text_add(&text, piece);
    double start = worked_seconds();
    answer_read(&arena, text.bytes, text.length, &task, EVAL_PROJECT, EVAL_ANY, &answer);
    double seconds = worked_seconds() - start;
    text_free(&text);
    arena_free(&arena);
    return seconds;
}

static void test_time_is_linear(void **state)
{
    static const char *const pieces[] = {"```cpp\n",
                                         "```\n",
                                         "~~~~\n```cpp\nint x;\n",
                                         "<kernel_impl>\n",
                                         "</kernel_impl>\n",
                                         "<op_kernel/a.cpp>int x;\n",
                                         "<think>\n",
                                         "</think>\n",
                                         "=== op_kernel/a.cpp ===\n",
                                         "### a.cpp\n",
                                         "### a.cpp\nint x;\n",
                                         "// FILE: a.cpp\n",
                                         "```cpp\n// op_host/a.cpp\nint x;\n",
                                         "<|channel|>",
                                         "<|channel|>final<|message|>",
                                         "assistantfinal",
                                         "analysis",
                                         "a.cpp ",
                                         "<",
                                         "</",
                                         "`",
                                         "#",
                                         " ",
                                         "(",
                                         "> ",
                                         "- ",
                                         "-",
                                         "_",
                                         "#include \"a.h\"\n__global__\n",
                                         "```cpp\n#include \"a.h\"\n__global__\n```\n",
                                         "```h\nBEGIN_TILING_DATA_DEF\n```\n",
                                         "&lt;",
                                         "1: x\n",
                                         "{\"files\": ",
                                         "[",
                                         "kernel_src =\n",
                                         "def f():\n",
                                         "@ascend_kernel\n",
                                         "```python\n@ascend_kernel\ndef f():\n```\n```python\ndef g():\n```\n",
                                         "```markdown\n",
                                         "namespace a {\n"};
    enum { BYTES = 1 << 20 };
    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        double seconds = seconds_for(pieces[i], BYTES);
        if (seconds > 8) /* 0.05 s, sanitized some times that; what looks at each line for each line takes minutes */
            fail_msg("a mebibyte of '%s' takes %.1f s", pieces[i], seconds);
    }
}

/* Candidates. */
struct tried {
    struct arena arena;
    struct task sqrt, rsqrt;
};

static void begin(struct tried *tried)
{
    *tried = (struct tried){0};
    assert_null(task_find(&tried->arena, toolchain_home(), "npukernelbench/level1/Math/Sqrt", &tried->sqrt));
    assert_null(task_find(&tried->arena, toolchain_home(), "npukernelbench/level1/Math/Rsqrt", &tried->rsqrt));
}

static struct candidate candidate_of_text(struct tried *tried, const char *text, const struct task *task, int only_case)
{
    struct answer answer;
    struct candidate candidate;
    answer_read(&tried->arena, text, strlen(text), task, EVAL_PROJECT, EVAL_ANY, &answer);
    candidate_of_answer(&tried->arena, &answer, "", task, only_case, &candidate);
    return candidate;
}

static struct candidate candidate_of(struct tried *tried, const char *name, const struct task *task)
{
    char *text;
    assert_null(files_read(&tried->arena,
                           arena_printf(&tried->arena, "%s/tests/gen/answers/%s.txt", toolchain_home(), name), SIZE_MAX,
                           &text, NULL));
    return candidate_of_text(tried, text, task, -1);
}

static const char *content(const struct candidate *candidate, const char *path)
{
    const struct op_file *file = op_files_find(&candidate->files, path);
    assert_non_null(file);
    return file->bytes;
}

static void test_files_are_the_candidate(void **state)
{
    (void)state;
    struct tried tried;
    begin(&tried);
    struct candidate first = candidate_of(&tried, "banners_equals", &tried.sqrt);
    const char *kernel = content(&first, "op_kernel/sqrt.cpp");
    assert_non_null(strstr(kernel, "GET_TILING_DATA"));
    assert_null(first.refusal);
    assert_null(first.program);
    assert_int_equal(first.language, EVAL_ASCENDC);
    /* The same files in another form are the same candidate. */
    struct candidate second = candidate_of(&tried, "fences_names_in_headings", &tried.sqrt);
    assert_string_equal(first.digest, second.digest);
    assert_string_equal(content(&second, "op_kernel/sqrt.cpp"), kernel);
    assert_non_null(strstr(content(&second, "op_host/sqrt.cpp"), "OP_ADD(Sqrt)"));
    struct task relu;
    assert_null(task_find(&tried.arena, toolchain_home(), "multikernelbench/level1/Activation/Relu", &relu));
    struct candidate strings = candidate_of(&tried, "strings_fenced", &relu);
    assert_null(strings.refusal);
    assert_non_null(strings.response);
    assert_non_null(strstr(content(&strings, "op_kernel/relu_custom.cpp"), "// kernel"));
    assert_non_null(strstr(content(&strings, "op_host/relu_custom_tiling.h"), "// tiling"));
    arena_free(&tried.arena);
}

/* A candidate that was written is read as the same. */
static void test_what_is_written_is_read_again(void **state)
{
    (void)state;
    struct tried tried;
    char folder[] = "/tmp/akgen-answers-XXXXXX";
    const struct candidate_asked asked = {.scope = EVAL_PROJECT, .only_case = -1};
    assert_non_null(mkdtemp(folder));
    begin(&tried);
    struct candidate program = candidate_of(&tried, "program_fenced", &tried.sqrt), again;
    assert_null(op_files_write(folder, &program.files));
    candidate_read_path(&tried.arena, folder, &tried.sqrt, &asked, &again);
    assert_null(again.refusal);
    assert_string_equal(again.digest, program.digest);
    assert_int_equal(again.language, EVAL_ASCENDC); /* of a folder nobody says that it was compiled */
    /* The map that was made and the one that was read say the same of each line. */
    assert_non_null(program.map);
    assert_non_null(again.map);
    int found = 0;
    for (int line = 1; line < 200; line++) {
        struct source_place made = source_map_find(program.map, "op_kernel/sqrt.cpp", line);
        struct source_place read = source_map_find(again.map, "op_kernel/sqrt.cpp", line);
        assert_int_equal(made.line, read.line);
        if (!made.program)
            continue;
        found++;
        assert_string_equal(made.program, read.program);
        assert_string_equal(made.text, read.text);
    }
    assert_true(found > 10);
    files_remove_tree(folder);
    arena_free(&tried.arena);
}

/* What the planner does not compute of all cases it may of the one that is judged, and what the compiler does not compile. */
static void test_answers_of_one_case(void **state)
{
    static const char text[] = "y = abs(x)";
    struct tried tried;
    struct task task;
    (void)state;
    begin(&tried);
    assert_null(task_find(&tried.arena, toolchain_home(), "npukernelbench/level1/Math/AbsMath", &task));
    struct candidate all = candidate_of_text(&tried, text, &task, -1);
    assert_non_null(strstr(all.refusal->reason, "'x' may be complex64"));
    struct candidate one = candidate_of_text(&tried, text, &task, 0);
    assert_null(one.refusal);
    assert_int_equal(one.language, EVAL_GRAPH);
    const char *host = content(&one, "op_host/abs_math.cpp"), *program = one.program;
    assert_non_null(strstr(host, "DT_FLOAT16"));
    assert_null(strstr(host, "DT_COMPLEX64"));
    one = candidate_of_text(&tried, program, &task, 0);
    assert_null(one.refusal);
    assert_int_equal(one.language, EVAL_DSL);
    assert_string_equal(content(&one, "op_host/abs_math.cpp"), host);
    assert_non_null(candidate_of_text(&tried, program, &task, -1).refusal);
    one = candidate_of_text(&tried, "y = abs(z)", &task, 0);
    assert_non_null(strstr(one.refusal->reason, "'z' is no input"));
    arena_free(&tried.arena);
}

static void test_programs_are_what_they_become(void **state)
{
    (void)state;
    struct tried tried;
    begin(&tried);
    struct candidate sqrt = candidate_of(&tried, "program_fenced", &tried.sqrt);
    struct candidate rsqrt = candidate_of(&tried, "program_fenced", &tried.rsqrt);
    assert_non_null(strstr(sqrt.program, "@ascend_kernel"));
    assert_non_null(strstr(content(&sqrt, "op_kernel/sqrt.cpp"), "void sqrt("));
    assert_non_null(strstr(content(&sqrt, "program.map.json"), "\"version\""));
    assert_non_null(strstr(content(&rsqrt, "op_kernel/rsqrt.cpp"), "void rsqrt("));
    struct candidate none = candidate_of(&tried, "none_diff", &tried.sqrt);
    assert_int_equal(none.files.count, 0);
    assert_null(none.digest);
    assert_int_equal(none.refusal->kind, AKGEN_VERDICT_COMPILE_ERROR);
    assert_int_equal(none.refusal->diagnostic_count, 1);
    assert_int_equal(none.refusal->diagnostics[0].class, DIAG_SYNTAX);
    assert_string_equal(none.refusal->reason, "the answer is a diff, expected whole files");
    arena_free(&tried.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_corpus),
                                       cmocka_unit_test(test_time_is_linear),
                                       cmocka_unit_test(test_files_are_the_candidate),
                                       cmocka_unit_test(test_what_is_written_is_read_again),
                                       cmocka_unit_test(test_answers_of_one_case),
                                       cmocka_unit_test(test_programs_are_what_they_become)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
