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
/* The second stack, of variables whose address somebody may take: no pointer of the kernel leads to the other one. */
/* `bytes` more of it; a trap if there is no room. */
void *fiber_frame(struct npu_core *core, uint64_t bytes);
/* Gives back what fiber_frame() gave, and everything that was taken since. */
void fiber_frame_end(struct npu_core *core, void *frame, uint64_t bytes);
/* count x size bytes, aligned, that go with the frame taken last; where the stack ends now, and back to there. */
void *fiber_frame_more(struct npu_core *core, uint64_t count, uint64_t size, uint64_t alignment);
void *fiber_frame_top(const struct npu_core *core);
void fiber_frame_back(struct npu_core *core, void *top);
/* Bytes from addr to the end of the fiber's second stack; 0 if it does not lie there. */
uint64_t fiber_own_room(const struct npu_fiber *fiber, uint64_t addr);
bool fiber_on_stack(const struct npu_fiber *fiber, uint64_t addr);
/* The guard below the stack of the running fiber holds addr. */
bool fiber_in_guard(const struct npu_fiber *fiber, uint64_t addr);
struct npu_fibers *fibers_create(void);
void fibers_destroy(struct npu_fibers *fibers);

#endif
