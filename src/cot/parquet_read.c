/* The footer, and the pages of a column. parquet.c says how a file looks; here nothing of it is believed: each length is held against what is there, and
 * what may be made of few bytes is limited. */
#include "cot/parquet_read.h"
#include "base/array.h"
#include "cot/snappy.h"
#include "cot/thrift.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum {
    LARGEST_FOOTER = 64 << 20,
    LARGEST_CHUNK = 1 << 30,
    LARGEST_PAGE = 256 << 20,
    LARGEST_GROUP = 2047 << 20, /* of what is read of a row group: pages unpacked, texts from dictionaries, cells */
    MOST_ROWS = 4 << 20,        /* of a row group */
    MOST_VALUES = 16 << 20,     /* of a column of lists in a row group */
    DEEPEST = 64                /* of the schema */
};
enum { BYTE_ARRAY = 6, OPTIONAL = 1, REPEATED = 2, LIST = 3 };
enum { PLAIN, PLAIN_DICTIONARY = 2, RLE, RLE_DICTIONARY = 8 };
enum { DATA_PAGE, INDEX_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 };
enum { UNCOMPRESSED, SNAPPY, GZIP, ZSTANDARD = 6 };

static const char *const codecs[] = {"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"};
static const char *const encodings[] = {"PLAIN",
                                        "1",
                                        "PLAIN_DICTIONARY",
                                        "RLE",
                                        "BIT_PACKED",
                                        "DELTA_BINARY_PACKED",
                                        "DELTA_LENGTH_BYTE_ARRAY",
                                        "DELTA_BYTE_ARRAY",
                                        "RLE_DICTIONARY",
                                        "BYTE_STREAM_SPLIT"};

/* A leaf of the schema. A value's definition level says how many of the optional and repeated nodes above it, itself among them, are there; its
 * repetition level, which of the repeated ones goes on with another element (0: none, a new row begins). */
struct column {
    const char *path;             /* "messages.content" */
    bool text;                    /* of lists of lists there is none */
    int definitions, repetitions; /* the largest levels */
    int element;                  /* the definition level from which on an element of the list is there */
};
/* A column of a row group, in the order of the schema's leaves. */
struct chunk {
    int codec;
    int64_t offset, bytes;
};
struct group {
    struct chunk *chunks;
    int count, capacity;
    int64_t rows;
};
struct cot_parquet_file {
    int fd;
    int64_t bytes;
    struct column *columns;
    struct group *groups;
    int column_count, column_capacity, group_count, group_capacity;
    int group;    /* that was read last */
    int64_t room; /* bytes that may still be read of it */
};

static struct akgen_error *broken(const char *what)
{
    return error_of_the_file(error_new("Parquet: %s", what));
}

static struct akgen_error *unread(const char *column, const char *kind, const char *const *names, size_t count,
                                  int which)
{
    if (which < 0 || (size_t)which >= count)
        return error_of_the_file(error_new("Parquet: column '%s' is of an unknown %s", column, kind));
    return error_of_the_file(
        error_new("Parquet: column '%s' is of the %s %s, which is not read", column, kind, names[which]));
}

static bool read_at(int fd, int64_t offset, void *to, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t some = pread(fd, (char *)to + done, length - done, (off_t)offset + (off_t)done);
        if (some <= 0)
            return false;
        done += (size_t)some;
    }
    return true;
}

/* ---- The footer */

static const char *text_of(struct arena *arena, struct thrift *thrift)
{
    size_t length;
    const char *bytes = thrift_binary(thrift, &length);
    return arena_strndup(arena, bytes, length);
}

/* An element of the schema: a leaf, or what holds others. */
struct element {
    const char *name;
    int64_t type, repetition, children;
    bool list; /* its child stands for its elements */
};

/* The logical type, a union, of which LIST is the third. */
static bool is_list(struct thrift *thrift)
{
    bool list = false;
    for (int last = 0, kind, field; (field = thrift_field(thrift, &last, &kind));) {
        list |= field == LIST;
        thrift_skip(thrift, kind);
    }
    return list;
}

