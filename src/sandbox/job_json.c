/* Jobs and their results as JSON, both ways. Numbers of 64 bits travel as JSON integers (bit for bit), findings and
 * tensors as objects with the names of the struct's fields. */
#include "sandbox/job_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 256, MAX_TENSORS = 4096, MAX_FINDINGS = 4096 };

/* Reading with one error. */
struct reader {
    struct arena *arena;
    const char *problem; /* the first missing or wrong field */
};

static int64_t read_integer(struct reader *reader, const json_t *object, const char *key, int64_t low, int64_t high)
{
    const json_t *value = json_object_get(object, key);
    int64_t number = json_integer_value(value);
    if ((!json_is_integer(value) || number < low || number > high) && !reader->problem)
        reader->problem = key;
    return number < low || number > high ? low : number;
}

static uint64_t read_word(struct reader *reader, const json_t *object, const char *key)
{
    return (uint64_t)read_integer(reader, object, key, INT64_MIN, INT64_MAX);
}

static const char *read_text(struct reader *reader, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return NULL;
    if (!json_is_string(value)) {
        reader->problem = reader->problem ? reader->problem : key;
        return NULL;
    }
    return arena_strndup(reader->arena, json_string_value(value), json_string_length(value));
}

static const json_t *read_array(struct reader *reader, const json_t *object, const char *key, size_t limit)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_array(value) || json_array_size(value) > limit) {
        reader->problem = reader->problem ? reader->problem : key;
        return NULL;
    }
    return value;
}

