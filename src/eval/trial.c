/* Chooses the inputs of each run of a case, and the words about the later runs. Later runs of the strict profile have one of 16 sets of
 * inputs, and the values of a set depend on a salt. So the author of a candidate knows the inputs of the first run alone, and a verdict
 * says nothing of the others but what the run came to and how long it took. */
#include "base/digest.h"
#include "eval/case_internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* Between the addresses of one run's tensors and the next's. */
enum { GM_SHIFT = 3 * 512 };

bool eval_is_salt(const char *text)
{
    enum { LONGEST = 256 };
    const size_t length = strnlen(text, LONGEST + 1);
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return length >= 1 && length <= LONGEST;
}

/* A number below 2^63 out of texts and numbers. */
static uint64_t mixed(const char *salt, uint64_t number, const char *text, uint64_t other)
{
    enum { HEXADECIMAL = 16 };
    struct arena arena = {0};
    struct digest *digest = digest_new_unforgeable();
    digest_string(digest, salt ? salt : "");
    digest_bytes(digest, &number, sizeof number);
    digest_string(digest, text ? text : "");
    digest_bytes(digest, &other, sizeof other);
    char *hash = arena_strdup(&arena, digest_finish(digest, &arena));
    hash[HEXADECIMAL] = '\0';
    const uint64_t result = strtoull(hash, NULL, HEXADECIMAL) & ~TASK_OTHER_VALUES;
    arena_free(&arena);
    return result;
}

/* Returns the number, from 1 on, of the set that a run of the strict profile has. Each run of a case has another set; runs beyond the
 * sixteenth have sets that only they use. */
static uint64_t set_of(const struct eval_candidate *candidate, const struct task_case *task_case, int number)
{
    const struct eval_options *options = candidate->options;
    uint64_t first = options->input_set ? (uint64_t)options->input_set - 1
                     : options->one_set ? 0
                                        : mixed(options->salt, (uint64_t)task_case->id, candidate->digest, 0);
    const uint64_t steps = (uint64_t)number - !options->input_set;
    return steps < EVAL_INPUT_SETS ? (first + steps) % EVAL_INPUT_SETS + 1 : steps + 1;
}

struct trial eval_trial(const struct eval_candidate *candidate, const struct task_case *task_case, int number)
{
    const struct eval_options *options = candidate->options;
    struct trial trial = {.seed = options->input_seed + (uint64_t)number, .first = !number, .timed = number <= 1};
    if (options->profile != TASK_STRICT || !(number || options->input_set))
        return trial;
    trial.set = (int)set_of(candidate, task_case, number);
    trial.seed =
        mixed(options->salt, options->input_seed, candidate->task->name, (uint64_t)trial.set) | TASK_OTHER_VALUES;
    trial.begin = GM_SHIFT * (uint64_t)(number ? number : 1);
    return trial;
}

/* Why a later run of the strict profile was not right, in words that none of its values decides. */
static const char *neutral(struct arena *arena, const struct verdict_case *again)
{
    const bool by_finding = again->kind == AKGEN_VERDICT_FAULT || again->kind == AKGEN_VERDICT_UNSUPPORTED;
    for (size_t i = 0; i < again->run.finding_count && by_finding; i++)
        if (again->run.findings[i].fatal)
            return arena_printf(arena, "%s %s", akgen_verdict_kind_name(again->kind), again->run.findings[i].fault);
    switch (again->kind) {
    case AKGEN_VERDICT_WRONG:
        if (again->stage == AKGEN_STAGE_TILING)
            return "the tiling function refuses them";
        return again->mismatch.ok ? "an output is not whole, or an input was changed"
                                  : arena_printf(arena, "output '%s' is wrong", again->mismatch.output_name);
    case AKGEN_VERDICT_FAULT:
        return again->stage == AKGEN_STAGE_TILING ? "the host part crashes" : "the kernel crashes";
    case AKGEN_VERDICT_TIMEOUT:
        return again->run.endless_count ? "the kernel does not end" : again->error;
    case AKGEN_VERDICT_UNSUPPORTED:
    case AKGEN_VERDICT_INFRA_ERROR:
        return again->error;
    case AKGEN_VERDICT_REJECTED:
        return again->stage == AKGEN_STAGE_COMPARE ? "the kernel changed an input into one that its outputs fit"
                                                   : again->error;
    default:
        return "it cannot be run";
    }
}

const char *trial_error(struct arena *arena, const struct eval_candidate *candidate, const struct trial *trial,
                        const struct verdict_case *again)
{
    const bool strict = candidate->options->profile == TASK_STRICT;
    const char *error = strict ? neutral(arena, again) : again->error;
    /* Without a salt everybody may look at the values. */
    const char *where = strict && !candidate->options->salt && trial->set <= EVAL_INPUT_SETS
                            ? arena_printf(arena, " at other addresses (--input-set=%d shows them)", trial->set)
                        : strict ? " at other addresses"
                                 : "";
    return arena_printf(arena, "with other inputs%s: %s", where, error ? error : "");
}

void trial_keep_longer(struct verdict_case *row, const struct verdict_case *again)
{
    struct npu_timing *first = &row->run.timing.model;
    const struct npu_timing *other = &again->run.timing.model;
    if (!other->known)
        first->known = false;
    else if (first->known && other->cycles > first->cycles)
        first->cycles = other->cycles;
}
