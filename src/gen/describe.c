/* A description is read line by line: a line that assigns is a step of the formulas or an attribute, a line that gives a name
 * a shape declares a tensor, the first heading is the operator's name. */
#include "base/array.h"
#include "gen/describe_internal.h"
#include "task/expr/expr.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME        "[A-Za-z_][A-Za-z0-9_]*"
#define BEGIN       "^[[:space:]|>]*([-*+]|[0-9]+[.)])?[[:space:]]*[`*$]*[[:space:]]*"
#define SET         "(" NAME ")[`*$]*[[:space:]]*=[[:space:]]*"
#define LETTERS     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define WORD_BYTES  DESCRIBE_WORD
#define SHAPE_BYTES WORD_BYTES " ,+-*/()"
enum { GROUPS = 8, LONGEST_NAME = 64 };

const char *const describe_types[DESCRIBE_TYPES] = {"float16", "float32", "bfloat16"};

static struct name *find(const struct gen_description *description, const char *name)
{
    for (int i = 0; i < description->count; i++)
        if (strcmp(description->names[i].name, name) == 0)
            return &description->names[i];
    return NULL;
}

static struct name *add(struct gen_description *description, const char *name, enum role role, int line)
{
    struct name *found = find(description, name);
    if (found)
        return found;
    ARRAY_ADD(description->arena, description->names, description->count, description->capacity,
              (struct name){.role = role, .name = name, .line = line});
    return &description->names[description->count - 1];
}

/* Lines. */
/* The pattern, compiled once: it is a literal, so its address is enough. NULL if there is no memory. */
static const regex_t *compiled(struct gen_description *description, const char *pattern)
{
    for (int i = 0; i < description->pattern_count; i++)
        if (description->patterns[i].text == pattern)
            return &description->patterns[i].compiled;
    if (description->pattern_count == MOST_PATTERNS)
        abort();
    struct describe_pattern *slot = &description->patterns[description->pattern_count];
    slot->text = pattern;
    if (regcomp(&slot->compiled, pattern, REG_EXTENDED))
        return NULL;
    description->pattern_count++;
    return &slot->compiled;
}

/* The groups of the pattern in the line; false if it does not match. A group that takes no part is "". */
static bool matches(struct gen_description *description, const char *pattern, const char *line,
                    const char *groups[GROUPS])
{
    const regex_t *regex = compiled(description, pattern);
    regmatch_t found[GROUPS];
    bool match = regex && regexec(regex, line, GROUPS, found, 0) == 0;
    for (int i = 0; match && i < GROUPS; i++)
        groups[i] = found[i].rm_so < 0 ? ""
                                       : arena_strndup(description->arena, line + found[i].rm_so,
                                                       (size_t)(found[i].rm_eo - found[i].rm_so));
    return match;
}

/* Without what Markdown and a sentence put behind a formula. */
static const char *trimmed(struct arena *arena, const char *text)
{
    size_t length = strlen(text);
    while (length && strchr(" \t\r`$*|.,;", text[length - 1]))
        length--;
    return arena_strndup(arena, text, length);
}

bool describe_is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return *text && !*end && !isalpha((unsigned char)*text);
}

static void read_title(struct gen_description *description, const char *line)
{
    char *op = arena_strdup(description->arena, line);
    size_t length = 0;
    bool begins = true;
    for (; *line; line++) {
        if (isalnum((unsigned char)*line))
            op[length++] = begins ? (char)toupper((unsigned char)*line) : *line;
        begins = !isalnum((unsigned char)*line);
    }
    op[length] = '\0';
    if (length && length < LONGEST_NAME && isalpha((unsigned char)*op))
        description->op = op;
}

static struct akgen_error *read_step(struct gen_description *description, const char *name, const char *value, int line)
{
    if (strstr(value, "\\sum") || strstr(value, "\\prod"))
        return error_new(
            "%s:%d: sums are written sum(x) or mean(x) of rows, sum(x, 0) along an axis, sum(x, all) of all",
            description->path, line);
    if (strpbrk(value, "\"\\"))
        return error_new("%s:%d: a formula holds neither quotes nor backslashes", description->path, line);
    struct name *known = find(description, name);
    if (known && known->value && strcmp(known->value, value) != 0)
        return error_new("%s:%d: '%s' is assigned a second time, the first one is in line %d", description->path, line,
                         name, known->line);
    known = add(description, name, ROLE_STEP, line);
    known->value = value;
    known->role = describe_is_number(value) ? ROLE_ATTR : ROLE_STEP;
    known->declared |= describe_is_number(value);
    known->line = line;
    return NULL;
}

