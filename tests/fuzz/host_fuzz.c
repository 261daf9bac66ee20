/* Any bytes from the pipe of a host part, and any job of one: akgen, which reads the first outside of the jail, answers with
 * an error or with what a tiling function could have said, never a crash. What is accepted and sent again is the same. */
#include "fuzz.h"

#include "jail/host_job.h"
#include "jail/wire.h"

#include <stdlib.h>
#include <string.h>

static void seed(const char *stages, enum wire_message message, const void *object)
{
    struct arena arena = {0};
    size_t length, before = strlen(stages);
    const void *bytes = wire_encode(&arena, message, object, &length);
    char *said = arena_alloc(&arena, before + length);
    memcpy(said, stages, before);
    memcpy(said + before, bytes, length);
    fuzz_seed(said, before + length);
    arena_free(&arena);
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
    seed("load\n", WIRE_HOST_RESULT, &described);
    seed("load\ntiling\n", WIRE_HOST_RESULT, &tiled);
    seed("load\ntiling\n", WIRE_HOST_RESULT, &failed);
    seed("tiling\n", WIRE_HOST_RESULT, &lacking);
    const float elements[] = {1, 2};
    struct op_tensor tensors[] = {{.type = AKGEN_FLOAT, .format = 2, .rank = 1, .dims = {2}, .values = elements},
                                  {.rank = -1}};
    struct op_argument argument = {.tensors = tensors, .count = 2};
    struct op_attr attrs[] = {attr, {.name = "rows", .type = OP_ATTR_LIST_LIST_INT, .value = json_pack("[[i],[]]", 1)}};
    const struct host_job job = {.host_so = "/h.so",
                                 .op_type = "Add",
                                 .soc = "Ascend910B2",
                                 .tile = true,
                                 .inputs = &argument,
                                 .input_count = 1,
                                 .attrs = attrs,
                                 .attr_count = 2};
    seed("", WIRE_HOST_JOB, &job);
    json_decref(attrs[1].value);
    json_decref(attr.value);
}

/* Aborts unless what was accepted is the same after it was sent again. */
static void send_again(struct arena *arena, enum wire_message message, const void *object, void *again)
{
    size_t first, second;
    const void *sent = wire_encode(arena, message, object, &first);
    if (wire_decode(arena, message, sent, first, again))
        abort();
    const void *resent = wire_encode(arena, message, again, &second);
    if (first != second || memcmp(sent, resent, first) != 0)
        abort();
}

static void release(const struct op_attr *attrs, int count)
{
    for (int i = 0; i < count; i++)
        json_decref(attrs[i].value);
}

static void run_job(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct host_job job = {0}, again = {0};
    struct akgen_error *error = wire_decode(&arena, WIRE_HOST_JOB, bytes, length, &job);
    if (!error)
        send_again(&arena, WIRE_HOST_JOB, &job, &again);
    error_free(error);
    release(job.attrs, job.attr_count);
    release(again.attrs, again.attr_count);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct host_result result = {0}, again = {0};
    run_job(bytes, length);
    if (host_result_read(&arena, (const char *)bytes, length, &result) == HOST_ANSWERED && result.status == JOB_OK) {
        send_again(&arena, WIRE_HOST_RESULT, &result, &again);
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
    op_def_release(&again.def);
    arena_free(&arena);
    return 0;
}
