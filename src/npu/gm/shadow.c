/* Definedness of UB: one bit per byte. What was never written is undefined, and so is what is computed from it. */
#include "npu/gm/shadow.h"

#include "npu/gm/gm.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <string.h>

/* Applies body to the words that hold bits [first, first+count), with the mask of the bits meant. */
#define FOR_WORDS(first, count, word, mask, body)                                                                      \
    do {                                                                                                               \
        uint64_t at_ = (first), end_ = at_ + (count);                                                                  \
        while (at_ < end_) {                                                                                           \
            uint64_t word = at_ / 64, bit_ = at_ % 64;                                                                 \
            uint64_t here_ = end_ - at_ < 64 - bit_ ? end_ - at_ : 64 - bit_;                                          \
            uint64_t mask = ~UINT64_C(0) >> (64 - here_) << bit_;                                                      \
            body;                                                                                                      \
            at_ += here_;                                                                                              \
        }                                                                                                              \
    } while (0)

static uint64_t ub_offset(const struct npu_core *core, const void *at)
{
    return (uint64_t)((const uint8_t *)at - core->ub);
}

bool npu_ub_defined(const struct npu_core *core, const void *at, size_t bytes)
{
    FOR_WORDS(ub_offset(core, at), bytes, word, mask, {
        if (~core->ub_defined[word] & mask)
            return false;
    });
    return true;
}

bool npu_ub_any_defined(const struct npu_core *core, const void *at, size_t bytes)
{
    FOR_WORDS(ub_offset(core, at), bytes, word, mask, {
        if (core->ub_defined[word] & mask)
            return true;
    });
    return false;
}

void npu_ub_define(struct npu_core *core, const void *at, size_t bytes)
{
    FOR_WORDS(ub_offset(core, at), bytes, word, mask, core->ub_defined[word] |= mask);
}

void npu_ub_undefine(struct npu_core *core, const void *at, size_t bytes)
{
    uint64_t low = ub_offset(core, at);
    FOR_WORDS(low, bytes, word, mask, core->ub_defined[word] &= ~mask);
    if (low < core->bits_high && low + bytes > core->bits_low)
        memset(core->ub_bits + low, 0, bytes);
}

uint8_t npu_ub_bits(const struct npu_core *core, const void *at)
{
    return npu_ub_defined(core, at, 1) ? UINT8_MAX : core->ub_bits[ub_offset(core, at)];
}

void npu_ub_define_bits(struct npu_core *core, const void *at, uint8_t bits)
{
    if (bits == UINT8_MAX) {
        npu_ub_define(core, at, 1);
        return;
    }
    npu_ub_undefine(core, at, 1);
    if (!bits)
        return;
    uint32_t offset = (uint32_t)ub_offset(core, at);
    core->ub_bits[offset] = bits;
    if (core->bits_low == core->bits_high)
        core->bits_low = core->bits_high = offset;
    core->bits_low = offset < core->bits_low ? offset : core->bits_low;
    core->bits_high = offset >= core->bits_high ? offset + 1 : core->bits_high;
}

void npu_undefined_read(struct npu_core *core, const char *operand, const void *at)
{
    if (!core->pc_undefined)
        core->pc_undefined = core->pc;
    if (npu_in_ub(core, (uint64_t)at))
        npu_note(core, false, FAULT(uninitialized_read), operand, 0,
                 "reads %s bytes that nothing has written (offset %llu)",
                 npu_memories[npu_memory_at(core, (uint64_t)at)].name,
                 (unsigned long long)((uint64_t)at - npu_memory_base(core, npu_memory_at(core, (uint64_t)at))));
    else
        npu_note(core, false, FAULT(uninitialized_read), operand, 0, "reads GM bytes that nothing has written");
}

static bool defined_at(const struct npu_core *core, const uint8_t *at, size_t bytes)
{
    return npu_in_ub(core, (uint64_t)at) ? npu_ub_defined(core, at, bytes) : npu_gm_defined(core, at, bytes);
}

static void mark(struct npu_core *core, uint8_t *at, size_t bytes, bool defined)
{
    if (!npu_in_ub(core, (uint64_t)at))
        npu_gm_written(core, at, bytes, defined, false);
    else if (defined)
        npu_ub_define(core, at, bytes);
    else
        npu_ub_undefine(core, at, bytes);
}

void npu_shadow_copy(struct npu_core *core, void *to, const void *from, size_t bytes)
{
    uint8_t *target = to;
    const uint8_t *source = from;
    if (defined_at(core, source, bytes)) {
        mark(core, target, bytes, true);
        return;
    }
    /* Runs of equal definedness. (The chip leaves a copy between overlapping ranges undefined as well.) */
    size_t first = 0;
    bool state = defined_at(core, source, 1);
    for (size_t i = 1; i <= bytes; i++) {
        bool here = i < bytes && defined_at(core, source + i, 1);
        if (i < bytes && here == state)
            continue;
        mark(core, target + first, i - first, state);
        first = i;
        state = here;
    }
}
