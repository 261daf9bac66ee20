/* The checker: names, types, stages. The host function comes first, since the kernel's parameters are of the types that the
 * launch gives them. Each function is read until no type is new; what the last reading finds wrong is told. */
#include "base/array.h"
#include "dsl/check.h"
#include "dsl/dsl.h"
#include "dsl/edit.h"

#include <string.h>

enum { ROUNDS_MAX = 64 };
/* Limits the size of a program: passes of the compiler take time of its square. A TPipe has 64 buffers; the largest program of the
 * tasks has 19 of them in 242 lines. */
enum { BUFFERS_MAX = 256, NAMES_MAX = 2048, STATEMENTS_MAX = 4096, LOOPS_MAX = 8 };

enum { BITS_FIRST = 5, HASH_BITS = 64 };

static uint64_t hash_of(const struct dsl_scope *scope, const char *name)
{
    const uint64_t prime = 0x100000001b3, odd = 0x9e3779b97f4a7c15;
    uint64_t hash = scope->seed;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * prime;
    return (hash ^ hash >> (HASH_BITS / 2)) * odd;
}

static struct dsl_symbol **bucket_of(const struct dsl_scope *scope, uint64_t hash)
{
    return &scope->buckets[hash >> (HASH_BITS - scope->bits)];
}

struct dsl_expr *launch_argument(const struct dsl_program *program, int number)
{
    const struct dsl_expr *launch = program->launch;
    const struct dsl_parameter *parameter = &program->kernel->function->parameters[number];
    for (int i = 1; i < launch->count; i++)
        if (launch->items[i]->kind == DSL_NAMED && strcmp(launch->items[i]->name, parameter->name) == 0)
            return launch->items[i]->items[0];
    if (number + 1 < launch->count && launch->items[number + 1]->kind != DSL_NAMED)
        return launch->items[number + 1];
    return parameter->value;
}

const char *address_base(const struct dsl_expr *address)
{
    while (address->kind == DSL_BINARY && address->op == DSL_ADD)
        address = address->items[0]->type == DSL_TYPE_INT ? address->items[1] : address->items[0];
    return address->kind == DSL_NAME ? address->name : NULL;
}

static struct dsl_symbol *find_hashed(const struct dsl_scope *scope, const char *name, uint64_t hash)
{
    struct dsl_symbol *symbol = scope->bits ? *bucket_of(scope, hash) : NULL;
    while (symbol && (symbol->hash != hash || strcmp(symbol->name, name) != 0))
        symbol = symbol->next;
    return symbol;
}

struct dsl_symbol *dsl_scope_find(const struct dsl_scope *scope, const char *name)
{
    return find_hashed(scope, name, hash_of(scope, name));
}

/* Doubles the buckets. */
static void scope_grow(struct arena *arena, struct dsl_scope *scope)
{
    scope->bits = scope->bits ? scope->bits + 1 : BITS_FIRST;
    scope->buckets = arena_alloc(arena, sizeof(struct dsl_symbol *) << scope->bits);
    for (int i = 0; i < scope->count; i++) {
        struct dsl_symbol *symbol = scope->items[i], **bucket = bucket_of(scope, symbol->hash);
        symbol->next = *bucket;
        *bucket = symbol;
    }
}

struct dsl_symbol *scope_add(struct arena *arena, struct dsl_scope *scope, const char *name, struct dsl_place place)
{
    if (!scope->bits)
        scope->seed = (uint64_t)(uintptr_t)scope; /* an address that differs from process to process */
    const uint64_t hash = hash_of(scope, name);
    struct dsl_symbol *symbol = find_hashed(scope, name, hash);
    if (symbol)
        return symbol;
    if (!scope->bits || scope->count >> scope->bits)
        scope_grow(arena, scope);
    symbol = arena_alloc(arena, sizeof *symbol);
    struct dsl_symbol **bucket = bucket_of(scope, hash);
    *symbol = (struct dsl_symbol){
        .name = name, .type = DSL_TYPE_UNKNOWN, .place = place, .number = scope->count, .next = *bucket, .hash = hash};
    *bucket = symbol;
    ARRAY_ADD(arena, scope->items, scope->count, scope->capacity, symbol);
    return symbol;
}

static bool check_block(struct checker *checker, const struct dsl_block *block);

static void bind(struct checker *checker, int number)
{
    if (checker->bound[number])
        return;
    checker->bound[number] = true;
    ARRAY_ADD(checker->arena, checker->order, checker->order_count, checker->order_capacity, number);
}

/* Takes the values from the symbols that the order has from number `from` up to `to`, and leaves the order as it is. */
static void unbind(struct checker *checker, int from, int to)
{
    for (int i = from; i < to; i++)
        checker->bound[checker->order[i]] = false;
}

/* A value for a name. */
static void assign(struct checker *checker, struct dsl_expr *target, enum dsl_type type)
{
    if (target->kind != DSL_NAME || !target->name) {
        bool element = target->kind == DSL_INDEX;
        TELL(checker, target->place, DSL_RULE_types,
             element ? "tl.set_scalar(buffer, index, value) writes an element" : NULL, "a value is assigned to a name");
        return;
    }
    struct dsl_symbol *symbol = dsl_scope_find(checker->names, target->name);
    target->symbol = symbol;
    type_add(checker, symbol, type, target->place);
    bind(checker, symbol->number);
}

