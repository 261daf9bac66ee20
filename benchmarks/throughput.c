/* Verdicts per second over candidates that differ from each other, as a reinforcement-learning run yields them: 400, a
 * quarter each that pass, are wrong, fault, and do not compile, made from the reference projects of levels 1 and 2. Every
 * text is another one, so no cache of objects can serve it; static mode, full verdicts, in the jail. The precompiled
 * headers are made beforehand.
 *
 * Inputs and references are warm: a program keeps them as long as it runs, so the candidates come behind one of each task
 * that passes, and a run of these alone tells what they and the start took. The rate is that of the rest. The rate of the
 * whole run, start and all, stands beside it.
 *
 *     throughput [COUNT [AKGEN [BEFORE]]]
 *
 * COUNT candidates of each kind (default 100) through `akgen bench` and through `akgen serve --stdio`, with two workers and with one.
 * AKGEN is the program to measure (default: the one of this build), BEFORE another build of it whose bench gets the same candidates,
 * by turns. The processor time of a verdict is what compares on a machine that others use too. At last the same candidates once
 * more, whose objects are in the cache by then. */
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "task/task.h"
#include "toolchain/toolchain.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_LIMIT = 1 << 20, REPLIES_LIMIT = 1 << 30, NUMBERS_OF_A_KIND = 1000 };

enum kind { PASS, WRONG, FAULT, NO_COMPILE, WARM, KINDS = WARM };
static const char *const kind_verdicts[] = {"pass", "wrong", "fault", "compile_error", "pass"};

/* What makes a reference project wrong: the text in its kernel, everywhere, and what takes its place. */
struct plan {
    const char *task, *text, *becomes;
};
static const struct plan plans[] = {
    {"level1/Comparison/Equal", "CMPMODE::EQ", "CMPMODE::NE"},
    {"level1/Comparison/Less", "CMPMODE::LT", "CMPMODE::GT"},
    {"level1/Condition/IsFinite", "CMPMODE::EQ", "CMPMODE::NE"},
    {"level1/Condition/NonFiniteCheckOp", "Duplicate(flag, 1.0f", "Duplicate(flag, 2.0f"},
    {"level1/Math/AddCustom", "Add(z, x, y", "Sub(z, x, y"},
    {"level1/Math/Addcmul", " Mul(", " Add("},
    {"level1/Math/ClipByValue", "Mins(y, y, highest", "Mins(y, y, lowest"},
    {"level1/Math/Lerp", " Sub(", " Add("},
    {"level1/Math/Muls", " Muls(", " Adds("},
    {"level1/Math/Neg", "(-1)", "(-2)"},
    {"level1/Math/Sasum", "Add(lanes, lanes, magnitude", "Sub(lanes, lanes, magnitude"},
    {"level1/Math/Sqrt", " Sqrt(", " Abs("},
    {"level1/Math/Sscal", " Muls(", " Adds("},
    {"level1/Math/UnalignAdd", "Add(z, x, y", "Sub(z, x, y"},
    {"level1/TensorCreation/Arange", " Muls(", " Adds("},
    {"level1/TensorCreation/Eye", "static_cast<T>(1)", "static_cast<T>(2)"},
    {"level1/TensorCreation/Fill", "static_cast<uint32_t>(eightBytes)", "~static_cast<uint32_t>(eightBytes)"},
    {"level2/Activation/FastGelu", "-SLOPE", "SLOPE"},
    {"level2/Activation/SwiGlu", "-1.0f", "-1.1f"},
    {"level2/Activation/Swish", "-scale", "scale"},
    {"level2/Foreach/ForeachAddList", " Add(", " Sub("},
    {"level2/Foreach/ForeachLerpScalar", " Add(", " Sub("},
    {"level2/Foreach/ForeachMulScalarList", " Muls(", " Adds("},
    {"level2/Foreach/ForeachZeroInplace", "static_cast<Element>(0)", "static_cast<Element>(0x4040)"},
    {"level2/Linalg/Cross", " Sub(", " Add("},
    {"level2/Loss/MseLoss", " Sub(", " Add("},
    {"level2/Mask/Tril", "static_cast<T>(0)", "static_cast<T>(1)"},
    {"level2/Norm/AddLayerNorm", "1.0f / static_cast<float>(length)", "0.5f / static_cast<float>(length)"},
    {"level2/Norm/PreLayerNorm", "1.0f / static_cast<float>(length)", "0.5f / static_cast<float>(length)"},
    {"level2/Norm/RmsNorm", "1.0f / static_cast<float>(length)", "0.5f / static_cast<float>(length)"},
    {"level2/Reduce/MulSigmoidMulAddCustom", "half(-1)", "half(-2)"},
};
enum { PLANS = sizeof plans / sizeof *plans };

