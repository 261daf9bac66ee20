/* The planner: the formulas of a task become a program in AscendDSL. What they compute is a graph of values (plan_graph.c), a
 * schedule says in which pass over the rows each is computed (plan_schedule.c), and a printer writes it down (plan_print.c). */
#include "dsl/write.h"
#include "dsl/dsl.h"
#include "dsl/plan.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* Data types that tl.cast makes float32 of, and of float32. */
static bool is_planned(enum akgen_dtype type)
{
    static const enum akgen_dtype types[] = {AKGEN_FLOAT, AKGEN_FLOAT16, AKGEN_BF16,  AKGEN_INT8, AKGEN_UINT8,
                                             AKGEN_BOOL,  AKGEN_INT16,   AKGEN_INT32, AKGEN_INT64};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i] == type)
            return true;
    return false;
}

/* Of floating types and of integer types, by the case. */
static bool is_mixed(const struct task_param *param)
{
    for (int t = 1; t < param->type_count; t++)
        if (task_is_float(param->types[t]) != task_is_float(param->types[0]))
            return true;
    return false;
}

static const char *find_mixed(const struct task *task)
{
    for (int i = 0; i < task->input_count; i++)
        if (is_mixed(&task->inputs[i]) && task->inputs[i].kind != TASK_SCALAR)
            return task->inputs[i].name;
    for (int i = 0; i < task->input_count; i++)
        if (task->inputs[i].kind != TASK_SCALAR)
            return NULL;
    for (int i = 0; i < task->output_count; i++) /* nothing is read but numbers */
        if (is_mixed(&task->outputs[i]))
            return task->outputs[i].name;
    return NULL;
}

static struct akgen_error *check(const struct task *task)
{
    for (int i = 0; i < task->input_count + task->output_count; i++) {
        bool output = i >= task->input_count;
        const struct task_param *param = output ? &task->outputs[i - task->input_count] : &task->inputs[i];
        if (output && !param->formula)
            return error_new("%s: output '%s' has no formula to plan from", task->name, param->name);
        if (param->kind == TASK_SCALAR && output)
            return error_new("%s: output '%s' is no tensor", task->name, param->name);
        for (int t = 0; t < param->type_count; t++)
            if (!is_planned(param->types[t]) || (!is_mixed(param) && (akgen_dtype_size(param->types[t]) == 1) !=
                                                                         (akgen_dtype_size(param->types[0]) == 1)))
                return error_new("%s: '%s' may be %s%s%s; the planner computes float16, bfloat16 and float32, or bool "
                                 "and integers of 8 bits, or of more, each for itself",
                                 task->name, param->name, akgen_dtype_name(param->types[t]), t ? " besides " : "",
                                 t ? akgen_dtype_name(param->types[0]) : "");
    }
    return NULL;
}

/* Whole numbers up to here are numbers of float32. */
#define MOST_WHOLE 0x1p24

static bool is_beyond(const struct task_argument *argument)
{
    enum { BLOCK = 512 };
    double values[BLOCK];
    bool beyond = false;
    const struct task_tensor *tensor = argument->count ? argument->tensors : NULL;
    for (int64_t at = 0; tensor && at < tensor->elements && !beyond; at += BLOCK) {
        int n = tensor->elements - at < BLOCK ? (int)(tensor->elements - at) : BLOCK;
        task_read_double(tensor, at, n, values);
        for (int i = 0; i < n; i++)
            beyond |= fabs(values[i]) > MOST_WHOLE;
    }
    return beyond;
}

