/* struct op_def as JSON, both ways. What is read comes from the jail, so nothing in it is believed: every name must be
 * an identifier, every count and offset must fit, unknown keys are errors. */
#include "op/op_internal.h"

#include <ctype.h>
#include <string.h>

enum { MAX_COMBINATIONS = 4096, MAX_TILING_BYTES = 1 << 20, MAX_NESTING = 8, MAX_NAME = 256 };

/* Writing. */

/* What is no UTF-8 is no identifier either: op_def_from_json() refuses it by this. */
static json_t *name_json(const char *name)
{
    json_t *json = json_string(name);
    return json ? json : json_string("?");
}

static const char *const param_types[] = {
    [OP_REQUIRED] = "required", [OP_OPTIONAL] = "optional", [OP_DYNAMIC] = "dynamic"};

/* NULL, which leaves the key out, if there are none. */
static json_t *fills_to_json(const struct op_param *param)
{
    json_t *list = param->fills ? json_array() : NULL;
    for (int i = 0; param->fills && i < param->count; i++)
        json_array_append_new(list, json_pack("[i,I]", param->fills[i].bytes, (json_int_t)param->fills[i].element));
    return list;
}

static json_t *params_to_json(const struct op_param *params, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *types = json_array(), *formats = json_array();
        for (int j = 0; j < params[i].count; j++) {
            json_array_append_new(types, json_integer(params[i].types[j]));
            json_array_append_new(formats, json_integer(params[i].formats[j]));
        }
        json_array_append_new(list,
                              json_pack("{s:o,s:s,s:o,s:o,s:b,s:b,s:b,s:b,s:o*}", "name", name_json(params[i].name),
                                        "param_type", param_types[params[i].param_type], "types", types, "formats",
                                        formats, "scalar", params[i].scalar, "scalar_list", params[i].scalar_list,
                                        "value_depend", params[i].value_depend, "shape_depends",
                                        params[i].shape_depends, "fills", fills_to_json(&params[i])));
    }
    return list;
}

static json_t *fields_to_json(const struct op_tiling_field *fields, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list,
                              json_pack("{s:o,s:o,s:I,s:I,s:I,s:o}", "name", name_json(fields[i].name), "type",
                                        name_json(fields[i].type), "offset", (json_int_t)fields[i].offset, "bytes",
                                        (json_int_t)fields[i].bytes, "array", (json_int_t)fields[i].array, "fields",
                                        fields_to_json(fields[i].fields, fields[i].field_count)));
    return list;
}

json_t *op_def_to_json(const struct op_def *def)
{
    json_t *attrs = json_array(), *tilings = json_array(), *socs = json_array();
    for (int i = 0; i < def->attr_count; i++)
        json_array_append_new(attrs, json_pack("{s:o,s:s,s:b,s:O?}", "name", name_json(def->attrs[i].name), "type",
                                               op_attr_type_name(def->attrs[i].type), "required",
                                               def->attrs[i].required, "value", def->attrs[i].value));
    for (int i = 0; i < def->tiling_count; i++)
        json_array_append_new(tilings,
                              json_pack("{s:o,s:o,s:I,s:o}", "key", name_json(def->tilings[i].key), "name",
                                        name_json(def->tilings[i].name), "bytes", (json_int_t)def->tilings[i].bytes,
                                        "fields", fields_to_json(def->tilings[i].fields, def->tilings[i].count)));
    for (int i = 0; i < def->soc_count; i++)
        json_array_append_new(socs, name_json(def->socs[i]));
    return json_pack("{s:o,s:i,s:b,s:o,s:o,s:o,s:o,s:o}", "type", name_json(def->type), "combinations",
                     def->combinations, "has_tiling", def->has_tiling, "inputs",
                     params_to_json(def->inputs, def->input_count), "outputs",
                     params_to_json(def->outputs, def->output_count), "attrs", attrs, "tilings", tilings, "socs", socs);
}

/* Reading. */

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

static struct akgen_error *bad(const json_error_t *error, const char *where)
{
    return error_new("%s: %s", where, error->text);
}

static struct akgen_error *list_length(const json_t *list, const char *where, int *count)
{
    if (!json_is_array(list))
        return error_new("%s is not an array", where);
    if (json_array_size(list) > OP_MAX_ITEMS)
        return error_new("%s has %zu items, more than %d", where, json_array_size(list), OP_MAX_ITEMS);
    *count = (int)json_array_size(list);
    return NULL;
}

