/* The life of an instruction: check, bounds, order, execute (npu_internal.h tells the story). */
#include "npu/issue/issue.h"

#include "npu/cube/cube.h"
#include "npu/gm/dcache.h"
#include "npu/gm/gm.h"
#include "npu/insn/lanes.h"
#include "npu/isa.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/order/order.h"
#include "npu/order/schedule.h"
#include "npu/order/weigh.h"
#include "npu/queue/queue.h"
#include "npu/report.h"
#include "npu/steps.h"
#include "npu/time/tape.h"
#include "npu/undefined_load.h"

/* The cube's instructions do nothing on an AIV, the vector's nothing on an AIC; a copy belongs where its memories
 * are. */
static bool on_this_core(struct npu_core *core, const struct npu_insn *insn)
{
    const struct npu_isa_row *row = &npu_isa[insn->op];
    if (row->pipe >= 0)
        return core->aic == (row->pipe != NPU_PIPE_V);
    enum npu_memory to = npu_memory_of(insn->dst.position), from = npu_memory_of(insn->src0.position);
    if (to == NPU_MEM_NONE && from == NPU_MEM_NONE)
        npu_trap(core, FAULT(copy_gm_to_gm), "dst",
                 "both operands are GlobalTensors: a copy goes through local memory");
    bool cube = to > NPU_MEM_UB || from > NPU_MEM_UB;
    if (to == NPU_MEM_L1 && (from == NPU_MEM_NONE || from == NPU_MEM_UB) && core->forward_copy) {
        core->forward_copy(core, insn);
        return false;
    }
    if (cube && !core->aic && from == NPU_MEM_UB)
        npu_trap(core, FAULT(matmul_not_ready), "dst",
                 "DataCopy from UB to L1 is done by the AIC that serves Matmul objects: REGIST_MATMUL_OBJ comes first");
    return core->aic == cube && (!cube || (to != NPU_MEM_UB && from != NPU_MEM_UB));
}

/* CTRL[48] decides about results of half and bfloat16 (asc-devkit docs, 特殊寄存器访问/SetCtrlSpr(ISASI), table 4), not
 * about instructions that only move them. */
static void refuse_saturation(struct npu_core *core, const struct npu_insn *insn)
{
    bool narrow = insn->dst_type == AKGEN_FLOAT16 || insn->dst_type == AKGEN_BF16;
    if (narrow && (!(npu_isa[insn->op].traits & NPU_MOVES) || core->regs.atomic))
        npu_lacks(core, "CTRL[48] = 0: half and bfloat16 that saturate (SetSaturationFlag, SetCtrlSpr)");
}

/* What the check of an instruction looks at has to be there: DataCopy compares the bias table with what it will hold
 * (table_copy.c), Select without a mask operand finds its address in CMPMASK. */
static void finish_what_check_reads(struct npu_core *core, const struct npu_insn *insn, int pipe)
{
    if (insn->op == NPU_OP_SELECT ? insn->mode && !insn->aux.addr : npu_memory_of(insn->dst.position) == NPU_MEM_BT)
        npu_schedule_drain(core, insn->op == NPU_OP_SELECT ? pipe : NPU_PIPE_ALL);
}

static void check_local(struct npu_core *core, const struct npu_access *access, uint64_t low, uint64_t bytes)
{
    const struct npu_tensor *tensor = access->tensor;
    enum npu_memory memory = tensor ? npu_memory_of(tensor->position) : npu_memory_at(core, access->addr);
    if (memory == NPU_MEM_NONE)
        npu_trap(core, FAULT(local_position), access->operand,
                 "a tensor at a position that is no local memory of this chip");
    uint64_t offset = low - npu_memory_base(core, memory), size = npu_memory_bytes(core, memory);
    if (offset > size || bytes > size - offset)
        npu_local_overrun(core, memory, access->operand, low, bytes);
    if (tensor && tensor->bytes && low + bytes > tensor->addr + tensor->bytes)
        npu_note(core, false, FAULT(tensor_overflow), access->operand, 0,
                 "%s %llu bytes past the end of its local tensor, which has %u: whatever lies behind it in %s is %s",
                 access->write ? "writes" : "reads", (unsigned long long)(low + bytes - tensor->addr - tensor->bytes),
                 tensor->bytes, npu_memories[memory].name, access->write ? "overwritten" : "used");
}

static void touch_gm(struct npu_core *core, const struct npu_access *access, uint64_t addr, uint64_t bytes)
{
    uint64_t inside = gm_check_copy(core, access->operand, addr, bytes, access->write);
    if (inside && !access->write)
        gm_read(core, access->operand, addr, inside);
    else if (inside && !access->atomic)
        gm_expect_write(core, addr, inside);
    if (access->write)
        core->stats.bytes_out += bytes;
    else
        core->stats.bytes_in += bytes;
}

