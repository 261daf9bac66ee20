/* The files of a case in an exported project: its inputs, what upstream's check and the strict one expect, and the row of
 * cases.json that says so. Plain bytes, as tensors lie in memory; golden of floating outputs up to float32 is stored as float32,
 * whose rounding is far below any limit. */
#include "gen/cann_internal.h"
#include "base/files.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A case being written. */
struct writing {
    struct cann *cann;
    const struct task_instance *instance;
    struct task_argument *upstream, *golden, *moved[TASK_MOVED];
    json_t *tensors;
    struct akgen_error *error;
};

static uint64_t bytes_of(const struct task_tensor *tensor)
{
    return (uint64_t)tensor->elements * akgen_dtype_size(tensor->type);
}

/* Writes bytes to cases/<id>/<name>.<t><end>, whose path is returned. */
static const char *write_bytes(struct writing *writing, const char *name, int t, const char *end, const void *bytes,
                               uint64_t count)
{
    struct cann *cann = writing->cann;
    const char *path =
        arena_printf(cann->arena, "cases/%d/%s.%d%s.bin", writing->instance->task_case->id, name, t, end);
    if (!writing->error)
        writing->error = files_write(arena_printf(cann->arena, "%s/%s", cann->options->dir, path), bytes ? bytes : "",
                                     (size_t)count);
    cann->written->bytes += count;
    return path;
}

static const char *write_tensor(struct writing *writing, const char *name, int t, const char *end,
                                const struct task_tensor *tensor)
{
    return write_bytes(writing, name, t, end, tensor->values, bytes_of(tensor));
}

static const char *write_golden(struct writing *writing, const char *name, int t, const char *end,
                                const struct task_tensor *golden, bool narrowed)
{
    if (!narrowed)
        return write_tensor(writing, name, t, end, golden);
    const double *from = golden->values;
    float *values = memory_alloc(sizeof *values * (size_t)(golden->elements + 1));
    for (int64_t i = 0; i < golden->elements; i++)
        values[i] = (float)from[i];
    const char *path = write_bytes(writing, name, t, end, values, sizeof *values * (uint64_t)golden->elements);
    free(values);
    return path;
}

static json_t *dims_json(const struct task_tensor *tensor)
{
    json_t *dims = json_array();
    for (int i = 0; i < tensor->rank; i++)
        json_array_append_new(dims, json_integer((json_int_t)tensor->dims[i]));
    return dims;
}

static json_t *upstream_json(struct writing *writing, const char *name, int output, int t)
{
    static const char *const rules[] = {[RULE_ABS_REL] = "abs_rel",
                                        [RULE_ABS_REL_ANY] = "abs_rel_any",
                                        [RULE_ALLCLOSE] = "allclose",
                                        [RULE_REL_MAX1] = "rel_max1",
                                        [RULE_SHARE] = "share"};
    /* Upstream's check, if there is one, knows the published cases alone: it fails whatever is not finite. */
    if (t >= writing->upstream[output].count || writing->instance->task_case->variant != TASK_SHOWN ||
        !task_has_check(writing->instance->task))
        return json_null();
    const struct task_tensor *tensor = &writing->upstream[output].tensors[t];
    const struct task_check *check = &writing->instance->check;
    const char *path = write_tensor(writing, name, t, ".upstream", tensor);
    return json_pack("{s:s, s:s, s:s, s:f, s:f}", "file", path, "dtype", akgen_dtype_name(tensor->type), "rule",
                     rules[check->rule], "abs", check->abs_limit, "rel", check->rel_limit);
}

static json_t *strict_json(struct writing *writing, const char *name, int output, int t)
{
    if (t >= writing->golden[output].count)
        return json_null();
    const struct task_tensor *golden = &writing->golden[output].tensors[t];
    /* True if golden may be kept as float32. */
    bool narrowed = golden->type == AKGEN_DOUBLE &&
                    writing->instance->outputs[output].tensors[t].type != AKGEN_DOUBLE &&
                    task_is_float(writing->instance->outputs[output].tensors[t].type);
    struct task_strict_limit limit = task_strict_limit(writing->instance, writing->golden, output, t);
    const char *path = write_golden(writing, name, t, ".golden", golden, narrowed);
    json_t *moved = json_array();
    for (int m = 0; m < TASK_MOVED; m++)
        if (writing->moved[m] && (m > 0 || writing->instance->task->outputs[output].steep))
            json_array_append_new(
                moved, json_string(write_golden(writing, name, t, arena_printf(writing->cann->arena, ".moved%d", m),
                                                &writing->moved[m][output].tensors[t], narrowed)));
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:o, s:b, s:o}", "file", path, "dtype",
                     narrowed ? "float32" : akgen_dtype_name(golden->type), "slack", limit.slack, "relative",
                     limit.relative, "scale", limit.scale, "overflow",
                     isinf(limit.overflow) ? json_null() : json_real(limit.overflow), "open_nan", limit.open_nan,
                     "moved", moved);
}

