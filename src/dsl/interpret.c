/* Runs a program's tree: the host function once, the kernel once per core. Cores take turns: one runs at a time, until it ends or
 * waits at tl.sync_all(), so a run is the same every time. Where the kernel calls tl.sync_all() each core has a thread. */
#include "dsl/edit.h"
#include "dsl/interpret_internal.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    TURNS_MAX = 200 * 1000 * 1000,
    TURN_WRITES = 4,
    TURN_STATEMENTS = 32
}; /* elements that are written count as turns, too, and long blocks: they take time */

/* What a statement leads to. */
enum flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_FAILED };

static enum flow run_block(struct core *core, const struct dsl_block *block);

void core_tell(struct core *core, struct dsl_place place, enum dsl_rule rule, const char *remedy, const char *format,
               ...)
{
    char text[512];
    va_list args;
    if (core->failed)
        return;
    core->failed = true;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dsl_complain(core->machine->messages, place, rule, remedy, "%s", text);
}

static bool assign(struct core *core, const struct dsl_expr *target, struct value value)
{
    struct value *variable = &core->variables[target->symbol->number];
    /* A variable that is real somewhere is real everywhere, as in the kernel that is made of the program. */
    if (target->symbol->type == DSL_TYPE_REAL)
        value = value_as_real(value);
    if (value.type == DSL_TYPE_BUFFER)
        value.memory->name = target->name;
    *variable = value;
    return true;
}

static bool run_assign(struct core *core, const struct dsl_statement *statement)
{
    const struct dsl_expr *target = statement->target;
    struct value value;
    if (statement->op != DSL_NO_OPERATOR) {
        struct dsl_expr *items[] = {statement->target, statement->value};
        const struct dsl_expr sum = {
            .kind = DSL_BINARY, .place = statement->place, .op = statement->op, .items = items, .count = 2};
        return core_value(core, &sum, &value) && assign(core, target, value);
    }
    if (target->kind != DSL_TUPLE && target->kind != DSL_LIST)
        return core_value(core, statement->value, &value) && assign(core, target, value);
    struct value *parts = arena_alloc(&core->arena, (size_t)target->count * sizeof *parts);
    const struct dsl_expr *values = statement->value;
    bool each = values->kind == DSL_TUPLE || values->kind == DSL_LIST;
    if (!each && !core_value(core, values, &value))
        return false;
    if (!each && value.length != target->count)
        return CORE_FAIL(core, statement->place, DSL_RULE_types, NULL, "%lld values for %d names",
                         (long long)value.length, target->count);
    for (int i = 0; i < target->count; i++)
        if (!each)
            parts[i] = (struct value){.type = DSL_TYPE_INT,
                                      .integer = value.ints[i],
                                      .real = (double)value.ints[i],
                                      .unknown = value.unknown};
        else if (!core_value(core, values->items[i], &parts[i]))
            return false;
    for (int i = 0; i < target->count; i++)
        assign(core, target->items[i], parts[i]);
    return true;
}

/* One turn of a loop; FLOW_ON: another follows. */
static enum flow run_turn(struct core *core, const struct dsl_statement *statement)
{
    enum flow flow = run_block(core, &statement->body);
    if (core->machine->run->tally)
        tally_turn(core, statement);
    int64_t most = core->machine->run->turns_max ? core->machine->run->turns_max : TURNS_MAX;
    if (++core->machine->turns + core->machine->run->written / TURN_WRITES > most) {
        CORE_FAIL(core, statement->place, DSL_RULE_arithmetic, "let each turn come nearer to the loop's end",
                  "the program does not end: more than %lld turns of loops", (long long)most);
        return FLOW_FAILED;
    }
    return flow == FLOW_CONTINUE ? FLOW_ON : flow;
}

static enum flow run_for(struct core *core, const struct dsl_statement *statement)
{
    const struct dsl_expr *over = statement->value;
    int64_t bounds[] = {0, 0, 1};
    struct value value, list = {0};
    bool range = over->kind == DSL_CALL && expr_is(over->items[0], "", "range");
    for (int i = 1; range && i < over->count; i++) {
        if (!core_value(core, over->items[i], &value) || !tally_decides(core, over->place, &value))
            return FLOW_FAILED;
        bounds[over->count == 2 ? 1 : i - 1] = value.integer;
    }
    if (!range && (!core_value(core, over, &list) || !tally_decides(core, over->place, &list)))
        return FLOW_FAILED;
    if (!range)
        bounds[1] = list.length;
    if (bounds[2] == 0) {
        CORE_FAIL(core, over->place, DSL_RULE_arithmetic, NULL, "the step of the range is 0");
        return FLOW_FAILED;
    }
    for (int64_t i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1];) {
        assign(core, statement->target, value_of_integer(range ? i : list.ints[i]));
        enum flow flow = run_turn(core, statement);
        if (flow == FLOW_BREAK)
            break;
        if (flow != FLOW_ON)
            return flow;
        if (__builtin_add_overflow(i, bounds[2], &i))
            break;
    }
    return FLOW_ON;
}