/* a, b = x.shape and a, b = c, d. */
static void assign_parts(struct checker *checker, struct dsl_statement *statement)
{
    struct dsl_expr *targets = statement->target, *values = statement->value;
    bool each = values->kind == DSL_TUPLE || values->kind == DSL_LIST;
    enum dsl_type whole = each ? DSL_TYPE_UNKNOWN : type_of(checker, values);
    if (each && values->count != targets->count)
        TELL(checker, statement->place, DSL_RULE_types, NULL, "%d values for %d names", values->count, targets->count);
    if (!each && whole != DSL_TYPE_INTS && whole != DSL_TYPE_UNKNOWN)
        TELL(checker, values->place, DSL_RULE_types, NULL, "%s does not have %d parts", dsl_type_text(whole),
             targets->count);
    for (int i = 0; i < targets->count; i++) {
        enum dsl_type type = DSL_TYPE_INT;
        if (each)
            type = i < values->count ? type_of(checker, values->items[i]) : DSL_TYPE_UNKNOWN;
        assign(checker, targets->items[i], type);
    }
}

/* A search for the numbers that names begin with. */
struct first_search {
    struct checker *checker;
    bool *closed; /* by number of the symbol: the block that is being read has given it a value that is no number */
    int *order, count, capacity; /* those symbols, in the order in which they were closed */
};

/* Finds the first number that the block gives each name, 0 where what it gives first is none. A name to which a block inside
 * another gives no number may get one in what follows that block. */
static void search_first(struct first_search *search, const struct dsl_block *block)
{
    const int before = search->count;
    struct checker *checker = search->checker;
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *value = statement->value, *target = statement->target;
        if (statement->kind == DSL_FOR || statement->kind == DSL_IF || statement->kind == DSL_WITH)
            search_first(search, &statement->body);
        if (statement->kind != DSL_ASSIGN || target->kind != DSL_NAME || !target->name)
            continue;
        const int symbol = dsl_scope_find(checker->names, target->name)->number;
        if (checker->first_numbers[symbol] != 0 || search->closed[symbol])
            continue;
        const bool negative = value->kind == DSL_UNARY && value->op == DSL_NEGATE;
        const struct dsl_expr *number = negative ? value->items[0] : value;
        if (number->kind == DSL_REAL && number->real != 0) {
            checker->first_numbers[symbol] = negative ? -number->real : number->real;
        } else {
            search->closed[symbol] = true;
            ARRAY_ADD(checker->arena, search->order, search->count, search->capacity, symbol);
        }
    }
    for (; search->count > before; search->count--)
        search->closed[search->order[search->count - 1]] = false;
}

/* The number that the kernel's statements give a name first, if it is written there; else 0. */
static double first_number(struct checker *checker, const char *name)
{
    struct first_search search = {.checker = checker};
    const size_t count = (size_t)checker->names->count + 1;
    if (!checker->first_numbers) {
        checker->first_numbers = arena_alloc(checker->arena, count * sizeof *checker->first_numbers);
        search.closed = arena_alloc(checker->arena, count * sizeof *search.closed);
        search_first(&search, &checker->program->kernel->body);
    }
    return checker->first_numbers[dsl_scope_find(checker->names, name)->number];
}

/* largest = max(largest, x), begun with -1e30: wrong where all elements are below that. */
static void check_neutral(struct checker *checker, const struct dsl_statement *statement)
{
    const double least = 1e4, most = 3e38; /* what stands for infinity; from `most` on it is as good as one */
    const struct dsl_expr *call = statement->value;
    if (!checker->kernel || !checker->loops || call->kind != DSL_CALL || call->count != 3)
        return;
    bool max = expr_is(call->items[0], "tl", "max") || expr_is(call->items[0], "", "max");
    bool min = expr_is(call->items[0], "tl", "min") || expr_is(call->items[0], "", "min");
    const char *name = statement->target->name;
    if ((!max && !min) || (!expr_is(call->items[1], "", name) && !expr_is(call->items[2], "", name)))
        return;
    double first = first_number(checker, name) * (max ? -1 : 1);
    if (first >= least && first < most)
        TELL(checker, call->place, DSL_RULE_neutral, max ? "begin it with -math.inf" : "begin it with math.inf",
             "'%s' begins with %g: elements %s that are lost", name, max ? -first : first, max ? "below" : "above");
}

static void check_assign(struct checker *checker, struct dsl_statement *statement)
{
    struct dsl_expr *target = statement->target;
    if (statement->op != DSL_NO_OPERATOR) { /* a += b is a = a + b */
        struct dsl_expr *sum = arena_alloc(checker->arena, sizeof *sum),
                        **items = arena_alloc(checker->arena, 2 * sizeof *items);
        items[0] = target;
        items[1] = statement->value;
        *sum = (struct dsl_expr){
            .kind = DSL_BINARY, .place = statement->place, .op = statement->op, .items = items, .count = 2};
        assign(checker, target, type_of(checker, sum));
    } else if (target->kind == DSL_TUPLE || target->kind == DSL_LIST) {
        assign_parts(checker, statement);
    } else {
        enum dsl_type type = type_of(checker, statement->value);
        if (type == DSL_TYPE_NONE && statement->value->kind == DSL_CALL)
            TELL(checker, statement->value->place, DSL_RULE_types,
                 "it writes its first argument; call it on a line of its own", "the call yields nothing");
        assign(checker, target, type);
        if (target->kind == DSL_NAME && target->name)
            check_neutral(checker, statement);
    }
}

