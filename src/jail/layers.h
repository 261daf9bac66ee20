/* The layers of the jail, which sandbox.h lists. */
#ifndef JAIL_LAYERS_H
#define JAIL_LAYERS_H

#include "jail/sandbox.h"

#define LAYER(layer) (1U << (layer))
#define ALL_NAMESPACES                                                                                                 \
    (LAYER(SANDBOX_USER) | LAYER(SANDBOX_MOUNT) | LAYER(SANDBOX_PID) | LAYER(SANDBOX_NET) | LAYER(SANDBOX_IPC) |       \
     LAYER(SANDBOX_UTS) | LAYER(SANDBOX_UID))

/* The bits of the layers that this kernel grants this program. */
uint32_t layers_granted(void);

#endif
