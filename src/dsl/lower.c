/* The compiler: the passes one after the other, and what they all ask of a program. */
#include "base/array.h"
#include "dsl/emit.h"
#include "dsl/interpret.h"
#include "dsl/lower_internal.h"

#include <string.h>

static const struct {
    const char *name;
    bool (*run)(struct lowering *lowering);
} passes[] = {{"tiling", pass_tiling}, {"init", pass_init},         {"align", pass_align}, {"process", pass_process},
              {"types", pass_types},   {"pipeline", pass_pipeline}, {"sync", pass_sync}};
_Static_assert(sizeof passes / sizeof *passes == DSL_PASSES_COUNT, "a row for each pass");

enum dsl_pass dsl_pass_find(const char *name)
{
    int pass = 0;
    while (pass < DSL_PASSES_COUNT && strcmp(passes[pass].name, name) != 0)
        pass++;
    return (enum dsl_pass)pass;
}

const char *dsl_pass_name(enum dsl_pass pass)
{
    return passes[pass].name;
}

struct lower_buffer *lower_buffer_find(const struct lowering *lowering, const char *name)
{
    for (int i = 0; name && i < lowering->buffer_count; i++)
        if (same_name(lowering->buffers[i].name, name))
            return &lowering->buffers[i];
    return NULL;
}

struct lower_buffer *lower_buffer_of(const struct lowering *lowering, const struct dsl_expr *operand)
{
    return lower_buffer_find(lowering, operand_buffer(operand, NULL));
}

struct lower_buffer *lower_queue_of(const struct lowering *lowering, const struct lower_buffer *buffer)
{
    for (int p = 0; p < lowering->pair_count; p++)
        if (same_name(lowering->pairs[p].wide, buffer->name))
            return lower_buffer_find(lowering, lowering->pairs[p].queue);
    return NULL;
}

struct lower_parameter *lower_parameter_find(const struct lowering *lowering, const char *name)
{
    for (int i = 0; name && i < lowering->parameter_count; i++)
        if (same_name(lowering->parameters[i].name, name))
            return &lowering->parameters[i];
    return NULL;
}

struct lower_parameter *lower_tensor_of(const struct lowering *lowering, const struct dsl_expr *address)
{
    if (address->kind == DSL_NAME)
        return lower_parameter_find(lowering, address->name);
    if (address->kind == DSL_INDEX)
        return lower_tensor_of(lowering, address->items[0]);
    for (int i = 0; address->kind == DSL_BINARY && i < address->count; i++)
        if (lower_tensor_of(lowering, address->items[i]) && address->items[i]->type >= DSL_TYPE_TENSOR)
            return lower_tensor_of(lowering, address->items[i]);
    return NULL;
}

enum akgen_dtype lower_type_in(const struct lower_type *type, int combination)
{
    return type->fixed != AKGEN_DTYPE_NONE ? type->fixed : type->types[combination];
}

bool lower_type_equal(const struct lowering *lowering, const struct lower_type *a, const struct lower_type *b)
{
    bool equal = true;
    for (int c = 0; equal && c < lowering->opdef->combinations; c++)
        equal = lower_type_in(a, c) == lower_type_in(b, c);
    return equal;
}

/* A type whose columns are all the same is that one. */
static struct lower_type settled(const struct lowering *lowering, struct lower_type type)
{
    bool same = type.fixed == AKGEN_DTYPE_NONE;
    for (int c = 1; same && c < lowering->opdef->combinations; c++)
        same = type.types[c] == type.types[0];
    if (same)
        type.fixed = type.types[0];
    return type;
}

/* The expression that a statement assigns to the name, alone or beside others; NULL: it is no plain assignment. */
static struct dsl_expr *assigned_value(const struct dsl_statement *statement, const char *name)
{
    const struct dsl_expr *target = statement->target, *value = statement->value;
    if (statement->kind != DSL_ASSIGN || statement->op != DSL_NO_OPERATOR)
        return NULL;
    if (target->kind == DSL_NAME)
        return statement->value;
    for (int i = 0; value->kind == DSL_TUPLE && i < target->count && i < value->count; i++)
        if (target->items[i]->kind == DSL_NAME && strcmp(target->items[i]->name, name) == 0)
            return value->items[i];
    return NULL;
}

