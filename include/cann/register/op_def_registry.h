// OP_ADD: makes a class derived from ops::OpDef known when host.so is loaded.
#ifndef CANN_REGISTER_OP_DEF_REGISTRY_H
#define CANN_REGISTER_OP_DEF_REGISTRY_H

#include "register/op_def.h"

#define OP_ADD(opType, ...)                                                                                            \
    [[maybe_unused]] static const int g_##opType##_added =                                                             \
        akgen_op_add(#opType, [](const char *name) -> akgen_op_def * { return opType(name).AkgenRelease(); })
#endif
