/* The types in python_bind_src: which of them torch's dispatcher takes, and what an aclnn function finds of a value of
 * another type than its own. */
#include "candidate/wrapper_internal.h"

#include <ctype.h>
#include <string.h>

static bool listed(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

const char *wrapper_type(struct arena *arena, const char *declaration, size_t length)
{
    static const char *const without[] = {"const",    "volatile", "static", "inline", "constexpr", "struct",
                                          "typename", "std",      "at",     "c10",    "torch",     NULL};
    char *type = arena_alloc(arena, length + 2), *out = type;
    for (const char *at = declaration, *end = declaration + length; at < end;) {
        size_t word = 0;
        while (at + word < end && wrapper_is_word(at[word]))
            word++;
        if (!word) {
            if (!isspace((unsigned char)*at) && *at != '&' && *at != ':')
                *out++ = *at;
            at++;
            continue;
        }
        if (!listed(arena_strndup(arena, at, word), without)) {
            if (out > type && wrapper_is_word(out[-1]))
                *out++ = ' ';
            memcpy(out, at, word);
            out += word;
        }
        at += word;
    }
    *out = '\0';
    return type;
}

/* Torch's dispatcher. */
static const char *const narrow_integers[] = {"int",
                                              "signed",
                                              "signed int",
                                              "int32_t",
                                              "short",
                                              "short int",
                                              "int16_t",
                                              "char",
                                              "signed char",
                                              "unsigned char",
                                              "int8_t",
                                              "uint8_t",
                                              "uint16_t",
                                              "uint32_t",
                                              "uint64_t",
                                              "unsigned",
                                              "size_t",
                                              "unsigned int",
                                              "unsigned long",
                                              "unsigned short",
                                              "unsigned long long",
                                              "unsigned long int",
                                              "long long",
                                              "long long int",
                                              "unsigned char",
                                              "unsigned long long int",
                                              NULL};
static const char *const other_reals[] = {"float", "long double", "Half", "BFloat16", NULL};

/* make_boxed_from_unboxed_functor.h of PyTorch, assert_is_valid_input_type and assert_is_valid_output_type: of numbers
 * int64_t, double and bool, in lists and optionals as well. */
const char *wrapper_dispatcher_wants(struct arena *arena, const char *type)
{
    static const char *const holders[] = {"optional", "vector", "ArrayRef", "OptionalArrayRef",
                                          "List",     "array",  "tuple",    NULL};
    size_t length = strlen(type), head = strcspn(type, "<");
    if (listed(type, narrow_integers))
        return "int64_t";
    if (listed(type, other_reals))
        return "double";
    if (strcmp(type, "vector<bool>") == 0)
        return "c10::List<bool>";
    if (strcmp(type, "char*") == 0)
        return "c10::string_view or std::string";
    if (!length || type[length - 1] != '>' || !listed(arena_strndup(arena, type, head), holders))
        return NULL;
    for (const char *at = type + head + 1; *at;) {
        size_t inner = 0;
        for (int depth = 0; at[inner] && (depth || !strchr(",>", at[inner])); inner++)
            depth += (at[inner] == '<') - (at[inner] == '>');
        const char *wants = wrapper_dispatcher_wants(arena, arena_strndup(arena, at, inner));
        if (wants)
            return wants;
        at += inner + (at[inner] != '\0');
    }
    return NULL;
}

struct registered { /* a TORCH_LIBRARY... block */
    struct arena *arena;
    const char *text;
    int first_line;
    struct op_wrapper *wrapper;
};

static bool refuse_type(struct registered *r, const char *at, const char *type, const char *name, const char *what)
{
    const char *wants = wrapper_dispatcher_wants(r->arena, type);
    return !wants ||
           wrapper_refuse(r->arena, r->wrapper, OP_WRAPPER_INVALID, "python_bind_src",
                          wrapper_line(r->text, r->first_line, at),
                          "this does not compile: torch's dispatcher takes %s, not %.60s, as %s of %.60s, which "
                          "TORCH_LIBRARY registers",
                          wants, type, what, name);
}

/* The parameters of a function or lambda whose list opens at `open`. */
static bool check_parameters(struct registered *r, const char *open, const char *name)
{
    const char *parts[WRAPPER_MAX_ARGUMENTS], *close;
    int count = wrapper_split_parameters(r->arena, open, parts, &close);
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(parts[i], "=");
        while (length && !wrapper_is_word(parts[i][length - 1]) && !strchr(">&*", parts[i][length - 1]))
            length--;
        const char *whole = wrapper_type(r->arena, parts[i], length);
        while (length && wrapper_is_word(parts[i][length - 1]))
            length--;
        const char *type = wrapper_type(r->arena, parts[i], length);
        if (!refuse_type(r, open, *type ? type : whole, name, "an argument"))
            return false;
    }
    return true;
}