static struct element read_element(struct arena *arena, struct thrift *thrift)
{
    struct element element = {.type = -1};
    for (int last = 0, kind, field; (field = thrift_field(thrift, &last, &kind));)
        if (field == 1 && kind == THRIFT_I32)
            element.type = thrift_number(thrift);
        else if (field == 3 && kind == THRIFT_I32)
            element.repetition = thrift_number(thrift);
        else if (field == 4 && kind == THRIFT_BINARY)
            element.name = text_of(arena, thrift);
        else if (field == 5 && kind == THRIFT_I32)
            element.children = thrift_number(thrift);
        else if (field == 6 && kind == THRIFT_I32)
            element.list |= thrift_number(thrift) == LIST;
        else if (field == 10 && kind == THRIFT_STRUCT)
            element.list |= is_list(thrift);
        else
            thrift_skip(thrift, kind);
    thrift->bad |= !element.name || element.children < 0;
    return element;
}

/* What stands between a list and the fields of its elements has no part in a path: the repeated node, and its only child, unless that is the
 * element's own (the format's rules for older lists). */
static bool is_wrapper(const struct element *repeated)
{
    const size_t length = strlen(repeated->name);
    return repeated->children == 1 && strcmp(repeated->name, "array") != 0 &&
           !(length > 6 && strcmp(repeated->name + length - 6, "_tuple") == 0);
}

/* The schema is a tree, each node before its children. `above` has the path and the levels of the node that this one stands in; nameless: it
 * has that path itself. */
static void read_node(struct arena *arena, struct thrift *thrift, struct cot_parquet_file *file, size_t *left,
                      struct column above, bool nameless, const struct element *parent, int depth)
{
    if (!*left || depth > DEEPEST)
        thrift->bad = true;
    if (thrift->bad)
        return;
    --*left;
    const struct element element = read_element(arena, thrift);
    struct column column = above;
    if (thrift->bad)
        return;
    if (parent && !(nameless && above.path))
        column.path = above.path ? arena_printf(arena, "%s.%s", above.path, element.name) : element.name;
    column.definitions += parent && element.repetition != 0;
    if (parent && element.repetition == REPEATED) {
        column.repetitions++;
        column.element = column.definitions;
    }
    for (int64_t i = 0; i < element.children && !thrift->bad; i++)
        read_node(arena, thrift, file, left, column,
                  element.list || (parent && parent->list && element.repetition == REPEATED && is_wrapper(&element)),
                  &element, depth + 1);
    if (!parent || element.type < 0)
        return;
    column.text = element.type == BYTE_ARRAY && column.repetitions <= 1;
    ARRAY_ADD(arena, file->columns, file->column_count, file->column_capacity, column);
}

static void read_schema(struct arena *arena, struct thrift *thrift, struct cot_parquet_file *file)
{
    size_t count = thrift_list(thrift, THRIFT_STRUCT);
    read_node(arena, thrift, file, &count, (struct column){0}, false, NULL, 0);
    thrift->bad |= count != 0;
}

static void read_meta(struct thrift *thrift, struct chunk *chunk)
{
    int64_t data = 0, dictionary = 0;
    for (int last = 0, kind, field; (field = thrift_field(thrift, &last, &kind));)
        if (field == 4 && kind == THRIFT_I32)
            chunk->codec = (int)thrift_number(thrift);
        else if (field == 7 && kind == THRIFT_I64)
            chunk->bytes = thrift_number(thrift);
        else if (field == 9 && kind == THRIFT_I64)
            data = thrift_number(thrift);
        else if (field == 11 && kind == THRIFT_I64)
            dictionary = thrift_number(thrift);
        else
            thrift_skip(thrift, kind);
    chunk->offset = dictionary > 0 && dictionary < data ? dictionary : data;
}

