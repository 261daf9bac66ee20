/* Descriptions of any text: reading ends with a description or an error, which names the file. */
/* test: cost=20 */
#include "fuzz.h"

#include "base/files.h"
#include "gen/describe.h"

#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    struct arena arena = {0};
    char *text;
    if (files_read(&arena, AKGEN_SOURCE_DIR "/examples/rms_norm.md", SIZE_MAX, &text, NULL))
        abort();
    fuzz_seed_text(text);
    fuzz_seed_text(
        "# GeGLU\n| x | [N, 2*C] |\n| r (N, C)\n1. `h` = gelu(x[:size(x)//2] * scale); y = h + r.\nscale: 0.5, fp16");
    fuzz_seed_text("**y** [N//2]: bf16\n> $y = x ? all : 1e-6$ where eps = -.5e3 and k of shape [3]\n# 2 A-b\n");
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { LONGEST = 4096 };
    struct arena arena = {0};
    struct gen_description *description;
    const char *text = arena_strndup(&arena, (const char *)bytes, length < LONGEST ? length : LONGEST);
    struct akgen_error *error = gen_description_read(&arena, "op.md", text, &description);
    if (error ? strncmp(error->message, "op.md", 5) != 0 : !*gen_description_op(description))
        abort();
    error_free(error);
    arena_free(&arena);
    return 0;
}
