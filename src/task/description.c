/* task.yaml -> struct task: one table with a row per key, which says where the key may stand, what reads its value and
 * which field of the model that fills. Keys are read in the order of the table, whatever their order in the file, so a
 * row may rely on those above it. */
#include "base/names.h"
#include "task/description.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { IN_TASK = 1, IN_INPUT = 2, IN_OUTPUT = 4, IN_ATTR = 8, IN_KERNEL = 16, IN_PARAM = IN_INPUT | IN_OUTPUT };
enum { LONGEST_TEXT = 4096, MOST_TYPES = 128, MOST_KERNELS = 64 };

struct description {
    struct arena *arena;
    struct task *task;
    struct task_lines *lines;
    int line; /* of the value being read: what an error is about */
};

struct key;
/* Reads a value into the field. Its error says what is wrong; the line is put before it. */
typedef struct akgen_error *key_reader(struct description *d, const struct key *key, const struct yaml_node *value,
                                       void *field);
struct key {
    const char *name;
    unsigned in, required; /* where it may stand, where it must */
    key_reader *read;
    size_t field; /* offset in struct task, task_param, task_attr or task_eager */
    /* An expression: what each of its branches may be, in words, and who knows. NULL: anything. */
    const char *expected;
    bool (*fits)(const struct expr_value *value);
};

#define READER(name)                                                                                                   \
    static struct akgen_error *name(struct description *d __attribute__((unused)), const struct key *key,              \
                                    const struct yaml_node *value, void *field)

/* What is what. */
static const char *place_name(unsigned in)
{
    static const char *const names[] = {[IN_TASK] = "a task",       [IN_INPUT] = "an input",
                                        [IN_OUTPUT] = "an output",  [IN_PARAM] = "an input or an output",
                                        [IN_ATTR] = "an attribute", [IN_KERNEL] = "an eager kernel"};
    return names[in];
}

/* "a, b or c" of a list that ends with NULL. */
static const char *any_of(struct arena *arena, const char *const *names)
{
    const char *text = "";
    for (int i = 0; names[i]; i++)
        text = arena_printf(arena, "%s%s%s", text, !i ? "" : names[i + 1] ? ", " : " or ", names[i]);
    return text;
}

/* "a b c" of a list that ends with NULL. */
static const char *all_of(struct arena *arena, const char *const *names)
{
    const char *text = "";
    for (int i = 0; names[i]; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? " " : "", names[i]);
    return text;
}

/* Number of a name in a list that ends with NULL, TASK_NONE if it is not there. */
static int number_of(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return TASK_NONE;
}

/* Values of one word or text. */
static struct akgen_error *need_text(const struct key *key, const struct yaml_node *value)
{
    if (value->kind != YAML_TEXT)
        return error_new("%s must be a text, not a %s", key->name, value->kind == YAML_LIST ? "list" : "mapping");
    if (strlen(value->text) > LONGEST_TEXT)
        return error_new("%s has more than %d characters", key->name, LONGEST_TEXT);
    return NULL;
}

READER(read_text)
{
    struct akgen_error *error = need_text(key, value);
    if (!error)
        *(const char **)field = value->text;
    return error;
}

READER(read_name)
{
    struct akgen_error *error = read_text(d, key, value, field);
    return error || *value->text ? error : error_new("%s is empty", key->name);
}

READER(read_level)
{
    enum { HIGHEST = 99 };
    char *end;
    struct akgen_error *error = need_text(key, value);
    if (error)
        return error;
    long level = strtol(value->text, &end, 10);
    if (end == value->text || *end || level < 0 || level > HIGHEST)
        return error_new("level is '%s', expected a number from 0 to %d", value->text, HIGHEST);
    *(int *)field = (int)level;
    return NULL;
}