/* The definition of a function that is registered by its name. */
static bool check_function(struct registered *r, const char *name)
{
    const char *parts[WRAPPER_MAX_ARGUMENTS], *close;
    for (const char *at = r->text; (at = wrapper_find_word(r->text, at, name)); at += strlen(name)) {
        const char *open = at + strlen(name), *begin = at;
        open += strspn(open, " \t\n");
        if (*open != '(' || wrapper_split(r->arena, open, parts, &close) < 0 || close[strspn(close, " \t\n")] != '{')
            continue;
        while (begin > r->text && isspace((unsigned char)begin[-1]))
            begin--;
        while (begin > r->text && !strchr("\n;{}", begin[-1]))
            begin--;
        return refuse_type(r, at, wrapper_type(r->arena, begin, (size_t)(at - begin)), name, "the result") &&
               check_parameters(r, open, name);
    }
    return true;
}

/* What a registration names: &f, f, TORCH_FN(f), torch::dispatch(key, f), a lambda. */
static bool check_registered(struct registered *r, const char *place, const char *what)
{
    const char *parts[WRAPPER_MAX_ARGUMENTS], *close, *open = strchr(what, '(');
    what += *what == '&';
    if (*what == '[') {
        const char *list = strchr(place, '[');
        list = list ? strchr(list, ']') : NULL;
        list = list ? list + 1 + strspn(list + 1, " \t\n") : NULL;
        return !list || *list != '(' || check_parameters(r, list, "the lambda");
    }
    if (wrapper_is_name(what))
        return check_function(r, what);
    int count = open ? wrapper_split(r->arena, open, parts, &close) : 0;
    return count < 1 || check_registered(r, place, parts[count - 1]);
}

static bool check_block(struct registered *r, const char *begin, const char *end)
{
    static const char *const calls[] = {"impl", "def"};
    const char *parts[WRAPPER_MAX_ARGUMENTS], *close;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (const char *at = begin; (at = wrapper_find_word(r->text, at, calls[i])) && at < end; at += 3) {
            const char *open = at + strlen(calls[i]);
            open += strspn(open, " \t\n");
            int count = at > r->text && at[-1] == '.' ? wrapper_split(r->arena, open, parts, &close) : 0;
            if (count >= 2 && !check_registered(r, open, parts[1]))
                return false;
        }
    return true;
}

bool wrapper_check_dispatcher(struct arena *arena, const char *text, int first_line, struct op_wrapper *wrapper)
{
    static const char *const macros[] = {"TORCH_LIBRARY_IMPL", "TORCH_LIBRARY", "TORCH_LIBRARY_FRAGMENT"};
    struct registered r = {arena, text, first_line, wrapper};
    const char *parts[WRAPPER_MAX_ARGUMENTS], *close, *end;
    for (size_t i = 0; i < sizeof macros / sizeof *macros; i++)
        for (const char *at = text; (at = wrapper_find_word(text, at, macros[i])); at++) {
            const char *open = at + strlen(macros[i]);
            open += strspn(open, " \t\n");
            if (*open != '(' || wrapper_split(arena, open, parts, &close) < 0)
                continue;
            close += strspn(close, " \t\n");
            if (*close == '{' && wrapper_split(arena, close, parts, &end) >= 0 && !check_block(&r, close, end))
                return false;
        }
    return true;
}

