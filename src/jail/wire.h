/* Messages between akgen and its programs in the jail, as records of wire.def: structs of one build, field after field in
 * the machine's own byte order. The writer may be a candidate that took its process over, so the decoder believes
 * nothing: it looks at each length before it uses it and at each number before it stores it. */
#ifndef JAIL_WIRE_H
#define JAIL_WIRE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The records that are messages, by the struct that holds them. */
enum wire_message { WIRE_JOB, WIRE_JOB_RESULT, WIRE_HOST_JOB, WIRE_HOST_RESULT };

/* Returns the message in the arena, made in one piece: no part of it lies anywhere else in memory. What is no UTF-8 in a text
 * becomes '?'. Ranges are the decoder's business. */
void *wire_encode(struct arena *arena, enum wire_message message, const void *object, size_t *length);
/* Fills the members of `object` that the record names; texts and lists are the arena's, json_t values the caller's. An
 * error names the record and the field, and then no value is held; what came before the field is filled. */
struct akgen_error *wire_decode(struct arena *arena, enum wire_message message, const void *bytes, size_t length,
                                void *object);
/* Returns true if the bytes begin as a message of this kind does in this build. */
bool wire_is(enum wire_message message, const void *bytes, size_t length);

#endif
