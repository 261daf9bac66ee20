/* half (IEEE binary16) and bfloat16 as storage formats: exact widening, round-to-nearest-even narrowing. */
#ifndef BASE_HALF_H
#define BASE_HALF_H

#include <stdint.h>
#include <string.h>

typedef _Float16 half_t;

static inline float bf16_to_float(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* Round to nearest, ties to even; NaN stays NaN (quiet). */
static inline uint16_t bf16_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)((bits >> 16) | 0x40);
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/* From double in one rounding: rounding to odd at 24 bits first makes the second rounding exact. */
static inline float float_round_odd(double value)
{
    float narrow = (float)value;
    if ((double)narrow == value || narrow != narrow)
        return narrow;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    if (((double)narrow > value) == (value > 0)) /* rounded away from zero: step back to truncate */
        bits -= 1;
    bits |= 1;
    memcpy(&narrow, &bits, sizeof bits);
    return narrow;
}

static inline uint16_t bf16_from_double(double value)
{
    return bf16_from_float(float_round_odd(value));
}

#endif
