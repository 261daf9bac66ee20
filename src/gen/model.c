/* A model as one run asks it: presets, where it is, and what must be the same for samples to be of one kind. */
#include "gen/model.h"
#include "toolchain/toolchain.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/jsons.h"
#include "base/memory.h"
#include "base/text.h"
#include "gen/client_internal.h"
#include "lm/backend.h"
#include "dsl/dsl.h"
#include "task/expr/formula.h"
#include "task/task.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct words gen_constraints = WORDS(GEN_CONSTRAINTS);

enum { LONGEST_DOCUMENT = 64 << 20 };

const struct gen_preset gen_presets[] = {
    {"ascendkernelgen",
     "AscendKernelGen (arXiv 2601.07160): n = 100 for each task; the paper names no temperature, so the server's own "
     "holds",
     100,
     {.temperature = NAN, .top_p = NAN, .min_p = NAN}},
    {"multikernelbench",
     "MultiKernelBench: k = 1, greedy, at most 8192 tokens",
     1,
     {.temperature = 0, .top_p = NAN, .min_p = NAN, .max_tokens = 8192}},
    {"multikernelbench-5",
     "MultiKernelBench: k = 5, temperature 0.2, top-p 0.95, at most 8192 tokens",
     5,
     {.temperature = 0.2, .top_p = 0.95, .min_p = NAN, .max_tokens = 8192}},
    {0},
};

const struct gen_preset *gen_preset_find(const char *name)
{
    for (const struct gen_preset *preset = gen_presets; preset->name; preset++)
        if (strcmp(preset->name, name) == 0)
            return preset;
    return NULL;
}

void gen_preset_apply(const struct gen_preset *preset, struct gen_sampling *sampling)
{
    const struct {
        double *to, from;
    } numbers[] = {{&sampling->temperature, preset->sampling.temperature},
                   {&sampling->top_p, preset->sampling.top_p},
                   {&sampling->min_p, preset->sampling.min_p}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (isnan(*numbers[i].to))
            *numbers[i].to = numbers[i].from;
    if (!sampling->max_tokens)
        sampling->max_tokens = preset->sampling.max_tokens;
}

static const char server[] = "openai:", local[] = "lm:", command[] = "exec:", own[] = "lm";

static const char *behind(const char *text, const char *begin)
{
    size_t length = strlen(begin);
    return strncmp(text, begin, length) == 0 ? text + length : NULL;
}

/* Something in a command that looks like a key: it would stand in the database with the command. */
static bool shows_key(const char *text)
{
    static const char pattern[] = "(^|[^A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}|Bearer +[^$\"' ]{8,}|"
                                  "(^|[^A-Za-z])(api[_-]?key|token|secret)[ =:]+[^$\"' ]{16,}";
    regex_t compiled;
    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0)
        memory_exhausted(0);
    bool found = regexec(&compiled, text, 0, NULL, 0) == 0;
    regfree(&compiled);
    return found;
}

bool gen_model_is_provider(const char *provider)
{
    return behind(provider, server) || behind(provider, local) || behind(provider, command) ||
           strcmp(provider, own) == 0;
}

const char *gen_model_shipped(struct arena *arena)
{
    return arena_printf(arena, "%s/models/graph-14m", toolchain_home());
}

static double or_else(double given, double usual)
{
    return isnan(given) ? usual : given;
}

/* The models that AKGen brings along are asked as they were taught: one answers with formulas, the other with programs and with projects. */
static const char *own_model(struct gen_model *model)
{
    struct gen_sampling *sampling = &model->sampling;
    if (!model->told_language)
        model->prompt.language = EVAL_GRAPH;
    const enum eval_language language = model->prompt.language;
    const bool formulas = language == EVAL_GRAPH;
    sampling->temperature = or_else(sampling->temperature, formulas ? 0.8 : 0.2);
    sampling->top_p = or_else(sampling->top_p, 0.95);
    if (!sampling->max_tokens)
        sampling->max_tokens = formulas ? 300 : language == EVAL_DSL ? 768 : 1600;
    if (formulas)
        return gen_model_shipped(&model->arena);
    if (!model->prompt.templates)
        model->prompt.templates = arena_printf(&model->arena, "%s/prompts/brief", toolchain_home());
    return arena_printf(&model->arena, "%s/models/code-14m", toolchain_home());
}

