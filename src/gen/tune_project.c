/* The knobs of an operator project: the whole numbers that its author marks, wherever they stand,
 *
 *     constexpr int32_t TILE = 2048;   // tune: 1024, 4096, 8192
 *     #define BUFFERS 2                // tune
 *
 * A name that is marked in several files is one knob: host and kernel get the same value (docs/gen.md, Tuning). */
#include "gen/tune_internal.h"

#include "base/array.h"
#include "base/text.h"
#include "candidate/folder.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHOICES = 64, CHOICE_MOST = (1 << 30) - 1 };
static const char mark[] = "// tune";

/* ---- Marks */

/* The end of the mark on a line that has one; NULL: it has none. The word ends there: "// tuned" is a comment as any. */
static const char *find_mark(const char *line, const char *end)
{
    for (const char *at = line; at + sizeof mark - 1 <= end; at++) {
        const char *behind = at + sizeof mark - 1;
        if (memcmp(at, mark, sizeof mark - 1) == 0 &&
            (behind == end || *behind == ':' || isspace((unsigned char)*behind)))
            return behind;
    }
    return NULL;
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* "NAME = 2048;", "NAME 2048", "NAME{2048};" before the mark: the last whole number, and the name before it. False: there are none. */
static bool find_number(const char *line, const char *end, const char **name, size_t *name_length, const char **number,
                        size_t *digits)
{
    const char *at = end;
    while (at > line && !isdigit((unsigned char)at[-1]))
        at--;
    *number = at;
    while (*number > line && isdigit((unsigned char)(*number)[-1]))
        --*number;
    *digits = (size_t)(at - *number);
    const char *before = *number;
    while (before > line && !in_name(before[-1])) {
        before--;
        if (!strchr(" \t={(", *before))
            return false;
    }
    const char *first = before;
    while (first > line && in_name(first[-1]))
        first--;
    *name = first;
    *name_length = (size_t)(before - first);
    return *digits > 0 && *digits < 10 && before < *number && *name_length > 0 && !isdigit((unsigned char)*first);
}

/* The numbers behind the mark: ": 1024, 4096". */
static struct akgen_error *read_choices(struct arena *arena, const char *at, const char *end, const char *where,
                                        struct gen_knob *knob)
{
    int64_t *choices = arena_alloc(arena, MOST_CHOICES * sizeof *choices);
    while (at < end && isspace((unsigned char)*at))
        at++;
    if (at == end)
        return NULL;
    const char *text = arena_strndup(arena, at, (size_t)(end - at));
    bool right = *text == ':';
    for (const char *p = text + 1; right; p++) {
        char *behind;
        errno = 0;
        const long value = strtol(p, &behind, 10);
        while (isspace((unsigned char)*behind))
            behind++;
        right = behind != p && !errno && value > 0 && value <= CHOICE_MOST && knob->choice_count < MOST_CHOICES &&
                (!*behind || *behind == ',');
        if (right)
            choices[knob->choice_count++] = value;
        if (right && !*behind)
            break;
        p = behind;
    }
    knob->choices = choices;
    return right
               ? NULL
               : error_new("%s: '// tune' is followed by '%s', expected ':' and at most %d whole numbers from 1 to %d, "
                           "as '// tune: 1024, 2048'",
                           where, text, MOST_CHOICES, CHOICE_MOST);
}

static struct akgen_error *add_mark(struct arena *arena, struct gen_subject *subject, const struct gen_knob *read,
                                    struct tune_mark made, const char *where)
{
    /* The number of the knob of this name, which a mark before it may have made; -1: there is none. */
    int found = -1;
    for (int i = 0; i < subject->count && found < 0; i++)
        found = strcmp(subject->knobs[i].name, read->name) == 0 ? i : -1;
    made.knob = found;
    if (made.knob < 0) {
        made.knob = subject->count;
        ARRAY_ADD(arena, subject->knobs, subject->count, subject->capacity, *read);
    }
    struct gen_knob *knob = &subject->knobs[made.knob];
    for (int i = 0; i < subject->mark_count && knob->value != read->value; i++)
        if (subject->marks[i].knob == made.knob)
            return error_new("%s: '%s' is %" PRId64 ", and %" PRId64 " in %s:%d: a constant that is marked twice has "
                             "one value",
                             where, read->name, read->value, knob->value, subject->marks[i].file->path,
                             subject->marks[i].line);
    if (!knob->choices) {
        knob->choices = read->choices;
        knob->choice_count = read->choice_count;
    }
    ARRAY_ADD(arena, subject->marks, subject->mark_count, subject->mark_capacity, made);
    return NULL;
}

static struct akgen_error *read_line(struct arena *arena, struct gen_subject *subject, const struct op_file *file,
                                     const char *line, const char *end, int number)
{
    const char *behind = find_mark(line, end), *name, *digits;
    struct tune_mark made = {.file = file, .line = number};
    struct gen_knob knob = {.kind = GEN_KNOB_CONSTANT};
    size_t length;
    if (!behind)
        return NULL;
    const char *where = arena_printf(arena, "%s:%d", file->path, number);
    if (!find_number(line, behind - (sizeof mark - 1), &name, &length, &digits, &made.length))
        return error_new("%s: no name and whole number stand before '// tune', as constexpr int32_t TILE = 2048;",
                         where);
    knob.name = arena_strndup(arena, name, length);
    knob.value = strtol(digits, NULL, 10);
    made.at = (size_t)(digits - file->bytes);
    struct akgen_error *error = read_choices(arena, behind, end, where, &knob);
    return error ? error : add_mark(arena, subject, &knob, made, where);
}

struct akgen_error *tune_read_marks(struct arena *arena, struct gen_subject *subject, const struct op_file *file)
{
    struct akgen_error *error = NULL;
    const char *end = file->bytes + file->length;
    int number = 1;
    for (const char *line = file->bytes; line < end && !error; number++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        error = read_line(arena, subject, file, line, stop, number);
        line = stop + 1;
    }
    return error;
}

/* ---- The project */

/* Whether a compiler reads the file: marks stand nowhere else. */
static bool is_source(const char *path)
{
    static const char *const endings[] = {".cpp", ".h", ".hpp", ".cc", ".inc"};
    const char *ending = strrchr(path, '.');
    bool found = false;
    for (size_t i = 0; ending && !found && i < sizeof endings / sizeof *endings; i++)
        found = strcmp(ending, endings[i]) == 0;
    return found;
}

struct akgen_error *gen_subject_of_project(struct arena *arena, const char *dir, const struct task *task,
                                           struct gen_subject **subject)
{
    struct gen_subject *found = arena_alloc(arena, sizeof *found);
    struct candidate_source source;
    struct akgen_error *error = candidate_source_read(arena, NULL, dir, &source);
    *found = (struct gen_subject){.task = task, .is_project = true, .files = source.files};
    for (size_t i = 0; i < found->files.count && !error; i++)
        if (is_source(found->files.items[i].path))
            error = tune_read_marks(arena, found, &found->files.items[i]);
    if (!error && !found->count)
        error = error_new("%s: no constant of the project is marked to be turned, as constexpr int32_t TILE = 2048; // "
                          "tune (docs/gen.md, Tuning)",
                          dir);
    *subject = error ? NULL : found;
    return error;
}

/* The file with the values in the places of its marks. */
static struct op_file turned_file(struct arena *arena, const struct gen_subject *subject, const struct op_file *file,
                                  const int64_t *values)
{
    struct text text = {0};
    size_t from = 0;
    for (int i = 0; i < subject->mark_count; i++) {
        const struct tune_mark *made = &subject->marks[i];
        if (made->file != file)
            continue;
        text_append(&text, file->bytes + from, made->at - from);
        text_addf(&text, "%" PRId64, values[made->knob]);
        from = made->at + made->length;
    }
    text_append(&text, file->bytes + from, file->length - from);
    const struct op_file turned = {file->path, arena_copy(arena, text.bytes, text.length + 1), text.length};
    text_free(&text);
    return turned;
}

void tune_make_project(struct arena *arena, const struct gen_subject *subject, struct gen_setting *setting)
{
    struct op_file *files = arena_alloc(arena, (subject->files.count + 1) * sizeof *files);
    for (size_t i = 0; i < subject->files.count; i++)
        files[i] = turned_file(arena, subject, &subject->files.items[i], setting->values);
    candidate_of_files(arena, files, subject->files.count, &setting->candidate);
}
