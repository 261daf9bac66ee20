/* The fourth pass: operations become instructions. An operation that no instruction does becomes the steps of its recipe
 * (recipes.def), one between a buffer and a number takes the instruction for that.
 *
 * Holds afterwards: each operation in a compute stage is a row of instructions.def, or sets a scalar. */
#include "dsl/lower_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *steps;
} recipes[] = {
#define RECIPE(name, steps) {#name, steps},
#include "dsl/recipes.def"
#undef RECIPE
};

static const struct lower_instruction instructions[] = {
#define INSTRUCTION(name, api, form) {#name, #api, LOWER_FORM_##form},
#include "dsl/instructions.def"
#undef INSTRUCTION
};

const struct lower_instruction *lower_instruction_find(const char *name)
{
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
        if (same_name(instructions[i].name, name))
            return &instructions[i];
    return NULL;
}

static const char *recipe_for(const char *name)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (same_name(recipes[i].name, name))
            return recipes[i].steps;
    return NULL;
}

/* A buffer of 32-bit integers, as many as the buffer has elements. */
static const char *index_room(struct lowering *lowering, const struct lower_buffer *buffer)
{
    struct edit *edit = &lowering->edit;
    for (int i = 0; i < lowering->buffer_count; i++)
        if (lowering->buffers[i].room == 'i' && tree_equal(lowering->buffers[i].size, buffer->size))
            return lowering->buffers[i].name;
    struct lower_buffer *made = lower_add_buffer(lowering, "alloc_ub", "offsets", buffer, buffer->size,
                                                 edit_attribute(edit, edit_name(edit, "tl"), "int32"));
    made->room = 'i';
    return made->name;
}

/* A buffer for a recipe's steps, of the size and type of the buffer that they compute: one for all recipes that need such a
 * one. */
static const char *room_for(struct lowering *lowering, const char *like, char which)
{
    const struct lower_buffer *buffer = lower_buffer_find(lowering, like);
    const char *stem = which == 'i' ? "indices" : which == 'u' ? "room_b" : "room";
    if (which == 'i')
        return index_room(lowering, buffer);
    for (int i = 0; i < lowering->buffer_count; i++) {
        const struct lower_buffer *other = &lowering->buffers[i];
        if (other->room == which && tree_equal(other->size, buffer->size) && tree_equal(other->dtype, buffer->dtype))
            return other->name;
    }
    struct lower_buffer *made = lower_add_buffer(lowering, "alloc_ub", stem, buffer, buffer->size, buffer->dtype);
    made->room = which;
    return made->name;
}

/* A room of this size and type, allocated behind the operand's buffer. */
static struct dsl_expr *room_of(struct lowering *lowering, const struct dsl_expr *like, const char *type,
                                struct dsl_expr *size, char which)
{
    struct edit *edit = &lowering->edit;
    const struct lower_buffer *buffer = lower_buffer_of(lowering, like);
    struct dsl_place place = edit->place;
    const char *found = NULL;
    for (int i = 0; i < lowering->buffer_count && !found; i++)
        if (lowering->buffers[i].room == which && tree_equal(lowering->buffers[i].size, size))
            found = lowering->buffers[i].name;
    if (!found) {
        struct lower_buffer *made = lower_add_buffer(lowering, "alloc_ub",
                                                     which == 'c'   ? "bytes"
                                                     : which == 'h' ? "flags"
                                                     : which == 'W' ? "words"
                                                     : which == 'p' ? "pairs"
                                                                    : "wide",
                                                     buffer, size, edit_attribute(edit, edit_name(edit, "tl"), type));
        made->room = which;
        found = made->name;
    }
    edit->place = place;
    struct dsl_expr *name = edit_name(edit, found);
    name->type = DSL_TYPE_BUFFER;
    return name;
}

struct dsl_expr *process_room(struct lowering *lowering, const struct dsl_expr *like, const char *type, char which)
{
    const struct lower_buffer *buffer = lower_buffer_of(lowering, like);
    return room_of(lowering, like, type, edit_copy(&lowering->edit, buffer->size), which);
}

