/* Models in the steps of akgen cot: options, the asker, and what is said of it in the end. */
#ifndef CLI_COT_MODEL_H
#define CLI_COT_MODEL_H

#include "cli/model.h"
#include "cot/ask.h"

struct cli_cot_model {
    const char *provider; /* NULL: no model */
    struct gen_model model;
    struct cot_asker *asker;
};
/* --provider and the options of a server; `model` has its defaults before parsing, the rest is zero. */
extern const struct cli_table cli_cot_model_table;
/* Opens the asker, if there is a provider. */
struct akgen_error *cli_cot_model_open(struct cli_cot_model *model, struct store *store);
/* Prints what was asked, and closes, of a step that failed as well. The exit code: a failure of its own where the model answered nothing. */
int cli_cot_model_close(struct cli_cot_model *model, const struct cot_counts *counts);

#endif
