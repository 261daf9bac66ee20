/* The program around the texts of plans. Most tasks have one plan. Where there are several, stages, each runs behind a
 * tl.sync_all() of all cores on what those before have left in workspace; names of a later stage have its number. */
#include "base/text.h"
#include "dsl/plan.h"
#include "dsl/plan_print.h"
#include "op/op.h"

#include <ctype.h>
#include <string.h>

bool plan_is_reserved(const char *name)
{
    static const char *const words[] = {
        "and",    "as",    "assert", "break", "class",   "continue", "def",    "del",   "elif",  "else",
        "except", "False", "for",    "from",  "global",  "if",       "import", "in",    "is",    "lambda",
        "None",   "not",   "or",     "pass",  "raise",   "return",   "True",   "try",   "while", "with",
        "yield",  "tl",    "torch",  "math",  "min",     "max",      "abs",    "int",   "float", "bool",
        "len",    "range", "str",    "list",  "finally", "nonlocal", "async",  "await",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

struct composition {
    struct arena *arena;
    const struct task *task;
    const struct plan_parts *parts;
    int stages;
    const char *const *kept;
    int kept_count;
    const struct plan_lists *lists; /* NULL: none */
    struct text *out;
};

/* A word behind a mark is a name of the task, or begins with one: "x_ub". */
static bool is_own_name(const struct composition *c, const char *word)
{
    const struct task *task = c->task;
    const char *marked = arena_printf(c->arena, "%c%s", PLAN_MARK, word);
    bool own = false;
    for (int i = 0; i < task->input_count; i++)
        own |= strcmp(task->inputs[i].name, marked) == 0;
    for (int i = 0; i < task->output_count; i++)
        own |= strcmp(task->outputs[i].name, marked) == 0;
    for (int i = 0; i < task->attr_count; i++)
        own |= strcmp(task->attrs[i].name, marked) == 0;
    for (int i = 0; i < c->kept_count; i++)
        own |= strcmp(c->kept[i], marked) == 0;
    return own;
}

/* The text of a stage, counted from 0: variables of a later one get its number. What is called, comes behind a point, or is a
 * constant of the program is none. */
static void add_staged(const struct composition *c, const char *text, int stage)
{
    bool quoted = false, comment = false, marked = false, foreign = false;
    while (*text) {
        size_t length = 1;
        while (is_letter(*text) && is_letter(text[length]))
            length++;
        const char *word = arena_strndup(c->arena, text, length);
        comment = *text == '#' ? true : *text == '\n' ? false : comment;
        quoted ^= *text == '"' && !comment;
        bool keyword = text[length] == '=' && text[length + 1] != '=';
        bool variable = marked ? !is_own_name(c, word)
                               : (islower((unsigned char)*text) || *text == '_') && !foreign && !plan_is_reserved(word);
        text_add(c->out, word);
        if (stage && variable && !quoted && !comment && !keyword && text[length] != '(')
            text_addf(c->out, "_%d", stage + 1);
        marked = *text == PLAN_MARK;
        foreign = *text == '.' || isdigit((unsigned char)*text);
        text += length;
    }
}

/* Attributes and inputs that some stage uses; those of the host function with their types. */
static void add_names(const struct composition *c, const bool *used, bool types)
{
    const struct task *task = c->task;
    struct text *out = c->out;
    static const char *const annotations[TASK_ATTR_TYPES] = {
        [TASK_ATTR_INT] = ": int",    [TASK_ATTR_FLOAT] = ": float",        [TASK_ATTR_BOOL] = ": bool",
        [TASK_ATTR_STRING] = ": str", [TASK_ATTR_LIST_INT] = ": list[int]", [TASK_ATTR_LIST_FLOAT] = ": list[float]"};
    for (int i = 0; i < task->input_count; i++)
        if (types || used[i])
            text_addf(out, "%s%s, ", task->inputs[i].name,
                      !types                                ? ""
                      : task->inputs[i].optional            ? ": torch.Tensor = None"
                      : c->lists && c->lists->inputs[i]     ? ": list[torch.Tensor]"
                      : task->inputs[i].kind == TASK_SCALAR ? ": int | float"
                                                            : ": torch.Tensor");
    for (int i = 0; i < task->output_count; i++)
        text_addf(out, "%s%s%s", i ? ", " : "", task->outputs[i].name,
                  !types     ? ""
                  : c->lists ? ": list[torch.Tensor]"
                             : ": torch.Tensor");
    for (int i = 0; i < task->attr_count; i++)
        if (used[task->input_count + i] ||
            (types && annotations[task->attrs[i].type])) /* no formula takes texts and lists */
            text_addf(out, ", %s%s", task->attrs[i].name, types ? annotations[task->attrs[i].type] : "");
}

static void add_arguments(const struct composition *c, const bool *used)
{
    add_names(c, used, false);
    for (int i = 0; i < c->kept_count; i++)
        text_addf(c->out, ", %s", c->kept[i]);
    for (int i = 0; i < c->stages; i++)
        add_staged(c, c->parts[i].measures, i);
}

static void add_comment(const struct composition *c)
{
    for (int i = 0; i < c->task->output_count; i++)
        text_addf(c->out, "# %s = %s%s\n", c->task->outputs[i].name, c->task->outputs[i].formula->text,
                  c->lists ? ", for every tensor of the lists" : "");
    if (c->stages > 1)
        text_addf(
            c->out,
            "# In %d stages, behind each of which all cores wait for each other; what one leaves for a later one is in "
            "workspace.\n",
            c->stages);
    for (int i = 0; i < c->stages; i++) {
        if (c->stages > 1)
            text_addf(c->out, "# Stage %d.\n", i + 1);
        text_add(c->out, c->parts[i].comment);
    }
}

static void add_constants(const struct composition *c)
{
    bool wholes = false, strips = false;
    for (int i = 0; i < c->stages; i++) {
        wholes |= c->parts[i].wholes;
        strips |= c->parts[i].strips;
    }
    text_addf(c->out, "import tile.language as tl\n%s", wholes || strips ? "\n" : "");
    if (wholes)
        text_addf(c->out, "SHARES = %d  # at most: as many for each of 40 cores as for each of 48\n", PLAN_SHARES);
    if (strips)
        text_addf(c->out,
                  "STRIPS = %d  # of all rows together, at most\n"
                  "LONG = %d  # so long is a row that is worth the wait for each other\n",
                  PLAN_STRIPS, PLAN_LONG);
    text_add(c->out, "\n\n");
}

static void add_kernel(const struct composition *c)
{
    for (int i = 0; i < c->stages; i++)
        add_staged(c, c->parts[i].shares, i);
    for (int i = 0; i < c->stages; i++)
        add_staged(c, c->parts[i].buffers, i);
    for (int i = 0; i < c->stages; i++) {
        if (i)
            text_addf(c->out, "    tl.sync_all()\n    # stage %d\n", i + 1);
        add_staged(c, c->parts[i].body, i);
    }
}

static void add_host(const struct composition *c)
{
    for (int i = 0; i < c->stages; i++) {
        text_add(c->out, ", ");
        add_staged(c, "tile", i);
        text_addf(c->out, ": tl.constexpr = %d", c->parts[i].tile);
    }
    text_add(c->out, "):\n");
    for (int i = 0; i < c->task->output_count && !c->lists; i++)
        text_addf(c->out, "%s%s.numel()", i ? " + " : "    if ", c->task->outputs[i].name);
    text_add(c->out, c->lists ? "" : " == 0:\n        return\n");
    for (int i = 0; i < c->stages; i++)
        add_staged(c, c->parts[i].sizes, i);
}

/* As many cores as the stage takes that takes most. */
static void add_cores(const struct composition *c)
{
    for (int i = 0; i < c->stages; i++) {
        text_add(c->out, i + 1 < c->stages ? "max(" : "");
        add_staged(c, c->parts[i].cores, i);
        text_add(c->out, i + 1 < c->stages ? ", " : "");
    }
    for (int i = 1; i < c->stages; i++)
        text_add(c->out, ")");
}

void plan_compose(struct arena *arena, const struct task *task, const struct plan_parts *parts, int stages,
                  const char *const *kept, int kept_count, const struct plan_lists *lists, struct text *out)
{
    const struct composition c = {arena, task, parts, stages, kept, kept_count, lists, out};
    const char *stem = op_snake_case(arena, task->op);
    bool used[TASK_MAX_PARAMS + TASK_MAX_ATTRS] = {0};
    for (int s = 0; s < stages; s++) {
        for (int i = 0; i < task->input_count; i++)
            used[i] |= parts[s].used[i];
        for (int i = 0; i < task->attr_count; i++)
            used[task->input_count + i] |= parts[s].used[parts[s].inputs + i];
    }
    add_constants(&c);
    add_comment(&c);
    text_addf(out, "@ascend_kernel\ndef %s_kernel(", stem);
    add_arguments(&c, used);
    text_add(out, "):\n");
    add_kernel(&c);
    text_addf(out, "\n\ndef %s_host(", stem);
    add_names(&c, used, true);
    add_host(&c);
    text_addf(out, "    %s_kernel[", stem);
    add_cores(&c);
    text_add(out, "](");
    add_arguments(&c, used);
    text_add(out, ")\n");
}
