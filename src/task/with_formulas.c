/* A task whose outputs are computed by somebody's formulas: statements become the steps of its outputs. A name that is assigned again is
 * another step from there on, so that statements mean what they mean in any language. */
#include "base/text.h"
#include "task/expr/print.h"
#include "task/task_internal.h"

#include <ctype.h>
#include <string.h>

struct statement {
    const char *name, *unique; /* as it is written; what its step is called */
    struct expr *tree;
    bool needed, shared, written; /* by an output; by a statement that is needed; it stands in a formula already */
};
struct statements {
    struct arena *arena;
    const struct task *task;
    struct statement items[FORMULA_MAX_STEPS];
    int count;
};

static struct akgen_error *parse(struct statements *s, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, ";\n");
        const char *at = text, *end = text + length;
        text = end + (*end != '\0');
        while (at < end && isspace((unsigned char)*at))
            at++;
        if (at == end)
            continue;
        const char *name = at;
        while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
            at++;
        size_t named = (size_t)(at - name);
        while (at < end && isspace((unsigned char)*at))
            at++;
        if (!named || at == end || *at != '=' || at[1] == '=')
            return error_new("'%.*s' is no statement, expected name = expression",
                             end - name > 60 ? 60 : (int)(end - name), name);
        if (s->count == FORMULA_MAX_STEPS)
            return error_new("more than %d statements", FORMULA_MAX_STEPS);
        struct statement *statement = &s->items[s->count++];
        *statement = (struct statement){.name = arena_strndup(s->arena, name, named)};
        struct akgen_error *error =
            expr_tree_parse(s->arena, arena_strndup(s->arena, at + 1, (size_t)(end - at - 1)), &statement->tree);
        if (error)
            return error_prefix(error, "%s", statement->name);
    }
    return s->count ? NULL : error_new("no statement, expected name = expression");
}

/* The statement that a name means in front of number `before`; -1: an input, or nobody. */
static int assigned(const struct statements *s, const char *name, int before)
{
    for (int i = before - 1; i >= 0; i--)
        if (strcmp(s->items[i].name, name) == 0)
            return i;
    return -1;
}

static bool is_taken(const struct statements *s, const char *name, int count)
{
    const struct task *task = s->task;
    if (task_input_index(task, name) != TASK_NONE || task_output_index(task, name) != TASK_NONE ||
        task_attr_index(task, name) != TASK_NONE)
        return true;
    for (int i = 0; i < s->count; i++)
        if ((i < count && strcmp(s->items[i].unique, name) == 0) || strcmp(s->items[i].name, name) == 0)
            return true;
    return false;
}

static void name_steps(struct statements *s)
{
    for (int i = 0; i < s->count; i++) {
        struct statement *statement = &s->items[i];
        const struct task *task = s->task;
        bool alone = assigned(s, statement->name, i) < 0 && assigned(s, statement->name, s->count) == i;
        statement->unique = statement->name;
        if (alone && task_input_index(task, statement->name) == TASK_NONE &&
            task_output_index(task, statement->name) == TASK_NONE &&
            task_attr_index(task, statement->name) == TASK_NONE)
            continue;
        for (int number = 1; is_taken(s, statement->unique, i); number++)
            statement->unique = arena_printf(s->arena, "%s_%d", statement->name, number);
    }
}

static void rename_words(const struct statements *s, struct expr *expr, int statement)
{
    int step = expr->node == NODE_WORD ? assigned(s, expr->name, statement) : -1;
    if (step >= 0)
        expr->name = s->items[step].unique;
    for (int i = 0; i < expr->kid_count; i++)
        if (expr->kids[i])
            rename_words(s, expr->kids[i], statement);
}

/* Marks what a statement needs, whose names are the steps' own by now. */
static void need(struct statements *s, const struct expr *expr)
{
    if (expr->node == NODE_WORD)
        for (int i = 0; i < s->count; i++)
            if (strcmp(s->items[i].unique, expr->name) == 0) {
                s->items[i].shared = true;
                if (!s->items[i].needed) {
                    s->items[i].needed = true;
                    need(s, s->items[i].tree);
                }
            }
    for (int i = 0; i < expr->kid_count; i++)
        if (expr->kids[i])
            need(s, expr->kids[i]);
}