static double read_real(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static bool read_flag(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

static json_t *word(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *text_or_null(const char *text)
{
    json_t *json = text ? json_string(text) : NULL;
    /* What a candidate printed or named may be no UTF-8. */
    return json ? json : text ? json_string("?") : json_null();
}

/* Arguments. */
static json_t *tensor_to_json(const struct job_tensor *tensor)
{
    json_t *dims = json_array();
    for (int i = 0; i < tensor->shape.rank; i++)
        json_array_append_new(dims, json_integer(tensor->shape.dims[i]));
    return json_pack("{si si si so so so sb}", "type", (int)tensor->shape.type, "format", tensor->shape.format, "rank",
                     tensor->shape.rank, "dims", dims, "offset", word(tensor->offset), "bytes", word(tensor->bytes),
                     "defined", tensor->defined);
}

static void tensor_from_json(struct reader *reader, const json_t *json, struct job_tensor *tensor)
{
    tensor->shape.type = (enum akgen_dtype)read_integer(reader, json, "type", 0, AKGEN_DTYPE_CODES - 1);
    tensor->shape.format = (int)read_integer(reader, json, "format", -1, INT16_MAX);
    tensor->shape.rank = (int)read_integer(reader, json, "rank", -1, OP_MAX_RANK);
    const json_t *dims = read_array(reader, json, "dims", OP_MAX_RANK), *dim;
    size_t i;
    json_array_foreach(dims, i, dim) tensor->shape.dims[i] = json_integer_value(dim);
    if ((int)json_array_size(dims) != (tensor->shape.rank < 0 ? 0 : tensor->shape.rank) && !reader->problem)
        reader->problem = "dims";
    tensor->offset = (uint64_t)read_integer(reader, json, "offset", 0, INT64_MAX);
    tensor->bytes = (uint64_t)read_integer(reader, json, "bytes", 0, INT64_MAX);
    tensor->defined = read_flag(json, "defined");
}

static json_t *arguments_to_json(const struct job_argument *arguments, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *tensors = json_array();
        for (int t = 0; t < arguments[i].count; t++)
            json_array_append_new(tensors, tensor_to_json(&arguments[i].tensors[t]));
        json_array_append_new(list, json_pack("{so sb si sb sb}", "tensors", tensors, "list", arguments[i].list,
                                              "alias", arguments[i].alias, "written", arguments[i].written,
                                              "host_values", arguments[i].host_values));
    }
    return list;
}

static int arguments_from_json(struct reader *reader, const json_t *json, const char *key,
                               struct job_argument **arguments)
{
    const json_t *list = read_array(reader, json, key, MAX_ARGUMENTS), *item, *tensor;
    size_t count = json_array_size(list), i, t;
    *arguments = arena_alloc(reader->arena, (count + 1) * sizeof **arguments);
    json_array_foreach(list, i, item)
    {
        struct job_argument *argument = &(*arguments)[i];
        const json_t *tensors = read_array(reader, item, "tensors", MAX_TENSORS);
        argument->count = (int)json_array_size(tensors);
        argument->tensors = arena_alloc(reader->arena, ((size_t)argument->count + 1) * sizeof *argument->tensors);
        json_array_foreach(tensors, t, tensor) tensor_from_json(reader, tensor, &argument->tensors[t]);
        argument->list = read_flag(item, "list");
        argument->alias = (int)read_integer(reader, item, "alias", -1, MAX_ARGUMENTS - 1);
        argument->written = read_flag(item, "written");
        argument->host_values = read_flag(item, "host_values");
    }
    return (int)count;
}

/* The job. */
json_t *job_to_json(const struct job *job)
{
    json_t *attrs = json_array();
    for (int i = 0; i < job->attr_count; i++) {
        const struct op_attr *attr = &job->attrs[i];
        json_array_append_new(attrs, json_pack("{ss si sb sO?}", "name", attr->name, "type", (int)attr->type,
                                               "required", attr->required, "value", attr->value));
    }
    return json_pack("{si so so so so si so so so si sb so so so so so so si so so}", "kind", (int)job->kind, "nonce",
                     text_or_null(job->nonce), "host_so", text_or_null(job->host_so), "kernel_so",
                     text_or_null(job->kernel_so), "cube_so", text_or_null(job->cube_so), "inferred_type",
                     job->inferred_type, "op_type", text_or_null(job->op_type), "entry", text_or_null(job->entry),
                     "soc", text_or_null(job->soc), "sync", (int)job->sync, "random_order", job->random_order, "seed",
                     word(job->seed), "poison", word(job->poison), "inputs",
                     arguments_to_json(job->inputs, job->input_count), "outputs",
                     arguments_to_json(job->outputs, job->output_count), "attrs", attrs, "gm_bytes",
                     word(job->gm_bytes), "gm_unit", (int)job->gm_unit, "headers", text_or_null(job->headers), "def",
                     job->def ? op_def_to_json(job->def) : json_null());
}

static int attrs_from_json(struct reader *reader, const json_t *json, struct op_attr **attrs)
{
    const json_t *list = read_array(reader, json, "attrs", MAX_ARGUMENTS);
    json_t *item;
    size_t count = json_array_size(list), i;
    *attrs = arena_alloc(reader->arena, (count + 1) * sizeof **attrs);
    json_array_foreach((json_t *)list, i, item)
    {
        json_t *value = json_object_get(item, "value");
        (*attrs)[i] =
            (struct op_attr){.name = read_text(reader, item, "name"),
                             .type = (enum op_attr_type)read_integer(reader, item, "type", 0, OP_ATTR_LIST_LIST_INT),
                             .required = read_flag(item, "required"),
                             .value = json_is_null(value) ? NULL : json_incref(value)};
        if (!(*attrs)[i].name && !reader->problem)
            reader->problem = "attrs";
    }
    return (int)count;
}

struct akgen_error *job_from_json(struct arena *arena, const json_t *json, struct job *job)
{
    struct reader reader = {.arena = arena};
    *job = (struct job){.gm_fd = -1};
    job->kind = (enum job_kind)read_integer(&reader, json, "kind", JOB_DESCRIBE, JOB_RUN);
    job->host_so = read_text(&reader, json, "host_so");
    job->kernel_so = read_text(&reader, json, "kernel_so");
    job->cube_so = read_text(&reader, json, "cube_so");
    job->inferred_type = (int)read_integer(&reader, json, "inferred_type", NPU_TYPE_INFERRED, NPU_TYPES);
    job->op_type = read_text(&reader, json, "op_type");
    job->entry = read_text(&reader, json, "entry");
    job->soc = read_text(&reader, json, "soc");
    job->headers = read_text(&reader, json, "headers");
    job->nonce = read_text(&reader, json, "nonce");
    job->sync = (enum npu_sync)read_integer(&reader, json, "sync", NPU_SYNC_AUTO, NPU_SYNC_MANUAL);
    job->random_order = read_flag(json, "random_order");
    job->seed = read_word(&reader, json, "seed");
    job->poison = read_word(&reader, json, "poison");
    job->input_count = arguments_from_json(&reader, json, "inputs", &job->inputs);
    job->output_count = arguments_from_json(&reader, json, "outputs", &job->outputs);
    job->attr_count = attrs_from_json(&reader, json, &job->attrs);
    job->gm_bytes = (uint64_t)read_integer(&reader, json, "gm_bytes", 0, INT64_MAX);
    job->gm_unit = (uint32_t)read_integer(&reader, json, "gm_unit", 0, 1 << 21);
    if (!job->host_so && !reader.problem)
        reader.problem = "host_so";
    if (job->kind == JOB_RUN && (!job->kernel_so || !job->entry || !job->soc) && !reader.problem)
        reader.problem = "kernel_so, entry, soc";
    for (int i = 0; reader.problem && i < job->attr_count; i++)
        json_decref(job->attrs[i].value);
    if (reader.problem)
        return error_new("the job's field '%s' is missing or out of range", reader.problem);
    const json_t *def = json_object_get(json, "def");
    if (!json_is_object(def))
        return NULL;
    struct op_def *read = arena_alloc(arena, sizeof *read);
    job->def = read;
    return op_def_from_json(arena, def, read);
}

/* The result. */
static json_t *findings_to_json(const struct job_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct job_finding *f = &result->findings[i];
        json_array_append_new(
            list, json_pack("{so so so so so so sb sb si so so so si si}", "fault", text_or_null(f->fault), "kind",
                            text_or_null(f->kind), "message", text_or_null(f->message), "api", text_or_null(f->api),
                            "operand", text_or_null(f->operand), "pipe", text_or_null(f->pipe), "fatal", f->fatal,
                            "aic", f->aic, "core", f->core, "count", word(f->count), "file", text_or_null(f->file),
                            "file_other", text_or_null(f->file_other), "line", f->line, "line_other", f->line_other));
    }
    return list;
}

static void findings_from_json(struct reader *reader, const json_t *json, struct job_result *result)
{
    const json_t *list = read_array(reader, json, "findings", MAX_FINDINGS), *item;
    size_t i;
    result->finding_count = json_array_size(list);
    result->findings = arena_alloc(reader->arena, (result->finding_count + 1) * sizeof *result->findings);
    json_array_foreach(list, i, item)
    {
        struct job_finding *f = &result->findings[i];
        const char **texts[] = {&f->fault, &f->kind, &f->message, &f->api, &f->operand, &f->pipe};
        static const char *const keys[] = {"fault", "kind", "message", "api", "operand", "pipe"};
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            *texts[k] = read_text(reader, item, keys[k]);
            *texts[k] = *texts[k] ? *texts[k] : "";
        }
        f->fatal = read_flag(item, "fatal");
        f->aic = read_flag(item, "aic");
        f->core = (int)read_integer(reader, item, "core", INT32_MIN, INT32_MAX);
        f->count = read_word(reader, item, "count");
        f->file = read_text(reader, item, "file");
        f->file_other = read_text(reader, item, "file_other");
        f->line = (int)read_integer(reader, item, "line", 0, INT32_MAX);
        f->line_other = (int)read_integer(reader, item, "line_other", 0, INT32_MAX);
        result->fault |= f->fatal;
    }
}

