/* The sixth pass: tensors of queues are taken, given on, received and freed, and each queue gets as many tensors as UB has
 * room for: two where the cycle of the queue is repeated, so that the next tile is loaded, and the last one stored, while
 * this one is computed, or as many as the program says.
 *
 * Holds afterwards: the buffers fit into UB where their sizes are known, and where they are not the tiling function asks
 * before the launch, and decides whether queues have two tensors or one where it decides their sizes. */
#include "base/text.h"
#include "dsl/lower_internal.h"
#include "npu/npu.h"

#include <inttypes.h>
#include <string.h>

static bool has_steps(const struct dsl_block *block, const char *queue)
{
    bool found = false;
    for (int i = 0; !found && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        found = (statement_calls(statement, "alloc_tensor") &&
                 strcmp(call_argument(statement->value, "queue")->name, queue) == 0) ||
                has_steps(&statement->body, queue) || has_steps(&statement->orelse, queue);
    }
    return found;
}

static bool in_loop(const struct dsl_block *block, const char *queue)
{
    bool found = false;
    for (int i = 0; !found && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        bool loop = statement->kind == DSL_FOR || statement->kind == DSL_WHILE;
        found = loop ? has_steps(&statement->body, queue)
                     : in_loop(&statement->body, queue) || in_loop(&statement->orelse, queue);
    }
    return found;
}

/* Whether the program says how many tensors the queue has. */
static bool is_given(const struct lower_buffer *buffer)
{
    return buffer->kind != LOWER_UB && call_argument(buffer->allocation->value, "depth");
}

/* Depths of queues, and why one is 1: the bytes that all buffers needed with two tensors, and the tensors that were out. */
struct trial {
    int *depths;
    int64_t *tried;
    int *out;
    int64_t *bytes; /* of UB, of one tensor, by combination and buffer; 0: it has no memory, or its size is unknown */
};

static struct trial new_trial(const struct lowering *lowering, const int *depths)
{
    size_t count = (size_t)lowering->buffer_count + 1;
    struct trial trial = {
        .depths = arena_copy(lowering->arena, depths, count * sizeof *depths),
        .tried = arena_alloc(lowering->arena, count * sizeof(int64_t)),
        .out = arena_alloc(lowering->arena, count * sizeof(int)),
        .bytes = arena_alloc(lowering->arena, count * (size_t)lowering->opdef->combinations * sizeof(int64_t))};
    for (int c = 0; c < lowering->opdef->combinations; c++)
        for (int b = 0; b < lowering->buffer_count; b++) {
            const struct lower_buffer *buffer = &lowering->buffers[b];
            int64_t bytes = lower_has_memory(lowering, buffer, c) ? lower_bytes(lowering, buffer, c) : 0;
            trial.bytes[c * lowering->buffer_count + b] = bytes > 0 ? bytes : 0;
        }
    return trial;
}

/* Bytes of UB that all buffers need, in the combination of types that needs most; those of unknown size are left out. */
static int64_t bytes_needed(const struct lowering *lowering, const struct trial *trial)
{
    int64_t most = 0;
    for (int c = 0; c < lowering->opdef->combinations; c++) {
        int64_t all = 0;
        for (int b = 0; b < lowering->buffer_count; b++)
            all += trial->bytes[c * lowering->buffer_count + b] * trial->depths[b];
        most = all > most ? all : most;
    }
    return most;
}

static bool tell_full(struct lowering *lowering, int64_t needed, int64_t room)
{
    struct text text = {0};
    for (int b = 0; b < lowering->buffer_count; b++)
        text_addf(&text, "%s%s %" PRId64, b ? ", " : "", lowering->buffers[b].name,
                  lower_bytes(lowering, &lowering->buffers[b], 0));
    const char *list = arena_strdup(lowering->arena, text.bytes ? text.bytes : "");
    text_free(&text);
    return LOWER_FAIL(lowering, lowering->program->kernel->place, DSL_RULE_fits, "make the tiles smaller",
                      "the buffers need %" PRId64 " bytes of UB, which has %" PRId64 " (%.300s)", needed, room, list);
}

/* Tensors that the queues of a kind have together. */
static int tensors_out(const struct lowering *lowering, const int *depths, enum lower_buffer_kind kind)
{
    int all = 0;
    for (int b = 0; b < lowering->buffer_count; b++)
        all += lowering->buffers[b].kind == kind && kind != LOWER_UB ? depths[b] : 0;
    return all;
}

