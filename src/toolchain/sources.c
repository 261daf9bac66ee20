/* What is built, by its content: the names of its objects in the cache. */
#include "base/digest.h"
#include "toolchain/build_internal.h"

#include <string.h>

bool source_ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

void sources_digest(struct builder *builder)
{
    const struct op_files *host = builder->options->host;
    struct digest *digest = digest_new_unforgeable();
    digest_string(digest, op_files_digest(builder->arena, builder->project->files));
    digest_string(digest, host ? op_files_digest(builder->arena, host) : "");
    builder->build->source_hash = digest_finish(digest, builder->arena);
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
