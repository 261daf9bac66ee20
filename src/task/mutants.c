/* Would a candidate that leaves work out be right? A mutant is such a candidate: it writes outputs without computing them, computes from
 * an input that it has not read, or takes an attribute for a constant. Its outputs are those of the reference for what it sees, and are
 * compared with what the true inputs yield. A task that accepts one measures less than it says, unless its contract says so (`trivial:`). */
#include "task/mutants.h"
#include "task/task_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1024,
    MOST_VALUES = 8,
    AXES = 4,
    SMALL_CASE = 1 << 18,
    LEAST_CASES = 4,
    LONG_SUM = 4096,
    SHORT_SUM = 128,
    MOST_IDLE = 4
};
enum { GUESS_SEED = 20011 }; /* what a candidate may draw by itself; no run of an evaluation has it */

/* The list. */
static struct task_mutant *add(struct task_mutants *mutants, enum task_mutation kind)
{
    struct task_mutant *mutant = &mutants->list[mutants->count++];
    *mutant = (struct task_mutant){.kind = kind, .input = TASK_NONE, .attr = TASK_NONE, .axis = -1, .deep = TASK_NONE};
    return mutant;
}

static void add_input(struct task_mutants *mutants, int input)
{
    for (int kind = TASK_MUTANT_ZEROS; kind < TASK_MUTANT_CONSTANT; kind++)
        for (int axis = -1; axis < (kind == TASK_MUTANT_SAMPLE ? AXES : 0); axis++)
            for (int part = 0; part <= mutation_is_partial((enum task_mutation)kind); part++) {
                struct task_mutant *mutant = add(mutants, (enum task_mutation)kind);
                mutant->input = input;
                mutant->axis = axis;
                mutant->part = part;
            }
}

/* The values that shown cases have. The default is one of them, or nobody has a reason to take it. */
static struct akgen_error *add_attrs(struct task_mutants *mutants, const struct task *task)
{
    struct akgen_error *error = NULL;
    int first = mutants->count;
    for (int c = 0; c < task->case_count && task->attr_count && !error; c++) {
        struct task_instance *shapes;
        error = task_instance_shapes(task, &task->cases[c], &shapes);
        for (int a = 0; a < task->attr_count && !error; a++) {
            int values = 0;
            bool known = false;
            for (int i = first; i < mutants->count; i++)
                if (mutants->list[i].attr == a) {
                    known |= json_equal(mutants->list[i].value, shapes->attrs[a]);
                    values++;
                }
            if (known || values == MOST_VALUES)
                continue;
            struct task_mutant *mutant = add(mutants, TASK_MUTANT_CONSTANT);
            mutant->attr = a;
            mutant->value = json_incref(shapes->attrs[a]);
        }
        task_instance_free(error ? NULL : shapes);
    }
    return error;
}

static struct akgen_error *list_mutants(const struct task *task, struct task_mutants *mutants)
{
    enum { PER_INPUT = 7 + 2 + 2 * (AXES + 1) };
    int most = TASK_MUTANT_ZEROS + task->input_count * PER_INPUT + task->attr_count * MOST_VALUES;
    *mutants = (struct task_mutants){.list = calloc((size_t)most, sizeof *mutants->list)};
    if (!mutants->list)
        abort();
    for (int kind = TASK_MUTANT_ZERO; kind < TASK_MUTANT_ZEROS; kind++)
        add(mutants, (enum task_mutation)kind);
    for (int i = 0; i < task->input_count; i++)
        add_input(mutants, i);
    return add_attrs(mutants, task);
}

void task_mutants_free(struct task_mutants *mutants)
{
    for (int i = 0; i < mutants->count; i++)
        json_decref(mutants->list[i].value);
    free(mutants->list);
    *mutants = (struct task_mutants){0};
}

/* Outputs. */
struct run { /* one run of a case: what every mutant is compared with */
    struct task_instance *instance, *guess;
    struct task_argument *expected;
    enum task_profile profile;
    bool guessed; /* `guess` has been tried */
};

