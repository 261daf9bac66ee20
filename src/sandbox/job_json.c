/* Jobs and their results as JSON, both ways. Each struct has one table of its fields, from which writer and reader are
 * made; what is no plain field (lists, the OpDef, attributes' values) follows by hand. Numbers of 64 bits travel as
 * JSON integers, bit for bit. */
#include "base/memory.h"
#include "base/text.h"
#include "sandbox/job_exchange.h"

#include <stdlib.h>

enum { MAX_ARGUMENTS = 256, MAX_TENSORS = 4096, MAX_FINDINGS = 4096, MAX_RACING = 1 << 16, RACING_NUMBERS = 5 };

/* One field of a struct. */
struct field {
    const char *name;
    enum field_kind {
        FIELD_TEXT, /* const char *, may be NULL */
        FIELD_NAME, /* const char *, NULL is read as "" */
        FIELD_FLAG, /* bool */
        FIELD_REAL, /* double */
        FIELD_INT,  /* int, unsigned or an enum, from low to high */
        FIELD_WORD  /* uint64_t, from low to high */
    } kind;
    size_t offset;
    int64_t low, high;
};
#define TEXT(type, member)           {#member, FIELD_TEXT, offsetof(struct type, member), 0, 0}
#define NAME(type, member)           {#member, FIELD_NAME, offsetof(struct type, member), 0, 0}
#define FLAG(type, member)           {#member, FIELD_FLAG, offsetof(struct type, member), 0, 0}
#define REAL(type, member)           {#member, FIELD_REAL, offsetof(struct type, member), 0, 0}
#define INT(type, member, low, high) {#member, FIELD_INT, offsetof(struct type, member), low, high}
#define WORD(type, member)           {#member, FIELD_WORD, offsetof(struct type, member), INT64_MIN, INT64_MAX}
#define SIZE(type, member)           {#member, FIELD_WORD, offsetof(struct type, member), 0, INT64_MAX}
#define COUNT(fields)                (sizeof(fields) / sizeof *(fields))

static const struct field job_fields[] = {
    INT(job, kind, JOB_DESCRIBE, JOB_RUN),
    TEXT(job, nonce),
    TEXT(job, host_so),
    TEXT(job, kernel_so),
    TEXT(job, cube_so),
    INT(job, inferred_type, NPU_TYPE_INFERRED, NPU_TYPES),
    TEXT(job, op_type),
    TEXT(job, entry),
    TEXT(job, soc),
    INT(job, sync, NPU_SYNC_AUTO, NPU_SYNC_MANUAL),
    FLAG(job, random_order),
    FLAG(job, weigh),
    WORD(job, seed),
    WORD(job, poison),
    SIZE(job, gm_bytes),
    INT(job, gm_unit, 0, 1 << 21),
    TEXT(job, headers),
};
static const struct field argument_fields[] = {
    FLAG(job_argument, list),
    INT(job_argument, alias, -1, MAX_ARGUMENTS - 1),
    FLAG(job_argument, written),
    FLAG(job_argument, host_values),
};
static const struct field tensor_fields[] = {
    INT(job_tensor, shape.type, 0, AKGEN_DTYPE_CODES - 1),
    INT(job_tensor, shape.format, -1, INT16_MAX),
    INT(job_tensor, shape.rank, -1, OP_MAX_RANK),
    SIZE(job_tensor, offset),
    SIZE(job_tensor, bytes),
    FLAG(job_tensor, defined),
};
static const struct field attr_fields[] = {
    TEXT(op_attr, name),
    INT(op_attr, type, 0, OP_ATTR_LIST_LIST_INT),
    FLAG(op_attr, required),
};
static const struct field result_fields[] = {
    INT(job_result, status, JOB_OK, JOB_BROKEN),      TEXT(job_result, nonce),       TEXT(job_result, error),
    INT(job_result, block_dim, INT32_MIN, INT32_MAX), WORD(job_result, tiling_key),  WORD(job_result, workspace),
    INT(job_result, tiling_bytes, 0, UINT32_MAX),     REAL(job_result, run_seconds),
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
    TEXT(job_finding, file),
    TEXT(job_finding, file_other),
    INT(job_finding, line, 0, INT32_MAX),
    INT(job_finding, line_other, 0, INT32_MAX),
};
static const struct field stats_fields[] = {
    WORD(npu_stats, instructions),
    WORD(npu_stats, scalar_loads),
    WORD(npu_stats, scalar_stores),
    WORD(npu_stats, scalar_blocks),
    WORD(npu_stats, bytes_in),
    WORD(npu_stats, bytes_out),
    WORD(npu_stats, path),
    INT(npu_stats, blocks, 0, INT32_MAX),
    INT(npu_stats, waves, 0, INT32_MAX),
    INT(npu_stats, kernel_type, INT32_MIN, INT32_MAX),
};

