/* The options that `akgen eval` and `akgen bench` share: how a candidate is evaluated. */
#include "cli/cli.h"
#include "eval/kernel_baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEY_SOC = 0x100,
    KEY_MODE,
    KEY_SCOPE,
    KEY_CASE,
    KEY_FULL,
    KEY_PROFILE,
    KEY_SYNC,
    KEY_SCHEDULE,
    KEY_SEEDS,
    KEY_NO_TIMING,
    KEY_STRICT_ORDER,
    KEY_FIRST_FAILURE,
    KEY_JOBS,
    KEY_SEED,
    KEY_INPUTS,
    KEY_TOLERANCE,
    KEY_TIMEOUT,
    KEY_CANDIDATE_SECONDS,
    KEY_NO_CACHE,
    KEY_REQUIRE_JAIL,
    KEY_PLAIN_COMPILER,
    KEY_LANGUAGE,
    KEY_BASELINE
};

static const struct argp_option options[] = {
    {"soc", KEY_SOC, "NAME", 0, "chip to simulate (default Ascend910B2; 'akgen soc list')", 0},
    {"mode", KEY_MODE, WORD_CHOICE(EVAL_MODES, ""), 0,
     "one case per build, case 0 as upstream; or one build, all cases (default)", 0},
    {"scope", KEY_SCOPE, WORD_CHOICE(EVAL_SCOPES, ""), 0,
     "the candidate is a kernel for the task's host part, or both (default)", 0},
    {"case", KEY_CASE, "N", 0, "only case N", 0},
    {"full", KEY_FULL, NULL, 0, "giant cases (over 2^24 elements) at full size", 0},
    {"profile", KEY_PROFILE, WORD_CHOICE(EVAL_PROFILES, ""), 0,
     "the benchmark's own check (default; the strict limits where the task has none), or the float64 reference", 0},
    {"sync", KEY_SYNC, WORD_CHOICE(EVAL_SYNCS, ""), 0,
     "--cce-auto-sync of the build (default: the candidate's CMakeLists, else auto)", 0},
    {"schedule", KEY_SCHEDULE, WORD_CHOICE(EVAL_SCHEDULES, ":SEED"), 0,
     "order in which the pipes run (default inorder)", 0},
    {"seeds", KEY_SEEDS, "N", 0,
     "run each case that is right under the schedules random:1 to random:N too; the first that differs is reported", 0},
    {"no-timing", KEY_NO_TIMING, NULL, 0, "do not model the time that a launch would take (docs/timing.md)", 0},
    {"strict-order", KEY_STRICT_ORDER, NULL, 0,
     "accesses that nothing orders are faults even where the result is the same whichever comes first", 0},
    {"first-failure", KEY_FIRST_FAILURE, NULL, 0, "begin no case behind the first that does not pass", 0},
    {"seed", KEY_SEED, "N", 0, "seed of the inputs (default 0)", 0},
    {"inputs", KEY_INPUTS, "N", 0,
     "inputs tried per case, seeds from --seed on (default: the suite's, 5 in multikernelbench, else 1; strict: 2)", 0},
    {"tolerance", KEY_TOLERANCE, WORD_CHOICE(TASK_TOLERANCES, ""), 0,
     "multikernelbench's limit for the upstream profile (default 1e-2)", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0,
     "limit per case, should the steps that its size allows not end it (default 60): by the clock, less what its "
     "process "
     "waited for a processor",
     0},
    {"candidate-seconds", KEY_CANDIDATE_SECONDS, "SECONDS", 0,
     "limit of all that is done for a candidate, compilers and cases together (default 600, or ten times --timeout if "
     "that is more; as much "
     "again for each of --seeds)",
     0},
    {"jobs", KEY_JOBS, "N", 0, "how much to do side by side (default: number of processors)", 0},
    {"no-cache", KEY_NO_CACHE, NULL, 0, "compile even what is in the cache", 0},
    {"require-jail", KEY_REQUIRE_JAIL, NULL, 0,
     "refuse to run on a machine that does not grant every layer of the jail ('akgen doctor' shows them)", 0},
    {"plain-compiler", KEY_PLAIN_COMPILER, NULL, 0, "start clang for each compile and keep none running", 0},
    {0},
};

