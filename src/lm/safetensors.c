/* safetensors files: looked at as a whole when they are opened, read by pieces afterwards. */
#include "lm/safetensors.h"

#include "base/files.h"
#include "base/half.h"
#include "base/jsons.h"
#include "base/memory.h"
#include "base/text.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_HEADER = 100 << 20, LONGEST_INDEX = 64 << 20, PIECE = 1 << 16, MOST_FILES = 10000, ALIGNMENT = 8 };

static const struct {
    const char *name;
    int bytes;
} dtypes[] = {[LM_F32] = {"F32", 4}, [LM_F16] = {"F16", 2}, [LM_BF16] = {"BF16", 2}};

const char *lm_dtype_name(enum lm_dtype dtype)
{
    return dtypes[dtype].name;
}

int lm_dtype_bytes(enum lm_dtype dtype)
{
    return dtypes[dtype].bytes;
}

static struct akgen_error *wrong(const char *path, const char *what)
{
    return error_of_the_file(error_new("%s: %s", path, what));
}

static struct akgen_error *wrong_tensor(const char *path, const char *name, const char *what)
{
    return error_of_the_file(error_new("%s: tensor '%.200s': %s", path, name, what));
}

static struct akgen_error *read_at(int file, const char *path, int64_t at, void *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t got = pread(file, (char *)bytes + done, length - done, at + (int64_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_new("%s: %s", path, strerror(errno));
        if (got == 0)
            return wrong(path, "the file ends too early: it was cut while it was read");
        done += (size_t)got;
    }
    return NULL;
}

/* One tensor of the header. `bytes`: of all tensors of the file. */
static struct akgen_error *parse_tensor(const char *path, const char *name, const json_t *fields, int64_t bytes,
                                        struct lm_tensor *tensor)
{
    const char *dtype = json_string_value(json_object_get(fields, "dtype"));
    const json_t *shape = json_object_get(fields, "shape"), *offsets = json_object_get(fields, "data_offsets");
    const json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);
    bool known = false;
    for (int i = 0; dtype && i <= LM_BF16 && !known; i++)
        if ((known = strcmp(dtype, dtypes[i].name) == 0))
            tensor->dtype = (enum lm_dtype)i;
    if (!known)
        return error_of_the_file(error_new("%s: tensor '%.200s': 'dtype' is '%.20s', expected F32, F16 or BF16", path,
                                           name, dtype ? dtype : "missing"));
    if (!json_is_array(shape) || json_array_size(shape) > LM_MAX_RANK)
        return wrong_tensor(path, name, "'shape' has to be a list of at most 4 sizes");
    tensor->rank = (int)json_array_size(shape);
    tensor->count = 1;
    for (int i = 0; i < tensor->rank; i++) {
        const json_t *size = json_array_get(shape, (size_t)i);
        tensor->shape[i] = json_is_integer(size) ? json_integer_value(size) : -1;
        if (tensor->shape[i] < 0 || __builtin_mul_overflow(tensor->count, tensor->shape[i], &tensor->count))
            return wrong_tensor(path, name, "'shape' holds what is no size, or too large a one");
    }
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return wrong_tensor(path, name,
                            "'data_offsets' has to be the numbers of its first byte and of the one behind it");
    int64_t begin = json_integer_value(first), end = json_integer_value(last), length;
    if (begin < 0 || end < begin || end > bytes)
        return wrong_tensor(path, name, "'data_offsets' leave the file");
    if (__builtin_mul_overflow(tensor->count, (int64_t)dtypes[tensor->dtype].bytes, &length) || length != end - begin)
        return wrong_tensor(path, name, "'data_offsets' and 'shape' disagree about how many bytes it has");
    tensor->begin = begin;
    return NULL;
}

static int by_begin(const void *left, const void *right)
{
    const struct lm_tensor *a = left, *b = right;
    return a->begin != b->begin ? (a->begin > b->begin) - (a->begin < b->begin)
                                : (a->count > b->count) - (a->count < b->count);
}

static int by_name(const void *left, const void *right)
{
    const struct lm_tensor *a = left, *b = right;
    return strcmp(a->name, b->name);
}

/* Each byte has to belong to one tensor: a file with others hides something. */
static struct akgen_error *check_cover(const char *path, struct lm_tensor *tensors, int count, int64_t bytes)
{
    int64_t at = 0;
    qsort(tensors, (size_t)count, sizeof *tensors, by_begin);
    for (int i = 0; i < count; i++) {
        if (tensors[i].begin != at)
            return wrong_tensor(path, tensors[i].name,
                                "its bytes overlap another's, or there are bytes before it that are nobody's");
        at += tensors[i].count * dtypes[tensors[i].dtype].bytes;
    }
    return at == bytes ? NULL
                       : wrong(path, "there are bytes behind the last tensor, or some are missing: the file was cut");
}

