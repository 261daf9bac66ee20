/* Finds a task's reference and has it compute: the outputs that its candidates are compared with. */
#include "task/reference/expected.h"

#include "base/names.h"
#include "task/reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAMILY(name) extern const struct task_reference_entry task_references_##name[];
#include "task/reference/families.def"
#undef FAMILY
#define FAMILY(name) task_references_##name,
static const struct task_reference_entry *const families[] = {
#include "task/reference/families.def"
};
#undef FAMILY

static const struct task_reference_entry *entry_at(int index)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const struct task_reference_entry *entry = families[i]; entry->name; entry++)
            if (index-- == 0)
                return entry;
    return NULL;
}

const struct task_reference_entry *task_reference_find(const char *name)
{
    const struct task_reference_entry *entry;
    for (int i = 0; (entry = entry_at(i)); i++)
        if (strcmp(entry->name, name) == 0)
            return entry;
    return NULL;
}

const char *task_reference_name(int index)
{
    const struct task_reference_entry *entry = entry_at(index);
    return entry ? entry->name : NULL;
}

const char *task_reference_hint(struct arena *arena, const char *name)
{
    int count = 0;
    while (entry_at(count))
        count++;
    const char **names = arena_alloc(arena, sizeof *names * (size_t)(count + 1));
    for (int i = 0; i < count; i++)
        names[i] = entry_at(i)->name;
    const char *hint = names_hint(arena, name, names);
    return *hint ? hint : "; 'akgen task references' lists them";
}

const char *task_reference_needs(const struct task_reference_entry *reference)
{
    return reference->needs;
}

const struct reference_signature *task_reference_signature(struct arena *arena,
                                                           const struct task_reference_entry *reference)
{
    return reference->needs ? signature_parse(arena, reference->name, reference->needs) : NULL;
}

struct akgen_error *task_reference_fits(const struct task_instance *instance)
{
    const struct task *task = instance->task;
    struct akgen_error *error = task->signature ? signature_check_case(task->signature, instance) : NULL;
    if (!error && task->reference->fits)
        error = task->reference->fits(&(struct reference_call){.instance = instance});
    return error;
}

/* Outputs: one allocation, the arguments first, so that the caller frees one pointer. */
struct outputs {
    struct task_argument *arguments; /* what the caller holds points here + sizeof(struct outputs) */
    int count;
};

static void *checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void free_values(struct task_argument *argument)
{
    for (int t = 0; t < argument->count; t++)
        free(argument->tensors[t].values);
}

static void allocate_values(struct task_argument *argument, enum akgen_dtype type)
{
    for (int t = 0; t < argument->count; t++) {
        struct task_tensor *tensor = &argument->tensors[t];
        if (type == AKGEN_DOUBLE && tensor->type == AKGEN_COMPLEX64) { /* pairs of doubles */
            tensor->dims[tensor->rank++] = 2;
            tensor->elements *= 2;
        }
        tensor->type = type;
        tensor->values = checked(calloc((size_t)tensor->elements + 1, akgen_dtype_size(type)));
    }
}

void reference_retype(struct reference_call *call, int output, enum akgen_dtype type)
{
    if (call->profile == TASK_STRICT || !reference_output(call, output))
        return;
    free_values(&call->outputs[output]);
    allocate_values(&call->outputs[output], type);
}

void reference_quantized(struct reference_call *call, int output)
{
    if (call->profile == TASK_UPSTREAM || !reference_output(call, output))
        return;
    free_values(&call->outputs[output]);
    allocate_values(&call->outputs[output], AKGEN_DOUBLE);
}

/* A reference writes what its signature demands even where nobody judges it. */
static bool demanded(const struct task_instance *instance, int output)
{
    const struct reference_signature *signature = instance->task->signature;
    return signature && !signature->outputs[output].optional && !signature->outputs[output].unmade;
}

static struct outputs *outputs_new(const struct task_instance *instance, enum task_profile profile)
{
    int count = instance->task->output_count;
    struct outputs *outputs = checked(calloc(1, sizeof *outputs + sizeof(struct task_argument) * (size_t)count));
    outputs->count = count;
    outputs->arguments = (struct task_argument *)(outputs + 1);
    for (int i = 0; i < count; i++) {
        const struct task_argument *shape = &instance->outputs[i];
        struct task_argument *argument = &outputs->arguments[i];
        if (!shape->count || !(task_output_judged(instance, i, profile) || demanded(instance, i)))
            continue;
        argument->count = shape->count;
        argument->tensors = checked(calloc((size_t)shape->count, sizeof *shape->tensors));
        memcpy(argument->tensors, shape->tensors, sizeof *shape->tensors * (size_t)shape->count);
        enum akgen_dtype type = shape->tensors[0].type;
        allocate_values(argument, profile == TASK_STRICT && task_is_float(type) ? AKGEN_DOUBLE : type);
    }
    return outputs;
}

void task_outputs_free(struct task_argument *arguments)
{
    if (!arguments)
        return;
    struct outputs *outputs = (struct outputs *)arguments - 1;
    for (int i = 0; i < outputs->count; i++) {
        free_values(&arguments[i]);
        free(arguments[i].tensors);
    }
    free(outputs);
}

