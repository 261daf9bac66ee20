/* The host part of a project: compiled, linked, and run in the jail for its OpDef. */
#include "base/clock.h"
#include "base/files.h"
#include "jail/host_job.h"
#include "toolchain/build_internal.h"

/* The question's op_host, for candidates that write only the kernel. */
static struct akgen_error *override_sources(struct builder *builder, const char ***sources, int *count)
{
    const char **paths;
    size_t n;
    const char *dir = arena_printf(builder->arena, "%s/op_host", builder->options->host_override);
    struct akgen_error *error = files_list(builder->arena, dir, &paths, &n);
    *sources = arena_alloc(builder->arena, (n + 1) * sizeof **sources);
    *count = 0;
    for (size_t i = 0; i < n && !error; i++)
        if (source_ends_with(paths[i], ".cpp") || source_ends_with(paths[i], ".cc"))
            (*sources)[(*count)++] = arena_printf(builder->arena, "%s/%s", dir, paths[i]);
    if (!error && !*count)
        error = error_new("%s: holds no .cpp file", dir);
    return error;
}

static void host_arguments(struct builder *builder, struct clang_args *args, const char *pch, const char *root,
                           const char *source, const char *object)
{
    struct arena *arena = builder->arena;
    args->header = pch;
    args->side = CLANG_HOST;
    clang_common_flags(arena, &builder->clang, CLANG_HOST, args);
    clang_add(arena, args, "-include-pch");
    clang_add(arena, args, pch);
    clang_add(arena, args, arena_printf(arena, "-ffile-prefix-map=%s/=", root)); /* the same object wherever it lies */
    clang_add(arena, args, arena_printf(arena, "-I%s/op_host", root));
    clang_add(arena, args, arena_printf(arena, "-I%s", root));
    clang_add(arena, args, "-c");
    clang_add(arena, args, source);
    clang_add(arena, args, "-o");
    clang_add(arena, args, object);
}

static struct akgen_error *compile_host(struct builder *builder, struct cache_entry *entry,
                                        struct diagnostic_list *list)
{
    struct arena *arena = builder->arena;
    const char **sources = builder->project->host_sources, *pch, *so = NULL;
    const char *root = builder->options->host_override ? builder->options->host_override : builder->project->dir;
    int count = builder->project->host_count;
    struct akgen_error *error = clang_precompiled(arena, &builder->clang, CLANG_HOST, &pch);
    if (!error && builder->options->host_override)
        error = override_sources(builder, &sources, &count);
    if (error)
        return error;
    struct compile *compiles = arena_alloc(arena, (size_t)count * sizeof *compiles);
    const char **objects = arena_alloc(arena, ((size_t)count + 1) * sizeof *objects);
    for (int i = 0; i < count; i++) {
        objects[i] = arena_printf(arena, "%s/host%d.o", builder->work, i);
        compiles[i].root = root;
        host_arguments(builder, &compiles[i].args, pch, root, sources[i], objects[i]);
    }
    compiles_run(builder, compiles, count);
    error = host_gnu_compile(builder, root, compiles, count);
    if (error)
        return error;
    entry->good = true;
    for (int i = 0; i < count; i++)
        entry->good &= compile_take(builder, &compiles[i], sources[i], list);
    if (entry->good)
        entry->good = link_objects(arena, &builder->clang, CLANG_HOST, false, objects, builder->work, &builder->places,
                                   list, &so);
    return list->broken ? error_new("%s", list->broken) : NULL;
}

struct akgen_error *build_host(struct builder *builder)
{
    double start = clock_seconds();
    struct diagnostic_list list = {0};
    struct cache_entry entry = {0};
    const char *key =
        build_object_key(builder, "host", builder->options->host_override ? builder->options->host_override : "");
    struct akgen_error *error = NULL;
    if (!build_look_up(builder, key, &entry, &list)) {
        error = compile_host(builder, &entry, &list);
        const char *so = arena_printf(builder->arena, "%s/host.so", builder->work);
        if (!error)
            error = cache_store(builder->arena, &builder->clang, key, entry.good ? so : NULL, &list, &entry);
    }
    build_merge(builder, &list);
    builder->build->host_so = entry.so;
    builder->build->host_seconds = clock_seconds() - start;
    if (!error && !entry.good) {
        builder->build->stage = BUILD_HOST;
        builder->build->error = "the host part does not compile";
    }
    return error;
}

void build_describe(struct builder *builder)
{
    struct build *build = builder->build;
    const struct host_job job = {.host_so = build->host_so,
                                 .soc = builder->options->soc,
                                 .seconds =
                                     builder->options->describe_seconds > 0 ? builder->options->describe_seconds : 30,
                                 .budget = builder->options->budget};
    struct host_result result;
    double start = clock_seconds();
    host_run(builder->arena, &job, &result);
    build->def = result.def;
    build->describe_seconds = clock_seconds() - start;
    if (result.status != JOB_OK) {
        build->stage = result.status == JOB_BROKEN ? BUILD_BROKEN : BUILD_DESCRIBE;
        build->cheated = result.status == JOB_CHEATED;
        build->error = result.error ? result.error : "the host part could not be run";
    }
}
