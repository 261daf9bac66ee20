/* The core without a machine (core.h): its memory, and what stands in for the machine's reporting and shadow. */
#include "unit/npu/core.h"

_Alignas(512) uint8_t fake_ub[UB_BYTES], fake_gm[GM_BYTES];
uint8_t fake_ub_flag[UB_BYTES], fake_gm_flag[GM_BYTES];
uint8_t fake_ub_bits[UB_BYTES];
struct npu_config fake_config;
struct npu_core fake;
struct fake_note fake_notes[FAKE_NOTES];
int fake_note_count, fake_fatal_notes;
const char *fake_last_note;
int fake_undefined_reads;
const char *fake_undefined;
const char *fake_trap;
char fake_message[512];
jmp_buf fake_trap_at;
bool fake_trap_armed;

/* Reports. */

_Noreturn static void fake_come_back(const char *fault)
{
    fake_trap = fault;
    if (!fake_trap_armed) {
        fprintf(stderr, "%s: %s\n", fault, fake_message);
        abort();
    }
    longjmp(fake_trap_at, 1);
}

_Noreturn void npu_trap_of(struct npu_core *core, const struct npu_fault *fault, const char *operand,
                           const char *format, ...)
{
    (void)core, (void)operand;
    va_list list;
    va_start(list, format);
    vsnprintf(fake_message, sizeof fake_message, format, list);
    va_end(list);
    fake_come_back(fault->name);
}

_Noreturn void npu_lacks(struct npu_core *core, const char *what)
{
    (void)core;
    snprintf(fake_message, sizeof fake_message, "%s", what);
    fake_come_back("unsupported");
}

void npu_note_of(struct npu_core *core, bool fatal, const struct npu_fault *fault, const char *operand,
                 uint64_t pc_other, const char *format, ...)
{
    (void)operand;
    struct fake_note *note = &fake_notes[fake_note_count < FAKE_NOTES ? fake_note_count : FAKE_NOTES - 1];
    va_list list;
    va_start(list, format);
    vsnprintf(note->message, sizeof note->message, format, list);
    va_end(list);
    note->fault = fake_last_note = fault->name;
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

bool fake_all(const void *at, size_t bytes)
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
