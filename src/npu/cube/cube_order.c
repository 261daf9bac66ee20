/* What the hardware of an AIC orders by itself.
 *
 * Unit flags (asc-devkit docs, 矩阵计算（ISASI）/Mmad计算关键特性说明/UnitFlag): every fractal of L0C has a flag. A
 * Mmad with unitFlag 2 or 3 waits until the flags of what it writes are down, and with 3 raises them; a Fixpipe with 2
 * or 3 waits until they are up, and with 3 lowers them. So the two pipes need no other flag. As with SetFlag and
 * WaitFlag, who waits for something that was not issued before counts as waiting for ever.
 *
 * Accumulation (Mmad计算/Mmad, constraints): a Mmad that fills ten or more fractals, (m / 16) * (n / 16), is ordered with
 * its neighbours on the pipe; smaller ones need PipeBarrier<PIPE_M>. Whether a fractal that is filled in part counts is
 * left open: where only a count with those reaches ten, a missing barrier is a note.
 *
 * Assumed: FIX works through its own instructions one after the other (the API puts a barrier before each Fixpipe to
 * GM; whether a copy into FB needs one before its use the documentation's examples answer both ways). */
#include "npu/cube/cube.h"
#include "npu/cube/cube_internal.h"
#include "npu/cube/fractal.h"
#include "npu/isa.h"
#include "npu/memory.h"
#include "npu/order/order.h"
#include "npu/order/schedule.h"
#include "npu/report.h"
#include "npu/time/tape.h"

enum { ORDERED_FRACTALS = 10 };

static bool is_large(const struct npu_insn *insn)
{
    return insn->op == NPU_OP_MMAD && insn->mmad.m / 16 * (insn->mmad.n / 16) >= ORDERED_FRACTALS;
}

static bool may_be_large(const struct npu_insn *insn)
{
    return insn->op == NPU_OP_MMAD &&
           npu_ceil_div(insn->mmad.m, 16) * npu_ceil_div(insn->mmad.n, 16) >= ORDERED_FRACTALS;
}

/* The fractals of L0C that an instruction writes or reads: columns of `rows`, `step` apart. */
static void each_fractal(struct npu_core *core, const struct npu_insn *insn,
                         void (*visit)(struct npu_core *core, const struct npu_insn *insn, uint32_t fractal))
{
    bool mmad = insn->op == NPU_OP_MMAD;
    uint32_t m = mmad ? insn->mmad.m : insn->fixpipe.m, n = mmad ? insn->mmad.n : insn->fixpipe.n;
    uint32_t rows = (m + 15) / 16, columns = (n + 15) / 16,
             sheets = mmad || !insn->fixpipe.nz2nd ? 1 : insn->fixpipe.nd_num;
    uint64_t start = (mmad ? insn->dst.addr : insn->src0.addr) - npu_memory_base(core, NPU_MEM_L0C);
    uint64_t step = mmad ? rows * NPU_C_FRACTAL : insn->fixpipe.src_stride * UINT64_C(64);
    for (uint32_t sheet = 0; sheet < sheets; sheet++)
        for (uint32_t column = 0; column < columns; column++)
            for (uint32_t row = 0; row < rows; row++) {
                uint64_t at = start + sheet * (mmad ? 0 : insn->fixpipe.src_nd_stride * (uint64_t)NPU_C_FRACTAL) +
                              column * step + row * NPU_C_FRACTAL;
                visit(core, insn, (uint32_t)(at / NPU_C_FRACTAL));
            }
}

static void visit_mmad(struct npu_core *core, const struct npu_insn *insn, uint32_t fractal)
{
    uint64_t bit = UINT64_C(1) << fractal % 64, *word = &core->unit_flags[fractal / 64];
    if (*word & bit)
        npu_trap(
            core, FAULT(unit_flag_wait), "dst",
            "Mmad with unitFlag %d waits for ever for fractal %u of L0C: an earlier Mmad with unitFlag 3 has filled "
            "it and no Fixpipe with unitFlag 3 has emptied it",
            insn->mmad.unit_flag, fractal);
    if (insn->mmad.unit_flag == 3)
        *word |= bit;
}

static void visit_fixpipe(struct npu_core *core, const struct npu_insn *insn, uint32_t fractal)
{
    uint64_t bit = UINT64_C(1) << fractal % 64, *word = &core->unit_flags[fractal / 64];
    if (!(*word & bit))
        npu_trap(core, FAULT(unit_flag_wait), "src",
                 "Fixpipe with unitFlag %d waits for ever for fractal %u of L0C: no Mmad with unitFlag 3 has filled it",
                 insn->fixpipe.unit_flag, fractal);
    if (insn->fixpipe.unit_flag == 3)
        *word &= ~bit;
}

/* Fractal by fractal: in time, one pipe goes on with what the other has begun with. */
static void by_unit_flag(struct npu_core *core, int from, int to)
{
    struct npu_core *timed = core->order->timed;
    core->order->timed = NULL;
    npu_order_edge(core->order, from, to);
    core->order->timed = timed;
    if (timed && core->tape->runs[from] > 1)
        npu_tape_add(core, NPU_STEP_SINCE, from, to, 0, core->tape->runs[from] - 1);
}

void npu_cube_issue(struct npu_core *core, const struct npu_insn *insn)
{
    if (npu_insn_pipe(insn) == NPU_PIPE_FIX)
        npu_order_barrier(core->order, NPU_LANE_FIX);
    if (is_large(insn))
        npu_order_barrier(core->order, NPU_LANE_M);
    else if (may_be_large(insn))
        npu_order_perhaps(core->order, NPU_LANE_M);
    if (insn->op == NPU_OP_MMAD && insn->mmad.unit_flag) {
        npu_schedule_drain(core, NPU_PIPE_FIX);
        by_unit_flag(core, NPU_LANE_FIX, NPU_LANE_M);
        each_fractal(core, insn, visit_mmad);
    } else if (insn->op == NPU_OP_FIXPIPE && insn->fixpipe.unit_flag) {
        npu_schedule_drain(core, NPU_PIPE_M);
        by_unit_flag(core, NPU_LANE_M, NPU_LANE_FIX);
        each_fractal(core, insn, visit_fixpipe);
    }
}

void npu_cube_issued(struct npu_core *core, const struct npu_insn *insn)
{
    if (is_large(insn))
        npu_order_barrier(core->order, NPU_LANE_M);
    else if (may_be_large(insn))
        npu_order_perhaps(core->order, NPU_LANE_M);
}
