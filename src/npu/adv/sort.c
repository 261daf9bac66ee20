/* Sort and Extract. Sources: asc-devkit, the documents Sort and Extract; which basic instructions they are made of:
 * impl/basic_api, NPU_ARCH 2201. */
#include "npu/adv/adv.h"
#include "npu/adv/pairs.h"
#include "npu/issue/issue.h"

enum { SORT32 = 32 };

struct npu_tensor adv_pairs(const struct npu_tensor *tensor, uint32_t first, uint32_t count)
{
    struct npu_tensor part = *tensor;
    part.addr += (uint64_t)first * ADV_PAIR;
    part.bytes = count * ADV_PAIR;
    return part;
}

void adv_copy_pairs(struct npu_core *core, const struct npu_tensor *dst, const struct npu_tensor *src, uint32_t first,
                    uint32_t count)
{
    struct npu_insn insn = ADV_INSN(NPU_OP_DATA_COPY, COUNT, AKGEN_UINT64, .count = count,
                                    .dst = adv_pairs(dst, first, count), .src0 = adv_pairs(src, first, count));
    adv_issue(core, &insn);
}

void adv_merge_lists(struct npu_core *core, uint8_t type, const struct npu_tensor *dst,
                     const struct npu_tensor list[ADV_LISTS], uint32_t repeat)
{
    struct npu_insn insn = ADV_INSN(NPU_OP_MRG_SORT, MASK_REG, type, .repeat = repeat, .dst = *dst, .src0 = list[0],
                                    .src1 = list[1], .aux = list[2]);
    for (uint32_t i = 0; i < ADV_LISTS; i++) {
        insn.mask[0] |= (uint64_t)(list[i].bytes / ADV_PAIR) << 16 * i;
        insn.mode |= (uint8_t)((list[i].bytes != 0) << i);
    }
    insn.copy.pad_value = list[3].addr;
    adv_issue(core, &insn);
}

/* Merges `count` pairs from `first` on, which are sorted in lists of `length` pairs (the last may be shorter), `repeat`
 * times. */
static void merge(struct npu_core *core, const struct npu_adv *call, uint32_t first, uint32_t length, uint32_t count,
                  uint32_t repeat)
{
    struct npu_tensor list[ADV_LISTS], dst = adv_pairs(&call->dst[0], first, count * repeat);
    for (uint32_t i = 0; i < ADV_LISTS; i++) {
        uint32_t done = i * length < count ? i * length : count, left = count - done;
        list[i] = adv_pairs(&call->tmp, first + done, left < length ? left : length);
    }
    adv_merge_lists(core, call->type, &dst, list, repeat);
}

/* Four lists at a time become one, from tmp into dst, until one is left. */
static void sort_fully(struct npu_core *core, const struct npu_adv *call, uint32_t total)
{
    adv_tmp(core, call, 0, total * ADV_PAIR);
    adv_copy_pairs(core, &call->tmp, &call->dst[0], 0, total);
    for (uint32_t length = SORT32; length < total; length *= ADV_LISTS) {
        uint32_t group = length * ADV_LISTS, groups = total / group, tail = total % group;
        if (groups)
            merge(core, call, 0, length, group, groups);
        if (tail > length)
            merge(core, call, groups * group, length, tail, 1);
        else if (tail)
            adv_copy_pairs(core, &call->dst[0], &call->tmp, groups * group, tail);
        adv_copy_pairs(core, &call->tmp, &call->dst[0], 0, total);
    }
}

void adv_sort(struct npu_core *core, const struct npu_adv *call)
{
    struct npu_insn insn = ADV_INSN(NPU_OP_SORT32, MASK_REG, call->type, .repeat = call->count, .dst = call->dst[0],
                                    .src0 = call->src[0], .src1 = call->src[1]);
    if (!call->shape[0] || !call->count) {
        npu_issue_from(core, &insn);
        return;
    }
    adv_issue(core, &insn);
    sort_fully(core, call, call->count * SORT32);
}

static struct npu_insn gather_mask(uint8_t type, struct npu_tensor dst, struct npu_tensor src, uint8_t pattern,
                                   uint32_t repeat)
{
    return (struct npu_insn)ADV_INSN(NPU_OP_GATHER_MASK, MASK_REG, type, .mode = pattern, .repeat = repeat,
                                     .src0_blk = 1, .src0_rep = 8, .dst = dst, .src0 = src);
}

/* Of each pair the score (the first of two floats, of four halves), then the index (the second of two words). A repeat
 * is 256 bytes: 32 pairs. */
void adv_extract(struct npu_core *core, const struct npu_adv *call)
{
    enum { FIRST_OF_2 = 1, SECOND_OF_2 = 2, FIRST_OF_4 = 3 };
    bool half = call->type == AKGEN_FLOAT16;
    uint32_t repeat = call->count;
    struct npu_insn insn = gather_mask(call->type, call->dst[0], call->src[0], half ? FIRST_OF_4 : FIRST_OF_2, repeat);
    adv_issue(core, &insn);
    insn = gather_mask(AKGEN_UINT32, call->dst[1], call->src[0], SECOND_OF_2, repeat);
    npu_issue_from(core, &insn);
}
