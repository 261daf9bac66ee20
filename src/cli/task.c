/* akgen task list | show TASK | question TASK DIR | check [TASK] | references | new PATH: the benchmark's tasks. */
#include "cli/cli.h"
#include "base/files.h"
#include "eval/baseline.h"
#include "task/reference/signature.h"

#include <string.h>

struct task_arguments {
    bool json, full;
    const char *words[3], *reference, *like;
    int count;
    enum eval_scope scope;
};

static void take_scope(void *task, char *text, const struct argp_state *state)
{
    const int scope = words_find(&eval_scopes, text);
    if (scope < 0)
        argp_error(state, "--scope is kernel or project, not '%s'", text);
    ((struct task_arguments *)task)->scope = (enum eval_scope)scope;
}

#define CLI_OF struct task_arguments
static const struct cli_option rows[] = {
    {"json", 0, NULL, CLI_FLAG(json, .of = "list, show, references"), 0, "list, references: print JSON"},
    {"reference", 0, "NAME", CLI_TEXT(reference, .of = "new"), 0,
     "new: the reference, one that 'akgen task references' lists (default formula)"},
    {"like", 0, "TASK", CLI_TEXT(like, .of = "new"), 0, "new: start from the inputs, outputs and cases of that task"},
    {"scope", 0, WORD_CHOICE(EVAL_SCOPES, ""), CLI_CALL(take_scope, .of = "question"), 0,
     "question: the host part is given (kernel), or is to be written too (project, default)"},
    {"full", 0, NULL, CLI_FLAG(full, .of = "check, mutants"), 0,
     "check: all cases, not only case 0 and a hidden one of each kind; mutants: large ones too"},
    {NULL, 0, "COMMAND", CLI_LIST(words, count, .full = CLI_TOO_MANY), 0, NULL},
};