/* Writing. */
static json_t *word(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *text_or_null(const char *text)
{
    json_t *json = text ? json_string(text) : json_null();
    if (json)
        return json;
    /* What a candidate said or named. */
    char *readable = memory_string(text);
    text_make_utf8(readable);
    json = json_string(readable);
    free(readable);
    return json;
}

static json_t *write_field(const struct field *field, const void *at)
{
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_NAME:
        return text_or_null(*(const char *const *)at);
    case FIELD_FLAG:
        return json_boolean(*(const bool *)at);
    case FIELD_REAL:
        return json_real(*(const double *)at);
    case FIELD_INT:
        return field->high > INT32_MAX ? word(*(const uint32_t *)at) : json_integer(*(const int32_t *)at);
    case FIELD_WORD:
        break;
    }
    return word(*(const uint64_t *)at);
}

static json_t *write_fields(const struct field *fields, size_t count, const void *object)
{
    json_t *json = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(json, fields[i].name, write_field(&fields[i], (const char *)object + fields[i].offset));
    return json;
}

/* Reading with one error. */
struct reader {
    struct arena *arena;
    const char *problem; /* the first missing or wrong field */
};

static void complain(struct reader *reader, const char *key)
{
    if (!reader->problem)
        reader->problem = key;
}

static int64_t read_integer(struct reader *reader, const json_t *object, const struct field *field)
{
    const json_t *value = json_object_get(object, field->name);
    int64_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < field->low || number > field->high)
        complain(reader, field->name);
    return number < field->low || number > field->high ? field->low : number;
}

static const char *read_text(struct reader *reader, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return NULL;
    if (!json_is_string(value)) {
        complain(reader, key);
        return NULL;
    }
    return arena_strndup(reader->arena, json_string_value(value), json_string_length(value));
}

static void read_field(struct reader *reader, const json_t *json, const struct field *field, void *at)
{
    switch (field->kind) {
    case FIELD_TEXT:
        *(const char **)at = read_text(reader, json, field->name);
        break;
    case FIELD_NAME:
        *(const char **)at = read_text(reader, json, field->name);
        if (!*(const char **)at)
            *(const char **)at = "";
        break;
    case FIELD_FLAG:
        *(bool *)at = json_is_true(json_object_get(json, field->name));
        break;
    case FIELD_REAL:
        *(double *)at = json_number_value(json_object_get(json, field->name));
        break;
    case FIELD_INT:
        *(uint32_t *)at = (uint32_t)read_integer(reader, json, field);
        break;
    case FIELD_WORD:
        *(uint64_t *)at = (uint64_t)read_integer(reader, json, field);
        break;
    }
}

static void read_fields(struct reader *reader, const json_t *json, const struct field *fields, size_t count,
                        void *object)
{
    for (size_t i = 0; i < count; i++)
        read_field(reader, json, &fields[i], (char *)object + fields[i].offset);
}

static const json_t *read_array(struct reader *reader, const json_t *object, const char *key, size_t limit)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_array(value) || json_array_size(value) > limit) {
        complain(reader, key);
        return NULL;
    }
    return value;
}

