/* What went wrong: findings, merged by (fault, pc, pc_other); traps, which end the run; signals inside a kernel. */
#include "npu/report.h"

#include "base/arena.h"
#include "base/cycles.h"
#include "npu/fiber.h"
#include "npu/isa.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/undefined_load.h"
#include "npu/where.h"

#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int pipe_of(const struct npu_core *core)
{
    if (!core->insn)
        return NPU_PIPE_S;
    return npu_insn_pipe(core->insn);
}

static struct npu_place place_of(const struct npu_core *core)
{
    return (struct npu_place){.core = core->block,
                              .aic = core->aic,
                              .pipe = pipe_of(core),
                              .pc = core->pc,
                              .api = core->api    ? core->api
                                     : core->insn ? npu_isa[core->insn->op].name
                                                  : ""};
}

static bool same_finding(const struct npu_finding *finding, const struct npu_fault *fault,
                         const struct npu_place *place)
{
    return finding->pc == place->pc && finding->pc_other == place->pc_other && finding->fault == fault->name;
}

/* The finding that (fault, pc, pc_other) belongs to, new or old; NULL when the list is full. */
static struct npu_finding *find_or_add(struct npu *npu, const struct npu_fault *fault, const struct npu_place *place)
{
    if (npu->finding_count > 0 && same_finding(&npu->findings[npu->last_finding], fault, place))
        return &npu->findings[npu->last_finding];
    for (size_t i = 0; i < npu->finding_count; i++)
        if (same_finding(&npu->findings[i], fault, place)) {
            npu->last_finding = i;
            return &npu->findings[i];
        }
    if (npu->finding_count == NPU_MAX_FINDINGS)
        return NULL;
    npu->last_finding = npu->finding_count++;
    return &npu->findings[npu->last_finding];
}

static void record(struct npu *npu, enum npu_kind kind, bool fatal, const struct npu_fault *fault, const char *operand,
                   const struct npu_place *place, const char *format, va_list args)
{
    if (npu->ended)
        return;
    npu->fatal |= fatal;
    struct npu_finding *finding = find_or_add(npu, fault, place);
    /* The list is full and this is a fault: it takes the place of the last note, so that no fault is lost. */
    if (!finding && fatal) {
        finding = &npu->findings[NPU_MAX_FINDINGS - 1];
        *finding = (struct npu_finding){0};
    }
    if (!finding)
        return;
    if (finding->count++ > 0) {
        finding->fatal |= fatal;
        return;
    }
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    finding->fault = fault->name;
    finding->kind = kind;
    finding->fatal = fatal;
    finding->message = arena_strdup(&npu->arena, text);
    finding->api = place->api ? place->api : "";
    finding->operand = operand ? arena_strdup(&npu->arena, operand) : "";
    finding->pipe = place->pipe;
    finding->core = place->core;
    finding->aic = place->aic;
    finding->pc = place->pc;
    finding->pc_other = place->pc_other;
}

/* The kind of a finding that does not end the run where the fault allows that. */
static enum npu_kind kind_of(const struct npu_fault *fault)
{
    unsigned others = fault->kinds & ~(1u << NPU_TRAP);
    return others ? (enum npu_kind)__builtin_ctz(others) : NPU_TRAP;
}

void fault_record(struct npu *npu, bool fatal, const struct npu_fault *fault, const char *operand,
                  const struct npu_place *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(npu, kind_of(fault), fatal, fault, operand, place, format, args);
    va_end(args);
}

void npu_note_of(struct npu_core *core, bool fatal, const struct npu_fault *fault, const char *operand,
                 uint64_t pc_other, const char *format, ...)
{
    struct npu_place place = place_of(core);
    place.pc_other = pc_other;
    va_list args;
    va_start(args, format);
    record(core->npu, kind_of(fault), fatal, fault, operand, &place, format, args);
    va_end(args);
}

void npu_trap_of(struct npu_core *core, const struct npu_fault *fault, const char *operand, const char *format, ...)
{
    npu_undefined_load_settle(core);
    struct npu_place place = place_of(core);
    va_list args;
    va_start(args, format);
    record(core->npu, NPU_TRAP, true, fault, operand, &place, format, args);
    va_end(args);
    core->npu->ended = true;
    core->insn = NULL;
    fiber_abandon(core->fiber);
}

_Noreturn void npu_lacks(struct npu_core *core, const char *what)
{
    struct npu_place place = place_of(core);
    place.api = arena_strdup(&core->npu->arena, what);
    fault_record(core->npu, true, FAULT(unsupported_api), NULL, &place, "%s is not simulated", what);
    core->npu->ended = true;
    core->insn = NULL;
    fiber_abandon(core->fiber);
}

static const char *const lacking_names[NPU_LACKING] = {
#define NPU_LACKS(id, name) [NPU_LACKS_##id] = name,
#include "abi/lacking.def"
#undef NPU_LACKS
};

void npu_unsupported(int lacking)
{
    NPU_ENTER(core);
    if (lacking >= 0 && lacking < NPU_LACKING) /* no header of ours has another: nothing happens */
        npu_lacks(core, lacking_names[lacking]);
}

/* Signals. */

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { CAUGHT = sizeof caught / sizeof caught[0], SIGNAL_STACK = 64 * 1024 };
/* A handler that leaves for good makes AddressSanitizer look for the bounds of the main stack in /proc, which the jail
 * does not allow, unless the kernel has put the signal stack away (SS_AUTODISARM, linux/signal.h). */
