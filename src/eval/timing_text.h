/* The modelled time of a case as the few lines that `akgen eval` prints, and that a model which makes a kernel faster is told. */
#ifndef EVAL_TIMING_TEXT_H
#define EVAL_TIMING_TEXT_H

#include "base/text.h"
#include "eval/eval.h"

/* What stands before and behind the time, before and behind the word "advice"; all may be empty. */
struct timing_style {
    const char *bold, *warn, *off;
};
/* Lines that are indented by two and four spaces; none where the time is not known. What the candidate named has no control
 * character in it. */
void timing_add_case(struct text *text, const struct verdict *verdict, const struct verdict_case *row,
                     const struct timing_style *style);
/* The case whose launch moves most bytes, of those whose time is known; NULL: there is none. */
const struct verdict_case *timing_largest(const struct verdict *verdict);

#endif
