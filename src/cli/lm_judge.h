/* The judges that `akgen lm` knows by name (lm/judge.h). */
#ifndef CLI_LM_JUDGE_H
#define CLI_LM_JUDGE_H

#include "cli/table.h"
#include "lm/judge.h"

#define CLI_LM_JUDGES "operators|text"
/* NULL: there is none of this name. */
const struct lm_judge *cli_lm_judge(const char *name);
/* --judge of a row that calls with a `const struct lm_judge *`. */
void cli_lm_take_judge(void *judge, char *text, const struct argp_state *state);

#endif
