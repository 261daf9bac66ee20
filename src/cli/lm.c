/* akgen lm: the language model. */
#include "cli/lm.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"train", cli_lm_train, "fine-tune a model, or train a new one"},
    {"sample", cli_lm_sample, "let a model write"},
    {"serve", cli_lm_serve, "let it answer by the OpenAI protocol"},
    {"chat", cli_lm_chat, "render messages by the chat template"},
    {"tokenizer", cli_lm_tokenizer, "make a vocabulary of texts"},
    {"grammar", cli_lm_grammar, "print a grammar that texts can be held to"},
    {"eval", cli_lm_eval, "how probable texts are to a model"},
    {"curves", cli_lm_curves, "draw training runs"},
    {"convert", cli_lm_convert, "rewrite a checkpoint: type, files, adapters"},
    {"plan", cli_lm_plan, "what memory and time a model needs"},
};

static void print_help(FILE *out)
{
    fprintf(out, "Usage: akgen lm COMMAND [ARGUMENT...]\n"
                 "Language models of Qwen3's architecture, from folders as Hugging Face has them.\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\n'akgen lm COMMAND --help' explains a command.\n");
}

int cli_lm(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "-?") == 0) {
        print_help(stdout);
        return EXIT_PASS;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            static char name[64];
            snprintf(name, sizeof name, "akgen lm %s", commands[i].name);
            argv[1] = name;
            return commands[i].run(argc - 1, argv + 1);
        }
    fprintf(stderr, "akgen lm: no command '%s'; 'akgen lm --help' lists them\n", argv[1]);
    return EXIT_USAGE;
}
