/* The kernel's jobs and their results as JSON, both ways. */
#include "jail/fields_internal.h"
#include "jail/job_exchange.h"
#include "jail/timing_internal.h"

enum { MAX_ARGUMENTS = 256, MAX_TENSORS = 4096, MAX_FINDINGS = 4096, MAX_RACING = 1 << 16, RACING_NUMBERS = 5 };

static const struct field job_fields[] = {
    TEXT(job, nonce),
    TEXT(job, kernel_so),
    TEXT(job, cube_so),
    INT(job, inferred_type, NPU_TYPE_INFERRED, NPU_TYPES),
    TEXT(job, entry),
    TEXT(job, soc),
    INT(job, sync, NPU_SYNC_AUTO, NPU_SYNC_MANUAL),
    FLAG(job, random_order),
    WORD(job, steps.control),
    WORD(job, steps.data),
    FLAG(job, timing),
    FLAG(job, weigh),
    FLAG(job, debugged),
    WORD(job, seed),
    WORD(job, poison),
    SIZE(job, gm_bytes),
    SIZE(job, filled),
    INT(job, gm_unit, 0, 1 << 21),
};
static const struct field argument_fields[] = {
    NAME(job_argument, name),    FLAG(job_argument, list),          INT(job_argument, alias, -1, MAX_ARGUMENTS - 1),
    FLAG(job_argument, written), FLAG(job_argument, shape_depends),
};
static const struct field tensor_fields[] = {
    SIZE(job_tensor, offset),
    SIZE(job_tensor, bytes),
    FLAG(job_tensor, defined),
};
static const struct field result_fields[] = {
    INT(job_result, status, JOB_OK, JOB_BROKEN),
    TEXT(job_result, nonce),
    TEXT(job_result, error),
    REAL(job_result, run_seconds),
};
const struct words job_kinds = WORDS(JOB_KINDS);

static const struct field finding_fields[] = {
    NAME(job_finding, fault),
    INT(job_finding, kind, NPU_TRAP, NPU_UNSUPPORTED),
    NAME(job_finding, message),
    NAME(job_finding, api),
    NAME(job_finding, operand),
    NAME(job_finding, pipe),
    FLAG(job_finding, fatal),
    FLAG(job_finding, aic),
    INT(job_finding, core, INT32_MIN, INT32_MAX),
    WORD(job_finding, count),
    INT(job_finding, place.object, JOB_NOWHERE, JOB_CUBE),
    INT(job_finding, place_other.object, JOB_NOWHERE, JOB_CUBE),
    SIZE(job_finding, place.address),
    SIZE(job_finding, place_other.address),
};
static const struct field endless_fields[] = {
    WORD(job_endless, rounds),
    INT(job_endless, core, 0, INT32_MAX),
    INT(job_endless, cores, 1, INT32_MAX),
    FLAG(job_endless, aic),
    INT(job_endless, place.object, JOB_NOWHERE, JOB_CUBE),
    SIZE(job_endless, place.address),
};
static const struct field stats_fields[] = {
    WORD(npu_stats, steps.control),
    WORD(npu_stats, steps.data),
    WORD(npu_stats, instructions),
    WORD(npu_stats, scalar_loads),
    WORD(npu_stats, scalar_stores),
    WORD(npu_stats, scalar_blocks),
    WORD(npu_stats, bytes_in),
    WORD(npu_stats, bytes_out),
    WORD(npu_stats, path),
    INT(npu_stats, blocks, 0, INT32_MAX),
    INT(npu_stats, waves, 0, INT32_MAX),
    INT(npu_stats, cores_busy, 0, INT32_MAX),
    INT(npu_stats, kernel_type, INT32_MIN, INT32_MAX),
};

/* Arguments. */
static json_t *tensor_to_json(const struct job_tensor *tensor)
{
    json_t *json = fields_write(tensor_fields, COUNT(tensor_fields), tensor);
    json_object_set_new(json, "shape", fields_write_shape(&tensor->shape));
    return json;
}

