/* A project with one call: its operator copies nothing, so that it is not right; whether the call is, its compilation and its run tell. */
#include "cot/call.h"
#include "base/names.h"
#include "base/text.h"
#include "cot/snippet.h"
#include "eval/eval.h"

#include <ctype.h>
#include <string.h>

enum { ELEMENTS = 64, MOST_PARAMETERS = 8 };
static const char yaml[] = "suite: synthetic\nlevel: 1\ncategory: Math\nop: Probe\nreference: formula\nvary: sizes\n"
                           "inputs:\n  - name: x\n    shape: \"$shape\"\n    dtype: \"$dtype\"\n    types: [float32]\n"
                           "    generate: \"uniform(1, 2)\"\n"
                           "outputs:\n  - name: y\n    shape: \"$shape\"\n    dtype: \"$dtype\"\n    types: [float32]\n"
                           "    formula: \"x + 1\"\n";
static const char cases[] = "case_id;shape;dtype\n0;[64];float32\n";
static const char kernel[] = "#include \"kernel_operator.h\"\n\nusing namespace AscendC;\n\n"
                             "extern \"C\" __global__ __aicore__ void probe(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, "
                             "GM_ADDR tiling)\n{\n%s}\n";

/* The type that a parameter's text begins with, T being `element`; NULL: it is none that this file makes. */
static const char *tensor_type(struct arena *arena, const char *parameter, const char *element)
{
    if (strncmp(parameter, "LocalTensor<", 12) != 0)
        return NULL;
    const char *type = arena_strndup(arena, parameter + 12, strcspn(parameter + 12, ">"));
    if (strcmp(type, "T") == 0)
        return element;
    static const char *const own = "half|float|int32_t|int16_t|uint8_t|int8_t|uint32_t|uint16_t";
    return names_among(type, strlen(type), own) ? type : NULL;
}

/* One parameter: what declares and fills it, and what stands in the call. False: another kind. */
static bool write_parameter(struct arena *arena, const char *parameter, const char *element, struct text *before,
                            struct text *call)
{
    const char *name = strrchr(parameter, ' ') ? strrchr(parameter, ' ') + 1 : "", *type;
    const char *comma = call->length ? ", " : "";
    if ((type = tensor_type(arena, parameter, element))) {
        text_addf(before,
                  "    TBuf<TPosition::VECCALC> %sBuffer;\n    pipe.InitBuffer(%sBuffer, %d * sizeof(%s));\n"
                  "    LocalTensor<%s> %s = %sBuffer.Get<%s>();\n",
                  name, name, ELEMENTS, type, type, name, name, type);
        if (strstr("half float int32_t int16_t uint32_t uint16_t", type)) /* Duplicate has no bytes */
            text_addf(before, "    Duplicate(%s, static_cast<%s>(1), %d);\n", name, type, ELEMENTS);
        text_addf(call, "%s%s", comma, name);
    } else if (strncmp(parameter, "T ", 2) == 0)
        text_addf(call, "%sstatic_cast<%s>(2)", comma, element);
    else if (strcmp(name, "count") == 0 || strcmp(name, "calCount") == 0)
        text_addf(call, "%s%d", comma, ELEMENTS);
    else
        return false;
    return true;
}

/* The statements for a form, "(LocalTensor<T> dst, ..)"; NULL: it takes something else. */
static const char *statements_of(struct arena *arena, const struct feedback_api *api, const char *form,
                                 const char *element)
{
    struct text before = {0}, call = {0};
    const char *kept = NULL;
    bool good = *form == '(';
    for (const char *at = form + 1; good && *at && *at != ')';) {
        size_t length = strcspn(at, ",)");
        good = write_parameter(arena, arena_strndup(arena, at, length), element, &before, &call);
        at += length;
        at += strspn(at, ", ");
    }
    if (good && call.length && before.length)
        kept = arena_printf(arena, "    TPipe pipe;\n%s    PipeBarrier<PIPE_V>();\n    %s(%s);\n", before.bytes,
                            api->name, call.bytes);
    text_free(&before);
    text_free(&call);
    return kept;
}

/* Whether it compiles, and the machine finds nothing wrong with the call. */
static struct akgen_error *try_call(struct arena *arena, const char *name, const char *text, const char *scratch,
                                    bool *good)
{
    struct task task;
    struct eval_options options = {.soc = npu_socs,
                                   .mode = EVAL_DYNAMIC,
                                   .scope = EVAL_PROJECT,
                                   .only_case = 0,
                                   .jobs = 1,
                                   .no_cache = true,
                                   .no_timing = true};
    const char *code = arena_printf(arena, kernel, text);
    struct candidate candidate;
    struct akgen_error *error = task_of_texts(arena, scratch, yaml, cases, &task);
    const char *const tensors[] = {"x", "y"};
    const struct snippet_host host = {"Probe", "", "DT_FLOAT", tensors, 2};
    if (error)
        return error;
    snippet_candidate(arena, "probe", code, &host, &candidate);
    struct verdict verdict;
    eval_run(&candidate, &task, &options, &verdict);
    *good = verdict.build.stage == BUILD_OK && verdict.case_count == 1;
    if (verdict.kind == AKGEN_VERDICT_INFRA_ERROR)
        error = error_new("%s: %s", name, verdict.reason);
    for (size_t i = 0; *good && i < verdict.cases[0].run.finding_count; i++)
        *good = strcmp(verdict.cases[0].run.findings[i].api, name) != 0;
    verdict_free(&verdict);
    return error;
}

struct akgen_error *cot_call_prove(struct arena *arena, const struct feedback_api *api, const char *scratch,
                                   const char **statements)
{
    struct akgen_error *error = NULL;
    const char *element = strstr(api->types, "float") ? "float" : strstr(api->types, "half") ? "half" : "int32_t";
    *statements = NULL;
    for (int i = 0; i < api->count && !error && !*statements; i++) {
        const char *text = statements_of(arena, api, api->forms[i], element);
        bool good = false;
        if (text)
            error = try_call(arena, api->name, text, scratch, &good);
        if (good)
            *statements = text;
    }
    return error;
}
