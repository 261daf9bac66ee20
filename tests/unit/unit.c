/* The main of every program of unit tests: finds the file of tests that is asked for. */
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

int unit_argc;
char **unit_argv;

int main(int argc, char **argv)
{
    const struct unit_file *file = unit_files;
    while (argc > 1 && file->name && strcmp(file->name, argv[1]) != 0)
        file++;
    if (argc > 1 && file->name) {
        unit_argc = argc - 1;
        unit_argv = argv + 1;
        return file->run();
    }
    fprintf(stderr, "usage: %s FILE [ARGUMENT...] with a FILE of\n", argv[0]);
    for (file = unit_files; file->name; file++)
        fprintf(stderr, "  %s\n", file->name);
    return 2;
}
