/* Describing and tiling: the two moments in which the candidate's host part runs. */
#include "base/text.h"
#include "op/op_internal.h"

#include <stdlib.h>
#include <string.h>

/* op_describe. */

static struct akgen_error *choose(struct arena *arena, const char *host_so, const char *op_type,
                                  struct op_registration **chosen)
{
    const char *names = "";
    int count = 0;
    *chosen = NULL;
    for (struct op_registration *entry = op_registry_ops(); entry; entry = entry->next) {
        if (!entry->create || strcmp(entry->host_so, host_so) != 0)
            continue;
        count++;
        names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "", entry->type);
        if (!op_type || strcmp(entry->type, op_type) == 0)
            *chosen = entry;
    }
    if (count == 0)
        return error_new("the host part registers no operator: OP_ADD is missing");
    if (op_type && !*chosen)
        return error_new("the host part registers %s, expected OP_ADD(%s)", names, op_type);
    if (!op_type && count > 1)
        return error_new("the host part registers several operators (%s); name one", names);
    return NULL;
}

static void describe_tilings(struct arena *arena, const char *host_so, struct op_def *def)
{
    int count = 0;
    for (struct op_tiling_registration *entry = op_registry_tilings(); entry; entry = entry->next)
        count += strcmp(entry->host_so, host_so) == 0;
    def->tilings = arena_alloc(arena, sizeof *def->tilings * (size_t)(count + 1));
    def->tiling_count = count;
    /* The list is newest first; files register in the order of their definitions. */
    for (struct op_tiling_registration *entry = op_registry_tilings(); entry; entry = entry->next) {
        if (strcmp(entry->host_so, host_so) != 0)
            continue;
        struct op_tiling_struct *tiling = &def->tilings[--count];
        tiling->key = arena_strdup(arena, entry->key);
        entry->describe(&(struct op_tiling_sink){arena, tiling});
    }
}

/* CANN builds an operator for the chips that it names. */
static struct akgen_error *no_config(const struct akgen_op_def *record, const struct npu_soc *soc)
{
    struct text others = {0};
    for (const struct akgen_op_soc *other = record->socs; other; other = other->next)
        text_addf(&others, "%s\"%s\"", others.length ? ", " : "", other->name);
    struct akgen_error *error = error_new(
        "the OpDef has no AddConfig(\"%s\"), so CANN builds nothing for the chip, %s; it has %s%s", soc->family,
        soc->name, others.length ? "AddConfig for " : "no AddConfig", others.length ? others.bytes : "");
    text_free(&others);
    return error;
}

struct akgen_error *op_describe(struct arena *arena, const char *host_so, const char *op_type,
                                const struct npu_soc *soc, struct op_def *def)
{
    memset(def, 0, sizeof *def);
    struct op_registration *entry;
    struct akgen_error *error = choose(arena, host_so, op_type, &entry);
    if (error)
        return error;
    struct akgen_op_def *record = entry->create(entry->type);
    if (!op_def_configure(record, soc ? soc->family : NULL) && soc)
        error = no_config(record, soc);
    if (!error)
        error = op_def_combine(arena, record, def);
    if (!error) {
        entry->def_tiling = record->tiling;
        def->has_tiling = entry->def_tiling || entry->impl_tiling;
        describe_tilings(arena, host_so, def);
    }
    akgen_def_free(record);
    return error;
}

void op_def_release(struct op_def *def)
{
    for (int i = 0; i < def->attr_count; i++) {
        json_decref(def->attrs[i].value);
        def->attrs[i].value = NULL;
    }
}

/* op_tile. */

/* What GetCompileInfo() gives for an operator registered by SetTiling alone: in CANN the address of an empty structure,
 * so fields read from it are whatever lies there. */
static const unsigned char empty_compile_info[256] = {[0 ... 255] = 0xa5};
#define EMPTY_WORD UINT32_C(0xa5a5a5a5)

