/* akgen gen TASK: from a task to a proved kernel. */
#include "base/clock.h"
#include "base/files.h"
#include "cli/cli.h"
#include "cli/gen_prompt.h"
#include "cli/model.h"
#include "dsl/dsl.h"
#include "gen/describe.h"
#include "gen/program.h"

#include <string.h>
#include <unistd.h>

#define EVIDENCE "evidence" /* the folder of a project with what proves it */

struct gen_arguments {
    struct eval_options eval;
    struct gen_model model;
    const char *task, *output, *description;
    bool yes, print_prompt, json;
};
enum { KEY_DESCRIBE = 0x500, KEY_PRINT_PROMPT, KEY_JSON, LONGEST_DESCRIPTION = 1 << 20 };

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "the folder of the project (default: the operator's name in snake case)", 1},
    {"describe", KEY_DESCRIBE, "FILE", 0,
     "in place of TASK: words and formulas (docs/gen.md), of which a task is drafted in DIR/task to be confirmed", 1},
    {"yes", 'y', NULL, 0, "--describe: take the draft as it is and go on", 1},
    {"print-prompt", KEY_PRINT_PROMPT, NULL, 0, "print what a model would be asked, and do nothing else", 1},
    {"json", KEY_JSON, NULL, 0, "--print-prompt: as the array of messages of a request", 1},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct gen_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->eval;
        state->child_inputs[1] = &arguments->model;
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
    case ARGP_KEY_ARG:
        if (arguments->task)
            argp_error(state, "too many arguments: '%s'", text);
        arguments->task = text;
        break;
    case ARGP_KEY_END:
        if (!arguments->task == !arguments->description)
            argp_error(state, "either TASK or --describe FILE is needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* A folder that is there already is overwritten only if this command made it. */
static struct akgen_error *make_folder(struct arena *arena, const char *dir)
{
    const char **paths;
    size_t count;
    const char *evidence = arena_printf(arena, "%s/" EVIDENCE, dir);
    struct akgen_error *error = files_list(arena, dir, &paths, &count);
    if (error)
        return error;
    if (count && access(evidence, F_OK) != 0)
        return error_new("%s holds files that are not of 'akgen gen'; -o names another folder", dir);
    return files_make_directory(evidence);
}

static struct akgen_error *keep_evidence(struct arena *arena, const char *dir, const struct gen_program *program,
                                         const struct verdict *verdict)
{
    json_t *json = verdict_to_json(verdict);
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    struct akgen_error *error =
        files_write(arena_printf(arena, "%s/" EVIDENCE "/program.py", dir), program->text, program->length);
    if (!error)
        error = files_write(arena_printf(arena, "%s/" EVIDENCE "/verdict.json", dir), text, strlen(text));
    free(text);
    json_decref(json);
    return error;
}

static void print_project(const struct gen_program *program, const struct dsl_lowered *lowered, const char *dir,
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
                                    int *code)
{
    const char *dir = arguments->output ? arguments->output : op_snake_case(arena, task->op_type);
    double start = clock_seconds();
    struct gen_program program;
    struct dsl_lowered lowered;
    struct dsl_messages messages = {0};
    struct verdict verdict;
    struct akgen_error *error = gen_program_of_task(arena, task, &program);
    *code = EXIT_OTHER_VERDICT;
    if (error)
        return error;
    bool compiled = gen_program_compile(arena, &program, task, &lowered, &messages, &error);
    dsl_messages_show(&messages);
    if (!compiled)
        return error;
    *code = EXIT_USAGE;
    if ((error = make_folder(arena, dir)))
        return error;
    *code = EXIT_OWN_FAILURE;
    if ((error = gen_program_write(arena, dir, &lowered)))
        return error;
    print_project(&program, &lowered, dir, clock_seconds() - start);
    if (isatty(STDERR_FILENO))
        arguments->eval.on_case = cli_print_progress;
    eval_run(task, dir, &arguments->eval, &verdict);
    struct cli_colors colors = cli_colors_for(stdout);
    cli_print_verdict(stdout, &verdict, &colors);
    error = keep_evidence(arena, dir, &program, &verdict);
    *code = error ? EXIT_OWN_FAILURE : cli_exit_code(verdict.kind);
    verdict_free(&verdict);
    return error;
}

/* True if what was understood is confirmed: by --yes, or by a person at a terminal. */
static bool is_confirmed(const struct gen_arguments *arguments)
{
    char answer[8];
    if (arguments->yes || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return arguments->yes;
    printf("Is that what is meant? [y/N] ");
    fflush(stdout);
    return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

/* Drafts the task of a description in the project's folder, which `arguments` have afterwards; goes on if it is confirmed. */
static struct akgen_error *describe(struct arena *arena, struct gen_arguments *arguments, bool *confirmed)
{
    struct gen_description *description;
    struct gen_draft draft;
    char *text;
    struct akgen_error *error = files_read(arena, arguments->description, LONGEST_DESCRIPTION, &text, NULL);
    if (!error)
        error = gen_description_read(arena, arguments->description, text, &description);
    if (error)
        return error;
    if (!arguments->output)
        arguments->output = op_snake_case(arena, gen_description_op(description));
    arguments->task = arena_printf(arena, "%s/task", arguments->output);
    error = make_folder(arena, arguments->output);
    error = error ? error : gen_description_draft(description, arguments->task, &draft);
    if (error)
        return error;
    printf("%s: %s\n%s\n%s", gen_description_op(description), draft.tensors, draft.formulas, draft.chosen);
    *confirmed = is_confirmed(arguments);
    if (!*confirmed)
        printf("%s holds the draft. To go on: akgen gen %s -o %s\n", arguments->task, arguments->task,
               arguments->output);
    return NULL;
}

int cli_gen(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_eval_argp, 0, NULL, 0}, {&cli_model_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "TASK\n--describe FILE",
        .doc =
            "Writes an operator project for TASK and proves it on the simulated NPU."
            "\vTASK is a name from 'akgen task list' or a task's directory. Its program in AscendDSL is compiled, or "
            "the "
            "one that the planner makes of its formulas. The project's folder gets evidence/ with the program and the "
            "verdict, by default of the strict profile. Exit code: 0 pass, 1 any other verdict, 2 wrong usage, 3 "
            "failure of akgen.",
        .children = children,
    };
    struct gen_arguments arguments = {.eval = cli_eval_defaults(), .model = cli_model_defaults()};
    struct arena arena = {0};
    struct task task;
    int code = EXIT_USAGE;
    arguments.eval.profile = TASK_STRICT;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    arena_adopt(&arena, &arguments.model.arena);
    bool confirmed = true;
    struct akgen_error *error = arguments.description ? describe(&arena, &arguments, &confirmed) : NULL;
    if (!confirmed) {
        arena_free(&arena);
        return EXIT_PASS;
    }
    if (!error)
        error = task_find(&arena, toolchain_home(), arguments.task, &task);
    if (!error && task.broken)
        error = error_new("%s", task.broken);
    if (!error)
        error = cli_check_case(&task, arguments.eval.only_case);
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
    if (!error)
        error = generate(&arena, &arguments, &task, &code);
    if (error)
        cli_fail(code, error);
    arena_free(&arena);
    return code;
}