/* Wide integers, as the last case has them, are numbers of float32. */
static struct akgen_error *check_integers(const struct task *task)
{
    bool wide = false;
    for (int i = 0; i < task->input_count + task->output_count; i++) {
        const struct task_param *param =
            i < task->input_count ? &task->inputs[i] : &task->outputs[i - task->input_count];
        wide |= !task_is_float(param->types[0]) && akgen_dtype_size(param->types[0]) > 2;
    }
    struct task_instance *instance;
    struct akgen_error *error =
        wide ? task_instance_make(task, &task->cases[task->case_count - 1], TASK_OTHER_VALUES, false, &instance) : NULL;
    if (!wide || error)
        return error;
    struct task_argument *golden = task_reference(instance, TASK_STRICT);
    for (int i = 0; i < task->input_count + task->output_count && !error; i++) {
        bool input = i < task->input_count;
        const struct task_param *param = input ? &task->inputs[i] : &task->outputs[i - task->input_count];
        if (!task_is_float(param->types[0]) && is_beyond(input ? &instance->inputs[i] : &golden[i - task->input_count]))
            error = error_new("%s: '%s' has integers beyond 2^24, which the planner, who computes in float32, does not "
                              "keep; write a program in AscendDSL (docs/dsl.md)",
                              task->name, param->name);
    }
    task_outputs_free(golden);
    task_instance_free(instance);
    return error;
}

/* Names. Those of the task and the program's own must not meet, so the task's are marked in the text until it is whole. */
/* A parameter that the task does not have stands for what is left, docs/dsl.md. */
static const char *marked(struct arena *arena, const char *name)
{
    return arena_printf(arena, plan_is_reserved(name) ? "%c%s_" : "%c%s", PLAN_MARK, name);
}

static void mark_names(struct arena *arena, struct task *task)
{
    task->inputs = arena_copy(arena, task->inputs, sizeof *task->inputs * (size_t)task->input_count);
    task->outputs = arena_copy(arena, task->outputs, sizeof *task->outputs * (size_t)task->output_count);
    task->attrs = arena_copy(arena, task->attrs, sizeof *task->attrs * (size_t)task->attr_count);
    for (int i = 0; i < task->input_count; i++)
        task->inputs[i].name = marked(arena, task->inputs[i].name);
    for (int i = 0; i < task->output_count; i++)
        task->outputs[i].name = marked(arena, task->outputs[i].name);
    for (int i = 0; i < task->attr_count; i++)
        task->attrs[i].name = marked(arena, task->attrs[i].name);
}

static void unmark(char *text)
{
    char *to = text;
    for (; *text; text++)
        if (*text != PLAN_MARK)
            *to++ = *text;
    *to = 0;
}