static struct task_argument *outputs_new(struct arena *arena, const struct task_instance *instance)
{
    const struct task *task = instance->task;
    struct task_argument *actual = arena_alloc(arena, sizeof *actual * (size_t)(task->output_count + 1));
    for (int i = 0; i < task->output_count; i++) {
        actual[i].count = instance->outputs[i].count;
        actual[i].tensors = arena_alloc(arena, sizeof *actual[i].tensors * (size_t)(actual[i].count + 1));
        for (int t = 0; t < actual[i].count; t++) {
            struct task_tensor *tensor = &actual[i].tensors[t];
            *tensor = instance->outputs[i].tensors[t];
            tensor->values = calloc((size_t)tensor->elements + 1, akgen_dtype_size(tensor->type));
            if (!tensor->values)
                abort();
        }
    }
    return actual;
}

static void outputs_release(const struct task *task, struct task_argument *actual)
{
    for (int i = 0; i < task->output_count; i++)
        for (int t = 0; t < actual[i].count; t++)
            free(actual[i].tensors[t].values);
}

/* The input tensor that output tensor `t` would be a copy of: same type and number of elements; NULL if there is none. */
static const struct task_tensor *copied_input(const struct task_instance *instance, const struct task_tensor *output,
                                              int t)
{
    for (int i = 0; i < instance->task->input_count; i++) {
        const struct task_argument *input = &instance->inputs[i];
        if (t < input->count && input->tensors[t].type == output->type &&
            input->tensors[t].elements == output->elements)
            return &input->tensors[t];
    }
    return NULL;
}

/* Fills an output without computing it; false if the mutant cannot. */
static bool fill_output(const struct task_instance *instance, enum task_mutation kind, struct task_tensor *output,
                        int t)
{
    if (kind == TASK_MUTANT_COPY) {
        const struct task_tensor *input = copied_input(instance, output, t);
        if (input)
            memcpy(output->values, input->values, (size_t)output->elements * akgen_dtype_size(output->type));
        return input;
    }
    double numbers[CHUNK];
    for (int i = 0; i < CHUNK; i++)
        numbers[i] = kind == TASK_MUTANT_ONE ? 1 : kind == TASK_MUTANT_NAN ? NAN : 0;
    for (int64_t at = 0; at < task_scalars(output); at += CHUNK) {
        int64_t left = task_scalars(output) - at;
        task_write_double(output, at, (int)(left < CHUNK ? left : CHUNK), numbers);
    }
    return kind != TASK_MUTANT_NAN || task_is_float(output->type);
}

/* A reference's output as an operator stores it. Real numbers for a complex output are its real parts. */
static void store_output(const struct task_tensor *from, struct task_tensor *to)
{
    double values[CHUNK];
    int64_t whole[CHUNK];
    bool real_parts = to->type == AKGEN_COMPLEX64 && task_scalars(from) == to->elements;
    for (int64_t at = 0; at < task_scalars(from); at += CHUNK) {
        int n = task_scalars(from) - at < CHUNK ? (int)(task_scalars(from) - at) : CHUNK;
        if (!task_is_float(from->type)) {
            task_read_integer(from, at, n, whole);
            task_write_integer(to, at, n, whole);
            continue;
        }
        task_read_double(from, at, n, values);
        for (int i = 0; i < n && !task_is_float(to->type); i++)
            values[i] = rint(values[i]);
        if (!real_parts)
            task_write_double(to, at, n, values);
        for (int i = 0; i < n && real_parts; i++)
            task_write_double(to, 2 * (at + i), 1, &values[i]);
    }
}

/* Puts the true value where the input's own element is left out; false if no output has such elements, or if nothing else differs. */
static bool keep_own_elements(const struct run *run, const struct task_mutant *mutant, struct task_argument *seen)
{
    const struct task_argument *input = &run->instance->inputs[mutant->input];
    bool differs = false, own = false;
    for (int i = 0; i < run->instance->task->output_count; i++)
        for (int t = 0; t < run->expected[i].count; t++) {
            const struct task_tensor *whole = &run->expected[i].tensors[t];
            const struct task_tensor *result = &seen[i].tensors[t];
            const struct task_tensor *now = t < input->count ? &input->tensors[t] : NULL;
            size_t size = akgen_dtype_size(result->type);
            bool same = now && now->elements == whole->elements;
            own |= same;
            for (int64_t e = 0; same && e < whole->elements; e++)
                if (mutation_leaves_out(mutant, now, e))
                    memcpy((char *)result->values + (size_t)e * size, (char *)whole->values + (size_t)e * size, size);
            differs |= memcmp(whole->values, result->values, (size_t)whole->elements * size) != 0;
        }
    return own && differs;
}