struct akgen_error *gen_model_provider(struct gen_model *model, const char *provider)
{
    const char *url = behind(provider, server), *run = behind(provider, command), *folder = behind(provider, local);
    struct gen_endpoint *endpoint = &model->endpoint;
    endpoint->url = endpoint->folder = endpoint->command = NULL;
    endpoint->writer = NULL;
    if (strcmp(provider, own) == 0)
        folder = own_model(model);
    if (endpoint->int8 && !folder)
        return error_new("--int8 is of models that this process runs; expected lm:DIR");
    if (run && !run[strspn(run, " \t\n")])
        return error_new("exec: no command; expected exec:COMMAND, a line for /bin/sh");
    if (run && shows_key(run))
        return error_new(
            "exec: the command seems to have a key in it, which would end up in histories and databases; it "
            "can read a variable of the environment or a file");
    if (run) {
        endpoint->command = run;
        return NULL;
    }
    if (folder && !*folder)
        return error_new("lm: no folder; expected lm:DIR, a model's (docs/lm.md)");
    if (folder) {
        endpoint->folder = folder;
        endpoint->model = endpoint->model ? endpoint->model : folder;
        return NULL;
    }
    if (!url)
        return error_new("the provider is neither openai:URL, lm, lm:DIR nor exec:COMMAND");
    struct akgen_error *error = gen_client_url(&model->arena, url, &endpoint->url, &endpoint->api);
    if (!error && !endpoint->model)
        error = error_new("--model is missing: the name of the model, as the server calls it; %s/models lists those "
                          "that it has",
                          endpoint->url);
    return error ? error_prefix(error, "--provider") : NULL;
}

const char *gen_endpoint_name(struct arena *arena, const struct gen_endpoint *endpoint)
{
    if (endpoint->folder)
        return arena_printf(arena, "%s%s", local, endpoint->folder);
    return endpoint->url ? arena_printf(arena, "%s%s", server, endpoint->url)
                         : arena_printf(arena, "%s%s", command, endpoint->command ? endpoint->command : "");
}

double gen_model_cost(const struct gen_model *model, int64_t prompt_tokens, int64_t completion_tokens)
{
    return 1e-6 * (model->prompt_price * (double)prompt_tokens + model->answer_price * (double)completion_tokens);
}

struct akgen_error *gen_model_read(struct gen_model *model)
{
    enum { LONGEST = 16384 };
    struct gen_endpoint *endpoint = &model->endpoint;
    const int texts = endpoint->concurrency;
    const struct lm_engine_options options = {.texts = texts < 1        ? 1
                                                       : texts < LM_FEW ? texts
                                                                        : LM_FEW,
                                              .longest = LONGEST,
                                              .int8 = endpoint->int8};
    if (!endpoint->folder)
        return NULL;
    endpoint->writer = arena_alloc(&model->arena, sizeof *endpoint->writer);
    return lm_writer_open(endpoint->folder, &options, endpoint->writer);
}

void gen_model_free(struct gen_model *model)
{
    if (model->endpoint.writer)
        lm_writer_close(model->endpoint.writer);
    arena_free(&model->arena);
}

/* Settings. */
static void set_number(json_t *json, const char *name, double value)
{
    if (!isnan(value))
        json_object_set_new(json, name, json_real(value));
}

static const char *digest_of_text(struct arena *arena, const char *text)
{
    struct digest *digest = digest_new();
    digest_string(digest, text);
    return digest_finish(digest, arena);
}

/* What a file or the files of a folder hold, as a digest: a changed template makes other samples. */
static const char *digest_of(struct arena *arena, const char *path)
{
    struct digest *digest = digest_new();
    const char **paths = NULL;
    size_t count = 0, length;
    char *text;
    struct akgen_error *error = files_list(arena, path, &paths, &count);
    if (error || !count) { /* no folder */
        error_free(error);
        paths = (const char *[]){""};
        count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        const char *file = *paths[i] ? arena_printf(arena, "%s/%s", path, paths[i]) : path;
        digest_string(digest, paths[i]);
        error = files_read(arena, file, LONGEST_DOCUMENT, &text, &length);
        if (!error)
            digest_bytes(digest, text, length);
        error_free(error); /* who makes the prompt complains */
    }
    return digest_finish(digest, arena);
}

/* Of a model's files: another one makes other samples. */
static const char *digest_of_weights(struct arena *arena, const char *folder)
{
    enum { PIECE = 1 << 20 };
    struct digest *digest = digest_new();
    const char **paths;
    size_t count = 0;
    char *bytes = memory_alloc(PIECE);
    error_free(files_list(arena, folder, &paths, &count)); /* who reads the model complains */
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        int file = -1;
        if (!strchr(paths[i], '/'))
            error_free(files_open(arena_printf(arena, "%s/%s", folder, paths[i]), FILES_REFUSE_LINKS, &file, &status));
        digest_string(digest, paths[i]);
        for (ssize_t got; file >= 0 && (got = read(file, bytes, PIECE)) > 0;)
            digest_bytes(digest, bytes, (size_t)got);
        if (file >= 0)
            close(file);
    }
    free(bytes);
    return digest_finish(digest, arena);
}