static _Noreturn void stop(const char *what, const char *why)
{
    fprintf(stderr, "throughput: %s: %s\n", what, why);
    exit(1);
}

static void check(struct akgen_error *error)
{
    if (error)
        stop("failed", error->message);
}

/* `text` with `becomes` in the place of each `old`; at most `most` of them. */
static char *replaced(struct arena *arena, const char *text, const char *old, const char *becomes, int most)
{
    struct text result = {0};
    const char *at;
    for (; most > 0 && (at = strstr(text, old)); text = at + strlen(old), most--) {
        text_append(&result, text, (size_t)(at - text));
        text_add(&result, becomes);
    }
    text_add(&result, text);
    char *copy = arena_strdup(arena, result.bytes);
    text_free(&result);
    return copy;
}

/* The text with a statement at the beginning of the entry's body. */
static char *with_statement(struct arena *arena, const char *text, const char *statement)
{
    const char *body = strstr(text, "extern \"C\" __global__");
    body = body ? strchr(body, '{') : NULL;
    if (!body)
        stop("a kernel", "has no entry");
    return arena_printf(arena, "%.*s\n    %s%s", (int)(body + 1 - text), text, statement, body + 1);
}

static char *kernel_of(struct arena *arena, const struct plan *plan, enum kind kind, int number, const char *text)
{
    switch (kind) {
    case WRONG:
        return replaced(arena, text, plan->text, plan->becomes, INT_MAX);
    case FAULT: /* a store through a pointer that leads nowhere */
        return with_statement(arena, text, "*reinterpret_cast<__gm__ float *>(16) = 0;");
    case NO_COMPILE: /* a name that nothing declares */
        return with_statement(arena, text, arena_printf(arena, "Missing%d();", number));
    default:
        return arena_strdup(arena, text);
    }
}

/* Copies the reference of the plan's task; each source gets a constant of its own, the kernel also its mistake. */
static void make_candidate(const struct plan *plan, enum kind kind, int number, const char *tree)
{
    struct arena arena = {0};
    const char **paths;
    size_t count;
    const char *from = arena_printf(&arena, "%s/tasks/npukernelbench/%s/reference", toolchain_home(), plan->task);
    const char *to =
        arena_printf(&arena, "%s/%s/answer/%d", tree, plan->task, (int)kind * NUMBERS_OF_A_KIND + number + 1);
    check(files_list(&arena, from, &paths, &count));
    for (size_t i = 0; i < count; i++) {
        char *text, *target = arena_printf(&arena, "%s/%s", to, paths[i]);
        check(files_read(&arena, arena_printf(&arena, "%s/%s", from, paths[i]), TEXT_LIMIT, &text, NULL));
        if (strstr(paths[i], "op_kernel/") && strstr(paths[i], ".cpp"))
            text = kernel_of(&arena, plan, kind, number, text);
        if (strstr(paths[i], ".cpp"))
            text = arena_printf(&arena, "%s\n// Candidate %d.\nconstexpr int candidate%d = %d;\n", text, number, number,
                                (int)kind * NUMBERS_OF_A_KIND + number);
        check(files_make_directory(arena_strndup(&arena, target, (size_t)(strrchr(target, '/') - target))));
        check(files_write(target, text, strlen(text)));
    }
    if (!count)
        stop(from, "there is no reference project");
    arena_free(&arena);
}

/* One run of a program. */
struct outcome {
    double seconds, cpu;
    int verdicts, unplanned;
    double host, describe, kernel, simulation, total; /* seconds, summed over verdicts */
};

/* Runs akgen with its objects in `cache`; its exit code is that of the verdicts. `input` and `output` are files. */
static void run_akgen(const char *const argv[], const char *cache, const char *input, const char *output,
                      struct outcome *outcome)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    pid_t pid;
    int status;
    extern char **environ;
    setenv("XDG_CACHE_HOME", cache, 1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    double start = clock_seconds();
    if (posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)argv, environ))
        stop(argv[0], "cannot be started");
    if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
        stop(argv[0], "did not end as it should");
    posix_spawn_file_actions_destroy(&actions);
    outcome->seconds = clock_seconds() - start;
    outcome->cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double number_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void add_verdict(struct outcome *outcome, int sample, const char *verdict, const json_t *json)
{
    const json_t *compile = json_object_get(json, "compile"), *row;
    size_t i;
    if (!sample) /* a task that no candidate is for */
        return;
    outcome->verdicts++;
    outcome->unplanned += strcmp(verdict, kind_verdicts[sample / NUMBERS_OF_A_KIND]) != 0;
    outcome->host += number_at(compile, "host_seconds");
    outcome->kernel += number_at(compile, "kernel_seconds");
    outcome->describe +=
        number_at(compile, "seconds") - number_at(compile, "host_seconds") - number_at(compile, "kernel_seconds");
    outcome->total += number_at(json, "seconds");
    json_array_foreach(json_object_get(json, "cases"), i, row) outcome->simulation += number_at(row, "seconds");
}

