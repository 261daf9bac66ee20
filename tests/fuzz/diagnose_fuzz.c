/* Whatever a compiler prints: reading it ends, and each diagnostic is one line with a place and a class. */
#include "fuzz.h"

#include "toolchain/toolchain_internal.h"

#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    fuzz_seed_text("/p/op_kernel/add.cpp:3:9: error: no matching function for call to 'DataCopy'\n"
                   "/p/op_kernel/add.cpp:3:44: note: candidate template ignored: deduced conflicting types\n"
                   "In file included from /q/op_host/add.cpp:1:\n"
                   "/q/op_host/add_tiling.h:12: fatal error: 'missing.h' file not found\n"
                   "/p/op_kernel/add.cpp:40:1: warning: unused variable 'x' [-Wunused-variable]\n"
                   "ld.lld: error: undefined symbol: Compute(int)\n>>> referenced by add.cpp:7\n"
                   "2 errors generated.\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct prepared_source prepared = {.shifts = {{3, 5, 9}, {3, 40, 2}}, .shift_count = 2};
    const struct diagnose_places places = {
        .project = "/p", .other = "/q", .shifted = "/p/op_kernel/add.cpp", .prepared = &prepared};
    struct diagnostic_list list = {0};
    const char *text = arena_strndup(&arena, (const char *)bytes, length);
    diagnose(&arena, text, &places, &list);
    int once = list.count;
    diagnose(&arena, text, &places, &list);
    if (list.count != once) /* repetitions are dropped */
        abort();
    for (int i = 0; i < once; i++) {
        const struct diagnostic *diagnostic = &list.items[i];
        if (!diagnostic->file || !diagnostic->message || strchr(diagnostic->message, '\n') || diagnostic->line < 0 ||
            !diagnostic_class_name(diagnostic->class))
            abort();
    }
    arena_free(&arena);
    return 0;
}
