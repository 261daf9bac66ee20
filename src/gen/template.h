/* Template files of prompts: text with placeholders, checked as a whole when it is read. docs/prompts.md is the reference. */
#ifndef GEN_TEMPLATE_H
#define GEN_TEMPLATE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

/* The templates of a language, read. In the arena they were read into; read-only. */
struct gen_templates;

/* Where the files lie: `own` has them all, `copies` (NULL: none) those that a user changed, which stand in for the files of
 * the same name. A file that no template includes is an error, since it would change nothing. */
struct gen_template_folders {
    const char *own, *copies;
};
/* Reads `names` (NULL behind the last: "system", ..) and what they include. Every placeholder must be one of `known` (NULL
 * behind the last). Errors name file and line and what there is. */
struct akgen_error *gen_templates_read(struct arena *arena, const struct gen_template_folders *folders,
                                       const char *const *names, const char *const *known,
                                       struct gen_templates **templates);

/* Whether a template, or one that it includes, asks for this placeholder: then it is worth making. */
bool gen_templates_ask(const struct gen_templates *templates, const char *placeholder);
/* The text of a template; `values` in the order of `known`, NULL and "" are empty. In the arena. */
const char *gen_templates_fill(struct arena *arena, const struct gen_templates *templates, const char *name,
                               const char *const *values);

#endif
