/* From a folder to sources: each file is read, checked and handed to document_rows.c. */
#include "cot/documents.h"
#include "base/digest.h"
#include "base/files.h"
#include "cot/licence.h"
#include "cot/sections.h"
#include "cot/walk.h"

#include <string.h>
#include <strings.h>

enum { LARGEST = 8 << 20 };
#define STEP "documents"

static bool is_html(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0);
}

/* Lines end with '\n'. */
static const char *without_returns(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text), *to = copy;
    for (const char *at = copy; *at; at++)
        if (*at != '\r')
            *to++ = *at;
        else if (at[1] != '\n')
            *to++ = '\n';
    *to = 0;
    return copy;
}

/* "api" of "docs/api.md". */
static const char *name_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return arena_strndup(arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static const char *digest_of(struct arena *arena, const char *text)
{
    struct digest *digest = digest_new();
    digest_string(digest, text);
    return digest_finish(digest, arena);
}

static struct akgen_error *take_file(struct cot_store *store, const struct cot_file *file,
                                     const struct cot_documents_options *options, const char *scratch,
                                     struct cot_documents_counts *counts)
{
    struct cot_block block = {0};
    struct cot_documents_options own = *options;
    struct cot_put put = {0};
    size_t length = 0;
    bool done = false;
    const char *reason = file->reason;
    const char *text = reason ? NULL : cot_read_text(&block.arena, file->path, LARGEST, &length, &reason);
    const char *source =
        text ? arena_printf(&block.arena, "%s, %s, seed %llu%s", file->path, digest_of(&block.arena, text),
                            (unsigned long long)options->seed, options->compile ? "" : ", nothing compiled")
             : arena_printf(&block.arena, "%s, %s", file->path, reason);
    struct akgen_error *error = cot_store_done(store, STEP, source, &done);
    if (!error && !done) {
        text = text ? without_returns(&block.arena, text) : NULL;
        const char *licence = text ? cot_licence_in(&block.arena, text) : NULL;
        own.licence = licence ? licence : options->licence;
        if (text)
            error = cot_document_samples(file->path, name_of(&block.arena, file->path),
                                         is_html(file->path) ? cot_markdown_of_html(&block.arena, text) : text, &own,
                                         options->compile ? scratch : NULL, &block);
        else
            cot_block_drop(&block, reason);
        const struct cot_batch batch = {.step = STEP,
                                        .source = source,
                                        .samples = block.samples,
                                        .count = block.sample_count,
                                        .drops = block.drops,
                                        .drop_count = block.drop_count};
        error = error ? error_prefix(error, "%s", file->path) : cot_store_put(store, &batch, &put);
        counts->files++;
        counts->added += put.added;
        counts->dropped += put.repeated;
        counts->compiled += block.on_machine;
        for (int i = 0; i < block.drop_count; i++)
            counts->dropped += block.drops[i].count;
    }
    arena_free(&block.arena);
    return error;
}

struct akgen_error *cot_documents(struct cot_store *store, const char *path,
                                  const struct cot_documents_options *options, struct cot_documents_counts *counts)
{
    static const char *const ends[] = {".md", ".markdown", ".txt", ".html", ".htm", NULL};
    struct arena arena = {0};
    struct cot_file *files;
    size_t count;
    const char *scratch = NULL;
    struct akgen_error *error = cot_walk(&arena, path, ends, &files, &count);
    if (!error)
        error = files_make_scratch(&arena, "akgen-cot", &scratch);
    for (size_t i = 0; i < count && !error; i++)
        error = take_file(store, &files[i], options, scratch, counts);
    if (scratch)
        files_remove_tree(scratch);
    arena_free(&arena);
    return error;
}
