/* Many candidates -> a run. Workers take samples in order; a verdict is counted, stored and shown under one lock. */
#include "runs/bench.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/workers.h"
#include "eval/tree.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOURCE_LIMIT = 1 << 20, CACHED_BYTES = 1 << 30 };

static void add_row(struct bench *bench, const struct task *task, int sample, const char *path)
{
    ARRAY_ADD(&bench->arena, bench->rows, bench->count, bench->capacity,
              (struct bench_row){.task = task->name,
                                 .category = task->category,
                                 .level = task->level,
                                 .sample = sample,
                                 .definition = task,
                                 .path = path});
}

static void add_reference(struct bench *bench, const struct task *task, const char *tree)
{
    const char *reference = arena_printf(&bench->arena, "%s/%s", task->dir, tree);
    if (task->broken || access(reference, R_OK) == 0)
        add_row(bench, task, 0, reference);
}

/* The rows there are now are what the run is to have. */
static void plan_rows(struct bench *bench)
{
    struct bench_planned *plan = arena_alloc(&bench->arena, sizeof *plan * (size_t)(bench->count + 1));
    for (int i = 0; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        if (!i || strcmp(row->task, row[-1].task) != 0)
            plan[bench->plan_count++] = (struct bench_planned){row->task, row->category, row->level, 0};
        plan[bench->plan_count - 1].samples++;
    }
    bench->plan = plan;
}

static void add_tree(struct bench *bench, const struct task *task, const char *tree)
{
    static const struct candidate_refusal refusal = {AKGEN_VERDICT_COMPILE_ERROR, BENCH_NO_ANSWER, NULL, 0};
    static const struct candidate no_answer = {.name = "", .language = EVAL_ANY, .refusal = &refusal};
    struct tree_answer *answers;
    int count = tree_answers(&bench->arena, tree, task, &answers);
    for (int i = 0; i < count; i++) {
        add_row(bench, task, answers[i].number, answers[i].path);
        if (!task->broken && !files_exists(answers[i].path))
            bench->rows[bench->count - 1].candidate = &no_answer;
    }
}

/* Where samples come from. */
struct provider {
    const char *begins; /* what its name begins with */
    bool takes_path;    /* the rest of the name is the path of a directory */
    /* Adds the samples of a task in `tree`: that path, or a folder of the task. */
    void (*add)(struct bench *bench, const struct task *task, const char *tree);
};
static const struct provider providers[] = {{BENCH_REFERENCE, false, add_reference}, {TREE_PREFIX, true, add_tree}};

/* NULL: there is none of this name. */
static const struct provider *provider_of(const char *name)
{
    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++) {
        size_t length = strlen(providers[i].begins);
        if (strncmp(name, providers[i].begins, length) == 0 && (providers[i].takes_path || !name[length]))
            return &providers[i];
    }
    return NULL;
}

static const char *provider_tree(const struct provider *provider, const char *name)
{
    return provider->takes_path ? name + strlen(provider->begins) : provider->begins;
}

static bool is_own(const char *name, const struct bench_provider *own)
{
    return own && strcmp(name, own->name) == 0;
}

struct akgen_error *bench_check_provider(const char *name, const struct bench_provider *own)
{
    const struct provider *provider = provider_of(name);
    if (is_own(name, own))
        return NULL;
    if (!provider)
        return error_new("provider '%s' is neither '%s'%s%s%s nor '%sPATH'", name, providers[0].begins,
                         own ? ", '" : "", own ? own->name : "", own ? "'" : "", providers[1].begins);
    if (provider->takes_path && access(provider_tree(provider, name), R_OK | X_OK) != 0)
        return error_new("%s: %m", provider_tree(provider, name));
    return NULL;
}

static bool has_case(const struct task *task, int id)
{
    bool found = task->broken || id < 0;
    for (int i = 0; i < task->case_count && !found; i++)
        found = task->cases[i].id == id;
    return found;
}

/* The protocol of the tasks; where they have several, all of them. */
static const char *bench_protocol(struct arena *arena, const struct task *tasks, int count,
                                  const struct eval_options *options)
{
    const char **found = arena_alloc(arena, sizeof *found * (size_t)(count + 1)), *text = "";
    int several = 0;
    for (int i = 0; i < count; i++) {
        const char *protocol = tasks[i].broken ? NULL : eval_protocol(arena, &tasks[i], options);
        bool known = !protocol;
        for (int k = 0; k < several && !known; k++)
            known = strcmp(found[k], protocol) == 0;
        if (!known)
            found[several++] = protocol;
    }
    if (several == 1)
        return found[0];
    for (int k = 0; k < several; k++)
        text = arena_printf(arena, "%s%s%s", text, k ? "; of other tasks: " : "",
                            *found[k] ? found[k] : "the check that each has");
    return text;
}

