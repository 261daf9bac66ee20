/* The search: one knob after the other gets the value that is best while the others stay, and when none helps alone two constants
 * are turned at once. The settings of a step are run side by side, and the first of the fastest counts, so the way does not depend
 * on how many run at a time. */
#include "gen/tune_internal.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/workers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct words gen_knob_kinds = WORDS(GEN_KNOB_KINDS), gen_tries = WORDS(GEN_TRIES);

/* What the value of a constant is tried times, nearest first; two at once. */
static const double factors[] = {2, 0.5, 1.5, 0.75, 4, 0.25}, pairs[][2] = {{2, 0.5}, {0.5, 2}, {2, 2}, {0.5, 0.5}};
enum { FACTORS = sizeof factors / sizeof *factors, PAIRS = sizeof pairs / sizeof *pairs, UNIT = 64, ROUNDS = 8 };

struct search {
    struct arena *arena;
    const struct gen_subject *subject;
    const struct task *task;
    const struct gen_tune_options *options;
    double end;                   /* clock_seconds(); infinite: no limit */
    struct gen_setting *settings; /* all that were tried */
    int count, capacity;
    int best;
};

const struct gen_knob *gen_subject_knobs(const struct gen_subject *subject, int *count)
{
    *count = subject->count;
    return subject->knobs;
}

const char *gen_knob_text(struct arena *arena, const struct gen_knob *knob, int64_t value)
{
    if (knob->kind == GEN_KNOB_LOOPS)
        return value ? "exchanged" : "as written";
    if (knob->kind == GEN_KNOB_DEPTH && !value)
        return "as compiled";
    if (knob->kind == GEN_KNOB_CORES && !value)
        return "all";
    return arena_printf(arena, "%" PRId64, value);
}

/* ---- A step: settings that are tried side by side */

struct step {
    struct search *search;
    struct eval_options eval;
    int first;
    struct verdict *verdicts; /* of the settings from `first` on */
    bool *ran;
};

static void run_setting(void *closure, int index)
{
    struct step *step = closure;
    const struct gen_setting *setting = &step->search->settings[step->first + index];
    if (setting->became != GEN_TRY_TIMED || clock_seconds() >= step->search->end)
        return;
    eval_run(&setting->candidate, step->search->task, &step->eval, &step->verdicts[index]);
    speedup_add(step->search->task, NULL, &step->verdicts[index]);
    step->ran[index] = true;
}

/* The setting before it that is the same project; NULL: there is none. */
static const struct gen_setting *same_project(const struct search *search, int which)
{
    for (int i = 0; i < which; i++)
        if (search->settings[i].candidate.digest && search->settings[i].became != GEN_TRY_SAME &&
            strcmp(search->settings[i].candidate.digest, search->settings[which].candidate.digest) == 0)
            return &search->settings[i];
    return NULL;
}

static void finish_step(struct search *search, struct step *step, int count)
{
    for (int i = 0; i < count; i++) {
        struct gen_setting *setting = &search->settings[step->first + i];
        if (step->ran[i]) {
            setting->became = GEN_TRY_WRONG;
            if (times_of(search->arena, &step->verdicts[i], &setting->times)) {
                setting->became = GEN_TRY_TIMED;
                setting->us = setting->times.mean_us;
            } else if (step->verdicts[i].kind == AKGEN_VERDICT_COMPILE_ERROR) {
                setting->became = GEN_TRY_REFUSED;
            }
            setting->reason = setting->became == GEN_TRY_TIMED ? NULL
                              : step->verdicts[i].reason       ? arena_strdup(search->arena, step->verdicts[i].reason)
                                                               : "the time of one of its cases is not known";
            verdict_free(&step->verdicts[i]);
        } else if (setting->became == GEN_TRY_TIMED) {
            setting->became = GEN_TRY_SKIPPED;
        } else if (setting->became == GEN_TRY_SAME) {
            const struct gen_setting *same = same_project(search, step->first + i);
            setting->us = same->us;
            setting->times = same->times;
            setting->reason = same->reason;
        }
        if (search->options->seen)
            search->options->seen(search->options->closure, search->subject, setting);
        if (setting->us < search->settings[search->best].us)
            search->best = step->first + i;
    }
}

/* Runs the settings from `first` on. */
static struct akgen_error *run_step(struct search *search, int first)
{
    const int count = search->count - first;
    struct step step = {.search = search, .first = first, .eval = *search->options->eval};
    const int side_by_side = step.eval.jobs < count ? step.eval.jobs : count;
    struct akgen_error *error = NULL;
    if (!count)
        return NULL;
    step.eval.side_by_side = step.eval.jobs;
    step.eval.jobs = (step.eval.jobs + side_by_side - 1) / side_by_side;
    step.eval.first_failure = true;
    step.verdicts = arena_alloc(search->arena, (size_t)count * sizeof *step.verdicts);
    step.ran = arena_alloc(search->arena, (size_t)count * sizeof *step.ran);
    for (int i = first; i < search->count && !error; i++) {
        bool made = false;
        const struct gen_subject *subject = search->subject;
        if (subject->is_project)
            tune_make_project(search->arena, subject, &search->settings[i]), made = true;
        else
            error = tune_make_program(search->arena, subject, &search->settings[i], &made);
        search->settings[i].us = INFINITY;
        search->settings[i].became = made ? GEN_TRY_TIMED : GEN_TRY_REFUSED;
        if (!error && search->settings[i].became == GEN_TRY_TIMED && same_project(search, i))
            search->settings[i].became = GEN_TRY_SAME;
    }
    if (error)
        return error;
    workers_run(count, side_by_side, run_setting, &step);
    finish_step(search, &step, count);
    return NULL;
}

