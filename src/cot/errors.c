/* From seeds to error-derived samples. */
#include "base/array.h"
#include "cot/benchmark.h"
#include "cot/errors_internal.h"
#include "candidate/program.h"

#include <string.h>

/* An operator at work. */
struct work {
    const struct cot_errors *errors;
    struct cot_block *block;
    struct arena *arena; /* the block's */
    uint64_t seed;
    const struct synth_operator *operator;
    const struct synth_proof *proof;
};

static void add(struct work *w, enum cot_mode mode, const struct errors_told *told, const char *right,
                const struct cot_mutation *mutation, const struct errors_found *found)
{
    struct arena *arena = w->arena;
    bool compile = strcmp(found->verdict, "compile_error") == 0;
    const struct cot_sample sample = {
        .part = compile ? COT_ERROR_API : COT_ERROR_KERNEL,
        .mode = mode,
        .question = errors_question(arena, told, mutation, found),
        .chain = errors_chain(arena, told, mutation, found),
        .answer = errors_answer(arena, told, mutation),
        .verdict = errors_verdict(arena, right, mutation, found),
        .provenance = arena_printf(arena, "akgen cot errors, seed %llu", (unsigned long long)w->seed),
        .licence = "Apache-2.0",
        .graph = arena_printf(arena, "%016llx", (unsigned long long)w->operator->key),
        .tags = arena_printf(arena, "[\"%s\",\"before: %s\",\"%s: %s\"]", w->operator->family, found->verdict,
                             told->seen, mutation->name)};
    cot_block_add(w->block, &sample);
    w->block->made++;
}

/* Chance that is this text's own. */
static struct rng chance(const struct work *w, enum cot_mutable of, int number)
{
    struct rng rng;
    rng_seed(&rng, w->seed * 4096 + (uint64_t)of * 1024 + (uint64_t)number);
    return rng;
}

/* The broken texts of an operator that there were. */
struct seen {
    const char **items;
    int count, capacity;
};

/* Whether there was this one; it is counted then, else kept. */
static bool is_seen(struct work *w, struct seen *seen, const char *text)
{
    for (int i = 0; i < seen->count; i++)
        if (strcmp(seen->items[i], text) == 0) {
            cot_block_drop(w->block, "the same change twice");
            return true;
        }
    ARRAY_ADD(w->arena, seen->items, seen->count, seen->capacity, text);
    return false;
}

/* Formulas or program, broken `mutants` times. */
static struct akgen_error *break_text(struct work *w, enum cot_mutable of, enum cot_mode mode,
                                      const struct errors_told *told)
{
    struct akgen_error *error = NULL;
    struct seen seen = {0};
    for (int i = 0; i < w->errors->mutants && !error; i++) {
        struct rng rng = chance(w, of, i);
        struct cot_mutation mutation;
        struct errors_found found;
        struct arena arena = {0}; /* of the judge, which keeps nothing of a right one */
        if (!cot_mutate(w->arena, &rng, of, told->text, &mutation))
            break;
        if (is_seen(w, &seen, mutation.text))
            continue;
        enum errors_judged judged = of == COT_FORMULAS
                                        ? errors_judge_formulas(&arena, w->proof->task, mutation.text, &found, &error)
                                        : errors_judge_program(&arena, w->proof->task, mutation.text, &found, &error);
        if (judged == ERRORS_WRONG && !error)
            add(w, mode, told, w->proof->verdict, &mutation, &found);
        else if (!error)
            cot_block_drop(w->block, judged == ERRORS_RIGHT ? "broken, and right all the same" : "no verdict");
        arena_free(&arena);
    }
    return error;
}

