/* How long case 0 of every task takes to make: inputs and one reference, as every evaluation needs them. The aim is 1
 * s, and 3 s for cases of 50 million elements: what a candidate waits for is its own run. */
#include "base/clock.h"
#include "task/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIG_ELEMENTS 50e6

struct slowest {
    double ratio, seconds;
    const char *name;
};

/* Seconds for inputs and the reference of the profile; 0 and a line on an error. */
static double seconds_of(const struct task *task, bool full, enum task_profile profile, struct task_instance **instance)
{
    struct task_argument *outputs = NULL;
    double start = clock_seconds();
    struct akgen_error *error = task_instance_make(task, &task->cases[0], 1, full, instance);
    if (!error)
        outputs = task_reference(*instance, profile);
    double seconds = clock_seconds() - start;
    task_outputs_free(outputs);
    if (error) {
        fprintf(stderr, "%s: %s\n", task->name, error->message);
        error_free(error);
        return 0;
    }
    return seconds;
}

int main(int argc, char **argv)
{
    bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
    struct arena arena = {0};
    struct task *tasks;
    int count, slow = 0;
    double total = 0;
    struct slowest slowest = {0};
    struct akgen_error *error = task_load_all(&arena, AKGEN_SOURCE_DIR, &tasks, &count);
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    for (int i = 0; i < count; i++)
        for (int profile = TASK_UPSTREAM; profile <= TASK_STRICT; profile++) {
            struct task_instance *instance = NULL;
            double seconds = seconds_of(&tasks[i], full, (enum task_profile)profile, &instance);
            bool whole = instance && !instance->reduced;
            double allowed = whole && (double)tasks[i].cases[0].elements >= BIG_ELEMENTS ? 3 : 1;
            task_instance_free(instance);
            total += seconds;
            if (seconds / allowed > slowest.ratio)
                slowest = (struct slowest){seconds / allowed, seconds, tasks[i].name};
            if (seconds > allowed / 2)
                printf("%-60s %-8s %6.2f s of %.0f s, %11.0f elements\n", tasks[i].name,
                       profile == TASK_STRICT ? "golden" : "upstream", seconds, allowed,
                       (double)tasks[i].cases[0].elements);
            slow += seconds > allowed;
        }
    printf("%d tasks, both references: %.1f s; %d over the aim; the slowest takes %.2f s (%s)\n", count, total, slow,
           slowest.seconds, slowest.name ? slowest.name : "none");
    arena_free(&arena);
    return slow ? 1 : 0;
}
