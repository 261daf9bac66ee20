/* The interpreter: the cube's operations. A buffer of L1 or L0C that was made with two sizes is a matrix; element (r, c) is
 * buffer[r * cols + c]. */
#include "base/memory.h"
#include "dsl/interpret_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool integer_of(struct core *core, const struct dsl_expr *call, const char *name, int64_t *integer)
{
    struct value value;
    bool good = call_value(core, call, name, &value);
    *integer = value.integer;
    return good;
}

/* Whether the first rows and columns of a buffer exist. */
static bool has_tile(struct core *core, const struct dsl_expr *call, const struct value *buffer, int64_t rows,
                     int64_t cols)
{
    const struct dsl_memory *memory = buffer->memory;
    if (!memory->cols || buffer->offset)
        return CORE_FAIL(core, call->place, DSL_RULE_types, "tl.alloc_l1((rows, cols), dtype=)",
                         "'%s' is no matrix of L1 or L0C", memory->name);
    return (rows >= 1 && cols >= 1 && cols <= memory->cols && rows <= memory->tensor.elements / memory->cols) ||
           CORE_FAIL(core, call->place, DSL_RULE_bounds, NULL, "%lld rows of %lld in '%s', which has %lld of %lld",
                     (long long)rows, (long long)cols, memory->name,
                     (long long)(memory->tensor.elements / memory->cols), (long long)memory->cols);
}

/* scale= of tl.store_tile. */
struct scaling {
    bool given;
    float factor;
    enum akgen_dtype to;
};

/* The factor has the first 10 bits of float32's fraction. */
static bool scaling_of(struct core *core, const struct dsl_expr *call, const struct value *address,
                       const struct value *tile, struct scaling *scaling)
{
    struct value scale;
    uint32_t bits;
    if (!call_value(core, call, "scale", &scale))
        return false;
    *scaling = (struct scaling){.given = scale.type != DSL_TYPE_NONE, .to = address->memory->tensor.type};
    if (!scaling->given)
        return memory_converts(core, call, address->memory, tile->memory);
    scaling->factor = (float)value_as_real(scale).real;
    memcpy(&bits, &scaling->factor, sizeof bits);
    bits &= 0xffffe000U;
    memcpy(&scaling->factor, &bits, sizeof bits);
    bool bytes = scaling->to == AKGEN_INT8 || scaling->to == AKGEN_UINT8;
    return bytes || (scaling->to == AKGEN_FLOAT16 && !memory_is_real(tile->memory)) ||
           CORE_FAIL(core, call->place, DSL_RULE_types, DSL_SCALED_PAIRS, "a scale between %s and %s",
                     akgen_dtype_name(tile->memory->tensor.type), akgen_dtype_name(scaling->to));
}

/* An element of the product times the factor, in float32: as float16, or as the nearest whole number that there is. */
static struct element scaled(const struct scaling *scaling, struct element element)
{
    float product = (float)element.real * scaling->factor;
    double low = scaling->to == AKGEN_INT8 ? INT8_MIN : 0, high = scaling->to == AKGEN_INT8 ? INT8_MAX : UINT8_MAX;
    double whole = isnan(product) ? 0 : fmin(fmax(rintf(product), low), high);
    return (struct element){.real = product, .integer = (int64_t)whole};
}

