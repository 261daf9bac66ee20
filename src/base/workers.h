/* Threads that share a list of things to do. */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

/* Calls body(closure, index) once for each index below `count`, up to `jobs` calls at a time, and returns when all have
 * ended. The caller's thread is one of the workers; each takes the next index that nobody has. Where the system gives
 * fewer threads, fewer work. */
void workers_run(int count, int jobs, void (*body)(void *closure, int index), void *closure);

#endif
