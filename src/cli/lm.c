/* akgen lm: the language model. */
#include "cli/lm.h"
#include "cli/cli.h"
#include "lm/safetensors.h"

#include <string.h>

static const struct cli_command commands[] = {
    {"train", cli_lm_train, "fine-tune a model, or train a new one"},
    {"sample", cli_lm_sample, "let a model write"},
    {"answers", cli_lm_answers, "write answers to prompts, have them judged, and make pairs for DPO of them"},
    {"serve", cli_lm_serve, "let it answer by the OpenAI protocol"},
    {"chat", cli_lm_chat, "render messages by the chat template"},
    {"tokenizer", cli_lm_tokenizer, "make a vocabulary of texts"},
    {"extend", cli_lm_extend, "give a model tokens for fragments of code"},
    {"grammar", cli_lm_grammar, "print a grammar that texts can be held to"},
    {"eval", cli_lm_eval, "how probable texts are to a model"},
    {"curves", cli_lm_curves, "draw training runs"},
    {"convert", cli_lm_convert, "rewrite a checkpoint: type, files, adapters"},
    {"plan", cli_lm_plan, "what memory and time a model needs"},
};

int cli_lm(int argc, char **argv)
{
    return cli_run_command("lm", "Language models of Qwen3's architecture, from folders as Hugging Face has them.",
                           commands, sizeof commands / sizeof *commands, argc, argv);
}

void cli_lm_take_dtype(void *dtype, char *text, const struct argp_state *state)
{
    const bool half = strcmp(text, "bfloat16") == 0;
    if (!half && strcmp(text, "float32") != 0)
        argp_error(state, "--dtype: no '%s'; there are float32 and bfloat16", text);
    *(enum lm_dtype *)dtype = half ? LM_BF16 : LM_F32;
}