struct dsl_expr *process_bytes(struct lowering *lowering, const struct dsl_expr *like)
{
    enum { BYTES = 8 };
    struct edit *edit = &lowering->edit;
    const struct lower_buffer *buffer = lower_buffer_of(lowering, like);
    struct dsl_expr *elements = edit_copy(edit, buffer->size);
    int64_t known;
    if (!(lower_constant(lowering, elements, &known) && known % DSL_PITCH == 0)) /* each part begins at whole blocks */
        elements = EDIT_CALL(edit, "pitch", elements);
    struct dsl_expr *size = edit_product(edit, elements, edit_integer(edit, BYTES));
    return room_of(lowering, like, "uint8", size, 'c');
}

struct dsl_expr *process_words(struct lowering *lowering, const struct dsl_expr *like)
{
    struct dsl_expr *size = edit_integer(&lowering->edit, LOWER_INT64_CHUNK * LOWER_INT64_PLANES);
    return room_of(lowering, like, "int32", size, 'W');
}

/* The name of a room like an operand's buffer. */
static struct dsl_expr *room_name(struct lowering *lowering, const struct dsl_expr *like, char which)
{
    struct dsl_place place = lowering->edit.place;
    struct dsl_expr *name = edit_name(&lowering->edit, room_for(lowering, operand_buffer(like, NULL), which));
    name->type = DSL_TYPE_BUFFER;
    name->place = lowering->edit.place = place;
    return name;
}

/* One word of a step: an operand, or a number. */
static struct dsl_expr *word_of(struct lowering *lowering, const struct dsl_expr *call, const char *word)
{
    struct edit *edit = &lowering->edit;
    struct dsl_expr *dst = call_argument(call, "dst"), *source = call_argument(call, "src");
    bool negative = *word == '-';
    word += negative;
    if (*word == 'v' || *word == 'b') {
        struct dsl_expr *value = call_argument(call, *word == 'v' && call_argument(call, "value") ? "value" : "b");
        value = edit_copy(edit, value);
        return negative ? edit_negative(edit, value) : value;
    }
    if (negative)
        return edit_negative(edit, word_of(lowering, call, word));
    switch (*word) {
    case 'd':
        return edit_copy(edit, dst);
    case 'a':
        return edit_copy(edit, source ? source : call_argument(call, "a"));
    case 't':
    case 'u':
    case 'i':
        return room_name(lowering, dst, *word);
    case 's':
        return room_name(lowering, source ? source : call_argument(call, "a"), 't');
    case 'w':
        return edit_copy(edit, call_argument(call, call_argument(call, "row") ? "row" : "col"));
    case 'B':
        return edit_copy(edit, call_argument(call, "b"));
    case 'c':
        return edit_copy(edit, call_argument(call, "condition"));
    case 'x':
        return edit_copy(edit, call_argument(call, "index"));
    case 'o':
        return edit_copy(edit, call_argument(call, "base"));
    case 'W':
        return process_words(lowering, dst);
    case 'e':
    case 'f':
        return process_room(lowering, dst, "int16", *word);
    case 'R':
        return edit_copy(edit, call_argument(call, "rows"));
    case 'C':
        return edit_copy(edit, call_argument(call, "cols"));
    case 'P':
        return edit_copy(edit, call_argument(call, call_argument(call, "pitch") ? "pitch" : "src_pitch"));
    case 'Q':
        return edit_copy(edit, call_argument(call, "dst_pitch"));
    default:
        return strchr(word, '.') ? edit_real(edit, strtod(word, NULL)) : edit_integer(edit, strtol(word, NULL, 10));
    }
}

/* One step, "NAME word ..", with the count of the operation. */
static struct dsl_statement *step_of(struct lowering *lowering, const struct dsl_expr *call, char *step)
{
    enum { WORDS = 8 };
    struct edit *edit = &lowering->edit;
    struct dsl_expr *words[WORDS];
    char *rest;
    const char *name = strtok_r(step, " ", &rest), *word;
    int count = 0;
    while ((word = strtok_r(NULL, " ", &rest)) && count < WORDS)
        words[count++] = word_of(lowering, call, word);
    struct dsl_expr *made = edit_call(edit, name, count, words), *elements = call_argument(call, "count");
    if (elements)
        edit_add_named(edit, made, "count", edit_copy(edit, elements));
    return edit_statement(edit, made);
}

void process_steps(struct lowering *lowering, const struct dsl_expr *call, const char *recipe, struct dsl_block *block)
{
    char *steps = arena_strdup(lowering->arena, recipe), *rest;
    for (char *step = strtok_r(steps, ";", &rest); step; step = strtok_r(NULL, ";", &rest))
        edit_append(&lowering->edit, block, step_of(lowering, call, step));
}

