/* Local memories: which there are, how large, and which one a position means (asc-devkit: impl/basic_api, positions of
 * NPU_ARCH 2201; guide, NPU架构版本2201; facts of the .ini files, section AICoreSpec, the same for every SKU). */
#include "npu/memory.h"

#include "npu/report.h"

/* A tensor of a memory that the core does not have: AIVs have no L1, AICs no UB. Nothing reads or writes there, because
 * the instructions on such tensors do nothing; a plain pointer into it faults. */
#define NPU_ELSEWHERE (UINT64_C(1) << 56)

const struct npu_memory_row npu_memories[NPU_MEMORIES] = {
    [NPU_MEM_UB] = {"UB", NPU_UB_BYTES, 0, FAULT_ub_out_of_bounds, FAULT_ub_overflow, FAULT_ub_overbooked},
    [NPU_MEM_L1] = {"L1", NPU_L1_BYTES, NPU_L1_AT, FAULT_l1_out_of_bounds, FAULT_l1_overflow, FAULT_l1_overbooked},
    [NPU_MEM_L0A] = {"L0A", NPU_L0A_BYTES, NPU_L0A_AT, FAULT_l0a_out_of_bounds, FAULT_l0a_overflow,
                     FAULT_l0a_overbooked},
    [NPU_MEM_L0B] = {"L0B", NPU_L0B_BYTES, NPU_L0B_AT, FAULT_l0b_out_of_bounds, FAULT_l0b_overflow,
                     FAULT_l0b_overbooked},
    [NPU_MEM_L0C] = {"L0C", NPU_L0C_BYTES, NPU_L0C_AT, FAULT_l0c_out_of_bounds, FAULT_l0c_overflow,
                     FAULT_l0c_overbooked},
    [NPU_MEM_BT] = {"BT", NPU_BT_BYTES, NPU_BT_AT, FAULT_bt_out_of_bounds, FAULT_bt_overflow, FAULT_bt_overbooked},
    [NPU_MEM_FB] = {"FB", NPU_FB_BYTES, NPU_FB_AT, FAULT_fb_out_of_bounds, FAULT_fb_overflow, FAULT_fb_overbooked},
};

enum npu_memory npu_memory_of(int position)
{
    static const int8_t memory[NPU_POSITION_MAX] = {
        [NPU_GM] = NPU_MEM_NONE,      [NPU_A1] = NPU_MEM_L1,
        [NPU_A2] = NPU_MEM_L0A,       [NPU_B1] = NPU_MEM_L1,
        [NPU_B2] = NPU_MEM_L0B,       [NPU_C1] = NPU_MEM_L1,
        [NPU_C2] = NPU_MEM_BT,        [NPU_CO1] = NPU_MEM_L0C,
        [NPU_CO2] = NPU_MEM_NONE,     [NPU_VECIN] = NPU_MEM_UB,
        [NPU_VECOUT] = NPU_MEM_UB,    [NPU_VECCALC] = NPU_MEM_UB,
        [NPU_SPM] = NPU_MEM_L1,       [NPU_TSCM] = NPU_MEM_L1,
        [NPU_C2PIPE2GM] = NPU_MEM_FB, [NPU_C2PIPE2LOCAL] = NPU_MEM_NONE,
    };
    return position >= 0 && position < NPU_POSITION_MAX ? (enum npu_memory)memory[position] : NPU_MEM_NONE;
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
        npu_trap(core, FAULT_que_uninitialized, operand, "a tensor is used that Get of a TBuf gave before InitBuffer");
}
