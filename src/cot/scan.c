/* The scanner, and the set of names. */
#include "cot/scan.h"
#include "toolchain/tokens.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

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
    } else if (token_name_char(*at)) {
        scan->kind = isdigit((unsigned char)*at) ? SCAN_NUMBER : SCAN_NAME;
        /* 1'000 is one number. */
        while (token_name_char(*end) ||
               (scan->kind == SCAN_NUMBER && (*end == '.' || (*end == '\'' && token_name_char(end[1])))))
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