static struct akgen_error *read_codes(struct arena *arena, const json_t *list, int count, int limit, const char *where,
                                      int **codes)
{
    if (!json_is_array(list) || json_array_size(list) != (size_t)count)
        return error_new("%s: expected an array of %d codes", where, count);
    *codes = arena_alloc(arena, sizeof **codes * (size_t)(count + 1));
    for (int i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, (size_t)i);
        json_int_t code = json_integer_value(item);
        if (!json_is_integer(item) || code < 0 || code >= limit)
            return error_new("%s: item %d is no code from 0 to %d", where, i, limit - 1);
        (*codes)[i] = (int)code;
    }
    return NULL;
}

static struct akgen_error *read_fills(struct arena *arena, const json_t *list, struct op_param *param)
{
    if (!list)
        return NULL;
    if (!json_is_array(list) || json_array_size(list) != (size_t)param->count)
        return error_new("parameter '%s': expected an array of %d fills", param->name, param->count);
    param->fills = arena_alloc(arena, sizeof *param->fills * (size_t)param->count);
    for (int i = 0; i < param->count; i++) {
        json_int_t element;
        int bytes;
        if (json_unpack(json_array_get(list, (size_t)i), "[i,I!]", &bytes, &element) || bytes < 1 || bytes > 8 ||
            bytes & (bytes - 1))
            return error_new("parameter '%s': fill %d is no element of 1, 2, 4 or 8 bytes", param->name, i);
        param->fills[i] = (struct op_fill){bytes, (uint64_t)element};
    }
    return NULL;
}

static struct akgen_error *read_param(struct arena *arena, const json_t *json, int combinations, struct op_param *param)
{
    json_error_t error;
    const char *name, *kind;
    json_t *types, *formats, *fills = NULL;
    int scalar, scalar_list, value_depend, shape_depends;
    if (json_unpack_ex((json_t *)json, &error, JSON_STRICT, "{s:s,s:s,s:o,s:o,s:b,s:b,s:b,s:b,s?o}", "name", &name,
                       "param_type", &kind, "types", &types, "formats", &formats, "scalar", &scalar, "scalar_list",
                       &scalar_list, "value_depend", &value_depend, "shape_depends", &shape_depends, "fills", &fills))
        return bad(&error, "parameter");
    if (!is_identifier(name))
        return error_new("parameter name '%.64s' is no identifier", name);
    int type = OP_REQUIRED;
    while (type <= OP_DYNAMIC && strcmp(kind, param_types[type]) != 0)
        type++;
    if (type > OP_DYNAMIC)
        return error_new("parameter '%s': param_type is '%.64s', expected required, optional or dynamic", name, kind);
    *param = (struct op_param){.name = arena_strdup(arena, name),
                               .param_type = (enum op_param_type)type,
                               .count = combinations,
                               .scalar = scalar,
                               .scalar_list = scalar_list,
                               .value_depend = value_depend,
                               .shape_depends = shape_depends};
    int *codes;
    struct akgen_error *problem = read_codes(arena, types, combinations, AKGEN_DTYPE_CODES, "types", &codes);
    if (problem)
        return error_prefix(problem, "parameter '%s'", name);
    param->types = arena_alloc(arena, sizeof *param->types * (size_t)(combinations + 1));
    for (int i = 0; i < combinations; i++)
        param->types[i] = (enum akgen_dtype)codes[i];
    problem = read_codes(arena, formats, combinations, 1 << 24, "formats", &param->formats);
    return problem ? error_prefix(problem, "parameter '%s'", name) : read_fills(arena, fills, param);
}

static struct akgen_error *read_params(struct arena *arena, const json_t *list, const char *where, int combinations,
                                       struct op_param **params, int *count)
{
    struct akgen_error *error = list_length(list, where, count);
    if (error)
        return error;
    *params = arena_alloc(arena, sizeof **params * (size_t)(*count + 1));
    for (int i = 0; i < *count; i++) {
        error = read_param(arena, json_array_get(list, (size_t)i), combinations, &(*params)[i]);
        if (error)
            return error_prefix(error, "%s[%d]", where, i);
    }
    return NULL;
}