static bool transfer(struct core *core, const struct dsl_expr *call, bool load)
{
    struct value address, tile;
    struct scaling scaling = {0};
    int64_t rows, cols, gm_pitch;
    if (!call_memory(core, call, "address", &address) || !call_memory(core, call, load ? "dst" : "src", &tile) ||
        !integer_of(core, call, "rows", &rows) || !integer_of(core, call, "cols", &cols) ||
        !integer_of(core, call, "gm_pitch", &gm_pitch) || !has_tile(core, call, &tile, rows, cols) ||
        !(load ? memory_converts(core, call, address.memory, tile.memory)
               : scaling_of(core, call, &address, &tile, &scaling)))
        return false;
    if (load)
        memset(tile.memory->state, STATE_UNDEFINED, (size_t)tile.memory->tensor.elements);
    for (int64_t r = 0; r < rows; r++) {
        int64_t place;
        if (!core_offset(core, call, address.offset, r, gm_pitch, &place) ||
            !memory_holds(core, call, address.memory, place, cols))
            return false;
        for (int64_t c = 0; c < cols; c++) {
            struct element element;
            int64_t at = r * tile.memory->cols + c;
            if (!(load ? element_read(core, call, address.memory, place + c, &element) &&
                             element_write(core, call, tile.memory, at, element)
                       : element_read(core, call, tile.memory, at, &element) &&
                             element_write(core, call, address.memory, place + c,
                                           scaling.given ? scaled(&scaling, element) : element)))
                return false;
        }
    }
    return true;
}

struct product {
    struct value dst, a, b, bias; /* without a memory: there is no bias */
    int64_t m, n, k;
    bool init, turned_a, turned_b; /* the buffer holds the operand's transpose */
};

/* (rows, cols) of an operand, or of the transpose that its buffer holds. Integers of 8 and 32 bits are exact, their sums too. */
static bool read_operand(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory, int64_t rows,
                         int64_t cols, bool turned, double *to)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            struct element element;
            if (!element_read(core, call, memory, turned ? c * memory->cols + r : r * memory->cols + c, &element))
                return false;
            to[r * cols + c] = element.real;
        }
    return true;
}

/* sums += factor * row, n of them. */
__attribute__((no_sanitize("undefined"))) static void add_scaled(int64_t n, double factor, const double *restrict row,
                                                                 double *restrict sums)
{
    for (int64_t j = 0; j < n; j++)
        sums[j] += factor * row[j];
}

__attribute__((no_sanitize("undefined"))) static void
add_scaled_squares(int64_t n, double factor, const double *restrict row, double *restrict squares)
{
    for (int64_t j = 0; j < n; j++)
        squares[j] += (factor * row[j]) * (factor * row[j]);
}

/* Row i of the product: the sums in double, in the order of k, rounded once; the cube has its own order. a is (m,k), b (k,n),
 * sums and squares (n), the latter of the terms. */
static bool product_row(struct core *core, const struct dsl_expr *call, const struct product *product, int64_t i,
                        const double *a, const double *b, double *sums, double *squares)
{
    struct dsl_memory *dst = product->dst.memory;
    memset(sums, 0, (size_t)product->n * sizeof *sums);
    memset(squares, 0, (size_t)product->n * sizeof *squares);
    const struct dsl_memory *from = product->init ? product->bias.memory : dst; /* what the sums begin with */
    for (int64_t j = 0; from && j < product->n; j++) {
        struct element before;
        if (!element_read(core, call, from, product->init ? j : i * dst->cols + j, &before))
            return false;
        sums[j] = before.real;
    }
    for (int64_t k = 0; k < product->k; k++)
        add_scaled(product->n, a[i * product->k + k], b + k * product->n, sums);
    for (int64_t k = 0; core->machine->run->nudge && k < product->k; k++)
        add_scaled_squares(product->n, a[i * product->k + k], b + k * product->n, squares);
    for (int64_t j = 0; j < product->n; j++) {
        struct element sum = {.real = sums[j]};
        if (memory_is_real(dst))
            sum.real += machine_approximation_of_sum(core->machine, sqrt(squares[j] + sums[j] * sums[j]));
        else
            sum.integer = (int64_t)sums[j];
        if (!element_write(core, call, dst, i * dst->cols + j, sum))
            return false;
    }
    return true;
}

static bool compute_product(struct core *core, const struct dsl_expr *call, const struct product *product)
{
    int64_t m = product->m, n = product->n, k = product->k;
    double *a = memory_alloc((size_t)(m * k + k * n + 2 * n) * sizeof *a), *b = a + m * k, *sums = b + k * n;
    bool good = read_operand(core, call, product->a.memory, m, k, product->turned_a, a) &&
                read_operand(core, call, product->b.memory, k, n, product->turned_b, b);
    for (int64_t i = 0; good && i < m; i++)
        good = product_row(core, call, product, i, a, b, sums, sums + n);
    free(a);
    return good;
}