/* One of some names. */
static struct akgen_error *read_choice(struct description *d, const struct key *key, const struct yaml_node *value,
                                       const char *const *names, int *number)
{
    struct akgen_error *error = need_text(key, value);
    if (error)
        return error;
    int found = number_of(names, value->text);
    if (found == TASK_NONE)
        return error_new("%s is '%s', expected %s%s", key->name, value->text, any_of(d->arena, names),
                         names_hint(d->arena, value->text, names));
    *number = found;
    return NULL;
}

/* Reads one of some names, whose number is the field's value. */
#define CHOICE_OF(name, type, names)                                                                                   \
    READER(name)                                                                                                       \
    {                                                                                                                  \
        int number = 0;                                                                                                \
        struct akgen_error *error = read_choice(d, key, value, names, &number);                                        \
        *(type *)field = (type)number;                                                                                 \
        return error;                                                                                                  \
    }
#define CHOICE(name, type, ...) CHOICE_OF(name, type, ((const char *const[])__VA_ARGS__))
CHOICE(read_flag, bool, {"false", "true", NULL})
CHOICE(read_init, bool, {"poison", "zero", NULL})
CHOICE(read_value_depend, enum task_value_depend, {[TASK_VALUE_UNREAD] = "false", "true", "optional", "unsaid", NULL})
CHOICE(read_cores, enum task_cores, {[TASK_CORES_VECTOR] = "vector", [TASK_CORES_CUBE] = "cube", NULL})

/* The default becomes part of C++, so it is a word, a number or a list in braces, of the characters that these have. */
READER(read_initial)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
    struct akgen_error *error = read_text(d, key, value, field);
    if (error)
        return error;
    const char *text = value->text;
    size_t length = strlen(text);
    bool list = length >= 2 && text[0] == '{' && text[length - 1] == '}';
    if (strspn(text + list, list ? "0123456789.+-ef, " : letters) != length - 2 * (size_t)list)
        return error_new("default is '%s', expected a number, true, false, a word or a list {1, 2}", text);
    return NULL;
}

CHOICE_OF(read_kind, enum task_param_kind, task_kind_names)
CHOICE_OF(read_attr_type, enum task_attr_type, task_attr_type_names)
CHOICE_OF(read_kernel_kind, enum task_eager_kind, task_eager_kind_names)

/* Several names as bits, in the order of the list, which ends with NULL; the first name has bit number `first`. */
static struct akgen_error *read_bits(struct description *d, const struct key *key, const char *words,
                                     const char *const *names, int first, unsigned *bits)
{
    *bits = 0;
    for (const char *at = words + strspn(words, " "); *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        int number = number_of(names, arena_strndup(d->arena, at, length));
        if (number == TASK_NONE)
            return error_new("%s is '%s', expected words of: %s", key->name, words, all_of(d->arena, names));
        *bits |= 1u << (number + first);
        at += length;
    }
    return NULL;
}

READER(read_special)
{
    struct akgen_error *error = need_text(key, value);
    return error ? error : read_bits(d, key, value->text, task_special_names, 0, field);
}

/* "words: reason", the words being names of mutations from `first` to before `end`. */
static struct akgen_error *read_mutations(struct description *d, const struct key *key, const struct yaml_node *value,
                                          int first, int end, struct task_trivial *trivial)
{
    const char *names[TASK_MUTATIONS + 1] = {NULL};
    struct akgen_error *error = need_text(key, value);
    if (error)
        return error;
    for (int i = first; i < end; i++)
        names[i - first] = task_mutation_names[i];
    size_t length = strcspn(value->text, ":");
    const char *reason = value->text + length + (value->text[length] == ':');
    trivial->reason = reason + strspn(reason, " ");
    error = read_bits(d, key, arena_strndup(d->arena, value->text, length), names, first, &trivial->kinds);
    if (!error && trivial->kinds && !*trivial->reason)
        error = error_new("trivial lacks its reason: 'copy: the operator copies'");
    return error;
}

READER(read_trivial)
{
    return read_mutations(d, key, value, TASK_MUTANT_ZERO, TASK_MUTATIONS, field);
}

