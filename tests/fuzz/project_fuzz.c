/* A project of any text: its kernel, a line "===", its host part, another, and CMakeLists.txt. Reading ends with a project
 * whose options are safe to hand to a compiler, or with an error. */
#include "fuzz.h"

#include "op/op.h"

#include <stdlib.h>
#include <string.h>

static const char *const files[] = {"op_kernel/add_custom.cpp", "op_host/add_custom.cpp", "CMakeLists.txt"};
enum { FILES = sizeof files / sizeof *files };
static const char between[] = "\n===\n";
void fuzz_seeds(void)
{
    fuzz_seed_text("extern \"C\" __global__ __aicore__ void add_custom(GM_ADDR x) {}\n===\n"
                   "#include \"register/op_def_registry.h\"\nOP_ADD(AddCustom);\n===\n"
                   "add_ops_compile_options(ALL OPTIONS -DA=1 -Iinclude --cce-auto-sync=off) # -DB\n"
                   "npu_op_kernel_options(ascendc_kernels ALL OPTIONS -UA)\n");
    fuzz_seed_text(
        "/* __global__ */ #define G __global__\n__global__ __mix__(1, 2) __attribute__((used)) void add(int a) "
        "{ '\\'' \"\\\"\" }\n===\n#include \"aclnn/x.h\"\n\"opFile.value\", \"add_apt\"\n===\n-DA ${X} \"-DB\"\n");
    fuzz_seed_files("tests/kernels/good", ".cpp");
    fuzz_seed_files("tests/kernels/good", ".txt");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct op_file parts[FILES];
    for (int i = 0; i < FILES; i++) {
        const uint8_t *end = i < FILES - 1 ? memmem(bytes, length, between, sizeof between - 1) : NULL;
        size_t part = end ? (size_t)(end - bytes) : length, skip = end ? part + sizeof between - 1 : length;
        parts[i] = (struct op_file){files[i], arena_strndup(&arena, (const char *)bytes, part), part};
        bytes += skip;
        length -= skip;
    }
    const struct op_files project_files = op_files_of(&arena, parts, FILES);
    for (int known = 0; known <= 1; known++) {
        struct op_project project;
        struct akgen_error *error =
            op_project_find(&arena, &project_files, known ? "AddCustom" : NULL, !known, &project);
        if (!error && strpbrk(project.options, "$`;|&<>\n\"'\\"))
            abort();
        error_free(error);
    }
    arena_free(&arena);
    return 0;
}
