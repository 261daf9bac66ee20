/* Sort32 and MrgSort against qsort of the same pairs; counts of suspended merges against a merge by hand. */
/* test: leaves=covered with=core builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/core.h"

#include <math.h>

enum { DST = 0, SCORES = 65536, INDICES = 131072 };

struct pair {
    float score;
    uint32_t index;
};
/* Descending; equal scores in the order of their indices, which the tests number from 0. */
static int compare(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void put_score(uint8_t *at, uint8_t type, float score)
{
    half_t half = (half_t)score;
    memcpy(at, type == AKGEN_FLOAT ? (void *)&score : (void *)&half, akgen_dtype_size((enum akgen_dtype)type));
}

static struct pair get_pair(const uint8_t *at, uint8_t type)
{
    struct pair pair;
    half_t half;
    memcpy(&half, at, sizeof half);
    memcpy(&pair.score, at, sizeof pair.score);
    if (type == AKGEN_FLOAT16)
        pair.score = (float)half;
    memcpy(&pair.index, at + 4, sizeof pair.index);
    return pair;
}

static float random_score(void)
{
    return (float)((int)fake_random(41) - 20) / 4; /* many equal ones */
}

static struct npu_insn sort32(uint8_t type, uint32_t repeat)
{
    return (struct npu_insn){.op = NPU_OP_SORT32,
                             .dst_type = type,
                             .src_type = type,
                             .dst = fake_local(DST, 65536),
                             .src0 = fake_local(SCORES, 65536),
                             .src1 = fake_local(INDICES, 65536),
                             .repeat = repeat};
}

static void sort32_sorts_each_repeat(void **state)
{
    (void)state;
    static const uint32_t repeats[] = {0, 1, 2, 7, 255};
    for (int turn = 0; turn < 10; turn++) {
        uint8_t type = turn % 2 ? AKGEN_FLOAT : AKGEN_FLOAT16;
        uint32_t repeat = repeats[turn / 2], size = type == AKGEN_FLOAT ? 4 : 2;
        static struct pair pairs[255 * 32];
        fake_reset();
        for (uint32_t i = 0; i < repeat * 32; i++) {
            pairs[i] = (struct pair){random_score(), i};
            put_score(fake_ub + SCORES + i * size, type, pairs[i].score);
            memcpy(fake_ub + INDICES + i * 4, &i, 4);
        }
        assert_null(fake_run(sort32(type, repeat), npu_check_sort32, npu_exec_sort32));
        for (uint32_t r = 0; r < repeat; r++) {
            qsort(pairs + r * 32, 32, sizeof *pairs, compare);
            for (uint32_t i = r * 32; i < r * 32 + 32; i++) {
                struct pair got = get_pair(fake_ub + DST + i * 8, type);
                assert_true(got.score == pairs[i].score);
                assert_int_equal(got.index, pairs[i].index);
            }
        }
        struct npu_insn insn = sort32(type, repeat);
        covered(&insn, COUNT);
    }
}

static void nan_is_the_largest(void **state)
{
    (void)state;
    fake_reset();
    for (uint32_t i = 0; i < 32; i++) {
        put_score(fake_ub + SCORES + i * 4, AKGEN_FLOAT, i == 9 ? NAN : i == 3 ? INFINITY : (float)i);
        memcpy(fake_ub + INDICES + i * 4, &i, 4);
    }
    assert_null(fake_run(sort32(AKGEN_FLOAT, 1), npu_check_sort32, npu_exec_sort32));
    assert_int_equal(get_pair(fake_ub + DST, AKGEN_FLOAT).index, 9);
    assert_int_equal(get_pair(fake_ub + DST + 8, AKGEN_FLOAT).index, 3);
    assert_int_equal(get_pair(fake_ub + DST + 16, AKGEN_FLOAT).index, 31);
}

static void sort32_checks_its_operands(void **state)
{
    (void)state;
    fake_reset();
    assert_string_equal(fake_run(sort32(AKGEN_FLOAT, 256), npu_check_sort32, npu_exec_sort32), "vec_repeat");
    assert_string_equal(fake_run(sort32(AKGEN_INT32, 1), npu_check_sort32, npu_exec_sort32), "vec_dtype");
    struct npu_insn insn = sort32(AKGEN_FLOAT, 1);
    insn.src1.addr += 4;
    assert_string_equal(fake_run(insn, npu_check_sort32, npu_exec_sort32), "vec_alignment");
    fake_ub_flag[SCORES + 8] = 0;
    assert_null(fake_run(sort32(AKGEN_FLOAT, 2), npu_check_sort32, npu_exec_sort32));
    assert_int_equal(fake_undefined_reads, 1);
    assert_true(!fake_all(fake_ub + DST, 1) && fake_all(fake_ub + DST + 256, 256));
}

/* Sorted lists of these lengths one behind the other at SCORES, `repeat` times; indices count through. */
static void put_lists(uint8_t type, const uint32_t lengths[4], uint32_t repeat, struct pair *all)
{
    uint32_t at = 0;
    for (uint32_t r = 0; r < repeat; r++)
        for (int k = 0; k < 4; k++) {
            for (uint32_t i = 0; i < lengths[k]; i++)
                all[at + i] = (struct pair){random_score(), 0};
            qsort(all + at, lengths[k], sizeof *all, compare);
            for (uint32_t i = 0; i < lengths[k]; i++, at++) {
                all[at].index = at;
                put_score(fake_ub + SCORES + at * 8, type, all[at].score);
                memcpy(fake_ub + SCORES + at * 8 + 4, &at, 4);
            }
        }
}

static struct npu_insn mrg_sort(uint8_t type, const uint32_t lengths[4], uint8_t valid, uint32_t repeat)
{
    struct npu_insn insn = {.op = NPU_OP_MRG_SORT,
                            .dst_type = type,
                            .src_type = type,
                            .mode = valid,
                            .repeat = repeat,
                            .dst = fake_local(DST, 65536)};
    uint32_t at = SCORES;
    struct npu_tensor lists[4];
    for (int k = 0; k < 4; k++) {
        lists[k] = fake_local(at, lengths[k] * 8);
        insn.mask[0] |= (uint64_t)lengths[k] << 16 * k;
        at += lengths[k] * 8;
    }
    insn.src0 = lists[0];
    insn.src1 = lists[1];
    insn.aux = lists[2];
    insn.copy.pad_value = lists[3].addr;
    return insn;
}

static const char *merge(struct npu_insn insn)
{
    return fake_run(insn, npu_check_mrg_sort, npu_exec_mrg_sort);
}

static void merges_keep_the_order_of_equal_scores(void **state)
{
    (void)state;
    static struct pair all[8192];
    for (int turn = 0; turn < 60; turn++) {
        uint8_t type = turn % 2 ? AKGEN_FLOAT : AKGEN_FLOAT16;
        int lists = 2 + turn % 3;
        bool even = lists == 4 && turn / 6 % 2; /* repeats */
        uint32_t lengths[4] = {0}, repeat = even ? 1 + fake_random(4) : 1, total = 0;
        for (int k = 0; k < lists; k++)
            total += lengths[k] = even ? 32 : fake_random(200);
        fake_reset();
        put_lists(type, lengths, repeat, all);
        assert_null(merge(mrg_sort(type, lengths, (uint8_t)((1 << lists) - 1), repeat)));
        for (uint32_t r = 0; r < repeat; r++)
            qsort(all + r * total, total, sizeof *all, compare);
        for (uint32_t i = 0; i < total * repeat; i++) {
            struct pair got = get_pair(fake_ub + DST + i * 8, type);
            assert_true(got.score == all[i].score);
            assert_int_equal(got.index, all[i].index);
        }
        for (int k = 0; k < 4; k++)
            assert_int_equal(fake.results.merge_counts >> 16 * k & 0xffff, lengths[k]);
        struct npu_insn insn = mrg_sort(type, lengths, 0, repeat);
        covered(&insn, COUNT);
    }
}

static void suspended_merge_stops_at_an_empty_list(void **state)
{
    (void)state;
    fake_reset();
    static const float scores[8] = {9, 5, 1, 8, 7, 6, 2, 0}; /* lists of three, two and three */
    for (uint32_t i = 0; i < 8; i++)
        put_score(fake_ub + SCORES + i * 8, AKGEN_FLOAT, scores[i]);
    uint32_t lengths[4] = {3, 2, 3, 0};
    struct npu_insn insn = mrg_sort(AKGEN_FLOAT, lengths, 7, 1);
    insn.flags = NPU_INSN_SUSPEND;
    uint8_t fourth[8];
    memcpy(fourth, fake_ub + DST + 24, 8);
    assert_null(merge(insn));
    assert_true(get_pair(fake_ub + DST, AKGEN_FLOAT).score == 9 &&
                get_pair(fake_ub + DST + 8, AKGEN_FLOAT).score == 8 &&
                get_pair(fake_ub + DST + 16, AKGEN_FLOAT).score == 7);
    assert_memory_equal(fake_ub + DST + 24, fourth, 8);
    assert_int_equal(fake.results.merge_counts, 1 | 2 << 16);
}

static void merge_checks_its_parameters(void **state)
{
    (void)state;
    fake_reset();
    uint32_t lengths[4] = {32, 32, 32, 31};
    assert_string_equal(merge(mrg_sort(AKGEN_FLOAT, lengths, 5, 1)), "sort_valid_bit");
    assert_null(merge(mrg_sort(AKGEN_FLOAT, lengths, 15, 2)));
    assert_string_equal(fake_last_note, "sort_repeat");
    struct npu_insn insn = mrg_sort(AKGEN_FLOAT, lengths, 15, 1);
    insn.src1.addr += 4;
    assert_string_equal(merge(insn), "vec_alignment");
    insn = mrg_sort(AKGEN_FLOAT, lengths, 15, 1);
    insn.copy.pad_value = 0;
    assert_string_equal(merge(insn), "vec_position");
    insn.mode = 7; /* the fourth list is not looked at */
    assert_null(merge(insn));
    insn = mrg_sort(AKGEN_FLOAT, lengths, 15, 1);
    insn.dst = insn.src1;
    assert_null(merge(insn));
    assert_string_equal(fake_last_note, "vec_overlap");
    lengths[0] = 4096;
    assert_string_equal(merge(mrg_sort(AKGEN_FLOAT, lengths, 3, 1)), "sort_length");
}

static void proposals_do_nothing(void **state)
{
    (void)state;
    static const uint16_t ops[] = {NPU_OP_RP_SORT16, NPU_OP_MRG_SORT4, NPU_OP_PROPOSAL_CONCAT, NPU_OP_PROPOSAL_EXTRACT};
    static uint8_t before[UB_BYTES];
    for (int i = 0; i < 8; i++) {
        fake_reset();
        struct npu_insn insn = sort32(i % 2 ? AKGEN_FLOAT : AKGEN_FLOAT16, 1);
        insn.op = ops[i / 2];
        memcpy(before, fake_ub, UB_BYTES);
        assert_null(fake_run(insn, npu_check_no_effect, npu_exec_no_effect));
        assert_string_equal(fake_last_note, "no_effect");
        assert_memory_equal(fake_ub, before, UB_BYTES);
        covered(&insn, COUNT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sort32_sorts_each_repeat),
        cmocka_unit_test(nan_is_the_largest),
        cmocka_unit_test(sort32_checks_its_operands),
        cmocka_unit_test(merges_keep_the_order_of_equal_scores),
        cmocka_unit_test(suspended_merge_stops_at_an_empty_list),
        cmocka_unit_test(merge_checks_its_parameters),
        cmocka_unit_test(proposals_do_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
