/* Answers that a host part could write into akgen-host's pipe itself, for tests/cheats/host_part_test.py: a line each, with a
 * name and the message in hexadecimal digits. */
#include "jail/host_job.h"
#include "jail/wire.h"

#include <stdio.h>

static struct arena arena;

/* Changes the byte `from_end` before the end of the message, if that is not 0; the first one if it is -1. */
static void print(const char *name, const struct host_result *result, int from_end, uint8_t change)
{
    size_t length;
    uint8_t *message = wire_encode(&arena, WIRE_HOST_RESULT, result, &length);
    if (from_end)
        message[from_end < 0 ? 0 : length - (size_t)from_end] ^= change;
    printf("%s ", name);
    for (size_t i = 0; i < length; i++)
        printf("%02x", message[i]);
    printf("\n");
}

int main(void)
{
    const struct op_tiling plain = {.block_dim = 8, .bytes = "", .size = 0};
    struct op_tiling wide = plain, named = {.block_dim = 8, .bytes = "\0", .size = 1};
    wide.block_dim = OP_MAX_BLOCKS + 1;
    enum { ERROR_LENGTH = 4, BYTES = 1 };
    const struct host_result tiled = {.tiling = plain};
    print("plain", &tiled, 0, 0);
    print("wide", &(struct host_result){.tiling = wide}, 0, 0);
    print("cut", &(struct host_result){.tiling = named}, ERROR_LENGTH + BYTES + 4, 0xff);
    print("foreign", &tiled, -1, 1);
    print("ours", &(struct host_result){.status = JOB_BROKEN, .error = "no memory"}, 0, 0);
    print("lacking", &(struct host_result){.status = JOB_UNSUPPORTED, .error = "all that I do not like"}, 0, 0);
    print("def", &(struct host_result){.def = {.type = "Sqrt", .combinations = 1}}, 0, 0);
    print("failed", &(struct host_result){.status = JOB_TILING_FAILED, .error = "GRAPH_FAILED"}, 0, 0);
    arena_free(&arena);
    return 0;
}
