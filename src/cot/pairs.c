#include "cot/pairs.h"
#include "base/array.h"
#include "base/text.h"
#include "cot/benchmark.h"
#include "cot/corpus.h"
#include "cot/kernels.h"
#include "cot/minhash.h"
#include "cot/signature.h"
#include "gen/prompt.h"
#include "gen/remedy.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FINDINGS = 3, MOST_LINES = 16 /* that differ and are shown */ };

/* A candidate's kernel, and what all runs of the file say of it. */
struct judged {
    const char *task, *suite, *hash, *source, *profile;
    const char *verdict, *json; /* the first that is no pass; NULL: it passed everywhere */
    bool useless;               /* something was said besides pass, wrong and fault */
    struct minhash likeness;
};
struct candidates {
    struct arena *arena;
    struct judged *items;
    int count, capacity;
};

/* Rows come task by task, candidate by candidate. */
static void take(void *closure, const struct store_finding *row)
{
    struct candidates *all = closure;
    struct arena *arena = all->arena;
    const char *suite = row->suite, *task = row->task, *hash = row->candidate, *verdict = row->verdict;
    struct judged *last = all->count ? &all->items[all->count - 1] : NULL;
    if (!last || strcmp(last->suite, suite) != 0 || strcmp(last->task, task) != 0 || strcmp(last->hash, hash) != 0) {
        char *source = arena_strdup(arena, row->source);
        text_make_utf8(source);
        const struct judged candidate = {.suite = arena_strdup(arena, suite),
                                         .task = arena_strdup(arena, task),
                                         .hash = arena_strdup(arena, hash),
                                         .source = source,
                                         .profile = arena_strdup(arena, row->profile),
                                         .likeness = minhash_of(source, strlen(source))};
        ARRAY_ADD(arena, all->items, all->count, all->capacity, candidate);
        last = &all->items[all->count - 1];
    }
    if (strcmp(verdict, "pass") == 0)
        return;
    last->useless |= strcmp(verdict, "wrong") != 0 && strcmp(verdict, "fault") != 0;
    if (!last->verdict) {
        last->verdict = arena_strdup(arena, verdict);
        last->json = arena_strdup(arena, row->json);
    }
}

/* The right candidate of the same task that is most like this one; NULL: none is right. */
static const struct judged *right_of(const struct candidates *all, const struct judged *wrong)
{
    const struct judged *best = NULL;
    double most = -1;
    for (int i = 0; i < all->count; i++) {
        const struct judged *right = &all->items[i];
        if (right->verdict || strcmp(right->suite, wrong->suite) != 0 || strcmp(right->task, wrong->task) != 0)
            continue;
        double likeness = minhash_similarity(&right->likeness, &wrong->likeness);
        if (likeness > most) {
            most = likeness;
            best = right;
        }
    }
    return best;
}

/* ---- What was found */

/* AscendKernelGen's kinds of errors that run: by the fault, or where a result is wrong. The first row whose words a name begins with decides. */
static const struct {
    const char *begins, *kind;
} kinds[] = {{"hazard_", "synchronisation"},
             {"flag_", "synchronisation"},
             {"cross_core_", "synchronisation"},
             {"sync_", "synchronisation"},
             {"deadlock", "synchronisation"},
             {"dcache_", "synchronisation"},
             {"gm_race", "synchronisation"},
             {"ub_alignment", "API use"},
             {"gm_alignment", "API use"},
             {"ub_", "bounds of local memory"},
             {"l0", "bounds of local memory"},
             {"l1_", "bounds of local memory"},
             {"bt_", "bounds of local memory"},
             {"fb_", "bounds of local memory"},
             {"tensor_overflow", "bounds of local memory"},
             {"pool_", "bounds of local memory"},
             {"buf_get_", "bounds of local memory"},
             {"gm_", "index management"},
             {"gather_", "index management"},
             {"unwritten_output", "index management"},
             {"bad_pointer", "index management"},
             {"uninitialized_", "computation logic"},
             {"undefined_", "computation logic"},
             {"division_by_zero", "computation logic"},
             {"", "API use"}};

struct found {
    const char *class, *says, *kind, *told;
    const char *rule, *remedy; /* NULL: none is known */
};

static const char *string_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text && *text ? text : NULL;
}

