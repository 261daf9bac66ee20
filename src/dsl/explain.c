/* The list of statements, and its two forms. */
#include "dsl/explain.h"
#include "base/array.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const subjects[] = {
#define SUBJECT(value, name, about) [value] = (name),
    DSL_SUBJECTS(SUBJECT)
#undef SUBJECT
};

const char *dsl_subject_name(enum dsl_subject subject)
{
    return subjects[subject];
}

void dsl_explain_add(struct dsl_explanation *explanation, enum dsl_subject subject, const char *kind,
                     struct dsl_place place, json_t *facts, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t bytes = (size_t)vsnprintf(NULL, 0, format, args) + 1;
    char *sentence = arena_alloc(explanation->arena, bytes);
    vsnprintf(sentence, bytes, format, again);
    va_end(again);
    va_end(args);
    ARRAY_ADD(explanation->arena, explanation->items, explanation->count, explanation->capacity,
              (struct dsl_reason){subject, place.line, kind, sentence, facts});
}

/* The statements in the order in which they are told: those of a line in the order in which they were added. */
static const struct dsl_reason **in_order(const struct dsl_explanation *explanation)
{
    const struct dsl_reason **order = arena_alloc(explanation->arena, (size_t)(explanation->count + 1) * sizeof *order);
    int count = 0;
    for (int subject = 0; subject < DSL_SUBJECTS_COUNT; subject++) {
        int first = count;
        for (int i = 0; i < explanation->count; i++) {
            const struct dsl_reason *reason = &explanation->items[i];
            int at = count;
            if ((int)reason->subject != subject)
                continue;
            for (; at > first && order[at - 1]->line > reason->line; at--)
                order[at] = order[at - 1];
            order[at] = reason;
            count++;
        }
    }
    return order;
}

void dsl_explanation_print(const struct dsl_explanation *explanation, struct text *text)
{
    const struct dsl_reason **order = in_order(explanation);
    for (int i = 0; i < explanation->count; i++) {
        const struct dsl_reason *reason = order[i];
        if (!i || order[i - 1]->subject != reason->subject)
            text_addf(text, "%s%s\n", i ? "\n" : "", subjects[reason->subject]);
        text_addf(text, "%5d  %s\n", reason->line, reason->sentence);
    }
}

json_t *dsl_explanation_json(const struct dsl_explanation *explanation)
{
    const struct dsl_reason **order = in_order(explanation);
    json_t *list = json_array();
    for (int i = 0; i < explanation->count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:s, s:O}", "subject", subjects[order[i]->subject],
                                              "kind", order[i]->kind, "line", order[i]->line, "sentence",
                                              order[i]->sentence, "facts", order[i]->facts));
    return list;
}

void dsl_explanation_free(struct dsl_explanation *explanation)
{
    for (int i = 0; i < explanation->count; i++)
        json_decref(explanation->items[i].facts);
    explanation->count = 0;
}
