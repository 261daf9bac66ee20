/* The knobs of a program in AscendDSL: places in its tree where one value may stand for another. They are found in the same order
 * each time the text is parsed, so a number of a knob is one of a place. */
#include "gen/tune_internal.h"

#include "base/array.h"
#include "dsl/check.h"
#include "dsl/dsl.h"
#include "dsl/edit.h"

#include <inttypes.h>
#include <string.h>

/* A place of a program. */
struct site {
    struct gen_knob knob;
    struct dsl_expr **number;            /* where the value stands; NULL: nowhere yet */
    struct dsl_expr **around;            /* GEN_KNOB_CORES: what gets a bound */
    struct dsl_expr *call;               /* GEN_KNOB_DEPTH: the allocation */
    struct dsl_statement *outer, *inner; /* GEN_KNOB_LOOPS */
};
struct sites {
    struct arena *arena;
    const struct dsl_program *program;
    const struct npu_soc *soc;
    struct site *items;
    int count, capacity;
};

static void add(struct sites *sites, struct site site)
{
    ARRAY_ADD(sites->arena, sites->items, sites->count, sites->capacity, site);
}

/* ---- Constants: the host function's parameters that are annotated tl.constexpr and have a whole number as their default */

/* ---- Cores: a bound of its own in what the launch says, and how little a core is started for */

/* The last assignment of the name in the block; NULL: there is none. */
static struct dsl_statement *last_assignment(const struct dsl_block *block, const char *name)
{
    struct dsl_statement *last = NULL;
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        struct dsl_statement *below[] = {last_assignment(&statement->body, name),
                                         last_assignment(&statement->orelse, name)};
        if (statement->kind == DSL_ASSIGN && statement->op == DSL_NO_OPERATOR && statement->target->kind == DSL_NAME &&
            same_name(statement->target->name, name))
            last = statement;
        last = below[1] ? below[1] : below[0] ? below[0] : last;
    }
    return last;
}

static bool is_smaller_of(const struct dsl_expr *expr)
{
    return expr->kind == DSL_CALL && expr->items[0]->kind == DSL_NAME && same_name(expr->items[0]->name, "min");
}

/* A number alone that the launch says, or the bound in what it says: eighths of the chip's cores. */
static void add_bound(struct sites *sites, struct dsl_expr **around)
{
    static const int eighths[] = {7, 6, 5, 4, 2};
    enum { CHOICES = sizeof eighths / sizeof *eighths };
    const struct dsl_expr *expr = *around;
    const char *text = dsl_expr_text(sites->arena, expr);
    const bool cube = strstr(text, "num_cube_cores") && !strstr(text, "num_vec_cores");
    const int all = cube ? sites->soc->aic : sites->soc->aiv;
    const bool alone = expr->kind == DSL_INT;
    int64_t *choices = arena_alloc(sites->arena, (CHOICES + 1) * sizeof *choices);
    struct site site = {
        .knob = {"cores", GEN_KNOB_CORES, 0, choices, CHOICES + 1}, .around = around, .number = alone ? around : NULL};
    choices[0] = alone ? all : 0;
    for (int i = 0; i < CHOICES; i++)
        choices[i + 1] = (int64_t)all * eighths[i] / 8;
    for (int i = 1; is_smaller_of(expr) && i < expr->count; i++)
        if (expr->items[i]->kind == DSL_INT)
            site.number = &(*around)->items[i];
    site.knob.value = site.number ? (*site.number)->integer : 0;
    add(sites, site);
}

/* The numbers of tl.cdiv(total, 512) in it, from half to 128 times: what a core's launch takes, it could move some KiB in. */
static void add_shares(struct sites *sites, struct dsl_expr *expr)
{
    static const double times[] = {1, 0.5, 2, 4, 8, 16, 32, 64, 128};
    enum { CHOICES = sizeof times / sizeof *times };
    if (expr->kind == DSL_CALL && expr->operation && same_name(expr->operation->name, "cdiv") && expr->count == 3 &&
        expr->items[2]->kind == DSL_INT && expr->items[2]->integer >= 4) {
        int64_t *choices = arena_alloc(sites->arena, CHOICES * sizeof *choices);
        for (int i = 0; i < CHOICES; i++)
            choices[i] = (int64_t)(times[i] * (double)expr->items[2]->integer);
        const char *name = arena_printf(sites->arena, "%s of a core", dsl_expr_text(sites->arena, expr->items[1]));
        add(sites, (struct site){.knob = {name, GEN_KNOB_CORES, expr->items[2]->integer, choices, CHOICES},
                                 .number = &expr->items[2]});
    }
    for (int i = 0; i < expr->count; i++)
        if (expr->items[i])
            add_shares(sites, expr->items[i]);
}

