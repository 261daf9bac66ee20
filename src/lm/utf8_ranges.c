/* Ranges of code points as ranges of bytes. A range is cut where the number of bytes changes, and then, from the last byte to the first, where
 * the bytes behind do not run through all of their values: what is left is a product of ranges. */
#include "lm/grammar_internal.h"

enum { LAST_BEFORE_SURROGATES = 0xd7ff, FIRST_BEHIND_SURROGATES = 0xe000 };

static int encode(uint32_t c, uint8_t *bytes)
{
    int count = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = count - 1; i > 0; i--, c >>= 6)
        bytes[i] = (uint8_t)(0x80 | (c & 0x3f));
    bytes[0] = (uint8_t)(leads[count] | c);
    return count;
}

void lm_utf8_ranges(uint32_t low, uint32_t high,
                    void (*add)(void *closure, const struct lm_byte_range *ranges, int count), void *closure)
{
    static const uint32_t ends[] = {0x7f, 0x7ff, LAST_BEFORE_SURROGATES, 0xffff};
    if (low > LAST_BEFORE_SURROGATES && low < FIRST_BEHIND_SURROGATES)
        low = FIRST_BEHIND_SURROGATES;
    if (high > LAST_BEFORE_SURROGATES && high < FIRST_BEHIND_SURROGATES)
        high = LAST_BEFORE_SURROGATES;
    if (low > high)
        return;
    for (int i = 0; i < 4; i++)
        if (low <= ends[i] && high > ends[i]) {
            lm_utf8_ranges(low, ends[i], add, closure);
            lm_utf8_ranges(ends[i] + 1, high, add, closure);
            return;
        }
    for (int bits = 6; bits <= 18 && high > 0x7f; bits += 6) {
        uint32_t mask = (1u << bits) - 1, cut = 0;
        if ((low & ~mask) == (high & ~mask))
            break;
        if (low & mask)
            cut = (low | mask) + 1;
        else if ((high & mask) != mask)
            cut = high & ~mask;
        if (cut) {
            lm_utf8_ranges(low, cut - 1, add, closure);
            lm_utf8_ranges(cut, high, add, closure);
            return;
        }
    }
    uint8_t lows[4], highs[4];
    struct lm_byte_range ranges[4];
    int count = encode(low, lows);
    encode(high, highs);
    for (int i = 0; i < count; i++)
        ranges[i] = (struct lm_byte_range){lows[i], highs[i]};
    add(closure, ranges, count);
}