static struct task_argument *compute(const struct task_instance *instance, enum task_profile profile, double lean,
                                     bool rounded)
{
    struct arena scratch = {0};
    struct reference_call call = {instance, profile, outputs_new(instance, profile)->arguments,
                                  lean,     rounded, &scratch};
    instance->task->reference->compute(&call);
    arena_free(&scratch);
    for (int i = 0; i < instance->task->output_count; i++)
        if (!task_output_judged(instance, i, profile)) {
            free_values(&call.outputs[i]);
            call.outputs[i].count = 0;
        }
    return call.outputs;
}

struct task_argument *task_reference(const struct task_instance *instance, enum task_profile profile)
{
    return compute(instance, profile, 0, false);
}

struct task_argument *task_reference_leaning(const struct task_instance *instance, double lean)
{
    return compute(instance, TASK_STRICT, lean, false);
}

static bool has_formulas(const struct task *task)
{
    return task->output_count && task->outputs[0].formula;
}

struct task_argument *task_reference_rounded(const struct task_instance *instance)
{
    enum { TIMES = 32 };
    if (!has_formulas(instance->task))
        return NULL;
    struct task_argument *golden = task_reference(instance, TASK_STRICT);
    struct task_argument *rounded = compute(instance, TASK_STRICT, 0, true);
    for (int i = 0; i < instance->task->output_count; i++)
        for (int t = 0; t < golden[i].count; t++) {
            const struct task_tensor *exact = &golden[i].tensors[t];
            double *from = exact->values, *to = rounded[i].tensors[t].values;
            if (exact->type != AKGEN_DOUBLE)
                memcpy(to, from, (size_t)exact->elements * akgen_dtype_size(exact->type));
            for (int64_t k = 0; k < exact->elements && exact->type == AKGEN_DOUBLE; k++)
                to[k] = isfinite(from[k]) && isfinite(to[k]) ? from[k] + TIMES * (to[k] - from[k]) : from[k];
        }
    task_outputs_free(golden);
    return rounded;
}

/* As compare_strict.c has it of float32. */
static bool output_cancels(const struct task_tensor *golden, const struct task_tensor *rounded)
{
    const double *a = golden->values, *b = rounded->values;
    double squares = 0;
    int64_t finite = 0;
    if (golden->type != AKGEN_DOUBLE)
        return false;
    for (int64_t i = 0; i < golden->elements; i++)
        if (isfinite(a[i])) {
            squares += a[i] * a[i];
            finite++;
        }
    double scale = finite ? sqrt(squares / (double)finite) : 0;
    for (int64_t i = 0; i < golden->elements; i++)
        if (isfinite(a[i]) && !(fabs(a[i] - b[i]) <= 0x1p-15 * (fabs(a[i]) + scale)))
            return true;
    return false;
}

bool task_formulas_cancel(const struct task_instance *instance)
{
    bool cancels = false;
    if (!has_formulas(instance->task))
        return false;
    struct task_argument *golden = task_reference(instance, TASK_STRICT), *rounded = task_reference_rounded(instance);
    for (int i = 0; i < instance->task->output_count && !cancels; i++)
        for (int t = 0; t < golden[i].count; t++)
            cancels |= output_cancels(&golden[i].tensors[t], &rounded[i].tensors[t]);
    task_outputs_free(golden);
    task_outputs_free(rounded);
    return cancels;
}

/* A floating tensor in float64 with its elements moved; the values live in the arena. */
static void move_tensor(struct arena *arena, struct task_tensor *tensor, double relative,
                        double (*factor)(void *state, int64_t index), void *state)
{
    double *values = arena_alloc(arena, sizeof *values * (size_t)(tensor->elements + 1));
    for (int64_t first = 0; first < tensor->elements; first += REFERENCE_BLOCK) {
        int64_t rest = tensor->elements - first;
        task_read_double(tensor, first, rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK, values + first);
    }
    for (int64_t i = 0; tensor->elements > 1 && i < tensor->elements; i++)
        values[i] *= 1 + relative * (factor ? factor(state, i) : 1);
    tensor->values = values;
    tensor->type = AKGEN_DOUBLE;
}

struct task_argument *task_reference_moved(const struct task_instance *instance, double relative,
                                           double (*factor)(void *state, int64_t index), void *state)
{
    struct arena arena = {0};
    int count = instance->task->input_count;
    struct task_instance moved = *instance;
    moved.inputs = arena_alloc(&arena, sizeof *moved.inputs * (size_t)(count + 1));
    for (int i = 0; i < count; i++) {
        struct task_argument *input = &moved.inputs[i];
        *input = instance->inputs[i];
        input->tensors = arena_alloc(&arena, sizeof *input->tensors * (size_t)(input->count + 1));
        for (int t = 0; t < input->count; t++) {
            input->tensors[t] = instance->inputs[i].tensors[t];
            if (task_is_float(input->tensors[t].type) && input->tensors[t].type != AKGEN_COMPLEX64)
                move_tensor(&arena, &input->tensors[t], relative, factor, state);
        }
    }
    struct task_argument *outputs = task_reference(&moved, TASK_STRICT);
    arena_free(&arena);
    return outputs;
}
