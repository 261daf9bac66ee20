/* A build from beginning to end: digest the sources, host.so, the OpDef, then a kernel.so for each dtype
 * combination. */
#include "base/files.h"
#include "toolchain/build_internal.h"
#include "base/digest.h"

#include <string.h>

void build_begin_stage(struct builder *builder, const char *name, const struct op_files *compiled,
                       const struct op_files *written)
{
    source_view_close(&builder->view);
    source_view_open(builder->arena, &builder->view, arena_printf(builder->arena, "%s/%s", builder->folder, name),
                     compiled);
    builder->places.project = builder->view.root;
    builder->places.files = written;
}

static struct akgen_error *build_stages(struct builder *builder)
{
    struct build *build = builder->build;
    struct akgen_error *error = NULL;
    build_prepare_kernel(builder);
    if (build->stage == BUILD_OK)
        error = build_host(builder);
    if (!error && build->stage == BUILD_OK)
        build_describe(builder);
    if (error || build->stage != BUILD_OK)
        return error;
    builder->tiling_header = arena_printf(builder->arena,
                                          "%s#ifdef AKGEN_TILING_DEFAULT_STRUCT\n"
                                          "typedef AKGEN_TILING_DEFAULT_STRUCT akgen_tiling_default;\n#endif\n",
                                          op_tiling_header(builder->arena, &build->def));
    return build_kernels(builder);
}

struct akgen_error *toolchain_build(struct arena *arena, const struct op_project *project,
                                    const struct build_options *options, struct build *build)
{
    struct work_directory work = {0};
    struct builder builder = {
        .arena = arena, .project = project, .options = options, .build = build, .view = {.bytes = -1}};
    *build = (struct build){.stage = BUILD_OK, .entry = arena_printf(arena, PREPARE_PREFIX "%s", project->entry)};
    struct akgen_error *error = clang_find(arena, options->cache_dir, &builder.clang);
    builder.places.headers = arena_printf(arena, "%s/include", toolchain_home());
    builder.clang.debug = options->debug;
    builder.clang.budget = options->budget;
    builder.clang.plain = options->plain_compiler;
    if (!error && options->seconds > 0)
        builder.clang.seconds = options->seconds;
    sources_digest(&builder);
    if (!error)
        error = work_make(arena, builder.clang.cache, &work);
    builder.folder = work.path;
    builder.work = builder.places.work = arena_printf(arena, "%s/made", work.path);
    if (!error)
        error = files_make_directory(builder.work);
    if (!error)
        error = build_stages(&builder);
    source_view_close(&builder.view);
    work_remove(&work);
    build->diagnostics = builder.diagnostics.items;
    build->diagnostic_count = builder.diagnostics.count;
    return error;
}

/* What is built, by its content: the names of its objects in the cache. */

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
