/* A build from beginning to end: digest the sources, host.so, the OpDef, then a kernel.so for each dtype
 * combination. */
#include "toolchain/build_internal.h"

static struct akgen_error *build_stages(struct builder *builder)
{
    struct build *build = builder->build;
    struct akgen_error *error = build_prepare_kernel(builder);
    if (!error && build->stage == BUILD_OK)
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
    struct builder builder = {.arena = arena, .project = project, .options = options, .build = build};
    *build = (struct build){.stage = BUILD_OK, .entry = arena_printf(arena, PREPARE_PREFIX "%s", project->entry)};
    builder.places = (struct diagnose_places){.project = project->dir,
                                              .other = options->host_override,
                                              .shifted = project->kernel_source,
                                              .prepared = &builder.prepared};
    struct akgen_error *error = clang_find(arena, options->cache_dir, &builder.clang);
    builder.places.headers = arena_printf(arena, "%s/include", toolchain_home());
    builder.clang.question = options->host_override;
    builder.clang.debug = options->debug;
    builder.clang.budget = options->budget;
    builder.clang.plain = options->plain_compiler;
    if (!error && options->seconds > 0)
        builder.clang.seconds = options->seconds;
    if (!error)
        error = sources_digest(&builder);
    if (!error && build->stage == BUILD_OK)
        error = work_make(arena, builder.clang.cache, &work);
    builder.work = builder.places.work = work.path;
    if (!error && build->stage == BUILD_OK)
        error = build_stages(&builder);
    work_remove(&work);
    build->diagnostics = builder.diagnostics.items;
    build->diagnostic_count = builder.diagnostics.count;
    return error;
}
