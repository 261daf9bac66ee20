/* python_bind_src: the function that pybind11 exports, and how it calls aclnn; then both halves together. */
#include "candidate/wrapper_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Of python_bind_src and model_src, which are read outside the jail: a hundred times what an author writes. */
enum { MAX_READ_BYTES = 32 << 10 };
static const char VARIABLE[] = "python_bind_src";

struct binding {
    struct arena *arena;
    struct op_wrapper *wrapper;
    const char *text; /* without comments */
    int first_line;
    const char *body; /* of the exported function, with its braces */
    const char *parameters[WRAPPER_MAX_ARGUMENTS];
    const char *types[WRAPPER_MAX_ARGUMENTS]; /* of wrapper_type */
    bool tensor[WRAPPER_MAX_ARGUMENTS];
    int parameter_count;
};

/* Comments become spaces; string literals stay. */
static char *without_comments(struct arena *arena, const char *source)
{
    char *text = arena_strdup(arena, source);
    for (char *p = text; *p; p++) {
        if (*p == '"') {
            for (p++; *p && *p != '"' && *p != '\n'; p++)
                p += *p == '\\' && p[1];
            if (!*p)
                break;
        } else if (p[0] == '/' && p[1] == '/') {
            for (; *p && *p != '\n'; p++)
                *p = ' ';
            p -= *p == 0;
        } else if (p[0] == '/' && p[1] == '*') {
            char *end = strstr(p + 2, "*/");
            end = end ? end + 1 : p + strlen(p) - 1;
            for (; p < end; p++)
                *p = *p == '\n' ? '\n' : ' ';
            *end = ' ';
        }
    }
    return text;
}

static bool refuse(struct binding *b, enum op_wrapper_kind kind, const char *at, const char *what, const char *which)
{
    int line = at ? wrapper_line(b->text, b->first_line, at) : b->first_line;
    return wrapper_refuse(b->arena, b->wrapper, kind, VARIABLE, line, "%s%.100s", what, which);
}

/* The C++ function behind custom_ops_lib.<name>: m.def("name", &function, ...). NULL if it is not exported. */
static const char *exported_function(struct binding *b, const char *name)
{
    const char *parts[WRAPPER_MAX_ARGUMENTS], *close;
    for (const char *at = b->text; (at = wrapper_find_word(b->text, at, "def")); at++) {
        const char *open = at + 3 + strspn(at + 3, " \t\n");
        int count = *open == '(' ? wrapper_split(b->arena, open, parts, &close) : 0;
        if (count < 2 || *parts[0] != '"' || strlen(parts[0]) != strlen(name) + 2 ||
            strncmp(parts[0] + 1, name, strlen(name)) != 0)
            continue;
        return parts[1] + (*parts[1] == '&');
    }
    return NULL;
}

/* Finds the definition: its parameters and its body. */
static bool find_definition(struct binding *b, const char *function)
{
    const char *close;
    for (const char *at = b->text; (at = wrapper_find_word(b->text, at, function)); at++) {
        const char *open = at + strlen(function);
        open += strspn(open, " \t\n");
        int count = *open == '(' ? wrapper_split_parameters(b->arena, open, b->parameters, &close) : -1;
        if (count < 0 || close[strspn(close, " \t\n")] != '{')
            continue;
        for (int i = 0; i < count; i++) {
            const char *end = strchr(b->parameters[i], '=');
            end = end ? end : b->parameters[i] + strlen(b->parameters[i]);
            while (end > b->parameters[i] && !wrapper_is_word(end[-1]))
                end--;
            const char *begin = end;
            while (begin > b->parameters[i] && wrapper_is_word(begin[-1]))
                begin--;
            b->tensor[i] = strstr(b->parameters[i], "Tensor") != NULL;
            b->types[i] = wrapper_type(b->arena, b->parameters[i], (size_t)(begin - b->parameters[i]));
            b->parameters[i] = arena_strndup(b->arena, begin, (size_t)(end - begin));
        }
        b->parameter_count = count;
        const char *body = close + strspn(close, " \t\n"), *parts[WRAPPER_MAX_ARGUMENTS], *end;
        if (wrapper_split(b->arena, body, parts, &end) < 0)
            return refuse(b, OP_WRAPPER_MORE, body, "the function cannot be read: ", function);
        /* Blanks around it keep its place: line numbers count from the start of the text. */
        char *copy = arena_strndup(b->arena, b->text, (size_t)(end - b->text));
        b->text = copy;
        b->body = copy + strlen(copy) - (end - body);
        return true;
    }
    return refuse(b, OP_WRAPPER_MORE, NULL, "there is no readable definition of ", function);
}

