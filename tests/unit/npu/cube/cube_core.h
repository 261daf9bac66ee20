/* One AIC with random GM, for tests of the cube's instructions: a program of ABI calls runs as the kernel and looks at
 * the memories, which are ordinary memory. */
#ifndef TESTS_NPU_CUBE_CORE_H
#define TESTS_NPU_CUBE_CORE_H

#include "base/half.h"
#include "base/random.h"
#include "npu/gm/shadow.h"
#include "npu/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { GM_BYTES = 1 << 20 };
static _Alignas(512) uint8_t cube_in[GM_BYTES], cube_out[GM_BYTES];
static struct rng cube_rng;
static void (*cube_program)(void);
static char cube_fault[64]; /* the first fault of the last run, or "" */

static inline uint32_t cube_random(uint32_t low, uint32_t high)
{
    return (uint32_t)rng_integer(&cube_rng, low, high + 1);
}

static void cube_kernel(void)
{
    cube_program();
}

/* Runs the program on one core of the type; what it wrote to GM is in cube_out. */
static inline void cube_run(void (*program)(void), enum npu_kernel_type type)
{
    struct npu_config config = {.sync = NPU_SYNC_MANUAL, .kernel_type = type, .aic_kernel = (void *)cube_kernel};
    struct npu *npu = npu_create(&config);
    for (size_t i = 0; i < GM_BYTES; i += 8) {
        uint64_t bits = rng_next(&cube_rng);
        memcpy(cube_in + i, &bits, 8);
    }
    memset(cube_out, 0x55, GM_BYTES);
    npu_gm_add(npu, "in", cube_in, GM_BYTES, NPU_GM_INPUT, true);
    npu_gm_add(npu, "out", cube_out, GM_BYTES, NPU_GM_OUTPUT, true);
    cube_program = program;
    uint64_t none = 0;
    npu_launch(npu, (void *)cube_kernel, &none, 1, 1);
    size_t count;
    const struct npu_finding *findings = npu_findings(npu, &count);
    cube_fault[0] = '\0';
    for (size_t i = count; i-- > 0;)
        if (findings[i].fatal)
            snprintf(cube_fault, sizeof cube_fault, "%s", findings[i].fault);
    npu_destroy(npu);
}
static inline void cube_good(void (*program)(void))
{
    cube_run(program, NPU_TYPE_AIC_ONLY);
    assert_string_equal(cube_fault, "");
}

static inline struct npu_tensor cube_local(int position, uint32_t offset)
{
    struct npu_tensor tensor;
    npu_local_tensor(position, offset, 0, &tensor);
    return tensor;
}
static inline struct npu_tensor cube_gm(const void *at)
{
    return (struct npu_tensor){.addr = (uint64_t)at, .position = NPU_GM};
}
static inline uint8_t *cube_at(int position, uint32_t offset)
{
    return (uint8_t *)cube_local(position, offset).addr;
}
/* Random defined bytes, without an instruction. */
static inline void cube_fill(int position, uint32_t offset, uint32_t bytes)
{
    uint8_t *at = cube_at(position, offset);
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)rng_next(&cube_rng);
    npu_ub_define(npu_current, at, bytes);
}
static inline void cube_join(void)
{
    npu_pipe_barrier(NPU_PIPE_ALL);
}

#endif
