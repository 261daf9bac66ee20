/* Local memories (memory.c). An AIV has UB. An AIC has the others, which lie one after another in what core->ub points
 * to. */
#ifndef NPU_MEMORY_H
#define NPU_MEMORY_H

#include "npu/npu_internal.h"

enum { NPU_UB_GUARD = 65536 }; /* inaccessible bytes before and behind a core's UB */
enum npu_memory {
    NPU_MEM_NONE = -1, /* GM, or no memory of this chip */
    NPU_MEM_UB,
    NPU_MEM_L1,
    NPU_MEM_L0A,
    NPU_MEM_L0B,
    NPU_MEM_L0C,
    NPU_MEM_BT, /* bias table */
    NPU_MEM_FB, /* fixpipe buffer: the part that holds quantisation parameters, 256 of 8 bytes */
    NPU_MEMORIES
};
enum {
    NPU_UB_BYTES = 196608,
    NPU_L1_BYTES = 524288,
    NPU_L0A_BYTES = 65536,
    NPU_L0B_BYTES = 65536,
    NPU_L0C_BYTES = 131072,
    NPU_BT_BYTES = 1024,
    NPU_FB_BYTES = 2048,
    NPU_L1_AT = 0,
    NPU_L0A_AT = NPU_L1_AT + NPU_L1_BYTES,
    NPU_L0B_AT = NPU_L0A_AT + NPU_L0A_BYTES,
    NPU_L0C_AT = NPU_L0B_AT + NPU_L0B_BYTES,
    NPU_BT_AT = NPU_L0C_AT + NPU_L0C_BYTES,
    NPU_FB_AT = NPU_BT_AT + NPU_BT_BYTES,
    NPU_AIC_BYTES = NPU_FB_AT + NPU_FB_BYTES + 1024 /* whole pages */
};
struct npu_memory_row {
    const char *name;
    uint32_t bytes, at; /* at: offset in an AIC's memory */
    enum npu_fault out_of_bounds, overflow, overbooked;
};
extern const struct npu_memory_row npu_memories[NPU_MEMORIES];

enum npu_memory npu_memory_of(int position);
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
