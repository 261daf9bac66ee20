/* Records what the constructor of a candidate's OpDef class says. Handles stay valid while more is added, so parameters
 * and attributes are linked lists in the order of their first mention. */
#include "base/memory.h"
#include "op/op_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct akgen_op_def *akgen_def_new(const char *type)
{
    struct akgen_op_def *def = memory_alloc(sizeof *def);
    def->type = arena_strdup(&def->arena, type ? type : "");
    return def;
}

void akgen_def_free(struct akgen_op_def *def)
{
    if (!def)
        return;
    for (struct akgen_op_attr *attr = def->attrs; attr; attr = attr->next)
        json_decref(attr->value);
    for (struct akgen_op_soc *soc = def->socs; soc; soc = soc->next)
        akgen_def_free(soc->config);
    arena_free(&def->arena);
    free(def);
}

static struct akgen_op_param *param_named(struct akgen_op_def *def, struct akgen_op_param **link, const char *name)
{
    for (; *link; link = &(*link)->next)
        if (strcmp((*link)->name, name) == 0)
            return *link;
    struct akgen_op_param *param = arena_alloc(&def->arena, sizeof *param);
    param->def = def;
    param->name = arena_strdup(&def->arena, name);
    *link = param;
    return param;
}

struct akgen_op_param *akgen_def_input(struct akgen_op_def *def, const char *name)
{
    return param_named(def, &def->inputs, name);
}

struct akgen_op_param *akgen_def_output(struct akgen_op_def *def, const char *name)
{
    return param_named(def, &def->outputs, name);
}

struct akgen_op_attr *akgen_def_attr(struct akgen_op_def *def, const char *name)
{
    struct akgen_op_attr **link = &def->attrs;
    for (; *link; link = &(*link)->next)
        if (strcmp((*link)->name, name) == 0)
            return *link;
    struct akgen_op_attr *attr = arena_alloc(&def->arena, sizeof *attr);
    attr->def = def;
    attr->name = arena_strdup(&def->arena, name);
    attr->type = OP_ATTR_INT;
    attr->required = true;
    *link = attr;
    return attr;
}

static void overlay(struct akgen_op_def *def, struct akgen_op_param **list, const struct akgen_op_param *from)
{
    for (; from; from = from->next) {
        struct akgen_op_param *param = param_named(def, list, from->name);
        param->param_type = from->param_type;
        akgen_param_dtypes(param, from->dtypes, from->dtype_count, from->dtype_list);
        akgen_param_formats(param, from->formats, from->format_count, from->format_list);
        memcpy(param->flags, from->flags, sizeof param->flags);
        param->init = NULL;
        if (from->init)
            akgen_param_init(param, from->init, from->init_count, from->init_list);
        param->init_number = from->init_number;
    }
}

struct akgen_op_def *akgen_def_copy(const struct akgen_op_def *config)
{
    struct akgen_op_def *copy = akgen_def_new(config->type);
    overlay(copy, &copy->inputs, config->inputs);
    overlay(copy, &copy->outputs, config->outputs);
    return copy;
}

void akgen_def_add_config(struct akgen_op_def *def, const char *soc, const struct akgen_op_def *config)
{
    struct akgen_op_soc **link = &def->socs;
    while (*link)
        link = &(*link)->next;
    *link = arena_alloc(&def->arena, sizeof **link);
    (*link)->name = arena_strdup(&def->arena, soc);
    (*link)->config = config ? akgen_def_copy(config) : NULL;
}

bool op_def_configure(struct akgen_op_def *record, const char *family)
{
    bool found = false;
    for (const struct akgen_op_soc *soc = record->socs; soc; soc = soc->next) {
        if (family && strcmp(soc->name, family) != 0)
            continue;
        found = true;
        if (!soc->config)
            continue;
        overlay(record, &record->inputs, soc->config->inputs);
        overlay(record, &record->outputs, soc->config->outputs);
    }
    return found;
}

void akgen_def_set_tiling(struct akgen_op_def *def, akgen_tiling_function *tiling)
{
    def->tiling = tiling;
}

void akgen_param_type(struct akgen_op_param *param, int option)
{
    param->param_type = option == 1 ? OP_OPTIONAL : option == 3 ? OP_DYNAMIC : OP_REQUIRED;
}

static int *copy_codes(struct akgen_op_param *param, const int *codes, size_t count)
{
    int *copy = arena_alloc(&param->def->arena, (count + 1) * sizeof *copy);
    if (count)
        memcpy(copy, codes, count * sizeof *copy);
    return copy;
}

