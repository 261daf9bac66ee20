/* The commands of `akgen lm`, a file each. */
#ifndef CLI_LM_H
#define CLI_LM_H

int cli_lm_train(int argc, char **argv);
int cli_lm_sample(int argc, char **argv);
int cli_lm_chat(int argc, char **argv);
int cli_lm_plan(int argc, char **argv);
int cli_lm_tokenizer(int argc, char **argv);
int cli_lm_serve(int argc, char **argv);

#endif
