/* Local memories: which there are, how large, and which one a position means (asc-devkit: impl/basic_api, positions of
 * NPU_ARCH 2201; guide, NPU架构版本2201; facts of the .ini files, section AICoreSpec, the same for every SKU). */
#include "npu/memory.h"

#include "npu/report.h"

/* A tensor of a memory that the core does not have: AIVs have no L1, AICs no UB. Nothing reads or writes there, because
 * the instructions on such tensors do nothing; a plain pointer into it faults. */
#define NPU_ELSEWHERE (UINT64_C(1) << 56)

#define NPU_MEMORY(id, bytes, told, out_of_bounds, overflow, overbooked)                                               \
    extern const struct npu_fault fault_##out_of_bounds, fault_##overflow, fault_##overbooked;
#include "npu/memory.def"
#undef NPU_MEMORY
const struct npu_memory_row npu_memories[NPU_MEMORIES] = {
#define NPU_MEMORY(id, bytes, told, out_of_bounds, overflow, overbooked)                                               \
    [NPU_MEM_##id] = {#id,                                                                                             \
                      bytes,                                                                                           \
                      NPU_MEM_##id ? (uint32_t)(offsetof(struct npu_memory_layout, id) - NPU_UB_BYTES) : 0,            \
                      &fault_##out_of_bounds,                                                                          \
                      &fault_##overflow,                                                                               \
                      &fault_##overbooked},
#include "npu/memory.def"
#undef NPU_MEMORY
};

static const struct {
    const char *name;
    int8_t memory;
} positions[NPU_POSITION_MAX] = {
#define NPU_POSITION(id, memory) [NPU_##id] = {#id, NPU_MEM_##memory},
#include "abi/position.def"
#undef NPU_POSITION
};

enum npu_memory npu_memory_of(int position)
{
    return position >= 0 && position < NPU_POSITION_MAX ? (enum npu_memory)positions[position].memory : NPU_MEM_NONE;
}

const char *npu_position_name(int position)
{
    return position >= 0 && position < NPU_POSITION_MAX ? positions[position].name : "";
}

uint32_t npu_memory_bytes(const struct npu_core *core, enum npu_memory memory)
{
    return memory == NPU_MEM_UB && !core->aic ? core->ub_bytes : npu_memories[memory].bytes;
}

uint64_t npu_memory_base(const struct npu_core *core, enum npu_memory memory)
{
    if (npu_memory_on(core, memory))
        return (uint64_t)core->ub + npu_memories[memory].at;
    return NPU_ELSEWHERE | (uint64_t)memory << 32;
}

enum npu_memory npu_memory_at(const struct npu_core *core, uint64_t addr)
{
    uint64_t offset = addr - (uint64_t)core->ub;
    if (offset >= core->ub_bytes)
        return NPU_MEM_NONE;
    if (!core->aic)
        return NPU_MEM_UB;
    int memory = NPU_MEM_FB;
    while (offset < npu_memories[memory].at)
        memory--;
    return (enum npu_memory)memory;
}

void npu_trap_unplaced(struct npu_core *core, const char *operand, uint64_t addr)
{
    if (addr - NPU_UNPLACED < UINT32_MAX)
        npu_trap(core, FAULT(que_uninitialized), operand, "a tensor is used that Get of a TBuf gave before InitBuffer");
}