/* Of an output that holds positions: in which input, along which dimension. */
static json_t *positions_json(struct writing *writing, int output)
{
    const struct task_instance *instance = writing->instance;
    const struct task_param *param = &instance->task->outputs[output];
    if (param->points_into == TASK_NONE)
        return json_null();
    const struct task_tensor *x = &instance->inputs[param->points_into].tensors[0];
    const char *name = cann_name(writing->cann->arena, "in", param->points_into,
                                 writing->cann->verdict->build.def.inputs[param->points_into].name);
    return json_pack("{s:s, s:s, s:o, s:I}", "x",
                     arena_printf(writing->cann->arena, "cases/%d/%s.0.bin", instance->task_case->id, name), "dtype",
                     akgen_dtype_name(x->type), "shape", dims_json(x), "dim",
                     json_integer_value(instance->attrs[param->along]));
}

static void write_outputs(struct writing *writing, int output)
{
    const struct task_instance *instance = writing->instance;
    const char *name = cann_name(writing->cann->arena, "out", output, instance->task->outputs[output].name);
    for (int t = 0; t < instance->outputs[output].count; t++) {
        const struct task_tensor *tensor = &instance->outputs[output].tensors[t];
        json_t *row =
            json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "name", instance->task->outputs[output].name, "actual",
                      arena_printf(writing->cann->arena, "out/%d/%s.%d.bin", instance->task_case->id, name, t), "dtype",
                      akgen_dtype_name(tensor->type), "shape", dims_json(tensor), "upstream",
                      upstream_json(writing, name, output, t), "strict", strict_json(writing, name, output, t),
                      "positions", positions_json(writing, output));
        json_array_append_new(writing->tensors, row);
    }
}

/* Golden counts as 4 bytes an element. */
uint64_t cann_case_bytes(const struct task_instance *instance)
{
    uint64_t bytes = 0;
    for (int i = 0; i < instance->task->input_count; i++)
        for (int t = 0; t < instance->inputs[i].count; t++)
            bytes += bytes_of(&instance->inputs[i].tensors[t]);
    for (int i = 0; i < instance->task->output_count; i++)
        for (int t = 0; t < instance->outputs[i].count; t++)
            bytes +=
                2 * bytes_of(&instance->outputs[i].tensors[t]) + 4 * (uint64_t)instance->outputs[i].tensors[t].elements;
    return bytes;
}

struct akgen_error *cann_add_case(struct cann *cann, const struct task_instance *instance)
{
    int id = instance->task_case->id;
    struct writing writing = {.cann = cann, .instance = instance, .tensors = json_array()};
    writing.error = files_make_directory(arena_printf(cann->arena, "%s/cases/%d", cann->options->dir, id));
    if (!writing.error) {
        writing.upstream = task_reference(instance, TASK_UPSTREAM);
        writing.golden = task_reference(instance, TASK_STRICT);
        task_strict_moved(instance, writing.moved);
        const struct op_def *def = &writing.cann->verdict->build.def;
        for (int i = 0; i < writing.instance->task->input_count; i++)
            for (int t = 0; t < writing.instance->inputs[i].count; t++)
                write_tensor(&writing, cann_name(writing.cann->arena, "in", i, def->inputs[i].name), t, "",
                             &writing.instance->inputs[i].tensors[t]);
        for (int i = 0; i < instance->task->output_count; i++)
            write_outputs(&writing, i);
    }
    task_outputs_free(writing.upstream);
    task_outputs_free(writing.golden);
    for (int m = 0; m < TASK_MOVED; m++)
        task_outputs_free(writing.moved[m]);
    /* "x float16[48,128,512]", as reports have it. */
    const char *text = "";
    for (int i = 0; i < instance->task->input_count; i++) {
        const struct task_argument *argument = &instance->inputs[i];
        if (!argument->count)
            continue;
        text = arena_printf(cann->arena, "%s%s%s %s[", text, *text ? " " : "", instance->task->inputs[i].name,
                            akgen_dtype_name(argument->tensors[0].type));
        for (int d = 0; d < argument->tensors[0].rank; d++)
            text = arena_printf(cann->arena, "%s%s%lld", text, d ? "," : "", (long long)argument->tensors[0].dims[d]);
        text = arena_printf(cann->arena, argument->count > 1 ? "%s]x%d" : "%s]", text, argument->count);
    }
    json_array_append_new(cann->cases, json_pack("{s:i, s:s, s:b, s:o}", "case", id, "inputs", text, "stands_in",
                                                 instance->reduced, "tensors", writing.tensors));
    cann->written->cases++;
    return writing.error ? writing.error : cann_add_call(cann, instance);
}
