#include "base/inject.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

bool inject_armed;
static struct calls {
    long first, last;
} wanted[INJECT_POINTS];
static atomic_long counted[INJECT_POINTS];

void inject_arm(enum inject_point point, long first, long last)
{
    wanted[point] = (struct calls){first, last};
    atomic_store(&counted[point], 0);
    inject_armed = true;
}

long inject_count(enum inject_point point)
{
    return atomic_load(&counted[point]);
}

bool inject_now(enum inject_point point)
{
    long number = atomic_fetch_add(&counted[point], 1) + 1;
    return number >= wanted[point].first && number <= wanted[point].last;
}

void inject_from_environment(void)
{
    static const char *const names[INJECT_POINTS] = {[INJECT_MEMORY] = "memory:",
                                                     [INJECT_READ] = "read:",
                                                     [INJECT_WRITE] = "write:",
                                                     [INJECT_KILL] = "kill:",
                                                     [INJECT_CRASH] = "crash:"};
    const char *text = getenv("AKGEN_INJECT");
    for (int point = 0; text && point < INJECT_POINTS; point++)
        if (strncmp(text, names[point], strlen(names[point])) == 0) {
            char *dash;
            long first = strtol(text + strlen(names[point]), &dash, 10);
            inject_arm((enum inject_point)point, first, *dash == '-' ? atol(dash + 1) : first);
        }
}
