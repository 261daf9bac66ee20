/* From a verdict to what a model is told of it: the few things that decide, each with its place, rule and remedy. docs/gen.md
 * ("What a model is told") gives the form, which people and scripts read as well. */
#ifndef GEN_FEEDBACK_H
#define GEN_FEEDBACK_H

#include "base/arena.h"
#include "dsl/message.h"
#include "eval/eval.h"

/* One thing that is wrong. Every line of `text` begins with three spaces and a word: "place:", "code:", "what:", .. */
struct gen_point {
    const char *key;   /* the same in two rounds: the same thing, wherever its line is now */
    const char *title; /* "fault hazard_war" */
    const char *text;
    const char *place, *remedy; /* NULL: none is known */
};
enum { GEN_POINTS = 6 };
struct gen_feedback {
    const char *head; /* how far the candidate came, what that means, how many cases are right: one line */
    struct gen_point points[GEN_POINTS];
    int count, left_out; /* points; others that were found besides */
    int all;             /* errors, faults and wrong cases, those left out among them: fewer is better */
};
/* Reads a verdict that is not freed yet. `program`: what the compiler of programs says of the candidate, which decides where it has
 * errors; NULL: the candidate is none. Everything is copied to the arena; what the candidate wrote is cut, and no control
 * character or fence of it is left. */
void gen_feedback_read(struct arena *arena, const struct verdict *verdict, const struct dsl_messages *program,
                       struct gen_feedback *feedback);
/* The text for the model. `before`: the feedback that this candidate was made for; NULL: there was none. What is new comes first
 * then, what stayed is a line, what is gone is said. */
const char *gen_feedback_text(struct arena *arena, const struct gen_feedback *feedback,
                              const struct gen_feedback *before);

/* What docs/api.md says of an API that a compiler complains about. */
enum { FEEDBACK_FORMS = 3 };
struct feedback_api {
    const char *name;  /* as it is written; NULL: there is none of this name, in whatever letters */
    const char *types; /* "half, float"; "" */
    const char
        *forms[FEEDBACK_FORMS]; /* "(LocalTensor<T> dst, LocalTensor<T> src, int32_t count)", the shortest first */
    int count, more;
};
/* The API that a message quotes as 'NAME', or one whose name is nearly that. In the arena. */
struct feedback_api feedback_api_of(struct arena *arena, const char *message);

#endif
