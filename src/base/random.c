#include "base/random.h"

#include <math.h>

void rng_seed(struct rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++) { /* splitmix64 */
        uint64_t z = seed += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        rng->state[i] = z ^ (z >> 31);
    }
}

static inline uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double rng_uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

double rng_normal(struct rng *rng)
{
    for (;;) {
        double u = 2 * rng_uniform(rng) - 1, v = 2 * rng_uniform(rng) - 1, s = u * u + v * v;
        if (s > 0 && s < 1)
            return u * sqrt(-2 * log(s) / s);
    }
}

int64_t rng_integer(struct rng *rng, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low, limit = UINT64_MAX - UINT64_MAX % span, x;
    do
        x = rng_next(rng);
    while (x >= limit);
    return (int64_t)((uint64_t)low + x % span);
}