/* The value that the kernel gives a variable where it is assigned once, outside of loops and branches. */
static struct dsl_expr *only_value(const struct lowering *lowering, const char *name)
{
    const struct dsl_block *kernel = lower_kernel(lowering);
    struct dsl_expr *value = NULL;
    for (int i = 0; i < kernel->count; i++) {
        const struct dsl_statement *statement = kernel->items[i];
        if (!statement_assigns(statement, name))
            continue;
        struct dsl_expr *given = assigned_value(statement, name);
        if (value || !given)
            return NULL;
        value = given;
    }
    return value;
}

/* Names that are replaced by their values for one question, at most: names of sums of names double what there is to read with
 * each that follows, and what has more of them counts as unknown. */
enum { NAMES_FOLLOWED = 256, RESOLVED_MAX = 4096 };

/* The same of a name that the answer to a question needs; NULL also where too many were needed before it. */
static struct dsl_expr *follow_name(const struct lowering *lowering, const char *name, int *followed)
{
    return *followed < NAMES_FOLLOWED && ++*followed ? only_value(lowering, name) : NULL;
}

/* The data type that an expression names in a combination; AKGEN_DTYPE_NONE: that is not known before the run. */
static enum akgen_dtype find_dtype(const struct lowering *lowering, const struct dsl_expr *dtype, int combination,
                                   int *followed);

static int find_answer(const struct lowering *lowering, const struct dsl_expr *question, int combination, int *followed)
{
    int a, b;
    if (question->kind == DSL_NAME) {
        const struct dsl_expr *value = follow_name(lowering, question->name, followed);
        return value ? find_answer(lowering, value, combination, followed) : -1;
    }
    if (question->kind == DSL_ATTRIBUTE && strcmp(question->name, "is_floating_point") == 0) {
        enum akgen_dtype of = find_dtype(lowering, question->items[0], combination, followed);
        return of == AKGEN_DTYPE_NONE ? -1 : task_is_float(of) && of != AKGEN_COMPLEX64;
    }
    switch (question->kind == DSL_BINARY || question->kind == DSL_UNARY ? question->op : DSL_NO_OPERATOR) {
    case DSL_EQUAL:
    case DSL_NOT_EQUAL:
        a = (int)find_dtype(lowering, question->items[0], combination, followed);
        b = (int)find_dtype(lowering, question->items[1], combination, followed);
        return a == AKGEN_DTYPE_NONE || b == AKGEN_DTYPE_NONE ? -1 : (a == b) == (question->op == DSL_EQUAL);
    case DSL_AND:
    case DSL_OR:
        a = find_answer(lowering, question->items[0], combination, followed);
        b = find_answer(lowering, question->items[1], combination, followed);
        return a < 0 || b < 0 ? -1 : question->op == DSL_AND ? a && b : a || b;
    case DSL_NOT:
        a = find_answer(lowering, question->items[0], combination, followed);
        return a < 0 ? -1 : !a;
    default:
        return -1;
    }
}

/* Returns 1 if a question about data types holds in a combination, 0 if not, -1 if it is another question. */
int lower_type_answer(const struct lowering *lowering, const struct dsl_expr *question, int combination)
{
    int followed = 0;
    return find_answer(lowering, question, combination, &followed);
}

static enum akgen_dtype find_dtype(const struct lowering *lowering, const struct dsl_expr *dtype, int combination,
                                   int *followed)
{
    if (dtype->kind == DSL_CHOICE) {
        int first = find_answer(lowering, dtype->items[1], combination, followed);
        return first < 0 ? AKGEN_DTYPE_NONE : find_dtype(lowering, dtype->items[first ? 0 : 2], combination, followed);
    }
    if (dtype->kind == DSL_NAME) {
        const struct dsl_expr *value = follow_name(lowering, dtype->name, followed);
        return value ? find_dtype(lowering, value, combination, followed) : AKGEN_DTYPE_NONE;
    }
    if (dtype->kind != DSL_ATTRIBUTE)
        return AKGEN_DTYPE_NONE;
    const struct lower_parameter *tensor = lower_tensor_of(lowering, dtype->items[0]);
    return tensor && tensor->operand ? tensor->operand->types[combination]
           : tensor                  ? lower_type_in(&tensor->elements, combination)
                                     : akgen_dtype_parse(dtype->name);
}

