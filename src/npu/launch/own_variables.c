/* Gives each core its own copy of the kernel's writable variables outside GM, with or without __BLOCK_LOCAL__: on the chip a
 * core does not see another core's data cache, and no block may change memory that another block has passed to the machine.
 * The variables have one address in the kernel's object. The running core's values are copied there; a core starts with the
 * object's initial values. */
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
