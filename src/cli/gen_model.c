/* akgen gen TASK --provider NAME: a model writes a project and mends it. */
#include "cli/gen.h"
#include "cli/model.h"
#include "gen/repair.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { OPTIMISE_ROUNDS = 5 };

/* What a signal writes to; a handler has no other way to know it. */
static int stop_pipe[2] = {-1, -1};

static void ask_to_stop(int number)
{
    static const char says[] =
        "\nakgen: ending with the best so far, when the candidate that is being judged is done; once more: at once\n";
    (void)number;
    ssize_t written = write(stop_pipe[1], "", 1) + write(STDERR_FILENO, says, sizeof says - 1);
    (void)written;
}

/* The first Ctrl-C ends the run with the best so far, the second one the program. */
static void watch_signals(void)
{
    if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return;
    struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- Progress, on a terminal */

struct shown {
    struct gen_progress progress;
    bool terminal;
};

static void show(const struct shown *shown, const char *more)
{
    const struct gen_progress *progress = &shown->progress;
    if (!shown->terminal)
        return;
    fprintf(stderr, "\r\033[Kround %d of %d: %d of %d answers", progress->round, progress->rounds, progress->came,
            progress->asked);
    if (progress->found && progress->kind == AKGEN_VERDICT_PASS)
        fprintf(stderr, "; pass");
    else if (progress->found)
        fprintf(stderr, "; best: %s at stage %s, %d of %d cases right", akgen_verdict_kind_name(progress->kind),
                akgen_verdict_stage_name(progress->stage), progress->cases_passed, progress->cases_total);
    fprintf(stderr, "%s", more);
    fflush(stderr);
}

static void show_progress(void *closure, const struct gen_progress *progress)
{
    struct shown *shown = closure;
    shown->progress = *progress;
    show(shown, "");
}

static void show_case(void *closure, int done, int total)
{
    char more[64];
    snprintf(more, sizeof more, "; case %d of %d", done, total);
    show(closure, more);
}

/* ---- The summary */

static void print_round(void *closure, int round, const struct gen_round_sums *sums)
{
    const struct shown *shown = closure;
    const char *between = ": ";
    if (shown->terminal)
        fputs("\r\033[K", stderr);
    printf("round %-3d %d answer%s", round, sums->answers, sums->answers == 1 ? "" : "s");
    for (int kind = 0; kind < 8; kind++)
        if (sums->kinds[kind]) {
            printf("%s%d %s", between, sums->kinds[kind], akgen_verdict_kind_name((enum akgen_verdict_kind)kind));
            between = ", ";
        }
    if (sums->same)
        printf("; %d the same as before", sums->same);
    if (sums->failures)
        printf("; %d not answered", sums->failures);
    if (sums->best)
        printf("; best so far: %s", sums->best);
    putchar('\n');
    fflush(stdout);
}

static void print_sums(const struct gen_arguments *arguments, const struct gen_repair_outcome *outcome)
{
    const struct gen_endpoint *endpoint = &arguments->model.endpoint;
    printf("model     %s%s%s: %d request%s", endpoint->model ? endpoint->model : "", endpoint->model ? " at " : "",
           endpoint->url ? endpoint->url : arguments->provider, outcome->requests, outcome->requests == 1 ? "" : "s");
    if (outcome->failures) {
        printf(", %d failed (", outcome->failures);
        cli_print_clean(stdout, outcome->last_failure);
        putchar(')');
    }
    printf(", %lld + %lld tokens%s", (long long)outcome->prompt_tokens, (long long)outcome->completion_tokens,
           outcome->estimated ? " (estimated in part)" : "");
    if (outcome->cost > 0)
        printf(", cost %.4g", outcome->cost);
    printf(", %.1f s\n", outcome->seconds);
}

static void print_outcome(const struct gen_arguments *arguments, const char *dir,
                          const struct gen_repair_outcome *outcome)
{
    struct cli_colors colors = cli_colors_for(stdout);
    print_sums(arguments, outcome);
    if (!outcome->found)
        return;
    printf("project   %s:", dir);
    for (const char *const *file = outcome->files; *file; file++)
        printf(" %s", *file);
    if (!*outcome->files)
        printf(" nothing, no answer has code");
    printf("; sample %d, round %d", outcome->sample, outcome->round);
    if (outcome->parent >= 0)
        printf(", %s sample %d", outcome->made_faster ? "made of" : "mends", outcome->parent);
    printf("\nevidence  %s/" GEN_EVIDENCE "\n", dir);
    cli_gen_print_trace(dir, &outcome->verdict.trace);
    const struct gen_faster *faster = &outcome->faster;
    if (faster->began)
        cli_print_faster(&faster->times_before, &faster->times_after, faster->stopped);
    cli_print_verdict(stdout, &outcome->verdict, &colors);
    if (outcome->verdict.kind != AKGEN_VERDICT_PASS)
        printf("%sThe project does not pass%s, and is the best of what came; %s.\n", colors.bad, colors.off,
               outcome->stopped);
}

struct akgen_error *cli_gen_model(struct arena *arena, struct gen_arguments *arguments, const struct task *task,
                                  const char *dir, int *code)
{
    struct shown shown = {.terminal = isatty(STDERR_FILENO)};
    struct gen_repair_outcome outcome = {0};
    struct gen_repair_options options = {.model = &arguments->model,
                                         .eval = &arguments->eval,
                                         .rounds = arguments->rounds,
                                         .beam = arguments->beam,
                                         .seconds = arguments->seconds,
                                         .dir = dir,
                                         .on_progress = show_progress,
                                         .on_round = print_round,
                                         .closure = &shown};
    if (arguments->optimise)
        options.faster = (struct gen_faster_options){.rounds = arguments->optimise_count ? arguments->optimise_count
                                                                                         : OPTIMISE_ROUNDS,
                                                     .patience = arguments->patience,
                                                     .roofline = arguments->roofline / 100};
    *code = EXIT_USAGE;
    cli_model_take(&arguments->model, &arguments->eval);
    struct akgen_error *error = cli_model_provider(&arguments->model, arguments->provider);
    cli_model_judge(&arguments->model, &arguments->eval);
    if (!error && arguments->db)
        error = store_open(arguments->db, &options.store);
    if (!error)
        error = cli_gen_folder(arena, dir);
    if (error)
        return error;
    *code = EXIT_OWN_FAILURE;
    arguments->eval.on_case = show_case;
    arguments->eval.closure = &shown;
    watch_signals();
    options.stop = stop_pipe[0];
    error = gen_repair(arena, task, &options, &outcome);
    if (shown.terminal)
        fputs("\r\033[K", stderr);
    print_outcome(arguments, dir, &outcome);
    if (outcome.found) {
        *code = cli_exit_code(outcome.verdict.kind);
        verdict_free(&outcome.verdict);
    }
    if (options.store)
        store_close(options.store);
    return error;
}
