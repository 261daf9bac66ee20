#include "gen/tune.h"

#include "base/array.h"
#include "base/clock.h"
#include "dsl/dsl.h"

#include <math.h>
#include <string.h>

/* What the value of a knob is tried times, nearest first. */
static const double factors[] = {2, 0.5, 1.5, 0.75, 4, 0.25};
enum { FACTORS = sizeof factors / sizeof *factors, UNIT = 64, ROUNDS = 4 };

struct search {
    struct arena *arena;
    const struct task *task;
    const struct eval_options *options;
    int budget, tried;
    double end; /* clock_seconds(); infinite: no limit */
    void (*seen)(void *closure, const struct gen_setting *setting);
    void *closure;
    const char **texts; /* of the programs that have been tried */
    int text_count, text_capacity;
};

static const struct dsl_tree *parsed(struct arena *arena, const struct gen_program *program,
                                     struct dsl_messages *messages)
{
    const char *path = program->path ? program->path : "program.py";
    return dsl_parse(arena, path, arena_copy(arena, program->text, program->length + 1), program->length, messages);
}

/* The host function's parameter number `at` that is annotated tl.constexpr and has a whole number as its default; NULL: it is
 * another. */
static struct dsl_expr *knob_at(const struct dsl_program *checked, int at)
{
    const struct dsl_parameter *parameter = &checked->host->function->parameters[at];
    const struct dsl_symbol *symbol = dsl_scope_find(&checked->host_names, parameter->name);
    bool knob = symbol && symbol->constexpr && parameter->value && parameter->value->kind == DSL_INT &&
                parameter->value->integer > 0;
    return knob ? parameter->value : NULL;
}

static struct akgen_error *read_knobs(struct arena *arena, struct gen_setting *setting)
{
    struct dsl_messages messages = {0};
    const struct dsl_tree *tree = parsed(arena, &setting->program, &messages);
    const struct dsl_program *checked = tree ? dsl_check(arena, tree, &messages) : NULL;
    int capacity = 0;
    if (!checked || messages.count)
        return error_new("the program is not right: 'akgen dsl check' says why");
    for (int i = 0; i < checked->host->function->count; i++) {
        const struct dsl_expr *value = knob_at(checked, i);
        if (value)
            ARRAY_ADD(arena, setting->knobs, setting->count, capacity,
                      (struct gen_knob){checked->host->function->parameters[i].name, value->integer});
    }
    return setting->count ? NULL
                          : error_new("the host function has no parameter to turn, as tile: tl.constexpr = 4096");
}

/* The program with another value for a knob, as the formatter prints it. */
static struct gen_setting with_value(struct arena *arena, const struct gen_setting *setting, int number, int64_t value)
{
    struct dsl_messages messages = {0};
    const struct dsl_tree *tree = parsed(arena, &setting->program, &messages);
    const struct dsl_program *checked = dsl_check(arena, tree, &messages);
    struct gen_setting turned = *setting;
    turned.knobs = arena_copy(arena, setting->knobs, (size_t)setting->count * sizeof *setting->knobs);
    turned.knobs[number].value = value;
    for (int i = 0; i < checked->host->function->count; i++) {
        struct dsl_expr *knob = knob_at(checked, i);
        if (!knob || strcmp(checked->host->function->parameters[i].name, turned.knobs[number].name) != 0)
            continue;
        knob->integer = value;
        knob->digits = arena_printf(arena, "%lld", (long long)value);
    }
    turned.program.text = dsl_format(arena, tree);
    turned.program.length = strlen(turned.program.text);
    return turned;
}

/* Geometric mean of the shown cases; infinite if one of them is not right. */
static double time_of(const struct verdict *verdict)
{
    double sum = 0;
    int cases = 0;
    for (int i = 0; i < verdict->case_count; i++) {
        const struct npu_timing *timing = &verdict->cases[i].run.timing.model;
        if (verdict->cases[i].hidden || !timing->known)
            continue;
        sum += log(npu_timing_us(timing, timing->cycles));
        cases++;
    }
    return verdict->kind == AKGEN_VERDICT_PASS && cases ? exp(sum / cases) : INFINITY;
}

static struct akgen_error *evaluate(struct search *search, struct gen_setting *setting)
{
    struct dsl_messages messages = {0};
    struct dsl_lowered lowered;
    struct akgen_error *error = NULL;
    const char *dir;
    struct verdict verdict;
    setting->us = INFINITY;
    search->tried++;
    ARRAY_ADD(search->arena, search->texts, search->text_count, search->text_capacity, setting->program.text);
    bool compiled = gen_program_compile(search->arena, &setting->program, search->task, &lowered, &messages, &error);
    if (!error && compiled)
        error = gen_program_keep(search->arena, search->task, &lowered, &dir);
    if (error)
        return error;
    if (compiled) {
        eval_run(search->task, dir, search->options, &verdict);
        setting->us = time_of(&verdict);
        verdict_free(&verdict);
    }
    if (search->seen)
        search->seen(search->closure, setting);
    return NULL;
}

static bool was_tried(const struct search *search, const char *text)
{
    bool found = false;
    for (int i = 0; !found && i < search->text_count; i++)
        found = strcmp(search->texts[i], text) == 0;
    return found;
}

/* Large values stay multiples of what an instruction takes at once. */
static int64_t turned_value(int64_t value, double factor)
{
    double turned = (double)value * factor;
    return value >= UNIT ? (int64_t)(turned / UNIT) * UNIT : (int64_t)turned;
}

/* Turns one knob; true: something is faster, which is in `best`. */
static struct akgen_error *turn(struct search *search, int knob, struct gen_setting *best, bool *better)
{
    const struct gen_setting from = *best;
    struct akgen_error *error = NULL;
    for (int i = 0; i < FACTORS && !error && search->tried < search->budget && clock_seconds() < search->end; i++) {
        const int64_t value = turned_value(from.knobs[knob].value, factors[i]);
        if (value < 1 || value == from.knobs[knob].value)
            continue;
        struct gen_setting next = with_value(search->arena, &from, knob, value);
        if (was_tried(search, next.program.text))
            continue;
        error = evaluate(search, &next);
        if (!error && next.us < best->us) {
            *best = next;
            *better = true;
        }
    }
    return error;
}

struct akgen_error *gen_tune(struct arena *arena, const struct gen_program *program, const struct task *task,
                             const struct eval_options *options, int budget, double seconds,
                             void (*seen)(void *closure, const struct gen_setting *setting), void *closure,
                             struct gen_tuning *tuning)
{
    struct search search = {.arena = arena, .task = task, .options = options, .budget = budget};
    search.end = seconds > 0 ? clock_seconds() + seconds : INFINITY;
    search.seen = seen;
    search.closure = closure;
    *tuning = (struct gen_tuning){.before = {.program = *program}};
    struct akgen_error *error = read_knobs(arena, &tuning->before);
    if (!error)
        error = evaluate(&search, &tuning->before);
    if (!error && isinf(tuning->before.us))
        error = error_new("the program is not right before it is tuned, or has no modelled time");
    tuning->after = tuning->before;
    bool better = true;
    for (int round = 0; round < ROUNDS && better && !error; round++) {
        better = false;
        for (int knob = 0; knob < tuning->before.count && !error; knob++)
            error = turn(&search, knob, &tuning->after, &better);
    }
    tuning->tried = search.tried;
    return error;
}
