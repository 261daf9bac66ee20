/* From a recorded OpDef to its dtype combinations, and what each fills outputs with.
 *
 * DataType and Format lists of all parameters have one entry per combination, so they must be equally long.
 * DataTypeList and FormatList hold alternatives that go with every combination: each multiplies their number. Follow
 * copies from an input declared before. (asc-devkit docs, Utils-API: OpParamDef, DataTypeList and Follow.) */
#include "base/half.h"
#include "op/op_internal.h"

#include <string.h>

enum { MAX_COMBINATIONS = 4096, FORMAT_ND = 2 };
enum { FOLLOW_ALL, FOLLOW_DTYPE, FOLLOW_FORMAT };

struct combination {
    const struct akgen_op_def *record;
    size_t base;  /* entries of every DataType list */
    size_t total; /* base x all alternatives */
    const char *base_from;
};

static const struct akgen_op_param *input_named(const struct akgen_op_def *record, const char *name)
{
    for (const struct akgen_op_param *param = record->inputs; param; param = param->next)
        if (strcmp(param->name, name) == 0)
            return param;
    return NULL;
}

/* The parameter whose types (or formats) `param` has: itself, or the one at the end of its chain of Follow. */
static const struct akgen_op_param *source(const struct akgen_op_def *record, const struct akgen_op_param *param,
                                           int what)
{
    for (int hops = 0; param && param->follow && hops < 64; hops++) {
        if (param->follow_what != FOLLOW_ALL && param->follow_what != what)
            return param;
        param = input_named(record, param->follow);
    }
    return param && !param->follow ? param : NULL;
}

static struct akgen_error *check_length(struct combination *all, const struct akgen_op_param *param, const char *what,
                                        size_t count, const char *side)
{
    if (!all->base) {
        all->base = count;
        all->base_from = param->name;
    }
    if (count == all->base)
        return NULL;
    return error_new("%s '%s' lists %zu %s, but '%s' lists %zu: every list needs one entry per combination", side,
                     param->name, count, what, all->base_from, all->base);
}

/* Finds the number of combinations from every parameter's own lists. */
static struct akgen_error *measure(struct combination *all, const struct akgen_op_param *param, const char *side)
{
    for (; param; param = param->next) {
        const struct akgen_op_param *types = source(all->record, param, FOLLOW_DTYPE);
        if (!types)
            return error_new("%s '%s' follows '%s', which is no input declared with data types", side, param->name,
                             param->follow);
        if (types == param && !param->dtype_count)
            return error_new("%s '%s' has no DataType", side, param->name);
        struct akgen_error *error = NULL;
        if (param->dtype_count && !param->dtype_list)
            error = check_length(all, param, "data types", param->dtype_count, side);
        if (error)
            return error;
    }
    return NULL;
}

static struct akgen_error *measure_formats(struct combination *all, const struct akgen_op_param *param,
                                           const char *side)
{
    struct akgen_error *error = NULL;
    for (; param && !error; param = param->next)
        if (param->format_count && !param->format_list)
            error = check_length(all, param, "formats", param->format_count, side);
    return error;
}

static struct akgen_error *multiply(struct combination *all, const struct akgen_op_param *param)
{
    for (; param; param = param->next) {
        if (param->dtype_list)
            all->total *= param->dtype_count;
        if (param->format_list && param->format_count)
            all->total *= param->format_count;
        if (all->total > MAX_COMBINATIONS)
            return error_new("the lists of data types and formats make more than %d combinations", MAX_COMBINATIONS);
    }
    return NULL;
}

/* Position of `param`'s list among all alternatives: combination = base + base_count * (a0 + n0 * (a1 + ...)), lists
 * numbered in the order of declaration, a parameter's types before its formats. */
