/* The host part's jobs and results as JSON, both ways. */
#include "jail/fields_internal.h"
#include "jail/host_job.h"

#include <string.h>

enum { MAX_ARGUMENTS = 256, MAX_TENSORS = 4096, MAX_VALUES = 64 << 20, MAX_ERROR = 1 << 16 };

static const struct field job_fields[] = {
    TEXT(host_job, host_so),
    TEXT(host_job, op_type),
    TEXT(host_job, soc),
    FLAG(host_job, tile),
};
static const struct field attr_fields[] = {
    TEXT(op_attr, name),
    INT(op_attr, type, 0, OP_ATTR_LIST_LIST_INT),
    FLAG(op_attr, required),
};
static const struct field result_fields[] = {
    INT(host_result, status, JOB_OK, JOB_BROKEN),
    TEXT(host_result, error),
};

/* Tensors. */
static uint64_t bytes_of(const struct op_tensor *tensor)
{
    uint64_t bytes = akgen_dtype_size(tensor->type);
    for (int d = 0; d < tensor->rank; d++)
        if (tensor->dims[d] < 0 || __builtin_mul_overflow(bytes, (uint64_t)tensor->dims[d], &bytes))
            return 0;
    return tensor->rank < 0 ? 0 : bytes;
}

static json_t *tensor_to_json(const struct op_tensor *tensor)
{
    json_t *json = fields_write_shape(tensor);
    if (tensor->values && bytes_of(tensor))
        json_object_set_new(json, "values", fields_write_bytes(tensor->values, bytes_of(tensor)));
    return json;
}

static void tensor_from_json(struct reader *reader, const json_t *json, struct op_tensor *tensor)
{
    uint64_t bytes;
    fields_read_shape(reader, json, tensor);
    if (!json_object_get(json, "values"))
        return;
    tensor->values = fields_read_bytes(reader, json, "values", MAX_VALUES, &bytes);
    if (bytes != bytes_of(tensor))
        fields_complain(reader, "values");
}

/* A list of lists. */
static json_t *arguments_to_json(const struct op_argument *arguments, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *tensors = json_array();
        for (int t = 0; t < arguments[i].count; t++)
            json_array_append_new(tensors, tensor_to_json(&arguments[i].tensors[t]));
        json_array_append_new(list, tensors);
    }
    return list;
}

static int arguments_from_json(struct reader *reader, const json_t *json, const char *key,
                               struct op_argument **arguments)
{
    const json_t *list = fields_read_array(reader, json, key, MAX_ARGUMENTS), *tensors, *tensor;
    size_t count = json_array_size(list), i, t;
    *arguments = arena_alloc(reader->arena, (count + 1) * sizeof **arguments);
    json_array_foreach(list, i, tensors)
    {
        struct op_argument *argument = &(*arguments)[i];
        if (!json_is_array(tensors) || json_array_size(tensors) > MAX_TENSORS) {
            fields_complain(reader, key);
            continue;
        }
        argument->count = (int)json_array_size(tensors);
        argument->tensors = arena_alloc(reader->arena, ((size_t)argument->count + 1) * sizeof *argument->tensors);
        json_array_foreach(tensors, t, tensor) tensor_from_json(reader, tensor, &argument->tensors[t]);
    }
    return (int)count;
}

/* Attributes. */
static json_t *attrs_to_json(const struct op_attr *attrs, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *json = fields_write(attr_fields, COUNT(attr_fields), &attrs[i]);
        json_object_set_new(json, "value", attrs[i].value ? json_incref(attrs[i].value) : json_null());
        json_array_append_new(list, json);
    }
    return list;
}

static int attrs_from_json(struct reader *reader, const json_t *json, struct op_attr **attrs)
{
    const json_t *list = fields_read_array(reader, json, "attrs", OP_MAX_ITEMS);
    json_t *item;
    size_t count = json_array_size(list), i;
    *attrs = arena_alloc(reader->arena, (count + 1) * sizeof **attrs);
    json_array_foreach((json_t *)list, i, item)
    {
        struct op_attr *attr = &(*attrs)[i];
        json_t *value = json_object_get(item, "value");
        fields_read(reader, item, attr_fields, COUNT(attr_fields), attr);
        attr->value = json_is_null(value) ? NULL : json_incref(value);
        if (!attr->name)
            fields_complain(reader, "attrs");
    }
    return (int)count;
}