/* The data type that a word is, NULL if it is none. */
static const char *type_of_word(const char *word)
{
    static const char *const types[][2] = {
        {"fp16", "float16"},    {"half", "float16"},   {"fp32", "float32"}, {"float", "float32"},
        {"bf16", "bfloat16"},   {"i8", "int8"},        {"u8", "uint8"},     {"i32", "int32"},
        {"i64", "int64"},       {"long", "int64"},     {"boolean", "bool"}, {"float16", "float16"},
        {"float32", "float32"}, {"int8", "int8"},      {"uint8", "uint8"},  {"int16", "int16"},
        {"int32", "int32"},     {"int64", "int64"},    {"bool", "bool"},    {"bfloat16", "bfloat16"},
        {"integer", "int32"},   {"integers", "int32"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i][0], word) == 0)
            return types[i][1];
    return NULL;
}

/* Data types that a line names are those of the tensor that it declares, `owner`, if it declares one and names one. */
static void read_types(struct gen_description *description, const char *line, struct name *owner)
{
    const char *only = NULL;
    bool several = false;
    for (size_t length; *line; line += length ? length : 1) {
        length = strspn(line, LETTERS "0123456789");
        const char *type = length ? type_of_word(arena_strndup(description->arena, line, length)) : NULL;
        if (!type)
            continue;
        several |= only && strcmp(only, type) != 0;
        only = type;
        for (int i = 0; i < DESCRIBE_TYPES; i++)
            description->types[i] |= strcmp(describe_types[i], type) == 0;
    }
    if (owner && only && !several)
        owner->type = only;
}

/* Values that a line about a tensor names. */
static void read_values(const char *line, struct name *owner)
{
    static const char *const values[][2] = {
        {"0/1", "randint(0, 2)"},       {"{0,1}", "randint(0, 2)"},     {"{0, 1}", "randint(0, 2)"},
        {"0 or 1", "randint(0, 2)"},    {"binary", "randint(0, 2)"},    {"one-hot", "randint(0, 2)"},
        {"onehot", "randint(0, 2)"},    {"ositive", "uniform(0.1, 1)"}, {"robabilit", "uniform(0.1, 1)"},
        {"ariance", "uniform(0.1, 1)"}, {"> 0", "uniform(0.1, 1)"},     {"greater than 0", "uniform(0.1, 1)"},
    };
    for (size_t i = 0; owner && i < sizeof values / sizeof *values && !owner->generate; i++)
        if (strstr(line, values[i][0]))
            owner->generate = values[i][1];
}

/* A word of prose; one letter at the beginning of a line is a name. */
static bool is_prose(const char *word)
{
    return word[1] && describe_is_filler(word);
}

/* A name that reads like one, and not like a word of prose: x, x1, grad_out. */
static bool is_symbol(const char *name)
{
    return !name[1] || strpbrk(name, "0123456789_");
}

static bool are_fillers(struct arena *arena, const char *text)
{
    bool fillers = true;
    for (size_t length; *text && fillers; text += length ? length : 1) {
        length = strspn(text, WORD_BYTES);
        fillers = !length || describe_is_filler(arena_strndup(arena, text, length));
    }
    return fillers;
}

/* True if the line says of the name that ends at `end` which shape it has, in brackets at `at`; false if the name may be the word of
 * prose in front of the brackets: "over [N, C]". `first`: the line begins with the name. */
static bool is_declaration(struct gen_description *description, const char *line, const char *name, size_t end,
                           size_t at, bool first)
{
    static const char listed[] =
        "[])],?[[:space:]]*(and[[:space:]])?[[:space:]`*$]*$"; /* "logits [N, C], target [N]" */
    const char *groups[GROUPS], *between = arena_strndup(description->arena, line + end, at - end);
    const char *before = arena_strndup(description->arena, line, end - strlen(name));
    const char next = line[end + strspn(line + end, " \t`*$")];
    return is_symbol(name) || (*between && strchr("`$", *between)) || strchr(first ? ":|(-[" : ":", next) ||
           matches(description, listed, before, groups) ||
           (strstr(between, "shape") && are_fillers(description->arena, between));
}

