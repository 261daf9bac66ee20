/* What a program does on sizes that nothing divides.
 *
 * A program without a task does not say how large its outputs are. But where its cores and tiles divide the sizes it shows it:
 * of the shapes that an output may have beside the first input (the same, one element, one per row, per column or of the second axis) one is
 * stored whole, and nothing else. A trial is a run of the interpreter on zeros; sizes come from the program's own numbers, the
 * small ones for what is shared among cores, the large ones for tiles. */
#include "dsl/sizes.h"
#include "dsl/check.h"
#include "dsl/interpret.h"
#include "dsl/usage.h"

#include <string.h>

enum { PARAMETERS_MAX = 24, RANK_MAX = 6, OUTPUTS_MAX = 3, CORES_EVEN = 4, CORES_ODD = 3 };
enum { SMALL_MAX = 64, SMALL_SIZE_MAX = 960, LARGE_SIZE_MAX = 1 << 16, ELEMENTS_MAX = 1 << 20, TURNS_MAX = 1 << 20 };
/* Elements that operations write: in a trial, and in all of them, then no other begins. The same of turns. */
enum { WRITTEN_MAX = 1 << 22, ALL_WRITTEN_MAX = 1 << 24, ALL_TURNS_MAX = 1 << 21 };

/* What an output's shape is beside the first input's. */
enum relation { RELATION_SAME, RELATION_ONE, RELATION_ROWS, RELATION_COLUMNS, RELATION_SECOND, RELATIONS };

struct parameter {
    struct dsl_usage usage;
    int rank; /* that its uses show; 0: none do */
};

struct trials {
    struct arena *arena;
    const struct dsl_program *program;
    const struct npu_soc *soc;
    struct parameter parameters[PARAMETERS_MAX];
    int count, main; /* main: the parameter whose shape the others follow */
    bool square;     /* another's sizes are asked for, too: how they belong together, as of a product, is not known */
    int outputs[OUTPUTS_MAX], output_count;
    int64_t small, large, written, turns;
    struct dsl_divisions even;        /* that had a remainder where everything went well */
    const struct dsl_message *always; /* what stopped every trial that was not refused; NULL: not one thing did */
    int stopped;                      /* how many it were */
};

struct trial {
    int64_t dims[RANK_MAX];
    int rank, cores;
    enum relation relations[OUTPUTS_MAX];
    struct dsl_divisions divisions;
    struct dsl_messages messages;
};

static void note_rank(struct trials *trials, const struct dsl_expr *tensor, bool kernel, int rank)
{
    int index = tensor->kind == DSL_NAME ? dsl_usage_parameter(trials->program, tensor->name, kernel) : -1;
    if (index >= 0 && index < trials->count && rank > trials->parameters[index].rank)
        trials->parameters[index].rank = rank;
}

/* x.shape[1], x.size(-1), x.numel(). */
static void note_shape(struct trials *trials, const struct dsl_expr *expr, bool kernel)
{
    const struct dsl_expr *of = expr->kind == DSL_INDEX || expr->kind == DSL_CALL ? expr->items[0] : NULL, *at = NULL;
    if (!of || of->kind != DSL_ATTRIBUTE)
        return;
    if (expr->kind == DSL_INDEX && strcmp(of->name, "shape") == 0)
        at = expr->items[1];
    if (expr->kind == DSL_CALL && strcmp(of->name, "size") == 0 && expr->count > 1)
        at = expr->items[1];
    if (expr->kind == DSL_CALL && strcmp(of->name, "numel") == 0)
        note_rank(trials, of->items[0], kernel, 1);
    int64_t axis = !at ? 0 : at->kind == DSL_UNARY ? at->items[0]->integer : at->integer + 1;
    if (at) /* who asks for an axis has a matrix at least */
        note_rank(trials, of->items[0], kernel, axis < 2 ? 2 : axis < RANK_MAX ? (int)axis : RANK_MAX);
}

static int64_t multiple_of(int64_t a, int64_t b, int64_t most)
{
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b > most ? a > b ? a : b : a / x * b;
}

