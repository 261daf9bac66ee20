/* Sort32 and MrgSort: descending order of (score, index) pairs of eight bytes, the score (float, or half in the low two
 * bytes) first and the index (uint32) in the upper four.
 *
 * Of equal scores the earlier one comes first. Sources: asc-devkit docs,
 * 基础API/Memory矢量计算/排序组合（ISASI）/Sort32, MrgSort, GetMrgSortResult. What is assumed where they are silent
 * (NaN, the unused bytes of half) is in docs/machine.md. */
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/isa.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <inttypes.h>
#include <string.h>

enum { PAIR = 8, SORT32 = 32, LISTS = 4, MAX_LENGTH = 4095 };

struct pair {
    float score;
    uint8_t bytes[PAIR];
    bool defined;
};

/* a comes before b. NaN is larger than any number. */
static bool before(float a, float b)
{
    return b != b ? false : a != a ? true : a > b;
}

static float score_of(const uint8_t *at, uint8_t type)
{
    if (type == AKGEN_FLOAT) {
        float score;
        memcpy(&score, at, sizeof score);
        return score;
    }
    half_t score;
    memcpy(&score, at, sizeof score);
    return (float)score;
}

/* Bytes of a pair that hold something: of a half's pair all but bytes 2 and 3. */
static bool pair_defined(const struct npu_core *core, const uint8_t *at, uint8_t type)
{
    return npu_ub_defined(core, at, akgen_dtype_size((enum akgen_dtype)type)) && npu_ub_defined(core, at + 4, 4);
}

static void store_pair(struct npu_core *core, uint8_t *at, const struct pair *pair)
{
    memcpy(at, pair->bytes, PAIR);
    if (pair->defined)
        npu_ub_define(core, at, PAIR);
    else
        npu_ub_undefine(core, at, PAIR);
}

static struct npu_access contiguous(const struct npu_tensor *tensor, uint64_t bytes, bool write, const char *operand)
{
    return (struct npu_access){.addr = tensor->addr,
                               .bytes = (uint32_t)bytes,
                               .count = 1,
                               .count2 = 1,
                               .write = write,
                               .flags = tensor->flags,
                               .tensor = tensor,
                               .operand = operand};
}

static void check_repeat(struct npu_core *core, const struct npu_insn *insn)
{
    if (insn->repeat > NPU_MAX_REPEAT)
        npu_trap(core, FAULT(vec_repeat), "repeatTime", "%s repeats %" PRIu32 " times; the register holds 0 to 255",
                 npu_isa[insn->op].name, insn->repeat);
}

/* Sort32. */
int npu_check_sort32(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                     struct npu_access *accesses)
{
    (void)regs;
    npu_check_types(core, insn);
    check_repeat(core, insn);
    if (!insn->repeat)
        return 0;
    npu_check_operand(core, &insn->dst, "dst");
    npu_check_operand(core, &insn->src0, "src0");
    npu_check_operand(core, &insn->src1, "src1");
    uint64_t elements = (uint64_t)insn->repeat * SORT32;
    accesses[0] = contiguous(&insn->dst, elements * PAIR, true, "dst");
    accesses[1] = contiguous(&insn->src0, elements * akgen_dtype_size((enum akgen_dtype)insn->src_type), false, "src0");
    accesses[2] = contiguous(&insn->src1, elements * sizeof(uint32_t), false, "src1");
    return 3;
}

/* Insertion keeps the order of equal scores. */
static void sort_pairs(struct pair *pairs, int n)
{
    for (int i = 1; i < n; i++) {
        struct pair pair = pairs[i];
        int k = i;
        for (; k > 0 && before(pair.score, pairs[k - 1].score); k--)
            pairs[k] = pairs[k - 1];
        pairs[k] = pair;
    }
}

