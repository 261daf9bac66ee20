/* Whatever a compiler prints: reading it ends, and each diagnostic is one line with a place and a class. */
#include "fuzz.h"

#include "toolchain/toolchain_internal.h"

#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    fuzz_seed_text(
        "/p/op_kernel/add.cpp:3:7: error: unknown type name 'LocalTensr'; did you mean 'LocalTensor'?\n"
        "    3 |       LocalTensr<half> x;\n      |       ^~~~~~~~~~\n      |       LocalTensor\n1 error generated.\n");
    fuzz_seed_text(
        "In file included from /p/op_kernel/add.cpp:1:\n/q/basic/vector_binary.h:40:5: fatal error: static assertion "
        "failed due to requirement 'ok': Add: data type is not supported on Ascend910B; supported: half, float\n"
        "/p/op_kernel/add.cpp:40:9: note: in instantiation of function template specialization\n");
    fuzz_seed_text("<built-in>:1:1: warning: 'Hccl' is unavailable: akgen-unsupported: Hccl [-Wx]\n"
                   "ld.lld: error: undefined symbol: foo()\n>>> referenced by add.cpp:12\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct prepared_source prepared = {.shifts = {{3, 5, 9}, {3, 40, 2}}, .shift_count = 2};
    static const struct op_file file = {"op_kernel/add.cpp", "one\ntwo\n\nfour", 13};
    const struct op_files files = {&file, 1};
    const struct diagnose_places places = {
        .project = "/p", .files = &files, .shifted = "/p/op_kernel/add.cpp", .prepared = &prepared};
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