/* Puts the steps in the place of a statement. */
static void expand(struct lowering *lowering, struct dsl_block *block, struct dsl_statement *statement,
                   const char *recipe)
{
    struct dsl_block steps = {0};
    lowering->edit.place = statement->place;
    if (lowering->explanation && strchr(recipe, ';')) {
        json_t *list = json_array();
        const char *names = explain_steps(lowering, recipe, list), *name = statement->value->operation->name;
        dsl_explain_add(lowering->explanation, DSL_ABOUT_ORDER, "steps", statement->place,
                        json_pack("{s:s, s:o}", "operation", name, "steps", list),
                        "`tl.%s` is no instruction: it is put together of %s.", name, names);
    }
    process_steps(lowering, statement->value, recipe, &steps);
    if (!steps.count)
        abort(); /* a recipe has steps */
    steps.items[0]->lead = statement->lead;
    steps.items[0]->trail = statement->trail;
    steps.items[0]->after_blank = statement->after_blank;
    int at = 0; /* rooms may stand before it now */
    while (block->items[at] != statement)
        at++;
    block->items[at] = steps.items[0];
    for (int i = 1; i < steps.count; i++)
        edit_insert(&lowering->edit, block, at + i, steps.items[i]);
}

/* The operation for a buffer and a number instead of that for two buffers: vadd_scalar for vadd. */
static void take_scalar_form(struct lowering *lowering, struct dsl_expr *call)
{
    struct dsl_expr *b = call_argument(call, "b");
    const char *name = arena_printf(lowering->arena, "%s_scalar", call->operation->name);
    if (!b || operand_buffer(b, NULL) || !dsl_operation_find(name))
        return;
    call->operation = dsl_operation_find(name);
    call->items[0]->name = name;
    call->items[0] = edit_attribute(&lowering->edit, edit_name(&lowering->edit, "tl"), name);
}

/* x / v is x * (1 / v) where v is a power of two. */
static void multiply_instead(struct lowering *lowering, struct dsl_expr *call)
{
    struct edit *edit = &lowering->edit;
    struct dsl_expr *value = call_argument(call, "value");
    if (strcmp(call->operation->name, "vdiv_scalar") != 0 || !value)
        return;
    double number = value->kind == DSL_INT ? (double)value->integer : value->kind == DSL_REAL ? value->real : 0;
    int exponent;
    if (number <= 0 || frexp(number, &exponent) != 0.5 || exponent > 64 || exponent < -60)
        return;
    call->operation = dsl_operation_find("vmul_scalar");
    call->items[0] = edit_attribute(edit, edit_name(edit, "tl"), "vmul_scalar");
    for (int i = 1; i < call->count; i++)
        if (call->items[i] == value)
            call->items[i] = edit_real(edit, 1 / number);
}

/* tl.iota: indices, of int64 converted from int32, times the step, plus the start. */
static void expand_iota(struct lowering *lowering, struct dsl_block *block, int at)
{
    struct edit *edit = &lowering->edit;
    struct dsl_statement *statement = block->items[at];
    const struct dsl_expr *call = statement->value, *step = call_argument(call, "step");
    struct dsl_expr *start = call_argument(call, "start"), *count = call_argument(call, "count"),
                    *dst = call_argument(call, "dst");
    const struct lower_buffer *buffer = lower_buffer_of(lowering, dst);
    bool converts = false;
    for (int c = 0; c < lowering->opdef->combinations; c++)
        converts |= lower_type_in(&buffer->type, c) == AKGEN_INT64;
    bool steps = step && !tree_is_integer(step, 1), starts = (steps || converts) && !tree_is_integer(start, 0);
    struct dsl_expr *indices = converts ? room_name(lowering, dst, 'i') : edit_copy(edit, dst),
                    *bytes = converts ? process_bytes(lowering, dst) : NULL;
    int more = 0;
    while (block->items[at] != statement) /* rooms may stand before it now */
        at++;
    statement->value =
        EDIT_CALL(edit, "create_index", indices, steps || converts ? edit_integer(edit, 0) : edit_copy(edit, start),
                  edit_copy(edit, count));
    if (converts)
        edit_insert(edit, block, at + ++more,
                    edit_statement(edit, EDIT_CALL(edit, "cast_to", edit_copy(edit, dst), edit_copy(edit, indices),
                                                   bytes, edit_copy(edit, count), edit_text(edit, "even"))));
    for (int i = 0; i < 2; i++) {
        const struct dsl_expr *value = i ? start : step;
        if (!(i ? starts : steps))
            continue;
        struct dsl_expr *made = EDIT_CALL(edit, i ? "vadd_scalar" : "vmul_scalar", edit_copy(edit, dst),
                                          edit_copy(edit, dst), edit_copy(edit, value));
        edit_add_named(edit, made, "count", edit_copy(edit, count));
        edit_insert(edit, block, at + ++more, edit_statement(edit, made));
    }
}

