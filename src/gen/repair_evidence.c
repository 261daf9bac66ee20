/* What is kept of a repair: files below the project's folder, each written at once, and rows of the database. evidence/verdict.json is
 * the last one written. */
#include "base/files.h"
#include "base/text.h"
#include "gen/repair_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* evidence/rounds/2/answer.md, or answer.2.md of the round's second. */
static const char *path_of(struct repair *repair, int round, int slot, const char *stem, const char *extension)
{
    const char *dir = repair->options->dir;
    return slot ? arena_printf(repair->arena, "%s/evidence/rounds/%d/%s.%d%s", dir, round, stem, slot + 1, extension)
                : arena_printf(repair->arena, "%s/evidence/rounds/%d/%s%s", dir, round, stem, extension);
}

struct akgen_error *repair_keep_prompt(struct repair *repair, int round, int slot, const struct gen_prompt *prompt)
{
    struct text text = {0};
    for (int i = 0; i < prompt->count; i++)
        text_addf(&text, "%s----- %s -----\n%s\n", i ? "\n" : "", prompt->messages[i].role, prompt->messages[i].text);
    struct akgen_error *error =
        files_write_path(path_of(repair, round, slot, "prompt", ".md"), text.bytes ? text.bytes : "", text.length);
    text_free(&text);
    return error;
}

struct akgen_error *repair_keep_attempt(struct repair *repair, const struct attempt *attempt)
{
    struct arena *arena = repair->arena;
    int round = attempt->round, slot = attempt->slot;
    struct akgen_error *error =
        files_write_path(path_of(repair, round, slot, "answer", ".md"), attempt->text, strlen(attempt->text));
    if (!error && attempt->reasoning)
        error = files_write_path(path_of(repair, round, slot, "reasoning", ".md"), attempt->reasoning,
                                 strlen(attempt->reasoning));
    if (!error && attempt->judged) {
        const char *told = gen_feedback_text(arena, &attempt->feedback, NULL);
        error =
            files_write_path(path_of(repair, round, slot, "verdict", ".json"), attempt->json, strlen(attempt->json));
        if (!error && attempt->row.kind != AKGEN_VERDICT_PASS)
            error = files_write_path(path_of(repair, round, slot, "feedback", ".md"), told, strlen(told));
        if (!error && attempt->timed)
            error =
                files_write_path(path_of(repair, round, slot, "timing", ".md"), attempt->told, strlen(attempt->told));
    }
    return error;
}

/* ---- The database */

/* The settings of the model and of the search, as one JSON object. */
static const char *settings_of(struct repair *repair)
{
    const struct gen_faster_options *faster = &repair->options->faster;
    json_t *settings = json_loads(gen_model_settings(repair->arena, repair->options->model), 0, NULL);
    if (!json_is_object(settings)) {
        json_decref(settings);
        settings = json_object();
    }
    json_object_set_new(settings, "repair",
                        json_pack("{s:i, s:i}", "rounds", repair->options->rounds, "beam", repair->options->beam));
    if (faster->rounds)
        json_object_set_new(settings, "optimise",
                            json_pack("{s:i, s:i, s:f}", "rounds", faster->rounds, "patience", faster->patience,
                                      "roofline", faster->roofline));
    char *text = json_dumps(settings, JSON_COMPACT | JSON_SORT_KEYS);
    const char *copy = arena_strdup(repair->arena, text ? text : "{}");
    free(text);
    json_decref(settings);
    return copy;
}

struct akgen_error *repair_begin_store(struct repair *repair)
{
    const struct gen_repair_options *options = repair->options;
    const struct gen_endpoint *endpoint = &options->model->endpoint;
    const struct eval_options *eval = options->eval;
    struct arena *arena = repair->arena;
    repair->bench = arena_alloc(arena, sizeof *repair->bench);
    *repair->bench = (struct bench){
        .suite = repair->task->suite,
        .provider = gen_endpoint_name(arena, endpoint),
        .soc = eval->soc->name,
        .mode = eval_modes.of[eval->mode],
        .scope = eval_scopes.of[eval->scope],
        .profile = eval_profiles.of[eval->profile],
        .language = eval_languages.of[eval->language],
        .akgen = AKGEN_VERSION,
        .protocol = eval_protocol(arena, repair->task, eval),
        .salt = eval->salt,
        .baseline = BASELINE_EAGER,
        .settings = settings_of(repair),
    };
    struct akgen_error *error = options->store ? store_begin_run(options->store, repair->bench) : NULL;
    arena_adopt(arena, &repair->bench->arena); /* its salt stands in verdicts */
    return error;
}

struct akgen_error *repair_store_prompt(struct repair *repair, const struct gen_prompt *prompt)
{
    struct store *store = repair->options->store;
    return store ? store_add_prompt(store, prompt->hash,
                                    gen_messages_text(repair->arena, prompt->messages, prompt->count), prompt->tokens)
                 : NULL;
}

/* The task's name in the database, as `akgen bench` writes it. */
static const char *name_in_store(const struct task *task)
{
    const char *level = strchr(task->name, '/');
    return level && strncmp(task->name, task->suite, (size_t)(level - task->name)) == 0 ? level + 1 : task->name;
}

