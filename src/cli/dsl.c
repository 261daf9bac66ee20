/* akgen dsl check | fmt | run | build | explain FILE.., write TASK: programs in AscendDSL. */
#include "base/files.h"
#include "candidate/candidate.h"
#include "candidate/response.h"
#include "cli/cli.h"
#include "cli/dsl_cases.h"
#include "cli/dsl_verify.h"
#include "dsl/bind.h"
#include "dsl/dsl.h"
#include "dsl/exemplar.h"
#include "dsl/explain.h"
#include "dsl/lower.h"
#include "dsl/prove.h"
#include "dsl/sizes.h"
#include "dsl/specialise.h"
#include "dsl/trials.h"
#include "dsl/write.h"
#include "toolchain/toolchain.h"

#include <string.h>
#include <unistd.h>

enum { PROGRAMS_MAX = 1024, LONGEST_FILE = 4 << 20 };

/* Inputs of cases that are interpreted for `check`, and before `build`. */
enum { CHECK_ELEMENTS = 4 << 20, BUILD_ELEMENTS = 1 << 14 };

struct dsl_arguments {
    bool json, check, hidden, print, verify, verbose, lines, unchecked;
    const char *task, *output, *response, *category;
    enum dsl_pass last; /* build: DSL_PASSES_COUNT: all */
    long only_case;     /* -1: all */
    long static_case;   /* build: the case that the kernel is for alone; -1: it is for any */
    const char *command, *files[PROGRAMS_MAX];
    int count;
};

static void take_static(void *dsl, char *text, const struct argp_state *state)
{
    struct dsl_arguments *arguments = dsl;
    arguments->only_case = arguments->static_case = cli_parse_number(state, "static", text, 0, INT32_MAX);
}

static void take_pass(void *last, char *text, const struct argp_state *state)
{
    *(enum dsl_pass *)last = dsl_pass_find(text);
    if (*(enum dsl_pass *)last == DSL_PASSES_COUNT)
        argp_error(state, "--stop-after %s: there is no such pass", text);
}

#define CLI_OF struct dsl_arguments
static const struct cli_option rows[] = {
    {"json", 0, NULL, CLI_FLAG(json, .of = "check, explain, exemplars"), 0,
     "check, explain, exemplars: print it as JSON"},
    {"check", 0, NULL, CLI_FLAG(check, .of = "fmt"), 0,
     "fmt: name the files that are formatted otherwise and change none"},
    {"verbose", 'v', NULL, CLI_FLAG(verbose, .of = "check"), 0,
     "check: say of each store whether it is proved that its parts cover the tensor once"},
    {"task", 0, "TASK", CLI_TEXT(task, .of = "check, run, build, explain, exemplars"), 0,
     "check, run, build, explain: the task whose cases the program computes; exemplars: the one that they are for"},
    {"category", 0, "CATEGORY", CLI_TEXT(category, .of = "exemplars"), 0, "exemplars: those of this category alone"},
    {"output", 'o', "DIR", CLI_TEXT(output, .of = "build, write"), 0,
     "build: the folder of the project; write: the file of the program"},
    {"stop-after", 0, "PASS", CLI_CALL(take_pass, .at = CLI_AT(last), CLI_ALSO(print), .of = "build"), 0,
     "build: print what this pass leaves: tiling, init, align, process, types, pipeline, sync"},
    {"response", 0, "FILE", CLI_TEXT(response, .of = "build"), 0,
     "build: write an answer in MultiKernelBench's format (docs/answers.md)"},
    {"print", 0, NULL, CLI_FLAG(print, .of = "build"), 0, "build: print the project's files"},
    {"verify", 0, NULL, CLI_FLAG(verify, .of = "build"), 0,
     "build: run the project on the task's cases and compare with what the interpreter computes"},
    {"static", 0, "N", CLI_CALL(take_static, .of = "build"), 0,
     "build: a kernel for case N alone and the task's given host part, as akgen eval --scope kernel --mode static "
     "--case N wants it"},
    {"unchecked", 0, NULL, CLI_FLAG(unchecked, .of = "build"), 0,
     "build: do not interpret the program before, on sizes that nothing divides and small cases"},
    {"line-directives", 0, NULL, CLI_FLAG(lines, .of = "build"), 0,
     "build: #line directives lead what reads the project to the program"},
    {"case", 0, "N", CLI_NUMBER(only_case, 0, INT32_MAX, .of = "check, run, build, explain"), 0,
     "check, run, build, explain: that case alone"},
    {"hidden", 0, NULL, CLI_FLAG(hidden, .of = "run"), 0,
     "run: also with other values, and the hidden cases of other sizes and values"},
    {NULL, 0, "COMMAND", CLI_TEXT(command), 0, NULL},
    {NULL, 0, "files", CLI_LIST(files, count), 0, NULL},
};

