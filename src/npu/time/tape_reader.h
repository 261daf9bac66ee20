/* How steps lie on a tape, and reading them: in a header, since a replay does little else. A step of kind RUN is followed by its
 * transfers, which must be read. */
#ifndef NPU_TAPE_READER_H
#define NPU_TAPE_READER_H

#include "npu/time/tape.h"

#include <string.h>

enum { NPU_TAPE_BLOCK = 2 << 20, NPU_TAPE_CHUNKS = 32, NPU_TAPE_CHUNK = NPU_TAPE_BLOCK / NPU_TAPE_CHUNKS - 32 };
struct npu_tape_chunk {
    struct npu_tape_chunk *next;
    size_t used;
    uint8_t bytes[NPU_TAPE_CHUNK];
};

/* What a step begins with; `has` says what follows. */
enum { NPU_HAS_SCALAR = 1, NPU_HAS_COUNT = 2, NPU_HAS_WORK = 4 };
struct npu_step_head {
    uint8_t kind_and_has, lanes, event, transfers; /* event, of RUN: where its work is in the table */
};
/* A transfer of one run needs no strides. */
enum { NPU_RUN_WRITES = 1, NPU_RUN_PAST_L2 = 2, NPU_RUN_MANY = 4 };
struct npu_one_run {
    uint64_t addr;
    uint32_t bytes;
    uint8_t is;
};
struct npu_many_runs {
    int64_t stride, stride2;
    uint32_t count, count2;
};

/* The next step, which is read, if it is a flag and nothing besides, and in this chunk; else false. */
static inline bool npu_tape_flag(struct npu_tape_reader *reader, struct npu_step_head *head)
{
    if (!reader->chunk || reader->at == reader->chunk->bytes + reader->chunk->used)
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
    if (!reader->chunk)
        return false;
    if (reader->at == reader->chunk->bytes + reader->chunk->used) {
        if (!reader->chunk->next)
            return false;
        reader->chunk = reader->chunk->next;
        reader->at = reader->chunk->bytes;
    }
    npu_tape_get(reader, &head, sizeof head);
    const unsigned has = head.kind_and_has >> 4;
    step->kind = head.kind_and_has & 15;
    step->lane = head.lanes & 15;
    step->to = head.lanes >> 4;
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
    step->work = &reader->works[head.event];
    if (has & NPU_HAS_WORK)
        npu_tape_get(reader, &reader->works[head.event], sizeof *reader->works);
    return true;
}

static inline void npu_tape_transfer(struct npu_tape_reader *reader, struct npu_transfer *transfer)
{
    struct npu_one_run one;
    struct npu_many_runs many = {.count = 1, .count2 = 1};
    npu_tape_get(reader, &one, sizeof one);
    if (one.is & NPU_RUN_MANY)
        npu_tape_get(reader, &many, sizeof many);
    *transfer = (struct npu_transfer){.addr = one.addr,
                                      .bytes = one.bytes,
                                      .count = many.count,
                                      .count2 = many.count2,
                                      .write = one.is & NPU_RUN_WRITES,
                                      .past_l2 = one.is & NPU_RUN_PAST_L2,
                                      .stride = many.stride,
                                      .stride2 = many.stride2};
}

#endif
