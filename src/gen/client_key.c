/* The key of a server: where it comes from, and that it stays nowhere. */
#include "base/files.h"
#include "gen/client_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_KEY_FILE = 1 << 16 };

/* A key goes into a header: characters of ASCII that show, no spaces. */
static struct akgen_error *check(const char *key, const char *from)
{
    for (const char *at = key; *at; at++)
        if (*at <= ' ' || *at > '~')
            return error_new("%s: character %td of the key is a space, a control character or none of ASCII", from,
                             at - key + 1);
    return *key ? NULL : error_new("%s is empty; a key was expected", from);
}

struct akgen_error *gen_client_key(struct arena *arena, const char *file, const char **key)
{
    static const char *const names[] = {"AKGEN_API_KEY", "OPENAI_API_KEY"};
    *key = NULL;
    for (size_t i = 0; !file && !*key && i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) {
            struct akgen_error *error = check(value, names[i]);
            if (error)
                return error;
            *key = arena_strdup(arena, value);
        }
    }
    if (!file)
        return NULL;
    char *text;
    size_t length;
    struct akgen_error *error = files_read(arena, file, LONGEST_KEY_FILE, &text, &length);
    if (error) { /* not its message: who mistakes --key-file for the key has written the key there */
        error_free(error);
        return error_new("--key-file: there is no file of this name that can be read; its first line would be the key");
    }
    text += strspn(text, " \t");
    text[strcspn(text, "\r\n")] = '\0';
    for (size_t end = strlen(text); end && strchr(" \t", text[end - 1]);)
        text[--end] = '\0';
    *key = text;
    return check(text, "the first line of --key-file");
}

char *gen_without_key(struct arena *arena, const char *text, const char *key)
{
    size_t length = key ? strlen(key) : 0;
    const char *found = length >= GEN_SHORTEST_SECRET ? strstr(text, key) : NULL;
    if (!found)
        return arena_strdup(arena, text);
    struct text hidden = {0};
    for (; found; text = found + length, found = strstr(text, key)) {
        text_append(&hidden, text, (size_t)(found - text));
        text_add(&hidden, "***");
    }
    text_add(&hidden, text);
    char *copy = arena_strdup(arena, hidden.bytes);
    text_free(&hidden);
    return copy;
}
