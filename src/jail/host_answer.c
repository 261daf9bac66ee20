/* Reads the pipe of a host part: a line for each stage, then a result. */
#include "jail/host_job.h"
#include "jail/wire.h"

#include <string.h>

/* "ge::Operator::GetName" */
static bool is_function(const char *name)
{
    enum { LONGEST = 128 };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:~";
    return name && *name && strlen(name) <= LONGEST && name[strspn(name, letters)] == '\0';
}

struct akgen_error *host_result_decode(struct arena *arena, const void *bytes, size_t length,
                                       struct host_result *result)
{
    /* A message of another build, which the cache may hold, fills nothing. */
    *result = (struct host_result){.stage = result->stage, .printed = result->printed};
    struct akgen_error *error = wire_decode(arena, WIRE_HOST_RESULT, bytes, length, result);
    const bool tiled = result->tiling.block_dim, defined = result->def.type;
    if (!error && (result->status == JOB_OK ? tiled == defined : tiled || defined || !result->error))
        error = error_new("host_result.status does not go with what is there");
    if (!error && result->status == JOB_UNSUPPORTED && !is_function(result->error))
        error = error_new("host_result.error is no name of a function");
    if (!error && defined)
        error = op_def_check(&result->def);
    if (error)
        op_def_release(&result->def);
    return error;
}

/* The line that tells a stage; its length, 0 if the text begins with none. */
static size_t stage_line(const char *text, size_t length, enum job_stage *stage)
{
    for (enum job_stage at = JOB_LOAD; at <= JOB_TILING; at++) {
        const char *name = job_stage_name(at);
        size_t size = strlen(name);
        if (length > size && memcmp(text, name, size) == 0 && text[size] == '\n') {
            *stage = at;
            return size + 1;
        }
    }
    return 0;
}

enum host_answer host_result_read(struct arena *arena, const char *text, size_t length, struct host_result *result)
{
    size_t line;
    for (; (line = stage_line(text, length, &result->stage)); text += line)
        length -= line;
    if (!length)
        return HOST_SILENT;
    const enum job_stage stage = result->stage;
    struct akgen_error *error = host_result_decode(arena, text, length, result);
    if (!error)
        return HOST_ANSWERED;
    error_free(error);
    *result = (struct host_result){.stage = stage};
    return stage == JOB_START && !wire_is(WIRE_HOST_RESULT, text, length) ? HOST_FOREIGN : HOST_GARBLED;
}