void akgen_param_dtypes(struct akgen_op_param *param, const int *dtypes, size_t count, bool list)
{
    param->dtypes = copy_codes(param, dtypes, count);
    param->dtype_count = count;
    param->dtype_list = list;
}

void akgen_param_formats(struct akgen_op_param *param, const int *formats, size_t count, bool list)
{
    param->formats = copy_codes(param, formats, count);
    param->format_count = count;
    param->format_list = list;
}

void akgen_param_flag_set(struct akgen_op_param *param, enum akgen_param_flag flag)
{
    param->flags[flag] = true;
}

void akgen_param_init(struct akgen_op_param *param, const struct akgen_scalar *values, size_t count, bool list)
{
    param->init = arena_alloc(&param->def->arena, (count + 1) * sizeof *param->init);
    if (count)
        memcpy(param->init, values, count * sizeof *param->init);
    param->init_count = count;
    param->init_list = list;
    param->init_number = 0;
}

void akgen_param_init_number(struct akgen_op_param *param, uint64_t value)
{
    static const struct akgen_scalar zero;
    akgen_param_init(param, &zero, 1, false);
    param->init_number = value;
}

void akgen_param_follow(struct akgen_op_param *param, const char *name, int what)
{
    param->follow = arena_strdup(&param->def->arena, name);
    param->follow_what = what;
}

void akgen_attr_option(struct akgen_op_attr *attr, int option)
{
    attr->required = option != 1;
}

void akgen_attr_type(struct akgen_op_attr *attr, int type)
{
    /* ops::AttrDataType -> ours */
    static const enum op_attr_type types[] = {OP_ATTR_BOOL,     OP_ATTR_FLOAT,        OP_ATTR_INT,
                                              OP_ATTR_STRING,   OP_ATTR_LIST_BOOL,    OP_ATTR_LIST_FLOAT,
                                              OP_ATTR_LIST_INT, OP_ATTR_LIST_LIST_INT};
    if (type >= 0 && type < (int)(sizeof types / sizeof *types))
        attr->type = types[type];
}

static void set_value(struct akgen_op_attr *attr, enum op_attr_type type, json_t *value)
{
    json_decref(attr->value);
    attr->type = type;
    attr->value = value;
}

void akgen_attr_bool(struct akgen_op_attr *attr, bool value)
{
    set_value(attr, OP_ATTR_BOOL, json_boolean(value));
}

void akgen_attr_int(struct akgen_op_attr *attr, int64_t value)
{
    set_value(attr, OP_ATTR_INT, json_integer(value));
}

void akgen_attr_float(struct akgen_op_attr *attr, float value)
{
    /* JSON knows no infinities: json_real returns NULL and the attribute has no default. */
    set_value(attr, OP_ATTR_FLOAT, json_real((double)value));
}

void akgen_attr_string(struct akgen_op_attr *attr, const char *value)
{
    set_value(attr, OP_ATTR_STRING, json_string(value));
}

void akgen_attr_default_list(struct akgen_op_attr *attr, int type)
{
    akgen_attr_type(attr, type);
    set_value(attr, attr->type, json_array());
}

void akgen_attr_append_bool(struct akgen_op_attr *attr, bool value)
{
    json_array_append_new(attr->value, json_boolean(value));
}

void akgen_attr_append_int(struct akgen_op_attr *attr, int64_t value)
{
    json_array_append_new(attr->value, json_integer(value));
}

void akgen_attr_append_float(struct akgen_op_attr *attr, float value)
{
    json_array_append_new(attr->value, json_real((double)value));
}

void akgen_attr_append_ints(struct akgen_op_attr *attr, const int64_t *values, size_t count)
{
    json_t *row = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(row, json_integer(values[i]));
    json_array_append_new(attr->value, row);
}

bool akgen_attr_is_required(const struct akgen_op_attr *attr)
{
    return attr->required;
}

static void (*never_run_end)(void *context, const char *function);
static void *never_run_context;

void op_on_never_run(void (*end)(void *context, const char *function), void *context)
{
    never_run_end = end;
    never_run_context = context;
}

void *akgen_never_run(const char *function)
{
    if (never_run_end)
        never_run_end(never_run_context, function);
    fprintf(stderr, "akgen: %s was called; shape inference and support checks are not run here\n", function);
    abort();
}
