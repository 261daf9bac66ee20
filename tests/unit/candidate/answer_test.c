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

static const char *const kinds[] = {[GEN_ANSWER_PROJECT] = "project",
                                    [GEN_ANSWER_RESPONSE] = "response",
                                    [GEN_ANSWER_PROGRAM] = "program",
                                    [GEN_ANSWER_NONE] = "none"};

struct corpus {
    struct arena arena;
    const char *folder, *name;
    struct task task;
    enum eval_scope scope;
    const char *text;
    size_t length;
    struct gen_answer answer;
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
            return corpus->answer.files[i].text;
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
    const struct gen_answer *answer = &corpus->answer;
    bool none = answer->kind == GEN_ANSWER_NONE;
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
    gen_answer_read(&corpus->arena, corpus->text, corpus->length, &corpus->task, corpus->scope, EVAL_ANY,
                    &corpus->answer);
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
    struct gen_answer answer;
    struct text text = {0};
    while (text.length < bytes)
        text_add(&text, piece);
    double start = worked_seconds();
    gen_answer_read(&arena, text.bytes, text.length, &task, EVAL_PROJECT, EVAL_ANY, &answer);
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

/* Keeping. */
struct keeping {
    struct arena arena;
    struct eval_options options;
    char folder[32];
    struct task sqrt, rsqrt;
};

static void begin(struct keeping *keeping)
{
    *keeping = (struct keeping){.folder = "/tmp/akgen-answers-XXXXXX"};
    assert_non_null(mkdtemp(keeping->folder));
    keeping->options = (struct eval_options){.soc = &npu_socs[0], .cache_dir = keeping->folder};
    assert_null(task_find(&keeping->arena, toolchain_home(), "npukernelbench/level1/Math/Sqrt", &keeping->sqrt));
    assert_null(task_find(&keeping->arena, toolchain_home(), "npukernelbench/level1/Math/Rsqrt", &keeping->rsqrt));
}

static void end(struct keeping *keeping)
{
    files_remove_tree(keeping->folder);
    arena_free(&keeping->arena);
}

static struct gen_candidate keep(struct keeping *keeping, const char *name, const struct task *task)
{
    struct gen_answer answer;
    struct gen_candidate candidate;
    char *text;
    size_t length;
    assert_null(files_read(&keeping->arena,
                           arena_printf(&keeping->arena, "%s/tests/gen/answers/%s.txt", toolchain_home(), name),
                           SIZE_MAX, &text, &length));
    gen_answer_read(&keeping->arena, text, length, task, EVAL_PROJECT, EVAL_ANY, &answer);
    assert_null(gen_answer_keep(&keeping->arena, &answer, task, &keeping->options, &candidate));
    return candidate;
}

static const char *content(struct keeping *keeping, const char *dir, const char *path)
{
    char *text;
    assert_null(files_read(&keeping->arena, arena_printf(&keeping->arena, "%s/%s", dir, path), SIZE_MAX, &text, NULL));
    return text;
}

static void test_what_is_kept(void **state)
{
    (void)state;
    struct keeping keeping;
    begin(&keeping);
    struct gen_candidate first = keep(&keeping, "banners_equals", &keeping.sqrt);
    const char *kernel = content(&keeping, first.dir, "op_kernel/sqrt.cpp");
    assert_non_null(strstr(kernel, "GET_TILING_DATA"));
    assert_null(first.refusal);
    assert_null(first.program);
    /* The same files in another form are the same candidate, which is made anew where it went. */
    files_remove_tree(first.dir);
    assert_int_equal(rmdir(arena_strndup(&keeping.arena, first.dir, (size_t)(strrchr(first.dir, '/') - first.dir))), 0);
    struct gen_candidate second = keep(&keeping, "fences_names_in_headings", &keeping.sqrt);
    assert_string_equal(first.dir, second.dir);
    assert_string_equal(content(&keeping, second.dir, "op_kernel/sqrt.cpp"), kernel);
    assert_non_null(strstr(content(&keeping, second.dir, "op_host/sqrt.cpp"), "OP_ADD(Sqrt)"));
    struct gen_candidate strings = keep(&keeping, "strings_fenced", &keeping.sqrt);
    assert_non_null(strstr(strings.dir, "/answer.txt"));
    end(&keeping);
}

/* What the planner does not compute of all cases it may of the one that is judged, and what the compiler does not compile. */
static void test_answers_of_one_case(void **state)
{
    static const char text[] = "y = abs(x)";
    struct keeping keeping;
    struct task task;
    struct gen_answer answer;
    struct gen_candidate all, one;
    (void)state;
    begin(&keeping);
    assert_null(task_find(&keeping.arena, toolchain_home(), "npukernelbench/level1/Math/AbsMath", &task));
    gen_answer_read(&keeping.arena, text, strlen(text), &task, EVAL_PROJECT, EVAL_ANY, &answer);
    keeping.options.only_case = -1;
    assert_null(gen_answer_keep(&keeping.arena, &answer, &task, &keeping.options, &all));
    assert_non_null(strstr(all.refusal->reason, "'x' may be complex64"));
    keeping.options.only_case = 0;
    assert_null(gen_answer_keep(&keeping.arena, &answer, &task, &keeping.options, &one));
    assert_null(one.refusal);
    const char *host = content(&keeping, one.dir, "op_host/abs_math.cpp");
    assert_non_null(strstr(host, "DT_FLOAT16"));
    assert_null(strstr(host, "DT_COMPLEX64"));
    const char *program = one.program;
    gen_answer_read(&keeping.arena, program, strlen(program), &task, EVAL_PROJECT, EVAL_ANY, &answer);
    assert_int_equal(answer.kind, GEN_ANSWER_PROGRAM);
    assert_null(gen_answer_keep(&keeping.arena, &answer, &task, &keeping.options, &one));
    assert_null(one.refusal);
    assert_string_equal(content(&keeping, one.dir, "op_host/abs_math.cpp"), host);
    keeping.options.only_case = -1;
    assert_null(gen_answer_keep(&keeping.arena, &answer, &task, &keeping.options, &all));
    assert_non_null(all.refusal);
    keeping.options.only_case = 0;
    gen_answer_read(&keeping.arena, "y = abs(z)", strlen("y = abs(z)"), &task, EVAL_PROJECT, EVAL_ANY, &answer);
    assert_null(gen_answer_keep(&keeping.arena, &answer, &task, &keeping.options, &one));
    assert_non_null(strstr(one.refusal->reason, "'z' is no input"));
    end(&keeping);
}

static void test_programs_are_kept_as_what_they_become(void **state)
{
    (void)state;
    struct keeping keeping;
    begin(&keeping);
    struct gen_candidate sqrt = keep(&keeping, "program_fenced", &keeping.sqrt);
    struct gen_candidate rsqrt = keep(&keeping, "program_fenced", &keeping.rsqrt);
    assert_non_null(strstr(sqrt.program, "@ascend_kernel"));
    assert_non_null(strstr(content(&keeping, sqrt.dir, "op_kernel/sqrt.cpp"), "void sqrt("));
    assert_non_null(strstr(content(&keeping, sqrt.dir, "program.map.json"), "\"version\""));
    assert_non_null(strstr(content(&keeping, rsqrt.dir, "op_kernel/rsqrt.cpp"), "void rsqrt("));
    struct gen_candidate none = keep(&keeping, "none_diff", &keeping.sqrt);
    assert_null(none.dir);
    assert_int_equal(none.refusal->kind, AKGEN_VERDICT_COMPILE_ERROR);
    assert_int_equal(none.refusal->diagnostic_count, 1);
    assert_int_equal(none.refusal->diagnostics[0].class, DIAG_SYNTAX);
    assert_string_equal(none.refusal->reason, "the answer is a diff, expected whole files");
    end(&keeping);
}

static void *keep_again(void *closure)
{
    struct keeping keeping = *(struct keeping *)closure;
    keeping.arena = (struct arena){0};
    for (int i = 0; i < 20; i++) {
        struct gen_candidate candidate = keep(&keeping, "banners_equals", &keeping.sqrt);
        if (!strstr(content(&keeping, candidate.dir, "op_kernel/sqrt.cpp"), "out.FreeTensor(b);\n    }\n}\n"))
            abort();
    }
    arena_free(&keeping.arena);
    return NULL;
}

static void test_several_keep_the_same(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    pthread_t threads[THREADS];
    struct keeping keeping;
    const char **paths;
    size_t count;
    begin(&keeping);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_again, &keeping), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_null(files_list(&keeping.arena, keeping.folder, &paths, &count));
    assert_int_equal(count, 3); /* nothing else is left */
    end(&keeping);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_corpus),
                                       cmocka_unit_test(test_time_is_linear),
                                       cmocka_unit_test(test_what_is_kept),
                                       cmocka_unit_test(test_answers_of_one_case),
                                       cmocka_unit_test(test_programs_are_kept_as_what_they_become),
                                       cmocka_unit_test(test_several_keep_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
