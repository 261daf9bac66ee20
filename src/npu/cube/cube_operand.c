/* Checks and moves that the cube's instructions share (cube_internal.h). */
#include "npu/cube/cube_internal.h"
#include "npu/gm/gm.h"
#include "npu/gm/shadow.h"
#include "npu/isa.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <stdio.h>
#include <string.h>

uint32_t npu_cube_bits(int type)
{
    return type == AKGEN_INT4 ? 4 : (uint32_t)akgen_dtype_size(type) * 8;
}

/* "L0A or L0B" */
static void name_memories(unsigned memories, char *text, size_t bytes)
{
    size_t used = 0;
    for (int memory = 0; memory < NPU_MEMORIES; memory++)
        if (memories >> memory & 1 && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? " or " : "", npu_memories[memory].name);
}

void npu_check_cube_operand(struct npu_core *core, const struct npu_tensor *tensor, const char *operand,
                            unsigned memories, uint32_t alignment)
{
    enum npu_memory memory = npu_memory_of(tensor->position);
    if (memory == NPU_MEM_NONE || !(memories >> memory & 1)) {
        char wanted[64];
        name_memories(memories, wanted, sizeof wanted);
        npu_trap(core, FAULT(cube_position), operand, "%s of %s lies in %s, not in %s", operand,
                 npu_isa[core->insn->op].name, memory == NPU_MEM_NONE ? "GM" : npu_memories[memory].name, wanted);
    }
    uint64_t offset = tensor->addr - npu_memory_base(core, memory);
    if (offset % alignment)
        npu_trap(core, FAULT(cube_alignment), operand, "%s offset %llu is not a multiple of %u bytes",
                 npu_memories[memory].name, (unsigned long long)offset, alignment);
}

void npu_check_cube_field(struct npu_core *core, const char *field, int64_t value, int64_t limit)
{
    if (value < 0 || value > limit)
        npu_trap(core, FAULT(cube_params), field, "%s is %lld, the field holds 0 to %lld", field, (long long)value,
                 (long long)limit);
}

struct npu_access npu_cube_access(const struct npu_tensor *tensor, const char *operand, bool write, uint64_t offset,
                                  uint32_t bytes)
{
    return (struct npu_access){.addr = tensor->addr + offset,
                               .bytes = bytes,
                               .count = 1,
                               .count2 = 1,
                               .write = write,
                               .flags = tensor->flags,
                               .tensor = tensor,
                               .operand = operand};
}

void npu_cube_move(struct npu_core *core, void *to, const void *from, size_t bytes)
{
    memmove(to, from, bytes);
    npu_shadow_copy(core, to, from, bytes);
}

bool npu_cube_defined(const struct npu_core *core, const void *at, size_t bytes)
{
    return npu_in_ub(core, (uint64_t)at) ? npu_ub_defined(core, at, bytes) : npu_gm_defined(core, at, bytes);
}

void npu_cube_define(struct npu_core *core, const void *at, size_t bytes, bool defined)
{
    if (defined)
        npu_ub_define(core, at, bytes);
    else
        npu_ub_undefine(core, at, bytes);
}
