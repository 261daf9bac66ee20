/* The graphs of the benchmarks' operators. Which statements are outputs a row does not say, so each is known under three keys: with those
 * that no other needs as outputs, with the last one alone, and with all. */
#include "cot/benchmark.h"
#include "base/arena.h"
#include "base/names.h"
#include "base/text.h"
#include "cot/graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *task, *formulas;
};
static const struct row rows[] = {
#define GRAPH(task, formulas) {task, formulas},
#include "cot/benchmark_graphs.def"
#undef GRAPH
};
enum { ROWS = sizeof rows / sizeof *rows, WAYS = 3, STEPS = 16 };
static uint64_t keys[ROWS][WAYS];

/* The names that the statements assign, in the arena; NULL behind the last. */
static void find_names(struct arena *arena, const char *formulas, const char *names[STEPS + 1])
{
    int count = 0;
    for (const char *at = formulas; at && count < STEPS; at = strchr(at, ';')) {
        at += strspn(at, "; ");
        names[count++] = arena_strndup(arena, at, strcspn(at, " ="));
    }
    names[count] = NULL;
}

static void make_keys(void)
{
    struct arena arena = {0};
    for (int i = 0; i < ROWS; i++) {
        const char *names[STEPS + 1] = {0}, *const *last = names;
        find_names(&arena, rows[i].formulas, names);
        while (last[1])
            last++;
        struct akgen_error *error = graph_key_of_text(rows[i].formulas, NULL, &keys[i][0]);
        error = error ? error : graph_key_of_text(rows[i].formulas, last, &keys[i][1]);
        error = error ? error : graph_key_of_text(rows[i].formulas, names, &keys[i][2]);
        if (error)
            abort(); /* a row that is no formula: unit/cot/benchmark_test */
    }
    arena_free(&arena);
}

static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_keys);
}

const char *cot_benchmark_graph(uint64_t key)
{
    prepare();
    for (int i = 0; i < ROWS; i++)
        for (int way = 0; way < WAYS; way++)
            if (keys[i][way] && keys[i][way] == key)
                return rows[i].task;
    return NULL;
}

bool cot_benchmark_name(const struct task *tasks, int count, const char *op)
{
    for (int i = 0; i < count; i++)
        if (tasks[i].op && strcmp(tasks[i].op, op) == 0)
            return true;
    return false;
}

static bool is_benchmark(const char *suite)
{
    return names_among(suite, strlen(suite), "npukernelbench|multikernelbench|mhc");
}

/* The key of a task's formulas; 0: they do not say what it computes. */
static uint64_t key_of(const struct task *task)
{
    struct arena arena = {0};
    struct text text = {0};
    uint64_t key = 0;
    const char **names = arena_alloc(&arena, sizeof *names * (size_t)(task->output_count + 1));
    for (int i = 0; i < task->output_count; i++) {
        const struct formula *formula = task->outputs[i].formula;
        const char *steps = formula ? formula->text : "", *value = strrchr(steps, ';');
        value = value ? value + 1 : steps;
        names[i] = task->outputs[i].name;
        text_addf(&text, "%s%.*s%s = %s", i ? "; " : "", (int)(value - steps), steps, names[i], value);
    }
    struct akgen_error *error = text.length ? graph_key_of_text(text.bytes, names, &key) : NULL;
    key = error ? 0 : key;
    error_free(error);
    text_free(&text);
    arena_free(&arena);
    return key;
}

bool cot_benchmark_task(const struct task *tasks, int count, const struct task *task)
{
    if (is_benchmark(task->suite))
        return true;
    for (int i = 0; i < count; i++)
        if (is_benchmark(tasks[i].suite) && tasks[i].op && strcmp(tasks[i].op, task->op) == 0)
            return true;
    const uint64_t key = key_of(task);
    return key && cot_benchmark_graph(key);
}

const char *cot_benchmark_row(int index, const char **formulas, uint64_t *key)
{
    prepare();
    if (index < 0 || index >= ROWS)
        return NULL;
    *formulas = rows[index].formulas;
    *key = keys[index][0];
    return rows[index].task;
}
