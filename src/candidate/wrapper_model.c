/* model_src: the class ModelNew, by lines. What its constructor keeps is remembered by name; forward must be one call
 * of the extension. */
#include "candidate/wrapper_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_KEPT = 128 };
static const char VARIABLE[] = "model_src";

struct line { /* a logical line: what parentheses hold together */
    const char *text;
    int number, indent;
};
struct parameter { /* of a Python function */
    const char *name, *preset;
};
struct kept { /* self.name = text */
    const char *name, *text;
    bool parameter;
};
struct model {
    struct arena *arena;
    struct op_wrapper *wrapper;
    int first_line;
    struct line *lines;
    int line_count;
    struct parameter constructor[WRAPPER_MAX_ARGUMENTS], forward[WRAPPER_MAX_ARGUMENTS];
    int constructor_count, forward_count;
    struct kept kept[MAX_KEPT];
    int kept_count;
};

/* Blanks comments and triple-quoted strings; keeps line ends. */
static void blank(char *text)
{
    while (*text) {
        char quote = *text;
        if (quote == '#') {
            while (*text && *text != '\n')
                *text++ = ' ';
        } else if ((quote == '"' || quote == '\'') && text[1] == quote && text[2] == quote) {
            const char mark[] = {quote, quote, quote, 0};
            char *end = strstr(text + 3, mark);
            end = end ? end + 3 : text + strlen(text);
            for (; text < end; text++)
                *text = *text == '\n' ? '\n' : ' ';
        } else if (quote == '"' || quote == '\'') {
            for (text++; *text && *text != quote && *text != '\n'; text++)
                text += *text == '\\' && text[1];
            text += *text != 0;
        } else
            text++;
    }
}

/* Cuts the text into logical lines; the blank ones are left out. */
static void cut_lines(struct model *model, const char *source)
{
    char *text = arena_strdup(model->arena, source);
    int number = 1, capacity = 1;
    blank(text);
    for (const char *c = text; *c; c++)
        capacity += *c == '\n';
    model->lines = arena_alloc(model->arena, sizeof *model->lines * (size_t)capacity);
    for (char *at = text; *at;) {
        char *begin = at;
        int depth = 0, first = number;
        for (; *at && (*at != '\n' || depth > 0 || (at > begin && at[-1] == '\\')); at++) {
            depth += *at == '(' || *at == '[' || *at == '{';
            depth -= *at == ')' || *at == ']' || *at == '}';
            if (*at == '\n') {
                number++;
                at[at[-1] == '\\' ? -1 : 0] = ' ';
                *at = ' ';
            }
        }
        char *end = at;
        if (*at) {
            number++;
            at++;
        }
        while (end > begin && isspace((unsigned char)end[-1]))
            end--;
        *end = '\0';
        int indent = (int)strspn(begin, " \t");
        if (begin[indent])
            model->lines[model->line_count++] = (struct line){begin + indent, first, indent};
    }
}

static bool refuse(struct model *model, enum op_wrapper_kind kind, const struct line *line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool refuse(struct model *model, enum op_wrapper_kind kind, const struct line *line, const char *format, ...)
{
    char message[300];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return wrapper_refuse(model->arena, model->wrapper, kind, VARIABLE,
                          model->first_line + (line ? line->number - 1 : 0), "%s", message);
}

/* Index of the line that starts with `words` inside the block that line `from` opens; -1 if there is none. */
static int find_line(const struct model *model, int from, const char *words)
{
    int outer = from >= 0 ? model->lines[from].indent : -1;
    for (int i = from + 1; i < model->line_count && model->lines[i].indent > outer; i++)
        if (strncmp(model->lines[i].text, words, strlen(words)) == 0 &&
            !isalnum((unsigned char)model->lines[i].text[strlen(words)]))
            return i;
    return -1;
}

/* The parameters of a `def`, without self: "x: torch.Tensor", "slope: float = 0.1". */
static int read_parameters(struct model *model, const struct line *line, struct parameter *parameters)
{
    const char *parts[WRAPPER_MAX_ARGUMENTS], *close, *open = strchr(line->text, '(');
    int count = open ? wrapper_split(model->arena, open, parts, &close) : -1, kept = 0;
    for (int i = 0; i < count; i++) {
        const char *equal = strchr(parts[i], '=');
        const char *name = arena_strndup(model->arena, parts[i], strcspn(parts[i], ":= "));
        if (strcmp(name, "self") == 0)
            continue;
        equal = equal ? equal + 1 + strspn(equal + 1, " ") : NULL;
        parameters[kept++] = (struct parameter){name, equal};
    }
    return count < 0 ? -1 : kept;
}

static int find_parameter(const struct parameter *parameters, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(parameters[i].name, name) == 0)
            return i;
    return -1;
}

