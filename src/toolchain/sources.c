/* The files of a project, by their content: the candidate's name, and the names of its objects in the cache. */
#include "base/digest.h"
#include "base/files.h"
#include "toolchain/build_internal.h"

#include <string.h>
#include <sys/stat.h>

bool source_ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

bool source_is(const char *path)
{
    static const char *const ends[] = {".cpp", ".cc",  ".cxx", ".c",   ".h",  ".hpp",
                                       ".hh",  ".hxx", ".inc", ".inl", ".tpp"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (source_ends_with(path, ends[i]))
            return true;
    return false;
}

/* A tree that no author made is the candidate's mistake, unlike one that this machine cannot read. */
static void refuse(struct builder *builder, const char *error)
{
    builder->build->stage = BUILD_PARSE;
    builder->build->error = error;
}

static bool too_large(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size > SOURCE_LIMIT;
}

static struct akgen_error *digest_tree(struct builder *builder, struct digest *digest, const char *dir)
{
    const char **paths;
    size_t count;
    struct akgen_error *error = files_list(builder->arena, dir, &paths, &count);
    for (size_t i = 0; i < count && !error; i++) {
        if (!source_is(paths[i]))
            continue;
        struct arena scratch = {0};
        char *bytes;
        size_t length;
        const char *path = arena_printf(&scratch, "%s/%s", dir, paths[i]);
        if (too_large(path)) {
            refuse(builder,
                   arena_printf(builder->arena, "%s: a source file of more than %d bytes", paths[i], SOURCE_LIMIT));
            arena_free(&scratch);
            return NULL;
        }
        error = files_read(&scratch, path, SOURCE_LIMIT, &bytes, &length);
        digest_string(digest, paths[i]);
        if (!error) {
            digest_bytes(digest, &length, sizeof length);
            digest_bytes(digest, bytes, length);
        }
        arena_free(&scratch);
    }
    return error;
}

static struct akgen_error *digest_sources(struct builder *builder)
{
    struct digest *digest = digest_new();
    /* The whole project, because an include may reach anything in it. */
    struct akgen_error *error = digest_tree(builder, digest, builder->project->dir);
    if (!error && builder->options->host_override)
        error =
            digest_tree(builder, digest, arena_printf(builder->arena, "%s/op_host", builder->options->host_override));
    digest_string(digest, builder->project->options ? builder->project->options : "");
    builder->build->source_hash = digest_finish(digest, builder->arena);
    return error;
}

struct akgen_error *sources_digest(struct builder *builder)
{
    struct akgen_error *error = digest_sources(builder);
    if (!error || !error->of_the_file)
        return error;
    refuse(builder, arena_strdup(builder->arena, error->message));
    error_free(error);
    return NULL;
}

const char *build_object_key(struct builder *builder, const char *part, const char *config)
{
    struct digest *digest = digest_new();
    digest_string(digest, builder->clang.headers);
    digest_string(digest, PREPARE_MACROS);
    digest_string(digest, builder->build->source_hash);
    digest_string(digest, builder->options->no_cache ? "uncached" : "cached");
    digest_string(digest, builder->options->debug ? "debug" : "");
    digest_string(digest, builder->options->sanitize_kernel_tiling ? "tiling" : "");
    digest_string(digest, part);
    digest_string(digest, config);
    return digest_finish(digest, builder->arena);
}

bool build_look_up(struct builder *builder, const char *key, struct cache_entry *entry, struct diagnostic_list *list)
{
    return !builder->options->no_cache && cache_load(builder->arena, &builder->clang, key, entry, list);
}

void build_merge(struct builder *builder, const struct diagnostic_list *list)
{
    for (int i = 0; i < list->count; i++)
        diagnose_add(builder->arena, &builder->diagnostics, &list->items[i]);
}
