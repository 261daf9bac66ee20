/* Asks a model what stands on standard input, for tests of src/gen/client.h without a task around it:
 *
 *     gen_ask --model NAME [options of a model] [--leave SECONDS] openai:URL < requests
 *
 * A request is a line of JSON, {"messages": [{"role": .., "content": ..}], "n": 1, "seed": 7}; each reply becomes a line with its
 * number, in the order of their coming. --leave: gen_client_stop after so many seconds; "stopped" on standard error, and a wait
 * of --linger seconds before the client is closed. */
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/model.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ask {
    struct gen_model model;
    const char *provider;
    double leave, linger;
    struct gen_client *client;
};

#define CLI_OF struct ask
static const struct cli_option rows[] = {
    {"leave", 'L', "SECONDS", CLI_REAL(leave, 0, 1e9), 0, "stop after so many seconds"},
    {"linger", 'W', "SECONDS", CLI_REAL(linger, 0, 1e9), 0, "and wait so long"},
    {NULL, 0, "PROVIDER", CLI_TEXT(provider, .needed = true), 0, NULL},
};

static void submit(struct ask *ask, const json_t *line, intptr_t number)
{
    size_t i;
    json_t *json, *messages = json_object_get(line, "messages"), *seed = json_object_get(line, "seed");
    struct gen_message *list = calloc(json_array_size(messages) + 1, sizeof *list);
    json_array_foreach(messages, i, json) list[i] = (struct gen_message){
        json_string_value(json_object_get(json, "role")), json_string_value(json_object_get(json, "content"))};
    const struct gen_request request = {.messages = list,
                                        .message_count = (int)json_array_size(messages),
                                        .sampling = ask->model.sampling,
                                        .n = (int)json_integer_value(json_object_get(line, "n")),
                                        .seeded = seed || ask->model.seeded,
                                        .seed = seed ? (uint64_t)json_integer_value(seed) : ask->model.seed,
                                        .closure = (void *)number};
    gen_client_submit(ask->client, &request);
    free(list);
}

static void print_reply(const struct gen_reply *reply)
{
    json_t *choices = json_array();
    for (int i = 0; i < reply->count; i++)
        json_array_append_new(choices, json_pack("{s:s,s:s?,s:s?}", "text", reply->choices[i].text, "reasoning",
                                                 reply->choices[i].reasoning, "finish", reply->choices[i].finish));
    json_t *json =
        json_pack("{s:I,s:s?,s:b,s:o,s:I,s:I,s:i,s:f,s:s,s:s}", "number", (json_int_t)(intptr_t)reply->closure,
                  "failure", reply->failure, "hopeless", reply->hopeless, "choices", choices, "prompt_tokens",
                  (json_int_t)reply->prompt_tokens, "completion_tokens", (json_int_t)reply->completion_tokens, "tries",
                  reply->tries, "seconds", reply->seconds, "request", reply->request, "response", reply->response);
    if (!json)
        abort();
    json_dumpf(json, stdout, JSON_COMPACT);
    putchar('\n');
    fflush(stdout);
    json_decref(json);
}

static void *leave(void *closure)
{
    struct ask *ask = closure;
    usleep((useconds_t)(ask->leave * 1e6));
    double begin = clock_seconds();
    gen_client_stop(ask->client);
    fprintf(stderr, "stopped within %.3f s\n", clock_seconds() - begin);
    usleep((useconds_t)(ask->linger * 1e6));
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct cli_table table = {CLI_ROWS(rows), .parts = {{&cli_model_table, CLI_AT(model)}},
                                           .needs = "no provider"};
    struct ask ask = {.model = cli_model_defaults()};
    pthread_t leaver = 0;
    char *line = NULL;
    size_t size = 0;
    cli_parse(&table, argc, argv, &ask);
    struct akgen_error *error = cli_model_provider(&ask.model, ask.provider);
    if (!error)
        error = gen_client_open(&ask.model.endpoint, &ask.client);
    if (error) {
        gen_model_free(&ask.model);
        return cli_fail(EXIT_USAGE, error);
    }
    for (intptr_t number = 0; getline(&line, &size, stdin) > 0; number++) {
        json_t *json = json_loads(line, 0, NULL);
        submit(&ask, json, number);
        json_decref(json);
    }
    if (ask.leave > 0)
        pthread_create(&leaver, NULL, leave, &ask);
    for (struct gen_reply *reply; (reply = gen_client_next(ask.client)); gen_reply_free(reply))
        print_reply(reply);
    if (ask.leave > 0)
        pthread_join(leaver, NULL);
    gen_client_close(ask.client);
    gen_model_free(&ask.model);
    free(line);
    return 0;
}