static json_t *stats_to_json(const struct npu_stats *stats)
{
    return json_pack("{so so so so so so so si si si}", "instructions", word(stats->instructions), "scalar_loads",
                     word(stats->scalar_loads), "scalar_stores", word(stats->scalar_stores), "scalar_blocks",
                     word(stats->scalar_blocks), "bytes_in", word(stats->bytes_in), "bytes_out", word(stats->bytes_out),
                     "path", word(stats->path), "blocks", stats->blocks, "waves", stats->waves, "kernel_type",
                     stats->kernel_type);
}

static void stats_from_json(struct reader *reader, const json_t *json, struct npu_stats *stats)
{
    stats->instructions = read_word(reader, json, "instructions");
    stats->scalar_loads = read_word(reader, json, "scalar_loads");
    stats->scalar_stores = read_word(reader, json, "scalar_stores");
    stats->scalar_blocks = read_word(reader, json, "scalar_blocks");
    stats->bytes_in = read_word(reader, json, "bytes_in");
    stats->bytes_out = read_word(reader, json, "bytes_out");
    stats->path = read_word(reader, json, "path");
    stats->blocks = (int)read_integer(reader, json, "blocks", 0, INT32_MAX);
    stats->waves = (int)read_integer(reader, json, "waves", 0, INT32_MAX);
    stats->kernel_type = (int)read_integer(reader, json, "kernel_type", INT32_MIN, INT32_MAX);
}