static struct akgen_error *break_project(struct work *w)
{
    const struct candidate_program program = {NULL, w->proof->program, strlen(w->proof->program)};
    struct dsl_lowered project;
    struct dsl_messages messages = {.arena = w->arena};
    struct errors_found found;
    struct akgen_error *error = NULL;
    struct seen seen = {0};
    const struct task *task = w->proof->task;
    if (!candidate_program_compile(w->arena, &program, task, &project, &messages, &error)) {
        cot_block_drop(w->block, "no project");
        return error;
    }
    if (errors_judge_project(w->arena, task, &project, -1, NULL, &found, &error) != ERRORS_RIGHT) {
        if (!error)
            cot_block_drop(w->block, "the right project is not right");
        return error;
    }
    const char *right = "{\"verdict\":\"pass\",\"by\":\"machine\",\"profile\":\"strict\",\"case\":1}";
    w->block->on_machine++;
    for (int i = 0; i < w->errors->mutants && !error; i++) {
        bool host = i % 4 == 3; /* one in four, as a host part has a quarter of the places */
        enum cot_mutable of = host ? COT_HOST_FILE : COT_KERNEL_FILE;
        struct rng rng = chance(w, of, i);
        struct cot_mutation mutation;
        struct arena arena = {0};
        int file = 0;
        while (file < project.count &&
               !(strstr(project.files[file].path, ".cpp") &&
                 strncmp(project.files[file].path, host ? "op_host/" : "op_kernel/", host ? 8 : 10) == 0))
            file++;
        if (file == project.count || !cot_mutate(w->arena, &rng, of, project.files[file].text, &mutation) ||
            is_seen(w, &seen, mutation.text))
            continue;
        enum errors_judged judged = errors_judge_project(&arena, task, &project, file, mutation.text, &found, &error);
        const struct errors_told told = {.brief = w->proof->brief,
                                         .language = "cpp",
                                         .file = project.files[file].path,
                                         .text = project.files[file].text,
                                         .chain = synth_chain(w->arena, w->proof->program),
                                         .seen = host ? "host part" : "kernel",
                                         .part = !error && judged == ERRORS_WRONG &&
                                                 strcmp(found.verdict, "compile_error") == 0};
        if (judged == ERRORS_WRONG && !error)
            add(w, COT_ASCENDC, &told, right, &mutation, &found);
        else if (!error)
            cot_block_drop(w->block, judged == ERRORS_RIGHT ? "broken, and right all the same" : "no verdict");
        arena_free(&arena);
    }
    return error;
}

static struct akgen_error *break_operator(struct work *w)
{
    const struct errors_told formulas = {
        .brief = w->proof->brief, .language = "", .text = w->operator->answer, .seen = "formulas"};
    const char *chain = synth_chain(w->arena, w->proof->program);
    const struct errors_told program = {
        .brief = w->proof->brief, .language = "python", .text = w->proof->program, .chain = chain, .seen = "program"};
    struct akgen_error *error = break_text(w, COT_FORMULAS, COT_GRAPH, &formulas);
    if (!error)
        error = break_text(w, COT_PROGRAM, COT_DSL, &program);
    if (!error && w->errors->machine && w->seed % (uint64_t)w->errors->machine == 0)
        error = break_project(w);
    return error;
}

struct akgen_error *cot_errors_make(void *closure, int64_t first, int64_t count, const char *scratch,
                                    struct cot_block *block)
{
    const struct cot_errors *errors = closure;
    struct akgen_error *error = NULL;
    for (int64_t i = 0; i < count && !error; i++) {
        uint64_t seed = (uint64_t)(first + i);
        struct synth_operator made;
        struct synth_proof proof;
        struct work work = {errors, block, &block->arena, seed, &made, &proof};
        synth_operator_make(&block->arena, seed, &made);
        /* In one data type, so that a project is compiled once. */
        synth_operator_make_plain(&block->arena, seed, __builtin_ctz(made.types), &made);
        if (cot_benchmark_graph(made.key) || cot_benchmark_name(errors->tasks, errors->task_count, made.op)) {
            block->contaminated++;
            cot_block_drop(block, "a benchmark's operator");
            continue;
        }
        error = synth_prove(&block->arena, &made, scratch, false, &proof);
        if (!error && proof.dropped)
            cot_block_drop(block, synth_drop_kind(proof.dropped));
        else if (!error)
            error = break_operator(&work);
        if (error)
            error = error_prefix(error, "seed %llu", (unsigned long long)seed);
    }
    return error ? error : cot_rewrite(errors->asker, block, "error", false);
}
