/* The memory of a case's tensors, which akgen and akgen-run share: where each tensor lies, what is in it before a run, and
 * how it is taken away from everybody else after one. */
#include "eval/case_internal.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { GM_ALIGN = 512, GM_SLACK = 1024 };

static void place(struct job_argument *argument, uint64_t gap, uint64_t *offset)
{
    for (int i = 0; i < argument->count; i++) {
        argument->tensors[i].offset = *offset;
        *offset += (argument->tensors[i].bytes + gap + GM_ALIGN - 1) / GM_ALIGN * GM_ALIGN;
    }
}

static void add_sizes(const struct job_argument *argument, uint64_t *bytes, uint64_t *tensors)
{
    for (int i = 0; i < argument->count; i++)
        *bytes += argument->tensors[i].bytes;
    *tensors += (uint64_t)argument->count;
}

/* What is left free behind each tensor, so that an access with a wrong stride leaves its tensor and does not fall into
 * the next. The gaps are never touched and take no memory. */
static uint64_t gap_between(const struct bound_case *bound)
{
    static const uint64_t all_gaps = 1ULL << 30;
    uint64_t bytes = 0, tensors = 1;
    for (int i = 0; i < bound->instance->task->input_count; i++)
        add_sizes(&bound->inputs[i], &bytes, &tensors);
    for (int i = 0; i < bound->instance->task->output_count; i++)
        add_sizes(&bound->outputs[i], &bytes, &tensors);
    return GM_SLACK + (bytes < all_gaps / tensors ? bytes : all_gaps / tensors);
}

bool gm_memory_create(struct gm_memory *gm, uint64_t bytes)
{
    *gm = (struct gm_memory){.bytes = bytes ? bytes : GM_ALIGN};
    gm->fd = memfd_create("akgen-gm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (gm->fd < 0 || ftruncate(gm->fd, (off_t)gm->bytes) != 0)
        return false;
    fcntl(gm->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    return true;
}

void gm_memory_free(struct gm_memory *gm)
{
    if (gm->base)
        munmap(gm->base, gm->bytes);
    if (gm->fd >= 0)
        close(gm->fd);
    gm->base = NULL;
    gm->fd = -1;
}

/* From now on nobody can write it, not even through a mapping that he has already: the system refuses the seal as long as
 * there is one, and does without it where there are no seals. False: somebody keeps one. */
static bool seal(int fd)
{
    enum { TRIES = 1000 };
    static const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; i < TRIES; i++) {
        if (!fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) || errno != EBUSY)
            return true;
        nanosleep(&moment, NULL); /* a process that is gone takes its memory with it a little later */
    }
    return false;
}

bool gm_memory_take_away(struct gm_memory *gm)
{
    bool alone = seal(gm->fd);
    gm->base = mmap(NULL, gm->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, gm->fd, 0);
    if (gm->base == MAP_FAILED)
        memory_exhausted(gm->bytes);
    return alone;
}