/* Reads the header of file number `file` and adds its tensors. */
static struct akgen_error *read_header(struct lm_tensors *tensors, int file, int64_t size)
{
    const char *path = tensors->paths[file];
    uint64_t length;
    struct akgen_error *error;
    if (size < 8)
        return wrong(path, "shorter than the 8 bytes that say how long its header is");
    if ((error = read_at(tensors->files[file], path, 0, &length, sizeof length)))
        return error;
    length = le64toh(length);
    if (length > LONGEST_HEADER || (int64_t)length > size - 8)
        return error_of_the_file(
            error_new("%s: its first 8 bytes say that the header has %llu bytes, the file has %lld", path,
                      (unsigned long long)length, (long long)size));
    char *header = memory_alloc(length + 1);
    json_error_t problem;
    json_t *root = NULL, *fields;
    const char *name;
    if (!(error = read_at(tensors->files[file], path, 8, header, length)))
        root = jsons_read(header, length, JSON_REJECT_DUPLICATES, &problem);
    if (!error && !json_is_object(root))
        error = error_of_the_file(
            error_new("%s: the header is no JSON object%s%s", path, root ? "" : ": ", root ? "" : problem.text));
    free(header);
    int64_t bytes = size - 8 - (int64_t)length;
    size_t many = root ? json_object_size(root) : 0;
    struct lm_tensor *items = arena_alloc(&tensors->arena, ((size_t)tensors->count + many + 1) * sizeof *items);
    if (tensors->count)
        memcpy(items, tensors->items, (size_t)tensors->count * sizeof *items);
    struct lm_tensor *added = items + tensors->count;
    int count = 0;
    if (!error)
        json_object_foreach(root, name, fields)
        {
            if (strcmp(name, "__metadata__") == 0)
                continue;
            added[count] = (struct lm_tensor){.name = arena_strdup(&tensors->arena, name), .file = file};
            if ((error = parse_tensor(path, name, fields, bytes, &added[count++])))
                break;
        }
    if (!error)
        error = check_cover(path, added, count, bytes);
    for (int i = 0; i < count; i++)
        added[i].begin += 8 + (int64_t)length;
    json_decref(root);
    tensors->items = items;
    tensors->count += count;
    return error;
}

static struct akgen_error *add_file(struct lm_tensors *tensors, const char *path)
{
    struct stat state;
    int file;
    struct akgen_error *error = files_open(path, FILES_FOLLOW_LINKS, &file, &state);
    if (error) {
        error->of_the_file &= files_exists(path); /* one that is missing is this machine's lack */
        return error;
    }
    tensors->paths[tensors->file_count] = path;
    tensors->files[tensors->file_count++] = file;
    return read_header(tensors, tensors->file_count - 1, state.st_size);
}

/* The files that an index names, each once: a folder's own files, not another's. */
static struct akgen_error *read_index(struct lm_tensors *tensors, const char *folder, const char *path, json_t **index)
{
    char *bytes;
    size_t length;
    struct akgen_error *error = files_read(&tensors->arena, path, LONGEST_INDEX, &bytes, &length);
    if (error)
        return error;
    json_error_t problem;
    *index = jsons_read(bytes, length, JSON_REJECT_DUPLICATES, &problem);
    json_t *map = json_object_get(*index, "weight_map"), *names = json_object(), *value;
    const char *tensor, *name;
    if (!json_is_object(map) || !json_object_size(map))
        error = wrong(path, "'weight_map' has to map the names of tensors to files");
    else
        json_object_foreach(map, tensor, value)
        {
            name = json_string_value(value);
            if (!name || !*name || strchr(name, '/'))
                error = wrong_tensor(path, tensor, "'weight_map' has to name a file of the same folder");
            else
                json_object_set_new(names, name, json_null());
            if (error)
                break;
        }
    if (!error && json_object_size(names) > MOST_FILES)
        error = wrong(path, "it names more than 10000 files");
    if (!error) {
        tensors->paths = arena_alloc(&tensors->arena, json_object_size(names) * sizeof *tensors->paths);
        tensors->files = arena_alloc(&tensors->arena, json_object_size(names) * sizeof *tensors->files);
        json_object_foreach(names, name, value) if (!error) error =
            add_file(tensors, arena_printf(&tensors->arena, "%s/%s", folder, name));
    }
    json_decref(names);
    return error;
}