/* False: what the program does depends on integers that tensors hold. */
static bool survey_expr(struct trials *trials, const struct dsl_expr *expr, bool kernel)
{
    bool good = true;
    if (!expr)
        return true;
    if (expr->kind == DSL_INT && expr->integer > 1 && expr->integer <= SMALL_MAX)
        trials->small = multiple_of(trials->small, expr->integer, SMALL_SIZE_MAX);
    if (expr->kind == DSL_INT && expr->integer > SMALL_MAX && expr->integer <= LARGE_SIZE_MAX)
        trials->large = multiple_of(trials->large, expr->integer, LARGE_SIZE_MAX);
    note_shape(trials, expr, kernel);
    if (expr->kind == DSL_CALL && expr->operation) {
        const char *name = expr->operation->name;
        if (strcmp(name, "compress") == 0)
            good = false;
        if (strcmp(name, "extract_scalar") == 0) {
            const struct dsl_expr *from = call_argument(expr, "from");
            enum akgen_dtype type =
                from->kind == DSL_NAME ? dsl_usage_buffer_type(trials->program, from->name) : AKGEN_DTYPE_NONE;
            good = type != AKGEN_DTYPE_NONE && task_is_float(type);
        }
    }
    for (int i = 0; i < expr->count && good; i++)
        good = survey_expr(trials, expr->items[i], kernel);
    return good;
}

static bool survey_block(struct trials *trials, const struct dsl_block *block, bool kernel)
{
    bool good = true;
    for (int i = 0; i < block->count && good; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *value = statement->value;
        bool parts = statement->kind == DSL_ASSIGN && statement->target->kind == DSL_TUPLE;
        if (parts && value->kind == DSL_ATTRIBUTE && strcmp(value->name, "shape") == 0)
            note_rank(trials, value->items[0], kernel, statement->target->count);
        good = survey_expr(trials, value, kernel) && survey_block(trials, &statement->body, kernel) &&
               survey_block(trials, &statement->orelse, kernel);
    }
    return good;
}

/* What the program's text says of its parameters; false: no trial says anything of it. */
static bool survey(struct trials *trials)
{
    const struct dsl_program *program = trials->program;
    const struct dsl_function *host = program->host->function;
    const struct dsl_usage *usages = dsl_usage_of(trials->arena, program);
    trials->count = host->count;
    trials->small = trials->large = 1;
    trials->main = -1;
    if (host->count > PARAMETERS_MAX)
        return false;
    for (int i = 0; i < host->count; i++) {
        const struct dsl_expr *value = host->parameters[i].value;
        struct parameter *parameter = &trials->parameters[i];
        parameter->usage = usages[i];
        if (parameter->usage.type != DSL_TYPE_TENSOR && !type_is_number(parameter->usage.type) && !value)
            return false;
        survey_expr(trials, value, false);
    }
    for (int i = 0; i < program->tree->body.count; i++)
        survey_expr(trials, program->tree->body.items[i]->value, false);
    if (!survey_block(trials, &program->host->body, false) || !survey_block(trials, &program->kernel->body, true))
        return false;
    for (int i = 0; i < trials->count; i++) {
        struct parameter *parameter = &trials->parameters[i];
        if (parameter->usage.type != DSL_TYPE_TENSOR || parameter->usage.missing)
            continue;
        if (parameter->usage.stored && !parameter->usage.written) /* its size does not show */
            return false;
        if (parameter->usage.stored && !parameter->usage.loaded) {
            if (trials->output_count == OUTPUTS_MAX)
                return false;
            trials->outputs[trials->output_count++] = i;
        }
        if (!parameter->usage.stored && (trials->main < 0 || parameter->rank > trials->parameters[trials->main].rank))
            trials->main = i;
    }
    for (int i = 0; i < trials->count; i++)
        trials->square |= i != trials->main && !trials->parameters[i].usage.stored && trials->parameters[i].rank > 1;
    return trials->main >= 0 && trials->output_count;
}

static void set_dims(struct trial *trial, int64_t first, int64_t last)
{
    enum { MIDDLE = 2 };
    for (int i = 0; i < trial->rank; i++)
        trial->dims[i] = i == trial->rank - 1 ? last : i == 0 ? first : MIDDLE;
}

static void add_dim(struct task_tensor *tensor, int64_t size)
{
    tensor->dims[tensor->rank++] = size;
    tensor->elements *= size;
}

