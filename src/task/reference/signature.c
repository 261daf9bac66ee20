/* The text of a signature -> struct reference_signature; signature.h explains the language. One pass over the items,
 * then the names of variables are joined with the attributes and lists that they stand for. */
#include "task/reference/signature.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct arena *arena;
    const char *at;
    struct reference_signature *signature;
    const char *same_as[2 * SIGNATURE_PARAMS]; /* names of the inputs whose types these are: inputs, then outputs */
};

static void __attribute__((noreturn)) malformed(const struct reader *reader, const char *expected)
{
    fprintf(stderr, "akgen: the signature of %s: expected %s at '%s'\n", reader->signature->reference, expected,
            reader->at);
    abort();
}

/* Tokens. */
static bool peek(struct reader *reader, const char *token)
{
    reader->at += strspn(reader->at, " ");
    size_t length = strlen(token);
    bool word = isalnum((unsigned char)token[length - 1]);
    return strncmp(reader->at, token, length) == 0 && !(word && isalnum((unsigned char)reader->at[length]));
}

static bool accept(struct reader *reader, const char *token)
{
    bool found = peek(reader, token);
    reader->at += found ? strlen(token) : 0;
    return found;
}

static void need(struct reader *reader, const char *token)
{
    if (!accept(reader, token))
        malformed(reader, token);
}

/* Letters, digits and underscores. */
static const char *word(struct reader *reader)
{
    size_t length = 0;
    reader->at += strspn(reader->at, " ");
    while (isalnum((unsigned char)reader->at[length]) || reader->at[length] == '_')
        length++;
    if (!length)
        malformed(reader, "a word");
    const char *text = arena_strndup(reader->arena, reader->at, length);
    reader->at += length;
    return text;
}

static bool number(struct reader *reader, int64_t *value)
{
    reader->at += strspn(reader->at, " ");
    bool negative = *reader->at == '-' && isdigit((unsigned char)reader->at[1]);
    if (!negative && !isdigit((unsigned char)*reader->at))
        return false;
    char *end;
    *value = strtoll(reader->at, &end, 10);
    reader->at = end;
    return true;
}

/* What stands up to one of `ends` outside brackets and quotes, without spaces around it. */
static const char *up_to(struct reader *reader, const char *ends)
{
    size_t length = 0;
    int depth = 0;
    reader->at += strspn(reader->at, " ");
    for (bool quoted = false; reader->at[length]; length++) {
        char c = reader->at[length];
        quoted ^= c == '\'';
        depth += !quoted && (c == '[' || c == '(') ? 1 : !quoted && (c == ']' || c == ')') ? -1 : 0;
        if (!quoted && depth == 0 && (strchr(ends, c) || (c == '-' && reader->at[length + 1] == '>')))
            break;
    }
    const char *text = reader->at;
    reader->at += length;
    while (length && text[length - 1] == ' ')
        length--;
    return arena_strndup(reader->arena, text, length);
}

/* Sizes. */
int signature_variable(const struct reference_signature *signature, const char *name)
{
    for (int i = 0; i < signature->name_count; i++)
        if (strcmp(signature->names[i].name, name) == 0)
            return i;
    return TASK_NONE;
}

int signature_attr(const struct reference_signature *signature, const char *name)
{
    for (int i = 0; i < signature->attr_count; i++)
        if (strcmp(signature->attrs[i].name, name) == 0)
            return i;
    return TASK_NONE;
}

/* The variable at the reader: `name`, `*run`, `*run:dims`, `@name`, `#list`. */
static int variable(struct reader *reader)
{
    struct reference_signature *signature = reader->signature;
    struct signature_variable found = {.dims = TASK_NONE, .attr = TASK_NONE, .list = TASK_NONE, .alone = true};
    found.run = accept(reader, "*");
    found.per_tensor = accept(reader, "@");
    const char *mark = accept(reader, "#") ? "#" : "";
    found.name = arena_printf(reader->arena, "%s%s", mark, word(reader));
    if (found.run && accept(reader, ":"))
        found.dims = variable(reader);
    int index = signature_variable(signature, found.name);
    if (index == TASK_NONE) {
        if (signature->name_count == SIGNATURE_NAMES)
            malformed(reader, "fewer variables");
        index = signature->name_count++;
        signature->names[index] = found;
    }
    if (found.dims != TASK_NONE)
        signature->names[index].dims = found.dims;
    return index;
}

static struct signature_size size(struct reader *reader)
{
    struct signature_size size = {.number = 1};
    do {
        int64_t factor;
        if (number(reader, &factor))
            size.number *= factor;
        else if (size.count < SIGNATURE_FACTORS)
            size.variables[size.count++] = variable(reader);
        else
            malformed(reader, "fewer factors");
    } while (accept(reader, "*"));
    if (!peek(reader, "->") && (accept(reader, "+") || peek(reader, "-"))) {
        int64_t sign = accept(reader, "-") ? -1 : 1;
        if (!number(reader, &size.offset))
            malformed(reader, "a number");
        size.offset *= sign;
    }
    return size;
}

