/* One answer becomes a candidate, the candidate a verdict, the verdict feedback. */
#include "base/digest.h"
#include "candidate/program.h"
#include "gen/repair_internal.h"

#include <stdlib.h>
#include <string.h>

/* Where it came to: an answer that cheats is no way to one that does not, one that could not be judged says nothing. */
static int rank_of(const struct attempt *attempt)
{
    return attempt->row.kind == AKGEN_VERDICT_PASS          ? AKGEN_STAGE_COMPARE + 1
           : attempt->row.kind == AKGEN_VERDICT_INFRA_ERROR ? -2
           : attempt->row.kind == AKGEN_VERDICT_REJECTED    ? -1
                                                            : (int)attempt->row.stage;
}

bool repair_is_better(const struct attempt *a, const struct attempt *b)
{
    int ranks = rank_of(a) - rank_of(b);
    if (ranks)
        return ranks > 0;
    if (a->timed || b->timed)
        return a->timed && (!b->timed || times_faster(&b->times, &a->times));
    if (a->row.cases_passed != b->row.cases_passed)
        return a->row.cases_passed > b->row.cases_passed;
    return a->feedback.all < b->feedback.all;
}

static const char *describe_end(struct arena *arena, const struct attempt *attempt)
{
    if (attempt->timed)
        return arena_printf(arena, "pass, modelled %.2f us", attempt->times.mean_us);
    if (attempt->row.kind == AKGEN_VERDICT_PASS)
        return "pass";
    return arena_printf(arena, "%s at stage %s, %d of %d cases right", akgen_verdict_kind_name(attempt->row.kind),
                        akgen_verdict_stage_name(attempt->row.stage), attempt->row.cases_passed,
                        attempt->row.cases_total);
}

/* What the compiler of programs has to say of an answer that is one; NULL if it is none, or nothing is wrong with it. */
static const struct dsl_messages *review(const struct repair *repair, const struct attempt *attempt,
                                         struct dsl_messages *messages)
{
    const struct answer *answer = &attempt->answer;
    if (answer->kind != ANSWER_IS_PROGRAM || attempt->row.kind == AKGEN_VERDICT_PASS)
        return NULL;
    const struct candidate_asked asked = eval_asked(repair->options->eval);
    /* Where the program does not fit the task, the verdict says so as well. */
    const bool reviewed = candidate_read_review(repair->arena, answer->files[0].bytes, answer->files[0].length,
                                                repair->task, &asked, messages);
    return reviewed && messages->count ? messages : NULL;
}

static char *attempt_dump(struct arena *arena, const json_t *json, size_t flags)
{
    char *text = json_dumps(json, flags), *copy = arena_strdup(arena, text ? text : "{}");
    free(text);
    return copy;
}

/* Keeps the verdict if no attempt came further; it is the outcome's then. */
static void keep_best(struct repair *repair, const struct attempt *attempt, struct verdict *verdict)
{
    struct gen_repair_outcome *outcome = repair->outcome;
    const struct attempt *best = repair->best < 0 ? NULL : &repair->attempts[repair->best];
    bool better = !best || repair_is_better(attempt, best) ||
                  (attempt->sample < best->sample && !repair_is_better(best, attempt));
    if (!better) {
        verdict_free(verdict);
        return;
    }
    if (outcome->found)
        verdict_free(&outcome->verdict);
    outcome->found = true;
    outcome->verdict = *verdict;
    repair->best = attempt->sample;
}

static struct akgen_error *evaluate(struct repair *repair, struct attempt *attempt)
{
    struct arena *arena = repair->arena;
    const struct candidate *candidate = &attempt->candidate;
    struct verdict verdict;
    struct dsl_messages messages;
    struct eval_options *eval =
        arena_copy(arena, repair->options->eval, sizeof *eval); /* lives as long as the verdict */
    eval->salt = repair->bench->salt;
    eval_run(candidate, repair->task, eval, &verdict);
    speedup_add(repair->task, NULL, &verdict);
    struct bench_row *row = &attempt->row;
    json_t *json = verdict_to_json(&verdict);
    bench_row_take(repair->arena, row, &verdict);
    row->verdict = attempt_dump(repair->arena, json, JSON_COMPACT);
    attempt->json = attempt_dump(repair->arena, json, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    json_decref(json);
    attempt->timed = repair->options->faster.rounds > 0 && times_of(repair->arena, &verdict, &attempt->times);
    attempt->told = attempt->timed ? optimise_told(repair->arena, &verdict, &attempt->times) : NULL;
    attempt->ended = describe_end(repair->arena, attempt);
    gen_feedback_read(arena, &verdict, review(repair, attempt, &messages), &attempt->feedback);
    /* The project as it was judged; of an answer that was refused its own files. */
    const struct answer *answer = &attempt->answer;
    attempt->files =
        candidate->files.count ? candidate->files : (struct op_files){answer->files, (size_t)answer->count};
    attempt->judged = true;
    struct akgen_error *error = repair_store_verdict(repair, attempt);
    keep_best(repair, attempt, &verdict);
    return error;
}

/* What was judged before is not judged again. */
static struct akgen_error *take_over(struct repair *repair, struct attempt *attempt)
{
    int sample = attempt->sample, round = attempt->round, slot = attempt->slot, parent = attempt->parent;
    struct attempt copy = repair->attempts[attempt->same_as];
    copy.sample = sample;
    copy.round = round;
    copy.slot = slot;
    copy.parent = parent;
    copy.text = attempt->text;
    copy.finish = attempt->finish;
    copy.reasoning = attempt->reasoning;
    copy.same_as = attempt->same_as;
    copy.row.seconds = 0;
    *attempt = copy;
    return repair_store_verdict(repair, attempt);
}

struct akgen_error *repair_judge(struct repair *repair, struct attempt *attempt)
{
    const struct candidate_asked asked = eval_asked(repair->options->eval);
    candidate_read_answer(repair->arena, "", attempt->text, strlen(attempt->text), repair->task, &asked,
                          &attempt->answer, &attempt->candidate);
    struct digest *digest = digest_new();
    const struct answer *answer = &attempt->answer;
    for (int i = 0; i < answer->count; i++) {
        digest_string(digest, answer->files[i].path);
        digest_string(digest, answer->files[i].bytes);
    }
    if (!answer->count)
        digest_string(digest, attempt->text);
    attempt->hash = digest_finish(digest, repair->arena);
    attempt->same_as = -1;
    for (int i = 0; i < repair->count && attempt->same_as < 0; i++)
        if (i != attempt->sample && repair->attempts[i].judged && repair->attempts[i].same_as < 0 &&
            strcmp(repair->attempts[i].hash, attempt->hash) == 0)
            attempt->same_as = i;
    return attempt->same_as < 0 ? evaluate(repair, attempt) : take_over(repair, attempt);
}
