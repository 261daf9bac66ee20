/* The reference of tasks whose outputs have a `formula`: the module that writes it down step by step in the output's
 * type. Constants and attributes are not rounded, as torch does not round Python numbers. */
#include "task/expr/formula.h"
#include "task/reference/reference.h"

/* What the names stand for: inputs, of which there is tensor 0, and attributes. */
static struct akgen_error *read_arguments(const struct task_instance *instance, struct formula_argument *arguments)
{
    const struct task *task = instance->task;
    for (int i = 0; i < task->input_count; i++) {
        arguments[i].tensor = instance->inputs[i].count ? &instance->inputs[i].tensors[0] : NULL;
        for (int o = 0; o < task->output_count && !arguments[i].tensor; o++)
            if (formula_uses(task->outputs[o].formula, i))
                return error_new("the formula of '%s' takes '%s', which is absent", task->outputs[o].name,
                                 task->inputs[i].name);
    }
    for (int i = 0; i < task->attr_count; i++) {
        const json_t *value = instance->attrs[i];
        arguments[task->input_count + i] = (struct formula_argument){
            .number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value),
            .whole = json_is_integer(value),
        };
    }
    return NULL;
}

/* The steps of all outputs, bound to the case; `steps`: per output the type that its steps are rounded to. */
static struct akgen_error *bind_steps(const struct task_instance *instance, const enum akgen_dtype *steps,
                                      struct arena *arena, struct formula_bound **bound)
{
    const struct task *task = instance->task;
    struct formula_argument *arguments = arena_alloc(arena, sizeof *arguments * FORMULA_MAX_NAMES);
    const struct task_tensor **outputs = arena_alloc(arena, sizeof *outputs * (size_t)task->output_count);
    struct akgen_error *error = read_arguments(instance, arguments);
    for (int i = 0; i < task->output_count; i++)
        outputs[i] = instance->outputs[i].count ? instance->outputs[i].tensors : NULL;
    if (!error)
        error = formula_bind(arena, task->outputs[task->output_count - 1].formula, arguments, outputs, steps, bound);
    return error ? error_prefix(error, "formula") : NULL;
}

struct akgen_error *task_formulas_bind(struct arena *arena, const struct task_instance *instance,
                                       struct formula_bound **bound)
{
    enum akgen_dtype *steps = arena_alloc(arena, sizeof *steps * (size_t)instance->task->output_count);
    for (int i = 0; i < instance->task->output_count; i++)
        steps[i] = AKGEN_DOUBLE;
    return bind_steps(instance, steps, arena, bound);
}

/* The step that is an output. */
static int result_of(const struct task *task, int output)
{
    return task->outputs[output].formula->count - 1;
}

bool task_formulas_jump(const struct task_instance *instance)
{
    const struct task *task = instance->task;
    struct arena arena = {0};
    struct formula_bound *bound = NULL;
    bool jump = false;
    if (task->output_count && task->outputs[task->output_count - 1].formula) {
        struct akgen_error *error = task_formulas_bind(&arena, instance, &bound);
        for (int i = 0; !error && i < task->output_count; i++)
            jump |= formula_jumps(bound) ||
                    (!task_is_float(instance->outputs[i].tensors[0].type) && !formula_whole(bound, result_of(task, i)));
        error_free(error);
    }
    arena_free(&arena);
    return jump;
}

static struct akgen_error *bind_formulas(const struct reference_call *call, struct arena *arena,
                                         struct formula_bound **bound)
{
    const struct task_instance *instance = call->instance;
    const struct task *task = instance->task;
    enum akgen_dtype *steps = arena_alloc(arena, sizeof *steps * (size_t)task->output_count);
    for (int i = 0; i < task->output_count; i++) {
        if (!instance->outputs[i].count)
            return error_new("'%s' is absent: what has a formula is always there", task->outputs[i].name);
        enum akgen_dtype type = instance->outputs[i].tensors[0].type;
        steps[i] = call->rounded ? AKGEN_FLOAT : reference_steps(call, task_is_float(type) ? type : AKGEN_DOUBLE);
    }
    return bind_steps(instance, steps, arena, bound);
}

static struct akgen_error *fits(const struct reference_call *call)
{
    const struct task *task = call->instance->task;
    struct arena arena = {0};
    struct formula_bound *bound;
    struct akgen_error *error = bind_formulas(call, &arena, &bound);
    for (int i = 0; i < task->output_count && !error; i++)
        if ((error = formula_fits(bound, result_of(task, i), &call->instance->outputs[i].tensors[0])))
            error_prefix(error, "formula of '%s'", task->outputs[i].name);
    arena_free(&arena);
    return error;
}

struct destination {
    const struct reference_call *call;
    int output;
    enum akgen_dtype type;
    double lean; /* of what is cut off to whole numbers */
};

static void store(void *state, int64_t first, int64_t n, const double *values)
{
    const struct destination *to = state;
    double block[REFERENCE_BLOCK];
    if (task_is_float(to->type)) {
        reference_store(to->call, to->output, first, n, values);
        return;
    }
    for (int64_t at = 0; at < n; at += REFERENCE_BLOCK) {
        int64_t count = n - at < REFERENCE_BLOCK ? n - at : REFERENCE_BLOCK;
        for (int64_t i = 0; i < count; i++)
            block[i] = formula_held(to->type, values[at + i] * (1 + to->lean));
        reference_store(to->call, to->output, first + at, count, block);
    }
}

static void by_formula(struct reference_call *call)
{
    const struct task *task = call->instance->task;
    struct arena arena = {0};
    struct formula_bound *bound = NULL;
    error_free(bind_formulas(call, &arena, &bound)); /* NULL: it fits */
    for (int i = 0; i < task->output_count; i++) {
        const struct task_tensor *output = reference_output(call, i);
        struct destination to = {call, i, output ? output->type : AKGEN_DOUBLE, 0};
        if (bound)
            formula_lean(bound, call->lean);
        if (bound && !formula_whole(bound, result_of(task, i)))
            to.lean = call->lean;
        if (output && bound)
            formula_compute(bound, result_of(task, i), output, store, &to);
    }
    arena_free(&arena);
}

const struct task_reference_entry task_references_formula[] = {
    REFERENCE_CALLED("formula", by_formula, NULL, .fits = fits),
    {NULL, NULL, NULL, NULL},
};
