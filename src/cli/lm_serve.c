/* akgen lm serve: a model behind the OpenAI protocol. */
#include "base/arena.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/backend.h"
#include "lm/server.h"

#include <signal.h>
#include <stdlib.h>

enum {
    KEY_HOST = 0x500,
    KEY_NAME,
    KEY_TEXTS,
    KEY_LENGTH,
    KEY_THREADS,
    KEY_INT8,
    PORT = 8000,
    TEXTS = 8,
    LENGTH = 8192
};

static const struct argp_option options[] = {
    {"host", KEY_HOST, "ADDRESS", 0, "IPv4 address to listen at (default 127.0.0.1)", 1},
    {"port", 'p', "N", 0, "default 8000; 0: any that is free", 1},
    {"name", KEY_NAME, "NAME", 0, "what the protocol calls the model (default: the folder's name)", 1},
    {"texts", KEY_TEXTS, "N", 0, "written at a time, at most 32 (default 8); others wait", 2},
    {"length", KEY_LENGTH, "N", 0, "tokens of a text, its prompt included (default 8192, or what the model can read)",
     2},
    {"threads", KEY_THREADS, "N", 0, "default: one for each processor", 2},
    {"int8", KEY_INT8, NULL, 0, "round weights to int8: faster, a third of the memory, and slightly another model", 2},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct lm_server_options *serve = state->input;
    switch (key) {
    case KEY_HOST:
        serve->host = text;
        break;
    case 'p':
        serve->port = (int)cli_parse_number(state, "port", text, 0, 65535);
        break;
    case KEY_NAME:
        serve->name = text;
        break;
    case KEY_TEXTS:
        serve->texts = (int)cli_parse_number(state, "texts", text, 1, LM_FEW);
        break;
    case KEY_LENGTH:
        serve->longest = (int)cli_parse_number(state, "length", text, 2, 1 << 24);
        break;
    case KEY_THREADS:
        serve->threads = (int)cli_parse_number(state, "threads", text, 1, 1024);
        break;
    case KEY_INT8:
        serve->int8 = true;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "unexpected argument '%s'", text);
        serve->folder = text;
        break;
    case ARGP_KEY_END:
        if (!state->arg_num)
            argp_error(state, "MODEL is needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

static void on_ready(void *closure, int port)
{
    const struct lm_server_options *serve = closure;
    printf("serving   %s at http://%s:%d/v1\n", serve->folder, serve->host, port);
    fflush(stdout);
}

int cli_lm_serve(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "MODEL",
        .doc = "Serves a model: /v1/completions, /v1/chat/completions (whole or as a stream), /v1/models.\vThere is no "
               "password: whoever "
               "reaches the address may ask.",
    };
    struct lm_server_options serve = {
        .host = "127.0.0.1", .port = PORT, .texts = TEXTS, .longest = LENGTH, .on_ready = on_ready, .stop = &stop};
    struct sigaction action = {.sa_handler = on_signal}, ignored = {.sa_handler = SIG_IGN};
    serve.closure = &serve;
    cli_parse(&argp, argc, argv, &serve);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGPIPE, &ignored, NULL);
    struct akgen_error *error = lm_serve(&serve);
    if (error)
        return cli_fail(error->of_the_file ? EXIT_USAGE : EXIT_OWN_FAILURE, error);
    return EXIT_PASS;
}
