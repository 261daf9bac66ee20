/* The options that `akgen gen` and `akgen bench` share: which model, and what it is asked (model.c). */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include "cli/table.h"
#include "gen/model.h"

/* Of a `struct gen_model`, filled with defaults before parsing. */
extern const struct cli_table cli_model_table;
/* Of these where the model is, how it samples, and what the run may cost: for what asks it about something else than tasks. */
extern const struct cli_table cli_server_table;
/* Defaults: Ascend C, zero-shot; one sample of the server's own sampling, streamed, eight requests at a time, five retries. Released
 * with gen_model_free. */
struct gen_model cli_model_defaults(void);
/* cli_refuse_options for all of these. */
void cli_refuse_model_options(const struct argp_state *state, const char *why);
/* What a prompt takes from the options of the evaluation: scope, mode, case and chip. */
void cli_model_take(struct gen_model *model, const struct eval_options *eval);
/* Sets the language that answers must be in for the evaluation: the one asked for, else the one that the model is asked for. After
 * cli_model_provider. */
void cli_model_judge(const struct gen_model *model, struct eval_options *eval);
/* Behind the parsing: applies the preset, sets where the model is ("openai:URL", "exec:COMMAND") and its key. Errors are of usage. */
struct akgen_error *cli_model_provider(struct gen_model *model, const char *provider);

#endif
