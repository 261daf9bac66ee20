/* The order of cores in a replay: a sorted list, of which only the first ever moves. */
#include "npu/time/turns.h"

#include <stdbool.h>
#include <string.h>

static bool comes_first(const struct npu_turn *one, const struct npu_turn *other)
{
    return one->key < other->key || (one->key == other->key && one->core < other->core);
}

/* Where in [first, count) the turn belongs: most of the time at the end. */
static int place_of(const struct npu_turns *turns, int first, struct npu_turn turn)
{
    int low = first, high = turns->count;
    if (high > low && comes_first(&turns->all[high - 1], &turn))
        return high;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (comes_first(&turns->all[middle], &turn))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void npu_turns_add(struct npu_turns *turns, int core, double key)
{
    const struct npu_turn turn = {key, core};
    const int at = place_of(turns, 0, turn);
    memmove(&turns->all[at + 1], &turns->all[at], (size_t)(turns->count - at) * sizeof turn);
    turns->all[at] = turn;
    turns->count++;
}

void npu_turns_move_first(struct npu_turns *turns, double key)
{
    const struct npu_turn turn = {key, turns->all[0].core};
    const int at = place_of(turns, 1, turn);
    memmove(turns->all, turns->all + 1, (size_t)(at - 1) * sizeof turn);
    turns->all[at - 1] = turn;
}

void npu_turns_drop_first(struct npu_turns *turns)
{
    memmove(turns->all, turns->all + 1, (size_t)--turns->count * sizeof *turns->all);
}

int npu_turns_before(const struct npu_turns *turns, double key)
{
    return place_of(turns, 0, (struct npu_turn){key, -1});
}
