/* The plan of a process's fences, made by the program that starts it. */
#include "jail/fence_internal.h"
#include "jail/landlock.h"
#include "jail/layers.h"

struct fence fence_plan(const struct sandbox_limits *limits)
{
    struct fence fence = {.limits = limits, .namespaces = namespaces_prepare(), .layers = layers_granted()};
    fence.layers &= ~(limits->without & LAYER(SANDBOX_USER) ? limits->without | ALL_NAMESPACES : limits->without);
    fence.landlock = fence.layers & LAYER(SANDBOX_LANDLOCK) ? landlock_version() : 0;
    fence.own_proc = fence.namespaces->own_proc && fence.layers & LAYER(SANDBOX_PID);
    if (fence.layers & LAYER(SANDBOX_MOUNT) && !fence_sees_all(limits))
        fence.view = view_new(limits->readable, limits->writable, !fence.own_proc);
    return fence;
}

void fence_free(struct fence *fence)
{
    view_free(fence->view);
}

const char *fence_enter(const struct fence *fence)
{
    const char *failed = namespaces_join(fence->namespaces, fence->layers);
    return failed || !fence->view ? failed : view_enter(fence->view);
}