void npu_exec_sort32(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)regs;
    size_t size = akgen_dtype_size((enum akgen_dtype)insn->src_type);
    bool reported = false;
    for (uint32_t r = 0; r < insn->repeat; r++) {
        struct pair pairs[SORT32];
        const uint8_t *score = (const uint8_t *)insn->src0.addr + r * SORT32 * size;
        const uint8_t *index = (const uint8_t *)insn->src1.addr + (size_t)r * SORT32 * sizeof(uint32_t);
        bool all = npu_ub_defined(core, score, SORT32 * size);
        if ((!all || !npu_ub_defined(core, index, SORT32 * sizeof(uint32_t))) && !reported) {
            npu_undefined_read(core, all ? "src1" : "src0", all ? index : score);
            reported = true;
        }
        for (int i = 0; i < SORT32; i++, score += size, index += sizeof(uint32_t)) {
            pairs[i] = (struct pair){.score = score_of(score, insn->src_type),
                                     .defined = all && npu_ub_defined(core, index, sizeof(uint32_t))};
            memcpy(pairs[i].bytes, score, size);
            memcpy(pairs[i].bytes + 4, index, sizeof(uint32_t));
        }
        sort_pairs(pairs, SORT32);
        for (int i = 0; i < SORT32; i++)
            store_pair(core, (uint8_t *)insn->dst.addr + ((size_t)r * SORT32 + (size_t)i) * PAIR, &pairs[i]);
    }
}

/* MrgSort: up to four sorted lists become one. Operands: dst; the lists src0, src1, aux and copy.pad_value (an
 * address); mask[0] the four lengths, sixteen bits each; mode the valid bits; NPU_INSN_SUSPEND; repeat. */
static struct npu_tensor list_of(const struct npu_insn *insn, int i)
{
    struct npu_tensor fourth = insn->src0;
    fourth.addr = insn->copy.pad_value;
    fourth.bytes = 0;
    return i == 0 ? insn->src0 : i == 1 ? insn->src1 : i == 2 ? insn->aux : fourth;
}

static uint32_t length_of(const struct npu_insn *insn, int i)
{
    return insn->mode >> i & 1 ? (uint32_t)(insn->mask[0] >> (16 * i) & 0xffff) : 0;
}

static uint64_t total_of(const struct npu_insn *insn)
{
    uint64_t total = 0;
    for (int i = 0; i < LISTS; i++)
        total += length_of(insn, i);
    return total;
}

/* Repeats need four lists of one length, one behind the other, and no suspension. */
static bool can_repeat(const struct npu_insn *insn)
{
    bool ok = insn->mode == 15 && !(insn->flags & NPU_INSN_SUSPEND);
    for (int i = 1; i < LISTS && ok; i++)
        ok = length_of(insn, i) == length_of(insn, 0) &&
             list_of(insn, i).addr == list_of(insn, i - 1).addr + (uint64_t)length_of(insn, 0) * PAIR;
    return ok;
}

static void check_list(struct npu_core *core, const struct npu_insn *insn, int i, const char *operand)
{
    struct npu_tensor list = list_of(insn, i);
    uint32_t length = (uint32_t)(insn->mask[0] >> (16 * i) & 0xffff);
    if (length > MAX_LENGTH)
        npu_trap(core, FAULT(sort_length), operand,
                 "list %d of MrgSort has %" PRIu32 " pairs; the field holds 0 to 4095", i + 1, length);
    if (!npu_in_ub(core, list.addr))
        npu_trap(core, FAULT(vec_position), operand, "list %d of MrgSort does not lie in Unified Buffer", i + 1);
    uint64_t offset = list.addr - (uint64_t)core->ub;
    if (offset % PAIR)
        npu_trap(core, FAULT(vec_alignment), operand,
                 "list %d of MrgSort starts at UB byte %" PRIu64 ", which is no multiple of 8", i + 1, offset);
}

