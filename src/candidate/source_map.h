/* The map beside a project that a compiler made of a program: which line of the program each line of the project comes from.
 *
 *     {"version": 1, "program": "program.py", "digest": "the first 32 digits of the SHA-256 of its text",
 *      "files": {"op_kernel/sqrt.cpp": [[28, 17], [30, 18], [31, 0]], ..},   from line 28 on line 17 of the program, and so on
 *      "lines": {"17": "tl.load(x + at, x_ub)", ..}}                         0: from none
 *
 * A candidate's map is what the candidate says of itself: it is shown, and decides nothing. */
#ifndef CANDIDATE_SOURCE_MAP_H
#define CANDIDATE_SOURCE_MAP_H

#include "jail/job.h"
#include "op/op.h"

#define SOURCE_MAP_FILE "program.map.json" /* in the project's folder */
enum { SOURCE_MAP_VERSION = 1, SOURCE_MAP_LIMIT = 1 << 20 /* bytes; a larger one is not read */ };

struct source_map;
struct dsl_lowered;
/* NULL: the text is no map, whatever else it is. */
const struct source_map *source_map_parse(struct arena *arena, const char *text, size_t length);
/* The map among the files of a project. NULL: there is none, it is too large, or it is no map. */
const struct source_map *source_map_of_files(struct arena *arena, const struct op_files *files);
/* The map of a compiled program, and in *text what source_map_parse() makes the same map of. NULL: a line of the program is none
 * that a map holds, or there are too many. */
const struct source_map *source_map_of_program(struct arena *arena, const struct dsl_lowered *lowered,
                                               const char **text);

struct source_place {
    const char *program; /* the file's name; NULL: it comes from no known line */
    int line;
    const char *text; /* NULL: unknown */
};
/* Where line `line` of the project's file comes from. `map` and `file` may be NULL. */
struct source_place source_map_find(const struct source_map *map, const char *file, int line);
/* The same of where something was found, or of the other access. A function that the compiler gave the project comes from no line:
 * then the call of it that was inlined. */
struct source_place source_map_of_finding(const struct source_map *map, const struct job_finding *finding, bool other);
/* The same of any line, with the calls that were inlined around it (as of a finding; NULL: none are known). */
struct source_place source_map_of_calls(const struct source_map *map, const char *file, int line,
                                        const struct job_call *calls);
/* As verdicts have it; null where it is none. */
json_t *source_place_to_json(struct source_place place);

#endif
