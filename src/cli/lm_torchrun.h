/* akgen lm train --engine torchrun. */
#ifndef CLI_LM_TORCHRUN_H
#define CLI_LM_TORCHRUN_H

#include "lm/train.h"

struct cli_torchrun {
    bool asked;           /* --engine torchrun */
    int processes, nodes; /* 0: 1 */
    bool dry_run;
};
/* Writes the folder of the run, and starts it unless it is a dry run or one of several machines. Returns the exit code. */
int cli_torchrun(const struct lm_train_options *train, const struct cli_torchrun *torchrun, bool json);

#endif