#if __has_feature(address_sanitizer)
#define STACK_FLAGS ((int)(1u << 31))
#else
#define STACK_FLAGS 0
#endif
static struct sigaction previous[CAUGHT];
static stack_t previous_stack;
static void *signal_stack;

static uint64_t program_counter(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return context->uc_mcontext.pc;
#else
#error "program counter of a signal context: add this architecture"
#endif
}

static uint64_t stack_pointer(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
#else
    return context->uc_mcontext.sp;
#endif
}

/* Addresses of the object that holds the kernel which can be executed. */
struct code {
    uint64_t entry, low, high;
};

static int find_code(struct dl_phdr_info *object, size_t size, void *closure)
{
    struct code *code = closure;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uint64_t low = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || code->entry - low >= segment->p_memsz)
            continue;
        code->low = low;
        code->high = low + segment->p_memsz;
        return 1;
    }
    return 0;
}

/* Where the kernel is: in a call of the machine's own, whose frame the stack has no room for, what the call returns to
 * is the newest address of the kernel's code on the stack. 0 if there is none. */
static uint64_t kernel_counter(const struct npu_core *core, const ucontext_t *context)
{
    enum { FRAME_WORDS = 512 };
    struct code code = {.entry = (uint64_t)(core->aic ? core->npu->config.aic_kernel : core->npu->kernel)};
    uint64_t at = program_counter(context) + 1;
    dl_iterate_phdr(find_code, &code);
    if (at - code.low < code.high - code.low)
        return at;
#if defined(__aarch64__)
    if (context->uc_mcontext.regs[30] - code.low < code.high - code.low)
        return context->uc_mcontext.regs[30];
#endif
    uint64_t word = (stack_pointer(context) + 7) / 8 * 8;
    while (fiber_in_guard(core->fiber, word))
        word += 8;
    for (uint64_t end = word + FRAME_WORDS * 8; word < end && fiber_on_stack(core->fiber, word); word += 8) {
        memcpy(&at, (const void *)word, sizeof at);
        if (at - code.low < code.high - code.low)
            return at;
    }
    return 0;
}

/* A kernel has nothing to send a signal with: the handler that was there before decides what one from outside means. */
static bool sent_from_outside(int number, siginfo_t *info, void *context)
{
    if (info->si_code > 0)
        return false;
    for (int i = 0; i < CAUGHT; i++)
        if (caught[i] == number && previous[i].sa_flags & SA_SIGINFO)
            previous[i].sa_sigaction(number, info, context);
    return true;
}

static void kernel_signal(int number, siginfo_t *info, void *context)
{
    struct npu_core *core = npu_current;
    if (number == SIGSEGV && info->si_code == SI_KERNEL && cycles_step_over(context))
        return;
    if (sent_from_outside(number, info, context))
        return;
    if (!core) { /* not a kernel's doing: let the next occurrence end the process */
        fault_restore_signals();
        return;
    }
    /* Return addresses point behind a call, so reports step back by one: point behind the instruction's first byte.
     * Inside an instruction of the machine the kernel's line is the one that issued it. */
    if (!core->insn)
        core->pc = program_counter(context) + 1;
    uint64_t addr = (uint64_t)info->si_addr;
    if (number == SIGFPE && divide_step_over(context)) {
        npu_note(
            core, false, FAULT(division_by_zero), NULL, 0,
            "an integer division by zero (or an overflowing one) on the scalar unit, which goes on with some number");
        return;
    }
    if (number == SIGILL)
        npu_trap(core, FAULT(illegal_instruction), NULL,
                 "the kernel ran into code that cannot execute: a function without a return, or __builtin_trap");
    if (fiber_in_guard(core->fiber, addr)) {
        if (!core->insn)
            core->pc = kernel_counter(core, context);
        npu_trap(core, FAULT(stack_overflow), NULL, NPU_STACK_EXHAUSTED);
    }
    if (!core->aic && addr - ((uint64_t)core->ub - NPU_UB_GUARD) < core->ub_bytes + 2ull * NPU_UB_GUARD)
        npu_trap(core, FAULT(ub_out_of_bounds), NULL,
                 "a pointer is %lld bytes past the start of UB, which has %u bytes",
                 (long long)(addr - (uint64_t)core->ub), core->ub_bytes);
    char where[96] = "no address at all"; /* of one that the processor refuses the system gets none to tell */
    if (info->si_code != SI_KERNEL)
        npu_describe_address(core->npu, addr, where, sizeof where);
    npu_trap(core, FAULT(bad_pointer), NULL, "access through a pointer that leads nowhere: %s", where);
}

void fault_install_signals(void)
{
    if (!signal_stack)
        signal_stack = malloc(SIGNAL_STACK);
    if (!signal_stack)
        abort();
    stack_t stack = {.ss_sp = signal_stack, .ss_size = SIGNAL_STACK, .ss_flags = STACK_FLAGS};
    sigaltstack(&stack, &previous_stack);
    /* SA_NODEFER: the handler leaves for the scheduler and never returns, so nothing would unblock the signal. */
    struct sigaction action = {.sa_sigaction = kernel_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &action, &previous[i]);
}

void fault_restore_signals(void)
{
    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &previous[i], NULL);
    if (!(previous_stack.ss_flags & SS_ONSTACK))
        sigaltstack(&previous_stack, NULL);
}
