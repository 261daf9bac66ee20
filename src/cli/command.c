/* Commands that have commands: akgen lm train, akgen cot synth. */
#include "cli/cli.h"

#include <string.h>

static void print_help(FILE *out, const char *group, const char *about, const struct cli_command *commands,
                       size_t count)
{
    fprintf(out, "Usage: akgen %s COMMAND [ARGUMENT...]\n%s\n\n", group, about);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\n'akgen %s COMMAND --help' explains a command.\n", group);
}

int cli_run_command(const char *group, const char *about, const struct cli_command *commands, size_t count, int argc,
                    char **argv)
{
    if (argc < 2) {
        print_help(stderr, group, about, commands, count);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "-?") == 0) {
        print_help(stdout, group, about, commands, count);
        return EXIT_PASS;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            static char name[64];
            snprintf(name, sizeof name, "akgen %s %s", group, commands[i].name);
            argv[1] = name;
            return commands[i].run(argc - 1, argv + 1);
        }
    fprintf(stderr, "akgen %s: no command '%s'; 'akgen %s --help' lists them\n", group, argv[1], group);
    return EXIT_USAGE;
}
