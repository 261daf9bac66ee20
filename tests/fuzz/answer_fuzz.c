/* Answers of any text: reading ends in time, with files that a project may have, or with a reason. */
/* test: cost=10 */
#include "fuzz.h"

#include "base/text.h"
#include "candidate/answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    fuzz_seed_files("tests/gen/answers", ".txt");
    fuzz_seed_files("tests/cli/responses", ".txt");
    fuzz_seed_text("<think>\n```cpp\n#include \"a.h\"\n__global__\n```\n</think>\n### op_kernel/../x.cpp\n~~~~\n<file "
                   "path='a/b.h'>&lt;</file>");
    fuzz_seed_text("```cpp:op_kernel/a.h\n#pragma once\n```\n```cpp:op_kernel/a.h/b.h\n#pragma once\n```\n"
                   "```cpp:op_kernel/a.cpp\n#include \"b.h\"\n__global__\n```\n```cpp:op_host/a.cpp\nOP_ADD\n```");
    fuzz_seed_text("{\"files\": [{\"path\": \"op_kernel/a.cpp\", \"content\": \"__global__\"}]}");
}

/* A path below the folder, of plain parts. */
static void check_path(const char *path)
{
    char *parts = strdup(path), *rest;
    if (*path == '/' || !*path || strlen(path) > 512)
        abort();
    for (char *part = strtok_r(parts, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        if (*part == '.' || *part == '-' || strlen(part) > 200)
            abort();
        for (; *part; part++)
            if (!isalnum((unsigned char)*part) && !strchr("_.-+", *part))
                abort();
    }
    free(parts);
}

static void check_text(const char *bytes)
{
    char *text = strdup(bytes);
    text_make_utf8(text);
    if (strcmp(text, bytes) != 0 || strchr(bytes, '\r'))
        abort();
    free(text);
}

/* A text is read twice as a matter of course: the second reading is the same. */
static void check(struct arena *arena, const uint8_t *bytes, size_t length, enum eval_scope scope)
{
    struct task task = {.name = "level1/Math/Sqrt", .op = "Sqrt", .op_type = "Sqrt"};
    struct answer answer, again;
    const char *text = arena_copy(arena, bytes, length);
    answer_read(arena, text, length, &task, scope, EVAL_ANY, &answer);
    answer_read(arena, text, length, &task, scope, EVAL_ANY, &again);
    if ((answer.kind == ANSWER_IS_NOTHING) != (answer.problem != NULL) ||
        (answer.kind == ANSWER_IS_NOTHING) != (answer.count == 0) || answer.kind != again.kind ||
        answer.count != again.count)
        abort();
    for (int i = 0; i < answer.count; i++) {
        check_path(answer.files[i].path);
        for (int k = 0; k < i; k++) { /* a file is no folder of another */
            size_t above = strlen(answer.files[k].path);
            if (strncmp(answer.files[k].path, answer.files[i].path, above) == 0 && answer.files[i].path[above] == '/')
                abort();
        }
        if (answer.kind != ANSWER_IS_STRINGS)
            check_text(answer.files[i].bytes);
        if (strcmp(answer.files[i].path, again.files[i].path) != 0 ||
            strcmp(answer.files[i].bytes, again.files[i].bytes) != 0 ||
            (i && strcmp(answer.files[i - 1].path, answer.files[i].path) >= 0) ||
            (scope == EVAL_KERNEL && strncmp(answer.files[i].path, "op_host/", 8) == 0))
            abort();
    }
    if (answer.problem)
        check_text(answer.problem);
    if (answer.thinking)
        check_text(answer.thinking);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    check(&arena, bytes, length, EVAL_PROJECT);
    check(&arena, bytes, length, EVAL_KERNEL);
    arena_free(&arena);
    return 0;
}