/* The shape of parameter number `index`. */
static struct task_tensor shape_of(const struct trials *trials, const struct trial *trial, int index)
{
    const struct parameter *parameter = &trials->parameters[index];
    struct task_tensor tensor = {
        .type = parameter->usage.dtype == AKGEN_DTYPE_NONE ? AKGEN_FLOAT : parameter->usage.dtype, .elements = 1};
    enum relation relation = RELATION_SAME;
    for (int o = 0; o < trials->output_count; o++)
        relation = trials->outputs[o] == index ? trial->relations[o] : relation;
    bool input = parameter->usage.loaded || !parameter->usage.stored;
    int skipped = input && parameter->rank && parameter->rank < trial->rank ? trial->rank - parameter->rank : 0;
    if (relation == RELATION_ONE)
        add_dim(&tensor, 1);
    if (relation == RELATION_SECOND)
        add_dim(&tensor, trial->rank > 2 ? trial->dims[1] : 1);
    for (int i = skipped; i < trial->rank && relation != RELATION_ONE && relation != RELATION_SECOND; i++)
        if ((relation != RELATION_ROWS || i < trial->rank - 1) && (relation != RELATION_COLUMNS || i > 0))
            add_dim(&tensor, trial->dims[i]);
    while (tensor.rank < parameter->rank)
        add_dim(&tensor, 1);
    return tensor;
}

/* Runs a trial; false: its messages say what went wrong. */
static bool run_trial(struct trials *trials, struct trial *trial)
{
    struct arena arena = {0};
    struct task_tensor *tensors = arena_alloc(&arena, sizeof *tensors * PARAMETERS_MAX);
    struct dsl_argument *arguments = arena_alloc(&arena, sizeof *arguments * PARAMETERS_MAX);
    json_t *one = json_integer(1), *half = json_real(0.5);
    for (int i = 0; i < trials->count; i++) {
        const struct parameter *parameter = &trials->parameters[i];
        bool given = trials->program->host->function->parameters[i].value != NULL;
        if (parameter->usage.type == DSL_TYPE_TENSOR && !parameter->usage.missing) {
            tensors[i] = shape_of(trials, trial, i);
            tensors[i].values =
                arena_alloc(&arena, (size_t)tensors[i].elements * akgen_dtype_size(tensors[i].type) + 1);
            arguments[i] = (struct dsl_argument){.tensors = &tensors[i],
                                                 .given = parameter->usage.loaded || !parameter->usage.stored,
                                                 .stored = parameter->usage.stored};
        } else if (!given) {
            arguments[i].value =
                parameter->usage.type == DSL_TYPE_REAL || parameter->usage.type == DSL_TYPE_NUMBER ? half : one;
        }
    }
    trial->divisions.count = 0;
    trial->messages = (struct dsl_messages){.arena = trials->arena};
    struct dsl_run run = {.soc = trials->soc,
                          .vector_cores = trial->cores,
                          .cube_cores = trial->cores,
                          .ub_bytes = trials->soc->ub_tiling_bytes,
                          .l1_bytes = trials->soc->l1_bytes,
                          .l0c_bytes = trials->soc->l0c_bytes,
                          .turns_max = TURNS_MAX,
                          .written_max = WRITTEN_MAX,
                          .arguments = arguments,
                          .divisions = &trial->divisions};
    bool good = dsl_interpret(&arena, trials->program, &run, &trial->messages);
    trials->written += run.written;
    trials->turns += run.turns;
    json_decref(one);
    json_decref(half);
    arena_free(&arena);
    return good;
}

/* Whether it is not too much for a trial. */
static bool can_try(const struct trials *trials, const struct trial *trial)
{
    int64_t elements = 1;
    for (int i = 0; i < trial->rank; i++)
        elements *= trial->dims[i];
    return elements <= ELEMENTS_MAX && trials->written < ALL_WRITTEN_MAX && trials->turns < ALL_TURNS_MAX;
}

static void add_even(struct trials *trials, const struct trial *trial)
{
    for (int i = 0; i < trial->divisions.count; i++)
        dsl_divisions_add(&trials->even, trial->divisions.items[i]);
}

/* A trial went wrong where no outputs were known to be right yet. */
static void note_stop(struct trials *trials, const struct trial *trial)
{
    const struct dsl_message *message = &trial->messages.items[0], *always = trials->always;
    if (message->rule == DSL_RULE_refused || message->rule == DSL_RULE_launch)
        return;
    bool same = always && always->rule == message->rule && always->place.line == message->place.line;
    if (trials->stopped++ == 0)
        trials->always = arena_copy(trials->arena, message, sizeof *message);
    else if (!same)
        trials->always = NULL;
}

