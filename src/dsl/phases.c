/* Phases of a kernel: a core that loads workspace waits until the others have stored it. Where all cores pass a statement that
 * loads what was stored before it, and the program has no tl.sync_all() between, one is put before the statement. The
 * interpreter, which knows of each element who stored it and when, sees whether that was enough. */
#include "dsl/check.h"
#include "dsl/edit.h"

#include <string.h>

enum { WORKSPACES_MAX = 64 };

struct phases {
    struct dsl_program *program;
    struct dsl_messages *messages;
    uint64_t
        *reaches;    /* by number of the kernel's symbol: the workspace, by number of the parameter, that it leads to */
    bool *varies;    /* by number of the symbol: its value may be another on another core */
    bool changed;    /* one of both was found */
    uint64_t stored; /* workspace that was stored since the cores last waited for each other */
    int lines[WORKSPACES_MAX]; /* where */
};

/* Whether the name is of the host function, and is workspace wherever it is assigned. */
static bool is_workspace(const struct dsl_block *block, const char *name, bool *other)
{
    bool made = false;
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        made |= is_workspace(&statement->body, name, other);
        made |= is_workspace(&statement->orelse, name, other);
        if (statement->kind != DSL_ASSIGN || !tree_mentions(statement->target, name))
            continue;
        const struct dsl_expr *value = statement->value;
        const bool makes = value->kind == DSL_CALL &&
                           (expr_is(value->items[0], "torch", "empty") || expr_is(value->items[0], "torch", "zeros"));
        made |= makes;
        *other |= !makes;
    }
    return made;
}

struct question {
    const struct phases *phases;
    uint64_t reaches;
    bool varies;
};

static void ask_part(void *closure, struct dsl_expr *part)
{
    struct question *question = closure;
    const struct dsl_symbol *symbol = part->kind == DSL_NAME && part->name
                                          ? dsl_scope_find(&question->phases->program->kernel_names, part->name)
                                          : NULL;
    if (symbol) {
        question->reaches |= question->phases->reaches[symbol->number];
        question->varies |= question->phases->varies[symbol->number];
    }
    if (part->kind == DSL_CALL && part->operation)
        question->varies |= strcmp(part->operation->name, "program_id") == 0 ||
                            strcmp(part->operation->name, "extract_scalar") == 0 ||
                            strcmp(part->operation->name, "compress") == 0;
}

static struct question ask(const struct phases *phases, struct dsl_expr *expr)
{
    struct question question = {.phases = phases};
    tree_visit(expr, ask_part, &question);
    return question;
}

/* The names of a target take what the value is. */
static void give(struct phases *phases, const struct dsl_expr *target, struct question value)
{
    for (int i = 0; i < target->count; i++)
        give(phases, target->items[i], value);
    const struct dsl_symbol *symbol =
        target->kind == DSL_NAME ? dsl_scope_find(&phases->program->kernel_names, target->name) : NULL;
    if (!symbol)
        return;
    const bool leads =
        symbol->type == DSL_TYPE_TENSOR || symbol->type == DSL_TYPE_POINTER || symbol->type == DSL_TYPE_ADDRESS;
    const uint64_t reaches = phases->reaches[symbol->number] | (leads ? value.reaches : 0);
    phases->changed |= reaches != phases->reaches[symbol->number] || (value.varies && !phases->varies[symbol->number]);
    phases->reaches[symbol->number] = reaches;
    phases->varies[symbol->number] |= value.varies;
}

/* Once through the block: which names differ from core to core, and which lead to workspace. `apart`: not all cores come here. */
static void follow(struct phases *phases, const struct dsl_block *block, bool apart)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        struct question value = ask(phases, statement->value);
        value.varies |= apart;
        if (statement->target && (statement->kind == DSL_ASSIGN || statement->kind == DSL_FOR))
            give(phases, statement->target, value);
        follow(phases, &statement->body, value.varies);
        follow(phases, &statement->orelse, value.varies);
    }
}

/* Whether some cores only leave the block: the kernel, or a loop that is around it. */
static bool some_leave(const struct phases *phases, const struct dsl_block *block, bool apart, bool loop)
{
    bool leave = false;
    for (int i = 0; i < block->count && !leave; i++) {
        const struct dsl_statement *statement = block->items[i];
        const bool inner = statement->kind == DSL_FOR || statement->kind == DSL_WHILE;
        const bool below = apart || ask(phases, statement->value).varies;
        leave = (apart && (statement->kind == DSL_RETURN ||
                           (loop && (statement->kind == DSL_BREAK || statement->kind == DSL_CONTINUE)))) ||
                some_leave(phases, &statement->body, below, loop && !inner) ||
                some_leave(phases, &statement->orelse, below, loop && !inner);
    }
    return leave;
}