static void check_condition(struct checker *checker, struct dsl_expr *condition)
{
    enum dsl_type type = type_of(checker, condition);
    if (type == DSL_TYPE_UNKNOWN || type_is_number(type))
        return;
    TELL(checker, condition->place, DSL_RULE_types,
         type == DSL_TYPE_MASK ? "a mask says which elements are meant: pass it as mask= to tl.load or tl.store" : NULL,
         "the condition is %s, not a truth value", dsl_type_text(type));
}

/* What is bound after the body of a loop, which may never run, is what was before. */
static void check_loop(struct checker *checker, struct dsl_statement *statement)
{
    const int before = checker->order_count;
    checker->loops++;
    checker->nesting++;
    if (statement->target)
        assign(checker, statement->target, DSL_TYPE_INT);
    check_block(checker, &statement->body);
    checker->loops--;
    checker->nesting--;
    unbind(checker, before, checker->order_count);
    checker->order_count = before;
}

/* for i in range(from, to, step), or over the integers of a list. */
static void check_for(struct checker *checker, struct dsl_statement *statement)
{
    enum { MOST = 3 };
    struct dsl_expr *over = statement->value;
    if (!over)
        return;
    if (over->kind == DSL_CALL && expr_is(over->items[0], "", "range")) {
        if (over->count < 2 || over->count > 1 + MOST)
            TELL(checker, over->place, DSL_RULE_arguments, NULL, "range takes one to three integers");
        for (int i = 1; i < over->count; i++) {
            enum dsl_type type = type_of(checker, over->items[i]);
            if (type != DSL_TYPE_UNKNOWN && type != DSL_TYPE_INT && type != DSL_TYPE_BOOL)
                TELL(checker, over->items[i]->place, DSL_RULE_types,
                     type == DSL_TYPE_INTS     ? "a shape's length is len(x.shape)"
                     : type == DSL_TYPE_NUMBER ? "int(..) makes an integer of an element"
                                               : "'//' divides integers",
                     "range takes integers, and this is %s", dsl_type_text(type));
        }
    } else {
        enum dsl_type type = type_of(checker, over);
        if (type != DSL_TYPE_UNKNOWN && type != DSL_TYPE_INTS)
            TELL(checker, over->place, DSL_RULE_types, "write 'for i in range(..):'", "a loop cannot run over %s",
                 dsl_type_text(type));
    }
    check_loop(checker, statement);
}

/* True if the branch ends what is around it, so that what it leaves unbound concerns nobody. */
static bool check_branch(struct checker *checker, const struct dsl_block *block)
{
    checker->nesting++;
    bool ends = check_block(checker, block);
    checker->nesting--;
    return ends;
}

static bool check_if(struct checker *checker, struct dsl_statement *statement)
{
    check_condition(checker, statement->value);
    const int before = checker->order_count;
    bool ends = check_branch(checker, &statement->body);
    const int middle = checker->order_count; /* of what the two branches bind: the first's stands before it */
    unbind(checker, before, middle);
    bool other_ends = check_branch(checker, &statement->orelse);
    int *order = checker->order, kept = before;
    for (int i = before; i < middle; i++)
        if (other_ends || checker->bound[order[i]])
            order[kept++] = order[i];
    kept = ends ? before : kept;
    for (int i = middle; i < checker->order_count; i++)
        if (ends)
            order[kept++] = order[i];
        else
            checker->bound[order[i]] = false;
    checker->order_count = kept;
    for (int i = before; i < kept; i++)
        checker->bound[order[i]] = true;
    return ends && other_ends;
}

static void check_with(struct checker *checker, struct dsl_statement *statement)
{
    static const struct {
        const char *name;
        enum dsl_operation_place place;
    } stages[] = {{"copyin", DSL_PLACE_COPYIN}, {"compute", DSL_PLACE_COMPUTE}, {"copyout", DSL_PLACE_COPYOUT}};
    const struct dsl_expr *call = statement->value;
    int outer = checker->stage, stage = STAGE_NONE;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (call->kind == DSL_CALL && call->count == 1 && expr_is(call->items[0], "tl", stages[i].name))
            stage = (int)stages[i].place;
    if (stage == STAGE_NONE)
        TELL(checker, call->place, DSL_RULE_stages, NULL, "'with' opens tl.copyin(), tl.compute() or tl.copyout()");
    else if (!checker->kernel)
        TELL(checker, call->place, DSL_RULE_stages, NULL, "stages stand in the kernel");
    else if (outer != STAGE_NONE)
        TELL(checker, call->place, DSL_RULE_stages, "end the stage before: write them one after the other",
             "a stage stands in another stage");
    checker->stage = stage;
    check_block(checker, &statement->body);
    checker->stage = outer;
}

static void check_assert(struct checker *checker, struct dsl_statement *statement)
{
    if (checker->kernel)
        TELL(checker, statement->place, DSL_RULE_not_in_the_language, "check it in the host function, which can refuse",
             "a kernel has no assert");
    check_condition(checker, statement->value);
}

/* The launch as the kernel wants it; NULL where no message is kept any more. */
static const char *in_order(const struct checker *checker, const struct dsl_function *kernel)
{
    struct text text = {0};
    if (checker->messages->kept == DSL_MESSAGES_MAX)
        return NULL;
    for (int p = 0; p < kernel->count; p++)
        text_addf(&text, "%s%.80s", p ? ", " : "", kernel->parameters[p].name);
    const char *remedy = arena_printf(checker->arena, "kernel[cores](%.400s)", text.bytes ? text.bytes : "");
    text_free(&text);
    return remedy;
}

