/* One HTML file in which samples are searched and read, without a network. The samples stand in it as JSON, and nothing of them is markup:
 * each text enters the page through textContent. */
#include "runs/cot_export.h"
#include "base/arena.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] = {
#embed "../../templates/page/samples.html" suffix(, 0)
};
static const char script[] = {
#embed "../../templates/page/samples.js" suffix(, 0)
};

struct page {
    FILE *out;
    int64_t count;
};

/* Within a script every '<' is written as an escape of JSON's, so that none ends it. */
static int put_escaped(const char *bytes, size_t length, void *out)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] == '<')
            fputs("\\u003c", out);
        else
            fputc(bytes[i], out);
    return ferror((FILE *)out) ? -1 : 0;
}

static struct akgen_error *put_sample(void *closure, const struct cot_sample *sample)
{
    struct page *page = closure;
    json_t *verdict = sample->verdict ? json_loads(sample->verdict, 0, NULL) : NULL;
    const char *word = json_string_value(json_object_get(verdict, "verdict"));
    json_t *row =
        json_pack("{s:s s:s s:s s:s s:s s:s s:s? s:s s:s s:s s:s?}", "id", sample->id, "part",
                  cot_parts.of[sample->part], "mode", cot_modes.of[sample->mode], "verdict", word ? word : "none",
                  "split", cot_splits.of[sample->split], "question", sample->question, "chain", sample->chain, "answer",
                  sample->answer, "provenance", sample->provenance, "licence", sample->licence, "graph", sample->graph);
    if (page->count++)
        fputs(",\n", page->out);
    json_dump_callback(row, put_escaped, page->out, JSON_COMPACT);
    json_decref(row);
    json_decref(verdict);
    return ferror(page->out) ? error_new("the page cannot be written: %m") : NULL;
}

struct akgen_error *cot_page(struct store *store, const struct cot_filter *filter, const char *path)
{
    struct arena arena = {0};
    const char *half = arena_printf(&arena, "%s.%d", path, (int)getpid());
    struct page page = {.out = fopen(half, "we")};
    struct akgen_error *error = page.out ? NULL : error_new("%s: %m", path);
    if (!error) {
        for (const char *at = head; *at; at++) /* a line a rule and element in the file, one in the page */
            if (*at != '\n')
                fputc(*at, page.out);
        fputc('\n', page.out);
        error = cot_store_each(store, filter, put_sample, &page);
        fputs("]</script><script>'use strict';\n", page.out);
        fputs(script, page.out);
        fputs("</script></html>\n", page.out);
        if (fclose(page.out) && !error)
            error = error_new("%s: %m", path);
        if (!error && !page.count)
            error = error_new("%s: no sample is left to be shown", path);
        if (!error && rename(half, path))
            error = error_new("%s: %m", path);
        if (error)
            unlink(half);
    }
    arena_free(&arena);
    return error;
}