READER(read_input_trivial)
{
    return read_mutations(d, key, value, TASK_MUTANT_ZEROS, TASK_MUTANT_CONSTANT, field);
}

READER(read_attr_trivial)
{
    return read_mutations(d, key, value, TASK_MUTANT_CONSTANT, TASK_MUTATIONS, field);
}

/* Expressions. */
static bool fits_list(const struct expr_value *value)
{
    return !value || value->kind == EXPR_LIST;
}

static bool fits_dtype(const struct expr_value *value)
{
    return !value || (value->kind == EXPR_TEXT && akgen_dtype_parse(value->text) != AKGEN_DTYPE_NONE);
}

static bool fits_number(const struct expr_value *value)
{
    return !value || expr_is_number(value);
}

static bool fits_compared(const struct expr_value *value)
{
    return fits_number(value) || (value->kind == EXPR_TEXT && strcmp(value->text, "strict") == 0);
}

static bool fits_numbers(const struct expr_value *value)
{
    return fits_number(value) || value->kind == EXPR_LIST;
}

static bool fits_check(const struct expr_value *value)
{
    return value && (value->kind == EXPR_RULE || (value->kind == EXPR_TEXT && strcmp(value->text, "default") == 0));
}

READER(read_expression)
{
    const struct expr *expr;
    struct akgen_error *error = need_text(key, value);
    if (error)
        return error;
    if ((error = expr_parse(d->arena, value->text, &d->task->columns, &expr)))
        return error_prefix(error, "%s", key->name);
    if (key->fits && !expr_branches_fit(expr, key->fits))
        return error_new("%s is '%s', expected %s%s", key->name, value->text, key->expected,
                         names_hint(d->arena, value->text, expr_function_names(d->arena)));
    *(const struct expr **)field = expr;
    return NULL;
}

static struct akgen_error *read_steps(struct description *d, const struct key *key, const struct yaml_node *value,
                                      struct task_steps *steps, bool words)
{
    struct akgen_error *error = need_text(key, value);
    if (!error && (error = task_steps_parse(d->arena, value->text, &d->task->columns, words, steps)))
        error_prefix(error, "%s", key->name);
    return error;
}

READER(read_vary)
{
    d->lines->vary = d->line;
    return read_steps(d, key, value, field, true);
}

READER(read_smaller)
{
    d->lines->smaller = d->line;
    return read_steps(d, key, value, field, false);
}

/* What names something else. */
READER(read_reference)
{
    struct akgen_error *error = need_text(key, value);
    if (error)
        return error;
    const struct task_reference_entry *reference = task_reference_find(value->text);
    *(const struct task_reference_entry **)field = reference;
    return reference ? NULL
                     : error_new("there is no reference called '%s'%s", value->text,
                                 task_reference_hint(d->arena, value->text));
}

READER(read_derive)
{
    struct akgen_error *error = need_text(key, value);
    const char *const *names = task_derivation_names(d->arena);
    if (error)
        return error;
    task_derivation *derive = task_derivation_find(value->text);
    *(task_derivation **)field = derive;
    return derive ? NULL
                  : error_new("there is no derivation called '%s', expected %s%s", value->text, any_of(d->arena, names),
                              names_hint(d->arena, value->text, names));
}

/* The index of a parameter. */
static struct akgen_error *read_index(struct description *d, const struct key *key, const struct yaml_node *value,
                                      const struct task_param *params, int count, const char *what, int *index)
{
    const char **names = arena_alloc(d->arena, sizeof *names * (size_t)(count + 1));
    struct akgen_error *error = need_text(key, value);
    if (error)
        return error;
    for (int i = 0; i < count; i++)
        names[i] = params[i].name;
    *index = number_of(names, value->text);
    return *index != TASK_NONE ? NULL
                               : error_new("%s names '%s', which is no %s, expected %s", key->name, value->text, what,
                                           any_of(d->arena, names));
}

