/* akgen lm plan: what a model needs to be trained and to write. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/cpu.h"
#include "lm/plan.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_TOKENS = 0x500, KEY_LENGTH, KEY_LORA, KEY_RATE, KEY_THREADS, KEY_JSON, SIDE = 1024, WRITING = 5, ROWS = 11 };

static const struct argp_option options[] = {
    {"tokens", KEY_TOKENS, "N", 0, "of a pass in training (default 4096)", 1},
    {"length", KEY_LENGTH, "N", 0, "of a text that is written (default 4096, or what the model can read)", 1},
    {"lora", KEY_LORA, "RANK", 0, "of adapters (default 16)", 1},
    {"gflops", KEY_RATE, "G", 0, "what products of matrices do here; 0: not known (default: measured, in a second)", 1},
    {"threads", KEY_THREADS, "N", 0, "default: one for each processor", 1},
    {"json", KEY_JSON, NULL, 0, "print it as JSON, in bytes", 1},
    {0},
};
struct arguments {
    const char *model;
    int tokens, longest, rank, threads;
    double gflops; /* below 0: measure */
    bool json;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case KEY_TOKENS:
        arguments->tokens = (int)cli_parse_number(state, "tokens", text, 1, 1 << 24);
        break;
    case KEY_LENGTH:
        arguments->longest = (int)cli_parse_number(state, "length", text, 1, 1 << 24);
        break;
    case KEY_LORA:
        arguments->rank = (int)cli_parse_number(state, "lora", text, 1, 4096);
        break;
    case KEY_RATE:
        arguments->gflops = (double)cli_parse_number(state, "gflops", text, 0, 1 << 30);
        break;
    case KEY_THREADS:
        arguments->threads = (int)cli_parse_number(state, "threads", text, 1, 1024);
        break;
    case KEY_JSON:
        arguments->json = true;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "unexpected argument '%s'", text);
        arguments->model = text;
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

/* 10^9 operations a second of a product of square matrices, the best of some. */
static double measure(int threads)
{
    struct lm_backend *cpu = lm_cpu_new_split(threads);
    float *arrays = memory_alloc(3L * SIDE * SIDE * sizeof *arrays);
    double best = 1e9;
    for (double start = clock_seconds(); clock_seconds() - start < 0.7;) {
        double before = clock_seconds();
        cpu->operations->linear(cpu, arrays, SIDE, arrays + SIDE * SIDE, SIDE, arrays + 2L * SIDE * SIDE, SIDE, SIDE,
                                SIDE, 1, 0);
        double took = clock_seconds() - before;
        best = took < best ? took : best;
    }
    free(arrays);
    lm_cpu_free(cpu);
    return 2.0 * SIDE * SIDE * SIDE / best / 1e9;
}

static void print_row(const char *name, const struct lm_plan *plan, double gflops)
{
    static const double GB = 1e9;
    printf("%-34s %8.2f %9.2f %7.2f %11.2f %7.2f %8.2f", name, (double)plan->weights / GB, (double)plan->gradients / GB,
           (double)plan->means / GB, (double)plan->activations / GB, (double)plan->cache / GB, (double)plan->all / GB);
    if (gflops > 0)
        printf(" %10.4g", gflops * 1e9 / plan->operations);
    putchar('\n');
}

static json_t *row_json(const char *name, const struct lm_plan *plan, double gflops)
{
    json_t *row =
        json_pack("{s:s s:I s:I s:I s:I s:I s:I s:I s:f}", "what", name, "trained", (json_int_t)plan->trained,
                  "weights", (json_int_t)plan->weights, "gradients", (json_int_t)plan->gradients, "means",
                  (json_int_t)plan->means, "activations", (json_int_t)plan->activations, "cache",
                  (json_int_t)plan->cache, "all", (json_int_t)plan->all, "operations_per_token", plan->operations);
    if (gflops > 0)
        json_object_set_new(row, "tokens_per_second", json_real(gflops * 1e9 / plan->operations));
    return row;
}