static json_t *params_json(const struct task *task, const struct task_param *params, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *types = json_array();
        for (int t = 0; t < params[i].type_count; t++)
            json_array_append_new(types, json_string(akgen_dtype_name(params[i].types[t])));
        json_t *row = json_pack("{s:s, s:s, s:b, s:o}", "name", params[i].name, "kind", task_kind_names[params[i].kind],
                                "optional", params[i].optional, "dtypes", types);
        if (params[i].in_place != TASK_NONE)
            json_object_set_new(row, "in_place", json_string(task->inputs[params[i].in_place].name));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *task_json(const struct task *task)
{
    return json_pack("{s:s, s:s, s:i, s:s, s:s, s:i, s:o, s:o}", "suite", task->suite, "name", task->name, "level",
                     task->level, "category", task->category, "op", task->op, "cases", task->case_count, "inputs",
                     params_json(task, task->inputs, task->input_count), "outputs",
                     params_json(task, task->outputs, task->output_count));
}

static int list_tasks(struct arena *arena, bool json)
{
    struct task *tasks;
    int count;
    struct akgen_error *error = task_load_all(arena, toolchain_home(), &tasks, &count);
    if (error)
        return cli_fail(EXIT_OWN_FAILURE, error);
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        if (json && !tasks[i].broken)
            json_array_append_new(list, task_json(&tasks[i]));
        else if (!json && !tasks[i].broken)
            printf("%-44s %4d cases\n", tasks[i].name, tasks[i].case_count);
        else
            fprintf(stderr, "akgen: %s\n", tasks[i].broken);
    if (json)
        cli_print_json(json_incref(list), JSON_INDENT(1));
    else
        printf("%d tasks\n", count);
    json_decref(list);
    return EXIT_PASS;
}

static void print_params(const char *title, const struct task *task, const struct task_param *params, int count)
{
    static const char *const kinds[] = {"", "list", "scalar", "scalar list"};
    for (int i = 0; i < count; i++) {
        printf("%-10s %s%s%s%s", i ? "" : title, params[i].name, *kinds[params[i].kind] ? " " : "",
               kinds[params[i].kind], params[i].optional ? " (optional)" : "");
        for (int t = 0; t < params[i].type_count; t++)
            printf("%s%s", t ? "/" : "  ", akgen_dtype_name(params[i].types[t]));
        if (params[i].in_place != TASK_NONE)
            printf("  in place of %s", task->inputs[params[i].in_place].name);
        putchar('\n');
    }
}

/* desc.md, as it stands. */
static void print_description(const struct task *task)
{
    enum { LONGEST = 4 << 20 };
    struct arena arena = {0};
    char *text;
    size_t length;
    struct akgen_error *error = files_read_inside(&arena, task->dir, "desc.md", LONGEST, &text, &length);
    if (!error) {
        putchar('\n');
        fwrite(text, 1, length, stdout);
    }
    error_free(error);
    arena_free(&arena);
}

/* What PyTorch on the NPU would launch, with the bytes of case 0 and what that would take. */
static struct akgen_error *print_eager(struct arena *arena, const struct task *task)
{
    struct task_instance *instance;
    struct task_eager_traffic *traffic;
    struct akgen_error *error = task_instance_shapes(task, &task->cases[0], &instance);
    if (error)
        return error;
    error = task_eager_of_case(arena, instance, &traffic);
    for (int i = 0; i < task->eager_count && !error; i++) {
        const struct task_eager *kernel = &task->eager[i];
        printf("%-10s %-28s %-11s  reads %.0f bytes, writes %.0f", i ? "" : "eager", kernel->kernel,
               task_eager_kind_names[kernel->kind], traffic[i].read, traffic[i].written);
        if (kernel->m)
            printf(", %.0f flops", traffic[i].flops);
        printf(": %.1f us\n", baseline_kernel_us(kernel->kind, &traffic[i], 1));
    }
    if (task->eager_count && !error)
        printf("%-10s case %d: %.1f us, %.1f with half of each launch, %.1f with twice; modelled, of a 910B2\n", "",
               task->cases[0].id, baseline_us(instance, 1), baseline_us(instance, 0.5), baseline_us(instance, 2));
    task_instance_free(instance);
    return error;
}

static int show_task(struct arena *arena, const char *name, bool json)
{
    struct task task;
    struct akgen_error *error = task_find(arena, toolchain_home(), name, &task);
    if (!error && json && task.broken)
        error = error_new("%s", task.broken);
    if (error)
        return cli_fail(EXIT_USAGE, error);
    if (json) {
        json_t *row = task_json(&task);
        cli_print_json(row, JSON_INDENT(1));
        return EXIT_PASS;
    }
    printf("%s (%s)\n", task.name, task.suite);
    print_params("inputs", &task, task.inputs, task.input_count);
    for (int i = 0; i < task.attr_count; i++)
        printf("%-10s %s  %s = %s\n", i ? "" : "attributes", task.attrs[i].name,
               task_attr_type_names[task.attrs[i].type], expr_text(task.attrs[i].value));
    print_params("outputs", &task, task.outputs, task.output_count);
    printf("%-10s %s\n%-10s %d\n", "check",
           task.check              ? expr_text(task.check)
           : task_has_check(&task) ? "default"
                                   : "none: strict limits",
           "cases", task.case_count);
    if ((error = print_eager(arena, &task)))
        return cli_fail(EXIT_OWN_FAILURE, error);
    print_description(&task);
    return EXIT_PASS;
}

/* Writes the files that a candidate begins with. */
static int write_question(struct arena *arena, const char *name, const char *dir, enum eval_scope scope)
{
    struct task task;
    struct akgen_error *error = task_find(arena, toolchain_home(), name, &task);
    if (!error && task.broken)
        error = error_new("%s", task.broken);
    if (!error && files_exists(dir))
        error = error_new("%s: exists already", dir);
    if (error)
        return cli_fail(EXIT_USAGE, error);
    if ((error = task_question_write(arena, &task, scope == EVAL_KERNEL, dir)))
        return cli_fail(EXIT_OWN_FAILURE, error);
    printf("%s: what is to be written says so; then 'akgen eval %s %s --scope=%s'\n", dir, name, dir,
           eval_scopes.of[scope]);
    return EXIT_PASS;
}

/* A shown case as both runs of the strict profile have it, and the hidden cases made of it. `hidden` says which
 * variants there have been: one case of each is enough unless `full`. */
static struct akgen_error *check_case(struct arena *arena, const struct task *task, int row, bool full,
                                      bool hidden[TASK_VARIANTS], int *cases)
{
    struct akgen_error *error = NULL;
    if (row == 0 || full) {
        error = task_check_case(task, &task->cases[row], 0);
        if (!error)
            error = task_check_case(task, &task->cases[row], 1 | TASK_OTHER_VALUES);
        (*cases)++;
    }
    for (int v = TASK_PRIME_SIZES; v < TASK_VARIANTS && !error; v++) {
        struct task_case variant;
        if ((hidden[v] && !full) || !task_case_vary(arena, task, &task->cases[row], (enum task_variant)v, &variant))
            continue;
        error = task_check_case(task, &variant, 0);
        hidden[v] = true;
        (*cases)++;
    }
    return error;
}

static void print_trivial(const struct task *task, const struct task_trivial *trivial, const char *of, const char *name)
{
    for (int i = 0; i < (*name ? TASK_MUTATIONS : TASK_MUTANT_ZEROS); i++)
        if (trivial->kinds >> i & 1)
            printf("%s: '%s'%s%s passes by contract: %s\n", task->name, task_mutation_names[i], of, name,
                   trivial->reason);
}

/* Makes the inputs and both references of case 0 and of hidden cases, or of all cases: what every evaluation of the
 * task rests on; and tries candidates that leave work out. */
static struct akgen_error *check_task(struct arena *arena, const struct task *task, bool full, int *cases)
{
    bool hidden[TASK_VARIANTS] = {false};
    if (task->broken)
        return error_new("%s", task->broken);
    struct akgen_error *error = task->case_count ? NULL : error_new("no cases");
    for (int i = 0; i < task->case_count && !error; i++)
        error = check_case(arena, task, i, full, hidden, cases);
    if (!error)
        error = task_check_mutants(task, full);
    if (!error && !task->eager_count)
        printf(
            "%s: no 'eager' in task.yaml, which lists what PyTorch on the NPU launches: no speedup can be modelled\n",
            task->name);
    if (!error)
        print_trivial(task, &task->trivial, "", "");
    for (int i = 0; i < task->input_count && !error; i++)
        print_trivial(task, &task->inputs[i].trivial, " of input ", task->inputs[i].name);
    for (int i = 0; i < task->attr_count && !error; i++)
        print_trivial(task, &task->attrs[i].trivial, " of attribute ", task->attrs[i].name);
    return error;
}

static int check_tasks(struct arena *arena, bool full)
{
    struct task *tasks;
    int count, bad = 0, cases = 0;
    struct akgen_error *error = task_load_all(arena, toolchain_home(), &tasks, &count);
    if (error)
        return cli_fail(EXIT_OWN_FAILURE, error);
    for (int i = 0; i < count; i++)
        if ((error = check_task(arena, &tasks[i], full, &cases))) {
            printf("%s: %s\n", tasks[i].name, error->message);
            error_free(error);
            bad++;
        }
    printf("%d tasks checked, %d cases, %d broken\n", count, cases, bad);
    return bad ? EXIT_OWN_FAILURE : EXIT_PASS;
}

/* The same for one task, with its name or the directory that it lies in. */
static int check_one(struct arena *arena, const char *name, bool full)
{
    struct task task;
    int cases = 0;
    struct akgen_error *error = task_find(arena, toolchain_home(), name, &task);
    if (error)
        return cli_fail(EXIT_USAGE, error);
    if ((error = check_task(arena, &task, full, &cases)))
        return cli_fail(EXIT_OWN_FAILURE, error_prefix(error, "%s", task.name));
    printf(
        "%s: %d cases, inputs and both references of %d shown and hidden ones made, candidates without work judged\n",
        task.name, task.case_count, cases);
    return EXIT_PASS;
}

/* The inputs or outputs of a signature; `text` says what their shapes are. */
static json_t *signature_params_json(const struct reference_signature *signature, const struct signature_param *params,
                                     int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        const struct signature_param *param = &params[i];
        json_t *types = json_array();
        uint64_t set = signature_type_set(signature, param);
        for (int code = 0; code < 64; code++)
            if (set >> code & 1)
                json_array_append_new(types, json_string(akgen_dtype_name((enum akgen_dtype)code)));
        json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:o, s:s*}", "name", param->name, "kind",
                                              task_kind_names[param->list ? TASK_TENSOR_LIST : TASK_TENSOR], "optional",
                                              param->optional, "dtypes", types, "text", param->text));
    }
    return list;
}

