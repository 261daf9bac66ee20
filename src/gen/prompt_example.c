/* What a prompt shows of other operators' answers: the worked example, the category's exemplar, the primer of the language.
 * Never the task's own, nor what computes the same under another name: there something else stands in. */
#include "base/files.h"
#include "base/text.h"
#include "dsl/dsl.h"
#include "dsl/specialise.h"
#include "candidate/program.h"
#include "gen/prompt_internal.h"

#include <string.h>
#include <strings.h>

enum { LONGEST_FILE = 1 << 20 };

#define MAKE(name) struct akgen_error *prompt_text_##name(struct prompt_maker *maker, const char **text)

/* The worked example: tails, data types, tiling data, queues in the shortest form that has them all. The second one is for
 * the operator that the first one is. */
static const char *const worked_examples[] = {"npukernelbench/level1/Math/Sqrt",
                                              "npukernelbench/level1/Math/UnalignAdd"};

/* Without the words that a suite puts behind an operator's name: TanhMath is Tanh, AddCustom is Add. */
static size_t bare_length(const char *op)
{
    static const char *const suffixes[] = {"Math", "Custom"};
    size_t length = strlen(op);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (length > suffix && strcmp(op + length - suffix, suffixes[i]) == 0)
            return length - suffix;
    }
    return length;
}

bool prompt_same_operator(const struct task *task, const char *other)
{
    const char *slash = strrchr(other, '/');
    const char *op = slash ? slash + 1 : other;
    size_t length = bare_length(op);
    return length == bare_length(task->op) && strncasecmp(op, task->op, length) == 0;
}

bool prompt_same_reference(const struct task *task, const struct task *other)
{
    if (task->reference != other->reference || !other->signature || task->input_count != other->input_count ||
        task->output_count != other->output_count || task->attr_count != other->attr_count)
        return false;
    for (int i = 0; i < task->input_count; i++)
        if (strcmp(task->inputs[i].name, other->inputs[i].name) != 0)
            return false;
    return true;
}

struct akgen_error *prompt_load_task(struct arena *arena, const char *home, const char *name, struct task **task)
{
    *task = arena_alloc(arena, sizeof **task);
    return task_load(arena, arena_printf(arena, "%s/tasks/%s", home, name), *task);
}

bool prompt_is_other(const struct task *task, const struct task *other)
{
    return !prompt_same_operator(task, other->op) && !prompt_same_reference(task, other);
}

/* Examples. */
/* Files of the project that passes, in the order in which they are read best. */
static struct akgen_error *reference_files(struct arena *arena, const char *dir, struct text *files)
{
    static const char *const folders[] = {"op_host", "op_kernel"};
    struct akgen_error *error = NULL;
    for (int f = 0; f < 2 && !error; f++) {
        const char **paths;
        size_t count = 0;
        char *source;
        error = files_list(arena, arena_printf(arena, "%s/%s", dir, folders[f]), &paths, &count);
        for (size_t i = 0; i < count && !error; i++) {
            const char *path = arena_printf(arena, "%s/%s", folders[f], paths[i]);
            error = files_read(arena, arena_printf(arena, "%s/%s", dir, path), LONGEST_FILE, &source, NULL);
            if (!error)
                text_add(files, prompt_file(arena, path, source));
        }
    }
    return error;
}

/* The kernel of a program for one case of its task. False: there is none, since the case needs more than a given host part. */
static struct akgen_error *kernel_of_program(struct arena *arena, const struct task *task,
                                             const struct candidate_program *program, const struct npu_soc *soc,
                                             struct dsl_lowered *lowered, bool *made)
{
    struct dsl_messages messages = {0};
    struct dsl_opdef opdef;
    char *text = arena_copy(arena, program->text, program->length + 1);
    const struct dsl_tree *tree = dsl_parse(arena, program->path, text, program->length, &messages);
    const struct dsl_program *checked = tree ? dsl_check(arena, tree, &messages) : NULL;
    struct akgen_error *error = checked ? dsl_opdef_of_task(arena, checked, task, &opdef) : NULL;
    if (checked && !error)
        error = dsl_specialise(arena, (struct dsl_tree *)tree, task, task->cases[0].id, soc, &opdef, &messages);
    *made = checked && !error && !messages.count &&
            dsl_lower(arena, (struct dsl_tree *)tree, &opdef, DSL_PASSES_COUNT, lowered, &messages);
    return error;
}