/* Judging. */
static bool same_sizes(const struct run *run, const struct task_argument *seen)
{
    bool same = true;
    for (int i = 0; i < run->instance->task->output_count; i++) {
        same &= seen[i].count == run->expected[i].count;
        for (int t = 0; same && t < seen[i].count; t++)
            same &= seen[i].tensors[t].elements == run->expected[i].tensors[t].elements;
    }
    return same;
}

static bool right(const struct run *run, const struct task_argument *seen)
{
    struct arena arena = {0};
    struct task_argument *actual = outputs_new(&arena, run->instance);
    struct task_mismatch mismatch;
    for (int i = 0; i < run->instance->task->output_count; i++)
        for (int t = 0; t < seen[i].count && t < actual[i].count; t++)
            store_output(&seen[i].tensors[t], &actual[i].tensors[t]);
    task_compare(run->instance, run->profile, run->expected, actual, &mismatch);
    outputs_release(run->instance->task, actual);
    arena_free(&arena);
    return mismatch.ok;
}

static bool try_output(const struct run *run, enum task_mutation kind)
{
    const struct task *task = run->instance->task;
    struct arena arena = {0};
    struct task_argument *actual = outputs_new(&arena, run->instance);
    struct task_mismatch mismatch = {0};
    bool can = true;
    for (int i = 0; i < task->output_count; i++)
        for (int t = 0; t < actual[i].count; t++)
            can &= fill_output(run->instance, kind, &actual[i].tensors[t], t);
    if (can)
        task_compare(run->instance, run->profile, run->expected, actual, &mismatch);
    outputs_release(task, actual);
    arena_free(&arena);
    return can && mismatch.ok;
}

/* A copy of an input's values. */
static struct task_argument values_copy(struct arena *arena, const struct task_argument *input)
{
    struct task_argument copy = *input;
    copy.tensors = arena_alloc(arena, sizeof *copy.tensors * (size_t)(input->count + 1));
    for (int t = 0; t < input->count; t++) {
        copy.tensors[t] = input->tensors[t];
        copy.tensors[t].values =
            arena_copy(arena, input->tensors[t].values,
                       (size_t)(input->tensors[t].elements) * akgen_dtype_size(input->tensors[t].type));
    }
    return copy;
}

static void swap_values(struct task_argument *a, struct task_argument *b)
{
    for (int t = 0; t < a->count; t++) {
        void *values = a->tensors[t].values;
        a->tensors[t].values = b->tensors[t].values;
        b->tensors[t].values = values;
    }
}

/* What the reference makes of the instance as the mutant sees it; NULL: it cannot compute that, nor could the mutant. */
static struct task_argument *seen_outputs(const struct run *run)
{
    struct akgen_error *error = task_reference_fits(run->instance);
    struct task_argument *seen = error ? NULL : task_reference(run->instance, run->profile);
    error_free(error);
    return seen;
}

enum outcome { UNCHANGED, PASSES, NOTICED };

static enum outcome judge(const struct run *run, struct task_argument *seen)
{
    enum outcome outcome = seen && same_sizes(run, seen) && right(run, seen) ? PASSES : NOTICED;
    task_outputs_free(seen);
    return outcome;
}

static enum outcome try_input(struct run *run, const struct task_mutant *mutant)
{
    struct arena arena = {0};
    struct task_argument *input = &run->instance->inputs[mutant->input];
    struct task_argument changed = values_copy(&arena, input);
    swap_values(input, &changed); /* the true values are in `changed` until the two are swapped back */
    bool changes = mutate_input(run->instance, mutant, run->guess);
    struct task_argument *seen = changes ? seen_outputs(run) : NULL;
    if (changes && mutant->part && (!seen || !same_sizes(run, seen) || !keep_own_elements(run, mutant, seen))) {
        task_outputs_free(seen);
        changes = false;
    }
    swap_values(input, &changed);
    enum outcome outcome = changes ? judge(run, seen) : UNCHANGED;
    arena_free(&arena);
    return outcome;
}

