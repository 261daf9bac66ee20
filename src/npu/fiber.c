/* Coroutines: each block of a kernel runs on a stack of its own and switches where it waits for others. */
#include "npu/fiber.h"

#include "abi/npu_hooks.h"
#include "npu/area.h"
#include "npu/machine.h"
#include "npu/report.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define FIBER_ASAN 1
#endif
#endif

/* A chip's scalar stack is 32 KB; code for the host needs more for the same source, unoptimised code most of all. Each
 * stack is zeros when its block begins, and below it nothing is mapped. */
enum { STACK_BYTES = 1 << 20, GUARD_BYTES = 1 << 16 };
/* The second stack has room for what a chip's whole stack holds many times over. */
enum { FRAMES_BYTES = 1 << 20 };

struct fiber_context {
    ucontext_t context;
    void (*body)(struct npu_core *core);
    uint8_t *stack;
    uint8_t *frames, *top;      /* the second stack, and where its newest frame begins */
    void *fake_stack;           /* AddressSanitizer's, while the fiber is away */
    struct fiber_context *next; /* in the list of free ones */
};

/* Where fibers come from and return to: one per machine. */
struct npu_fibers {
    struct fiber_context *free_contexts;
    uint64_t next_stack; /* in NPU_AREA_STACKS */
    ucontext_t scheduler;
    void *fake_stack; /* AddressSanitizer's of the scheduler, and where the scheduler's stack is */
    const void *stack_bottom;
    size_t stack_bytes;
};

struct npu_fibers *fibers_create(void)
{
    struct npu_fibers *fibers = calloc(1, sizeof *fibers);
    if (!fibers)
        abort();
    return fibers;
}

void fibers_destroy(struct npu_fibers *fibers)
{
    while (fibers->free_contexts) {
        struct fiber_context *context = fibers->free_contexts;
        fibers->free_contexts = context->next;
        munmap(context->stack, STACK_BYTES);
        munmap(context->frames, FRAMES_BYTES);
        free(context);
    }
    free(fibers);
}

static struct npu_fibers *fibers_of(const struct npu_fiber *fiber)
{
    return fiber->core->npu->fibers;
}

/* AddressSanitizer is told before and after each switch which stack runs. */
static void leave_scheduler(struct npu_fibers *fibers, struct fiber_context *to)
{
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(&fibers->fake_stack, to->stack, STACK_BYTES);
#else
    (void)fibers, (void)to;
#endif
}

static void enter_scheduler(struct npu_fibers *fibers)
{
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(fibers->fake_stack, NULL, NULL);
#else
    (void)fibers;
#endif
}

static void leave_fiber(const struct npu_fiber *fiber, bool for_ever)
{
#ifdef FIBER_ASAN
    struct npu_fibers *fibers = fibers_of(fiber);
    __sanitizer_start_switch_fiber(for_ever ? NULL : &fiber->context->fake_stack, fibers->stack_bottom,
                                   fibers->stack_bytes);
#else
    (void)fiber, (void)for_ever;
#endif
}

static void enter_fiber(const struct npu_fiber *fiber)
{
#ifdef FIBER_ASAN
    struct npu_fibers *fibers = fibers_of(fiber);
    __sanitizer_finish_switch_fiber(fiber->context->fake_stack, &fibers->stack_bottom, &fibers->stack_bytes);
#else
    (void)fiber;
#endif
}

static void fiber_main(void)
{
    struct npu_fiber *fiber = npu_current->fiber;
    enter_fiber(fiber);
    fiber->context->body(fiber->core);
    fiber->done = true;
    fiber_abandon(fiber);
}

static struct fiber_context *context_take(struct npu_fibers *fibers)
{
    struct fiber_context *context = fibers->free_contexts;
    if (context) {
        fibers->free_contexts = context->next;
        madvise(context->stack, STACK_BYTES, MADV_DONTNEED); /* zeros again */
        madvise(context->frames, FRAMES_BYTES, MADV_DONTNEED);
        return context;
    }
    context = calloc(1, sizeof *context);
    if (!context)
        abort();
    context->stack = npu_area_map(NPU_AREA_STACKS, &fibers->next_stack, STACK_BYTES, -1);
    context->frames = npu_area_map(NPU_AREA_STACKS, &fibers->next_stack, FRAMES_BYTES, -1);
    if (context->stack == MAP_FAILED || context->frames == MAP_FAILED)
        abort();
    return context;
}

