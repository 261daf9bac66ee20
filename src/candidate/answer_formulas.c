/* Answers that are formulas: "d = x - mean(x); y = d * scale", on one line or several, perhaps in a code block of their own. */
#include "base/text.h"
#include "candidate/answer_internal.h"

#include <ctype.h>

/* `name =` and something behind it, which is no comparison. */
static bool is_statement(struct answer_span span, struct answer_span *name)
{
    size_t length = 0;
    while (length < span.length && (isalnum((unsigned char)span.at[length]) || span.at[length] == '_'))
        length++;
    *name = (struct answer_span){span.at, length};
    size_t at = length;
    while (at < span.length && span.at[at] == ' ')
        at++;
    return length && !isdigit((unsigned char)*span.at) && at + 1 < span.length && span.at[at] == '=' &&
           span.at[at + 1] != '=';
}

bool answer_is_formulas(struct arena *arena, const char *text, const struct task *task, const char **statements)
{
    struct text kept = {0};
    bool output = false, formulas = true;
    for (const char *at = text; *at && formulas;) {
        size_t length = strcspn(at, ";\n");
        struct answer_span span = answer_trim(answer_between(at, at + length)), name;
        at += length + (at[length] != '\0');
        while (span.length && *span.at == '`') /* ticks and fences around */
            span.at++, span.length--;
        while (span.length && span.at[span.length - 1] == '`')
            span.length--;
        if (!span.length)
            continue;
        formulas = is_statement(span, &name);
        for (int i = 0; i < task->output_count; i++)
            output |= strlen(task->outputs[i].name) == name.length &&
                      strncmp(task->outputs[i].name, name.at, name.length) == 0;
        text_append(&kept, span.at, span.length);
        text_add(&kept, "\n");
    }
    *statements = arena_strdup(arena, kept.bytes ? kept.bytes : "");
    text_free(&kept);
    return formulas && output;
}