/* float(x), int(x), x.contiguous(): the same value. */
static const char *same_value(struct arena *arena, const char *text)
{
    const char *inner;
    if ((inner = wrapper_without_suffix(arena, text, ".contiguous()")) ||
        (inner = wrapper_inside(arena, text, "float(")) || (inner = wrapper_inside(arena, text, "int(")) ||
        (inner = wrapper_inside(arena, text, "bool(")))
        return same_value(arena, inner);
    return text;
}

/* Where one argument of the call comes from. */
static bool trace(struct model *model, const struct line *line, const char *written, struct wrapper_argument *argument)
{
    const char *text = same_value(model->arena, written);
    int at = find_parameter(model->forward, model->forward_count, text);
    if (at >= 0) {
        *argument = (struct wrapper_argument){SOURCE_FORWARD, at, text, model->forward[at].preset};
    } else if (wrapper_is_literal(text)) {
        *argument = (struct wrapper_argument){SOURCE_LITERAL, 0, NULL, text};
    } else if (strncmp(text, "self.", 5) == 0 && wrapper_is_name(text + 5)) {
        const struct kept *kept = NULL;
        int order = 0;
        for (int i = 0; i < model->kept_count; i++)
            if (strcmp(model->kept[i].name, text + 5) == 0) {
                kept = &model->kept[i];
                order = i;
            }
        const char *value = kept ? same_value(model->arena, kept->text) : "";
        int from = find_parameter(model->constructor, model->constructor_count, value);
        if (kept && kept->parameter)
            *argument = (struct wrapper_argument){SOURCE_PARAMETER, order, NULL, NULL};
        else if (from >= 0)
            *argument = (struct wrapper_argument){SOURCE_CONSTRUCTOR, from, value, model->constructor[from].preset};
        else if (wrapper_is_literal(value))
            *argument = (struct wrapper_argument){SOURCE_LITERAL, 0, NULL, value};
        else
            return refuse(model, OP_WRAPPER_MORE, line, "forward passes %.60s, which the constructor computes", text);
    } else
        return refuse(model, OP_WRAPPER_MORE, line, "forward computes an argument of the call: %.80s", written);
    return true;
}

/* "custom_ops_lib.name(" or, with `import custom_ops_lib as ops`, "ops.name(": the length of the module's name. */
static const char *extension_name(struct model *model)
{
    static const char import[] = "import custom_ops_lib as ";
    for (int i = 0; i < model->line_count; i++)
        if (strncmp(model->lines[i].text, import, strlen(import)) == 0)
            return model->lines[i].text + strlen(import);
    return "custom_ops_lib";
}

static bool read_call(struct model *model, const struct line *line, const char *text, struct wrapper_call *call)
{
    const char *parts[WRAPPER_MAX_ARGUMENTS], *close, *module = extension_name(model);
    size_t head = strlen(module);
    const char *open = strchr(text, '(');
    if (strncmp(text, module, head) != 0 || text[head] != '.' || !open)
        return refuse(model, OP_WRAPPER_MORE, line, "forward does more than one plain call: %.80s", text);
    call->function = arena_strndup(model->arena, text + head + 1, (size_t)(open - text) - head - 1);
    call->count = wrapper_split(model->arena, open, parts, &close);
    if (call->count < 0 || !wrapper_is_name(call->function) || close[strspn(close, " ")])
        return refuse(model, OP_WRAPPER_MORE, line, "forward does more than one plain call: %.80s", text);
    for (int i = 0; i < call->count; i++)
        if (!trace(model, line, parts[i], &call->arguments[i]))
            return false;
    return true;
}

/* `x = x.contiguous()`: the tensors of a task are. */
static bool keeps_value(struct model *model, const char *text)
{
    const char *name = arena_strndup(model->arena, text, strcspn(text, " ="));
    return wrapper_is_name(name) && strcmp(text, arena_printf(model->arena, "%s = %s.contiguous()", name, name)) == 0;
}

