/* Names in the project: variables, parameters and buffers in camel case, constants of the file in upper case, none of them a word
 * that C++ has for something else. */
#include "base/array.h"
#include "dsl/edit.h"
#include "dsl/emit.h"
#include "dsl/interpret.h"
#include "dsl/values.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Words of C++, its types, and names that the printed text has itself. */
static bool is_word_of_cpp(const char *name)
{
    static const char words[] =
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class "
        "compl concept const const_cast consteval constexpr constinit continue decltype default delete do double "
        "dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable "
        "namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
        "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch "
        "template this thread_local throw true try typedef typeid typename union unsigned using virtual void "
        "volatile wchar_t while xor xor_eq half T pipe tiling context attrs platform int8_t int16_t int32_t "
        "int64_t uint8_t uint16_t uint32_t uint64_t size_t ";
    const size_t length = strlen(name);
    const char *found = strstr(words, name);
    while (found && (found[-1] != ' ' || found[length] != ' '))
        found = strstr(found + 1, name);
    return length && found;
}

const char *emit_camel(struct arena *arena, const char *name, bool first_large)
{
    char *camel = arena_alloc(arena, strlen(name) + 2);
    size_t length = 0;
    bool large = first_large;
    for (const char *from = name; *from; from++) {
        if (*from == '_') {
            large = length > 0 || first_large;
            continue;
        }
        bool digits = length && isdigit((unsigned char)camel[length - 1]) && isdigit((unsigned char)*from) && large;
        if (digits)
            camel[length++] = '_';
        camel[length++] = (char)(large ? toupper((unsigned char)*from) : *from);
        large = false;
    }
    if (!length || is_word_of_cpp(camel))
        camel[length++] = '_';
    return camel;
}

bool emit_is_constant(const struct emit *emit, const char *name)
{
    return !dsl_scope_find(emit->names, name) && dsl_scope_find(&emit->lowering->program->file, name);
}

/* What the kernel's class calls what belongs to a parameter or a buffer. */
static const char *const belongings[] = {"", "Gm", "List", "Length", "At", "Queue", "Buffer", "Copy"};

static bool is_among(const char *const *names, int count, const char *name)
{
    bool found = false;
    for (int i = 0; !found && i < count; i++)
        found = strcmp(names[i], name) == 0;
    return found;
}

/* The name of a variable as C++ has it, before it is told from others: "rowMax" of "row_max", "x" of the buffer "x_ub", which a
 * tensor of that name leaves free. */
static const char *plain_name(const struct lowering *lowering, const struct dsl_scope *scope, const char *name,
                              bool buffer)
{
    size_t length = strlen(name);
    if (buffer && length > 3 && strcmp(name + length - 3, "_ub") == 0) {
        const char *stem = arena_strndup(lowering->arena, name, length - 3);
        if (!dsl_scope_find(scope, stem) || lower_parameter_find(lowering, stem))
            name = stem;
    }
    char *plain = (char *)emit_camel(lowering->arena, name, false);
    *plain = (char)tolower((unsigned char)*plain);
    return plain;
}

bool emit_is_belonging(const struct lowering *lowering, const char *name)
{
    const struct dsl_scope *scope = &lowering->program->kernel_names;
    bool found = false;
    for (int s = 0; !found && s < scope->count; s++) {
        const char *owner = plain_name(lowering, scope, scope->items[s]->name,
                                       lower_buffer_find(lowering, scope->items[s]->name) != NULL);
        size_t length = strlen(owner);
        for (size_t i = 1; !found && i < sizeof belongings / sizeof *belongings; i++)
            found = strncmp(name, owner, length) == 0 && strcmp(name + length, belongings[i]) == 0;
    }
    return found;
}

/* Variables that the printed text has of its own. */
static const char *const of_kernel[] = {"scalarBuffer", "blocks", EMIT_DEPTH}, *const of_host[] = {
                                                                                   "scalarBuffer", "blocks",
                                                                                   EMIT_DEPTH,     "workspace",
                                                                                   "ubBytes",      "needed",
                                                                                   "neededWith",   "dataType",
                                                                                   "tensors"};

