/* What a candidate registered, looked through: it goes into C++ text and decides how bytes are read, so every name must be
 * an identifier, every count and offset must fit. */
#include "base/text.h"
#include "op/op_internal.h"

#include <ctype.h>
#include <string.h>

enum { MAX_COMBINATIONS = 4096, MAX_FORMAT = 1 << 24, MAX_TILING_BYTES = 1 << 20, MAX_NESTING = 8, MAX_NAME = 256 };

/* For messages, which are UTF-8. */
static const char *legible(const char *name)
{
    return text_is_utf8(name) ? name : "?";
}

static bool is_identifier(const char *text)
{
    if (strlen(text) > MAX_NAME)
        return false;
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_')
            return false;
    return true;
}

/* A C type as written: words, "::", one space between words. */
static bool is_type(const char *text)
{
    if (strlen(text) > MAX_NAME)
        return false;
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr("_: ", *text))
            return false;
    return true;
}

static struct akgen_error *check_count(int count, const char *where)
{
    return count > OP_MAX_ITEMS ? error_new("%s has %d items, more than %d", where, count, OP_MAX_ITEMS) : NULL;
}

static struct akgen_error *check_param(const struct op_param *param, int combinations)
{
    if (!is_identifier(param->name))
        return error_new("parameter name '%.64s' is no identifier", legible(param->name));
    if (param->count != combinations)
        return error_new("parameter '%s' has %d combinations, expected %d", param->name, param->count, combinations);
    for (int i = 0; i < combinations; i++)
        if ((unsigned)param->types[i] >= AKGEN_DTYPE_CODES)
            return error_new("parameter '%s': types: item %d is no code from 0 to %d", param->name, i,
                             AKGEN_DTYPE_CODES - 1);
    for (int i = 0; i < combinations; i++)
        if (param->formats[i] < 0 || param->formats[i] >= MAX_FORMAT)
            return error_new("parameter '%s': formats: item %d is no code from 0 to %d", param->name, i,
                             MAX_FORMAT - 1);
    for (int i = 0; param->fills && i < combinations; i++) {
        const int bytes = param->fills[i].bytes;
        if (bytes < 1 || bytes > 8 || bytes & (bytes - 1))
            return error_new("parameter '%s': fill %d is no element of 1, 2, 4 or 8 bytes", param->name, i);
    }
    return NULL;
}

static struct akgen_error *check_params(const struct op_param *params, int count, const char *where, int combinations)
{
    struct akgen_error *error = check_count(count, where);
    for (int i = 0; i < count && !error; i++) {
        error = check_param(&params[i], combinations);
        if (error)
            error_prefix(error, "%s[%d]", where, i);
    }
    return error;
}

static struct akgen_error *check_attrs(const struct op_def *def)
{
    struct akgen_error *error = check_count(def->attr_count, "attrs");
    for (int i = 0; i < def->attr_count && !error; i++) {
        const struct op_attr *attr = &def->attrs[i];
        const char *mismatch = op_attr_mismatch(attr->type, attr->value);
        if (!is_identifier(attr->name))
            error = error_new("attribute name '%.64s' is no identifier", legible(attr->name));
        else if (mismatch)
            error = error_new("attribute '%s' %s", attr->name, mismatch);
    }
    return error;
}

static struct akgen_error *check_fields(const struct op_tiling_field *fields, int count, uint32_t room, int depth);

/* The bytes of a field must be elements of 1, 2, 4 or 8 bytes, or one nested structure. It begins at `end` or later. */
static struct akgen_error *check_field(const struct op_tiling_field *field, uint32_t end, uint32_t room, int depth)
{
    if (field->offset > room || field->bytes > room || field->array > room)
        return error_new("field '%.64s' lies outside its structure of %u bytes", legible(field->name), room);
    struct akgen_error *error = check_fields(field->fields, field->field_count, field->bytes, depth + 1);
    if (error)
        return error;
    uint32_t elements = field->array ? field->array : 1;
    uint32_t element = field->bytes / elements;
    if (!is_identifier(field->name) || !is_type(field->type))
        return error_new("'%.64s %.64s' is no field of a structure", legible(field->type), legible(field->name));
    if (field->offset < end || field->offset > room - field->bytes)
        return error_new("field '%s' at %u, %u bytes, does not fit between %u and %u", field->name, field->offset,
                         field->bytes, end, room);
    if (field->field_count ? field->array != 0
                           : element * elements != field->bytes || !element || element > 8 || (element & (element - 1)))
        return error_new("field '%s' of %u bytes does not consist of %u elements of 1, 2, 4 or 8 bytes", field->name,
                         field->bytes, elements);
    return NULL;
}

static struct akgen_error *check_fields(const struct op_tiling_field *fields, int count, uint32_t room, int depth)
{
    struct akgen_error *error = check_count(count, "fields");
    if (!error && depth > MAX_NESTING)
        error = error_new("structures are nested more than %d deep", MAX_NESTING);
    uint32_t end = 0;
    for (int i = 0; i < count && !error; i++) {
        error = check_field(&fields[i], end, room, depth);
        end = fields[i].offset + fields[i].bytes;
    }
    return error;
}

static struct akgen_error *check_tilings(const struct op_def *def)
{
    struct akgen_error *error = check_count(def->tiling_count, "tilings");
    for (int i = 0; i < def->tiling_count && !error; i++) {
        const struct op_tiling_struct *tiling = &def->tilings[i];
        if (!is_identifier(tiling->key) || !is_identifier(tiling->name))
            return error_new("tiling structure '%.64s' under '%.64s': both must be identifiers", legible(tiling->name),
                             legible(tiling->key));
        if (tiling->bytes > MAX_TILING_BYTES || tiling->bytes % 8)
            return error_new("tiling structure '%s': size must be a multiple of 8 up to %d", tiling->name,
                             MAX_TILING_BYTES);
        error = check_fields(tiling->fields, tiling->count, tiling->bytes, 0);
        if (error)
            error_prefix(error, "tiling structure '%s'", tiling->name);
    }
    return error;
}

struct akgen_error *op_def_check(const struct op_def *def)
{
    if (!is_identifier(def->type))
        return error_new("operator type '%.64s' is no identifier", legible(def->type));
    if (def->combinations < 1 || def->combinations > MAX_COMBINATIONS)
        return error_new("%d dtype combinations, expected 1 to %d", def->combinations, MAX_COMBINATIONS);
    struct akgen_error *error = check_params(def->inputs, def->input_count, "inputs", def->combinations);
    if (!error)
        error = check_params(def->outputs, def->output_count, "outputs", def->combinations);
    if (!error)
        error = check_attrs(def);
    if (!error)
        error = check_tilings(def);
    return error ? error : check_count(def->soc_count, "socs");
}