/* What aclnn finds. */
enum argument { NARROW, INTEGER, FLOAT, DOUBLE, POINTER, INT_LIST, OBJECT, ARGUMENTS };
static const char *const *const arguments[ARGUMENTS] = {
    [NARROW] = (const char *const[]){"int", "signed", "signed int", "int32_t", "short", "int16_t", "signed char",
                                     "int8_t", "char", NULL},
    [INTEGER] = (const char *const[]){"int64_t", "long", "long int", "long long", "long long int", "bool", "uint8_t",
                                      "uint16_t", "uint32_t", "unsigned", "unsigned int", "uint64_t", "size_t",
                                      "unsigned long", NULL},
    [FLOAT] = (const char *const[]){"float", NULL},
    [DOUBLE] = (const char *const[]){"double", NULL},
    [POINTER] = (const char *const[]){"char*", NULL},
    [INT_LIST] = (const char *const[]){"IntArrayRef", "ArrayRef<int64_t>", "optional<IntArrayRef>",
                                       "optional<ArrayRef<int64_t>>", NULL},
    [OBJECT] = (const char *const[]){"string", "string_view", "Scalar", "optional<double>", "optional<int64_t>",
                                     "optional<bool>", "vector<int64_t>", "vector<int>", "vector<float>",
                                     "vector<double>", "vector<bool>", NULL}};

/* What aclnn takes for an attribute (NULL: not known here), and how each argument gets there. */
#define WHOLE     OP_PASSED_WHOLE
#define LOW_HALF  OP_PASSED_LOW_HALF
#define UNSIGNED  OP_PASSED_UNSIGNED
#define ELSEWHERE OP_PASSED_ELSEWHERE
static const struct {
    const char *takes;
    enum op_passing passing[ARGUMENTS];
} attributes[OP_ATTR_LIST_LIST_INT + 1] = {
    /* in the order of enum argument */
    [OP_ATTR_BOOL] = {"bool", {WHOLE, WHOLE, ELSEWHERE, ELSEWHERE, ELSEWHERE, ELSEWHERE, ELSEWHERE}},
    [OP_ATTR_INT] = {"int64_t", {UNSIGNED, WHOLE, ELSEWHERE, ELSEWHERE, ELSEWHERE, ELSEWHERE, ELSEWHERE}},
    [OP_ATTR_FLOAT] = {"double", {ELSEWHERE, ELSEWHERE, LOW_HALF, WHOLE, ELSEWHERE, ELSEWHERE, ELSEWHERE}},
    [OP_ATTR_STRING] = {"char *", {ELSEWHERE, ELSEWHERE, ELSEWHERE, ELSEWHERE, WHOLE, ELSEWHERE, ELSEWHERE}},
    [OP_ATTR_LIST_INT] = {"aclIntArray *", {ELSEWHERE, ELSEWHERE, ELSEWHERE, ELSEWHERE, ELSEWHERE, WHOLE, ELSEWHERE}},
};

enum op_passing wrapper_passing(enum op_attr_type attr, const char *type, const char **wants)
{
    *wants = attributes[attr].takes;
    for (int i = 0; i < ARGUMENTS && *wants && type; i++)
        if (listed(type, arguments[i]))
            return attributes[attr].passing[i];
    return OP_PASSED_WHOLE;
}

json_t *op_wrapper_received(enum op_passing passing, json_t *value)
{
    /* A double whose upper half is zero is below 3e-314: nothing, as the float that the attribute is. */
    if (passing == OP_PASSED_LOW_HALF && json_is_number(value))
        return json_real(0);
    if (passing == OP_PASSED_UNSIGNED && json_is_integer(value))
        return json_integer((json_int_t)(uint32_t)json_integer_value(value));
    return json_incref(value);
}
