/* The files of a project, by their content: the candidate's name, and the names of its objects in the cache. */
#include "base/digest.h"
#include "toolchain/build_internal.h"

#include <string.h>

bool source_ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* A tree that no author made is the candidate's mistake, unlike one that this machine cannot read. */
static void refuse(struct builder *builder, const char *error)
{
    builder->build->stage = BUILD_PARSE;
    builder->build->error = error;
}

static struct akgen_error *digest_sources(struct builder *builder)
{
    struct arena *arena = builder->arena;
    const struct build_options *options = builder->options;
    const char *project = options->digest, *question = "";
    struct akgen_error *error = project ? NULL : snapshot_digest(arena, builder->project->dir, &project);
    if (!error && options->host_override)
        error = snapshot_digest(arena, arena_printf(arena, "%s/op_host", options->host_override), &question);
    if (error)
        return error;
    struct digest *digest = digest_new_unforgeable();
    digest_string(digest, project);
    digest_string(digest, question);
    builder->build->source_hash = digest_finish(digest, arena);
    return NULL;
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
    struct digest *digest = digest_new_unforgeable();
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