static size_t stride(const struct combination *all, const struct akgen_op_param *wanted, bool formats)
{
    size_t product = all->base;
    for (int side = 0; side < 2; side++)
        for (const struct akgen_op_param *p = side ? all->record->outputs : all->record->inputs; p; p = p->next) {
            if (p == wanted && !formats)
                return product;
            product *= p->dtype_list ? p->dtype_count : 1;
            if (p == wanted)
                return product;
            product *= p->format_list && p->format_count ? p->format_count : 1;
        }
    return product;
}

/* ops::ScalarType: bytes of an element. */
enum { SCALAR_FLOAT32 = 8, SCALAR_FLOAT16 };
static const int scalar_bytes[] = {8, 8, 4, 4, 2, 2, 1, 1, [SCALAR_FLOAT32] = 4, [SCALAR_FLOAT16] = 2};
enum { SCALAR_TYPES = sizeof scalar_bytes / sizeof *scalar_bytes };

/* The element that memset writes: of the scalar's type, whatever the output's is (asc-devkit docs: InitValue). */
static struct op_fill fill_of(const struct akgen_scalar *scalar)
{
    struct op_fill fill = {.bytes = scalar_bytes[scalar->type], .element = scalar->value};
    float number;
    memcpy(&number, &scalar->value, sizeof number);
    if (scalar->type == SCALAR_FLOAT16) {
        const half_t half = (half_t)number;
        memcpy(&fill.element, &half, sizeof half);
    }
    if (fill.bytes < (int)sizeof fill.element)
        fill.element &= (UINT64_C(1) << 8 * fill.bytes) - 1;
    return fill;
}

static bool same_fill(struct op_fill a, struct op_fill b)
{
    return a.bytes == b.bytes && a.element == b.element;
}

/* A list has one value for each data type, and the same one where the type is the same. */
static struct akgen_error *check_fills(const struct combination *all, const struct akgen_op_param *param)
{
    const struct akgen_op_param *types = source(all->record, param, FOLLOW_DTYPE);
    if (param->init_number)
        return error_new("output '%s': InitValue(%llu): a plain number may only be 0; InitValue({ScalarType::INT32, "
                         "%llu}) sets another value",
                         param->name, (unsigned long long)param->init_number, (unsigned long long)param->init_number);
    for (size_t i = 0; i < param->init_count; i++)
        if (param->init[i].type >= SCALAR_TYPES)
            return error_new("output '%s': InitValue has the type %u, which is none of ScalarType: UINT64, INT64, "
                             "UINT32, INT32, UINT16, INT16, UINT8, INT8, FLOAT32, FLOAT16",
                             param->name, param->init[i].type);
    if (!param->init_list)
        return NULL;
    if (param->init_count != types->dtype_count)
        return error_new(
            "output '%s' lists %zu values in InitValue and %zu data types: every data type needs one value",
            param->name, param->init_count, types->dtype_count);
    for (size_t i = 0; i < param->init_count; i++)
        for (size_t j = 0; j < i; j++)
            if (types->dtypes[i] == types->dtypes[j] &&
                (param->init[i].type != param->init[j].type ||
                 !same_fill(fill_of(&param->init[i]), fill_of(&param->init[j]))))
                return error_new("output '%s': InitValue gives %s two values, at %zu and %zu of its list", param->name,
                                 akgen_dtype_name((enum akgen_dtype)types->dtypes[i]), j, i);
    return NULL;
}

