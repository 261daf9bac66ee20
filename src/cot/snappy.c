/* A text is its length and then pieces: bytes as they are, or so many of those that stand so far back. */
#include "cot/snappy.h"

#include <string.h>

/* A whole number of so many bytes, the least first. */
static size_t little(const uint8_t *from, size_t bytes)
{
    size_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (size_t)from[i] << 8 * i;
    return value;
}

/* The length at the head, 7 bits a byte; *at moves behind it. */
static bool read_size(const uint8_t *from, size_t length, size_t *at, size_t *size)
{
    *size = 0;
    for (int shift = 0; *at < length && shift < 35; shift += 7) {
        uint8_t byte = from[(*at)++];
        *size |= (size_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

bool snappy_read(const uint8_t *from, size_t length, uint8_t *to, size_t size)
{
    size_t at = 0, made = 0, said;
    if (!read_size(from, length, &at, &said) || said != size)
        return false;
    while (at < length) {
        const uint8_t tag = from[at++];
        size_t count, back, more = 0;
        if ((tag & 3) == 0) { /* bytes; above 60 the length stands behind the tag */
            count = (size_t)(tag >> 2);
            more = count < 60 ? 0 : count - 59;
            if (more > length - at)
                return false;
            count = (more ? little(from + at, more) : count) + 1;
            at += more;
            if (count > length - at || count > size - made)
                return false;
            memcpy(to + made, from + at, count);
            at += count;
            made += count;
            continue;
        }
        more = (tag & 3) == 3 ? 4 : (size_t)(tag & 3);
        if (more > length - at)
            return false;
        count = more == 1 ? (size_t)(tag >> 2 & 7) + 4 : (size_t)(tag >> 2) + 1;
        back = little(from + at, more) | (more == 1 ? (size_t)(tag >> 5) << 8 : 0);
        at += more;
        if (!back || back > made || count > size - made)
            return false;
        for (size_t i = 0; i < count; i++, made++) /* what is copied may overlap itself */
            to[made] = to[made - back];
    }
    return made == size;
}
