/* akgen serve: verdicts for another program. */
#include "cli/cli.h"
#include "base/names.h"
#include "eval/kernel_baseline.h"
#include "serve/serve.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_STDIO = 0x200, KEY_JOBS };
enum { SIGNALLED = 128 /* added to a signal, as a shell tells that one ended a process */ };

/* The options of a request are those of `akgen eval`, read by the same parsers as a command line. */
struct request_options {
    struct eval_options *eval;
    struct cli_baseline baseline;
    FILE *errors;
};

static error_t parse_request(int key, char *text, struct argp_state *state)
{
    struct request_options *options = state->input;
    (void)text;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->err_stream = options->errors;
    state->child_inputs[0] = state->child_inputs[1] = options->eval;
    state->child_inputs[2] = &options->baseline;
    return 0;
}

static const struct argp_child request_children[] = {
    {&cli_eval_argp, 0, NULL, 0}, {&cli_language_argp, 0, NULL, 0}, {&cli_baseline_argp, 0, NULL, 0}, {0}};

/* The option of this name; NULL, and all names: there is none. */
static const struct argp_option *find_option(const char *name, const char *names[], size_t most)
{
    size_t count = 0;
    for (const struct argp_child *child = request_children; child->argp; child++)
        for (const struct argp_option *option = child->argp->options; option->name; option++) {
            if (strcmp(option->name, name) == 0)
                return option;
            if (count < most)
                names[count++] = option->name;
        }
    names[count] = NULL;
    return NULL;
}

/* As a word of a command line; NULL: there is nothing to say. */
static struct akgen_error *word_of(struct arena *arena, const struct serve_option *option, const char **word)
{
    enum { MOST = 64 };
    const char *names[MOST + 1];
    const struct argp_option *known = find_option(option->name, names, MOST);
    *word = NULL;
    if (!known)
        return error_new("options: '%s' is no option of 'akgen eval' that changes a verdict%s", option->name,
                         names_hint(arena, option->name, names));
    if (strcmp(option->name, "jobs") == 0)
        return error_new("options: 'jobs' is of 'akgen serve --jobs', how many requests are evaluated side by side");
    if (known->arg && !option->value)
        return error_new("options: '%s' has a value: %s", option->name, known->arg);
    if (!known->arg && option->value)
        return error_new("options: '%s' is true or false", option->name);
    if (known->arg)
        *word = arena_printf(arena, "--%s=%s", option->name, option->value);
    else if (option->on)
        *word = arena_printf(arena, "--%s", option->name);
    return NULL;
}

static struct akgen_error *set_options(struct arena *arena, const struct serve_option *options, int count,
                                       struct eval_options *eval, const char **baseline)
{
    static const struct argp argp = {.parser = parse_request, .children = request_children};
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
    struct request_options request = {
        .eval = eval, .baseline = {*baseline, eval}, .errors = open_memstream(&text, &length)};
    argp_parse(&argp, word_count, words, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &request);
    if (eval->tolerance && eval->profile == TASK_STRICT)
        fputs("options: --tolerance: the strict profile has limits of its own (docs/tasks.md)\nTry `", request.errors);
    fclose(request.errors);
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

static const struct argp_option options[] = {
    {"stdio", KEY_STDIO, NULL, 0, "requests on standard input, replies on standard output, one JSON object a line", 0},
    {"jobs", KEY_JOBS, "N", 0, "requests that are evaluated side by side (default: number of processors)", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct serve_arguments *arguments = state->input;
    switch (key) {
    case KEY_STDIO:
        arguments->stdio = true;
        break;
    case KEY_JOBS:
        arguments->serve.eval.jobs = (int)cli_parse_number(state, "jobs", text, 1, 1024);
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        break;
    case ARGP_KEY_END:
        if (!arguments->stdio)
            argp_error(state, "--stdio is needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int cli_serve(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
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
    cli_parse(&argp, argc, argv, &arguments);
    struct akgen_error *error = serve_stdio(&arguments.serve, &end, &signal, &idle);
    if (error)
        return cli_fail(EXIT_OWN_FAILURE, error);
    const int code = end == SERVE_ENDED ? EXIT_PASS : end == SERVE_UNHEARD ? EXIT_OWN_FAILURE : SIGNALLED + signal;
    if (!idle) /* its threads and what they use are not to be freed under them */
        _exit(code);
    return code;
}
