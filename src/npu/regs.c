/* Special registers. Setters belong to pipe S and are ordered by the hardware before what follows on every pipe; result
 * registers are read after the pipe that writes them has drained. */
#include "npu/machine_internal.h"
#include "npu/order_internal.h"

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

void npu_set_atomic(int kind, int dtype)
{
    NPU_ENTER(core);
    if (kind != NPU_ATOMIC_TYPE)
        core->regs.atomic = (uint8_t)kind;
    if (dtype != NPU_ATOMIC_KEEP)
        core->regs.atomic_type = (uint8_t)dtype;
}

void npu_set_cube_register(int which, uint64_t value)
{
    NPU_ENTER(core);
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

/* Numbers are computed in Inf/NaN mode only (docs/machine.md). */
static const uint64_t ctrl = UINT64_C(1) << 48;

uint64_t npu_get_ctrl(void)
{
    return ctrl;
}

void npu_set_ctrl(uint64_t value)
{
    NPU_ENTER(core);
    if (value != ctrl)
        npu_lacks(core, value & ctrl ? "bits of CTRL other than 48"
                                     : "CTRL[48] = 0: half and bfloat16 that saturate (SetSaturationFlag, SetCtrlSpr)");
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
        core->regs.va[reg % NPU_VA_REGISTERS][i] =
            npu_in_ub(core, addresses[i]) ? (uint32_t)(addresses[i] - (uint64_t)core->ub) : NPU_VA_OUTSIDE;
}

/* CMPMASK has 128 bits. Source: asc-devkit docs, SetCmpMask and GetCmpMask (ISASI). */
enum { CMP_MASK_BYTES = 16 };

static void check_cmp_mask(struct npu_core *core, const struct npu_tensor *mask, const char *operand)
{
    if (!npu_in_ub(core, mask->addr) || !npu_in_ub(core, mask->addr + CMP_MASK_BYTES - 1))
        npu_trap(core, "ub_out_of_bounds", operand, "the comparison mask takes 16 bytes of UB");
    if (mask->addr % CMP_MASK_BYTES)
        npu_trap(core, "misaligned_address", operand, "the comparison mask's address is not a multiple of 16 bytes");
}

void npu_set_cmp_mask(const struct npu_tensor *mask)
{
    NPU_ENTER(core);
    if (core->aic)
        return;
    check_cmp_mask(core, mask, "src");
    npu_schedule_drain(core, NPU_PIPE_V);
    npu_order_scalar(core, mask->addr, CMP_MASK_BYTES, false, mask->flags & NPU_TENSOR_RAW);
    if (!npu_ub_defined(core, (const void *)mask->addr, CMP_MASK_BYTES))
        npu_undefined_read(core, "src", (const void *)mask->addr);
    memcpy(core->results.cmp_mask, (const void *)mask->addr, CMP_MASK_BYTES);
}

void npu_get_cmp_mask(const struct npu_tensor *mask)
{
    NPU_ENTER(core);
    if (core->aic)
        return;
    check_cmp_mask(core, mask, "dst");
    npu_schedule_drain(core, NPU_PIPE_V);
    npu_order_scalar(core, mask->addr, CMP_MASK_BYTES, true, mask->flags & NPU_TENSOR_RAW);
    memcpy((void *)mask->addr, core->results.cmp_mask, CMP_MASK_BYTES);
    npu_ub_define(core, (const void *)mask->addr, CMP_MASK_BYTES);
}

/* Reading a result register waits for pipe V, with or without auto-sync: CANN's GatherMask reads rsvdCnt right behind
 * its instruction, without a flag (asc-devkit, impl/basic_api/dav_c220). What V has done comes before all that follows.
 */
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
