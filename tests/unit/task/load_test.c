/* Loading: every shipped task, errors with file and line, finding by name, inputs, reduced giants. */
#include "task/csv.h"
#include "task/task.h"
#include "task/task_internal.h"

#include "base/files.h"
#include "base/random.h"
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char good_yaml[] = "suite: test\n"
                                "level: 1\n"
                                "category: Math\n"
                                "op: Sqrt\n"
                                "reference: sqrt\n"
                                "inputs:\n"
                                "  - name: x\n"
                                "    shape: $shape\n"
                                "    dtype: $dtype\n"
                                "    types: [float16, float32]\n"
                                "    generate: randn\n"
                                "outputs:\n"
                                "  - name: y\n"
                                "    shape: $shape\n"
                                "    dtype: $dtype\n"
                                "    types: [float16, float32]\n";
static const char good_csv[] = "case_id;shape;dtype\n0;[4, 3];float16\n\n1;[7];float\n";
static char directory[64];

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    fclose(file);
}

/* `text` with `from` replaced by `to` once. */
static const char *edited(struct arena *arena, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void expect_error(const char *yaml, const char *csv, const char *message)
{
    struct arena arena = {0};
    struct task task;
    put("task.yaml", yaml);
    put("cases.csv", csv);
    struct akgen_error *error = task_load(&arena, directory, &task);
    if (!error)
        fail_msg("no error, expected: %s", message);
    if (!strstr(error->message, message))
        fail_msg("'%s' does not say: %s", error->message, message);
    error_free(error);
    arena_free(&arena);
}

/* `count` times `part`, in which "%d" becomes the number of the copy. */
static const char *repeated(struct arena *arena, const char *part, int count)
{
    struct text text = {0};
    const char *number = strstr(part, "%d");
    for (int i = 0; i < count; i++)
        if (number)
            text_addf(&text, "%.*s%d%s", (int)(number - part), part, i, number + 2);
        else
            text_add(&text, part);
    const char *all = arena_strdup(arena, text.bytes);
    text_free(&text);
    return all;
}

/* libyaml alone takes 22 s for 200 kB of brackets and hours for 4 MiB; for 4 MiB of anchors or %TAG lines, minutes. */
static void costly_shapes_are_refused_before_libyaml_loads_them(void **state)
{
    (void)state;
    struct arena a = {0};
    enum { MOST = 4 << 20 };
    expect_error(repeated(&a, "[", MOST), good_csv, "task.yaml:1: more than 16 nested parts");
    expect_error(repeated(&a, "{", MOST), good_csv, "task.yaml:1: more than 16 nested parts");
    expect_error(repeated(&a, "[\n", MOST / 2), good_csv, "task.yaml:18: more than 16 nested parts");
    expect_error(repeated(&a, "[?\n", MOST / 3), good_csv, "task.yaml:18: more than 16 nested parts");
    expect_error(repeated(&a, "- ", MOST / 2), good_csv, "task.yaml:1: more than 16 nested parts");
    expect_error(arena_printf(&a, "a:\n%s%s", repeated(&a, "}", MOST / 4), repeated(&a, "[", MOST / 4)), good_csv,
                 "task.yaml:2: more than 16 nested parts");
    expect_error(repeated(&a, "- &a%d x\n", MOST / 16), good_csv, "task.yaml:1025: more than 1024 anchors and %TAG");
    expect_error(arena_printf(&a, "%s--- a\n", repeated(&a, "%TAG !a%d! tag:x\n", MOST / 24)), good_csv,
                 "task.yaml:1025: more than 1024 anchors and %TAG lines");
    expect_error(repeated(&a, "- x\n", MOST / 4), good_csv, "task.yaml:65536: more than 65536 parts");
    arena_free(&a);
}

/* Neither brackets in a quoted text, a comment or a block, nor names within the limit count. */
static void a_text_that_only_looks_costly_is_read(void **state)
{
    (void)state;
    struct arena a = {0};
    struct task task;
    const char *brackets = repeated(&a, "[", 1000);
    put("task.yaml",
        arena_printf(&a, "# %s\n%s# %s\n", brackets,
                     edited(&a, good_yaml, "generate: randn", "generate: \"randn\" # {{[[{{[[{{[[{{[[{{[["),
                     repeated(&a, "{", 1000)));
    put("cases.csv", good_csv);
    assert_null(task_load(&a, directory, &task));
    assert_string_equal(task.op, "Sqrt");
    expect_error(edited(&a, good_yaml, "op: Sqrt", arena_printf(&a, "oq: \"%s\"", brackets)), good_csv,
                 "task.yaml:4: 'oq' is no key of a task");
    expect_error(arena_printf(&a, "oq: |\n  %s\n", brackets), good_csv, "task.yaml:1: 'oq' is no key of a task");
    expect_error(arena_printf(&a, "%s%s", repeated(&a, "oq: [&a%d x]\n", 1), repeated(&a, "or: [&b%d x]\n", 1023)),
                 good_csv, "task.yaml:1: 'oq' is no key of a task");
    arena_free(&a);
}

/* Files that never end, that wait for a writer, or that belong to whoever reads the task. */
static void only_files_of_the_folder_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {"task.yaml", "cases.csv"};
    static const char *const targets[] = {NULL, "/dev/zero", "/etc/passwd"};
    struct arena a = {0};
    struct task task;
    put("task.yaml", good_yaml);
    put("cases.csv", good_csv);
    for (size_t n = 0; n < 2; n++)
        for (size_t t = 0; t < 3; t++) {
            const char *path = arena_printf(&a, "%s/%s", directory, names[n]);
            assert_int_equal(unlink(path), 0);
            assert_int_equal(targets[t] ? symlink(targets[t], path) : mkfifo(path, 0600), 0);
            struct akgen_error *error = task_load(&a, directory, &task);
            assert_non_null(error);
            assert_string_equal(error->message, arena_printf(&a, "%s: %s", path,
                                                             targets[t] ? "a link, expected a file of the folder itself"
                                                                        : "not a regular file"));
            error_free(error);
            assert_int_equal(unlink(path), 0);
            put(names[n], n ? good_csv : good_yaml);
        }
    assert_null(task_load(&a, directory, &task));
    arena_free(&a);
}

