/* The search. Requests of a round go out together; while answers come, those that came are judged, one after the other with the
 * evaluation's own workers. */
#include "gen/repair.h"
#include "base/array.h"
#include "base/clock.h"
#include "gen/repair_internal.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CACHED_BYTES = 512 << 20, BYTES_PER_TOKEN = 4 };

/* Who ended it from outside; REPAIR_GOES_ON: nobody. */
static enum repair_end end_of(const struct repair *repair)
{
    return (enum repair_end)__atomic_load_n(repair->stopped, __ATOMIC_ACQUIRE);
}

static bool is_stopped(const struct repair *repair)
{
    return end_of(repair) != REPAIR_GOES_ON;
}

/* ---- Asking */

static struct attempt *add_attempt(struct repair *repair, int round, int slot, int parent)
{
    struct attempt attempt = {
        .sample = repair->count, .round = round, .slot = slot, .parent = parent, .text = "", .same_as = -1};
    ARRAY_ADD(repair->arena, repair->attempts, repair->count, repair->capacity, attempt);
    return &repair->attempts[repair->count - 1];
}

/* What a request may use at most; where answers have no limit, its prompt at least. */
static int64_t tokens_at_most(const struct repair *repair, const struct gen_prompt *prompt, int answers)
{
    int64_t limit = repair->options->model->sampling.max_tokens;
    return prompt->tokens + (limit > 0 ? limit * answers : 0);
}

/* Why the run may not ask for more; NULL: it may. */
static const char *limit_reached(struct repair *repair, const struct gen_prompt *prompt, int answers)
{
    const struct gen_model *model = repair->options->model;
    int64_t most = tokens_at_most(repair, prompt, answers);
    double cost = gen_model_cost(model, prompt->tokens, most - prompt->tokens);
    if (model->token_limit > 0 && repair->used + repair->reserved + most > model->token_limit)
        return arena_printf(repair->arena, "the limit of %lld tokens", (long long)model->token_limit);
    if (model->cost_limit > 0 && repair->spent + repair->reserved_cost + cost > model->cost_limit)
        return arena_printf(repair->arena, "the limit of cost, %g", model->cost_limit);
    return NULL;
}

/* Asks for `count` answers, the samples from `first` on. */
static void ask(struct repair *repair, const struct gen_prompt *prompt, int first, int count)
{
    const struct gen_model *model = repair->options->model;
    const struct attempt *attempt = &repair->attempts[first];
    struct asked *asked = arena_alloc(repair->arena, sizeof *asked);
    *asked = (struct asked){attempt->round, first, count, attempt->parent, prompt->tokens, prompt->hash};
    const struct gen_request request = {.messages = prompt->messages,
                                        .message_count = prompt->count,
                                        .grammar = repair->prompt.grammar,
                                        .grammar_tries = model->grammar_tries,
                                        .sampling = model->sampling,
                                        .n = count,
                                        .seeded = model->seeded,
                                        .seed = model->seed + (uint64_t)first,
                                        .closure = asked};
    repair->reserved += tokens_at_most(repair, prompt, count);
    repair->reserved_cost +=
        gen_model_cost(model, prompt->tokens, tokens_at_most(repair, prompt, count) - prompt->tokens);
    repair->outcome->requests++;
    gen_client_submit(repair->client, &request);
}

/* The first answers. Returns how many were asked for. */
static struct akgen_error *ask_first(struct repair *repair, int *wanted)
{
    const struct gen_model *model = repair->options->model;
    int samples = model->samples > 0 ? model->samples : 1, each = model->per_request > 0 ? model->per_request : 1;
    struct akgen_error *error = repair_keep_prompt(repair, 0, 0, &repair->prompt);
    if (!error)
        error = repair_store_prompt(repair, &repair->prompt);
    for (int i = 0; i < samples && !error; i++)
        add_attempt(repair, 0, i, -1);
    for (*wanted = 0; *wanted < samples && !error && !is_stopped(repair);) {
        int count = samples - *wanted < each ? samples - *wanted : each;
        if ((repair->outcome->stopped = limit_reached(repair, &repair->prompt, count)))
            break;
        ask(repair, &repair->prompt, *wanted, count);
        *wanted += count;
    }
    return error;
}

/* ---- Choosing */

/* True if `a` is to be mended rather than `b`: it came further; as far, but was not tried yet; or came before. */
static bool goes_first(const struct attempt *a, const struct attempt *b)
{
    if (repair_is_better(a, b) || repair_is_better(b, a))
        return repair_is_better(a, b);
    return a->mended != b->mended ? a->mended < b->mended : a->sample < b->sample;
}