/* A file's text; "-" is the standard input. */
static struct akgen_error *read_text(struct arena *arena, const char *path, char **text, size_t *length)
{
    if (strcmp(path, "-") != 0)
        return files_read(arena, path, LONGEST_FILE, text, length);
    struct text all = {0};
    char part[1 << 14];
    size_t got;
    while ((got = fread(part, 1, sizeof part, stdin)) > 0 && all.length <= LONGEST_FILE)
        text_append(&all, part, got);
    *text = arena_strndup(arena, all.bytes ? all.bytes : "", all.length);
    *length = all.length;
    text_free(&all);
    return NULL;
}

/* A file that a command was given, read once. */
struct program_text {
    const char *path;
    char *text;
    size_t length;
    const struct dsl_tree *tree; /* NULL: `messages` say why */
    struct dsl_messages messages;
};

/* What a command does with one file; the exit code. `all`: the messages of all files as JSON, NULL without --json. */
typedef int on_file(struct arena *arena, const struct dsl_arguments *arguments, struct program_text *program,
                    json_t *all);

static int format_file(struct arena *arena, const struct dsl_arguments *arguments, struct program_text *program,
                       json_t *all)
{
    struct akgen_error *error = NULL;
    (void)all;
    dsl_messages_show(&program->messages);
    if (!program->tree)
        return EXIT_OTHER_VERDICT;
    const char *formatted = dsl_format(arena, program->tree);
    bool same = strlen(formatted) == program->length && memcmp(formatted, program->text, program->length) == 0;
    if (arguments->check) {
        if (!same)
            printf("%s\n", program->path);
        return same ? EXIT_PASS : EXIT_OTHER_VERDICT;
    }
    if (strcmp(program->path, "-") == 0)
        fputs(formatted, stdout);
    else if (!same)
        error = files_write(program->path, formatted, strlen(formatted));
    return error ? cli_fail(EXIT_OWN_FAILURE, error) : EXIT_PASS;
}

/* "FILE:21:16: y: proved: stores the elements before x.numel(), each once" */
static void print_stores(const char *path, const struct dsl_stores *stores)
{
    for (int i = 0; i < stores->count; i++) {
        const struct dsl_store *store = &stores->items[i];
        printf("%s:%d:%d: %s: ", path, store->place.line, store->place.column,
               store->tensor ? store->tensor : "a list");
        if (store->proved)
            printf("proved: stores the elements before %s, each once\n", store->extent);
        else
            printf("on cases\n");
    }
}

/* The program, which is right, from its text once more: the compiler's passes use up a tree. */
static const struct dsl_program *checked_anew(struct arena *arena, const struct program_text *text)
{
    struct dsl_messages none = {.arena = arena};
    return dsl_check(arena, dsl_parse(arena, text->path, text->text, text->length, &none), &none);
}

/* What the compiler says of a program that is right: for the task, or, where there is none, for the operator that its text shows. That
 * one's data types may not be those that are meant, unless all are written: then it is a warning. */
static struct akgen_error *check_compiles(struct arena *arena, const struct task *task, const struct program_text *text,
                                          struct dsl_messages *messages)
{
    struct dsl_messages found = {.arena = arena};
    struct dsl_opdef opdef;
    struct dsl_lowered lowered;
    const struct dsl_program *program = checked_anew(arena, text);
    struct akgen_error *error =
        task ? dsl_opdef_of_task(arena, program, task, &opdef) : dsl_opdef_of_program(arena, program, &opdef);
    if (error && task)
        return error;
    bool known = task || dsl_types_are_written(program);
    if (!error && !dsl_lower(arena, (struct dsl_tree *)program->tree, &opdef, DSL_PASSES_COUNT, &lowered, &found) &&
        found.count) {
        const struct dsl_message *message = dsl_messages_error(&found);
        /* Of types that are open float32 may be the one that is not meant. */
        if (known || message->rule != DSL_RULE_types)
            (known ? dsl_complain : dsl_warn)(messages, message->place, message->rule, message->remedy, "%s%s",
                                              known ? "" : "with tensors of float32: ", message->text);
    }
    error_free(error);
    return NULL;
}