/* Names for all of a scope, by number: parameters and buffers first, with what belongs to them. */
static const char **name_all(struct lowering *lowering, const struct dsl_scope *scope, bool kernel)
{
    enum { BELONGINGS = sizeof belongings / sizeof *belongings };
    const char **names = arena_alloc(lowering->arena, (size_t)(scope->count + 1) * sizeof *names);
    const char *const *own = kernel ? of_kernel : of_host;
    int count = (int)(kernel ? sizeof of_kernel : sizeof of_host) / (int)sizeof *own;
    const char **used = arena_alloc(lowering->arena, (size_t)(scope->count * (BELONGINGS + 1) + count) * sizeof *used);
    memcpy(used, own, (size_t)count * sizeof *used);
    for (int round = 0; round < 2; round++)
        for (int s = 0; s < scope->count; s++) {
            const char *name = scope->items[s]->name;
            bool buffer = kernel && lower_buffer_find(lowering, name) != NULL;
            bool owns = buffer || (kernel && lower_parameter_find(lowering, name));
            if (owns != (round == 0))
                continue;
            const char *plain = plain_name(lowering, scope, name, buffer), *found = plain;
            bool tensor = owns && !buffer && scope->items[s]->type == DSL_TYPE_TENSOR; /* is written with Gm */
            for (int n = 2; !tensor && (is_word_of_cpp(found) || is_among(used, count, found)); n++)
                found = arena_printf(lowering->arena, "%s_%d", plain, n);
            names[s] = found;
            for (int b = tensor; b < (owns ? BELONGINGS : 1); b++)
                used[count++] = arena_printf(lowering->arena, "%s%s", found, belongings[b]);
        }
    return names;
}

const char *emit_variable(struct lowering *lowering, const struct dsl_scope *scope, const char *name)
{
    bool kernel = scope == &lowering->program->kernel_names;
    const char ***names = kernel ? &lowering->kernel_words : &lowering->host_words;
    if (!*names)
        *names = name_all(lowering, scope, kernel);
    const struct dsl_symbol *symbol = dsl_scope_find(scope, name);
    return symbol ? (*names)[symbol->number] : emit_camel(lowering->arena, name, false);
}

/* A macro of C's headers, or a type's name. */
static bool is_macro(const char *name)
{
    static const char *const macros[] = {"NULL", "NAN", "EOF", "INFINITY", "NO_ERROR"};
    static const char *const stems[] = {"DTYPE_", "ORIG_DTYPE_", "DT_", "FORMAT_", "M_", "PIPE_", "TILING_"};
    static const char *const ends[] = {"_MAX", "_MIN", "_EPSILON", "_DIG"};
    bool found = !name[1] || is_among(macros, sizeof macros / sizeof *macros, name);
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        found |= strncmp(name, stems[i], strlen(stems[i])) == 0;
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        found |= length > strlen(ends[i]) && strcmp(name + length - strlen(ends[i]), ends[i]) == 0;
    return found;
}

/* Constants of the file are upper case; what is another name there, or a macro, gets something behind it. */
static const char *constant_name(const struct emit *emit, const char *name)
{
    struct arena *arena = emit->lowering->arena;
    const struct dsl_scope *file = &emit->lowering->program->file;
    int number = 1;
    for (int i = 0; i < file->count && strcmp(file->items[i]->name, name) != 0; i++)
        number += strcasecmp(file->items[i]->name, name) == 0;
    char *upper = arena_strdup(arena, name);
    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    const char *stem = is_macro(upper) ? arena_printf(arena, "%s_", upper) : upper;
    return number == 1 ? stem : arena_printf(arena, "%s_%d_", stem, number);
}

