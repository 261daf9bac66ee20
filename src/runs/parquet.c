/* Parquet, as parquet.thrift of the format's repository describes it. A file is
 *
 *     "PAR1"  row group ...  footer  length of the footer (4 bytes)  "PAR1"
 *
 * and a row group has one page for each column: a header, the definition levels (a bit for each row: is there a value?) and the values.
 * Headers and footer are structs in Thrift's compact protocol: a byte for each field with the distance to the last field's number
 * and the type, whole numbers in zigzag as 7 bits a byte. */
#include "runs/parquet.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Thrift's types in the compact protocol, and Parquet's enumerations. */
enum { T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };
enum { TYPE_INT64 = 2, TYPE_BYTE_ARRAY = 6, REQUIRED = 0, OPTIONAL = 1, CONVERTED_UTF8 = 0 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, DATA_PAGE = 0, UNCOMPRESSED = 0 };

struct column {
    const char *name;
    bool text;
    struct text values, present; /* of the row group that is being made; a byte for each row: 1 there is a value */
};
/* Where a column of a row group lies. */
struct chunk {
    int64_t offset, bytes;
};
struct group {
    int64_t rows, bytes;
    struct chunk *chunks;
};
struct cot_parquet {
    FILE *out;
    struct arena arena;
    struct column *columns;
    int column_count;
    struct group *groups;
    int group_count, group_capacity;
    int64_t rows, all_rows, bytes, offset;
};

static void put_varint(struct text *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        text_append(to, &(char){(char)(value | 0x80)}, 1);
    text_append(to, &(char){(char)value}, 1);
}