int npu_check_mrg_sort(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                       struct npu_access *accesses)
{
    static const char *const names[LISTS] = {"src1", "src2", "src3", "src4"};
    (void)regs;
    npu_check_types(core, insn);
    check_repeat(core, insn);
    if (insn->mode != 3 && insn->mode != 7 && insn->mode != 15)
        npu_trap(core, FAULT(sort_valid_bit), "validBit", "validBit of MrgSort is %d, the values are 3, 7 and 15",
                 insn->mode);
    if (!insn->repeat)
        return 0;
    npu_check_operand(core, &insn->dst, "dst");
    if (insn->repeat > 1 && !can_repeat(insn)) {
        npu_note(core, false, FAULT(sort_repeat), "repeatTimes", 0,
                 "repeatTimes of MrgSort is %" PRIu32 " and has no effect: repeats need four lists of one length, one "
                 "behind the other, validBit 15 and no suspension",
                 insn->repeat);
        insn->repeat = 1;
    }
    uint64_t written = total_of(insn) * PAIR * insn->repeat;
    accesses[0] = contiguous(&insn->dst, written, true, "dst");
    int n = written != 0;
    for (int i = 0; i < LISTS; i++) {
        if (!(insn->mode >> i & 1))
            continue;
        check_list(core, insn, i, names[i]);
        struct npu_tensor list = list_of(insn, i);
        uint64_t bytes = (uint64_t)length_of(insn, i) * PAIR, gap = total_of(insn) * PAIR * (insn->repeat - 1);
        if (bytes && insn->dst.addr < list.addr + bytes + gap && list.addr < insn->dst.addr + written)
            npu_note(core, false, FAULT(vec_overlap), names[i], 0,
                     "dst and list %d of MrgSort overlap; they must be disjoint", i + 1);
        accesses[n] = contiguous(&insn->src0, bytes, false, names[i]);
        accesses[n].addr = list.addr;
        accesses[n].tensor = NULL;
        accesses[n].flags = list.flags;
        accesses[n].count = insn->repeat;
        accesses[n].stride = (int64_t)(total_of(insn) * PAIR);
        n += bytes != 0;
    }
    return n;
}

/* One merge; used[i] becomes what it has taken of each list. */
static void merge(struct npu_core *core, const struct npu_insn *insn, uint8_t *dst, const uint8_t *const lists[LISTS],
                  uint32_t used[LISTS])
{
    bool suspend = insn->flags & NPU_INSN_SUSPEND, reported = false;
    memset(used, 0, LISTS * sizeof *used);
    for (uint64_t left = total_of(insn); left > 0; left--) {
        int best = -1;
        float best_score = 0;
        for (int i = 0; i < LISTS; i++) {
            if (used[i] == length_of(insn, i)) {
                if (suspend && insn->mode >> i & 1)
                    return;
                continue;
            }
            float score = score_of(lists[i] + (size_t)used[i] * PAIR, insn->src_type);
            if (best < 0 || before(score, best_score))
                best = i, best_score = score;
        }
        const uint8_t *from = lists[best] + (size_t)used[best]++ * PAIR;
        struct pair pair = {.defined = pair_defined(core, from, insn->src_type)};
        memcpy(pair.bytes, from, PAIR);
        if (!pair.defined && !reported) {
            npu_undefined_read(core, "src", from);
            reported = true;
        }
        store_pair(core, dst, &pair);
        dst += PAIR;
    }
}

void npu_exec_mrg_sort(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)regs;
    uint64_t step = total_of(insn) * PAIR, counts = 0;
    uint32_t used[LISTS] = {0};
    for (uint32_t r = 0; r < insn->repeat; r++) {
        const uint8_t *lists[LISTS];
        for (int i = 0; i < LISTS; i++)
            lists[i] = (const uint8_t *)(list_of(insn, i).addr + r * step);
        merge(core, insn, (uint8_t *)insn->dst.addr + r * step, lists, used);
    }
    for (int i = 0; i < LISTS; i++)
        counts |= (uint64_t)used[i] << 16 * i;
    if (insn->repeat)
        core->results.merge_counts = counts;
}

/* Names that CANN compiles for this chip, with a warning, and that do nothing on it: RpSort16, MrgSort4,
 * ProposalConcat, ProposalExtract. */
int npu_check_no_effect(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                        struct npu_access *accesses)
{
    (void)regs, (void)accesses;
    npu_check_types(core, insn);
    npu_note(core, false, FAULT(no_effect), "dst", 0,
             "%s is for other products: CANN compiles it for a 910B with a warning, and it does nothing",
             npu_isa[insn->op].name);
    return 0;
}

void npu_exec_no_effect(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)core, (void)insn, (void)regs;
}
