/* The second pass: what becomes of the buffers. One that is loaded is a queue's tensor that goes to the vector unit, one that
 * is stored a queue's that comes from it; one that is loaded and stored and nothing else goes through a queue of its own.
 * Everything else is a buffer of UB.
 *
 * Holds afterwards: only tensors of queues are loaded and stored, or buffers that the pass `types` gives a queue beside
 * them. */
#include "dsl/lower_internal.h"

#include <string.h>

struct touches {
    const char *name;
    bool loaded, stored, computed;
    bool first, second, bias; /* operand of a product */
};

static bool is_operand(const struct dsl_expr *call, const char *parameter, const char *buffer)
{
    const struct dsl_expr *operand = call_argument(call, parameter);
    const char *name = operand ? operand_buffer(operand, NULL) : NULL;
    return name && strcmp(name, buffer) == 0;
}

static void note(void *closure, struct dsl_expr *part)
{
    struct touches *touches = closure;
    if (part->kind != DSL_CALL || !part->operation || !lower_use_of(part, touches->name))
        return;
    enum dsl_operation_place place = part->operation->place;
    touches->loaded |= place == DSL_PLACE_COPYIN;
    touches->stored |= place == DSL_PLACE_COPYOUT;
    touches->computed |= place != DSL_PLACE_COPYIN && place != DSL_PLACE_COPYOUT;
    if (strncmp(part->operation->name, "gemm", 4) == 0) {
        touches->first |= is_operand(part, "a", touches->name);
        touches->second |= is_operand(part, "b", touches->name);
        touches->bias |= is_operand(part, "bias", touches->name);
    }
}

static void note_below(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, note, closure);
}

static const char *queue_for(const struct touches *touches)
{
    if (touches->loaded && touches->stored)
        return touches->computed ? NULL : "queue_move";
    return touches->loaded ? "queue_in" : touches->stored ? "queue_out" : NULL;
}

/* The parameters that the kernel loads and stores. */
static void note_tensors(void *closure, struct dsl_expr *part)
{
    struct lowering *lowering = closure;
    struct dsl_expr *address = part->kind == DSL_CALL && part->operation ? call_argument(part, "address") : NULL;
    struct lower_parameter *tensor = address ? lower_tensor_of(lowering, address) : NULL;
    if (tensor && part->operation->place == DSL_PLACE_COPYIN)
        tensor->read = true;
    else if (tensor)
        tensor->stored = true;
    if (part->kind == DSL_CALL && part->operation && strcmp(part->operation->name, "extract_scalar") == 0 &&
        (tensor = lower_tensor_of(lowering, call_argument(part, "from"))))
        tensor->read = true;
}

static void note_tensors_below(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, note_tensors, closure);
}

/* A bias is a row that fits into the bias table, which takes it in units of 64 bytes. */
static bool check_bias(struct lowering *lowering, const struct lower_buffer *buffer, int64_t rows, int64_t cols)
{
    enum { MOST = 256, UNIT = 64 };
    struct dsl_place place = buffer->allocation->place;
    for (int c = 0; c < lowering->opdef->combinations; c++) {
        enum akgen_dtype type = lower_type_in(&buffer->type, c);
        if (type != AKGEN_FLOAT && type != AKGEN_FLOAT16 && type != AKGEN_INT32)
            return LOWER_FAIL(lowering, place, DSL_RULE_types, "the bias table takes float32, float16 and int32",
                              "'%s' is a bias of %s", buffer->name, akgen_dtype_name(type));
        if (rows != 1 || cols > MOST || cols * (int64_t)akgen_dtype_size(type) % UNIT)
            return LOWER_FAIL(lowering, place, DSL_RULE_alignment,
                              "tl.alloc_l1((1, cols), dtype=) of whole 64 bytes and at most 256 columns",
                              "'%s', a bias, has %lld rows of %lld", buffer->name, (long long)rows, (long long)cols);
    }
    return true;
}

