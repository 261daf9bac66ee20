/* The whole machine, for tests that launch kernels written in C: memory in GM, a launch, what was found; a machine with
 * four tensors; and the ABI in short. Tests of one instruction or one mechanism need a core alone: core.h. */
#ifndef TESTS_NPU_LAUNCH_H
#define TESTS_NPU_LAUNCH_H

#include "abi/npu_abi.h"
#include "npu/npu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A machine and its memory. `at` NULL: there is no such part. */
struct gm_part {
    const char *name;
    void *at;
    size_t bytes;
    enum npu_gm_kind kind;
    bool defined;
};

static inline struct npu *machine_make(const struct npu_config *config, const struct gm_part *parts, int count)
{
    struct npu *npu = npu_create(config);
    for (int i = 0; i < count; i++)
        if (parts[i].at)
            npu_gm_add(npu, parts[i].name, parts[i].at, parts[i].bytes, parts[i].kind, parts[i].defined);
    return npu;
}

/* An Ascend910B2 on which nothing is ordered by itself. seed 0: program order. */
static inline struct npu_config manual_sync(uint64_t seed)
{
    return (struct npu_config){
        .soc = npu_soc_find("910B2"), .sync = NPU_SYNC_MANUAL, .random_order = seed != 0, .seed = seed};
}

/* The finding of that name, NULL if there is none. */
static inline const struct npu_finding *machine_finding(struct npu *npu, const char *fault)
{
    size_t count;
    const struct npu_finding *findings = npu_findings(npu, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(findings[i].fault, fault) == 0)
            return &findings[i];
    return NULL;
}

/* Fails the test if there is any finding. */
static inline void machine_clean(struct npu *npu, const char *what)
{
    size_t count;
    const struct npu_finding *findings = npu_findings(npu, &count);
    for (size_t i = 0; i < count; i++)
        print_message("%s: unexpected %s: %s\n", what, findings[i].fault, findings[i].message);
    assert_int_equal(count, 0);
}

/* One launch of one block on a machine of its own. */
struct outcome {
    char first[64], message[512]; /* the first finding's name and text, "" if there is none */
    char fatal[64];               /* the name of the first that is a fault, "" if there is none */
    char names[512];              /* of all, each between spaces */
    int undefined;                /* the first output that has bytes which were never written, -1 if there is none */
};
enum { OUTCOME_PARTS = 10 };

/* The kernel's arguments are the addresses of the parts. What it wrote is in them. */
static inline struct outcome launch_once(const struct npu_config *config, void *kernel, const struct gm_part *parts,
                                         int count)
{
    struct outcome outcome = {.names = " ", .undefined = -1};
    struct npu *npu = machine_make(config, parts, count);
    uint64_t args[OUTCOME_PARTS] = {0};
    assert_in_range(count, 1, OUTCOME_PARTS);
    for (int i = 0; i < count; i++)
        args[i] = (uint64_t)parts[i].at;
    npu_launch(npu, kernel, args, count, 1);
    size_t found;
    const struct npu_finding *findings = npu_findings(npu, &found);
    for (size_t i = 0; i < found; i++) {
        if (i == 0)
            snprintf(outcome.message, sizeof outcome.message, "%s", findings[i].message);
        snprintf(outcome.first, sizeof outcome.first, "%s", findings[0].fault);
        if (findings[i].fatal && !*outcome.fatal)
            snprintf(outcome.fatal, sizeof outcome.fatal, "%s", findings[i].fault);
        size_t used = strlen(outcome.names);
        snprintf(outcome.names + used, sizeof outcome.names - used, "%s ", findings[i].fault);
    }
    for (int i = count; i-- > 0;)
        if (parts[i].at && parts[i].kind == NPU_GM_OUTPUT && npu_gm_undefined(npu, parts[i].at, NULL))
            outcome.undefined = i;
    npu_destroy(npu);
    return outcome;
}

/* A machine with four tensors, to be launched and looked at step by step. z counts as filled beforehand, so that kernels
 * may write a part of it. */
enum { BLOCKS = 4, TILE = 1024, TILES = 3, ELEMENTS = BLOCKS * TILE * TILES };
struct fixture {
    struct npu *npu;
    float *x, *y, *z, *workspace;
};

static inline float *gm_memory(size_t bytes)
{
    float *memory = aligned_alloc(512, (bytes + 1023) / 512 * 512);
    memset(memory, 0x7f, bytes);
    return memory;
}

static inline void fixture_make_with(struct fixture *f, const struct npu_config *config)
{
    enum { BYTES = ELEMENTS * 4, WORKSPACE_BYTES = 65536 };
    *f = (struct fixture){
        .x = gm_memory(BYTES), .y = gm_memory(BYTES), .z = gm_memory(BYTES), .workspace = gm_memory(WORKSPACE_BYTES)};
    const struct gm_part parts[] = {{"x", f->x, BYTES, NPU_GM_INPUT, true},
                                    {"y", f->y, BYTES, NPU_GM_INPUT, true},
                                    {"z", f->z, BYTES, NPU_GM_OUTPUT, true},
                                    {"workspace", f->workspace, WORKSPACE_BYTES, NPU_GM_WORKSPACE, false}};
    f->npu = machine_make(config, parts, 4);
    for (int i = 0; i < ELEMENTS; i++) {
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
    const struct npu_finding *found = machine_finding(f->npu, fault);
    size_t count;
    const struct npu_finding *findings = npu_findings(f->npu, &count);
    for (size_t i = 0; i < count && !found; i++)
        print_message("found %s: %s\n", findings[i].fault, findings[i].message);
    if (!found)
        fail_msg("no finding %s among %zu", fault, count);
    return found;
}

static inline void no_findings(struct fixture *f)
{
    machine_clean(f->npu, "launch");
}

/* The ABI, in short. */

static inline struct npu_tensor global(float *base, uint64_t element)
{
    return (struct npu_tensor){.addr = (uint64_t)(base + element), .position = NPU_GM};
}

static inline struct npu_tensor gm_tensor(const void *at)
{
    return (struct npu_tensor){.addr = (uint64_t)at, .position = NPU_GM};
}

/* By its place in a memory, without a queue or a buffer. */
static inline struct npu_tensor local_at(int position, uint32_t offset, uint32_t bytes)
{
    struct npu_tensor tensor;
    npu_local_tensor(position, offset, bytes, &tensor);
    return tensor;
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