const char *emit_name(struct emit *emit, const char *name)
{
    struct arena *arena = emit->lowering->arena;
    if (!emit_is_constant(emit, name))
        return emit_variable(emit->lowering, emit->names, name);
    if (!is_among(emit->constants, emit->constant_count, name))
        ARRAY_ADD(arena, emit->constants, emit->constant_count, emit->constant_capacity, name);
    return constant_name(emit, name);
}

static void see_call(void *closure, struct dsl_expr *part)
{
    bool *found = closure;
    *found |= part->kind == DSL_CALL || (part->kind == DSL_BINARY && part->op == DSL_POWER);
}

/* What stands for a constant's expression: itself, or its value where that is not the same everywhere, as of real numbers, or no
 * constant of C++, as of a function; then the expression is a comment. */
static const char *constant_text(struct emit *emit, const struct dsl_statement *statement, const struct value *values)
{
    struct arena *arena = emit->lowering->arena;
    struct dsl_expr *expr = statement->value;
    const enum dsl_type type = expr->type;
    const struct dsl_expr *number = expr->kind == DSL_UNARY ? expr->items[0] : expr;
    bool folds = type == DSL_TYPE_REAL && number->kind != DSL_REAL && number->kind != DSL_INT, calls = false;
    tree_visit(expr, see_call, &calls);
    const struct dsl_symbol *symbol = dsl_scope_find(&emit->lowering->program->file, statement->target->name);
    if (!values || !symbol || (!folds && !(calls && type == DSL_TYPE_INT)))
        return arena_printf(arena, "%s;", emit_expr_text(emit, expr));
    struct edit edit = {arena, expr->place};
    const struct value *value = &values[symbol->number];
    const double real = emit->host ? value->real : (double)(float)value->real;
    const char *text = type == DSL_TYPE_INT         ? emit_expr_text(emit, edit_integer(&edit, value->integer))
                       : isinf(real) || isnan(real) ? emit_expr_text(emit, expr)
                                                    : arena_printf(arena, emit->host ? "%.17g" : "%.9g", real);
    const bool plain = type == DSL_TYPE_INT || isinf(real) || isnan(real);
    return arena_printf(arena, "%s%s%s; // %s", text, plain || strpbrk(text, ".e") ? "" : ".0",
                        plain || emit->host ? "" : "f", dsl_expr_text(arena, expr));
}

void emit_constants(struct emit *emit, struct text *out)
{
    struct arena *arena = emit->lowering->arena;
    const struct dsl_block *body = &emit->lowering->tree->body;
    const char **lines = arena_alloc(arena, (size_t)body->count * sizeof *lines);
    const struct value *values = dsl_constants(arena, emit->lowering->program, emit->lowering->messages);
    bool any = false;
    for (int i = body->count - 1; i >= 0; i--) { /* a constant is made of those before it */
        const struct dsl_statement *statement = body->items[i];
        bool named = statement->kind == DSL_ASSIGN && statement->target->kind == DSL_NAME &&
                     is_among(emit->constants, emit->constant_count, statement->target->name);
        const enum dsl_type kind = statement->kind == DSL_ASSIGN ? statement->value->type : DSL_TYPE_INT;
        const char *type = kind == DSL_TYPE_REAL   ? emit->host ? "constexpr double" : "constexpr float"
                           : kind == DSL_TYPE_BOOL ? "constexpr bool"
                           : kind == DSL_TYPE_INTS ? "const std::vector<int64_t>"
                           : kind == DSL_TYPE_TEXT ? "const std::string"
                                                   : "constexpr int64_t";
        lines[i] = named ? arena_printf(arena, "%s %s = %s", type, emit_name(emit, statement->target->name),
                                        constant_text(emit, statement, values))
                         : NULL;
    }
    emit->out = out;
    emit->indent = 0;
    for (int i = 0; i < body->count; i++)
        if (lines[i]) {
            emit->line = body->items[i]->place.line;
            emit_comments(emit, &body->items[i]->lead);
            emit_line(emit, "%s", lines[i]);
            any = true;
        }
    text_add(out, any ? "\n" : "");
}
