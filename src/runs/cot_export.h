/* What training reads, made of samples to train on: a folder with a file for each split and a card. docs/cot.md. */
#ifndef RUNS_COT_EXPORT_H
#define RUNS_COT_EXPORT_H

#include "runs/cot_store.h"

/* TRL's prompt and completion, LLaMA-Factory's alpaca form, ShareGPT's conversations, AscendKernelGen's question, chain and answer;
 * and every column of the store. */
#define COT_FORMATS(X)                                                                                                 \
    X(COT_TRL_SFT, "trl-sft")                                                                                          \
    X(COT_LLAMA_FACTORY, "llama-factory")                                                                              \
    X(COT_SHAREGPT, "sharegpt") X(COT_PUBLISHED, "published") X(COT_PARQUET, "parquet") X(COT_PROMPTS, "prompts")
enum cot_format { COT_FORMATS(WORD_VALUE) };
extern const struct words cot_formats;

/* Writes the samples of a filter into the new folder `path`: train, validation and test (those that have samples), README.md, and
 * dataset_info.json where LLaMA-Factory reads the format. Without `chains` there are answers alone. An error: the folder exists, cannot be written, or there are no samples; no folder
 * is left then. */
struct akgen_error *cot_export(struct store *store, const struct cot_filter *filter, enum cot_format format,
                               bool chains, const char *path);
/* Writes one HTML file in which the samples of a filter are searched and read, at most `filter->most` of them. */
struct akgen_error *cot_page(struct store *store, const struct cot_filter *filter, const char *path);

#endif
