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

enum {
    KEY_DESCRIBE = 0x500,
    KEY_PRINT_PROMPT,
    KEY_JSON,
    KEY_PROVIDER,
    KEY_ROUNDS,
    KEY_BEAM,
    KEY_DB,
    KEY_OPTIMISE,
    KEY_PATIENCE,
    KEY_ROOFLINE,
    KEY_MAX_SECONDS
};
enum { MOST_ROUNDS = 64, WIDEST_BEAM = 64, MOST_SETTINGS = 10000, MOST_SECONDS = 10000000 };

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "the folder of the project (default: the operator's name in snake case)", 1},
    {"describe", KEY_DESCRIBE, "FILE", 0,
     "in place of TASK: words and formulas (docs/gen.md), of which a task is drafted in DIR/task to be confirmed", 1},
    {"yes", 'y', NULL, 0, "--describe: take the draft as it is and go on", 1},
    {"provider", KEY_PROVIDER, "NAME", 0,
     "openai:URL, lm, lm:DIR or exec:COMMAND: a model writes it, although the task may have a program (docs/gen.md)",
     1},
    {"rounds", KEY_ROUNDS, "N", 0, "rounds in which the model mends its own code (default 3)", 1},
    {"beam", KEY_BEAM, "N", 0, "candidates that a round mends or makes faster (default 1)", 1},
    {"optimise", KEY_OPTIMISE, "N", OPTION_ARG_OPTIONAL,
     "make what passes faster by its modelled time: N rounds of the model (default 5); without a model N settings of "
     "the "
     "program's constants (default 40)",
     1},
    {"patience", KEY_PATIENCE, "N", 0, "--optimise: end after N rounds in a row that bring nothing faster (default 3)",
     1},
    {"roofline", KEY_ROOFLINE, "PERCENT", 0,
     "--optimise: end when each case is at this part of what memory or the launch allow (default 95)", 1},
    {"max-seconds", KEY_MAX_SECONDS, "N", 0,
     "limit of a run with a model (default none), of tuning without one (default 300)", 1},
    {"db", KEY_DB, "FILE", 0, "keep samples and verdicts in an SQLite file (docs/store.md)", 1},
    {"print-prompt", KEY_PRINT_PROMPT, NULL, 0, "print what a model would be asked, and do nothing else", 1},
    {"json", KEY_JSON, NULL, 0, "--print-prompt: as the array of messages of a request", 1},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct gen_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->child_inputs[1] = &arguments->eval;
        state->child_inputs[2] = &arguments->model;
        break;
    case 'o':
        arguments->output = text;
        break;
    case KEY_DESCRIBE:
        arguments->description = text;
        break;
    case 'y':
        arguments->yes = true;
        break;
    case KEY_PRINT_PROMPT:
        arguments->print_prompt = true;
        break;
    case KEY_JSON:
        arguments->json = true;
        break;
    case KEY_PROVIDER:
        arguments->provider = text;
        break;
    case KEY_ROUNDS:
        arguments->rounds = (int)cli_parse_number(state, "rounds", text, 0, MOST_ROUNDS);
        break;
    case KEY_BEAM:
        arguments->beam = (int)cli_parse_number(state, "beam", text, 1, WIDEST_BEAM);
        break;
    case KEY_OPTIMISE:
        arguments->optimise = true;
        arguments->optimise_count = text ? (int)cli_parse_number(state, "optimise", text, 1, MOST_SETTINGS) : 0;
        break;
    case KEY_PATIENCE:
        arguments->patience = (int)cli_parse_number(state, "patience", text, 1, MOST_ROUNDS);
        break;
    case KEY_ROOFLINE:
        arguments->roofline = (double)cli_parse_number(state, "roofline", text, 1, 100) / 100;
        break;
    case KEY_MAX_SECONDS:
        arguments->seconds = (double)cli_parse_number(state, "max-seconds", text, 1, MOST_SECONDS);
        break;
    case KEY_DB:
        arguments->db = text;
        break;
    case ARGP_KEY_ARG:
        if (arguments->task)
            argp_error(state, "too many arguments: '%s'", text);
        arguments->task = text;
        break;
    case ARGP_KEY_END:
        if (!arguments->task == !arguments->description)
            argp_error(state, "either TASK or --describe FILE is needed");
        if (arguments->provider && !gen_model_is_provider(arguments->provider))
            argp_error(
                state,
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
            !arguments->print_prompt && (cli_given_of(state, &cli_model_argp) || cli_given_of(state, &cli_server_argp));
        if (arguments->yes && !arguments->description)
            argp_error(state, "--yes is of --describe");
        if (!arguments->optimise && (cli_given(state, KEY_PATIENCE) || cli_given(state, KEY_ROOFLINE)))
            argp_error(state, "--patience and --roofline are of --optimise");
        if (!arguments->provider && (cli_given(state, KEY_ROUNDS) || cli_given(state, KEY_BEAM)))
            argp_error(state, "--rounds and --beam are of a model that mends its code: --provider says which");
        if (!arguments->provider && !arguments->optimise && arguments->seconds > 0)
            argp_error(state, "--max-seconds is of --provider or --optimise");
        if (arguments->provider && arguments->optimise_count > MOST_ROUNDS)
            argp_error(state, "--optimise: '%d' rounds are more than %d", arguments->optimise_count, MOST_ROUNDS);
        if (arguments->optimise && (arguments->eval.no_timing || arguments->eval.random_order))
            argp_error(state, "--optimise: time is modelled in program order only, and not with --no-timing");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
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
    static const struct argp_child children[] = {
        {&cli_eval_argp, 0, NULL, 0}, {&cli_language_argp, 0, NULL, 0}, {&cli_model_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "TASK\n--describe FILE",
        .doc =
            "Writes an operator project for TASK and proves it on the simulated NPU."
            "\vTASK is a name from 'akgen task list' or a task's directory. Its program in AscendDSL is compiled, or "
            "the one that the planner makes of its formulas; with --provider a model writes a project or a program and "
            "mends it by what its verdict says. --optimise makes a right one faster by its modelled time. The "
            "project's folder gets evidence/ with the program, the verdict, by default of the strict profile, and the "
            "modelled timeline of its longest case. Exit code: 0 pass, 1 any other verdict, 2 wrong usage, 3 "
            "failure of akgen.",
        .children = children,
    };
    struct gen_arguments arguments = {.eval = cli_eval_defaults(),
                                      .model = cli_model_defaults(),
                                      .rounds = 3,
                                      .beam = 1,
                                      .patience = 3,
                                      .roofline = 0.95};
    struct arena arena = {0};
    struct task task;
    int code = EXIT_USAGE;
    arguments.eval.profile = TASK_STRICT;
    cli_parse(&argp, argc, argv, &arguments);
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
