/* An operator project as msopgen lays it out: op_host/<op>.cpp, op_kernel/<op>.cpp, CMakeLists.txt.
 * Nothing is run: sources are searched for a few words after their comments are blanked out. */
#include "op/op.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FILES = 256, MAX_NAMED = 20, MAX_DECLARATION = 4096, MAX_OPTIONS = 4096 };

const char *op_snake_case(struct arena *arena, const char *op_type)
{
    /* An underscore goes between a character and the capital of a word ("Xx"), and between a small letter or digit and
     * any capital: re.sub('(.)([A-Z][a-z]+)', r'\1_\2'), then re.sub('([a-z0-9])([A-Z])', r'\1_\2') in
     * NPUKernelBench. */
    char *snake = arena_alloc(arena, 2 * strlen(op_type) + 1), *out = snake;
    for (size_t i = 0; op_type[i]; i++) {
        unsigned char c = (unsigned char)op_type[i];
        unsigned char before = i ? (unsigned char)op_type[i - 1] : '_';
        bool word = isupper(c) && islower((unsigned char)op_type[i + 1]) && i;
        if (before != '_' && isupper(c) && (word || islower(before) || isdigit(before)))
            *out++ = '_';
        *out++ = (char)tolower(c);
    }
    *out = '\0';
    return snake;
}

/* A copy of a file's text, to be changed; a byte 0 in it is a space. NULL: the project has no such file. */
static char *read_text(struct arena *arena, const char *path, const struct op_project *project)
{
    const struct op_file *file = op_files_find(project->files, path);
    if (!file)
        return NULL;
    char *text = arena_copy(arena, file->bytes, file->length + 1);
    for (size_t i = 0; i < file->length; i++)
        if (!text[i])
            text[i] = ' ';
    return text;
}

static bool exists(struct arena *arena, const char *path, const struct op_project *project)
{
    return op_files_find(project->files, path) || op_files_find(project->files, arena_printf(arena, "%s/", path));
}

