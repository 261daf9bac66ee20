/* akgen gen TASK: from a task to a proved kernel. */
#include "base/clock.h"
#include "base/files.h"
#include "cli/gen.h"
#include "cli/gen_prompt.h"
#include "cli/model.h"
#include "dsl/dsl.h"
#include "candidate/program.h"

#include <string.h>
#include <unistd.h>

enum { MOST_ROUNDS = 64, WIDEST_BEAM = 64, MOST_SETTINGS = 10000, MOST_SECONDS = 10000000 };

#define CLI_OF struct gen_arguments
static const struct cli_option rows[] = {
    {"output", 'o', "DIR", CLI_TEXT(output), 1,
     "the folder of the project (default: the operator's name in snake case)"},
    {"describe", 0, "FILE", CLI_TEXT(description), 1,
     "in place of TASK: words and formulas (docs/gen.md), of which a task is drafted in DIR/task to be confirmed"},
    {"yes", 'y', NULL, CLI_FLAG(yes), 1, "--describe: take the draft as it is and go on"},
    {"provider", 0, "NAME", CLI_TEXT(provider), 1,
     "openai:URL, lm, lm:DIR or exec:COMMAND: a model writes it, although the task may have a program (docs/gen.md)"},
    {"rounds", 0, "N", CLI_NUMBER(rounds, 0, MOST_ROUNDS), 1,
     "rounds in which the model mends its own code (default 3)"},
    {"beam", 0, "N", CLI_NUMBER(beam, 1, WIDEST_BEAM), 1, "candidates that a round mends or makes faster (default 1)"},
    {"optimise", 0, "N", CLI_NUMBER(optimise_count, 1, MOST_SETTINGS, CLI_ALSO(optimise), .flags = OPTION_ARG_OPTIONAL),
     1,
     "make what passes faster by its modelled time: N rounds of the model (default 5); without a model N settings of "
     "the program's constants (default 40)"},
    {"patience", 0, "N", CLI_NUMBER(patience, 1, MOST_ROUNDS), 1,
     "--optimise: end after N rounds in a row that bring nothing faster (default 3)"},
    {"roofline", 0, "PERCENT", CLI_NUMBER(roofline, 1, 100), 1,
     "--optimise: end when each case is at this part of what memory or the launch allow (default 95)"},
    {"max-seconds", 0, "N", CLI_NUMBER(seconds, 1, MOST_SECONDS), 1,
     "limit of a run with a model (default none), of tuning without one (default 300)"},
    {"db", 0, "FILE", CLI_TEXT(db), 1, "keep samples and verdicts in an SQLite file (docs/store.md)"},
    {"print-prompt", 0, NULL, CLI_FLAG(print_prompt), 1, "print what a model would be asked, and do nothing else"},
    {"json", 0, NULL, CLI_FLAG(json), 1, "--print-prompt: as the array of messages of a request"},
    {NULL, 0, "TASK", CLI_TEXT(task), 0, NULL},
};

static void check_arguments(void *gen, const struct argp_state *state)
{
    struct gen_arguments *arguments = gen;
    if (!arguments->task == !arguments->description)
        argp_error(state, "either TASK or --describe FILE is needed");
    if (arguments->provider && !gen_model_is_provider(arguments->provider))
        argp_error(state,
                   "--provider: '%s' is neither openai:URL, lm, lm:DIR nor exec:COMMAND; without a provider the task's "
                   "program or its formulas are the answer",
                   arguments->provider);
    if (!arguments->provider && arguments->model.endpoint.model)
        argp_error(state, "--model: --provider openai:URL says where the model is");
    if (!arguments->provider && arguments->db)
        argp_error(state, "--db keeps what a model answers: --provider says which");
    if (arguments->json && !arguments->print_prompt)
        argp_error(state, "--json is of --print-prompt; evidence/verdict.json has the verdict");
    arguments->model_given =
        !arguments->print_prompt && (cli_given_of(state, &cli_model_table) || cli_given_of(state, &cli_server_table));
    if (arguments->yes && !arguments->description)
        argp_error(state, "--yes is of --describe");
    if (!arguments->optimise && (cli_given(state, "patience") || cli_given(state, "roofline")))
        argp_error(state, "--patience and --roofline are of --optimise");
    if (!arguments->provider && (cli_given(state, "rounds") || cli_given(state, "beam")))
        argp_error(state, "--rounds and --beam are of a model that mends its code: --provider says which");
    if (!arguments->provider && !arguments->optimise && arguments->seconds > 0)
        argp_error(state, "--max-seconds is of --provider or --optimise");
    if (arguments->provider && arguments->optimise_count > MOST_ROUNDS)
        argp_error(state, "--optimise: '%d' rounds are more than %d", arguments->optimise_count, MOST_ROUNDS);
    if (arguments->optimise && (arguments->eval.no_timing || arguments->eval.random_order))
        argp_error(state, "--optimise: time is modelled in program order only, and not with --no-timing");
}