/* Returns the name whose shape is in brackets at `at`: the name that the line begins with, of what follows the nearest name before. `end`: where
 * the name ends. */
static const char *owner_of(struct gen_description *description, const char *line, size_t at, bool first, size_t *end)
{
    static const char beginning[] = BEGIN "(" NAME ")[`*]*[[:space:]]*([:|(-]|of |is |has |with |\\[).*";
    const char *groups[GROUPS], *before = arena_strndup(description->arena, line, at + 1), *owner = NULL;
    if (first && matches(description, beginning, before, groups) && !is_prose(groups[2])) {
        *end = (size_t)(strstr(line, groups[2]) - line) + strlen(groups[2]);
        return groups[2];
    }
    for (size_t i = 0; i < at;) {
        size_t length = strspn(line + i, WORD_BYTES);
        const char *word = arena_strndup(description->arena, line + i, length);
        i += length ? length : 1;
        if (length && !isdigit((unsigned char)*word) && !describe_is_filler(word)) {
            owner = word;
            *end = i;
        }
    }
    return owner;
}

/* True if what stands in brackets are sizes. */
static bool are_sizes(const char *line, size_t at, const char *inside, bool named)
{
    bool word = at && strchr(WORD_BYTES, line[at - 1]);
    size_t items = strspn(inside, SHAPE_BYTES);
    if (!*inside || items < strlen(inside) || !inside[strspn(inside, " ,+-*/()")])
        return false;
    if (line[at] == '[')
        return !word || strpbrk(inside, ",") || isupper((unsigned char)*inside);
    bool large = true; /* (N, C) */
    for (const char *item = inside; *item; item += strcspn(item, ","), item += *item == ',') {
        item += strspn(item, " ");
        large &= !*item || isupper((unsigned char)*item) || isdigit((unsigned char)*item);
    }
    return !word && (named || large) && (named || strpbrk(inside, ",") || strlen(inside) < 3);
}

static struct akgen_error *set_shape(struct gen_description *description, struct name *name, const char *shape,
                                     bool declared, int line)
{
    /* "N,C" is "N, C". */
    char *text = arena_alloc(description->arena, 2 * strlen(shape) + 1), *out = text;
    for (const char *at = shape + strspn(shape, " "); *at; at++)
        if (*at == ',') {
            *out++ = ',';
            *out++ = ' ';
            at += strspn(at + 1, " ");
        } else if (*at != ' ' || strchr(", ", at[1]) == NULL) {
            *out++ = *at;
        }
    *out = '\0';
    shape = trimmed(description->arena, text);
    if (name->shape && strcmp(name->shape, shape) != 0)
        return error_new(
            "%s:%d: '%s' has a second shape, the first one is in line %d: a tensor has one, either [%s] or "
            "[%s]",
            description->path, line, name->name, name->shape_line, name->shape, shape);
    if (!name->shape)
        name->shape_line = line;
    name->shape = shape;
    name->declared |= declared;
    return NULL;
}