static void tensor_from_json(struct reader *reader, const json_t *json, struct job_tensor *tensor)
{
    fields_read(reader, json, tensor_fields, COUNT(tensor_fields), tensor);
    fields_read_shape(reader, json_object_get(json, "shape"), &tensor->shape);
}

static json_t *arguments_to_json(const struct job_argument *arguments, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *json = fields_write(argument_fields, COUNT(argument_fields), &arguments[i]), *tensors = json_array();
        for (int t = 0; t < arguments[i].count; t++)
            json_array_append_new(tensors, tensor_to_json(&arguments[i].tensors[t]));
        json_object_set_new(json, "tensors", tensors);
        json_array_append_new(list, json);
    }
    return list;
}

static int arguments_from_json(struct reader *reader, const json_t *json, const char *key,
                               struct job_argument **arguments)
{
    const json_t *list = fields_read_array(reader, json, key, MAX_ARGUMENTS), *item, *tensor;
    size_t count = json_array_size(list), i, t;
    *arguments = arena_alloc(reader->arena, (count + 1) * sizeof **arguments);
    json_array_foreach(list, i, item)
    {
        struct job_argument *argument = &(*arguments)[i];
        const json_t *tensors = fields_read_array(reader, item, "tensors", MAX_TENSORS);
        fields_read(reader, item, argument_fields, COUNT(argument_fields), argument);
        argument->count = (int)json_array_size(tensors);
        argument->tensors = arena_alloc(reader->arena, ((size_t)argument->count + 1) * sizeof *argument->tensors);
        json_array_foreach(tensors, t, tensor) tensor_from_json(reader, tensor, &argument->tensors[t]);
    }
    return (int)count;
}

/* Five numbers each. */
static json_t *racing_to_json(const struct npu_racing_read *racing, size_t count)
{
    json_t *list = json_array();
    for (size_t at = 0; at < count; at++) {
        const struct npu_racing_read *read = &racing[at];
        const uint32_t numbers[RACING_NUMBERS] = {read->core, read->lane, read->index, read->low, read->high};
        for (int i = 0; i < RACING_NUMBERS; i++)
            json_array_append_new(list, fields_word(numbers[i]));
    }
    return list;
}

static size_t racing_from_json(struct reader *reader, const json_t *json, struct npu_racing_read **racing)
{
    const json_t *list = fields_read_array(reader, json, "racing", MAX_RACING * RACING_NUMBERS);
    size_t count = json_array_size(list) / RACING_NUMBERS;
    *racing = arena_alloc(reader->arena, (count + 1) * sizeof **racing);
    for (size_t i = 0; i < count; i++) {
        uint32_t numbers[RACING_NUMBERS];
        for (size_t k = 0; k < RACING_NUMBERS; k++)
            numbers[k] = (uint32_t)json_integer_value(json_array_get(list, i * RACING_NUMBERS + k));
        (*racing)[i] = (struct npu_racing_read){numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
    }
    return count;
}

/* The job. */
json_t *job_to_json(const struct job *job)
{
    json_t *json = fields_write(job_fields, COUNT(job_fields), job);
    json_object_set_new(json, "tiling", fields_write_tiling(&job->tiling));
    json_object_set_new(json, "inputs", arguments_to_json(job->inputs, job->input_count));
    json_object_set_new(json, "outputs", arguments_to_json(job->outputs, job->output_count));
    json_object_set_new(json, "racing", racing_to_json(job->racing, job->racing_count));
    return json;
}

struct akgen_error *job_from_json(struct arena *arena, const json_t *json, struct job *job)
{
    struct reader reader = {.arena = arena};
    *job = (struct job){.gm_fd = -1};
    fields_read(&reader, json, job_fields, COUNT(job_fields), job);
    fields_read_tiling(&reader, json_object_get(json, "tiling"), &job->tiling);
    job->input_count = arguments_from_json(&reader, json, "inputs", &job->inputs);
    job->output_count = arguments_from_json(&reader, json, "outputs", &job->outputs);
    struct npu_racing_read *racing;
    job->racing_count = racing_from_json(&reader, json, &racing);
    job->racing = racing;
    if (!job->kernel_so || !job->entry || !job->soc)
        fields_complain(&reader, "kernel_so, entry, soc");
    return reader.problem ? error_new("the job's field '%s' is missing or out of range", reader.problem) : NULL;
}

/* The result. */
static json_t *findings_to_json(const struct job_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->finding_count; i++)
        json_array_append_new(list, fields_write(finding_fields, COUNT(finding_fields), &result->findings[i]));
    return list;
}

