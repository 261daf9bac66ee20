/* How steps lie on a tape, and reading them: in a header, since a replay does little else. A step of kind RUN is followed by its
 * transfers, which must be read.
 *
 * A loop leaves the same steps again and again, but for addresses, which go on by the same distance: so a transfer has the
 * distance to the one before it of the same work, and where the newest bytes are those before them once more, the tape says how
 * often instead. */
#ifndef NPU_TIME_TAPE_READER_H
#define NPU_TIME_TAPE_READER_H

#include "npu/time/tape.h"

#include <stddef.h>
#include <string.h>

struct npu_tape_chunk {
    struct npu_tape_chunk *next;
    uint32_t used, room;
    uint8_t bytes[];
};
enum { NPU_TAPE_CHUNK = 32 << 10 }; /* including its header */

/* What follows a step's head. */
enum { NPU_HAS_SCALAR = 1, NPU_HAS_COUNT = 2, NPU_HAS_WORK = 4 };
enum { NPU_WORK_BYTES = offsetof(struct npu_work, op) + sizeof(uint32_t) };
/* A transfer of one run needs no strides. */
enum { NPU_RUN_WRITES = 1, NPU_RUN_PAST_L2 = 2, NPU_RUN_MANY = 4, NPU_RUN_FAR = 8 };
struct npu_one_run {
    uint32_t is, bytes;
    int32_t distance; /* FAR: the address follows instead */
};
struct npu_many_runs {
    int64_t stride, stride2;
    uint32_t count, count2;
};
/* In place of steps: the `window` bytes before it come `times` times more, then `rest` bytes from where they begin. */
enum { NPU_STEP_AGAIN = 15 };
struct npu_again {
    uint32_t kind;
    uint16_t window, rest;
    uint32_t times;
};
_Static_assert(NPU_TAPE_CHUNK <= UINT16_MAX, "a window is in one chunk");

/* The next step, which is read, if it is a flag and nothing besides, and nobody has to look where it is; else false. */
static inline bool npu_tape_flag(struct npu_tape_reader *reader, struct npu_step_head *head)
{
    if (reader->at == reader->end)
        return false;
    memcpy(head, reader->at, sizeof *head);
    if (head->kind_and_has != NPU_STEP_SET && head->kind_and_has != NPU_STEP_WAIT)
        return false;
    reader->at += sizeof *head;
    return true;
}

static inline __attribute__((always_inline)) void npu_tape_get(struct npu_tape_reader *reader, void *part, size_t bytes)
{
    memcpy(part, reader->at, bytes);
    reader->at += bytes;
}

/* False: that was the last one. */
static inline bool npu_tape_step(struct npu_tape_reader *reader, struct npu_step *step)
{
    struct npu_step_head head;
    while (reader->at == reader->end || *reader->at == NPU_STEP_AGAIN)
        if (!npu_tape_turn(reader))
            return false;
    npu_tape_get(reader, &head, sizeof head);
    const unsigned has = head.kind_and_has >> 4;
    step->kind = head.kind_and_has & 15;
    step->lane = head.lanes % (1 << NPU_TO_BIT);
    step->to = head.lanes >> NPU_TO_BIT;
    step->event = head.event;
    step->transfers = head.transfers;
    step->scalar = 0;
    step->count = 0;
    if (has & NPU_HAS_SCALAR)
        npu_tape_get(reader, &step->scalar, sizeof step->scalar);
    if (has & NPU_HAS_COUNT)
        npu_tape_get(reader, &step->count, sizeof step->count);
    if (step->kind != NPU_STEP_RUN)
        return true;
    reader->place = head.event;
    step->work = &reader->works[head.event];
    if (has & NPU_HAS_WORK)
        npu_tape_get(reader, &reader->works[head.event], NPU_WORK_BYTES);
    return true;
}

static inline void npu_tape_transfer(struct npu_tape_reader *reader, struct npu_transfer *transfer)
{
    struct npu_one_run one;
    struct npu_many_runs many = {.count = 1, .count2 = 1};
    bool contiguous = true;
    uint64_t *addr = &reader->addrs[reader->place];
    npu_tape_get(reader, &one, sizeof one);
    *addr += (uint64_t)(int64_t)one.distance;
    if (one.is & NPU_RUN_FAR)
        npu_tape_get(reader, addr, sizeof *addr);
    if (one.is & NPU_RUN_MANY) {
        npu_tape_get(reader, &many, sizeof many);
        contiguous = (many.count == 1 || many.stride == (int64_t)one.bytes) && many.count2 == 1;
    }
    *transfer = (struct npu_transfer){.addr = *addr,
                                      .bytes = one.bytes,
                                      .count = many.count,
                                      .count2 = many.count2,
                                      .write = one.is & NPU_RUN_WRITES,
                                      .past_l2 = one.is & NPU_RUN_PAST_L2,
                                      .contiguous = contiguous,
                                      .stride = many.stride,
                                      .stride2 = many.stride2};
}

#endif
