/* One core without a machine around it, for tests that run an instruction, or the order, the schedule or the queues of a
 * core, and look at what it leaves: UB and a piece of GM with a flag per byte, traps that come back as a name, notes that
 * are kept. core.c takes the place of the machine's own reporting and shadow: tests that include this say `with=core`. Tests
 * of whole launches: launch.h. */
#ifndef TESTS_NPU_CORE_H
#define TESTS_NPU_CORE_H

#include "base/half.h"
#include "base/random.h"
#include "npu/gm/gm.h"
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/isa.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/order/order.h"
#include "npu/order/schedule.h"
#include "npu/queue/queue.h"
#include "npu/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { UB_BYTES = 196608, GM_BYTES = 196608, SMALL_UB = 65536, FAKE_NOTES = 64, FAKE_LOG = 4096 };

extern uint8_t fake_ub[UB_BYTES], fake_gm[GM_BYTES];
extern uint8_t fake_ub_flag[UB_BYTES], fake_gm_flag[GM_BYTES]; /* 1: every bit of the byte is defined */
extern uint8_t fake_ub_bits[UB_BYTES];                         /* the defined bits of other bytes */
extern struct npu_config fake_config;
extern struct npu_core fake;

/* Reports. */

struct fake_note {
    const char *fault;
    char message[512];
    uint64_t pc, pc_other;
    bool fatal;
};
extern struct fake_note fake_notes[FAKE_NOTES];
extern int fake_note_count, fake_fatal_notes;
extern const char *fake_last_note;
extern int fake_undefined_reads;
extern const char *fake_undefined; /* operand of the last one */
extern const char *fake_trap;      /* name of the last one, "unsupported" for what the machine lacks */
extern char fake_message[512];     /* its text */
extern jmp_buf fake_trap_at;
extern bool fake_trap_armed;

static inline void fake_forget_reports(void)
{
    fake_note_count = fake_fatal_notes = fake_undefined_reads = 0;
    fake_last_note = fake_undefined = fake_trap = NULL;
    fake_message[0] = '\0';
}

/* The statement must trap with this fault. */
#define EXPECT_TRAP(fault, statement)                                                                                  \
    do {                                                                                                               \
        fake_trap = "no fault";                                                                                        \
        fake_trap_armed = true;                                                                                        \
        if (!setjmp(fake_trap_at))                                                                                     \
            statement;                                                                                                 \
        fake_trap_armed = false;                                                                                       \
        assert_string_equal(fake_trap, fault);                                                                         \
    } while (0)

/* Whether all these bytes of UB or GM are defined. Outside of both is a bug of what is tested. */
bool fake_all(const void *at, size_t bytes);

/* The core. */

/* With so many bytes of UB, and registers as at the start of a kernel. */
static inline struct npu_core *fake_make(uint32_t ub_bytes)
{
    fake = (struct npu_core){.ub = fake_ub, .ub_bytes = ub_bytes, .regs = {.mask = {UINT64_MAX, UINT64_MAX}}};
    npu_current = &fake;
    fake_forget_reports();
    return &fake;
}

static inline void fake_fill(uint8_t *memory, uint8_t *flags, size_t bytes, struct rng *rng)
{
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t bits = rng_next(rng);
        memcpy(memory + i, &bits, sizeof bits);
    }
    memset(flags, 1, bytes);
}

/* The same with random bytes in a small UB, all defined: for tests that fill it thousands of times. */
static inline struct npu_core *fake_core(struct rng *rng)
{
    fake_fill(fake_ub, fake_ub_flag, SMALL_UB, rng);
    memset(fake_ub_bits, 0, SMALL_UB);
    return fake_make(SMALL_UB);
}

/* The program's random numbers, for tests without some of their own. */
static inline struct rng *fake_numbers(void)
{
    static struct rng rng;
    static bool seeded;
    if (!seeded)
        rng_seed(&rng, 1);
    seeded = true;
    return &rng;
}

static inline uint32_t fake_random(uint32_t below)
{
    return (uint32_t)rng_integer(fake_numbers(), 0, below);
}

/* The same with all of UB, and GM. */
static inline void fake_reset(void)
{
    fake_fill(fake_ub, fake_ub_flag, UB_BYTES, fake_numbers());
    fake_fill(fake_gm, fake_gm_flag, GM_BYTES, fake_numbers());
    memset(fake_ub_bits, 0, UB_BYTES);
    fake_make(UB_BYTES);
}

static inline struct npu_tensor fake_local(uint32_t offset, uint32_t bytes)
{
    return (struct npu_tensor){.addr = (uint64_t)fake_ub + offset, .bytes = bytes, .position = NPU_VECCALC};
}

/* From there to the end of a small UB. */
static inline struct npu_tensor fake_tensor(uint32_t offset)
{
    return fake_local(offset, SMALL_UB - offset);
}