struct lower_type lower_type_of(const struct lowering *lowering, const struct dsl_expr *dtype)
{
    int combinations = lowering->opdef->combinations;
    enum akgen_dtype *types = arena_alloc(lowering->arena, (size_t)(combinations + 1) * sizeof *types);
    for (int c = 0; c < combinations; c++) {
        int followed = 0;
        types[c] = find_dtype(lowering, dtype, c, &followed);
        if (types[c] == AKGEN_COMPLEX64) /* a pair of them */
            types[c] = AKGEN_FLOAT;
    }
    return settled(lowering, (struct lower_type){.fixed = AKGEN_DTYPE_NONE, .types = types});
}

static bool find_constant(const struct lowering *lowering, const struct dsl_expr *expr, int64_t *value, int *followed);

/* min, max, tl.cdiv and tl.pitch of constants. */
static bool constant_of_call(const struct lowering *lowering, const struct dsl_expr *call, int64_t *value,
                             int *followed)
{
    const struct dsl_expr *function = call->items[0];
    const char *name = function->name ? function->name : "";
    int64_t a, b = 1;
    if (call->count < 2 || call->count > 3 || !find_constant(lowering, call->items[1], &a, followed) ||
        (call->count == 3 && !find_constant(lowering, call->items[2], &b, followed)))
        return false;
    if (strcmp(name, "pitch") == 0)
        *value = (a + DSL_PITCH - 1) / DSL_PITCH * DSL_PITCH;
    else if (strcmp(name, "cdiv") == 0 && b > 0)
        *value = a / b + (a % b > 0);
    else if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        *value = (name[1] == 'i') == (a < b) ? a : b;
    else
        return false;
    return call->count == 3 || strcmp(name, "pitch") == 0;
}

static bool find_constant(const struct lowering *lowering, const struct dsl_expr *expr, int64_t *value, int *followed)
{
    int64_t a, b;
    const struct dsl_block *body = &lowering->tree->body;
    switch (expr->kind) {
    case DSL_INT:
        *value = expr->integer;
        return true;
    case DSL_NAME:
        if (dsl_scope_find(&lowering->program->kernel_names, expr->name)) {
            const struct dsl_expr *only =
                lower_parameter_find(lowering, expr->name) ? NULL : follow_name(lowering, expr->name, followed);
            return only && find_constant(lowering, only, value, followed);
        }
        for (int i = 0; i < body->count && *followed < NAMES_FOLLOWED; i++)
            if (body->items[i]->kind == DSL_ASSIGN && strcmp(body->items[i]->target->name, expr->name) == 0) {
                ++*followed;
                return find_constant(lowering, body->items[i]->value, value, followed);
            }
        return false;
    case DSL_BINARY:
        if (!find_constant(lowering, expr->items[0], &a, followed) ||
            !find_constant(lowering, expr->items[1], &b, followed))
            return false;
        if (expr->op == DSL_FLOOR_DIVIDE || expr->op == DSL_REMAINDER) {
            if (a < 0 || b <= 0)
                return false;
            *value = expr->op == DSL_REMAINDER ? a % b : a / b;
            return true;
        }
        return expr->op == DSL_ADD        ? !__builtin_add_overflow(a, b, value)
               : expr->op == DSL_SUBTRACT ? !__builtin_sub_overflow(a, b, value)
               : expr->op == DSL_MULTIPLY ? !__builtin_mul_overflow(a, b, value)
                                          : false;
    case DSL_TUPLE:
    case DSL_LIST:
        *value = 1;
        for (int i = 0; i < expr->count; i++)
            if (!find_constant(lowering, expr->items[i], &a, followed) || __builtin_mul_overflow(*value, a, value))
                return false;
        return true;
    case DSL_CALL:
        return constant_of_call(lowering, expr, value, followed);
    default:
        return false;
    }
}