static json_t *signature_json(struct arena *arena, const struct reference_signature *signature)
{
    json_t *attrs = json_array();
    for (int i = 0; i < signature->attr_count; i++) {
        const struct signature_attr *attr = &signature->attrs[i];
        json_t *words = json_array();
        for (int w = 0; attr->words[w]; w++)
            json_array_append_new(words, json_string(attr->words[w]));
        json_array_append_new(attrs, json_pack("{s:s, s:s, s:b, s:o, s:s*}", "name", attr->name, "type",
                                               task_attr_type_names[attr->type], "optional", attr->optional, "words",
                                               words, "default", attr->value));
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", signature->reference, "text",
                     signature_needs(arena, signature), "inputs",
                     signature_params_json(signature, signature->inputs, signature->input_count), "outputs",
                     signature_params_json(signature, signature->outputs, signature->output_count), "attrs", attrs);
}

/* One line each: "rms_norm: x floating [*rows, *n], ..."; docs/tasks.md explains it. */
static int list_references(struct arena *arena, bool json)
{
    const char *name;
    json_t *list = json_array();
    for (int i = 0; (name = task_reference_name(i)); i++) {
        const struct reference_signature *signature = task_reference_signature(arena, task_reference_find(name));
        if (json && signature)
            json_array_append_new(list, signature_json(arena, signature));
        else if (json)
            json_array_append_new(list, json_pack("{s:s}", "name", name));
        else
            printf("%s: %s\n", name, signature ? signature_needs(arena, signature) : "what the outputs' formulas name");
    }
    if (json)
        cli_print_json(json_incref(list), JSON_INDENT(1));
    json_decref(list);
    return EXIT_PASS;
}

