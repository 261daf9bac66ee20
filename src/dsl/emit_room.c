/* Printing what the tiling function asks of UB where it decides the sizes of buffers: whether they fit, all together, and with how
 * many tensors in their queues. */
#include "dsl/emit.h"

#include <inttypes.h>
#include <string.h>

/* Units of a size that the tiling function decides, and bytes that all buffers of so many units need for each, or as often as its
 * queues have tensors; "": what buffers of known sizes need. */
struct room_term {
    const char *units;
    int64_t bytes, times_depth;
};

static void add_term(struct room_term *terms, int *count, const char *units, const struct lower_buffer *buffer,
                     int64_t bytes)
{
    const bool open = lower_least_depth(buffer) < lower_depth(buffer);
    int t = 0;
    while (t < *count && strcmp(terms[t].units, units) != 0)
        t++;
    if (t == *count)
        terms[(*count)++] = (struct room_term){units, 0, 0};
    terms[t].bytes += open ? 0 : bytes * lower_depth(buffer);
    terms[t].times_depth += open ? bytes : 0;
}

/* "768", "tensors * 256", "(tensors * 256 + 512)": what stands behind the units. */
static const char *term_bytes(struct arena *arena, const struct room_term *term)
{
    if (!term->times_depth)
        return arena_printf(arena, "%" PRId64, term->bytes);
    const char *times = arena_printf(arena, "tensors * %" PRId64, term->times_depth);
    const bool whole = *term->units && term->bytes;
    const char *more = term->bytes ? arena_printf(arena, " + %" PRId64, term->bytes) : "";
    return arena_printf(arena, whole ? "(%s%s)" : "%s%s", times, more);
}

/* Bytes of UB that the buffers need in a combination of types, as the tiling function computes it. */
static const char *room_of(struct emit *emit, int combination)
{
    struct lowering *lowering = emit->lowering;
    struct room_term *terms = arena_alloc(lowering->arena, (size_t)(lowering->buffer_count + 1) * sizeof *terms);
    struct room_term known = {"", lowering->reserved, 0};
    int count = 0, one = 1;
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        int64_t bytes = lower_bytes(lowering, buffer, combination);
        if (!lower_has_memory(lowering, buffer, combination))
            continue;
        if (bytes >= 0)
            add_term(&known, &one, "", buffer, bytes);
        else
            add_term(terms, &count,
                     arena_printf(lowering->arena, "CeilDiv(%s, %" PRId64 ")",
                                  emit_expr_text(emit, lower_host_terms(lowering, buffer->size)),
                                  lower_unit_elements(lowering, buffer, combination)),
                     buffer, lower_unit_bytes(lowering, buffer));
    }
    struct text text = {0};
    for (int t = 0; t < count; t++)
        text_addf(&text, "%s%s * %s", t ? " + " : "", terms[t].units, term_bytes(lowering->arena, &terms[t]));
    if (known.bytes || known.times_depth || !count)
        text_addf(&text, "%s%s", count ? " + " : "", term_bytes(lowering->arena, &known));
    return text_keep(&text, lowering->arena);
}

/* Whether a combination of types needs what an earlier one does. */
static bool is_repeated(const char *const *rooms, int combination)
{
    bool found = false;
    for (int c = 0; !found && c < combination; c++)
        found = strcmp(rooms[c], rooms[combination]) == 0;
    return found;
}

/* The input whose data type says what the buffers need, by its number in the OpDef; -1: there is none. */
static int deciding_input(const struct lowering *lowering, const char *const *rooms)
{
    const struct dsl_opdef *opdef = lowering->opdef;
    for (int i = 0; i < opdef->input_count && !opdef->inputs[i].optional && !opdef->inputs[i].list; i++) {
        const enum akgen_dtype *types = opdef->inputs[i].types;
        bool decides = opdef->inputs[i].declared;
        for (int a = 0; a < opdef->combinations; a++)
            for (int b = 0; decides && b < a; b++)
                decides = types[a] != types[b] || strcmp(rooms[a], rooms[b]) == 0;
        if (decides)
            return i;
    }
    return -1;
}

/* Whether the data type of a combination is one of those from `first` on. */
static bool is_told(const enum akgen_dtype *types, int first, int combination)
{
    bool told = false;
    for (int c = first; c < combination; c++)
        told |= types[c] == types[combination];
    return told;
}

/* What the buffers need in the call's data types: that of input `decides`, or the largest where that is -1. */
static void emit_rooms(struct emit *emit, const char *const *rooms, int different, int decides)
{
    const int combinations = emit->lowering->opdef->combinations;
    const bool largest = different > 1 && decides < 0;
    const enum akgen_dtype *types = decides < 0 ? NULL : emit->lowering->opdef->inputs[decides].types;
    int left = different;
    text_add(emit->out, largest ? "std::max<int64_t>({" : "");
    for (int c = 0; c < combinations; c++) {
        if (is_repeated(rooms, c))
            continue;
        text_add(emit->out, largest && c ? ", " : "");
        const char *or = "";
        for (int same = c; decides >= 0 && left > 1 && same < combinations; same++)
            if (strcmp(rooms[same], rooms[c]) == 0 && !is_told(types, c, same)) {
                text_addf(emit->out, "%sdataType == ge::%s", or, akgen_dtype_ge_name(types[same]));
                or = " || ";
            }
        text_addf(emit->out, "%s%s%s", *or ? " ? " : "", rooms[c], *or ? " : " : "");
        left--;
    }
    text_add(emit->out, largest ? "})" : "");
}

void emit_room_check(struct emit *emit)
{
    int combinations = emit->lowering->opdef->combinations, different = 0;
    if (!emit_has_open_size(emit->lowering))
        return;
    const bool open = lower_has_open_depths(emit->lowering);
    const char **rooms = arena_alloc(emit->lowering->arena, (size_t)combinations * sizeof *rooms);
    for (int c = 0; c < combinations; c++) {
        rooms[c] = room_of(emit, c);
        different += !is_repeated(rooms, c);
    }
    const int decides = open && different > 1 ? deciding_input(emit->lowering, rooms) : -1;
    emit->aids[AID_CEIL_DIV] = true;
    emit_line(emit, "// What the buffers of the kernel need of UB%s%s.",
              open ? ", where queues have so many tensors" : "",
              different > 1 && decides < 0 ? ", in the data types that need most" : "");
    if (decides >= 0)
        emit_line(emit, "const ge::DataType dataType = context->GetInputDesc(%d)->GetDataType();", decides);
    emit_indent(emit);
    text_add(emit->out, open ? "const auto neededWith = [&](int64_t tensors) { return " : "const int64_t needed = ");
    emit_rooms(emit, rooms, different, decides);
    text_add(emit->out, open ? "; };\n" : ";\n");
    if (open) {
        emit_line(emit, "const int64_t " EMIT_DEPTH " = neededWith(2) <= static_cast<int64_t>(ubBytes) ? 2 : 1;");
        emit_line(emit, "const int64_t needed = neededWith(" EMIT_DEPTH ");");
    }
    emit_line(emit, "if (needed > static_cast<int64_t>(ubBytes)) {");
    emit_refusal(emit, "\"the tiles need \" + std::to_string(needed) + \" bytes of UB, which has \" + "
                       "std::to_string(ubBytes)");
    emit_line(emit, "}");
}
