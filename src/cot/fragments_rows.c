/* Rows of a file, line by line. */
#include "base/error.h"
#include "base/files.h"
#include "cot/fragments.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field's text, or that of the last of its messages; NULL: it has none. */
static const char *text_of(const json_t *row, const char *field)
{
    const json_t *value = json_object_get(row, field);
    if (json_is_array(value) && json_array_size(value))
        value = json_object_get(json_array_get(value, json_array_size(value) - 1), "content");
    return json_string_value(value);
}

static struct akgen_error *add_row(struct cot_fragments *fragments, const char *line, size_t length)
{
    json_error_t problem;
    json_t *row = json_loadb(line, length, 0, &problem);
    const char *question = text_of(row, "prompt"), *answer = text_of(row, "completion");
    question = question ? question : text_of(row, "question");
    answer = answer ? answer : text_of(row, "answer");
    struct akgen_error *error =
        !row                  ? error_new("%s", problem.text)
        : question && answer  ? NULL
        : json_is_object(row) ? error_new("neither \"prompt\" and \"completion\" nor \"question\" and \"answer\", with "
                                          "texts or messages")
                              : error_new("no object");
    if (!error)
        cot_fragments_add(fragments, question, answer);
    json_decref(row);
    return error;
}

struct akgen_error *cot_fragments_read(struct cot_fragments *fragments, const char *path, int most)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        bool own = files_of_the_file(errno);
        struct akgen_error *why = error_new("%s: %s", path, strerror(errno));
        return own ? error_of_the_file(why) : why;
    }
    struct akgen_error *error = NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    for (long number = 1; !error && most && (length = getline(&line, &room, file)) >= 0; number++) {
        if (strspn(line, " \t\r\n") == (size_t)length)
            continue;
        error = add_row(fragments, line, (size_t)length);
        if (error)
            error = error_of_the_file(error_prefix(error, "%s:%ld", path, number));
        most--;
    }
    if (!error && ferror(file))
        error = error_of_the_file(error_new("%s: %s", path, strerror(errno)));
    fclose(file);
    free(line);
    return error;
}
