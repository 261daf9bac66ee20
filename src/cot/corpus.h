/* General corpora: questions and answers in JSONL and Parquet that the user has, made samples of part `general`. docs/cot.md. */
#ifndef COT_CORPUS_H
#define COT_CORPUS_H

#include "runs/cot_store.h"

/* What of a row may be read under another name than the usual ones (corpus.c); a dot leads into an object or a struct. */
enum cot_corpus_field { COT_QUESTION, COT_CHAIN, COT_ANSWER, COT_CONVERSATION, COT_FIELDS };
struct cot_corpus_options {
    const char *fields[COT_FIELDS]; /* NULL: the usual names */
    int64_t shortest, longest;      /* bytes of question, chain and answer */
    double similar;                 /* of two texts at least so similar the later one is dropped; above 1: none */
    const char *licence;            /* of rows that name none; NULL: unknown */
    const char *languages;          /* codes of those that are let in, "en,zh" (language.h); NULL: all */
    const char *model;              /* the folder of a model that tells how probable a text is; NULL: none does */
    double most_perplexity;         /* of question, chain and answer, to that model */
};
struct cot_corpus_counts {
    int64_t files, rows, bytes, added, dropped;
    int64_t measured;     /* rows whose perplexity was asked for in this run */
    double perplexity[3]; /* of these: below which 5, 50 and 95 % are */
};
/* Reads a file, or every .jsonl and .parquet file below a folder. What cannot become a sample is counted with its reason in the store and ends
 * nothing. An error: the path does not exist, a language is not known, or the store fails. */
struct akgen_error *cot_corpus(struct store *store, const char *path, const struct cot_corpus_options *options,
                               struct cot_corpus_counts *counts);
/* What of a text is a secret: a key, a token, a private key; NULL: nothing is. */
const char *cot_secret_in(const char *text);

#endif