static json_t *sampling_json(const struct gen_model *model)
{
    const struct gen_sampling *sampling = &model->sampling;
    json_t *json = json_object(), *stop = json_array();
    set_number(json, "temperature", sampling->temperature);
    set_number(json, "top_p", sampling->top_p);
    set_number(json, "min_p", sampling->min_p);
    if (sampling->top_k)
        json_object_set_new(json, "top_k", json_integer(sampling->top_k));
    if (sampling->max_tokens)
        json_object_set_new(json, "max_tokens", json_integer(sampling->max_tokens));
    for (int i = 0; i < sampling->stop_count; i++)
        json_array_append_new(stop, jsons_text(sampling->stop[i]));
    if (sampling->stop_count)
        json_object_set(json, "stop", stop);
    json_decref(stop);
    if (model->seeded)
        json_object_set_new(json, "seed", json_integer((json_int_t)(model->seed & INT64_MAX)));
    return json;
}

static json_t *prompt_json(struct arena *arena, const struct gen_prompt_options *prompt)
{
    json_t *json = json_object(), *documents = json_array();
    json_object_set_new(json, "language", json_string(eval_languages.of[prompt->language]));
    json_object_set_new(json, "variant", json_string(gen_variants.of[prompt->variant]));
    if (prompt->templates)
        json_object_set_new(json, "templates", json_string(digest_of(arena, prompt->templates)));
    for (int i = 0; i < prompt->document_count; i++)
        json_array_append_new(documents, json_string(digest_of(arena, prompt->documents[i])));
    if (prompt->document_count)
        json_object_set(json, "documents", documents);
    json_decref(documents);
    return json;
}

static const char *grammar_of_task(struct arena *arena, const struct task *task, int only_case)
{
    struct task own = *task;
    if (only_case >= 0)
        error_free(task_of_case(arena, task, only_case, &own)); /* then it is the whole task's */
    return task_answer_grammar(arena, &own);
}

const char *gen_model_grammar(struct arena *arena, const struct gen_model *model, const struct task *task,
                              int only_case)
{
    const char *of_task = model->constraint == GEN_BY_TASK ? grammar_of_task(arena, task, only_case) : NULL;
    if (of_task || model->constraint == GEN_FREE)
        return of_task;
    return model->prompt.language == EVAL_DSL ? dsl_grammar(arena) : formula_statements_grammar(arena);
}

/* Grammars of tasks are told by that of one: with another language they are all others. */
static void set_constraint(struct arena *arena, json_t *json, const struct gen_model *model)
{
    static struct task_param output = {.name = "y"};
    static const struct task one = {.outputs = &output, .output_count = 1};
    const char *grammar = gen_model_grammar(arena, model, &one, -1);
    if (!grammar)
        return;
    json_object_set_new(json, "constrain", json_string(gen_constraints.of[model->constraint]));
    json_object_set_new(json, "grammar", json_string(digest_of_text(arena, grammar)));
    json_object_set_new(json, "grammar_tries", json_integer(model->grammar_tries));
}

const char *gen_model_settings(struct arena *arena, const struct gen_model *model)
{
    const struct gen_endpoint *endpoint = &model->endpoint;
    json_t *json = json_object();
    if (endpoint->model)
        json_object_set_new(json, "model", jsons_text(endpoint->model));
    if (endpoint->folder) {
        json_object_set_new(json, "folder", jsons_text(endpoint->folder));
        json_object_set_new(json, "weights", json_string(digest_of_weights(arena, endpoint->folder)));
        if (endpoint->int8)
            json_object_set_new(json, "int8", json_true());
        json_object_set_new(json, "api", json_string(gen_apis.of[endpoint->api]));
    } else if (endpoint->url) {
        json_object_set_new(json, "url", jsons_text(endpoint->url));
        json_object_set_new(json, "api", json_string(gen_apis.of[endpoint->api]));
    } else if (endpoint->command) {
        json_object_set_new(json, "command", jsons_text(endpoint->command));
    }
    json_object_set_new(json, "sampling", sampling_json(model));
    set_constraint(arena, json, model);
    json_object_set_new(json, "prompt", prompt_json(arena, &model->prompt));
    char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
    if (!text)
        memory_exhausted(0);
    const char *copy = gen_without_key(arena, text, endpoint->key);
    free(text);
    json_decref(json);
    return copy;
}
