/* Any bytes from akgen-read, which may have been taken over by the text that it reads: akgen answers with an error or with an answer and
 * a candidate whose files lie in a project, never a crash. Any bytes as a job, too. What is accepted and sent again is the same. */
#include "fuzz.h"

#include "candidate/reader_internal.h"

#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    struct arena arena = {0};
    size_t length;
    const struct op_file files[] = {{"op_host/a.cpp", "int b;", 6}, {"op_kernel/a.cpp", "int a;", 6}};
    struct diagnostic diagnostic = {.class = DIAG_API, .error = true, .file = "program.py", .line = 3, .message = "no"};
    struct source_range range = {1, 2};
    struct source_file mapped = {"op_kernel/a.cpp", &range, 1};
    struct source_text text = {2, "tl.load(x)"};
    struct op_wrapper_value value = {.name = "slope", .value = json_real(0.25)};
    struct reader_result result = {.answer = {.files = files, .count = 2, .thinking = "well"},
                                   .candidate = {.files = {files, 2}, .program = "x"},
                                   .map = {"program.py", &mapped, &text, 1, 1},
                                   .wrapper = {.attrs = &value, .attr_count = 1}};
    const void *bytes = reader_encode_result(&arena, &result, &length);
    fuzz_seed(bytes, length);
    json_decref(value.value);
    result = (struct reader_result){
        .answer = {.kind = ANSWER_IS_NOTHING, .problem = "prose", .language = EVAL_ANY},
        .refusal = {AKGEN_VERDICT_COMPILE_ERROR, "prose", &diagnostic, 1},
        .strings = {READER_STRINGS,
                    {{.text = "{}"}, {.text = "a"}, {.text = "b"}, {.text = "c"}, {.text = "d"}, {.text = "e"}}}};
    bytes = reader_encode_result(&arena, &result, &length);
    fuzz_seed(bytes, length);
    const struct reader_job job = {.dir = "/t",
                                   .yaml = "suite: a",
                                   .table = "case_id\n0\n",
                                   .asked = {.language = EVAL_ANY, .only_case = -1},
                                   .name = "answer.txt",
                                   .text = "y = x",
                                   .length = 5};
    bytes = reader_encode_job(&arena, &job, &length);
    fuzz_seed(bytes, length);
    arena_free(&arena);
}

static void check_paths(const struct op_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (*files[i].path == '/' || *files[i].path == '.' || strstr(files[i].path, "/.") ||
            files[i].bytes[files[i].length] != '\0')
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct reader_result result, again;
    struct reader_job job;
    struct akgen_error *error = reader_decode_result(&arena, bytes, length, &result);
    if (!error) {
        size_t first, second;
        check_paths(result.answer.files, (size_t)result.answer.count);
        check_paths(result.candidate.files.items, result.candidate.files.count);
        const void *sent = reader_encode_result(&arena, &result, &first);
        if (reader_decode_result(&arena, sent, first, &again))
            abort();
        const void *resent = reader_encode_result(&arena, &again, &second);
        if (first != second || memcmp(sent, resent, first) != 0)
            abort();
        op_wrapper_release(&result.wrapper);
        op_wrapper_release(&again.wrapper);
    }
    error_free(error);
    error = reader_decode_job(&arena, bytes, length, &job);
    if (!error)
        op_def_release(&job.def);
    error_free(error);
    arena_free(&arena);
    return 0;
}