int repair_choose(const struct repair *repair, bool (*fits)(const struct repair *, const struct attempt *), int most,
                  int *chosen)
{
    int count = 0;
    for (int i = 0; i < repair->count; i++) {
        const struct attempt *attempt = &repair->attempts[i];
        if (!attempt->judged || attempt->same_as >= 0 || !fits(repair, attempt))
            continue;
        int at = count;
        while (at > 0 && goes_first(attempt, &repair->attempts[chosen[at - 1]]))
            at--;
        if (at == most)
            continue;
        count += count < most;
        memmove(chosen + at + 1, chosen + at, sizeof *chosen * (size_t)(count - at - 1));
        chosen[at] = i;
    }
    return count;
}

static bool can_be_mended(const struct repair *repair, const struct attempt *attempt)
{
    (void)repair;
    return attempt->row.kind != AKGEN_VERDICT_INFRA_ERROR;
}

static bool has_passed(const struct repair *repair)
{
    return repair->best >= 0 && repair->attempts[repair->best].row.kind == AKGEN_VERDICT_PASS;
}

/* A pass, and nothing that is asked for behind it. */
static bool is_done(const struct repair *repair)
{
    return has_passed(repair) && !repair->options->faster.rounds;
}

/* A round: each of the chosen is given back. Returns how many answers were asked for. */
static struct akgen_error *ask_again(struct repair *repair, int round, int *wanted)
{
    int *chosen = arena_alloc(repair->arena, sizeof *chosen * (size_t)repair->options->beam);
    int count = has_passed(repair) ? optimise_choose(repair, chosen)
                                   : repair_choose(repair, can_be_mended, repair->options->beam, chosen);
    struct akgen_error *error = NULL;
    *wanted = 0;
    for (int i = 0; i < count && !error && !is_stopped(repair); i++) {
        struct gen_prompt prompt;
        const struct attempt *given = &repair->attempts[chosen[i]];
        error = (given->timed ? optimise_prompt : repair_prompt)(repair, given, &prompt);
        if (error || !prompt.messages)
            continue;
        if ((repair->outcome->stopped = limit_reached(repair, &prompt, 1)))
            break;
        repair->attempts[chosen[i]].mended++;
        const struct attempt *attempt = add_attempt(repair, round, (*wanted)++, chosen[i]);
        error = repair_keep_prompt(repair, round, attempt->slot, &prompt);
        if (!error)
            error = repair_store_prompt(repair, &prompt);
        if (!error)
            ask(repair, &prompt, attempt->sample, 1);
    }
    if (!error && !*wanted && !repair->outcome->stopped)
        repair->outcome->stopped = has_passed(repair) ? "the right candidate's code is too long to be given back"
                                                      : "no candidate is left that could be mended";
    return error;
}

/* ---- Taking what comes */

/* Takes the sums of a reply over; where the server counts nothing, by the length of the texts. */
static void count_reply(struct repair *repair, const struct asked *asked, const struct gen_reply *reply)
{
    const struct gen_model *model = repair->options->model;
    struct gen_repair_outcome *outcome = repair->outcome;
    const struct gen_prompt prompt = {.tokens = asked->tokens};
    int64_t most = tokens_at_most(repair, &prompt, asked->count), answers = 0;
    for (int i = 0; i < reply->count; i++)
        answers += (int64_t)strlen(reply->choices[i].text) / BYTES_PER_TOKEN + 1;
    bool said = reply->prompt_tokens >= 0 && reply->completion_tokens >= 0;
    int64_t prompts = said ? reply->prompt_tokens : reply->count ? asked->tokens : 0;
    answers = said ? reply->completion_tokens : answers;
    outcome->estimated |= !said && reply->count;
    outcome->prompt_tokens += prompts;
    outcome->completion_tokens += answers;
    outcome->cost += gen_model_cost(model, prompts, answers);
    repair->used += prompts + answers;
    repair->spent = outcome->cost;
    repair->reserved -= most;
    repair->reserved_cost -= gen_model_cost(model, asked->tokens, most - asked->tokens);
}

static void report(struct repair *repair, int round, int came, int wanted)
{
    const struct gen_repair_options *options = repair->options;
    const struct attempt *best = repair->best < 0 ? NULL : &repair->attempts[repair->best];
    struct gen_progress progress = {
        .round = round, .rounds = options->rounds, .came = came, .asked = wanted, .found = best};
    if (best) {
        progress.kind = best->row.kind;
        progress.stage = best->row.stage;
        progress.cases_passed = best->row.cases_passed;
        progress.cases_total = best->row.cases_total;
    }
    if (options->on_progress)
        options->on_progress(options->closure, &progress);
}