/* A fault of the chip, as a line. */
static void add_fault(struct arena *arena, struct text *told, const json_t *fault, struct found *found)
{
    const char *name = string_at(fault, "name"), *message = string_at(fault, "message"),
               *file = string_at(fault, "file");
    if (!name || !message)
        return;
    const int line = (int)json_integer_value(json_object_get(fault, "line"));
    text_addf(told, "fault %s%s%s: %s\n", name, file ? " at " : "",
              !file  ? ""
              : line ? arena_printf(arena, "%s:%d", file, line)
                     : file,
              message);
    if (found->class)
        return;
    size_t row = 0;
    while (strncmp(name, kinds[row].begins, strlen(kinds[row].begins)) != 0)
        row++;
    const struct gen_fault_text text = gen_remedy_of_fault(name);
    *found = (struct found){.class = arena_strdup(arena, name),
                            .says = arena_strdup(arena, message),
                            .kind = kinds[row].kind,
                            .rule = text.rule,
                            .remedy = text.remedy};
}

/* Of the first case that is not right. */
static void add_case(struct arena *arena, struct text *told, const json_t *row, struct found *found)
{
    size_t i;
    const json_t *fault, *faults = json_object_get(row, "faults"),
                         *first = json_object_get(json_object_get(row, "comparison"), "first");
    text_addf(told, "case %lld, %s %s\n", (long long)json_integer_value(json_object_get(row, "case")),
              json_string_value(json_object_get(row, "dtype")), json_string_value(json_object_get(row, "shape")));
    json_array_foreach(faults, i, fault)
    {
        if (i < MOST_FINDINGS)
            add_fault(arena, told, fault, found);
    }
    const char *error = string_at(row, "error"), *where = string_at(json_object_get(row, "comparison"), "where");
    if (error && !json_array_size(faults))
        text_addf(told, "%s\n", error);
    if (where)
        text_addf(told, "%s\n", where);
    if (!found->class && first)
        found->kind = where && strncmp(where, "only ", 5) == 0 ? "index management" : "computation logic";
}

static struct found find(struct arena *arena, const struct judged *wrong)
{
    struct found found = {0};
    struct text told = {0};
    size_t i;
    json_t *row, *verdict = json_loads(wrong->json, 0, NULL);
    const char *reason = string_at(verdict, "reason");
    json_array_foreach(json_object_get(verdict, "cases"), i, row)
    {
        if (json_is_false(json_object_get(row, "ok"))) {
            add_case(arena, &told, row, &found);
            break;
        }
    }
    if (!found.class)
        found.class = strcmp(wrong->verdict, "wrong") == 0 ? "result" : "crash";
    found.kind = found.kind ? found.kind : "API use";
    found.says = found.says ? found.says : arena_strdup(arena, reason ? reason : wrong->verdict);
    found.told = told.length ? arena_strdup(arena, told.bytes) : arena_printf(arena, "%s\n", found.says);
    text_free(&told);
    json_decref(verdict);
    return found;
}

/* ---- Samples */

/* The lines in which two texts differ: without those at the begin and the end that are the same. NULL: they are more than MOST_LINES. */
static const char *difference(struct arena *arena, const char *wrong, const char *right)
{
    const char *ends[2] = {wrong + strlen(wrong), right + strlen(right)}, *texts[2] = {wrong, right}, *begins[2];
    size_t same = 0, tail = 0;
    while (wrong[same] && wrong[same] == right[same])
        same++;
    while (same && wrong[same - 1] != '\n')
        same--;
    while (ends[0] - tail > wrong + same && ends[1] - tail > right + same &&
           *(ends[0] - tail - 1) == *(ends[1] - tail - 1))
        tail++;
    struct text text = {0};
    int lines = 0;
    for (int side = 0; side < 2; side++) {
        begins[side] = texts[side] + same;
        ends[side] -= tail;
        ends[side] += ends[side] > begins[side] && ends[side][-1] != '\n' ? strcspn(ends[side], "\n") : 0;
        for (const char *at = begins[side]; at < ends[side];
             at += strcspn(at, "\n") + (at[strcspn(at, "\n")] != 0), lines++)
            text_addf(&text, "%c %.*s\n", "-+"[side], (int)strcspn(at, "\n"), at);
    }
    const char *kept = lines && lines <= MOST_LINES ? arena_strdup(arena, text.bytes) : NULL;
    text_free(&text);
    return kept;
}

static const char *chain_of(struct arena *arena, const struct judged *wrong, const struct judged *right,
                            const struct found *found, const char *does)
{
    const char *differs = difference(arena, wrong->source, right->source);
    return arena_printf(
        arena, "It compiles, and %s: %s\nThe kind of error: %s.\n%s%s%s%s%s%s%s%s%s%s%s",
        strcmp(wrong->verdict, "wrong") == 0 ? "what it computes is not what is asked for"
                                             : arena_printf(arena, "its run ends with a fault (%s)", found->class),
        found->says, found->kind, found->rule ? "The rule: " : "", found->rule ? found->rule : "",
        found->rule ? ".\n" : "", found->remedy ? "What is advised for it: " : "", found->remedy ? found->remedy : "",
        found->remedy ? ".\n" : "", differs ? "What has to be changed (- as it is, + as it has to be):\n" : "",
        differs ? differs : "", does ? "How the right kernel does it:\n" : "", does ? does : "", does ? "\n" : "");
}

