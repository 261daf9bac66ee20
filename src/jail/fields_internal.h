/* Structs as JSON, both ways: each has one table of its fields, from which writer and reader are made. What is no plain
 * field (lists, attributes' values) follows by hand. Numbers of 64 bits travel as JSON integers, bit for bit. */
#ifndef JAIL_FIELDS_INTERNAL_H
#define JAIL_FIELDS_INTERNAL_H

#include "op/op.h"

/* One field of a struct. */
struct field {
    const char *name;
    enum field_kind {
        FIELD_TEXT,   /* const char *, may be NULL */
        FIELD_NAME,   /* const char *, NULL is read as "" */
        FIELD_FLAG,   /* bool */
        FIELD_REAL,   /* double */
        FIELD_AMOUNT, /* double, from 0 to `high` */
        FIELD_INT,    /* int, unsigned or an enum, from low to high */
        FIELD_WORD    /* uint64_t, from low to high */
    } kind;
    size_t offset;
    int64_t low, high;
};
#define TEXT(type, member)           {#member, FIELD_TEXT, offsetof(struct type, member), 0, 0}
#define NAME(type, member)           {#member, FIELD_NAME, offsetof(struct type, member), 0, 0}
#define FLAG(type, member)           {#member, FIELD_FLAG, offsetof(struct type, member), 0, 0}
#define REAL(type, member)           {#member, FIELD_REAL, offsetof(struct type, member), 0, 0}
#define AMOUNT(type, member, high)   {#member, FIELD_AMOUNT, offsetof(struct type, member), 0, high}
#define INT(type, member, low, high) {#member, FIELD_INT, offsetof(struct type, member), low, high}
#define WORD(type, member)           {#member, FIELD_WORD, offsetof(struct type, member), INT64_MIN, INT64_MAX}
#define SIZE(type, member)           {#member, FIELD_WORD, offsetof(struct type, member), 0, INT64_MAX}
#define COUNT(fields)                (sizeof(fields) / sizeof *(fields))

/* Writing. */
json_t *fields_word(uint64_t value);
json_t *fields_write(const struct field *fields, size_t count, const void *object);
/* A tensor's type, format and dimensions. */
json_t *fields_write_shape(const struct op_tensor *shape);
/* What a host part has decided. */
json_t *fields_write_tiling(const struct op_tiling *tiling);
/* "0badcafe": bytes as text. */
json_t *fields_write_bytes(const void *bytes, size_t count);

/* Reading with one error. */
struct reader {
    struct arena *arena;
    const char *problem; /* the first missing or wrong field */
};
void fields_complain(struct reader *reader, const char *key);
void fields_read(struct reader *reader, const json_t *json, const struct field *fields, size_t count, void *object);
/* NULL, and a complaint, if there is none of at most `limit` items. */
const json_t *fields_read_array(struct reader *reader, const json_t *object, const char *key, size_t limit);
void fields_read_shape(struct reader *reader, const json_t *json, struct op_tensor *shape);
void fields_read_tiling(struct reader *reader, const json_t *json, struct op_tiling *tiling);
/* At most `limit` of them, in the arena; NULL, and a complaint, if it is no such text. */
void *fields_read_bytes(struct reader *reader, const json_t *object, const char *key, uint64_t limit, uint64_t *count);

#endif