static struct dsl_statement *call_statement(struct edit *edit, struct dsl_expr *call)
{
    return edit_statement(edit, call);
}

static bool is_bool(const struct lowering *lowering, const struct dsl_expr *operand)
{
    const struct lower_buffer *buffer = lower_buffer_of(lowering, operand);
    return buffer && buffer->type.fixed == AKGEN_BOOL;
}

/* An operand as a buffer: a number is put into every element of a room like `dst`. */
static struct dsl_expr *as_buffer(struct lowering *lowering, struct dsl_block *block, struct dsl_statement *before,
                                  struct dsl_expr *operand, const struct dsl_expr *like, char which)
{
    struct edit *edit = &lowering->edit;
    const struct dsl_expr *count = call_argument(before->value, "count");
    if (operand_buffer(operand, NULL))
        return operand;
    struct dsl_expr *room = room_name(lowering, like, which);
    struct dsl_expr *fill = EDIT_CALL(edit, "duplicate", edit_copy(edit, room), edit_copy(edit, operand));
    edit_add_named(edit, fill, "count", edit_copy(edit, count));
    int at = 0;
    while (block->items[at] != before)
        at++;
    edit_insert(edit, block, at, call_statement(edit, fill));
    return room;
}

/* Whether the buffer is float32 or float16 in every combination, for which the vector unit has instructions of its own. */
static bool is_float_of_unit(const struct lowering *lowering, const struct dsl_expr *operand)
{
    const struct lower_buffer *buffer = lower_buffer_of(lowering, operand);
    bool floats = true;
    for (int c = 0; c < lowering->opdef->combinations; c++)
        floats &= task_is_float(lower_type_in(&buffer->type, c)) && lower_type_in(&buffer->type, c) != AKGEN_BF16;
    return floats;
}

/* tl.vmul_add where one instruction does it. */
static bool process_multiply_add(struct lowering *lowering, struct dsl_statement *statement)
{
    struct edit *edit = &lowering->edit;
    struct dsl_expr *call = statement->value, *dst = call_argument(call, "dst");
    if (!is_float_of_unit(lowering, dst))
        return false;
    statement->value = EDIT_CALL(edit, "multiply_add", dst, call_argument(call, "a"), call_argument(call, "b"),
                                 edit_copy(edit, dst), call_argument(call, "count"));
    return true;
}

/* tl.vselect: `choose`, whose first choice is a buffer; a number of another type than float32 and float16, too. */
static void process_select(struct lowering *lowering, struct dsl_block *block, struct dsl_statement *statement)
{
    struct edit *edit = &lowering->edit;
    struct dsl_expr *call = statement->value, *dst = call_argument(call, "dst"), *b = call_argument(call, "b");
    struct dsl_expr *a = as_buffer(lowering, block, statement, call_argument(call, "a"), dst, 't');
    if (!is_float_of_unit(lowering, dst))
        b = as_buffer(lowering, block, statement, b, dst, 'u');
    statement->value =
        EDIT_CALL(edit, "choose", dst, call_argument(call, "condition"), a, b, call_argument(call, "count"));
}

/* tl.cast: of truth values a choice between 1 and 0, to them a comparison with 0. */
static void process_cast(struct lowering *lowering, struct dsl_block *block, struct dsl_statement *statement)
{
    struct edit *edit = &lowering->edit;
    struct dsl_expr *call = statement->value, *dst = call_argument(call, "dst"), *src = call_argument(call, "src");
    struct dsl_expr *count = call_argument(call, "count"), *round = call_argument(call, "round");
    if (is_bool(lowering, src) && !is_bool(lowering, dst)) {
        statement->value = EDIT_CALL(edit, "vselect", dst, src, edit_integer(edit, 1), edit_integer(edit, 0));
        edit_add_named(edit, statement->value, "count", count);
        process_select(lowering, block, statement);
    } else if (is_bool(lowering, dst)) {
        statement->value =
            EDIT_CALL(edit, "compare_ne", dst, src, edit_integer(edit, 0), room_name(lowering, src, 't'), count);
    } else {
        statement->value = EDIT_CALL(edit, "cast_to", dst, src, process_bytes(lowering, dst), count,
                                     round ? round : edit_text(edit, "even"));
    }
}