static enum outcome try_attr(const struct run *run, const struct task_mutant *mutant)
{
    json_t **attr = &run->instance->attrs[mutant->attr], *own = *attr;
    if (json_equal(own, mutant->value))
        return PASSES;
    *attr = mutant->value;
    struct task_argument *seen = seen_outputs(run);
    *attr = own;
    return judge(run, seen);
}

/* The case drawn again from what the task shows of its values. Of a hidden case, that is the shown one which it was made of. */
static void make_guess(struct run *run, const struct task *task, const struct task_case *task_case)
{
    run->guessed = true;
    for (int i = 0; i < task->case_count; i++)
        if (task->cases[i].id == task_case_origin(task_case)) {
            error_free(task_instance_make(task, &task->cases[i], GUESS_SEED, false, &run->guess));
            return;
        }
}

static enum outcome try_mutant(struct run *run, const struct task_mutant *mutant)
{
    if (mutant->kind == TASK_MUTANT_GUESS && !run->guessed)
        make_guess(run, run->instance->task, run->instance->task_case);
    return mutant->attr != TASK_NONE       ? try_attr(run, mutant)
           : mutant->input != TASK_NONE    ? try_input(run, mutant)
           : try_output(run, mutant->kind) ? PASSES
                                           : NOTICED;
}

static bool is_listed(const struct task *task, const struct task_mutant *mutant)
{
    return task_mutant_trivial(task, mutant)->kinds >> mutant->kind & 1;
}

/* The most values that an element of a judged output sums up. */
static double longest_sum(const struct task_instance *instance)
{
    double longest = 1;
    for (int i = 0; i < instance->task->output_count; i++)
        longest = fmax(longest, instance->judging[i].depth);
    return longest;
}

/* Could the mutant be told from a right candidate in a case of these shapes? A sample is for sums. */
static bool fits_shapes(const struct task_mutant *mutant, const struct task_instance *shapes)
{
    bool fits = mutant->input == TASK_NONE;
    if (mutant->kind == TASK_MUTANT_SAMPLE && longest_sum(shapes) < SHORT_SUM)
        return false;
    for (int t = 0; !fits && t < shapes->inputs[mutant->input].count; t++) {
        const struct task_tensor *tensor = &shapes->inputs[mutant->input].tensors[t];
        fits = mutation_changes(mutant, tensor);
    }
    return fits;
}

/* How much is tried on a case. */
enum effort {
    EFFORT_SMALL, /* everything */
    EFFORT_LATE,  /* a large case: what no smaller one has noticed, unless `trivial` lists it */
    EFFORT_FULL   /* everything, samples of long sums in each case */
};

/* A sample must be noticed in every case of a long sum: its candidate may compute the others as it should. */
static bool wanted(const struct task *task, const struct task_mutant *mutant, bool long_sum, enum effort effort)
{
    if (mutant->idle >= MOST_IDLE && !mutant->applies)
        return false;
    if (!mutant->noticed)
        return effort != EFFORT_LATE || !is_listed(task, mutant);
    return effort != EFFORT_LATE && mutant->kind == TASK_MUTANT_SAMPLE && long_sum && mutant->deep == TASK_NONE;
}

