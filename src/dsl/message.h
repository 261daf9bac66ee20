/* What the compiler says of a program: where, which rule, what is wrong, what to do. People read it with a caret, programs
 * and models as JSON. */
#ifndef DSL_MESSAGE_H
#define DSL_MESSAGE_H

#include "base/arena.h"
#include "base/text.h"
#include "dsl/syntax.h"

#include <jansson.h>
#include <stdarg.h>

/* One rule is one line of rules.def: its name in messages and in docs/dsl.md, and what it demands. */
enum dsl_rule {
#define RULE(name, text, demand) DSL_RULE_##name,
#include "dsl/rules.def"
#undef RULE
    DSL_RULES
};

struct dsl_message {
    struct dsl_place place;
    enum dsl_rule rule;
    const char *text;   /* what is wrong */
    const char *remedy; /* what to do about it; NULL: the text says it */
    bool warning;       /* it concerns sizes that the operator may not have */
};

enum { DSL_MESSAGES_MAX = 30 };
/* Messages in the order they were found; more than DSL_MESSAGES_MAX are counted, not kept. */
struct dsl_messages {
    struct arena *arena;
    const char *path, *source;
    struct dsl_message items[DSL_MESSAGES_MAX];
    int kept, count; /* count: of errors, not of warnings */
};

/* The rule's name, as "unknown-name". */
const char *dsl_rule_name(enum dsl_rule rule);
/* What the rule demands, a sentence. */
const char *dsl_rule_demand(enum dsl_rule rule);

/* Adds a message; `remedy` may be NULL and must live as long as the messages' arena. */
void dsl_complain(struct dsl_messages *messages, struct dsl_place place, enum dsl_rule rule, const char *remedy,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same, as a warning: the program is right where the operator does not have what it says. */
void dsl_warn(struct dsl_messages *messages, struct dsl_place place, enum dsl_rule rule, const char *remedy,
              const char *format, ...) __attribute__((format(printf, 5, 6)));
/* As compilers print them: "FILE:LINE:COLUMN: error: TEXT [RULE]", the line, a caret, "fix: REMEDY". */
void dsl_messages_print(const struct dsl_messages *messages, struct text *text);
/* The same on standard error. */
void dsl_messages_show(const struct dsl_messages *messages);
/* The first error; there has to be one. */
const struct dsl_message *dsl_messages_error(const struct dsl_messages *messages);
/* The line that a message is about, of a long one the part around its place. In the arena. */
const char *dsl_message_line(struct arena *arena, const struct dsl_messages *messages,
                             const struct dsl_message *message);
/* [{"line", "column", "length", "severity", "rule", "text", "remedy", "source"}]; the caller owns it. */
json_t *dsl_messages_json(const struct dsl_messages *messages);

#endif