/* Judges one answer, unless the run is over, and keeps it. */
static struct akgen_error *take_choice(struct repair *repair, int sample, const struct gen_choice *choice)
{
    struct attempt *attempt = &repair->attempts[sample];
    struct gen_round_sums *sums = &repair->outcome->rounds[attempt->round];
    struct akgen_error *error = NULL;
    attempt->came = true;
    attempt->text = arena_strdup(repair->arena, choice->text ? choice->text : "");
    attempt->reasoning = choice->reasoning ? arena_strdup(repair->arena, choice->reasoning) : NULL;
    attempt->finish = choice->finish ? arena_strdup(repair->arena, choice->finish) : NULL;
    sums->answers++;
    if (!is_done(repair) && !is_stopped(repair))
        error = repair_judge(repair, attempt);
    if (attempt->judged) {
        sums->kinds[attempt->row.kind]++;
        sums->same += attempt->same_as >= 0;
    }
    if (attempt->judged && attempt->parent >= 0)
        repair->attempts[attempt->parent].last_mend =
            attempt->same_as == attempt->parent ? "the same code came back" : attempt->ended;
    struct akgen_error *kept = repair_keep_attempt(repair, attempt);
    if (error)
        error_free(kept);
    return error ? error : kept;
}

static struct akgen_error *take_reply(struct repair *repair, struct gen_reply *reply, int *came, int wanted)
{
    const struct asked *asked = reply->closure;
    struct gen_repair_outcome *outcome = repair->outcome;
    struct gen_round_sums *sums = &outcome->rounds[asked->round];
    count_reply(repair, asked, reply);
    struct akgen_error *error = repair_store_reply(repair, asked, reply);
    for (int i = 0; i < asked->count && !error; i++) {
        if (i < reply->count)
            error = take_choice(repair, asked->first + i, &reply->choices[i]);
        else
            sums->failures++;
        report(repair, asked->round, ++*came, wanted);
    }
    if (reply->failure) {
        outcome->failures++;
        outcome->last_failure = arena_strdup(repair->arena, reply->failure);
        if (reply->hopeless)
            repair->hopeless = outcome->last_failure;
    }
    return error;
}

/* Takes the answers of a round as they come; behind a pass, or when the end was asked for, only what is there already. */
static struct akgen_error *collect(struct repair *repair, int round, int wanted)
{
    struct gen_round_sums *sums = &repair->outcome->rounds[round];
    struct akgen_error *error = NULL;
    struct gen_reply *reply;
    bool told = false;
    int came = 0;
    repair->outcome->round_count = round + 1;
    report(repair, round, 0, wanted);
    while (wanted && (reply = gen_client_next(repair->client))) {
        if (!error)
            error = take_reply(repair, reply, &came, wanted);
        gen_reply_free(reply);
        if ((error || is_done(repair) || repair->hopeless) && !told) {
            told = true;
            gen_client_stop(repair->client);
        }
    }
    if (repair->best >= 0)
        sums->best = repair->attempts[repair->best].ended;
    if (repair->options->on_round)
        repair->options->on_round(repair->options->closure, round, sums);
    return error;
}

/* A round behind the first answers. */
static struct akgen_error *go_on(struct repair *repair, int round)
{
    struct gen_repair_outcome *outcome = repair->outcome;
    int wanted;
    struct akgen_error *error = ask_again(repair, round, &wanted);
    if (!error && wanted)
        error = collect(repair, round, wanted);
    if (!error && wanted && !outcome->rounds[round].answers && !is_stopped(repair))
        outcome->stopped = arena_printf(repair->arena, "no answer came in round %d: %s", round, outcome->last_failure);
    return error;
}

/* Why no round may begin, whatever has come; NULL: it may. */
static const char *end_by_limits(const struct repair *repair)
{
    enum repair_end end = end_of(repair);
    if (end == REPAIR_OUT_OF_TIME)
        return arena_printf(repair->arena, "the limit of %g seconds", repair->options->seconds);
    return end == REPAIR_INTERRUPTED ? "interrupted" : repair->hopeless ? repair->hopeless : repair->outcome->stopped;
}

static struct akgen_error *search(struct repair *repair)
{
    struct gen_repair_outcome *outcome = repair->outcome;
    int wanted, round = 1, rounds = repair->options->rounds;
    struct akgen_error *error = ask_first(repair, &wanted);
    if (!error)
        error = collect(repair, 0, wanted);
    for (; round <= rounds && !error && !has_passed(repair) && !end_by_limits(repair); round++)
        error = go_on(repair, round);
    if (!error && has_passed(repair) && !is_done(repair)) {
        /* Rounds that make the right candidate faster, `round` and those behind it. */
        const char *ended = NULL;
        optimise_begin(repair);
        for (int number = 0; !error; number++) {
            ended = end_by_limits(repair);
            if (!ended)
                ended = optimise_ended(repair, number);
            if (ended)
                break;
            error = go_on(repair, round + number);
        }
        repair->outcome->faster.stopped = ended;
        optimise_end(repair);
    }
    if (has_passed(repair))
        outcome->stopped = NULL;
    else if (!(outcome->stopped = end_by_limits(repair)))
        outcome->stopped = arena_printf(repair->arena, "rounds of repair: %d, all done", rounds);
    return error;
}