/* The verdicts of the run, from its database. */
static void read_verdicts(const char *database, struct outcome *outcome)
{
    sqlite3 *db;
    sqlite3_stmt *rows;
    if (sqlite3_open(database, &db) ||
        sqlite3_prepare_v2(db, "SELECT sample, verdict, json, task, reason FROM verdicts", -1, &rows, NULL))
        stop(database, "cannot be read");
    while (sqlite3_step(rows) == SQLITE_ROW) {
        int sample = sqlite3_column_int(rows, 0), before = outcome->unplanned;
        const char *verdict = (const char *)sqlite3_column_text(rows, 1);
        json_t *json = json_loads((const char *)sqlite3_column_text(rows, 2), 0, NULL);
        add_verdict(outcome, sample, verdict, json);
        if (outcome->unplanned > before)
            printf("not as planned: %s #%d: %s: %s\n", (const char *)sqlite3_column_text(rows, 3), sample, verdict,
                   (const char *)sqlite3_column_text(rows, 4));
        json_decref(json);
    }
    sqlite3_finalize(rows);
    sqlite3_close(db);
}

/* The ways in which candidates reach the program. */
enum way { BENCH, SERVE, WAYS };
static const char *const ways[] = {"bench", "serve --stdio"};

/* A program, and the candidates that it gets. */
struct run {
    enum way way;
    const char *akgen, *tree;
    int count; /* of each kind; 0: those that come first alone */
    int jobs;
};

static void add_request(struct text *requests, const struct run *run, const struct plan *plan, enum kind kind,
                        int number)
{
    const int sample = (int)kind * NUMBERS_OF_A_KIND + number + 1;
    text_addf(requests,
              "{\"id\": %d, \"task\": \"%s\", \"candidate\": {\"path\": \"%s/%s/answer/%d\"}, "
              "\"options\": {\"mode\": \"static\"}}\n",
              sample, plan->task, run->tree, plan->task, sample);
}

static void write_requests(const char *path, const struct run *run)
{
    struct text requests = {0};
    for (int i = 0; i < PLANS; i++)
        add_request(&requests, run, &plans[i], WARM, i);
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < run->count; i++)
            add_request(&requests, run, &plans[i % PLANS], (enum kind)kind, i);
    check(files_write(path, requests.bytes, requests.length));
    text_free(&requests);
}

static void read_replies(struct arena *arena, const char *path, struct outcome *outcome)
{
    char *text, *line;
    check(files_read(arena, path, REPLIES_LIMIT, &text, NULL));
    while ((line = strsep(&text, "\n")) && *line) {
        json_t *reply = json_loads(line, 0, NULL);
        const json_t *verdict = json_object_get(reply, "verdict");
        if (!verdict)
            stop("a request was refused", line);
        add_verdict(outcome, (int)json_integer_value(json_object_get(reply, "id")),
                    json_string_value(json_object_get(verdict, "verdict")), verdict);
        json_decref(reply);
    }
}

/* The candidates through the program, with objects in `folder`. */
static struct outcome run_once(struct arena *arena, const struct run *run, const char *folder)
{
    const char *workers = arena_printf(arena, "%d", run->jobs), *provider = arena_printf(arena, "dir:%s", run->tree);
    const char *database = arena_printf(arena, "%s/run.db", folder),
               *replies = arena_printf(arena, "%s/replies", folder),
               *requests = arena_printf(arena, "%s/requests", folder);
    const char *const bench[] = {run->akgen,   "bench",  "--mode", "static", "--provider", provider, "--task",
                                 "level[12]*", "--jobs", workers,  "--db",   database,     NULL};
    const char *const serve[] = {run->akgen, "serve", "--stdio", "--jobs", workers, NULL};
    struct outcome outcome = {0};
    if (run->way == BENCH) {
        unlink(database);
        run_akgen(bench, folder, "/dev/null", "/dev/null", &outcome);
        read_verdicts(database, &outcome);
    } else {
        write_requests(requests, run);
        run_akgen(serve, folder, requests, replies, &outcome);
        read_replies(arena, replies, &outcome);
    }
    return outcome;
}