READER(read_input_index)
{
    return read_index(d, key, value, d->task->inputs, d->task->input_count, "input", field);
}

READER(read_output_index)
{
    return read_index(d, key, value, d->task->outputs, d->task->output_count, "output", field);
}

/* Positions need an attribute `dim` that says along which dimension. */
READER(read_points_into)
{
    struct task_param *output = (struct task_param *)((char *)field - key->field);
    struct akgen_error *error = read_input_index(d, key, value, field);
    if (error)
        return error;
    output->along = task_attr_index(d->task, "dim");
    return output->along != TASK_NONE ? NULL : error_new("points_into needs an attribute 'dim'");
}

READER(read_types)
{
    struct task_param *param = (struct task_param *)((char *)field - key->field);
    if (value->kind != YAML_LIST || value->count < 1 || value->count > MOST_TYPES)
        return error_new("types must be a list of 1 to %d data types", MOST_TYPES);
    param->type_count = value->count;
    param->types = arena_alloc(d->arena, sizeof *param->types * (size_t)value->count);
    for (int i = 0; i < value->count; i++) {
        const struct yaml_node *item = value->items[i];
        d->line = item->line;
        param->types[i] = item->kind == YAML_TEXT ? akgen_dtype_parse(item->text) : AKGEN_DTYPE_NONE;
        if (param->types[i] != AKGEN_DTYPE_NONE)
            continue;
        const char *names[AKGEN_DTYPE_CODES + 1];
        int count = 0;
        for (int code = 0; code < AKGEN_DTYPE_CODES; code++)
            if (akgen_dtype_ge_name((enum akgen_dtype)code))
                names[count++] = akgen_dtype_name((enum akgen_dtype)code);
        names[count] = NULL;
        return error_new("'%s' is no data type, expected %s", item->kind == YAML_TEXT ? item->text : "a list",
                         any_of(d->arena, names));
    }
    return NULL;
}

int task_formula_names(struct arena *arena, const struct task *task, bool lists, struct formula_name *names)
{
    for (int i = 0; i < task->input_count; i++) {
        const struct task_param *input = &task->inputs[i];
        bool list = input->kind == TASK_TENSOR_LIST || input->kind == TASK_SCALAR_LIST;
        names[i] = (struct formula_name){input->name, NULL};
        if (input->optional || (list && !lists))
            names[i].refusal = arena_printf(arena, "input '%s' is optional%s, which a formula does not take",
                                            input->name, lists ? "" : " or a list");
    }
    for (int i = 0; i < task->attr_count; i++) {
        const struct task_attr *attr = &task->attrs[i];
        bool number = attr->type == TASK_ATTR_INT || attr->type == TASK_ATTR_FLOAT || attr->type == TASK_ATTR_BOOL;
        names[task->input_count + i] = (struct formula_name){attr->name, NULL};
        if (!number)
            names[task->input_count + i].refusal =
                arena_printf(arena, "attribute '%s' is a %s, a formula takes int, float and bool", attr->name,
                             task_attr_type_names[attr->type]);
    }
    return task->input_count + task->attr_count;
}

READER(read_formula)
{
    const struct task *task = d->task;
    struct formula_name names[FORMULA_MAX_NAMES];
    struct akgen_error *error = need_text(key, value);
    if (error)
        return error;
    int count = task_formula_names(d->arena, task, false, names);
    int output = (int)((struct task_param *)((char *)field - key->field) - task->outputs);
    error = formula_parse(d->arena, value->text, names, count, output ? task->outputs[output - 1].formula : NULL,
                          task->outputs[output].name, output, field);
    return error ? error_prefix(error, "formula") : NULL;
}

