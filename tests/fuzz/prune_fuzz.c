/* Sources of any text: pruned, and asked about; what is left is made of what was there. */
#include "fuzz.h"

#include "cot/kernels.h"
#include "cot/prune.h"
#include "cot/snippet.h"

#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    fuzz_seed_text(
        "#define A(x) (x)\nnamespace n { template <typename T> struct S { T a; }; enum E { B = A(1) }; }\n"
        "extern \"C\" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR tiling) { n::S<half> s; Add(s, B); }\n");
    fuzz_seed_text("R\"(\" '\\' /* \"*/ __global__ __mix__(1, 2) void k(\n#if 1\n){\n#else\n)\n#endif\n}");
    fuzz_seed_files("tests/kernels/good", ".cpp");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { LONGEST = 8192 };
    struct arena arena = {0};
    struct kernel_words words;
    const char *text = arena_strndup(&arena, (const char *)bytes, length < LONGEST ? length : LONGEST),
               *less = cot_prune(&arena, text), *at = text;
    size_t kept = strlen(less);
    if (kept > strlen(text) + 1)
        abort();
    for (size_t i = 0; i + 1 < kept; i++) { /* its bytes, in their order */
        at = strchr(at, less[i]);
        if (!at++)
            abort();
    }
    const char *entry = snippet_entry(&arena, text);
    if (!entry != !snippet_is_kernel(text) || (entry && !*entry))
        abort();
    struct akgen_error *error = entry ? kernel_words(&arena, text, "", 1, &words) : NULL;
    if (error)
        abort();
    arena_free(&arena);
    return 0;
}
