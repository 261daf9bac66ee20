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

enum { SIDE = 1024, WRITING = 5, ROWS = 11 };

struct arguments {
    const char *model;
    int tokens, longest, rank, threads;
    double gflops; /* below 0: measure */
    bool json;
};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"tokens", 0, "N", CLI_NUMBER(tokens, 1, 1 << 24), 1, "of a pass in training (default 4096)"},
    {"length", 0, "N", CLI_NUMBER(longest, 1, 1 << 24), 1,
     "of a text that is written (default 4096, or what the model can read)"},
    {"lora", 0, "RANK", CLI_NUMBER(rank, 1, 4096), 1, "of adapters (default 16)"},
    {"gflops", 0, "G", CLI_NUMBER(gflops, 0, 1 << 30), 1,
     "what products of matrices do here; 0: not known (default: measured, in a second)"},
    {"threads", 0, "N", CLI_NUMBER(threads, 1, 1024), 1, "default: one for each processor"},
    {"json", 0, NULL, CLI_FLAG(json), 1, "print it as JSON, in bytes"},
    {NULL, 0, "MODEL", CLI_TEXT(model, .needed = true), 0, NULL},
};

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
    } plans[ROWS] = {
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
    struct akgen_error *error = lm_plan(config, &plans[0].options, &plan);
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
        struct lm_plan_options how = plans[i].options;
        how.threads = arguments->threads;
        if ((error = lm_plan(config, &how, &plan)))
            break;
        if (arguments->json)
            json_array_append_new(list, row_json(plans[i].name, &plan, gflops));
        else
            print_row(plans[i].name, &plan, gflops);
    }
    if (!error && arguments->json) {
        json_t *root = json_pack("{s:I s:I s:f s:O}", "parameters", (json_int_t)plan.parameters, "active",
                                 (json_int_t)plan.active, "gflops", gflops, "rows", list);
        cli_print_json(root, JSON_INDENT(2));
    } else if (!error && gflops > 0) {
        printf("\ntokens/s: arithmetic alone, at that rate: a bound. Writing few texts is slower, by the time that "
               "reading all weights takes.\n");
    }
    json_decref(list);
    return error;
}

int cli_lm_plan(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "MODEL is needed",
        .excess = CLI_UNEXPECTED,
        .args_doc = "MODEL",
        .doc = "Says what memory and time a model needs, from its config.json alone.\vMODEL is a folder or the file "
               "itself.",
    };
    struct arguments arguments = {.tokens = 4096, .longest = 4096, .rank = 16, .gflops = -1};
    struct arena arena = {0};
    struct lm_config config;
    cli_parse(&table, argc, argv, &arguments);
    const char *inside = arena_printf(&arena, "%s/config.json", arguments.model);
    struct akgen_error *error = lm_config_read(files_exists(inside) ? inside : arguments.model, &config);
    if (!error)
        error = print_plan(&arguments, &config);
    arena_free(&arena);
    return cli_end(error);
}
