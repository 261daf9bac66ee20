/* One core without a machine: UB, its definedness and doubles of what report.c, shadow.c and isa.c provide, so that a
 * family of vector instructions can be tested alone. Include it in one file of a test program. */
#ifndef VEC_CORE_H
#define VEC_CORE_H

#include "base/random.h"
#include "npu/report.h"
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/isa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FAKE_UB = 64 * 1024 };
static _Alignas(512) uint8_t fake_ub[FAKE_UB];
static uint64_t fake_defined[FAKE_UB / 64];
static uint8_t fake_bits[FAKE_UB]; /* defined bits of undefined bytes */
static struct npu_core fake_core_state;
static jmp_buf fake_trap;
static bool fake_trap_armed;
static const char *fake_fault;     /* the last trap or note */
static const char *fake_undefined; /* operand of the last npu_undefined_read */
static int fake_notes, fake_undefined_reads;

#define NPU_INSN(id, insn_name, pipe, family, insn_types, ...) [NPU_OP_##id] = {.name = insn_name, .types = insn_types},
const struct npu_isa_row npu_isa[NPU_OPS] = {
#include "abi/isa.def"
};
#undef NPU_INSN

_Noreturn void npu_trap(struct npu_core *core, enum npu_fault fault, const char *operand, const char *format, ...)
{
    (void)core;
    (void)operand;
    fake_fault = npu_fault_name(fault);
    if (!fake_trap_armed) {
        va_list args;
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
        abort();
    }
    longjmp(fake_trap, 1);
}

void npu_note(struct npu_core *core, bool fatal, enum npu_fault fault, const char *operand, uint64_t pc_other,
              const char *format, ...)
{
    (void)core, (void)fatal, (void)operand, (void)pc_other, (void)format;
    fake_fault = npu_fault_name(fault);
    fake_notes++;
}

static bool fake_bit(size_t at)
{
    return fake_defined[at / 64] >> (at % 64) & 1;
}

/* Outside UB is a bug of the instruction under test. */
static size_t fake_offset(const void *at, size_t bytes)
{
    size_t offset = (size_t)((const uint8_t *)at - fake_ub);
    assert_true(offset < FAKE_UB && bytes <= FAKE_UB - offset);
    return offset;
}

bool npu_ub_defined(const struct npu_core *core, const void *at, size_t bytes)
{
    (void)core;
    size_t offset = fake_offset(at, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (!fake_bit(offset + i))
            return false;
    return true;
}

void npu_ub_define(struct npu_core *core, const void *at, size_t bytes)
{
    (void)core;
    size_t offset = fake_offset(at, bytes);
    for (size_t i = offset; i < offset + bytes; i++)
        fake_defined[i / 64] |= UINT64_C(1) << (i % 64);
}

void npu_ub_undefine(struct npu_core *core, const void *at, size_t bytes)
{
    (void)core;
    size_t offset = fake_offset(at, bytes);
    for (size_t i = offset; i < offset + bytes; i++)
        fake_defined[i / 64] &= ~(UINT64_C(1) << (i % 64));
    memset(fake_bits + offset, 0, bytes);
}

uint8_t npu_ub_bits(const struct npu_core *core, const void *at)
{
    return npu_ub_defined(core, at, 1) ? UINT8_MAX : fake_bits[fake_offset(at, 1)];
}

void npu_ub_define_bits(struct npu_core *core, const void *at, uint8_t bits)
{
    if (bits == UINT8_MAX) {
        npu_ub_define(core, at, 1);
        return;
    }
    npu_ub_undefine(core, at, 1);
    fake_bits[fake_offset(at, 1)] = bits;
}

void npu_shadow_copy(struct npu_core *core, void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) /* the tests copy between operands that do not overlap */
        npu_ub_define_bits(core, (uint8_t *)to + i, npu_ub_bits(core, (const uint8_t *)from + i));
}

void npu_undefined_read(struct npu_core *core, const char *operand, const void *at)
{
    (void)core, (void)at;
    fake_undefined = operand;
    fake_undefined_reads++;
}

/* A core with random UB, all of it defined, and registers as after reset. */
static struct npu_core *fake_core(struct rng *rng)
{
    for (size_t i = 0; i < FAKE_UB; i += 8) {
        uint64_t bits = rng_next(rng);
        memcpy(fake_ub + i, &bits, 8);
    }
    memset(fake_defined, 0xff, sizeof fake_defined);
    memset(fake_bits, 0, sizeof fake_bits);
    fake_core_state = (struct npu_core){.ub = fake_ub, .ub_bytes = FAKE_UB, .ub_defined = fake_defined};
    fake_core_state.regs.mask[0] = fake_core_state.regs.mask[1] = UINT64_MAX;
    fake_fault = fake_undefined = NULL;
    fake_notes = fake_undefined_reads = 0;
    return &fake_core_state;
}

static struct npu_tensor fake_tensor(uint32_t offset)
{
    return (struct npu_tensor){
        .addr = (uint64_t)(fake_ub + offset), .bytes = FAKE_UB - offset, .position = NPU_VECCALC};
}

typedef int fake_check(struct npu_core *, struct npu_insn *, const struct npu_regs *, struct npu_access *);
typedef void fake_execute(struct npu_core *, const struct npu_insn *, const struct npu_regs *);

/* Checks and executes as issue.c does. Returns NULL, or the name of the trap. accesses may be NULL. */
__attribute__((unused)) static const char *fake_issue(struct npu_core *core, struct npu_insn *insn, fake_check *check,
                                                      fake_execute *execute, struct npu_access *accesses, int *count)
{
    struct npu_access own[NPU_MAX_ACCESSES];
    struct npu_regs regs = core->regs;
    volatile int n = 0;
    core->insn = insn;
    fake_trap_armed = true;
    if (setjmp(fake_trap)) {
        fake_trap_armed = false;
        return fake_fault;
    }
    n = check(core, insn, &regs, accesses ? accesses : own);
    assert_true(n <= NPU_MAX_ACCESSES);
    fake_trap_armed = false;
    if (count)
        *count = n;
    execute(core, insn, &regs);
    return NULL;
}

#endif
