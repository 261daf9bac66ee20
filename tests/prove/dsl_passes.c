/* Compiles programs in AscendDSL in one process: dsl_passes < list, where each line is a folder with program.py and the task that it
 * is for. Each program is compiled up to every pass. What a pass leaves is printed, read, checked and printed alike, and holds what
 * docs/dsl.md says of the pass; the last one's printing is a project. Prints the folder of each program with which something is
 * wrong and what, and at last how many programs came to what. For dsl_programs.py. */
#include "base/files.h"
#include "dsl/dsl.h"
#include "dsl/lower.h"
#include "dsl/lower_internal.h"
#include "task/task.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 1 << 20 };

struct trial {
    struct arena arena;
    struct task task;
    const char *path;
    char *text;
    size_t length;
    const char *wrong; /* NULL: nothing */
    enum dsl_pass pass;
};

/* What an operation leaves behind a pass: `queues`: of the kernel's buffers those that are a queue's. */
struct behind {
    struct trial *trial;
    const struct dsl_block *kernel;
    enum dsl_pass pass;
};

static void tell(struct trial *trial, const char *wrong, const char *what)
{
    if (!trial->wrong)
        trial->wrong = arena_printf(&trial->arena, "%s%s", wrong, what);
}

static bool is_any(const char *name, const char *const *names, size_t count)
{
    bool found = false;
    for (size_t i = 0; !found && i < count; i++)
        found = strcmp(names[i], name) == 0;
    return found;
}
#define IS_ANY(name, ...)                                                                                              \
    is_any(name, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* How the kernel allocates the buffer: "alloc_ub", "queue_in" and so on. */
static const char *allocation_of(const struct dsl_block *kernel, const char *buffer)
{
    for (int i = 0; i < kernel->count; i++)
        if (kernel->items[i]->kind == DSL_ASSIGN && kernel->items[i]->target->kind == DSL_NAME &&
            strcmp(kernel->items[i]->target->name, buffer) == 0)
            return kernel->items[i]->value->operation ? kernel->items[i]->value->operation->name : "";
    return "";
}

static void see_operation(const struct behind *behind, const struct dsl_expr *call, int stage)
{
    const char *name = call->operation->name;
    struct dsl_expr *moved = stage == DSL_PLACE_COPYIN    ? call_argument(call, "dst")
                             : stage == DSL_PLACE_COPYOUT ? call_argument(call, "src")
                                                          : NULL;
    bool transfer = call->operation->place == DSL_PLACE_COPYIN || call->operation->place == DSL_PLACE_COPYOUT;
    if (behind->pass >= DSL_PASS_TYPES && transfer && moved &&
        strcmp(allocation_of(behind->kernel, operand_buffer(moved, NULL)), "alloc_ub") == 0)
        tell(behind->trial, "no queue moves what is transferred by tl.", name);
    if (behind->pass >= DSL_PASS_ALIGN && transfer && !call_argument(call, "count") && !call_argument(call, "rows"))
        tell(behind->trial, "no number of elements: tl.", name);
    if (behind->pass >= DSL_PASS_PROCESS && stage == DSL_PLACE_COMPUTE && call->operation->place == DSL_PLACE_COMPUTE &&
        !lower_instruction_find(name) && !IS_ANY(name, "set_scalar", "widen", "overlay", "narrow", "convert"))
        tell(behind->trial, "no instruction: tl.", name);
    if (behind->pass >= DSL_PASS_PROCESS && strcmp(name, "multiply_add") == 0 &&
        !tree_equal(call->items[1], call->items[4]))
        tell(behind->trial, "it adds to another buffer than it writes: tl.", name);
}

static void see_block(const struct behind *behind, const struct dsl_block *block, int stage)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *call = statement_operation(statement);
        if (call)
            see_operation(behind, call, stage);
        see_block(behind, &statement->body, statement->kind == DSL_WITH ? statement_stage(statement) : stage);
        see_block(behind, &statement->orelse, stage);
    }
}

static void count_steps(const struct dsl_block *block, const char *step, const char *queue, int *count)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        *count +=
            statement_calls(statement, step) && strcmp(call_argument(statement->value, "queue")->name, queue) == 0;
        count_steps(&statement->body, step, queue, count);
        count_steps(&statement->orelse, step, queue, count);
    }
}

/* Each tensor that is taken from a queue is given on, received and freed. */
static void see_queues(const struct behind *behind)
{
    static const char *const steps[] = {"alloc_tensor", "enque", "deque", "free_tensor"};
    for (int i = 0; i < behind->kernel->count; i++) {
        const struct dsl_statement *statement = behind->kernel->items[i];
        if (statement->kind != DSL_ASSIGN || statement->target->kind != DSL_NAME ||
            strncmp(allocation_of(behind->kernel, statement->target->name), "queue_", 6) != 0)
            continue;
        int taken = 0;
        count_steps(behind->kernel, steps[0], statement->target->name, &taken);
        for (size_t s = 1; s < sizeof steps / sizeof *steps; s++) {
            int count = 0;
            count_steps(behind->kernel, steps[s], statement->target->name, &count);
            if (count != taken || !taken)
                tell(behind->trial, "steps of a queue are missing: ", statement->target->name);
        }
    }
}

