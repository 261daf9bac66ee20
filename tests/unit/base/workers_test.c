/* Workers: every index once, as many at a time as asked for. */
#include "base/workers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <unistd.h>

enum { COUNT = 1000 };

struct seen {
    atomic_int times[COUNT];
    atomic_int inside, most;
};

static void see(void *closure, int index)
{
    struct seen *seen = closure;
    int now = atomic_fetch_add(&seen->inside, 1) + 1, most = atomic_load(&seen->most);
    while (now > most && !atomic_compare_exchange_weak(&seen->most, &most, now))
        ;
    atomic_fetch_add(&seen->times[index], 1);
    if (index % 50 == 0)
        usleep(2000);
    atomic_fetch_sub(&seen->inside, 1);
}

static void run(int count, int jobs, int least, int most)
{
    static struct seen seen;
    for (int i = 0; i < COUNT; i++)
        atomic_store(&seen.times[i], 0);
    atomic_store(&seen.most, 0);
    workers_run(count, jobs, see, &seen);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(atomic_load(&seen.times[i]), i < count ? 1 : 0);
    assert_in_range(atomic_load(&seen.most), least, most);
}

static void test_every_index_once(void **state)
{
    (void)state;
    run(0, 4, 0, 0);
    run(1, 4, 1, 1);
    run(COUNT, 1, 1, 1);
    run(COUNT, 0, 1, 1);
    run(COUNT, 4, 2, 4);
    run(3, 400, 1, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_index_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