/* What the index says has to be what the files hold. */
static struct akgen_error *check_index(const struct lm_tensors *tensors, const char *path, const json_t *index)
{
    const json_t *map = json_object_get(index, "weight_map");
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)map, name, value)
    {
        const struct lm_tensor *tensor = lm_tensors_find(tensors, name);
        if (!tensor)
            return wrong_tensor(path, name, "the file that should hold it does not");
        const char *file = strrchr(tensors->paths[tensor->file], '/');
        if (strcmp(file ? file + 1 : tensors->paths[tensor->file], json_string_value(value)) != 0)
            return wrong_tensor(path, name, "another file holds it than the index says");
    }
    return NULL;
}

static struct akgen_error *sort_names(struct lm_tensors *tensors)
{
    qsort(tensors->items, (size_t)tensors->count, sizeof *tensors->items, by_name);
    for (int i = 1; i < tensors->count; i++)
        if (strcmp(tensors->items[i - 1].name, tensors->items[i].name) == 0)
            return wrong_tensor(tensors->paths[tensors->items[i].file], tensors->items[i].name, "two files hold it");
    return NULL;
}

struct akgen_error *lm_tensors_open(const char *path, struct lm_tensors *tensors)
{
    struct stat state;
    *tensors = (struct lm_tensors){0};
    struct arena *arena = &tensors->arena;
    bool folder = stat(path, &state) == 0 && S_ISDIR(state.st_mode);
    const char *single = folder ? arena_printf(arena, "%s/model.safetensors", path) : arena_strdup(arena, path);
    const char *index = arena_printf(arena, "%s/model.safetensors.index.json", path);
    json_t *root = NULL;
    struct akgen_error *error;
    if (folder && !files_exists(single) && files_exists(index)) {
        error = read_index(tensors, path, index, &root);
    } else {
        tensors->paths = arena_alloc(arena, sizeof *tensors->paths);
        tensors->files = arena_alloc(arena, sizeof *tensors->files);
        error = add_file(tensors, single);
    }
    if (!error)
        error = sort_names(tensors);
    if (!error && root)
        error = check_index(tensors, index, root);
    json_decref(root);
    if (error)
        lm_tensors_close(tensors);
    return error;
}

void lm_tensors_close(struct lm_tensors *tensors)
{
    for (int i = 0; i < tensors->file_count; i++)
        close(tensors->files[i]);
    arena_free(&tensors->arena);
    *tensors = (struct lm_tensors){0};
}

const struct lm_tensor *lm_tensors_find(const struct lm_tensors *tensors, const char *name)
{
    struct lm_tensor key = {.name = name};
    return tensors->count ? bsearch(&key, tensors->items, (size_t)tensors->count, sizeof key, by_name) : NULL;
}

static void widen(enum lm_dtype dtype, const void *from, int64_t count, float *to)
{
    const uint16_t *bits = from;
    const half_t *halves = from;
    if (dtype == LM_F32)
        memcpy(to, from, (size_t)count * sizeof *to);
    else
        for (int64_t i = 0; i < count; i++)
            to[i] = dtype == LM_BF16 ? bf16_to_float(bits[i]) : (float)halves[i];
}

static void narrow(enum lm_dtype dtype, const float *from, int64_t count, void *to)
{
    uint16_t *bits = to;
    half_t *halves = to;
    if (dtype == LM_F32)
        memcpy(to, from, (size_t)count * sizeof *from);
    else
        for (int64_t i = 0; i < count; i++)
            if (dtype == LM_BF16)
                bits[i] = bf16_from_float(from[i]);
            else
                halves[i] = (half_t)from[i];
}

struct akgen_error *lm_tensors_read(const struct lm_tensors *tensors, const struct lm_tensor *tensor, int64_t from,
                                    int64_t count, float *values)
{
    char piece[PIECE] __attribute__((aligned(16)));
    int width = dtypes[tensor->dtype].bytes;
    int64_t most = PIECE / width;
    for (int64_t done = 0; done < count; done += most) {
        int64_t n = count - done < most ? count - done : most;
        struct akgen_error *error = read_at(tensors->files[tensor->file], tensors->paths[tensor->file],
                                            tensor->begin + (from + done) * width, piece, (size_t)(n * width));
        if (error)
            return error;
        widen(tensor->dtype, piece, n, values + done);
    }
    return NULL;
}