/* The candidates through one program that has made nothing of theirs before, and then through another that finds its objects. */
static void run_twice(struct arena *arena, const struct run *run, struct outcome outcomes[2])
{
    char *folder = arena_strdup(arena, "/tmp/akgen-throughput-run-XXXXXX");
    if (!mkdtemp(folder))
        stop(folder, "cannot be made");
    const char *const headers[] = {run->akgen, "bench", "--mode", "static", "--task", "level1/Math/Sqrt", NULL};
    run_akgen(headers, folder, "/dev/null", "/dev/null", &outcomes[0]);
    for (int i = 0; i < 2; i++)
        outcomes[i] = run_once(arena, run, folder);
    files_remove_tree(folder);
}

/* Verdicts per second, and per second of the processor. */
struct rates {
    double clock, cpu;
};

static struct rates report(const struct run *run, const char *cache, const struct outcome *first,
                           const struct outcome *all)
{
    const int verdicts = all->verdicts - first->verdicts;
    const double each = 1e3 / verdicts, host = all->host - first->host, describe = all->describe - first->describe,
                 kernel = all->kernel - first->kernel, rest = all->total - first->total - host - describe - kernel;
    const struct rates rates = {verdicts / (all->seconds - first->seconds), verdicts / (all->cpu - first->cpu)};
    printf(
        "%s %s, %d %s, %s: %.2f verdicts/s, the whole run %.2f; %d verdicts, %d not as planned; per verdict %.0f ms of "
        "processor; wall clock of a worker: host part %.0f ms, describe %.0f, kernel %.0f, tiling, run and judge "
        "%.0f (simulation alone %.0f)\n",
        run->akgen, ways[run->way], run->jobs, run->jobs == 1 ? "worker" : "workers", cache, rates.clock,
        all->verdicts / all->seconds, verdicts, all->unplanned, 1e3 / rates.cpu, host * each, describe * each,
        kernel * each, rest * each, (all->simulation - first->simulation) * each);
    fflush(stdout);
    return rates;
}

/* Verdicts per second of the candidates in `run->tree`, which come behind those that are in `warm` too: without and with their objects
 * in the cache. */
static void measure(struct arena *arena, const char *warm, const struct run *run, struct rates rates[2])
{
    static const char *const caches[] = {"nothing cached", "objects cached"};
    struct run few = *run;
    struct outcome first[2], all[2];
    few.tree = warm;
    few.count = 0;
    run_twice(arena, &few, first);
    run_twice(arena, run, all);
    for (int i = 0; i < 2; i++)
        rates[i] = report(run, caches[i], &first[i], &all[i]);
}

static const char *own_akgen(struct arena *arena)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    return arena_printf(arena, "%.*s/../akgen", (int)(strrchr(self, '/') - self), self);
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    int count = argc > 1 ? atoi(argv[1]) : 100;
    const char *own = argc > 2 ? argv[2] : own_akgen(&arena), *before = argc > 3 ? argv[3] : own;
    const struct run all[] = {
        {.way = BENCH, .akgen = before}, {.way = SERVE, .akgen = own}, {.way = BENCH, .akgen = own}};
    const int tried = argc > 3 ? 3 : 2;
    struct rates rates[3][2];
    char *tree = arena_strdup(&arena, "/tmp/akgen-throughput-XXXXXX"), *warm = arena_strdup(&arena, tree);
    if (count < 1 || count >= NUMBERS_OF_A_KIND || !mkdtemp(tree) || !mkdtemp(warm))
        stop("usage", "throughput [COUNT [AKGEN [BEFORE]]]");
    for (int i = 0; i < PLANS; i++) {
        make_candidate(&plans[i], WARM, i, warm);
        make_candidate(&plans[i], WARM, i, tree);
    }
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < count; i++)
            make_candidate(&plans[i % PLANS], (enum kind)kind, i, tree);
    for (int jobs = 2; jobs >= 1; jobs--) {
        for (int i = 0; i < tried; i++) {
            struct run run = all[i];
            run.tree = tree;
            run.count = count;
            run.jobs = jobs;
            measure(&arena, warm, &run, rates[i]);
        }
        for (int i = 1; i < tried; i++)
            printf("%d %s, %s %s against bench%s: %.2f times the verdicts per second, %.2f per second of the "
                   "processor; with objects "
                   "cached %.2f and %.2f\n",
                   jobs, jobs == 1 ? "worker" : "workers", all[i].akgen, ways[all[i].way],
                   argc > 3 ? " of the other build" : "", rates[i][0].clock / rates[0][0].clock,
                   rates[i][0].cpu / rates[0][0].cpu, rates[i][1].clock / rates[0][1].clock,
                   rates[i][1].cpu / rates[0][1].cpu);
    }
    files_remove_tree(tree);
    files_remove_tree(warm);
    arena_free(&arena);
    return 0;
}
