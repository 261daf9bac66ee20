/* A team: every worker once a round, round after round, and shares that cover what is shared. */
#include "base/team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST = 5, ROUNDS = 2000 };

struct seen {
    atomic_int times[MOST];
    int workers;
};

static void see(void *closure, int worker, int workers)
{
    struct seen *seen = closure;
    assert_int_equal(workers, seen->workers);
    atomic_fetch_add(&seen->times[worker], 1);
}

static void everyone_once_a_round(void **state)
{
    (void)state;
    for (int threads = 1; threads <= MOST; threads++) {
        struct team *team = team_new(threads);
        struct seen seen = {.workers = team_threads(team)};
        assert_int_equal(seen.workers, threads);
        for (int round = 0; round < ROUNDS; round++) {
            team_run(team, see, &seen);
            for (int worker = 0; worker < threads; worker++)
                assert_int_equal(atomic_load(&seen.times[worker]), round + 1);
            if (round == ROUNDS / 2)
                usleep(20000); /* by now they sleep */
        }
        team_free(team);
    }
}

static void shares_cover(void **state)
{
    (void)state;
    for (int64_t count = 0; count < 70; count++)
        for (int64_t grain = 1; grain < 20; grain += 3)
            for (int workers = 1; workers <= MOST; workers++) {
                int64_t at = 0, first, last;
                for (int worker = 0; worker < workers; worker++) {
                    team_share(count, grain, worker, workers, &first, &last);
                    assert_int_equal(first, at);
                    assert_true(last >= first && (last == count || last % grain == 0));
                    at = last;
                }
                assert_int_equal(at, count);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyone_once_a_round),
        cmocka_unit_test(shares_cover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