static void describe(struct bench *bench, const char *provider, const struct task *tasks, int count,
                     const struct eval_options *options)
{
    bench->suite = count ? tasks[0].suite : "";
    bench->provider = provider;
    bench->soc = options->soc->name;
    bench->mode = eval_modes.of[options->mode];
    bench->scope = eval_scopes.of[options->scope];
    bench->profile = eval_profiles.of[options->profile];
    bench->language = eval_languages.of[options->language];
    bench->akgen = AKGEN_VERSION;
    bench->baseline = BASELINE_EAGER;
    bench->protocol = bench_protocol(&bench->arena, tasks, count, options);
}

void bench_prepare(struct bench *bench, const char *provider, const struct bench_provider *own,
                   const struct task *tasks, int count, const struct eval_options *options)
{
    const struct provider *from = is_own(provider, own) ? NULL : provider_of(provider);
    describe(bench, provider, tasks, count, options);
    bench->tree = from && from->takes_path ? provider_tree(from, provider) : NULL;
    bench->own = from ? NULL : own;
    for (int i = 0; i < count; i++)
        if (!has_case(&tasks[i], options->only_case))
            bench->skipped++;
        else if (!from) {
            if (tasks[i].broken || own->has(&tasks[i]))
                add_row(bench, &tasks[i], 0, NULL);
        } else
            from->add(bench, &tasks[i], provider_tree(from, provider));
    plan_rows(bench);
}

void bench_prepare_samples(struct bench *bench, const char *provider, const struct task *tasks, int count, int samples,
                           const struct eval_options *options)
{
    describe(bench, provider, tasks, count, options);
    for (int i = 0; i < count; i++)
        if (!has_case(&tasks[i], options->only_case))
            bench->skipped++;
        else
            for (int s = 0; s < samples; s++)
                add_row(bench, &tasks[i], s, NULL);
    plan_rows(bench);
}

void bench_keep_evaluated(struct bench *bench)
{
    int kept = 0;
    for (int i = 0; i < bench->count; i++)
        if (bench->rows[i].evaluated)
            bench->rows[kept++] = bench->rows[i];
        else
            bench_row_free(&bench->rows[i]);
    bench->count = kept;
}

/* Running. */
struct bench_work {
    const struct bench_options *options;
    struct eval_cache *cache;
    struct bench *bench;
    const int *order;     /* in which the rows are begun */
    pthread_mutex_t lock; /* guards everything below, the run and the store */
    int done;
};

/* The kernel's text, for the page. */
static char *source_of(const struct bench_row *row, const struct candidate *candidate)
{
    struct arena scratch = {0};
    char *text = NULL;
    if (candidate->response)
        return memory_string(candidate->response->kernel->text);
    if (!row->definition->op_type)
        return NULL;
    const struct op_file *file =
        op_files_find(&candidate->files,
                      arena_printf(&scratch, "op_kernel/%s.cpp", op_snake_case(&scratch, row->definition->op_type)));
    if (file && file->length <= SOURCE_LIMIT)
        text = memory_string(file->bytes);
    arena_free(&scratch);
    return text;
}

static void finish_row(struct bench_work *work, struct bench_row *row, const struct verdict *verdict)
{
    struct bench *bench = work->bench;
    const struct bench_source *source = work->options->source;
    if (source && source->stopped(source->closure))
        return;
    json_t *json = verdict_to_json(verdict);
    bench_row_take(&bench->arena, row, verdict);
    row->verdict = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    row->source = source_of(row, &verdict->candidate);
    if (work->options->store && !bench->store_error)
        bench->store_error = store_add(work->options->store, bench, row);
    bench_row_bound(bench, row);
    if (work->options->on_row)
        work->options->on_row(work->options->closure, bench, ++work->done);
}

/* The candidate of a row, in the arena unless the row has it. */
static void take_candidate(const struct bench *bench, const struct bench_row *row, const struct eval_options *eval,
                           struct arena *arena, struct candidate *candidate)
{
    *candidate = (struct candidate){.name = ""};
    if (row->candidate)
        *candidate = *row->candidate;
    else if (row->path)
        eval_read(arena, row->definition, row->path, eval, candidate);
    else if (bench->own && !row->definition->broken)
        bench->own->make(arena, row->definition, candidate);
}

