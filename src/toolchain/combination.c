/* What a kernel is told about the data types of its tensors: the macros of one combination of the OpDef. */
#include "base/text.h"
#include "toolchain/build_internal.h"

#include <ctype.h>
#include <string.h>

static void define(struct builder *builder, struct text *config, const char *prefix, const char *name,
                   const char *value)
{
    const char *macro = arena_printf(builder->arena, "%s%s", prefix, name);
    /* What the kernel never mentions cannot change it: combinations that differ only there share an object. */
    if (mentions_has(&builder->mentions, macro))
        text_addf(config, "#define %s %s\n", macro, value);
}

/* AKGEN_TPL_TENSORS of template_argument.h, if the kernel ties template arguments to its tensors. */
static void define_tensor_types(struct builder *builder, int combination, struct text *config)
{
    static const char *const ties[] = {"ASCENDC_TPL_INPUT", "ASCENDC_TPL_OUTPUT", NULL};
    const struct op_def *def = &builder->build->def;
    if (!kernel_mentions_any(builder, ties))
        return;
    text_addf(config, "#define AKGEN_TPL_TENSORS %d", def->input_count);
    for (int i = 0; i < def->input_count + def->output_count; i++) {
        const struct op_param *param = i < def->input_count ? &def->inputs[i] : &def->outputs[i - def->input_count];
        const char *name = combination < param->count ? akgen_dtype_ge_name(param->types[combination]) : NULL;
        text_addf(config, ", %s", name ? name : "DT_UNDEFINED");
    }
    text_add(config, "\n");
}

/* DTYPE_X, ORIG_DTYPE_X and FORMAT_X of each tensor, as CANN's build passes them; an output that shares the name of an
 * input is X_REF. Format code 2 is ND, and every format of the supported operators is. */
const char *combination_config(struct builder *builder, int combination)
{
    const struct op_def *def = &builder->build->def;
    struct text config = {0};
    for (int i = 0; i < def->input_count + def->output_count; i++) {
        bool output = i >= def->input_count;
        const struct op_param *param = output ? &def->outputs[i - def->input_count] : &def->inputs[i];
        bool shared = false;
        for (int k = 0; output && k < def->input_count; k++)
            shared |= strcmp(def->inputs[k].name, param->name) == 0;
        if (combination >= param->count)
            continue;
        enum akgen_dtype type = param->types[combination];
        char *upper = arena_strdup(builder->arena, param->name);
        for (char *c = upper; *c; c++)
            *c = (char)toupper((unsigned char)*c);
        const char *name = arena_printf(builder->arena, "%s%s", upper, shared ? "_REF" : "");
        const char *kernel_type = akgen_dtype_kernel_type(type), *ge_name = akgen_dtype_ge_name(type);
        /* A type that no tensor here has (DT_HIFLOAT8) is told by its number, so that the kernel can compare it. */
        define(builder, &config, "ORIG_DTYPE_", name,
               ge_name ? ge_name : arena_printf(builder->arena, "%d", (int)type));
        define(builder, &config, "DTYPE_", name, kernel_type ? kernel_type : "unknown");
        define(builder, &config, "FORMAT_", name, "FORMAT_ND");
    }
    if (builder->prepared.is_template)
        define_tensor_types(builder, combination, &config);
    return text_keep(&config, builder->arena);
}