static struct akgen_error *read_attr(struct arena *arena, const json_t *json, struct op_attr *attr)
{
    json_error_t error;
    const char *name, *type;
    int required;
    json_t *value;
    if (json_unpack_ex((json_t *)json, &error, JSON_STRICT, "{s:s,s:s,s:b,s:o}", "name", &name, "type", &type,
                       "required", &required, "value", &value))
        return bad(&error, "attribute");
    if (!is_identifier(name))
        return error_new("attribute name '%.64s' is no identifier", name);
    for (int i = OP_ATTR_BOOL; i <= OP_ATTR_LIST_LIST_INT; i++) {
        if (strcmp(type, op_attr_type_name((enum op_attr_type)i)) != 0)
            continue;
        const char *mismatch = op_attr_mismatch((enum op_attr_type)i, value);
        if (mismatch)
            return error_new("attribute '%s' %s", name, mismatch);
        *attr = (struct op_attr){arena_strdup(arena, name), (enum op_attr_type)i, required,
                                 json_is_null(value) ? NULL : json_incref(value)};
        return NULL;
    }
    return error_new("attribute '%s' has the unknown type '%.64s'", name, type);
}

static struct akgen_error *read_fields(struct arena *arena, const json_t *list, uint32_t room, int depth,
                                       struct op_tiling_field **fields, int *count);

/* The bytes of a field must be elements of 1, 2, 4 or 8 bytes, or one nested structure. */
static struct akgen_error *check_field(const struct op_tiling_field *field, uint32_t end, uint32_t room)
{
    uint32_t elements = field->array ? field->array : 1;
    uint32_t element = field->bytes / elements;
    if (!is_identifier(field->name) || !is_type(field->type))
        return error_new("'%.64s %.64s' is no field of a structure", field->type, field->name);
    if (field->offset < end || field->bytes > room || field->offset > room - field->bytes)
        return error_new("field '%s' at %u, %u bytes, does not fit between %u and %u", field->name, field->offset,
                         field->bytes, end, room);
    if (field->field_count ? field->array != 0
                           : element * elements != field->bytes || !element || element > 8 || (element & (element - 1)))
        return error_new("field '%s' of %u bytes does not consist of %u elements of 1, 2, 4 or 8 bytes", field->name,
                         field->bytes, elements);
    return NULL;
}

static struct akgen_error *read_field(struct arena *arena, const json_t *json, uint32_t room, uint32_t end, int depth,
                                      struct op_tiling_field *field)
{
    json_error_t error;
    const char *name, *type;
    json_int_t offset, bytes, array;
    json_t *nested;
    if (json_unpack_ex((json_t *)json, &error, JSON_STRICT, "{s:s,s:s,s:I,s:I,s:I,s:o}", "name", &name, "type", &type,
                       "offset", &offset, "bytes", &bytes, "array", &array, "fields", &nested))
        return bad(&error, "field");
    if (offset < 0 || bytes < 0 || array < 0 || offset > room || bytes > room || array > room)
        return error_new("field '%.64s' lies outside its structure of %u bytes", name, room);
    *field = (struct op_tiling_field){.name = arena_strdup(arena, name),
                                      .type = arena_strdup(arena, type),
                                      .offset = (uint32_t)offset,
                                      .bytes = (uint32_t)bytes,
                                      .array = (uint32_t)array};
    struct akgen_error *problem =
        read_fields(arena, nested, field->bytes, depth + 1, &field->fields, &field->field_count);
    return problem ? problem : check_field(field, end, room);
}

static struct akgen_error *read_fields(struct arena *arena, const json_t *list, uint32_t room, int depth,
                                       struct op_tiling_field **fields, int *count)
{
    struct akgen_error *error = list_length(list, "fields", count);
    if (error)
        return error;
    if (depth > MAX_NESTING)
        return error_new("structures are nested more than %d deep", MAX_NESTING);
    *fields = arena_alloc(arena, sizeof **fields * (size_t)(*count + 1));
    uint32_t end = 0;
    for (int i = 0; i < *count && !error; i++) {
        error = read_field(arena, json_array_get(list, (size_t)i), room, end, depth, &(*fields)[i]);
        end = (*fields)[i].offset + (*fields)[i].bytes;
    }
    return error;
}