static void binary_files_are_refused(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    put("task.yaml", good_yaml);
    put("cases.csv", good_csv);
    const char *cases = arena_printf(&arena, "%s/cases.csv", directory);
    assert_int_equal(truncate(cases, sizeof good_csv), 0); /* one byte more, a NUL */
    struct akgen_error *error = task_load(&arena, directory, &task);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "cases.csv: not a text file: it holds a NUL byte"));
    error_free(error);
    assert_int_equal(truncate(cases, (4 << 20) + 1), 0);
    error = task_load(&arena, directory, &task);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "at most 4194304 are allowed"));
    error_free(error);
    arena_free(&arena);
}

/* The header, and so many lines of these fields; the last line has `last`. */
static const char *long_table(struct arena *arena, const char *fields, int lines, const char *last)
{
    const size_t length = strlen(fields);
    char *text = arena_alloc(arena, 64 + (size_t)lines * (length + 16) + strlen(last)), *at = text;
    at += sprintf(at, "case_id;shape;dtype\n");
    for (int i = 0; i < lines; i++)
        at += sprintf(at, "%d;%s\n", i, fields);
    strcpy(at, last);
    return text;
}

/* No table is so large that a look at each pair of its rows, or at all of a field again, would be felt. */
static void large_tables_are_bounded(void **state)
{
    (void)state;
    struct arena a = {0};
    char *cell = arena_alloc(&a, (1 << 20) + 1);
    memset(cell, '1', 1 << 20);
    expect_error(good_yaml, long_table(&a, "[7];float", 3, arena_printf(&a, "3;[%s];float\n", cell)),
                 "cases.csv:5: a field of more than 65536 bytes");
    expect_error(good_yaml, long_table(&a, "[7];float", 3, arena_printf(&a, "3;\"[%s]\";float\n", cell)),
                 "cases.csv:5: a field of more than 65536 bytes");
    expect_error(good_yaml, long_table(&a, "\"[7]\";\"float\"", 10001, ""),
                 "cases.csv:10002: more than 10000 lines below the header");
    arena_free(&a);
}

