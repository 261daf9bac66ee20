/* akgen gen TASK --optimise: before and after; and without a model, the constants of the program for which it is fastest. */
#include "base/files.h"
#include "cli/gen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETTINGS = 40, SECONDS = 300, CACHED_BYTES = 256 << 20 };

/* ---- Before and after */

void cli_print_times(const struct times *before, const struct times *after, bool faster, bool cycles)
{
    for (int i = 0; i < before->count; i++) {
        const struct times_case *const rows[] = {&before->cases[i], faster ? &after->cases[i] : NULL};
        printf("  case %d: ", rows[0]->id);
        for (int k = 0; k <= faster; k++) {
            printf("%s", k ? " -> " : "");
            if (cycles)
                printf("%.0f cycles, ", rows[k]->cycles);
            printf("%.2f us, bound by %s (%.0f %%)", rows[k]->us, rows[k]->bound,
                   100 * rows[k]->bound_us / rows[k]->us);
        }
        putchar('\n');
    }
}

void cli_print_faster(const struct times *before, const struct times *after, const char *stopped)
{
    double times = times_ratio(before, after);
    bool faster = times > 1;
    printf("optimise  modelled, geometric mean of %d case%s: %.2f us before", before->count,
           before->count == 1 ? "" : "s", before->mean_us);
    if (faster)
        printf(", %.2f us after, %.2f times as fast; %s\n", after->mean_us, times, stopped);
    else
        printf(", nothing faster was found; %s\n", stopped);
    if (before->speedup > 0 && faster)
        printf("          times as fast as eager, mean of the cases: %.2f before, %.2f after\n", before->speedup,
               after->speedup);
    cli_print_times(before, after, faster, false);
    fflush(stdout);
}

/* ---- Tuning */

static void print_setting(void *closure, const struct gen_subject *subject, const struct gen_setting *setting)
{
    printf("setting   ");
    cli_print_setting(closure, subject, setting);
}

static struct akgen_error *write_comparison(struct arena *arena, const char *dir, const struct times *before,
                                            const struct times *after, const char *stopped)
{
    json_t *json = times_compared_json(before, after);
    json_object_set_new(json, "stopped", json_string(stopped));
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    struct akgen_error *error =
        files_write(arena_printf(arena, "%s/" GEN_EVIDENCE "/optimise.json", dir), text, strlen(text));
    free(text);
    json_decref(json);
    return error;
}

/* Moves what proves the first project to evidence/before. */
static struct akgen_error *set_aside(struct arena *arena, const char *dir)
{
    static const char *const names[] = {"verdict.json", "program.py", GEN_TRACE};
    struct akgen_error *error = files_make_directory(arena_printf(arena, "%s/" GEN_EVIDENCE "/before", dir));
    for (size_t i = 0; i < sizeof names / sizeof *names && !error; i++)
        if (rename(arena_printf(arena, "%s/" GEN_EVIDENCE "/%s", dir, names[i]),
                   arena_printf(arena, "%s/" GEN_EVIDENCE "/before/%s", dir, names[i])) != 0 &&
            (errno != ENOENT || strcmp(names[i], GEN_TRACE) != 0))
            error = error_new("%s/" GEN_EVIDENCE "/%s: %m", dir, names[i]);
    return error;
}

/* Judges the tuned program as the first one was. True: it passes and is faster; `verdict` is the caller's either way. */
static bool confirm(struct arena *arena, const struct gen_arguments *arguments, const struct task *task,
                    const struct candidate *candidate, const struct times *before, struct times *after,
                    struct verdict *verdict)
{
    eval_run(candidate, task, &arguments->eval, verdict);
    speedup_add(task, NULL, verdict);
    if (times_of(arena, verdict, after) && times_faster(before, after))
        return true;
    verdict_free(verdict);
    return false;
}

/* Puts the tuned program in the first one's place, if it is right and faster. */
static struct akgen_error *replace(struct arena *arena, const struct gen_arguments *arguments, const struct task *task,
                                   const char *dir, const struct gen_setting *tuned, struct candidate_program *program,
                                   struct verdict *verdict, const struct times *before, struct times *after)
{
    struct candidate candidate = tuned->candidate;
    struct verdict confirmed;
    struct times times;
    candidate.name = dir;
    if (!confirm(arena, arguments, task, &candidate, before, &times, &confirmed))
        return NULL;
    verdict_free(verdict);
    *verdict = confirmed;
    *program = tuned->program;
    *after = times;
    struct akgen_error *error = set_aside(arena, dir);
    if (!error)
        error = op_files_write(dir, &candidate.files);
    return error ? error : cli_gen_evidence(arena, dir, program, task, verdict);
}

struct akgen_error *cli_gen_optimise(struct arena *arena, struct gen_arguments *arguments, const struct task *task,
                                     const char *dir, struct candidate_program *program, struct verdict *verdict)
{
    struct times before, after;
    struct gen_tuning tuning = {0};
    struct gen_subject *subject;
    struct eval_options *eval = &arguments->eval;
    const int budget = arguments->optimise_count ? arguments->optimise_count : SETTINGS;
    const double seconds = arguments->seconds > 0 ? arguments->seconds : SECONDS;
    if (!times_of(arena, verdict, &before)) {
        printf("optimise  the time of one of its cases is not known\n");
        return NULL;
    }
    after = before;
    eval->cache = eval_cache_create(CACHED_BYTES);
    const struct gen_tune_options options = {
        .eval = eval, .budget = budget, .seconds = seconds, .seen = print_setting, .closure = arena};
    struct akgen_error *error = gen_subject_of_program(arena, program, task, eval->soc, &subject);
    if (!error)
        error = gen_tune(arena, subject, task, &options, &tuning);
    const char *stopped = error ? arena_strdup(arena, error->message)
                                : arena_printf(arena, "%d setting%s tried", tuning.tried, tuning.tried == 1 ? "" : "s");
    error_free(error); /* nothing to tune: the program stays as it is, and why is printed */
    error = tuning.after.us < tuning.before.us
                ? replace(arena, arguments, task, dir, &tuning.after, program, verdict, &before, &after)
                : NULL;
    eval_cache_destroy(eval->cache);
    eval->cache = NULL;
    cli_print_faster(&before, &after, stopped);
    return error ? error : write_comparison(arena, dir, &before, &after, stopped);
}