bool lower_constant(const struct lowering *lowering, const struct dsl_expr *expr, int64_t *value)
{
    int followed = 0;
    return find_constant(lowering, expr, value, &followed);
}

static void count_part(void *closure, struct dsl_expr *part)
{
    (void)part;
    ++*(int *)closure;
}

/* Returns true if an expression is too large to have another name replaced by its value. */
static bool is_large(struct dsl_expr *expr)
{
    int parts = 0;
    tree_visit(expr, count_part, &parts);
    return parts > RESOLVED_MAX;
}

struct dsl_expr *lower_resolve(struct lowering *lowering, const struct dsl_expr *expr)
{
    enum { ROUNDS = 8 };
    struct edit *edit = &lowering->edit;
    struct dsl_statement *line = edit_statement(edit, edit_copy(edit, expr)), *items[] = {line};
    struct dsl_block block = {.items = items, .count = 1, .capacity = 1};
    const struct dsl_scope *names = &lowering->program->kernel_names;
    bool changed = true;
    for (int round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (int s = 0; s < names->count && !is_large(line->value); s++) {
            const char *name = names->items[s]->name;
            struct dsl_expr *value = tree_mentions(line->value, name) && !lower_parameter_find(lowering, name)
                                         ? only_value(lowering, name)
                                         : NULL;
            if (value)
                edit_substitute(edit, &block, name, value);
            changed |= value != NULL;
        }
    }
    return line->value;
}

/* tl.num_programs(0) is the number of cores that are launched. */
static void use_cores(void *closure, struct dsl_expr *part)
{
    struct lowering *lowering = closure;
    for (int i = 0; i < part->count; i++)
        if (part->items[i] && part->items[i]->kind == DSL_CALL &&
            expr_is(part->items[i]->items[0], "tl", "num_programs"))
            part->items[i] = edit_copy(&lowering->edit, lowering->program->launch->items[0]->items[1]);
}

static void use_cores_below(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, use_cores, closure);
}

struct dsl_expr *lower_host_terms(struct lowering *lowering, const struct dsl_expr *expr)
{
    struct edit *edit = &lowering->edit;
    edit->place = expr->place;
    struct dsl_statement *line = edit_statement(edit, lower_resolve(lowering, expr));
    struct dsl_statement *items[] = {line};
    struct dsl_block block = {.items = items, .count = 1, .capacity = 1};
    statement_visit(line, use_cores_below, lowering);
    for (int i = 0; i < lowering->parameter_count && !is_large(line->value); i++)
        edit_substitute(edit, &block, lowering->parameters[i].name, lowering->parameters[i].argument);
    return line->value;
}

const char *lower_new_name(struct lowering *lowering, const char *stem)
{
    const struct dsl_program *program = lowering->program;
    const char *name = stem;
    for (int i = 2;; i++) {
        bool taken = dsl_scope_find(&program->kernel_names, name) || dsl_scope_find(&program->file, name);
        for (int n = 0; !taken && n < lowering->new_name_count; n++)
            taken = strcmp(lowering->new_names[n], name) == 0;
        if (!taken)
            break;
        name = arena_printf(lowering->arena, "%s_%d", stem, i);
    }
    ARRAY_ADD(lowering->arena, lowering->new_names, lowering->new_name_count, lowering->new_name_capacity, name);
    return name;
}

