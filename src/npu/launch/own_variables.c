/* Variables that a kernel can write outside GM: each core has its own, whether the source says so (__BLOCK_LOCAL__) or not, for
 * no core sees what is in another's data cache, and what the machine is told of one block no other may change. They lie at one
 * address in the kernel's object, and a core's values are put there while it runs. A core begins with the values of the
 * object. */
#include "npu/launch/own_variables.h"

#include "npu/machine.h"

#include <stdlib.h>
#include <string.h>

static void *checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

void npu_own_variables(struct npu *npu, void *base, size_t bytes)
{
    struct npu_variables *variables = &npu->variables[npu->variables[0].bytes ? 1 : 0];
    variables->base = base;
    variables->bytes = bytes;
    variables->initial = arena_alloc(&npu->arena, bytes);
    memcpy(variables->initial, base, bytes);
}

void own_variables_in(struct npu_core *core)
{
    const struct npu_variables *variables = core->npu->variables;
    size_t bytes = variables[0].bytes + variables[1].bytes;
    if (!bytes)
        return;
    bool first = !core->variables;
    if (first)
        core->variables = checked(malloc(bytes));
    size_t at = 0;
    for (int i = 0; i < 2; at += variables[i++].bytes)
        if (variables[i].bytes)
            memcpy(variables[i].base, first ? variables[i].initial : core->variables + at, variables[i].bytes);
}

void own_variables_out(struct npu_core *core)
{
    const struct npu_variables *variables = core->npu->variables;
    size_t at = 0;
    for (int i = 0; core->variables && i < 2; at += variables[i++].bytes)
        if (variables[i].bytes)
            memcpy(core->variables + at, variables[i].base, variables[i].bytes);
}

void own_variables_free(struct npu_core *core)
{
    free(core->variables);
    core->variables = NULL;
}