/* What goes wrong on sizes that nothing divides, and in the task's cases that have at most so many elements. */
static struct akgen_error *try_program(struct arena *arena, const struct dsl_arguments *arguments,
                                       const struct dsl_program *program, const struct task *task, int64_t elements,
                                       struct dsl_messages *messages)
{
    dsl_try_sizes(arena, program, npu_socs, messages);
    return task && !messages->count ? dsl_trials_try(arena, program, task, (int)arguments->only_case,
                                                     elements == CHECK_ELEMENTS, elements, messages)
                                    : NULL;
}

static int check_file(struct arena *arena, const struct dsl_arguments *arguments, struct program_text *program,
                      json_t *all)
{
    struct dsl_messages *messages = &program->messages;
    const struct dsl_program *checked = program->tree ? dsl_check(arena, program->tree, messages) : NULL;
    struct task *task = checked && arguments->task ? arena_alloc(arena, sizeof *task) : NULL;
    struct akgen_error *error = task ? task_find(arena, toolchain_home(), arguments->task, task) : NULL;
    if (!error && checked)
        error = try_program(arena, arguments, checked, task, CHECK_ELEMENTS, messages);
    if (!error && checked && !messages->count)
        error = check_compiles(arena, task, program, messages);
    if (error)
        return cli_fail(EXIT_OTHER_VERDICT, error_prefix(error, "%s", program->path));
    const struct dsl_stores stores = checked ? dsl_prove_stores(arena, checked) : (struct dsl_stores){0};
    if (all)
        json_array_append_new(all,
                              json_pack("{s:s, s:i, s:o, s:o}", "file", program->path, "errors", messages->count,
                                        "messages", dsl_messages_json(messages), "stores", dsl_stores_json(&stores)));
    else
        dsl_messages_show(messages);
    if (arguments->verbose && !all)
        print_stores(program->path, &stores);
    return messages->count ? EXIT_OTHER_VERDICT : EXIT_PASS;
}

static int run_file(struct arena *arena, const struct dsl_arguments *arguments, struct program_text *text, json_t *all)
{
    struct task task;
    struct akgen_error *error = NULL;
    (void)all;
    if (!arguments->task)
        error = error_new("run: --task says which task's cases the program computes");
    if (!error)
        error = task_find(arena, toolchain_home(), arguments->task, &task);
    if (!error && arguments->only_case >= 0)
        error = task_require_case(&task, (int)arguments->only_case);
    if (error)
        return cli_fail(EXIT_USAGE, error);
    const struct dsl_program *program = text->tree ? dsl_check(arena, text->tree, &text->messages) : NULL;
    if (!program) {
        dsl_messages_show(&text->messages);
        return EXIT_OTHER_VERDICT;
    }
    return dsl_cases_run(arena, program, &task, (int)arguments->only_case, arguments->hidden, &text->messages);
}

static void print_project(struct arena *arena, const struct dsl_lowered *lowered)
{
    if (!lowered->count)
        fputs(dsl_format(arena, lowered->tree), stdout);
    for (int i = 0; i < lowered->count; i++)
        printf("%s==> %s <==\n%s", i ? "\n" : "", lowered->files[i].path, lowered->files[i].text);
}

static struct akgen_error *write_response(struct arena *arena, const char *path, const struct dsl_lowered *lowered,
                                          const struct dsl_opdef *opdef)
{
    const char *answer;
    struct akgen_error *error = op_response_of_program(arena, lowered, opdef, &answer);
    return error ? error : files_write(path, answer, strlen(answer));
}

/* Whether something goes wrong in a program that compiles, which is said; --verify, which compares, says it itself. Warnings are
 * for `check`. */
static bool goes_wrong(struct arena *arena, const struct dsl_arguments *arguments, const struct program_text *text,
                       const struct task *task)
{
    struct dsl_messages found = {.arena = arena, .path = text->path, .source = text->text}, errors = found;
    if (arguments->unchecked || arguments->verify)
        return false;
    error_free(try_program(arena, arguments, checked_anew(arena, text), task, BUILD_ELEMENTS, &found));
    for (int i = 0; i < found.kept; i++)
        if (!found.items[i].warning)
            dsl_complain(&errors, found.items[i].place, found.items[i].rule, found.items[i].remedy, "%s",
                         found.items[i].text);
    dsl_messages_show(&errors);
    return errors.count;
}