static struct signature_shape shape(struct reader *reader)
{
    struct signature_shape shape = {.counted = accept(reader, "(")};
    const char *end = shape.counted ? ")" : "]";
    if (!shape.counted)
        need(reader, "[");
    while (!accept(reader, end)) {
        if (shape.count == TASK_MAX_RANK)
            malformed(reader, "fewer sizes");
        const struct signature_size *added = &shape.sizes[shape.count];
        shape.sizes[shape.count++] = size(reader);
        bool plain = added->count == 1 && added->number == 1 && !added->offset;
        for (int i = 0; i < added->count; i++)
            reader->signature->names[added->variables[i]].alone &= shape.counted && plain;
        if (!peek(reader, end))
            need(reader, ",");
    }
    return shape;
}

static struct signature_range range(struct reader *reader)
{
    struct signature_range range = {0};
    if (!peek(reader, "..")) {
        range.from = true;
        range.low = size(reader);
    }
    need(reader, "..");
    if (*reader->at && !strchr(" ,;|", *reader->at)) {
        range.to = true;
        range.high = size(reader);
    }
    return range;
}

/* Inputs and outputs. */
static uint64_t types(struct reader *reader)
{
    static const char *const floating[] = {"float16", "float32", "bfloat16", NULL};
    static const char *const integer[] = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", NULL};
    static const char *const index[] = {"int32", "int64", NULL}, *const other[] = {"uint64", "bool", "float64",
                                                                                   "complex64", NULL};
    static const struct {
        const char *name;
        const char *const *members[3];
    } classes[] = {{"floating", {floating}},
                   {"integer", {integer}},
                   {"index", {index}},
                   {"number", {floating, integer}},
                   {"any", {floating, integer, other}}};
    uint64_t bits = 0;
    do {
        const char *name = word(reader);
        enum akgen_dtype type = akgen_dtype_parse(name);
        uint64_t before = bits;
        bits |= type == AKGEN_DTYPE_NONE ? 0 : UINT64_C(1) << type;
        for (size_t c = 0; c < sizeof classes / sizeof *classes; c++)
            for (int m = 0; strcmp(classes[c].name, name) == 0 && m < 3 && classes[c].members[m]; m++)
                for (const char *const *member = classes[c].members[m]; *member; member++)
                    bits |= UINT64_C(1) << akgen_dtype_parse(*member);
        if (bits == before)
            malformed(reader, "another data type");
    } while (accept(reader, "/"));
    return bits;
}

static void param_shapes(struct reader *reader, struct signature_param *param)
{
    param->shapes[param->shape_count++] = shape(reader);
    param->chosen_by = TASK_NONE;
    if (accept(reader, "or")) {
        param->shapes[param->shape_count++] = shape(reader);
    } else if (accept(reader, "if")) {
        const char *attr = word(reader);
        need(reader, "=");
        param->word = word(reader);
        need(reader, "else");
        param->shapes[param->shape_count++] = shape(reader);
        /* The attribute is not known yet: a variable keeps its name. */
        param->chosen_by = signature_variable(reader->signature, attr);
        if (param->chosen_by == TASK_NONE) {
            param->chosen_by = reader->signature->name_count++;
            reader->signature->names[param->chosen_by] =
                (struct signature_variable){.name = attr, .dims = TASK_NONE, .attr = TASK_NONE, .list = TASK_NONE};
        }
    }
}

/* An item without its generator. */
static const char *bare(struct arena *arena, const char *item)
{
    const char *quote = strchr(item, '\'');
    size_t length = quote ? (size_t)(quote - item) : strlen(item);
    while (length && item[length - 1] == ' ')
        length--;
    return arena_strndup(arena, item, length);
}

static void params(struct reader *reader, struct signature_param *params, int *count, const char **same_as)
{
    do {
        if (*count == SIGNATURE_PARAMS)
            malformed(reader, "fewer inputs or outputs");
        struct signature_param *param = &params[*count];
        const char *begin = reader->at;
        param->text = bare(reader->arena, up_to(reader, ",;|"));
        reader->at = begin;
        param->name = word(reader);
        param->optional = accept(reader, "?");
        param->unmade = accept(reader, "!");
        param->list = accept(reader, "list");
        param->same_as = TASK_NONE;
        if (accept(reader, "="))
            same_as[*count] = word(reader);
        else
            param->types = types(reader);
        param_shapes(reader, param);
        if (accept(reader, "in"))
            param->range = range(reader);
        if (accept(reader, "'")) {
            size_t length = strcspn(reader->at, "'");
            param->generate = arena_strndup(reader->arena, reader->at, length);
            reader->at += length;
            need(reader, "'");
        }
        ++*count;
    } while (accept(reader, ","));
}

