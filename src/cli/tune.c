/* akgen tune: the values of a candidate's knobs for which its modelled time is shortest. */
#include "base/files.h"
#include "base/jsons.h"
#include "cli/gen.h"
#include "cli/whole_file.h"
#include "task/task.h"
#include "toolchain/toolchain.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BUDGET = 40, MOST = 10000, LONGEST = 1 << 20, CACHED_BYTES = 256 << 20 };

struct tune {
    struct eval_options options;
    const char *task, *candidate, *output, *trace;
    int budget, seconds;
    unsigned kinds; /* of knobs; 0: all */
    bool json;
};

static void take_candidate(void *arguments, char *text, const struct argp_state *state)
{
    struct tune *tune = arguments;
    if (tune->candidate)
        argp_error(state, "too many arguments: '%s' and '%s' are two candidates", tune->candidate, text);
    tune->candidate = text;
}

static void take_knobs(void *kinds, char *text, const struct argp_state *state)
{
    char *list = strdup(text), *left = list;
    for (const char *word; (word = strsep(&left, ","));) {
        const int kind = words_find(&gen_knob_kinds, word);
        if (kind < 0)
            argp_error(state, "--knobs: '%s' is none of %s", word, WORD_CHOICE(GEN_KNOB_KINDS, ""));
        *(unsigned *)kinds |= 1U << kind;
    }
    free(list);
}

#define CLI_OF struct tune
static const struct cli_option rows[] = {
    {"output", 'o', "DIR", CLI_TEXT(output), 1,
     "write the tuned program, its project and a trace of before and after below DIR"},
    {"program", 0, "FILE", CLI_CALL(take_candidate), 1, "the same as CANDIDATE"},
    {"knobs", 0, "KIND[,KIND..]", CLI_CALL(take_knobs, .at = CLI_AT(kinds)), 1,
     "turn only these: constant, depth, cores, loops (default: all)"},
    {"budget", 0, "N", CLI_NUMBER(budget, 1, MOST), 1, "settings at most (default 40)"},
    {"max-seconds", 0, "N", CLI_NUMBER(seconds, 1, 864000), 1,
     "begin no setting later; what is found then depends on the machine"},
    {"trace", 0, "DIR", CLI_TEXT(trace), 1,
     "write the modelled timelines of before and after, DIR/before.json and DIR/after.json, of the longest case"},
    {"json", 0, NULL, CLI_FLAG(json), 1, "print the result as JSON, and nothing of the way there"},
    {NULL, 0, "TASK", CLI_TEXT(task, .needed = true), 0, NULL},
    {NULL, 0, "CANDIDATE", CLI_CALL(take_candidate), 0, NULL},
};

static void check_arguments(void *arguments, const struct argp_state *state)
{
    const struct tune *tune = arguments;
    if (tune->options.no_timing || tune->options.random_order)
        argp_error(state, "time is modelled in program order only, and not with --no-timing");
}

/* ---- The candidate */

static struct akgen_error *read_candidate(struct arena *arena, const struct tune *tune, const struct task *task,
                                          struct gen_subject **subject, int *code)
{
    struct stat status;
    struct candidate_program program = {.path = tune->candidate};
    char *text;
    struct akgen_error *error;
    if (tune->candidate && stat(tune->candidate, &status) != 0)
        return error_new("%s: %m", tune->candidate);
    *code = EXIT_OTHER_VERDICT;
    if (tune->candidate && S_ISDIR(status.st_mode))
        return gen_subject_of_project(arena, tune->candidate, task, subject);
    if (tune->candidate) {
        error = files_read(arena, tune->candidate, LONGEST, &text, &program.length);
        program.text = text;
    } else {
        error = candidate_program_of_task(arena, task, &program);
    }
    return error ? error : gen_subject_of_program(arena, &program, task, tune->options.soc, subject);
}

static struct akgen_error *prepare(struct arena *arena, struct tune *tune, struct task *task,
                                   struct gen_subject **subject, int *code)
{
    struct akgen_error *error = task_find(arena, toolchain_home(), tune->task, task);
    *code = EXIT_USAGE;
    if (!error && task->broken)
        error = error_new("%s: %s", task->name, task->broken);
    if (!error)
        error = task_require_case(task, tune->options.only_case);
    if (!error)
        error = cli_set_tolerance(arena, &tune->options, task);
    if (error)
        return error;
    error = read_candidate(arena, tune, task, subject, code);
    if (!error) {
        *code = EXIT_OWN_FAILURE;
        error = eval_check_jail(&tune->options);
    }
    return error;
}

/* ---- For people */

