/* The address of a server. */
#include "gen/client_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The parts of a URL that are looked at; released with gen_curl.free(). */
struct parts {
    char *scheme, *host, *user, *password, *path, *query, *fragment;
};

static bool take_apart(CURLU *parsed, const char *url, struct parts *parts)
{
    const struct {
        CURLUPart part;
        char **to;
    } rows[] = {
        {CURLUPART_SCHEME, &parts->scheme},     {CURLUPART_HOST, &parts->host}, {CURLUPART_USER, &parts->user},
        {CURLUPART_PASSWORD, &parts->password}, {CURLUPART_PATH, &parts->path}, {CURLUPART_QUERY, &parts->query},
        {CURLUPART_FRAGMENT, &parts->fragment},
    };
    if (gen_curl.url_set(parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        gen_curl.url_get(parsed, rows[i].part, rows[i].to, 0);
    return true;
}

static void free_parts(struct parts *parts)
{
    char *const all[] = {parts->scheme, parts->host,  parts->user,    parts->password,
                         parts->path,   parts->query, parts->fragment};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gen_curl.free(all[i]);
}

/* Credentials of a user, or a parameter that sounds like some. */
static bool has_credentials(const struct parts *parts)
{
    static const char *const names[] = {"key", "token", "secret", "password", "sig", "auth"};
    bool found = parts->user || parts->password;
    for (size_t i = 0; parts->query && i < sizeof names / sizeof *names; i++)
        found |= strcasestr(parts->query, names[i]) != NULL;
    return found;
}

static struct akgen_error *check(const struct parts *parts)
{
    if (has_credentials(parts))
        return error_new("the URL of the server has credentials in it, which would end up in histories, logs and "
                         "databases; the key belongs into AKGEN_API_KEY or a file (--key-file)");
    if (!parts->scheme || (strcmp(parts->scheme, "http") != 0 && strcmp(parts->scheme, "https") != 0))
        return error_new("the URL of the server begins with '%.20s://'; expected http:// or https://",
                         parts->scheme ? parts->scheme : "");
    if (!parts->host || !*parts->host)
        return error_new("the URL of the server names no host; expected http://HOST:PORT/v1");
    if (parts->fragment)
        return error_new("the URL of the server has a '#'; expected http://HOST:PORT/v1");
    return NULL;
}

/* Takes `end` from the end of a path. */
static bool take_end(char *path, const char *end)
{
    size_t length = strlen(path), taken = strlen(end);
    bool ends = length >= taken && strcmp(path + length - taken, end) == 0;
    if (ends)
        path[length - taken] = '\0';
    return ends;
}

static const char *base_of(struct arena *arena, CURLU *parsed, const struct parts *parts, enum gen_api *api)
{
    char *path = arena_strdup(arena, parts->path ? parts->path : ""), *url = NULL;
    while (take_end(path, "/"))
        ;
    if (take_end(path, "/chat/completions"))
        *api = GEN_CHAT;
    else if (take_end(path, "/completions"))
        *api = GEN_COMPLETIONS;
    while (take_end(path, "/"))
        ;
    gen_curl.url_set(parsed, CURLUPART_PATH, *path ? path : "/v1", 0);
    gen_curl.url_get(parsed, CURLUPART_URL, &url, 0);
    const char *copy = arena_strdup(arena, url ? url : "");
    gen_curl.free(url);
    return copy;
}

struct akgen_error *gen_client_url(struct arena *arena, const char *given, const char **url, enum gen_api *api)
{
    struct parts parts = {0};
    struct akgen_error *error = gen_curl_load();
    if (error)
        return error;
    CURLU *parsed = gen_curl.url();
    if (!parsed)
        return error_new("libcurl has no memory");
    if (take_apart(parsed, given, &parts))
        error = check(&parts);
    else
        error = error_new("the URL of the server is none%s; expected http://HOST:PORT/v1",
                          strstr(given, "://") ? "" : " (it begins with neither http:// nor https://)");
    if (!error)
        *url = base_of(arena, parsed, &parts, api);
    free_parts(&parts);
    gen_curl.url_cleanup(parsed);
    return error;
}
