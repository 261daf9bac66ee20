/* akgen lm chat: what the template makes of messages. */
#include "base/arena.h"
#include "base/files.h"
#include "base/jsons.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/chat.h"

#include <string.h>

enum { LARGEST = 256 << 20 };

struct arguments {
    const char *file;
    struct lm_chat_options chat;
    bool json;
};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"ask", 0, NULL, CLI_FLAG(chat.ask), 1, "put the begin of an answer at the end"},
    {"no-thinking", 0, NULL, CLI_FLAG(chat.no_thinking, CLI_ALSO(chat.ask)), 1, "the same, of one without a thought"},
    {"json", 0, NULL, CLI_FLAG(json), 1, "a line of JSON for each: text, and parts with what is learned"},
    {NULL, 0, "FILE", CLI_TEXT(file, .needed = true), 0, NULL},
};

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
    cli_print_json(root, JSON_COMPACT);
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
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "FILE is needed",
        .excess = CLI_UNEXPECTED,
        .args_doc = "FILE",
        .doc = "Renders conversations by Qwen3's chat template.\vEach line of FILE is a list of messages, or an object "
               "with "
               "'messages' and perhaps 'tools', as the OpenAI protocol has them.",
    };
    struct arguments arguments = {0};
    struct arena arena = {0};
    char *bytes;
    size_t length;
    cli_parse(&table, argc, argv, &arguments);
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
    return cli_end(error);
}