static void errors_carry_file_and_line(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *y = good_yaml, *c = good_csv;
    expect_error(y, edited(&a, c, "float16", "float8"),
                 "cases.csv:2: 'x': column 'dtype' is 'float8', expected one of float16, float32");
    expect_error(y, edited(&a, c, "1;[7];float", "1;[7]"), "cases.csv:4: 2 fields, expected 3 as in the header");
    expect_error(y, edited(&a, c, "[7]", "\"[7"), "cases.csv:4: a quoted field without its closing quote");
    expect_error(y, edited(&a, c, "[7]", "[-7]"), "cases.csv:4: 'x': shape is [-7], expected non-negative integers");
    expect_error(y, edited(&a, c, "1;[7]", "0;[7]"), "cases.csv:4: case_id 0 appears twice");
    expect_error(y, "", "cases.csv: empty");
    expect_error(edited(&a, y, "generate: randn", "generator: randn"), c,
                 "task.yaml:11: 'generator' is no key of an input, expected name, kind, shape");
    expect_error(edited(&a, y, "    generate: randn\n", ""), c, "task.yaml:7: input 'x' lacks 'generate'");
    expect_error(edited(&a, y, "op: Sqrt\n", ""), c, "task.yaml:1: the task lacks 'op'");
    expect_error(edited(&a, y, "generate: randn", "generate: randn +"), c,
                 "task.yaml:11: generate: in 'randn +', column 8: expected a value, found the end");
    expect_error(edited(&a, y, "generate: randn", "generate: randn("), c, "task.yaml:11: ");
    expect_error(edited(&a, y, "types: [float16, float32]", "types: [float16]"), c, "task.yaml:16: 'y' has 2 types");
    expect_error(edited(&a, y, "float16, float32", "float16, float31"), c, "task.yaml:10: 'float31' is no data type");
    expect_error(edited(&a, y, "reference: sqrt", "reference: root"), c,
                 "task.yaml:5: there is no reference called 'root'");
    expect_error(edited(&a, y, "reference: sqrt", "reference: sqrt\nderive: root"), c,
                 "task.yaml:6: there is no derivation called 'root'");
    expect_error(edited(&a, y, "outputs:\n  - name: y", "outputs:\n  - name: y\n    points_into: z"), c,
                 "points_into names 'z', which is no input");
    expect_error(edited(&a, y, "outputs:\n  - name: y", "outputs:\n  - name: y\n    points_into: x"), c,
                 "points_into needs an attribute 'dim'");
    expect_error(edited(&a, y, "    generate: randn", "    generate: randn\n    special: inf NaN"), c,
                 "task.yaml:12: special is 'inf NaN', expected words of: zero subnormal inf nan");
    expect_error(edited(&a, y, "    generate: randn", "    generate: randn\n    strict: randn("), c,
                 "task.yaml:12: strict:");
    expect_error(edited(&a, y, "reference: sqrt", "reference: sqrt\nvary: sizes n"), c,
                 "task.yaml:6: vary: 'n' is no column of cases.csv");
    expect_error(edited(&a, y, "reference: sqrt", "reference: sqrt\nvary: \"shape = [$hidden, k]\""), c,
                 "task.yaml:6: vary: cases.csv:2: 'x': shape is");
    expect_error(edited(&a, y, "reference: sqrt", "reference: sqrt\nsmaller: sizes"), c,
                 "task.yaml:6: smaller: 'sizes' is not of the form 'column = expression'");
    expect_error(edited(&a, y, "reference: sqrt", "reference: sqrt\nsmaller: \"dtype = float16; n = 1\""), c,
                 "task.yaml:6: smaller: 'n' is no column of cases.csv");
    expect_error(edited(&a, y, "level: 1", "level: one"), c, "task.yaml:2: level is 'one', expected a number");
    expect_error(edited(&a, y, "inputs:", "inputs: ["), c, "task.yaml:7: ");
    expect_error(edited(&a, y, "$shape", "$size"), c,
                 "task.yaml:8: shape: in '$size', column 1: cases.csv has no column 'size'");
    arena_free(&a);
}

