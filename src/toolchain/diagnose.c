/* Reads what clang prints, one line per message:
 *     /path/file.cpp:12:5: error: no matching function for call to 'Muls'
 *     /path/file.h:40:7: note: in instantiation of function template specialization ... requested here
 * A message inside a header is moved to the innermost line of the project that led there. */
#include "base/array.h"
#include "base/text.h"
#include "toolchain/toolchain_internal.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIAGNOSTICS = 100, MAX_MESSAGE = 1000 };

struct clang_line {
    const char *file, *kind, *message; /* kind: "error", "fatal error", "warning", "note" */
    int line, column;
};

/* A line or column; the largest there is for one that no file has. */
static int read_number(const char *digits)
{
    long number = strtol(digits, NULL, 10);
    return number < INT_MAX ? (int)number : INT_MAX;
}

/* file:line:column: kind: message; false for any other line. Splits the text in place. */
static bool read_line(char *text, struct clang_line *read)
{
    static const char *const kinds[] = {": fatal error: ", ": error: ", ": warning: ", ": note: "};
    static const char *const names[] = {"fatal error", "error", "warning", "note"};
    char *at = NULL;
    for (int i = 0; i < 4; i++) {
        char *found = strstr(text, kinds[i]);
        if (found && (!at || found < at)) {
            at = found;
            read->kind = names[i];
            read->message = found + strlen(kinds[i]);
        }
    }
    if (!at)
        return false;
    *at = '\0';
    char *column = strrchr(text, ':');
    if (!column || !isdigit((unsigned char)column[1]))
        return false;
    *column = '\0';
    char *line = strrchr(text, ':');
    if (!line || !isdigit((unsigned char)line[1]))
        return false;
    *line = '\0';
    read->file = text;
    read->line = read_number(line + 1);
    read->column = read_number(column + 1);
    return true;
}

/* False if `..` leads out of the folder that the path begins in. */
static bool stays_below(const char *path)
{
    int depth = 0;
    for (const char *name = path; *name && depth >= 0; name += strcspn(name, "/"), name += strspn(name, "/")) {
        size_t length = strcspn(name, "/");
        if (length == 2 && strncmp(name, "..", 2) == 0)
            depth--;
        else if (length != 1 || *name != '.')
            depth++;
    }
    return depth >= 0;
}

static const char *source_text(struct arena *arena, const struct diagnose_places *places, const struct clang_line *line)
{
    const char *relative = source_inside(arena, line->file, places->project);
    if (*line->file != '/')
        return NULL;
    return toolchain_source_line(arena, places->files, relative ? relative : line->file, line->line);
}

static const char *project_path(const struct diagnose_places *places, const char *path)
{
    size_t length = places->project ? strlen(places->project) : 0;
    return length && strncmp(path, places->project, length) == 0 && path[length] == '/' &&
                   stays_below(path + length + 1)
               ? path + length + 1
               : NULL;
}

/* What people call a file: relative to the project; by its last name if it is one of our headers or of the system's. NULL: no
 * compiler of ours opens such a file, #line named it. */
static const char *known_name(struct arena *arena, const struct diagnose_places *places, const char *file)
{
    static const char *const system[] = {"/usr", "/lib"};
    const char *relative = project_path(places, file), *slash = strrchr(file, '/');
    bool known = *file == '<' || (places->headers && source_inside(arena, file, places->headers)) ||
                 (places->work && source_inside(arena, file, places->work));
    for (size_t i = 0; i < sizeof system / sizeof *system && !known; i++)
        known = source_inside(arena, file, system[i]) != NULL;
    return relative ? relative : !known ? NULL : slash ? slash + 1 : file;
}

static void set_place(struct arena *arena, const struct diagnose_places *places, const struct clang_line *line,
                      struct diagnostic *diagnostic)
{
    const char *name = known_name(arena, places, line->file);
    diagnostic->file = name ? arena_strdup(arena, name) : "";
    if (!name)
        return;
    diagnostic->line = line->line;
    diagnostic->column = line->column;
    if (!places->shifted || strcmp(places->shifted, line->file) != 0)
        return;
    for (int i = 0; i < places->prepared->shift_count; i++) {
        const struct source_shift *shift = &places->prepared->shifts[i];
        if (shift->line == line->line && line->column > shift->column) {
            int moved = line->column - shift->longer;
            diagnostic->column = moved < shift->column ? shift->column : moved;
        }
    }
}

const char *diagnose_without_folders(struct arena *arena, const char *message, const struct diagnose_places *places)
{
    const char *const folders[] = {places->project, places->work};
    char *clean = arena_strdup(arena, message);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = folders[i] ? strlen(folders[i]) : 0;
        for (char *at = clean; length && (at = strstr(at, folders[i]));)
            if (at[length] == '/')
                memmove(at, at + length + 1, strlen(at + length + 1) + 1);
            else
                at += length;
    }
    return clean;
}

/* The message without our renaming, cut, and with the reason why the nearest candidate was not taken. */
static const char *tidy_message(struct arena *arena, const struct diagnose_places *places, const char *message,
                                const char *notes)
{
    static const char device[] = "__device__", aicore[] = "__aicore__";
    _Static_assert(sizeof device == sizeof aicore, "one replaces the other in place");
    struct text out = {0};
    text_append(&out, message, strnlen(message, MAX_MESSAGE));
    const char *candidate = strstr(notes, "candidate ");
    if (candidate)
        text_addf(&out, " (%.*s)",
                  (int)strcspn(candidate, "\n") < MAX_MESSAGE ? (int)strcspn(candidate, "\n") : MAX_MESSAGE, candidate);
    size_t prefix = strlen(PREPARE_PREFIX);
    for (char *at = out.bytes; at && (at = strstr(at, PREPARE_PREFIX));)
        memmove(at, at + prefix, strlen(at + prefix) + 1);
    /* The mode in which kernels are compiled calls device code by another name. */
    for (char *at = out.bytes; at && (at = strstr(at, device));)
        memcpy(at, aicore, sizeof aicore - 1);
    const char *result = diagnose_without_folders(arena, out.bytes ? out.bytes : "", places);
    text_free(&out);
    return result;
}

