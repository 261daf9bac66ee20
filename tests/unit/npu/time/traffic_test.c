/* What cores share of L2 and HBM: the same wherever the memory lies in the process. */
#include "npu/npu.h"
#include "npu/time/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

enum { PAGE = 4096, READERS = 12, STREAMS = 600, ROUNDS = 4, STREAM = 3 << 20 /* bytes */ };
static const uint64_t anywhere = UINT64_C(0x7f1234567000);

struct told {
    int64_t readers, from_hbm;
};

/* Streams of tiles that all cores read in the same order, past each other in the tables. `below`: where the memory is said to begin. */
static struct told read_tiles(uint64_t low, uint64_t below)
{
    struct npu_traffic *traffic = npu_traffic_create(npu_soc_find("910B2"), below);
    uint32_t recent[READERS][NPU_TRAFFIC_RECENT] = {0};
    struct told told = {0};
    for (int round = 0; round < ROUNDS; round++)
        for (int core = 0; core < READERS; core++)
            for (int stream = 0; stream < STREAMS; stream++) {
                const struct npu_transfer tile = {.addr = low + (uint64_t)stream * STREAM + (uint64_t)round * PAGE * 5,
                                                  .bytes = 512,
                                                  .count = 32,
                                                  .count2 = 1,
                                                  .stride = PAGE};
                told.readers += npu_traffic_readers(traffic, tile.addr, core, round * 3000.0 + core);
                told.from_hbm += npu_traffic_look_up(traffic, &tile, recent[core]).hbm_read;
            }
    npu_traffic_destroy(traffic);
    return told;
}

static void test_memory_may_lie_anywhere(void **state)
{
    (void)state;
    const struct told first = read_tiles(anywhere, anywhere);
    assert_true(first.readers > ROUNDS && first.from_hbm > 0);
    for (uint64_t pages = 1; pages < 1000; pages += 83) {
        const uint64_t low = anywhere + pages * PAGE;
        const struct told moved = read_tiles(low, low);
        assert_int_equal(moved.readers, first.readers);
        assert_int_equal(moved.from_hbm, first.from_hbm);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory_may_lie_anywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