static void read_group(struct arena *arena, struct thrift *thrift, struct group *group)
{
    for (int last = 0, kind, field; (field = thrift_field(thrift, &last, &kind));)
        if (field == 1 && kind == THRIFT_LIST) {
            size_t count = thrift_list(thrift, THRIFT_STRUCT);
            for (size_t i = 0; i < count && !thrift->bad; i++) {
                struct chunk chunk = {0};
                for (int inner = 0, type, number; (number = thrift_field(thrift, &inner, &type));)
                    if (number == 3 && type == THRIFT_STRUCT)
                        read_meta(thrift, &chunk);
                    else
                        thrift_skip(thrift, type);
                ARRAY_ADD(arena, group->chunks, group->count, group->capacity, chunk);
            }
        } else if (field == 3 && kind == THRIFT_I64)
            group->rows = thrift_number(thrift);
        else
            thrift_skip(thrift, kind);
}

static struct akgen_error *read_footer(struct arena *arena, struct thrift *thrift, struct cot_parquet_file *file)
{
    for (int last = 0, kind, field; (field = thrift_field(thrift, &last, &kind));)
        if (field == 2 && kind == THRIFT_LIST)
            read_schema(arena, thrift, file);
        else if (field == 4 && kind == THRIFT_LIST) {
            size_t count = thrift_list(thrift, THRIFT_STRUCT);
            for (size_t i = 0; i < count && !thrift->bad; i++) {
                struct group group = {0};
                read_group(arena, thrift, &group);
                ARRAY_ADD(arena, file->groups, file->group_count, file->group_capacity, group);
            }
        } else
            thrift_skip(thrift, kind);
    if (thrift->bad)
        return broken("the footer cannot be read");
    for (int g = 0; g < file->group_count; g++)
        if (file->groups[g].count != file->column_count)
            return broken("a row group of other columns than the schema's");
        else if (file->groups[g].rows < 0 || file->groups[g].rows > MOST_ROWS)
            return broken("a row group of more than 4,194,304 rows");
    return NULL;
}

