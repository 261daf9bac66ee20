#include "candidate/source_map.h"
#include "base/files.h"
#include "base/jsons.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_TEXT = 255 };

struct source_range {
    int first, line; /* of the project's file, of the program (0: none) */
};
struct source_file {
    const char *path;
    struct source_range *ranges; /* ascending */
    int count;
};
struct source_text {
    int line;
    const char *text;
};
struct source_map {
    const char *program;
    struct source_file *files;
    struct source_text *texts;
    int file_count, text_count;
};

/* A string of one line that a terminal shows as it is; NULL: it is none. */
static const char *line_of_text(struct arena *arena, const json_t *json)
{
    const char *text = json_string_value(json);
    size_t length = json_string_length(json);
    if (!text || length > LONGEST_TEXT)
        return NULL;
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
            return NULL;
    return arena_strdup(arena, text);
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

const struct source_map *source_map_read(struct arena *arena, const char *project_dir)
{
    struct arena scratch = {0};
    const char *path = arena_printf(&scratch, "%s/" SOURCE_MAP_FILE, project_dir);
    char *text;
    size_t length;
    struct akgen_error *error = files_read(&scratch, path, SOURCE_MAP_LIMIT, &text, &length);
    const struct source_map *map = error ? NULL : source_map_parse(arena, text, length);
    error_free(error);
    arena_free(&scratch);
    return map;
}

static int program_line(const struct source_file *file, int line)
{
    int found = 0;
    for (int i = 0; i < file->count && file->ranges[i].first <= line; i++)
        found = file->ranges[i].line;
    return found;
}

struct source_place source_map_find(const struct source_map *map, const char *file, int line)
{
    struct source_place place = {0};
    for (int f = 0; map && file && f < map->file_count; f++)
        if (strcmp(map->files[f].path, file) == 0)
            place.line = program_line(&map->files[f], line);
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