/* The buffer that a statement of the kernel allocates; false: it is another statement. */
static bool read_allocation(const struct lowering *lowering, struct dsl_statement *statement,
                            struct lower_buffer *buffer)
{
    static const struct {
        const char *name;
        enum lower_buffer_kind kind;
    } kinds[] = {{"alloc_ub", LOWER_UB},         {"queue_in", LOWER_QUEUE_IN},
                 {"queue_out", LOWER_QUEUE_OUT}, {"queue_move", LOWER_QUEUE_MOVE},
                 {"queue_a1", LOWER_QUEUE_A1},   {"queue_b1", LOWER_QUEUE_B1},
                 {"view_ub", LOWER_UB},          {"queue_co1", LOWER_QUEUE_CO1},
                 {"alloc_l1", LOWER_QUEUE_A1},   {"alloc_l0c", LOWER_QUEUE_CO1}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (statement->kind != DSL_ASSIGN || !statement_calls(statement, kinds[i].name))
            continue;
        struct dsl_expr *call = statement->value, *dtype = call_argument(call, "dtype"),
                        *of = call_argument(call, "of");
        *buffer = (struct lower_buffer){.name = statement->target->name,
                                        .kind = kinds[i].kind,
                                        .allocation = statement,
                                        .size = call_argument(call, "size"),
                                        .dtype = dtype,
                                        .of = of ? of->name : NULL,
                                        .type = lower_type_of(lowering, dtype)};
        return true;
    }
    return false;
}

bool lower_call_rounds(const struct dsl_expr *call)
{
    const struct lower_instruction *instruction = lower_instruction_find(call->operation->name);
    enum lower_form form = instruction ? instruction->form : LOWER_FORM_UNARY;
    return form == LOWER_FORM_ROWS || form == LOWER_FORM_COMPARE || form == LOWER_FORM_CHOOSE ||
           form == LOWER_FORM_TO_BITS || form == LOWER_FORM_INT64_TRUTH || form == LOWER_FORM_OF_FLOAT ||
           strcmp(call->operation->name, "load_rows") == 0;
}

static bool block_rounds(const struct dsl_block *block)
{
    bool found = false;
    for (int i = 0; !found && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *call = statement_operation(statement);
        found = (call && lower_call_rounds(call)) || block_rounds(&statement->body) || block_rounds(&statement->orelse);
    }
    return found;
}

bool lower_rounds(const struct lowering *lowering)
{
    return lowering->clears || lowering->rounds;
}

enum { BLOCK_BYTES = 32, REPEAT_BYTES = 256, BITS = 8 };

/* Truth values of a compute buffer are bits. */
static bool is_bits(const struct lower_buffer *buffer)
{
    return buffer->type.fixed == AKGEN_BOOL && buffer->kind == LOWER_UB;
}

int64_t lower_unit_bytes(const struct lowering *lowering, const struct lower_buffer *buffer)
{
    return lower_rounds(lowering) && !is_bits(buffer) ? REPEAT_BYTES : BLOCK_BYTES;
}

int64_t lower_unit_elements(const struct lowering *lowering, const struct lower_buffer *buffer, int combination)
{
    int64_t unit = lower_unit_bytes(lowering, buffer);
    return is_bits(buffer) ? unit * BITS : unit / (int64_t)akgen_dtype_size(lower_type_in(&buffer->type, combination));
}

int64_t lower_bytes(const struct lowering *lowering, const struct lower_buffer *buffer, int combination)
{
    int64_t elements, unit = lower_unit_elements(lowering, buffer, combination);
    if (!lower_constant(lowering, buffer->size, &elements))
        return -1;
    return (elements + unit - 1) / unit * lower_unit_bytes(lowering, buffer);
}

bool lower_lies_in_queue(const struct lowering *lowering, const struct lower_buffer *buffer, int combination)
{
    const struct lower_buffer *queue = lower_queue_of(lowering, buffer);
    return queue && lower_type_in(&queue->type, combination) == lower_type_in(&buffer->type, combination);
}

bool lower_whole_blocks(const struct lowering *lowering, const struct lower_type *type, const struct dsl_expr *count)
{
    int64_t known;
    bool blocks = lower_constant(lowering, count, &known);
    for (int c = 0; blocks && c < lowering->opdef->combinations; c++)
        blocks = known * (int64_t)akgen_dtype_size(lower_type_in(type, c)) % BLOCK_BYTES == 0;
    return blocks;
}