/* Bytes at the end of UB that no buffer may have: Select works in the last 8 KiB (docs/machine.md), functions of the high-level
 * library take their room from what is free. */
static int64_t reserved_bytes(const struct dsl_block *block)
{
    enum { OF_SELECT = 8 << 10, OF_LIBRARY = 24 << 10 };
    int64_t most = 0;
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *call = statement_operation(statement);
        const struct lower_instruction *instruction = call ? lower_instruction_find(call->operation->name) : NULL;
        enum lower_form form = instruction ? instruction->form : LOWER_FORM_UNARY;
        int64_t bytes[] = {reserved_bytes(&statement->body), reserved_bytes(&statement->orelse),
                           form == LOWER_FORM_CHOOSE || form == LOWER_FORM_TO_BITS || form == LOWER_FORM_INT64_TRUTH
                               ? OF_SELECT
                           : lower_is_library(form) ? OF_LIBRARY
                                                    : 0};
        for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++)
            most = bytes[b] > most ? bytes[b] : most;
    }
    return most;
}

/* Bytes of a buffer in the combination of types that needs most. */
static int64_t most_bytes_of(const struct lowering *lowering, const struct lower_buffer *buffer)
{
    int64_t most = 0;
    for (int c = 0; c < lowering->opdef->combinations; c++) {
        int64_t bytes = lower_bytes(lowering, buffer, c);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Why a queue has so many tensors. `needed`, `out`: what two would have made of it; `room` is what there is; `open`: the tiling
 * function may give it one. */
static void explain_depth(struct lowering *lowering, const struct lower_buffer *buffer, int depth, bool open,
                          int64_t needed, int out, int64_t room)
{
    static const char *const ahead[] = {[LOWER_QUEUE_IN] = "the next turn's is loaded while this one is computed",
                                        [LOWER_QUEUE_OUT] = "the last turn's is stored while the next one is computed",
                                        [LOWER_QUEUE_MOVE] = "the next turn's is loaded while this one is stored",
                                        [LOWER_QUEUE_A1] = "the next tile is loaded while this one is multiplied",
                                        [LOWER_QUEUE_B1] = "the next tile is loaded while this one is multiplied"};
    const struct dsl_place place = buffer->allocation->place;
    const char *why = is_given(buffer)     ? "program"
                      : depth > 1          ? "loop"
                      : needed > room      ? "room"
                      : out > LOWER_EVENTS ? "events"
                                           : "once";
    json_t *facts =
        json_pack("{s:s, s:i, s:i, s:s, s:I, s:I, s:i}", "buffer", buffer->name, "depth", depth, "least",
                  open ? 1 : depth, "why", why, "needed", (json_int_t)needed, "room", (json_int_t)room, "tensors", out);
    if (*why == 'p')
        dsl_explain_add(lowering->explanation, DSL_ABOUT_BUDGET, "depth", place, facts,
                        "`%s` has %d tensor%s, as the program says.", buffer->name, depth, depth == 1 ? "" : "s");
    else if (open)
        dsl_explain_add(lowering->explanation, DSL_ABOUT_BUDGET, "depth", place, facts,
                        "`%s` is filled in a loop and has two tensors, where the tiling function finds room for them, "
                        "and else one: with two, %s.",
                        buffer->name, ahead[buffer->kind]);
    else if (depth > 1)
        dsl_explain_add(lowering->explanation, DSL_ABOUT_BUDGET, "depth", place, facts,
                        "`%s` is filled in a loop and has two tensors: %s.", buffer->name, ahead[buffer->kind]);
    else if (*why == 'r')
        dsl_explain_add(lowering->explanation, DSL_ABOUT_BUDGET, "depth", place, facts,
                        "`%s` has one tensor: with two, the buffers would need %" PRId64 " bytes of the %" PRId64
                        " that there are.",
                        buffer->name, needed, room);
    else if (*why == 'e')
        dsl_explain_add(lowering->explanation, DSL_ABOUT_BUDGET, "depth", place, facts,
                        "`%s` has one tensor: with two, the queues of its position would have %d, and there are "
                        "events for %d.",
                        buffer->name, out, LOWER_EVENTS);
    else
        dsl_explain_add(lowering->explanation, DSL_ABOUT_BUDGET, "depth", place, facts,
                        buffer->kind == LOWER_QUEUE_CO1 ? "`%s` has one tensor: a product at a time."
                                                        : "`%s` has one tensor: it is filled in no loop.",
                        buffer->name);
}

/* Tiles in L1 and products in L0C: one product, two tiles where there is room. */
static bool fits_cube(struct lowering *lowering, int *depths, int64_t *needed)
{
    int64_t l1 = 0, l0c = 0;
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        if (buffer->kind == LOWER_QUEUE_CO1) {
            depths[b] = 1;
            l0c += most_bytes_of(lowering, buffer);
        } else if (buffer->kind >= LOWER_QUEUE_A1) {
            l1 += most_bytes_of(lowering, buffer) * depths[b];
        }
    }
    for (int b = lowering->buffer_count - 1; b >= 0 && l1 > npu_socs->l1_bytes; b--)
        if ((lowering->buffers[b].kind == LOWER_QUEUE_A1 || lowering->buffers[b].kind == LOWER_QUEUE_B1) &&
            !is_given(&lowering->buffers[b])) {
            needed[b] = depths[b] > 1 ? l1 : 0;
            l1 -= most_bytes_of(lowering, &lowering->buffers[b]) * (depths[b] - 1);
            depths[b] = 1;
        }
    return (l1 <= npu_socs->l1_bytes && l0c <= npu_socs->l0c_bytes) ||
           LOWER_FAIL(lowering, lowering->program->kernel->place, DSL_RULE_fits, "make the tiles smaller",
                      "the tiles need %" PRId64 " bytes of L1 and %" PRId64 " of L0C", l1, l0c);
}

/* Whether all tensors that are out at a time have an event. */
static bool check_events(struct lowering *lowering, const int *depths)
{
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        int tensors = tensors_out(lowering, depths, buffer->kind);
        if (tensors > LOWER_EVENTS)
            return LOWER_FAIL(
                lowering, buffer->allocation->place, DSL_RULE_not_compiled, "use fewer buffers, of fewer data types",
                "'%s' is one of %d that are %s, and there are events for the queues of %d", buffer->name, tensors,
                buffer->kind == LOWER_QUEUE_OUT    ? "stored"
                : buffer->kind == LOWER_QUEUE_MOVE ? "loaded and stored"
                                                   : "loaded",
                LOWER_EVENTS);
    }
    return true;
}