json_t *job_result_to_json(const struct job_result *result)
{
    json_t *undefined = json_array(), *first = json_array();
    for (int i = 0; i < result->undefined_count; i++) {
        json_array_append_new(undefined, word(result->undefined[i]));
        json_array_append_new(first, word(result->undefined_first[i]));
    }
    return json_pack("{si so so so so si so so so sO? so so so so sf}", "status", (int)result->status, "nonce",
                     text_or_null(result->nonce), "stage", text_or_null(result->stage), "error",
                     text_or_null(result->error), "def", result->def.type ? op_def_to_json(&result->def) : json_null(),
                     "block_dim", result->block_dim, "tiling_key", word(result->tiling_key), "workspace",
                     word(result->workspace), "tiling_bytes", word(result->tiling_bytes), "tiling", result->tiling,
                     "stats", stats_to_json(&result->stats), "findings", findings_to_json(result), "undefined",
                     undefined, "undefined_first", first, "run_seconds", result->run_seconds);
}

struct akgen_error *job_result_from_json(struct arena *arena, const json_t *json, struct job_result *result)
{
    struct reader reader = {.arena = arena};
    result->status = (enum job_status)read_integer(&reader, json, "status", JOB_OK, JOB_BROKEN);
    result->nonce = read_text(&reader, json, "nonce");
    result->stage = read_text(&reader, json, "stage");
    result->error = read_text(&reader, json, "error");
    result->block_dim = (int)read_integer(&reader, json, "block_dim", INT32_MIN, INT32_MAX);
    result->tiling_key = read_word(&reader, json, "tiling_key");
    result->workspace = read_word(&reader, json, "workspace");
    result->tiling_bytes = (uint32_t)read_integer(&reader, json, "tiling_bytes", 0, UINT32_MAX);
    result->run_seconds = read_real(json, "run_seconds");
    stats_from_json(&reader, json_object_get(json, "stats"), &result->stats);
    findings_from_json(&reader, json, result);
    const json_t *undefined = read_array(&reader, json, "undefined", MAX_TENSORS * 16), *item;
    const json_t *first = read_array(&reader, json, "undefined_first", MAX_TENSORS * 16);
    size_t count = json_array_size(undefined), i;
    if (count != json_array_size(first) && !reader.problem)
        reader.problem = "undefined_first";
    if (reader.problem)
        return error_new("the result's field '%s' is missing or out of range", reader.problem);
    result->undefined_count = (int)count;
    result->undefined = arena_alloc(arena, (count + 1) * sizeof *result->undefined);
    result->undefined_first = arena_alloc(arena, (count + 1) * sizeof *result->undefined_first);
    json_array_foreach(undefined, i, item) result->undefined[i] = (uint64_t)json_integer_value(item);
    json_array_foreach(first, i, item) result->undefined_first[i] = (uint64_t)json_integer_value(item);
    json_t *tiling = json_object_get(json, "tiling");
    result->tiling = tiling && !json_is_null(tiling) ? json_incref(tiling) : NULL;
    const json_t *def = json_object_get(json, "def");
    return json_is_object(def) ? op_def_from_json(arena, def, &result->def) : NULL;
}