/* What an eager kernel reads or writes. */
static struct akgen_error *read_traffic(struct description *d, const struct key *key, const struct yaml_node *list,
                                        struct task_eager_tensor **tensors, int *count)
{
    if (list->kind != YAML_LIST || list->count > TASK_MAX_PARAMS)
        return error_new("%s must be a list of at most %d tensors", key->name, TASK_MAX_PARAMS);
    *count = list->count;
    *tensors = arena_alloc(d->arena, sizeof **tensors * (size_t)(list->count + 1));
    for (int i = 0; i < list->count; i++) {
        const struct yaml_node *item = list->items[i];
        d->line = item->line;
        struct akgen_error *error = need_text(key, item);
        if (!error)
            error = task_eager_tensor_parse(d->arena, item->text, d->task, &(*tensors)[i]);
        if (error)
            return error_prefix(error, "%s", key->name);
    }
    return NULL;
}

READER(read_reads)
{
    struct task_eager *kernel = (struct task_eager *)((char *)field - key->field);
    return read_traffic(d, key, value, &kernel->reads, &kernel->read_count);
}

READER(read_writes)
{
    struct task_eager *kernel = (struct task_eager *)((char *)field - key->field);
    return read_traffic(d, key, value, &kernel->writes, &kernel->write_count);
}

static key_reader read_inputs, read_outputs, read_attrs, read_eager;

