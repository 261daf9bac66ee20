/* The fences around a process: planned by the program that starts it, put up by the process itself. */
#ifndef JAIL_FENCE_INTERNAL_H
#define JAIL_FENCE_INTERNAL_H

#include "jail/namespaces.h"
#include "jail/sandbox.h"

struct fence {
    const struct sandbox_limits *limits;
    const struct namespaces *namespaces;
    struct view *view; /* NULL: it sees all files */
    uint32_t layers;   /* that it gets */
    bool own_proc;
    int landlock; /* version; 0: none */
};
/* True if "/" is readable: there is nothing to hide. */
bool fence_sees_all(const struct sandbox_limits *limits);
/* plan.c */
struct fence fence_plan(const struct sandbox_limits *limits);
void fence_free(struct fence *fence);

/* In the process, in this order; system calls only. A step's name is what failed, with errno; NULL: nothing did. */
/* Namespaces; the process is still what it was before. */
const char *fence_enter(const struct fence *fence);
/* The user id that nobody has, where the limits ask for it, and no right of root's. 0, or a negative error
 * number; errno is not touched. */
int fence_identity(const struct fence *fence);
/* Takes the user and group id, and leaves all other groups. 0, or a negative error number. */
long fence_become(long id);
/* Everything else, for good. */
const char *fence_close(const struct fence *fence);

#endif
