/* The tape of a core (tape.c): what it did that takes time, in the order in which it issued it, for npu_replay() to put on a
 * timeline. Written in program order by the floors above; a core whose launch is not timed has none. */
#ifndef NPU_TIME_TAPE_H
#define NPU_TIME_TAPE_H

#include "npu/lane.h"
#include "npu/npu_internal.h"

#include <string.h>

enum npu_step_kind {
    NPU_STEP_RUN,        /* an instruction on `lane` */
    NPU_STEP_SET,        /* SetFlag lane -> to */
    NPU_STEP_WAIT,       /* WaitFlag lane -> to */
    NPU_STEP_EDGE,       /* `to` goes on when what `lane` was given is done */
    NPU_STEP_SINCE,      /* `to` goes on when instruction number `count` of `lane` is done; the first is 1 */
    NPU_STEP_BARRIER,    /* of `lane` */
    NPU_STEP_JOIN,       /* everything is done before anything goes on */
    NPU_STEP_CROSS_SET,  /* CrossCoreSetFlag: `event`, mode `to`, behind what `lane` was given */
    NPU_STEP_CROSS_WAIT, /* CrossCoreWaitFlag: `event` */
    NPU_STEP_MEET,       /* SyncAll number `count` of the launch, of `event` cores */
    NPU_STEP_TELL,       /* number `count` is told to other cores, behind what `lane` was given */
    NPU_STEP_HEAR        /* the scalar unit goes on when number `count` has been told */
};

/* Bytes of GM that an instruction moves: count2 groups of `count` runs. */
struct npu_transfer {
    uint64_t addr;
    uint32_t bytes, count, count2;
    bool write, past_l2; /* past_l2: the tensor's hint says that L2 is not to keep them */
    bool contiguous;     /* the runs are one */
    int64_t stride, stride2;
};

/* What an instruction does, wherever its operands lie. */
struct npu_work {
    uint64_t pc;
    const char *of; /* the high-level API whose instruction it is; NULL: none */
    float cycles;   /* on its lane, without what GM takes */
    uint32_t count; /* elements */
    uint16_t op;
};

struct npu_step {
    uint8_t kind, lane, to, event;
    uint16_t transfers;          /* of RUN: so many follow */
    float scalar;                /* cycles of the scalar unit since the step before */
    uint32_t count;              /* of SINCE, MEET, TELL, HEAR */
    const struct npu_work *work; /* of RUN, and of what follows it up to the next */
};

enum { NPU_TAPE_LINES = 256 }; /* of 64 bytes that the scalar cache is taken to hold: its size is not documented */

enum { NPU_TAPE_COSTS = 64, NPU_TAPE_WORKS = 64, NPU_TAPE_SEEN = 4 };
struct npu_tape_cost {
    uint64_t key;
    double cycles;
    uint32_t elements;
};

/* Steps as bytes, most of them four, and of a loop those of two rounds: fresh memory costs more than anything else here. What a tape needs
 * beside them to be written is given back when its block ends. */
struct npu_tape_chunk;
struct npu_tape {
    struct npu_tape_chunk *first, *last;
    uint8_t *at, *full; /* of the newest chunk: its end, where it has no more room */
    uint8_t *
        window; /* the newest steps are those from here to `at` once more, `times` times, then as far as `match`; NULL: no */
    uint8_t *match;
    uint32_t times;
    uint64_t blocks, loads, stores; /* of the scalar unit, that are on the tape already: what every flag asks for */
    uint8_t begun;                  /* the place of the work that the window begins with */
    uint8_t *floor;                 /* since here there are steps, one by one */
    uint8_t *seen[NPU_TAPE_WORKS][NPU_TAPE_SEEN]; /* where work of a place was, the newest first; of older chunks too */
    uint64_t addrs[NPU_TAPE_WORKS];               /* of the newest transfer of each place */
    uint64_t mix[NPU_MIXES], misses;              /* what of the scalar unit's work is on the tape already */
    uint64_t missed;                              /* lines that the scalar unit had to fetch from GM */
    uint64_t lines[NPU_TAPE_LINES];               /* those that it has, 1 + number */
    double own;                                   /* cycles of npu_tape_scalar() that are not on the tape yet */
    uint32_t runs[NPU_LANES];                     /* instructions of a lane */
    uint32_t steps;                               /* of struct npu_tape_place */
    uint32_t known[NPU_LANES][NPU_LANES];         /* [from][to]: of these, those that an edge has told */
    struct npu_work works[NPU_TAPE_WORKS];        /* that the tape has told, the newest of each place */
    struct npu_tape_cost costs[NPU_TAPE_COSTS];   /* cost.c: of the newest instructions */
    uint32_t ub_peak;
};

/* The tapes of all cores of a launch have room for so many bytes. */
enum { NPU_TAPE_BYTES = 160 << 20 };