/* Whether the tiling function decides the size of a buffer of UB. */
static bool has_open_size(const struct lowering *lowering)
{
    bool found = false;
    for (int b = 0; !found && b < lowering->buffer_count; b++)
        found = lowering->buffers[b].kind < LOWER_QUEUE_A1 && lower_bytes(lowering, &lowering->buffers[b], 0) < 0;
    return found;
}

/* Whether the tiling function decides the size of a queue's two tensors. */
static bool has_open_queue(const struct lowering *lowering, const int *depths)
{
    bool found = false;
    for (int b = 0; !found && b < lowering->buffer_count; b++)
        found = lowering->buffers[b].kind < LOWER_QUEUE_A1 && depths[b] > 1 && !is_given(&lowering->buffers[b]) &&
                lower_bytes(lowering, &lowering->buffers[b], 0) < 0;
    return found;
}

/* The most bytes that the tiling function can make of a buffer that may have as many elements; -1: no bound is known. */
static int64_t most_bytes(const struct lowering *lowering, const struct lower_buffer *buffer, int combination,
                          int64_t elements)
{
    int64_t known = lower_bytes(lowering, buffer, combination);
    int64_t unit = lower_unit_elements(lowering, buffer, combination);
    int64_t units = elements / unit + (elements % unit > 0);
    return known >= 0 ? known : elements < 0 ? -1 : units * lower_unit_bytes(lowering, buffer);
}

/* Whether the buffers may need more than the room, as far as is known before the launch. */
static bool may_be_full(struct lowering *lowering, const int *depths, int64_t room)
{
    int64_t *elements = arena_alloc(lowering->arena, (size_t)(lowering->buffer_count + 1) * sizeof *elements);
    bool full = false;
    for (int b = 0; b < lowering->buffer_count; b++)
        elements[b] = lower_bytes(lowering, &lowering->buffers[b], 0) < 0
                          ? lower_most_elements(lowering, &lowering->buffers[b])
                          : 0;
    for (int c = 0; !full && c < lowering->opdef->combinations; c++) {
        int64_t left = room;
        for (int b = 0; !full && b < lowering->buffer_count; b++) {
            const struct lower_buffer *buffer = &lowering->buffers[b];
            int64_t bytes = lower_has_memory(lowering, buffer, c) ? most_bytes(lowering, buffer, c, elements[b]) : 0;
            full = bytes < 0 || bytes > left / depths[b];
            left -= full ? 0 : bytes * depths[b];
        }
    }
    return full;
}