static struct akgen_error *print_plan(const struct arguments *arguments, const struct lm_config *config)
{
    struct lm_adapters_options lora = {.rank = arguments->rank, .alpha = 1};
    int longest = arguments->longest < config->max_positions ? arguments->longest : config->max_positions;
    for (int target = 0; target < LM_TARGETS; target++)
        lora.targets[target] = true;
    const struct {
        const char *name;
        struct lm_plan_options options;
    } rows[ROWS] = {
        {"write 1 text", {.texts = 1, .longest = longest}},
        {"write 8 texts", {.texts = 8, .longest = longest}},
        {"write 32 texts", {.texts = 32, .longest = longest}},
        {"write 1 text, --int8", {.texts = 1, .longest = longest, .int8 = true}},
        {"write 8 texts, --int8", {.texts = 8, .longest = longest, .int8 = true}},
        {"train all", {.training = true, .tokens = arguments->tokens}},
        {"train all, --recompute", {.training = true, .tokens = arguments->tokens, .recompute = true}},
        {"train adapters (--lora)", {.training = true, .tokens = arguments->tokens, .adapters = &lora}},
        {"train adapters, --recompute",
         {.training = true, .tokens = arguments->tokens, .adapters = &lora, .recompute = true}},
        {"train all, --online",
         {.training = true, .tokens = arguments->tokens, .online = true, .texts = 32, .longest = longest}},
        {"train adapters, --online",
         {.training = true,
          .tokens = arguments->tokens,
          .adapters = &lora,
          .online = true,
          .texts = 32,
          .longest = longest}},
    };
    double gflops = arguments->gflops < 0 ? measure(arguments->threads) : arguments->gflops;
    struct lm_plan plan;
    struct akgen_error *error = lm_plan(config, &rows[0].options, &plan);
    json_t *list = json_array();
    if (!error && !arguments->json)
        printf("%.4g million parameters, %.4g million of them for each token; float32\n"
               "passes of %d tokens in training, texts of %d; adapters of rank %d; %.0f GFLOP/s in products of "
               "matrices\n\n"
               "%-34s %8s %9s %7s %11s %7s %8s %10s\n",
               (double)plan.parameters / 1e6, (double)plan.active / 1e6, arguments->tokens, longest, arguments->rank,
               gflops, "GB", "weights", "gradients", "AdamW", "activations", "cache", "all",
               gflops > 0 ? "tokens/s" : "");
    for (int i = 0; i < (config->experts ? WRITING : ROWS) && !error; i++) {
        struct lm_plan_options how = rows[i].options;
        how.threads = arguments->threads;
        if ((error = lm_plan(config, &how, &plan)))
            break;
        if (arguments->json)
            json_array_append_new(list, row_json(rows[i].name, &plan, gflops));
        else
            print_row(rows[i].name, &plan, gflops);
    }
    if (!error && arguments->json) {
        json_t *root = json_pack("{s:I s:I s:f s:O}", "parameters", (json_int_t)plan.parameters, "active",
                                 (json_int_t)plan.active, "gflops", gflops, "rows", list);
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(root);
    } else if (!error && gflops > 0) {
        printf("\ntokens/s: arithmetic alone, at that rate: a bound. Writing few texts is slower, by the time that "
               "reading all weights takes.\n");
    }
    json_decref(list);
    return error;
}

int cli_lm_plan(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "MODEL",
        .doc = "Says what memory and time a model needs, from its config.json alone.\vMODEL is a folder or the file "
               "itself.",
    };
    struct arguments arguments = {.tokens = 4096, .longest = 4096, .rank = 16, .gflops = -1};
    struct arena arena = {0};
    struct lm_config config;
    cli_parse(&argp, argc, argv, &arguments);
    const char *inside = arena_printf(&arena, "%s/config.json", arguments.model);
    struct akgen_error *error = lm_config_read(files_exists(inside) ? inside : arguments.model, &config);
    if (!error)
        error = print_plan(&arguments, &config);
    arena_free(&arena);
    if (error)
        return cli_fail(error->of_the_file ? EXIT_USAGE : EXIT_OWN_FAILURE, error);
    return EXIT_PASS;
}
