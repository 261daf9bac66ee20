/* Where a text stands in a grammar, byte by byte. A place is a node, the nodes that the calls around it return to, and the marks that are set; a state is the set of all
 * places that the text so far may be at. Places, states and the steps between states are made when they are needed and kept: a grammar's usual
 * texts soon run on an automaton that is there. What is kept grows with the texts, until the user says what is still needed (forget). */
#ifndef LM_RECOGNISER_H
#define LM_RECOGNISER_H

#include "lm/grammar.h"

/* A state in which a text is that no text of the grammar begins with. */
enum { LM_DEAD = 0 };
struct lm_recogniser;
/* Holds the grammar; the caller frees. For one thread at a time. */
struct lm_recogniser *lm_recogniser_new(const struct lm_grammar *grammar);
void lm_recogniser_free(struct lm_recogniser *recogniser);
/* The state of the empty text. */
uint32_t lm_recogniser_begin(struct lm_recogniser *recogniser);
/* The state behind one more byte. A state of more than LM_MOST_PLACES places, which a grammar with many readings of the same text may come to,
 * counts as LM_DEAD; so does one that needs more than LM_MOST_MARKINGS sets of marks to be kept. */
enum { LM_MOST_PLACES = 1 << 12, LM_MOST_MARKINGS = 1 << 16 };
uint32_t lm_recogniser_step(struct lm_recogniser *recogniser, uint32_t state, uint8_t byte);
/* The same, for bytes of a class (lm_grammar.classes). */
uint32_t lm_recogniser_step_class(struct lm_recogniser *recogniser, uint32_t state, unsigned class);
/* Whether the text may end here. */
bool lm_recogniser_may_end(const struct lm_recogniser *recogniser, uint32_t state);
/* How many states there are; each of them is below it. */
uint32_t lm_recogniser_states(const struct lm_recogniser *recogniser);
/* Bytes that are kept; SIZE_MAX when there is hardly room for other sets of marks. */
size_t lm_recogniser_size(const struct lm_recogniser *recogniser);
/* Forgets all states but these, which are given their new numbers. */
void lm_recogniser_forget(struct lm_recogniser *recogniser, uint32_t **states, int count);

#endif
