#include "jail/fields_internal.h"
#include "base/jsons.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const struct field shape_fields[] = {
    INT(op_tensor, type, 0, AKGEN_DTYPE_CODES - 1),
    INT(op_tensor, format, -1, INT16_MAX),
    INT(op_tensor, rank, -1, OP_MAX_RANK),
};
static const struct field tiling_fields[] = {
    INT(op_tiling, block_dim, 1, OP_MAX_BLOCKS),
    WORD(op_tiling, key),
    WORD(op_tiling, workspace),
    FLAG(op_tiling, need_atomic),
};

/* Writing. */
json_t *fields_word(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *write_field(const struct field *field, const void *at)
{
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_NAME:
        return jsons_text(*(const char *const *)at);
    case FIELD_FLAG:
        return json_boolean(*(const bool *)at);
    case FIELD_REAL:
    case FIELD_AMOUNT:
        return json_real(*(const double *)at);
    case FIELD_INT:
        return field->high > INT32_MAX ? fields_word(*(const uint32_t *)at) : json_integer(*(const int32_t *)at);
    case FIELD_WORD:
        break;
    }
    return fields_word(*(const uint64_t *)at);
}

json_t *fields_write(const struct field *fields, size_t count, const void *object)
{
    json_t *json = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(json, fields[i].name, write_field(&fields[i], (const char *)object + fields[i].offset));
    return json;
}

json_t *fields_write_shape(const struct op_tensor *shape)
{
    json_t *json = fields_write(shape_fields, COUNT(shape_fields), shape), *dims = json_array();
    for (int i = 0; i < shape->rank; i++)
        json_array_append_new(dims, json_integer(shape->dims[i]));
    json_object_set_new(json, "dims", dims);
    return json;
}

static const char digits[] = "0123456789abcdef";

json_t *fields_write_bytes(const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    char *text = memory_alloc(2 * count + 1);
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[from[i] >> 4];
        text[2 * i + 1] = digits[from[i] & 15];
    }
    json_t *json = json_stringn(text, 2 * count);
    free(text);
    return json;
}

json_t *fields_write_tiling(const struct op_tiling *tiling)
{
    json_t *json = fields_write(tiling_fields, COUNT(tiling_fields), tiling);
    json_object_set_new(json, "bytes", fields_write_bytes(tiling->bytes, tiling->size));
    return json;
}

/* Reading. */
void fields_complain(struct reader *reader, const char *key)
{
    if (!reader->problem)
        reader->problem = key;
}

static int64_t read_integer(struct reader *reader, const json_t *object, const struct field *field)
{
    const json_t *value = json_object_get(object, field->name);
    int64_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < field->low || number > field->high)
        fields_complain(reader, field->name);
    return number < field->low || number > field->high ? field->low : number;
}

static double read_amount(struct reader *reader, const json_t *object, const struct field *field)
{
    const json_t *value = json_object_get(object, field->name);
    double number = json_number_value(value);
    bool right = json_is_number(value) && number >= 0 && number <= (double)field->high;
    if (!right)
        fields_complain(reader, field->name);
    return right ? number : 0;
}

static const char *read_text(struct reader *reader, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return NULL;
    if (!json_is_string(value)) {
        fields_complain(reader, key);
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
    case FIELD_AMOUNT:
        *(double *)at = read_amount(reader, json, field);
        break;
    case FIELD_INT:
        *(uint32_t *)at = (uint32_t)read_integer(reader, json, field);
        break;
    case FIELD_WORD:
        *(uint64_t *)at = (uint64_t)read_integer(reader, json, field);
        break;
    }
}

void fields_read(struct reader *reader, const json_t *json, const struct field *fields, size_t count, void *object)
{
    for (size_t i = 0; i < count; i++)
        read_field(reader, json, &fields[i], (char *)object + fields[i].offset);
}

const json_t *fields_read_array(struct reader *reader, const json_t *object, const char *key, size_t limit)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_array(value) || json_array_size(value) > limit) {
        fields_complain(reader, key);
        return NULL;
    }
    return value;
}

void fields_read_shape(struct reader *reader, const json_t *json, struct op_tensor *shape)
{
    fields_read(reader, json, shape_fields, COUNT(shape_fields), shape);
    const json_t *dims = fields_read_array(reader, json, "dims", OP_MAX_RANK), *dim;
    size_t i;
    json_array_foreach(dims, i, dim) shape->dims[i] = json_integer_value(dim);
    if ((int)json_array_size(dims) != (shape->rank < 0 ? 0 : shape->rank))
        fields_complain(reader, "dims");
}

/* 0 to 15; 16 for what is no digit. */
static unsigned digit(char c)
{
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (unsigned)(at - digits) : 16;
}

void *fields_read_bytes(struct reader *reader, const json_t *object, const char *key, uint64_t limit, uint64_t *count)
{
    const json_t *json = json_object_get(object, key);
    const char *text = json_string_value(json);
    size_t length = json_string_length(json);
    *count = 0;
    if (!text || length % 2 || length / 2 > limit) {
        fields_complain(reader, key);
        return NULL;
    }
    uint8_t *bytes = arena_alloc(reader->arena, length / 2 + 1);
    for (size_t i = 0; i < length / 2; i++) {
        unsigned high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if ((high | low) > 15)
            fields_complain(reader, key);
        bytes[i] = (uint8_t)(high << 4 | (low & 15));
    }
    *count = length / 2;
    return bytes;
}

void fields_read_tiling(struct reader *reader, const json_t *json, struct op_tiling *tiling)
{
    uint64_t size;
    fields_read(reader, json, tiling_fields, COUNT(tiling_fields), tiling);
    tiling->bytes = fields_read_bytes(reader, json, "bytes", OP_TILING_CAPACITY, &size);
    tiling->size = (uint32_t)size;
}