static struct akgen_error *compiled_files(struct prompt_maker *maker, const struct task *task, struct text *files)
{
    struct candidate_program program;
    struct dsl_lowered lowered = {0};
    struct dsl_messages messages = {0};
    bool made = false;
    struct akgen_error *error = candidate_program_of_task(maker->arena, task, &program);
    if (error)
        return error;
    if (maker->options->scope == EVAL_KERNEL)
        error = kernel_of_program(maker->arena, task, &program, maker->options->soc, &lowered, &made);
    else
        made = candidate_program_compile(maker->arena, &program, task, &lowered, &messages, &error);
    for (int i = 0; made && !error && i < lowered.count; i++)
        text_add(files, prompt_file(maker->arena, lowered.files[i].path, lowered.files[i].text));
    return error;
}

/* The answer to a task, in the language and scope of the prompt; nothing where it has none of this scope. */
static struct akgen_error *answer_of(struct prompt_maker *maker, const struct task *task, struct text *files)
{
    struct candidate_program program;
    const char *reference = arena_printf(maker->arena, "%s/reference", task->dir);
    if (maker->options->language == EVAL_DSL) {
        struct akgen_error *error = candidate_program_of_task(maker->arena, task, &program);
        if (!error)
            text_add(files, prompt_file(maker->arena, "program.py", program.text));
        return error;
    }
    if (maker->options->scope == EVAL_PROJECT && files_exists(reference))
        return reference_files(maker->arena, reference, files);
    return compiled_files(maker, task, files);
}

/* Fills in the example, unless the task is the same operator or has no answer of this kind: `text` stays empty then. */
static struct akgen_error *try_example(struct prompt_maker *maker, const char *name, struct prompt_example *example)
{
    struct text files = {0};
    struct task *task;
    struct akgen_error *error = prompt_load_task(maker->arena, maker->shelf->home, name, &task);
    if (error || !prompt_is_other(maker->task, task))
        return error;
    error = answer_of(maker, task, &files);
    if (!error && files.length) {
        const struct task_case *first = &task->cases[0];
        example->task = name;
        example->files = arena_strndup(maker->arena, files.bytes, files.length - 1);
        error = prompt_description(maker->arena, task, &example->description);
        if (!error)
            error = prompt_cases(maker->arena, task, &first, 1, &example->cases);
    }
    text_free(&files);
    return error;
}

/* The first that will do of the category's exemplars, where they are asked for, and of the worked examples. */
struct akgen_error *prompt_make_example(struct prompt_maker *maker)
{
    struct prompt_example *example = &maker->example;
    struct akgen_error *error = NULL;
    int which = 0;
    if (maker->options->variant != GEN_ONE_SHOT && maker->options->variant != GEN_EXEMPLARS)
        return NULL;
    if (maker->options->variant == GEN_EXEMPLARS) {
        const struct dsl_exemplar *of = dsl_exemplar_for(&maker->shelf->exemplars, maker->task, &which);
        for (int i = which; of && i < 2 && !error && !example->files; i++)
            error = try_example(maker, of->tasks[i], example);
        example->of_category = example->files != NULL;
    }
    for (size_t i = 0; i < sizeof worked_examples / sizeof *worked_examples && !error && !example->files; i++)
        error = try_example(maker, worked_examples[i], example);
    return error;
}

MAKE(example_task)
{
    *text = maker->example.task;
    return NULL;
}

MAKE(example_description)
{
    *text = maker->example.description;
    return NULL;
}

MAKE(example_files)
{
    *text = maker->example.files;
    return NULL;
}

MAKE(example_case)
{
    *text = maker->options->scope == EVAL_KERNEL ? maker->example.cases : NULL;
    return NULL;
}

bool prompt_is_category_example(const struct prompt_maker *maker)
{
    return maker->example.of_category;
}