struct akgen_error *cli_gen_folder(struct arena *arena, const char *dir)
{
    static const char *const own[] = {"op_host", "op_kernel", "CMakeLists.txt", "program.map.json", GEN_EVIDENCE};
    const char **paths;
    size_t count;
    const char *evidence = arena_printf(arena, "%s/" GEN_EVIDENCE, dir);
    struct akgen_error *error = files_list(arena, dir, &paths, &count);
    if (error)
        return error;
    if (count && access(evidence, F_OK) != 0)
        return error_new("%s holds files that are not of 'akgen gen'; -o names another folder", dir);
    for (size_t i = 0; count && i < sizeof own / sizeof *own; i++) {
        const char *path = arena_printf(arena, "%s/%s", dir, own[i]);
        files_remove_tree(path);
        unlink(path);
    }
    return files_make_directory(evidence);
}

struct akgen_error *cli_gen_evidence(struct arena *arena, const char *dir, const struct candidate_program *program,
                                     const struct task *task, struct verdict *verdict)
{
    struct akgen_error *error = gen_trace_keep(arena, task, dir, verdict);
    json_t *json = verdict_to_json(verdict);
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    if (!error)
        error = files_write(arena_printf(arena, "%s/" GEN_EVIDENCE "/program.py", dir), program->text, program->length);
    if (!error)
        error = files_write(arena_printf(arena, "%s/" GEN_EVIDENCE "/verdict.json", dir), text, strlen(text));
    free(text);
    json_decref(json);
    return error;
}

void cli_gen_print_trace(const char *dir, const struct verdict_trace *trace)
{
    if (!trace->file)
        return;
    printf("trace     %s/" GEN_EVIDENCE "/" GEN_TRACE ": case %d, %.2f us, modelled", dir, trace->id, trace->us);
    if (trace->cut)
        printf("; cut at %d MiB", GEN_TRACE_BYTES >> 20);
    putchar('\n');
}

static void print_project(const struct candidate_program *program, const struct dsl_lowered *lowered, const char *dir,
                          double seconds)
{
    int lines = 0;
    for (size_t i = 0; i < program->length; i++)
        lines += program->text[i] == '\n';
    printf("program   %s, %d lines\nproject   %s:", program->path ? program->path : "written from the formulas", lines,
           dir);
    for (int i = 0; i < lowered->count; i++)
        printf(" %s", lowered->files[i].path);
    printf("; %.2f s\n", seconds);
    fflush(stdout);
}

/* The project of the task's program, judged; `code` is what the command ends with. */
static struct akgen_error *generate(struct arena *arena, struct gen_arguments *arguments, const struct task *task,
                                    const char *dir, int *code)
{
    double start = clock_seconds();
    struct candidate_program program;
    struct dsl_lowered lowered;
    struct dsl_messages messages = {0};
    struct candidate candidate;
    struct verdict verdict;
    struct akgen_error *error = candidate_program_of_task(arena, task, &program);
    *code = EXIT_USAGE;
    if (!error && arguments->eval.language_given)
        return error_new("--language says what a model answers in, and --provider names none");
    *code = EXIT_OTHER_VERDICT;
    if (error)
        return error_prefix(error, "without a model (--provider)");
    bool compiled = candidate_program_compile(arena, &program, task, &lowered, &messages, &error);
    dsl_messages_show(&messages);
    if (!compiled)
        return error;
    *code = EXIT_USAGE;
    if ((error = cli_gen_folder(arena, dir)))
        return error;
    *code = EXIT_OWN_FAILURE;
    candidate_of_program(arena, &lowered, &candidate);
    candidate.name = dir;
    if ((error = op_files_write(dir, &candidate.files)))
        return error;
    print_project(&program, &lowered, dir, clock_seconds() - start);
    if (isatty(STDERR_FILENO))
        arguments->eval.on_case = cli_print_progress;
    eval_run(&candidate, task, &arguments->eval, &verdict);
    speedup_add(task, NULL, &verdict);
    error = cli_gen_evidence(arena, dir, &program, task, &verdict);
    if (!error && arguments->optimise && verdict.kind == AKGEN_VERDICT_PASS)
        error = cli_gen_optimise(arena, arguments, task, dir, &program, &verdict);
    struct cli_colors colors = cli_colors_for(stdout);
    cli_gen_print_trace(dir, &verdict.trace);
    cli_print_verdict(stdout, &verdict, &colors);
    *code = error ? EXIT_OWN_FAILURE : cli_exit_code(verdict.kind);
    verdict_free(&verdict);
    return error;
}

