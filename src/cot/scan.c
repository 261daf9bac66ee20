/* The scanner, and the set of names. */
#include "cot/scan.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind spaces and comments; `fresh`: the line has nothing before. */
static const char *behind_blanks(const char *at, bool *fresh)
{
    for (;;) {
        if (*at == '\n')
            *fresh = true;
        if (isspace((unsigned char)*at) || (*at == '\\' && at[1] == '\n')) {
            at++;
        } else if (strncmp(at, "//", 2) == 0) {
            at += strcspn(at, "\n");
        } else if (strncmp(at, "/*", 2) == 0) {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else
            return at;
    }
}

static const char *behind_string(const char *at)
{
    for (char quote = *at++; *at && *at != quote && *at != '\n'; at++)
        at += *at == '\\' && at[1];
    return *at ? at + 1 : at;
}

/* R"mark(...)mark" */
static const char *behind_raw_string(struct scan *scan, const char *at)
{
    size_t length = strcspn(at, "(");
    for (const char *end = at; (end = strchr(end, ')')); end++)
        if (strncmp(end + 1, at + 1, length - 1) == 0 && end[length] == '"')
            return end + length + 1;
    scan->kind = SCAN_OTHER;
    return at;
}

static const char *behind_directive(const char *at)
{
    for (; *at && *at != '\n'; at++)
        if (*at == '\\' && at[1] == '\n')
            at++;
        else if (strncmp(at, "/*", 2) == 0) {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 1 : at + strlen(at) - 1;
        }
    return at;
}

bool scan_next(struct scan *scan)
{
    bool fresh = !scan->begin || scan->kind == SCAN_DIRECTIVE;
    const char *at = behind_blanks(scan->at, &fresh), *end = at;
    scan->begin = at;
    if (!*at)
        return false;
    if (*at == '#' && fresh) {
        scan->kind = SCAN_DIRECTIVE;
        end = behind_directive(at);
    } else if (*at == '"' || *at == '\'') {
        scan->kind = SCAN_STRING;
        end = behind_string(at);
    } else if (is_of_name(*at)) {
        scan->kind = isdigit((unsigned char)*at) ? SCAN_NUMBER : SCAN_NAME;
        /* 1'000 is one number. */
        while (is_of_name(*end) || (scan->kind == SCAN_NUMBER && (*end == '.' || (*end == '\'' && is_of_name(end[1])))))
            end++;
        if (end == at + 1 && *at == 'R' && *end == '"') {
            scan->kind = SCAN_STRING;
            end = behind_raw_string(scan, end);
        }
    } else {
        scan->kind = SCAN_OTHER;
        end = at + 1;
    }
    scan->at = end;
    scan->length = (size_t)(end - at);
    return true;
}

bool scan_is(const struct scan *scan, const char *text)
{
    return strlen(text) == scan->length && memcmp(scan->begin, text, scan->length) == 0;
}

static size_t slot_of(const struct scan_names *names, const char *name, size_t length)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
    size_t slot = hash % names->capacity;
    while (names->slots[slot] && (strncmp(names->slots[slot], name, length) != 0 || names->slots[slot][length]))
        slot = (slot + 1) % names->capacity;
    return slot;
}

const char *scan_names_find(const struct scan_names *names, const char *name, size_t length)
{
    return names->capacity ? names->slots[slot_of(names, name, length)] : NULL;
}

const char *scan_names_add(struct arena *arena, struct scan_names *names, const char *name, size_t length)
{
    enum { FIRST = 8 };
    if (2 * names->count >= names->capacity) {
        struct scan_names grown = {.capacity = names->capacity ? 2 * names->capacity : FIRST, .count = names->count};
        grown.slots = arena_alloc(arena, grown.capacity * sizeof *grown.slots);
        for (size_t i = 0; i < names->capacity; i++)
            if (names->slots[i])
                grown.slots[slot_of(&grown, names->slots[i], strlen(names->slots[i]))] = names->slots[i];
        *names = grown;
    }
    size_t slot = slot_of(names, name, length);
    if (!names->slots[slot]) {
        names->slots[slot] = arena_strndup(arena, name, length);
        names->count++;
    }
    return names->slots[slot];
}
