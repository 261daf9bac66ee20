/* How long a prompt is, in tokens. */
#include "gen/prompt_internal.h"

#include <string.h>

/* Bytes of a token in text as prompts are: tables, prose and C++. docs/prompts.md says what it was measured on. */
static const double bytes_of_token = 3.1;
/* What a chat format puts around a message. */
enum { AROUND_MESSAGE = 5 };

int64_t prompt_estimate(const char *text)
{
    return (int64_t)((double)strlen(text) / bytes_of_token) + 1;
}

/* Tokens of a message. */
static struct akgen_error *count_message(const struct lm_tokenizer *tokenizer, const struct gen_message *message,
                                         int64_t *tokens)
{
    struct akgen_error *error = NULL;
    *tokens = prompt_estimate(message->text);
    if (tokenizer)
        error = lm_tokenizer_count(tokenizer, message->text, strlen(message->text), tokens);
    *tokens += AROUND_MESSAGE;
    return error;
}

/* The part of a message with the longest text: what stands below one of its headings. */
static const char *longest_part(struct arena *arena, const struct gen_message *message, int64_t *bytes)
{
    const char *longest = NULL, *heading = NULL;
    bool fenced = false;
    *bytes = 0;
    for (const char *line = message->text, *begin = line, *next; line; line = next) {
        next = strchr(line, '\n');
        next = next ? next + 1 : NULL;
        fenced ^= strncmp(line, "```", 3) == 0;
        int level = (int)strspn(line, "#");
        bool is_heading = !fenced && level > 0 && level <= 2 && line[level] == ' ';
        if (is_heading || !next) {
            int64_t length = next ? line - begin : (int64_t)strlen(begin);
            if (heading && length > *bytes) {
                *bytes = length;
                longest = heading;
            }
        }
        if (is_heading) {
            begin = line;
            heading = line + level + 1;
        }
    }
    return longest ? arena_strndup(arena, longest, strcspn(longest, "\n")) : NULL;
}

struct akgen_error *prompt_count(struct arena *arena, const struct lm_tokenizer *tokenizer,
                                 const struct gen_prompt_options *options, struct gen_prompt *prompt)
{
    const struct gen_message *largest = NULL;
    int64_t tokens, most = 0, part_bytes = 0;
    struct akgen_error *error = NULL;
    prompt->tokens = 0;
    prompt->estimated = !tokenizer;
    for (int i = 0; i < prompt->count && !error; i++) {
        error = count_message(tokenizer, &prompt->messages[i], &tokens);
        prompt->tokens += tokens;
        if (!largest || tokens > most) {
            largest = &prompt->messages[i];
            most = tokens;
        }
    }
    if (error || !largest || !options->token_limit || prompt->tokens <= options->token_limit)
        return error;
    const char *part = longest_part(arena, largest, &part_bytes);
    return error_new("the prompt has %lld tokens%s, %lld more than the limit of %lld. The message '%s' has %lld of "
                     "them%s%s%s. %s",
                     (long long)prompt->tokens, prompt->estimated ? " by an estimate" : "",
                     (long long)(prompt->tokens - options->token_limit), (long long)options->token_limit, largest->role,
                     (long long)most, part ? ", its longest part is '" : "", part ? part : "", part ? "'" : "",
                     options->variant == GEN_ZERO_SHOT
                         ? "Shorter: templates without some of their parts"
                         : "Shorter: --variant zero-shot, or templates without some of their parts");
}