static struct akgen_error *read_tiling(struct arena *arena, const json_t *json, struct op_tiling_struct *tiling)
{
    json_error_t error;
    const char *key, *name;
    json_int_t bytes;
    json_t *fields;
    if (json_unpack_ex((json_t *)json, &error, JSON_STRICT, "{s:s,s:s,s:I,s:o}", "key", &key, "name", &name, "bytes",
                       &bytes, "fields", &fields))
        return bad(&error, "tiling structure");
    if (!is_identifier(key) || !is_identifier(name))
        return error_new("tiling structure '%.64s' under '%.64s': both must be identifiers", name, key);
    if (bytes < 0 || bytes > MAX_TILING_BYTES || bytes % 8)
        return error_new("tiling structure '%s': size must be a multiple of 8 up to %d", name, MAX_TILING_BYTES);
    *tiling = (struct op_tiling_struct){
        .key = arena_strdup(arena, key), .name = arena_strdup(arena, name), .bytes = (uint32_t)bytes};
    struct akgen_error *problem = read_fields(arena, fields, tiling->bytes, 0, &tiling->fields, &tiling->count);
    return problem ? error_prefix(problem, "tiling structure '%s'", name) : NULL;
}

static struct akgen_error *read_attrs(struct arena *arena, const json_t *list, struct op_def *def)
{
    int count;
    struct akgen_error *error = list_length(list, "attrs", &count);
    if (error)
        return error;
    def->attrs = arena_alloc(arena, sizeof *def->attrs * (size_t)(count + 1));
    for (int i = 0; i < count && !error; i++) {
        error = read_attr(arena, json_array_get(list, (size_t)i), &def->attrs[i]);
        def->attr_count += !error;
    }
    return error;
}

static struct akgen_error *read_tilings(struct arena *arena, const json_t *list, struct op_def *def)
{
    struct akgen_error *error = list_length(list, "tilings", &def->tiling_count);
    if (error)
        return error;
    def->tilings = arena_alloc(arena, sizeof *def->tilings * (size_t)(def->tiling_count + 1));
    for (int i = 0; i < def->tiling_count && !error; i++)
        error = read_tiling(arena, json_array_get(list, (size_t)i), &def->tilings[i]);
    return error;
}

static struct akgen_error *read_socs(struct arena *arena, const json_t *list, struct op_def *def)
{
    struct akgen_error *error = list_length(list, "socs", &def->soc_count);
    if (error)
        return error;
    def->socs = arena_alloc(arena, sizeof *def->socs * (size_t)(def->soc_count + 1));
    for (int i = 0; i < def->soc_count; i++) {
        const char *name = json_string_value(json_array_get(list, (size_t)i));
        if (!name)
            return error_new("socs[%d] is not a string", i);
        def->socs[i] = arena_strdup(arena, name);
    }
    return NULL;
}

struct akgen_error *op_def_from_json(struct arena *arena, const json_t *json, struct op_def *def)
{
    memset(def, 0, sizeof *def);
    json_error_t error;
    const char *type;
    json_t *inputs, *outputs, *attrs, *tilings, *socs;
    int has_tiling;
    if (json_unpack_ex((json_t *)json, &error, JSON_STRICT, "{s:s,s:i,s:b,s:o,s:o,s:o,s:o,s:o}", "type", &type,
                       "combinations", &def->combinations, "has_tiling", &has_tiling, "inputs", &inputs, "outputs",
                       &outputs, "attrs", &attrs, "tilings", &tilings, "socs", &socs))
        return bad(&error, "operator definition");
    if (!is_identifier(type))
        return error_new("operator type '%.64s' is no identifier", type);
    if (def->combinations < 1 || def->combinations > MAX_COMBINATIONS)
        return error_new("%d dtype combinations, expected 1 to %d", def->combinations, MAX_COMBINATIONS);
    def->type = arena_strdup(arena, type);
    def->has_tiling = has_tiling;
    struct akgen_error *problem =
        read_params(arena, inputs, "inputs", def->combinations, &def->inputs, &def->input_count);
    if (!problem)
        problem = read_params(arena, outputs, "outputs", def->combinations, &def->outputs, &def->output_count);
    if (!problem)
        problem = read_attrs(arena, attrs, def);
    if (!problem)
        problem = read_tilings(arena, tilings, def);
    if (!problem)
        problem = read_socs(arena, socs, def);
    if (problem)
        op_def_release(def);
    return problem;
}
