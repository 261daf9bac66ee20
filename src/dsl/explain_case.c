/* What a program does in a case, in numbers: counted by the interpreter in a run that computes nothing (tally.c). */
#include "dsl/check.h"
#include "dsl/explain.h"

#include <inttypes.h>
#include <string.h>

/* How a count is spread over the cores. */
struct spread {
    int64_t all, least, most;
    int cores; /* that have any */
};

static struct spread spread_of(const int64_t *counts, int cores)
{
    struct spread spread = {.least = INT64_MAX};
    for (int c = 0; c < cores; c++) {
        spread.all += counts[c];
        spread.least = counts[c] < spread.least ? counts[c] : spread.least;
        spread.most = counts[c] > spread.most ? counts[c] : spread.most;
        spread.cores += counts[c] > 0;
    }
    return spread;
}

/* The combination of data types of the OpDef that the case is of; -1: none is. */
static int combination_of(const struct dsl_opdef *opdef, const struct task_instance *instance)
{
    for (int c = 0; c < opdef->combinations; c++) {
        bool fits = true;
        for (int i = 0; fits && i < opdef->input_count; i++)
            fits = !instance->inputs[i].count || instance->inputs[i].tensors->type == opdef->inputs[i].types[c];
        for (int o = 0; fits && o < opdef->output_count; o++)
            fits = !instance->outputs[o].count || instance->outputs[o].tensors->type == opdef->outputs[o].types[c];
        if (fits)
            return c;
    }
    return -1;
}

/* The budget of UB in the case's data types, which the statements on the project have. */
static void explain_room(const struct dsl_explanation *project, int combination, struct dsl_explanation *explanation)
{
    for (int i = 0; combination >= 0 && i < project->count; i++) {
        const struct dsl_reason *reason = &project->items[i];
        if (strcmp(reason->kind, "total") != 0)
            continue;
        json_t *bytes = json_array_get(json_object_get(reason->facts, "bytes"), (size_t)combination);
        const char *memory = json_string_value(json_object_get(reason->facts, "memory"));
        if (json_is_integer(bytes))
            dsl_explain_add(explanation, DSL_ABOUT_BUDGET, "used", (struct dsl_place){.line = reason->line},
                            json_pack("{s:s, s:O, s:i}", "memory", memory, "bytes", bytes, "combination", combination),
                            "%" JSON_INTEGER_FORMAT " bytes of %s are used.", json_integer_value(bytes), memory);
    }
}

static void explain_launch(const struct dsl_program *program, const struct dsl_tally *tally, int cores,
                           struct dsl_explanation *explanation)
{
    const char *text = "";
    json_t *values = json_object();
    for (int i = 0; i < tally->value_count; i++) {
        json_object_set_new(values, tally->names[i]->name, json_integer(tally->values[i]));
        text = arena_printf(explanation->arena, "%s%s`%s` is %" PRId64, text, i ? ", " : ": ", tally->names[i]->name,
                            tally->values[i]);
    }
    json_t *facts = json_pack("{s:i, s:o, s:i}", "cores", cores, "values", values, "phases", tally->phases);
    const char *phases =
        tally->phases > 1 ? arena_printf(explanation->arena, " They go through %d phases.", tally->phases) : "";
    if (cores)
        dsl_explain_add(explanation, DSL_ABOUT_PARTITION, "run", program->launch->place, facts, "%d core%s run%s%s.%s",
                        cores, cores > 1 ? "s" : "", cores > 1 ? "" : "s", text, phases);
    else
        dsl_explain_add(explanation, DSL_ABOUT_PARTITION, "run", program->launch->place, facts,
                        "The kernel is not launched.");
}

static const char *each_text(struct arena *arena, const struct spread *spread)
{
    return spread->least == spread->most ? arena_printf(arena, "%" PRId64 " on each core", spread->most)
           : spread->least
               ? arena_printf(arena, "%" PRId64 " to %" PRId64 " on a core", spread->least, spread->most)
               : arena_printf(arena, "at most %" PRId64 " on a core, any on %d", spread->most, spread->cores);
}

/* The tensor of an address, by its name in the kernel; NULL: a variable stands for the place. */
static const char *name_in(const struct dsl_expr *address)
{
    if (address->type == DSL_TYPE_TENSOR)
        return address->kind == DSL_NAME ? address->name : name_in(address->items[0]);
    if (address->kind == DSL_NAME)
        return address->type == DSL_TYPE_TENSORS ? address->name : NULL;
    const char *name = NULL;
    for (int i = 0; address->kind == DSL_BINARY && !name && i < address->count; i++)
        name = name_in(address->items[i]);
    return name;
}

static const char *tensor_name(struct arena *arena, const struct dsl_tally_row *row)
{
    const char *name = name_in(call_argument(row->part, "address"));
    return name ? name : arena_strndup(arena, row->tensor, strcspn(row->tensor, "[")); /* of a list, all of it */
}

static void explain_row(const struct dsl_tally_row *row, int cores, struct dsl_explanation *explanation)
{
    struct arena *arena = explanation->arena;
    const struct spread turns = spread_of(row->turns, cores), elements = spread_of(row->elements, cores);
    const struct spread *of = row->tensor ? &elements : &turns;
    json_t *facts = json_pack("{s:s, s:I, s:I, s:I, s:i}", row->tensor ? "operation" : "loop", row->name, "all",
                              (json_int_t)of->all, "least", (json_int_t)of->least, "most", (json_int_t)of->most,
                              "cores", of->cores);
    if (!row->tensor) {
        dsl_explain_add(explanation, DSL_ABOUT_TILING, "turns", row->place, facts,
                        "The loop%s%s%s has %" PRId64 " turns, %s.", *row->name ? " over `" : "", row->name,
                        *row->name ? "`" : "", turns.all, each_text(arena, &turns));
        return;
    }
    const char *tensor = tensor_name(arena, row);
    const int64_t bytes = elements.all * (int64_t)akgen_dtype_size(row->type);
    json_object_set_new(facts, "tensor", json_string(tensor));
    json_object_set_new(facts, "transfers", json_integer(turns.all));
    json_object_set_new(facts, "bytes", json_integer(bytes));
    dsl_explain_add(explanation, DSL_ABOUT_TILING, "moved", row->place, facts,
                    "The %s of `%s` moves %" PRId64 " elements, %" PRId64 " bytes, in %" PRId64 " transfer%s; %s.",
                    row->name, tensor, elements.all, bytes, turns.all, turns.all == 1 ? "" : "s",
                    each_text(arena, &elements));
}

void dsl_explain_case(const struct dsl_program *program, const struct dsl_binding *bindings,
                      const struct dsl_opdef *opdef, const struct task_instance *instance, const struct npu_soc *soc,
                      const struct dsl_explanation *project, struct dsl_explanation *explanation)
{
    struct dsl_tally tally = {0};
    struct dsl_messages messages = {.arena = explanation->arena};
    int cores = 0;
    const bool done = dsl_tally_case(explanation->arena, program, bindings, instance, soc, &tally, &cores, &messages);
    explain_launch(program, &tally, cores, explanation);
    for (int i = 0; done && i < tally.count; i++)
        explain_row(&tally.rows[i], cores, explanation);
    if (!done)
        dsl_explain_add(
            explanation, DSL_ABOUT_PARTITION, "open", messages.items->place,
            json_pack("{s:s, s:s}", "rule", dsl_rule_name(messages.items->rule), "text", messages.items->text),
            "Turns and transfers are not counted: %s.", messages.items->text);
    if (cores)
        explain_room(project, combination_of(opdef, instance), explanation);
}
