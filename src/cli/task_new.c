/* akgen task new: the files of a task of one's own, to be filled in as docs/tasks.md explains. */
#include "cli/cli.h"
#include "base/files.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What the path says: .../<suite>/level<n>/<category>/<op>. */
struct place {
    const char *dir, *suite, *category, *op;
    int level;
};

/* A letter (a capital if `capital`), then letters, digits and, without `capital`, underscores. */
static bool is_word(const char *text, bool capital)
{
    if (capital ? !isupper((unsigned char)*text) : !islower((unsigned char)*text))
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && (capital || *text != '_'))
            return false;
    return true;
}

static struct akgen_error *read_path(struct arena *arena, const char *path, struct place *place)
{
    static const char form[] =
        "expected PATH/SUITE/levelN/CATEGORY/OP, for example tasks/mine/level1/Math/Cube: a suite "
        "in small letters, level1, level2 or level3, a category and an operator that begin with a "
        "capital";
    char *copy = arena_strdup(arena, path), *parts[4];
    for (size_t length = strlen(copy); length > 1 && copy[length - 1] == '/'; length--)
        copy[length - 1] = '\0';
    place->dir = arena_strdup(arena, copy);
    for (int i = 3; i >= 0; i--) {
        char *slash = strrchr(copy, '/');
        parts[i] = slash ? slash + 1 : copy;
        if (!slash && i > 0)
            return error_new("%s: %s", path, form);
        if (slash)
            *slash = '\0';
    }
    bool level = strncmp(parts[1], "level", 5) == 0 && strlen(parts[1]) == 6 && strchr("123", parts[1][5]);
    if (!level || !is_word(parts[0], false) || !is_word(parts[2], true) || !is_word(parts[3], true))
        return error_new("%s: '%s' is no name here; %s", path,
                         !is_word(parts[0], false)  ? parts[0]
                         : !level                   ? parts[1]
                         : !is_word(parts[2], true) ? parts[2]
                                                    : parts[3],
                         form);
    place->suite = parts[0];
    place->level = parts[1][5] - '0';
    place->category = parts[2];
    place->op = parts[3];
    return NULL;
}

static bool known_reference(const char *name)
{
    for (int i = 0; task_reference_name(i); i++)
        if (strcmp(task_reference_name(i), name) == 0)
            return true;
    return false;
}

static void add_head(struct text *yaml, const struct place *place)
{
    text_addf(yaml,
              "# docs/tasks.md explains every key; 'akgen task check' with this directory tries the task.\n"
              "suite: %s\nlevel: %d\ncategory: %s\nop: %s\n",
              place->suite, place->level, place->category, place->op);
}

/* One input, one output, elementwise. */
static void add_skeleton(struct text *yaml, const struct place *place, const char *formula)
{
    add_head(yaml, place);
    text_addf(yaml,
              "reference: formula\n"
              "vary: sizes\n"
              "inputs:                     # in the order of the OpDef\n"
              "  - name: x\n"
              "    shape: \"$shape\"         # columns of cases.csv\n"
              "    dtype: \"$dtype\"\n"
              "    types: [float16, float32]\n"
              "    generate: \"randn\"       # values\n"
              "outputs:\n"
              "  - name: y\n"
              "    shape: \"$shape\"\n"
              "    dtype: \"$dtype\"\n"
              "    types: [float16, float32]\n"
              "    formula: \"%s\"%s\n",
              formula,
              *formula == '?' ? "            # fill in: the value of an element, for example x * sigmoid(x)" : "");
}

/* What a reference needs; false for `formula`. */
static bool add_needs(struct arena *arena, struct text *yaml, const struct place *place, const char *reference,
                      const char **cases)
{
    struct text head = {0};
    const char *text;
    add_head(&head, place);
    bool known = task_skeleton(arena, task_reference_find(reference), head.bytes, &text, cases);
    if (known)
        text_add(yaml, text);
    text_free(&head);
    return known;
}

