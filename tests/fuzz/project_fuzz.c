/* A project of any text: its kernel, a line "===", its host part, another, and CMakeLists.txt. Reading ends with a project
 * whose options are safe to hand to a compiler, or with an error. */
#include "fuzz.h"

#include "base/files.h"
#include "op/op.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = {"op_kernel/add_custom.cpp", "op_host/add_custom.cpp", "CMakeLists.txt"};
enum { FILES = sizeof files / sizeof *files };
static const char between[] = "\n===\n";
static char folder[PATH_MAX];

static void remove_folder(void)
{
    files_remove_tree(folder);
}

static void make_folder(void)
{
    static const char *const parts[] = {"", "/op_kernel", "/op_host"};
    const char *memory = "/dev/shm"; /* thousands of files */
    snprintf(folder, sizeof folder - 64, "%s/akgen-project-fuzz.XXXXXX", access(memory, W_OK) ? "/tmp" : memory);
    if (!mkdtemp(folder))
        abort();
    atexit(remove_folder);
    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s", folder, parts[i]);
        if (mkdir(path, 0755))
            abort();
    }
}

static void write_file(const char *name, const uint8_t *bytes, size_t length)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file))
        abort();
}

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
    if (!*folder)
        make_folder();
    for (int i = 0; i < FILES; i++) {
        const uint8_t *end = i < FILES - 1 ? memmem(bytes, length, between, sizeof between - 1) : NULL;
        size_t part = end ? (size_t)(end - bytes) : length, skip = end ? part + sizeof between - 1 : length;
        write_file(files[i], bytes, part);
        bytes += skip;
        length -= skip;
    }
    for (int known = 0; known <= 1; known++) {
        struct op_project project;
        struct akgen_error *error = op_project_find(&arena, folder, known ? "AddCustom" : NULL, !known, &project);
        if (!error && strpbrk(project.options, "$`;|&<>\n\"'\\"))
            abort();
        error_free(error);
    }
    arena_free(&arena);
    return 0;
}
