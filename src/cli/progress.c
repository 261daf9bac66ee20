/* How far a run is. A thread of its own looks ten times a second: models and cases can be silent for minutes, and who waits shall
 * see the time go on. It also passes an interruption on, which a signal's handler must not do. */
#include "cli/progress.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MOST_KS = 2, LINE = 400 };
static const double look_seconds = 0.1, terminal_seconds = 0.2, elsewhere_seconds = 30, count_seconds = 0.5;

struct progress {
    struct gen_sampler *sampler;
    double start, drawn, counted;
    bool terminal;
    int ks[MOST_KS], k_count;
    pthread_t thread;
    bool running;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t over;
    bool ended;
    int total, before, done, failed;
    double rates[MOST_KS]; /* pass@k of the tasks that have enough samples so far; NAN: none has */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
    (void)signal;
    interrupted = 1;
}

bool progress_interrupted(void)
{
    return interrupted;
}

/* pass@k over the tasks that have k rated samples. Rows of a task stand together. */
static double running_rate(const struct bench *bench, int k)
{
    double sum = 0;
    int tasks = 0, rated = 0, passed = 0;
    for (int i = 0; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        bool counts =
            row->evaluated && row->kind != AKGEN_VERDICT_UNSUPPORTED && row->kind != AKGEN_VERDICT_INFRA_ERROR;
        rated += counts;
        passed += counts && row->kind == AKGEN_VERDICT_PASS;
        if (i + 1 < bench->count && strcmp(row->task, bench->rows[i + 1].task) == 0)
            continue;
        if (rated >= k) {
            sum += metrics_pass_at_k(rated, passed, k);
            tasks++;
        }
        rated = passed = 0;
    }
    return tasks ? sum / tasks : NAN;
}

void progress_on_row(void *closure, const struct bench *bench, int done)
{
    struct progress *progress = closure;
    double now = clock_seconds(), rates[MOST_KS];
    bool due = done == bench->count || now - progress->counted >= count_seconds; /* on_row is called by one at a time */
    for (int i = 0; due && i < progress->k_count; i++)
        rates[i] = running_rate(bench, progress->ks[i]);
    int failed = 0;
    for (int i = 0; due && i < bench->count; i++)
        failed += bench->rows[i].evaluated && bench->rows[i].kind != AKGEN_VERDICT_PASS;
    pthread_mutex_lock(&progress->lock);
    progress->done = done;
    if (due) {
        progress->counted = now;
        progress->failed = failed;
        memcpy(progress->rates, rates, sizeof rates);
    }
    pthread_mutex_unlock(&progress->lock);
}

/* "1234", "56.7 k", "8.90 M" */
static void add_count(struct text *line, double count)
{
    if (count < 1e4)
        text_addf(line, "%.0f", count);
    else
        text_addf(line, count < 1e6 ? "%.1f k" : "%.2f M", count / (count < 1e6 ? 1e3 : 1e6));
}

static void add_left(struct text *line, double seconds)
{
    if (isnan(seconds))
        return;
    if (seconds < 120)
        text_addf(line, ", %.0f s left", seconds);
    else if (seconds < 2 * 3600)
        text_addf(line, ", %.0f min left", seconds / 60);
    else
        text_addf(line, ", %.1f h left", seconds / 3600);
}

/* By what this process has done so far. */
static double seconds_left(const struct progress *progress)
{
    double elapsed = clock_seconds() - progress->start;
    int done = progress->done - progress->before;
    return done ? elapsed / done * (progress->total - progress->done) : NAN;
}