static bool listed(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* What a wrapper may call besides the operator: making outputs, asking for sizes and types. */
static bool is_harmless(const char *name, bool method)
{
    static const char *const functions[] = {
        "if",      "for",    "while",      "switch",       "sizeof",      "return",      "TORCH_CHECK",
        "Tensor",  "empty",  "empty_like", "zeros",        "zeros_like",  "IntArrayRef", "TensorOptions",
        "vector",  "max",    "min",        "EXEC_NPU_CMD", "static_cast", "ceil",        "SmallVector",
        "dtype",   "device", "make_tuple", "full",         "ones",        "tuple",       "Scalar",
        "int64_t", "int",    "ones_like",  "result_type",  "size_t",      "tie",         NULL};
    static const char *const methods[] = {
        "sizes",     "size",       "dim",        "options", "numel",     "scalar_type", "dtype",
        "device",    "push_back",  "vec",        "data",    "begin",     "end",         "resize",
        "reserve",   "contiguous", "ndimension", "defined", "has_value", "value",       "is_contiguous",
        "new_empty", "new_zeros",  "erase",      "insert",  "back",      "front",       "layout",
        "empty",     "pop_back",   "get_device", "type",    NULL};
    return listed(name, method ? methods : functions);
}

/* Calls that are none of those. */
static bool check_calls(struct binding *b)
{
    for (const char *open = b->body; (open = strchr(open, '(')); open++) {
        const char *end = open;
        while (end > b->body && isspace((unsigned char)end[-1]))
            end--;
        if (end[-1] == '>') /* a template's arguments: static_cast<float>(x) */
            for (int depth = 0; end > b->body && (depth || end[-1] == '>' || end[-1] == '<');) {
                end--;
                depth += (*end == '>') - (*end == '<');
                if (!depth)
                    break;
            }
        const char *begin = end;
        while (begin > b->body && wrapper_is_word(begin[-1]))
            begin--;
        const char *name = arena_strndup(b->arena, begin, (size_t)(end - begin));
        bool method = begin > b->body && (begin[-1] == '.' || begin[-1] == '>');
        bool declared = begin > b->body && isspace((unsigned char)begin[-1]) && !is_harmless(name, false) &&
                        strstr(b->body, "std::vector<int64_t> ") && wrapper_find_word(b->body, b->body, name) == begin;
        if (*name && !declared && !is_harmless(name, method))
            return refuse(b, OP_WRAPPER_MORE, begin, "the binding calls ", name);
    }
    return true;
}

/* Arithmetic on tensors: x * 2, x[0]. */
static bool check_arithmetic(struct binding *b)
{
    for (int i = 0; i < b->parameter_count; i++)
        for (const char *at = b->body; b->tensor[i] && (at = wrapper_find_word(b->body, at, b->parameters[i])); at++) {
            const char *next = at + strlen(b->parameters[i]), *before = at;
            next += strspn(next, " \t\n");
            while (before > b->body && isspace((unsigned char)before[-1]))
                before--;
            bool arrow = next[0] == '-' && next[1] == '>';
            if ((*next && strchr("+-*/[", *next) && !arrow) || strchr("+-*/", before[-1]))
                return refuse(b, OP_WRAPPER_MORE, at, "the binding computes with ", b->parameters[i]);
        }
    return true;
}

/* Number of the parameter that an expression is, -1 if it is none: x, x.contiguous(), static_cast<float>(x), or a
 * variable that one of these was assigned to. */
static int parameter_of(struct binding *b, const char *text, int depth)
{
    const char *inner, *close = strchr(text, '>');
    if ((inner = wrapper_without_suffix(b->arena, text, ".contiguous()")))
        return parameter_of(b, inner, depth);
    if (strncmp(text, "static_cast<", 12) == 0 && close &&
        (inner = wrapper_inside(b->arena, text, arena_strndup(b->arena, text, (size_t)(close + 2 - text)))))
        return parameter_of(b, inner, depth);
    for (int i = 0; i < b->parameter_count; i++)
        if (strcmp(b->parameters[i], text) == 0)
            return i;
    for (const char *at = b->body; depth < 4 && wrapper_is_name(text) && (at = wrapper_find_word(b->body, at, text));
         at++) {
        const char *equal = at + strlen(text);
        equal += strspn(equal, " \t\n");
        if (equal[0] != '=' || equal[1] == '=')
            continue;
        equal += 1 + strspn(equal + 1, " \t\n");
        return parameter_of(b, arena_strndup(b->arena, equal, strcspn(equal, ";")), depth + 1);
    }
    return -1;
}

/* Both halves together. */
static json_t *literal_value(const char *text, enum op_attr_type type)
{
    bool truth = strcasecmp(text, "true") == 0;
    if (type == OP_ATTR_STRING)
        return *text == '"' || *text == '\'' ? json_stringn(text + 1, strlen(text) - 2) : NULL;
    if (*text == '"' || *text == '\'')
        return NULL;
    double number = truth ? 1 : strcasecmp(text, "false") == 0 ? 0 : strtod(text, NULL);
    if (type == OP_ATTR_BOOL)
        return json_boolean(number != 0);
    if (type == OP_ATTR_INT && number > -9e18 && number < 9e18)
        return json_integer((json_int_t)number);
    return type == OP_ATTR_FLOAT ? json_real(number) : NULL;
}

/* The inputs must come in the order of forward's arguments, then of the module's parameters. */
static bool check_order(struct binding *b, const char *at, const struct wrapper_argument *argument, int input,
                        int *last)
{
    static const char other[] = "the arguments reach the operator in another order: its inputs are forward's "
                                "arguments, then the module's parameters";
    if (argument->source != SOURCE_FORWARD && argument->source != SOURCE_PARAMETER)
        return refuse(b, OP_WRAPPER_BROKEN, at, "an input of the operator is no tensor", "");
    int place = argument->order + (argument->source == SOURCE_PARAMETER) * 1000;
    bool follows = place > *last && (argument->source == SOURCE_PARAMETER || input <= argument->order);
    *last = place;
    return follows || refuse(b, OP_WRAPPER_MORE, at, other, "");
}

/* Numeric types that a cast or a declaration names. */
static const char *cast_type(struct binding *b, const char *text)
{
    static const char *const casts[] = {"float", "double", "int",      "int32_t", "int64_t",
                                        "bool",  "long",   "unsigned", NULL};
    const char *close = strchr(text, '>');
    if (strncmp(text, "static_cast<", 12) == 0 && close && close[1] == '(')
        return wrapper_type(b->arena, text + 12, (size_t)(close - text - 12));
    const char *name = text + (*text == '(');
    size_t length = strcspn(name, "()");
    const char *type = wrapper_type(b->arena, name, length);
    return name[length] == (*text == '(' ? ')' : '(') && listed(type, casts) ? type : NULL;
}

static const char *literal_type(const char *text)
{
    size_t length = strlen(text);
    if (*text == '"')
        return "char*";
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return "bool";
    if (!strpbrk(text, ".eE"))
        return "int";
    return text[length - 1] == 'f' ? "float" : "double";
}

/* The type of an argument (of wrapper_type): of a parameter, a cast, a constant or a variable that was declared with one of
 * these. NULL: not known. */
static const char *type_of(struct binding *b, const char *text, int depth)
{
    const char *type = cast_type(b, text);
    if (type || wrapper_is_literal(text))
        return type ? type : literal_type(text);
    for (int i = 0; i < b->parameter_count; i++)
        if (strcmp(b->parameters[i], text) == 0)
            return b->types[i];
    for (const char *at = b->body; depth < 4 && wrapper_is_name(text) && (at = wrapper_find_word(b->body, at, text));
         at += strlen(text)) {
        const char *begin = at, *after = at + strlen(text);
        while (begin > b->body && !strchr(";{}(,", begin[-1]))
            begin--;
        type = wrapper_type(b->arena, begin, (size_t)(at - begin));
        after += strspn(after, " \t\n");
        if (!*type || !strchr("=({;", *after) || !isalpha((unsigned char)*type) || strcmp(type, "return") == 0)
            continue;
        if (strcmp(type, "auto") != 0)
            return type;
        after += 1 + strspn(after + 1, " \t\n");
        return type_of(b, arena_strndup(b->arena, after, strcspn(after, ";")), depth + 1);
    }
    return NULL;
}

static bool bind_argument(struct binding *b, const char *at, const char *written, const struct wrapper_call *call,
                          const struct op_def *def, int index, int *last)
{
    int parameter = parameter_of(b, written, 0);
    const struct wrapper_argument *from =
        parameter >= 0 && parameter < call->count ? &call->arguments[parameter] : NULL;
    if (index < def->input_count)
        return from ? check_order(b, at, from, index, last)
                    : refuse(b, OP_WRAPPER_MORE, at, "the binding makes an input itself: ", written);
    int attr = index - def->input_count;
    struct op_wrapper_value *value = &b->wrapper->attrs[attr];
    const char *literal = from ? from->literal : wrapper_is_literal(written) ? written : NULL;
    if (!from && !literal)
        return refuse(b, OP_WRAPPER_MORE, at, "the binding computes an attribute: ", written);
    value->name = from ? from->name : NULL;
    if (literal && wrapper_is_literal(literal))
        value->value = literal_value(literal, def->attrs[attr].type);
    /* The aclnn function takes its arguments as the OpDef's attributes say; EXEC_NPU_CMD hands it what the binding has. */
    const char *wants, *type = type_of(b, written, 0);
    value->passing = wrapper_passing(def->attrs[attr].type, type, &wants);
    if (value->passing == OP_PASSED_WHOLE)
        return true;
    const char *what = arena_printf(b->arena, "the aclnn function takes %s for attribute '%s', the binding passes %s",
                                    wants, def->attrs[attr].name, type);
    if (value->passing == OP_PASSED_ELSEWHERE)
        return refuse(b, OP_WRAPPER_BROKEN, at, arena_printf(b->arena, "%s: ", what), written);
    if (value->passing == OP_PASSED_LOW_HALF)
        refuse(b, OP_WRAPPER_PLAIN, at,
               arena_printf(b->arena, "%s, whose bits are the low half of what it reads, with zeros above: ", what),
               written);
    value->note = value->passing == OP_PASSED_LOW_HALF
                      ? b->wrapper->reason
                      : arena_printf(b->arena, "%s, line %d: %s, which loses the sign: %s", VARIABLE,
                                     wrapper_line(b->text, b->first_line, at), what, written);
    return true;
}

static bool bind_call(struct binding *b, const struct wrapper_call *call, const struct op_def *def)
{
    static const char macro[] = "EXEC_NPU_CMD";
    const char *parts[WRAPPER_MAX_ARGUMENTS], *close, *at = wrapper_find_word(b->body, b->body, macro);
    const char *wanted = arena_printf(b->arena, "aclnn%s", def->type);
    if (!at)
        return refuse(b, OP_WRAPPER_FOREIGN, b->body,
                      "the function never calls EXEC_NPU_CMD: the answer's kernel is not used", "");
    if (wrapper_find_word(b->body, at + 1, macro))
        return refuse(b, OP_WRAPPER_MORE, at, "the binding calls EXEC_NPU_CMD more than once", "");
    const char *open = at + strlen(macro);
    int count = wrapper_split(b->arena, open + strspn(open, " \t\n"), parts, &close);
    if (count < 1)
        return refuse(b, OP_WRAPPER_BROKEN, at, "EXEC_NPU_CMD has no arguments that can be read", "");
    if (strcmp(parts[0], wanted) != 0)
        return refuse(b, OP_WRAPPER_FOREIGN, at,
                      arena_printf(b->arena, "the answer's operator is %s, the binding calls ", wanted), parts[0]);
    if (count - 1 != def->input_count + def->attr_count + def->output_count)
        return refuse(b, OP_WRAPPER_BROKEN, at,
                      arena_printf(b->arena,
                                   "%s takes %d inputs, %d attributes and %d outputs, the binding passes %d arguments",
                                   wanted, def->input_count, def->attr_count, def->output_count, count - 1),
                      "");
    int last = -1;
    for (int i = 0; i < def->input_count + def->attr_count; i++)
        if (!bind_argument(b, at, parts[i + 1], call, def, i, &last))
            return false;
    return true;
}

void op_wrapper_read(struct arena *arena, const struct op_response *response, const struct op_def *def,
                     struct op_wrapper *wrapper)
{
    *wrapper = (struct op_wrapper){.attr_count = def->attr_count};
    wrapper->attrs = arena_alloc(arena, sizeof *wrapper->attrs * (size_t)(def->attr_count + 1));
    struct wrapper_call *call = arena_alloc(arena, sizeof *call);
    struct binding *b = arena_alloc(arena, sizeof *b);
    const struct py_value *source = response->python_bind, *model = response->model;
    if (strlen(source->text) > MAX_READ_BYTES || strlen(model->text) > MAX_READ_BYTES) {
        wrapper_refuse(arena, wrapper, OP_WRAPPER_MORE, VARIABLE, source->line,
                       "it or model_src has more than %d bytes", MAX_READ_BYTES);
        return;
    }
    *b = (struct binding){.arena = arena,
                          .wrapper = wrapper,
                          .text = without_comments(arena, source->text),
                          .body = "",
                          .first_line = source->text_line ? source->text_line : source->line};
    if (!wrapper_check_dispatcher(arena, b->text, b->first_line, wrapper) ||
        !wrapper_read_model(arena, model, call, wrapper))
        return;
    const char *function = exported_function(b, call->function);
    if (!function)
        refuse(b, OP_WRAPPER_BROKEN, NULL,
               "ModelNew calls a function that the binding does not export: ", call->function);
    else if (!wrapper_is_name(function))
        refuse(b, OP_WRAPPER_MORE, NULL, "the exported function is no plain one: ", function);
    else if (find_definition(b, function) && check_calls(b) && check_arithmetic(b))
        bind_call(b, call, def);
}

void op_wrapper_release(struct op_wrapper *wrapper)
{
    for (int i = 0; i < wrapper->attr_count; i++) {
        json_decref(wrapper->attrs[i].value);
        wrapper->attrs[i].value = NULL;
    }
}
