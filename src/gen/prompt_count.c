/* How long a prompt is, in tokens. */
#include "gen/prompt_internal.h"

#include <string.h>

/* Bytes of a token in text as prompts are: tables, prose and C++. docs/prompts.md says what it was measured on. */
static const double bytes_of_token = 3.2;
/* What a chat format puts around a message. */
enum { AROUND_MESSAGE = 5 };

int64_t prompt_estimate(const char *text)
{
    return (int64_t)((double)strlen(text) / bytes_of_token) + 1;
}

struct akgen_error *prompt_count(const struct gen_prompt_options *options, struct gen_prompt *prompt)
{
    const struct gen_message *largest = NULL;
    int64_t most = 0;
    prompt->tokens = 0;
    prompt->estimated = true;
    for (int i = 0; i < prompt->count; i++) {
        int64_t tokens = prompt_estimate(prompt->messages[i].text) + AROUND_MESSAGE;
        prompt->tokens += tokens;
        if (!largest || tokens > most) {
            largest = &prompt->messages[i];
            most = tokens;
        }
    }
    if (!options->token_limit || prompt->tokens <= options->token_limit)
        return NULL;
    return error_new("the prompt has %lld tokens%s, %lld more than the limit of %lld; the largest message is '%s' with "
                     "%lld. Shorter are --variant zero-shot, a template without some of its parts, or a larger limit",
                     (long long)prompt->tokens, prompt->estimated ? " (estimated)" : "",
                     (long long)(prompt->tokens - options->token_limit), (long long)options->token_limit, largest->role,
                     (long long)most);
}
