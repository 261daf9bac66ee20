/* Where a kernel's own memory lies: the ranges that its objects describe, and the second stacks (fiber.c). */
#include "npu/own_memory.h"

#include "npu/fiber.h"
#include "npu/machine.h"
#include "npu/report.h"
#include "npu/where.h"

#include <stdlib.h>
#include <string.h>

/* What 47 bits reach, from either end. */
#define NPU_ADDRESSES (UINT64_C(1) << 47)

void npu_own_memory(struct npu *npu, const void *base, size_t bytes, bool write)
{
    if (npu->own_count == NPU_MAX_OWN)
        abort();
    npu->own[npu->own_count++] = (struct npu_own_range){(uint64_t)base, bytes, write};
}

void npu_confine(struct npu *npu)
{
    npu->confined = true;
}

void npu_blocks(struct npu *npu, bool aic, const struct npu_block_mix *rows, size_t count)
{
    npu->blocks[aic] = rows;
    npu->block_count[aic] = count;
}

void npu_callbacks(struct npu *npu, const struct npu_callback *rows, size_t count)
{
    npu->callbacks = rows;
    npu->callback_count = count;
}

uint64_t npu_own_room(const struct npu_core *core, uint64_t addr, bool write)
{
    const struct npu *npu = core->npu;
    if (!npu->confined)
        return UINT64_MAX - addr;
    uint64_t room = fiber_own_room(core->fiber, addr);
    for (int i = 0; i < npu->own_count && !room; i++)
        if (addr - npu->own[i].base < npu->own[i].bytes && (npu->own[i].write || !write))
            room = npu->own[i].base + npu->own[i].bytes - addr;
    return room;
}

void npu_bad_pointer(struct npu_core *core, uint64_t addr)
{
    char where[96] = "no address at all"; /* one that the processor refuses */
    if (addr < NPU_ADDRESSES || addr >= -NPU_ADDRESSES)
        npu_describe_address(core->npu, addr, where, sizeof where);
    npu_trap(core, FAULT(bad_pointer), NULL, "access through a pointer that leads nowhere: %s", where);
}

void npu_own_check(struct npu_core *core, const void *at, uint64_t bytes, bool write)
{
    if (bytes && npu_own_room(core, (uint64_t)at, write) < bytes)
        npu_bad_pointer(core, (uint64_t)at);
}

bool npu_own_callback(const struct npu_core *core, const void *function, int kind)
{
    const struct npu *npu = core->npu;
    bool found = !npu->confined;
    for (size_t i = 0; i < npu->callback_count && !found; i++)
        found = npu->callbacks[i].function == function && npu->callbacks[i].kind == (uint64_t)kind;
    return found;
}

void *npu_own_lend(struct npu_core *core, const void *from, uint64_t bytes)
{
    return memcpy(fiber_frame(core, bytes), from, bytes);
}

void npu_own_give_back(struct npu_core *core, void *lent, uint64_t bytes)
{
    fiber_frame_end(core, lent, bytes);
}
