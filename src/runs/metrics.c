/* Rates and scores. Sums run over tasks in order, so equal inputs give equal digits. */
#include "runs/metrics.h"
#include "base/memory.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 3, RESAMPLES = 2000 };

double metrics_pass_at_k(int n, int c, int k)
{
    if (k < 1 || k > n || c < 0 || c > n)
        return NAN;
    if (n - c < k)
        return 1;
    /* C(n-c, k) / C(n, k) = product over i = n-c+1 .. n of (1 - k/i), which neither overflows nor cancels. */
    double miss = 1;
    for (int i = n - c + 1; i <= n; i++)
        miss *= 1 - (double)k / i;
    return 1 - miss;
}

int metrics_samples(const struct metrics_task *task, int k)
{
    int n = task->samples + task->missing, least = k - task->excluded;
    return n > least ? n : least;
}

static bool selected(const struct metrics_task *task, int k, int level, const char *category)
{
    return metrics_samples(task, k) >= k && (!level || task->level == level) &&
           (!category || strcmp(task->category, category) == 0);
}

static double value_of(const struct metrics_task *task, enum metrics_rate rate, int k)
{
    return metrics_pass_at_k(metrics_samples(task, k), rate == METRICS_COMPILE ? task->compiled : task->passed, k);
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Percentile bootstrap: means of as many tasks drawn with replacement. The seed is fixed: a report repeats. */
static void bootstrap(const double *values, int count, struct metrics_mean *mean)
{
    struct rng rng;
    double *means = memory_alloc(RESAMPLES * sizeof *means);
    rng_seed(&rng, 2021);
    for (int r = 0; r < RESAMPLES; r++) {
        double sum = 0;
        for (int i = 0; i < count; i++)
            sum += values[rng_integer(&rng, 0, count)];
        means[r] = sum / count;
    }
    qsort(means, RESAMPLES, sizeof *means, by_value);
    mean->low = means[RESAMPLES * 25 / 1000];
    mean->high = means[RESAMPLES * 975 / 1000 - 1];
    free(means);
}

struct metrics_mean metrics_rate(const struct metrics_task *tasks, size_t count, enum metrics_rate rate, int k,
                                 int level, const char *category)
{
    struct metrics_mean mean = {NAN, NAN, NAN, 0};
    double *values = memory_alloc((count + 1) * sizeof *values), sum = 0;
    for (size_t i = 0; i < count; i++)
        if (selected(&tasks[i], k, level, category)) {
            values[mean.tasks] = value_of(&tasks[i], rate, k);
            sum += values[mean.tasks++];
        }
    if (mean.tasks) {
        mean.value = sum / mean.tasks;
        bootstrap(values, mean.tasks, &mean);
    }
    free(values);
    return mean;
}

double metrics_weighted(const struct metrics_task *tasks, size_t count, enum metrics_rate rate, int k)
{
    static const double weights[LEVELS] = {36, 12, 6};
    double sum = 0, weight = 0;
    for (int level = 1; level <= LEVELS; level++) {
        double total = 0;
        int used = 0;
        for (size_t i = 0; i < count; i++)
            if (selected(&tasks[i], k, level, NULL)) {
                total += value_of(&tasks[i], rate, k);
                used++;
            }
        if (used) {
            sum += weights[level - 1] * total / used;
            weight += weights[level - 1];
        }
    }
    return weight ? sum / weight : NAN;
}

/* NPUKernelBench's score. */
static const double level_weights[LEVELS] = {0.2, 0.3, 0.5};

double metrics_score_documented(const struct metrics_task *tasks, size_t count)
{
    double score = 0;
    for (int level = 1; level <= LEVELS; level++) {
        double sum = 0;
        int used = 0;
        for (size_t i = 0; i < count; i++)
            if (tasks[i].level == level) {
                sum += tasks[i].cases ? 100.0 * tasks[i].cases_passed / tasks[i].cases : 0;
                used++;
            }
        score += used ? level_weights[level - 1] * sum / used : 0;
    }
    return score;
}

double metrics_score_coded(const struct metrics_task *tasks, size_t count)
{
    double score = 0;
    for (int level = 1; level <= LEVELS; level++) {
        long passed = 0, samples = 0;
        for (size_t i = 0; i < count; i++)
            if (tasks[i].level == level) {
                passed += tasks[i].passed;
                samples += tasks[i].samples + tasks[i].missing;
            }
        score += samples ? level_weights[level - 1] * 100.0 * (double)passed / (double)samples : 0;
    }
    return score;
}

/* Shares of all tasks. */
double metrics_comp_at(const struct metrics_task *tasks, size_t count)
{
    size_t compiled = 0;
    for (size_t i = 0; i < count; i++)
        compiled += tasks[i].compiled > 0;
    return count ? (double)compiled / (double)count : NAN;
}

double metrics_passed_at(const struct metrics_task *tasks, size_t count)
{
    size_t passed = 0;
    for (size_t i = 0; i < count; i++)
        passed += tasks[i].passed > 0;
    return count ? (double)passed / (double)count : NAN;
}

double metrics_speedup(const struct metrics_task *tasks, size_t count, int *timed)
{
    double sum = 0;
    *timed = 0;
    for (size_t i = 0; i < count; i++) {
        double best = 0;
        for (int s = 0; tasks[i].speedups && s < tasks[i].passed; s++)
            best = fmax(best, tasks[i].speedups[s]);
        if (best > 0) {
            sum += log(best);
            (*timed)++;
        }
    }
    return *timed ? exp(sum / *timed) : NAN;
}

double metrics_fast(const struct metrics_task *tasks, size_t count, double p)
{
    size_t fast = 0;
    bool timed = false;
    for (size_t i = 0; i < count; i++) {
        bool reached = false;
        timed |= tasks[i].speedups != NULL;
        for (int s = 0; tasks[i].speedups && s < tasks[i].passed; s++)
            reached |= tasks[i].speedups[s] >= p;
        fast += reached;
    }
    return timed ? (double)fast / (double)count : NAN;
}
