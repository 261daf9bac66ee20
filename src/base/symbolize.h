/* From an address in a kernel object to the line of the author's source. */
#ifndef BASE_SYMBOLIZE_H
#define BASE_SYMBOLIZE_H

#include <stdbool.h>
#include <stdint.h>

struct symbolizer;
/* Reads the line tables of an ELF file; NULL if it has none or fd is negative. The descriptor stays the caller's and
 * must outlive the symbolizer. */
struct symbolizer *symbolizer_open(int fd);
void symbolizer_close(struct symbolizer *symbolizer);
/* The place of the instruction at file address `address`. A place in `headers` (a directory, may be NULL) is replaced
 * by the nearest call outside of it; false if there is none, or no line is known. *file lives as long as the
 * symbolizer. */
bool symbolizer_place(struct symbolizer *symbolizer, uint64_t address, const char *headers, const char **file,
                      int *line);
struct symbolizer_call {
    const char *file; /* lives as long as the symbolizer */
    int line;
};
/* The calls outside of `headers` that were inlined around the address, innermost first; how many, at most `most`. */
int symbolizer_calls(struct symbolizer *symbolizer, uint64_t address, const char *headers,
                     struct symbolizer_call *calls, int most);

#endif