static void a_good_task_loads(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    put("task.yaml", good_yaml);
    put("cases.csv", good_csv);
    assert_null(task_load(&arena, directory, &task));
    assert_string_equal(task.name, "level1/Math/Sqrt");
    assert_int_equal(task.combination_count, 2);
    assert_int_equal(task.combination_width, 2);
    assert_int_equal(task.combinations[1][1], AKGEN_FLOAT);
    assert_int_equal(task.case_count, 2);
    assert_int_equal(task.cases[1].line, 4);
    assert_int_equal(task.cases[1].elements, 14);
    assert_int_equal(task.outputs[0].in_place, TASK_NONE);
    assert_int_equal(task.columns.count, 3);
    assert_int_equal(task.cases[0].cells[1].count, 2); /* [4, 3] */
    assert_string_equal(task.cases[0].cells[1].text, "[4, 3]");
    arena_free(&arena);
}

/* `line` put behind the line that `after` ends. */
static void expect_error_of_line(const char *after, const char *line, const char *message)
{
    struct arena arena = {0};
    const char *yaml = edited(&arena, good_yaml, after, arena_printf(&arena, "%s\n%s", after, line));
    expect_error(yaml, good_csv, message);
    arena_free(&arena);
}

/* Words that nothing knows were taken for the default once. */
static void misspelt_words_are_errors(void **state)
{
    (void)state;
    static const char task[] = "reference: sqrt", input[] = "    generate: randn", output[] = "  - name: y";
    expect_error_of_line(task, "check: allclse",
                         "task.yaml:6: check is 'allclse', expected default, abs_rel(a, r), "
                         "abs_rel_any(a, r), allclose(a, r), rel_max1(r) or share(l); did you "
                         "mean allclose");
    expect_error_of_line(task, "check: allclose(1e-2)", "task.yaml:6: check: in 'allclose(1e-2)', column 1: allclose");
    expect_error_of_line(task, "check: \"$dtype == float32 ? share(1) : defult\"", "task.yaml:6: check is ");
    expect_error_of_line(task, "check: $dtype", "task.yaml:6: check is '$dtype', expected default, abs_rel");
    expect_error_of_line(task, "check: \"abs_rel($shape, 1)\"", "cases.csv:2: check: in 'abs_rel($shape, 1)': a check");
    expect_error_of_line(task, "trivial: \"naught: why\"",
                         "task.yaml:6: trivial is 'naught', expected words of: zero one");
    expect_error_of_line(task, "trivial: zero", "task.yaml:6: trivial lacks its reason");
    expect_error_of_line(task, "vary: sizes dtype", "task.yaml:6: vary: column 'dtype' holds no size in any case");
    expect_error_of_line(task, "vary: size", "task.yaml:6: vary: 'size' is no column of cases.csv");
    expect_error_of_line(task, "derive: gelo",
                         "task.yaml:6: there is no derivation called 'gelo', expected unique_entries");
    expect_error_of_line(input, "    strict: rndn*2", "cases.csv:2: 'x': generate 'rndn*2': * needs numbers");
    expect_error_of_line(input, "    strict: rndn",
                         "task.yaml:12: strict is 'rndn', expected numbers or a generator; did you mean rand");
    expect_error_of_line(input, "    strict: \"[1, 2]\"", "cases.csv:2: 'x': generate '[1, 2]' has 2 values for 12");
    expect_error_of_line(input, "    optional: flase", "task.yaml:12: optional is 'flase', expected false or true");
    expect_error_of_line(input, "    kind: tensors", "task.yaml:12: kind is 'tensors', expected tensor, tensor_list");
    expect_error_of_line(output, "    compared: stric",
                         "task.yaml:14: compared is 'stric', expected true, false or strict");
    expect_error_of_line(output, "    compared: $dtype", "cases.csv:2: 'y': compared is 'float16', expected true");
    expect_error_of_line(output, "    depth: shape", "task.yaml:14: depth is 'shape', expected a number of values");
    expect_error_of_line(output, "    depth: $shape", "cases.csv:2: 'y': depth is [4, 3], expected a number of values");
    expect_error_of_line(output, "    steep: yes", "task.yaml:14: steep is 'yes', expected false or true");
    expect_error_of_line(output, "    init: zeros", "task.yaml:14: init is 'zeros', expected poison or zero");
    expect_error_of_line(output, "    in_place: z", "task.yaml:14: in_place names 'z', which is no input, expected x");
    expect_error_of_line(output, "    made_of: x", "task.yaml:14: made_of names 'x', which is no output, expected y");
}

