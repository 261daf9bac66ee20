/* A line of standard input -> a request, or what is wrong with it. */
#include "base/names.h"
#include "serve/serve_internal.h"

#include <string.h>

/* Kinds of requests. Each has an id besides. */
static const char *const keys[] = {"id", "task", "candidate", "options", "cancel", "ping", NULL};
static const char *const candidate_keys[] = {"path", "text", "files", "name", NULL};

/* An error if the object has a key that the list lacks. `object` is named so in it. */
static struct akgen_error *serve_check_keys(struct arena *arena, const char *object, json_t *json,
                                            const char *const *known)
{
    const char *key, *list = "";
    json_t *value;
    for (int i = 0; known[i]; i++)
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", known[i]);
    json_object_foreach(json, key, value)
    {
        bool found = false;
        for (int i = 0; known[i] && !found; i++)
            found = strcmp(known[i], key) == 0;
        if (!found)
            return error_new("%s has no key '%s'%s; its keys are %s", object, key, names_hint(arena, key, known), list);
    }
    return NULL;
}

/* A name below a project's folder that leads nowhere else. */
static bool is_inside(const char *path)
{
    for (const char *at = path; *at;) {
        const size_t length = strcspn(at, "/");
        if (!length || *at == '.' || (at[length] && !at[length + 1]))
            return false;
        at += length + (at[length] == '/');
    }
    return *path;
}

static struct akgen_error *serve_read_files(struct arena *arena, json_t *files, struct serve_request *request)
{
    struct op_file *read = arena_alloc(arena, sizeof *read * (json_object_size(files) + 1));
    const char *path;
    json_t *text;
    json_object_foreach(files, path, text)
    {
        if (!is_inside(path))
            return error_new(
                "candidate.files: '%s' is no path below the project's folder, as op_kernel/sqrt.cpp; names that "
                "begin with a dot are none",
                path);
        if (!json_is_string(text))
            return error_new("candidate.files: the text of '%s' is no string", path);
        read[request->file_count++] = (struct op_file){path, json_string_value(text), json_string_length(text)};
    }
    request->files = read;
    return NULL;
}

static struct akgen_error *serve_read_candidate(struct arena *arena, json_t *candidate, struct serve_request *request)
{
    json_t *path = json_object_get(candidate, "path"), *text = json_object_get(candidate, "text"),
           *files = json_object_get(candidate, "files"), *name = json_object_get(candidate, "name");
    if (!json_is_object(candidate))
        return error_new("candidate is none of {\"path\": ...}, {\"text\": ...} and {\"files\": {...}}");
    struct akgen_error *error = serve_check_keys(arena, "candidate", candidate, candidate_keys);
    if (error)
        return error;
    if (!path + !text + !files != 2)
        return error_new("candidate has not exactly one of path, text and files");
    if (path && name)
        return error_new("candidate.name is for a text or files; a path has its own");
    request->name = name ? json_string_value(name) : text ? "answer.txt" : "candidate";
    if (!request->name || !is_inside(request->name) || strchr(request->name, '/'))
        return error_new("candidate.name is no name of a file, as answer.py");
    if (files)
        return json_is_object(files) ? serve_read_files(arena, files, request)
                                     : error_new("candidate.files is no object of paths and texts");
    request->text = json_string_value(text);
    request->path = json_string_value(path);
    if (text)
        return request->text ? NULL : error_new("candidate.text is no string");
    return request->path && *request->path ? NULL : error_new("candidate.path is no path");
}

static struct akgen_error *serve_read_options(struct arena *arena, json_t *json, struct serve_request *request)
{
    struct serve_option *options = arena_alloc(arena, sizeof *options * (json_object_size(json) + 1));
    const char *name;
    json_t *value;
    if (json && !json_is_object(json))
        return error_new("options is no object, as {\"profile\": \"strict\", \"case\": 0}");
    json_object_foreach(json, name, value)
    {
        const char *text = NULL;
        if (json_is_string(value))
            text = json_string_value(value);
        else if (json_is_integer(value))
            text = arena_printf(arena, "%lld", (long long)json_integer_value(value));
        else if (json_is_real(value))
            text = arena_printf(arena, "%.17g", json_real_value(value));
        else if (!json_is_boolean(value))
            return error_new("options: '%s' is neither a string nor a number, true or false", name);
        options[request->option_count++] = (struct serve_option){name, text, json_is_true(value)};
    }
    request->options = options;
    return NULL;
}

static bool is_id(const json_t *json)
{
    return json_is_string(json) || json_is_number(json);
}

static struct akgen_error *serve_read_evaluation(struct arena *arena, json_t *json, struct serve_request *request)
{
    json_t *task = json_object_get(json, "task"), *candidate = json_object_get(json, "candidate");
    if (!task || !candidate)
        return error_new("a request without %s; to be evaluated it has id, task and candidate",
                         task ? "candidate" : "task");
    request->task = json_string_value(task);
    if (!request->task || !*request->task)
        return error_new("task is neither a name, as level1/Math/Sqrt, nor the path of a task's folder");
    struct akgen_error *error = serve_read_candidate(arena, candidate, request);
    return error ? error : serve_read_options(arena, json_object_get(json, "options"), request);
}

struct akgen_error *serve_request_read(struct arena *arena, const char *line, size_t length,
                                       struct serve_request *request)
{
    json_error_t problem;
    *request = (struct serve_request){.json = json_loadb(line, length, JSON_REJECT_DUPLICATES, &problem)};
    if (!request->json)
        return error_new("no JSON: %s (byte %d)", problem.text, problem.position);
    if (!json_is_object(request->json))
        return error_new(
            "no object of JSON, as {\"id\": 1, \"task\": \"Sqrt\", \"candidate\": {\"path\": \"answer\"}}");
    const json_t *id = json_object_get(request->json, "id"), *ping = json_object_get(request->json, "ping");
    request->id = is_id(id) ? id : NULL;
    request->cancel = json_object_get(request->json, "cancel");
    request->kind = request->cancel ? SERVE_CANCEL : ping ? SERVE_PING : SERVE_EVALUATE;
    struct akgen_error *error = serve_check_keys(arena, "a request", request->json, keys);
    if (error)
        return error;
    if (!request->id)
        return error_new("id is %s", id ? "neither a string nor a number" : "missing: a string or a number");
    if (request->kind == SERVE_EVALUATE)
        return serve_read_evaluation(arena, request->json, request);
    if (json_object_size(request->json) > 2)
        return error_new("a request with %s has an id besides, and no other key",
                         request->kind == SERVE_CANCEL ? "cancel" : "ping");
    if (request->kind == SERVE_CANCEL)
        return is_id(request->cancel) ? NULL : error_new("cancel is not the id of a request, a string or a number");
    return json_is_true(ping) ? NULL : error_new("ping is not true");
}