/* The header of a file with these tensors, one after the other; filled up with spaces so that the bytes behind it are aligned. */
static void make_header(struct text *header, const struct lm_tensor *tensors, int count, enum lm_dtype dtype)
{
    json_t *root = json_object();
    int64_t at = 0;
    json_object_set_new(root, "__metadata__", json_pack("{s:s}", "format", "pt"));
    for (int i = 0; i < count; i++) {
        json_t *shape = json_array();
        int64_t end = at + tensors[i].count * dtypes[dtype].bytes;
        for (int d = 0; d < tensors[i].rank; d++)
            json_array_append_new(shape, json_integer(tensors[i].shape[d]));
        json_object_set_new(root, tensors[i].name,
                            json_pack("{s:s s:o s:[I,I]}", "dtype", dtypes[dtype].name, "shape", shape, "data_offsets",
                                      (json_int_t)at, (json_int_t)end));
        at = end;
    }
    char *json = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    text_add(header, json);
    free(json);
    while (header->length % ALIGNMENT)
        text_add(header, " ");
}

static bool write_tensor(int file, const struct lm_tensor *tensor, enum lm_dtype dtype)
{
    char piece[PIECE] __attribute__((aligned(16)));
    int64_t most = PIECE / dtypes[dtype].bytes;
    for (int64_t done = 0; done < tensor->count; done += most) {
        int64_t n = tensor->count - done < most ? tensor->count - done : most;
        narrow(dtype, tensor->values + done, n, piece);
        if (!files_write_all(file, piece, (size_t)(n * dtypes[dtype].bytes)))
            return false;
    }
    return true;
}

struct akgen_error *lm_tensors_write_file(const char *path, const struct lm_tensor *tensors, int count,
                                          enum lm_dtype dtype)
{
    struct arena arena = {0};
    struct text header = {0};
    char *unfinished = arena_printf(&arena, "%s.XXXXXX", path);
    int file = mkostemp(unfinished, O_CLOEXEC);
    make_header(&header, tensors, count, dtype);
    uint64_t length = htole64(header.length);
    bool good = file >= 0 && fchmod(file, 0644) == 0 && files_write_all(file, &length, sizeof length) &&
                files_write_all(file, header.bytes, header.length);
    for (int i = 0; good && i < count; i++)
        good = write_tensor(file, &tensors[i], dtype);
    /* On the disk before it has its name: a checkpoint outlives a machine that stops. */
    good = good && fsync(file) == 0;
    struct akgen_error *error =
        good && rename(unfinished, path) == 0 ? NULL : error_new("%s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    if (error && file >= 0)
        unlink(unfinished);
    text_free(&header);
    arena_free(&arena);
    return error;
}

/* How many tensors from the first on make a file of at most `largest` bytes; at least one. */
static int take_file(const struct lm_tensor *tensors, int count, enum lm_dtype dtype, int64_t largest)
{
    int64_t bytes = 0;
    int taken = 0;
    while (taken < count) {
        bytes += tensors[taken].count * dtypes[dtype].bytes;
        if (taken && bytes > largest)
            break;
        taken++;
    }
    return taken;
}

static struct akgen_error *write_files(struct arena *arena, const char *folder, const struct lm_tensor *tensors,
                                       int count, enum lm_dtype dtype, int64_t largest, int files)
{
    json_t *map = json_object();
    int64_t bytes = 0;
    struct akgen_error *error = NULL;
    for (int at = 0, file = 1; at < count && !error; file++) {
        int taken = take_file(tensors + at, count - at, dtype, largest);
        const char *name = arena_printf(arena, "model-%05d-of-%05d.safetensors", file, files);
        error = lm_tensors_write_file(arena_printf(arena, "%s/%s", folder, name), tensors + at, taken, dtype);
        for (int i = at; i < at + taken; i++) {
            json_object_set_new(map, tensors[i].name, json_string(name));
            bytes += tensors[i].count * dtypes[dtype].bytes;
        }
        at += taken;
    }
    json_t *root = json_pack("{s:{s:I} s:o}", "metadata", "total_size", (json_int_t)bytes, "weight_map", map);
    char *text = json_dumps(root, JSON_INDENT(2));
    if (!error)
        error = files_write(arena_printf(arena, "%s/model.safetensors.index.json", folder), text, strlen(text));
    free(text);
    json_decref(root);
    return error;
}

struct akgen_error *lm_tensors_write(const char *folder, const struct lm_tensor *tensors, int count,
                                     enum lm_dtype dtype, int64_t largest)
{
    struct arena arena = {0};
    const char *single = arena_printf(&arena, "%s/model.safetensors", folder);
    int files = 0;
    for (int at = 0; at < count; files++)
        at += take_file(tensors + at, count - at, dtype, largest);
    struct akgen_error *error;
    if (files <= 1) {
        error = lm_tensors_write_file(single, tensors, count, dtype);
        if (!error)
            unlink(arena_printf(&arena, "%s/model.safetensors.index.json", folder));
    } else {
        error = write_files(&arena, folder, tensors, count, dtype, largest, files);
        if (!error)
            unlink(single); /* readers look for it first */
    }
    arena_free(&arena);
    return error;
}
