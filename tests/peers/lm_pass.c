/* lm_pass plain|fast|checkpoint MODEL OUT: reads a model, then from standard input {"texts": [[token, ..], ..], "labels": [[..], ..], "factors":
 * [[..], ..]}; writes to OUT, as safetensors, "logits" and "log_probs" of all tokens, one text behind the other, and the gradient
 * of each parameter under its name. lm_pass copy MODEL OUT writes the model again, to a folder. For tests/peers/lm_model_test.py. */
#include "base/memory.h"
#include "lm/cpu.h"
#include "lm/pass.h"
#include "lm/plain.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct akgen_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    error_free(error);
    return 1;
}

struct input {
    struct lm_batch batch;
    int32_t *tokens, *labels;
    float *factors;
    int *starts;
    int count;
};

static void read_input(struct input *input, const json_t *root)
{
    const json_t *texts = json_object_get(root, "texts");
    int many = (int)json_array_size(texts), at = 0;
    input->starts = memory_alloc((size_t)(many + 1) * sizeof *input->starts);
    for (int t = 0; t < many; t++)
        input->starts[t + 1] = input->starts[t] + (int)json_array_size(json_array_get(texts, (size_t)t));
    input->count = input->starts[many];
    input->tokens = memory_alloc((size_t)input->count * sizeof *input->tokens);
    input->labels = memory_alloc((size_t)input->count * sizeof *input->labels);
    input->factors = memory_alloc((size_t)input->count * sizeof *input->factors);
    for (size_t t = 0; t < (size_t)many; t++)
        for (size_t i = 0; i < json_array_size(json_array_get(texts, t)); i++, at++) {
            input->tokens[at] = (int32_t)json_integer_value(json_array_get(json_array_get(texts, t), i));
            input->labels[at] =
                (int32_t)json_integer_value(json_array_get(json_array_get(json_object_get(root, "labels"), t), i));
            input->factors[at] =
                (float)json_number_value(json_array_get(json_array_get(json_object_get(root, "factors"), t), i));
        }
    input->batch = (struct lm_batch){input->tokens, input->labels, input->starts, many};
}

static struct akgen_error *write_results(const char *path, const struct lm_layout *layout, int count, float *logits,
                                         float *log_probs, float *gradients)
{
    struct lm_tensor *tensors = memory_alloc((size_t)(layout->count + 2) * sizeof *tensors);
    int64_t vocabulary = layout->config.vocabulary;
    tensors[0] = (struct lm_tensor){
        .name = "logits", .rank = 2, .shape = {count, vocabulary}, .count = count * vocabulary, .values = logits};
    tensors[1] =
        (struct lm_tensor){.name = "log_probs", .rank = 1, .shape = {count}, .count = count, .values = log_probs};
    for (int i = 0; i < layout->count; i++) {
        const struct lm_parameter *parameter = &layout->parameters[i];
        tensors[i + 2] = (struct lm_tensor){.name = parameter->name,
                                            .rank = parameter->rank,
                                            .shape = {parameter->shape[0], parameter->shape[1]},
                                            .count = parameter->count,
                                            .values = gradients + parameter->offset};
    }
    struct akgen_error *error = lm_tensors_write_file(path, tensors, layout->count + 2, LM_F32);
    free(tensors);
    return error;
}

/* The same as lm_plain_pass, by the fast pass on the CPU. */
static struct akgen_error *fast(const struct lm_model *model, const struct input *input, bool checkpoint, float *logits,
                                float *log_probs, float *gradients)
{
    bool training = !model->layout.config.experts;
    struct lm_backend *cpu = lm_cpu_new(2);
    struct lm_pass *pass;
    struct lm_pass_options options = {.tokens = input->count, .training = training, .checkpoint = checkpoint};
    struct akgen_error *error = lm_pass_new(cpu, &model->layout, model->weights, &options, &pass);
    int32_t *rows = memory_alloc((size_t)input->count * sizeof *rows);
    for (int i = 0; i < input->count; i++)
        rows[i] = i;
    if (!error) {
        lm_pass_forward(pass, &input->batch);
        lm_pass_scores(pass, rows, input->count, logits);
        if (training)
            lm_pass_backward(pass, input->factors, log_probs, gradients);
        else
            lm_pass_log_probs(pass, log_probs);
        lm_pass_free(pass);
    }
    free(rows);
    lm_cpu_free(cpu);
    return error;
}

int main(int argc, char **argv)
{
    struct lm_model model;
    struct input input = {0};
    if (argc != 4)
        return fail(error_new("usage: lm_pass plain|fast|checkpoint|copy MODEL OUT"));
    struct akgen_error *error = lm_model_read(&model, argv[2]);
    if (error)
        return fail(error);
    if (strcmp(argv[1], "copy") == 0) {
        error = lm_model_write(&model, argv[3], LM_F32, 100000);
        lm_model_free(&model);
        return error ? fail(error) : 0;
    }
    json_t *root = json_loadf(stdin, 0, NULL);
    read_input(&input, root);
    float *logits = memory_alloc((size_t)input.count * (size_t)model.layout.config.vocabulary * sizeof *logits);
    float *log_probs = memory_alloc((size_t)input.count * sizeof *log_probs);
    float *gradients = memory_alloc((size_t)model.layout.size * sizeof *gradients);
    if (strcmp(argv[1], "plain") == 0)
        lm_plain_pass(&model, &input.batch, logits, log_probs, input.factors, gradients);
    else
        error = fast(&model, &input, strcmp(argv[1], "checkpoint") == 0, logits, log_probs, gradients);
    if (!error)
        error = write_results(argv[3], &model.layout, input.count, logits, log_probs, gradients);
    json_decref(root);
    free(input.tokens);
    free(input.labels);
    free(input.factors);
    free(input.starts);
    free(logits);
    free(log_probs);
    free(gradients);
    lm_model_free(&model);
    return error ? fail(error) : 0;
}