/* Arguments. */
static json_t *tensor_to_json(const struct job_tensor *tensor)
{
    json_t *json = write_fields(tensor_fields, COUNT(tensor_fields), tensor), *dims = json_array();
    for (int i = 0; i < tensor->shape.rank; i++)
        json_array_append_new(dims, json_integer(tensor->shape.dims[i]));
    json_object_set_new(json, "dims", dims);
    return json;
}

static void tensor_from_json(struct reader *reader, const json_t *json, struct job_tensor *tensor)
{
    read_fields(reader, json, tensor_fields, COUNT(tensor_fields), tensor);
    const json_t *dims = read_array(reader, json, "dims", OP_MAX_RANK), *dim;
    size_t i;
    json_array_foreach(dims, i, dim) tensor->shape.dims[i] = json_integer_value(dim);
    if ((int)json_array_size(dims) != (tensor->shape.rank < 0 ? 0 : tensor->shape.rank))
        complain(reader, "dims");
}

static json_t *arguments_to_json(const struct job_argument *arguments, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *json = write_fields(argument_fields, COUNT(argument_fields), &arguments[i]), *tensors = json_array();
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
    const json_t *list = read_array(reader, json, key, MAX_ARGUMENTS), *item, *tensor;
    size_t count = json_array_size(list), i, t;
    *arguments = arena_alloc(reader->arena, (count + 1) * sizeof **arguments);
    json_array_foreach(list, i, item)
    {
        struct job_argument *argument = &(*arguments)[i];
        const json_t *tensors = read_array(reader, item, "tensors", MAX_TENSORS);
        read_fields(reader, item, argument_fields, COUNT(argument_fields), argument);
        argument->count = (int)json_array_size(tensors);
        argument->tensors = arena_alloc(reader->arena, ((size_t)argument->count + 1) * sizeof *argument->tensors);
        json_array_foreach(tensors, t, tensor) tensor_from_json(reader, tensor, &argument->tensors[t]);
    }
    return (int)count;
}

static json_t *attrs_to_json(const struct op_attr *attrs, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *json = write_fields(attr_fields, COUNT(attr_fields), &attrs[i]);
        json_object_set_new(json, "value", attrs[i].value ? json_incref(attrs[i].value) : json_null());
        json_array_append_new(list, json);
    }
    return list;
}

static int attrs_from_json(struct reader *reader, const json_t *json, struct op_attr **attrs)
{
    const json_t *list = read_array(reader, json, "attrs", OP_MAX_ITEMS);
    json_t *item;
    size_t count = json_array_size(list), i;
    *attrs = arena_alloc(reader->arena, (count + 1) * sizeof **attrs);
    json_array_foreach((json_t *)list, i, item)
    {
        struct op_attr *attr = &(*attrs)[i];
        json_t *value = json_object_get(item, "value");
        read_fields(reader, item, attr_fields, COUNT(attr_fields), attr);
        attr->value = json_is_null(value) ? NULL : json_incref(value);
        if (!attr->name)
            complain(reader, "attrs");
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
            json_array_append_new(list, word(numbers[i]));
    }
    return list;
}

static size_t racing_from_json(struct reader *reader, const json_t *json, struct npu_racing_read **racing)
{
    const json_t *list = read_array(reader, json, "racing", MAX_RACING * RACING_NUMBERS);
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
    json_t *json = write_fields(job_fields, COUNT(job_fields), job);
    json_object_set_new(json, "inputs", arguments_to_json(job->inputs, job->input_count));
    json_object_set_new(json, "outputs", arguments_to_json(job->outputs, job->output_count));
    json_object_set_new(json, "attrs", attrs_to_json(job->attrs, job->attr_count));
    json_object_set_new(json, "racing", racing_to_json(job->racing, job->racing_count));
    json_object_set_new(json, "def", job->def ? op_def_to_json(job->def) : json_null());
    return json;
}

static struct akgen_error *def_from_json(struct arena *arena, const json_t *json, struct job *job)
{
    const json_t *def = json_object_get(json, "def");
    if (!json_is_object(def))
        return NULL;
    struct op_def *read = arena_alloc(arena, sizeof *read);
    job->def = read;
    return op_def_from_json(arena, def, read);
}