/* One tensor for queues of more that do not fit otherwise: the last queues first. Yields how many tensors there are. */
static int cut_depths(const struct lowering *lowering, struct trial *trial, int64_t room)
{
    int all = 0;
    for (int b = lowering->buffer_count - 1; b >= 0; b--) {
        int64_t bytes = bytes_needed(lowering, trial);
        int tensors = tensors_out(lowering, trial->depths, lowering->buffers[b].kind);
        if (trial->depths[b] > 1 && !is_given(&lowering->buffers[b]) && (bytes > room || tensors > LOWER_EVENTS)) {
            trial->tried[b] = bytes;
            trial->out[b] = tensors;
            trial->depths[b] = 1;
        }
    }
    for (int b = 0; b < lowering->buffer_count; b++)
        all += trial->depths[b];
    return all;
}

/* Lets buffers share memory where queues get more tensors by that, or nothing fits otherwise, or nobody knows what does. */
static void share_if_it_helps(struct lowering *lowering, const int *depths, struct trial *trial, int64_t room)
{
    bool open = has_open_size(lowering), enough = bytes_needed(lowering, trial) <= room;
    int tensors = cut_depths(lowering, trial, room);
    if (enough && !open)
        return;
    bool fits = bytes_needed(lowering, trial) <= room;
    share_buffers(lowering);
    struct trial shared = new_trial(lowering, depths);
    if (cut_depths(lowering, &shared, room) > tensors || !fits || open) {
        share_place(lowering);
        *trial = shared;
    } else {
        for (int b = 0; b < lowering->buffer_count; b++)
            lowering->buffers[b].of = NULL;
    }
}

/* Writes the depths into the program; `open`: the tiling function may give queues of two tensors one. */
static void place_depths(struct lowering *lowering, const int *depths, bool open)
{
    struct edit *edit = &lowering->edit;
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        edit->place = buffer->allocation->place;
        const bool given = is_given(buffer);
        if (buffer->kind != LOWER_UB && !given)
            edit_add_named(edit, buffer->allocation->value, "depth", edit_integer(edit, depths[b]));
        if (buffer->kind < LOWER_QUEUE_A1 && depths[b] > 1 && open && !given)
            edit_add_named(edit, buffer->allocation->value, "least", edit_integer(edit, 1));
    }
}

/* Two tensors for queues in loops, as far as they fit. */
static bool choose_depths(struct lowering *lowering)
{
    const struct dsl_block *kernel = lower_kernel(lowering);
    int *depths = arena_alloc(lowering->arena, (size_t)(lowering->buffer_count + 1) * sizeof *depths);
    lowering->reserved = reserved_bytes(kernel);
    int64_t room = npu_socs->ub_tiling_bytes - lowering->reserved;
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        depths[b] = is_given(buffer)                                            ? (int)lower_depth(buffer)
                    : buffer->kind != LOWER_UB && in_loop(kernel, buffer->name) ? 2
                                                                                : 1;
    }
    struct trial trial = new_trial(lowering, depths);
    share_if_it_helps(lowering, depths, &trial, room);
    memcpy(depths, trial.depths, (size_t)lowering->buffer_count * sizeof *depths);
    if (!fits_cube(lowering, depths, trial.tried))
        return false;
    const bool open = has_open_queue(lowering, depths) && may_be_full(lowering, depths, room);
    for (int b = 0; lowering->explanation && b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        const bool cube = buffer->kind >= LOWER_QUEUE_A1;
        if (buffer->kind != LOWER_UB)
            explain_depth(lowering, buffer, depths[b], open && !cube && depths[b] > 1 && !is_given(buffer),
                          trial.tried[b], trial.out[b], cube ? npu_socs->l1_bytes : room);
    }
    place_depths(lowering, depths, open);
    int64_t needed = bytes_needed(lowering, &trial);
    return (needed <= room || tell_full(lowering, needed, room)) && check_events(lowering, depths);
}

bool pass_pipeline(struct lowering *lowering)
{
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        if (buffer->kind != LOWER_UB && !has_steps(lower_kernel(lowering), buffer->name))
            lifetime_place(lowering, buffer);
    }
    return choose_depths(lowering);
}