/* True if the extension, or something that may be it, is used in lines begin .. end - 1. */
static bool uses_extension(struct model *model, int begin, int end)
{
    const char *use = arena_printf(model->arena, "%s.", extension_name(model));
    for (int i = begin; i < end; i++)
        if (strstr(model->lines[i].text, use) || strstr(model->lines[i].text, "from custom_ops_lib import") ||
            strstr(model->lines[i].text, "torch.ops."))
            return true;
    return false;
}

/* `return lib.f(x)`, or `y = lib.f(x)` and `return y`; before it lines that change nothing. */
static bool read_forward(struct model *model, int at, struct wrapper_call *call)
{
    const struct line *first = &model->lines[at + 1], *def = &model->lines[at];
    int count = 0;
    while (at + 1 + count < model->line_count && first[count].indent > def->indent)
        count++;
    const char *module = extension_name(model);
    if (!uses_extension(model, 0, model->line_count))
        return refuse(model, OP_WRAPPER_FOREIGN, def, "ModelNew never calls %s: the answer's kernel is not used",
                      module);
    if (!count)
        return refuse(model, OP_WRAPPER_BROKEN, def, "forward has no body");
    for (; count > 1 && keeps_value(model, first->text); count--)
        first++;
    if (count == 1 && strncmp(first->text, "return ", 7) == 0)
        return read_call(model, first, first->text + 7 + strspn(first->text + 7, " "), call);
    const char *equal = strchr(first->text, '=');
    if (count == 2 && equal && strncmp(first[1].text, "return ", 7) == 0) {
        const char *name = arena_strndup(model->arena, first->text, strcspn(first->text, " ="));
        if (wrapper_is_name(name) && strcmp(first[1].text + 7 + strspn(first[1].text + 7, " "), name) == 0)
            return read_call(model, first, equal + 1 + strspn(equal + 1, " "), call);
    }
    const struct line *other = first;
    for (int i = 0; i < count && strstr(other->text, module); i++)
        other = &first[i];
    return refuse(model, OP_WRAPPER_MORE, other, "forward does more than one plain call: %.80s", other->text);
}

bool wrapper_read_model(struct arena *arena, const struct py_value *source, struct wrapper_call *call,
                        struct op_wrapper *wrapper)
{
    struct model *model = arena_alloc(arena, sizeof *model);
    *model = (struct model){
        .arena = arena, .wrapper = wrapper, .first_line = source->text_line ? source->text_line : source->line};
    cut_lines(model, source->text);
    int class = find_line(model, -1, "class ModelNew");
    if (class < 0)
        return refuse(model, OP_WRAPPER_BROKEN, NULL, "there is no class ModelNew");
    int constructor = find_line(model, class, "def __init__"), forward = find_line(model, class, "def forward");
    if (forward < 0)
        return refuse(model, OP_WRAPPER_BROKEN, &model->lines[class], "ModelNew has no method forward");
    if (constructor >= 0) {
        model->constructor_count = read_parameters(model, &model->lines[constructor], model->constructor);
        /* self.weight = nn.Parameter(...), self.eps = eps. */
        for (int i = constructor + 1;
             i < model->line_count && model->lines[i].indent > model->lines[constructor].indent; i++) {
            const char *text = model->lines[i].text, *equal = strchr(text, '=');
            if (strncmp(text, "self.", 5) != 0 || !equal || equal[1] == '=' || model->kept_count == MAX_KEPT)
                continue;
            const char *name = arena_strndup(model->arena, text + 5, strcspn(text + 5, " :=+-*/"));
            const char *value = equal + 1 + strspn(equal + 1, " ");
            bool parameter = strncmp(value, "nn.Parameter(", 13) == 0 ||
                             strncmp(value, "torch.nn.Parameter(", 19) == 0 || strncmp(value, "Parameter(", 10) == 0;
            model->kept[model->kept_count++] = (struct kept){name, value, parameter};
        }
    }
    model->forward_count = read_parameters(model, &model->lines[forward], model->forward);
    if (model->constructor_count < 0 || model->forward_count < 0)
        return refuse(model, OP_WRAPPER_BROKEN, &model->lines[forward], "the arguments of a method cannot be read");
    return read_forward(model, forward, call);
}
