/* Local memories (memory.c). An AIV has UB. An AIC has the others, which lie one after another in what core->ub points
 * to. */
#ifndef NPU_MEMORY_H
#define NPU_MEMORY_H

#include "npu/npu_internal.h"

enum {
    NPU_UB_GUARD = 65536
}; /* bytes before and behind a core's UB that count as overruns of it; area.c leaves more free */
enum npu_memory {
    NPU_MEM_NONE = -1, /* GM, or no memory of this chip */
#define NPU_MEMORY(id, bytes, told, ...) NPU_MEM_##id,
#include "npu/memory.def"
#undef NPU_MEMORY
    NPU_MEMORIES
};
enum {
#define NPU_MEMORY(id, bytes, told, ...) NPU_##id##_BYTES = bytes,
#include "npu/memory.def"
#undef NPU_MEMORY
};
/* UB, and behind it what an AIC has, in whole pages. */
struct npu_memory_layout {
#define NPU_MEMORY(id, bytes, told, ...) uint8_t id[bytes];
#include "npu/memory.def"
#undef NPU_MEMORY
};
enum {
    NPU_PAGE = 4096,
    NPU_AIC_BYTES = (sizeof(struct npu_memory_layout) - NPU_UB_BYTES + NPU_PAGE - 1) / NPU_PAGE * NPU_PAGE
};
struct npu_memory_row {
    const char *name;
    uint32_t bytes, at; /* at: offset in an AIC's memory */
    const struct npu_fault *out_of_bounds, *overflow, *overbooked;
};
extern const struct npu_memory_row npu_memories[NPU_MEMORIES];

enum npu_memory npu_memory_of(int position);
/* "VECIN", "CO1", ...: CANN's name. */
const char *npu_position_name(int position);
static inline bool npu_position_on_ub(int position)
{
    return position == NPU_VECIN || position == NPU_VECOUT || position == NPU_VECCALC;
}
static inline bool npu_memory_on(const struct npu_core *core, enum npu_memory memory)
{
    return core->aic == (memory != NPU_MEM_UB);
}
/* True if addr lies in the core's own memory: UB, on an AIC any of the cube's. */
static inline bool npu_in_ub(const struct npu_core *core, uint64_t addr)
{
    return addr - (uint64_t)core->ub < core->ub_bytes;
}
uint32_t npu_memory_bytes(const struct npu_core *core, enum npu_memory memory);
/* Where a memory begins. Of a memory that the core lacks: an address that leads nowhere. */
uint64_t npu_memory_base(const struct npu_core *core, enum npu_memory memory);
/* The memory of this core that holds addr. */
enum npu_memory npu_memory_at(const struct npu_core *core, uint64_t addr);

/* Where the tensor of a TBuf without InitBuffer lies: outside all memories. */
#define NPU_UNPLACED (UINT64_C(1) << 57)
/* The trap for an access to such a tensor; returns if the address is another. */
void npu_trap_unplaced(struct npu_core *core, const char *operand, uint64_t addr);

#endif
