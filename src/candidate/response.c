/* An answer in MultiKernelBench's format: find the code, read its strings, make an operator project of them. */
#include "candidate/response.h"
#include "base/jsons.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char allowed[] =
    "; an answer is read, not executed: it may assign string literals, f-strings of names and literals, sums of "
    "strings, .strip() and .replace(a, b)";

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void refuse(struct arena *arena, const char *path, enum py_problem_kind kind, int line, const char *message,
                   struct py_problem *problem)
{
    *problem = (struct py_problem){kind, line, arena_printf(arena, "%s:%d: %s", file_name(path), line, message)};
}

/* Line ends become '\n' in place, as Python's reader has them. */
static void unify_line_ends(char *text)
{
    char *out = text;
    for (; *text; text++)
        if (*text != '\r')
            *out++ = *text;
        else if (text[1] != '\n')
            *out++ = '\n';
    *out = '\0';
}

/* The next line that starts with a fence, or NULL. */
static char *find_fence(char *text)
{
    for (char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        char *at = line + strspn(line, " \t");
        if (strncmp(at, "```", 3) == 0)
            return at;
    }
    return NULL;
}

static int lines_before(const char *text, const char *end)
{
    int count = 0;
    for (; text < end; text++)
        count += *text == '\n';
    return count;
}

/* The first code block, or all of a text without one. False if the block does not end. */
static bool find_code(char *text, char **code, int *first_line)
{
    char *fence = find_fence(text);
    *code = text;
    *first_line = 1;
    if (!fence)
        return true;
    *first_line = lines_before(text, fence) + 1;
    char *begin = strchr(fence, '\n'), *end = begin ? strstr(begin, "```") : NULL;
    if (!end)
        return false;
    *end = '\0';
    *code = begin + 1;
    ++*first_line;
    return true;
}

static bool find_variables(struct arena *arena, const char *path, const struct py_strings *strings,
                           struct op_response *response, struct py_problem *problem)
{
    const struct {
        const char *name;
        const struct py_value **value;
    } variables[] = {
        {"project_json_src", &response->project_json},   {"host_tiling_src", &response->host_tiling},
        {"host_operator_src", &response->host_operator}, {"kernel_src", &response->kernel},
        {"python_bind_src", &response->python_bind},     {"model_src", &response->model},
    };
    const char *missing = "";
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        *variables[i].value = py_find(strings, variables[i].name);
        if (!*variables[i].value || (*variables[i].value)->number)
            missing = arena_printf(arena, "%s%s%s", missing, *missing ? ", " : "", variables[i].name);
    }
    if (*missing)
        refuse(arena, path, PY_INVALID, 1,
               arena_printf(arena,
                            "the answer assigns no string to %s; it needs project_json_src, host_tiling_src, "
                            "host_operator_src, kernel_src, python_bind_src and model_src",
                            missing),
               problem);
    return !*missing;
}

/* msopgen reads the description before anything is built: it must be JSON and name this operator. */
static bool check_description(struct arena *arena, const char *path, const char *op_type, const struct py_value *source,
                              struct py_problem *problem)
{
    json_error_t where;
    json_t *json = jsons_read(source->text, strlen(source->text), JSON_REJECT_DUPLICATES, &where);
    const json_t *first = json_is_array(json) ? json_array_get(json, 0) : json;
    const char *op = json_string_value(json_object_get(first, "op"));
    bool fits = op && strcmp(op, op_type) == 0;
    int line = source->line;
    if (!json)
        refuse(arena, path, PY_INVALID, source->text_line ? source->text_line + where.line - 1 : line,
               arena_printf(arena, "project_json_src is no JSON: %s", where.text), problem);
    else if (!fits)
        refuse(arena, path, PY_INVALID, line,
               arena_printf(arena, "project_json_src describes the operator '%.80s', expected '%s'", op ? op : "",
                            op_type),
               problem);
    json_decref(json);
    return fits;
}

void op_response_read(struct arena *arena, const char *path, char *text, size_t length, const char *op_type,
                      struct op_response *response, struct py_problem *problem)
{
    char *code;
    int first_line;
    struct py_strings *strings = arena_alloc(arena, sizeof *strings);
    *response = (struct op_response){0};
    *problem = (struct py_problem){PY_NONE, 0, NULL};
    if (memchr(text, 0, length)) {
        refuse(arena, path, PY_INVALID, 1, "not a text file: it holds a NUL byte", problem);
        return;
    }
    unify_line_ends(text);
    if (!find_code(text, &code, &first_line)) {
        refuse(arena, path, PY_INVALID, first_line, "the code block that starts here does not end", problem);
        return;
    }
    py_read(arena, code, first_line, strings, problem);
    if (problem->kind != PY_NONE) {
        const char *message = arena_printf(arena, "%s%s", problem->message, problem->kind == PY_INVALID ? "" : allowed);
        refuse(arena, path, problem->kind, problem->line, message, problem);
    } else if (find_variables(arena, path, strings, response, problem)) {
        check_description(arena, path, op_type, response->project_json, problem);
    }
}

/* As a project. */
const char *op_response_name(struct arena *arena, const char *snake)
{
    char *out = arena_alloc(arena, 2 * strlen(snake) + 1), *at = out;
    for (const char *c = snake; *c; c++) {
        if (isdigit((unsigned char)*c) && c - snake > 1 && islower((unsigned char)c[-1]))
            *at++ = '_';
        *at++ = *c;
    }
    return out;
}

static struct op_file file_of(const char *path, const struct py_value *part)
{
    return (struct op_file){path, part->text, strlen(part->text)};
}

struct op_files op_response_files(struct arena *arena, const struct op_response *response, const char *op_type)
{
    const char *stem = op_snake_case(arena, op_type), *spaced = op_response_name(arena, stem);
    const char *kernel = strstr(response->kernel->text, spaced) ? spaced : stem;
    const struct op_file files[] = {
        file_of(arena_printf(arena, "op_host/%s_tiling.h", stem), response->host_tiling),
        file_of(arena_printf(arena, "op_host/%s_tiling.h", spaced), response->host_tiling),
        file_of(arena_printf(arena, "op_host/%s.cpp", stem), response->host_operator),
        file_of(arena_printf(arena, "op_kernel/%s.cpp", kernel), response->kernel),
    };
    return op_files_of(arena, files, sizeof files / sizeof *files);
}
