/* Memory, rows and the table of the CPU's operations. */
#include "base/memory.h"
#include "lm/cpu_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

float *lm_cpu_scratch(struct lm_cpu *cpu, int worker, int64_t count)
{
    if (cpu->scratch[worker].count < count) {
        free(cpu->scratch[worker].floats);
        cpu->scratch[worker].count = count;
        cpu->scratch[worker].floats = memory_vectors((size_t)count * sizeof(float));
        if (!cpu->scratch[worker].floats)
            memory_exhausted((size_t)count * sizeof(float));
    }
    return cpu->scratch[worker].floats;
}

/* More than the machine has, swap included, is refused here: the kernel would promise it and kill the process that uses it. */
static bool machine_has(int64_t bytes)
{
    struct sysinfo machine;
    return sysinfo(&machine) != 0 ||
           bytes <= (int64_t)((machine.totalram + machine.totalswap) * (unsigned long)machine.mem_unit);
}

static void *allocate(struct lm_backend *backend, int64_t bytes)
{
    (void)backend;
    return machine_has(bytes) ? memory_vectors((size_t)bytes) : NULL;
}

static void release(struct lm_backend *backend, void *array)
{
    (void)backend;
    free(array);
}

static void zero(struct lm_backend *backend, void *array, int64_t bytes)
{
    (void)backend;
    memset(array, 0, (size_t)bytes);
}

static void copy(struct lm_backend *backend, void *to, const void *from, int64_t bytes)
{
    (void)backend;
    memcpy(to, from, (size_t)bytes);
}

static void narrow(struct lm_backend *backend, void *to, const float *from, int64_t count)
{
    (void)backend;
    memcpy(to, from, (size_t)count * sizeof *from);
}

static void widen(struct lm_backend *backend, float *to, const void *from, int64_t count)
{
    (void)backend;
    memcpy(to, from, (size_t)count * sizeof *to);
}

/* Rows that are taken from somewhere or added there. */
struct rows {
    float *to;
    const float *from, *factors;
    const int32_t *rows;
    int count, c;
};

static void take_part(void *closure, int worker, int workers)
{
    const struct rows *at = closure;
    int64_t first, last, c = at->c;
    team_share(at->count, 1, worker, workers, &first, &last);
    for (int64_t i = first; i < last; i++)
        memcpy(at->to + i * c, at->from + at->rows[i] * c, (size_t)c * sizeof *at->to);
}

static void take_rows(struct lm_backend *backend, void *y, const void *x, const int32_t *rows, int count, int c)
{
    struct rows taken = {.to = y, .from = x, .rows = rows, .count = count, .c = c};
    team_run(lm_cpu_of(backend)->team, take_part, &taken);
}

static void put_rows(struct lm_backend *backend, void *x, const void *y, int stride, const int32_t *rows, int count,
                     int c)
{
    const float *from = y;
    float *to = x;
    (void)backend;
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (int64_t)rows[i] * c, from + i * stride, (size_t)c * sizeof *to);
}

static void embed(struct lm_backend *backend, void *x, const void *table, const int32_t *tokens, int n, int c)
{
    take_rows(backend, x, table, tokens, n, c);
}

/* The same row may come several times: workers share the columns. */
static void add_part(void *closure, int worker, int workers)
{
    const struct rows *at = closure;
    int64_t first, last, c = at->c;
    team_share(c, LM_CPU_LINE, worker, workers, &first, &last);
    for (int64_t i = 0; i < at->count; i++) {
        float *restrict to = at->to + at->rows[i] * c;
        const float *restrict from = at->from + i * c;
        float factor = at->factors ? at->factors[i] : 1;
        for (int64_t j = first; j < last; j++)
            to[j] += factor * from[j];
    }
}

static void add_rows(struct lm_backend *backend, void *x, const void *y, const int32_t *rows, const float *factors,
                     int count, int c)
{
    struct rows added = {.to = x, .from = y, .factors = factors, .rows = rows, .count = count, .c = c};
    team_run(lm_cpu_of(backend)->team, add_part, &added);
}

