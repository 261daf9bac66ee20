/* Transpose and ConfusionTranspose with a tiling: a matrix in ND to its transpose, or the middle axes of (b, n, s, h/n)
 * in NZ swapped. dst = result, src = x, shape[0] = transposeType. Steps: asc-devkit, Transpose, NPU_ARCH 2201. */
#include "npu/adv/transpose.h"

#include "npu/adv/tiling.h"
#include "npu/insn/lanes.h"
#include "npu/memory.h"
#include "npu/report.h"

static uint32_t va_of(const struct npu_core *core, uint64_t addr)
{
    return npu_in_ub(core, addr) ? (uint32_t)(addr - (uint64_t)core->ub) : NPU_VA_OUTSIDE;
}

void adv_transpose_blocks(struct npu_core *core, uint8_t type, const uint64_t dst[ADV_LIST],
                          const uint64_t src[ADV_LIST], uint32_t repeat, uint32_t dst_rep, uint32_t src_rep)
{
    for (uint32_t i = 0; i < ADV_LIST; i++) {
        core->regs.va[i / 8][i % 8] = va_of(core, dst[i]);
        core->regs.va[2 + i / 8][i % 8] = va_of(core, src[i]);
    }
    struct npu_insn insn = {.op = NPU_OP_TRANS_DATA_5HD,
                            .form = NPU_FORM_MASK_REG,
                            .dst_type = type,
                            .src_type = type,
                            .mode = 0 | 2 << 3,         /* VA0 and VA2 are the first registers of dst and src */
                            .repeat = (uint8_t)repeat}; /* CANN's variable for it has eight bits */
    /* A stride is added even to a single repeat. */
    insn.dst_rep = (uint16_t)(repeat > 1 ? dst_rep : 0);
    insn.src0_rep = (uint16_t)(repeat > 1 ? src_rep : 0);
    adv_issue(core, &insn);
}

/* 16 x 16 elements, `repeat` times, to their transposes: rows src_row (dst_row) elements apart, squares src_step
 * (dst_step) elements. Of 32-bit elements a row is two blocks, and the halves of the source's rows go one by one. */
static void turn_squares(struct npu_core *core, uint8_t type, uint64_t dst, uint32_t dst_row, uint32_t dst_step,
                         uint64_t src, uint32_t src_row, uint32_t src_step, uint32_t repeat)
{
    uint32_t size = npu_element_bits(type) / 8, block = NPU_BLOCK / size, halves = ADV_LIST / block;
    for (uint32_t half = 0; half < halves; half++) {
        uint64_t to[ADV_LIST], from[ADV_LIST];
        for (uint32_t i = 0; i < ADV_LIST; i++) {
            uint32_t row = half * block + i / halves;
            to[i] = dst + adv_bytes(type, row * dst_row + i % halves * block);
            from[i] = src + adv_bytes(type, i * src_row + half * block);
        }
        adv_transpose_blocks(core, type, to, from, repeat, dst_step / block, src_step / block);
    }
}

/* transposeType 1 and 2: (b, n, h/n/16, s/16, 16, 16) to (b, s, n, h/n), or to its fractals. A column of squares goes
 * to the temporary space, as many as have room, and from there to rows as far apart as h is long. */
static void swap_axes(struct npu_core *core, const struct npu_adv *call)
{
    enum { SQUARE = ADV_LIST * ADV_LIST, TO_ND = 1 };
    const struct ConfusionTransposeTiling *t = call->tiling;
    uint32_t size = npu_element_bits(call->type) / 8, block = NPU_BLOCK / size;
    uint32_t n = t->param2, width = t->param3, column = t->param8, room = t->param6, pitch = t->param13;
    if (t->param0 != block || !room || room % SQUARE || column % SQUARE || column != t->param4 * ADV_LIST ||
        width % ADV_LIST || pitch != n * width)
        npu_trap(
            core, FAULT(adv_shape), "tiling",
            "Transpose of fractals: the tiling has %u rows of %u elements, %u elements of temporary space and blocks "
            "of %u: whole fractals, and a tiling made for the element's size",
            t->param4, width, room, t->param0);
    struct npu_tensor tmp = adv_tmp(core, call, 0, adv_bytes(call->type, room < column ? room : column));
    for (uint32_t matrix = 0; matrix < t->param1 * n; matrix++) {
        uint32_t first = matrix / n * t->param12, i = matrix % n;
        for (uint32_t j = 0; j < width / ADV_LIST; j++)
            for (uint32_t at = 0; at < column; at += room) {
                uint32_t count = (column - at < room ? column - at : room) / SQUARE, row = room / ADV_LIST;
                uint32_t to = call->shape[0] == TO_ND ? j * ADV_LIST + i * width : j * n * ADV_LIST + i * ADV_LIST;
                turn_squares(core, call->type, tmp.addr, row, ADV_LIST,
                             call->src[0].addr + adv_bytes(call->type, first + i * t->param11 + j * column + at),
                             ADV_LIST, SQUARE, count);
                turn_squares(core, call->type,
                             call->dst[0].addr + adv_bytes(call->type, first + to + at / ADV_LIST * pitch), pitch,
                             pitch * ADV_LIST, tmp.addr, row, ADV_LIST, count);
            }
    }
}

/* Sixteen rows at a time. Of 32-bit elements a row of the result is two blocks. */
void adv_transpose(struct npu_core *core, const struct npu_adv *call)
{
    enum { NONE = 0, LAST_SWAP = 2, ND2ND_ONLY = 7 };
    if (call->shape[0] == NONE || call->shape[0] > ND2ND_ONLY) /* CANN's does nothing either */
        return;
    if (call->shape[0] <= LAST_SWAP) {
        swap_axes(core, call);
        return;
    }
    if (call->shape[0] != ND2ND_ONLY)
        npu_lacks(core, "Transpose that divides or joins the last axis of fractals (TRANSPOSE_NZ2*_012_*)");
    const struct ConfusionTransposeTiling *t = call->tiling;
    uint32_t size = npu_element_bits(call->type) / 8, block = NPU_BLOCK / size, height = t->param1, width = t->param2;
    if (!height || height % ADV_LIST || !width || width % block || t->param0 != block || t->param3 != height / ADV_LIST)
        npu_trap(core, FAULT(adv_shape), "tiling",
                 "Transpose of %u rows of %u elements: the rows are a multiple of 16, the elements of a row whole "
                 "32-byte blocks, and the tiling is made for the element's size",
                 height, width);
    for (uint32_t row = 0; row < height; row += ADV_LIST) {
        uint64_t dst[ADV_LIST], src[ADV_LIST];
        for (uint32_t i = 0; i < ADV_LIST; i++) {
            uint32_t column = size == 2 ? i : i / 2, second = size == 2 ? 0 : i % 2 * block;
            dst[i] = call->dst[0].addr + adv_bytes(call->type, row + height * column + second);
            src[i] = call->src[0].addr + adv_bytes(call->type, (row + i) * width);
        }
        adv_transpose_blocks(core, call->type, dst, src, t->param5, t->param4, 1);
    }
}
