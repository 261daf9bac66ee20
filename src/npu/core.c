/* The running core, and how reports call a core. */
#include "npu/machine.h"

#include <stdio.h>

_Thread_local struct npu_core *npu_current;

const struct npu_config *npu_config_of(const struct npu *npu)
{
    return &npu->config;
}

const char *npu_core_name(const struct npu_core *core, char *text, size_t bytes)
{
    const char *kind = !core->between ? "block" : core->aic ? "AIC" : "AIV";
    snprintf(text, bytes, "%s %d", kind, core->block);
    return text;
}
