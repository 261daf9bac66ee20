/* One core without a machine around it: UB and a piece of GM with a definedness flag per byte, traps that come back as
 * a name, notes that are counted. For tests that run one instruction and look at the memory. Define everything here and
 * the linker takes nothing of the machine's own reporting and shadow. */
#ifndef TESTS_NPU_FAKE_CORE_H
#define TESTS_NPU_FAKE_CORE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/half.h"
#include "npu/report.h"
#include "npu/gm/gm.h"
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/isa.h"
#include "npu/memory.h"

enum { UB_BYTES = 196608, GM_BYTES = 196608 };

static _Alignas(512) uint8_t fake_ub[UB_BYTES], fake_gm[GM_BYTES];
static uint8_t fake_ub_flag[UB_BYTES], fake_gm_flag[GM_BYTES]; /* 1 = defined */
static struct npu_core fake_core = {.ub = fake_ub, .ub_bytes = UB_BYTES};
static jmp_buf fake_trap_at;
static const char *fake_trap, *fake_last_note;
static int fake_undefined_reads, fake_fatal_notes;

_Noreturn void npu_trap(struct npu_core *core, enum npu_fault fault, const char *operand, const char *format, ...)
{
    (void)core, (void)operand, (void)format;
    fake_trap = npu_fault_name(fault);
    longjmp(fake_trap_at, 1);
}

_Noreturn void npu_lacks(struct npu_core *core, const char *what)
{
    (void)core, (void)what;
    fake_trap = "unsupported";
    longjmp(fake_trap_at, 1);
}

void npu_note(struct npu_core *core, bool fatal, enum npu_fault fault, const char *operand, uint64_t pc,
              const char *format, ...)
{
    (void)core, (void)operand, (void)pc, (void)format;
    fake_last_note = npu_fault_name(fault);
    fake_fatal_notes += fatal;
}

void npu_undefined_read(struct npu_core *core, const char *operand, const void *at)
{
    (void)core, (void)operand, (void)at;
    fake_undefined_reads++;
}

static uint8_t *fake_flags(const void *at)
{
    const uint8_t *byte = at;
    if (byte >= fake_ub && byte < fake_ub + UB_BYTES)
        return fake_ub_flag + (byte - fake_ub);
    assert_true(byte >= fake_gm && byte < fake_gm + GM_BYTES);
    return fake_gm_flag + (byte - fake_gm);
}

static bool fake_all(const void *at, size_t bytes)
{
    const uint8_t *flag = fake_flags(at);
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

bool npu_gm_defined(const struct npu_core *core, const void *at, size_t bytes)
{
    (void)core;
    return fake_all(at, bytes);
}

void npu_ub_define(struct npu_core *core, const void *at, size_t bytes)
{
    (void)core;
    memset(fake_flags(at), 1, bytes);
}

void npu_ub_undefine(struct npu_core *core, const void *at, size_t bytes)
{
    (void)core;
    memset(fake_flags(at), 0, bytes);
}

/* Whole bytes only: a byte with some defined bits counts as undefined. */
uint8_t npu_ub_bits(const struct npu_core *core, const void *at)
{
    return npu_ub_defined(core, at, 1) ? UINT8_MAX : 0;
}

void npu_ub_define_bits(struct npu_core *core, const void *at, uint8_t bits)
{
    if (bits == UINT8_MAX)
        npu_ub_define(core, at, 1);
    else
        npu_ub_undefine(core, at, 1);
}

void npu_gm_written(struct npu_core *core, const void *at, size_t bytes, bool defined, bool atomic)
{
    (void)core, (void)atomic;
    memset(fake_flags(at), defined, bytes);
}

void npu_shadow_copy(struct npu_core *core, void *to, const void *from, size_t bytes)
{
    (void)core;
    memmove(fake_flags(to), fake_flags(from), bytes);
}

const struct npu_isa_row npu_isa[NPU_OPS] = {
#define NPU_INSN(id, name_, pipe_, family_, types_, ...) [NPU_OP_##id] = {.name = name_, .types = types_},
#include "abi/isa.def"
#undef NPU_INSN
};

typedef int fake_check(struct npu_core *, struct npu_insn *, const struct npu_regs *, struct npu_access *);
typedef void fake_execute(struct npu_core *, const struct npu_insn *, const struct npu_regs *);

/* Marks each byte that an access names. */
static void fake_footprint(const struct npu_access *access, uint8_t *ub, uint8_t *gm)
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

/* Checks and executes; NULL, or the name of the trap. Fails the test if a byte changed outside the declared writes. */
static const char *fake_run(struct npu_insn insn, fake_check *check, fake_execute *execute)
{
    static uint8_t ub_before[UB_BYTES], gm_before[GM_BYTES], ub_written[UB_BYTES], gm_written[GM_BYTES];
    memcpy(ub_before, fake_ub, UB_BYTES);
    memcpy(gm_before, fake_gm, GM_BYTES);
    memset(ub_written, 0, UB_BYTES);
    memset(gm_written, 0, GM_BYTES);
    fake_trap = fake_last_note = NULL;
    fake_undefined_reads = fake_fatal_notes = 0;
    if (setjmp(fake_trap_at))
        return fake_trap;
    static struct npu_insn checked; /* survives the jump */
    checked = insn;
    fake_core.insn = &checked;
    struct npu_regs regs = fake_core.regs;
    struct npu_access accesses[NPU_MAX_ACCESSES];
    int n = check(&fake_core, &checked, &regs, accesses);
    assert_in_range(n, 0, NPU_MAX_ACCESSES);
    for (int i = 0; i < n; i++) {
        static uint8_t scratch_ub[UB_BYTES], scratch_gm[GM_BYTES];
        bool write = accesses[i].write;
        fake_footprint(&accesses[i], write ? ub_written : scratch_ub, write ? gm_written : scratch_gm);
    }
    execute(&fake_core, &checked, &regs);
    for (size_t i = 0; i < UB_BYTES; i++)
        if (fake_ub[i] != ub_before[i] && !ub_written[i])
            fail_msg("UB byte %zu changed, which no access names", i);
    for (size_t i = 0; i < GM_BYTES; i++)
        if (fake_gm[i] != gm_before[i] && !gm_written[i])
            fail_msg("GM byte %zu changed, which no access names", i);
    return NULL;
}

/* Random bytes everywhere, all defined, registers as at the start of a kernel. */
static uint64_t fake_seed = 1;
static uint32_t fake_random(uint32_t below)
{
    fake_seed = fake_seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((fake_seed >> 33) % below);
}

static void fake_reset(void)
{
    for (size_t i = 0; i < UB_BYTES; i++)
        fake_ub[i] = (uint8_t)fake_random(256);
    for (size_t i = 0; i < GM_BYTES; i++)
        fake_gm[i] = (uint8_t)fake_random(256);
    memset(fake_ub_flag, 1, UB_BYTES);
    memset(fake_gm_flag, 1, GM_BYTES);
    fake_core.regs = (struct npu_regs){.mask = {UINT64_MAX, UINT64_MAX}};
    fake_core.results = (struct npu_results){0};
}

static inline struct npu_tensor fake_local(uint32_t offset, uint32_t bytes)
{
    return (struct npu_tensor){.addr = (uint64_t)fake_ub + offset, .bytes = bytes, .position = NPU_VECCALC};
}

static inline struct npu_tensor fake_global(uint32_t offset)
{
    return (struct npu_tensor){.addr = (uint64_t)fake_gm + offset, .position = NPU_GM};
}

#endif