static bool flag_of(struct core *core, const struct dsl_expr *call, const char *name, bool *flag)
{
    struct value value;
    bool good = call_value(core, call, name, &value);
    *flag = value.type != DSL_TYPE_NONE && value.integer != 0;
    return good;
}

/* The sizes of the product: of tl.gemm_v0 those of the tiles. */
static bool sizes_of(struct core *core, const struct dsl_expr *call, struct product *product)
{
    const struct dsl_memory *dst = product->dst.memory;
    if (strcmp(call->operation->name, "gemm") == 0)
        return integer_of(core, call, "m", &product->m) && integer_of(core, call, "n", &product->n) &&
               integer_of(core, call, "k", &product->k) && flag_of(core, call, "transpose_a", &product->turned_a) &&
               flag_of(core, call, "transpose_b", &product->turned_b);
    if (!has_tile(core, call, &product->dst, 1, 1))
        return false;
    product->m = dst->tensor.elements / dst->cols;
    product->n = dst->cols;
    product->k = product->a.memory->cols;
    return true;
}

/* bias= of tl.gemm: a row of L1. */
static bool bias_of(struct core *core, const struct dsl_expr *call, struct product *product)
{
    const struct dsl_memory *dst = product->dst.memory;
    if (!call_argument(call, "bias"))
        return true;
    if (!call_memory(core, call, "bias", &product->bias) || !has_tile(core, call, &product->bias, 1, product->n))
        return false;
    enum akgen_dtype type = product->bias.memory->tensor.type;
    return (memory_is_real(dst) ? type == AKGEN_FLOAT || type == AKGEN_FLOAT16 : type == AKGEN_INT32) ||
           CORE_FAIL(core, call->place, DSL_RULE_types, DSL_BIAS_TYPES, "a bias of %s for %s", akgen_dtype_name(type),
                     akgen_dtype_name(dst->tensor.type));
}

static bool multiply(struct core *core, const struct dsl_expr *call)
{
    struct product product = {0};
    if (!call_memory(core, call, "dst", &product.dst) || !call_memory(core, call, "a", &product.a) ||
        !call_memory(core, call, "b", &product.b) || !flag_of(core, call, "init", &product.init) ||
        !sizes_of(core, call, &product))
        return false;
    const struct dsl_memory *dst = product.dst.memory, *a = product.a.memory;
    if (!has_tile(core, call, &product.dst, product.m, product.n) ||
        !has_tile(core, call, &product.a, product.turned_a ? product.k : product.m,
                  product.turned_a ? product.m : product.k) ||
        !has_tile(core, call, &product.b, product.turned_b ? product.n : product.k,
                  product.turned_b ? product.k : product.n))
        return false;
    const enum akgen_dtype other = product.b.memory->tensor.type;
    if (!dsl_product_is(a->tensor.type, other, dst->tensor.type))
        return CORE_FAIL(core, call->place, DSL_RULE_types, DSL_PRODUCT_TYPES, "a product of %s and %s in %s",
                         akgen_dtype_name(a->tensor.type), akgen_dtype_name(other), akgen_dtype_name(dst->tensor.type));
    return bias_of(core, call, &product) && compute_product(core, call, &product);
}

bool core_execute_tiles(struct core *core, const struct dsl_expr *call, bool *good)
{
    const char *name = call->operation->name;
    bool product = strcmp(name, "gemm") == 0 || strcmp(name, "gemm_v0") == 0;
    bool load = strcmp(name, "load_tile") == 0;
    if (product)
        *good = multiply(core, call);
    else if (load || strcmp(name, "store_tile") == 0)
        *good = transfer(core, call, load);
    else
        return false;
    return true;
}
