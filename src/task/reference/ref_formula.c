/* The reference of tasks whose outputs have a `formula`: the module that writes it down step by step in the output's
 * type. Constants and attributes are not rounded, as torch does not round Python numbers. */
#include "task/expr/formula.h"
#include "task/reference/reference.h"

#include <stdlib.h>

_Static_assert(FORMULA_BLOCK == REFERENCE_BLOCK, "a formula is computed in the references' blocks");

static void fill(double *block, double value)
{
    for (int e = 0; e < REFERENCE_BLOCK; e++)
        block[e] = value;
}

/* Tensor 0 of an input: a formula names what is there. */
static const struct task_tensor *input(const struct reference_call *call, int index)
{
    return &call->instance->inputs[index].tensors[0];
}

/* The names of a formula that are the same for all elements: attributes, and inputs of one element. */
static void read_numbers(const struct reference_call *call, const struct formula *formula,
                         double (*blocks)[REFERENCE_BLOCK])
{
    const struct task *task = call->instance->task;
    for (int i = 0; i < task->input_count; i++)
        if (formula_uses(formula, i) && input(call, i)->elements == 1) {
            task_read_double(input(call, i), 0, 1, blocks[i]);
            fill(blocks[i], blocks[i][0]);
        }
    for (int i = 0; i < task->attr_count; i++)
        if (formula_uses(formula, task->input_count + i))
            fill(blocks[task->input_count + i], json_is_boolean(call->instance->attrs[i])
                                                    ? json_is_true(call->instance->attrs[i])
                                                    : json_number_value(call->instance->attrs[i]));
}

static void read_elements(const struct reference_call *call, const struct formula *formula, int64_t first, int n,
                          double (*blocks)[REFERENCE_BLOCK])
{
    for (int i = 0; i < call->instance->task->input_count; i++)
        if (formula_uses(formula, i) && input(call, i)->elements != 1)
            task_read_double(input(call, i), first, n, blocks[i]);
}

static void by_formula(struct reference_call *call)
{
    const struct task *task = call->instance->task;
    double(*blocks)[REFERENCE_BLOCK] =
        (double(*)[REFERENCE_BLOCK])reference_numbers(FORMULA_MAX_NAMES * REFERENCE_BLOCK);
    double results[REFERENCE_BLOCK];
    const double *values[FORMULA_MAX_NAMES];
    for (int i = 0; i < FORMULA_MAX_NAMES; i++)
        values[i] = blocks[i];
    for (int o = 0; o < task->output_count; o++) {
        const struct task_tensor *output = reference_output(call, o);
        const struct formula *formula = task->outputs[o].formula;
        enum akgen_dtype type = call->instance->outputs[o].tensors[0].type;
        enum akgen_dtype steps = reference_steps(call, task_is_float(type) ? type : AKGEN_DOUBLE);
        read_numbers(call, formula, blocks);
        for (int64_t first = 0; output && first < output->elements; first += REFERENCE_BLOCK) {
            int64_t rest = output->elements - first;
            int n = rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK;
            read_elements(call, formula, first, n, blocks);
            formula_block(formula, steps, values, n, results);
            reference_store(call, o, first, n, results);
        }
    }
    free(blocks);
}

const struct task_reference_entry task_references_formula[] = {
    {"formula", by_formula, NULL, NULL},
    {NULL, NULL, NULL, NULL},
};