/* kernel[cores](arguments): the types of the arguments become those of the parameters. */
static void check_launch(struct checker *checker, struct dsl_expr *call)
{
    struct dsl_program *program = checker->program;
    const struct dsl_function *kernel = program->kernel->function;
    enum dsl_type cores = type_of(checker, call->items[0]->items[1]);
    if (program->launch && program->launch != call)
        TELL(checker, call->place, DSL_RULE_launch, NULL, "the kernel is launched a second time");
    if (checker->nesting)
        TELL(checker, call->place, DSL_RULE_launch, "compute its arguments before and launch behind",
             "the launch stands in a loop or a branch");
    program->launch = call;
    if (cores != DSL_TYPE_UNKNOWN && cores != DSL_TYPE_INT)
        TELL(checker, call->items[0]->items[1]->place, DSL_RULE_types,
             "there is one axis of cores: kernel[cores](..), and tl.program_id(0) in the kernel",
             "the number of cores is %s, not an integer", dsl_type_text(cores));
    for (int i = 1; i < call->count; i++) {
        struct dsl_expr *argument = call->items[i];
        const char *name = argument->kind == DSL_NAMED ? argument->name
                           : i <= kernel->count        ? kernel->parameters[i - 1].name
                                                       : NULL;
        argument = argument->kind == DSL_NAMED ? argument->items[0] : argument;
        enum dsl_type type = type_of(checker, argument);
        struct dsl_symbol *parameter = name ? dsl_scope_find(&program->kernel_names, name) : NULL;
        if (!parameter || !parameter->parameter)
            TELL(checker, call->items[i]->place, DSL_RULE_launch, in_order(checker, kernel),
                 name ? "the kernel has no parameter '%.80s'" : "the kernel has fewer parameters%.0s",
                 name ? name : "");
        else if (type != DSL_TYPE_UNKNOWN && type != DSL_TYPE_TENSOR && type != DSL_TYPE_TENSORS &&
                 !type_is_number(type) && type != DSL_TYPE_INTS)
            TELL(checker, argument->place, DSL_RULE_launch, NULL, "a kernel gets tensors and numbers, not %s",
                 dsl_type_text(type));
        else
            type_add(checker, parameter, type, argument->place);
    }
    for (int p = 0; p < kernel->count; p++) {
        bool given = p + 1 < call->count && call->items[p + 1]->kind != DSL_NAMED;
        for (int i = 1; i < call->count; i++) {
            const char *name = call->items[i]->kind == DSL_NAMED ? call->items[i]->name : NULL;
            given |= name && strcmp(name, kernel->parameters[p].name) == 0;
        }
        if (!given && !kernel->parameters[p].value)
            TELL(checker, call->place, DSL_RULE_launch, in_order(checker, kernel),
                 "the launch gives nothing for the kernel's '%s'", kernel->parameters[p].name);
    }
}

static bool is_launch(const struct checker *checker, const struct dsl_expr *expr)
{
    const struct dsl_expr *function = expr->kind == DSL_CALL ? expr->items[0] : expr;
    return function->kind == DSL_INDEX && expr_is(function->items[0], "", checker->program->kernel->function->name);
}

static void check_expression(struct checker *checker, struct dsl_statement *statement)
{
    struct dsl_expr *value = statement->value;
    if (value->kind == DSL_TEXT) /* a comment of its own */
        return;
    if (value->kind == DSL_CALL && is_launch(checker, value)) {
        if (checker->kernel)
            TELL(checker, value->place, DSL_RULE_launch, NULL, "a kernel launches no kernel");
        else
            check_launch(checker, value);
        return;
    }
    enum dsl_type type = type_of(checker, value);
    if (value->kind != DSL_CALL && type != DSL_TYPE_UNKNOWN)
        TELL(checker, value->place, DSL_RULE_types, NULL, "the line computes %s and does nothing with it",
             dsl_type_text(type));
}

static void check_return(struct checker *checker, struct dsl_statement *statement)
{
    if (!statement->value)
        return;
    if (checker->kernel)
        TELL(checker, statement->place, DSL_RULE_types, "write 'return'; results are stored by tl.store",
             "a kernel yields nothing");
    else if (statement->value->kind != DSL_TUPLE)
        type_of(checker, statement->value);
}

/* True if what follows it is not reached. */
static bool check_statement(struct checker *checker, struct dsl_statement *statement)
{
    switch (statement->kind) {
    case DSL_EXPRESSION:
        check_expression(checker, statement);
        return false;
    case DSL_ASSIGN:
        check_assign(checker, statement);
        return false;
    case DSL_FOR:
        check_for(checker, statement);
        return false;
    case DSL_WHILE:
        check_condition(checker, statement->value);
        check_loop(checker, statement);
        return false;
    case DSL_IF:
        return check_if(checker, statement);
    case DSL_WITH:
        check_with(checker, statement);
        return false;
    case DSL_RETURN:
        check_return(checker, statement);
        return true;
    case DSL_BREAK:
    case DSL_CONTINUE:
        if (!checker->loops)
            TELL(checker, statement->place, DSL_RULE_syntax, NULL, "it stands in no loop");
        return true;
    case DSL_ASSERT:
        check_assert(checker, statement);
        return false;
    case DSL_DEF:
        TELL(checker, statement->place, DSL_RULE_not_in_the_language, "write what it does where it is called",
             "a function stands in another");
        return false;
    case DSL_PASS:
    case DSL_IMPORT:
    case DSL_REMARKS:
        return false;
    }
    return false;
}

