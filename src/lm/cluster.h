/* A run on several processes or machines, as a folder OUT/torchrun that PyTorch's launchers start: the rows as tokens, the order in which steps
 * take them, and all settings, so that what computes the steps (python/torchrun/train.py) decides nothing. In it:
 *   run.sh           starts it on one machine
 *   train.py         the program
 *   settings.json    what the options say
 *   rows.jsonl, eval.jsonl   {"input_ids": [[..], ..], "labels": [[..], ..], "rewards": [..]}: the texts of a row; labels are tokens where they are
 *                    learned, else -100; rewards of groups alone
 *   steps.jsonl      a line a step: {"rows": [..], "whole": N}, which rows (from 0), and what the loss is a mean over
 *   accelerate.yaml  for GPUs: accelerate's configuration, FSDP
 *   begin            the model, if it is new; new adapters, if these are trained */
#ifndef LM_CLUSTER_H
#define LM_CLUSTER_H

#include "lm/train.h"

struct lm_cluster_options {
    int processes;       /* on each machine, one for each GPU there */
    int nodes;           /* machines, which all see OUT and the model under the same paths */
    const char *program; /* train.py */
};
/* Writes the folder; the train options' device says whether processes have GPUs. result: what is known before any step is done. Errors: lm_train's
 * that come before its first step. */
struct akgen_error *lm_cluster_write(const struct lm_train_options *options, const struct lm_cluster_options *cluster,
                                     struct lm_train_result *result);

#endif
