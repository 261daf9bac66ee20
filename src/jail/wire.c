/* Encodes and decodes the records of wire.def: a table of fields for each, and an interpreter of such tables either way.
 *
 *   message: hash of the tables (8 bytes), enum wire_message (4 bytes), the record's fields
 *   number, flag: as in memory             text: its length + 1, or 0 for NULL (4 bytes), its bytes
 *   bytes: their number (4 bytes), they    part: the bytes that it takes, or 0 for none (4 bytes), its fields
 *   list: its length (4 bytes), records    value: enum wire_tag (1 byte), a number or a text or a list of values */
#include "jail/wire.h"
#include "base/text.h"
#include "jail/job.h"
#include "jail/wire_table.h"

#include <inttypes.h>
#include <string.h>

/* Elements of lists that are no structs. */
struct wire_code {
    int code;
};
struct wire_word {
    uint64_t word;
};
struct wire_name {
    const char *name;
};

static const struct wire_record tiling_field_record; /* which holds a list of its own kind */
#include "jail/wire.def"

const struct wire_record wire_op_def = {"def", sizeof(struct op_def), sizeof def_fields / sizeof *def_fields,
                                        def_fields};
static const struct wire_record *const records[] = {[WIRE_JOB] = &job_record,
                                                    [WIRE_JOB_RESULT] = &job_result_record,
                                                    [WIRE_HOST_JOB] = &host_job_record,
                                                    [WIRE_HOST_RESULT] = &host_result_record};
static const struct wire_messages of_jail = {records, sizeof records / sizeof *records};
enum { HEADER = sizeof(uint64_t) + sizeof(uint32_t) };
/* Deeper than any value or structure of tiling data that is accepted. */
enum { DEEPEST = 24 };

/* An attribute's value. */
enum wire_tag { TAG_NULL, TAG_FALSE, TAG_TRUE, TAG_INTEGER, TAG_REAL, TAG_STRING, TAG_ARRAY };

/* A digest of everything that the bytes of a message depend on. */
static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 32;
}

static uint64_t hash_record(uint64_t hash, const struct wire_record *record)
{
    for (const struct wire_field *field = record->fields; field < record->fields + record->count; field++) {
        for (const char *c = field->name; *c; c++)
            hash = hash_number(hash, (uint8_t)*c);
        hash = hash_number(hash, field->kind);
        hash = hash_number(hash, (uint64_t)field->size << 32 | field->element);
        hash = hash_number(hash, (uint64_t)field->low);
        hash = hash_number(hash, (uint64_t)field->high);
        if (field->of && field->of != record)
            hash = hash_record(hash, field->of);
    }
    return hash;
}

static void make_header(const struct wire_messages *messages, unsigned message, uint8_t header[HEADER])
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < messages->count; i++)
        hash = hash_record(hash, messages->records[i]);
    const uint32_t kind = message;
    memcpy(header, &hash, sizeof hash);
    memcpy(header + sizeof hash, &kind, sizeof kind);
}

bool wire_is_of(const struct wire_messages *messages, unsigned message, const void *bytes, size_t length)
{
    uint8_t header[HEADER];
    make_header(messages, message, header);
    return length >= HEADER && memcmp(bytes, header, HEADER) == 0;
}

bool wire_is(enum wire_message message, const void *bytes, size_t length)
{
    return wire_is_of(&of_jail, message, bytes, length);
}

/* Members. */
static uint64_t get_counter(const struct wire_field *field, const void *object)
{
    uint64_t count = 0;
    memcpy(&count, (const char *)object + field->counter, field->counter_bytes);
    return count;
}

/* Returns the number of elements of `bytes` each in the member; for dimensions, the rank. */
static unsigned element_count(const struct wire_field *field, const void *object, unsigned bytes)
{
    unsigned most = field->size / bytes;
    int rank = field->kind == KIND_INT && field->counter_bytes ? (int)get_counter(field, object) : (int)most;
    return rank < 0 ? 0 : (unsigned)rank < most ? (unsigned)rank : most;
}

