/* akgen cot kernels: kernels of a folder, each merged into one file that compiles. */
#include "cot/kernels.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/cot.h"
#include "toolchain/toolchain.h"

enum { KEY_LICENCE_OF = 0x500 };

struct arguments {
    const char *db, *path;
    struct cot_kernels_options kernels;
};

static const struct argp_option options[] = {
    {"seed", 's', "S", 0, "of the requests' wording (default 0)", 1},
    {"of-licence", KEY_LICENCE_OF, "SPDX", 0, "the licence of files that name none (default: unknown)", 1},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->db;
        break;
    case 's':
        arguments->kernels.seed = (uint64_t)cli_parse_number(state, "seed", text, 0, 1L << 60);
        break;
    case KEY_LICENCE_OF:
        arguments->kernels.licence = text;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "unexpected argument '%s'", text);
        arguments->path = text;
        break;
    case ARGP_KEY_END:
        if (!arguments->path)
            argp_error(state, "a folder is needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int cli_cot_kernels(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_cot_db_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "DIR --db FILE",
        .doc = "Makes samples of part 'kernel' of the kernels in a folder: a file is merged with what it includes from "
               "there, what its entry does not need is left out, and the rest is compiled as it is. The request is "
               "made of the functions that it calls.\vKernels with the name of a benchmark's operator are dropped. "
               "What is dropped is counted with its reason ('akgen cot stats'). A run that was killed goes on.",
        .children = children,
    };
    struct arguments arguments = {0};
    struct arena arena = {0};
    struct cot_store *store = NULL;
    struct cot_kernels_counts counts = {0};
    struct task *tasks;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    double begin = clock_seconds();
    struct akgen_error *error = cot_store_open(arguments.db, &store);
    if (!error)
        error = task_load_all(&arena, toolchain_home(), &tasks, &arguments.kernels.task_count);
    if (!error) {
        arguments.kernels.tasks = tasks;
        error = cot_kernels(store, arguments.path, &arguments.kernels, &counts);
    }
    double seconds = clock_seconds() - begin;
    if (store)
        cot_store_close(store);
    arena_free(&arena);
    if (error)
        return cli_fail(EXIT_USAGE, error);
    printf("%lld files: %lld samples added, %lld of them without what is not needed; %lld dropped; %.1f s\n",
           (long long)counts.files, (long long)counts.added, (long long)counts.pruned, (long long)counts.dropped,
           seconds);
    return EXIT_PASS;
}
