/* One core without a machine around it, for tests of order, schedule and queues: traps come back by longjmp, notes are
 * kept, instructions that execute are logged. Included by one test program each. */
#ifndef LONE_CORE_H
#define LONE_CORE_H

#include "npu/report.h"
#include "npu/machine.h"
#include "npu/order/schedule.h"
#include "npu/queue/queue.h"
#include "npu/queue/queue_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FAKE_UB = 196608, FAKE_NOTES = 64, FAKE_LOG = 4096 };

struct fake_note {
    char fault[64], message[512];
    uint64_t pc, pc_other;
    bool fatal;
};
static struct npu_config fake_config;
static struct npu_core fake;
static struct fake_note fake_notes[FAKE_NOTES];
static int fake_note_count;
static char fake_fault[64], fake_message[512];
static jmp_buf fake_trap;
static uint64_t fake_log[FAKE_LOG];
static int fake_log_count;
static uint64_t fake_log_pc; /* of the last one */

_Thread_local struct npu_core *npu_current;

const struct npu_config *npu_config_of(const struct npu *npu)
{
    (void)npu;
    return &fake_config;
}

void npu_trap(struct npu_core *core, enum npu_fault fault, const char *operand, const char *format, ...)
{
    (void)core;
    (void)operand;
    va_list list;
    va_start(list, format);
    vsnprintf(fake_message, sizeof fake_message, format, list);
    va_end(list);
    snprintf(fake_fault, sizeof fake_fault, "%s", npu_fault_name(fault));
    longjmp(fake_trap, 1);
}

void npu_note(struct npu_core *core, bool fatal, enum npu_fault fault, const char *operand, uint64_t pc_other,
              const char *format, ...)
{
    (void)operand;
    struct fake_note *note = &fake_notes[fake_note_count < FAKE_NOTES ? fake_note_count : FAKE_NOTES - 1];
    fake_note_count++;
    va_list list;
    va_start(list, format);
    vsnprintf(note->message, sizeof note->message, format, list);
    va_end(list);
    snprintf(note->fault, sizeof note->fault, "%s", npu_fault_name(fault));
    note->pc = core->pc;
    note->pc_other = pc_other;
    note->fatal = fatal;
}

void npu_lacks(struct npu_core *core, const char *what)
{
    (void)core;
    snprintf(fake_message, sizeof fake_message, "%s", what);
    snprintf(fake_fault, sizeof fake_fault, "unsupported");
    longjmp(fake_trap, 1);
}

void npu_execute(struct npu_core *core, int pipe, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)pipe;
    (void)regs;
    fake_log_pc = core->pc;
    fake_log[fake_log_count++ % FAKE_LOG] = insn->scalar;
}

static void fake_start(enum npu_sync sync, bool random_order, uint64_t seed)
{
    fake_config = (struct npu_config){.sync = sync, .random_order = random_order, .seed = seed};
    fake = (struct npu_core){.ub = aligned_alloc(512, FAKE_UB), .ub_bytes = FAKE_UB, .execute = npu_execute};
    fake.order = npu_order_create(&fake);
    fake.schedule = npu_schedule_create(&fake);
    npu_current = &fake;
    fake_note_count = fake_log_count = 0;
    fake_fault[0] = fake_message[0] = 0;
}

static void fake_stop(void)
{
    npu_pipe_object_destroy(&fake);
    npu_schedule_destroy(fake.schedule);
    npu_order_destroy(fake.order);
    free(fake.ub);
}

/* The statement must trap with this fault. */
#define EXPECT_TRAP(fault, statement)                                                                                  \
    do {                                                                                                               \
        fake_fault[0] = 0;                                                                                             \
        if (!setjmp(fake_trap))                                                                                        \
            statement;                                                                                                 \
        assert_string_equal(fake_fault, fault);                                                                        \
    } while (0)

#endif
