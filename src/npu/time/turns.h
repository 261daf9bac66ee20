/* Whose turn it is: the cores that can go on, the one whose copies are furthest behind first (turns.c). */
#ifndef NPU_TIME_TURNS_H
#define NPU_TIME_TURNS_H

struct npu_turn {
    double key; /* cycles: where the core is */
    int core;   /* of two at the same place the lower number goes first */
};

struct npu_turns {
    struct npu_turn *all; /* in their order; the caller's, with room for every core */
    int count;
};

/* One more core. */
void npu_turns_add(struct npu_turns *turns, int core, double key);
/* The first core has gone on to this place. */
void npu_turns_move_first(struct npu_turns *turns, double key);
/* The first core cannot go on. */
void npu_turns_drop_first(struct npu_turns *turns);
/* Cores that are before this place. */
int npu_turns_before(const struct npu_turns *turns, double key);

#endif