static uint64_t tensor_bytes(const struct op_tensor *tensor)
{
    uint64_t bytes = akgen_dtype_size(tensor->type);
    for (int d = 0; d < tensor->rank; d++)
        if (tensor->dims[d] < 0 || __builtin_mul_overflow(bytes, (uint64_t)tensor->dims[d], &bytes))
            return 0;
    return tensor->rank < 0 ? 0 : bytes;
}

/* Encoding: once to measure and once to write. */
struct wire_writer {
    uint8_t *bytes; /* NULL: measures */
    size_t length;
};

static void put(struct wire_writer *writer, const void *bytes, size_t length)
{
    if (writer->bytes && length)
        memcpy(writer->bytes + writer->length, bytes, length);
    writer->length += length;
}

static void put_length(struct wire_writer *writer, uint64_t length)
{
    put(writer, &(uint32_t){(uint32_t)length}, sizeof(uint32_t));
}

static void put_text(struct wire_writer *writer, const char *text)
{
    const size_t length = text ? strlen(text) : 0;
    put_length(writer, text ? length + 1 : 0);
    if (!text || !writer->bytes || text_is_utf8(text)) {
        put(writer, text, length);
        return;
    }
    struct arena scratch = {0};
    char *legible = arena_strdup(&scratch, text);
    text_make_utf8(legible);
    put(writer, legible, length);
    arena_free(&scratch);
}

static void put_value(struct wire_writer *writer, const json_t *value)
{
    static const uint8_t tags[] = {
        [JSON_ARRAY] = TAG_ARRAY, [JSON_STRING] = TAG_STRING, [JSON_INTEGER] = TAG_INTEGER, [JSON_REAL] = TAG_REAL,
        [JSON_TRUE] = TAG_TRUE,   [JSON_FALSE] = TAG_FALSE,   [JSON_NULL] = TAG_NULL};
    const enum wire_tag tag = value ? tags[json_typeof(value)] : TAG_NULL;
    size_t i;
    json_t *item;
    put(writer, &(uint8_t){(uint8_t)tag}, 1);
    if (tag == TAG_INTEGER)
        put(writer, &(int64_t){json_integer_value(value)}, sizeof(int64_t));
    if (tag == TAG_REAL)
        put(writer, &(double){json_real_value(value)}, sizeof(double));
    if (tag == TAG_STRING)
        put_text(writer, json_string_value(value));
    if (tag == TAG_ARRAY) {
        put_length(writer, json_array_size(value));
        json_array_foreach((json_t *)value, i, item) put_value(writer, item);
    }
}

static void put_record(struct wire_writer *writer, const struct wire_record *record, const void *object);

static void put_records(struct wire_writer *writer, const struct wire_record *record, const char *objects, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_record(writer, record, objects + i * record->size);
}

static void put_field(struct wire_writer *writer, const struct wire_field *field, const void *object)
{
    const char *at = (const char *)object + field->offset, *pointer = NULL;
    uint64_t count = get_counter(field, object);
    if (field->size == sizeof pointer)
        memcpy(&pointer, at, sizeof pointer);
    switch (field->kind) {
    case KIND_INT:
    case KIND_FLAG:
    case KIND_REAL:
        put(writer, at, (size_t)field->element * element_count(field, object, field->element));
        break;
    case KIND_TEXT:
        put_text(writer, pointer);
        break;
    case KIND_NAME:
    case KIND_NEED:
        put_text(writer, pointer ? pointer : "");
        break;
    case KIND_VALUES:
        count = pointer ? tensor_bytes(object) : 0;
        __attribute__((fallthrough));
    case KIND_BYTES:
        put_length(writer, count);
        put(writer, pointer, count);
        break;
    case KIND_VALUE:
        put_value(writer, (const json_t *)pointer);
        break;
    case KIND_ONE:
        put_records(writer, field->of, at, element_count(field, object, field->of->size));
        break;
    case KIND_PART:
    case KIND_DROP: {
        const size_t begin = writer->length;
        put_length(writer, 0);
        if (count)
            put_record(writer, field->of, at);
        struct wire_writer length = {writer->bytes ? writer->bytes + begin : NULL, 0};
        put_length(&length, writer->length - begin - sizeof(uint32_t));
        break;
    }
    case KIND_LIST:
    case KIND_SAME:
    case KIND_MAYBE:
        put_length(writer, pointer ? count : 0);
        put_records(writer, field->of, pointer, pointer ? count : 0);
        break;
    }
}

