/* What a kernel is compiled from: the sources of op_kernel and, whatever they are called, all files that they may include. The
 * source pass runs over each, and an overlay puts what it changed in the place of the author's file. */
#include "base/files.h"
#include "toolchain/build_internal.h"

#include <string.h>

static void no_entry(struct builder *builder, const char *source)
{
    struct arena *arena = builder->arena;
    const char *found = builder->prepared.found;
    struct diagnostic diagnostic = {
        .class = DIAG_SYNTAX,
        .error = true,
        .line = 1,
        .file = arena_printf(arena, "op_kernel/%s", strrchr(source, '/') + 1),
        .message = arena_printf(
            arena,
            "no entry point: the file must define extern \"C\" __global__ __aicore__ void %s(...); it defines %s",
            builder->project->entry, found ? found : "no __global__ function")};
    diagnose_add(arena, &builder->diagnostics, &diagnostic);
    builder->build->stage = BUILD_PARSE;
    builder->build->error = diagnostic.message;
}

/* A source that is compiled by itself, and not with the kernel. */
static bool is_another_unit(const char *path)
{
    static const char *const ends[] = {".cpp", ".cc", ".cxx", ".c"};
    static const char folder[] = "op_kernel/";
    bool unit = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        unit |= source_ends_with(path, ends[i]);
    return unit && strncmp(path, folder, sizeof folder - 1) != 0;
}

/* A file's text. A byte 0 is white space to the compiler, which warns of it. */
static struct akgen_error *read_source(struct arena *arena, const char *path, char **text)
{
    size_t length;
    struct akgen_error *error = files_read(arena, path, SOURCE_LIMIT, text, &length);
    for (size_t i = 0; !error && i < length; i++)
        if (!(*text)[i])
            (*text)[i] = ' ';
    return error;
}

struct akgen_error *build_prepare_kernel(struct builder *builder)
{
    struct arena *arena = builder->arena;
    const struct op_project *project = builder->project;
    const char **paths;
    size_t count;
    struct overlay overlay = {.file = arena_printf(arena, "%s/overlay.json", builder->work)};
    struct akgen_error *error = files_list(arena, project->dir, &paths, &count);
    for (size_t i = 0; i < count && !error; i++) {
        if (is_another_unit(paths[i]))
            continue;
        const char *path = arena_printf(arena, "%s/%s", project->dir, paths[i]);
        bool main_file = strcmp(path, project->kernel_source) == 0;
        struct prepared_source prepared;
        char *text;
        error = read_source(arena, path, &text);
        if (error)
            break;
        mentions_add(arena, &builder->mentions, text);
        prepare_source(arena, text, main_file ? project->entry : NULL, builder->options->sanitize_kernel_tiling,
                       &prepared);
        if (main_file)
            builder->prepared = prepared;
        if (!prepared.changed)
            continue;
        error = overlay_add(arena, &overlay, path, prepared.text);
    }
    builder->overlay = overlay.file;
    if (!error)
        error = overlay_write(arena, &overlay);
    if (!error && !builder->prepared.has_entry)
        no_entry(builder, project->kernel_source);
    return error;
}

bool kernel_mentions_any(const struct builder *builder, const char *const *names)
{
    for (; *names; names++)
        if (mentions_has(&builder->mentions, *names))
            return true;
    return false;
}