/* Lowest address and extent of all runs of an access. */
static uint64_t extent(const struct npu_access *access, uint64_t *low)
{
    int64_t first = 0, last = 0, reach = (int64_t)(access->count - 1) * access->stride;
    int64_t reach2 = (int64_t)(access->count2 - 1) * access->stride2;
    first = (reach < 0 ? reach : 0) + (reach2 < 0 ? reach2 : 0);
    last = (reach > 0 ? reach : 0) + (reach2 > 0 ? reach2 : 0) + access->bytes;
    *low = access->addr + (uint64_t)first;
    return (uint64_t)(last - first);
}

static void check_bounds(struct npu_core *core, const struct npu_access *access)
{
    uint64_t low, bytes;
    if (access->bytes == 0)
        return;
    npu_steps_access(core, access);
    bytes = extent(access, &low);
    bool gm = access->tensor ? access->tensor->position == NPU_GM : !npu_in_ub(core, access->addr);
    core->stats.path = npu_path(core->stats.path, low + bytes * 3 - (gm ? core->npu->gm_low : (uint64_t)core->ub));
    if (!gm) {
        check_local(core, access, low, bytes);
        return;
    }
    bool one_run = access->count == 1 && access->count2 == 1;
    bool contiguous = access->stride == (int64_t)access->bytes && access->count2 == 1;
    if (one_run || contiguous) {
        touch_gm(core, access, low, bytes);
        return;
    }
    for (uint32_t group = 0; group < access->count2; group++)
        for (uint32_t run = 0; run < access->count; run++)
            touch_gm(core, access, access->addr + (uint64_t)(group * access->stride2 + run * access->stride),
                     access->bytes);
}

void npu_execute(struct npu_core *core, int pipe, const struct npu_insn *insn, const struct npu_regs *regs)
{
    bool dma = (pipe == NPU_PIPE_MTE2 || pipe == NPU_PIPE_MTE3 || pipe == NPU_PIPE_FIX) && !dcache_empty(core);
    const struct npu_insn *outer = core->insn;
    core->insn = insn;
    if (dma)
        dcache_swap_out(core);
    npu_families[insn->op].execute(core, insn, regs);
    if (dma)
        dcache_swap_in(core);
    core->insn = outer;
}

/* What a kernel hands over may be anything: tables are looked up by these numbers, and widths divide. */
static void issue_given(struct npu_core *core, const struct npu_insn *given)
{
    if (!given->op || given->op >= NPU_OPS || given->form > NPU_FORM_MASK_REG || !npu_type_has_width(given->dst_type) ||
        !npu_type_has_width(given->src_type) || !npu_type_has_width(given->src1_type))
        npu_trap(core, FAULT(illegal_instruction), NULL, "there is no instruction number %u in form %u for these types",
                 given->op, given->form);
    npu_issue_from(core, given);
}

void npu_issue(const struct npu_insn *given)
{
    NPU_ENTER(core);
    issue_given(core, given);
}

void npu_issue_copy(const struct npu_insn *given)
{
    NPU_ENTER(core);
    issue_given(core, given);
}

void npu_issue_cube(const struct npu_insn *given)
{
    NPU_ENTER(core);
    issue_given(core, given);
}

void npu_issue_from(struct npu_core *core, const struct npu_insn *given)
{
    core->insn = given;
    bool here = on_this_core(core, given);
    core->insn = NULL;
    if (!here)
        return;
    if (core->undefined_load.pending)
        npu_undefined_load_settle(core);
    struct npu_insn insn = *given;
    struct npu_access accesses[NPU_MAX_ACCESSES];
    const struct npu_isa_row *row = &npu_isa[insn.op];
    core->insn = &insn;
    if (__builtin_expect(core->regs.saturate, false))
        refuse_saturation(core, &insn);
    int pipe = npu_insn_pipe(&insn);
    if (row->traits & NPU_LOOKS)
        finish_what_check_reads(core, &insn, pipe);
    if (row->traits & NPU_SILENT) {
        npu_check_types(core, &insn);
        if (insn.op == NPU_OP_ND2NZ && npu_memory_of(insn.dst.position) == NPU_MEM_UB) {
            core->insn = NULL;
            npu_copy_nd2nz_to_ub(core, &insn);
            return;
        }
    }
    if (!core->schedule) /* program order: what was kept is used by now */
        gm_forget_expected(core);
    int count = npu_families[insn.op].check(core, &insn, &core->regs, accesses);
    for (int i = 0; i < count; i++)
        check_bounds(core, &accesses[i]);
    core->stats.instructions++;
    npu_steps_instruction(core);
    if (core->log)
        npu_log_instruction(core, pipe, &insn);
    if (core->aic)
        npu_cube_issue(core, &insn);
    if (core->tape)
        npu_tape_run(core, npu_lane_of(pipe), &insn, accesses, count);
    npu_order_issue(core, pipe, accesses, count);
    npu_schedule_submit(core, pipe, &insn, &core->regs);
    if (core->order->weigh)
        npu_weigh_settle(core, dcache_empty(core));
    if (core->aic)
        npu_cube_issued(core, &insn);
    else
        npu_finish_composite(core, &insn);
    npu_leave_mask(core, &insn);
    core->insn = NULL;
}