static void put_record(struct wire_writer *writer, const struct wire_record *record, const void *object)
{
    for (unsigned i = 0; i < record->count; i++)
        put_field(writer, &record->fields[i], object);
}

void *wire_encode_of(struct arena *arena, const struct wire_messages *messages, unsigned message, const void *object,
                     size_t *length)
{
    struct wire_writer measure = {0}, writer = {0};
    put_record(&measure, messages->records[message], object);
    writer.bytes = arena_alloc(arena, HEADER + measure.length);
    make_header(messages, message, writer.bytes);
    writer.length = HEADER;
    put_record(&writer, messages->records[message], object);
    *length = writer.length;
    return writer.bytes;
}

void *wire_encode(struct arena *arena, enum wire_message message, const void *object, size_t *length)
{
    return wire_encode_of(arena, &of_jail, message, object, length);
}

/* Decoding. */
struct wire_held { /* a value whose reference is the caller's if all goes well */
    struct wire_held *before;
    json_t **value;
};
struct wire_reader {
    struct arena *arena;
    const uint8_t *at, *end;
    int depth;
    struct wire_held *held;
    const char *problem; /* of the field at hand, in words; NULL: none */
    struct akgen_error *error;
};

static bool complain(struct wire_reader *reader, const char *problem)
{
    if (!reader->problem)
        reader->problem = problem;
    return false;
}

static const void *take(struct wire_reader *reader, uint64_t length)
{
    if (length > (uint64_t)(reader->end - reader->at)) {
        complain(reader, "is cut off");
        return NULL;
    }
    reader->at += length;
    return reader->at - length;
}

static bool take_copy(struct wire_reader *reader, void *to, size_t length)
{
    const void *from = take(reader, length);
    if (from)
        memcpy(to, from, length);
    return from;
}

static bool take_length(struct wire_reader *reader, uint64_t most, uint32_t *length)
{
    return take_copy(reader, length, sizeof *length) && (*length <= most || complain(reader, "is too long"));
}

/* NULL if it is absent, too. */
static char *take_text(struct wire_reader *reader, uint64_t longest)
{
    uint32_t length;
    if (!take_length(reader, longest + 1, &length) || !length)
        return NULL;
    const char *from = take(reader, length - 1);
    char *text = from ? arena_strndup(reader->arena, from, length - 1) : NULL;
    if (text && (strlen(text) != length - 1 || !text_is_utf8(text)))
        complain(reader, "is no text in UTF-8");
    return text;
}