static void find_cores(struct sites *sites)
{
    struct dsl_expr *launch = sites->program->launch->items[0];
    struct dsl_expr **cores = &launch->items[1];
    if ((*cores)->kind == DSL_NAME) {
        struct dsl_statement *assigned = last_assignment(&sites->program->host->body, (*cores)->name);
        if (!assigned)
            return;
        cores = &assigned->value;
    }
    add_shares(sites, *cores);
    add_bound(sites, cores);
}

/* ---- Depths of the queues: of buffers that a load or a store names */

static bool is_copied(const struct dsl_block *block, const char *buffer)
{
    bool found = false;
    for (int i = 0; !found && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const int stage = statement_stage(statement);
        found = stage == DSL_PLACE_COPYIN || stage == DSL_PLACE_COPYOUT
                    ? statement_mentions(statement, buffer)
                    : is_copied(&statement->body, buffer) || is_copied(&statement->orelse, buffer);
    }
    return found;
}

static void find_depths(struct sites *sites)
{
    static const int64_t choices[] = {0, 1, 2, 3, 4};
    const struct dsl_block *kernel = &sites->program->kernel->body;
    for (int i = 0; i < kernel->count; i++) {
        struct dsl_statement *statement = kernel->items[i];
        if (!statement_calls(statement, "alloc_ub") && !statement_calls(statement, "alloc_l1"))
            continue;
        const char *name = statement->target->name;
        struct site site = {.knob = {arena_printf(sites->arena, "depth of %s", name), GEN_KNOB_DEPTH, 0, choices,
                                     sizeof choices / sizeof *choices},
                            .call = statement->value};
        const struct dsl_expr *depth = call_argument(site.call, "depth");
        for (int a = 1; depth && a < site.call->count; a++)
            if (site.call->items[a] == depth)
                site.number = &site.call->items[a];
            else if (site.call->items[a]->kind == DSL_NAMED && site.call->items[a]->items[0] == depth)
                site.number = &site.call->items[a]->items[0];
        site.knob.value = site.number ? (*site.number)->integer : 0;
        if (is_copied(kernel, name))
            add(sites, site);
    }
}

/* ---- Loops of which one is all that the other holds, and neither counts by the other */

static void find_loops(struct sites *sites, const struct dsl_block *block)
{
    static const int64_t choices[] = {0, 1};
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *outer = block->items[i];
        struct dsl_statement *inner = outer->body.count == 1 ? outer->body.items[0] : NULL;
        if (outer->kind == DSL_FOR && inner && inner->kind == DSL_FOR && outer->target->kind == DSL_NAME &&
            inner->target->kind == DSL_NAME && !tree_mentions(inner->value, outer->target->name))
            add(sites, (struct site){.knob = {arena_printf(sites->arena, "loops %s, %s", outer->target->name,
                                                           inner->target->name),
                                              GEN_KNOB_LOOPS, 0, choices, 2},
                                     .outer = outer,
                                     .inner = inner});
        find_loops(sites, &outer->body);
        find_loops(sites, &outer->orelse);
    }
}

/* ---- Finding and turning */

/* NULL: the messages say what is wrong. */
static const struct dsl_tree *find_sites(const struct candidate_program *program, struct dsl_messages *messages,
                                         struct sites *sites)
{
    struct arena *arena = sites->arena;
    const char *path = program->path ? program->path : "program.py";
    const struct dsl_tree *tree =
        dsl_parse(arena, path, arena_copy(arena, program->text, program->length + 1), program->length, messages);
    sites->program = tree ? dsl_check(arena, tree, messages) : NULL;
    if (!sites->program || messages->count)
        return NULL;
    struct dsl_function *host = sites->program->host->function;
    for (int i = 0; i < host->count; i++) {
        struct dsl_parameter *parameter = &host->parameters[i];
        const struct dsl_symbol *symbol = dsl_scope_find(&sites->program->host_names, parameter->name);
        if (symbol && symbol->constexpr && parameter->value && parameter->value->kind == DSL_INT &&
            parameter->value->integer > 0)
            add(sites, (struct site){.knob = {parameter->name, GEN_KNOB_CONSTANT, parameter->value->integer, NULL, 0},
                                     .number = &parameter->value});
    }
    find_depths(sites);
    find_loops(sites, &sites->program->kernel->body);
    find_cores(sites);
    return tree;
}

