/* The tiling structures as C++ for the kernel, and the structure that a tiling key selects. */
#include "op/op_internal.h"

#include <stdlib.h>
#include <string.h>

/* REGISTER_TILING_DATA_CLASS(<OpType>_<key>, Class): the key, if that is what `tiling` was registered under. */
static bool keyed(const struct op_def *def, const struct op_tiling_struct *tiling, const char **digits)
{
    size_t length = strlen(def->type);
    if (strncmp(tiling->key, def->type, length) != 0 || tiling->key[length] != '_')
        return false;
    *digits = tiling->key + length + 1;
    return **digits && strspn(*digits, "0123456789") == strlen(*digits);
}

const struct op_tiling_struct *op_tiling_select(const struct op_def *def, uint64_t key)
{
    const struct op_tiling_struct *chosen = NULL;
    const char *digits;
    for (int i = 0; i < def->tiling_count; i++)
        if (keyed(def, &def->tilings[i], &digits) && strtoull(digits, NULL, 10) == key)
            return &def->tilings[i];
        else if (strcmp(def->tilings[i].key, def->type) == 0)
            chosen = &def->tilings[i];
    return chosen;
}

struct text {
    struct arena *arena;
    const char *header;        /* what is written so far */
    const char *emitted[4096]; /* names of structures in it */
    int count;
};

static bool already(const struct text *text, const char *name)
{
    for (int i = 0; i < text->count; i++)
        if (strcmp(text->emitted[i], name) == 0)
            return true;
    return text->count == (int)(sizeof text->emitted / sizeof *text->emitted);
}

/* The structures of high-level APIs: kernel_tiling/kernel_tiling.h has them. */
static bool from_library(const char *name, int field_count)
{
    static const struct {
        const char *name;
        int field_count;
    } library[] = {
#define AKGEN_TILING_FIELD(type, name)    +1
#define AKGEN_TILING_STRUCT(name, fields) {#name, 0 fields},
#include "abi/tiling_structs.def"
    };
    for (size_t i = 0; i < sizeof library / sizeof *library; i++)
        if (strcmp(library[i].name, name) == 0 && library[i].field_count == field_count)
            return true;
    return false;
}

/* Padding is written out, so that the layout does not depend on what the compiler would insert. */
static const char *padding(struct arena *arena, uint32_t from, uint32_t to)
{
    return from == to ? "" : arena_printf(arena, "    uint8_t akgenPad%u[%u];\n", from, to - from);
}

static void emit(struct text *text, const char *name, uint32_t bytes, const struct op_tiling_field *fields, int count)
{
    if (already(text, name) || from_library(name, count))
        return;
    for (int i = 0; i < count; i++)
        if (fields[i].field_count)
            emit(text, fields[i].type, fields[i].bytes, fields[i].fields, fields[i].field_count);
    if (already(text, name))
        return;
    text->emitted[text->count++] = name;
    struct arena *arena = text->arena;
    const char *body = "";
    uint32_t end = 0;
    for (int i = 0; i < count; i++) {
        const char *array = fields[i].array ? arena_printf(arena, "[%u]", fields[i].array) : "";
        body = arena_printf(arena, "%s%s    %s %s%s;\n", body, padding(arena, end, fields[i].offset), fields[i].type,
                            fields[i].name, array);
        end = fields[i].offset + fields[i].bytes;
    }
    text->header =
        arena_printf(arena, "%sstruct %s {\n%s%s};\nstatic_assert(sizeof(%s) == %u, \"%s differs from the host's\");\n",
                     text->header, name, body, padding(arena, end, bytes), name, bytes ? bytes : 1, name);
}

const char *op_tiling_header(struct arena *arena, const struct op_def *def)
{
    struct text text = {.arena = arena};
    text.header = arena_printf(
        arena, "#ifndef AKGEN_TILING_%s\n#define AKGEN_TILING_%s\n#include <cstddef>\n#include <cstdint>\n", def->type,
        def->type);
    for (int i = 0; i < def->tiling_count; i++)
        emit(&text, def->tilings[i].name, def->tilings[i].bytes, def->tilings[i].fields, def->tilings[i].count);
    const char *table = "", *chosen = NULL, *digits;
    for (int i = 0; i < def->tiling_count; i++) {
        if (keyed(def, &def->tilings[i], &digits))
            table = arena_printf(arena, "%s AKGEN_ROW(%s, %s)", table, digits, def->tilings[i].name);
        else if (strcmp(def->tilings[i].key, def->type) == 0)
            chosen = def->tilings[i].name;
    }
    if (chosen)
        text.header =
            arena_printf(arena, "%s#define AKGEN_TILING_DEFAULT_STRUCT %s\ntypedef %s akgen_tiling_default;\n",
                         text.header, chosen, chosen);
    return arena_printf(arena, "%s#define AKGEN_TILING_KEYED(AKGEN_ROW)%s\n#endif\n", text.header, table);
}
