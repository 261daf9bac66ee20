/* Objects by the digest of everything that went into them. objects/<key>.json is written last and names the digest of
 * objects/<key>-<digest>.so: an entry that was cut off or changed does not match and is made again. */
#include "base/digest.h"
#include "base/files.h"
#include "toolchain/toolchain_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OBJECT_LIMIT = 256 << 20 };

static const char *entry_path(struct arena *arena, const struct clang *clang, const char *key, const char *suffix)
{
    return arena_printf(arena, "%s/objects/%.2s/%s%s", clang->cache, key, key, suffix);
}

static const char *object_path(struct arena *arena, const struct clang *clang, const char *key, const char *digest)
{
    return entry_path(arena, clang, key, arena_printf(arena, "-%.16s.so", digest));
}

static const char *file_digest(struct arena *arena, const char *path)
{
    struct arena scratch = {0};
    char *bytes;
    size_t length;
    struct akgen_error *error = files_read(&scratch, path, OBJECT_LIMIT, &bytes, &length);
    const char *result = NULL;
    if (!error) {
        struct digest *digest = digest_new();
        digest_bytes(digest, bytes, length);
        result = digest_finish(digest, arena);
    }
    error_free(error);
    arena_free(&scratch);
    return result;
}

static const char *text_of(struct arena *arena, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? arena_strdup(arena, text) : NULL;
}

static bool read_diagnostic(struct arena *arena, const json_t *json, struct diagnostic *diagnostic)
{
    *diagnostic = (struct diagnostic){
        .class = (enum diagnostic_class)json_integer_value(json_object_get(json, "class")),
        .error = json_is_true(json_object_get(json, "error")),
        .file = text_of(arena, json, "file"),
        .line = (int)json_integer_value(json_object_get(json, "line")),
        .column = (int)json_integer_value(json_object_get(json, "column")),
        .message = text_of(arena, json, "message"),
        .text = text_of(arena, json, "text"),
        .unsupported = text_of(arena, json, "unsupported"),
    };
    return diagnostic->file && diagnostic->message && (unsigned)diagnostic->class <= DIAG_MACRO;
}

bool cache_load(struct arena *arena, const struct clang *clang, const char *key, struct cache_entry *entry,
                struct diagnostic_list *list)
{
    enum { LARGEST = 64 << 20 };
    char *text;
    size_t length;
    struct akgen_error *error = files_read(arena, entry_path(arena, clang, key, ".json"), LARGEST, &text, &length);
    json_t *json = error ? NULL : json_loadb(text, length, 0, NULL);
    error_free(error);
    const char *digest = json_string_value(json_object_get(json, "so"));
    json_t *good = json_object_get(json, "good"), *diagnostics = json_object_get(json, "diagnostics"), *item;
    bool sound = json_is_boolean(good) && json_is_array(diagnostics);
    *entry = (struct cache_entry){.good = json_is_true(good)};
    if (sound && digest) {
        entry->so = object_path(arena, clang, key, digest);
        const char *found = file_digest(arena, entry->so);
        sound = found && strcmp(found, digest) == 0;
    }
    struct diagnostic diagnostic;
    size_t i;
    json_array_foreach(diagnostics, i, item) sound = sound && read_diagnostic(arena, item, &diagnostic);
    if (sound)
        json_array_foreach(diagnostics, i, item)
        {
            read_diagnostic(arena, item, &diagnostic);
            diagnose_add(arena, list, &diagnostic);
        }
    json_decref(json);
    if (sound) {
        cache_used(entry_path(arena, clang, key, ".json"));
        if (entry->so)
            cache_used(entry->so);
    }
    return sound;
}

/* Moves an object to its place. A sound one that is there already stays: another process that built the same may be
 * about to load it, in a jail that was opened for that very file and not for its name. */
static struct akgen_error *put_object(struct arena *arena, const char *so, const char *digest, const char *path)
{
    if (link(so, path) == 0)
        return NULL;
    const char *found = errno == EEXIST ? file_digest(arena, path) : NULL;
    if (found && strcmp(found, digest) == 0)
        return NULL;
    return rename(so, path) ? error_new("%s: %s", path, strerror(errno)) : NULL;
}

struct akgen_error *cache_store(struct arena *arena, const struct clang *clang, const char *key, const char *so,
                                const struct diagnostic_list *list, struct cache_entry *entry)
{
    if (list->late)
        return NULL;
    struct akgen_error *error = files_make_directory(arena_printf(arena, "%s/objects/%.2s", clang->cache, key));
    if (error)
        return error;
    json_t *diagnostics = json_array();
    for (int i = 0; i < list->count; i++) {
        const struct diagnostic *d = &list->items[i];
        json_array_append_new(diagnostics,
                              json_pack("{si sb ss si si ss ss* ss*}", "class", d->class, "error", d->error, "file",
                                        d->file, "line", d->line, "column", d->column, "message", d->message, "text",
                                        d->text, "unsupported", d->unsupported));
    }
    const char *digest = so ? file_digest(arena, so) : NULL;
    if (so && !digest)
        error = error_new("%s: cannot be read", so);
    else if (so)
        error = put_object(arena, so, digest, entry->so = object_path(arena, clang, key, digest));
    json_t *json = json_pack("{sb so ss*}", "good", entry->good, "diagnostics", diagnostics, "so", digest);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    if (!error && text)
        error = files_write(entry_path(arena, clang, key, ".json"), text, strlen(text));
    struct stat status;
    uint64_t stored = text ? strlen(text) : 0;
    if (!error && entry->so && !stat(entry->so, &status))
        stored += (uint64_t)status.st_size;
    cache_keep_bound(arena, clang, stored);
    free(text);
    json_decref(json);
    return error;
}
