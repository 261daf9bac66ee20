/* Files of a project with marks of any kind: each mark that is understood stands at a number of its file, which is its knob's value,
 * and what is not is refused by place. */
#include "fuzz.h"

#include "gen/tune_internal.h"

#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    fuzz_seed_text("constexpr int32_t TILE = 2048; // tune: 1024, 4096\n#define DEPTH 2 // tune\n");
    fuzz_seed_text("constexpr uint64_t ALIGN{64U}; // tune : 32\nint x = 1; // tuned\nTILE = 8 // tune:\n");
    fuzz_seed_text("  N(16) // tune: 99999999999, -1\nA 1 // tune\nA 2 // tune\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct gen_subject subject = {0};
    const char *text = arena_copy(&arena, bytes, length);
    const struct op_file file = {.path = "op_host/x.cpp", .bytes = text, .length = length};
    struct akgen_error *error = tune_read_marks(&arena, &subject, &file);
    if (error && strncmp(error->message, "op_host/x.cpp:", strlen("op_host/x.cpp:")) != 0)
        abort();
    for (int i = 0; i < subject.mark_count; i++) {
        const struct tune_mark *mark = &subject.marks[i];
        const char *number = arena_strndup(&arena, text + mark->at, mark->length);
        if (mark->at + mark->length > length || strtol(number, NULL, 10) != subject.knobs[mark->knob].value ||
            strspn(number, "0123456789") != mark->length)
            abort();
    }
    error_free(error);
    arena_free(&arena);
    return 0;
}