/* Attributes and clauses. */
static void attribute(struct reader *reader)
{
    struct reference_signature *signature = reader->signature;
    if (signature->attr_count == SIGNATURE_ATTRS)
        malformed(reader, "fewer attributes");
    struct signature_attr *attr = &signature->attrs[signature->attr_count++];
    const char *begin = reader->at, *type;
    attr->text = up_to(reader, ",|");
    reader->at = begin;
    attr->name = word(reader);
    attr->optional = accept(reader, "?");
    type = word(reader);
    while (attr->type < TASK_ATTR_TYPES && strcmp(task_attr_type_names[attr->type], type) != 0)
        attr->type++;
    if (attr->type == TASK_ATTR_TYPES)
        malformed(reader, "a type of attributes");
    if (accept(reader, "in"))
        attr->range = range(reader);
    if (accept(reader, "of"))
        for (int i = 0; i == 0 || accept(reader, "/"); i++)
            attr->words[i] = word(reader);
    need(reader, "=");
    attr->value = up_to(reader, ",|");
}

static void clause(struct reader *reader)
{
    struct reference_signature *signature = reader->signature;
    if (accept(reader, "column")) {
        signature->column = word(reader);
    } else if (accept(reader, "trivial")) {
        signature->trivial = up_to(reader, "|");
    } else if (accept(reader, "derive")) {
        signature->derive = word(reader);
    } else {
        need(reader, "size");
        if (signature->size_count == SIGNATURE_NAMES)
            malformed(reader, "fewer sizes");
        signature->sizes[signature->size_count].name = word(reader);
        signature->sizes[signature->size_count++].value = up_to(reader, "|");
    }
}

/* Names. */
static int input_called(const struct reader *reader, const char *name)
{
    for (int i = 0; i < reader->signature->input_count; i++)
        if (strcmp(reader->signature->inputs[i].name, name) == 0)
            return i;
    malformed(reader, name);
}

static void join(struct reader *reader)
{
    struct reference_signature *signature = reader->signature;
    for (int i = 0; i < signature->name_count; i++) {
        struct signature_variable *found = &signature->names[i];
        found->attr = signature_attr(signature, found->name);
        found->list = *found->name == '#' ? input_called(reader, found->name + 1) : TASK_NONE;
    }
    for (int i = 0; i < signature->input_count + signature->output_count; i++) {
        bool input = i < signature->input_count;
        struct signature_param *param = input ? &signature->inputs[i] : &signature->outputs[i - signature->input_count];
        const char *same = reader->same_as[input ? i : SIGNATURE_PARAMS + i - signature->input_count];
        if (same)
            param->same_as = input_called(reader, same);
        if (param->chosen_by != TASK_NONE)
            param->chosen_by = signature->names[param->chosen_by].attr;
    }
}

struct reference_signature *signature_parse(struct arena *arena, const char *reference, const char *text)
{
    struct reference_signature *signature = arena_alloc(arena, sizeof *signature);
    struct reader reader = {.arena = arena, .at = text, .signature = signature};
    *signature = (struct reference_signature){.reference = reference, .text = text};
    params(&reader, signature->inputs, &signature->input_count, reader.same_as);
    need(&reader, "->");
    params(&reader, signature->outputs, &signature->output_count, reader.same_as + SIGNATURE_PARAMS);
    if (accept(&reader, ";"))
        do
            attribute(&reader);
        while (accept(&reader, ","));
    while (accept(&reader, "|"))
        clause(&reader);
    reader.at += strspn(reader.at, " ");
    if (*reader.at)
        malformed(&reader, "the end");
    join(&reader);
    return signature;
}

static const char *joined(struct arena *arena, const char *text, const char *separator, const char *item)
{
    return arena_printf(arena, "%s%s%s", text, *text ? separator : "", item);
}

const char *signature_needs(struct arena *arena, const struct reference_signature *signature)
{
    const char *text = "", *outputs = "", *attrs = "";
    for (int i = 0; i < signature->input_count; i++)
        text = joined(arena, text, ", ", signature->inputs[i].text);
    for (int i = 0; i < signature->output_count; i++)
        outputs = joined(arena, outputs, ", ", signature->outputs[i].text);
    for (int i = 0; i < signature->attr_count; i++)
        attrs = joined(arena, attrs, ", ", signature->attrs[i].text);
    text = arena_printf(arena, "%s -> %s%s%s", text, outputs, *attrs ? "; " : "", attrs);
    return signature->column ? arena_printf(arena, "%s | column %s", text, signature->column) : text;
}

uint64_t signature_type_set(const struct reference_signature *signature, const struct signature_param *param)
{
    while (param->same_as != TASK_NONE)
        param = &signature->inputs[param->same_as];
    return param->types;
}

const char *signature_types(struct arena *arena, uint64_t types)
{
    const char *text = "";
    for (int code = 0, left = __builtin_popcountll(types); code < 64; code++)
        if (types >> code & 1)
            text = arena_printf(arena, "%s%s%s", text,
                                !*text      ? ""
                                : left == 1 ? " or "
                                            : ", ",
                                akgen_dtype_name((enum akgen_dtype)code)),
            left--;
    return text;
}