static int build_file(struct arena *arena, const struct dsl_arguments *arguments, struct program_text *text,
                      json_t *all)
{
    struct task task;
    struct dsl_opdef opdef;
    struct dsl_lowered lowered;
    struct akgen_error *error = NULL;
    (void)all;
    if (!arguments->task && (arguments->verify || arguments->static_case >= 0))
        error = error_new("build: --task says whose cases %s wants", arguments->verify ? "--verify" : "--static");
    if (!error && !arguments->print && !arguments->output && !arguments->response && !arguments->verify)
        error = error_new("build: -o DIR says where the project goes, --response FILE an answer, --print shows it, "
                          "--verify tries it");
    if (!error && arguments->task)
        error = task_find(arena, toolchain_home(), arguments->task, &task);
    if (!error && arguments->last != DSL_PASSES_COUNT &&
        (arguments->output || arguments->response || arguments->verify))
        error =
            error_new("build: what --stop-after leaves is printed; there is no project for -o, --response or --verify");
    if (!error && arguments->static_case >= 0 && arguments->response)
        error = error_new("build: an answer has a host part, --static N has none");
    if (!error && (arguments->verify || arguments->static_case >= 0))
        error = task_require_case(&task, (int)arguments->only_case);
    if (error)
        return cli_fail(EXIT_USAGE, error);
    const struct dsl_program *program = text->tree ? dsl_check(arena, text->tree, &text->messages) : NULL;
    error = !program          ? NULL
            : arguments->task ? dsl_opdef_of_task(arena, program, &task, &opdef)
                              : dsl_opdef_of_program(arena, program, &opdef);
    if (error)
        return cli_fail(EXIT_OTHER_VERDICT, error_prefix(error, "%s", text->path));
    bool specialised = program && arguments->static_case >= 0;
    if (specialised && (error = dsl_specialise(arena, (struct dsl_tree *)text->tree, &task, (int)arguments->static_case,
                                               npu_socs, &opdef, &text->messages)))
        return cli_fail(EXIT_OTHER_VERDICT, error);
    bool built = program && !text->messages.count &&
                 dsl_lower(arena, (struct dsl_tree *)text->tree, &opdef, arguments->last, &lowered, &text->messages);
    dsl_messages_show(&text->messages);
    if (!built || (lowered.count && goes_wrong(arena, arguments, text, arguments->task ? &task : NULL)))
        return EXIT_OTHER_VERDICT;
    if (arguments->lines)
        dsl_line_directives(arena, &lowered);
    if (arguments->print || !lowered.count)
        print_project(arena, &lowered);
    if (!lowered.count)
        return EXIT_PASS;
    if (arguments->response && (error = write_response(arena, arguments->response, &lowered, &opdef)))
        return cli_fail(EXIT_OWN_FAILURE, error);
    if (!arguments->output && !arguments->verify)
        return EXIT_PASS;
    struct candidate candidate;
    candidate_of_program(arena, &lowered, &candidate);
    if (arguments->output && (error = op_files_write(arguments->output, &candidate.files)))
        return cli_fail(EXIT_OWN_FAILURE, error);
    return arguments->verify ? dsl_verify(checked_anew(arena, text), &task, &candidate, (int)arguments->only_case,
                                          arguments->static_case >= 0)
                             : EXIT_PASS;
}

/* Says what was found: as JSON in `about`, or, where that is NULL, on standard output. */
static void tell(const struct dsl_explanation *explanation, json_t *about)
{
    struct text told = {0};
    if (about)
        json_object_set_new(about, "statements", dsl_explanation_json(explanation));
    else
        dsl_explanation_print(explanation, &told);
    fputs(told.bytes ? told.bytes : "", stdout);
    text_free(&told);
}

