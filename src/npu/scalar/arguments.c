/* Copies the memory that a kernel passes to the machine by pointer. The copy is made together with the check, so the machine
 * works on the bytes that it checked even if the call waits and other blocks run. Bytes that the machine writes are copied
 * back when the call ends. Calls nest where the machine calls back into the kernel. */
#include "npu/scalar/arguments.h"

#include "abi/npu_hooks.h"
#include "npu/own_memory.h"
#include "npu/report.h"

#include <stdlib.h>
#include <string.h>

/* Copies of one core, over all nested calls; bytes of the buffer that holds them. Longer copies are allocated. */
enum { MOST = 64, ROOM = 16 << 10 };

struct argument {
    void *at, *copy;      /* `copy` is NULL for a null pointer */
    void *allocated;      /* the copy, where it did not fit into `room`; else NULL */
    uint64_t bytes, used; /* used: of `room`, before this copy */
    uint32_t use;
};
struct npu_arguments {
    struct argument list[MOST];
    uint32_t count;
    uint64_t used;
    _Alignas(16) uint8_t room[ROOM];
};

/* Finds memory for argument->bytes bytes. */
static void place(struct npu_arguments *arguments, struct argument *argument)
{
    const uint64_t need = (argument->bytes + 15) & ~UINT64_C(15);
    argument->used = arguments->used;
    if (need > ROOM - arguments->used) {
        argument->copy = argument->allocated = malloc(need);
        if (!argument->copy)
            abort();
        return;
    }
    argument->copy = arguments->room + arguments->used;
    arguments->used += need;
}

void *npu_argument(const void *at, uint64_t bytes, uint32_t use)
{
    NPU_ENTER(core);
    struct npu_arguments *arguments = core->arguments;
    if (!arguments && !(arguments = core->arguments = calloc(1, sizeof *arguments)))
        abort();
    if (arguments->count == MOST)
        npu_trap(core, FAULT(stack_overflow), NULL, NPU_STACK_EXHAUSTED);
    struct argument argument = {.at = (void *)at, .use = use};
    if (at || !(use & NPU_ARGUMENT_OR_NULL)) {
        uint64_t room = npu_own_room(core, (uint64_t)at, use & NPU_ARGUMENT_WRITTEN);
        argument.bytes = use & NPU_ARGUMENT_STRING ? strnlen(at, room) + 1 : bytes;
        if (room < argument.bytes)
            npu_bad_pointer(core, (uint64_t)at);
        place(arguments, &argument);
        memcpy(argument.copy, at, argument.bytes);
    }
    arguments->list[arguments->count++] = argument;
    return argument.copy;
}

/* Releases the newest copy. */
static void forget(struct npu_arguments *arguments)
{
    const struct argument *last = &arguments->list[--arguments->count];
    free(last->allocated);
    if (last->copy)
        arguments->used = last->used;
}

void npu_arguments_end(uint32_t count)
{
    struct npu_arguments *arguments = npu_current->arguments;
    while (count--) {
        const struct argument *last = &arguments->list[arguments->count - 1];
        if (last->copy && last->use & NPU_ARGUMENT_WRITTEN)
            memcpy(last->at, last->copy, last->bytes);
        forget(arguments);
    }
}

void npu_arguments_free(struct npu_core *core)
{
    while (core->arguments && core->arguments->count)
        forget(core->arguments);
    free(core->arguments);
    core->arguments = NULL;
}
