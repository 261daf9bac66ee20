/* The graphs of the benchmarks' operators. Names of inputs do not count for a graph, so each is known under several keys where
 * outputs may be left out: with all statements that no other needs as outputs, and for each of these alone. */
#include "cot/benchmark.h"
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
enum { ROWS = sizeof rows / sizeof *rows, WAYS = 10 };
static uint64_t keys[ROWS][WAYS];

/* The name that statement number `index` assigns; false: there is no such. */
static bool name_of(const char *formulas, int index, char *name, size_t room)
{
    for (; index && formulas; index--) {
        formulas = strchr(formulas, ';');
        formulas = formulas ? formulas + 1 : NULL;
    }
    if (!formulas)
        return false;
    formulas += strspn(formulas, " ");
    size_t length = strcspn(formulas, " =");
    if (length >= room)
        return false;
    memcpy(name, formulas, length);
    name[length] = '\0';
    return true;
}

static void make_keys(void)
{
    for (int i = 0; i < ROWS; i++) {
        int way = 0;
        struct akgen_error *error = graph_key_of_text(rows[i].formulas, NULL, &keys[i][way++]);
        char name[64];
        for (int step = 0; way < WAYS && !error && name_of(rows[i].formulas, step, name, sizeof name); step++) {
            /* The last statement of a task is an output in any case, and so may those before it be. */
            const char *outputs[] = {name, NULL};
            bool last = !name_of(rows[i].formulas, step + 1, (char[64]){0}, 64);
            if (last)
                error = graph_key_of_text(rows[i].formulas, outputs, &keys[i][way++]);
        }
        if (!error && way < WAYS) { /* all of them */
            char names[16][64];
            const char *outputs[17] = {0};
            for (int step = 0; step < 16 && name_of(rows[i].formulas, step, names[step], sizeof *names); step++)
                outputs[step] = names[step];
            error = graph_key_of_text(rows[i].formulas, outputs, &keys[i][way]);
        }
        if (error)
            abort(); /* a row that is no formula: unit/cot/benchmark_test */
    }
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

const char *cot_benchmark_row(int index, const char **formulas, uint64_t *key)
{
    prepare();
    if (index < 0 || index >= ROWS)
        return NULL;
    *formulas = rows[index].formulas;
    *key = keys[index][0];
    return rows[index].task;
}
