/* What the search for fragments and its lexer share. */
#ifndef COT_FRAGMENTS_INTERNAL_H
#define COT_FRAGMENTS_INTERNAL_H

#include "base/strings.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Cuts code into lexemes (fragments_lexer.c). */
struct cot_lexer;
struct cot_lexer *cot_lexer_new(void);
void cot_lexer_free(struct cot_lexer *lexer);
typedef void cot_on_segment(void *closure, const int *lexemes, int count);
/* Gives on_segment the segments of an answer: lexemes, by their number in `strings`, which live in the arena, between names that the question tells and between
 * instructions and their operands. */
void cot_lexer_cut(const struct cot_lexer *lexer, const char *question, const char *answer, struct arena *arena,
                   struct strings *strings, cot_on_segment *on_segment, void *closure);
/* The text begins with what is never joined with others: a value's name that the planner gives, a call that has operands. */
bool cot_lexer_alone(const struct cot_lexer *lexer, const char *text);

struct cot_fragment {
    const char *text;
    int64_t used, tokens; /* how often in the answers; how many of the tokenizer it stands for */
};
struct cot_fragments {
    struct arena arena;
    struct cot_lexer *lexer;
    struct strings lexemes, segments; /* segments: of lexemes' numbers */
    int64_t *times;                   /* by segment: how often there is one */
    int times_count, times_capacity;
    const char **answers;
    int answer_count, answer_capacity;
    struct text told; /* questions and formulas, a line each */
};

#endif