/* The accesses of a statement in the order of the text. */
struct accesses {
    struct phases *phases;
    const struct dsl_expr *needs; /* the first that loads what was stored before; NULL: none */
    uint64_t workspace;           /* what it loads of that */
    bool waits;                   /* there is a tl.sync_all() */
    bool keep;                    /* what is stored counts from here on */
};

static void note_access(void *closure, struct dsl_expr *call)
{
    struct accesses *accesses = closure;
    struct phases *phases = accesses->phases;
    if (call->kind != DSL_CALL || !call->operation)
        return;
    const char *name = call->operation->name;
    const bool adds = strcmp(name, "store_add") == 0;
    const bool stores = call->operation->place == DSL_PLACE_COPYOUT || strcmp(name, "set_scalar") == 0;
    struct dsl_expr *address = call_argument(call, strcmp(name, "extract_scalar") == 0 ? "from"
                                                   : strcmp(name, "set_scalar") == 0   ? "to"
                                                                                       : "address");
    accesses->waits |= strcmp(name, "sync_all") == 0;
    if (!address)
        return;
    const uint64_t workspace = ask(phases, address).reaches;
    if (workspace & phases->stored && (!stores || adds) && !accesses->waits && !accesses->needs) {
        accesses->needs = call;
        accesses->workspace = workspace & phases->stored;
    }
    for (int w = 0; stores && accesses->keep && w < WORKSPACES_MAX; w++)
        if (workspace >> w & 1)
            phases->lines[w] = call->place.line;
    if (stores && accesses->keep)
        phases->stored |= workspace;
}

static void note_accesses(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, note_access, closure);
}

static void put_sync(struct phases *phases, struct dsl_block *block, int at, const struct accesses *accesses)
{
    struct edit edit = {phases->messages->arena, accesses->needs->place};
    const int w = __builtin_ctzll(accesses->workspace);
    const struct dsl_place place = block->items[at]->place;
    struct dsl_expr *sync = edit_call(&edit, "sync_all", 0, NULL);
    sync->inferred = true;
    edit.place = place;
    edit_insert(&edit, block, at, edit_statement(&edit, sync));
    dsl_warn(phases->messages, accesses->needs->place, DSL_RULE_shared, "write tl.sync_all() there to say so",
             "'%s', which line %d stores, is loaded: tl.sync_all() is put before line %d",
             phases->program->kernel->function->parameters[w].name, phases->lines[w], place.line);
}

/* Through a block that all cores pass. */
static void walk(struct phases *phases, struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        struct accesses accesses = {.phases = phases};
        statement_visit(statement, note_accesses, &accesses);
        if (accesses.needs) {
            put_sync(phases, block, i++, &accesses);
            phases->stored = 0;
        }
        const bool loop = statement->kind == DSL_FOR;
        if ((loop || statement->kind == DSL_IF) && !ask(phases, statement->value).varies &&
            !some_leave(phases, &statement->body, false, loop)) {
            const uint64_t before = phases->stored;
            for (int turn = 0; turn < (loop ? 2 : 1); turn++)
                walk(phases, &statement->body);
            const uint64_t after = phases->stored;
            phases->stored = before;
            walk(phases, &statement->orelse);
            phases->stored |= after;
            continue;
        }
        accesses.keep = true;
        statement_visit(statement, note_accesses, &accesses);
        if (statement_calls(statement, "sync_all"))
            phases->stored = 0;
    }
}

void check_phases(struct arena *arena, struct dsl_program *program, struct dsl_messages *messages)
{
    const struct dsl_function *kernel = program->kernel->function;
    struct phases phases = {.program = program, .messages = messages};
    const int symbols = program->kernel_names.count;
    uint64_t any = 0;
    phases.reaches = arena_alloc(arena, (size_t)symbols * sizeof *phases.reaches);
    phases.varies = arena_alloc(arena, (size_t)symbols * sizeof *phases.varies);
    for (int i = 0; i < kernel->count && i < WORKSPACES_MAX; i++) {
        const struct dsl_expr *given = launch_argument(program, i);
        bool other = false;
        if (given && given->kind == DSL_NAME && is_workspace(&program->host->body, given->name, &other) && !other)
            any |= phases.reaches[dsl_scope_find(&program->kernel_names, kernel->parameters[i].name)->number] = 1ULL
                                                                                                                << i;
    }
    if (!any)
        return;
    do {
        phases.changed = false;
        follow(&phases, &program->kernel->body, false);
    } while (phases.changed);
    if (!some_leave(&phases, &program->kernel->body, false, false))
        walk(&phases, &program->kernel->body);
}