void cli_print_setting(void *arena, const struct gen_subject *subject, const struct gen_setting *setting)
{
    int count, told = 0;
    const struct gen_knob *knobs = gen_subject_knobs(subject, &count);
    for (int i = 0; i < count; i++)
        if (setting->values[i] != knobs[i].value)
            printf("%s%s = %s", told++ ? ", " : "", knobs[i].name, gen_knob_text(arena, &knobs[i], setting->values[i]));
    printf("%s: ", told ? "" : "as it is");
    if (isinf(setting->us))
        printf("%s%s%s\n", gen_tries.of[setting->became], setting->reason ? ": " : "",
               setting->reason ? setting->reason : "");
    else
        printf("modelled %.2f us%s\n", setting->us, setting->became == GEN_TRY_SAME ? ", the same project" : "");
    fflush(stdout);
}

static void print_indented(void *closure, const struct gen_subject *subject, const struct gen_setting *setting)
{
    printf("  ");
    cli_print_setting(closure, subject, setting);
}

static void print_times(const struct times *before, const struct times *after, bool faster)
{
    printf("before %.2f us, after %.2f us, %.2f times as fast, geometric mean of %d case%s\n", before->mean_us,
           after->mean_us, times_ratio(before, after), before->count, before->count == 1 ? "" : "s");
    if (before->speedup > 0)
        printf("times as fast as eager, mean of the cases: %.2f before, %.2f after\n", before->speedup, after->speedup);
    cli_print_times(before, after, faster, true);
}

static void print_result(struct arena *arena, const struct gen_subject *subject, const struct gen_tuning *tuning)
{
    int count, told = 0;
    const struct gen_knob *knobs = gen_subject_knobs(subject, &count);
    print_times(&tuning->before.times, &tuning->after.times, tuning->after.us < tuning->before.us);
    printf("%d setting%s tried; ", tuning->tried, tuning->tried == 1 ? "" : "s");
    for (int i = 0; i < count; i++)
        if (tuning->after.values[i] != knobs[i].value)
            printf("%s%s: %s -> %s", told++ ? ", " : "", knobs[i].name, gen_knob_text(arena, &knobs[i], knobs[i].value),
                   gen_knob_text(arena, &knobs[i], tuning->after.values[i]));
    printf("%s\n", told ? "" : "nothing is faster");
    printf("%s passes by the strict profile, %d case%s\n", told ? "the tuned candidate" : "the candidate",
           tuning->proved_cases, tuning->proved_cases == 1 ? "" : "s");
}

/* ---- For programs */

static json_t *value_json(const struct gen_knob *knob, int64_t value)
{
    const bool none = !value && (knob->kind == GEN_KNOB_DEPTH || knob->kind == GEN_KNOB_CORES);
    return none ? json_null() : json_integer((json_int_t)value);
}

/* Paths and what compilers say need not be UTF-8. */
static json_t *text_or_null(const char *text)
{
    return text ? jsons_text(text) : json_null();
}

static json_t *settings_json(const struct gen_tuning *tuning, const struct gen_knob *knobs, int count)
{
    json_t *settings = json_array();
    for (int i = 0; i < tuning->tried; i++) {
        const struct gen_setting *setting = &tuning->settings[i];
        json_t *values = json_array();
        for (int k = 0; k < count; k++)
            json_array_append_new(values, value_json(&knobs[k], setting->values[k]));
        json_array_append_new(settings,
                              json_pack("{s:o, s:s, s:o, s:o}", "values", values, "became",
                                        gen_tries.of[setting->became], "reason", text_or_null(setting->reason), "us",
                                        isinf(setting->us) ? json_null() : json_real(round(setting->us * 1e3) / 1e3)));
    }
    return settings;
}