static bool is_task_name(const struct task *task, const char *word, size_t length)
{
    for (int i = 0; i < task->input_count + task->output_count + task->attr_count; i++) {
        const char *name = i < task->input_count ? task->inputs[i].name
                           : i < task->input_count + task->output_count
                               ? task->outputs[i - task->input_count].name
                               : task->attrs[i - task->input_count - task->output_count].name;
        if (strlen(name + 1) == length && memcmp(name + 1, word, length) == 0)
            return true;
    }
    return false;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The program with the marks gone; a variable of its own that is called like a name of the task gets a '_'. Comments and
 * texts stay, and what is no variable: x.name, name(..), name=. */
static void settle_names(const struct task *task, const char *text, struct text *out)
{
    bool comment = false, quoted = false, foreign = false; /* foreign: what follows is no variable of the program's */
    while (*text) {
        size_t length = 1;
        while (is_letter(*text) && is_letter(text[length]))
            length++;
        comment = *text == '#' ? true : *text == '\n' ? false : comment;
        quoted ^= *text == '"' && !comment;
        bool variable = is_letter(*text) && !comment && !quoted && !foreign && text[length] != '(' &&
                        !(text[length] == '=' && text[length + 1] != '=');
        if (*text != PLAN_MARK)
            text_append(out, text, length);
        if (variable && is_task_name(task, text, length))
            text_add(out, "_");
        foreign = *text == PLAN_MARK || *text == '.';
        text += length;
    }
}

/* Stages. */
struct stages {
    struct task tasks[PLAN_STAGES];
    int kept[PLAN_STAGES]; /* outputs that the stage leaves in workspace, its last ones */
    struct plan_parts parts[PLAN_STAGES];
    int count;
    bool plain; /* of struct plan */
};

/* Each element is computed by itself. */
static bool plan_is_single(const struct plan *plan, const struct plan_schedule *schedule)
{
    bool single = plan->flat && schedule->phases == 0 && !plan->layout.units;
    for (int i = 0; i < plan->count; i++)
        single &= !plan->values[i]->uses ||
                  (plan->values[i]->operation != PLAN_REDUCE && plan->values[i]->operation != PLAN_SCAN);
    for (int i = 0; i < plan->task->output_count; i++)
        single &= plan->outputs[i].axes == PLAN_FULL;
    return single;
}

/* The texts of one of `stages` stages. */
static struct akgen_error *plan_stage(struct arena *arena, const struct task *task, const struct plan_lists *lists,
                                      int own_inputs, int kept, int stages, bool plain, struct plan_parts *parts)
{
    struct plan plan = {.arena = arena,
                        .task = task,
                        .lists = lists,
                        .stages = stages,
                        .plain = plain,
                        .own_inputs = own_inputs,
                        .mixed = find_mixed(task)};
    struct plan_schedule schedule = {0};
    plan.own_outputs = task->output_count - kept;
    plan.error = plan_graph(&plan);
    if (!plan.error)
        plan_schedule(&plan, &schedule);
    if (!plan.error && plan.mixed && !plan_is_single(&plan, &schedule))
        plan.error = error_new("%s: '%s' may be of floating or of integer types, which the planner computes element by "
                               "element only",
                               task->name, plan.mixed);
    if (!plan.error && lists && !plan_is_single(&plan, &schedule))
        plan.error = error_new("%s: of lists each element is computed by itself, which sums and parts of rows are not",
                               task->name);
    if (!plan.error)
        plan_print(&plan, &schedule, parts);
    return plan.error;
}

static bool has_plan(struct arena *arena, const struct task *task, int own_inputs, int kept)
{
    struct plan_parts parts;
    struct akgen_error *error = plan_stage(arena, task, NULL, own_inputs, kept, PLAN_STAGES, false, &parts);
    bool plan = !error;
    error_free(error);
    return plan;
}

/* Splits a stage off the last one: so that the rest has a plan, `planned`, if that can be; else so that it makes most outputs and
 * leaves least. False if there is no way. */
static bool split_stage(struct arena *arena, int own_inputs, struct stages *stages, bool *planned)
{
    enum { CHOICES = 8 * PLAN_WAYS };
    struct task *last = &stages->tasks[stages->count - 1], before = *last, first, rest;
    int kept, best = INT_MIN;
    for (int choice = 0; choice < CHOICES && stages->count < PLAN_STAGES && !*planned; choice++) {
        if (!plan_split(arena, &before, choice, &first, &rest, &kept) || !has_plan(arena, &first, own_inputs, kept))
            continue;
        *planned = has_plan(arena, &rest, own_inputs, 0);
        int worth = TASK_MAX_PARAMS * (before.output_count - rest.output_count) - kept;
        if (worth > best || *planned) {
            stages->kept[stages->count - 1] = kept;
            last[0] = first;
            last[1] = rest;
            best = worth;
        }
    }
    stages->count += best > INT_MIN;
    return best > INT_MIN;
}

/* One stage, or what cannot be planned as one, in several. The error is that of one. */
static struct akgen_error *plan_stages(struct arena *arena, const struct task *task, const struct plan_lists *lists,
                                       struct stages *stages)
{
    const int own = task->input_count;
    stages->tasks[0] = *task;
    stages->count = 1;
    struct akgen_error *refusal = plan_stage(arena, task, lists, own, 0, 1, stages->plain, &stages->parts[0]);
    bool planned = false;
    if (!refusal || lists)
        return refusal;
    while (!planned && split_stage(arena, own, stages, &planned))
        continue;
    for (int i = 0; i < stages->count && planned; i++) {
        struct akgen_error *error = plan_stage(arena, &stages->tasks[i], NULL, own, stages->kept[i], stages->count,
                                               stages->plain, &stages->parts[i]);
        planned = !error;
        error_free(error);
    }
    if (!planned)
        return refusal;
    error_free(refusal);
    return NULL;
}

/* The tensors that stages leave for later ones: the inputs of the last that the task does not have. */
static int find_kept(const struct stages *stages, int own_inputs, const char *kept[TASK_MAX_PARAMS])
{
    const struct task *last = &stages->tasks[stages->count - 1];
    for (int i = own_inputs; i < last->input_count; i++)
        kept[i - own_inputs] = last->inputs[i].name;
    return last->input_count - own_inputs;
}

/* Outputs in the memory of an input: they have its types, and for as long as the plan is made a name of their own. */
static void settle_in_place(struct arena *arena, struct task *own)
{
    own->outputs = arena_copy(arena, own->outputs, sizeof *own->outputs * (size_t)own->output_count);
    for (int i = 0; i < own->output_count; i++) {
        struct task_param *output = &own->outputs[i];
        if (output->in_place == TASK_NONE)
            continue;
        const struct task_param *input = &own->inputs[output->in_place];
        output->name = arena_printf(arena, "%s_in_place", input->name);
        output->types = input->types;
        output->type_count = input->type_count;
        output->kind = input->kind;
        if (!output->dtype)
            output->dtype = input->dtype;
        if (!output->shape)
            output->shape = input->shape;
    }
}

/* Then it is that input: no parameter more, and what is stored goes there. */
static void put_in_place(const char *output, const char *input, struct text *out)
{
    struct text kept = {0};
    size_t length = strlen(output);
    for (const char *at = out->bytes; *at;) {
        bool here = strncmp(at, output, length) == 0 && !is_letter(at[length]);
        bool parameter = here && strncmp(at + length, ", ", 2) == 0;
        bool annotated = here && at[length] == ':';
        if (annotated)
            at += strcspn(at, ",");
        if (parameter || annotated)
            at += strncmp(at, output, length) == 0 ? length + 2 : 2;
        else if (here)
            text_add(&kept, input);
        else
            text_append(&kept, at, 1);
        at += here ? parameter || annotated ? 0 : length : 1;
    }
    text_free(out);
    *out = kept;
}

static struct akgen_error *write_program(struct arena *arena, const struct task *task, bool plain, const char **program)
{
    struct task own = *task;
    struct plan_lists lists = {0};
    settle_in_place(arena, &own);
    bool has_lists = plan_has_lists(task);
    struct stages stages = {.plain = plain};
    struct dsl_messages messages = {0};
    struct text out = {0}, settled = {0};
    const char *kept[TASK_MAX_PARAMS];
    struct akgen_error *error = check(&own);
    error = error || has_lists ? error : check_integers(&own);
    if (!error && has_lists) {
        const struct task listed = own;
        error = plan_shadow(arena, &listed, &own, &lists);
    }
    mark_names(arena, &own);
    if (lists.longest)
        lists.longest = marked(arena, lists.longest);
    if (!error && (error = plan_stages(arena, &own, has_lists ? &lists : NULL, &stages)))
        unmark(error->message);
    if (error)
        return error;
    for (int i = 0; i < own.output_count; i++)
        if (task->outputs[i].in_place != TASK_NONE) /* what is stored goes there */
            stages.parts[0].used[task->outputs[i].in_place] = true;
    plan_compose(arena, &own, stages.parts, stages.count, kept, find_kept(&stages, own.input_count, kept),
                 has_lists ? &lists : NULL, &out);
    for (int i = 0; i < own.output_count; i++)
        if (task->outputs[i].in_place != TASK_NONE)
            put_in_place(own.outputs[i].name, own.inputs[task->outputs[i].in_place].name, &out);
    settle_names(&own, out.bytes, &settled);
    const struct dsl_tree *tree =
        dsl_parse(arena, "plan", arena_strdup(arena, settled.bytes), settled.length, &messages);
    if (tree)
        *program = dsl_format(arena, tree);
    text_free(&out);
    text_free(&settled);
    return tree ? NULL : error_new("%s: the plan is no program: %s", task->name, messages.items[0].text);
}

struct akgen_error *dsl_write(struct arena *arena, const struct task *task, const char **program)
{
    return write_program(arena, task, false, program);
}

struct akgen_error *dsl_write_plain(struct arena *arena, const struct task *task, const char **program)
{
    return write_program(arena, task, true, program);
}
