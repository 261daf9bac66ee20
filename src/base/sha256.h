/* SHA-256 (FIPS 180-4): names for content that somebody may want to forge. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BLOCK = 64, SHA256_BYTES = 32 };
struct sha256 {
    uint32_t state[8];
    uint64_t length;             /* bytes so far */
    uint8_t block[SHA256_BLOCK]; /* the last length % SHA256_BLOCK of them */
};
void sha256_init(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t length);
/* Ends it: nothing may be added afterwards. */
void sha256_finish(struct sha256 *sha, uint8_t result[SHA256_BYTES]);

#endif
