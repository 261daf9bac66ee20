/* The key of a server: where it comes from, and that it stays nowhere. */
#include "base/files.h"
#include "gen/client_internal.h"

#include <stdio.h>
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

/* One character of JSON text: itself, or one behind a backslash ("\\/", "\\u002f"), of which `length` becomes the bytes. */
static int character_at(const char *at, size_t *length)
{
    *length = 1;
    if (*at != '\\' || !at[1])
        return (unsigned char)*at;
    unsigned value;
    char digits[5] = "";
    strncat(digits, at[1] == 'u' ? at + 2 : "", 4);
    *length = strspn(digits, "0123456789abcdefABCDEF") == 4 ? 6 : 2;
    return *length == 2 ? (unsigned char)at[1] : sscanf(digits, "%4x", &value) == 1 ? (int)value : 0;
}

/* Bytes of the key that begins at `at`, as it is or as JSON has it; of its beginning, where the text ends there: a reply may
 * be cut off. 0: none does. */
static size_t key_at(const char *at, const char *key)
{
    size_t known = 0, length;
    const char *begin = at;
    for (; key[known] && *at; known++, at += length)
        if (*at == key[known])
            length = 1;
        else if (character_at(at, &length) != key[known])
            return 0;
    return !key[known] || known >= GEN_SHORTEST_SECRET ? (size_t)(at - begin) : 0;
}

char *gen_without_key(struct arena *arena, const char *text, const char *key)
{
    if (!key || strlen(key) < GEN_SHORTEST_SECRET)
        return arena_strdup(arena, text);
    struct text hidden = {0};
    text_add(&hidden, "");
    for (const char *first = (char[]){*key, '\\', '\0'}; *text;) {
        size_t plain = strcspn(text, first), length = text[plain] ? key_at(text + plain, key) : 0;
        text_append(&hidden, text, plain);
        text += plain + length;
        if (length)
            text_add(&hidden, "***");
        else if (*text)
            text_append(&hidden, text++, 1);
    }
    char *copy = arena_strndup(arena, hidden.bytes, hidden.length);
    text_free(&hidden);
    return copy;
}