long cli_parse_number(const struct argp_state *state, const char *option, const char *text, long low, long high)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        argp_error(state, "--%s: '%s' is not a whole number from %ld to %ld", option, text, low, high);
    return value;
}

double cli_parse_real(const struct argp_state *state, const char *option, const char *text, double low, double high)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= low && value <= high))
        argp_error(state, "--%s: '%s' is no number from %g to %g", option, text, low, high);
    return value;
}

void cli_parse_ks(const struct argp_state *state, const char *text, struct cli_ks *ks)
{
    enum { MOST = sizeof ks->of / sizeof *ks->of, LARGEST = 100000 };
    ks->count = 0;
    for (const char *at = text;; at++) {
        char *end;
        errno = 0;
        long k = strtol(at, &end, 10);
        bool right = end != at && (!*end || *end == ',') && !errno && k >= 1 && k <= LARGEST && ks->count < MOST &&
                     (!ks->count || k > ks->of[ks->count - 1]);
        if (!right)
            argp_error(state, "-k: '%s' is not a list of at most %d ascending numbers from 1 to %d, as 1,10", text,
                       MOST, LARGEST);
        ks->of[ks->count++] = (int)k;
        if (!*end)
            return;
        at = end;
    }
}

/* The value of `text`, one of two words; a usage error otherwise. */
static int one_of(const struct argp_state *state, const char *option, const char *text, const struct words *words)
{
    int value = words_find(words, text);
    if (value < 0)
        argp_error(state, "--%s: '%s' is neither %s nor %s", option, text, words->of[0], words->of[1]);
    return value == 1;
}

