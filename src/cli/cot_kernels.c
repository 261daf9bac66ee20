/* akgen cot kernels: kernels of a folder, each merged into one file that compiles. */
#include "cot/kernels.h"
#include "cli/cli.h"
#include "cli/cot.h"
#include "cli/cot_files.h"
#include "cli/cot_model.h"
#include "toolchain/toolchain.h"

struct arguments {
    struct cli_cot_files files;
    struct cot_kernels_options kernels;
    struct cli_cot_model model;
};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"seed", 's', "S", CLI_NUMBER(kernels.seed, 0, 1L << 60), 1, "of the requests' wording (default 0)"},
};

int cli_cot_kernels(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_cot_files_table, CLI_AT(files)},
                  {&cli_cot_jobs_table, CLI_AT(kernels.jobs)},
                  {&cli_cot_model_table, CLI_AT(model)}},
        .args_doc = "DIR --db FILE",
        .doc = "Makes samples of part 'kernel' of the kernels in a folder: a file is merged with what it includes from "
               "there, what its entry does not need is left out, and the rest is compiled as it is. The request is "
               "made of the functions that it calls.\vKernels with the name of a benchmark's operator are dropped. "
               "What is dropped is counted with its reason ('akgen cot stats'). A run that was killed goes on.",
    };
    struct arguments arguments = {.files.needed = "a folder", .model.model = cli_model_defaults()};
    struct arena arena = {0};
    struct store *store = NULL;
    struct cot_counts counts = {0};
    struct task *tasks;
    cli_parse(&table, argc, argv, &arguments);
    arguments.kernels.licence = arguments.files.licence;
    struct akgen_error *error = store_open(arguments.files.db, &store);
    if (!error)
        error = task_load_all(&arena, toolchain_home(), &tasks, &arguments.kernels.task_count);
    if (!error)
        error = cli_cot_model_open(&arguments.model, store);
    arguments.kernels.asker = arguments.model.asker;
    if (!error) {
        arguments.kernels.tasks = tasks;
        error = cot_kernels(store, arguments.files.path, &arguments.kernels, &counts);
    }
    if (!error)
        printf("%lld files: %lld samples added, %lld of them without what is not needed; %lld dropped; %.1f s\n",
               (long long)counts.sources, (long long)counts.added, (long long)counts.made,
               (long long)(counts.dropped + counts.repeated), counts.seconds);
    int code = cli_cot_model_close(&arguments.model, &counts);
    store_close(store);
    arena_free(&arena);
    return error ? cli_fail(EXIT_USAGE, error) : code;
}
