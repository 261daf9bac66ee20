/* What a program in AscendDSL costs from its text to the text of its project: parsing, checking and all passes, for every
 * task's own program, against parsing and checking alone. Processor time, best of several runs each; the aim is 5 ms a program.
 *
 *   dsl [OPERATOR]    of all tasks, or of that one alone
 *   dsl --lines       how long MultiKernelBench's programs are, and the projects that become of them; the aim is 60 lines on average */
#include "base/files.h"
#include "dsl/dsl.h"
#include "dsl/lower.h"
#include "candidate/program.h"
#include "task/task.h"
#include "toolchain/toolchain.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 5, LONGEST = 1 << 20 };

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Seconds from the text to the project (or, with `checks_only`, to the checked program); below 0: it does not compile. */
static double measure(const char *path, const struct task *task, bool checks_only)
{
    struct arena arena = {0};
    struct dsl_messages messages = {0};
    struct dsl_opdef opdef;
    struct dsl_lowered lowered;
    char *text;
    size_t length;
    struct akgen_error *error = files_read(&arena, path, LONGEST, &text, &length);
    double start = processor_seconds(), spent = -1;
    const struct dsl_tree *tree = error ? NULL : dsl_parse(&arena, path, text, length, &messages);
    const struct dsl_program *program = tree ? dsl_check(&arena, tree, &messages) : NULL;
    bool done = program && checks_only;
    if (program && !checks_only)
        error = dsl_opdef_of_task(&arena, program, task, &opdef);
    if (program && !checks_only && !error)
        done = dsl_lower(&arena, (struct dsl_tree *)tree, &opdef, DSL_PASSES_COUNT, &lowered, &messages);
    if (done)
        spent = processor_seconds() - start;
    error_free(error);
    arena_free(&arena);
    return spent;
}

static double best_of(const char *path, const struct task *task, bool checks_only)
{
    double best = measure(path, task, checks_only);
    for (int run = 1; run < RUNS && best >= 0; run++) {
        double again = measure(path, task, checks_only);
        best = again < best ? again : best;
    }
    return best;
}

static int lines_of(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Prints a row for the task; false: its program does not compile. */
static bool print_lines(const struct task *task, int *program_lines, int *project_lines)
{
    struct arena arena = {0};
    struct dsl_messages messages = {0};
    struct dsl_lowered lowered;
    struct candidate_program program;
    struct akgen_error *error = candidate_program_of_task(&arena, task, &program);
    bool done = !error && candidate_program_compile(&arena, &program, task, &lowered, &messages, &error);
    int project = 0;
    for (int i = 0; done && i < lowered.count; i++)
        project += strstr(lowered.files[i].path, ".cpp") || strstr(lowered.files[i].path, ".h")
                       ? lines_of(lowered.files[i].text)
                       : 0;
    if (done)
        printf("%-60s %7d %7d\n", task->name, lines_of(program.text), project);
    *program_lines += done ? lines_of(program.text) : 0;
    *project_lines += project;
    error_free(error);
    arena_free(&arena);
    return done;
}

static int print_all_lines(const struct task *tasks, int count)
{
    int programs = 0, program_lines = 0, project_lines = 0;
    printf("%-60s %7s %7s\n", "task", "program", "project");
    for (int i = 0; i < count; i++)
        programs +=
            strcmp(tasks[i].suite, "multikernelbench") == 0 && print_lines(&tasks[i], &program_lines, &project_lines);
    printf("%d programs: %.1f lines on average, their projects %.1f\n", programs, (double)program_lines / programs,
           (double)project_lines / programs);
    return programs == 0;
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct task *tasks;
    int count, programs = 0;
    double all = 0, checks = 0, longest = 0;
    const char *slowest = "";
    struct akgen_error *error = task_load_all(&arena, toolchain_home(), &tasks, &count);
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    if (argc > 1 && strcmp(argv[1], "--lines") == 0) {
        int failed = print_all_lines(tasks, count);
        arena_free(&arena);
        return failed;
    }
    for (int i = 0; i < count; i++) {
        const char *path = arena_printf(&arena, "%s/program.py", tasks[i].dir);
        if (argc > 1 && strcmp(argv[1], tasks[i].op) != 0)
            continue;
        double spent = access(path, R_OK) == 0 ? best_of(path, &tasks[i], false) : -1;
        if (spent < 0)
            continue;
        programs++;
        all += spent;
        checks += best_of(path, &tasks[i], true);
        if (spent > longest) {
            longest = spent;
            slowest = tasks[i].op;
        }
    }
    printf("%d programs: %.2f ms a program, at most %.2f ms (%s); %.1f times parsing and checking\n", programs,
           all * 1e3 / programs, longest * 1e3, slowest, all / checks);
    arena_free(&arena);
    return 0;
}