static enum flow run_while(struct core *core, const struct dsl_statement *statement)
{
    struct value condition;
    for (;;) {
        if (!core_value(core, statement->value, &condition) || !tally_decides(core, statement->place, &condition))
            return FLOW_FAILED;
        if (!value_is_true(condition))
            return FLOW_ON;
        enum flow flow = run_turn(core, statement);
        if (flow != FLOW_ON)
            return flow == FLOW_BREAK ? FLOW_ON : flow;
    }
}

static bool run_assert(struct core *core, const struct dsl_statement *statement)
{
    struct value condition;
    if (!core_value(core, statement->value, &condition) || !tally_decides(core, statement->place, &condition))
        return false;
    const struct dsl_expr *note = statement->note;
    return value_is_true(condition) ||
           CORE_FAIL(core, statement->place, DSL_RULE_refused,
                     "take the assert away and compute such shapes too: the last part and the last tile are cut",
                     "the host function refuses the shape: %s",
                     note && note->kind == DSL_TEXT ? note->name : "an assert does not hold");
}

static enum flow run_statement(struct core *core, const struct dsl_statement *statement)
{
    struct value value;
    bool good = true;
    switch (statement->kind) {
    case DSL_EXPRESSION:
        if (statement->value == core->machine->program->launch) {
            core->machine->launched = true;
            good = core_launch(core, statement->value);
        } else if (statement->value->kind == DSL_CALL) {
            good = core_value(core, statement->value, &value);
        }
        break;
    case DSL_ASSIGN:
        good = run_assign(core, statement);
        break;
    case DSL_FOR:
        return run_for(core, statement);
    case DSL_WHILE:
        return run_while(core, statement);
    case DSL_IF:
        if (!core_value(core, statement->value, &value) || !tally_decides(core, statement->place, &value))
            return FLOW_FAILED;
        return run_block(core, value_is_true(value) ? &statement->body : &statement->orelse);
    case DSL_WITH:
        return run_block(core, &statement->body);
    case DSL_RETURN:
        return FLOW_RETURN;
    case DSL_BREAK:
        return FLOW_BREAK;
    case DSL_CONTINUE:
        return FLOW_CONTINUE;
    case DSL_ASSERT:
        good = run_assert(core, statement);
        break;
    case DSL_DEF:
    case DSL_PASS:
    case DSL_IMPORT:
    case DSL_REMARKS:
        break;
    }
    return good ? FLOW_ON : FLOW_FAILED;
}

static enum flow run_block(struct core *core, const struct dsl_block *block)
{
    enum flow flow = FLOW_ON;
    core->machine->turns += block->count / TURN_STATEMENTS;
    for (int i = 0; i < block->count && flow == FLOW_ON; i++)
        flow = run_statement(core, block->items[i]);
    return core->failed ? FLOW_FAILED : flow;
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore)) /* a signal came */
        ;
}

static void run_core(struct core *core)
{
    if (!core->machine->stopped)
        run_block(core, &core->machine->program->kernel->body);
    core->ended = true;
}

/* A core's thread. */
static void *run_thread(void *closure)
{
    struct core *core = closure;
    wait_for(&core->turn);
    run_core(core);
    sem_post(&core->machine->over);
    return NULL;
}

/* Lets a core run until it waits or ends. */
static void give_turn(struct machine *machine, struct core *core)
{
    sem_post(&core->turn);
    wait_for(&machine->over);
}

bool core_sync_all(struct core *core, struct dsl_place place)
{
    struct machine *machine = core->machine;
    core->waits_at = place;
    core->waits = true;
    sem_post(&machine->over);
    wait_for(&core->turn);
    core->waits = false;
    if (machine->stopped)
        core->failed = true; /* another core has told why */
    return !core->failed;
}

/* What cores stored before tl.sync_all() every core may read behind it, and store what others read. */
static void end_phase(struct machine *machine)
{
    for (int m = 0; m < machine->memory_count; m++) {
        struct dsl_memory *memory = machine->memories[m];
        if (memory->input)
            continue;
        for (int64_t i = 0; i < memory->count; i++)
            if (memory->state[i] >= STATE_CORE)
                memory->state[i] = STATE_GIVEN;
        memset(memory->readers, READER_NONE, (size_t)memory->count);
    }
}