/* Whether the outputs are these, by sizes that everything divides and twice as many rows; if not, the trial has the message. */
static bool confirm(struct trials *trials, struct trial *trial)
{
    if (!run_trial(trials, trial)) {
        note_stop(trials, trial);
        return false;
    }
    struct trial twice = *trial;
    twice.dims[0] *= 2;
    twice.dims[trial->rank - 1] *= trials->square && trial->rank > 1 ? 2 : 1;
    if (!run_trial(trials, &twice)) {
        trial->messages = twice.messages;
        return false;
    }
    add_even(trials, trial);
    add_even(trials, &twice);
    return true;
}

/* The output that a message is about; the first one if it names none. */
static int output_named(const struct trials *trials, const struct trial *trial)
{
    const struct dsl_function *host = trials->program->host->function;
    for (int o = 0; o < trials->output_count; o++)
        if (strstr(trial->messages.items->text,
                   arena_printf(trials->arena, "'%s'", host->parameters[trials->outputs[o]].name)))
            return o;
    return 0;
}

/* Sizes and relations for which the program does all that it should; false: none were found. */
static bool find_shapes(struct trials *trials, struct trial *trial)
{
    int64_t small = trials->small > 1 ? trials->small : CORES_EVEN, large = trials->large > 1 ? trials->large : 64;
    const int64_t pairs[][2] = {
        {CORES_EVEN, 64}, {small, 64}, {small, large}, {large, large}, {CORES_EVEN, small * large}};
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        set_dims(trial, trials->square ? pairs[p][1] : pairs[p][0], pairs[p][1]);
        if (trial->rank == 1)
            trial->dims[0] = pairs[p][0] * pairs[p][1];
        memset(trial->relations, 0, sizeof trial->relations);
        for (int o = 0; trial->relations[o] < RELATIONS && can_try(trials, trial);) {
            if (confirm(trials, trial))
                return true;
            o = output_named(trials, trial);
            trial->relations[o]++;
        }
    }
    return false;
}

static bool is_in(const struct dsl_divisions *divisions, const struct dsl_expr *division)
{
    bool found = false;
    for (int i = 0; i < divisions->count && !found; i++)
        found = divisions->items[i] == division;
    return found;
}

/* Whether a buffer of the kernel has this size: it is a tile. */
static bool is_tile(const struct dsl_program *program, const char *name)
{
    const struct dsl_block *kernel = &program->kernel->body;
    for (int i = 0; i < kernel->count; i++) {
        const struct dsl_expr *call = kernel->items[i]->kind == DSL_ASSIGN ? kernel->items[i]->value : NULL;
        const struct dsl_expr *size =
            call && call->operation && call->operation->result == DSL_TYPE_BUFFER ? call_argument(call, "size") : NULL;
        if (size && expr_is(size, "", name))
            return true;
    }
    return false;
}

/* The first division by the number of cores or by a tile's size that has a remainder now and had none where everything went
 * well. What else is divided is the operator's: groups of channels, halves of a row. */
static const struct dsl_expr *culprit(const struct trials *trials, const struct trial *trial)
{
    const struct dsl_program *program = trials->program;
    const struct dsl_expr *cores = program->launch->items[0]->items[1];
    for (int i = 0; i < trial->divisions.count; i++) {
        const struct dsl_expr *division = trial->divisions.items[i], *by = division->items[1];
        bool share =
            by->kind == cores->kind && (by->kind == DSL_NAME ? strcmp(by->name, cores->name) == 0
                                                             : by->kind == DSL_INT && by->integer == cores->integer);
        bool piece = by->kind == DSL_NAME && is_tile(program, by->name);
        if ((share || piece) && !is_in(&trials->even, division))
            return division;
    }
    return NULL;
}

static const char *shape_text(const struct trials *trials, const struct trial *trial)
{
    struct text shape = {0};
    text_addf(&shape, "where '%s' has the shape (", trials->program->host->function->parameters[trials->main].name);
    for (int i = 0; i < trial->rank; i++)
        text_addf(&shape, "%s%lld", i ? ", " : "", (long long)trial->dims[i]);
    const char *copy = arena_printf(trials->arena, "%s)", shape.bytes);
    text_free(&shape);
    return copy;
}

