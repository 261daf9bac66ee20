/* Every reference against its signature: the task that `akgen task new` writes is fit to judge with, with and without
 * what is optional; and whatever a task lacks or has otherwise is an error at its line or works, but never ends the
 * process. Asking a call for what the signature does not have does (reference.c), so that the two cannot differ. */
/* test: builds=both */
#include "base/text.h"
#include "task/reference/reference.h"
#include "task/task_internal.h"

#include <ctype.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ITEMS = 40, LEAST_REFERENCES = 199 };

/* A task.yaml in parts: the lines before a section's first item, and its items. */
enum section { INPUTS, OUTPUTS, ATTRS, SECTIONS };
static const char *const section_names[] = {"inputs:", "outputs:", "attrs:"};
struct yaml {
    const char *head;
    const char *items[SECTIONS][ITEMS];
    int counts[SECTIONS];
};

static struct yaml yaml_of(struct arena *arena, const char *text)
{
    struct yaml yaml = {.head = ""};
    int section = SECTIONS;
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
        const char *line = arena_strndup(arena, at, strcspn(at, "\n") + 1);
        bool starts = false;
        for (int s = 0; s < SECTIONS; s++)
            if (strncmp(line, section_names[s], strlen(section_names[s])) == 0) {
                section = s;
                starts = true;
            }
        if (starts)
            continue;
        if (section == SECTIONS)
            yaml.head = arena_printf(arena, "%s%s", yaml.head, line);
        else if (strncmp(line, "  - ", 4) == 0)
            yaml.items[section][yaml.counts[section]++] = line;
        else
            yaml.items[section][yaml.counts[section] - 1] =
                arena_printf(arena, "%s%s", yaml.items[section][yaml.counts[section] - 1], line);
    }
    return yaml;
}

static const char *text_of(struct arena *arena, const struct yaml *yaml)
{
    struct text text = {0};
    text_add(&text, yaml->head);
    for (int s = 0; s < SECTIONS; s++) {
        if (yaml->counts[s])
            text_addf(&text, "%s\n", section_names[s]);
        for (int i = 0; i < yaml->counts[s]; i++)
            text_add(&text, yaml->items[s][i]);
    }
    const char *copy = arena_strdup(arena, text.bytes);
    text_free(&text);
    return copy;
}

/* An item with another value of a key; with the key, if it lacks it; without it, if `value` is NULL. */
static const char *with(struct arena *arena, const char *item, const char *key, const char *value)
{
    const char *mark = arena_printf(arena, "    %s: ", key), *found = strstr(item, mark);
    const char *before = found ? arena_strndup(arena, item, (size_t)(found - item)) : item;
    const char *after = found ? found + strcspn(found, "\n") + 1 : "";
    return value ? arena_printf(arena, "%s%s%s\n%s", before, mark, value, after)
                 : arena_printf(arena, "%s%s", before, after);
}

static struct akgen_error *load(struct arena *arena, const char *yaml, const char *cases, struct task *task)
{
    struct csv_table table;
    struct task_lines lines = {0};
    *task = (struct task){.dir = "/nowhere"};
    struct akgen_error *error = csv_parse(arena, "cases.csv", cases, &table);
    if (error)
        return error;
    task->columns = (struct expr_columns){table.columns, table.column_count};
    error = task_description_parse(arena, yaml, task, &lines);
    return error ? error : task_cases_parse(arena, &table, &lines, task);
}

/* Both references of every case, with both kinds of inputs; NULL, or the first error. */
static struct akgen_error *compute(const struct task *task)
{
    struct akgen_error *error = NULL;
    for (int i = 0; i < 2 * task->case_count && !error; i++) {
        struct task_instance *instance = NULL;
        error = task_instance_make(task, &task->cases[i / 2], i % 2 ? 1 | TASK_OTHER_VALUES : 0, false, &instance);
        for (int profile = TASK_UPSTREAM; profile <= TASK_STRICT && !error; profile++)
            task_outputs_free(task_reference(instance, (enum task_profile)profile));
        task_instance_free(instance);
    }
    return error;
}

/* "task.yaml:12: ..." */
static bool has_line(const char *message)
{
    static const char *const files[] = {"task.yaml:", "cases.csv:"};
    for (int i = 0; i < 2; i++)
        if (strncmp(message, files[i], strlen(files[i])) == 0)
            return isdigit((unsigned char)message[strlen(files[i])]);
    return false;
}

static const char *const HEAD = "suite: mine\nlevel: 1\ncategory: New\nop: New\n";

