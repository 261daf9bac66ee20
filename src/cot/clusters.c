#include "cot/clusters.h"
#include "base/array.h"
#include "base/scratch.h"
#include "base/text.h"
#include "cot/call.h"
#include "cot/signature.h"
#include "gen/remedy.h"

#include <stdlib.h>
#include <string.h>

/* A message about a function; several of the same kind about the same function are one. */
struct example {
    const char *message, *class, *code; /* code: the line; NULL: not known */
    struct feedback_api api;
};
struct cluster {
    const char *signature;
    struct example *examples;
    int count, capacity;
    int64_t diagnostics, without; /* without: about no function of docs/api.md */
};
struct clusters {
    struct arena *arena;
    struct cluster *items;
    int count, capacity;
};

static struct cluster *find(struct clusters *all, const char *signature)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->items[i].signature, signature) == 0)
            return &all->items[i];
    ARRAY_ADD(all->arena, all->items, all->count, all->capacity, (struct cluster){.signature = signature});
    return &all->items[all->count - 1];
}

static const char *line_of(struct arena *arena, const char *source, int number)
{
    enum { LONGEST = 200 };
    for (; source && number > 1; number--)
        source = strchr(source, '\n') ? strchr(source, '\n') + 1 : NULL;
    size_t length = source ? strcspn(source, "\n") : 0, blanks = source ? strspn(source, " \t") : 0;
    return length > blanks && length < LONGEST && number == 1 ? arena_strndup(arena, source + blanks, length - blanks)
                                                              : NULL;
}

static void take(void *closure, const struct store_finding *row)
{
    struct clusters *all = closure;
    struct arena *arena = all->arena;
    char *message = arena_strdup(arena, row->message);
    text_make_utf8(message);
    struct cluster *cluster = find(all, cot_signature(arena, message));
    struct example example = {
        .message = message, .class = arena_strdup(arena, row->class), .api = feedback_api_of(arena, message)};
    cluster->diagnostics++;
    if (!example.api.name) {
        cluster->without++;
        return;
    }
    for (int i = 0; i < cluster->count; i++)
        if (strcmp(cluster->examples[i].api.name, example.api.name) == 0)
            return;
    char *code = (char *)(row->file && strstr(row->file, "op_kernel") ? line_of(arena, row->source, row->line) : NULL);
    if (code)
        text_make_utf8(code);
    example.code = code;
    ARRAY_ADD(arena, cluster->examples, cluster->count, cluster->capacity, example);
}

static int by_signature(const void *a, const void *b)
{
    return strcmp(((const struct cluster *)a)->signature, ((const struct cluster *)b)->signature);
}

static struct akgen_error *read_all(struct clusters *all, const char *path)
{
    struct akgen_error *error = store_each_finding(path, STORE_DIAGNOSTICS, 0, take, all);
    if (all->count)
        qsort(all->items, (size_t)all->count, sizeof *all->items, by_signature);
    return error;
}

static enum diagnostic_class class_of(const char *word)
{
    int class = words_find(&diagnostic_classes, word);
    return class < 0 ? DIAG_API : (enum diagnostic_class) class; // NOLINT: one of the table's
}

static struct cot_sample sample_of(struct arena *arena, const struct cluster *cluster, const struct example *example,
                                   const char *statements)
{
    const struct diagnostic diagnostic = {.class = class_of(example->class), .message = example->message};
    const struct feedback_api *api = &example->api;
    struct text forms = {0};
    for (int i = 0; i < api->count; i++)
        text_addf(&forms, "    %s%s\n", api->name, api->forms[i]);
    const char *kept = text_keep(&forms, arena);
    return (struct cot_sample){
        .part = COT_ERROR_API,
        .mode = COT_ASCENDC,
        .question = arena_printf(
            arena,
            "%s%s%sthe compiler says of a kernel in Ascend C:\n```\n%s\n```\nWhat is wrong, and how is %s called?",
            example->code ? "Of the line\n```cpp\n" : "", example->code ? example->code : "",
            example->code ? "\n```\n" : "", example->message, api->name),
        .chain = arena_printf(
            arena,
            "The message is of class %s: %s.\nThe documentation has %s with these forms%s:\n%s%s%s%sA call of the "
            "plain form, with what it takes, compiles:",
            diagnostic_class_name(diagnostic.class), gen_remedy_of_diagnostic(&diagnostic), api->name,
            api->more > 0 ? ", the shortest of them" : "", kept, *api->types ? "T is one of " : "", api->types,
            *api->types ? ".\n" : ""),
        .answer = statements,
        .verdict = "{\"verdict\":\"pass\",\"by\":\"compiler\"}",
        .provenance = arena_printf(arena, "akgen cot errors, diagnostics of a run: %s", cluster->signature),
        .licence = "Apache-2.0",
        .tags =
            arena_printf(arena, "[\"diagnostics of a run\",\"class: %s\"]", diagnostic_class_name(diagnostic.class))};
}

static struct akgen_error *put(struct store *store, const struct cluster *cluster, const char *scratch,
                               struct cot_clusters_count *count)
{
    struct arena arena = {0};
    struct cot_block_rows {
        struct cot_sample *items;
        int64_t count;
    } rows = {arena_alloc(&arena, sizeof(struct cot_sample) * (size_t)(cluster->count + 1)), 0};
    struct cot_drop drops[] = {{"about no function of docs/api.md", cluster->without},
                               {"no plain form that compiles", 0}};
    struct akgen_error *error = NULL;
    bool done = false;
    const char *source = arena_printf(&arena, "kind: %s", cluster->signature);
    error = cot_store_done(store, "errors-verdicts", source, &done);
    for (int i = 0; i < cluster->count && !error && !done; i++) {
        const char *statements;
        error = cot_call_prove(&arena, &cluster->examples[i].api, scratch, &statements);
        if (!error && statements)
            rows.items[rows.count++] = sample_of(&arena, cluster, &cluster->examples[i], statements);
        else if (!error)
            drops[1].count++;
    }
    const struct cot_batch batch = {.step = "errors-verdicts",
                                    .source = source,
                                    .samples = rows.items,
                                    .count = rows.count,
                                    .drops = drops,
                                    .drop_count = 2};
    if (!error && !done)
        error = cot_store_put(store, &batch, NULL);
    count->samples += rows.count;
    count->dropped += done ? 0 : drops[0].count + drops[1].count;
    arena_free(&arena);
    return error;
}

struct akgen_error *cot_clusters(struct store *store, const char *verdicts, struct cot_clusters_count *count)
{
    struct arena arena = {0};
    struct clusters all = {.arena = &arena};
    struct scratch scratch = {0};
    struct akgen_error *error = read_all(&all, verdicts);
    if (!error)
        error = scratch_make(&arena, "akgen-cot", &scratch);
    for (int i = 0; i < all.count && !error; i++) {
        count->diagnostics += all.items[i].diagnostics;
        error = put(store, &all.items[i], scratch.path, count);
    }
    count->clusters = all.count;
    scratch_remove(&scratch);
    arena_free(&arena);
    return error;
}