/* `vand` and the like need both operands in buffers: a number is put into the room `which`. */
static void process_pair(struct lowering *lowering, struct dsl_block *block, struct dsl_statement *statement,
                         char which)
{
    struct dsl_expr *call = statement->value, *b = call_argument(call, "b");
    if (!b || operand_buffer(b, NULL))
        return;
    struct dsl_expr *room = as_buffer(lowering, block, statement, b, call_argument(call, "dst"), which);
    for (int i = 1; i < call->count; i++)
        if (call->items[i] == b)
            call->items[i] = room;
}

/* tl.vpow: of real numbers with room for what keeps NaN. */
static void process_power(struct lowering *lowering, struct dsl_expr *call)
{
    struct edit *edit = &lowering->edit;
    struct dsl_expr *dst = call_argument(call, "dst"), *b = call_argument(call, "b");
    const struct lower_buffer *buffer = lower_buffer_of(lowering, dst);
    bool floats = false;
    for (int c = 0; c < lowering->opdef->combinations; c++)
        floats |= task_is_float(lower_type_in(&buffer->type, c));
    if (!floats)
        return;
    struct dsl_expr *a = call_argument(call, "a"), *count = call_argument(call, "count");
    struct dsl_expr *room = room_name(lowering, dst, 't');
    struct dsl_expr *made = operand_buffer(b, NULL)
                                ? EDIT_CALL(edit, "power_of", dst, a, b, room, room_name(lowering, dst, 'n'))
                                : EDIT_CALL(edit, "power_by", dst, a, b, room);
    edit_add_named(edit, made, "count", count);
    *call = *made;
}

/* tl.vshift_left and tl.vshift_right by a buffer. */
static void process_shift(struct lowering *lowering, struct dsl_expr *call)
{
    struct edit *edit = &lowering->edit;
    struct dsl_expr *dst = call_argument(call, "dst"), *a = call_argument(call, "a"), *b = call_argument(call, "b");
    struct dsl_expr *rooms[] = {room_name(lowering, dst, 't'), room_name(lowering, dst, 'n'),
                                room_name(lowering, dst, 'u')};
    const char *name = strcmp(call->operation->name, "vshift_left") == 0 ? "shift_left_each" : "shift_right_each";
    *call = *EDIT_CALL(edit, name, dst, a, b, rooms[0], rooms[1], rooms[2], call_argument(call, "count"));
}

/* tl.gemm_v0: the sizes of the product are those of the tiles. */
static void process_product(struct lowering *lowering, struct dsl_expr *call)
{
    struct edit *edit = &lowering->edit;
    struct dsl_expr *dst = call_argument(call, "dst"), *a = call_argument(call, "a"), *b = call_argument(call, "b");
    const struct lower_buffer *product = lower_buffer_of(lowering, dst);
    const struct lower_buffer *left = lower_buffer_of(lowering, a);
    struct dsl_expr *init = call_argument(call, "init");
    struct dsl_expr *made = EDIT_CALL(edit, "gemm", dst, a, b, edit_copy(edit, product->size->items[0]),
                                      edit_copy(edit, product->size->items[1]), edit_copy(edit, left->size->items[1]));
    if (init)
        edit_add_named(edit, made, "init", init);
    *call = *made;
}

/* tl.sort: pairs of value and index of whole blocks of 32, before and behind each merge. */
static void process_sort(struct lowering *lowering, struct dsl_expr *call)
{
    enum { WORDS_OF_PAIRS = 4, BLOCK = 32 };
    struct edit *edit = &lowering->edit;
    struct dsl_expr *src = call_argument(call, "src");
    const struct lower_buffer *buffer = lower_buffer_of(lowering, src);
    struct dsl_expr *elements = edit_sum(edit, edit_copy(edit, buffer->size), edit_integer(edit, BLOCK));
    struct dsl_expr *size = edit_product(edit, elements, edit_integer(edit, WORDS_OF_PAIRS));
    struct dsl_expr *room = room_of(lowering, src, "float32", size, 'p');
    *call = *EDIT_CALL(edit, "sort_pairs", call_argument(call, "values"), call_argument(call, "indices"), src, room,
                       call_argument(call, "count"));
}