/* A task without a program and without formulas is one for the model that AKGen brings along. */
static void ask_own_model(struct gen_arguments *arguments)
{
    enum { ANSWERS = 10 };
    arguments->provider = "lm";
    arguments->rounds = 0; /* it mends nothing */
    if (!arguments->model.samples)
        arguments->model.samples = ANSWERS;
    printf("model     no program and no formulas: the model in models/ is asked for %d answers\n",
           arguments->model.samples);
}

int cli_gen(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_eval_table, CLI_AT(eval)},
                  {&cli_language_table, CLI_AT(eval)},
                  {&cli_model_table, CLI_AT(model)}},
        .excess = CLI_TOO_MANY,
        .check = check_arguments,
        .args_doc = "TASK\n--describe FILE",
        .doc =
            "Writes an operator project for TASK and proves it on the simulated NPU."
            "\vTASK is a name from 'akgen task list' or a task's directory. Its program in AscendDSL is compiled, or "
            "the one that the planner makes of its formulas; with --provider a model writes a project or a program and "
            "mends it by what its verdict says. --optimise makes a right one faster by its modelled time. The "
            "project's folder gets evidence/ with the program, the verdict, by default of the strict profile, and the "
            "modelled timeline of its longest case. Exit code: 0 pass, 1 any other verdict, 2 wrong usage, 3 "
            "failure of akgen.",
    };
    struct gen_arguments arguments = {.eval = cli_eval_defaults(),
                                      .model = cli_model_defaults(),
                                      .rounds = 3,
                                      .beam = 1,
                                      .patience = 3,
                                      .roofline = 95};
    struct arena arena = {0};
    struct task task;
    int code = EXIT_USAGE;
    arguments.eval.profile = TASK_STRICT;
    cli_parse(&table, argc, argv, &arguments);
    arguments.eval.one_set = arguments.optimise;
    arena_adopt(&arena, &arguments.model.arena);
    bool confirmed = true;
    struct akgen_error *error = arguments.description ? cli_gen_describe(&arena, &arguments, &confirmed) : NULL;
    if (!confirmed) {
        arena_free(&arena);
        return EXIT_PASS;
    }
    if (!error)
        error = task_find(&arena, toolchain_home(), arguments.task, &task);
    if (!error && task.broken)
        error = error_new("%s", task.broken);
    if (!error)
        error = task_require_case(&task, arguments.eval.only_case);
    if (!error)
        error = cli_set_tolerance(&arena, &arguments.eval, &task);
    if (!error && arguments.print_prompt) {
        cli_model_take(&arguments.model, &arguments.eval);
        code = cli_gen_prompt(&arena, &task, &arguments.model.prompt, arguments.json);
        arena_free(&arena);
        return code;
    }
    if (!error) {
        code = EXIT_OWN_FAILURE;
        error = eval_check_jail(&arguments.eval);
    }
    const bool programmed = !error && !arguments.provider && candidate_program_exists(&task);
    if (programmed && arguments.model_given) {
        code = EXIT_USAGE;
        error = error_new("the task has a program or formulas, and no model is asked; options of one need --provider");
    } else if (!error && !arguments.provider && !programmed)
        ask_own_model(&arguments);
    const char *dir = error ? NULL : arguments.output ? arguments.output : op_snake_case(&arena, task.op_type);
    if (!error)
        error = (arguments.provider ? cli_gen_model : generate)(&arena, &arguments, &task, dir, &code);
    if (error)
        cli_fail(code, error);
    gen_model_free(&arguments.model);
    arena_free(&arena);
    return code;
}
