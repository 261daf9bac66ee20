/* Fibers (fiber.c): each block of a kernel runs on a stack of its own and switches where it waits for others. */
#ifndef NPU_FIBER_H
#define NPU_FIBER_H

#include "npu/npu_internal.h"

struct npu_fiber {
    struct npu_core *core;
    struct fiber_context *context;
    bool started, done;
    bool (*ready)(void *argument); /* NULL: can run */
    void *argument;
    const char *waits_for;
    int waits_flag, waits_mode; /* a cross-core flag and the mode that the wait names; -1: no flag */
    uint64_t waits_pc;
};
/* Runs body(core) on its own stack until it yields, waits or ends (fiber->done). */
void fiber_resume(struct npu_fiber *fiber, void (*body)(struct npu_core *core));
/* Leaves the running fiber for ever: the run has ended. */
_Noreturn void fiber_abandon(struct npu_fiber *fiber);
void fiber_yield(struct npu_core *core);
/* The core waits until ready(argument) is true; `what` says for what, for the report of a deadlock. Yields once at
 * least. */
void npu_fiber_wait(struct npu_core *core, bool (*ready)(void *argument), void *argument, const char *what);
/* Gives the stack back for the next fiber. */
void fiber_release(struct npu_fiber *fiber);
bool fiber_on_stack(const struct npu_fiber *fiber, uint64_t addr);
/* The guard below the stack of the running fiber holds addr. */
bool fiber_in_guard(const struct npu_fiber *fiber, uint64_t addr);
struct npu_fibers *fibers_create(void);
void fibers_destroy(struct npu_fibers *fibers);

#endif