static void findings_from_json(struct reader *reader, const json_t *json, struct job_result *result)
{
    const json_t *list = fields_read_array(reader, json, "findings", MAX_FINDINGS), *item;
    size_t i;
    result->finding_count = json_array_size(list);
    result->findings = arena_alloc(reader->arena, (result->finding_count + 1) * sizeof *result->findings);
    json_array_foreach(list, i, item)
    {
        fields_read(reader, item, finding_fields, COUNT(finding_fields), &result->findings[i]);
        result->fault |= result->findings[i].fatal;
    }
}

static json_t *endless_to_json(const struct job_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->endless_count; i++)
        json_array_append_new(list, fields_write(endless_fields, COUNT(endless_fields), &result->endless[i]));
    return list;
}

static void endless_from_json(struct reader *reader, const json_t *json, struct job_result *result)
{
    const json_t *list = fields_read_array(reader, json, "endless", NPU_MAX_ENDLESS), *item;
    size_t i;
    result->endless_count = json_array_size(list);
    result->endless = arena_alloc(reader->arena, (result->endless_count + 1) * sizeof *result->endless);
    json_array_foreach(list, i, item)
        fields_read(reader, item, endless_fields, COUNT(endless_fields), &result->endless[i]);
}

static json_t *words_to_json(const uint64_t *words, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, fields_word(words[i]));
    return list;
}

static size_t words_from_json(struct reader *reader, const json_t *json, const char *key, uint64_t **words)
{
    const json_t *list = fields_read_array(reader, json, key, MAX_TENSORS * 16), *item;
    size_t count = json_array_size(list), i;
    *words = arena_alloc(reader->arena, (count + 1) * sizeof **words);
    json_array_foreach(list, i, item)(*words)[i] = (uint64_t)json_integer_value(item);
    return count;
}

json_t *job_result_to_json(const struct job_result *result)
{
    json_t *json = fields_write(result_fields, COUNT(result_fields), result);
    json_object_set_new(json, "stats", fields_write(stats_fields, COUNT(stats_fields), &result->stats));
    if (result->timing.model.known)
        json_object_set_new(json, "timing", timing_to_json(&result->timing));
    json_object_set_new(json, "findings", findings_to_json(result));
    json_object_set_new(json, "endless", endless_to_json(result));
    json_object_set_new(json, "racing", racing_to_json(result->racing, result->racing_count));
    json_object_set_new(json, "undefined", words_to_json(result->undefined, result->undefined_count));
    json_object_set_new(json, "undefined_first", words_to_json(result->undefined_first, result->undefined_count));
    return json;
}

struct akgen_error *job_result_from_json(struct arena *arena, const json_t *json, struct job_result *result)
{
    struct reader reader = {.arena = arena};
    fields_read(&reader, json, result_fields, COUNT(result_fields), result);
    fields_read(&reader, json_object_get(json, "stats"), stats_fields, COUNT(stats_fields), &result->stats);
    timing_from_json(json_object_get(json, "timing"), &result->timing);
    findings_from_json(&reader, json, result);
    endless_from_json(&reader, json, result);
    result->racing_count = racing_from_json(&reader, json, &result->racing);
    size_t count = words_from_json(&reader, json, "undefined", &result->undefined);
    if (words_from_json(&reader, json, "undefined_first", &result->undefined_first) != count)
        fields_complain(&reader, "undefined_first");
    if (reader.problem)
        return error_new("the result's field '%s' is missing or out of range", reader.problem);
    result->undefined_count = (int)count;
    return NULL;
}