/* Tries on one case, with both kinds of values if it is shown, what is still to be tried. */
static struct akgen_error *try_case(const struct task *task, const struct task_case *task_case,
                                    enum task_profile profile, enum effort effort, struct task_mutants *mutants)
{
    struct task_instance *shapes;
    struct akgen_error *error = task_instance_smaller(task, task_case, &shapes);
    if (error)
        return error;
    bool long_sum =
        longest_sum(shapes) >= LONG_SUM && task_case->variant < TASK_LIMIT_VALUES; /* an infinite sum shows nothing */
    int trials = profile == TASK_STRICT ? 2 : task_trials(task);
    bool *passed = calloc((size_t)mutants->count + 1, sizeof *passed),
         *told = calloc((size_t)mutants->count + 1, sizeof *told);
    if (!passed || !told)
        abort();
    for (int trial = 0; trial < trials && !error; trial++) {
        bool any = false;
        for (int m = 0; m < mutants->count; m++)
            any |=
                wanted(task, &mutants->list[m], long_sum, effort) && !told[m] && fits_shapes(&mutants->list[m], shapes);
        if (!any)
            break;
        struct run run = {.profile = profile};
        uint64_t seed = (uint64_t)trial | (trial && profile == TASK_STRICT ? TASK_OTHER_VALUES : 0);
        if ((error = task_instance_make(task, task_case, seed, false, &run.instance)))
            break;
        run.expected = task_reference(run.instance, profile);
        for (int m = 0; m < mutants->count; m++) {
            struct task_mutant *mutant = &mutants->list[m];
            if (!wanted(task, mutant, long_sum, effort) || told[m] || !fits_shapes(mutant, shapes))
                continue;
            enum outcome outcome = try_mutant(&run, mutant);
            mutant->applies |= outcome != UNCHANGED;
            mutant->idle += outcome == UNCHANGED && mutant->part;
            mutant->noticed |= told[m] = outcome == NOTICED;
            passed[m] |= outcome == PASSES;
        }
        task_outputs_free(run.expected);
        task_instance_free(run.instance);
        task_instance_free(run.guess);
    }
    for (int m = 0; m < mutants->count && long_sum && effort != EFFORT_LATE; m++)
        if (mutants->list[m].kind == TASK_MUTANT_SAMPLE && passed[m] && !told[m])
            mutants->list[m].deep = task_case->id;
    free(passed);
    free(told);
    task_instance_free(shapes);
    return error;
}

static int by_elements(const void *a, const void *b)
{
    const struct task_case *left = *(const struct task_case *const *)a, *right = *(const struct task_case *const *)b;
    return left->elements != right->elements ? left->elements < right->elements ? -1 : 1 : left->id - right->id;
}

/* The profile's cases, small ones first. */
static const struct task_case **cases_of(struct arena *arena, const struct task *task, enum task_profile profile,
                                         int *count)
{
    size_t shown = (size_t)task->case_count;
    const struct task_case **cases = arena_alloc(arena, sizeof *cases * (shown * (TASK_VARIANTS + 1) + 1));
    for (int i = 0; i < task->case_count; i++)
        cases[i] = &task->cases[i];
    *count = task->case_count;
    if (profile == TASK_STRICT)
        *count += task_hidden_cases(arena, task, cases, task->case_count, true, cases + shown);
    qsort(cases, (size_t)*count, sizeof *cases, by_elements);
    return cases;
}

struct akgen_error *task_mutants_try(const struct task *task, enum task_profile profile, bool full,
                                     struct task_mutants *mutants)
{
    struct arena arena = {0};
    int count;
    const struct task_case **cases = cases_of(&arena, task, profile, &count);
    struct akgen_error *error = list_mutants(task, mutants);
    for (int i = 0; i < count && !error; i++) {
        bool small = i < LEAST_CASES || cases[i]->elements <= SMALL_CASE;
        enum effort effort = full ? EFFORT_FULL : small ? EFFORT_SMALL : EFFORT_LATE;
        if (effort != EFFORT_LATE || profile == TASK_STRICT)
            error = try_case(task, cases[i], profile, effort, mutants);
    }
    arena_free(&arena);
    return error;
}

/* Verdicts. */
bool task_mutant_passes(const struct task_mutant *mutant)
{
    return mutant->applies && (!mutant->noticed || mutant->deep != TASK_NONE);
}

const struct task_trivial *task_mutant_trivial(const struct task *task, const struct task_mutant *mutant)
{
    if (task->trivial.kinds >> mutant->kind & 1) /* of all inputs or attributes */
        return &task->trivial;
    return mutant->attr != TASK_NONE    ? &task->attrs[mutant->attr].trivial
           : mutant->input != TASK_NONE ? &task->inputs[mutant->input].trivial
                                        : &task->trivial;
}

