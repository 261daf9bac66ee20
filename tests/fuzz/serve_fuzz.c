/* Lines of akgen serve --stdio: any bytes are a request that keeps its promises, or an error of one line. */
#include "fuzz.h"

#include "base/error.h"
#include "serve/serve_internal.h"

#include <stdlib.h>
#include <string.h>

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_inside(const char *path)
{
    must(*path && *path != '/' && *path != '.' && path[strlen(path) - 1] != '/' && !strstr(path, "//") &&
         !strstr(path, "/."));
}

static void check_evaluation(const struct serve_request *request)
{
    must(request->task && *request->task);
    must(!request->path + !request->text + !request->files == 2);
    must(request->path ? *request->path : !strchr(request->name, '/'));
    if (!request->path)
        check_inside(request->name);
    for (size_t i = 0; i < request->file_count; i++) {
        check_inside(request->files[i].path);
        must(request->files[i].bytes);
    }
    for (int i = 0; i < request->option_count; i++)
        must(request->options[i].name && !(request->options[i].value && request->options[i].on));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct serve_request request;
    struct akgen_error *error = serve_request_read(&arena, (const char *)bytes, length, &request);
    must(!request.id || json_is_string(request.id) || json_is_number(request.id));
    if (error)
        must(*error->message);
    else {
        must(request.id);
        if (request.kind == SERVE_EVALUATE)
            check_evaluation(&request);
        must(!request.cancel == (request.kind != SERVE_CANCEL));
    }
    error_free(error);
    json_decref(request.json);
    arena_free(&arena);
    return 0;
}

void fuzz_seeds(void)
{
    fuzz_seed_text(
        "{\"id\": 1, \"task\": \"Sqrt\", \"candidate\": {\"path\": \"a/b\"}, \"options\": {\"profile\": \"strict\", "
        "\"case\": 0, \"full\": true, \"timeout\": 1.5}}");
    fuzz_seed_text(
        "{\"id\": \"a\", \"task\": \"Sqrt\", \"candidate\": {\"text\": \"```cpp\\n\\u00e9\", \"name\": \"x.py\"}}");
    fuzz_seed_text(
        "{\"id\": 1.5e3, \"task\": \"t\", \"candidate\": {\"files\": {\"op_kernel/a.cpp\": \"\", \"../b\": \"c\"}}}");
    fuzz_seed_text("{\"id\": 2, \"cancel\": \"a\"}");
    fuzz_seed_text("{\"id\": -9223372036854775808, \"ping\": true}");
    fuzz_seed_text("{\"id\": 123456789012345678901234567890, \"id\": null, \"opt\": [[[{\"\\ud800\": \"\\u0000\"}]]]}");
}
