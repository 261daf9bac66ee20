/* Which messages of the compiler say that the candidate uses something that CANN has and AKGen lacks. What a candidate
 * writes appears in messages, too (#error, static_assert, a name of its own), so the words alone prove nothing: they must
 * come from a place in our headers that names the API, or tell of a name of the list here that stands in the source where
 * the compiler points. */
#include "base/files.h"
#include "toolchain/toolchain_internal.h"

#include <string.h>

static const char mark[] = "akgen-unsupported: ";

/* True if the lines of `file` around `line` hold `word`. */
static bool stands_near(const char *file, int line, const char *word)
{
    enum { AROUND = 4 }; /* a declaration and its attribute, an assertion and its text */
    struct arena scratch = {0};
    char *bytes;
    struct akgen_error *error = files_read(&scratch, file, SOURCE_LIMIT, &bytes, NULL);
    bool found = false;
    if (!error) {
        char *rest = bytes, *text;
        for (int number = 1; !found && number <= line + AROUND && (text = strsep(&rest, "\n")); number++)
            found = number >= line - AROUND && strstr(text, word);
    }
    error_free(error);
    arena_free(&scratch);
    return found;
}

const char *lacking_declared(struct arena *arena, const char *headers, const char *message, const char *file, int line)
{
    const char *at = strstr(message, mark), *inside = at ? source_inside(arena, file, headers) : NULL;
    if (!inside)
        return NULL;
    at += sizeof mark - 1;
    const char *name = arena_strndup(arena, at, strcspn(at, " \"'\n")), *word = name;
    for (const char *colons; (colons = strstr(word, "::"));)
        word = colons + 2;
    return *word && stands_near(arena_printf(arena, "%s/%s", headers, inside), line, word) ? name : NULL;
}

/* Shapes and layouts as types: CANN's names that a header cannot name as lacking, because kernels written for CANN 8.1
 * have things of their own by these names beside `using namespace AscendC`. */
static const char *lacking_template(const char *message)
{
    static const char *const names[] = {"Layout", "Shape", "Stride", "Coord", "Int", "is_layout", "is_layout_v"};
    static const char no_member[] = "no member named '", no_template[] = "no template named '";
    const char *name = NULL;
    if (strncmp(message, no_template, sizeof no_template - 1) == 0)
        name = message + sizeof no_template - 1;
    else if (strncmp(message, no_member, sizeof no_member - 1) == 0 && strstr(message, "in namespace 'AscendC"))
        name = message + sizeof no_member - 1;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcspn(name, "'") == strlen(names[i]) && strncmp(name, names[i], strlen(names[i])) == 0)
            return names[i];
    return NULL;
}

/* The headers of the communication between cards beside Ascend C's own, those that CANN 8.1 and 8.5 install; and of opbase
 * the tilings for chips whose vector unit works on registers, which host parts for several chips include. */
static const char *lacking_header(const char *message)
{
    static const char *const names[] = {"atvoss/broadcast/broadcast_base_struct.h",
                                        "atvoss/broadcast/broadcast_tiling.h",
                                        "atvoss/broadcast/broadcast_tiling_base.h",
                                        "atvoss/broadcast/broadcast_tiling_noncontiguous.h",
                                        "atvoss/reduce/reduce_operator.h",
                                        "atvoss/reduce/reduce_tiling.h",
                                        "atvoss/reduce/reduce_tiling_data.h",
                                        "atvoss/reduce/reduce_tiling_key_decl.h",
                                        "atvoss/reduce/reduce_tiling_key_sel.h",
                                        "atvoss/reduce/reduce_util.h",
                                        "op_common/atvoss/broadcast/broadcast_base_struct.h",
                                        "op_common/atvoss/broadcast/broadcast_tiling.h",
                                        "op_common/atvoss/broadcast/broadcast_tiling_base.h",
                                        "op_common/atvoss/broadcast/broadcast_tiling_noncontiguous.h",
                                        "op_common/atvoss/reduce/reduce_operator.h",
                                        "op_common/atvoss/reduce/reduce_tiling.h",
                                        "op_common/atvoss/reduce/reduce_tiling_data.h",
                                        "op_common/atvoss/reduce/reduce_tiling_key_decl.h",
                                        "op_common/atvoss/reduce/reduce_tiling_key_sel.h",
                                        "op_common/atvoss/reduce/reduce_util.h",
                                        "hccl/base.h",
                                        "hccl/dtype_common.h",
                                        "hccl/hccl.h",
                                        "hccl/hccl_comm.h",
                                        "hccl/hccl_common.h",
                                        "hccl/hccl_inner.h",
                                        "hccl/hccl_rank_graph.h",
                                        "hccl/hccl_res.h",
                                        "hccl/hccl_sym_win.h",
                                        "hccl/hccl_tiling.h",
                                        "hccl/hccl_tilingdata.h",
                                        "hccl/hccl_types.h",
                                        "hccl/hcom.h"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (message[0] == '\'' && strncmp(message + 1, names[i], length) == 0 &&
            strncmp(message + 1 + length, "' file not found", 16) == 0)
            return names[i];
    }
    return NULL;
}

/* In #if the key would have to be a number: CANN compiles a kernel once for each, AKGen once for all. */
static bool asks_for_key(const char *message, const char *at)
{
    static const char word[] = "TILING_KEY_VAR";
    return strcmp(message, "function-like macro 'npu_tiling_key' is not defined") == 0 &&
           strncmp(at, word, sizeof word - 1) == 0;
}

const char *lacking_written(const char *message, const char *text, int column)
{
    const char *name = lacking_template(message), *header = lacking_header(message);
    if (!text || column < 1 || (size_t)column > strlen(text))
        return NULL;
    const char *at = text + column - 1;
    if (asks_for_key(message, at))
        return "TILING_KEY_VAR in #if";
    if (header && (*at == '"' || *at == '<'))
        return strncmp(at + 1, header, strlen(header)) == 0 ? header : NULL;
    return name && strncmp(at, name, strlen(name)) == 0 ? name : NULL;
}

bool toolchain_never_runs(const char *function)
{
    struct arena scratch = {0};
    const char **paths, *folder = arena_printf(&scratch, "%s/include/cann", toolchain_home());
    const char *call = arena_printf(&scratch, "akgen_never_run(\"%s\")", function);
    size_t count;
    bool found = false;
    struct akgen_error *error = files_list(&scratch, folder, &paths, &count);
    for (size_t i = 0; !error && !found && i < count; i++) {
        char *text;
        error = files_read(&scratch, arena_printf(&scratch, "%s/%s", folder, paths[i]), SOURCE_LIMIT, &text, NULL);
        found = !error && strstr(text, call);
    }
    error_free(error);
    arena_free(&scratch);
    return found;
}
