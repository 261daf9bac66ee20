/* A field is a byte with the distance to the last number and the type; numbers are 7 bits a byte, in zigzag where they have a sign. */
#include "cot/thrift.h"

enum { DEEPEST = 32 };

static uint8_t byte(struct thrift *thrift)
{
    if (thrift->bad || thrift->at == thrift->end) {
        thrift->bad = true;
        return 0;
    }
    return *thrift->at++;
}

static uint64_t varint(struct thrift *thrift)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t next = byte(thrift);
        value |= (uint64_t)(next & 0x7f) << shift;
        if (!(next & 0x80))
            return thrift->bad ? 0 : value;
    }
    thrift->bad = true;
    return 0;
}

int64_t thrift_number(struct thrift *thrift)
{
    uint64_t value = varint(thrift);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

int thrift_field(struct thrift *thrift, int *last, int *type)
{
    uint8_t head = byte(thrift);
    *type = head & 15;
    if (!*type)
        return 0;
    int64_t number = head >> 4 ? *last + (head >> 4) : thrift_number(thrift);
    if (number <= 0 || number > INT16_MAX)
        thrift->bad = true;
    *last = thrift->bad ? 0 : (int)number;
    return *last;
}

const char *thrift_binary(struct thrift *thrift, size_t *length)
{
    uint64_t count = varint(thrift);
    if (count > (uint64_t)(thrift->end - thrift->at))
        thrift->bad = true;
    *length = thrift->bad ? 0 : (size_t)count;
    const char *bytes = (const char *)thrift->at;
    thrift->at += *length;
    return bytes;
}

/* The head of a list or a set. */
static size_t head_of_list(struct thrift *thrift, int *type)
{
    uint8_t head = byte(thrift);
    uint64_t count = head >> 4 == 15 ? varint(thrift) : head >> 4;
    *type = head & 15;
    if (count > (uint64_t)(thrift->end - thrift->at)) /* each element has at least a byte */
        thrift->bad = true;
    return thrift->bad ? 0 : (size_t)count;
}

size_t thrift_list(struct thrift *thrift, int type)
{
    int found;
    size_t count = head_of_list(thrift, &found);
    thrift->bad |= count && found != type;
    return thrift->bad ? 0 : count;
}

static void skip_map(struct thrift *thrift)
{
    uint64_t count = varint(thrift);
    uint8_t types = count ? byte(thrift) : 0;
    for (uint64_t i = 0; i < count && !thrift->bad; i++) {
        thrift_skip(thrift, types >> 4);
        thrift_skip(thrift, types & 15);
    }
}

static void skip_struct(struct thrift *thrift)
{
    for (int last = 0, type; thrift_field(thrift, &last, &type);)
        thrift_skip(thrift, type);
}

void thrift_skip(struct thrift *thrift, int type)
{
    enum { I8 = 3, I16, DOUBLE = 7, SET = 10, MAP };
    size_t length;
    int inner;
    if (++thrift->depth > DEEPEST)
        thrift->bad = true;
    if (thrift->bad)
        return;
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        break;
    case I8:
        byte(thrift);
        break;
    case I16:
    case THRIFT_I32:
    case THRIFT_I64:
        varint(thrift);
        break;
    case DOUBLE:
        for (int i = 0; i < 8; i++)
            byte(thrift);
        break;
    case THRIFT_BINARY:
        thrift_binary(thrift, &length);
        break;
    case THRIFT_LIST:
    case SET:
        length = head_of_list(thrift, &inner);
        for (size_t i = 0; i < length && !thrift->bad; i++) /* a truth in a list has a byte of its own */
            inner <= THRIFT_FALSE ? (void)byte(thrift) : thrift_skip(thrift, inner);
        break;
    case MAP:
        skip_map(thrift);
        break;
    case THRIFT_STRUCT:
        skip_struct(thrift);
        break;
    default:
        thrift->bad = true;
    }
    thrift->depth--;
}