/* Shapes in a line; `owner`: whose it is if there is one, `count` how many there are. */
static struct akgen_error *read_shapes(struct gen_description *description, const char *line, int number,
                                       struct name **owner, int *count)
{
    /* "a, b and c: [", "a and b are [" */
    static const char several[] =
        "^[[:space:]>*`-]*((" NAME "[`*]*(,| and|, and)[[:space:]`*]+)+" NAME ")[`*]*[[:space:]]*"
        "(:|are|have|is|of|with|[(])?[^,]*$";
    struct arena *arena = description->arena;
    struct akgen_error *error = NULL;
    const char *groups[GROUPS], *rest[GROUPS];
    for (size_t at = strcspn(line, "[("); line[at] && !error; at += 1 + strcspn(line + at + 1, "[(")) {
        const char *close = strchr(line + at, line[at] == '[' ? ']' : ')');
        const char *inside = close ? arena_strndup(arena, line + at + 1, (size_t)(close - line) - at - 1) : "";
        const char *before = arena_strndup(arena, line, at);
        bool named = matches(description, "shape( of| is|:)?[[:space:]:`]*$", before, groups);
        if (!are_sizes(line, at, inside, named)) {
            bool begins = matches(description, BEGIN "(" NAME ")[`*]*[[:space:]]*[:|]?[[:space:]]*$", before, groups);
            if (line[at] == '[' && close && begins && matches(description, "^[`*$]*[[:space:]]*=", close + 1, rest))
                return error_new(
                    "%s:%d: '%s[%s] = ...': a formula computes a whole tensor, '%s = ...', not one element; "
                    "results that go on from element to element are not supported, except cumsum(x)",
                    description->path, number, groups[2], inside, groups[2]);
            if (line[at] == '[' && close && begins && !strchr(inside, ':'))
                return error_new("%s:%d: '[%s]': expected sizes that are names, numbers or made of these by + - * //, "
                                 "separated by commas; a tensor whose shape stands nowhere has that of the others",
                                 description->path, number, inside);
            continue;
        }
        size_t end = 0;
        const char *name = owner_of(description, line, at, !*count, &end);
        if (!*count && matches(description, several, before, groups)) {
            end = (size_t)(strstr(line, groups[1]) - line) + strlen(groups[1]);
            for (char *names = arena_strdup(arena, groups[1]), *rest_of; (name = strtok_r(names, " ,`*\t", &rest_of));
                 names = NULL)
                if (strcmp(name, "and") != 0) {
                    ++*count;
                    bool declared = is_declaration(description, line, name, end, at, true);
                    if ((error = set_shape(description, *owner = add(description, name, ROLE_INPUT, number), inside,
                                           declared, number)))
                        return error;
                }
        }
        if (!name)
            continue;
        bool declared = is_declaration(description, line, name, end, at, !*count);
        *owner = add(description, name, ROLE_INPUT, number);
        ++*count;
        error = set_shape(description, *owner, inside, declared, number);
    }
    return error;
}

/* The name has this number as its value. `declared`: the line says so, it is no number somewhere after the name. A tensor and a
 * step have none, so a sentence about one of their values ("for x = 0") changes nothing. */
static struct akgen_error *set_number(struct gen_description *description, const char *name, const char *value,
                                      bool declared, int line)
{
    struct name *known = add(description, name, ROLE_ATTR, line);
    bool number = known->value && describe_is_number(known->value);
    if (known->shape || (known->value && !number) || (number && !declared))
        return NULL;
    if (number && known->declared && strtod(known->value, NULL) != strtod(value, NULL))
        return error_new("%s:%d: '%s' is %s here and %s in line %d: a number has one value", description->path, line,
                         name, value, known->value, known->line);
    *known = (struct name){.role = ROLE_ATTR, .name = name, .value = value, .declared = declared, .line = line};
    return NULL;
}

/* Numbers that a line names. */
static struct akgen_error *read_numbers(struct gen_description *description, const char *line, bool declares,
                                        int number)
{
    static const char *const patterns[] = {
        BEGIN "(" NAME
              ")[`*$]*[[:space:]]*[:|(-].*[Dd]efaults?( to| is| value|:|=)*[[:space:]:`]*([-+]?[0-9][-+.0-9e]*).*$",
        BEGIN "(" NAME ")[`*$]*[[:space:]]*[:|(=-](|[^0-9]*[^-+A-Za-z0-9_])([-+]?[0-9][-+.0-9e]*)[^0-9]*$",
    };
    struct arena *arena = description->arena;
    struct akgen_error *error = NULL;
    const char *groups[GROUPS];
    if (!strpbrk(line, "0123456789"))
        return NULL;
    for (size_t i = strstr(line, "efault") ? 0 : 1; i < 2 && !declares; i++)
        if (matches(description, patterns[i], line, groups) && describe_is_number(trimmed(arena, groups[4])))
            return set_number(description, groups[2], trimmed(arena, groups[4]),
                              i == 0 || !strpbrk(groups[3], LETTERS) || strchr(groups[3], '='), number);
    static const char anywhere[] =
        "(^|[^A-Za-z0-9_])(" NAME ")[`*$]*[[:space:]]*(:[[:space:]]*[a-z0-9]+[[:space:]]*)?=[[:space:]`$]*"
        "([-+]?[0-9][-+.0-9e]*)(.*)$";
    for (const char *rest = line; !error && strchr(rest, '=') && matches(description, anywhere, rest, groups);
         rest = groups[5])
        if (describe_is_number(trimmed(arena, groups[4])) && !describe_is_filler(groups[2]))
            error = set_number(description, groups[2], trimmed(arena, groups[4]), true, number);
    return error;
}

