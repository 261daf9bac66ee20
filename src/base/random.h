/* Random numbers for inputs and schedules: small, fast, the same on every machine.
 * Generator: xoshiro256** seeded by splitmix64 (Blackman and Vigna, 2018). */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

struct rng {
    uint64_t state[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
/* Uniform in [0, 1), 53 random bits. */
double rng_uniform(struct rng *rng);
/* Standard normal (polar method of Marsaglia). */
double rng_normal(struct rng *rng);
/* Uniform integer in [low, high), without bias; high must be larger than low. */
int64_t rng_integer(struct rng *rng, int64_t low, int64_t high);

#endif
