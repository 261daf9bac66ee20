/* Tiling bytes by field, for people and for verdicts. */
#include "op/op_internal.h"

#include <stdlib.h>
#include <string.h>

static json_t *decode_number(const char *type, const unsigned char *bytes, size_t size)
{
    uint64_t bits = 0;
    if (size > sizeof bits)
        return json_null();     /* no type of the published set is longer */
    memcpy(&bits, bytes, size); /* little endian, as the chip */
    if (strcmp(type, "bool") == 0)
        return json_boolean(bits != 0);
    if (strcmp(type, "float") == 0 && size == 4) {
        float value;
        memcpy(&value, bytes, sizeof value);
        json_t *number = json_real((double)value);
        return number ? number : json_string(value != value ? "nan" : value > 0 ? "inf" : "-inf");
    }
    if (strcmp(type, "double") == 0 && size == 8) {
        double value;
        memcpy(&value, bytes, sizeof value);
        json_t *number = json_real(value);
        return number ? number : json_string(value != value ? "nan" : value > 0 ? "inf" : "-inf");
    }
    bool is_unsigned = *type == 'u' || strcmp(type, "size_t") == 0 || strncmp(type, "std::u", 6) == 0;
    if (!is_unsigned && size < 8 && bits >> (size * 8 - 1) & 1)
        bits |= UINT64_MAX << (size * 8);
    return json_integer((json_int_t)bits);
}

static json_t *decode_fields(const struct op_tiling_field *fields, int count, const unsigned char *bytes, uint32_t size)
{
    json_t *object = json_object();
    for (int i = 0; i < count; i++) {
        const struct op_tiling_field *field = &fields[i];
        json_t *value;
        if (field->bytes > size || field->offset > size - field->bytes) {
            value = json_null(); /* the tiling function saved less than the structure */
        } else if (field->field_count) {
            value = decode_fields(field->fields, field->field_count, bytes + field->offset, field->bytes);
        } else if (field->array) {
            size_t element = field->bytes / field->array;
            value = json_array();
            for (uint32_t j = 0; j < field->array; j++)
                json_array_append_new(value, decode_number(field->type, bytes + field->offset + j * element, element));
        } else {
            value = decode_number(field->type, bytes + field->offset, field->bytes);
        }
        json_object_set_new(object, field->name, value);
    }
    return object;
}

json_t *op_tiling_decode(const struct op_def *def, uint64_t key, const void *bytes, uint32_t size)
{
    const struct op_tiling_struct *tiling = op_tiling_select(def, key);
    return tiling ? decode_fields(tiling->fields, tiling->count, bytes, size) : json_object();
}
