/* Is a task fit to judge with? Inputs and references of a case can be made, and they are numbers where they should
 * be. */
#include "task/task_internal.h"

#include <math.h>

/* True if any element of these arguments is nan, or, if `infinities`, infinite. */
static bool has_special(const struct task_argument *arguments, int count, bool infinities)
{
    enum { CHUNK = 512 };
    double x[CHUNK];
    bool found = false;
    for (int i = 0; i < count; i++)
        for (int t = 0; t < arguments[i].count; t++) {
            const struct task_tensor *tensor = &arguments[i].tensors[t];
            int64_t scalars = task_is_float(tensor->type) ? task_scalars(tensor) : 0;
            for (int64_t first = 0; first < scalars && !found; first += CHUNK) {
                int n = scalars - first < CHUNK ? (int)(scalars - first) : CHUNK;
                task_read_double(tensor, first, n, x);
                for (int k = 0; k < n; k++)
                    found |= isnan(x[k]) || (infinities && isinf(x[k]));
            }
        }
    return found;
}

static struct akgen_error *check_reference(const struct task_instance *instance, enum task_profile profile, bool finite)
{
    struct task_argument *outputs = task_reference(instance, profile);
    struct akgen_error *error = NULL;
    /* Upstream's narrow types may overflow on their way. */
    if (finite && profile == TASK_STRICT && has_special(outputs, instance->task->output_count, true))
        error = error_new("finite inputs make an output that is not finite");
    task_outputs_free(outputs);
    return error;
}

struct akgen_error *task_check_case(const struct task *task, const struct task_case *task_case, uint64_t seed)
{
    struct task_instance *instance = NULL;
    struct akgen_error *error = task_instance_make(task, task_case, seed, false, &instance);
    bool finite = !error && task_case->variant != TASK_LIMIT_VALUES && task_case->variant != TASK_NAN_VALUES &&
                  !has_special(instance->inputs, task->input_count, true);
    if (!error)
        error = check_reference(instance, TASK_UPSTREAM, finite);
    if (!error)
        error = check_reference(instance, TASK_STRICT, finite);
    task_instance_free(instance);
    return error ? error_prefix(error, "case %d, seed %llu", task_case->id,
                                (unsigned long long)(seed & ~TASK_OTHER_VALUES))
                 : NULL;
}