/* A buffer of the cube is a matrix of constant sizes, which are whole squares, and an operand on one side. */
static bool check_matrix(struct lowering *lowering, const struct lower_buffer *buffer, const struct touches *touches)
{
    int64_t rows, cols;
    struct dsl_place place = buffer->allocation->place;
    int side = akgen_dtype_size(lower_type_in(&buffer->type, 0)) == 1 ? 32 : 16;
    if (!lower_matrix(lowering, buffer, &rows, &cols) || rows < 1 || cols < 1)
        return LOWER_FAIL(lowering, place, DSL_RULE_not_compiled, "tl.alloc_l1((rows, cols), dtype=) of constants",
                          "'%s' is no matrix whose sizes are known before the run", buffer->name);
    if (touches->bias && !touches->first && !touches->second)
        return check_bias(lowering, buffer, rows, cols);
    if (rows % side || cols % side)
        return LOWER_FAIL(lowering, place, DSL_RULE_alignment,
                          side == 32 ? "make both a multiple of 32" : "make both a multiple of 16",
                          "'%s' has %lld rows of %lld", buffer->name, (long long)rows, (long long)cols);
    return touches->first + touches->second + touches->bias < 2 ||
           LOWER_FAIL(lowering, place, DSL_RULE_not_compiled, "load it into a second buffer too",
                      "'%s' is on both sides of a product", buffer->name);
}

struct products {
    struct lowering *lowering;
    bool wrong; /* which has been told */
};

static void check_product(void *closure, struct dsl_expr *part)
{
    static const char *const names[] = {"a", "b", "dst"};
    struct products *products = closure;
    struct lowering *lowering = products->lowering;
    const struct lower_buffer *tiles[3];
    if (part->kind != DSL_CALL || !part->operation || strncmp(part->operation->name, "gemm", 4) != 0)
        return;
    for (int i = 0; i < 3; i++)
        if (!(tiles[i] = lower_buffer_of(lowering, call_argument(part, names[i]))))
            return;
    for (int c = 0; c < lowering->opdef->combinations && !products->wrong; c++) {
        const enum akgen_dtype a = lower_type_in(&tiles[0]->type, c), b = lower_type_in(&tiles[1]->type, c),
                               product = lower_type_in(&tiles[2]->type, c);
        products->wrong =
            !dsl_product_is(a, b, product) &&
            !LOWER_FAIL(lowering, part->place, DSL_RULE_types, DSL_PRODUCT_TYPES, "a product of %s and %s in %s",
                        akgen_dtype_name(a), akgen_dtype_name(b), akgen_dtype_name(product));
    }
}

static void check_products(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, check_product, closure);
}

bool pass_init(struct lowering *lowering)
{
    struct dsl_block *kernel = lower_kernel(lowering);
    struct products products = {.lowering = lowering};
    for (int i = 0; i < kernel->count; i++)
        statement_visit(kernel->items[i], check_products, &products);
    if (products.wrong)
        return false;
    for (int b = 0; b < lowering->buffer_count; b++) {
        struct lower_buffer *buffer = &lowering->buffers[b];
        struct touches touches = {.name = buffer->name};
        for (int i = 0; i < kernel->count; i++)
            statement_visit(kernel->items[i], note_below, &touches);
        bool cube = buffer->kind >= LOWER_QUEUE_A1;
        if (cube && !check_matrix(lowering, buffer, &touches))
            return false;
        const char *queue = !cube                             ? queue_for(&touches)
                            : buffer->kind == LOWER_QUEUE_CO1 ? "queue_co1"
                            : touches.second || touches.bias  ? "queue_b1"
                                                              : "queue_a1";
        if (queue)
            buffer->allocation->value->items[0]->name = queue;
    }
    for (int i = 0; i < kernel->count; i++)
        statement_visit(kernel->items[i], note_tensors_below, lowering);
    return true;
}
