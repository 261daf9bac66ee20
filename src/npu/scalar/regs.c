/* Special registers. Setters belong to pipe S and are ordered by the hardware before what follows on every pipe; result
 * registers are read after the pipe that writes them has drained. */
#include "npu/memory.h"
#include "npu/order/order.h"
#include "npu/report.h"

void npu_set_mask_counter(int counter_mode)
{
    NPU_ENTER(core);
    core->regs.counter = counter_mode != 0;
}

void npu_set_vector_mask(uint64_t high, uint64_t low)
{
    NPU_ENTER(core);
    core->regs.mask[0] = low;
    core->regs.mask[1] = high;
}

void npu_reset_mask(void)
{
    NPU_ENTER(core);
    core->regs.mask[0] = core->regs.mask[1] = ~UINT64_C(0);
}

enum { NPU_LAST_ATOMIC = 3 /* min */ };

void npu_set_atomic(int kind, int dtype)
{
    NPU_ENTER(core);
    if (kind != NPU_ATOMIC_TYPE && (unsigned)kind > NPU_LAST_ATOMIC)
        npu_no_such(core, "atomic operation", (unsigned)kind);
    if (dtype != NPU_ATOMIC_KEEP && (unsigned)dtype >= AKGEN_DTYPE_CODES)
        npu_no_such(core, "data type", (unsigned)dtype);
    if (kind != NPU_ATOMIC_TYPE)
        core->regs.atomic = (uint8_t)kind;
    if (dtype != NPU_ATOMIC_KEEP)
        core->regs.atomic_type = (uint8_t)dtype;
}

void npu_set_cube_register(int which, uint64_t value)
{
    NPU_ENTER(core);
    if ((unsigned)which >= NPU_CUBE_REGISTERS)
        npu_no_such(core, "register of the cube", (unsigned)which);
    core->regs.cube.at[which] = value;
}

void npu_clear_unit_flags(void)
{
    NPU_ENTER(core);
    core->unit_flags[0] = core->unit_flags[1] = 0;
}

void npu_get_atomic(int *kind, int *dtype)
{
    *kind = npu_current->regs.atomic;
    *dtype = npu_current->regs.atomic_type;
}

void npu_set_pad_value(uint64_t bits)
{
    NPU_ENTER(core);
    core->regs.pad_value = bits;
    core->regs.pad_set = true;
}

/* Of CTRL there is the bit that chooses between Inf/NaN mode and saturation; numbers are computed in the former only
 * (issue.c). */
static const uint64_t ctrl = UINT64_C(1) << 48;

uint64_t npu_get_ctrl(void)
{
    NPU_ENTER(core);
    return core->regs.saturate ? 0 : ctrl;
}

void npu_set_ctrl(uint64_t value)
{
    NPU_ENTER(core);
    if (value & ~ctrl)
        npu_lacks(core, "bits of CTRL other than 48");
    core->regs.saturate = !(value & ctrl);
}

void npu_set_deq_scale(uint64_t bits)
{
    NPU_ENTER(core);
    core->regs.deq_scale = bits;
}

void npu_set_va_reg(int reg, const uint64_t addresses[8])
{
    NPU_ENTER(core);
    for (int i = 0; i < NPU_VA_ADDRESSES; i++)
        core->regs.va[(unsigned)reg % NPU_VA_REGISTERS][i] =
            npu_in_ub(core, addresses[i]) ? (uint32_t)(addresses[i] - (uint64_t)core->ub) : NPU_VA_OUTSIDE;
}

uint64_t npu_get_acc_val(void)
{
    NPU_ENTER(core);
    npu_order_auto_edge(core, NPU_LANE_V, NPU_LANE_S);
    return core->results.acc_value;
}

void npu_get_reduce_max_min(int dtype, uint64_t *value_bits, uint64_t *index_bits)
{
    NPU_ENTER(core);
    (void)dtype; /* the registers hold bits */
    npu_order_auto_edge(core, NPU_LANE_V, NPU_LANE_S);
    *value_bits = core->results.reduce_value;
    *index_bits = core->results.reduce_index;
}

uint64_t npu_get_rsvd_count(void)
{
    NPU_ENTER(core);
    npu_order_auto_edge(core, NPU_LANE_V, NPU_LANE_S);
    return core->results.rsvd_count;
}

uint64_t npu_get_merge_counts(void)
{
    NPU_ENTER(core);
    npu_order_auto_edge(core, NPU_LANE_V, NPU_LANE_S);
    return core->results.merge_counts;
}

/* The counter runs at 50 MHz on these chips (GetSystemCycle(ISASI).md). No time is modelled here: it advances by one
 * for each instruction or basic block, so that it grows and differences are positive. */
int64_t npu_get_system_cycle(void)
{
    NPU_ENTER(core);
    return (int64_t)(core->stats.instructions + ++core->stats.scalar_blocks);
}
