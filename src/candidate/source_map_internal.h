/* The map of lines, as source_map.c makes it and reader_wire.c sends it. */
#ifndef CANDIDATE_SOURCE_MAP_INTERNAL_H
#define CANDIDATE_SOURCE_MAP_INTERNAL_H

#include "candidate/source_map.h"

struct source_range {
    int first, line; /* of the project's file, of the program (0: none) */
};
struct source_file {
    const char *path;
    struct source_range *ranges; /* ascending */
    int count;
};
struct source_text {
    int line;
    const char *text;
};
struct source_map {
    const char *program;
    struct source_file *files;
    struct source_text *texts;
    int file_count, text_count;
};

#endif
