/* A task in as few words as a small model reads: its description without tables and files, then a line for each tensor and attribute. */
#include "base/text.h"
#include "gen/prompt_internal.h"

#include <ctype.h>
#include <string.h>

/* A line of a description as the brief has it: joined to the one before it where that goes on, without what says nothing of the
 * operator. */
static void add_line(struct text *brief, const char *line, size_t length)
{
    bool item = length > 1 && (*line == '-' || *line == '*') && line[1] == ' ';
    bool begins = item || !brief->length || brief->bytes[brief->length - 1] == '\n';
    while (length && isspace((unsigned char)line[length - 1]))
        length--;
    while (!item && length && isspace((unsigned char)*line))
        line++, length--;
    if (!begins)
        text_add(brief, " ");
    else if (item && brief->length && brief->bytes[brief->length - 1] != '\n')
        text_add(brief, "\n");
    text_append(brief, line, length);
}

/* Tables, headings and what all tasks say are left out. */
static bool says_something(const char *line, size_t length)
{
    static const char *const usual[] = {"All tensors of a call have the same data type", "The OpDef offers",
                                        "Attributes:", "- Any shape may come", "Rules:"};
    if (*line == '|' || *line == '#')
        return false;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (length >= strlen(usual[i]) && strncmp(line, usual[i], strlen(usual[i])) == 0)
            return false;
    return true;
}

static void add_tensor(struct text *brief, const struct task *task, const struct task_instance *instance, bool output,
                       int number)
{
    const struct task_param *param = output ? &task->outputs[number] : &task->inputs[number];
    const struct task_argument *argument = output ? &instance->outputs[number] : &instance->inputs[number];
    text_addf(brief, "%s %s", output ? "out" : "in", param->name);
    if (!argument->count) {
        text_add(brief, " absent\n");
        return;
    }
    if (argument->count > 1 || param->kind == TASK_TENSOR_LIST)
        text_add(brief, " list");
    text_addf(brief, " %s [", akgen_dtype_name(argument->tensors[0].type));
    for (int i = 0; i < argument->tensors[0].rank; i++)
        text_addf(brief, "%s%lld", i ? "," : "", (long long)argument->tensors[0].dims[i]);
    text_add(brief, output && param->in_place != TASK_NONE ? "] in place\n" : "]\n");
}

struct akgen_error *gen_task_brief(struct arena *arena, const struct task *task, const char **brief)
{
    struct text text = {0};
    const char *description;
    struct task_instance *instance;
    struct akgen_error *error = prompt_description(arena, task, &description);
    if (error || (error = task_instance_shapes(task, &task->cases[0], &instance)))
        return error;
    text_addf(&text, "%s\n", task->op_type);
    bool skipped = false; /* the paragraph, whose first line is left out */
    for (const char *line = description; *line;) {
        size_t length = strcspn(line, "\n");
        bool item = length > 1 && *line == '-' && line[1] == ' ';
        if (!length) {
            if (text.length && text.bytes[text.length - 1] != '\n')
                text_add(&text, "\n");
            skipped = false;
        } else if (!says_something(line, length)) {
            skipped = true;
        } else if (!skipped || item) {
            add_line(&text, line, length);
            skipped = false;
        }
        line += length + (line[length] == '\n');
    }
    if (text.length && text.bytes[text.length - 1] != '\n')
        text_add(&text, "\n");
    for (int i = 0; i < task->input_count; i++)
        add_tensor(&text, task, instance, false, i);
    for (int i = 0; i < task->attr_count; i++)
        text_addf(&text, "attr %s %s\n", task->attrs[i].name, task_attr_type_names[task->attrs[i].type]);
    for (int i = 0; i < task->output_count; i++)
        add_tensor(&text, task, instance, true, i);
    task_instance_free(instance);
    *brief = arena_strndup(arena, text.bytes, text.length - 1);
    text_free(&text);
    return NULL;
}

struct akgen_error *prompt_text_brief(struct prompt_maker *maker, const char **text)
{
    return gen_task_brief(maker->arena, maker->task, text);
}

/* A small model knows the language that it was taught: zero-shot says nothing of it. */
bool prompt_is_explained(const struct prompt_maker *maker)
{
    return maker->options->variant != GEN_ZERO_SHOT;
}