static bool check_block(struct checker *checker, const struct dsl_block *block)
{
    bool ends = false;
    for (int i = 0; i < block->count; i++)
        ends |= check_statement(checker, block->items[i]);
    return ends;
}

static void collect_target(struct checker *checker, const struct dsl_expr *target)
{
    if (target->kind == DSL_NAME && target->name)
        scope_add(checker->arena, checker->names, target->name, target->place);
    for (int i = 0; (target->kind == DSL_TUPLE || target->kind == DSL_LIST) && i < target->count; i++)
        collect_target(checker, target->items[i]);
}

/* The names that a function assigns. */
static void collect(struct checker *checker, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        if (statement->target)
            collect_target(checker, statement->target);
        collect(checker, &statement->body);
        collect(checker, &statement->orelse);
    }
}

static void find_pointers_in(struct checker *checker, const struct dsl_expr *expr)
{
    for (int i = 0; expr && i < expr->count; i++)
        find_pointers_in(checker, expr->items[i]);
    if (!expr || expr->kind != DSL_CALL || expr->count < 2 || !expr->items[0]->name)
        return;
    const struct dsl_operation *operation = dsl_operation_called(expr);
    const char *base = address_base(expr->items[1]);
    struct dsl_symbol *symbol = base ? dsl_scope_find(checker->names, base) : NULL;
    bool address = operation && (strncmp(operation->parameters, "address:", strlen("address:")) == 0 ||
                                 strcmp(operation->name, "extract_scalar") == 0);
    if (address && symbol && symbol->parameter)
        symbol->type = DSL_TYPE_TENSOR;
}

/* Parameters of a kernel from which it loads and to which it stores are tensors, whatever the host function says. */
static void find_pointers(struct checker *checker, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        find_pointers_in(checker, statement->value);
        find_pointers(checker, &statement->body);
        find_pointers(checker, &statement->orelse);
    }
}

/* The type that an annotation gives: torch.Tensor, list[torch.Tensor], float, int | float; UNKNOWN: none. */
static enum dsl_type type_of_annotation(const struct dsl_expr *annotation)
{
    static const struct {
        const char *module, *name;
        enum dsl_type type;
    } annotations[] = {{"", "int", DSL_TYPE_INT},
                       {"", "float", DSL_TYPE_REAL},
                       {"", "bool", DSL_TYPE_BOOL},
                       {"", "str", DSL_TYPE_TEXT},
                       {"", "list", DSL_TYPE_INTS},
                       {"", "tuple", DSL_TYPE_INTS},
                       {"torch", "Tensor", DSL_TYPE_TENSOR},
                       {"tl", "Tensor", DSL_TYPE_TENSOR},
                       {"torch", "dtype", DSL_TYPE_DTYPE}};
    for (size_t i = 0; i < sizeof annotations / sizeof *annotations; i++)
        if (expr_is(annotation, annotations[i].module, annotations[i].name))
            return annotations[i].type;
    bool parts = annotation->kind == DSL_INDEX || (annotation->kind == DSL_BINARY && annotation->op == DSL_BIT_OR);
    enum dsl_type first = parts ? type_of_annotation(annotation->items[0]) : DSL_TYPE_UNKNOWN;
    enum dsl_type second = parts ? type_of_annotation(annotation->items[1]) : DSL_TYPE_UNKNOWN;
    if (annotation->kind == DSL_INDEX && first == DSL_TYPE_INTS)
        return second == DSL_TYPE_TENSOR ? DSL_TYPE_TENSORS : second == DSL_TYPE_INT ? DSL_TYPE_INTS : DSL_TYPE_UNKNOWN;
    bool either =
        (first == DSL_TYPE_INT && second == DSL_TYPE_REAL) || (first == DSL_TYPE_REAL && second == DSL_TYPE_INT);
    return either ? DSL_TYPE_NUMBER : DSL_TYPE_UNKNOWN; /* an integer or a real number, by the data types of the call */
}

/* The type that annotation and default give a parameter. */
static enum dsl_type type_of_parameter(struct checker *checker, const struct dsl_parameter *parameter, bool constexpr)
{
    bool annotated = parameter->annotation && !constexpr;
    enum dsl_type type = annotated ? type_of_annotation(parameter->annotation) : DSL_TYPE_UNKNOWN;
    if (annotated && type == DSL_TYPE_UNKNOWN)
        TELL(checker, parameter->annotation->place, DSL_RULE_types,
             "torch.Tensor, list[torch.Tensor], int, float, int | float, bool, str, list or tl.constexpr",
             "'%s' is annotated with something that is no type", parameter->name);
    if (parameter->value && parameter->value->kind != DSL_NONE) /* None: an optional input, whose type the rest says */
        type = type_join(type, type_of(checker, parameter->value));
    if (constexpr && !checker->kernel && !type_is_number(type))
        TELL(checker, parameter->place, DSL_RULE_types, "give it a default, as tile: tl.constexpr = 4096",
             "'%s' is a constant and has no number", parameter->name);
    return type;
}

static void add_parameters(struct checker *checker, const struct dsl_function *function)
{
    for (int i = 0; i < function->count; i++) {
        const struct dsl_parameter *parameter = &function->parameters[i];
        if (dsl_scope_find(checker->names, parameter->name))
            TELL(checker, parameter->place, DSL_RULE_names, NULL, "two parameters have the name '%s'", parameter->name);
        struct dsl_symbol *symbol = scope_add(checker->arena, checker->names, parameter->name, parameter->place);
        symbol->parameter = true;
        symbol->constexpr = parameter->annotation && expr_is(parameter->annotation, "tl", "constexpr");
        symbol->type = type_join(symbol->type, type_of_parameter(checker, parameter, symbol->constexpr));
    }
}

