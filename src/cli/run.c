/* akgen run [TASK] DIR: one case of a candidate under the eyes of its author: with an instruction log, with its tensors
 * shown, or in a debugger. */
#include "candidate/folder.h"
#include "cli/cli.h"
#include "cli/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DUMPS = 32 };

struct dump_request {
    const char *name; /* of an input or output */
    const char *path; /* .npy file, NULL: print */
    bool found;
};
struct run_arguments {
    struct eval_options options;
    const char *words[2];
    int word_count;
    bool log, gdb;
    const char *log_path, *script;
    struct dump_request dumps[MAX_DUMPS];
    int dump_count;
    struct akgen_error *error; /* of a dump */
};

static void take_dump(void *run, char *text, const struct argp_state *state)
{
    struct run_arguments *arguments = run;
    if (arguments->dump_count == MAX_DUMPS)
        argp_error(state, "--dump: at most %d times", MAX_DUMPS);
    char *equals = strchr(text, '=');
    if (equals)
        *equals = '\0';
    arguments->dumps[arguments->dump_count++] = (struct dump_request){text, equals ? equals + 1 : NULL, false};
}

#define CLI_OF struct run_arguments
static const struct cli_option rows[] = {
    {"log", 0, "FILE", CLI_TEXT(log_path, CLI_ALSO(log), .flags = OPTION_ARG_OPTIONAL), 1,
     "log every instruction and synchronisation, one line each, to FILE (default: standard output)"},
    {"dump", 0, "NAME[=FILE]", CLI_CALL(take_dump, .flags = CLI_SEVERAL), 1,
     "after the run show input or output NAME, with what was expected where it differs; or write it to FILE as .npy. "
     "May be given several times"},
    {"gdb", 0, "SCRIPT", CLI_TEXT(script, CLI_ALSO(gdb), .flags = OPTION_ARG_OPTIONAL), 1,
     "run the kernel under gdb: compiled for debugging, stopped at its entry and where the machine ends the run. With "
     "SCRIPT gdb runs its commands and ends. There is no jail and no time limit: for kernels that you trust"},
    {NULL, 0, "DIR", CLI_LIST(words, word_count, .full = CLI_TOO_MANY, .needed = true), 0, NULL},
};

/* The task whose kernel is called as the one in `dir`. */
static struct akgen_error *task_of(struct arena *arena, const char *dir, struct task *task)
{
    struct op_project project;
    struct candidate_source source;
    struct akgen_error *error = candidate_source_read(arena, NULL, dir, &source);
    if (!error)
        error = op_project_find(arena, &source.files, NULL, false, &project);
    struct task *tasks = NULL;
    const struct task *found = NULL;
    int count = 0;
    if (!error)
        error = task_load_all(arena, toolchain_home(), &tasks, &count);
    for (int i = 0; i < count && !error; i++) {
        if (tasks[i].broken || strcmp(op_snake_case(arena, tasks[i].op_type), project.entry) != 0)
            continue;
        if (found)
            error = error_new("%s: the kernel '%s' may be of %s/%s or %s/%s; say which: akgen run TASK DIR", dir,
                              project.entry, found->suite, found->name, tasks[i].suite, tasks[i].name);
        found = &tasks[i];
    }
    if (error)
        return error;
    if (!found)
        return error_new("%s: no task has a kernel called '%s'; say which one it is for: akgen run TASK DIR", dir,
                         project.entry);
    *task = *found;
    return NULL;
}

/* The tensors of input or output `name`; NULL if there is none. */
static const struct task_argument *argument_of(const struct task_instance *instance, const struct task_argument *actual,
                                               const struct task_argument *expected, const char *name,
                                               const struct task_argument **wanted)
{
    const struct task *task = instance->task;
    *wanted = NULL;
    for (int i = 0; i < task->output_count; i++)
        if (strcmp(task->outputs[i].name, name) == 0) {
            *wanted = expected ? &expected[i] : NULL;
            return &actual[i];
        }
    for (int i = 0; i < task->input_count; i++)
        if (strcmp(task->inputs[i].name, name) == 0)
            return &instance->inputs[i];
    return NULL;
}