/* Operations that are put together in ways of their own. True: nothing is left to do. */
static bool process_special(struct lowering *lowering, struct dsl_block *block, struct dsl_statement *statement)
{
    const char *name = statement->value->operation->name;
    static const struct {
        const char *name;
        char room; /* which neither the operation's steps nor a copy of its source need */
    } pairs[] = {{"vand", 'u'}, {"vor", 'u'}, {"vxor", 'u'}, {"vfmod", 't'}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(name, pairs[i].name) == 0)
            process_pair(lowering, block, statement, pairs[i].room);
    if (strcmp(name, "vselect") == 0)
        process_select(lowering, block, statement);
    else if (strcmp(name, "vmul_add") == 0)
        return process_multiply_add(lowering, statement);
    else if (strcmp(name, "cast") == 0)
        process_cast(lowering, block, statement);
    else if (strcmp(name, "gemm_v0") == 0)
        process_product(lowering, statement->value);
    else if (strncmp(name, "vshift_", 7) == 0 && operand_buffer(call_argument(statement->value, "b"), NULL))
        process_shift(lowering, statement->value);
    else if (strcmp(name, "vpow") == 0)
        process_power(lowering, statement->value);
    else if (strcmp(name, "sort") == 0)
        process_sort(lowering, statement->value);
    else
        return false;
    return true;
}

/* Functions of the high-level library may not compute into their own source (docs/machine.md): some read it again behind the
 * first element that they wrote. A copy of the source goes in. */
static void copy_sources(struct lowering *lowering, struct dsl_block *block)
{
    struct edit *edit = &lowering->edit;
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        struct dsl_expr *call = statement_operation(statement);
        const struct lower_instruction *instruction = call ? lower_instruction_find(call->operation->name) : NULL;
        bool library = instruction && lower_is_library(instruction->form);
        const char *written = library ? operand_buffer(call->items[1], NULL) : NULL;
        struct dsl_expr *copy = NULL;
        for (int o = 2; library && o < call->count; o++) {
            struct dsl_expr *source = call->items[o];
            const char *read = operand_buffer(source, NULL);
            if (!read || strcmp(read, written) != 0)
                continue;
            if (!copy) {
                edit->place = statement->place;
                struct dsl_expr *room = room_name(lowering, source, 'u');
                copy = EDIT_CALL(edit, "vmax", room, source, edit_copy(edit, source));
                edit_add_named(edit, copy, "count", edit_copy(edit, call_argument(call, "count")));
            }
            call->items[o] = edit_copy(edit, copy->items[1]);
        }
        if (copy) {
            int at = 0; /* a room may stand before it now */
            while (block->items[at] != statement)
                at++;
            struct dsl_statement *made = edit_statement(edit, copy);
            edit_insert(edit, block, at, made);
            edit_lead(edit, made, &statement->lead);
            statement->lead = (struct dsl_comments){0};
            i = at + 1;
        }
        copy_sources(lowering, &statement->body);
        copy_sources(lowering, &statement->orelse);
    }
}

static bool process_block(struct lowering *lowering, struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        struct dsl_expr *call = statement_operation(statement);
        int before = block->count;
        if (call && call->operation->place == DSL_PLACE_COMPUTE) {
            lowering->edit.place = statement->place;
            take_scalar_form(lowering, call);
            multiply_instead(lowering, call);
            const char *recipe = recipe_for(call->operation->name);
            if (process_special(lowering, block, statement))
                recipe = NULL;
            else if (strcmp(call->operation->name, "iota") == 0)
                expand_iota(lowering, block, i);
            else if (recipe)
                expand(lowering, block, statement, recipe);
            else if (!lower_instruction_find(call->operation->name) && strcmp(call->operation->name, "set_scalar") != 0)
                return LOWER_FAIL(lowering, call->place, DSL_RULE_not_compiled, NULL, "tl.%s is not compiled yet",
                                  call->operation->name);
        }
        if (!process_block(lowering, &statement->body) || !process_block(lowering, &statement->orelse))
            return false;
        i += block->count - before; /* steps behind it; rooms before it, in the kernel's own block */
    }
    return true;
}

bool pass_process(struct lowering *lowering)
{
    bool good = process_block(lowering, lower_kernel(lowering));
    if (good)
        copy_sources(lowering, lower_kernel(lowering));
    return good;
}
