/* A kernel's entry names its tensors; the host part is made of these names. */
#include "cot/snippet.h"
#include "base/text.h"
#include "toolchain/tokens.h"
#include "toolchain/toolchain.h"

#include <ctype.h>
#include <string.h>

/* The parenthesis behind the name of the first entry; NULL: there is none. `__mix__(1, 2)` and the like come before the name. */
static const char *parameters_of(const char *text)
{
    for (const char *at = text; (at = strstr(at, "__global__")); at++)
        for (const char *open = at + strcspn(at, "({;"); *open == '('; open += strcspn(open, "({;")) {
            const char *name = open;
            while (name > at && token_name_char(name[-1]))
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
    while (begin && begin > text && token_name_char(begin[-1]))
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
        while (token_name_char(registered[length]))
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
        while (end && !token_name_char(at[end - 1]))
            end--;
        for (begin = end; begin && token_name_char(at[begin - 1]);)
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

/* The host part of a project that says no more than which tensors there are; the last one is the output. */
static const char *host_part(struct arena *arena, const struct snippet_host *host)
{
    struct text text = {0};
    text_addf(&text,
              "#include \"register/tilingdata_base.h\"\n#include \"tiling/tiling_api.h\"\n#include "
              "\"register/op_def_registry.h\"\nnamespace optiling "
              "{\n%s\n"
              "static ge::graphStatus TilingFunc(gert::TilingContext *context)\n{\n    context->SetBlockDim(1);\n"
              "    context->GetWorkspaceSizes(1)[0] = 0;\n"
              "    return ge::GRAPH_SUCCESS;\n}\n} // namespace optiling\nnamespace ops {\nclass %s : public OpDef "
              "{\npublic:\n    explicit %s(const char *name) : OpDef(name)\n    {\n",
              host->tilings, host->type, host->type);
    for (int i = 0; i < host->count; i++)
        text_addf(&text, "        this->%s(\"%s\").ParamType(REQUIRED).DataType({ge::%s}).Format({ge::FORMAT_ND});\n",
                  i == host->count - 1 ? "Output" : "Input", host->tensors[i], host->data_type);
    text_addf(&text,
              "        this->AICore().SetTiling(optiling::TilingFunc);\n"
              "        this->AICore().AddConfig(\"ascend910b\");\n    }\n};\nOP_ADD(%s);\n} // namespace ops\n",
              host->type);
    return text_keep(&text, arena);
}

void snippet_candidate(struct arena *arena, const char *entry, const char *kernel, const struct snippet_host *host,
                       struct candidate *candidate)
{
    const char *host_text = host_part(arena, host);
    const struct op_file files[] = {{arena_printf(arena, "op_kernel/%s.cpp", entry), kernel, strlen(kernel)},
                                    {arena_printf(arena, "op_host/%s.cpp", entry), host_text, strlen(host_text)}};
    candidate_of_files(arena, files, sizeof files / sizeof *files, candidate);
}

static const char *first_error(struct arena *arena, const struct build *build)
{
    for (int i = 0; i < build->diagnostic_count; i++)
        if (build->diagnostics[i].error)
            return arena_strdup(arena, build->diagnostics[i].message);
    return build->error ? build->error : "it does not compile";
}

static struct akgen_error *build_project(struct arena *arena, const struct op_files *files, const char *entry,
                                         const char **why)
{
    struct op_project project;
    struct build build = {0};
    const struct build_options options = {.soc = npu_socs->name, .jobs = 1};
    struct akgen_error *unfit = op_project_find(arena, files, NULL, true, &project);
    *why = unfit ? arena_strdup(arena, unfit->message) : NULL;
    error_free(unfit);
    if (*why)
        return NULL;
    struct akgen_error *error = toolchain_build(arena, &project, &options, &build);
    if (!error && build.stage == BUILD_BROKEN)
        error = error_new("%s: %s", entry, build.error);
    if (!error && build.stage != BUILD_OK)
        *why = first_error(arena, &build);
    op_def_release(&build.def);
    return error;
}

struct akgen_error *snippet_compile(struct arena *arena, const char *text, const char *tilings, const char **why,
                                    const char **dtype)
{
    enum { MOST = 64 };
    static const struct {
        const char *host, *name;
    } types[] = {{"DT_FLOAT16", "float16"}, {"DT_FLOAT", "float32"}, {"DT_INT32", "int32"}};
    const char *entry = snippet_entry(arena, text), *names[MOST];
    /* Which type the tensors have matters to a kernel that asks for it by these macros. */
    const size_t tries = strstr(text, "DTYPE_") ? sizeof types / sizeof *types : 1;
    struct akgen_error *error = NULL;
    *why = "no kernel";
    *dtype = NULL;
    if (!entry)
        return NULL;
    struct snippet_host host = {.type = type_of(arena, entry, tilings),
                                .tilings = tilings,
                                .tensors = names,
                                .count = tensors_of(arena, text, names, MOST)};
    for (size_t i = 0; i < tries && *why && !error; i++) {
        const char *reason = NULL;
        struct candidate candidate;
        host.data_type = types[i].host;
        snippet_candidate(arena, entry, text, &host, &candidate);
        error = build_project(arena, &candidate.files, entry, &reason);
        if (!i || !reason)
            *why = reason; /* of the first type, if all refuse */
        *dtype = !reason && tries > 1 ? types[i].name : NULL;
    }
    return error;
}