/* The table. */
#define OF_TASK(field)   offsetof(struct task, field)
#define OF_PARAM(field)  offsetof(struct task_param, field)
#define OF_ATTR(field)   offsetof(struct task_attr, field)
#define OF_KERNEL(field) offsetof(struct task_eager, field)
#define SIZES            "a number or a list of numbers"
#define RULES            "default, abs_rel(a, r), abs_rel_any(a, r), allclose(a, r), rel_max1(r) or share(l)"
static const struct key keys[] = {
    {"suite", IN_TASK, IN_TASK, read_name, OF_TASK(suite), NULL, NULL},
    {"level", IN_TASK, IN_TASK, read_level, OF_TASK(level), NULL, NULL},
    {"category", IN_TASK, IN_TASK, read_name, OF_TASK(category), NULL, NULL},
    {"op", IN_TASK, IN_TASK, read_name, OF_TASK(op), NULL, NULL},
    {"op_type", IN_TASK, 0, read_name, OF_TASK(op_type), NULL, NULL},
    {"reference", IN_TASK, IN_TASK, read_reference, OF_TASK(reference), NULL, NULL},
    {"derive", IN_TASK, 0, read_derive, OF_TASK(derive), NULL, NULL},
    {"check", IN_TASK, 0, read_expression, OF_TASK(check), RULES, fits_check},
    {"vary", IN_TASK, 0, read_vary, OF_TASK(vary), NULL, NULL},
    {"smaller", IN_TASK, 0, read_smaller, OF_TASK(smaller), NULL, NULL},
    {"trivial", IN_TASK, 0, read_trivial, OF_TASK(trivial), NULL, NULL},
    {"cores", IN_TASK, 0, read_cores, OF_TASK(cores), NULL, NULL},
    {"note", IN_TASK, 0, read_text, OF_TASK(note), NULL, NULL},
    {"inputs", IN_TASK, IN_TASK, read_inputs, OF_TASK(inputs), NULL, NULL},
    {"attrs", IN_TASK, 0, read_attrs, OF_TASK(attrs), NULL, NULL},
    {"outputs", IN_TASK, IN_TASK, read_outputs, OF_TASK(outputs), NULL, NULL},
    {"eager", IN_TASK, 0, read_eager, OF_TASK(eager), NULL, NULL},

    {"name", IN_PARAM, IN_PARAM, read_name, OF_PARAM(name), NULL, NULL},
    {"kind", IN_PARAM, 0, read_kind, OF_PARAM(kind), NULL, NULL},
    {"shape", IN_PARAM, IN_PARAM, read_expression, OF_PARAM(shape), "a list of sizes", fits_list},
    {"dtype", IN_PARAM, IN_PARAM, read_expression, OF_PARAM(dtype), "a data type", fits_dtype},
    {"types", IN_PARAM, IN_INPUT, read_types, OF_PARAM(types), NULL, NULL},
    {"optional", IN_PARAM, 0, read_flag, OF_PARAM(optional), NULL, NULL},
    {"present", IN_PARAM, 0, read_expression, OF_PARAM(present), "true or false", fits_number},
    {"value_depend", IN_INPUT, 0, read_value_depend, OF_PARAM(value_depend), NULL, NULL},
    {"shape_depends", IN_OUTPUT, 0, read_flag, OF_PARAM(shape_depends), NULL, NULL},
    {"generate", IN_INPUT, IN_INPUT, read_expression, OF_PARAM(generate), "numbers or a generator", fits_number},
    {"strict", IN_INPUT, 0, read_expression, OF_PARAM(strict), "numbers or a generator", fits_number},
    {"special", IN_INPUT, 0, read_special, OF_PARAM(special), NULL, NULL},
    {"trivial", IN_INPUT, 0, read_input_trivial, OF_PARAM(trivial), NULL, NULL},
    {"in_place", IN_OUTPUT, 0, read_input_index, OF_PARAM(in_place), NULL, NULL},
    {"init", IN_OUTPUT, 0, read_init, OF_PARAM(zeroed), NULL, NULL},
    {"points_into", IN_OUTPUT, 0, read_points_into, OF_PARAM(points_into), NULL, NULL},
    {"compared", IN_OUTPUT, 0, read_expression, OF_PARAM(compared), "true, false or strict", fits_compared},
    {"steep", IN_OUTPUT, 0, read_flag, OF_PARAM(steep), NULL, NULL},
    {"serial", IN_OUTPUT, 0, read_flag, OF_PARAM(serial), NULL, NULL},
    {"depth", IN_OUTPUT, 0, read_expression, OF_PARAM(depth), "a number of values", fits_number},
    {"made_of", IN_OUTPUT, 0, read_output_index, OF_PARAM(made_of), NULL, NULL},
    {"formula", IN_OUTPUT, 0, read_formula, OF_PARAM(formula), NULL, NULL},

    {"name", IN_ATTR, IN_ATTR, read_name, OF_ATTR(name), NULL, NULL},
    {"type", IN_ATTR, IN_ATTR, read_attr_type, OF_ATTR(type), NULL, NULL},
    {"value", IN_ATTR, IN_ATTR, read_expression, OF_ATTR(value), NULL, NULL},
    {"strict", IN_ATTR, 0, read_expression, OF_ATTR(strict), NULL, NULL},
    {"trivial", IN_ATTR, 0, read_attr_trivial, OF_ATTR(trivial), NULL, NULL},
    {"default", IN_ATTR, 0, read_initial, OF_ATTR(initial), NULL, NULL},
    {"unsaid", IN_ATTR, 0, read_flag, OF_ATTR(unsaid), NULL, NULL},

    {"kernel", IN_KERNEL, IN_KERNEL, read_name, OF_KERNEL(kernel), NULL, NULL},
    {"kind", IN_KERNEL, IN_KERNEL, read_kernel_kind, OF_KERNEL(kind), NULL, NULL},
    {"reads", IN_KERNEL, IN_KERNEL, read_reads, OF_KERNEL(reads), NULL, NULL},
    {"writes", IN_KERNEL, IN_KERNEL, read_writes, OF_KERNEL(writes), NULL, NULL},
    {"m", IN_KERNEL, 0, read_expression, OF_KERNEL(m), SIZES, fits_numbers},
    {"k", IN_KERNEL, 0, read_expression, OF_KERNEL(k), SIZES, fits_numbers},
    {"n", IN_KERNEL, 0, read_expression, OF_KERNEL(n), SIZES, fits_numbers},
    {"batch", IN_KERNEL, 0, read_expression, OF_KERNEL(batch), SIZES, fits_numbers},
};
enum { KEYS = sizeof keys / sizeof *keys };