static void evaluate_row(void *closure, int turn)
{
    struct bench_work *work = closure;
    const struct bench_source *source = work->options->source;
    int which = source ? source->next(source->closure, work->bench) : work->order[turn];
    struct bench_row *row = which < 0 ? NULL : &work->bench->rows[which];
    struct verdict verdict;
    struct candidate candidate;
    struct arena arena = {0};
    struct eval_options eval = work->options->eval;
    if (!row || row->evaluated)
        return;
    eval.side_by_side = eval.jobs;
    eval.jobs = 1;
    eval.cache = work->cache;
    eval.candidates = work->bench->tree;
    take_candidate(work->bench, row, &eval, &arena, &candidate);
    eval_run(&candidate, row->definition, &eval, &verdict);
    struct kernel_baseline *baseline = work->options->baseline;
    speedup_add(row->definition, baseline ? kernel_baseline_times(baseline, row->definition, &eval) : NULL, &verdict);
    pthread_mutex_lock(&work->lock);
    finish_row(work, row, &verdict);
    verdict_free(&verdict);
    arena_free(&arena);
    if (source)
        source->done(source->closure, work->bench, which);
    pthread_mutex_unlock(&work->lock);
}

/* Elements in the tensors of the cases that an evaluation tries: what its inputs, its simulation and its comparison take
 * grows with them. */
static double task_size(const struct task *task, const struct eval_options *options)
{
    double size = 0;
    int count = task->broken ? 0 : options->mode == EVAL_STATIC && task->case_count ? 1 : task->case_count;
    for (int i = 0; i < count; i++) {
        struct task_instance *shapes;
        struct akgen_error *error = task_instance_shapes(task, &task->cases[i], &shapes);
        if (error) { /* the case itself will report it */
            error_free(error);
            continue;
        }
        for (int k = 0; k < task->input_count; k++)
            for (int t = 0; t < shapes->inputs[k].count; t++)
                size += (double)shapes->inputs[k].tensors[t].elements;
        task_instance_free(shapes);
    }
    return size;
}

/* A row's place in the order of evaluation. */
struct turn {
    double size; /* of its task */
    int row;
};

static int by_size(const void *left, const void *right)
{
    const struct turn *a = left, *b = right;
    return a->size != b->size ? (a->size < b->size) - (a->size > b->size) : (a->row > b->row) - (a->row < b->row);
}

/* The largest tasks first, so that none of them runs alone at the end; the rows of a task, which share inputs, one behind
 * another. */
static const int *order_rows(struct bench *bench, const struct eval_options *options)
{
    struct turn *turns = arena_alloc(&bench->arena, sizeof *turns * (size_t)(bench->count + 1));
    int *order = arena_alloc(&bench->arena, sizeof *order * (size_t)(bench->count + 1));
    for (int i = 0; i < bench->count; i++) {
        bool same = i && bench->rows[i].definition == bench->rows[i - 1].definition;
        turns[i] = (struct turn){same ? turns[i - 1].size : task_size(bench->rows[i].definition, options), i};
    }
    qsort(turns, (size_t)bench->count, sizeof *turns, by_size);
    for (int i = 0; i < bench->count; i++)
        order[i] = turns[i].row;
    return order;
}

void bench_run(struct bench *bench, const struct bench_options *options)
{
    double start = clock_seconds();
    struct eval_cache *cache = eval_cache_create(CACHED_BYTES);
    struct bench_work work = {.options = options,
                              .cache = cache,
                              .bench = bench,
                              .order = order_rows(bench, &options->eval),
                              .lock = PTHREAD_MUTEX_INITIALIZER};
    for (int i = 0; i < bench->count; i++)
        work.done += bench->rows[i].evaluated;
    workers_run(bench->count, options->eval.jobs, evaluate_row, &work);
    eval_cache_destroy(cache);
    bench->seconds += clock_seconds() - start;
    if (options->store && !bench->store_error &&
        !(options->source && options->source->stopped(options->source->closure)))
        bench->store_error = store_end_run(options->store, bench);
}

void bench_free(struct bench *bench)
{
    for (int i = 0; i < bench->count; i++)
        bench_row_free(&bench->rows[i]);
    error_free(bench->store_error);
    arena_free(&bench->arena);
}
