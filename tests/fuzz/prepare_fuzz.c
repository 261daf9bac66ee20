/* The source pass on any text: it ends, and the text keeps its lines. */
#include "fuzz.h"

#include "toolchain/toolchain_internal.h"

#include <stdlib.h>
#include <string.h>

static size_t lines(const char *text)
{
    size_t count = 0;
    for (; (text = strchr(text, '\n')); text++)
        count++;
    return count;
}

void fuzz_seeds(void)
{
    fuzz_seed_files("tests/kernels/good", ".cpp");
    fuzz_seed_text("add<<<8, nullptr, stream>>>(x);\n");
    fuzz_seed_text("template <typename T> __global__ __aicore__ void sub(GM_ADDR x);\n");
    fuzz_seed_text("int a;\n#line 3 \"x\"\n%:\\\nline 3\n# /* */ 4\n");
    fuzz_seed_text("a.cpp:3:7: error: unknown type name 'x'\n    3 | x y;\n/p/op_kernel/a.cpp:9:1: warning: unused\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct prepared_source prepared;
    const char *text = arena_strndup(&arena, (const char *)bytes, length);
    prepare_source(&arena, text, "add", true, &prepared);
    if (lines(prepared.text) != lines(text))
        abort();
    struct diagnostic_list list = {0};
    const struct diagnose_places places = {.project = "/p"};
    diagnose(&arena, text, &places, &list);
    struct mentions mentions = {0};
    mentions_add(&arena, &mentions, text);
    mentions_has(&mentions, "DTYPE_X");
    arena_free(&arena);
    return 0;
}