static bool mentions(const struct expr *expr, const char *name)
{
    if (expr->node == NODE_WORD && strcmp(expr->name, name) == 0)
        return true;
    for (int i = 0; i < expr->kid_count; i++)
        if (expr->kids[i] && mentions(expr->kids[i], name))
            return true;
    return false;
}

/* Steps in front of what an expression needs, each where it is needed first. */
static void add_steps(struct statements *s, const struct expr *expr, struct text *text)
{
    for (int i = 0; i < s->count; i++) {
        struct statement *statement = &s->items[i];
        if (statement->written || !mentions(expr, statement->unique))
            continue;
        statement->written = true;
        add_steps(s, statement->tree, text);
        text_addf(text, "%s = ", statement->unique);
        expr_print(text, statement->tree);
        text_add(text, "; ");
    }
}

static struct akgen_error *set_formula(struct statements *s, struct task *copy, int output)
{
    struct formula_name names[FORMULA_MAX_NAMES];
    struct task_param *param = &copy->outputs[output];
    int last = assigned(s, param->name, s->count);
    const struct statement *statement = &s->items[last];
    struct text text = {0};
    if (statement->shared) {
        struct expr word = {.node = NODE_WORD, .name = statement->unique};
        add_steps(s, &word, &text);
        text_add(&text, statement->unique);
    } else {
        add_steps(s, statement->tree, &text);
        expr_print(&text, statement->tree);
    }
    int count = task_formula_names(s->arena, copy, true, names);
    const struct formula *before = output ? copy->outputs[output - 1].formula : NULL;
    struct akgen_error *error =
        formula_parse(s->arena, text.bytes, names, count, before, param->name, output, &param->formula);
    text_free(&text);
    return error;
}

static bool has_lists(const struct task *task)
{
    for (int i = 0; i < task->input_count; i++)
        if (task->inputs[i].kind == TASK_TENSOR_LIST)
            return true;
    return false;
}

struct akgen_error *task_with_formulas(struct arena *arena, const struct task *task, const char *text,
                                       struct task *copy)
{
    struct statements s = {.arena = arena, .task = task};
    struct akgen_error *error = parse(&s, text);
    *copy = *task;
    copy->outputs = arena_copy(arena, task->outputs, sizeof *task->outputs * (size_t)task->output_count);
    if (!has_lists(task)) { /* formulas of lists are those of each member, which no reference computes */
        copy->reference = task_reference_find("formula");
        copy->signature = NULL;
    }
    for (int i = 0; i < task->output_count && !error; i++)
        if (assigned(&s, task->outputs[i].name, s.count) < 0)
            error = error_new("no statement for output '%s'", task->outputs[i].name);
    if (error)
        return error;
    name_steps(&s);
    for (int i = 0; i < s.count; i++)
        rename_words(&s, s.items[i].tree, i);
    for (int i = 0; i < task->output_count; i++) {
        struct statement *last = &s.items[assigned(&s, task->outputs[i].name, s.count)];
        last->needed = true;
        need(&s, last->tree);
    }
    for (int i = 0; i < task->output_count && !error; i++)
        error = set_formula(&s, copy, i);
    return error;
}

const char *task_answer_grammar(struct arena *arena, const struct task *task)
{
    struct formula_name names[FORMULA_MAX_NAMES];
    int count = task_formula_names(arena, task, true, names), kept = 0;
    struct formula_readable *readable = arena_alloc(arena, (size_t)(count + 1) * sizeof *readable);
    const char **outputs = arena_alloc(arena, (size_t)(task->output_count + 1) * sizeof *outputs);
    for (int i = 0; i < count; i++)
        if (!names[i].refusal)
            readable[kept++] = (struct formula_readable){
                names[i].name, i >= task->input_count && task->attrs[i - task->input_count].type == TASK_ATTR_INT,
                i < task->input_count && task->inputs[i].kind != TASK_SCALAR && task->inputs[i].types[0] != AKGEN_BOOL};
    for (int i = 0; i < task->output_count; i++)
        outputs[i] = task->outputs[i].name;
    return formula_answer_grammar(
        arena, &(struct formula_answer){readable, kept, outputs, task->output_count, has_lists(task)});
}