/* Written to the file and not through a mapping: the system neither clears the pages before nor is interrupted at each. */
static void put(const struct gm_memory *gm, uint64_t offset, const void *values, uint64_t bytes)
{
    const char *from = values;
    while (bytes) {
        ssize_t written = pwrite(gm->fd, from, bytes, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            memory_exhausted(bytes);
        from += written;
        offset += (uint64_t)written;
        bytes -= (uint64_t)written;
    }
}

/* Elements of `size` bytes that are all the same. */
static void fill(const struct gm_memory *gm, uint64_t offset, uint64_t bytes, uint64_t element, int size)
{
    enum { PIECE = 1 << 16 }; /* whole elements of any size */
    uint8_t piece[PIECE];
    for (uint64_t at = 0; at < PIECE && at < bytes; at += (uint64_t)size)
        memcpy(piece + at, &element, (size_t)size);
    for (uint64_t at = 0; at < bytes; at += PIECE)
        put(gm, offset + at, piece, bytes - at < PIECE ? bytes - at : PIECE);
}

/* A pattern that is a NaN in every floating type, so that an unwritten output never looks right. */
enum { POISON = 0xff };

/* What lies behind a tensor in its allocation must not look like a value. */
static void poison_behind(const struct gm_memory *gm, const struct job_argument *argument)
{
    for (int i = 0; i < argument->count; i++)
        fill(gm, argument->tensors[i].offset + argument->tensors[i].bytes, GM_SLACK, POISON, 1);
}

void gm_memory_fill(struct bound_case *bound)
{
    const struct task *task = bound->instance->task;
    for (int i = 0; i < task->input_count; i++)
        for (int t = 0; t < bound->inputs[i].count; t++)
            put(&bound->gm, bound->inputs[i].tensors[t].offset, bound->instance->inputs[i].tensors[t].values,
                bound->inputs[i].tensors[t].bytes);
    for (int i = 0; i < task->input_count; i++)
        poison_behind(&bound->gm, &bound->inputs[i]);
    for (int i = 0; i < task->output_count; i++)
        if (bound->outputs[i].alias < 0)
            poison_behind(&bound->gm, &bound->outputs[i]);
    for (int i = 0; i < task->output_count; i++)
        for (int t = 0; t < bound->outputs[i].count && bound->outputs[i].alias < 0; t++)
            fill(&bound->gm, bound->outputs[i].tensors[t].offset, bound->outputs[i].tensors[t].bytes,
                 bound->outputs[i].tensors[t].defined ? 0 : POISON, 1);
    /* One in place is the input's memory, whose values are lost then, as on the chip. */
    for (int i = 0; i < task->output_count; i++)
        for (int t = 0; t < bound->outputs[i].count && bound->outputs[i].fill; t++)
            fill(&bound->gm, bound->outputs[i].tensors[t].offset, bound->outputs[i].tensors[t].bytes,
                 bound->outputs[i].fill->element, bound->outputs[i].fill->bytes);
}

bool gm_memory_lay_out(struct bound_case *bound)
{
    const struct task *task = bound->instance->task;
    uint64_t end = bound->trial->begin, gap = gap_between(bound);
    for (int i = 0; i < task->input_count; i++)
        place(&bound->inputs[i], gap, &end);
    for (int i = 0; i < task->output_count; i++) {
        struct job_argument *output = &bound->outputs[i];
        if (output->alias < 0)
            place(output, gap, &end);
        else
            for (int t = 0; t < output->count; t++)
                output->tensors[t].offset = bound->inputs[output->alias].tensors[t].offset;
    }
    return gm_memory_create(&bound->gm, end);
}

static void fail(struct job_result *result, enum job_status status, const char *error)
{
    job_result_free(result);
    *result = (struct job_result){
        .status = status, .stage = JOB_KERNEL, .error = error, .printed = result->printed ? result->printed : ""};
}

void gm_memory_run(struct arena *arena, struct bound_case *bound, const struct job *job, struct job_result *result)
{
    struct gm_memory *gm = &bound->gm;
    const uint64_t bytes = gm->bytes;
    *result = (struct job_result){0};
    if (gm->used) {
        gm_memory_free(gm);
        if (!gm_memory_create(gm, bytes)) {
            fail(result, JOB_BROKEN,
                 arena_printf(arena, "no shared memory for the case's tensors: %s", strerror(errno)));
            return;
        }
    }
    struct job now = *job;
    now.gm_fd = gm->fd;
    gm_memory_fill(bound);
    job_run(arena, &now, result);
    gm->used = true;
    if (!gm_memory_take_away(gm) && !job->debugger)
        fail(result, JOB_CHEATED, "a process that the kernel left behind keeps the tensors' memory");
}

uint8_t *gm_memory_save_outputs(const struct bound_case *bound)
{
    uint64_t bytes = 0, tensors = 0;
    for (int i = 0; i < bound->instance->task->output_count; i++)
        add_sizes(&bound->outputs[i], &bytes, &tensors);
    uint8_t *outputs = memory_alloc(bytes + 1), *saved = outputs;
    for (int i = 0; i < bound->instance->task->output_count; i++)
        for (int t = 0; t < bound->outputs[i].count; t++) {
            const struct job_tensor *tensor = &bound->outputs[i].tensors[t];
            memcpy(saved, bound->gm.base + tensor->offset, tensor->bytes);
            saved += tensor->bytes;
        }
    return outputs;
}

void gm_memory_put_outputs(const struct bound_case *bound, const uint8_t *saved)
{
    for (int i = 0; i < bound->instance->task->output_count; i++)
        for (int t = 0; t < bound->outputs[i].count; t++) {
            const struct job_tensor *tensor = &bound->outputs[i].tensors[t];
            memcpy(bound->gm.base + tensor->offset, saved, tensor->bytes);
            saved += tensor->bytes;
        }
}

const char *gm_memory_first_difference(struct arena *arena, const struct bound_case *bound, const uint8_t *saved)
{
    for (int i = 0; i < bound->instance->task->output_count; i++)
        for (int t = 0; t < bound->outputs[i].count; t++) {
            const struct job_tensor *tensor = &bound->outputs[i].tensors[t];
            const uint8_t *now = bound->gm.base + tensor->offset;
            size_t at = 0, size = akgen_dtype_size(bound->instance->outputs[i].tensors[t].type);
            while (at < tensor->bytes && now[at] == saved[at])
                at++;
            if (at < tensor->bytes)
                return arena_printf(arena, "%s[%zu]", bound->instance->task->outputs[i].name, at / (size ? size : 1));
            saved += tensor->bytes;
        }
    return NULL;
}