/* ---- The end that is asked for */

struct watch {
    struct repair *repair;
    int fds[2]; /* options.stop, and what ends the watch */
    double end; /* clock_seconds(); 0: no limit */
};

/* Milliseconds to the end; -1: there is none. */
static int time_left(const struct watch *watch)
{
    double left = 1e3 * (watch->end - clock_seconds());
    return watch->end <= 0 ? -1 : left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left + 1;
}

static void *watch_stop(void *closure)
{
    struct watch *watch = closure;
    struct pollfd fds[] = {{watch->fds[0], POLLIN, 0}, {watch->fds[1], POLLIN, 0}};
    int ready;
    while ((ready = poll(fds, 2, time_left(watch))) < 0)
        ;
    if (!fds[1].revents) {
        __atomic_store_n(watch->repair->stopped, ready ? REPAIR_INTERRUPTED : REPAIR_OUT_OF_TIME, __ATOMIC_RELEASE);
        gen_client_stop(watch->repair->client);
    }
    return NULL;
}

/* Searches, while another thread looks whether the end is asked for, or the time is over. */
static struct akgen_error *search_watched(struct repair *repair)
{
    int ends[2];
    pthread_t thread;
    const double seconds = repair->options->seconds;
    if ((repair->options->stop < 0 && seconds <= 0) || pipe(ends) != 0)
        return search(repair);
    struct watch watch = {repair, {repair->options->stop, ends[0]}, seconds > 0 ? clock_seconds() + seconds : 0};
    bool watched = pthread_create(&thread, NULL, watch_stop, &watch) == 0;
    struct akgen_error *error = search(repair);
    close(ends[1]);
    if (watched)
        pthread_join(thread, NULL);
    close(ends[0]);
    return error;
}

static struct akgen_error *prepare(struct repair *repair)
{
    const struct gen_model *model = repair->options->model;
    struct akgen_error *error = repair_read_templates(repair);
    if (!error && repair->options->faster.rounds)
        error = optimise_read_templates(repair);
    if (!error)
        error = gen_prompt_of_task(repair->arena, repair->task, &model->prompt, &repair->prompt);
    repair->prompt.grammar = gen_model_grammar(repair->arena, model, repair->task, repair->options->eval->only_case);
    if (!error)
        error = repair_begin_store(repair);
    return error ? error : gen_client_open(&model->endpoint, &repair->client);
}

struct akgen_error *gen_repair(struct arena *arena, const struct task *task, const struct gen_repair_options *options,
                               struct gen_repair_outcome *outcome)
{
    int stopped = 0;
    double start = clock_seconds();
    struct eval_options *eval = arena_copy(arena, options->eval, sizeof *eval); /* the verdict points to it */
    struct gen_repair_options own = *options;
    struct repair repair = {
        .arena = arena, .task = task, .options = &own, .outcome = outcome, .stopped = &stopped, .best = -1};
    *outcome = (struct gen_repair_outcome){.sample = -1, .parent = -1};
    own.eval = eval;
    own.beam = options->beam > 0 ? options->beam : 1;
    own.rounds = options->rounds < GEN_ROUNDS / 2 ? options->rounds : GEN_ROUNDS / 2;
    own.faster.rounds = options->faster.rounds < GEN_ROUNDS / 2 ? options->faster.rounds : GEN_ROUNDS / 2;
    eval->cache = eval_cache_create(CACHED_BYTES);
    struct akgen_error *error = prepare(&repair);
    if (!error)
        error = search_watched(&repair);
    outcome->seconds = clock_seconds() - start;
    if (repair.client)
        gen_client_close(repair.client);
    if (!error && repair.best < 0)
        error = error_new("no answer came: %s", outcome->last_failure ? outcome->last_failure : outcome->stopped);
    else if (!error)
        error = repair_write_best(&repair);
    if (outcome->found) /* what is said of it is said of the project that was written */
        outcome->verdict.candidate.name = arena_strdup(arena, options->dir);
    if (!error && options->store) {
        repair.bench->seconds = outcome->seconds;
        error = store_end_run(options->store, repair.bench);
    }
    if (error && outcome->found) {
        verdict_free(&outcome->verdict);
        outcome->found = false;
    }
    eval_cache_destroy(eval->cache);
    eval->cache = NULL;
    return error;
}
