/* Documents as questions and answers, of what is true of them by their form alone: sections, rows of tables, signatures, parameters,
 * constraints, examples. docs/cot.md. */
#ifndef COT_DOCUMENTS_H
#define COT_DOCUMENTS_H

#include "cot/ask.h"

#include <stdbool.h>

struct cot_documents_options {
    uint64_t seed;       /* of the questions' wording */
    const char *licence; /* of files that name none (SPDX-License-Identifier:); NULL: unknown */
    bool compile;        /* examples that are whole are compiled: counts.on_machine */
    int jobs;            /* threads */
    struct cot_asker
        *asker;     /* the step `documents-model` has it write questions and answers as well; NULL: nobody does */
    int asked_jobs; /* files that this is done for at a time */
};
/* Reads a file, or every .md, .markdown, .txt, .html and .htm file of a folder; each is a source of the step `documents`, named with a digest of its
 * content. What cannot become a sample is counted with its reason and ends nothing. An error: there is nothing at the path, or the store
 * or the toolchain fails. */
struct akgen_error *cot_documents(struct store *store, const char *path,
                                  const struct cot_documents_options *options, struct cot_counts *counts,
                                  struct cot_counts *asked);

/* The samples that a model makes of one document: the block is unfinished if an answer did not come. */
struct akgen_error *cot_document_ask(const char *path, const char *name, const char *markdown,
                                     const struct cot_documents_options *options, const char *scratch,
                                     struct cot_block *block);
/* The samples of one document; `name` is what questions call it, `scratch` a folder of the caller's for what is compiled (NULL: nothing is). */
struct akgen_error *cot_document_samples(const char *path, const char *name, const char *markdown,
                                         const struct cot_documents_options *options, const char *scratch,
                                         struct cot_block *block);

#endif
