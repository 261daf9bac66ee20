/* A machine with four GM tensors, and the ABI in short: for tests that launch kernels written in C. */
#ifndef TESTS_NPU_LAUNCH_H
#define TESTS_NPU_LAUNCH_H

#include "npu/npu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { BLOCKS = 4, TILE = 1024, TILES = 3, COUNT = BLOCKS * TILE * TILES };

/* z counts as filled beforehand, so that kernels may write a part of it. */
struct fixture {
    struct npu *npu;
    float *x, *y, *z, *workspace;
};

static inline float *gm(struct npu *npu, const char *name, size_t bytes, enum npu_gm_kind kind, bool defined)
{
    float *memory = aligned_alloc(512, (bytes + 1023) / 512 * 512);
    memset(memory, 0x7f, bytes);
    npu_gm_add(npu, name, memory, bytes, kind, defined);
    return memory;
}

static inline void fixture_make_with(struct fixture *f, const struct npu_config *config)
{
    f->npu = npu_create(config);
    f->x = gm(f->npu, "x", COUNT * 4, NPU_GM_INPUT, true);
    f->y = gm(f->npu, "y", COUNT * 4, NPU_GM_INPUT, true);
    f->z = gm(f->npu, "z", COUNT * 4, NPU_GM_OUTPUT, true);
    f->workspace = gm(f->npu, "workspace", 65536, NPU_GM_WORKSPACE, false);
    for (int i = 0; i < COUNT; i++) {
        f->x[i] = (float)i;
        f->y[i] = (float)(3 * i + 1);
    }
}

static inline void fixture_make(struct fixture *f, bool random_order, uint64_t seed)
{
    const struct npu_config config = {.soc = npu_soc_find("910B2"),
                                      .sync = NPU_SYNC_AUTO,
                                      .random_order = random_order,
                                      .seed = seed,
                                      .tiling_key = 7,
                                      .reserved_workspace = 64};
    fixture_make_with(f, &config);
}

static inline void fixture_free(struct fixture *f)
{
    npu_destroy(f->npu);
    free(f->x);
    free(f->y);
    free(f->z);
    free(f->workspace);
}

static inline bool launch(struct fixture *f, void *kernel, int blocks)
{
    uint64_t args[] = {(uint64_t)f->x, (uint64_t)f->y, (uint64_t)f->z, (uint64_t)f->workspace};
    return npu_launch(f->npu, kernel, args, 4, blocks);
}

/* The finding of that name; fails the test if there is none. */
static inline const struct npu_finding *finding(struct fixture *f, const char *fault)
{
    size_t count;
    const struct npu_finding *findings = npu_findings(f->npu, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(findings[i].fault, fault) == 0)
            return &findings[i];
    for (size_t i = 0; i < count; i++)
        print_message("found %s: %s\n", findings[i].fault, findings[i].message);
    fail_msg("no finding %s among %zu", fault, count);
    return NULL;
}

static inline void no_findings(struct fixture *f)
{
    size_t count;
    const struct npu_finding *findings = npu_findings(f->npu, &count);
    for (size_t i = 0; i < count; i++)
        print_message("unexpected %s: %s\n", findings[i].fault, findings[i].message);
    assert_int_equal(count, 0);
}

/* The ABI, in short. */

static inline struct npu_tensor global(float *base, uint64_t element)
{
    return (struct npu_tensor){.addr = (uint64_t)(base + element), .position = NPU_GM};
}

static inline void copy(struct npu_tensor dst, struct npu_tensor src, uint32_t count)
{
    struct npu_insn insn = {.op = NPU_OP_DATA_COPY,
                            .form = NPU_FORM_COUNT,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .count = count,
                            .dst = dst,
                            .src0 = src,
                            .copy = {.block_count = 1, .block_len = count / 8}};
    npu_issue(&insn);
}

static inline void add(struct npu_tensor dst, struct npu_tensor left, struct npu_tensor right, uint32_t count)
{
    struct npu_insn insn = {.op = NPU_OP_ADD,
                            .form = NPU_FORM_COUNT,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .src1_type = AKGEN_FLOAT,
                            .count = count,
                            .dst = dst,
                            .src0 = left,
                            .src1 = right};
    npu_issue(&insn);
}

/* A local tensor without a queue. */
static inline struct npu_tensor local(uint32_t bytes)
{
    uint32_t id = 0;
    struct npu_tensor tensor;
    npu_buf_init(&id, NPU_VECCALC, bytes);
    npu_buf_get(id, 0, bytes, &tensor);
    return tensor;
}

#endif
