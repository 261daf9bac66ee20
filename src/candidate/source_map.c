#include "candidate/source_map_internal.h"
#include "base/array.h"
#include "base/digest.h"
#include "base/jsons.h"
#include "dsl/lower.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_TEXT = 255, LONGEST_WRITTEN = 200 };

/* One line that a terminal shows as it is; NULL: the text is none. */
static const char *plain_line(struct arena *arena, const char *text, size_t length)
{
    if (!text || length > LONGEST_TEXT)
        return NULL;
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
            return NULL;
    return arena_strndup(arena, text, length);
}

static const char *line_of_text(struct arena *arena, const json_t *json)
{
    return plain_line(arena, json_string_value(json), json_string_length(json));
}

/* Element `index` of an array, if it is a number of a line from `least` on; -1: it is none. */
static int line_number(const json_t *array, size_t index, int least)
{
    const json_t *number = json_array_get(array, index);
    json_int_t value = json_is_integer(number) ? json_integer_value(number) : -1;
    return value >= least && value <= INT_MAX ? (int)value : -1;
}

static bool read_file(struct arena *arena, const char *path, const json_t *ranges, struct source_file *file)
{
    size_t count = json_array_size(ranges);
    *file = (struct source_file){.path = arena_strdup(arena, path)};
    file->ranges = arena_alloc(arena, (count + 1) * sizeof *file->ranges);
    for (size_t i = 0; i < count; i++) {
        const json_t *pair = json_array_get(ranges, i);
        struct source_range range = {line_number(pair, 0, 1), line_number(pair, 1, 0)};
        if (json_array_size(pair) != 2 || range.first < 0 || range.line < 0 ||
            (file->count && range.first <= file->ranges[file->count - 1].first))
            return false;
        file->ranges[file->count++] = range;
    }
    return json_is_array(ranges);
}

static bool read_map(struct arena *arena, const json_t *json, struct source_map *map)
{
    const json_t *files = json_object_get(json, "files"), *lines = json_object_get(json, "lines");
    const char *key;
    json_t *value;
    map->program = line_of_text(arena, json_object_get(json, "program"));
    map->files = arena_alloc(arena, (json_object_size(files) + 1) * sizeof *map->files);
    map->texts = arena_alloc(arena, (json_object_size(lines) + 1) * sizeof *map->texts);
    bool good = json_integer_value(json_object_get(json, "version")) == SOURCE_MAP_VERSION && map->program &&
                *map->program && json_is_object(files) && json_is_object(lines);
    json_object_foreach((json_t *)files, key, value) good =
        good && read_file(arena, key, value, &map->files[map->file_count++]);
    json_object_foreach((json_t *)lines, key, value)
    {
        struct source_text text = {atoi(key), line_of_text(arena, value)};
        good = good && text.text;
        map->texts[map->text_count++] = text;
    }
    return good;
}

const struct source_map *source_map_parse(struct arena *arena, const char *text, size_t length)
{
    struct source_map *map = arena_alloc(arena, sizeof *map);
    json_t *json = json_loadb(text, length, 0, NULL);
    bool good = json && read_map(arena, json, map);
    json_decref(json);
    return good ? map : NULL;
}

const struct source_map *source_map_of_files(struct arena *arena, const struct op_files *files)
{
    const struct op_file *file = op_files_find(files, SOURCE_MAP_FILE);
    return file && file->length <= SOURCE_MAP_LIMIT ? source_map_parse(arena, file->bytes, file->length) : NULL;
}

static struct source_file map_file(struct arena *arena, const struct dsl_file *file, bool *seen, int most)
{
    const int *lines = dsl_file_lines(arena, file);
    struct source_file mapped = {.path = file->path};
    int before = 0, capacity = 0;
    for (int i = 1; i <= file->line_count; before = lines[i++]) {
        if (lines[i] != before)
            ARRAY_ADD(arena, mapped.ranges, mapped.count, capacity, (struct source_range){i, lines[i]});
        if (lines[i] < most)
            seen[lines[i]] = true;
    }
    return mapped;
}