/* Mappings. */
/* "task.yaml:7: 'generator' is no key of an input, expected ...; did you mean generate?" */
static struct akgen_error *unknown_key(struct description *d, const struct yaml_pair *pair, unsigned in)
{
    const char *names[KEYS + 1];
    int count = 0;
    for (int k = 0; k < KEYS; k++) {
        if (keys[k].in & in)
            names[count++] = keys[k].name;
        else if (strcmp(keys[k].name, pair->key) == 0)
            return error_new("task.yaml:%d: '%s' is a key of %s, not of %s", pair->line, pair->key,
                             place_name(keys[k].in), place_name(in));
    }
    names[count] = NULL;
    return error_new("task.yaml:%d: '%s' is no key of %s, expected %s%s", pair->line, pair->key, place_name(in),
                     any_of(d->arena, names), names_hint(d->arena, pair->key, names));
}

/* Only known keys, each once, and those that must be there. */
static struct akgen_error *check_keys(struct description *d, const struct yaml_node *map, unsigned in, const char *what)
{
    if (map->kind != YAML_MAP)
        return error_new("task.yaml:%d: %s must be keys with values", map->line, what);
    for (int i = 0; i < map->count; i++) {
        const struct yaml_pair *pair = &map->pairs[i], *first = yaml_find(map, pair->key);
        bool known = false;
        for (int k = 0; k < KEYS; k++)
            known |= keys[k].in & in && strcmp(keys[k].name, pair->key) == 0;
        if (!known)
            return unknown_key(d, pair, in);
        if (first != pair)
            return error_new("task.yaml:%d: '%s' stands here again, after line %d", pair->line, pair->key, first->line);
    }
    for (int k = 0; k < KEYS; k++)
        if (keys[k].required & in && !yaml_find(map, keys[k].name))
            return error_new("task.yaml:%d: %s lacks '%s'", map->line, what, keys[k].name);
    return NULL;
}

/* Errors of a list's items carry their line already. */
static bool has_line(const struct akgen_error *error)
{
    return strncmp(error->message, "task.yaml:", 10) == 0;
}

/* Reads the keys of a mapping into the item that they describe. */
static struct akgen_error *read_keys(struct description *d, const struct yaml_node *map, unsigned in, void *item)
{
    for (int k = 0; k < KEYS; k++) {
        const struct yaml_pair *pair = keys[k].in & in ? yaml_find(map, keys[k].name) : NULL;
        if (!pair)
            continue;
        d->line = pair->line;
        struct akgen_error *error = keys[k].read(d, &keys[k], pair->value, (char *)item + keys[k].field);
        if (error)
            return has_line(error) ? error : error_prefix(error, "task.yaml:%d", d->line);
    }
    return NULL;
}

/* Lists of parameters and attributes. */
static struct akgen_error *check_items(struct description *d, const struct key *key, const struct yaml_node *list,
                                       unsigned in, int least, int most)
{
    const char *what = in == IN_INPUT ? "input" : in == IN_OUTPUT ? "output" : "attribute";
    if (list->kind != YAML_LIST || list->count < least || list->count > most)
        return error_new("%s must be a list of %d to %d", key->name, least, most);
    for (int i = 0; i < list->count; i++) {
        const struct yaml_node *item = list->items[i];
        const struct yaml_pair *name = item->kind == YAML_MAP ? yaml_find(item, "name") : NULL;
        bool named = name && name->value->kind == YAML_TEXT && *name->value->text;
        const char *called = named ? arena_printf(d->arena, "%s '%s'", what, name->value->text)
                                   : arena_printf(d->arena, "%s number %d", what, i + 1);
        struct akgen_error *error = check_keys(d, item, in, called);
        if (!error && !named)
            error = error_new("task.yaml:%d: %s has no name", item->line, called);
        for (int j = 0; j < i && !error; j++)
            if (strcmp(yaml_find(list->items[j], "name")->value->text, name->value->text) == 0)
                error = error_new("task.yaml:%d: %s appears twice", name->line, called);
        if (error)
            return error;
    }
    return NULL;
}

