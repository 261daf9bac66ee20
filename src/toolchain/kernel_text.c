/* What a kernel is compiled from: the sources of op_kernel and, whatever they are called, all files that they may include. The
 * source pass runs over each, and what it changed takes the place of the author's file. */
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
static char *text_of(struct arena *arena, const struct op_file *file)
{
    char *text = arena_copy(arena, file->bytes, file->length + 1);
    for (size_t i = 0; i < file->length; i++)
        if (!text[i])
            text[i] = ' ';
    return text;
}

void build_prepare_kernel(struct builder *builder)
{
    struct arena *arena = builder->arena;
    const struct op_project *project = builder->project;
    const struct op_files *files = project->files;
    struct op_file *items = arena_copy(arena, files->items, files->count * sizeof *items);
    for (size_t i = 0; i < files->count; i++) {
        struct op_file *file = &items[i];
        if (op_file_is_folder(file) || is_another_unit(file->path))
            continue;
        bool main_file = strcmp(file->path, project->kernel_source) == 0;
        struct prepared_source prepared;
        char *text = text_of(arena, file);
        mentions_add(arena, &builder->mentions, text);
        prepare_source(arena, text, main_file ? project->entry : NULL, builder->options->sanitize_kernel_tiling,
                       &prepared);
        if (main_file)
            builder->prepared = prepared;
        if (prepared.changed)
            *file = (struct op_file){file->path, prepared.text, strlen(prepared.text)};
    }
    builder->kernel = (struct op_files){items, files->count};
    if (!builder->prepared.has_entry)
        no_entry(builder, project->kernel_source);
}

bool kernel_mentions_any(const struct builder *builder, const char *const *names)
{
    for (; *names; names++)
        if (mentions_has(&builder->mentions, *names))
            return true;
    return false;
}