static void turn(struct arena *arena, struct site *site, int64_t value)
{
    struct edit edit = {.arena = arena};
    if (site->outer) {
        struct dsl_expr *target = site->outer->target, *range = site->outer->value;
        site->outer->target = site->inner->target;
        site->outer->value = site->inner->value;
        site->inner->target = target;
        site->inner->value = range;
    } else if (site->call && !value) {
        edit_take_argument(site->call, "depth");
    } else if (site->call && !site->number) {
        edit_add_named(&edit, site->call, "depth", edit_integer(&edit, value));
    } else if (site->around && !value) {
        struct dsl_expr *call = *site->around;
        const int at = (int)(site->number - call->items);
        memmove(site->number, site->number + 1, (size_t)(call->count - at - 1) * sizeof(struct dsl_expr *));
        if (--call->count == 2)
            *site->around = call->items[1];
    } else if (site->around && !site->number) {
        struct dsl_expr *expr = *site->around;
        struct dsl_expr *number = edit_integer(&edit, value);
        if (is_smaller_of(expr)) {
            struct dsl_expr *call = edit_copy(&edit, expr);
            ARRAY_ADD(edit.arena, call->items, call->count, call->capacity, number);
            *site->around = call;
        } else {
            *site->around = edit_smaller(&edit, expr, number);
        }
    } else {
        *site->number = edit_integer(&edit, value);
    }
}

/* What the compiler says, in a line. */
static const char *first_message(struct arena *arena, const struct dsl_messages *messages)
{
    const struct dsl_message *message = messages->count ? dsl_messages_error(messages) : NULL;
    return message ? arena_printf(arena, "line %d: %s", message->place.line, message->text) : "it does not compile";
}

struct akgen_error *tune_make_program(struct arena *arena, const struct gen_subject *subject,
                                      struct gen_setting *setting, bool *made)
{
    struct dsl_messages messages = {0};
    struct sites sites = {.arena = arena, .soc = subject->soc};
    struct dsl_lowered lowered;
    struct akgen_error *error = NULL;
    const struct dsl_tree *tree = find_sites(&subject->program, &messages, &sites);
    bool turned = false;
    setting->program = subject->program;
    for (int i = 0; tree && i < subject->count; i++)
        if (setting->values[i] != subject->knobs[i].value) {
            turn(arena, &sites.items[i], setting->values[i]);
            turned = true;
        }
    if (turned) {
        setting->program.text = dsl_format(arena, tree);
        setting->program.length = strlen(setting->program.text);
    }
    messages = (struct dsl_messages){0};
    *made = candidate_program_compile(arena, &setting->program, subject->task, &lowered, &messages, &error);
    if (*made && !error)
        candidate_of_program(arena, &lowered, &setting->candidate);
    else if (!error)
        setting->reason = first_message(arena, &messages);
    return error;
}

struct akgen_error *gen_subject_of_program(struct arena *arena, const struct candidate_program *program,
                                           const struct task *task, const struct npu_soc *soc,
                                           struct gen_subject **subject)
{
    struct dsl_messages messages = {0};
    struct sites sites = {.arena = arena, .soc = soc};
    *subject = NULL;
    if (!find_sites(program, &messages, &sites))
        return error_new("%s: the program is not right, %s: 'akgen dsl check' says more",
                         program->path ? program->path : "program.py", first_message(arena, &messages));
    struct gen_subject *found = arena_alloc(arena, sizeof *found);
    *found = (struct gen_subject){.task = task, .soc = soc, .program = *program};
    for (int i = 0; i < sites.count; i++)
        ARRAY_ADD(arena, found->knobs, found->count, found->capacity, sites.items[i].knob);
    *subject = found;
    return found->count ? NULL
                        : error_new("%s: the program has nothing to turn, as tile: tl.constexpr = 4096",
                                    program->path ? program->path : "program.py");
}