static struct akgen_error *read_declarations(struct gen_description *description, const char *line, int number)
{
    static const char typed[] = BEGIN "(" NAME ")[`*]*[[:space:]]*([:|(-]|is )";
    const char *groups[GROUPS];
    struct name *owner = NULL;
    int count = 0;
    struct akgen_error *error = read_shapes(description, line, number, &owner, &count);
    if (error)
        return error;
    const char *declared = owner ? owner->name : NULL;
    if ((error = read_numbers(description, line, count > 0, number)))
        return error;
    owner = declared ? find(description, declared) : NULL; /* names may have moved */
    if (!count && matches(description, typed, line, groups) && !is_prose(groups[2])) {
        owner = add(description, groups[2], ROLE_INPUT, number);
        owner->mentioned = true;
    }
    read_types(description, line, count < 2 ? owner : NULL);
    if (owner && !count && owner->type && !owner->value) {
        const char end = strstr(line, owner->name)[strlen(owner->name)];
        owner->declared |= is_symbol(owner->name) || end == '`' || end == '$';
    }
    read_values(line, count < 2 ? owner : NULL);
    return NULL;
}

static void read_name(struct gen_description *description, const char *line)
{
    static const char pattern[] =
        "^[[:space:]*_]*([Oo]perator|[Oo]p|[Nn]ame|[Kk]ernel|[Tt]itle)( name)?[*_]*[[:space:]]*:[[:space:]*_`]*"
        "([A-Za-z].*)$";
    const char *groups[GROUPS];
    if (!description->op && strchr(line, ':') && matches(description, pattern, line, groups))
        read_title(description, groups[3]);
}

static struct akgen_error *read_line(struct gen_description *description, const char *raw, int number)
{
    static const char begins[] = BEGIN SET "([^=].*)$";
    static const char within[] = "^(.*[[:space:]])?(is|as|by|computes?|yields|gives|:)[[:space:]:`$*]+" SET "([^=].*)$";
    struct arena *arena = description->arena;
    struct akgen_error *error = NULL;
    const char *groups[GROUPS];
    if (*raw == '#') {
        if (!description->op)
            read_title(description, raw + strspn(raw, "# "));
        return NULL;
    }
    read_name(description, raw);
    for (const char *line = describe_plain(arena, raw), *rest; *line && !error; line = rest) {
        line = describe_unlabelled(line);
        rest = "";
        int name = !strchr(line, '=')                           ? 0
                   : matches(description, begins, line, groups) ? 2
                   : matches(description, within, line, groups) ? 3
                                                                : 0;
        if (name && !is_prose(groups[name]) &&
            (name == 2 || !describe_is_number(describe_formula(arena, groups[name + 1], &rest)))) {
            const char *formula = describe_formula(arena, groups[name + 1], &rest);
            error = read_step(description, groups[name], formula, number);
            read_types(description, rest, NULL);
        } else {
            rest = "";
            error = read_declarations(description, line, number);
        }
    }
    return error;
}

/* Roles. */
static bool is_word_of_formulas(const char *name)
{
    static const char *const words[] = {"all",  "pi",    "and",  "or",    "not", "if", "else",
                                        "True", "False", "true", "false", "inf", "nan"};
    bool word = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        word |= strcmp(name, words[i]) == 0;
    return word;
}

/* Calls visit for each name of an expression that is not called as a function. */
static void each_name(const char *text, struct gen_description *description,
                      void (*visit)(struct gen_description *description, const char *name, int line), int line)
{
    while (*text) {
        size_t digits = strspn(text, "0123456789."), length = strspn(text, WORD_BYTES ".");
        if (digits) { /* 1e-6 is no name */
            text += length;
        } else if (length) {
            size_t head = strcspn(text, ".");
            bool member = head < length; /* x.sum(, torch.exp( */
            const char *name = arena_strndup(description->arena, text, member ? head : length);
            text += length;
            const char *next = text + strspn(text, " ");
            bool keyword = *next == '=' && next[1] != '=';
            if ((member ? !expr_is_space(name) : *next != '(') && !keyword && !is_word_of_formulas(name))
                visit(description, name, line);
        } else {
            text++;
        }
    }
}

static void use(struct gen_description *description, const char *name, int line)
{
    add(description, name, ROLE_INPUT, line)->used = true;
}

static void add_dim(struct gen_description *description, const char *name, int line)
{
    (void)line;
    for (int i = 0; i < description->dim_count; i++)
        if (strcmp(description->dims[i], name) == 0)
            return;
    if (description->dim_count < MOST_DIMS)
        description->dims[description->dim_count++] = name;
}

