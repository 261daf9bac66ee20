/* Objects of classes made with BEGIN_TILING_DATA_DEF, and the raw buffer they are saved to.
 *
 * Layout rules (CANN 8.1, register/tilingdata_base.h): an element lies at a multiple of its size, a nested structure at
 * a multiple of 8, the whole is rounded up to 8 bytes. */
#include "base/memory.h"
#include "op/op_internal.h"

#include <stdlib.h>
#include <string.h>

enum { STRUCT_ALIGNMENT = 8 };

struct field {
    const char *type, *name;
    size_t offset, bytes, array;
    struct akgen_tiling_data *nested;
};
struct akgen_tiling_layout {
    const char *class_name;
    struct field *fields;
    size_t count;
};

struct akgen_tiling_context *op_current_context;

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

void akgen_tiling_data_init(struct akgen_tiling_data *tiling)
{
    *tiling = (struct akgen_tiling_data){.layout = memory_alloc(sizeof *tiling->layout)};
}

void akgen_tiling_data_destroy(struct akgen_tiling_data *tiling)
{
    if (!tiling->borrowed)
        free(tiling->bytes);
    free(tiling->layout->fields);
    free(tiling->layout);
}

size_t akgen_tiling_data_field(struct akgen_tiling_data *tiling, const char *type, const char *name, size_t element,
                               size_t array, struct akgen_tiling_data *nested)
{
    struct akgen_tiling_layout *layout = tiling->layout;
    struct field *fields = memory_grow(layout->fields, (layout->count + 1) * sizeof *fields);
    layout->fields = fields;
    size_t offset = round_up(tiling->size, nested ? STRUCT_ALIGNMENT : element);
    size_t bytes = nested ? nested->size : element * (array ? array : 1);
    fields[layout->count++] = (struct field){type, name, offset, bytes, array, nested};
    tiling->size = offset + bytes;
    return offset;
}

void akgen_tiling_data_finish(struct akgen_tiling_data *tiling, const char *class_name, bool nested)
{
    tiling->layout->class_name = class_name;
    tiling->size = round_up(tiling->size, STRUCT_ALIGNMENT);
    tiling->borrowed = nested;
    if (nested)
        return;
    akgen_tiling_data_place(tiling, memory_alloc(tiling->size));
    tiling->borrowed = false;
}

const char *akgen_tiling_data_class(const struct akgen_tiling_data *tiling)
{
    return tiling->layout->class_name;
}

void akgen_tiling_data_place(struct akgen_tiling_data *tiling, void *bytes)
{
    if (!tiling->borrowed)
        free(tiling->bytes);
    tiling->bytes = bytes;
    tiling->borrowed = true;
    for (size_t i = 0; i < tiling->layout->count; i++)
        if (tiling->layout->fields[i].nested)
            akgen_tiling_data_place(tiling->layout->fields[i].nested, tiling->bytes + tiling->layout->fields[i].offset);
}

/* Remembers the first problem of the running tiling function; outside one there is nobody to tell. */
static void report(struct akgen_error *error)
{
    if (op_current_context && !op_current_context->problem)
        op_current_context->problem = error;
    else
        error_free(error);
}

void akgen_tiling_data_save(const struct akgen_tiling_data *tiling, void *buffer, size_t capacity)
{
    if (tiling->bytes == buffer)
        return; /* SetDataPtr: they are there already */
    if (tiling->size > capacity) {
        report(error_new("SaveToBuffer: %s is %zu bytes long, the buffer has room for %zu", tiling->layout->class_name,
                         tiling->size, capacity));
        return;
    }
    memcpy(buffer, tiling->bytes, tiling->size);
}

void akgen_tiling_data_set_array(struct akgen_tiling_data *tiling, size_t offset, const void *values, size_t bytes)
{
    if (tiling->bytes + offset != values)
        memmove(tiling->bytes + offset, values, bytes);
}

static struct op_tiling_field *describe_fields(struct arena *arena, const struct akgen_tiling_layout *layout)
{
    struct op_tiling_field *copy = arena_alloc(arena, (layout->count + 1) * sizeof *copy);
    for (size_t i = 0; i < layout->count; i++) {
        const struct field *field = &layout->fields[i];
        copy[i] = (struct op_tiling_field){
            .name = arena_strdup(arena, field->name),
            .type = arena_strdup(arena, field->nested ? field->nested->layout->class_name : field->type),
            .offset = (uint32_t)field->offset,
            .bytes = (uint32_t)field->bytes,
            .array = (uint32_t)field->array,
        };
        if (field->nested) {
            copy[i].fields = describe_fields(arena, field->nested->layout);
            copy[i].field_count = (int)field->nested->layout->count;
        }
    }
    return copy;
}

void akgen_tiling_describe(void *sink, const struct akgen_tiling_data *tiling)
{
    struct op_tiling_sink *out = sink;
    out->tiling->name = arena_strdup(out->arena, tiling->layout->class_name);
    out->tiling->bytes = (uint32_t)tiling->size;
    out->tiling->fields = describe_fields(out->arena, tiling->layout);
    out->tiling->count = (int)tiling->layout->count;
}

void *akgen_raw_data(struct akgen_raw_tiling *raw)
{
    return raw->bytes;
}

size_t akgen_raw_capacity(const struct akgen_raw_tiling *raw)
{
    return raw->capacity;
}

size_t akgen_raw_size(const struct akgen_raw_tiling *raw)
{
    return raw->size;
}

void akgen_raw_set_size(struct akgen_raw_tiling *raw, size_t bytes)
{
    if (bytes > raw->capacity)
        report(error_new("SetDataSize(%zu): the tiling buffer has room for %zu bytes", bytes, raw->capacity));
    else
        raw->size = bytes;
}

uint32_t akgen_raw_append(struct akgen_raw_tiling *raw, const void *bytes, size_t count)
{
    if (count > raw->capacity - raw->size) {
        report(error_new("Append: %zu bytes after %zu are more than the tiling buffer's %zu", count, raw->size,
                         raw->capacity));
        return UINT32_MAX;
    }
    memcpy(raw->bytes + raw->size, bytes, count);
    raw->size += count;
    return 0;
}