/* Makes the parameter that the expression names a tensor, unless its type is known. */
static void guess_tensor(const struct checker *checker, const struct dsl_expr *expr)
{
    struct dsl_symbol *symbol =
        expr->kind == DSL_NAME && expr->name ? dsl_scope_find(checker->names, expr->name) : NULL;
    if (symbol && symbol->parameter && symbol->type == DSL_TYPE_UNKNOWN)
        symbol->type = DSL_TYPE_TENSOR;
}

/* Parameters that the function asks for what tensors have. */
static void guess_asked(void *closure, struct dsl_expr *part)
{
    if (part->kind == DSL_ATTRIBUTE)
        guess_tensor(closure, part->items[0]);
}

/* Parameters that are used as tensors, or that the launch gives to a parameter of the kernel that is one. */
static void guess_tensors(struct checker *checker, const struct dsl_block *block)
{
    const struct dsl_program *program = checker->program;
    const struct dsl_function *kernel = program->kernel->function;
    for (int s = 0; s < block->count; s++) {
        const struct dsl_statement *statement = block->items[s];
        const struct dsl_expr *call = statement->kind == DSL_EXPRESSION ? statement->value : NULL;
        tree_visit(statement->value, guess_asked, checker);
        for (int i = 1; call && is_launch(checker, call) && i < call->count && i <= kernel->count; i++)
            if (dsl_scope_find(&program->kernel_names, kernel->parameters[i - 1].name)->type == DSL_TYPE_TENSOR)
                guess_tensor(checker, call->items[i]);
        guess_tensors(checker, &statement->body);
        guess_tensors(checker, &statement->orelse);
    }
}

/* Parameters of the host function of which nothing is said: tensors by their use, else integers. */
static void guess_parameters(struct checker *checker, const struct dsl_statement *host)
{
    guess_tensors(checker, &host->body);
    for (int i = 0; i < checker->names->count; i++) {
        struct dsl_symbol *symbol = checker->names->items[i];
        if (symbol->parameter && symbol->type == DSL_TYPE_UNKNOWN)
            symbol->type = DSL_TYPE_INT;
    }
}

/* Reads a function once: bound are its parameters. */
static void read_function(struct checker *checker, const struct dsl_statement *def)
{
    checker->bound = arena_alloc(checker->arena, (size_t)(checker->names->count + 1) * sizeof *checker->bound);
    for (int i = 0; i < checker->names->count; i++)
        checker->bound[i] = checker->names->items[i]->parameter;
    checker->order_count = 0;
    checker->stage = STAGE_NONE;
    checker->changed = false;
    check_block(checker, &def->body);
}

static void find_types(struct checker *checker, const struct dsl_statement *def)
{
    struct dsl_messages before = *checker->messages;
    int rounds = 0;
    do {
        *checker->messages = before;
        read_function(checker, def);
    } while (checker->changed && ++rounds < ROUNDS_MAX);
}

static bool is_kernel(const struct dsl_statement *def)
{
    for (int i = 0; i < def->function->decorator_count; i++)
        if (def->function->decorators[i]->name && strcmp(def->function->decorators[i]->name, "ascend_kernel") == 0)
            return true;
    return false;
}

struct launch_search {
    const struct dsl_scope *kernels;
    bool found;
};

static void see_launch(void *closure, struct dsl_expr *part)
{
    struct launch_search *search = closure;
    const struct dsl_expr *of =
        part->kind == DSL_CALL && part->items[0]->kind == DSL_INDEX ? part->items[0]->items[0] : NULL;
    search->found |= of && of->kind == DSL_NAME && of->name && dsl_scope_find(search->kernels, of->name);
}

static void see_launches(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, see_launch, closure);
}

/* Whether the function launches a kernel of the file. */
static bool launches(const struct dsl_scope *kernels, const struct dsl_statement *def)
{
    struct launch_search search = {.kernels = kernels};
    for (int i = 0; i < def->body.count; i++)
        statement_visit(def->body.items[i], see_launches, &search);
    return search.found;
}

/* The functions of a file. */
struct functions {
    struct dsl_scope kernels; /* names of kernels */
    bool *launches;           /* by number of the statement: it is no kernel and launches one */
    bool launcher;            /* one of them does */
};

static struct functions survey_functions(struct arena *arena, const struct dsl_block *file)
{
    struct functions functions = {.launches = arena_alloc(arena, (size_t)file->count + 1)};
    for (int i = 0; i < file->count; i++) {
        const struct dsl_statement *def = file->items[i];
        if (def->kind == DSL_DEF && is_kernel(def))
            scope_add(arena, &functions.kernels, def->function->name, def->place);
    }
    for (int i = 0; i < file->count; i++) {
        const struct dsl_statement *def = file->items[i];
        functions.launches[i] = def->kind == DSL_DEF && !is_kernel(def) && launches(&functions.kernels, def);
        functions.launcher |= functions.launches[i];
    }
    return functions;
}

