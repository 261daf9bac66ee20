/* The host part of a project: compiled, linked, and run in the jail for its OpDef. */
#include "base/clock.h"
#include "base/files.h"
#include "jail/host_job.h"
#include "jail/wire.h"
#include "toolchain/build_internal.h"

#include <string.h>

/* The sources of the question's op_host, for candidates that write only the kernel. */
static struct akgen_error *list_question(struct arena *arena, const struct op_files *files, const char ***sources,
                                         int *count)
{
    static const char folder[] = "op_host/";
    *sources = arena_alloc(arena, (files->count + 1) * sizeof **sources);
    *count = 0;
    for (size_t i = 0; i < files->count; i++) {
        const char *path = files->items[i].path;
        if (strncmp(path, folder, sizeof folder - 1) == 0 &&
            (source_ends_with(path, ".cpp") || source_ends_with(path, ".cc")))
            (*sources)[(*count)++] = path;
    }
    return *count ? NULL : error_new("the question's op_host holds no .cpp file");
}

static void host_arguments(struct builder *builder, struct clang_args *args, const char *pch, const char *source,
                           const char *object)
{
    struct arena *arena = builder->arena;
    const char *root = builder->view.root;
    args->header = pch;
    args->side = CLANG_HOST;
    clang_common_flags(arena, &builder->clang, CLANG_HOST, args);
    clang_add(arena, args, "-include-pch");
    clang_add(arena, args, pch);
    clang_add(arena, args, arena_printf(arena, "-ffile-prefix-map=%s/=", root)); /* the same object wherever it lies */
    clang_add(arena, args, arena_printf(arena, "-I%s/op_host", root));
    clang_add(arena, args, arena_printf(arena, "-I%s", root));
    clang_add(arena, args, "-c");
    clang_add(arena, args, source_view_path(arena, &builder->view, source));
    clang_add(arena, args, "-o");
    clang_add(arena, args, object);
}

static struct akgen_error *compile_host(struct builder *builder, struct cache_entry *entry,
                                        struct diagnostic_list *list)
{
    struct arena *arena = builder->arena;
    const struct op_files *host = builder->options->host, *files = host ? host : builder->project->files;
    const char **sources = builder->project->host_sources, *pch, *so = NULL;
    int count = builder->project->host_count;
    struct akgen_error *error = clang_precompiled(arena, &builder->clang, CLANG_HOST, &pch);
    if (!error && host)
        error = list_question(arena, host, &sources, &count);
    if (error)
        return error;
    build_begin_stage(builder, "host", files, files);
    struct compile *compiles = arena_alloc(arena, (size_t)count * sizeof *compiles);
    const char **objects = arena_alloc(arena, ((size_t)count + 1) * sizeof *objects);
    for (int i = 0; i < count; i++) {
        objects[i] = arena_printf(arena, "%s/host%d.o", builder->work, i);
        host_arguments(builder, &compiles[i].args, pch, sources[i], objects[i]);
    }
    compiles_run(builder, compiles, count);
    host_gnu_compile(builder, compiles, count);
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
    const char *key = build_object_key(builder, "host", builder->options->host ? "question" : "");
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

/* Loads the OpDef that an earlier run of the same host part registered. Returns false if the cache has none. */
static bool find_description(struct builder *builder, const char *key, struct host_result *result)
{
    struct diagnostic_list list = {0};
    struct cache_entry entry;
    char *bytes;
    size_t length;
    if (!build_look_up(builder, key, &entry, &list) || !entry.so)
        return false;
    struct akgen_error *error = files_read(builder->arena, entry.so, HOST_ANSWER_LIMIT, &bytes, &length);
    if (!error)
        error = host_result_decode(builder->arena, bytes, length, result);
    const bool good = !error && result->status == JOB_OK && result->def.type;
    error_free(error);
    return good;
}

/* Stores the OpDef in the object cache. On failure the next build runs the host part again. */
static void keep_description(struct builder *builder, const char *key, const struct host_result *result)
{
    const struct diagnostic_list list = {0};
    struct cache_entry entry = {.good = true};
    const char *path = arena_printf(builder->arena, "%s/description", builder->work);
    size_t length;
    const void *bytes = wire_encode(builder->arena, WIRE_HOST_RESULT, result, &length);
    struct akgen_error *error = files_write(path, bytes, length);
    if (!error)
        error = cache_store(builder->arena, &builder->clang, key, path, &list, &entry);
    error_free(error);
}

void build_describe(struct builder *builder)
{
    struct build *build = builder->build;
    const struct host_job job = {.host_so = build->host_so,
                                 .soc = builder->options->soc,
                                 .seconds =
                                     builder->options->describe_seconds > 0 ? builder->options->describe_seconds : 30,
                                 .budget = builder->options->budget};
    struct host_result result = {0};
    double start = clock_seconds();
    const char *key = build_object_key(builder, "description",
                                       arena_printf(builder->arena, "%s %s", build->host_so, job.soc ? job.soc : ""));
    if (!find_description(builder, key, &result)) {
        host_run(builder->arena, &job, &result);
        if (result.status == JOB_OK && !builder->options->no_cache)
            keep_description(builder, key, &result);
    }
    build->def = result.def;
    build->describe_seconds = clock_seconds() - start;
    if (result.status != JOB_OK) {
        build->stage = result.status == JOB_BROKEN ? BUILD_BROKEN : BUILD_DESCRIBE;
        build->cheated = result.status == JOB_CHEATED;
        build->error = result.error ? result.error : "the host part could not be run";
    }
}
