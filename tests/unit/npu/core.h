/* One core without a machine around it, for tests that run an instruction, or the order, the schedule or the queues of a
 * core, and look at what it leaves: UB and a piece of GM with a flag per byte, traps that come back as a name, notes that
 * are kept. What stands here takes the place of the machine's own reporting and shadow, so one file of a test program
 * includes it. Tests of whole launches: launch.h. */
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

static _Alignas(512) uint8_t fake_ub[UB_BYTES], fake_gm[GM_BYTES];
static uint8_t fake_ub_flag[UB_BYTES], fake_gm_flag[GM_BYTES]; /* 1: every bit of the byte is defined */
static uint8_t fake_ub_bits[UB_BYTES];                         /* the defined bits of other bytes */
static struct npu_config fake_config;
static struct npu_core fake;

/* Reports. */

struct fake_note {
    const char *fault;
    char message[512];
    uint64_t pc, pc_other;
    bool fatal;
};
static struct fake_note fake_notes[FAKE_NOTES];
static int fake_note_count, fake_fatal_notes;
static const char *fake_last_note;
static int fake_undefined_reads;
static const char *fake_undefined; /* operand of the last one */
static const char *fake_trap;      /* name of the last one, "unsupported" for what the machine lacks */
static char fake_message[512];     /* its text */
static jmp_buf fake_trap_at;
static bool fake_trap_armed;

static inline void fake_forget_reports(void)
{
    fake_note_count = fake_fatal_notes = fake_undefined_reads = 0;
    fake_last_note = fake_undefined = fake_trap = NULL;
    fake_message[0] = '\0';
}

_Noreturn static void fake_come_back(const char *fault)
{
    fake_trap = fault;
    if (!fake_trap_armed) {
        fprintf(stderr, "%s: %s\n", fault, fake_message);
        abort();
    }
    longjmp(fake_trap_at, 1);
}

_Noreturn void npu_trap(struct npu_core *core, enum npu_fault fault, const char *operand, const char *format, ...)
{
    (void)core, (void)operand;
    va_list list;
    va_start(list, format);
    vsnprintf(fake_message, sizeof fake_message, format, list);
    va_end(list);
    fake_come_back(npu_fault_name(fault));
}

_Noreturn void npu_lacks(struct npu_core *core, const char *what)
{
    (void)core;
    snprintf(fake_message, sizeof fake_message, "%s", what);
    fake_come_back("unsupported");
}

void npu_note(struct npu_core *core, bool fatal, enum npu_fault fault, const char *operand, uint64_t pc_other,
              const char *format, ...)
{
    (void)operand;
    struct fake_note *note = &fake_notes[fake_note_count < FAKE_NOTES ? fake_note_count : FAKE_NOTES - 1];
    va_list list;
    va_start(list, format);
    vsnprintf(note->message, sizeof note->message, format, list);
    va_end(list);
    note->fault = fake_last_note = npu_fault_name(fault);
    note->pc = core->pc;
    note->pc_other = pc_other;
    note->fatal = fatal;
    fake_note_count++;
    fake_fatal_notes += fatal;
}

void npu_undefined_read(struct npu_core *core, const char *operand, const void *at)
{
    (void)core, (void)at;
    fake_undefined = operand;
    fake_undefined_reads++;
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

/* Definedness. Outside UB and GM is a bug of what is tested. */

static uint8_t *fake_flags(const void *at, size_t bytes)
{
    size_t ub = (size_t)((const uint8_t *)at - fake_ub), gm = (size_t)((const uint8_t *)at - fake_gm);
    if (ub < UB_BYTES) {
        assert_true(bytes <= UB_BYTES - ub);
        return fake_ub_flag + ub;
    }
    assert_true(gm < GM_BYTES && bytes <= GM_BYTES - gm);
    return fake_gm_flag + gm;
}

static inline bool fake_all(const void *at, size_t bytes)
{
    const uint8_t *flag = fake_flags(at, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (!flag[i])
            return false;
    return true;
}

bool npu_ub_defined(const struct npu_core *core, const void *at, size_t bytes)
{
    (void)core;
    return fake_all(at, bytes);
}

bool npu_ub_any_defined(const struct npu_core *core, const void *at, size_t bytes)
{
    (void)core;
    return memchr(fake_flags(at, bytes), 1, bytes) != NULL;
}

bool npu_gm_defined(const struct npu_core *core, const void *at, size_t bytes)
{
    (void)core;
    return fake_all(at, bytes);
}

void npu_ub_define(struct npu_core *core, const void *at, size_t bytes)
{
    (void)core;
    memset(fake_flags(at, bytes), 1, bytes);
}

void npu_ub_undefine(struct npu_core *core, const void *at, size_t bytes)
{
    (void)core;
    memset(fake_flags(at, bytes), 0, bytes);
    memset(fake_ub_bits + ((const uint8_t *)at - fake_ub), 0, bytes);
}

uint8_t npu_ub_bits(const struct npu_core *core, const void *at)
{
    return npu_ub_defined(core, at, 1) ? UINT8_MAX : fake_ub_bits[(const uint8_t *)at - fake_ub];
}

void npu_ub_define_bits(struct npu_core *core, const void *at, uint8_t bits)
{
    npu_ub_undefine(core, at, 1);
    if (bits == UINT8_MAX)
        npu_ub_define(core, at, 1);
    else
        fake_ub_bits[(const uint8_t *)at - fake_ub] = bits;
}

void npu_gm_written(struct npu_core *core, const void *at, size_t bytes, bool defined, bool atomic)
{
    (void)core, (void)atomic;
    memset(fake_flags(at, bytes), defined, bytes);
}

void npu_shadow_copy(struct npu_core *core, void *to, const void *from, size_t bytes)
{
    (void)core;
    memmove(fake_flags(to, bytes), fake_flags(from, bytes), bytes);
}

/* The core. */

_Thread_local struct npu_core *npu_current;

const struct npu_config *npu_config_of(const struct npu *npu)
{
    (void)npu;
    return &fake_config;
}

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
