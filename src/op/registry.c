/* What static constructors of a loaded host.so register: operators, tiling functions, tiling data classes. */
#include "base/memory.h"
#include "op/op_internal.h"

#include <stdlib.h>
#include <string.h>

static struct op_registration *operators;
static struct op_tiling_registration *tilings;
static const char *loading = "";
/* Every file that was ever loaded: entries point to these names. */
static struct host_file {
    struct host_file *next;
    char path[];
} *files;

void op_registry_loading(const char *host_so)
{
    loading = "";
    if (!host_so)
        return;
    struct host_file *file = files;
    while (file && strcmp(file->path, host_so) != 0)
        file = file->next;
    if (!file) {
        size_t length = strlen(host_so);
        file = memory_alloc(sizeof *file + length + 1);
        memcpy(file->path, host_so, length + 1);
        file->next = files;
        files = file;
    }
    loading = file->path;
}

struct op_registration *op_registry_ops(void)
{
    return operators;
}

struct op_tiling_registration *op_registry_tilings(void)
{
    return tilings;
}

struct op_registration *op_registry_find(const char *host_so, const char *type)
{
    for (struct op_registration *entry = operators; entry; entry = entry->next)
        if (strcmp(entry->type, type) == 0 && (!host_so || strcmp(entry->host_so, host_so) == 0))
            return entry;
    return NULL;
}

/* The registration that the file being loaded has for `type`, made on first use. */
static struct op_registration *of_type(const char *type)
{
    struct op_registration *entry = op_registry_find(loading, type);
    if (entry)
        return entry;
    entry = memory_alloc(sizeof *entry);
    entry->type = memory_string(type);
    entry->host_so = loading;
    entry->next = operators;
    operators = entry;
    return entry;
}

int akgen_op_add(const char *type, struct akgen_op_def *(*create)(const char *name))
{
    of_type(type)->create = create;
    return 0;
}

void akgen_impl_tiling(const char *type, akgen_tiling_function *tiling)
{
    of_type(type)->impl_tiling = tiling;
}

void akgen_impl_tiling_parse(const char *type, akgen_parse_function *parse, void *(*create)(void),
                             void (*destroy)(void *))
{
    struct op_registration *entry = of_type(type);
    entry->parse = parse;
    entry->compile_info_create = create;
    entry->compile_info_destroy = destroy;
}

void akgen_impl_value_depend(const char *type, size_t index)
{
    if (index < 64)
        of_type(type)->value_depend |= UINT64_C(1) << index;
}

int akgen_tiling_register(const char *key, void (*describe)(void *sink))
{
    struct op_tiling_registration *entry = memory_alloc(sizeof *entry);
    entry->host_so = loading;
    entry->key = memory_string(key);
    entry->describe = describe;
    entry->next = tilings;
    tilings = entry;
    return 0;
}
