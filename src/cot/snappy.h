/* Snappy's raw format, as format_description.txt of the project describes it: read alone. */
#ifndef COT_SNAPPY_H
#define COT_SNAPPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes exactly `size` bytes. False: `from` is no such format, or holds another number of bytes. */
bool snappy_read(const uint8_t *from, size_t length, uint8_t *to, size_t size);

#endif