/* ---- What a step tries */

static bool was_tried(const struct search *search, const int64_t *values)
{
    bool found = false;
    for (int i = 0; !found && i < search->count; i++)
        found = memcmp(search->settings[i].values, values, (size_t)search->subject->count * sizeof *values) == 0;
    return found;
}

static void add(struct search *search, const int64_t *values)
{
    if (search->count < search->options->budget && clock_seconds() < search->end && !was_tried(search, values))
        ARRAY_ADD(search->arena, search->settings, search->count, search->capacity,
                  (struct gen_setting){.values = values});
}

/* The values of the best setting, to be changed. */
static int64_t *best_values(const struct search *search)
{
    return arena_copy(search->arena, search->settings[search->best].values,
                      (size_t)(search->subject->count + 1) * sizeof(int64_t));
}

/* Large values stay multiples of what an instruction takes at once. */
static int64_t turned_value(int64_t value, double factor)
{
    double turned = (double)value * factor;
    int64_t whole = value >= UNIT ? (int64_t)(turned / UNIT) * UNIT : (int64_t)turned;
    return whole < 1 ? 1 : whole;
}

static void add_knob(struct search *search, int number)
{
    const struct gen_knob *knob = &search->subject->knobs[number];
    const int count = knob->choices ? knob->choice_count : FACTORS;
    for (int i = 0; i < count; i++) {
        int64_t *values = best_values(search);
        values[number] = knob->choices ? knob->choices[i] : turned_value(values[number], factors[i]);
        add(search, values);
    }
}

static bool is_turned(const struct search *search, int number)
{
    const unsigned kinds = search->options->kinds;
    return !kinds || kinds >> search->subject->knobs[number].kind & 1;
}

static bool is_free(const struct search *search, int number)
{
    const struct gen_knob *knob = &search->subject->knobs[number];
    return is_turned(search, number) && knob->kind == GEN_KNOB_CONSTANT && !knob->choices;
}

/* Until nothing is faster. */
static struct akgen_error *search_settings(struct search *search)
{
    struct akgen_error *error = NULL;
    bool better = true;
    for (int round = 0; round < ROUNDS && better && !error; round++) {
        const int before = search->best;
        for (int knob = 0; knob < search->subject->count && !error; knob++) {
            if (!is_turned(search, knob))
                continue;
            const int first = search->count;
            add_knob(search, knob);
            error = run_step(search, first);
        }
        if (!error && search->best == before) {
            const int first = search->count;
            const struct gen_subject *subject = search->subject;
            for (int a = 0; a < subject->count; a++)
                for (int b = a + 1; b < subject->count; b++)
                    for (int i = 0; i < PAIRS && is_free(search, a) && is_free(search, b); i++) {
                        int64_t *values = best_values(search);
                        values[a] = turned_value(values[a], pairs[i][0]);
                        values[b] = turned_value(values[b], pairs[i][1]);
                        add(search, values);
                    }
            error = run_step(search, first);
        }
        better = search->best != before;
    }
    return error;
}

/* ---- The winner */

/* Whether the setting passes what the winner has to. */
static bool prove(struct search *search, struct gen_setting *setting, int *cases)
{
    struct verdict verdict;
    if (!search->options->prove)
        return true;
    eval_run(&setting->candidate, search->task, search->options->prove, &verdict);
    const bool passes = verdict.kind == AKGEN_VERDICT_PASS;
    *cases = verdict.cases_passed;
    if (!passes) {
        setting->became = GEN_TRY_UNPROVED;
        setting->reason = arena_strdup(search->arena, verdict.reason ? verdict.reason : "it does not pass");
    }
    verdict_free(&verdict);
    return passes;
}

/* The fastest setting that is proved; -1: not even the candidate as it was is. */
static int choose(struct search *search, int *cases)
{
    for (;;) {
        int best = -1;
        for (int i = 0; i < search->count; i++)
            if (search->settings[i].became == GEN_TRY_TIMED &&
                (best < 0 || search->settings[i].us < search->settings[best].us))
                best = i;
        if (best < 0 || prove(search, &search->settings[best], cases))
            return best;
    }
}

struct akgen_error *gen_tune(struct arena *arena, const struct gen_subject *subject, const struct task *task,
                             const struct gen_tune_options *options, struct gen_tuning *tuning)
{
    struct search search = {.arena = arena, .subject = subject, .task = task, .options = options};
    int turned = 0;
    int64_t *values = arena_alloc(arena, (size_t)(subject->count + 1) * sizeof *values);
    *tuning = (struct gen_tuning){0};
    for (int i = 0; i < subject->count; i++)
        values[i] = subject->knobs[i].value;
    for (int i = 0; i < subject->count; i++)
        turned += is_turned(&search, i);
    if (!turned)
        return error_new("the candidate has nothing to turn of the kinds that were asked for");
    search.end = INFINITY;
    add(&search, values);
    struct akgen_error *error = run_step(&search, 0);
    if (!error && search.settings[0].became != GEN_TRY_TIMED)
        error = error_new("the candidate is not right before it is tuned, or has no modelled time: %s",
                          search.settings[0].reason ? search.settings[0].reason : "it was not run");
    search.end = options->seconds > 0 ? clock_seconds() + options->seconds : INFINITY;
    if (!error)
        error = search_settings(&search);
    const int best = error ? -1 : choose(&search, &tuning->proved_cases);
    if (error || best < 0)
        return error ? error
                     : error_new("the candidate is not right before it is tuned: %s", search.settings[0].reason);
    tuning->before = search.settings[0];
    tuning->after = search.settings[best];
    tuning->settings = search.settings;
    tuning->tried = search.count;
    return NULL;
}
