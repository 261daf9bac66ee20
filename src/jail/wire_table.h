/* The tables that wire.c interprets: what a message's records are made of, and the macros of which a .def makes them (wire.def says what
 * each is). A program that talks to one of its own in the jail includes this in the one file that holds its table. */
#ifndef JAIL_WIRE_TABLE_H
#define JAIL_WIRE_TABLE_H

#include "jail/wire.h"

#include <stdint.h>

enum wire_kind {
    KIND_INT,
    KIND_FLAG,
    KIND_REAL,
    KIND_TEXT,
    KIND_NAME,
    KIND_NEED,
    KIND_BYTES,
    KIND_VALUES,
    KIND_VALUE,
    KIND_ONE,
    KIND_PART,
    KIND_DROP,
    KIND_LIST,
    KIND_SAME,
    KIND_MAYBE
};
struct wire_field {
    const char *name;
    enum wire_kind kind;
    unsigned offset, size, element;  /* of the member in its struct, of one number in it */
    unsigned counter, counter_bytes; /* the member that says how many there are, or by not being 0 that there is one */
    int64_t low, high;               /* a number's range; of others, `high` is the most */
    const struct wire_record *of;
};
struct wire_record {
    const char *name;
    unsigned size; /* of the struct */
    unsigned count;
    const struct wire_field *fields;
};

/* The messages of two programs that talk, by their numbers. */
struct wire_messages {
    const struct wire_record *const *records;
    unsigned count;
};
/* wire_encode, wire_decode and wire_is with other tables. */
void *wire_encode_of(struct arena *arena, const struct wire_messages *messages, unsigned message, const void *object,
                     size_t *length);
struct akgen_error *wire_decode_of(struct arena *arena, const struct wire_messages *messages, unsigned message,
                                   const void *bytes, size_t length, void *object);
bool wire_is_of(const struct wire_messages *messages, unsigned message, const void *bytes, size_t length);
/* struct op_def, as akgen-host sends it. */
extern const struct wire_record wire_op_def;

#define MEMBER(type, member) ((struct type *)0)->member
#define FIELD(type, member, is, ...)                                                                                   \
    {.name = #member,                                                                                                  \
     .kind = KIND_##is,                                                                                                \
     .offset = offsetof(struct type, member),                                                                          \
     .size = sizeof(MEMBER(type, member)),                                                                             \
     __VA_ARGS__},
#define COUNTER(type, member) .counter = offsetof(struct type, member), .counter_bytes = sizeof(MEMBER(type, member))
#define INT(type, member, from, to)                                                                                    \
    FIELD(type, member, INT, .element = sizeof(MEMBER(type, member)), .low = from, .high = to)
#define WORD(type, member)           INT(type, member, INT64_MIN, INT64_MAX)
#define SIZE(type, member)           INT(type, member, 0, INT64_MAX)
#define FLAG(type, member)           FIELD(type, member, FLAG, .element = sizeof(bool), .high = 1)
#define REAL(type, member, from, to) FIELD(type, member, REAL, .element = sizeof(double), .low = from, .high = to)
#define DIMS(type, member, rank)                                                                                       \
    FIELD(type, member, INT, .element = sizeof(int64_t), .low = INT64_MIN, .high = INT64_MAX, COUNTER(type, rank))
#define TEXT(type, member, longest)      FIELD(type, member, TEXT, .high = longest)
#define NAME(type, member, longest)      FIELD(type, member, NAME, .high = longest)
#define NEED(type, member, longest)      FIELD(type, member, NEED, .high = longest)
#define BYTES(type, member, count, most) FIELD(type, member, BYTES, .high = most, COUNTER(type, count))
#define VALUES(type, member, most)       FIELD(type, member, VALUES, .high = most)
#define VALUE(type, member)              FIELD(type, member, VALUE, .high = 0)
#define ONE(type, member, record)        FIELD(type, member, ONE, .of = &record##_record)
#define PART(type, member, record, test) FIELD(type, member, PART, .of = &record##_record, COUNTER(type, member.test))
#define DROP(type, member, record, test) FIELD(type, member, DROP, .of = &record##_record, COUNTER(type, member.test))
#define LIST(type, member, count, record, most)                                                                        \
    FIELD(type, member, LIST, .of = &record##_record, .high = most, COUNTER(type, count))
#define SAME(type, member, count, record, most)                                                                        \
    FIELD(type, member, SAME, .of = &record##_record, .high = most, COUNTER(type, count))
#define MAYBE(type, member, count, record, most)                                                                       \
    FIELD(type, member, MAYBE, .of = &record##_record, .high = most, COUNTER(type, count))
#define RECORD(name) static const struct wire_field name##_fields[] = {
#define END(name, type)                                                                                                \
    }                                                                                                                  \
    ;                                                                                                                  \
    static const struct wire_record name##_record = {#name, sizeof(struct type),                                       \
                                                     sizeof name##_fields / sizeof *name##_fields, name##_fields};

#endif