/* Keys that nobody reads, where they are or at all. */
static void misplaced_keys_are_errors(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *y = good_yaml, *c = good_csv;
    expect_error_of_line("  - name: y", "    generate: randn", "task.yaml:14: 'generate' is a key of an input, not of");
    expect_error_of_line("    generate: randn", "    depth: 4",
                         "task.yaml:12: 'depth' is a key of an output, not of an");
    expect_error_of_line("    generate: randn", "    generate: rand",
                         "task.yaml:12: 'generate' stands here again, after line 11");
    expect_error_of_line("op: Sqrt", "shape: 4",
                         "task.yaml:5: 'shape' is a key of an input or an output, not of a task");
    expect_error_of_line("op: Sqrt", "optype: Sqrt", "; did you mean op_type");
    expect_error(edited(&a, y, "    generate: randn\n",
                        "    generate: randn\n  - name: x\n    shape: $shape\n    dtype: "
                        "$dtype\n    types: [int8, int8]\n    generate: randn\n"),
                 c, "task.yaml:12: input 'x' appears twice");
    expect_error(edited(&a, y, "    types: [float16, float32]\n    generate", "    types: float16\n    generate"), c,
                 "task.yaml:10: types must be a list of 1 to 128 data types");
    expect_error(edited(&a, y, "shape: $shape", "shape: [4, 3]"), c, "task.yaml:8: shape must be a text, not a list");
    expect_error(edited(&a, y, "dtype: $dtype", "dtype: floot32"), c,
                 "task.yaml:9: dtype is 'floot32', expected a data");
    expect_error(edited(&a, y, "  - name: y\n", "  - kind: tensor\n"), c, "task.yaml:13: output number 1 lacks 'name'");
    expect_error("- suite\n", c, "task.yaml:1: the task must be keys with values");
    expect_error("", c, "task.yaml:1: empty");
    expect_error(arena_printf(&a, "%s---\nsuite: again\n", y), c, "task.yaml:18: a second document");
    expect_error("a: &a [*a]\n", c, "task.yaml:1: more than 16 nested parts");
    arena_free(&a);
}

/* A task whose folder is called as the shipped ones' are is found by the folder. */
static void the_folder_and_the_file_agree(void **state)
{
    (void)state;
    static const char *const parts[] = {"/test", "/level1", "/Math", "/Sqrt"};
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"suite: test", "suite: tset", "task.yaml:1: suite is 'tset', but the folder says 'test'"},
        {"level: 1", "level: 2", "task.yaml:2: level is 'level2', but the folder says 'level1'"},
        {"op: Sqrt", "op: Root", "task.yaml:4: op is 'Root', but the folder says 'Sqrt'"},
        {"op: Sqrt", "op: Sqrt", NULL},
    };
    char home[sizeof directory];
    struct arena arena = {0};
    strcpy(home, directory);
    for (int i = 0; i < 4; i++)
        assert_int_equal(mkdir(strcat(directory, parts[i]), 0755), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *yaml = edited(&arena, good_yaml, cases[i].from, cases[i].to);
        struct task task;
        if (cases[i].message)
            expect_error(yaml, good_csv, cases[i].message);
        put("task.yaml", yaml);
        if (!cases[i].message)
            assert_null(task_load(&arena, directory, &task));
    }
    files_remove_tree(arena_printf(&arena, "%s/test", home));
    strcpy(directory, home);
    arena_free(&arena);
}