/* What the program does in the task's cases, one after the other. */
static struct akgen_error *explain_cases(const struct dsl_arguments *arguments, const struct program_text *text,
                                         const struct task *task, const struct dsl_opdef *opdef,
                                         const struct dsl_explanation *project, json_t *cases)
{
    struct arena arena = {0};
    const struct dsl_program *program = checked_anew(&arena, text);
    struct dsl_binding *bindings;
    struct akgen_error *error = dsl_bind(&arena, program, task, &bindings);
    for (int i = 0; !error && i < task->case_count; i++) {
        struct arena room = {0};
        struct dsl_explanation explanation = {.arena = &room};
        struct task_instance *instance;
        if (arguments->only_case >= 0 && task->cases[i].id != arguments->only_case)
            continue;
        if ((error = task_instance_shapes(task, &task->cases[i], &instance)))
            break;
        dsl_explain_case(program, bindings, opdef, instance, npu_socs, project, &explanation);
        json_t *about = cases ? json_pack("{s:i}", "case", task->cases[i].id) : NULL;
        if (cases)
            json_array_append_new(cases, about);
        else
            printf("\ncase %d\n", task->cases[i].id);
        tell(&explanation, about);
        dsl_explanation_free(&explanation);
        task_instance_free(instance);
        arena_free(&room);
    }
    arena_free(&arena);
    return error;
}

/* Compiles the program for the task and says why the project is as it is, and what it does in cases; `about` gets it as JSON,
 * unless it is NULL. */
static int explain_program_of(struct arena *arena, const struct dsl_arguments *arguments, struct program_text *text,
                              const struct task *task, json_t *about)
{
    struct dsl_opdef opdef;
    struct dsl_explanation explanation = {.arena = arena};
    const struct dsl_program *program = text->tree ? dsl_check(arena, text->tree, &text->messages) : NULL;
    struct akgen_error *error = program ? dsl_opdef_of_task(arena, program, task, &opdef) : NULL;
    if (error)
        return cli_fail(EXIT_OTHER_VERDICT, error);
    bool good = program && dsl_explain(arena, (struct dsl_tree *)text->tree, &opdef, &explanation, &text->messages);
    dsl_messages_show(&text->messages);
    if (good)
        tell(&explanation, about);
    if (good && (arguments->task || arguments->only_case >= 0)) {
        json_t *cases = about ? json_array() : NULL;
        error = explain_cases(arguments, text, task, &opdef, &explanation, cases);
        if (about)
            json_object_set_new(about, "cases", cases);
    }
    dsl_explanation_free(&explanation);
    return error ? cli_fail(EXIT_OWN_FAILURE, error) : good ? EXIT_PASS : EXIT_OTHER_VERDICT;
}

static int explain_file(struct arena *arena, const struct dsl_arguments *arguments, struct program_text *text,
                        json_t *all)
{
    struct task task;
    const char *slash = strrchr(text->path, '/');
    const char *beside = slash ? arena_strndup(arena, text->path, (size_t)(slash - text->path)) : ".";
    struct akgen_error *error = task_find(arena, toolchain_home(), arguments->task ? arguments->task : beside, &task);
    if (!error && arguments->only_case >= 0)
        error = task_require_case(&task, (int)arguments->only_case);
    if (error && !arguments->task)
        error = error_prefix(error, "explain: --task says which operator the program is; none lies beside it");
    if (error)
        return cli_fail(EXIT_USAGE, error);
    json_t *about = all ? json_pack("{s:s, s:s}", "file", text->path, "task", task.name) : NULL;
    int code = explain_program_of(arena, arguments, text, &task, about);
    if (about)
        json_array_append_new(all, about);
    return code;
}

/* akgen dsl write TASK: the program that the planner makes of the task's formulas. */
static int write_program(const struct dsl_arguments *arguments)
{
    struct arena arena = {0};
    struct task task;
    const char *program;
    struct akgen_error *error = task_find(&arena, toolchain_home(), arguments->files[0], &task);
    int code = EXIT_USAGE;
    if (!error && task.broken)
        error = error_new("%s", task.broken);
    if (!error) {
        code = EXIT_OTHER_VERDICT;
        error = dsl_write(&arena, &task, &program);
    }
    if (!error && arguments->output)
        error = files_write(arguments->output, program, strlen(program));
    else if (!error)
        fputs(program, stdout);
    code = error ? cli_fail(code, error) : EXIT_PASS;
    arena_free(&arena);
    return code;
}

