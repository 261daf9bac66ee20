/* A kernel's entry names its tensors; the host part is made of these names. */
#include "cot/snippet.h"
#include "base/files.h"
#include "base/text.h"
#include "toolchain/toolchain.h"

#include <ctype.h>
#include <string.h>

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The parenthesis behind the name of the first entry; NULL: there is none. `__mix__(1, 2)` and the like come before the name. */
static const char *parameters_of(const char *text)
{
    for (const char *at = text; (at = strstr(at, "__global__")); at++)
        for (const char *open = at + strcspn(at, "({;"); *open == '('; open += strcspn(open, "({;")) {
            const char *name = open;
            while (name > at && is_of_name(name[-1]))
                name--;
            if (name < open && strncmp(name, "__", 2) != 0)
                return open;
            open += strcspn(open, ")");
        }
    return NULL;
}

bool snippet_is_kernel(const char *text)
{
    return parameters_of(text);
}

const char *snippet_entry(struct arena *arena, const char *text)
{
    const char *end = parameters_of(text), *begin = end;
    while (begin && begin > text && is_of_name(begin[-1]))
        begin--;
    return end ? arena_strndup(arena, begin, (size_t)(end - begin)) : NULL;
}

/* "AddCustom" of "add_custom", or the operator that the tiling data is registered for. */
static const char *type_of(struct arena *arena, const char *entry, const char *tilings)
{
    static const char registers[] = "REGISTER_TILING_DATA_CLASS(";
    const char *registered = strstr(tilings, registers);
    if (registered) {
        registered += sizeof registers - 1;
        registered += strspn(registered, " \t\n");
        size_t length = 0;
        while (is_of_name(registered[length]))
            length++;
        if (length)
            return arena_strndup(arena, registered, length);
    }
    char *type = arena_strdup(arena, entry), *to = type;
    for (const char *at = entry; *at; at++)
        if (*at != '_')
            *to++ = at == entry || at[-1] == '_' ? (char)toupper((unsigned char)*at) : *at;
    *to = 0;
    return type;
}

/* The names of the entry's tensors: workspace and tiling are none. */
static int tensors_of(struct arena *arena, const char *text, const char *names[], int most)
{
    int count = 0;
    for (const char *at = parameters_of(text) + 1; count < most; at++) {
        size_t length = strcspn(at, ",)"), end = length, begin;
        while (end && !is_of_name(at[end - 1]))
            end--;
        for (begin = end; begin && is_of_name(at[begin - 1]);)
            begin--;
        const char *name = arena_strndup(arena, at + begin, end - begin);
        if (*name && strcasecmp(name, "workspace") != 0 && !strcasestr(name, "tiling") && strcmp(name, "void") != 0)
            names[count++] = name;
        at += length;
        if (*at != ',')
            break;
    }
    return count;
}

static const char *host_part(struct arena *arena, const char *text, const char *entry, const char *tilings)
{
    enum { MOST = 64 };
    const char *names[MOST], *type = type_of(arena, entry, tilings);
    const int count = tensors_of(arena, text, names, MOST);
    struct text host = {0};
    text_addf(&host,
              "#include \"register/tilingdata_base.h\"\n#include \"tiling/tiling_api.h\"\n#include "
              "\"register/op_def_registry.h\"\nnamespace optiling "
              "{\n%s\n"
              "static ge::graphStatus TilingFunc(gert::TilingContext *context)\n{\n    context->SetBlockDim(1);\n"
              "    return ge::GRAPH_SUCCESS;\n}\n} // namespace optiling\nnamespace ops {\nclass %s : public OpDef "
              "{\npublic:\n    explicit %s(const char *name) : OpDef(name)\n    {\n",
              tilings, type, type);
    for (int i = 0; i < count; i++)
        text_addf(&host,
                  "        this->%s(\"%s\").ParamType(REQUIRED).DataType({ge::DT_FLOAT16})"
                  ".Format({ge::FORMAT_ND});\n",
                  i == count - 1 ? "Output" : "Input", names[i]);
    text_addf(&host,
              "        this->AICore().SetTiling(optiling::TilingFunc);\n"
              "        this->AICore().AddConfig(\"ascend910b\");\n    }\n};\nOP_ADD(%s);\n} // namespace ops\n",
              type);
    const char *copy = arena_strdup(arena, host.bytes);
    text_free(&host);
    return copy;
}

static struct akgen_error *write_file(struct arena *arena, const char *dir, const char *path, const char *text)
{
    const char *whole = arena_printf(arena, "%s/%s", dir, path);
    struct akgen_error *error =
        files_make_directory(arena_strndup(arena, whole, (size_t)(strrchr(whole, '/') - whole)));
    return error ? error : files_write(whole, text, strlen(text));
}

static const char *first_error(struct arena *arena, const struct build *build)
{
    for (int i = 0; i < build->diagnostic_count; i++)
        if (build->diagnostics[i].error)
            return arena_strdup(arena, build->diagnostics[i].message);
    return build->error ? build->error : "it does not compile";
}

struct akgen_error *snippet_compile(struct arena *arena, const char *text, const char *tilings, const char *scratch,
                                    const char **why)
{
    const char *entry = snippet_entry(arena, text), *dir = arena_printf(arena, "%s/snippet", scratch);
    struct op_project project;
    struct build build = {0};
    *why = entry ? NULL : "no kernel";
    if (!entry)
        return NULL;
    struct akgen_error *error = write_file(arena, dir, arena_printf(arena, "op_kernel/%s.cpp", entry), text);
    if (!error)
        error = write_file(arena, dir, "op_host/host.cpp", host_part(arena, text, entry, tilings));
    if (!error) {
        struct akgen_error *unfit = op_project_find(arena, dir, NULL, true, &project);
        *why = unfit ? arena_strdup(arena, unfit->message) : NULL;
        error_free(unfit);
    }
    if (!error && !*why) {
        const struct build_options options = {.soc = npu_socs->name, .jobs = 1};
        error = toolchain_build(arena, &project, &options, &build);
        if (!error && build.stage == BUILD_BROKEN)
            error = error_new("%s: %s", entry, build.error);
        if (!error && build.stage != BUILD_OK)
            *why = first_error(arena, &build);
        op_def_release(&build.def);
    }
    files_remove_tree(dir);
    return error;
}