/* True if the list takes it: there is room, and it does not say so already. */
static bool is_news(const struct diagnostic_list *list, const struct diagnostic *diagnostic)
{
    for (int i = 0; i < list->count; i++) {
        const struct diagnostic *old = &list->items[i];
        if (old->line == diagnostic->line && old->error == diagnostic->error &&
            strcmp(old->message, diagnostic->message) == 0 && strcmp(old->file, diagnostic->file) == 0)
            return false;
    }
    return list->count < MAX_DIAGNOSTICS;
}

void diagnose_add(struct arena *arena, struct diagnostic_list *list, const struct diagnostic *diagnostic)
{
    if (is_news(list, diagnostic))
        ARRAY_ADD(arena, list->items, list->count, list->capacity, *diagnostic);
}

/* "In file included from /path/file.cpp:12:" */
static bool read_include(char *text, struct clang_line *read)
{
    static const char mark[] = "In file included from ";
    char *colon = strrchr(text, ':');
    if (strncmp(text, mark, sizeof mark - 1) != 0 || !colon || colon[1])
        return false;
    *colon = '\0';
    colon = strrchr(text, ':');
    if (!colon)
        return false;
    *colon = '\0';
    *read = (struct clang_line){.file = text + sizeof mark - 1,
                                .line = isdigit((unsigned char)colon[1]) ? read_number(colon + 1) : 0,
                                .column = 1};
    return true;
}

/* One message and the notes that follow it. */
struct message_group {
    struct clang_line head, place; /* place: where the project led to it */
    struct text notes;
    bool open, placed;
    bool included; /* placed at an #include: a note that names the line that uses the header is better */
    const char *unsupported;
};

static void finish_group(struct arena *arena, const struct diagnose_places *places, struct message_group *group,
                         struct diagnostic_list *list)
{
    const char *notes = group->notes.bytes ? group->notes.bytes : "";
    bool error = group->open && strcmp(group->head.kind, "warning") != 0;
    struct arena scratch = {0};
    /* Warnings that no line of the project causes are not the candidate's. */
    if (group->open && (error || group->placed)) {
        const struct clang_line *place = group->placed ? &group->place : &group->head;
        struct diagnostic diagnostic = {.error = error, .class = classify(group->head.message, notes)};
        set_place(&scratch, places, place, &diagnostic);
        diagnostic.message = tidy_message(&scratch, places, group->head.message, notes);
        diagnostic.unsupported = group->unsupported;
        /* Only what is kept costs a look at its file. */
        if (is_news(list, &diagnostic)) {
            diagnostic.file = arena_strdup(arena, diagnostic.file);
            diagnostic.message = arena_strdup(arena, diagnostic.message);
            diagnostic.text = source_text(arena, places, place);
            if (!group->unsupported && project_path(places, group->head.file))
                diagnostic.unsupported = lacking_written(group->head.message, diagnostic.text, diagnostic.column);
            diagnose_add(arena, list, &diagnostic);
        }
    }
    arena_free(&scratch);
    text_free(&group->notes);
    *group = (struct message_group){0};
}

/* `include` is the innermost line of the project that included the file of the message; its file is NULL if none
 * did. */
static void take_line(struct arena *arena, const struct diagnose_places *places, const struct clang_line *line,
                      const struct clang_line *include, struct message_group *group, struct diagnostic_list *list)
{
    bool ours = project_path(places, line->file) != NULL;
    if (strcmp(line->kind, "note") != 0) {
        finish_group(arena, places, group, list);
        *group = (struct message_group){.head = *line, .place = *line, .open = true, .placed = ours};
        group->unsupported = lacking_declared(arena, places->headers, line->message, line->file, line->line);
        if (!ours && include->file) {
            group->place = *include;
            group->placed = group->included = strcmp(line->kind, "warning") != 0;
        }
        return;
    }
    text_addf(&group->notes, "%s\n", line->message);
    if (group->open && !group->unsupported)
        group->unsupported = lacking_declared(arena, places->headers, group->head.message, line->file, line->line);
    bool leads = strstr(line->message, "requested here") || strstr(line->message, "in call to") ||
                 strstr(line->message, "called by") || strstr(line->message, "expanded from macro");
    if ((!group->placed || group->included) && ours && leads) {
        group->place = *line;
        group->placed = true;
        group->included = false;
    }
}

void diagnose(struct arena *arena, const char *output, const struct diagnose_places *places,
              struct diagnostic_list *list)
{
    struct arena scratch = {0};
    char *copy = arena_strdup(&scratch, output), *rest = copy;
    struct message_group group = {0};
    struct clang_line line, include = {0};
    text_make_utf8(copy);
    for (char *text; (text = strsep(&rest, "\n"));) {
        if (read_include(text, &line)) {
            if (project_path(places, line.file))
                include = line;
        } else if (read_line(text, &line)) {
            take_line(arena, places, &line, &include, &group, list);
            include = (struct clang_line){0};
        }
    }
    finish_group(arena, places, &group, list);
    arena_free(&scratch);
}