void lower_add_printed(struct lowering *lowering, struct lower_added added)
{
    enum { MOST = sizeof lowering->added / sizeof *lowering->added };
    int i = 0;
    while (i < MOST - 1 && lowering->added[i].name)
        i++;
    lowering->added[i] = added;
}

int64_t lower_added_bytes(const struct lowering *lowering, const char *memory)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < sizeof lowering->added / sizeof *lowering->added; i++)
        if (lowering->added[i].name && strcmp(lowering->added[i].memory, memory) == 0)
            bytes += lowering->added[i].bytes;
    return bytes;
}

int64_t lower_depth(const struct lower_buffer *buffer)
{
    const struct dsl_expr *depth = buffer->kind == LOWER_UB ? NULL : call_argument(buffer->allocation->value, "depth");
    return depth ? depth->integer : 1;
}

int64_t lower_least_depth(const struct lower_buffer *buffer)
{
    const struct dsl_expr *least = call_argument(buffer->allocation->value, "least");
    return least ? least->integer : lower_depth(buffer);
}

bool lower_has_open_depths(const struct lowering *lowering)
{
    bool found = false;
    for (int b = 0; !found && b < lowering->buffer_count; b++)
        found = lower_least_depth(&lowering->buffers[b]) < lower_depth(&lowering->buffers[b]);
    return found;
}

const struct lower_buffer *lower_memory_of(const struct lowering *lowering, const struct lower_buffer *buffer)
{
    return buffer->of ? lower_buffer_find(lowering, buffer->of) : buffer;
}

bool lower_has_memory(const struct lowering *lowering, const struct lower_buffer *buffer, int combination)
{
    return buffer->kind < LOWER_QUEUE_A1 && !buffer->of && !lower_lies_in_queue(lowering, buffer, combination);
}

bool lower_matrix(const struct lowering *lowering, const struct lower_buffer *buffer, int64_t *rows, int64_t *cols)
{
    const struct dsl_expr *size = buffer->size;
    return (size->kind == DSL_TUPLE || size->kind == DSL_LIST) && size->count == 2 &&
           lower_constant(lowering, size->items[0], rows) && lower_constant(lowering, size->items[1], cols);
}

static void find_buffers(struct lowering *lowering)
{
    const struct dsl_block *kernel = lower_kernel(lowering);
    struct lower_buffer buffer;
    lowering->buffer_count = 0;
    for (int i = 0; i < kernel->count; i++)
        if (read_allocation(lowering, kernel->items[i], &buffer)) {
            for (int p = 0; p < lowering->pair_count; p++)
                if (strcmp(lowering->pairs[p].queue, buffer.name) == 0)
                    buffer.wide = lowering->pairs[p].wide;
            ARRAY_ADD(lowering->arena, lowering->buffers, lowering->buffer_count, lowering->buffer_capacity, buffer);
        }
}

struct lower_buffer *lower_add_buffer(struct lowering *lowering, const char *operation, const char *stem,
                                      const struct lower_buffer *after, struct dsl_expr *size, struct dsl_expr *dtype)
{
    struct edit *edit = &lowering->edit;
    struct dsl_block *kernel = lower_kernel(lowering);
    const struct dsl_statement *allocation = after->allocation;
    const char *name = lower_new_name(lowering, stem);
    const struct dsl_place place = edit->place;
    edit->place = allocation->place;
    struct dsl_expr *call = EDIT_CALL(edit, operation, edit_copy(edit, size));
    edit_add_named(edit, call, "dtype", edit_copy(edit, dtype));
    struct dsl_expr *depth = call_argument(allocation->value, "depth");
    if (depth && strncmp(operation, "queue", strlen("queue")) == 0)
        edit_add_named(edit, call, "depth", edit_copy(edit, depth));
    struct dsl_statement *statement = edit_assign(edit, name, call);
    int at = 0;
    while (kernel->items[at] != allocation)
        at++;
    edit_insert(edit, kernel, at + 1, statement);
    edit->place = place;
    struct lower_buffer buffer;
    read_allocation(lowering, statement, &buffer);
    buffer.type = lower_type_of(lowering, dtype);
    ARRAY_ADD(lowering->arena, lowering->buffers, lowering->buffer_count, lowering->buffer_capacity, buffer);
    return &lowering->buffers[lowering->buffer_count - 1];
}