struct akgen_error *cot_parquet_open(struct arena *arena, int fd, struct cot_parquet_file **result)
{
    struct cot_parquet_file *file = arena_alloc(arena, sizeof *file);
    struct stat status;
    uint8_t head[4], tail[8];
    *result = file;
    file->fd = fd;
    file->group = -1;
    file->bytes = fstat(fd, &status) ? 0 : (int64_t)status.st_size;
    if (file->bytes < 12 || !read_at(fd, 0, head, 4) || !read_at(fd, file->bytes - 8, tail, 8) ||
        memcmp(head, "PAR1", 4) != 0 || memcmp(tail + 4, "PAR1", 4) != 0)
        return broken(file->bytes >= 12 && memcmp(tail + 4, "PARE", 4) == 0 ? "it is encrypted" : "it is none");
    uint32_t length = (uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 | (uint32_t)tail[3] << 24;
    if (length > LARGEST_FOOTER || (int64_t)length > file->bytes - 12)
        return broken("the footer cannot be read");
    uint8_t *footer = arena_alloc(arena, length + 1);
    if (!read_at(fd, file->bytes - 8 - (int64_t)length, footer, length))
        return broken("the footer cannot be read");
    return read_footer(arena, &(struct thrift){.at = footer, .end = footer + length}, file);
}

int cot_parquet_groups(const struct cot_parquet_file *file)
{
    return file->group_count;
}

int64_t cot_parquet_group_rows(const struct cot_parquet_file *file, int group)
{
    return file->groups[group].rows;
}

/* ---- Pages */

struct page {
    int kind, encoding;
    int64_t compressed, uncompressed, values;
    int64_t levels, repetitions; /* bytes of a page of version 2 that come before: all, and the repetition levels */
    bool plain;                  /* of version 2: its values are not compressed */
};

static void read_page_fields(struct thrift *thrift, struct page *page)
{
    const bool second = page->kind == DATA_PAGE_V2;
    for (int last = 0, kind, field; (field = thrift_field(thrift, &last, &kind));)
        if (field == 1 && kind == THRIFT_I32)
            page->values = thrift_number(thrift);
        else if (field == (second ? 4 : 2) && kind == THRIFT_I32)
            page->encoding = (int)thrift_number(thrift);
        else if (second && (field == 5 || field == 6) && kind == THRIFT_I32) {
            int64_t more = thrift_number(thrift);
            thrift->bad |= more < 0;
            page->levels += more;
            page->repetitions = field == 6 ? more : page->repetitions;
        } else if (second && field == 7 && kind == THRIFT_FALSE)
            page->plain = true;
        else
            thrift_skip(thrift, kind);
}

/* A page's header. False: it is none. */
static bool read_page(struct thrift *thrift, struct page *page)
{
    *page = (struct page){.kind = -1};
    for (int last = 0, kind, field; (field = thrift_field(thrift, &last, &kind));)
        if (field == 1 && kind == THRIFT_I32)
            page->kind = (int)thrift_number(thrift);
        else if (field == 2 && kind == THRIFT_I32)
            page->uncompressed = thrift_number(thrift);
        else if (field == 3 && kind == THRIFT_I32)
            page->compressed = thrift_number(thrift);
        else if ((field == 5 || field == 7 || field == 8) && kind == THRIFT_STRUCT)
            read_page_fields(thrift, page);
        else
            thrift_skip(thrift, kind);
    return !thrift->bad && page->compressed >= 0 && page->compressed <= thrift->end - thrift->at &&
           page->uncompressed >= 0 && page->uncompressed <= LARGEST_PAGE && page->values >= 0 &&
           page->levels <= page->compressed && page->levels <= page->uncompressed;
}

static bool inflate_gzip(const uint8_t *from, size_t length, uint8_t *to, size_t size)
{
    z_stream stream = {.next_in = (uint8_t *)from, .avail_in = (uInt)length, .next_out = to, .avail_out = (uInt)size};
    enum { ANY_HEAD = 32 };
    if (inflateInit2(&stream, MAX_WBITS + ANY_HEAD) != Z_OK)
        return false;
    int state = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return state == Z_STREAM_END && stream.total_out == size;
}

/* The page's bytes as they were before the compression; NULL: they are not what the header says. */
static const uint8_t *unpack(struct arena *arena, int codec, const struct page *page, const uint8_t *bytes)
{
    size_t length = (size_t)(page->compressed - page->levels), size = (size_t)(page->uncompressed - page->levels);
    if (codec == UNCOMPRESSED || page->plain)
        return length == size ? bytes : NULL;
    uint8_t *made = arena_alloc(arena, (size_t)page->uncompressed + 1), *values = made + page->levels;
    const uint8_t *from = bytes + page->levels;
    memcpy(made, bytes, (size_t)page->levels);
    bool good = codec == SNAPPY ? snappy_read(from, length, values, size)
                : codec == GZIP ? inflate_gzip(from, length, values, size)
                                : ZSTD_decompress(values, size, from, length) == size;
    return good || !size ? made : NULL;
}

/* Whole numbers of a few bits, in runs: of the same one, or packed by eight (the format's hybrid of RLE). */
struct runs {
    const uint8_t *at, *end;
    int width;      /* bits */
    uint64_t same;  /* left of a run of `value` */
    uint64_t other; /* left of a packed run, whose bits begin at `packed` */
    uint32_t value;
    const uint8_t *packed;
    uint64_t bit;
};

static bool begin_run(struct runs *runs)
{
    uint64_t head = 0;
    const int bytes = (runs->width + 7) / 8;
    for (int shift = 0;; shift += 7) {
        if (runs->at == runs->end || shift > 35)
            return false;
        uint8_t byte = *runs->at++;
        head |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    if (head & 1) {
        uint64_t length = (head >> 1) * (uint64_t)runs->width;
        if (length > (uint64_t)(runs->end - runs->at))
            length = (uint64_t)(runs->end - runs->at); /* the last run may be cut behind its last value */
        runs->packed = runs->at;
        runs->bit = 0;
        runs->at += length;
        runs->other = runs->width ? length * 8 / (uint64_t)runs->width : (head >> 1) * 8;
        return runs->other;
    }
    if (bytes > runs->end - runs->at)
        return false;
    runs->value = 0;
    for (int i = 0; i < bytes; i++)
        runs->value |= (uint32_t)*runs->at++ << 8 * i;
    runs->same = head >> 1;
    return runs->same;
}

static bool next_of_runs(struct runs *runs, uint32_t *value)
{
    if (!runs->same && !runs->other && !begin_run(runs))
        return false;
    if (runs->same) {
        runs->same--;
        *value = runs->value;
        return true;
    }
    *value = 0;
    for (int i = 0; i < runs->width; i++, runs->bit++)
        *value |= (uint32_t)(runs->packed[runs->bit / 8] >> runs->bit % 8 & 1) << i;
    runs->other--;
    return true;
}

/* A column that is being read. */
struct reading {
    struct arena *arena;
    const struct column *column;
    const struct chunk *chunk;
    struct cot_cell *cells, *dictionary;
    int64_t *starts; /* of lists */
    int64_t *room;
    int64_t rows, row; /* row: rows that have begun */
    int64_t words;     /* of the dictionary */
    int64_t values;    /* of lists: levels that were read */
    int count, capacity;
};

/* Takes bytes off what may still be read of the row group. False: there are not as many. */
static bool parquet_charge(struct reading *reading, int64_t bytes)
{
    return (*reading->room -= bytes) >= 0;
}

/* A plain text: its length in four bytes and its bytes. */
static bool next_text(const uint8_t **at, const uint8_t *end, struct cot_cell *cell)
{
    if (end - *at < 4)
        return false;
    uint32_t length =
        (uint32_t)(*at)[0] | (uint32_t)(*at)[1] << 8 | (uint32_t)(*at)[2] << 16 | (uint32_t)(*at)[3] << 24;
    if (length > (size_t)(end - *at - 4))
        return false;
    *cell = (struct cot_cell){(const char *)*at + 4, length};
    *at += 4 + length;
    return true;
}

static struct akgen_error *read_dictionary(struct reading *reading, const struct page *page, const uint8_t *bytes)
{
    const uint8_t *at = bytes, *end = bytes + page->uncompressed;
    if (page->encoding != PLAIN && page->encoding != PLAIN_DICTIONARY)
        return unread(reading->column->path, "encoding", encodings, sizeof encodings / sizeof *encodings,
                      page->encoding);
    if (page->values > page->uncompressed / 4) /* each has its length */
        return broken("a dictionary that is none");
    reading->dictionary = arena_alloc(reading->arena, sizeof *reading->dictionary * (size_t)(page->values + 1));
    for (reading->words = 0; reading->words < page->values; reading->words++)
        if (!next_text(&at, end, &reading->dictionary[reading->words]))
            return broken("a dictionary that is none");
    return NULL;
}

/* Bits of a level. */
static int width_of(int largest)
{
    int width = 0;
    for (; largest; largest >>= 1)
        width++;
    return width;
}

/* Levels of a page of version 1: their length in four bytes, if there are any. */
static bool take_levels(const uint8_t **at, const uint8_t *end, int largest, struct runs *levels)
{
    *levels = (struct runs){.at = *at, .end = *at, .width = width_of(largest)};
    if (!largest)
        return true;
    if (end - *at < 4)
        return false;
    uint32_t length =
        (uint32_t)(*at)[0] | (uint32_t)(*at)[1] << 8 | (uint32_t)(*at)[2] << 16 | (uint32_t)(*at)[3] << 24;
    if (length > (size_t)(end - *at - 4))
        return false;
    levels->at = *at + 4;
    *at = levels->end = *at + 4 + length;
    return true;
}

/* What stands in a page before its values. Version 2 may leave levels out that say nothing. */
struct levels {
    struct runs repetitions, definitions;
    bool no_repetitions, no_definitions; /* all are 0; all are the largest */
};

/* *values: what comes behind them. False: they are longer than the page. */
static bool find_levels(const struct column *column, const struct page *page, const uint8_t *bytes,
                        struct levels *levels, const uint8_t **values)
{
    *values = bytes;
    *levels = (struct levels){.no_repetitions = !column->repetitions, .no_definitions = !column->definitions};
    if (page->kind == DATA_PAGE)
        return take_levels(values, bytes + page->uncompressed, column->repetitions, &levels->repetitions) &&
               take_levels(values, bytes + page->uncompressed, column->definitions, &levels->definitions);
    const uint8_t *middle = bytes + page->repetitions, *end = bytes + page->levels;
    levels->repetitions = (struct runs){.at = bytes, .end = middle, .width = width_of(column->repetitions)};
    levels->definitions = (struct runs){.at = middle, .end = end, .width = width_of(column->definitions)};
    levels->no_repetitions |= middle == bytes;
    levels->no_definitions |= end == middle;
    *values = end;
    return true;
}

/* The place of the next value: a cell, which is NULL where the list has no more element. False: the levels are wrong. */
static bool next_place(struct reading *reading, struct levels *levels, struct cot_cell **cell, bool *present)
{
    const struct column *column = reading->column;
    uint32_t repetition = 0, definition = (uint32_t)column->definitions;
    if ((!levels->no_repetitions && !next_of_runs(&levels->repetitions, &repetition)) ||
        (!levels->no_definitions && !next_of_runs(&levels->definitions, &definition)))
        return false;
    if (repetition > (uint32_t)column->repetitions || definition > (uint32_t)column->definitions ||
        (repetition ? !reading->row : reading->row == reading->rows))
        return false;
    *present = definition == (uint32_t)column->definitions;
    if (!column->repetitions) {
        *cell = &reading->cells[reading->row++];
        return true;
    }
    if (!repetition)
        reading->starts[reading->row++] = reading->count;
    *cell = NULL;
    if (definition >= (uint32_t)column->element) {
        ARRAY_ADD(reading->arena, reading->cells, reading->count, reading->capacity, (struct cot_cell){0});
        *cell = &reading->cells[reading->count - 1];
    }
    return true;
}

static struct akgen_error *read_values(struct reading *reading, const struct page *page, const uint8_t *bytes)
{
    const uint8_t *at, *end = bytes + page->uncompressed;
    const bool plain = page->encoding == PLAIN;
    struct runs words = {0};
    struct levels levels;
    uint32_t word;
    if (!plain && page->encoding != PLAIN_DICTIONARY && page->encoding != RLE_DICTIONARY)
        return unread(reading->column->path, "encoding", encodings, sizeof encodings / sizeof *encodings,
                      page->encoding);
    if (reading->column->repetitions && page->values > MOST_VALUES - reading->values)
        return broken("lists of more than 16,777,216 texts in a row group");
    reading->values += page->values;
    /* Charges a list twice for each cell: the array leaves as many bytes behind as it grows by. */
    if (reading->column->repetitions && !parquet_charge(reading, 2 * (int64_t)sizeof *reading->cells * page->values))
        return broken("a row group of more than 2,047 MiB");
    if ((!reading->column->repetitions && page->values > reading->rows - reading->row) ||
        !find_levels(reading->column, page, bytes, &levels, &at))
        return broken("a page with more than there is");
    if (!plain && at < end)
        words = (struct runs){.at = at + 1, .end = end, .width = *at};
    if (words.width > 32)
        return broken("a page with words of more than 32 bits");
    for (int64_t i = 0; i < page->values; i++) {
        struct cot_cell *cell;
        bool present;
        if (!next_place(reading, &levels, &cell, &present))
            return broken("a page with too few levels");
        if (!present)
            continue; /* the cell is NULL */
        if (plain ? !next_text(&at, end, cell) : !next_of_runs(&words, &word) || word >= reading->words)
            return broken("a page with too few texts");
        if (!plain) {
            *cell = reading->dictionary[word];
            if (!parquet_charge(reading, (int64_t)cell->length))
                return broken("a row group whose texts, with those that dictionaries repeat, have more than 2,047 MiB");
        }
    }
    return NULL;
}

static struct akgen_error *read_chunk(struct reading *reading, const uint8_t *bytes)
{
    struct thrift thrift = {.at = bytes, .end = bytes + reading->chunk->bytes};
    struct akgen_error *error = NULL;
    while (!error && (reading->row < reading->rows || (reading->starts && thrift.at < thrift.end))) {
        struct page page;
        const uint8_t *unpacked = NULL;
        if (!read_page(&thrift, &page))
            return broken("a page that is none");
        if (!parquet_charge(reading, page.uncompressed))
            return broken("a row group of more than 2,047 MiB");
        if (!(unpacked = unpack(reading->arena, reading->chunk->codec, &page, thrift.at)))
            return broken("a page that cannot be unpacked");
        thrift.at += page.compressed;
        if (page.kind == DICTIONARY_PAGE)
            error = read_dictionary(reading, &page, unpacked);
        else if (page.kind == DATA_PAGE || page.kind == DATA_PAGE_V2)
            error = read_values(reading, &page, unpacked);
        else if (page.kind != INDEX_PAGE)
            error = broken("a page that is none");
    }
    return error;
}

static struct akgen_error *check_chunk(const struct cot_parquet_file *file, const struct column *column,
                                       const struct chunk *chunk)
{
    if (chunk->codec != UNCOMPRESSED && chunk->codec != SNAPPY && chunk->codec != GZIP && chunk->codec != ZSTANDARD)
        return unread(column->path, "compression", codecs, sizeof codecs / sizeof *codecs, chunk->codec);
    if (chunk->bytes > LARGEST_CHUNK)
        return broken("a column of more than 1 GiB in a row group");
    if (chunk->offset < 4 || chunk->bytes < 0 || chunk->offset > file->bytes ||
        chunk->bytes > file->bytes - chunk->offset)
        return broken("a column that lies outside the file");
    return NULL;
}

struct akgen_error *cot_parquet_column(struct arena *arena, struct cot_parquet_file *file, int group, const char *path,
                                       struct cot_column *column)
{
    const struct group *rows = &file->groups[group];
    struct reading reading = {.arena = arena, .rows = rows->rows, .room = &file->room};
    *column = (struct cot_column){0};
    if (group != file->group)
        file->room = LARGEST_GROUP;
    file->group = group;
    for (int i = 0; i < file->column_count && !reading.column; i++)
        if (file->columns[i].text && strcmp(file->columns[i].path, path) == 0) {
            reading.column = &file->columns[i];
            reading.chunk = &rows->chunks[i];
        }
    if (!reading.column)
        return NULL;
    struct akgen_error *error = check_chunk(file, reading.column, reading.chunk);
    if (error)
        return error;
    /* A few bytes of levels make millions of cells, of each column that is asked for. */
    const int64_t cells = (int64_t)sizeof *reading.cells * (rows->rows + 1);
    if (!parquet_charge(&reading, cells))
        return broken("a row group of more than 2,047 MiB");
    uint8_t *bytes = arena_alloc(arena, (size_t)reading.chunk->bytes + 1);
    if (!read_at(file->fd, reading.chunk->offset, bytes, (size_t)reading.chunk->bytes))
        return broken("it cannot be read");
    if (reading.column->repetitions)
        reading.starts = arena_alloc(arena, sizeof *reading.starts * (size_t)(rows->rows + 1));
    else
        reading.cells = arena_alloc(arena, (size_t)cells);
    error = read_chunk(&reading, bytes);
    if (!error && reading.starts) {
        reading.starts[rows->rows] = reading.count;
        reading.cells = reading.cells ? reading.cells : arena_alloc(arena, sizeof *reading.cells);
    }
    *column = (struct cot_column){reading.cells, reading.starts};
    return error;
}
