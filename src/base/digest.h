/* Names for content, 128 bits in hexadecimal. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "base/arena.h"

#include <stddef.h>

struct digest;
/* XXH3: fast, for what nobody gains by forging. */
struct digest *digest_new(void);
/* SHA-256, cut: for what a candidate could gain by having the name of another's content. */
struct digest *digest_new_unforgeable(void);
void digest_bytes(struct digest *digest, const void *bytes, size_t length);
/* A string with its terminating NUL, so that ("ab", "c") and ("a", "bc") differ. */
void digest_string(struct digest *digest, const char *string);
/* 32 hexadecimal digits in the arena; releases the digest. */
const char *digest_finish(struct digest *digest, struct arena *arena);
/* That of a string alone, of XXH3. */
const char *digest_of_string(struct arena *arena, const char *string);

#endif