/* The job. */
json_t *host_job_to_json(const struct host_job *job)
{
    json_t *json = fields_write(job_fields, COUNT(job_fields), job);
    json_object_set_new(json, "inputs", arguments_to_json(job->inputs, job->input_count));
    json_object_set_new(json, "outputs", arguments_to_json(job->outputs, job->output_count));
    json_object_set_new(json, "attrs", attrs_to_json(job->attrs, job->attr_count));
    return json;
}

struct akgen_error *host_job_from_json(struct arena *arena, const json_t *json, struct host_job *job)
{
    struct reader reader = {.arena = arena};
    *job = (struct host_job){0};
    fields_read(&reader, json, job_fields, COUNT(job_fields), job);
    job->input_count = arguments_from_json(&reader, json, "inputs", &job->inputs);
    job->output_count = arguments_from_json(&reader, json, "outputs", &job->outputs);
    job->attr_count = attrs_from_json(&reader, json, &job->attrs);
    if (!job->host_so || (job->tile && !job->soc))
        fields_complain(&reader, "host_so, soc");
    if (!reader.problem)
        return NULL;
    for (int i = 0; i < job->attr_count; i++)
        json_decref(job->attrs[i].value);
    return error_new("the job's field '%s' is missing or out of range", reader.problem);
}

/* The result. */
json_t *host_result_to_json(const struct host_result *result)
{
    json_t *json = fields_write(result_fields, COUNT(result_fields), result);
    if (result->def.type)
        json_object_set_new(json, "def", op_def_to_json(&result->def));
    if (result->tiling.block_dim)
        json_object_set_new(json, "tiling", fields_write_tiling(&result->tiling));
    return json;
}

/* "ge::Operator::GetName" */
static bool is_function(const char *name)
{
    enum { LONGEST = 128 };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:~";
    return name && *name && strlen(name) <= LONGEST && name[strspn(name, letters)] == '\0';
}

struct akgen_error *host_result_from_json(struct arena *arena, const json_t *json, struct host_result *result)
{
    struct reader reader = {.arena = arena};
    const json_t *tiling = json_object_get(json, "tiling"), *def = json_object_get(json, "def");
    fields_read(&reader, json, result_fields, COUNT(result_fields), result);
    if (tiling)
        fields_read_tiling(&reader, tiling, &result->tiling);
    if (!json_is_object(json) || (result->status == JOB_OK ? !tiling == !def : tiling || def || !result->error))
        fields_complain(&reader, "status");
    if (result->error && strlen(result->error) > MAX_ERROR)
        fields_complain(&reader, "error");
    if (result->status == JOB_UNSUPPORTED && !is_function(result->error))
        fields_complain(&reader, "error");
    if (reader.problem)
        return error_new("the result's field '%s' is missing or out of range", reader.problem);
    return def ? op_def_from_json(arena, def, &result->def) : NULL;
}

/* The line that tells a stage; its length, 0 if the text begins with none. */
static size_t stage_line(const char *text, size_t length, enum job_stage *stage)
{
    for (enum job_stage at = JOB_LOAD; at <= JOB_TILING; at++) {
        const char *name = job_stage_name(at);
        size_t size = strlen(name);
        if (length > size && memcmp(text, name, size) == 0 && text[size] == '\n') {
            *stage = at;
            return size + 1;
        }
    }
    return 0;
}

enum host_answer host_result_read(struct arena *arena, const char *text, size_t length, struct host_result *result)
{
    size_t line;
    for (; (line = stage_line(text, length, &result->stage)); text += line)
        length -= line;
    if (!length)
        return HOST_SILENT;
    const enum job_stage stage = result->stage;
    json_t *json = json_loadb(text, length, 0, NULL);
    struct akgen_error *error = json ? host_result_from_json(arena, json, result) : error_new("no JSON");
    enum host_answer answer = error ? HOST_GARBLED : HOST_ANSWERED;
    if (error)
        *result = (struct host_result){.stage = stage};
    error_free(error);
    json_decref(json);
    return answer;
}
