/* akgen lm chat: what the template makes of messages. */
#include "base/arena.h"
#include "base/files.h"
#include "base/jsons.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/chat.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_ASK = 0x500, KEY_NO_THINKING, KEY_JSON, LARGEST = 256 << 20 };

static const struct argp_option options[] = {
    {"ask", KEY_ASK, NULL, 0, "put the begin of an answer at the end", 1},
    {"no-thinking", KEY_NO_THINKING, NULL, 0, "the same, of one without a thought", 1},
    {"json", KEY_JSON, NULL, 0, "a line of JSON for each: text, and parts with what is learned", 1},
    {0},
};
struct arguments {
    const char *file;
    struct lm_chat_options chat;
    bool json;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case KEY_ASK:
        arguments->chat.ask = true;
        break;
    case KEY_NO_THINKING:
        arguments->chat.ask = arguments->chat.no_thinking = true;
        break;
    case KEY_JSON:
        arguments->json = true;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "unexpected argument '%s'", text);
        arguments->file = text;
        break;
    case ARGP_KEY_END:
        if (!state->arg_num)
            argp_error(state, "FILE is needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void print(const struct lm_part *parts, int count, bool json, struct arena *arena)
{
    const char *text = lm_chat_text(parts, count, arena);
    if (!json) {
        cli_print_clean(stdout, text);
        return;
    }
    json_t *root = json_pack("{s:s s:[]}", "text", text, "parts");
    for (int i = 0; i < count; i++)
        json_array_append_new(json_object_get(root, "parts"),
                              json_pack("{s:s s:b}", "text", parts[i].text, "learned", parts[i].learned));
    json_dumpf(root, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(root);
}

static struct akgen_error *render(const struct arguments *arguments, const char *line, size_t length)
{
    struct arena arena = {0};
    json_error_t problem;
    json_t *row = jsons_read(line, length, 0, &problem);
    struct lm_chat_options how = arguments->chat;
    struct lm_part *parts;
    int count;
    how.tools = json_object_get(row, "tools");
    struct akgen_error *error =
        row ? lm_chat_render(json_is_array(row) ? row : json_object_get(row, "messages"), &how, &arena, &parts, &count)
            : error_new("%s", problem.text);
    if (!error)
        print(parts, count, arguments->json, &arena);
    json_decref(row);
    arena_free(&arena);
    return error;
}

int cli_lm_chat(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "FILE",
        .doc = "Renders conversations by Qwen3's chat template.\vEach line of FILE is a list of messages, or an object "
               "with "
               "'messages' and perhaps 'tools', as the OpenAI protocol has them.",
    };
    struct arguments arguments = {0};
    struct arena arena = {0};
    char *bytes;
    size_t length;
    cli_parse(&argp, argc, argv, &arguments);
    struct akgen_error *error = files_read(&arena, arguments.file, LARGEST, &bytes, &length);
    long number = 1;
    for (size_t at = 0; !error && at < length; number++) {
        const char *end = memchr(bytes + at, '\n', length - at);
        size_t size = end ? (size_t)(end - bytes) - at : length - at;
        if (strspn(bytes + at, " \t\r") < size)
            error = render(&arguments, bytes + at, size);
        if (error)
            error = error_of_the_file(error_prefix(error, "%s:%ld", arguments.file, number));
        at += size + 1;
    }
    arena_free(&arena);
    if (error)
        return cli_fail(error->of_the_file ? EXIT_USAGE : EXIT_OWN_FAILURE, error);
    return EXIT_PASS;
}
