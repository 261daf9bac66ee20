/* From a folder to sources: each file is read, checked and handed to document_rows.c. */
#include "cot/documents.h"
#include "base/digest.h"
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

/* What a step reads of a file to name it. */
struct document {
    const char *text, *reason; /* text: NULL, and the reason why */
};
struct documents {
    const struct cot_documents_options *options;
    const struct cot_file *files;
    bool asked; /* by the model */
};

static void name(void *closure, int index, struct cot_block *block)
{
    const struct documents *documents = closure;
    const struct cot_documents_options *options = documents->options;
    const struct cot_file *file = &documents->files[index];
    struct arena *arena = &block->arena;
    struct document *document = arena_alloc(arena, sizeof *document);
    size_t length = 0;
    document->reason = file->reason;
    document->text = file->reason ? NULL : cot_read_text(arena, file->path, LARGEST, &length, &document->reason);
    block->read = document;
    const char *digest = document->text ? digest_of_string(arena, document->text) : NULL;
    if (documents->asked) /* what cannot be read was counted by the other step */
        block->source =
            digest ? arena_printf(arena, "%s, %s, %s", file->path, digest, cot_asker_source(options->asker)) : NULL;
    else
        block->source =
            digest ? arena_printf(arena, "%s, %s, seed %llu%s", file->path, digest, (unsigned long long)options->seed,
                                  options->compile ? "" : ", nothing compiled")
                   : arena_printf(arena, "%s, %s", file->path, document->reason);
}

static struct akgen_error *make(void *closure, int index, const char *scratch, struct cot_block *block)
{
    const struct documents *documents = closure;
    const struct cot_file *file = &documents->files[index];
    const struct document *document = block->read;
    struct arena *arena = &block->arena;
    struct cot_documents_options own = *documents->options;
    if (!document->text) {
        cot_block_drop(block, document->reason);
        return NULL;
    }
    const char *text = without_returns(arena, document->text), *licence = cot_licence_in(arena, text);
    own.licence = licence ? licence : own.licence;
    const char *title = name_of(arena, file->path),
               *markdown = is_html(file->path) ? cot_markdown_of_html(arena, text) : text;
    struct akgen_error *error =
        documents->asked ? cot_document_ask(file->path, title, markdown, &own, scratch, block)
                         : cot_document_samples(file->path, title, markdown, &own, own.compile ? scratch : NULL, block);
    return error ? error_prefix(error, "%s", file->path) : NULL;
}

struct akgen_error *cot_documents(struct store *store, const char *path,
                                  const struct cot_documents_options *options, struct cot_counts *counts,
                                  struct cot_counts *asked)
{
    static const char *const ends[] = {".md", ".markdown", ".txt", ".html", ".htm", NULL};
    struct arena arena = {0};
    struct cot_file *files;
    size_t count;
    struct akgen_error *error = cot_walk(&arena, path, ends, &files, &count);
    if (!error) {
        struct documents documents = {.options = options, .files = files};
        struct cot_step step = {.store = store,
                                .step = STEP,
                                .count = (int)count,
                                .jobs = options->jobs,
                                .name = name,
                                .make = make,
                                .closure = &documents};
        error = cot_step_run(&step);
        *counts = step.counts;
        documents.asked = true;
        step.step = STEP "-model";
        step.jobs = options->asked_jobs;
        if (!error && options->asker) {
            error = cot_step_run(&step);
            *asked = step.counts;
        }
    }
    arena_free(&arena);
    return error;
}