/* The text of each line that something comes from. False: one is none that a map holds. */
static bool map_texts(struct arena *arena, const char *text, const bool *seen, int most, struct source_map *map)
{
    bool good = true;
    map->texts = arena_alloc(arena, (size_t)most * sizeof *map->texts);
    for (int number = 1; number < most; number++) {
        const char *from = text + strspn(text, " \t");
        size_t length = strcspn(from, "\r\n"), shown = length;
        text = from + strcspn(from, "\n");
        text += *text == '\n';
        while (shown > LONGEST_WRITTEN || (shown < length && ((unsigned char)from[shown] & 0xc0) == 0x80))
            shown--; /* whole characters */
        if (!seen[number])
            continue;
        map->texts[map->text_count] = (struct source_text){number, plain_line(arena, from, shown)};
        good &= map->texts[map->text_count++].text != NULL;
    }
    return good;
}

const struct source_map *source_map_of_program(struct arena *arena, const struct dsl_lowered *lowered,
                                               const char **text)
{
    const char *program = lowered->tree->text, *slash = strrchr(lowered->tree->path, '/');
    struct source_map *map = arena_alloc(arena, sizeof *map);
    int most = 2;
    for (const char *at = program; (at = strchr(at, '\n')); at++)
        most++;
    bool *seen = arena_alloc(arena, (size_t)most * sizeof *seen);
    struct digest *digest = digest_new_unforgeable();
    digest_bytes(digest, program, strlen(program));
    char *name = arena_strdup(arena, slash ? slash + 1 : lowered->tree->path);
    text_make_utf8(name);
    *map = (struct source_map){.program = plain_line(arena, name, strlen(name)),
                               .files = arena_alloc(arena, (size_t)(lowered->count + 1) * sizeof *map->files)};
    for (int i = 0; i < lowered->count; i++)
        map->files[map->file_count++] = map_file(arena, &lowered->files[i], seen, most);
    const bool good = map_texts(arena, program, seen, most, map) && map->program && *map->program;
    json_t *files = json_object(), *lines = json_object();
    for (int f = 0; f < map->file_count; f++) {
        json_t *ranges = json_array();
        for (int i = 0; i < map->files[f].count; i++)
            json_array_append_new(ranges,
                                  json_pack("[i, i]", map->files[f].ranges[i].first, map->files[f].ranges[i].line));
        json_object_set_new(files, map->files[f].path, ranges);
    }
    for (int t = 0; t < map->text_count; t++)
        json_object_set_new(lines, arena_printf(arena, "%d", map->texts[t].line), json_string(map->texts[t].text));
    json_t *json = json_pack("{s:i, s:s, s:s, s:o, s:o}", "version", SOURCE_MAP_VERSION, "program", map->program,
                             "digest", digest_finish(digest, arena), "files", files, "lines", lines);
    char *bytes = json_dumps(json, JSON_COMPACT);
    const char *copy = arena_printf(arena, "%s\n", bytes ? bytes : "");
    free(bytes);
    json_decref(json);
    *text = copy;
    return good && strlen(*text) <= SOURCE_MAP_LIMIT ? map : NULL;
}

struct source_place source_map_find(const struct source_map *map, const char *file, int line)
{
    struct source_place place = {0};
    for (int f = 0; map && file && f < map->file_count; f++)
        if (strcmp(map->files[f].path, file) == 0) {
            int found = 0;
            for (int i = 0; i < map->files[f].count && map->files[f].ranges[i].first <= line; i++)
                found = map->files[f].ranges[i].line;
            place.line = found;
        }
    for (int t = 0; place.line && t < map->text_count; t++)
        if (map->texts[t].line == place.line)
            place.text = map->texts[t].text;
    place.program = place.line ? map->program : NULL;
    return place;
}

struct source_place source_map_of_calls(const struct source_map *map, const char *file, int line,
                                        const struct job_call *calls)
{
    struct source_place place = source_map_find(map, file, line);
    for (; calls && calls->file && !place.program; calls++)
        place = source_map_find(map, calls->file, calls->line);
    return place;
}

struct source_place source_map_of_finding(const struct source_map *map, const struct job_finding *finding, bool other)
{
    if (other)
        return source_map_of_calls(map, finding->file_other, finding->line_other, finding->calls_other);
    return source_map_of_calls(map, finding->file, finding->line, finding->calls);
}

json_t *source_place_to_json(struct source_place place)
{
    json_t *json = place.program ? json_object() : json_null();
    if (place.program) {
        json_object_set_new(json, "file", jsons_text(place.program));
        json_object_set_new(json, "line", place.line > 0 ? json_integer(place.line) : json_null());
        json_object_set_new(json, "text", jsons_text(place.text));
    }
    return json;
}
