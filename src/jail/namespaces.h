/* The namespaces around a process of the jail: what of the machine it sees at all. Those of users, network, IPC and host
 * name are made once for a program and joined by all its processes; each process gets its own files and process ids. */
#ifndef JAIL_NAMESPACES_H
#define JAIL_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What this kernel grants this program, found out by trying it once. */
struct namespaces {
    uint32_t layers;         /* bits of enum sandbox_layer */
    int user, net, ipc, uts; /* descriptors; -1: not granted */
    bool own_proc;           /* /proc of own process ids may be mounted */
    int init;                /* of akgen-init; -1: not found */
};
const struct namespaces *namespaces_prepare(void);
/* True if the child of fork that runs `trial` exits with 0. */
bool namespaces_try(void (*trial)(void));
/* The ids that a process of the jail has inside its user namespace, and where those end outside for a program of root's:
 * a range that nobody uses, neither systemd's users nor its containers (systemd.io/UIDS-GIDS). */
enum { NAMESPACES_CALLER = 1000, NAMESPACES_APART = 1001, NAMESPACES_APART_OUTSIDE = 0x7a000000 };

/* What a process sees of the files: an own tree in memory, with these in it. */
struct view;
/* Each list ends with NULL; paths that do not exist are skipped, and so are those in /proc: `whole_proc` tells whether the
 * caller's is shown, or view_close mounts an own one. */
struct view *view_new(const char *const *readable, const char *const *writable, bool whole_proc);
void view_free(struct view *view);

/* For a child of fork (system calls only). Each returns NULL, or the name of the step that failed, with errno. */
/* Joins the shared ones of `layers`. */
const char *namespaces_join(const struct namespaces *namespaces, uint32_t layers);
/* Puts the process into a mount namespace whose root is the view; the old root still lies over it, in reach of the working
 * directory alone. */
const char *view_enter(const struct view *view);
/* Takes the old root away. `own_proc`: before that, /proc of the process's own process ids is mounted. */
const char *view_close(bool own_proc);

#endif
