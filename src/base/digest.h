/* Names for content: 128-bit XXH3 in hexadecimal. Not cryptographic; for caches, not for trust. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "base/arena.h"

#include <stddef.h>

struct digest;
struct digest *digest_new(void);
void digest_bytes(struct digest *digest, const void *bytes, size_t length);
/* A string with its terminating NUL, so that ("ab", "c") and ("a", "bc") differ. */
void digest_string(struct digest *digest, const char *string);
/* 32 hexadecimal digits in the arena; releases the digest. */
const char *digest_finish(struct digest *digest, struct arena *arena);

#endif