static void see_program(struct trial *trial, const struct dsl_program *program, enum dsl_pass pass)
{
    const struct behind behind = {trial, &program->kernel->body, pass};
    for (int s = 0; pass >= DSL_PASS_ALIGN && s < program->kernel_names.count; s++) {
        const struct dsl_symbol *symbol = program->kernel_names.items[s];
        if (symbol->type == DSL_TYPE_RANGE || symbol->type == DSL_TYPE_MASK || symbol->type == DSL_TYPE_ADDRESS ||
            symbol->type == DSL_TYPE_PIECE || symbol->type == DSL_TYPE_POINTER)
            tell(trial, "a variable is what no variable is: ", symbol->name);
    }
    see_block(&behind, behind.kernel, -1);
    if (pass >= DSL_PASS_PIPELINE)
        see_queues(&behind);
}

/* What a pass left, printed and read again, is the same program. */
static void read_again(struct trial *trial, const struct dsl_lowered *lowered, enum dsl_pass pass)
{
    struct dsl_messages messages = {0};
    const char *once = dsl_format(&trial->arena, lowered->tree);
    struct dsl_tree *tree = (struct dsl_tree *)dsl_parse(&trial->arena, trial->path, once, strlen(once), &messages);
    if (!tree || strcmp(dsl_format(&trial->arena, tree), once) != 0)
        return tell(trial, "is not printed alike, read again", "");
    tree->lowered = true;
    const struct dsl_program *program = dsl_check(&trial->arena, tree, &messages);
    if (!program)
        return tell(trial, "is no program, read again: ", messages.kept ? messages.items[0].text : "");
    see_program(trial, program, pass);
}

/* Compiles the program up to the pass; false: a rule refuses it, whose name is `refused`. */
static bool compile(struct trial *trial, enum dsl_pass last, const char **refused)
{
    struct dsl_messages messages = {0};
    struct dsl_opdef opdef;
    struct dsl_lowered lowered;
    const struct dsl_tree *tree = dsl_parse(&trial->arena, trial->path, trial->text, trial->length, &messages);
    const struct dsl_program *program = tree ? dsl_check(&trial->arena, tree, &messages) : NULL;
    struct akgen_error *error = program ? dsl_opdef_of_task(&trial->arena, program, &trial->task, &opdef) : NULL;
    if (error)
        tell(trial, "the operator: ", arena_strdup(&trial->arena, error->message));
    bool done =
        program && !error && dsl_lower(&trial->arena, (struct dsl_tree *)tree, &opdef, last, &lowered, &messages);
    error_free(error);
    if (!done) {
        *refused = messages.kept ? dsl_rule_name(messages.items[0].rule) : "no rule";
        if (!IS_ANY(*refused, "not-compiled", "fits", "types"))
            tell(trial, "is refused: ", messages.kept ? messages.items[0].text : "without a reason");
    } else if (last < DSL_PASSES_COUNT) {
        read_again(trial, &lowered, last);
    } else if (!lowered.count) {
        tell(trial, "there is no project", "");
    }
    return done;
}

/* "compiled", or "refused: RULE", or "wrong". */
static const char *judge(struct trial *trial, const char *folder)
{
    const char *refused = NULL;
    struct akgen_error *error = task_load(&trial->arena, folder, &trial->task);
    trial->path = arena_printf(&trial->arena, "%s/program.py", folder);
    if (!error)
        error = files_read(&trial->arena, trial->path, LONGEST, &trial->text, &trial->length);
    if (error)
        tell(trial, "", arena_strdup(&trial->arena, error->message));
    error_free(error);
    for (int pass = DSL_PASSES_COUNT; !error && !trial->wrong && !refused && pass >= 0; pass--) {
        trial->pass = (enum dsl_pass)pass;
        compile(trial, trial->pass, &refused);
    }
    return trial->wrong ? "wrong" : refused ? refused : "compiled";
}

int main(void)
{
    enum { KINDS = 16 };
    char folder[4096], kinds[KINDS][32] = {0};
    int counts[KINDS] = {0}, wrong = 0;
    while (fgets(folder, sizeof folder, stdin)) {
        struct trial trial = {0};
        folder[strcspn(folder, "\n")] = '\0';
        const char *kind = judge(&trial, folder);
        if (trial.wrong) {
            const char *pass = trial.pass < DSL_PASSES_COUNT ? dsl_pass_name(trial.pass) : "printing";
            printf("%s: %s: %s\n", folder, pass, trial.wrong);
            wrong++;
        }
        int k = 0;
        while (k < KINDS - 1 && *kinds[k] && strcmp(kinds[k], kind) != 0)
            k++;
        snprintf(kinds[k], sizeof kinds[k], "%s", kind);
        counts[k]++;
        arena_free(&trial.arena);
    }
    for (int k = 0; k < KINDS && *kinds[k]; k++)
        printf("%d %s\n", counts[k], kinds[k]);
    return wrong > 0;
}