static void shipped_tasks_load(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task *tasks;
    int count, cases = 0;
    /* As the paper counts them. */
    static const struct {
        const char *suite;
        int level;
        const char *category;
        int tasks;
    } counts[] = {
        {"npukernelbench", 1, "Comparison", 3},     {"npukernelbench", 1, "Condition", 3},
        {"npukernelbench", 1, "Index", 2},          {"npukernelbench", 1, "Math", 26},
        {"npukernelbench", 1, "TensorCreation", 3}, {"npukernelbench", 2, "Foreach", 53},
        {"npukernelbench", 2, "Linalg", 2},         {"npukernelbench", 2, "TensorMove", 5},
        {"npukernelbench", 2, "Mask", 3},           {"npukernelbench", 3, "Sort", 1},
        {"npukernelbench", 3, "GMM", 17},           {"mhc", 2, "MHC", 2},
        {"multikernelbench", 1, "Activation", 15},  {"multikernelbench", 1, "Loss", 7},
        {"multikernelbench", 1, "Math", 6},         {"multikernelbench", 1, "Normalization", 8},
        {"multikernelbench", 1, "Optimizer", 5},    {"multikernelbench", 1, "Pooling", 6},
        {"multikernelbench", 1, "Reduce", 5},
    };
    int found[sizeof counts / sizeof *counts] = {0};
    assert_null(task_load_all(&arena, AKGEN_SOURCE_DIR, &tasks, &count));
    for (int i = 0; i < count; i++) {
        cases += tasks[i].case_count;
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            found[c] += tasks[i].level == counts[c].level && strcmp(tasks[i].suite, counts[c].suite) == 0 &&
                        strcmp(tasks[i].category, counts[c].category) == 0;
        if (i)
            assert_true(strcmp(tasks[i - 1].name, tasks[i].name) < 0);
        assert_non_null(strstr(tasks[i].dir, tasks[i].name)); /* the folder says what the file says */
        assert_int_equal(task_judged_by(&tasks[i], TASK_UPSTREAM), TASK_UPSTREAM); /* all have a published check */
        assert_int_equal(task_judged_by(&tasks[i], TASK_STRICT), TASK_STRICT);
    }
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        if (found[c] != counts[c].tasks)
            fail_msg("%s has %d tasks, not %d", counts[c].category, found[c], counts[c].tasks);
    assert_true(count >= 109 && cases >= 1000);
    arena_free(&arena);
}

static void names_are_found(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    static const char *const names[] = {"level2/Norm/RmsNorm", "Norm/RmsNorm", "RmsNorm", "rmsnorm",
                                        AKGEN_SOURCE_DIR "/tasks/npukernelbench/level2/Norm/RmsNorm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null(task_find(&arena, AKGEN_SOURCE_DIR, names[i], &task));
        assert_string_equal(task.op, "RmsNorm");
        assert_string_equal(task.suite, "npukernelbench"); /* another suite has a RmsNorm too */
    }
    struct akgen_error *error = task_find(&arena, AKGEN_SOURCE_DIR, "RsmNorm", &task);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "no task called 'RsmNorm'; did you mean level2/Norm/RmsNorm"));
    error_free(error);
    arena_free(&arena);
}

static struct task_instance *instance_of(struct arena *arena, const char *name, int row, uint64_t seed)
{
    struct task *task = arena_alloc(arena, sizeof *task);
    struct task_instance *instance;
    assert_null(task_find(arena, AKGEN_SOURCE_DIR, name, task));
    assert_null(task_instance_make(task, &task->cases[row], seed, false, &instance));
    return instance;
}

static void a_seed_decides_the_inputs(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task_instance *a = instance_of(&arena, "AddCustom", 0, 1), *b = instance_of(&arena, "AddCustom", 0, 1);
    struct task_instance *c = instance_of(&arena, "AddCustom", 0, 2);
    size_t bytes = 2 * (size_t)a->inputs[0].tensors[0].elements;
    assert_int_equal(bytes, 2 * 48 * 128 * 512);
    assert_memory_equal(a->inputs[1].tensors[0].values, b->inputs[1].tensors[0].values, bytes);
    assert_memory_not_equal(a->inputs[0].tensors[0].values, a->inputs[1].tensors[0].values, bytes);
    assert_memory_not_equal(a->inputs[0].tensors[0].values, c->inputs[0].tensors[0].values, bytes);
    task_instance_free(a);
    task_instance_free(b);
    task_instance_free(c);
    arena_free(&arena);
}