/* A new reference. */
static json_t *take_value(struct wire_reader *reader, int depth)
{
    uint8_t tag;
    int64_t integer;
    double real;
    uint32_t count;
    const char *text;
    if (!take_copy(reader, &tag, sizeof tag))
        return NULL;
    switch (tag) {
    case TAG_NULL:
        return json_null();
    case TAG_FALSE:
    case TAG_TRUE:
        return json_boolean(tag == TAG_TRUE);
    case TAG_INTEGER:
        return take_copy(reader, &integer, sizeof integer) ? json_integer(integer) : NULL;
    case TAG_REAL:
        return take_copy(reader, &real, sizeof real) ? json_real(real) : NULL;
    case TAG_STRING:
        text = take_text(reader, LONGEST_MESSAGE);
        return text && !reader->problem ? json_string(text) : NULL;
    case TAG_ARRAY:
        break;
    default:
        return NULL;
    }
    if (depth > DEEPEST || !take_length(reader, (uint64_t)(reader->end - reader->at), &count))
        return NULL;
    json_t *list = json_array(), *item = list;
    for (uint32_t i = 0; i < count && item; i++) {
        item = take_value(reader, depth + 1);
        json_array_append_new(list, item);
    }
    if (!item) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static bool take_number(struct wire_reader *reader, const struct wire_field *field, void *to)
{
    union {
        uint8_t flag;
        int32_t narrow;
        uint32_t narrow_unsigned;
        int64_t wide;
        double real;
    } number;
    if (!take_copy(reader, &number, field->element))
        return false;
    if (field->kind == KIND_REAL) {
        if (!(number.real >= (double)field->low && number.real <= (double)field->high))
            return complain(reader, arena_printf(reader->arena, "is %g, not from %g to %g", number.real,
                                                 (double)field->low, (double)field->high));
    } else {
        const int64_t value = field->kind == KIND_FLAG            ? number.flag
                              : field->element == sizeof(int64_t) ? number.wide
                              : field->high > INT32_MAX           ? (int64_t)number.narrow_unsigned
                                                                  : number.narrow;
        if (value < field->low || value > field->high)
            return complain(reader, arena_printf(reader->arena, "is %" PRId64 ", not from %" PRId64 " to %" PRId64,
                                                 value, field->low, field->high));
    }
    memcpy(to, &number, field->element);
    return true;
}

static void take_record(struct wire_reader *reader, const struct wire_record *record, void *object);

static void take_records(struct wire_reader *reader, const struct wire_record *record, char *objects, size_t count)
{
    for (size_t i = 0; i < count && !reader->problem; i++)
        take_record(reader, record, objects + i * record->size);
}

/* The fewest bytes that a record takes in a message. */
static size_t least_bytes(const struct wire_record *record)
{
    size_t least = 0;
    for (const struct wire_field *field = record->fields; field < record->fields + record->count; field++)
        least += field->kind == KIND_ONE                   ? least_bytes(field->of) * (field->size / field->of->size)
                 : field->kind == KIND_VALUE               ? 1
                 : field->element && !field->counter_bytes ? field->size
                 : field->element                          ? 0
                                                           : sizeof(uint32_t);
    return least;
}

static void take_list(struct wire_reader *reader, const struct wire_field *field, void *object, void **list)
{
    const struct wire_record *of = field->of;
    uint32_t count;
    *list = NULL;
    if (!take_length(reader, (uint64_t)field->high, &count) || (field->kind == KIND_MAYBE && !count))
        return;
    if (field->kind != KIND_LIST && count != get_counter(field, object)) {
        complain(reader, "is not as long as the list before it");
        return;
    }
    if (count > (size_t)(reader->end - reader->at) / least_bytes(of)) {
        complain(reader, "is cut off");
        return;
    }
    *list = arena_alloc(reader->arena, ((size_t)count + 1) * of->size);
    memcpy((char *)object + field->counter, &(uint64_t){count}, field->counter_bytes);
    take_records(reader, of, *list, count);
}

/* A part that is to be dropped leaves nothing but zeros where a field of it is wrong. */
static void take_part(struct wire_reader *reader, const struct wire_field *field, void *part)
{
    uint32_t length;
    const uint8_t *end = reader->end;
    memset(part, 0, field->size);
    if (!take_length(reader, (uint64_t)(end - reader->at), &length) || !length)
        return;
    if (!take(reader, length))
        return;
    reader->end = reader->at;
    reader->at -= length;
    take_record(reader, field->of, part);
    if (reader->at != reader->end)
        complain(reader, "has bytes too many");
    if (field->kind == KIND_DROP && reader->problem) {
        memset(part, 0, field->size);
        error_free(reader->error);
        reader->error = NULL;
        reader->problem = NULL;
        reader->at = reader->end;
    }
    reader->end = end;
}

/* A NUL ends them, so that none are not NULL, and a text is one. */
static void take_bytes(struct wire_reader *reader, const struct wire_field *field, void *object, const void **bytes)
{
    uint32_t length;
    *bytes = NULL;
    if (!take_length(reader, (uint64_t)field->high, &length) || (field->kind == KIND_VALUES && !length))
        return;
    if (field->kind == KIND_VALUES && length != tensor_bytes(object)) {
        complain(reader, "has another size than its shape");
        return;
    }
    const void *from = take(reader, length);
    *bytes = from ? arena_strndup(reader->arena, from, length) : NULL;
    if (field->counter_bytes)
        memcpy((char *)object + field->counter, &(uint64_t){length}, field->counter_bytes);
}

static void take_attribute(struct wire_reader *reader, json_t **value)
{
    struct wire_held *held = arena_alloc(reader->arena, sizeof *held);
    *value = take_value(reader, 0);
    if (!*value)
        complain(reader, "is no value");
    else if (json_is_null(*value))
        *value = NULL;
    *held = (struct wire_held){reader->held, value};
    reader->held = held;
}

static void take_field(struct wire_reader *reader, const struct wire_field *field, void *object)
{
    char *at = (char *)object + field->offset;
    switch (field->kind) {
    case KIND_INT:
    case KIND_FLAG:
    case KIND_REAL:
        for (unsigned i = 0, count = element_count(field, object, field->element); i < count; i++)
            if (!take_number(reader, field, at + (size_t)i * field->element))
                break;
        break;
    case KIND_TEXT:
    case KIND_NAME:
    case KIND_NEED: {
        const char *text = take_text(reader, (uint64_t)field->high);
        if (!text && field->kind != KIND_TEXT)
            complain(reader, "is missing");
        if (text && !*text && field->kind == KIND_NEED)
            complain(reader, "is empty");
        *(const char **)at = text;
        break;
    }
    case KIND_BYTES:
    case KIND_VALUES:
        take_bytes(reader, field, object, (const void **)at);
        break;
    case KIND_VALUE:
        take_attribute(reader, (json_t **)at);
        break;
    case KIND_ONE:
        take_records(reader, field->of, at, field->size / field->of->size);
        break;
    case KIND_PART:
    case KIND_DROP:
        take_part(reader, field, at);
        break;
    case KIND_LIST:
    case KIND_SAME:
    case KIND_MAYBE:
        take_list(reader, field, object, (void **)at);
        break;
    }
}

static void take_record(struct wire_reader *reader, const struct wire_record *record, void *object)
{
    if (++reader->depth > DEEPEST)
        complain(reader, "is nested too deep");
    for (unsigned i = 0; i < record->count && !reader->problem; i++) {
        take_field(reader, &record->fields[i], object);
        if (reader->problem && !reader->error)
            reader->error = error_new("%s.%s %s", record->name, record->fields[i].name, reader->problem);
    }
    reader->depth--;
}

struct akgen_error *wire_decode_of(struct arena *arena, const struct wire_messages *messages, unsigned message,
                                   const void *bytes, size_t length, void *object)
{
    const struct wire_record *record = messages->records[message];
    struct wire_reader reader = {.arena = arena, .at = bytes, .end = (const uint8_t *)bytes + length};
    if (!wire_is_of(messages, message, bytes, length))
        return error_new("no %s of this build", record->name);
    reader.at += HEADER;
    take_record(&reader, record, object);
    if (!reader.problem && reader.at != reader.end)
        reader.error = error_new("%s is followed by %td bytes more", record->name, reader.end - reader.at);
    for (struct wire_held *held = reader.held; held && reader.error; held = held->before) {
        json_decref(*held->value);
        *held->value = NULL;
    }
    return reader.error;
}

struct akgen_error *wire_decode(struct arena *arena, enum wire_message message, const void *bytes, size_t length,
                                void *object)
{
    return wire_decode_of(arena, &of_jail, message, bytes, length, object);
}
