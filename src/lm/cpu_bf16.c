/* Products of matrices whose numbers are rounded to bfloat16 first and whose sums are float32, by oneDNN: with AMX several times as many a second.
 * Both operands are rounded into room of the backend's, in parts of all workers; then each worker multiplies a part of the result. The second
 * operand may be a vocabulary's: it is taken in panels of columns, so that the room stays small. */
#include "base/memory.h"
#include "lm/cpu_internal.h"

#include <dnnl.h>
#include <stdio.h>
#include <stdlib.h>

enum { PANEL = 16 << 20, FEWEST_ROWS = 64, LINE = 64, GRAIN = 16 };

struct room {
    uint16_t *halves;
    int64_t count;
};
struct lm_cpu_bf16 {
    dnnl_engine_t engine;
    dnnl_stream_t *streams; /* a worker each */
    struct room a, b;
};

static void require(dnnl_status_t status, const char *what)
{
    if (status == dnnl_success)
        return;
    fprintf(stderr, "oneDNN cannot %s: status %d\n", what, (int)status); /* wrong arguments, or no memory */
    abort();
}

bool lm_cpu_has_bf16(void)
{
    switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_avx512_core_bf16:
    case dnnl_cpu_isa_avx512_core_amx:
        return true;
    default:
        return false;
    }
}

struct lm_cpu_bf16 *lm_cpu_bf16_new(int workers)
{
    struct lm_cpu_bf16 *bf16 = memory_alloc(sizeof *bf16);
    bf16->streams = memory_alloc((size_t)workers * sizeof *bf16->streams);
    require(dnnl_engine_create(&bf16->engine, dnnl_cpu, 0), "begin");
    for (int i = 0; i < workers; i++)
        require(dnnl_stream_create(&bf16->streams[i], bf16->engine, dnnl_stream_default_flags), "begin");
    return bf16;
}

void lm_cpu_bf16_free(struct lm_cpu_bf16 *bf16, int workers)
{
    if (!bf16)
        return;
    for (int i = 0; i < workers; i++)
        dnnl_stream_destroy(bf16->streams[i]);
    dnnl_engine_destroy(bf16->engine);
    free(bf16->streams);
    free(bf16->a.halves);
    free(bf16->b.halves);
    free(bf16);
}

static uint16_t *grown(struct room *room, int64_t count)
{
    if (room->count < count) {
        free(room->halves);
        room->count = count;
        room->halves = aligned_alloc(LINE, ((size_t)count * sizeof *room->halves + LINE - 1) / LINE * LINE);
        if (!room->halves)
            memory_exhausted((size_t)count * sizeof *room->halves);
    }
    return room->halves;
}

/* To the nearest, ties to even, infinities as they are; a NaN stays one. */
static void narrow_row(uint16_t *restrict to, const float *restrict from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        __builtin_memcpy(&bits, from + i, sizeof bits);
        uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        to[i] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
    }
}

/* Rows of a matrix as they lie, next to each other afterwards. */
struct narrowed {
    uint16_t *to;
    const float *from;
    int64_t rows, columns, stride;
};
struct multiplied {
    struct lm_cpu_bf16 *bf16;
    const struct lm_product *product; /* whose columns [first, first + columns) are computed */
    int64_t first, columns;
    struct narrowed operands[2];
};

static void narrow_part(void *closure, int worker, int workers)
{
    const struct multiplied *at = closure;
    for (int i = 0; i < 2; i++) {
        const struct narrowed *operand = &at->operands[i];
        int64_t first, last;
        team_share(operand->to ? operand->rows : 0, 1, worker, workers, &first, &last);
        for (int64_t row = first; row < last; row++)
            narrow_row(operand->to + row * operand->columns, operand->from + row * operand->stride, operand->columns);
    }
}

/* A matrix (rows, columns) of the product; `turned`: it lies as (columns, rows). */
static void describe(dnnl_memory_desc_t *desc, int64_t rows, int64_t columns, bool turned, int64_t stride,
                     dnnl_data_type_t type)
{
    const dnnl_dims_t sizes = {rows, columns}, strides = {turned ? 1 : stride, turned ? stride : 1};
    require(dnnl_memory_desc_init_by_strides(desc, 2, sizes, type, strides), "describe a matrix");
}

