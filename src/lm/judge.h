/* Who says what an answer is worth. The room asks; the program that links it (src/cli) answers, for what a right answer is lies above. */
#ifndef LM_JUDGE_H
#define LM_JUDGE_H

#include "base/error.h"

#include <stdbool.h>

struct lm_worth {
    float reward;
    bool right; /* the answer is what was asked for */
    bool valid; /* it has the form of one, right or not */
};
struct lm_judge {
    const char *name;
    /* What `count` answers to a row's prompt are worth; 0: the row alone is looked at. row: its line of JSON. An answer is NULL where the text was cut before it
     * ended. Called from several threads, for a row each; the same answers are worth the same on every call. Errors: the
     * row is none that this judge knows, or a failure of its own; never a wrong answer. */
    struct akgen_error *(*judge)(const char *row, const char *const *answers, int count, struct lm_worth *worth);
};

#endif