/* Blanks comments, string and character literals of C++ text in place; keeps line breaks and quotes. */
static void blank_comments(char *text)
{
    for (char *p = text; *p;) {
        if (p[0] == '/' && p[1] == '/') {
            while (*p && *p != '\n')
                *p++ = ' ';
        } else if (p[0] == '/' && p[1] == '*') {
            char *end = strstr(p + 2, "*/");
            end = end ? end + 2 : p + strlen(p);
            for (; p < end; p++)
                if (*p != '\n')
                    *p = ' ';
        } else if (*p == '"' || (*p == '\'' && (p == text || !isalnum((unsigned char)p[-1])))) {
            char quote = *p++;
            while (*p && *p != quote && *p != '\n') {
                char escaped = *p;
                *p++ = ' ';
                if (escaped == '\\' && *p && *p != '\n')
                    *p++ = ' ';
            }
            p += *p == quote;
        } else {
            p++;
        }
    }
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

/* Names of the C++ sources in a folder ("op_host/"), sorted. -1: the project has no such folder. */
static int list_sources(struct arena *arena, const char *folder, const char ***names, const struct op_project *project)
{
    const struct op_files *files = project->files;
    const size_t length = strlen(folder);
    int count = 0;
    if (!op_files_find(files, folder))
        return -1;
    *names = arena_alloc(arena, MAX_FILES * sizeof **names);
    for (size_t i = 0; i < files->count && count < MAX_FILES; i++) {
        if (strncmp(files->items[i].path, folder, length) != 0)
            continue;
        const char *inside = files->items[i].path + length, *name = arena_strndup(arena, inside, strcspn(inside, "/"));
        const bool deeper = inside[strlen(name)] && inside[strlen(name) + 1];
        if (!deeper && (has_suffix(name, ".cpp") || has_suffix(name, ".cc")))
            (*names)[count++] = name;
    }
    return count;
}

/* The kernel. */

/* Words before a function's name that take arguments of their own. */
static bool takes_arguments(const char *word, size_t length)
{
    static const char *const words[] = {"__attribute__", "__mix__", "__schedmode__"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (length == strlen(words[i]) && memcmp(word, words[i], length) == 0)
            return true;
    return false;
}

/* The name of the function that follows a `__global__`: the word before the first parenthesis that belongs to it. */
static const char *function_name(struct arena *arena, const char *text)
{
    const char *far = text + strnlen(text, MAX_DECLARATION);
    for (const char *open = memchr(text, '(', (size_t)(far - text)); open;
         open = memchr(open + 1, '(', (size_t)(far - open - 1))) {
        const char *end = open;
        while (end > text && isspace((unsigned char)end[-1]))
            end--;
        const char *begin = end;
        while (begin > text && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_'))
            begin--;
        size_t length = (size_t)(end - begin);
        if (length && !takes_arguments(begin, length))
            return arena_strndup(arena, begin, length);
    }
    return NULL;
}

struct entries {
    const char *list; /* "a, b"; the first MAX_NAMED of them */
    int count;
    bool wanted;
};

static struct entries find_entries(struct arena *arena, const char *source, const char *wanted)
{
    struct entries found = {.list = ""};
    const char *at = source, *next; /* each byte is looked at once, however long a line is */
    bool directive = source[strspn(source, " \t")] == '#';
    for (const char *p = source; (p = strstr(p, "__global__")); p += 10) {
        if (p > source && (isalnum((unsigned char)p[-1]) || p[-1] == '_'))
            continue;
        for (; (next = memchr(at, '\n', (size_t)(p - at))); at = next + 1)
            directive = next[1 + strspn(next + 1, " \t")] == '#';
        at = p;
        const char *name = directive ? NULL : function_name(arena, p + 10);
        if (!name)
            continue;
        found.count++;
        found.wanted |= wanted && strcmp(name, wanted) == 0;
        if (found.count <= MAX_NAMED)
            found.list = arena_printf(arena, "%s%s%.200s", found.list, *found.list ? ", " : "", name);
        else if (found.count == MAX_NAMED + 1)
            found.list = arena_printf(arena, "%s, ...", found.list);
    }
    return found;
}

static const char *join(struct arena *arena, const char **names, int count)
{
    const char *list = "";
    for (int i = 0; i < count; i++)
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", names[i]);
    return list;
}

/* Picks the only source with an entry point when the operator's type is not known. */
static struct akgen_error *guess_entry(struct arena *arena, struct op_project *project, const char **names, int count)
{
    const char *candidates[MAX_FILES];
    int found = 0;
    for (int i = 0; i < count; i++) {
        char *text = read_text(arena, arena_printf(arena, "op_kernel/%s", names[i]), project);
        if (!text)
            continue;
        blank_comments(text);
        if (find_entries(arena, text, NULL).count)
            candidates[found++] = names[i];
    }
    if (found == 0)
        return error_new("op_kernel: no source has a __global__ function (looked at %s)", join(arena, names, count));
    if (found > 1)
        return error_new("op_kernel: several sources have a __global__ function (%s); name the operator",
                         join(arena, candidates, found));
    project->entry = arena_strndup(arena, candidates[0], (size_t)(strrchr(candidates[0], '.') - candidates[0]));
    return NULL;
}

/* The source that the OpDef names by ExtendCfgInfo("opFile.value", "add_apt"), if it is there; NULL otherwise. CANN takes
 * it in place of <entry>.cpp (CANN 8.1, ascendc_impl_build.py). */
static const char *source_of_op_file(struct arena *arena, struct op_project *project)
{
    static const char key[] = "\"opFile.value\"";
    const char **names;
    int count = list_sources(arena, "op_host/", &names, project);
    for (int i = 0; i < count; i++) {
        const char *text = read_text(arena, arena_printf(arena, "op_host/%s", names[i]), project);
        for (const char *p = text; p && (p = strstr(p, key));) {
            p += sizeof key - 1;
            p += strspn(p, ", \t\r\n");
            size_t length = *p == '"' ? strcspn(p + 1, "\"\n/") : 0;
            const char *path = arena_printf(arena, "op_kernel/%.*s.cpp", (int)length, length ? p + 1 : "");
            if (length && exists(arena, path, project))
                return path;
        }
    }
    return NULL;
}

static struct akgen_error *find_kernel(struct arena *arena, const char *op_type, struct op_project *project)
{
    const char **names;
    int count = list_sources(arena, "op_kernel/", &names, project);
    if (count < 0)
        return error_new("there is no folder op_kernel");
    if (count == 0)
        return error_new("op_kernel: no kernel source (.cpp)");
    if (op_type) {
        project->entry = op_snake_case(arena, op_type);
    } else {
        struct akgen_error *error = guess_entry(arena, project, names, count);
        if (error)
            return error;
    }
    project->kernel_source = arena_printf(arena, "op_kernel/%s.cpp", project->entry);
    const char *named = exists(arena, project->kernel_source, project) ? NULL : source_of_op_file(arena, project);
    project->kernel_source = named ? named : project->kernel_source;
    char *text = read_text(arena, project->kernel_source, project);
    if (!text)
        return error_new("op_kernel: no kernel source %s.cpp; the folder holds %s", project->entry,
                         join(arena, names, count));
    blank_comments(text);
    if (!text[strspn(text, " \t\r\n")])
        return error_new("%s: the kernel source is empty", project->kernel_source);
    struct entries entries = find_entries(arena, text, project->entry);
    if (entries.wanted)
        return NULL;
    if (entries.count == 0)
        return error_new("%s: no __global__ function, expected 'extern \"C\" __global__ __aicore__ void %s(...)'",
                         project->kernel_source, project->entry);
    return error_new("%s: the __global__ function is called %s, expected %s", project->kernel_source, entries.list,
                     project->entry);
}

/* The host part. */

/* Sources of the single-operator API (aclnn) include its headers; the simulated machine has no such layer. Host parts may
 * include them too: those that describe the operator or tile it say so. Blanks the comments of such a text. */
static bool is_op_api(char *text)
{
    static const char *const host_words[] = {"OP_ADD", "TilingContext", "TilingParseContext", "BEGIN_TILING_DATA_DEF"};
    bool includes = false;
    for (const char *p = text; (p = strstr(p, "#include")); p += 8) {
        size_t length = strcspn(p, "\n");
        includes |= memmem(p, length, "opdev/", 6) || memmem(p, length, "aclnn", 5);
        p += length > 8 ? length - 8 : 0; /* what is left of the line was looked at */
    }
    if (!includes)
        return false;
    blank_comments(text);
    for (size_t i = 0; i < sizeof host_words / sizeof *host_words; i++)
        if (strstr(text, host_words[i]))
            return false;
    return true;
}

static struct akgen_error *find_host(struct arena *arena, bool need_host, struct op_project *project)
{
    const char **names;
    int count = list_sources(arena, "op_host/", &names, project);
    if (count < 0 && need_host)
        return error_new("there is no folder op_host");
    project->host_sources = arena_alloc(arena, sizeof *project->host_sources * (size_t)(count > 0 ? count : 1));
    for (int i = 0; i < count; i++) {
        const char *path = arena_printf(arena, "op_host/%s", names[i]);
        char *text = read_text(arena, path, project);
        if (text && !is_op_api(text))
            project->host_sources[project->host_count++] = path;
    }
    if (need_host && project->host_count == 0)
        return error_new("op_host: no host source (.cpp)");
    return NULL;
}

/* Compile options. */

/* -DNAME=value, -UNAME, -Irelative/path: nothing that a shell or the compiler could take for something else. */
static bool is_safe_option(const char *option)
{
    if (option[0] != '-' || !option[1] || !strchr("DUI", option[1]) || !option[2])
        return false;
    for (const char *p = option + 2; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_=./-", *p))
            return false;
    if (option[1] == 'I')
        return option[2] != '/' && !strstr(option, "..");
    return isalpha((unsigned char)option[2]) || option[2] == '_';
}

static struct akgen_error *take_option(struct arena *arena, const char *option, struct op_project *project)
{
    static const char sync[] = "--cce-auto-sync";
    if (strncmp(option, sync, sizeof sync - 1) == 0) {
        const char *value = option + sizeof sync - 1;
        project->sync = strcmp(value, "=off") == 0 ? NPU_SYNC_MANUAL : NPU_SYNC_AUTO;
        project->sync_stated = true;
    } else if (is_safe_option(option)) {
        project->options = arena_printf(arena, "%s%s%s", project->options, *project->options ? " " : "", option);
        if (strlen(project->options) > MAX_OPTIONS)
            return error_new("more than %d bytes of compile options", MAX_OPTIONS);
    }
    return NULL;
}

/* The parenthesis that closes the one at `open`, NULL if there is none. */
static char *closing(char *open)
{
    int depth = 0;
    for (char *p = open; *p; p++) {
        depth += (*p == '(') - (*p == ')');
        if (depth == 0)
            return p;
    }
    return NULL;
}

/* Options stand in add_ops_compile_options(...) (msopgen) or npu_op_kernel_options(...) (newer packages). */
static struct akgen_error *read_cmake(struct arena *arena, const char *path, struct op_project *project)
{
    char *text = read_text(arena, path, project);
    struct akgen_error *error = NULL;
    if (!text)
        return NULL;
    for (char *p = text; (p = strchr(p, '#'));)
        while (*p && *p != '\n')
            *p++ = ' ';
    static const char *const commands[] = {"add_ops_compile_options", "npu_op_kernel_options"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        for (char *p = text, *close; (p = strstr(p, commands[i])); p = close) {
            char *open = strchr(p, '(');
            close = open ? closing(open) : NULL;
            if (!close)
                break;
            char *words = arena_strndup(arena, open + 1, (size_t)(close - open - 1)), *rest;
            for (char *word = strtok_r(words, " \t\r\n;\"", &rest); word && !error;
                 word = strtok_r(NULL, " \t\r\n;\"", &rest))
                error = take_option(arena, word, project);
            if (error)
                return error_prefix(error, "%s", path);
        }
    return NULL;
}

struct akgen_error *op_project_find(struct arena *arena, const struct op_files *files, const char *op_type,
                                    bool need_host, struct op_project *project)
{
    *project = (struct op_project){.files = files, .options = "", .sync = NPU_SYNC_AUTO};
    struct akgen_error *error = find_kernel(arena, op_type, project);
    if (!error)
        error = find_host(arena, need_host, project);
    if (!error)
        error = read_cmake(arena, "CMakeLists.txt", project);
    if (!error)
        error = read_cmake(arena, "op_kernel/CMakeLists.txt", project);
    return error;
}