struct akgen_error *repair_store_reply(struct repair *repair, const struct asked *asked, const struct gen_reply *reply)
{
    struct arena *arena = repair->arena;
    struct sample *samples = arena_alloc(arena, sizeof *samples * (size_t)(asked->count + 1));
    if (!repair->options->store)
        return NULL;
    for (int i = 0; i < asked->count; i++) {
        bool first = i == 0;
        const struct gen_choice *choice = i < reply->count ? &reply->choices[i] : NULL;
        samples[i] = (struct sample){
            .task = name_in_store(repair->task),
            .sample = asked->first + i,
            .round = asked->round,
            .parent = asked->parent,
            .prompt = asked->hash,
            .request = first ? reply->request : NULL,
            .response = first ? reply->response : NULL,
            .answer = choice ? choice->text : NULL,
            .reasoning = choice ? choice->reasoning : NULL,
            .finish = choice ? choice->finish : NULL,
            .failure = choice           ? NULL
                       : reply->failure ? reply->failure
                                        : "the server sent fewer answers",
            .prompt_tokens = first ? reply->prompt_tokens : 0,
            .completion_tokens = first ? reply->completion_tokens : 0,
            .cost = first ? gen_model_cost(repair->options->model, reply->prompt_tokens, reply->completion_tokens) : 0,
            .seconds = reply->seconds,
            .tries = reply->tries,
        };
    }
    return store_add_samples(repair->options->store, repair->bench->run, samples, asked->count);
}

/* The kernel's text, for the page. */
static const char *kernel_of(const struct attempt *attempt)
{
    const char *first = NULL;
    for (size_t i = 0; i < attempt->files.count; i++) {
        const struct op_file *file = &attempt->files.items[i];
        if (op_file_is_folder(file))
            continue;
        if (strncmp(file->path, "op_kernel/", 10) == 0)
            return file->bytes;
        first = first ? first : file->bytes;
    }
    return first;
}

struct akgen_error *repair_store_verdict(struct repair *repair, const struct attempt *attempt)
{
    struct bench_row row = attempt->row;
    row.task = name_in_store(repair->task);
    row.category = repair->task->category;
    row.level = repair->task->level;
    row.sample = attempt->sample;
    row.source = (char *)kernel_of(attempt);
    return repair->options->store ? store_add(repair->options->store, repair->bench, &row) : NULL;
}

/* ---- The end */

static json_t *sample_json(const struct attempt *attempt)
{
    json_t *json = json_pack(
        "{s:i, s:i, s:i, s:s?, s:s?, s:s?, s:i}", "sample", attempt->sample, "round", attempt->round, "parent",
        attempt->parent, "verdict", attempt->judged ? akgen_verdict_kind_name(attempt->row.kind) : NULL, "ended",
        attempt->ended, "finish", attempt->finish, "same_as", attempt->judged ? attempt->same_as : -1);
    if (attempt->timed)
        json_object_set_new(json, "modelled_us", json_real(round(attempt->times.mean_us * 1e3) / 1e3));
    return json;
}

/* Takes the object over. */
static struct akgen_error *write_json(struct repair *repair, const char *name, json_t *json)
{
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    struct akgen_error *error =
        text ? files_write_path(arena_printf(repair->arena, "%s/evidence/%s", repair->options->dir, name), text,
                                strlen(text))
             : error_new("out of memory");
    free(text);
    json_decref(json);
    return error;
}

static struct akgen_error *write_run(struct repair *repair)
{
    const struct gen_repair_outcome *outcome = repair->outcome;
    json_t *samples = json_array();
    for (int i = 0; i < repair->count; i++)
        json_array_append_new(samples, sample_json(&repair->attempts[i]));
    json_t *run = json_pack("{s:i, s:s, s:o, s:i, s:s?, s:i, s:i, s:I, s:I, s:b, s:f, s:f, s:o}", "version", 1, "task",
                            repair->task->name, "settings", json_loads(repair->bench->settings, 0, NULL), "winner",
                            repair->best, "stopped", outcome->stopped, "requests", outcome->requests, "failures",
                            outcome->failures, "prompt_tokens", (json_int_t)outcome->prompt_tokens, "completion_tokens",
                            (json_int_t)outcome->completion_tokens, "tokens_estimated", outcome->estimated, "cost",
                            outcome->cost, "seconds", outcome->seconds, "samples", samples);
    struct akgen_error *error = write_json(repair, "run.json", run);
    if (!error && outcome->faster.began)
        error = write_json(repair, "optimise.json", optimise_json(repair));
    return error;
}

/* The verdict of the project that was written, with the trace of its longest case. */
static struct akgen_error *write_verdict(struct repair *repair)
{
    struct verdict *verdict = &repair->outcome->verdict;
    struct akgen_error *error = NULL;
    if (!__atomic_load_n(repair->stopped, __ATOMIC_ACQUIRE))
        error = gen_trace_keep(repair->arena, repair->task, repair->options->dir, verdict);
    return error ? error : write_json(repair, "verdict.json", verdict_to_json(verdict));
}

struct akgen_error *repair_write_best(struct repair *repair)
{
    struct arena *arena = repair->arena;
    const char *dir = repair->options->dir;
    struct gen_repair_outcome *outcome = repair->outcome;
    const struct attempt *best = &repair->attempts[repair->best];
    const char **paths = arena_alloc(arena, sizeof *paths * (best->files.count + 1));
    size_t count = 0;
    struct akgen_error *error = NULL;
    for (size_t i = 0; i < best->files.count && !error; i++) {
        const struct op_file *file = &best->files.items[i];
        if (op_file_is_folder(file))
            continue;
        paths[count++] = file->path;
        error = files_write_path(arena_printf(arena, "%s/%s", dir, file->path), file->bytes, file->length);
    }
    outcome->files = paths;
    outcome->sample = best->sample;
    outcome->round = best->round;
    outcome->parent = best->parent;
    outcome->made_faster = best->parent >= 0 && repair->attempts[best->parent].row.kind == AKGEN_VERDICT_PASS;
    if (!error && best->answer.kind == ANSWER_IS_PROGRAM)
        error = files_write_path(arena_printf(arena, "%s/evidence/program.py", dir), best->answer.files[0].bytes,
                                 best->answer.files[0].length);
    if (!error)
        error = write_run(repair);
    return error ? error : write_verdict(repair);
}