static struct akgen_error *read_params(struct description *d, const struct key *key, const struct yaml_node *list,
                                       unsigned in, struct task_param **params, int *count)
{
    struct akgen_error *error = check_items(d, key, list, in, 1, TASK_MAX_PARAMS);
    if (error)
        return error;
    *count = list->count;
    *params = arena_alloc(d->arena, sizeof **params * (size_t)list->count);
    for (int i = 0; i < list->count; i++) /* all names first: `made_of` may name any output */
        (*params)[i] = (struct task_param){.name = yaml_find(list->items[i], "name")->value->text,
                                           .in_place = TASK_NONE,
                                           .points_into = TASK_NONE,
                                           .along = TASK_NONE,
                                           .made_of = TASK_NONE};
    for (int i = 0; i < list->count && !error; i++)
        error = read_keys(d, list->items[i], in, &(*params)[i]);
    return error;
}

READER(read_inputs)
{
    return read_params(d, key, value, IN_INPUT, field, &d->task->input_count);
}

READER(read_outputs)
{
    return read_params(d, key, value, IN_OUTPUT, field, &d->task->output_count);
}

READER(read_attrs)
{
    struct task_attr *attrs = arena_alloc(d->arena, sizeof *attrs * (TASK_MAX_ATTRS + 1));
    struct akgen_error *error = check_items(d, key, value, IN_ATTR, 0, TASK_MAX_ATTRS);
    *(struct task_attr **)field = attrs;
    for (int i = 0; !error && i < value->count; i++)
        error = read_keys(d, value->items[i], IN_ATTR, &attrs[i]);
    d->task->attr_count = error ? 0 : value->count;
    return error;
}

/* A matrix product has m, k and n; nothing else has. */
static struct akgen_error *check_product(const struct task_eager *kernel)
{
    const char *kind = task_eager_kind_names[kernel->kind];
    bool product = kernel->kind == TASK_EAGER_MATMUL || kernel->kind == TASK_EAGER_ATTENTION;
    if (product && (!kernel->m || !kernel->k || !kernel->n))
        return error_new("%s lacks m, k or n, which say how large its matrices are", kind);
    if (!product && (kernel->m || kernel->k || kernel->n || kernel->batch))
        return error_new("m, k, n and batch belong to matmul and attention, not to %s", kind);
    return NULL;
}

static struct akgen_error *read_eager(struct description *d, const struct key *key, const struct yaml_node *list,
                                      void *field)
{
    if (list->kind != YAML_LIST || list->count < 1 || list->count > MOST_KERNELS)
        return error_new("%s must be a list of 1 to %d kernels", key->name, MOST_KERNELS);
    struct task_eager *kernels = arena_alloc(d->arena, sizeof *kernels * (size_t)list->count);
    for (int i = 0; i < list->count; i++) {
        const struct yaml_node *item = list->items[i];
        const char *called = arena_printf(d->arena, "eager kernel number %d", i + 1);
        struct akgen_error *error = check_keys(d, item, IN_KERNEL, called);
        if (!error)
            error = read_keys(d, item, IN_KERNEL, &kernels[i]);
        if (!error && (error = check_product(&kernels[i])))
            error = error_prefix(error, "task.yaml:%d: %s", item->line, called);
        if (error)
            return error;
    }
    *(struct task_eager **)field = kernels;
    d->task->eager_count = list->count;
    return NULL;
}

struct akgen_error *task_description_parse(struct arena *arena, const char *text, struct task *task,
                                           struct task_lines *lines)
{
    const struct yaml_node *root;
    struct description d = {.arena = arena, .task = task, .lines = lines};
    task->note = "";
    struct akgen_error *error = yaml_parse(arena, "task.yaml", text, &root);
    if (!error)
        error = check_keys(&d, root, IN_TASK, "the task");
    if (!error)
        error = read_keys(&d, root, IN_TASK, task);
    return error ? error : task_description_check(arena, root, task);
}