/* The kernel, the host function, the constants of the file. */
static void find_functions(struct checker *checker)
{
    struct dsl_program *program = checker->program;
    const struct dsl_block *body = &program->tree->body;
    const struct functions functions = survey_functions(checker->arena, body);
    for (int i = 0; i < body->count; i++) {
        struct dsl_statement *statement = body->items[i], **found;
        bool remark = statement->kind == DSL_EXPRESSION && statement->value->kind == DSL_TEXT;
        if (statement->kind == DSL_ASSIGN && statement->target->kind == DSL_NAME && statement->op == DSL_NO_OPERATOR) {
            struct dsl_symbol *symbol =
                scope_add(checker->arena, &program->file, statement->target->name, statement->target->place);
            symbol->constant = true;
            type_add(checker, symbol, type_of(checker, statement->value), statement->target->place);
        } else if (statement->kind == DSL_DEF) {
            found = is_kernel(statement) ? &program->kernel : &program->host;
            if (found == &program->host && !functions.launches[i] && functions.launcher) {
                TELL(checker, statement->place, DSL_RULE_functions, "write what it computes where it is called",
                     "'%s' is neither the kernel nor the host function, which launches it", statement->function->name);
                continue;
            }
            if (*found && !functions.kernels.count) /* which is what is to be told */
                continue;
            if (*found)
                TELL(checker, statement->place, DSL_RULE_functions,
                     found == &program->kernel ? "one kernel does all, in phases with tl.sync_all() between" : NULL,
                     "'%s' is a second %s", statement->function->name,
                     found == &program->kernel ? "kernel" : "host function");
            else
                *found = statement;
        } else if (statement->kind != DSL_IMPORT && statement->kind != DSL_REMARKS && !remark) {
            const bool several = statement->kind == DSL_ASSIGN && statement->target->kind == DSL_TUPLE;
            TELL(checker, statement->place, DSL_RULE_functions,
                 several ? "give each constant a line of its own" : "put it into the host function or the kernel",
                 "outside of functions stand imports and constants");
        }
    }
    const struct dsl_place start = {1, 1, 1};
    if (!program->kernel)
        TELL(checker, program->host ? program->host->place : start, DSL_RULE_functions,
             "decorate the kernel with @ascend_kernel", "the program has no kernel");
    if (!program->host)
        TELL(checker, program->kernel ? program->kernel->place : start, DSL_RULE_functions,
             "write a function that computes the tiles and launches it: kernel[cores](arguments)",
             "the program has no host function");
}

/* A name of the kernel, for check_buffers. */
struct buffer_uses {
    int assignments; /* statements that give it a value */
    int counted;     /* the last of them, by its number among all that assign */
    int allocation;  /* the statement of the kernel's block that makes the buffer, whose uses do not count */
    bool written;    /* or it has another name, too */
    const struct dsl_expr *read; /* the first operand that is */
};

struct buffer_search {
    const struct checker *checker;
    struct buffer_uses *uses; /* by number of the symbol */
    int assigning;            /* statements with a target, so far */
    int at;                   /* the statement of the kernel's block that is being read */
};

static struct buffer_uses *uses_of(const struct buffer_search *search, const char *name)
{
    const struct dsl_symbol *symbol = dsl_scope_find(search->checker->names, name);
    return symbol ? &search->uses[symbol->number] : NULL;
}

static void count_target(void *closure, struct dsl_expr *part)
{
    struct buffer_search *search = closure;
    struct buffer_uses *uses = part->kind == DSL_NAME && part->name ? uses_of(search, part->name) : NULL;
    if (!uses || uses->counted == search->assigning)
        return;
    uses->assignments++;
    uses->counted = search->assigning;
}

/* Counts for each name the statements of the block, and of those in it, that give it a value. */
static void count_assignments(struct buffer_search *search, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        search->assigning += block->items[i]->target != NULL;
        tree_visit(block->items[i]->target, count_target, search);
        count_assignments(search, &block->items[i]->body);
        count_assignments(search, &block->items[i]->orelse);
    }
}

static void see_operands(void *closure, struct dsl_expr *part)
{
    const struct buffer_search *search = closure;
    if (part->kind != DSL_CALL || !part->operation)
        return;
    const bool adds = strcmp(part->operation->name, "vaxpy") == 0 || strcmp(part->operation->name, "vmul_add") == 0;
    struct operation_parameter first = {.row = part->operation->parameters, .number = -1};
    while (operation_next_parameter(&first)) {
        const struct dsl_expr *operand = call_argument_for(part, &first), *written = NULL, *read = NULL;
        const char *name = operand ? operand_buffer(operand, NULL) : NULL;
        struct buffer_uses *uses = name ? uses_of(search, name) : NULL;
        if (!uses || uses->allocation == search->at)
            continue;
        struct operation_parameter parameter = {.row = part->operation->parameters, .number = -1};
        while (operation_next_parameter(&parameter)) { /* all operands of this buffer, as often as it is one */
            operand = call_argument_for(part, &parameter);
            const char *other = operand ? operand_buffer(operand, NULL) : NULL;
            if (!other || strcmp(other, name) != 0)
                continue;
            written = parameter.what == 'W' ? operand : written;
            read = parameter.what == 'W' && !adds ? read : operand;
        }
        uses->written |= written && !read; /* what a buffer is made of itself has no values unless it had some */
        uses->read = uses->read ? uses->read : read;
    }
}

static void see_other_name(void *closure, struct dsl_expr *part)
{
    const struct buffer_search *search = closure;
    struct buffer_uses *uses = part->kind == DSL_NAME && part->name ? uses_of(search, part->name) : NULL;
    if (uses && uses->allocation != search->at)
        uses->written = true;
}

static void see_uses(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, see_operands, closure);
    if (expr->kind != DSL_CALL)
        tree_visit(expr, see_other_name, closure);
}