/* The task.yaml of another task under the new name. Its note and its name for the OpDef are left out; a check that its suite implies is
 * stated. */
static void add_copy(struct text *yaml, const struct place *place, const struct task *model, const char *source,
                     const char *reference)
{
    static const char *const dropped[] = {"suite:", "level:", "category:", "op:", "op_type:", "note:"};
    bool dropping = false;
    add_head(yaml, place);
    if (task_has_check(model) && !model->check)
        text_add(yaml, "check: default\n");
    for (const char *line = source; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        if (!line[length - 1])
            length--;
        if (*line != ' ' && *line != '#')
            dropping = false;
        for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
            dropping |= strncmp(line, dropped[i], strlen(dropped[i])) == 0;
        if (reference && strncmp(line, "reference:", 10) == 0)
            text_addf(yaml, "reference: %s\n", reference);
        else if (!dropping)
            text_append(yaml, line, length);
        line += length;
    }
}

static struct akgen_error *write_file(struct arena *arena, const struct place *place, const char *name,
                                      const char *text)
{
    return files_write(arena_printf(arena, "%s/%s", place->dir, name), text, strlen(text));
}

static const char *description(struct arena *arena, const struct place *place)
{
    const char *entry = op_snake_case(arena, place->op);
    return arena_printf(arena,
                        "# %s\n\n"
                        "What the operator computes, and what a candidate must know about its inputs.\n\n"
                        "## Files\n\n"
                        "- `op_kernel/%s.cpp`: the kernel, with the entry point `%s`\n"
                        "- `op_host/%s.cpp`: the OpDef `%s` and its tiling function\n",
                        place->op, entry, entry, entry, place->op);
}

/* The texts of task.yaml and cases.csv. */
static struct akgen_error *compose(struct arena *arena, const struct place *place, const char *reference,
                                   const char *like, struct text *yaml, const char **cases)
{
    enum { MAX_BYTES = 4 << 20 };
    struct task model;
    char *source, *text;
    *cases = arena_strdup(arena, "case_id;shape;dtype\n0;[48, 1024];float16\n1;[7, 33];float32\n");
    if (!like) {
        if (!reference || !add_needs(arena, yaml, place, reference, cases))
            add_skeleton(yaml, place, reference ? "x * sigmoid(x)" : "?");
        return NULL;
    }
    struct akgen_error *error = task_find(arena, toolchain_home(), like, &model);
    if (!error)
        error = files_read(arena, arena_printf(arena, "%s/task.yaml", model.dir), MAX_BYTES, &source, NULL);
    if (!error)
        error = files_read(arena, arena_printf(arena, "%s/cases.csv", model.dir), MAX_BYTES, &text, NULL);
    if (!error) {
        *cases = text;
        add_copy(yaml, place, &model, source, reference);
    }
    return error;
}

int cli_task_new(struct arena *arena, const char *path, const char *reference, const char *like)
{
    struct place place;
    struct text yaml = {0};
    const char *cases = NULL;
    struct akgen_error *error = read_path(arena, path, &place);
    if (!error && files_exists(place.dir))
        error = error_new("%s: exists already", place.dir);
    if (!error && reference && !known_reference(reference))
        error = error_new("there is no reference called '%s'%s", reference, task_reference_hint(arena, reference));
    if (!error)
        error = compose(arena, &place, reference, like, &yaml, &cases);
    int code = error ? EXIT_USAGE : EXIT_OWN_FAILURE;
    if (!error)
        error = files_make_directory(place.dir);
    if (!error)
        error = write_file(arena, &place, "task.yaml", yaml.bytes);
    if (!error)
        error = write_file(arena, &place, "cases.csv", cases);
    if (!error)
        error = write_file(arena, &place, "desc.md", description(arena, &place));
    text_free(&yaml);
    if (error)
        return cli_fail(code, error);
    printf("%s: task.yaml, cases.csv and desc.md are to be filled in; then 'akgen task check %s'\n", place.dir,
           place.dir);
    return EXIT_PASS;
}
