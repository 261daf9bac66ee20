/* Definedness of UB and GM against one flag per byte, on random ranges around every chunk and word boundary. */
#include "unit/npu/launch.h"

#include "base/random.h"
#include "npu/gm/gm.h"
#include "npu/gm/shadow.h"

enum { BYTES = 3000, ROUNDS = 4000 };

struct range {
    size_t low, bytes;
};

/* Mostly short, sometimes across several chunks of 256 bytes. */
static struct range random_range(struct rng *rng)
{
    size_t longest = rng_next(rng) % 4 ? 80 : BYTES;
    size_t low = (size_t)rng_integer(rng, 0, BYTES);
    size_t room = BYTES - low < longest ? BYTES - low : longest;
    return (struct range){low, (size_t)rng_integer(rng, 0, (int64_t)room) + 1};
}

static bool all(const bool *flags, struct range range)
{
    for (size_t i = 0; i < range.bytes; i++)
        if (!flags[range.low + i])
            return false;
    return true;
}

static void ub_kernel(void)
{
    static bool flags[BYTES];
    struct npu_core *core = npu_current;
    struct rng rng;
    rng_seed(&rng, 1);
    memset(flags, 0, sizeof flags);
    for (int round = 0; round < ROUNDS; round++) {
        struct range range = random_range(&rng), asked = random_range(&rng);
        bool define = rng_next(&rng) % 3 != 0;
        if (define)
            npu_ub_define(core, core->ub + range.low, range.bytes);
        else
            npu_ub_undefine(core, core->ub + range.low, range.bytes);
        memset(flags + range.low, define, range.bytes);
        if (npu_ub_defined(core, core->ub + asked.low, asked.bytes) != all(flags, asked))
            npu_user_trap();
    }
}

/* Single bits of three bytes, among ranges that are defined and undefined around them. */
static void single_bits_kernel(void)
{
    struct npu_core *core = npu_current;
    const uint8_t *at = core->ub + 1000;
    npu_ub_define_bits(core, at, 0x0f);
    npu_ub_define_bits(core, at + 40, 0x81);
    npu_ub_define_bits(core, at + 41, 0xff);
    bool right = npu_ub_bits(core, at) == 0x0f && npu_ub_bits(core, at + 40) == 0x81 && !npu_ub_defined(core, at, 1) &&
                 npu_ub_defined(core, at + 41, 1) && npu_ub_bits(core, at + 1) == 0;
    npu_ub_define(core, at, 1);
    right = right && npu_ub_bits(core, at) == 0xff;
    npu_ub_undefine(core, at - 900, 1800);
    if (!right || npu_ub_bits(core, at) || npu_ub_bits(core, at + 40) || npu_ub_bits(core, at + 41))
        npu_user_trap();
    npu_ub_define_bits(core, at + 1, 0x0f); /* the next block must not see it */
}

static void single_bits_of_ub(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, single_bits_kernel, 100));
    fixture_free(&f);
}

static void ub_bits(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, ub_kernel, 1));
    fixture_free(&f);
}

static bool gm_flags[BYTES];

/* z: [0, BYTES) by npu_gm_written; values do not matter. */
static void gm_kernel(float *x, float *y, float *z)
{
    (void)x, (void)y;
    struct npu_core *core = npu_current;
    uint8_t *bytes = (uint8_t *)z;
    struct rng rng;
    rng_seed(&rng, 2);
    for (int round = 0; round < ROUNDS; round++) {
        struct range range = random_range(&rng), asked = random_range(&rng);
        bool define = rng_next(&rng) % 3 != 0;
        npu_gm_written(core, bytes + range.low, range.bytes, define, false);
        memset(gm_flags + range.low, define, range.bytes);
        if (npu_gm_defined(core, bytes + asked.low, asked.bytes) != all(gm_flags, asked))
            npu_user_trap();
    }
}

static void gm_states(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    memset(gm_flags, true, sizeof gm_flags);
    launch(&f, gm_kernel, 1);
    size_t count, undefined = 0, first = ELEMENTS * 4, found = 0;
    for (size_t i = BYTES; i-- > 0;)
        if (!gm_flags[i]) {
            undefined++;
            first = i;
        }
    const struct npu_finding *findings = npu_findings(f.npu, &count);
    for (size_t i = 0; i < count; i++)
        assert_string_not_equal(findings[i].fault, "user_trap");
    assert_int_equal(npu_gm_undefined(f.npu, f.z, &found), undefined);
    assert_int_equal(found, first);
    fixture_free(&f);
}

/* Every second byte of a UB range is defined; it goes to GM and comes back. */
static void travel_kernel(float *x, float *y, float *z)
{
    (void)x, (void)y;
    struct npu_core *core = npu_current;
    for (size_t i = 0; i < 600; i += 2)
        npu_ub_define(core, core->ub + i, 1);
    npu_shadow_copy(core, z, core->ub, 600);
    npu_shadow_copy(core, core->ub + 1000, z, 600);
    for (size_t i = 0; i < 600; i++)
        if (npu_ub_defined(core, core->ub + 1000 + i, 1) != (i % 2 == 0))
            npu_user_trap();
}

static void definedness_travels(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    launch(&f, travel_kernel, 1);
    assert_int_equal(finding(&f, "undefined_output")->count, 1);
    assert_int_equal(npu_gm_undefined(f.npu, f.z, NULL), 300);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ub_bits), cmocka_unit_test(single_bits_of_ub),
                                       cmocka_unit_test(gm_states), cmocka_unit_test(definedness_travels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
