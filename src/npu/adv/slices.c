/* DataCopy with SliceInfo: pieces of a tensor of up to eight dimensions between GM and UB. dst = result, src = source;
 * tiling = struct npu_slices. Steps: asc-devkit, DataCopy with SliceInfo, NPU_ARCH 2201; rules: docs/zh/api,
 * 数据搬运/DataCopy（GM与UB切片数据搬运）. One block copy moves the segments of dimension 0; it runs once for each
 * combination of indices in the other dimensions. */
#include "npu/adv/adv.h"
#include "npu/insn/lanes.h"
#include "npu/issue/issue.h"
#include "npu/report.h"

enum { MOST_COPIES = 6 * 256 }; /* what CANN's lists of offsets hold */

/* Offsets in elements at which the copies of one side begin. */
struct starts {
    uint32_t count;
    uint32_t at[MOST_COPIES];
};

static void list_starts(struct npu_core *core, const struct npu_slice *slices, uint32_t dims, const char *operand,
                        struct starts *starts)
{
    uint32_t size = 1;
    starts->count = 1;
    starts->at[0] = slices[0].start;
    for (uint32_t d = 1; d < dims; d++) {
        const struct npu_slice *slice = &slices[d];
        uint32_t step = 1 + slice->stride, below = starts->count;
        uint32_t indices = (slice->end - slice->start + 1 + slice->stride) / step;
        size *= slices[d - 1].shape;
        if ((uint64_t)below * indices > MOST_COPIES)
            npu_trap(core, FAULT(copy_params), operand, "the slices make %llu copies, the limit is %d",
                     (unsigned long long)below * indices, MOST_COPIES);
        for (uint32_t i = 0; i < below; i++)
            starts->at[i] += size * slice->start;
        for (uint32_t i = below; i < below * indices; i++)
            starts->at[i] = starts->at[i - below] + step * size;
        starts->count = below * indices;
    }
}

/* The gap of GM in whole blocks where it has some, else in bytes; that of UB in blocks. CANN's variables have 16
 * bits. */
static struct npu_insn copy_of_row(const struct npu_adv *call, const struct npu_slices *slices)
{
    const struct npu_slice *from = &slices->src[0];
    bool out = call->dst[0].position == NPU_GM;
    uint32_t size = npu_element_bits(call->type) / 8, segment = from->burst * (NPU_BLOCK / size) + from->stride;
    uint32_t gm_gap = (out ? slices->dst[0].stride : from->stride) * size;
    uint32_t ub_gap = (out ? from->stride : slices->dst[0].stride) * size / NPU_BLOCK;
    bool whole = gm_gap % NPU_BLOCK == 0;
    uint16_t gap = (uint16_t)(whole ? gm_gap / NPU_BLOCK : gm_gap);
    return (struct npu_insn)ADV_INSN(
        whole ? NPU_OP_DATA_COPY : NPU_OP_DATA_COPY_PAD, MASK_REG, call->type,
        .copy = {.block_count = segment ? (uint16_t)((from->end - from->start + 1 + from->stride) / segment) : 0,
                 .block_len = (uint16_t)(from->burst * (whole ? 1 : NPU_BLOCK)),
                 .src_stride = out ? (uint16_t)ub_gap : gap,
                 .dst_stride = out ? gap : (uint16_t)ub_gap});
}

void adv_copy_slices(struct npu_core *core, const struct npu_adv *call)
{
    const struct npu_slices *slices = call->tiling;
    struct starts src, dst;
    if (!slices->dims || slices->dims > NPU_SLICE_DIMS)
        npu_trap(core, FAULT(copy_params), "dimValue", "dimValue is %u, expected 1 to %d", slices->dims,
                 NPU_SLICE_DIMS);
    list_starts(core, slices->src, slices->dims, "srcSliceInfo", &src);
    list_starts(core, slices->dst, slices->dims, "dstSliceInfo", &dst);
    if (dst.count < src.count)
        npu_trap(core, FAULT(copy_params), "dstSliceInfo", "the slices of src make %u copies, those of dst %u",
                 src.count, dst.count);
    struct npu_insn insn = copy_of_row(call, slices);
    for (uint32_t i = 0; i < src.count; i++) {
        insn.dst = call->dst[0];
        insn.src0 = call->src[0];
        insn.dst.addr += adv_bytes(call->type, dst.at[i]);
        insn.src0.addr += adv_bytes(call->type, src.at[i]);
        npu_issue_from(core, &insn);
    }
}