/* Returns true if the statement makes a buffer. */
static bool allocates(const struct dsl_statement *statement)
{
    const struct dsl_expr *value = statement->kind == DSL_ASSIGN ? statement->value : NULL;
    return value && value->kind == DSL_CALL && value->operation && value->operation->place == DSL_PLACE_TOP &&
           statement->target->kind == DSL_NAME;
}

/* A buffer's name means that buffer everywhere, and something writes what is read. */
static void check_buffers(struct checker *checker, const struct dsl_block *kernel)
{
    bool understood = !checker->messages->count; /* else what writes it may be what was not */
    struct buffer_search search = {.checker = checker};
    const int names = checker->names->count;
    search.uses = arena_alloc(checker->arena, (size_t)(names + 1) * sizeof *search.uses);
    for (int i = 0; i < names; i++)
        search.uses[i].allocation = -1;
    count_assignments(&search, kernel);
    for (int i = 0; i < kernel->count; i++)
        if (allocates(kernel->items[i]))
            uses_of(&search, kernel->items[i]->target->name)->allocation = i;
    for (search.at = 0; understood && search.at < kernel->count; search.at++)
        statement_visit(kernel->items[search.at], see_uses, &search);
    for (int i = kernel->count - 1; i >= 0; i--) {
        const struct dsl_statement *statement = kernel->items[i];
        if (!allocates(statement))
            continue;
        const char *name = statement->target->name;
        const struct buffer_uses *uses = uses_of(&search, name);
        if (uses->assignments > 1) {
            TELL(checker, statement->place, DSL_RULE_names, "give each buffer a name that means nothing else",
                 "'%s' is assigned more than once", name);
            return;
        }
        if (understood && uses->read && !uses->written)
            TELL(checker, uses->read->place, DSL_RULE_undefined, "load it or compute it before",
                 "'%s' is read, and nothing writes it", name);
    }
}

/* Counts the statements of a block and of those in it, and finds how deep its loops nest: the first that nests deeper than
 * LOOPS_MAX. */
static int count_statements(const struct dsl_block *block, int loops, const struct dsl_statement **deepest)
{
    int count = block->count;
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const bool loop = statement->kind == DSL_FOR || statement->kind == DSL_WHILE;
        if (loop && loops == LOOPS_MAX && !*deepest)
            *deepest = statement;
        count += count_statements(&statement->body, loops + loop, deepest) +
                 count_statements(&statement->orelse, loops, deepest);
    }
    return count;
}

static void check_count(struct checker *checker, struct dsl_place place, const char *of, int count, int most)
{
    if (count > most)
        TELL(checker, place, DSL_RULE_extent, "write what repeats as a loop", "%d %s are more than %d", count, of,
             most);
}

/* Complains of a function that is larger than the compiler takes. */
static void check_extent(struct checker *checker, const struct dsl_statement *def, const struct dsl_scope *names)
{
    const struct dsl_statement *deepest = NULL;
    const int statements = count_statements(&def->body, 0, &deepest);
    int buffers = 0;
    for (int i = 0; i < def->body.count; i++)
        buffers += allocates(def->body.items[i]);
    check_count(checker, def->place, "buffers", buffers, BUFFERS_MAX);
    check_count(checker, def->place, "names", names->count, NAMES_MAX);
    check_count(checker, def->place, "statements", statements, STATEMENTS_MAX);
    if (deepest)
        TELL(checker, deepest->place, DSL_RULE_extent, "let one loop count for several",
             "more than %d loops in each other", LOOPS_MAX);
}

struct dsl_program *dsl_check(struct arena *arena, const struct dsl_tree *tree, struct dsl_messages *messages)
{
    struct dsl_program *program = arena_alloc(arena, sizeof *program);
    struct checker checker = {
        .arena = arena, .messages = messages, .program = program, .names = &program->file, .stage = STAGE_NONE};
    *program = (struct dsl_program){.tree = tree};
    find_functions(&checker);
    if (!program->kernel || !program->host)
        return NULL;
    checker.names = &program->kernel_names;
    checker.kernel = true;
    add_parameters(&checker, program->kernel->function);
    find_pointers(&checker, &program->kernel->body);
    collect(&checker, &program->kernel->body);
    checker.names = &program->host_names;
    checker.kernel = false;
    add_parameters(&checker, program->host->function);
    guess_parameters(&checker, program->host);
    collect(&checker, &program->host->body);
    find_types(&checker, program->host);
    if (!program->launch) {
        TELL(&checker, program->host->place, DSL_RULE_launch, "end it with kernel[cores](arguments)",
             "the host function launches nothing");
        return NULL;
    }
    checker.names = &program->kernel_names;
    checker.kernel = true;
    find_types(&checker, program->kernel);
    if (!tree->lowered) {
        check_buffers(&checker, &program->kernel->body);
        check_extent(&checker, program->kernel, &program->kernel_names);
        check_extent(&checker, program->host, &program->host_names);
        check_count(&checker, (struct dsl_place){1, 1, 1}, "constants", program->file.count, NAMES_MAX);
    }
    if (!messages->count && !tree->lowered)
        check_phases(arena, program, messages);
    return messages->count ? NULL : program;
}

struct dsl_program *dsl_check_text(struct arena *arena, const char *text, struct dsl_messages *messages)
{
    const struct dsl_tree *tree = dsl_parse(arena, "program.py", arena_strdup(arena, text), strlen(text), messages);
    return tree ? dsl_check(arena, tree, messages) : NULL;
}