int cli_task(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .args_doc = "list\nshow TASK\nquestion TASK DIR\ncheck [TASK]\nmutants [TASK]\nreferences\nnew "
                    "PATH/SUITE/levelN/CATEGORY/OP",
        .doc =
            "The benchmark's tasks.\vlist: every task. show: one task, its cases and its description. question: "
            "write the files that a candidate begins with into a new folder. check: make the inputs and the references "
            "of case 0 and of hidden cases of every task, or of the one named, and try "
            "candidates that leave work out. mutants: which of these each profile passes, and how many of each kind. "
            "references: what 'reference' in a task.yaml may say, and what each needs of a "
            "task. new: a task of your own to begin with (docs/tasks.md). TASK may be a directory.",
    };
    struct task_arguments arguments = {.scope = EVAL_PROJECT};
    cli_parse(&table, argc, argv, &arguments);
    struct arena arena = {0};
    const char *word = arguments.count ? arguments.words[0] : "";
    if (arguments.count)
        cli_check_uses(&table, argc, argv, word);
    int code = EXIT_USAGE;
    if (strcmp(word, "list") == 0 && arguments.count == 1)
        code = list_tasks(&arena, arguments.json);
    else if (strcmp(word, "show") == 0 && arguments.count == 2)
        code = show_task(&arena, arguments.words[1], arguments.json);
    else if (strcmp(word, "question") == 0 && arguments.count == 3)
        code = write_question(&arena, arguments.words[1], arguments.words[2], arguments.scope);
    else if (strcmp(word, "check") == 0 && arguments.count == 1)
        code = check_tasks(&arena, arguments.full);
    else if (strcmp(word, "check") == 0 && arguments.count == 2)
        code = check_one(&arena, arguments.words[1], arguments.full);
    else if (strcmp(word, "mutants") == 0 && (arguments.count == 1 || arguments.count == 2))
        code = cli_task_mutants(&arena, arguments.count == 2 ? arguments.words[1] : NULL, arguments.full);
    else if (strcmp(word, "references") == 0 && arguments.count == 1)
        code = list_references(&arena, arguments.json);
    else if (strcmp(word, "new") == 0 && arguments.count == 2)
        code = cli_task_new(&arena, arguments.words[1], arguments.reference, arguments.like);
    else
        cli_usage(&table, argv[0]);
    arena_free(&arena);
    return code;
}
