/* What the two programs of the jail, akgen-host and akgen-run, have in common: how they begin, and how the report of a
 * violation is made. */
#ifndef JAIL_INSIDE_JAILED_H
#define JAIL_INSIDE_JAILED_H

#include "base/arena.h"

#include <jansson.h>

/* Before anything else: everything that differs from run to run is replaced (steady.h), and what is freed is wiped. */
void jailed_begin(void);
/* A descriptor given as --name=NUMBER; -1: none. */
int jailed_option(int argc, char **argv, const char *name);
/* The JSON behind the descriptor, which is closed; NULL if there is none. The text is not left in memory. */
json_t *jailed_read(int fd);

/* Closes every descriptor above the standard ones but two (-1: none): no file is open when the candidate's code runs. */
void jailed_close_all_but(int one, int other);

/* The report of a violation is written while the candidate's call is under way, perhaps inside the allocator with its
 * locks held: nothing may be allocated then. So its text is made beforehand, with room for what is not known yet: a
 * result whose error is this. */
const char *jailed_unknown(void);
/* Its JSON, in the arena; NULL if there is no memory. Releases the reference. */
char *jailed_evidence(struct arena *arena, json_t *result);
/* Puts the words where the unknown is; the list ends in NULL. Makes no call. */
void jailed_fill_in(char *evidence, const char *const *words);

#endif