static void embed_back(struct lm_backend *backend, float *dtable, const void *dx, const int32_t *tokens, int n, int c)
{
    add_rows(backend, dtable, dx, tokens, NULL, n, c);
}

static const struct lm_operations operations = {
    .name = "CPU, float32",
    .element = sizeof(float),
    .on_host = true,
    .allocate = allocate,
    .release = release,
    .zero = zero,
    .upload = copy,
    .download = copy,
    .narrow = narrow,
    .widen = widen,
    .linear = lm_cpu_linear,
    .linear_int8 = lm_cpu_linear_int8,
    .linear_dx = lm_cpu_linear_dx,
    .linear_dw = lm_cpu_linear_dw,
    .embed = embed,
    .embed_back = embed_back,
    .norm = lm_cpu_norm,
    .norm_again = lm_cpu_norm_again,
    .norm_back = lm_cpu_norm_back,
    .rotate = lm_cpu_rotate,
    .rotate_back = lm_cpu_rotate_back,
    .attention = lm_cpu_attention,
    .attention_back = lm_cpu_attention_back,
    .swiglu = lm_cpu_swiglu,
    .swiglu_back = lm_cpu_swiglu_back,
    .log_probs = lm_cpu_log_probs,
    .take_rows = take_rows,
    .put_rows = put_rows,
    .add_rows = add_rows,
    .squares = lm_cpu_squares,
    .adamw = lm_cpu_adamw,
};

static int threads_of(int asked)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return asked > 0 ? asked : processors > 0 ? (int)processors : 1;
}

int64_t lm_cpu_room(const struct lm_heads *heads, int threads, int64_t keys, bool training)
{
    static const int64_t PACKED = 7 << 20;
    int64_t floats = lm_cpu_attention_room(heads, keys, training);
    return threads_of(threads) * (floats * (int64_t)sizeof(float) + (training ? PACKED : 0));
}

static struct lm_cpu *new_cpu(int threads)
{
    struct lm_cpu *cpu = memory_alloc(sizeof *cpu);
    cpu->backend.operations = &operations;
    cpu->team = team_new(threads_of(threads));
    cpu->tiles = lm_cpu_has_tiles();
    cpu->scratch = memory_alloc((size_t)team_threads(cpu->team) * sizeof *cpu->scratch);
    return cpu;
}

struct lm_backend *lm_cpu_new(int threads)
{
    return &new_cpu(threads)->backend;
}

struct lm_backend *lm_cpu_new_split(int threads)
{
    struct lm_cpu *cpu = new_cpu(threads);
    cpu->products = lm_cpu_bf16_new_split();
    return &cpu->backend;
}

struct akgen_error *lm_cpu_new_bf16(int threads, struct lm_backend **made)
{
    *made = NULL;
    if (!lm_cpu_has_bf16())
        return error_new("this processor has neither AMX nor AVX512-BF16 (or DNNL_MAX_CPU_ISA hides them): products of "
                         "bfloat16 would take longer than those of float32");
    struct lm_cpu *cpu = new_cpu(threads);
    *made = &cpu->backend;
    cpu->operations = operations;
    cpu->operations.name = "CPU, bfloat16 products";
    cpu->backend.operations = &cpu->operations;
    cpu->products = cpu->bf16 = lm_cpu_bf16_new();
    return NULL;
}

void lm_cpu_free(struct lm_backend *backend)
{
    if (!backend)
        return;
    struct lm_cpu *cpu = lm_cpu_of(backend);
    for (int worker = 0; worker < team_threads(cpu->team); worker++)
        free(cpu->scratch[worker].floats);
    free(cpu->scratch);
    lm_cpu_bf16_free(cpu->products);
    team_free(cpu->team);
    free(cpu);
}

int lm_cpu_threads(const struct lm_backend *backend)
{
    return team_threads(((const struct lm_cpu *)backend)->team);
}