static const char *verdict_of(struct arena *arena, const struct judged *wrong, const struct judged *right,
                              const struct found *found)
{
    json_t *json = json_pack("{s:s s:s s:s s:{s:s s:s s:s}}", "verdict", "pass", "by", "machine", "profile",
                             right->profile, "before", "verdict", wrong->verdict, "class", found->class, "signature",
                             cot_signature(arena, found->says));
    char *text = json_dumps(json, JSON_COMPACT);
    const char *kept = arena_strdup(arena, text);
    free(text);
    json_decref(json);
    return kept;
}

/* Makes the sample of a pair; *reason: why there is none. */
static struct akgen_error *sample_of(struct arena *arena, const struct task *task, const struct judged *wrong,
                                     const struct judged *right, struct cot_sample *sample, const char **reason)
{
    const struct found found = find(arena, wrong);
    struct kernel_words words = {0};
    const char *brief = NULL;
    struct akgen_error *error = gen_task_brief(arena, task, &brief);
    if (!error)
        error = kernel_words(arena, right->source, "", 0, &words);
    if (error)
        return error;
    *sample = (struct cot_sample){
        .part = COT_ERROR_KERNEL,
        .mode = COT_ASCENDC,
        .question = arena_printf(arena,
                                 "%s\n\nThis kernel compiles and is wrong:\n```cpp\n%s\n```\nWhat was "
                                 "found:\n```\n%s```\nWhat is wrong? Write the kernel as it has to be.",
                                 brief, wrong->source, found.told),
        .chain = chain_of(arena, wrong, right, &found, words.chain),
        .answer = right->source,
        .verdict = verdict_of(arena, wrong, right, &found),
        .provenance = arena_printf(arena, "akgen cot errors, candidates of a run: %s/%s, %s and %s", wrong->suite,
                                   wrong->task, wrong->hash, right->hash),
        .tags =
            arena_printf(arena, "[\"candidates of a run\",\"before: %s\",\"kind: %s\"]", wrong->verdict, found.kind)};
    if (cot_secret_in(sample->question) || cot_secret_in(sample->answer))
        *reason = "a secret in it";
    return NULL;
}

static const struct task *task_of(const struct task *tasks, int count, const struct judged *candidate)
{
    for (int i = 0; i < count; i++)
        if (!tasks[i].broken && strcmp(tasks[i].suite, candidate->suite) == 0 &&
            strcmp(tasks[i].name, candidate->task) == 0)
            return &tasks[i];
    return NULL;
}

struct akgen_error *cot_pairs(struct store *store, const char *verdicts, const struct task *tasks, int task_count,
                              struct cot_pairs_count *count)
{
    struct arena arena = {0};
    struct candidates all = {.arena = &arena};
    struct akgen_error *error = store_each_finding(verdicts, STORE_CANDIDATES, 0, take, &all);
    for (int i = 0; i < all.count && !error; i++) {
        const struct judged *wrong = &all.items[i], *right;
        if (!wrong->verdict || wrong->useless)
            continue;
        const struct task *task = task_of(tasks, task_count, wrong);
        struct cot_sample sample;
        struct cot_drop drop = {task ? NULL : "a task that is not here", 1};
        bool done = false;
        right = right_of(&all, wrong);
        if (task && cot_benchmark_task(tasks, task_count, task))
            drop.reason = "a benchmark's operator";
        else if (task && !right)
            drop.reason = "no right candidate of the task";
        const char *source = arena_printf(&arena, "%s/%s: %s, %s", wrong->suite, wrong->task, wrong->hash,
                                          right && !drop.reason ? right->hash : "-");
        count->failed++;
        error = cot_store_done(store, "errors-pairs", source, &done);
        if (!error && !done && !drop.reason)
            error = sample_of(&arena, task, wrong, right, &sample, &drop.reason);
        const struct cot_batch batch = {.step = "errors-pairs",
                                        .source = source,
                                        .samples = &sample,
                                        .count = !drop.reason,
                                        .drops = &drop,
                                        .drop_count = drop.reason != NULL};
        struct cot_put put = {0};
        if (!error && !done)
            error = cot_store_put(store, &batch, &put);
        count->samples += put.added;
        count->dropped += !error && !done && drop.reason;
    }
    arena_free(&arena);
    return error;
}
