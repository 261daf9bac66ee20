/* Which high-level APIs a test program has run, for coverage_test.c, as coverage.h does for instructions. The tests
 * that run them compare the results with plain loops of their own. */
#ifndef TESTS_NPU_ADV_COVERAGE_H
#define TESTS_NPU_ADV_COVERAGE_H

#include "coverage.h"

#include "abi/npu_adv.h"

/* High-level APIs are numbered behind the instructions. A row's form: whose the temporary space is; its mode: whether
 * the source may be overwritten. */
enum { COVERED_ADV = 1024 };
enum covered_space { SPACE_GIVEN, SPACE_LEFT, SPACES };

static inline void covered_adv(const struct npu_adv *call, bool left)
{
    struct npu_insn row = {.op = (uint16_t)(COVERED_ADV + call->op),
                           .src_type = call->type,
                           .dst_type = call->dst_type,
                           .mode = call->flags & NPU_ADV_REUSE_SOURCE};
    covered(&row, (enum form)(left ? SPACE_LEFT : SPACE_GIVEN));
}

#endif
