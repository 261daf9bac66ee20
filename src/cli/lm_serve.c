/* akgen lm serve: a model behind the OpenAI protocol. */
#include "base/arena.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/backend.h"
#include "lm/server.h"

#include <signal.h>
#include <stdlib.h>

enum { PORT = 8000, TEXTS = 8, LENGTH = 8192 };

#define CLI_OF struct lm_server_options
static const struct cli_option rows[] = {
    {"host", 0, "ADDRESS", CLI_TEXT(host), 1, "IPv4 address to listen at (default 127.0.0.1)"},
    {"port", 'p', "N", CLI_NUMBER(port, 0, 65535), 1, "default 8000; 0: any that is free"},
    {"name", 0, "NAME", CLI_TEXT(name), 1, "what the protocol calls the model (default: the folder's name)"},
    {"texts", 0, "N", CLI_NUMBER(texts, 1, LM_FEW), 2, "written at a time, at most 32 (default 8); others wait"},
    {"length", 0, "N", CLI_NUMBER(longest, 2, 1 << 24), 2,
     "tokens of a text, its prompt included (default 8192, or what the model can read)"},
    {"threads", 0, "N", CLI_NUMBER(threads, 1, 1024), 2, "default: one for each processor"},
    {"int8", 0, NULL, CLI_FLAG(int8), 2,
     "round weights to int8: faster, a third of the memory, and slightly another model"},
    {NULL, 0, "MODEL", CLI_TEXT(folder, .needed = true), 0, NULL},
};

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
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "MODEL is needed",
        .excess = CLI_UNEXPECTED,
        .args_doc = "MODEL",
        .doc = "Serves a model: /v1/completions, /v1/chat/completions (whole or as a stream), /v1/models.\vThere is no "
               "password: whoever "
               "reaches the address may ask.",
    };
    struct lm_server_options serve = {
        .host = "127.0.0.1", .port = PORT, .texts = TEXTS, .longest = LENGTH, .on_ready = on_ready, .stop = &stop};
    struct sigaction action = {.sa_handler = on_signal}, ignored = {.sa_handler = SIG_IGN};
    serve.closure = &serve;
    cli_parse(&table, argc, argv, &serve);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGPIPE, &ignored, NULL);
    return cli_end(lm_serve(&serve));
}
