/* Conversations: lists of what was said in turn. */
#ifndef COT_TURNS_H
#define COT_TURNS_H

#include "base/arena.h"

#include <stdbool.h>

/* NULL: it is not known. */
struct cot_turn {
    const char *role, *text;
};
/* All as one text, in the arena: one that speaks alone has what it said; of several turns each stands below who said it ("User:"), and what the system
 * says before them. NULL: nothing is said. */
const char *cot_turns_text(struct arena *arena, const struct cot_turn *turns, int count);
/* What was asked before the last answer (of the assistant, also called gpt, model, bot), and that answer; what comes behind it is left out. False:
 * there is no answer, or nothing before it. */
bool cot_turns_split(struct arena *arena, const struct cot_turn *turns, int count, const char **question,
                     const char **answer);

#endif
