/* The judges that `akgen lm` knows by name (lm/judge.h). */
#ifndef CLI_LM_JUDGE_H
#define CLI_LM_JUDGE_H

#include "lm/judge.h"

#define CLI_LM_JUDGES "operators|text"
/* NULL: there is none of this name. */
const struct lm_judge *cli_lm_judge(const char *name);

#endif
