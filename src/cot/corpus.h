/* General corpora: questions and answers in JSONL and Parquet that the user has, made samples of part `general`. docs/cot.md. */
#ifndef COT_CORPUS_H
#define COT_CORPUS_H

#include "cot/store.h"

struct cot_corpus_options {
    int64_t shortest, longest; /* bytes of question, chain and answer */
    double similar;            /* of two texts at least so similar the later one is dropped; above 1: none */
    const char *licence;       /* of rows that name none; NULL: unknown */
    const char *languages;     /* codes of those that are let in, "en,zh" (language.h); NULL: all */
};
struct cot_corpus_counts {
    int64_t files, rows, bytes, added, dropped;
};
/* Reads a file, or every .jsonl and .parquet file below a folder. What cannot become a sample is counted with its reason in the store and ends
 * nothing. An error: the path does not exist, a language is not known, or the store fails. */
struct akgen_error *cot_corpus(struct cot_store *store, const char *path, const struct cot_corpus_options *options,
                               struct cot_corpus_counts *counts);
/* What of a text is a secret: a key, a token, a private key; NULL: nothing is. */
const char *cot_secret_in(const char *text);

#endif