/* What a step begins with; `has` says what follows (tape_reader.h). */
struct npu_step_head {
    uint8_t kind_and_has;
    uint8_t lanes; /* lane, and `to` from this bit on: */
    uint8_t event; /* of RUN: where its work is in the table */
    uint8_t transfers;
};
enum { NPU_TO_BIT = 3 };
_Static_assert(NPU_LANES < 1 << NPU_TO_BIT, "a lane has room");
static inline struct npu_step_head npu_tape_head(enum npu_step_kind kind, int lane, int to, int event)
{
    return (struct npu_step_head){
        .kind_and_has = (uint8_t)kind, .lanes = (uint8_t)(lane | to << NPU_TO_BIT), .event = (uint8_t)event};
}
static inline uint32_t npu_tape_word(const void *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}
/* The window goes on with so many bytes. */
static inline void npu_tape_matched(struct npu_tape *tape, size_t bytes)
{
    tape->match += bytes;
    if (tape->match != tape->at)
        return;
    tape->match = tape->window;
    tape->times++;
}
/* The scalar unit has done nothing since the newest step. */
static inline bool npu_tape_at_rest(const struct npu_core *core)
{
    const struct npu_tape *tape = core->tape;
    const struct npu_stats *stats = &core->stats;
    return !((stats->scalar_blocks ^ tape->blocks) | (stats->scalar_loads ^ tape->loads) |
             (stats->scalar_stores ^ tape->stores));
}

struct npu_tape *npu_tape_create(void);
void npu_tape_destroy(struct npu_tape *tape);
/* What is on the tapes of a launch, when it is over. */
void npu_tape_free_all(struct npu *npu);
/* An instruction that has been checked, with what it accesses. */
void npu_tape_run(struct npu_core *core, int lane, const struct npu_insn *insn, const struct npu_access *accesses,
                  int count);
/* The scalar unit touches this address of GM. */
void npu_tape_scalar_gm(struct npu_tape *tape, uint64_t addr);
/* Any other step. */
void npu_tape_add(struct npu_core *core, enum npu_step_kind kind, int lane, int to, int event, uint32_t count);
/* A flag: most of the time that of the round before. */
static inline void npu_tape_flags(struct npu_core *core, enum npu_step_kind kind, int lane, int to, int event)
{
    struct npu_tape *tape = core->tape;
    const struct npu_step_head head = npu_tape_head(kind, lane, to, event);
    if (tape->match && npu_tape_at_rest(core) && npu_tape_word(tape->match) == npu_tape_word(&head))
        npu_tape_matched(tape, sizeof head);
    else
        npu_tape_add(core, kind, lane, to, event, 0);
}
/* What a core tells others by way of GM, behind what a lane was given: the number that npu_tape_hear() takes; 0: there is no
 * tape. */
uint32_t npu_tape_tell(struct npu_core *core, int lane);
/* The core has seen what was told; nothing for 0. */
void npu_tape_hear(struct npu_core *core, uint32_t number);
/* The core goes on when another has come to a place of its tape, which it has passed. */
void npu_tape_hear_place(struct npu_core *core, const struct npu_core *other, struct npu_tape_place place);
/* Steps that struct npu_tape_place counts. */
static inline bool npu_tape_is_place(enum npu_step_kind kind)
{
    return kind == NPU_STEP_RUN || kind == NPU_STEP_CROSS_WAIT || kind == NPU_STEP_MEET || kind == NPU_STEP_HEAR;
}
/* Work of the scalar unit that no code of the kernel stands for: that of CANN's own. */
void npu_tape_scalar(struct npu_core *core, double cycles);
/* The end of the core's block: what its scalar unit has done since the last step is added, and the tape becomes core->recorded. */
void npu_tape_end(struct npu_core *core);

/* Reading a tape (tape_reader.h). */
struct npu_tape_reader {
    const struct npu_tape_chunk *chunk;
    const uint8_t *at, *end; /* the next step; where this stretch of them ends */
    const uint8_t *window,
        *behind;          /* of steps that come again: where they begin, what follows them; behind NULL: none do */
    uint32_t times, rest; /* how often the whole window is to come, and how much of it then */
    uint8_t place;        /* of the newest work */
    uint64_t addrs[NPU_TAPE_WORKS];
    struct npu_work works[NPU_TAPE_WORKS];
};
struct npu_tape_reader npu_tape_read(const struct npu_recorded *recorded);
/* At the end of a stretch, or where steps come again: on to the next stretch. False: the tape is over. */
bool npu_tape_turn(struct npu_tape_reader *reader);

/* Cycles of an instruction on its lane, without what GM takes (cost.c): never fewer than the lane's widest paths need for the bytes of local
 * memory that its accesses name. */
double npu_cost(const struct npu_core *core, int lane, const struct npu_insn *insn, const struct npu_access *accesses,
                int count, uint32_t *elements);

/* Puts the tapes of all cores on timelines (replay.c): npu->timing. */
void npu_replay(struct npu *npu);

#endif