/* The new task of reference number `index`; false behind the last. `formula` has none. */
static bool new_task(struct arena *arena, int index, const char **name, const char **yaml, const char **cases)
{
    *name = task_reference_name(index);
    *yaml = NULL;
    if (*name)
        task_skeleton(arena, task_reference_find(*name), HEAD, yaml, cases);
    return *name;
}

static void a_new_task_is_fit_to_judge_with(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *name, *yaml, *cases;
    int references = 0, mistakes = 0;
    for (int i = 0; new_task(&arena, i, &name, &yaml, &cases); i++) {
        struct task task;
        struct akgen_error *error = yaml ? load(&arena, yaml, cases, &task) : NULL;
        for (int c = 0; yaml && !error && c < 2 * task.case_count; c++)
            error = task_check_case(&task, &task.cases[c / 2], c % 2 ? 1 | TASK_OTHER_VALUES : 0);
        for (int v = TASK_PRIME_SIZES; yaml && !error && v < TASK_VARIANTS; v++) {
            struct task_case hidden;
            if (task_case_vary(&arena, &task, &task.cases[0], (enum task_variant)v, &hidden))
                error = task_check_case(&task, &hidden, 0);
        }
        if (!error && yaml)
            error = task_check_mutants(&task, false);
        if (error)
            fprintf(stderr, "%s: %s\n", name, error->message);
        mistakes += error != NULL;
        references += yaml != NULL;
        error_free(error);
    }
    arena_free(&arena);
    assert_int_equal(mistakes, 0);
    assert_true(references >= LEAST_REFERENCES);
}

/* Changes. */
/* What one change of a task did. */
struct outcome {
    int errors, others;
};

static char tried[256]; /* what a process that ends was about */

static void say_what(int signal_number)
{
    ssize_t written = write(STDERR_FILENO, tried, strlen(tried));
    (void)written;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* `refused`: it must be an error. */
static void try_change(const char *name, const char *what, const char *yaml, const char *cases, bool refused,
                       struct outcome *outcome)
{
    struct arena arena = {0};
    struct task task;
    snprintf(tried, sizeof tried, "while this was tried: %s, %s\n", name, what);
    struct akgen_error *error = load(&arena, yaml, cases, &task);
    if (!error)
        error = compute(&task);
    if (error && !has_line(error->message))
        fail_msg("%s, %s: no line: %s", name, what, error->message);
    if (!error && refused)
        fail_msg("%s, %s: no error\n%s%s", name, what, yaml, cases);
    outcome->errors += error != NULL;
    outcome->others += error == NULL;
    error_free(error);
    arena_free(&arena);
}

static bool is_optional(const char *item)
{
    return strstr(item, "    optional: true\n");
}

/* Without item `index` of a section: items behind it move up, so that only the last is surely missed. */
static void try_dropped(const char *name, const struct yaml *yaml, const char *cases, enum section section, int index,
                        struct outcome *outcome)
{
    struct arena arena = {0};
    struct yaml changed = *yaml;
    int count = --changed.counts[section];
    bool last = index == count;
    for (int i = index; i < count; i++)
        changed.items[section][i] = changed.items[section][i + 1];
    bool required = section == ATTRS ? !strstr(name, "mkb_max_pooling") : !is_optional(yaml->items[section][index]);
    try_change(name, "an item dropped", text_of(&arena, &changed), cases, last && required, outcome);
    arena_free(&arena);
}

static void try_item(const char *name, const struct yaml *yaml, const char *cases, enum section section, int index,
                     const char *key, const char *value, bool refused, struct outcome *outcome)
{
    struct arena arena = {0};
    struct yaml changed = *yaml;
    changed.items[section][index] = with(&arena, yaml->items[section][index], key, value);
    try_change(name, arena_printf(&arena, "%s %d %s %s", section_names[section], index, key, value),
               text_of(&arena, &changed), cases, refused, outcome);
    arena_free(&arena);
}

static void try_param(const char *name, const struct yaml *yaml, const char *cases, enum section section, int index,
                      struct outcome *outcome)
{
    static const char *const shapes[] = {
        "[]",         "[1]",       "[0]",  "[2, 3]",      "[5, 0, 2]", "[1, 2, 3, 4, 5, 6, 7, 8]",
        "[[2], [3]]", "[1000000]", "[[]]", "[2, 3, 4, 5]"};
    static const char *const generators[] = {"-7", "1000000", "0", "1/0", "-1/0", "nan"};
    static const char *const types[] = {"bool", "int64", "float16", "complex64", "int4"};
    const char *item = yaml->items[section][index];
    bool list = strstr(item, "tensor_list"), optional = is_optional(item);
    try_item(name, yaml, cases, section, index, "kind", list ? "tensor" : "tensor_list", true, outcome);
    try_item(name, yaml, cases, section, index, "present", "\"false\"", !optional && !strstr(item, "compared"),
             outcome);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        try_item(name, yaml, cases, section, index, "shape", shapes[i], false, outcome);
    for (size_t i = 0; i < sizeof generators / sizeof *generators && section == INPUTS; i++)
        try_item(name, yaml, cases, section, index, "generate", generators[i], false, outcome);
    if (section == OUTPUTS)
        try_item(name, yaml, cases, section, index, "compared", "\"false\"", false, outcome);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct arena arena = {0};
        struct yaml changed = *yaml;
        const char *list_of = strstr(item, "    types: ") + strlen("    types: "), *all = types[i];
        for (const char *at = list_of; *at != '\n'; at++)
            all = *at == ',' ? arena_printf(&arena, "%s, %s", all, types[i]) : all;
        changed.items[section][index] =
            with(&arena, with(&arena, item, "types", arena_printf(&arena, "[%s]", all)), "dtype", types[i]);
        try_change(name, types[i], text_of(&arena, &changed), cases, strcmp(types[i], "int4") == 0, outcome);
        arena_free(&arena);
    }
}

