/* The interpreter in a run that counts what cores would do: scalar code is run, transfers say how much they would move, and what
 * would be computed is left out. A value that comes of it is unknown; so is what is computed from one, and where one decides
 * what is done next, the run ends. */
#include "base/array.h"
#include "dsl/interpret_internal.h"

#include <string.h>

/* The row of a loop or a transfer; threads take turns, so it is found by one at a time. */
static struct dsl_tally_row *row_of(struct core *core, const void *part, struct dsl_tally_row made)
{
    struct machine *machine = core->machine;
    struct dsl_tally *tally = machine->run->tally;
    for (int i = 0; i < tally->count; i++)
        if (tally->rows[i].part == part)
            return &tally->rows[i];
    const size_t bytes = (size_t)machine->run->cores * sizeof(int64_t);
    made.part = part;
    made.turns = arena_alloc(machine->arena, bytes);
    made.elements = arena_alloc(machine->arena, bytes);
    ARRAY_ADD(machine->arena, tally->rows, tally->count, tally->capacity, made);
    return &tally->rows[tally->count - 1];
}

void tally_turn(struct core *core, const struct dsl_statement *loop)
{
    if (core->number < 0) /* the host function's own */
        return;
    const char *name = loop->target && loop->target->kind == DSL_NAME ? loop->target->name : "";
    row_of(core, loop, (struct dsl_tally_row){.place = loop->place, .name = name})->turns[core->number]++;
}

void tally_launch(struct core *host)
{
    struct dsl_tally *tally = host->machine->run->tally;
    const struct dsl_scope *names = host->names;
    tally->names = arena_alloc(host->machine->arena, (size_t)(names->count + 1) * sizeof *tally->names);
    tally->values = arena_alloc(host->machine->arena, (size_t)(names->count + 1) * sizeof *tally->values);
    tally->phases = 1;
    for (int i = 0; i < names->count; i++) {
        const struct value *value = &host->variables[i];
        if (value->type != DSL_TYPE_INT || value->unknown)
            continue;
        tally->names[tally->value_count] = names->items[i];
        tally->values[tally->value_count++] = value->integer;
    }
}

bool tally_decides(struct core *core, struct dsl_place place, const struct value *value)
{
    return !value->unknown || CORE_FAIL(core, place, DSL_RULE_undefined, NULL,
                                        "what is done depends on values that are computed or loaded");
}

/* The elements that a mask leaves of the first `count`. */
static int64_t left_by(const struct value *mask, int64_t count)
{
    int64_t left = 0;
    for (int64_t i = 0; i < count && i < mask->length; i++)
        left += mask->mask[i] != 0;
    return left;
}

/* How many elements a load or a store moves. */
static bool elements_of_call(struct core *core, const struct dsl_expr *call, const struct value *address,
                             int64_t *elements)
{
    struct value rows, cols, count, mask, buffer;
    if (call_argument(call, "rows")) {
        if (!call_value(core, call, "rows", &rows) || !call_value(core, call, "cols", &cols) ||
            !tally_decides(core, call->place, &rows) || !tally_decides(core, call->place, &cols))
            return false;
        *elements = rows.integer * cols.integer;
        return true;
    }
    bool load = call_argument(call, "dst") != NULL;
    if (!call_value(core, call, load ? "dst" : "src", &buffer) || !call_value(core, call, "count", &count) ||
        !call_value(core, call, "mask", &mask) || !tally_decides(core, call->place, &count) ||
        !tally_decides(core, call->place, &mask))
        return false;
    *elements = count.type != DSL_TYPE_NONE         ? count.integer
                : address->type == DSL_TYPE_ADDRESS ? address->length
                                                    : buffer.length;
    if (mask.type == DSL_TYPE_MASK)
        *elements = left_by(&mask, *elements);
    return true;
}

static bool transfer(struct core *core, const struct dsl_expr *call)
{
    struct value address;
    int64_t elements;
    if (!call_memory(core, call, "address", &address) || !elements_of_call(core, call, &address, &elements))
        return false;
    const struct dsl_memory *memory = address.memory;
    struct dsl_tally_row *row = row_of(
        core, call,
        (struct dsl_tally_row){
            .place = call->place, .name = call->operation->name, .tensor = memory->name, .type = memory->tensor.type});
    row->turns[core->number]++;
    row->elements[core->number] += elements;
    return true;
}

bool tally_call(struct core *core, const struct dsl_expr *call, struct value *result, bool *good)
{
    const char *name = call->operation->name;
    const bool number = strcmp(name, "extract_scalar") == 0, compress = strcmp(name, "compress") == 0;
    *good = true;
    if (number || compress) {
        *result = compress ? value_of_integer(1) : value_of_real(core, 1);
        result->unknown = true;
    } else if (call->operation->place == DSL_PLACE_COPYIN || call->operation->place == DSL_PLACE_COPYOUT) {
        struct arena kept = core->arena; /* masks are needed for as long as they are counted */
        core->arena = (struct arena){0};
        *good = transfer(core, call);
        arena_free(&core->arena);
        core->arena = kept;
    } else if (call->operation->place != DSL_PLACE_COMPUTE) {
        core->machine->run->tally->phases += core->number == 0 && strcmp(name, "sync_all") == 0;
        return false;
    }
    return true;
}
