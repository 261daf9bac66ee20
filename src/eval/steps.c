#include "eval/steps.h"

/* docs/machine.md has what kernels take: the least is for those whose work does not grow with the case. */
enum { LEAST_CONTROL = 400000000, CONTROL_PER_BYTE = 34, FLOPS_PER_CONTROL = 48 };
enum { LEAST_DATA = 100000000, DATA_PER_BYTE = 112, FLOPS_PER_DATA = 12 };

struct npu_steps eval_steps(uint64_t bytes, double flops)
{
    return (struct npu_steps){LEAST_CONTROL + CONTROL_PER_BYTE * bytes + (uint64_t)(flops / FLOPS_PER_CONTROL),
                              LEAST_DATA + DATA_PER_BYTE * bytes + (uint64_t)(flops / FLOPS_PER_DATA)};
}

uint64_t eval_tensor_bytes(const struct task_argument *arguments, int count, uint64_t *elements)
{
    uint64_t bytes = 0;
    for (int i = 0; i < count; i++)
        for (int t = 0; t < arguments[i].count; t++) {
            bytes += (uint64_t)arguments[i].tensors[t].elements * akgen_dtype_size(arguments[i].tensors[t].type);
            *elements += (uint64_t)arguments[i].tensors[t].elements;
        }
    return bytes;
}

struct npu_steps eval_steps_of_case(const struct task_instance *instance)
{
    uint64_t elements = 0;
    uint64_t bytes = eval_tensor_bytes(instance->inputs, instance->task->input_count, &elements) +
                     eval_tensor_bytes(instance->outputs, instance->task->output_count, &elements);
    struct arena arena = {0};
    struct task_eager_traffic *traffic;
    double flops = 0;
    struct akgen_error *error = task_eager_of_case(&arena, instance, &traffic);
    for (int i = 0; !error && i < instance->task->eager_count; i++)
        flops += traffic[i].flops;
    error_free(error);
    arena_free(&arena);
    return eval_steps(bytes, flops);
}