void fiber_resume(struct npu_fiber *fiber, void (*body)(struct npu_core *core))
{
    struct npu_fibers *fibers = fibers_of(fiber);
    if (!fiber->started) {
        fiber->started = true;
        fiber->context = context_take(fibers);
        fiber->context->body = body;
        fiber->context->fake_stack = NULL;
        fiber->context->top = fiber->context->frames + FRAMES_BYTES;
        getcontext(&fiber->context->context);
        fiber->context->context.uc_stack.ss_sp = fiber->context->stack;
        fiber->context->context.uc_stack.ss_size = STACK_BYTES;
        fiber->context->context.uc_link = NULL;
        makecontext(&fiber->context->context, fiber_main, 0);
    }
    npu_current = fiber->core;
    leave_scheduler(fibers, fiber->context);
    swapcontext(&fibers->scheduler, &fiber->context->context);
    enter_scheduler(fibers);
    npu_current = NULL;
}

void fiber_abandon(struct npu_fiber *fiber)
{
    leave_fiber(fiber, true);
    setcontext(&fibers_of(fiber)->scheduler);
    abort();
}

void fiber_yield(struct npu_core *core)
{
    leave_fiber(core->fiber, false);
    swapcontext(&core->fiber->context->context, &fibers_of(core->fiber)->scheduler);
    enter_fiber(core->fiber);
}

void npu_fiber_wait(struct npu_core *core, bool (*ready)(void *argument), void *argument, const char *what)
{
    struct npu_fiber *fiber = core->fiber;
    fiber->ready = ready;
    fiber->argument = argument;
    fiber->waits_for = what;
    fiber->waits_pc = core->pc;
    fiber_yield(core);
    fiber->ready = NULL;
}

void fiber_release(struct npu_fiber *fiber)
{
    if (!fiber->context)
        return;
    struct npu_fibers *fibers = fibers_of(fiber);
    fiber->context->next = fibers->free_contexts;
    fibers->free_contexts = fiber->context;
    fiber->context = NULL;
}

bool fiber_in_guard(const struct npu_fiber *fiber, uint64_t addr)
{
    return (uint64_t)fiber->context->stack - 1 - addr < GUARD_BYTES;
}

bool fiber_on_stack(const struct npu_fiber *fiber, uint64_t addr)
{
    return addr - (uint64_t)fiber->context->stack + GUARD_BYTES < GUARD_BYTES + STACK_BYTES;
}

_Noreturn static void exhausted(struct npu_core *core)
{
    npu_trap(core, FAULT(stack_overflow), NULL, NPU_STACK_EXHAUSTED);
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + NPU_FRAME_ALIGNMENT - 1) & ~(uint64_t)(NPU_FRAME_ALIGNMENT - 1);
}

void *fiber_frame(struct npu_core *core, uint64_t bytes)
{
    struct fiber_context *context = core->fiber->context;
    if (bytes > (uint64_t)(context->top - context->frames) ||
        rounded(bytes) > (uint64_t)(context->top - context->frames))
        exhausted(core);
    return context->top -= rounded(bytes);
}

void fiber_frame_end(struct npu_core *core, void *frame, uint64_t bytes)
{
    fiber_frame_back(core, (uint8_t *)frame + rounded(bytes));
}

void *fiber_frame_more(struct npu_core *core, uint64_t count, uint64_t size, uint64_t alignment)
{
    struct fiber_context *context = core->fiber->context;
    uint64_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > FRAMES_BYTES || alignment > FRAMES_BYTES)
        exhausted(core);
    uint64_t step = alignment > NPU_FRAME_ALIGNMENT ? alignment : NPU_FRAME_ALIGNMENT;
    uint64_t at = ((uint64_t)context->top - bytes) & ~(step - 1);
    if (at < (uint64_t)context->frames)
        exhausted(core);
    return context->top = (uint8_t *)at; // NOLINT: below the top
}

void *fiber_frame_top(const struct npu_core *core)
{
    return core->fiber->context->top;
}

void fiber_frame_back(struct npu_core *core, void *top)
{
    struct fiber_context *context = core->fiber->context;
    if ((uint8_t *)top < context->top || (uint8_t *)top > context->frames + FRAMES_BYTES)
        exhausted(core);
    context->top = top;
}

uint64_t fiber_own_room(const struct npu_fiber *fiber, uint64_t addr)
{
    uint64_t offset = addr - (uint64_t)fiber->context->frames;
    return offset < FRAMES_BYTES ? FRAMES_BYTES - offset : 0;
}