static void try_attr(const char *name, const struct yaml *yaml, const char *cases, int index, struct outcome *outcome)
{
    static const char *const types[] = {"int", "float", "bool", "string", "list_int", "list_float"};
    static const char *const values[] = {
        "-1", "0", "1", "7", "2147483647", "-9000000000000000000", "[1, 2]", "[]", "[-1, 5000000000, 3]"};
    const char *item = yaml->items[ATTRS][index], *type = strstr(item, "    type: ") + strlen("    type: ");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        bool same = strncmp(type, types[i], strlen(types[i])) == 0 || (*type == 'f' && strcmp(types[i], "int") == 0);
        if (!same)
            try_item(name, yaml, cases, ATTRS, index, "type", types[i], true, outcome);
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        try_item(name, yaml, cases, ATTRS, index, "value", values[i], false, outcome);
    if (strncmp(type, "string", 6) == 0)
        try_item(name, yaml, cases, ATTRS, index, "value", "no_such_word", true, outcome);
}

static void try_more(const char *name, const struct yaml *yaml, const char *cases, enum section section,
                     struct outcome *outcome)
{
    static const char *const more[] = {
        "  - name: more\n    shape: \"[1]\"\n    dtype: float32\n    types: [float32]\n    generate: randn\n",
        "  - name: more\n    shape: \"[1]\"\n    dtype: float32\n    in_place: %s\n",
        "  - name: more\n    type: int\n    value: 1\n"};
    struct arena arena = {0};
    struct yaml changed = *yaml;
    const char *first = yaml->items[INPUTS][0] + strlen("  - name: ");
    const char *item = section == OUTPUTS
                           ? arena_printf(&arena, more[OUTPUTS], arena_strndup(&arena, first, strcspn(first, "\n")))
                           : more[section];
    changed.items[section][changed.counts[section]++] = item;
    try_change(name, "one more", text_of(&arena, &changed), cases, true, outcome);
    arena_free(&arena);
}

static void a_changed_task_is_an_error_or_works(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *name, *text, *cases;
    struct outcome outcome = {0};
    for (int r = 0; new_task(&arena, r, &name, &text, &cases); r++) {
        if (!text)
            continue;
        struct yaml yaml = yaml_of(&arena, text);
        try_change(name, "nothing changed", text_of(&arena, &yaml), cases, false, &outcome);
        for (int s = 0; s < SECTIONS; s++) {
            for (int i = 0; i < yaml.counts[s]; i++) {
                try_dropped(name, &yaml, cases, (enum section)s, i, &outcome);
                if (s == ATTRS)
                    try_attr(name, &yaml, cases, i, &outcome);
                else
                    try_param(name, &yaml, cases, (enum section)s, i, &outcome);
            }
            try_more(name, &yaml, cases, (enum section)s, &outcome);
        }
    }
    arena_free(&arena);
    fprintf(stderr, "%d changes were errors, %d worked\n", outcome.errors, outcome.others);
    assert_true(outcome.errors > 10000 && outcome.others > 1000);
}

int main(void)
{
    static const int signals[] = {SIGABRT, SIGFPE, SIGSEGV};
    for (int i = 0; i < 3; i++)
        signal(signals[i], say_what);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_task_is_fit_to_judge_with),
        cmocka_unit_test(a_changed_task_is_an_error_or_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
