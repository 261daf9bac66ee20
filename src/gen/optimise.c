/* Making a right candidate faster: whom a round gives back, and when it ends. What counts is a verdict, as ever: an answer is better
 * only if it passes as a whole and its modelled time is shorter (repair_is_better), so the best never gets slower or wrong. */
#include "gen/repair_internal.h"

#include <string.h>

enum { MENDS = 2 /* rounds that are spent on one answer that was to be faster and is not right */ };

static bool is_right(const struct repair *repair, const struct attempt *attempt)
{
    (void)repair;
    return attempt->timed;
}

/* Made of a right candidate, not right itself, no cheat, and not given back yet. */
static bool is_worth_mending(const struct repair *repair, const struct attempt *attempt)
{
    int mends = 0;
    if (attempt->row.kind == AKGEN_VERDICT_PASS || attempt->row.kind == AKGEN_VERDICT_INFRA_ERROR ||
        attempt->row.kind == AKGEN_VERDICT_REJECTED || attempt->mended)
        return false;
    for (int at = attempt->parent; at >= 0; at = repair->attempts[at].parent) {
        if (repair->attempts[at].timed)
            return mends < MENDS;
        mends++;
    }
    return false;
}

int optimise_choose(const struct repair *repair, int *chosen)
{
    const int beam = repair->options->beam;
    int wrong = repair_choose(repair, is_worth_mending, beam > 1 ? beam - 1 : 1, chosen);
    return beam > wrong ? wrong + repair_choose(repair, is_right, beam - wrong, chosen + wrong) : wrong;
}

void optimise_begin(struct repair *repair)
{
    const struct attempt *best = &repair->attempts[repair->best];
    struct gen_faster *faster = &repair->outcome->faster;
    *faster = (struct gen_faster){.began = best->timed, .before = best->sample, .times_before = best->times};
    repair->leader = best->sample;
    repair->idle_rounds = 0;
}

const char *optimise_ended(struct repair *repair, int number)
{
    const struct gen_faster_options *options = &repair->options->faster;
    const struct attempt *best = &repair->attempts[repair->best];
    if (!best->timed)
        return "the time of one of its cases is not known";
    double roofline = times_roofline(&best->times);
    if (roofline >= options->roofline)
        return arena_printf(repair->arena, "every case is at %.0f %% of its bound or above", 100 * roofline);
    repair->idle_rounds = number && best->sample == repair->leader ? repair->idle_rounds + 1 : 0;
    repair->leader = best->sample;
    if (number >= options->rounds)
        return arena_printf(repair->arena, "rounds that make it faster: %d, all done", options->rounds);
    if (repair->idle_rounds >= options->patience)
        return arena_printf(repair->arena, "%d rounds in a row brought nothing faster", options->patience);
    return NULL;
}

void optimise_end(struct repair *repair)
{
    struct gen_faster *faster = &repair->outcome->faster;
    const struct attempt *best = &repair->attempts[repair->best];
    faster->after = best->sample;
    faster->times_after = best->times;
}

json_t *optimise_json(const struct repair *repair)
{
    const struct gen_faster *faster = &repair->outcome->faster;
    json_t *json = times_compared_json(&faster->times_before, &faster->times_after);
    json_object_set_new(json_object_get(json, "before"), "sample", json_integer(faster->before));
    json_object_set_new(json_object_get(json, "after"), "sample", json_integer(faster->after));
    json_object_set_new(json, "stopped", json_string(faster->stopped));
    return json;
}