bool emit_project(struct lowering *lowering, struct dsl_lowered *lowered)
{
    struct arena *arena = lowering->arena;
    const char *entry = lowering->opdef->entry;
    const char *kernel = arena_printf(arena, "op_kernel/%s.cpp", entry);
    if (lowering->opdef->host_given) {
        lowered->files[lowered->count++] = emit_file(arena, kernel, emit_kernel(lowering));
        return !lowering->messages->count;
    }
    const struct dsl_file files[] = {
        emit_file(arena, arena_printf(arena, "op_host/%s_tiling.h", entry), emit_tiling_header(lowering)),
        emit_file(arena, arena_printf(arena, "op_host/%s.cpp", entry), emit_host(lowering)),
        emit_file(arena, kernel, emit_kernel(lowering))};
    lowered->count = sizeof files / sizeof *files;
    memcpy(lowered->files, files, sizeof files);
    return !lowering->messages->count;
}

/* Elements of tensors: a complex number is two. */
static void find_elements(struct lowering *lowering)
{
    for (int i = 0; i < lowering->parameter_count; i++) {
        struct lower_parameter *parameter = &lowering->parameters[i];
        struct dsl_expr tensor = {.kind = DSL_NAME, .name = parameter->name, .op = DSL_NO_OPERATOR},
                        *items[] = {&tensor};
        const struct dsl_expr dtype = {
            .kind = DSL_ATTRIBUTE, .name = "dtype", .items = items, .count = 1, .op = DSL_NO_OPERATOR};
        if (parameter->operand)
            parameter->elements = lower_type_of(lowering, &dtype);
    }
}

/* What a pass left has to be a program; finds its names, types and buffers. */
static bool understand(struct lowering *lowering, const char *pass)
{
    lowering->program = dsl_check(lowering->arena, lowering->tree, lowering->messages);
    if (!lowering->program) {
        struct dsl_place place = lowering->tree->body.items[0]->place;
        return !pass ? false
                     : LOWER_FAIL(lowering, place, DSL_RULE_internal, "please report it",
                                  "what the pass '%s' left is no program", pass);
    }
    find_elements(lowering);
    find_buffers(lowering);
    lowering->rounds = block_rounds(lower_kernel(lowering));
    return true;
}

/* The product of a shape that is written down; NULL: it is none. */
static struct dsl_expr *product_of(struct edit *edit, const struct dsl_expr *shape)
{
    if (shape->kind != DSL_TUPLE && shape->kind != DSL_LIST)
        return NULL;
    edit->place = shape->place;
    struct dsl_expr *elements = shape->count ? edit_copy(edit, shape->items[0]) : edit_integer(edit, 1);
    for (int k = 1; k < shape->count; k++)
        elements = edit_product(edit, elements, edit_copy(edit, shape->items[k]));
    return elements;
}

/* Takes the kernel's names of shapes that nothing mentions any more out of it. */
static void drop_shapes(struct dsl_block *kernel)
{
    for (int i = kernel->count - 1; i >= 0; i--) {
        struct dsl_statement *shape = kernel->items[i];
        if (shape->kind != DSL_ASSIGN || shape->target->kind != DSL_NAME || shape->value->type != DSL_TYPE_INTS ||
            (shape->value->kind != DSL_TUPLE && shape->value->kind != DSL_LIST))
            continue;
        bool mentioned = false;
        for (int k = 0; k < kernel->count && !mentioned; k++)
            mentioned = k != i && statement_mentions(kernel->items[k], shape->target->name);
        if (mentioned)
            continue;
        memmove(kernel->items + i, kernel->items + i + 1, (size_t)(kernel->count - i - 1) * sizeof(void *));
        kernel->count--;
    }
}

