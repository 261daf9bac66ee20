/* DumpTensor: the elements of a tensor as text, in the form of the documentation (asc-devkit docs, 调试接口/上板打印/
 * DumpTensor): a line that says what and where, then the elements in brackets. */
#include "base/half.h"
#include "npu/gm/dcache.h"
#include "npu/gm/gm.h"
#include "npu/memory.h"
#include "npu/order/schedule.h"
#include "npu/queue/queue.h"
#include "npu/steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_element(const uint8_t *at, int dtype)
{
    uint64_t bits = 0;
    size_t size = akgen_dtype_size((enum akgen_dtype)dtype);
    float single;
    double twice;
    half_t half;
    memcpy(&bits, at, size);
    memcpy(&single, at, size < sizeof single ? size : sizeof single);
    switch (dtype) {
    case AKGEN_FLOAT:
        printf("%f", (double)single);
        break;
    case AKGEN_FLOAT16:
        memcpy(&half, at, sizeof half);
        printf("%f", (double)half);
        break;
    case AKGEN_BF16:
        printf("%f", (double)bf16_to_float((uint16_t)bits));
        break;
    case AKGEN_DOUBLE:
        memcpy(&twice, at, sizeof twice);
        printf("%f", twice);
        break;
    case AKGEN_INT8:
        printf("%d", (int8_t)bits);
        break;
    case AKGEN_INT16:
        printf("%d", (int16_t)bits);
        break;
    case AKGEN_INT32:
        printf("%d", (int32_t)bits);
        break;
    case AKGEN_INT64:
        printf("%" PRId64, (int64_t)bits);
        break;
    default:
        printf("%" PRIu64, bits);
    }
}

/* Brackets that open before, or close behind, element i of a tensor of these sizes. */
static int brackets(const uint32_t *shape, int dims, uint32_t i, bool closing)
{
    int n = 0;
    uint64_t row = 1;
    for (int d = dims - 1; d >= 0; d--) {
        row *= shape[d];
        n += row && (i + closing) % row == 0;
    }
    return n;
}

static void print_elements(const uint8_t *from, int dtype, uint32_t count, const uint32_t *shape, int dims)
{
    size_t size = akgen_dtype_size((enum akgen_dtype)dtype);
    uint32_t one = count;
    if (!dims) {
        shape = &one;
        dims = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (int n = brackets(shape, dims, i, false); n > 0; n--)
            putchar('[');
        print_element(from + i * size, dtype);
        int close = i + 1 == count ? dims : brackets(shape, dims, i, true);
        for (int n = close; n > 0; n--)
            putchar(']');
        if (i + 1 < count)
            fputs(close ? ",\n" : ", ", stdout);
    }
    putchar('\n');
}

void npu_dump_tensor(const struct npu_tensor *tensor, int dtype, uint32_t desc, uint32_t count, const uint32_t *shape,
                     int dims)
{
    NPU_ENTER(core);
    bool gm = tensor->position == NPU_GM;
    if (core->aic && !gm)
        return;
    npu_schedule_drain(core, NPU_PIPE_ALL);
    npu_steps_text(core, count);
    uint64_t bytes = (uint64_t)count * akgen_dtype_size((enum akgen_dtype)dtype);
    if (gm)
        gm_check(core, "tensor", tensor->addr, bytes);
    else if (!npu_in_ub(core, tensor->addr) || (bytes && !npu_in_ub(core, tensor->addr + bytes - 1)))
        npu_local_overrun(core, NPU_MEM_UB, "tensor", tensor->addr, bytes);
    printf("DumpTensor: desc=%" PRIu32 ", addr=%" PRIx64 ", data_type=%s, position=%s, dump_size=%" PRIu32 "\n", desc,
           gm ? tensor->addr : tensor->addr - (uint64_t)core->ub, akgen_dtype_name((enum akgen_dtype)dtype),
           gm ? "GM" : "UB", count);
    if (gm)
        dcache_swap_out(core);
    print_elements((const uint8_t *)tensor->addr, dtype, count, shape, dims);
    if (gm)
        dcache_swap_in(core);
}
