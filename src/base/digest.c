#include "base/digest.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct digest {
    XXH3_state_t *state;
};

struct digest *digest_new(void)
{
    struct digest *digest = memory_alloc(sizeof *digest);
    if (!(digest->state = XXH3_createState()))
        memory_exhausted(0);
    XXH3_128bits_reset(digest->state);
    return digest;
}

void digest_bytes(struct digest *digest, const void *bytes, size_t length)
{
    XXH3_128bits_update(digest->state, bytes, length);
}

void digest_string(struct digest *digest, const char *string)
{
    digest_bytes(digest, string, strlen(string) + 1);
}

const char *digest_finish(struct digest *digest, struct arena *arena)
{
    XXH128_hash_t hash = XXH3_128bits_digest(digest->state);
    XXH3_freeState(digest->state);
    free(digest);
    return arena_printf(arena, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}