/* A buffer of UB has elements: the size of one that is made with a shape becomes the product of that. */
static bool flatten_sizes(struct lowering *lowering)
{
    struct dsl_block *kernel = lower_kernel(lowering);
    for (int i = 0; i < kernel->count; i++) {
        struct dsl_expr *call = kernel->items[i]->value, *size = NULL;
        if (kernel->items[i]->kind == DSL_ASSIGN && statement_calls(kernel->items[i], "alloc_ub"))
            size = call_argument(call, "size");
        if (!size || size->type != DSL_TYPE_INTS)
            continue;
        struct dsl_expr *elements = product_of(&lowering->edit, lower_resolve(lowering, size));
        if (!elements)
            return LOWER_FAIL(lowering, size->place, DSL_RULE_not_compiled, "write the number of its elements",
                              "how large the buffer is, is not written down");
        for (int k = 1; k < call->count; k++)
            if (call->items[k] == size)
                call->items[k] = elements;
            else if (call->items[k]->kind == DSL_NAMED && call->items[k]->items[0] == size)
                call->items[k]->items[0] = elements;
    }
    drop_shapes(kernel);
    return true;
}

/* What a buffer holds is settled for each combination of data types, before anything asks for its size. */
static bool know_types(struct lowering *lowering)
{
    const struct dsl_block *kernel = lower_kernel(lowering);
    for (int i = 0; i < kernel->count; i++) {
        struct lower_buffer buffer;
        bool known = true;
        if (!read_allocation(lowering, kernel->items[i], &buffer) || !buffer.dtype)
            continue;
        for (int c = 0; c < lowering->opdef->combinations; c++)
            known &= lower_type_in(&buffer.type, c) != AKGEN_DTYPE_NONE;
        if (!known)
            return LOWER_FAIL(
                lowering, buffer.dtype->place, DSL_RULE_not_compiled,
                "choose it by the data types of tensors alone: x.dtype, or one of two where x.dtype == tl.float16",
                "which data type '%s' holds is not known before the run", buffer.name);
    }
    return true;
}

bool lower_run(struct lowering *lowering, enum dsl_pass last)
{
    if (!understand(lowering, NULL) || !dsl_constants(lowering->arena, lowering->program, lowering->messages))
        return false;
    bool changed;
    if (!lower_workspace(lowering, &changed) || (changed && !understand(lowering, "workspace")) ||
        !flatten_sizes(lowering))
        return false;
    if (lowering->explanation)
        explain_program(lowering);
    const int parameters = lowering->program->kernel->function->count;
    if (!lower_zeros(lowering) ||
        (lowering->program->kernel->function->count > parameters && !understand(lowering, "zeros")))
        return false;
    lowering->tree->lowered = true;
    for (int pass = 0; pass < DSL_PASSES_COUNT && pass <= (int)last; pass++)
        if (!passes[pass].run(lowering) || lowering->messages->count || !understand(lowering, passes[pass].name) ||
            (pass == DSL_PASS_TILING && !know_types(lowering)))
            return false;
    return true;
}

bool dsl_lower(struct arena *arena, struct dsl_tree *tree, const struct dsl_opdef *opdef, enum dsl_pass last,
               struct dsl_lowered *lowered, struct dsl_messages *messages)
{
    struct lowering lowering = {
        .arena = arena, .edit = {.arena = arena}, .tree = tree, .opdef = opdef, .messages = messages};
    *lowered = (struct dsl_lowered){.tree = tree};
    return lower_run(&lowering, last) && (last < DSL_PASSES_COUNT || emit_project(&lowering, lowered));
}

bool dsl_explain(struct arena *arena, struct dsl_tree *tree, const struct dsl_opdef *opdef,
                 struct dsl_explanation *explanation, struct dsl_messages *messages)
{
    struct lowering lowering = {.arena = arena,
                                .edit = {.arena = arena},
                                .tree = tree,
                                .opdef = opdef,
                                .messages = messages,
                                .explanation = explanation};
    struct dsl_lowered lowered = {0};
    if (!lower_run(&lowering, DSL_PASSES_COUNT))
        return false;
    const bool good = emit_project(&lowering, &lowered);
    explain_lowered(&lowering);
    return good;
}
