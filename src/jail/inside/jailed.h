/* What the two programs of the jail, akgen-host and akgen-run, have in common: how they begin, and how the report of a
 * violation is made. */
#ifndef JAIL_INSIDE_JAILED_H
#define JAIL_INSIDE_JAILED_H

#include "jail/wire.h"

#include <stdint.h>

/* Before anything else: everything that differs from run to run is replaced (steady.h), and what is freed is wiped. */
void jailed_begin(void);
/* A descriptor given as --name=NUMBER; -1: none. */
int jailed_option(int argc, char **argv, const char *name);
/* Decodes the message of the descriptor, which is closed. The bytes are not left in memory. */
struct akgen_error *jailed_read(struct arena *arena, int fd, enum wire_message message, void *object);

/* Closes every descriptor above the standard ones but two (-1: none): no file is open when the candidate's code runs. */
void jailed_close_all_but(int one, int other);

/* The report of a violation is written while the candidate's call is under way, perhaps inside the allocator with its
 * locks held: nothing may be allocated then. So the message is made beforehand, of a result with the error "", the
 * record's last field. */
struct jailed_evidence {
    uint8_t *bytes; /* NULL: not made yet */
    size_t length;
};
void jailed_prepare(struct arena *arena, enum wire_message message, const void *result,
                    struct jailed_evidence *evidence);
/* Puts the words into the error; the list ends in NULL. Makes no call. */
void jailed_fill_in(struct jailed_evidence *evidence, const char *const *words);

#endif