static void giants_shrink_outside(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task_instance *norm = instance_of(&arena, "PreLayerNorm", 0, 1); /* [4980, 4, 2048] */
    const struct task_tensor *x = &norm->inputs[0].tensors[0];
    assert_true(norm->reduced && norm->task_case->elements > TASK_GIANT);
    assert_int_equal(x->rank, 3);
    assert_int_equal(x->dims[1], 4);
    assert_int_equal(x->dims[2], 2048);
    assert_true(3 * x->elements < TASK_GIANT && 6 * x->elements > TASK_GIANT);
    task_instance_free(norm);
    struct task_instance *list = instance_of(&arena, "ForeachAddList", 4, 1); /* [[512,3],[1024,512,128],[24,1023]] */
    assert_true(list->reduced);
    assert_int_equal(list->inputs[0].count, 3);
    assert_int_equal(list->inputs[0].tensors[1].dims[2], 128);
    assert_int_equal(list->inputs[0].tensors[2].dims[1], 1023);
    assert_int_equal(list->inputs[0].tensors[1].elements, list->outputs[0].tensors[1].elements);
    task_instance_free(list);
    struct task_instance *product = instance_of(&arena, "OptimizedMatmul", 1, 1); /* (640, 65536) (65536, 256) */
    assert_true(product->reduced);
    assert_int_equal(product->inputs[0].tensors[0].dims[0], 640);
    assert_int_equal(product->inputs[0].tensors[0].dims[1], 16384);
    assert_int_equal(product->inputs[1].tensors[0].dims[0], 16384);
    assert_int_equal(product->outputs[0].tensors[0].dims[1], 256);
    task_instance_free(product);
    struct task_instance *attention = instance_of(&arena, "FlashAttentionScoreWithLargeHeadDim", 0, 1);
    assert_true(attention->reduced); /* (2, 2048, 1024) is just over the limit; its `smaller` keeps the 2048 keys */
    assert_int_equal(attention->inputs[0].tensors[0].dims[0], 1);
    assert_int_equal(attention->inputs[0].tensors[0].dims[1], 2048);
    assert_int_equal(attention->outputs[0].tensors[0].dims[2], 2048);
    task_instance_free(attention);
    attention = instance_of(&arena, "FlashAttentionScoreWithLargeHeadDim", 3, 1); /* no giant: (2, 4096, 256) */
    assert_int_equal(attention->inputs[0].tensors[0].dims[0], 2);
    task_instance_free(attention);
    arena_free(&arena);
}

static void any_csv_is_survived(void **state)
{
    (void)state;
    static const char alphabet[] = "a;;;\n\n\"\"[1,2] \r\\\x01";
    struct rng rng;
    rng_seed(&rng, 9);
    for (int i = 0; i < 20000; i++) {
        struct arena arena = {0};
        struct csv_table table;
        char text[64] = "";
        for (int64_t j = 0, n = rng_integer(&rng, 0, 63); j < n; j++)
            text[j] = alphabet[rng_integer(&rng, 0, sizeof alphabet - 1)];
        struct akgen_error *error = csv_parse(&arena, "cases.csv", text, &table);
        if (error)
            assert_int_equal(strncmp(error->message, "cases.csv:", 10), 0);
        else
            assert_true(table.column_count > 0);
        error_free(error);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_tables_are_bounded),
        cmocka_unit_test(errors_carry_file_and_line),
        cmocka_unit_test(binary_files_are_refused),
        cmocka_unit_test(costly_shapes_are_refused_before_libyaml_loads_them),
        cmocka_unit_test(a_text_that_only_looks_costly_is_read),
        cmocka_unit_test(only_files_of_the_folder_are_read),
        cmocka_unit_test(a_good_task_loads),
        cmocka_unit_test(misspelt_words_are_errors),
        cmocka_unit_test(misplaced_keys_are_errors),
        cmocka_unit_test(the_folder_and_the_file_agree),
        cmocka_unit_test(shipped_tasks_load),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(a_seed_decides_the_inputs),
        cmocka_unit_test(giants_shrink_outside),
        cmocka_unit_test(any_csv_is_survived),
    };
    strcpy(directory, "/tmp/akgen-load-XXXXXX");
    if (!mkdtemp(directory))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char path[128];
    snprintf(path, sizeof path, "%s/task.yaml", directory);
    unlink(path);
    snprintf(path, sizeof path, "%s/cases.csv", directory);
    unlink(path);
    rmdir(directory);
    return failed;
}
