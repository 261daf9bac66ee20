/* The options that `akgen gen` and `akgen bench` share: which model, and what it is asked (model.c). */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include "gen/model.h"

#include <argp.h>

/* An argp child; its input is the `struct gen_model`, filled with defaults before parsing. */
extern const struct argp cli_model_argp;
/* Defaults: Ascend C, zero-shot. */
struct gen_model cli_model_defaults(void);
/* What a prompt takes from the options of the evaluation: scope, mode, case and chip. */
void cli_model_take(struct gen_model *model, const struct eval_options *eval);

#endif