static void look(struct gen_description *description, const char *name, int line)
{
    (void)line;
    description->found |= strcmp(name, description->sought) == 0;
}

static bool needs(struct gen_description *description, const struct name *step, const char *name)
{
    description->sought = name;
    description->found = false;
    each_name(step->value, description, look, 0);
    return description->found;
}

static bool is_step(const struct name *name)
{
    return name->value && !describe_is_number(name->value);
}

/* Steps come behind all other names, and behind the steps that they need, else as their lines do. */
static struct akgen_error *order_steps(struct gen_description *description)
{
    const int count = description->count;
    struct name *ordered = arena_alloc(description->arena, sizeof *ordered * (size_t)(count + 1));
    bool *placed = arena_alloc(description->arena, sizeof *placed * (size_t)(count + 1));
    int placed_count = 0;
    for (int i = 0; i < count; i++)
        if (!is_step(&description->names[i])) {
            placed[i] = true;
            ordered[placed_count++] = description->names[i];
        }
    while (placed_count < count) {
        int next = -1, waiting = -1;
        for (int i = 0; i < count; i++) {
            bool ready = !placed[i];
            for (int k = 0; k < count && ready; k++)
                ready = placed[k] || k == i || !needs(description, &description->names[i], description->names[k].name);
            waiting = placed[i] ? waiting : i;
            if (ready && (next < 0 || description->names[i].line < description->names[next].line))
                next = i;
        }
        if (next < 0)
            return error_new("%s:%d: '%s' needs a step that needs '%s'", description->path,
                             description->names[waiting].line, description->names[waiting].name,
                             description->names[waiting].name);
        placed[next] = true;
        ordered[placed_count++] = description->names[next];
    }
    description->names = ordered;
    description->capacity = count;
    return NULL;
}

/* What an input becomes: m_new, new_m, m_out, m_t, of m. */
static bool is_update(const struct gen_description *description, const char *step)
{
    static const char *const forms[][2] = {{"", "_new"}, {"", "_out"}, {"", "_next"}, {"", "_updated"}, {"", "_t"},
                                           {"new_", ""}, {"out_", ""}, {"next_", ""}, {"updated_", ""}};
    for (int i = 0; i < description->count; i++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms && describe_takes_part(&description->names[i], ROLE_INPUT);
             f++)
            if (strcmp(step, arena_printf(description->arena, "%s%s%s", forms[f][0], description->names[i].name,
                                          forms[f][1])) == 0)
                return true;
    return false;
}

/* Which steps are outputs: those with a shape, those that no step uses, and those that are called after an input. */
static struct akgen_error *find_roles(struct gen_description *description)
{
    int steps = 0;
    for (int i = 0; i < description->count; i++)
        if (description->names[i].value && description->names[i].role == ROLE_STEP)
            each_name(description->names[i].value, description, use, description->names[i].line);
    for (int i = 0; i < description->count; i++) {
        struct name *name = &description->names[i];
        bool step = is_step(name);
        if (step)
            name->role = name->shape || !name->used || is_update(description, name->name) ? ROLE_OUTPUT : ROLE_STEP;
        steps += step;
        if (name->shape)
            each_name(name->shape, description, add_dim, name->line);
    }
    if (!steps)
        return error_new(
            "%s: no line says how an output is computed, such as 'y = x * rsqrt(mean(x*x) + eps) * weight'",
            description->path);
    return order_steps(description);
}

struct akgen_error *gen_description_read(struct arena *arena, const char *path, const char *text,
                                         struct gen_description **description)
{
    struct gen_description *read = *description = arena_alloc(arena, sizeof *read);
    struct akgen_error *error = NULL;
    char *rest = arena_strdup(arena, text), *line;
    *read = (struct gen_description){.arena = arena, .path = path, .text = text};
    for (int number = 1; (line = strsep(&rest, "\n")) && !error; number++)
        error = read_line(read, line, number);
    for (int i = 0; i < read->pattern_count; i++)
        regfree(&read->patterns[i].compiled);
    read->pattern_count = 0;
    if (!error)
        error = find_roles(read);
    if (!error)
        error = describe_check(read);
    if (!error && !read->op)
        error = error_new("%s: no heading names the operator, such as '# RmsNorm'", path);
    return error;
}

const char *gen_description_op(const struct gen_description *description)
{
    return description->op;
}
