/* Whatever comes through the pipe of a host part: akgen, which reads it outside of the jail, answers with an error or with
 * what a tiling function could have said, never a crash. */
#include "fuzz.h"

#include "jail/host_job.h"

#include <stdio.h>
#include <stdlib.h>

static void seed_json(const char *stages, json_t *json)
{
    char text[8192], *written = json_dumps(json, JSON_COMPACT);
    snprintf(text, sizeof text, "%s%s", stages, written);
    fuzz_seed_text(text);
    free(written);
    json_decref(json);
}

void fuzz_seeds(void)
{
    static enum akgen_dtype types[] = {AKGEN_FLOAT, AKGEN_BF16};
    static int formats[] = {2, 2};
    struct op_param x = {.name = "x", .types = types, .formats = formats, .count = 2};
    struct op_attr attr = {.name = "alpha", .type = OP_ATTR_FLOAT, .value = json_real(0.25)};
    struct op_tiling_field inner = {.name = "n", .type = "uint32_t", .bytes = 4};
    struct op_tiling_field fields[] = {
        {.name = "length", .type = "float", .bytes = 8, .array = 2},
        {.name = "in", .type = "Inner", .offset = 8, .bytes = 4, .fields = &inner, .field_count = 1}};
    struct op_tiling_struct tiling = {.key = "Add", .name = "AddTiling", .bytes = 12, .fields = fields, .count = 2};
    static uint8_t bytes[] = {1, 2, 3, 0xff};
    const struct host_result described = {.def = {.type = "Add",
                                                  .inputs = &x,
                                                  .input_count = 1,
                                                  .attrs = &attr,
                                                  .attr_count = 1,
                                                  .combinations = 2,
                                                  .tilings = &tiling,
                                                  .tiling_count = 1,
                                                  .has_tiling = true}},
                             tiled = {.tiling = {.block_dim = 8, .key = 1, .workspace = 64, .bytes = bytes, .size = 4}},
                             failed = {.status = JOB_TILING_FAILED, .error = "GRAPH_FAILED"},
                             lacking = {.status = JOB_UNSUPPORTED, .error = "ge::Operator::GetName"};
    seed_json("load\n", host_result_to_json(&described));
    seed_json("load\ntiling\n", host_result_to_json(&tiled));
    seed_json("load\ntiling\n", host_result_to_json(&failed));
    seed_json("tiling\n", host_result_to_json(&lacking));
    json_decref(attr.value);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct host_result result = {0};
    if (host_result_read(&arena, (const char *)bytes, length, &result) == HOST_ANSWERED && result.status == JOB_OK) {
        if (result.tiling.block_dim &&
            (result.tiling.block_dim > OP_MAX_BLOCKS || result.tiling.size > OP_TILING_CAPACITY))
            abort();
        /* What akgen does with it. */
        if (result.def.type) {
            static const uint8_t data[64];
            json_decref(op_tiling_decode(&result.def, 0, data, sizeof data));
            op_tiling_header(&arena, &result.def);
        }
    }
    op_def_release(&result.def);
    arena_free(&arena);
    return 0;
}
