/* The curves of training runs as one page of HTML that needs nothing else: loss, evaluations, rate, norm and speed by step, runs laid
 * over each other, with a panel of losses for each objective. */
#ifndef LM_CURVES_H
#define LM_CURVES_H

#include "base/error.h"

#include <stddef.h>

struct lm_curves;
/* The caller frees. */
struct lm_curves *lm_curves_new(void);
void lm_curves_free(struct lm_curves *curves);
/* Adds a run: its folder, or a metrics.jsonl. Errors name the file and the line; a last line that a run was killed in is none. */
struct akgen_error *lm_curves_read(struct lm_curves *curves, const char *path);
/* The same of lines in memory, which `path` names in errors. */
struct akgen_error *lm_curves_parse(struct lm_curves *curves, const char *name, const char *path, const char *lines,
                                    size_t length);
/* The page, which the caller frees. */
char *lm_curves_page(const struct lm_curves *curves);
/* Reads a run's folder and writes its metrics.html. */
struct akgen_error *lm_curves_of_run(const char *folder);

#endif
