/* Coroutines: each block of a kernel runs on a stack of its own and switches where it waits for others. */
#include "npu/machine_internal.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define FIBER_ASAN 1
#endif
#endif

/* A chip's scalar stack is 32 KB; code for the host needs more for the same source, unoptimised code most of all. */
enum { STACK_BYTES = 1 << 20, GUARD_BYTES = 1 << 16 };

struct fiber_context {
    ucontext_t context;
    void (*body)(struct npu_core *core);
    uint8_t *mapping;           /* guard, then stack */
    void *fake_stack;           /* AddressSanitizer's, while the fiber is away */
    struct fiber_context *next; /* in the list of free ones */
};

static struct fiber_context *free_contexts;
static ucontext_t scheduler;
#ifdef FIBER_ASAN
static void *scheduler_fake_stack;
static const void *scheduler_bottom;
static size_t scheduler_size;
#endif

static void leave_scheduler(struct fiber_context *to)
{
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(&scheduler_fake_stack, to->mapping + GUARD_BYTES, STACK_BYTES);
#else
    (void)to;
#endif
}

static void enter_scheduler(void)
{
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(scheduler_fake_stack, NULL, NULL);
#endif
}

static void leave_fiber(struct fiber_context *from, bool for_ever)
{
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(for_ever ? NULL : &from->fake_stack, scheduler_bottom, scheduler_size);
#else
    (void)from, (void)for_ever;
#endif
}

static void enter_fiber(struct fiber_context *to)
{
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(to->fake_stack, &scheduler_bottom, &scheduler_size);
#else
    (void)to;
#endif
}

static void fiber_main(void)
{
    struct npu_core *core = npu_current;
    struct npu_fiber *fiber = core->fiber;
    enter_fiber(fiber->context);
    fiber->context->body(core);
    fiber->done = true;
    leave_fiber(fiber->context, true);
    setcontext(&scheduler);
    abort();
}

static struct fiber_context *context_take(void)
{
    struct fiber_context *context = free_contexts;
    if (context) {
        free_contexts = context->next;
        return context;
    }
    context = calloc(1, sizeof *context);
    if (!context)
        abort();
    context->mapping = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (context->mapping == MAP_FAILED)
        abort();
    mprotect(context->mapping, GUARD_BYTES, PROT_NONE);
    return context;
}

void fiber_resume(struct npu_fiber *fiber, void (*body)(struct npu_core *core))
{
    if (!fiber->started) {
        fiber->started = true;
        fiber->context = context_take();
        fiber->context->body = body;
        fiber->context->fake_stack = NULL;
        getcontext(&fiber->context->context);
        fiber->context->context.uc_stack.ss_sp = fiber->context->mapping + GUARD_BYTES;
        fiber->context->context.uc_stack.ss_size = STACK_BYTES;
        fiber->context->context.uc_link = NULL;
        makecontext(&fiber->context->context, fiber_main, 0);
    }
    npu_current = fiber->core;
    leave_scheduler(fiber->context);
    swapcontext(&scheduler, &fiber->context->context);
    enter_scheduler();
    npu_current = NULL;
}

void fiber_abandon(struct npu_fiber *fiber)
{
    leave_fiber(fiber->context, true);
    setcontext(&scheduler);
    abort();
}

void fiber_yield(struct npu_core *core)
{
    struct fiber_context *context = core->fiber->context;
    leave_fiber(context, false);
    swapcontext(&context->context, &scheduler);
    enter_fiber(context);
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
    fiber->context->next = free_contexts;
    free_contexts = fiber->context;
    fiber->context = NULL;
}

bool fiber_in_guard(const struct npu_fiber *fiber, uint64_t addr)
{
    return addr - (uint64_t)fiber->context->mapping < GUARD_BYTES;
}

bool fiber_on_stack(const struct npu_fiber *fiber, uint64_t addr)
{
    return addr - (uint64_t)fiber->context->mapping < GUARD_BYTES + STACK_BYTES;
}

void fiber_free_stacks(void)
{
    while (free_contexts) {
        struct fiber_context *context = free_contexts;
        free_contexts = context->next;
        munmap(context->mapping, GUARD_BYTES + STACK_BYTES);
        free(context);
    }
}