static void dump_all(void *closure, const struct task_instance *instance, const struct task_argument *actual,
                     const struct task_argument *expected)
{
    struct run_arguments *arguments = closure;
    for (int i = 0; i < arguments->dump_count; i++) {
        struct dump_request *request = &arguments->dumps[i];
        const struct task_argument *wanted, *found = argument_of(instance, actual, expected, request->name, &wanted);
        request->found = found != NULL;
        for (int t = 0; found && t < found->count && !arguments->error; t++) {
            const struct task_tensor *tensor = &found->tensors[t];
            if (!request->path)
                dump_print(stdout, request->name, tensor, wanted && t < wanted->count ? &wanted->tensors[t] : NULL);
            else if (found->count == 1)
                arguments->error = dump_write(request->path, tensor);
            else {
                char path[4096];
                snprintf(path, sizeof path, "%s.%d", request->path, t);
                arguments->error = dump_write(path, tensor);
            }
        }
    }
}

/* Where the log goes: a file, or a descriptor of standard output. */
static struct akgen_error *open_log(const struct run_arguments *arguments, int *fd)
{
    *fd = -1;
    if (!arguments->log)
        return NULL;
    fflush(stdout);
    *fd = arguments->log_path ? open(arguments->log_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644)
                              : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    return *fd < 0 ? error_new("%s: %s", arguments->log_path ? arguments->log_path : "the log", strerror(errno)) : NULL;
}

static struct akgen_error *check(const struct run_arguments *arguments, const struct task *task)
{
    for (int d = 0; d < arguments->dump_count; d++) {
        bool known = false;
        for (int i = 0; i < task->input_count; i++)
            known |= strcmp(task->inputs[i].name, arguments->dumps[d].name) == 0;
        for (int i = 0; i < task->output_count; i++)
            known |= strcmp(task->outputs[i].name, arguments->dumps[d].name) == 0;
        if (!known)
            return error_new("--dump: %s has no input or output '%s'; 'akgen task show %s' lists them", task->name,
                             arguments->dumps[d].name, task->name);
    }
    return task_require_case(task, arguments->options.only_case);
}

static int run(struct run_arguments *arguments)
{
    struct arena arena = {0};
    struct task task;
    const char *dir = arguments->words[arguments->word_count - 1];
    int log_fd = -1;
    struct akgen_error *error = arguments->word_count == 1
                                    ? task_of(&arena, dir, &task)
                                    : task_find(&arena, toolchain_home(), arguments->words[0], &task);
    if (!error)
        error = check(arguments, &task);
    if (!error)
        error = open_log(arguments, &log_fd);
    if (error) {
        arena_free(&arena);
        return cli_fail(EXIT_USAGE, error);
    }
    const struct job_debugger debugger = {.sources = dir, .script = arguments->script};
    const struct eval_debug debug = {.log_fd = log_fd,
                                     .trace_fd = -1,
                                     .debugger = arguments->gdb ? &debugger : NULL,
                                     .on_run = dump_all,
                                     .closure = arguments};
    arguments->options.debug = &debug;
    if ((error = eval_check_jail(&arguments->options))) {
        arena_free(&arena);
        return cli_fail(EXIT_OWN_FAILURE, error);
    }
    struct candidate candidate;
    struct verdict verdict;
    eval_read(&arena, &task, dir, &arguments->options, &candidate);
    eval_run(&candidate, &task, &arguments->options, &verdict);
    struct cli_colors colors = cli_colors_for(stdout);
    cli_print_verdict(stdout, &verdict, &colors);
    int code = cli_exit_code(verdict.kind);
    verdict_free(&verdict);
    arena_free(&arena);
    if (log_fd >= 0)
        close(log_fd);
    return arguments->error ? cli_fail(EXIT_OWN_FAILURE, arguments->error) : code;
}

int cli_run(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_eval_table, CLI_AT(options)}, {&cli_language_table, CLI_AT(options)}},
        .needs = "DIR is needed",
        .args_doc = "[TASK] DIR",
        .doc = "Runs one case of the operator project in DIR (--case, default 0) and shows what happened inside.\v"
               "Without TASK it is the one whose kernel is called as the one in DIR. The profile is upstream's: a case "
               "runs once. Exit code: as akgen eval.",
    };
    struct run_arguments arguments = {.options = cli_eval_defaults()};
    arguments.options.only_case = 0;
    cli_parse(&table, argc, argv, &arguments);
    return run(&arguments);
}