static void put_zigzag(struct text *to, int64_t value)
{
    put_varint(to, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void put_little(struct text *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        text_append(to, &(char){(char)(value >> 8 * i)}, 1);
}

/* A field's header; `last`: the number of the field before it in the same struct, which this one becomes. */
static void put_field(struct text *to, int *last, int number, int type)
{
    text_append(to, &(char){(char)((number - *last) << 4 | type)}, 1);
    *last = number;
}

static void put_number(struct text *to, int *last, int number, int type, int64_t value)
{
    put_field(to, last, number, type);
    put_zigzag(to, value);
}

static void put_binary(struct text *to, const char *text)
{
    put_varint(to, strlen(text));
    text_add(to, text);
}

static void put_list(struct text *to, int *last, int number, int type, int count)
{
    put_field(to, last, number, T_LIST);
    text_append(to, &(char){(char)((count < 15 ? count : 15) << 4 | type)}, 1);
    if (count >= 15)
        put_varint(to, (uint64_t)count);
}

static void end_struct(struct text *to)
{
    text_append(to, "", 1);
}

static void write_out(struct cot_parquet *table, const struct text *bytes)
{
    fwrite(bytes->bytes, 1, bytes->length, table->out);
    table->offset += (int64_t)bytes->length;
}

struct cot_parquet *cot_parquet_new(FILE *out, const char *const *texts, int text_count, const char *const *numbers,
                                    int number_count)
{
    struct cot_parquet *table = memory_alloc(sizeof *table);
    *table = (struct cot_parquet){.out = out, .column_count = text_count + number_count};
    table->columns = arena_alloc(&table->arena, (size_t)table->column_count * sizeof *table->columns);
    for (int i = 0; i < table->column_count; i++)
        table->columns[i] = i < text_count ? (struct column){.name = texts[i], .text = true}
                                           : (struct column){.name = numbers[i - text_count]};
    fwrite("PAR1", 1, 4, out);
    table->offset = 4;
    return table;
}

/* A column of the row group: its page. */
static struct chunk put_chunk(struct cot_parquet *table, struct column *column)
{
    struct text page = {0}, header = {0};
    struct chunk chunk = {.offset = table->offset};
    int last = 0, inner = 0;
    if (column->text) {
        /* Definition levels of a bit each, as one bit-packed run of RLE's hybrid encoding with its length before it. */
        struct text run = {0};
        uint64_t eights = (uint64_t)(table->rows + 7) / 8;
        put_varint(&run, eights << 1 | 1);
        for (uint64_t i = 0; i < eights; i++) {
            int byte = 0;
            for (int bit = 0; bit < 8 && (int64_t)i * 8 + bit < table->rows; bit++)
                byte |= column->present.bytes[i * 8 + (uint64_t)bit] << bit;
            text_append(&run, &(char){(char)byte}, 1);
        }
        put_little(&page, run.length, 4);
        text_append(&page, run.bytes, run.length);
        text_free(&run);
    }
    text_append(&page, column->values.bytes ? column->values.bytes : "", column->values.length);
    put_number(&header, &last, 1, T_I32, DATA_PAGE);
    put_number(&header, &last, 2, T_I32, (int64_t)page.length);
    put_number(&header, &last, 3, T_I32, (int64_t)page.length);
    put_field(&header, &last, 5, T_STRUCT);
    put_number(&header, &inner, 1, T_I32, table->rows);
    put_number(&header, &inner, 2, T_I32, ENCODING_PLAIN);
    put_number(&header, &inner, 3, T_I32, ENCODING_RLE);
    put_number(&header, &inner, 4, T_I32, ENCODING_RLE);
    end_struct(&header);
    end_struct(&header);
    write_out(table, &header);
    write_out(table, &page);
    chunk.bytes = table->offset - chunk.offset;
    text_free(&page);
    text_free(&header);
    text_free(&column->values);
    text_free(&column->present);
    return chunk;
}

static void end_group(struct cot_parquet *table)
{
    if (!table->rows)
        return;
    struct group group = {.rows = table->rows};
    group.chunks = arena_alloc(&table->arena, (size_t)table->column_count * sizeof *group.chunks);
    for (int i = 0; i < table->column_count; i++) {
        group.chunks[i] = put_chunk(table, &table->columns[i]);
        group.bytes += group.chunks[i].bytes;
    }
    ARRAY_ADD(&table->arena, table->groups, table->group_count, table->group_capacity, group);
    table->all_rows += table->rows;
    table->rows = table->bytes = 0;
}

void cot_parquet_row(struct cot_parquet *table, const char *const *texts, const int64_t *numbers)
{
    for (int i = 0; i < table->column_count; i++) {
        struct column *column = &table->columns[i];
        if (!column->text) {
            put_little(&column->values, (uint64_t)*numbers++, 8);
            continue;
        }
        const char *text = texts[i];
        text_append(&column->present, text ? "\1" : "", 1);
        if (text) {
            put_little(&column->values, strlen(text), 4);
            text_add(&column->values, text);
            table->bytes += (int64_t)strlen(text);
        }
    }
    if (++table->rows == PARQUET_ROWS || table->bytes >= PARQUET_GROUP_BYTES)
        end_group(table);
}

static void put_chunk_place(const struct column *column, const struct group *group, const struct chunk *chunk,
                            struct text *footer)
{
    int field = 0, inner = 0;
    put_number(footer, &field, 2, T_I64, chunk->offset);
    put_field(footer, &field, 3, T_STRUCT);
    put_number(footer, &inner, 1, T_I32, column->text ? TYPE_BYTE_ARRAY : TYPE_INT64);
    put_list(footer, &inner, 2, T_I32, 2);
    put_zigzag(footer, ENCODING_PLAIN);
    put_zigzag(footer, ENCODING_RLE);
    put_list(footer, &inner, 3, T_BINARY, 1);
    put_binary(footer, column->name);
    put_number(footer, &inner, 4, T_I32, UNCOMPRESSED);
    put_number(footer, &inner, 5, T_I64, group->rows);
    put_number(footer, &inner, 6, T_I64, chunk->bytes);
    put_number(footer, &inner, 7, T_I64, chunk->bytes);
    put_number(footer, &inner, 9, T_I64, chunk->offset);
    end_struct(footer);
    end_struct(footer);
}

struct akgen_error *cot_parquet_end(struct cot_parquet *table)
{
    struct text footer = {0};
    int last = 0;
    end_group(table);
    put_number(&footer, &last, 1, T_I32, 1);
    int root = 0;
    put_list(&footer, &last, 2, T_STRUCT, table->column_count + 1);
    put_field(&footer, &root, 4, T_BINARY);
    put_binary(&footer, "schema");
    put_number(&footer, &root, 5, T_I32, table->column_count);
    end_struct(&footer);
    for (int i = 0; i < table->column_count; i++) {
        int field = 0;
        put_number(&footer, &field, 1, T_I32, table->columns[i].text ? TYPE_BYTE_ARRAY : TYPE_INT64);
        put_number(&footer, &field, 3, T_I32, table->columns[i].text ? OPTIONAL : REQUIRED);
        put_field(&footer, &field, 4, T_BINARY);
        put_binary(&footer, table->columns[i].name);
        if (table->columns[i].text)
            put_number(&footer, &field, 6, T_I32, CONVERTED_UTF8);
        end_struct(&footer);
    }
    put_number(&footer, &last, 3, T_I64, table->all_rows);
    put_list(&footer, &last, 4, T_STRUCT, table->group_count);
    for (int i = 0; i < table->group_count; i++) {
        const struct group *group = &table->groups[i];
        int field = 0;
        put_list(&footer, &field, 1, T_STRUCT, table->column_count);
        for (int c = 0; c < table->column_count; c++)
            put_chunk_place(&table->columns[c], group, &group->chunks[c], &footer);
        put_number(&footer, &field, 2, T_I64, group->bytes);
        put_number(&footer, &field, 3, T_I64, group->rows);
        end_struct(&footer);
    }
    put_field(&footer, &last, 6, T_BINARY);
    put_binary(&footer, "akgen " AKGEN_VERSION);
    end_struct(&footer);
    uint64_t length = footer.length;
    put_little(&footer, length, 4);
    text_add(&footer, "PAR1");
    write_out(table, &footer);
    text_free(&footer);
    struct akgen_error *error =
        fflush(table->out) || ferror(table->out) ? error_new("a table cannot be written: %m") : NULL;
    arena_free(&table->arena);
    free(table);
    return error;
}
