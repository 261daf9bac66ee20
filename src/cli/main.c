/* akgen: one program, one subcommand per file. */
#include "base/inject.h"
#include "base/memory.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"eval", cli_eval, "build a candidate, run it on the simulated NPU, judge it"},
    {"compare", cli_compare, "two candidates side by side, in modelled time"},
    {"run", cli_run, "run one case with an instruction log, its tensors or a debugger"},
    {"bench", cli_bench, "evaluate a tree of candidates over a suite of tasks"},
    {"report", cli_report, "tables, pages and comparisons of stored runs"},
    {"gen", cli_gen, "write a project for a task and prove it"},
    {"tune", cli_tune, "find the tiles, queues and cores for which a candidate's modelled time is shortest"},
    {"export", cli_export, "training data of stored runs; a judged project to be confirmed on a chip"},
    {"task", cli_task, "list, show and check benchmark tasks"},
    {"dsl", cli_dsl, "check, format and interpret programs in AscendDSL"},
    {"lm", cli_lm, "language models: train them, let them write"},
    {"cot", cli_cot, "training data: made, counted, searched"},
    {"serve", cli_serve, "verdicts for another program, over standard input and output"},
    {"soc", cli_soc, "list the simulated chips, show one"},
    {"doctor", cli_doctor, "say what this machine has and what is missing"},
};

static void print_help(FILE *out)
{
    fprintf(out, "Usage: akgen COMMAND [ARGUMENT...]\n"
                 "AscendKernelGen in C: kernels for Ascend NPUs, compiled, run and judged on a simulated 910B.\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\n'akgen COMMAND --help' explains a command. 'akgen --version' prints the version.\n"
                 "Exit codes: 0 pass, 1 any other verdict, 2 wrong usage, 3 failure of akgen itself.\n");
}

int main(int argc, char **argv)
{
    argp_err_exit_status = EXIT_USAGE;
    json_set_alloc_funcs(memory_alloc, free);
    inject_from_environment();
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return EXIT_PASS;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("akgen %s\n", AKGEN_VERSION);
        return EXIT_PASS;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            static char name[64];
            snprintf(name, sizeof name, "akgen %s", commands[i].name);
            argv[1] = name;
            return commands[i].run(argc - 1, argv + 1);
        }
    fprintf(stderr, "akgen: no command '%s'; 'akgen --help' lists them\n", argv[1]);
    return EXIT_USAGE;
}
