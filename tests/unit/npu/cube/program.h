/* Programs of ABI calls for tests of the cube's instructions: they run as the kernel of one AIC over random GM, and look
 * at the memories, which are ordinary memory. */
#ifndef TESTS_NPU_CUBE_PROGRAM_H
#define TESTS_NPU_CUBE_PROGRAM_H

#include "unit/npu/launch.h"

#include "base/half.h"
#include "base/random.h"
#include "npu/gm/shadow.h"
#include "npu/memory.h"

enum { GM_BYTES = 1 << 20 };
static _Alignas(512) uint8_t cube_in[GM_BYTES], cube_out[GM_BYTES];
static struct rng cube_rng;
static void (*cube_program)(void);
static struct outcome cube_outcome; /* of the last run */
static char cube_fault[64];         /* its first fault, or "" */

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
    const struct npu_config config = {.sync = NPU_SYNC_MANUAL, .kernel_type = type, .aic_kernel = (void *)cube_kernel};
    const struct gm_part parts[] = {{"in", cube_in, GM_BYTES, NPU_GM_INPUT, true},
                                    {"out", cube_out, GM_BYTES, NPU_GM_OUTPUT, true}};
    for (size_t i = 0; i < GM_BYTES; i += 8) {
        uint64_t bits = rng_next(&cube_rng);
        memcpy(cube_in + i, &bits, 8);
    }
    memset(cube_out, 0x55, GM_BYTES);
    cube_program = program;
    cube_outcome = launch_once(&config, (void *)cube_kernel, parts, 2);
    memcpy(cube_fault, cube_outcome.fatal, sizeof cube_fault);
}
static inline void cube_good(void (*program)(void))
{
    cube_run(program, NPU_TYPE_AIC_ONLY);
    assert_string_equal(cube_fault, "");
}

static inline uint8_t *cube_at(int position, uint32_t offset)
{
    return (uint8_t *)local_at(position, offset, 0).addr;
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
