/* akgen gen TASK --print-prompt (gen_prompt.c). */
#ifndef CLI_GEN_PROMPT_H
#define CLI_GEN_PROMPT_H

#include "gen/prompt.h"

/* Prints the prompt for the task, with a heading for each message, or as a JSON array of messages; how many tokens it has goes to
 * standard error. Returns the exit code. */
int cli_gen_prompt(struct arena *arena, const struct task *task, const struct gen_prompt_options *options, bool json);

#endif
