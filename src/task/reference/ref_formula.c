/* The reference of tasks whose outputs have a `formula`: the module that writes it down step by step in the output's
 * type. Constants and attributes are not rounded, as torch does not round Python numbers. */
#include "task/expr/formula.h"
#include "task/reference/reference.h"

static void read_inputs(struct reference_call *call, const struct formula *formula, int64_t first, int n,
                        double (*values)[REFERENCE_BLOCK])
{
    for (int i = 0; i < call->instance->task->input_count; i++) {
        if (!formula_uses(formula, i))
            continue;
        const struct task_tensor *input = reference_input(call, i);
        if (input->elements == 1) {
            task_read_double(input, 0, 1, values[i]);
            for (int e = 1; e < n; e++)
                values[i][e] = values[i][0];
        } else
            task_read_double(input, first, n, values[i]);
    }
}

static void by_formula(struct reference_call *call)
{
    enum { MAX_INPUTS = 32, MAX_ATTRS = 32 };
    const struct task *task = call->instance->task;
    double values[MAX_INPUTS][REFERENCE_BLOCK], element[MAX_INPUTS] = {0}, attrs[MAX_ATTRS], results[REFERENCE_BLOCK];
    for (int i = 0; i < task->attr_count; i++)
        attrs[i] = json_is_boolean(call->instance->attrs[i]) ? json_is_true(call->instance->attrs[i])
                                                             : reference_attr(call, i);
    for (int o = 0; o < task->output_count; o++) {
        const struct task_tensor *output = reference_output(call, o);
        const struct formula *formula = task->outputs[o].parsed_formula;
        enum akgen_dtype type = call->instance->outputs[o].tensors[0].type;
        enum akgen_dtype steps = reference_steps(call, task_is_float(type) ? type : AKGEN_DOUBLE);
        for (int64_t first = 0; output && first < output->elements; first += REFERENCE_BLOCK) {
            int64_t rest = output->elements - first;
            int n = rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK;
            read_inputs(call, formula, first, n, values);
            for (int e = 0; e < n; e++) {
                for (int i = 0; i < task->input_count; i++)
                    element[i] = formula_uses(formula, i) ? values[i][e] : 0;
                results[e] = formula_value(formula, steps, element, attrs);
            }
            reference_store(call, o, first, n, results);
        }
    }
}

const struct task_reference_entry task_references_formula[] = {
    {"formula", by_formula},
    {NULL, NULL},
};
