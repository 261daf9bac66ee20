/* Rows of a file. */
#include "cot/fragments.h"
#include "lm/samples.h"

#include <jansson.h>

/* A field's text, or that of the last of its messages; NULL: it has none. */
static const char *text_of(const json_t *row, const char *field)
{
    const json_t *value = json_object_get(row, field);
    if (json_is_array(value) && json_array_size(value))
        value = json_object_get(json_array_get(value, json_array_size(value) - 1), "content");
    return json_string_value(value);
}

static struct akgen_error *add_row(void *closure, const json_t *row)
{
    const char *question = text_of(row, "prompt"), *answer = text_of(row, "completion");
    question = question ? question : text_of(row, "question");
    answer = answer ? answer : text_of(row, "answer");
    if (!json_is_object(row))
        return error_new("no object");
    if (!question || !answer)
        return error_new("neither \"prompt\" and \"completion\" nor \"question\" and \"answer\", with texts or "
                         "messages");
    cot_fragments_add(closure, question, answer);
    return NULL;
}

struct akgen_error *cot_fragments_read(struct cot_fragments *fragments, const char *path, int most)
{
    return lm_samples_rows(path, most, add_row, fragments);
}
