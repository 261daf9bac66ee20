/* akgen serve: verdicts for another program. */
#include "cli/cli.h"
#include "base/names.h"
#include "eval/kernel_baseline.h"
#include "serve/serve.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIGNALLED = 128 /* added to a signal, as a shell tells that one ended a process */ };

/* The options of a request are those of `akgen eval`, read by the same tables as a command line. */
struct request_options {
    struct eval_options eval;
    struct cli_baseline baseline;
};

#define CLI_OF struct request_options
static const struct cli_table request_table = {.parts = {{&cli_eval_table, CLI_AT(eval)},
                                                         {&cli_language_table, CLI_AT(eval)},
                                                         {&cli_baseline_table, CLI_AT(baseline)}}};
#undef CLI_OF

/* The option of this name; NULL, and all names: there is none. */
static const struct cli_option *find_option(const char *name, const char *names[], size_t most)
{
    size_t count = 0;
    for (const struct cli_part *part = request_table.parts; part->table; part++)
        for (int i = 0; i < part->table->count; i++) {
            if (strcmp(part->table->rows[i].name, name) == 0)
                return &part->table->rows[i];
            if (count < most)
                names[count++] = part->table->rows[i].name;
        }
    names[count] = NULL;
    return NULL;
}

/* As a word of a command line; NULL: there is nothing to say. */
static struct akgen_error *word_of(struct arena *arena, const struct serve_option *option, const char **word)
{
    enum { MOST = 64 };
    const char *names[MOST + 1];
    const struct cli_option *known = find_option(option->name, names, MOST);
    *word = NULL;
    if (!known)
        return error_new("options: '%s' is no option of 'akgen eval' that changes a verdict%s", option->name,
                         names_hint(arena, option->name, names));
    if (strcmp(option->name, "jobs") == 0)
        return error_new("options: 'jobs' is of 'akgen serve --jobs', how many requests are evaluated side by side");
    if (known->value && !option->value)
        return error_new("options: '%s' has a value: %s", option->name, known->value);
    if (!known->value && option->value)
        return error_new("options: '%s' is true or false", option->name);
    if (known->value)
        *word = arena_printf(arena, "--%s=%s", option->name, option->value);
    else if (option->on)
        *word = arena_printf(arena, "--%s", option->name);
    return NULL;
}

static struct akgen_error *set_options(struct arena *arena, const struct serve_option *options, int count,
                                       struct eval_options *eval, const char **baseline)
{
    char **words = arena_alloc(arena, sizeof *words * ((size_t)count + 2)), *text = NULL;
    int word_count = 0;
    size_t length;
    words[word_count++] = "options";
    for (int i = 0; i < count; i++) {
        const char *word;
        struct akgen_error *error = word_of(arena, &options[i], &word);
        if (error)
            return error;
        if (word)
            words[word_count++] = arena_strdup(arena, word);
    }
    struct request_options request = {.eval = *eval, .baseline = {*baseline, &request.eval}};
    struct cli_bound *bound = cli_bind(arena, &request_table, &request);
    bound->errors = open_memstream(&text, &length);
    argp_parse(&bound->argp, word_count, words, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, bound);
    *eval = request.eval;
    if (eval->tolerance && eval->profile == TASK_STRICT)
        fputs("options: --tolerance: the strict profile has limits of its own (docs/tasks.md)\nTry `", bound->errors);
    fclose(bound->errors);
    *baseline = request.baseline.name;
    char *end = strstr(text, "\nTry `"); /* of the first that is wrong; what follows is argp's hint */
    if (end)
        *end = '\0';
    struct akgen_error *error = *text ? error_new("%s", text) : NULL;
    free(text);
    return error;
}

/* Of the command. */
struct serve_arguments {
    struct serve_options serve;
    bool stdio;
};

#define CLI_OF struct serve_arguments
static const struct cli_option rows[] = {
    {"stdio", 0, NULL, CLI_FLAG(stdio), 0,
     "requests on standard input, replies on standard output, one JSON object a line"},
    {"salt", 0, "TEXT", CLI_CALL(cli_take_salt, .at = CLI_AT(serve.eval.salt)), 0,
     "of requests that have none (see akgen eval --help)"},
    {"jobs", 0, "N", CLI_NUMBER(serve.eval.jobs, 1, 1024), 0,
     "requests that are evaluated side by side (default: number of processors)"},
};

static void check_arguments(void *serve, const struct argp_state *state)
{
    if (!((struct serve_arguments *)serve)->stdio)
        argp_error(state, "--stdio is needed");
}

int cli_serve(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .excess = CLI_UNEXPECTED,
        .check = check_arguments,
        .doc = "Evaluates candidates for another program, which writes requests and reads verdicts: {\"id\": 1, "
               "\"task\": \"Sqrt\", \"candidate\": {\"path\": \"answer\"}, \"options\": {\"profile\": \"strict\"}} is "
               "answered by {\"id\": 1, \"verdict\": {...}}, in any order.\v"
               "docs/serve.md has all of it. The server ends when its standard input does and every request is "
               "answered, and early on SIGINT, SIGTERM and SIGHUP. Exit code: 0 after the end of the input, 2 wrong "
               "usage, 3 "
               "nobody reads the replies any more, 128 and the signal's number.",
    };
    struct serve_arguments arguments = {
        .serve = {.eval = cli_eval_defaults(), .baseline = BASELINE_EAGER, .set_options = set_options}};
    enum serve_end end;
    int signal = 0;
    bool idle;
    cli_parse(&table, argc, argv, &arguments);
    struct akgen_error *error = serve_stdio(&arguments.serve, &end, &signal, &idle);
    if (error)
        return cli_fail(EXIT_OWN_FAILURE, error);
    const int code = end == SERVE_ENDED ? EXIT_PASS : end == SERVE_UNHEARD ? EXIT_OWN_FAILURE : SIGNALLED + signal;
    if (!idle) /* its threads and what they use are not to be freed under them */
        _exit(code);
    return code;
}
