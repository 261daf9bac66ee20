/* Which model, and what it is asked. */
#include "cli/model.h"
#include "cli/cli.h"

#include <stdlib.h>

enum {
    KEY_LANGUAGE = 0x600,
    KEY_VARIANT,
    KEY_TEMPLATES,
    KEY_DOCUMENTS,
    KEY_TOKENIZER,
    KEY_PROMPT_TOKEN_LIMIT,
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Prompts (docs/prompts.md):", 2},
    {"language", KEY_LANGUAGE, WORD_CHOICE(GEN_LANGUAGES, ""), 0, "what the model answers in (default ascendc)", 2},
    {"variant", KEY_VARIANT, WORD_CHOICE(GEN_VARIANTS, ""), 0, "what it is shown besides the task (default zero-shot)",
     2},
    {"templates", KEY_TEMPLATES, "DIR", 0, "a folder with changed copies of the template files", 2},
    {"documents", KEY_DOCUMENTS, "PATH", 0,
     "--variant retrieval: a file or folder (.md, .txt, .html) to look things up in besides; may be repeated", 2},
    {"tokenizer", KEY_TOKENIZER, "FILE", 0, "the model's tokenizer.json, to count tokens by (default: an estimate)", 2},
    {"prompt-token-limit", KEY_PROMPT_TOKEN_LIMIT, "N", 0, "a prompt of more tokens is an error", 2},
    {0},
};

static int word(const struct argp_state *state, const char *option, const char *text, const struct words *words)
{
    int value = words_find(words, text);
    const char *behind = "";
    if (value >= 0)
        return value;
    fprintf(stderr, "%s: --%s: '%s' is none of", state->name, option, text);
    for (int i = 0; i < words->count; i++, behind = ",")
        fprintf(stderr, "%s %s", behind, words->of[i]);
    fputc('\n', stderr);
    argp_state_help(state, stderr, ARGP_HELP_STD_ERR);
    return 0;
}

static void add_document(struct gen_prompt_options *prompt, const char *path)
{
    const char **paths = realloc((void *)prompt->documents, (size_t)(prompt->document_count + 1) * sizeof *paths);
    paths[prompt->document_count++] = path;
    prompt->documents = paths;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct gen_model *model = state->input;
    switch (key) {
    case KEY_LANGUAGE:
        model->prompt.language = (enum gen_language)word(state, "language", text, &gen_languages);
        break;
    case KEY_VARIANT:
        model->prompt.variant = (enum gen_variant)word(state, "variant", text, &gen_variants);
        break;
    case KEY_TEMPLATES:
        model->prompt.templates = text;
        break;
    case KEY_DOCUMENTS:
        add_document(&model->prompt, text);
        break;
    case KEY_TOKENIZER:
        model->prompt.tokenizer = text;
        break;
    case KEY_PROMPT_TOKEN_LIMIT:
        model->prompt.token_limit = cli_parse_number(state, "prompt-token-limit", text, 1, INT32_MAX);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp cli_model_argp = {.options = options, .parser = parse};

struct gen_model cli_model_defaults(void)
{
    return (struct gen_model){.prompt = {.only_case = -1, .soc = npu_socs}};
}

void cli_model_take(struct gen_model *model, const struct eval_options *eval)
{
    model->prompt.scope = eval->scope;
    model->prompt.mode = eval->mode;
    model->prompt.only_case = eval->only_case;
    model->prompt.soc = eval->soc;
}