/* All cores in turns until they have ended; false if one failed, or waits for what never comes. */
static bool run_phases(struct machine *machine, struct core *cores, int count)
{
    for (;;) {
        int waiting = 0, ended = 0;
        const struct core *waits = NULL;
        for (int i = 0; i < count; i++) {
            if (!cores[i].ended)
                give_turn(machine, &cores[i]);
            machine->stopped |= cores[i].failed;
            ended += cores[i].ended;
            waiting += cores[i].waits;
            waits = cores[i].waits ? &cores[i] : waits;
        }
        if (ended == count)
            return !machine->stopped;
        if (ended && waiting && !machine->stopped) {
            dsl_complain(machine->messages, waits->waits_at, DSL_RULE_shared,
                         "every core goes through as many tl.sync_all()",
                         "a core waits here for others that have ended");
            machine->stopped = true;
        }
        end_phase(machine);
    }
}

bool machine_run_cores(struct machine *machine, struct core *cores, int count)
{
    if (!block_calls(&machine->program->kernel->body, "sync_all")) {
        for (int i = 0; i < count; i++) {
            run_core(&cores[i]);
            machine->stopped |= cores[i].failed;
        }
        return !machine->stopped;
    }
    pthread_t *threads = arena_alloc(machine->arena, (size_t)count * sizeof *threads);
    int started = 0;
    sem_init(&machine->over, 0, 0);
    for (; started < count; started++) {
        sem_init(&cores[started].turn, 0, 0);
        if (pthread_create(&threads[started], NULL, run_thread, &cores[started]))
            break;
    }
    if (started < count) {
        dsl_complain(machine->messages, machine->program->launch->place, DSL_RULE_launch, NULL,
                     "there can be no thread for core %d", started);
        machine->stopped = true;
    }
    bool good = run_phases(machine, cores, started) && started == count;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return good;
}

/* Gives each parameter of the host function its value. */
static bool bind_arguments(struct core *host, const struct dsl_run *run)
{
    const struct dsl_function *function = host->machine->program->host->function;
    for (int i = 0; i < function->count; i++) {
        const struct dsl_parameter *parameter = &function->parameters[i];
        struct value *value = &host->variables[dsl_scope_find(host->names, parameter->name)->number];
        const struct dsl_argument *argument = &run->arguments[i];
        if (argument->tensors || argument->value)
            *value = machine_argument(host->machine, argument, parameter->name);
        else if (!parameter->value)
            return CORE_FAIL(host, parameter->place, DSL_RULE_launch, NULL, "nothing is given for '%s'",
                             parameter->name);
        else if (!core_value(host, parameter->value, value))
            return false;
        const struct dsl_symbol *symbol = dsl_scope_find(host->names, parameter->name);
        if (symbol->type == DSL_TYPE_REAL)
            *value = value_as_real(*value);
        if (type_is_number(symbol->type) != type_is_number(value->type) && value->type != DSL_TYPE_NONE)
            return CORE_FAIL(host, parameter->place, DSL_RULE_types, NULL, "'%s' is %s, and is given %s",
                             parameter->name, dsl_type_text(symbol->type), dsl_type_text(value->type));
    }
    return true;
}

/* Every element of what is no input has to be stored. */
static void check_stored(struct machine *machine)
{
    for (int m = 0; m < machine->memory_count; m++) {
        const struct dsl_memory *memory = machine->memories[m];
        for (int64_t i = 0; memory->parameter && i < memory->count; i++)
            if (memory->state[i] == STATE_UNDEFINED) {
                dsl_complain(machine->messages, machine->program->launch->place, DSL_RULE_coverage,
                             "let the parts of the cores and their tiles cover every element: tl.cdiv, not //",
                             "no core stores element %lld of '%s', which has %lld", (long long)i, memory->name,
                             (long long)memory->count);
                break;
            }
    }
}

bool dsl_interpret(struct arena *arena, const struct dsl_program *program, struct dsl_run *run,
                   struct dsl_messages *messages)
{
    struct machine machine = {.arena = arena, .program = program, .run = run, .messages = messages};
    struct core host = {.machine = &machine, .names = &program->host_names, .number = -1};
    host.variables = arena_alloc(arena, (size_t)(program->host_names.count + 1) * sizeof *host.variables);
    bool good = machine_constants(&machine, &host) && bind_arguments(&host, run) &&
                run_block(&host, &program->host->body) != FLOW_FAILED;
    if (good && machine.launched && !run->tally && !run->host_only)
        check_stored(&machine);
    run->turns = machine.turns;
    arena_free(&host.arena);
    return good && !messages->count;
}

const struct value *dsl_constants(struct arena *arena, const struct dsl_program *program, struct dsl_messages *messages)
{
    struct dsl_run run = {.host_only = true};
    struct machine machine = {.arena = arena, .program = program, .run = &run, .messages = messages};
    struct core host = {.machine = &machine, .names = &program->host_names, .number = -1};
    bool good = machine_constants(&machine, &host);
    arena_free(&host.arena);
    return good ? machine.constants : NULL;
}