static void multiply(const struct lm_cpu_bf16 *bf16, int worker, const dnnl_memory_desc_t descs[3],
                     void *const arrays[3], float alpha, bool keep)
{
    static const int places[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    dnnl_primitive_attr_t how;
    dnnl_post_ops_t behind;
    dnnl_matmul_desc_t product;
    dnnl_primitive_desc_t chosen;
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t arguments[3];
    require(dnnl_primitive_attr_create(&how), "multiply");
    require(dnnl_post_ops_create(&behind), "multiply");
    if (keep)
        require(dnnl_post_ops_append_sum(behind, 1), "add to a product");
    require(dnnl_primitive_attr_set_post_ops(how, behind), "add to a product");
    if (alpha < 1 || alpha > 1)
        require(dnnl_primitive_attr_set_output_scales(how, 1, 0, &alpha), "scale a product");
    require(dnnl_matmul_desc_init(&product, &descs[0], &descs[1], NULL, &descs[2]), "multiply such matrices");
    require(dnnl_primitive_desc_create(&chosen, &product, how, bf16->engine, NULL), "multiply such matrices");
    require(dnnl_primitive_create(&primitive, chosen), "multiply such matrices");
    for (int i = 0; i < 3; i++) {
        arguments[i].arg = places[i];
        require(dnnl_memory_create(&arguments[i].memory, &descs[i], bf16->engine, arrays[i]), "see a matrix");
    }
    require(dnnl_primitive_execute(primitive, bf16->streams[worker], 3, arguments), "multiply");
    require(dnnl_stream_wait(bf16->streams[worker]), "multiply");
    for (int i = 0; i < 3; i++)
        dnnl_memory_destroy(arguments[i].memory);
    dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(chosen);
    dnnl_post_ops_destroy(behind);
    dnnl_primitive_attr_destroy(how);
}

static void multiply_part(void *closure, int worker, int workers)
{
    const struct multiplied *at = closure;
    const struct lm_product *p = at->product;
    int64_t first = 0, last = p->m, left = 0, right = at->columns;
    int64_t a_stride = at->operands[0].columns, b_stride = at->operands[1].columns;
    if (lm_product_by_rows(p->m, at->columns, workers))
        team_share(p->m, GRAIN, worker, workers, &first, &last);
    else
        team_share(at->columns, GRAIN, worker, workers, &left, &right);
    if (first == last || left == right)
        return;
    lm_cpu_alone();
    dnnl_memory_desc_t descs[3];
    void *const arrays[3] = {at->bf16->a.halves + (p->a_turned ? first : first * a_stride),
                             at->bf16->b.halves + (p->b_turned ? left * b_stride : left),
                             p->c + first * p->c_stride + at->first + left};
    describe(&descs[0], last - first, p->k, p->a_turned, a_stride, dnnl_bf16);
    describe(&descs[1], p->k, right - left, p->b_turned, b_stride, dnnl_bf16);
    describe(&descs[2], last - first, right - left, false, p->c_stride, dnnl_f32);
    multiply(at->bf16, worker, descs, arrays, p->alpha, p->beta > 0);
}

bool lm_product_is_bf16(const struct lm_cpu *cpu, const struct lm_product *p)
{
    return cpu->bf16 && p->m >= FEWEST_ROWS && p->k > 0 && p->n > 0;
}

void lm_product_bf16(struct lm_cpu *cpu, const struct lm_product *p)
{
    struct lm_cpu_bf16 *bf16 = cpu->bf16;
    struct multiplied at = {.bf16 = bf16, .product = p};
    int64_t panel = PANEL / p->k > GRAIN ? PANEL / p->k / GRAIN * GRAIN : GRAIN;
    panel = panel < p->n ? panel : p->n;
    at.operands[0] = p->a_turned ? (struct narrowed){grown(&bf16->a, p->k * p->m), p->a, p->k, p->m, p->a_stride}
                                 : (struct narrowed){grown(&bf16->a, p->m * p->k), p->a, p->m, p->k, p->a_stride};
    uint16_t *b = grown(&bf16->b, p->k * panel);
    for (at.first = 0; at.first < p->n; at.first += panel) {
        at.columns = panel < p->n - at.first ? panel : p->n - at.first;
        at.operands[1] = p->b_turned
                             ? (struct narrowed){b, p->b + at.first * p->b_stride, at.columns, p->k, p->b_stride}
                             : (struct narrowed){b, p->b + at.first, p->k, at.columns, p->b_stride};
        team_run(cpu->team, narrow_part, &at);
        team_run(cpu->team, multiply_part, &at);
        at.operands[0].to = NULL; /* it is there */
    }
}
