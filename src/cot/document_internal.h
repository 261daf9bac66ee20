/* Rows of a document: made of its form (document_rows.c), or asked for (document_ask.c). */
#ifndef COT_DOCUMENT_INTERNAL_H
#define COT_DOCUMENT_INTERNAL_H

#include "base/random.h"
#include "cot/documents.h"
#include "cot/sections.h"

struct document_rows {
    struct cot_block *block;
    const struct cot_documents_options *options;
    const struct cot_sections *sections;
    const char *path, *name, *licence, *scratch;
    const char *heading; /* "Functions > Add", of the section that is looked at */
    const char *api;     /* the API that it is about; NULL: none */
    bool passage;        /* of the row that is made: the question has the passage in it */
    struct rng rng;
    const char *chain;     /* NULL: none */
    const char *more_tags; /* ",\"model: x\""; NULL: none */
};
/* Sets heading and API of section `number`. */
void document_look_above(struct document_rows *rows, int number);
/* A sample, or a drop: too long, too short, a secret in it. */
void document_add(struct document_rows *rows, enum cot_part part, enum cot_mode mode, const char *question,
                  const char *answer, const char *verdict, const char *tag);
/* Whether a text is a kernel in Ascend C, a program in AscendDSL, or neither. */
enum cot_mode document_code_kind(const char *text);
/* Compiles or checks it: *why not, NULL: it is right, and *verdict says so. Neither for a text that is no code. */
struct akgen_error *document_judge(struct arena *arena, const char *text, const char **verdict, const char **why);

#endif