static inline struct npu_tensor fake_global(uint32_t offset)
{
    return (struct npu_tensor){.addr = (uint64_t)fake_gm + offset, .position = NPU_GM};
}

/* One instruction. */

typedef int fake_check(struct npu_core *, struct npu_insn *, const struct npu_regs *, struct npu_access *);
typedef void fake_execute(struct npu_core *, const struct npu_insn *, const struct npu_regs *);

/* Checks and executes as issue.c does. NULL, or the name of the trap. accesses and count may be NULL. */
static inline const char *fake_issue(struct npu_core *core, struct npu_insn *insn, fake_check *check,
                                     fake_execute *execute, struct npu_access *accesses, int *count)
{
    struct npu_access own[NPU_MAX_ACCESSES];
    struct npu_regs regs = core->regs;
    core->insn = insn;
    fake_trap_armed = true;
    if (setjmp(fake_trap_at)) {
        fake_trap_armed = false;
        return fake_trap;
    }
    int n = check(core, insn, &regs, accesses ? accesses : own);
    assert_in_range(n, 0, NPU_MAX_ACCESSES);
    if (count)
        *count = n;
    execute(core, insn, &regs);
    fake_trap_armed = false;
    return NULL;
}

/* Marks each byte that an access names. */
static inline void fake_footprint(const struct npu_access *access, uint8_t *ub, uint8_t *gm)
{
    assert_true(access->count > 0 && access->count2 > 0 && access->bytes > 0);
    for (uint32_t j = 0; j < access->count2; j++)
        for (uint32_t i = 0; i < access->count; i++) {
            uint64_t at = access->addr + (uint64_t)(i * access->stride) + (uint64_t)(j * access->stride2);
            bool local = at - (uint64_t)fake_ub < UB_BYTES;
            uint64_t offset = at - (uint64_t)(local ? fake_ub : fake_gm);
            assert_true(offset + access->bytes <= UB_BYTES); /* the tests stay inside memory */
            memset((local ? ub : gm) + offset, 1, access->bytes);
        }
}

/* The same for an instruction of which nothing else is asked: reports are of this one alone, and the test fails if a
 * byte changed outside the writes that it names. */
static inline const char *fake_run(struct npu_insn insn, fake_check *check, fake_execute *execute)
{
    static uint8_t ub_before[UB_BYTES], gm_before[GM_BYTES], ub_written[UB_BYTES], gm_written[GM_BYTES];
    static uint8_t ub_read[UB_BYTES], gm_read[GM_BYTES];
    struct npu_access accesses[NPU_MAX_ACCESSES];
    int count = 0;
    memcpy(ub_before, fake_ub, UB_BYTES);
    memcpy(gm_before, fake_gm, GM_BYTES);
    memset(ub_written, 0, UB_BYTES);
    memset(gm_written, 0, GM_BYTES);
    fake_forget_reports();
    const char *trap = fake_issue(&fake, &insn, check, execute, accesses, &count);
    if (trap)
        return trap;
    for (int i = 0; i < count; i++)
        fake_footprint(&accesses[i], accesses[i].write ? ub_written : ub_read,
                       accesses[i].write ? gm_written : gm_read);
    for (size_t i = 0; i < UB_BYTES; i++)
        if (fake_ub[i] != ub_before[i] && !ub_written[i])
            fail_msg("UB byte %zu changed, which no access names", i);
    for (size_t i = 0; i < GM_BYTES; i++)
        if (fake_gm[i] != gm_before[i] && !gm_written[i])
            fail_msg("GM byte %zu changed, which no access names", i);
    return NULL;
}

/* A core with order, schedule and queues: what is executed is logged by its scalar. */

static uint64_t fake_log[FAKE_LOG];
static int fake_log_count;
static uint64_t fake_log_pc; /* of the last one */

static inline void fake_log_execution(struct npu_core *core, int pipe, const struct npu_insn *insn,
                                      const struct npu_regs *regs)
{
    (void)pipe, (void)regs;
    fake_log_pc = core->pc;
    fake_log[fake_log_count++ % FAKE_LOG] = insn->scalar;
}

static inline void fake_start(enum npu_sync sync, bool random_order, uint64_t seed)
{
    fake_config = (struct npu_config){.sync = sync, .random_order = random_order, .seed = seed};
    fake_make(UB_BYTES);
    fake.execute = fake_log_execution;
    fake.order = npu_order_create(&fake);
    fake.schedule = npu_schedule_create(&fake);
    fake_log_count = 0;
}

static inline void fake_stop(void)
{
    npu_pipe_object_destroy(&fake);
    npu_schedule_destroy(fake.schedule);
    npu_order_destroy(&fake);
}

#endif