static void fill(struct arena *arena, const struct combination *all, const struct akgen_op_param *from, bool output,
                 struct op_param *param)
{
    const struct akgen_op_param *types = source(all->record, from, FOLLOW_DTYPE);
    const struct akgen_op_param *formats = source(all->record, from, FOLLOW_FORMAT);
    param->name = arena_strdup(arena, from->name);
    param->param_type = from->param_type;
    param->count = (int)all->total;
    param->scalar = from->flags[AKGEN_PARAM_SCALAR];
    param->scalar_list = from->flags[AKGEN_PARAM_SCALAR_LIST];
    param->value_depend = from->flags[AKGEN_PARAM_VALUE_DEPEND];
    param->shape_depends = from->flags[AKGEN_PARAM_SHAPE_DEPENDS];
    param->types = arena_alloc(arena, all->total * sizeof *param->types);
    param->formats = arena_alloc(arena, all->total * sizeof *param->formats);
    param->fills = output && from->init ? arena_alloc(arena, all->total * sizeof *param->fills) : NULL;
    size_t type_stride = stride(all, types, false), format_stride = formats ? stride(all, formats, true) : 1;
    for (size_t i = 0; i < all->total; i++) {
        size_t type = types->dtype_list ? i / type_stride % types->dtype_count : i % all->base;
        param->types[i] = (enum akgen_dtype)types->dtypes[type];
        if (param->fills)
            param->fills[i] = fill_of(&from->init[from->init_list ? type : 0]);
        param->formats[i] = FORMAT_ND;
        if (formats && formats->format_count)
            param->formats[i] =
                formats->formats[formats->format_list ? i / format_stride % formats->format_count : i % all->base];
    }
}

static int length(const struct akgen_op_param *param)
{
    int count = 0;
    for (; param; param = param->next)
        count++;
    return count;
}

static void copy_attrs(struct arena *arena, const struct akgen_op_def *record, struct op_def *def)
{
    for (const struct akgen_op_attr *attr = record->attrs; attr; attr = attr->next)
        def->attr_count++;
    def->attrs = arena_alloc(arena, sizeof *def->attrs * (size_t)(def->attr_count + 1));
    struct op_attr *copy = def->attrs;
    for (const struct akgen_op_attr *attr = record->attrs; attr; attr = attr->next)
        *copy++ =
            (struct op_attr){arena_strdup(arena, attr->name), attr->type, attr->required, json_incref(attr->value)};
}

static void copy_socs(struct arena *arena, const struct akgen_op_def *record, struct op_def *def)
{
    for (const struct akgen_op_soc *soc = record->socs; soc; soc = soc->next)
        def->soc_count++;
    def->socs = arena_alloc(arena, sizeof *def->socs * (size_t)(def->soc_count + 1));
    int i = 0;
    for (const struct akgen_op_soc *soc = record->socs; soc; soc = soc->next)
        def->socs[i++] = arena_strdup(arena, soc->name);
}

struct akgen_error *op_def_combine(struct arena *arena, const struct akgen_op_def *record, struct op_def *def)
{
    struct combination all = {.record = record};
    struct akgen_error *error = measure(&all, record->inputs, "input");
    if (!error)
        error = measure(&all, record->outputs, "output");
    if (!error)
        error = measure_formats(&all, record->inputs, "input");
    if (!error)
        error = measure_formats(&all, record->outputs, "output");
    if (!all.base)
        all.base = 1;
    all.total = all.base;
    if (!error)
        error = multiply(&all, record->inputs);
    if (!error)
        error = multiply(&all, record->outputs);
    for (const struct akgen_op_param *param = record->outputs; param && !error; param = param->next)
        error = check_fills(&all, param);
    if (error)
        return error;

    def->type = arena_strdup(arena, record->type);
    def->combinations = (int)all.total;
    def->input_count = length(record->inputs);
    def->output_count = length(record->outputs);
    def->inputs = arena_alloc(arena, sizeof *def->inputs * (size_t)(def->input_count + 1));
    def->outputs = arena_alloc(arena, sizeof *def->outputs * (size_t)(def->output_count + 1));
    int i = 0;
    for (const struct akgen_op_param *param = record->inputs; param; param = param->next)
        fill(arena, &all, param, false, &def->inputs[i++]);
    i = 0;
    for (const struct akgen_op_param *param = record->outputs; param; param = param->next)
        fill(arena, &all, param, true, &def->outputs[i++]);
    copy_attrs(arena, record, def);
    copy_socs(arena, record, def);
    return NULL;
}
