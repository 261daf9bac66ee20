#include "base/digest.h"
#include "base/memory.h"

#include <nettle/sha2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct digest {
    XXH3_state_t *fast; /* NULL: sha */
    struct sha256_ctx sha;
};

struct digest *digest_new(void)
{
    struct digest *digest = memory_alloc(sizeof *digest);
    if (!(digest->fast = XXH3_createState()))
        memory_exhausted(0);
    XXH3_128bits_reset(digest->fast);
    return digest;
}

struct digest *digest_new_unforgeable(void)
{
    struct digest *digest = memory_alloc(sizeof *digest);
    digest->fast = NULL;
    sha256_init(&digest->sha);
    return digest;
}

void digest_bytes(struct digest *digest, const void *bytes, size_t length)
{
    if (digest->fast)
        XXH3_128bits_update(digest->fast, bytes, length);
    else
        sha256_update(&digest->sha, length, bytes);
}

void digest_string(struct digest *digest, const char *string)
{
    digest_bytes(digest, string, strlen(string) + 1);
}

/* The first 16 bytes of a SHA-256 as two numbers. */
static XXH128_hash_t finish_sha(struct sha256_ctx *sha)
{
    uint8_t bytes[SHA256_DIGEST_SIZE];
    XXH128_hash_t hash = {0};
    sha256_digest(sha, sizeof bytes, bytes);
    for (int i = 0; i < 8; i++) {
        hash.high64 = hash.high64 << 8 | bytes[i];
        hash.low64 = hash.low64 << 8 | bytes[8 + i];
    }
    return hash;
}

const char *digest_finish(struct digest *digest, struct arena *arena)
{
    XXH128_hash_t hash = digest->fast ? XXH3_128bits_digest(digest->fast) : finish_sha(&digest->sha);
    if (digest->fast)
        XXH3_freeState(digest->fast);
    free(digest);
    return arena_printf(arena, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

const char *digest_of_string(struct arena *arena, const char *string)
{
    struct digest *digest = digest_new();
    digest_string(digest, string);
    return digest_finish(digest, arena);
}