const char *task_mutant_text(struct arena *arena, const struct task *task, const struct task_mutant *mutant)
{
    static const char *const texts[] = {
        [TASK_MUTANT_ZERO] = "writes zeros",
        [TASK_MUTANT_ONE] = "writes ones",
        [TASK_MUTANT_COPY] = "copies an input",
        [TASK_MUTANT_NAN] = "writes nan",
        [TASK_MUTANT_ZEROS] = "takes input '%s' for zeros",
        [TASK_MUTANT_ONES] = "takes input '%s' for ones",
        [TASK_MUTANT_FIRST] = "takes every element of input '%s' for its first one",
        [TASK_MUTANT_GUESS] = "draws input '%s' by itself, from what 'generate' says",
        [TASK_MUTANT_TAIL] = "does not read the last element of input '%s'",
        [TASK_MUTANT_ROWS] = "does not read the last element of each row of input '%s'",
        [TASK_MUTANT_SAMPLE] = "reads a 64th of input '%s'",
        [TASK_MUTANT_CONSTANT] = "takes attribute '%s' for ",
    };
    const char *name = mutant->attr != TASK_NONE    ? task->attrs[mutant->attr].name
                       : mutant->input != TASK_NONE ? task->inputs[mutant->input].name
                                                    : "";
    const char *at = strstr(texts[mutant->kind], "%s");
    int before = at ? (int)(at - texts[mutant->kind]) : 0;
    const char *text =
        at ? arena_printf(arena, "%.*s%s%s", before, texts[mutant->kind], name, at + 2) : texts[mutant->kind];
    if (mutant->attr != TASK_NONE) {
        char *value = json_dumps(mutant->value, JSON_ENCODE_ANY | JSON_COMPACT);
        text = arena_printf(arena, "%s%s", text, value);
        free(value);
    }
    if (mutant->axis >= 0)
        text = arena_printf(arena, "%s along axis %d", text, mutant->axis);
    if (mutant->part)
        text = arena_printf(arena, "%s but where that element counts by itself", text);
    if (mutant->deep != TASK_NONE)
        text = arena_printf(arena, "%s (case %d)", text, mutant->deep);
    return text;
}

/* Each listed kind must pass in some mutant; of a task those of inputs and attributes may. */
static struct akgen_error *check_listed(const struct task *task, const struct task_mutants *mutants,
                                        const struct task_trivial *trivial, const char *what, const char *name)
{
    unsigned pass = 0;
    for (int i = 0; i < mutants->count; i++)
        if (task_mutant_trivial(task, &mutants->list[i]) == trivial && task_mutant_passes(&mutants->list[i]))
            pass |= 1u << mutants->list[i].kind;
    int kinds = trivial == &task->trivial ? TASK_MUTANT_ZEROS : TASK_MUTATIONS;
    for (int kind = 0; kind < kinds; kind++)
        if (trivial->kinds >> kind & 1 && !(pass >> kind & 1))
            return error_new("task.yaml lists '%s' as trivial%s%s%s%s, but the strict check rejects it",
                             task_mutation_names[kind], *what ? " of " : "", what, *name ? " " : "", name);
    return NULL;
}

struct akgen_error *task_check_mutants(const struct task *task, bool full)
{
    struct task_mutants mutants;
    struct arena arena = {0};
    struct akgen_error *error = task_mutants_try(task, TASK_STRICT, full, &mutants);
    for (int i = 0; i < mutants.count && !error; i++) {
        const struct task_mutant *mutant = &mutants.list[i];
        if (task_mutant_passes(mutant) && !is_listed(task, mutant))
            error = error_new("a candidate that %s passes the strict check of every case; if the contract allows it, "
                              "'trivial' with '%s' "
                              "says why (docs/tasks.md)",
                              task_mutant_text(&arena, task, mutant), task_mutation_names[mutant->kind]);
    }
    if (!error)
        error = check_listed(task, &mutants, &task->trivial, "", "");
    for (int i = 0; i < task->input_count && !error; i++)
        error = check_listed(task, &mutants, &task->inputs[i].trivial, "input", task->inputs[i].name);
    for (int i = 0; i < task->attr_count && !error; i++)
        error = check_listed(task, &mutants, &task->attrs[i].trivial, "attribute", task->attrs[i].name);
    task_mutants_free(&mutants);
    arena_free(&arena);
    return error;
}
