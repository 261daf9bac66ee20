/* The options that `akgen eval` and `akgen bench` share: how a candidate is evaluated. */
#include "cli/cli.h"
#include "eval/kernel_baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_take_soc(void *soc, char *text, const struct argp_state *state)
{
    if (!(*(const struct npu_soc **)soc = npu_soc_find(text)))
        argp_error(state, "--soc: no chip '%s'; 'akgen soc list' shows them", text);
}

void cli_take_ks(void *field, char *text, const struct argp_state *state)
{
    struct cli_ks *ks = field;
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

static void take_schedule(void *options, char *text, const struct argp_state *state)
{
    struct eval_options *eval = options;
    const char *in_order = eval_schedules.of[false], *random = eval_schedules.of[true];
    size_t length = strlen(random);
    eval->random_order = strncmp(text, random, length) == 0 && text[length] == ':';
    if (eval->random_order)
        eval->order_seed = (uint64_t)cli_parse_number(state, "schedule=random", text + length + 1, 0, INT32_MAX);
    else if (strcmp(text, in_order) != 0)
        argp_error(state, "--schedule: '%s' is neither %s nor %s:SEED", text, in_order, random);
}

static void take_tolerance(void *options, char *text, const struct argp_state *state)
{
    cli_parse_word(state, "tolerance", text, &task_tolerances, CLI_NEITHER);
    ((struct eval_options *)options)->tolerance = text;
}

void cli_take_salt(void *salt, char *text, const struct argp_state *state)
{
    if (!eval_is_salt(text))
        argp_error(state, "--salt: expected 1 to 256 printable characters");
    *(const char **)salt = text;
}

#define CLI_OF struct eval_options
static const struct cli_option eval_rows[] = {
    {"soc", 0, "NAME", CLI_CALL(cli_take_soc, .at = CLI_AT(soc)), 0,
     "chip to simulate (default Ascend910B2; 'akgen soc list')"},
    {"mode", 0, WORD_CHOICE(EVAL_MODES, ""), CLI_WORD(mode, eval_modes, CLI_NEITHER), 0,
     "one case per build, case 0 as upstream; or one build, all cases (default)"},
    {"scope", 0, WORD_CHOICE(EVAL_SCOPES, ""), CLI_WORD(scope, eval_scopes, CLI_NEITHER), 0,
     "the candidate is a kernel for the task's host part, or both (default)"},
    {"case", 0, "N", CLI_NUMBER(only_case, 0, INT32_MAX), 0, "only case N"},
    {"full", 0, NULL, CLI_FLAG(full), 0, "giant cases (over 2^24 elements) at full size"},
    {"profile", 0, WORD_CHOICE(EVAL_PROFILES, ""), CLI_WORD(profile, eval_profiles, CLI_NEITHER), 0,
     "the benchmark's own check (default; the strict limits where the task has none), or the float64 reference"},
    {"sync", 0, WORD_CHOICE(EVAL_SYNCS, ""), CLI_WORD(sync, eval_syncs, CLI_NEITHER, CLI_ALSO(sync_given)), 0,
     "--cce-auto-sync of the build (default: the candidate's CMakeLists, else auto)"},
    {"schedule", 0, WORD_CHOICE(EVAL_SCHEDULES, ":SEED"), CLI_CALL(take_schedule), 0,
     "order in which the pipes run (default inorder)"},
    {"seeds", 0, "N", CLI_NUMBER(orders, 0, 100000), 0,
     "run each case that is right under the schedules random:1 to random:N too; the first that differs is reported"},
    {"no-timing", 0, NULL, CLI_FLAG(no_timing), 0, "do not model the time that a launch would take (docs/timing.md)"},
    {"strict-order", 0, NULL, CLI_FLAG(strict_order), 0,
     "accesses that nothing orders are faults even where the result is the same whichever comes first"},
    {"first-failure", 0, NULL, CLI_FLAG(first_failure), 0, "begin no case behind the first that does not pass"},
    {"seed", 0, "N", CLI_NUMBER(input_seed, 0, INT32_MAX), 0, "seed of the inputs (default 0)"},
    {"inputs", 0, "N", CLI_NUMBER(trials, 1, 1000), 0,
     "inputs tried per case, seeds from --seed on (default: the suite's, 5 in multikernelbench, else 1; strict: 2)"},
    {"salt", 0, "TEXT", CLI_CALL(cli_take_salt, .at = CLI_AT(salt)), 0,
     "strict: what the inputs behind each case's first ones depend on; kept from who writes candidates, it keeps these "
     "inputs from "
     "them (default: none, inputs that everybody can look up; of a database its own)"},
    {"input-set", 0, "N", CLI_NUMBER(input_set, 1, EVAL_INPUT_SETS), 0,
     "strict: the first inputs are those of set N, 1 to 16, which a verdict names where they were not right"},
    {"tolerance", 0, WORD_CHOICE(TASK_TOLERANCES, ""), CLI_CALL(take_tolerance), 0,
     "multikernelbench's limit for the upstream profile (default 1e-2)"},
    {"timeout", 0, "SECONDS", CLI_NUMBER(case_seconds, 1, 86400), 0,
     "limit per case, should the steps that its size allows not end it (default 60): by the clock, less what its "
     "process waited for a processor"},
    {"candidate-seconds", 0, "SECONDS", CLI_NUMBER(candidate_seconds, 1, 864000), 0,
     "limit of all that is done for a candidate, compilers and cases together (default 600, or ten times --timeout if "
     "that is more; as much again for each of --seeds)"},
    {"jobs", 0, "N", CLI_NUMBER(jobs, 1, 1024), 0, "how much to do side by side (default: number of processors)"},
    {"no-cache", 0, NULL, CLI_FLAG(no_cache), 0, "compile even what is in the cache"},
    {"require-jail", 0, NULL, CLI_FLAG(require_jail), 0,
     "refuse to run on a machine that does not grant every layer of the jail ('akgen doctor' shows them)"},
    {"plain-compiler", 0, NULL, CLI_FLAG(plain_compiler), 0, "start clang for each compile and keep none running"},
};
const struct cli_table cli_eval_table = {CLI_ROWS(eval_rows)};

static const struct cli_option language_rows[] = {
    {"language", 0, WORD_CHOICE(EVAL_LANGUAGES, ""),
     CLI_WORD(language, eval_languages, CLI_NONE_OF_AND, CLI_ALSO(language_given)), 0,
     "what an answer must be in to count, and what a model is asked for: an operator project in Ascend C, a program in "
     "AscendDSL, formulas, or any of them (default: a folder or a .py file counts in its own language, other answers "
     "as ascendc; --provider dsl: dsl, --provider lm: graph)"},
};
const struct cli_table cli_language_table = {CLI_ROWS(language_rows)};

#undef CLI_OF
#define CLI_OF struct cli_baseline
static const struct cli_option baseline_rows[] = {
    {"baseline", 0, "eager|dir:PATH", CLI_TEXT(name), 0,
     "what speedups are over: PyTorch's kernels as they are modelled (default), or a kernel for each task, which is "
     "evaluated as a candidate is; PATH as of a dir: provider, or of one task the kernel itself"},
};

static void check_baseline(void *arguments, const struct argp_state *state)
{
    const struct cli_baseline *baseline = arguments;
    if (strcmp(baseline->name, BASELINE_EAGER) != 0 && (baseline->timed->no_timing || baseline->timed->random_order))
        argp_error(state, "--baseline: time is modelled in program order only, and not with --no-timing");
}

const struct cli_table cli_baseline_table = {CLI_ROWS(baseline_rows), .check = check_baseline};

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

int cli_end(struct akgen_error *error)
{
    return error ? cli_fail(error->of_the_file ? EXIT_USAGE : EXIT_OWN_FAILURE, error) : EXIT_PASS;
}
