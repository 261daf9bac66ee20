/* A program of ours that lives on and copies itself for each job (clone's CLONE_PARENT): the copy has all that the program made before its
 * first job, and is a child of akgen's, which attends it (sandbox_adopt). This is how both talk over a pair of sockets
 * (SOCK_SEQPACKET): a job is descriptors alone. */
#ifndef JAIL_COPY_H
#define JAIL_COPY_H

#include <stdbool.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { COPY_FILES = 3 };
/* In akgen. Makes the pair: `ours` is told the sender of each message, `theirs` is for the program. False with errno. */
bool copy_sockets(int *ours, int *theirs);
/* Sends a job of `count` descriptors, and waits for the copy. Returns its process id, 0 if the program has ended. */
pid_t copy_ask(int socket, const int *files, int count);

/* In the program. Waits for a job of at least `least` descriptors; those that it lacks are -1. False at the end of the socket, or after
 * a long time without a job. */
bool copy_receive(int socket, int least, int files[COPY_FILES]);
/* Makes the copy. Returns 0 in it, its process id in the program, -1 if there is none. */
pid_t copy_make(void);
/* In the copy: says that it is there. False: akgen is gone. */
bool copy_greet(int socket);

#ifdef __cplusplus
}
#endif

#endif