static struct akgen_error *parse(const struct op_registration *entry, const struct npu_soc *soc, void **compile_info)
{
    *compile_info = NULL;
    if (!entry->parse)
        return NULL;
    *compile_info = entry->compile_info_create();
    struct akgen_parse_context context = {entry->type, *compile_info, soc};
    uint32_t status = entry->parse(&context);
    return status
               ? error_new("the TilingParse function of %s returned %u instead of GRAPH_SUCCESS", entry->type, status)
               : NULL;
}

static struct akgen_error *check_result(struct akgen_tiling_context *context, uint32_t status)
{
    struct akgen_error *problem = context->problem;
    context->problem = NULL;
    if (status) {
        error_free(problem);
        return error_new(status == UINT32_MAX ? "the tiling function returned GRAPH_FAILED"
                                              : "the tiling function returned %u instead of GRAPH_SUCCESS",
                         status);
    }
    if (problem)
        return problem;
    if (!context->block_dim_set)
        return error_new("the tiling function did not call SetBlockDim");
    uint64_t blocks = context->numbers[AKGEN_BLOCK_DIM];
    if (context->compile_info == empty_compile_info && blocks == EMPTY_WORD)
        return error_new("the tiling function takes its block dim from GetCompileInfo(), which nothing has filled in: "
                         "the operator registers no TilingParse function");
    if (blocks == 0 || blocks > OP_MAX_BLOCKS)
        return error_new("the tiling function set a block dim of %llu, allowed are 1 to %d", (unsigned long long)blocks,
                         OP_MAX_BLOCKS);
    return NULL;
}

static struct akgen_error *take_result(struct akgen_tiling_context *context, struct op_tiling *tiling)
{
    uint64_t workspace = 0;
    for (size_t i = 0; i < context->workspace_count; i++)
        if (__builtin_add_overflow(workspace, context->workspaces[i], &workspace))
            return error_new("the workspace sizes add up to more than 64 bits hold");
    tiling->block_dim = (int)context->numbers[AKGEN_BLOCK_DIM];
    tiling->key = context->numbers[AKGEN_TILING_KEY];
    tiling->schedule_mode = (int)context->numbers[AKGEN_SCHEDULE_MODE];
    tiling->workspace = workspace;
    tiling->need_atomic = context->numbers[AKGEN_NEED_ATOMIC] != 0;
    tiling->size = (uint32_t)context->raw.size;
    tiling->bytes = context->raw.bytes;
    context->raw.bytes = NULL;
    return NULL;
}

struct akgen_error *op_tile(const struct op_def *def, const struct op_call *call, struct op_tiling *tiling)
{
    memset(tiling, 0, sizeof *tiling);
    struct op_registration *entry = op_registry_find(NULL, def->type);
    akgen_tiling_function *function = !entry ? NULL : entry->impl_tiling ? entry->impl_tiling : entry->def_tiling;
    if (!function)
        return error_new("operator %s has no tiling function: neither SetTiling nor IMPL_OP_OPTILING names one",
                         def->type);

    struct akgen_tiling_context context = {.type = def->type, .soc = call->soc, .deterministic = call->deterministic};
    context.raw.capacity = OP_TILING_CAPACITY;
    context.raw.bytes = malloc(OP_TILING_CAPACITY);
    void *compile_info = NULL;
    struct akgen_error *error = context.raw.bytes ? op_context_bind(&context, def, call) : error_new("out of memory");
    op_current_context = &context;
    if (!error) {
        /* CANN does not clear the buffer either; a fixed pattern keeps runs alike. */
        memset(context.raw.bytes, 0xa5, OP_TILING_CAPACITY);
        error = parse(entry, call->soc, &compile_info);
    }
    if (!error) {
        context.compile_info = compile_info ? compile_info : entry->impl_tiling ? NULL : empty_compile_info;
        error = check_result(&context, function(&context));
    }
    op_current_context = NULL;
    if (!error)
        error = take_result(&context, tiling);
    if (compile_info)
        entry->compile_info_destroy(compile_info);
    error_free(context.problem);
    free(context.raw.bytes);
    arena_free(&context.arena);
    return error;
}