/* The exemplars of all categories, of one, or the one that a prompt for the task may show. */
static int list_exemplars(const struct dsl_arguments *arguments)
{
    struct arena arena = {0};
    struct task task;
    struct dsl_exemplars exemplars;
    int which = -1, found = 0;
    struct akgen_error *error = dsl_exemplars_load(&arena, toolchain_home(), &exemplars);
    if (!error && arguments->task)
        error = task_find(&arena, toolchain_home(), arguments->task, &task);
    const struct dsl_exemplar *of = !error && arguments->task ? dsl_exemplar_for(&exemplars, &task, &which) : NULL;
    json_t *all = arguments->json ? json_array() : NULL;
    for (int i = 0; !error && i < exemplars.count; i++) {
        const struct dsl_exemplar *exemplar = &exemplars.items[i];
        if ((arguments->category && strcmp(exemplar->category, arguments->category) != 0) ||
            (arguments->task && exemplar != of))
            continue;
        found++;
        for (int t = 0; t < 2; t++)
            if (which >= 0 && t != which)
                continue;
            else if (all)
                json_array_append_new(all, json_pack("{s:s, s:s, s:i, s:s, s:s}", "suite", exemplar->suite, "category",
                                                     exemplar->category, "rank", t + 1, "task", exemplar->tasks[t],
                                                     "program", exemplar->programs[t]));
            else
                printf("%-16s %-16s %d  %s\n", exemplar->suite, exemplar->category, t + 1, exemplar->tasks[t]);
    }
    if (!error && !found)
        error = error_new("exemplars: there is no category like that; 'akgen dsl exemplars' shows all");
    if (!error && all)
        cli_print_json(json_incref(all), JSON_INDENT(1));
    json_decref(all);
    arena_free(&arena);
    return error ? cli_fail(EXIT_USAGE, error) : EXIT_PASS;
}

static int each_file(const struct dsl_arguments *arguments, on_file *run)
{
    int worst = EXIT_PASS;
    json_t *all = arguments->json ? json_array() : NULL;
    for (int i = 0; i < arguments->count; i++) {
        struct arena arena = {0};
        struct program_text program = {.path = arguments->files[i]};
        struct akgen_error *error = read_text(&arena, program.path, &program.text, &program.length);
        if (!error)
            program.tree = dsl_parse(&arena, program.path, program.text, program.length, &program.messages);
        int code = error ? cli_fail(EXIT_USAGE, error) : run(&arena, arguments, &program, all);
        worst = code > worst ? code : worst;
        arena_free(&arena);
    }
    if (all) {
        cli_print_json(all, JSON_INDENT(2));
    }
    return worst;
}

int cli_dsl(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .args_doc = "check FILE..\nfmt FILE..\nrun FILE --task TASK\nbuild FILE --task TASK -o DIR [--verify]\n"
                    "explain FILE.. [--task TASK]\nexemplars [--category CATEGORY] [--task TASK]",
        .doc =
            "Programs in AscendDSL; '-' is the standard input."
            "\vcheck says what is wrong with programs, where, by which rule and what "
            "to do. fmt formats them in place. "
            "explain says why the project of a program is as it is, by default for the task that the file lies beside. "
            "exemplars lists the programs that categories are learned from; with --task, the one that is not the task "
            "itself. "
            "write prints the program that the planner makes of a task's formulas. "
            "run computes a task's cases by the interpreter and compares with the task's references."};
    struct dsl_arguments arguments = {.only_case = -1, .static_case = -1, .last = DSL_PASSES_COUNT};
    cli_parse(&table, argc, argv, &arguments);
    if (arguments.only_case >= 0 && arguments.static_case < 0 && !arguments.task && arguments.command &&
        strcmp(arguments.command, "explain") != 0)
        return cli_fail(EXIT_USAGE, error_new("%s: --task says whose case --case is", arguments.command));
    static const struct {
        const char *name;
        on_file *run;
    } commands[] = {{"check", check_file},
                    {"fmt", format_file},
                    {"run", run_file},
                    {"build", build_file},
                    {"explain", explain_file}};
    if (!arguments.command)
        return cli_usage(&table, argv[0]);
    cli_check_uses(&table, argc, argv, arguments.command);
    for (size_t i = 0; i < sizeof commands / sizeof *commands && arguments.count; i++)
        if (strcmp(arguments.command, commands[i].name) == 0)
            return each_file(&arguments, commands[i].run);
    if (arguments.count == 1 && strcmp(arguments.command, "write") == 0)
        return write_program(&arguments);
    if (!arguments.count && strcmp(arguments.command, "exemplars") == 0)
        return list_exemplars(&arguments);
    return cli_usage(&table, argv[0]);
}
