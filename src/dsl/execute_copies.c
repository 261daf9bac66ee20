/* The interpreter: tl.load, tl.store and tl.store_add, between buffers and global memory. */
#include "dsl/interpret_internal.h"

#include <string.h>

/* A copy: element i of the buffer and element offset + i * stride of the tensor, for i < count. */
struct copy {
    struct value address, buffer, mask, other;
    int64_t stride, count;
};

static bool copy_of(struct core *core, const struct dsl_expr *call, const char *buffer, struct copy *copy)
{
    if (!call_memory(core, call, "address", &copy->address) || !call_memory(core, call, buffer, &copy->buffer) ||
        !call_value(core, call, "mask", &copy->mask) || !call_value(core, call, "other", &copy->other))
        return false;
    bool range = copy->address.type == DSL_TYPE_ADDRESS;
    copy->stride = range ? copy->address.stride : 1;
    if (!call_count(core, call, range ? copy->address.length : copy->buffer.length, &copy->count) ||
        !memory_converts(core, call, copy->address.memory, copy->buffer.memory))
        return false;
    if (copy->mask.type == DSL_TYPE_MASK && copy->mask.length < copy->count)
        return CORE_FAIL(core, call->place, DSL_RULE_bounds, NULL, "the mask has %lld elements, the transfer %lld",
                         (long long)copy->mask.length, (long long)copy->count);
    return memory_holds(core, call, copy->buffer.memory, copy->buffer.offset, copy->count);
}

/* How many elements from number i on are alike: all meant, or none; at most so many as are copied at once. */
static int run_from(const struct copy *copy, int64_t i, bool *meant)
{
    int n = 1;
    *meant = copy->mask.type != DSL_TYPE_MASK || copy->mask.mask[i];
    while (n < ELEMENTS_RUN && i + n < copy->count && (copy->stride == 1 || !*meant) &&
           (copy->mask.type != DSL_TYPE_MASK || (copy->mask.mask[i + n] != 0) == *meant))
        n++;
    return n;
}

/* Elements i .. i + n - 1, which are meant and lie one behind the other in both memories. */
static bool copy_run(struct core *core, const struct dsl_expr *call, const struct copy *copy, bool load, int64_t i,
                     int n)
{
    struct elements elements;
    struct dsl_memory *gm = copy->address.memory, *ub = copy->buffer.memory;
    int64_t at, place = copy->buffer.offset + i;
    if (!core_offset(core, call, copy->address.offset, i, copy->stride, &at))
        return false;
    if (at < 0 || at > gm->count - n) /* tells of the first element outside */
        return memory_holds(core, call, gm, at < 0 || at > gm->count ? at : gm->count, 1);
    return elements_read(core, call, load ? gm : ub, load ? at : place, n, &elements) &&
           elements_write(core, call, load ? ub : gm, load ? place : at, n, &elements);
}

/* Elements of the buffer for which nothing is loaded: `other`, or they have no value. */
static bool fill_run(struct core *core, const struct dsl_expr *call, const struct copy *copy, int64_t i, int n)
{
    struct dsl_memory *ub = copy->buffer.memory;
    struct element other;
    if (copy->other.type == DSL_TYPE_NONE) {
        memset(ub->state + copy->buffer.offset + i, STATE_UNDEFINED, (size_t)n);
        return true;
    }
    if (!element_of(core, call, ub, copy->other, &other))
        return false;
    for (int k = 0; k < n; k++)
        if (!element_write(core, call, ub, copy->buffer.offset + i + k, other))
            return false;
    return true;
}

bool execute_load(struct core *core, const struct dsl_expr *call)
{
    struct copy copy;
    bool good = copy_of(core, call, "dst", &copy), meant;
    for (int64_t i = 0, n; good && i < copy.count; i += n) {
        n = run_from(&copy, i, &meant);
        good = meant ? copy_run(core, call, &copy, true, i, (int)n) : fill_run(core, call, &copy, i, (int)n);
    }
    return good;
}

bool execute_store(struct core *core, const struct dsl_expr *call)
{
    struct copy copy;
    bool good = copy_of(core, call, "src", &copy), meant;
    for (int64_t i = 0, n; good && i < copy.count; i += n) {
        n = run_from(&copy, i, &meant);
        good = !meant || copy_run(core, call, &copy, false, i, (int)n);
    }
    return good;
}

bool execute_store_add(struct core *core, const struct dsl_expr *call)
{
    struct copy copy;
    if (!copy_of(core, call, "src", &copy))
        return false;
    struct dsl_memory *gm = copy.address.memory;
    enum akgen_dtype type = gm->tensor.type;
    if (type != AKGEN_FLOAT && type != AKGEN_FLOAT16 && type != AKGEN_BF16 && type != AKGEN_INT32)
        return CORE_FAIL(core, call->place, DSL_RULE_types, "float32, float16, bfloat16 and int32 can be added to",
                         "'%s' holds %s", gm->name, akgen_dtype_name(type));
    bool good = memory_holds(core, call, gm, copy.address.offset, copy.count);
    for (int64_t i = 0; good && i < copy.count; i++) {
        struct element element;
        good = element_read(core, call, copy.buffer.memory, copy.buffer.offset + i, &element) &&
               element_add(core, call, gm, copy.address.offset + i, element);
    }
    return good;
}