/* What goes wrong whatever the sizes and the outputs are. */
static void tell_always(const struct trials *trials, struct dsl_messages *messages)
{
    const struct dsl_message *always = trials->always;
    if (always && trials->stopped > 1 &&
        (always->rule == DSL_RULE_shared || always->rule == DSL_RULE_undefined || always->rule == DSL_RULE_fits ||
         always->rule == DSL_RULE_alignment))
        dsl_complain(messages, always->place, always->rule, always->remedy, "%s", always->text);
}

/* What stopped a trial on sizes near those that went well: true if it was told as the program's mistake. Of what is not stored,
 * that a division drops it. */
static bool tell_fault(const struct trials *trials, const struct trial *trial, struct dsl_messages *messages)
{
    const struct dsl_message *message = trial->messages.items;
    enum dsl_rule rule = message->rule;
    const struct dsl_expr *division = rule == DSL_RULE_coverage ? culprit(trials, trial) : NULL;
    if (!division && rule != DSL_RULE_bounds && rule != DSL_RULE_undefined && rule != DSL_RULE_shared &&
        rule != DSL_RULE_alignment)
        return false;
    dsl_complain(messages, division ? division->place : message->place, rule,
                 division
                     ? "'//' drops the remainder: tl.cdiv(a, b) rounds up, and the last part is cut by min(.., total)"
                     : arena_printf(trials->arena, "%s%sif the operator has no such shapes, refuse them by an assert",
                                    message->remedy ? message->remedy : "", message->remedy ? "; " : ""),
                 "%s: %s", shape_text(trials, trial), message->text);
    return true;
}

/* Rows that are longer than tiles: right or refused, or there is a warning. True: they come in pieces, and are tried further. */
static bool try_long_rows(struct trials *trials, const struct trial *even, struct dsl_messages *messages)
{
    struct trial trial = *even;
    trial.dims[trial.rank - 1] = 2 * trials->large;
    if (even->dims[0] == even->dims[trial.rank - 1] || !can_try(trials, &trial))
        return false;
    if (run_trial(trials, &trial))
        return true;
    const struct dsl_message *message = trial.messages.items;
    if (message->rule == DSL_RULE_bounds || message->rule == DSL_RULE_fits)
        dsl_warn(messages, message->place, message->rule,
                 "if the operator has such shapes, cut them into tiles; otherwise refuse them by an assert of the host "
                 "function",
                 "%s: %s", shape_text(trials, &trial), message->text);
    return false;
}

static void try_empty(struct trials *trials, const struct trial *even, struct dsl_messages *messages)
{
    struct trial trial = *even;
    trial.dims[0] = 0;
    if (run_trial(trials, &trial))
        return;
    const struct dsl_message *message = trial.messages.items;
    if (message->rule == DSL_RULE_arithmetic || message->rule == DSL_RULE_launch)
        dsl_warn(messages, message->place, message->rule,
                 "if the operator's tensors may be empty, return before: if x.numel() == 0", "%s: %s",
                 shape_text(trials, &trial), message->text);
}

void dsl_try_sizes(struct arena *arena, const struct dsl_program *program, const struct npu_soc *soc,
                   struct dsl_messages *messages)
{
    struct trials trials = {.arena = arena, .program = program, .soc = soc};
    struct trial even = {.cores = CORES_EVEN};
    if (!survey(&trials))
        return;
    even.rank = trials.parameters[trials.main].rank;
    even.rank = even.rank ? even.rank : 1;
    if (!find_shapes(&trials, &even)) {
        tell_always(&trials, messages);
        return;
    }
    const int64_t first = even.dims[0], last = even.dims[even.rank - 1];
    const int64_t longer = even.rank > 1 && try_long_rows(&trials, &even, messages) ? 2 * trials.large : last;
    const int64_t odd[][2] = {{first + 1, last}, {first, last + 1}, {first - 1, last - 1}, {first, last - 1},
                              {9, 11},           {19, 7},           {5, longer + 1},       {first, longer + 1}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct trial trial = even;
        trial.cores = CORES_ODD;
        set_dims(&trial, odd[i][0], first == last ? odd[i][0] : odd[i][1]); /* square ones stay square */
        if (can_try(&trials, &trial) && !run_trial(&trials, &trial) && tell_fault(&trials, &trial, messages))
            return;
    }
    try_empty(&trials, &even, messages);
}
