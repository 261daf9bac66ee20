/* akgen gen TASK --print-prompt: what a model would be asked. */
#include "cli/gen_prompt.h"
#include "cli/cli.h"

#include <jansson.h>

int cli_gen_prompt(struct arena *arena, const struct task *task, const struct gen_prompt_options *options, bool json)
{
    struct gen_prompt prompt;
    struct akgen_error *error = gen_prompt_of_task(arena, task, options, &prompt);
    if (error)
        return cli_fail(EXIT_USAGE, error);
    if (json)
        cli_print_json(gen_messages_json(prompt.messages, prompt.count), JSON_INDENT(1) | JSON_ENSURE_ASCII);
    for (int i = 0; i < prompt.count && !json; i++)
        printf("%s----- %s -----\n%s\n", i ? "\n" : "", prompt.messages[i].role, prompt.messages[i].text);
    fflush(stdout);
    fprintf(stderr, "%d messages, %lld tokens%s, %s\n", prompt.count, (long long)prompt.tokens,
            prompt.estimated ? " (estimated: --tokenizer FILE counts)" : "", prompt.hash);
    return EXIT_PASS;
}
