/* The commands of `akgen lm`, a file each. */
#ifndef CLI_LM_H
#define CLI_LM_H

int cli_lm_train(int argc, char **argv);
int cli_lm_sample(int argc, char **argv);
int cli_lm_chat(int argc, char **argv);
int cli_lm_answers(int argc, char **argv);
int cli_lm_plan(int argc, char **argv);
int cli_lm_curves(int argc, char **argv);
int cli_lm_eval(int argc, char **argv);
int cli_lm_convert(int argc, char **argv);
int cli_lm_tokenizer(int argc, char **argv);
int cli_lm_extend(int argc, char **argv);
int cli_lm_serve(int argc, char **argv);
int cli_lm_grammar(int argc, char **argv);

/* --dtype of a row that calls with an `enum lm_dtype`. */
struct argp_state;
void cli_lm_take_dtype(void *dtype, char *text, const struct argp_state *state);
/* The grammar of a file, or one of akgen's own: "dsl", "formula". The caller frees. */
struct akgen_error;
struct lm_grammar;
struct akgen_error *cli_lm_read_grammar(const char *name, struct lm_grammar **grammar);

#endif