static void describe_sampling(const struct progress *progress, const struct gen_sampling_state *state,
                              struct text *line)
{
    text_addf(line, "%d of %d sampled", state->answered + state->failed, state->planned);
    if (state->failed)
        text_addf(line, " (%d without an answer)", state->failed);
    text_addf(line, ", %d evaluated, %d not passed", progress->done, progress->failed);
    add_left(line, seconds_left(progress)); /* before what a narrow terminal has no room for */
    for (int i = 0; i < progress->k_count; i++)
        if (!isnan(progress->rates[i]))
            text_addf(line, ", pass@%d %.1f%%", progress->ks[i], 100 * progress->rates[i]);
    text_add(line, ", ");
    add_count(line, (double)state->tokens);
    text_add(line, " tokens");
    if (state->cost > 0)
        text_addf(line, ", cost %.2f", state->cost);
}

static void describe(const struct progress *progress, struct text *line)
{
    enum { WIDTH = 30 };
    if (progress->sampler) {
        const struct gen_sampling_state state = gen_sampler_state(progress->sampler);
        describe_sampling(progress, &state, line);
    } else {
        int filled = progress->total ? WIDTH * progress->done / progress->total : 0;
        text_addf(line, "[%.*s%*s] %d of %d, %d not passed", filled, "##############################", WIDTH - filled,
                  "", progress->done, progress->total, progress->failed);
        add_left(line, seconds_left(progress));
    }
}

static void draw(struct progress *progress)
{
    struct winsize window = {0};
    struct text line = {0};
    double now = clock_seconds();
    if (now - progress->drawn < (progress->terminal ? terminal_seconds : elsewhere_seconds))
        return;
    progress->drawn = now;
    describe(progress, &line);
    int width =
        progress->terminal && !ioctl(STDERR_FILENO, TIOCGWINSZ, &window) && window.ws_col ? window.ws_col - 1 : LINE;
    fprintf(stderr, progress->terminal ? "\r\033[K%.*s" : "%.*s\n", width, line.bytes);
    text_free(&line);
}

static void *look(void *closure)
{
    struct progress *progress = closure;
    bool passed_on = false;
    pthread_mutex_lock(&progress->lock);
    while (!progress->ended) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)(look_seconds * 1e9);
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        draw(progress);
        pthread_cond_timedwait(&progress->over, &progress->lock, &until);
        if (interrupted && progress->sampler && !passed_on) {
            passed_on = true;
            pthread_mutex_unlock(&progress->lock);
            gen_sampler_stop(progress->sampler);
            pthread_mutex_lock(&progress->lock);
        }
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

struct progress *progress_begin(const struct bench *bench, struct gen_sampler *sampler)
{
    struct progress *progress = memory_alloc(sizeof *progress);
    pthread_condattr_t monotonic;
    *progress = (struct progress){.sampler = sampler,
                                  .start = clock_seconds(),
                                  .drawn = clock_seconds(),
                                  .terminal = isatty(STDERR_FILENO),
                                  .lock = PTHREAD_MUTEX_INITIALIZER,
                                  .total = bench->count};
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&progress->over, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (int i = 0; i < MOST_KS && i < bench->k_count; i++)
        progress->ks[progress->k_count++] = bench->ks[i == MOST_KS - 1 ? bench->k_count - 1 : i];
    if (sampler && !bench->k_count)
        progress->ks[progress->k_count++] = 1;
    for (int i = 0; i < MOST_KS; i++)
        progress->rates[i] = NAN;
    for (int i = 0; i < bench->count; i++)
        progress->before += bench->rows[i].evaluated;
    progress->done = progress->before;
    if (sampler)
        catch_signals();
    progress->running = pthread_create(&progress->thread, NULL, look, progress) == 0;
    return progress;
}

void progress_end(struct progress *progress)
{
    pthread_mutex_lock(&progress->lock);
    progress->ended = true;
    pthread_cond_broadcast(&progress->over);
    pthread_mutex_unlock(&progress->lock);
    if (progress->running)
        pthread_join(progress->thread, NULL);
    if (progress->terminal)
        fputs("\r\033[K", stderr);
    pthread_cond_destroy(&progress->over);
    pthread_mutex_destroy(&progress->lock);
    free(progress);
}