struct akgen_error *job_from_json(struct arena *arena, const json_t *json, struct job *job)
{
    struct reader reader = {.arena = arena};
    *job = (struct job){.gm_fd = -1};
    read_fields(&reader, json, job_fields, COUNT(job_fields), job);
    job->input_count = arguments_from_json(&reader, json, "inputs", &job->inputs);
    job->output_count = arguments_from_json(&reader, json, "outputs", &job->outputs);
    struct npu_racing_read *racing;
    job->racing_count = racing_from_json(&reader, json, &racing);
    job->racing = racing;
    job->attr_count = attrs_from_json(&reader, json, &job->attrs);
    if (!job->host_so)
        complain(&reader, "host_so");
    if (job->kind == JOB_RUN && (!job->kernel_so || !job->entry || !job->soc))
        complain(&reader, "kernel_so, entry, soc");
    if (!reader.problem)
        return def_from_json(arena, json, job);
    for (int i = 0; i < job->attr_count; i++)
        json_decref(job->attrs[i].value);
    return error_new("the job's field '%s' is missing or out of range", reader.problem);
}

/* The result. */
static json_t *findings_to_json(const struct job_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->finding_count; i++)
        json_array_append_new(list, write_fields(finding_fields, COUNT(finding_fields), &result->findings[i]));
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
        read_fields(reader, item, finding_fields, COUNT(finding_fields), &result->findings[i]);
        result->fault |= result->findings[i].fatal;
    }
}

static json_t *words_to_json(const uint64_t *words, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, word(words[i]));
    return list;
}

static size_t words_from_json(struct reader *reader, const json_t *json, const char *key, uint64_t **words)
{
    const json_t *list = read_array(reader, json, key, MAX_TENSORS * 16), *item;
    size_t count = json_array_size(list), i;
    *words = arena_alloc(reader->arena, (count + 1) * sizeof **words);
    json_array_foreach(list, i, item)(*words)[i] = (uint64_t)json_integer_value(item);
    return count;
}

json_t *job_result_to_json(const struct job_result *result)
{
    json_t *json = write_fields(result_fields, COUNT(result_fields), result);
    json_object_set_new(json, "def", result->def.type ? op_def_to_json(&result->def) : json_null());
    json_object_set_new(json, "tiling", result->tiling ? json_incref(result->tiling) : json_null());
    json_object_set_new(json, "stats", write_fields(stats_fields, COUNT(stats_fields), &result->stats));
    json_object_set_new(json, "findings", findings_to_json(result));
    json_object_set_new(json, "racing", racing_to_json(result->racing, result->racing_count));
    json_object_set_new(json, "undefined", words_to_json(result->undefined, result->undefined_count));
    json_object_set_new(json, "undefined_first", words_to_json(result->undefined_first, result->undefined_count));
    return json;
}

struct akgen_error *job_result_from_json(struct arena *arena, const json_t *json, struct job_result *result)
{
    struct reader reader = {.arena = arena};
    read_fields(&reader, json, result_fields, COUNT(result_fields), result);
    read_fields(&reader, json_object_get(json, "stats"), stats_fields, COUNT(stats_fields), &result->stats);
    findings_from_json(&reader, json, result);
    result->racing_count = racing_from_json(&reader, json, &result->racing);
    size_t count = words_from_json(&reader, json, "undefined", &result->undefined);
    if (words_from_json(&reader, json, "undefined_first", &result->undefined_first) != count)
        complain(&reader, "undefined_first");
    if (reader.problem)
        return error_new("the result's field '%s' is missing or out of range", reader.problem);
    result->undefined_count = (int)count;
    json_t *tiling = json_object_get(json, "tiling");
    result->tiling = tiling && !json_is_null(tiling) ? json_incref(tiling) : NULL;
    const json_t *def = json_object_get(json, "def");
    return json_is_object(def) ? op_def_from_json(arena, def, &result->def) : NULL;
}