static void parse_schedule(struct eval_options *eval, const char *text, const struct argp_state *state)
{
    const char *in_order = eval_schedules.of[false], *random = eval_schedules.of[true];
    size_t length = strlen(random);
    eval->random_order = strncmp(text, random, length) == 0 && text[length] == ':';
    if (eval->random_order)
        eval->order_seed = (uint64_t)cli_parse_number(state, "schedule=random", text + length + 1, 0, INT32_MAX);
    else if (strcmp(text, in_order) != 0)
        argp_error(state, "--schedule: '%s' is neither %s nor %s:SEED", text, in_order, random);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct eval_options *eval = state->input;
    switch (key) {
    case KEY_SOC:
        if (!(eval->soc = npu_soc_find(text)))
            argp_error(state, "--soc: no chip '%s'; 'akgen soc list' shows them", text);
        break;
    case KEY_MODE:
        eval->mode = (enum eval_mode)one_of(state, "mode", text, &eval_modes);
        break;
    case KEY_SCOPE:
        eval->scope = (enum eval_scope)one_of(state, "scope", text, &eval_scopes);
        break;
    case KEY_CASE:
        eval->only_case = (int)cli_parse_number(state, "case", text, 0, INT32_MAX);
        break;
    case KEY_FULL:
        eval->full = true;
        break;
    case KEY_PROFILE:
        eval->profile = (enum task_profile)one_of(state, "profile", text, &eval_profiles);
        break;
    case KEY_SYNC:
        eval->sync_given = true;
        eval->sync = (enum npu_sync)one_of(state, "sync", text, &eval_syncs);
        break;
    case KEY_SCHEDULE:
        parse_schedule(eval, text, state);
        break;
    case KEY_SEEDS:
        eval->orders = (int)cli_parse_number(state, "seeds", text, 0, 100000);
        break;
    case KEY_NO_TIMING:
        eval->no_timing = true;
        break;
    case KEY_STRICT_ORDER:
        eval->strict_order = true;
        break;
    case KEY_FIRST_FAILURE:
        eval->first_failure = true;
        break;
    case KEY_SEED:
        eval->input_seed = (uint64_t)cli_parse_number(state, "seed", text, 0, INT32_MAX);
        break;
    case KEY_INPUTS:
        eval->trials = (int)cli_parse_number(state, "inputs", text, 1, 1000);
        break;
    case KEY_TOLERANCE:
        one_of(state, "tolerance", text, &task_tolerances);
        eval->tolerance = text;
        break;
    case KEY_TIMEOUT:
        eval->case_seconds = (double)cli_parse_number(state, "timeout", text, 1, 86400);
        break;
    case KEY_CANDIDATE_SECONDS:
        eval->candidate_seconds = (double)cli_parse_number(state, "candidate-seconds", text, 1, 864000);
        break;
    case KEY_JOBS:
        eval->jobs = (int)cli_parse_number(state, "jobs", text, 1, 1024);
        break;
    case KEY_NO_CACHE:
        eval->no_cache = true;
        break;
    case KEY_REQUIRE_JAIL:
        eval->require_jail = true;
        break;
    case KEY_PLAIN_COMPILER:
        eval->plain_compiler = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp cli_eval_argp = {.options = options, .parser = parse_option};

static const struct argp_option language_options[] = {
    {"language", KEY_LANGUAGE, WORD_CHOICE(EVAL_LANGUAGES, ""), 0,
     "what an answer must be in to count, and what a model is asked for: an operator project in Ascend C, a program in "
     "AscendDSL, formulas, or any of them (default: a folder or a .py file counts in its own language, other answers "
     "as "
     "ascendc; --provider dsl: dsl, --provider lm: graph)",
     0},
    {0},
};

static error_t parse_language(int key, char *text, struct argp_state *state)
{
    struct eval_options *eval = state->input;
    if (key != KEY_LANGUAGE)
        return ARGP_ERR_UNKNOWN;
    const int value = words_find(&eval_languages, text);
    if (value < 0)
        argp_error(state, "--language: '%s' is none of ascendc, dsl, graph and any", text);
    eval->language = (enum eval_language)value; // NOLINT: a word of the table
    eval->language_given = true;
    return 0;
}

const struct argp cli_language_argp = {.options = language_options, .parser = parse_language};

static const struct argp_option baseline_options[] = {
    {"baseline", KEY_BASELINE, "eager|dir:PATH", 0,
     "what speedups are over: PyTorch's kernels as they are modelled (default), or a kernel for each task, which is "
     "evaluated "
     "as a candidate is; PATH as of a dir: provider, or of one task the kernel itself",
     0},
    {0},
};

static error_t parse_baseline(int key, char *text, struct argp_state *state)
{
    struct cli_baseline *baseline = state->input;
    if (key == KEY_BASELINE) {
        baseline->name = text;
        return 0;
    }
    if (key != ARGP_KEY_END)
        return ARGP_ERR_UNKNOWN;
    if (strcmp(baseline->name, BASELINE_EAGER) != 0 && (baseline->timed->no_timing || baseline->timed->random_order))
        argp_error(state, "--baseline: time is modelled in program order only, and not with --no-timing");
    return 0;
}

const struct argp cli_baseline_argp = {.options = baseline_options, .parser = parse_baseline};

struct eval_options cli_eval_defaults(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return (struct eval_options){
        .soc = &npu_socs[0],
        .mode = EVAL_DYNAMIC,
        .scope = EVAL_PROJECT,
        .profile = TASK_UPSTREAM,
        .only_case = -1,
        .jobs = processors > 0 ? (int)processors : 1,
    };
}

int cli_exit_code(enum akgen_verdict_kind kind)
{
    return kind == AKGEN_VERDICT_PASS          ? EXIT_PASS
           : kind == AKGEN_VERDICT_INFRA_ERROR ? EXIT_OWN_FAILURE
                                               : EXIT_OTHER_VERDICT;
}

struct akgen_error *cli_set_tolerance(struct arena *arena, const struct eval_options *eval, struct task *task)
{
    if (!eval->tolerance || task->broken)
        return NULL;
    if (eval->profile == TASK_STRICT)
        return error_new("--tolerance: the strict profile has limits of its own (docs/tasks.md)");
    struct akgen_error *error = task_set_tolerance(arena, task, eval->tolerance);
    return error ? error_prefix(error, "--tolerance") : NULL;
}

int cli_fail(int exit_code, struct akgen_error *error)
{
    const char *line = error->message;
    fputs("akgen: ", stderr);
    for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
        char *copy = strndup(line, (size_t)(end - line));
        cli_print_clean(stderr, copy);
        fputc('\n', stderr);
        free(copy);
    }
    cli_print_clean(stderr, line);
    fputc('\n', stderr);
    error_free(error);
    return exit_code;
}