static void print_json(const struct tune *tune, const struct task *task, const struct gen_subject *subject,
                       const struct gen_tuning *tuning)
{
    int count;
    const struct gen_knob *knobs = gen_subject_knobs(subject, &count);
    json_t *json = times_compared_json(&tuning->before.times, &tuning->after.times), *turned = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(turned, json_pack("{s:s, s:s, s:o, s:o}", "name", knobs[i].name, "kind",
                                                gen_knob_kinds.of[knobs[i].kind], "before",
                                                value_json(&knobs[i], knobs[i].value), "after",
                                                value_json(&knobs[i], tuning->after.values[i])));
    json_t *head = json_pack("{s:s, s:s, s:o, s:s, s:i, s:i, s:o, s:o, s:{s:s, s:s, s:i}}", "suite", task->suite,
                             "task", task->name, "candidate", text_or_null(tune->candidate), "soc",
                             tune->options.soc->name, "budget", tune->budget, "tried", tuning->tried, "knobs", turned,
                             "settings", settings_json(tuning, knobs, count), "proved", "profile", "strict", "verdict",
                             "pass", "cases", tuning->proved_cases);
    json_object_update(head, json);
    char *text = json_dumps(head, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
    puts(text);
    free(text);
    json_decref(json);
    json_decref(head);
}

/* ---- What is written */

static struct akgen_error *write_trace(const struct tune *tune, const struct task *task,
                                       const struct gen_setting *setting, int id, const char *path)
{
    struct eval_options options = tune->options;
    struct verdict verdict;
    struct stat status;
    struct whole_file trace;
    struct akgen_error *error = whole_file_open(&trace, path, "]\n");
    if (error)
        return error;
    const struct eval_debug debug = {.log_fd = -1, .trace_fd = trace.fd};
    options.debug = &debug;
    options.only_case = id;
    options.trials = 1;
    eval_run(&setting->candidate, task, &options, &verdict);
    const bool whole =
        fstat(trace.fd, &status) == 0 && status.st_size > 0; /* else the launch did not come to its end */
    const int failed = verdict.case_count ? verdict.cases[0].run.timing.trace_errno : 0;
    verdict_free(&verdict);
    return whole_file_close(&trace, whole && !failed, failed) && whole && !failed
               ? NULL
               : error_new("%s is not written", path);
}

static struct akgen_error *write_traces(struct arena *arena, const struct tune *tune, const struct task *task,
                                        const struct gen_tuning *tuning, const char *dir)
{
    const struct times *times = &tuning->before.times;
    const struct times_case *longest = times->cases;
    for (int i = 1; i < times->count; i++)
        longest = times->cases[i].us > longest->us ? &times->cases[i] : longest;
    struct akgen_error *error = files_make_directory(dir);
    if (!error)
        error = write_trace(tune, task, &tuning->before, longest->id, arena_printf(arena, "%s/before.json", dir));
    if (!error)
        error = write_trace(tune, task, &tuning->after, longest->id, arena_printf(arena, "%s/after.json", dir));
    return error;
}

static struct akgen_error *write_output(struct arena *arena, const struct tune *tune, const struct task *task,
                                        const struct gen_tuning *tuning)
{
    const struct candidate_program *program = &tuning->after.program;
    struct akgen_error *error = NULL;
    if (tune->output)
        error = op_files_write(arena_printf(arena, "%s/project", tune->output), &tuning->after.candidate.files);
    if (!error && tune->output && program->text)
        error = files_write(arena_printf(arena, "%s/program.py", tune->output), program->text, program->length);
    if (!error && tune->output)
        error = write_traces(arena, tune, task, tuning, tune->output);
    if (!error && tune->trace)
        error = write_traces(arena, tune, task, tuning, tune->trace);
    return error;
}

static struct akgen_error *run(struct arena *arena, struct tune *tune, int *code)
{
    struct task task;
    struct gen_subject *subject;
    struct gen_tuning tuning;
    struct akgen_error *error = prepare(arena, tune, &task, &subject, code);
    if (error)
        return error;
    if (tune->output) /* what cannot be written is told before the search, not behind it */
        error = files_make_directory(tune->output);
    if (!error && tune->trace)
        error = files_make_directory(tune->trace);
    if (error) {
        *code = EXIT_USAGE;
        return error;
    }
    if (!tune->json)
        printf("%s, modelled on %s: the geometric mean of its cases\n", task.name, tune->options.soc->name);
    *code = EXIT_OTHER_VERDICT;
    tune->options.cache = eval_cache_create(CACHED_BYTES);
    struct eval_options search = tune->options, strict = tune->options;
    search.trials = search.trials ? search.trials : 1;
    strict.profile = TASK_STRICT;
    strict.tolerance = NULL;
    const struct gen_tune_options options = {.eval = &search,
                                             .prove = &strict,
                                             .kinds = tune->kinds,
                                             .budget = tune->budget,
                                             .seconds = tune->seconds,
                                             .seen = tune->json ? NULL : print_indented,
                                             .closure = arena};
    error = gen_tune(arena, subject, &task, &options, &tuning);
    if (!error) {
        *code = EXIT_OWN_FAILURE;
        error = write_output(arena, tune, &task, &tuning);
    }
    eval_cache_destroy(tune->options.cache);
    if (error)
        return error;
    if (tune->json)
        print_json(tune, &task, subject, &tuning);
    else
        print_result(arena, subject, &tuning);
    *code = EXIT_PASS;
    return NULL;
}

int cli_tune(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_eval_table, CLI_AT(options)}},
        .needs = "TASK is needed",
        .check = check_arguments,
        .args_doc = "TASK [CANDIDATE]",
        .doc =
            "Tunes a candidate on the modelled time: tries other values of its knobs, keeps what makes the task's "
            "cases faster and leaves them right, and proves the winner by the strict profile. CANDIDATE is a program "
            "in AscendDSL (default: the task's own, or what the planner writes), whose constants, cores, queues and "
            "loops are turned, or the folder of an operator project, whose author marked constants with '// tune' "
            "(docs/gen.md, Tuning).\v"
            "Exit code: 0 the tuned candidate passes, 1 the candidate is not right or has nothing to turn, 2 wrong "
            "usage, "
            "3 failure of akgen.",
    };
    struct tune tune = {.options = cli_eval_defaults(), .budget = BUDGET};
    tune.options.one_set = true;
    cli_parse(&table, argc, argv, &tune);
    struct arena arena = {0};
    int code;
    struct akgen_error *error = run(&arena, &tune, &code);
    arena_free(&arena);
    return error ? cli_fail(code, error) : code;
}
