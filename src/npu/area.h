/* Where the memories of the device lie in this process (area.c): at the same addresses in every run, far from the
 * program, its libraries, heap and stack. So an address alone says which memory it belongs to, and a kernel that prints
 * or computes with one does the same every time. Whatever is not mapped in an area is its guard: it faults. */
#ifndef NPU_AREA_H
#define NPU_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum npu_area {
    NPU_AREA_TENSORS, /* GM: the tensors of a case */
    NPU_AREA_BLOCKS,  /* GM: workspace, tiling data, address tables */
    NPU_AREA_LOCAL,   /* UB of AIVs, the memories of AICs: one core after another */
    NPU_AREA_STACKS,  /* the stacks of blocks */
    NPU_AREAS
};
/* Maps zeros that may be read and written, or, with a descriptor, the file behind it, shared. *next is the offset in
 * the area to begin the search for free room at, 0 at first; it moves on behind what was mapped and a guard of a step
 * at least. MAP_FAILED with errno if there is no room. munmap frees it. */
void *npu_area_map(enum npu_area area, uint64_t *next, size_t bytes, int fd);
/* The address space [*low, *low + *bytes) of GM and local memories; the stacks lie behind it. False if this machine has
 * no room for them. */
bool npu_area_device(uint64_t *low, uint64_t *bytes);
/* The area that holds addr, mapped or not; NPU_AREAS if none does. */
enum npu_area npu_area_of(uint64_t addr);

#endif
