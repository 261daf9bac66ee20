/* AscendCraft: programs in AscendDSL, a small language for kernels of Ascend NPUs, and what becomes of them.
 *
 *   text --parse--> tree --check--> program --interpret--> values
 *                                        \--passes, print--> operator project in Ascend C
 *
 * docs/dsl.md is the language's reference. */
#ifndef DSL_DSL_H
#define DSL_DSL_H

#include "dsl/message.h"
#include "dsl/program.h"
#include "dsl/syntax.h"

/* Text to tree. NULL if `messages` say that it is no program; they are given the arena, path and text to keep. `text` and the
 * tree live in the arena. */
const struct dsl_tree *dsl_parse(struct arena *arena, const char *path, const char *text, size_t length,
                                 struct dsl_messages *messages);

/* The program as it is best written: four spaces a level, one space around operators, at most one empty line (two before a
 * function), lines of at most DSL_WIDTH characters where its parts allow; comments stay where they are. What it prints parses
 * to the same tree and formats to itself. */
enum { DSL_WIDTH = 100 };
char *dsl_format(struct arena *arena, const struct dsl_tree *tree);
/* An expression on one line. */
char *dsl_expr_text(struct arena *arena, const struct dsl_expr *expr);

/* AscendDSL as a grammar in GBNF (lm/grammar.h), in the arena: each of its texts parses, if it has no more than the MiB that a program may have.
 * It has imports, assignments and texts outside of functions, at least one function, and of the language's forms those that programs are written
 * in: blocks on lines of their own, four blanks deeper; brackets, blocks and rows of operators as deep and as long as it says. */
const char *dsl_grammar(struct arena *arena);

#endif
