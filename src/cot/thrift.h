/* Thrift's compact protocol, in which Parquet's headers are, read from bytes of which nothing is known. */
#ifndef COT_THRIFT_H
#define COT_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

struct thrift {
    const uint8_t *at, *end;
    bool bad; /* it is none: from then on every read gives 0 and nothing */
    int depth;
};
/* The next field of a struct: its number, in *last too, and type; 0: the struct has ended. *last begins with 0. */
int thrift_field(struct thrift *thrift, int *last, int *type);
int64_t thrift_number(struct thrift *thrift);
/* The bytes lie in the input. */
const char *thrift_binary(struct thrift *thrift, size_t *length);
/* How many elements of this type a list has; 0 and bad: of another type. Never more than bytes are left. */
size_t thrift_list(struct thrift *thrift, int type);
/* Reads over a field's value. */
void thrift_skip(struct thrift *thrift, int type);

#endif
