#include "candidate/program.h"
#include "base/files.h"
#include "dsl/dsl.h"
#include "dsl/sizes.h"
#include "dsl/trials.h"
#include "dsl/write.h"

#include <string.h>
#include <unistd.h>

enum { LONGEST_PROGRAM = 1 << 20, REVIEWED_ELEMENTS = 4 << 20 /* of a case that is tried */ };

static bool formulas_alone(const struct task *task)
{
    for (int i = 0; i < task->output_count; i++)
        if (!task->outputs[i].formula)
            return false;
    return task->output_count > 0;
}

bool candidate_program_exists(const struct task *task)
{
    struct arena scratch = {0};
    const bool written = access(arena_printf(&scratch, "%s/program.py", task->dir), F_OK) == 0;
    arena_free(&scratch);
    return written || formulas_alone(task);
}

struct akgen_error *candidate_program_of_task(struct arena *arena, const struct task *task,
                                              struct candidate_program *program)
{
    struct akgen_error *error;
    char *text;
    *program = (struct candidate_program){.path = arena_printf(arena, "%s/program.py", task->dir)};
    if (access(program->path, F_OK) == 0) {
        error = files_read(arena, program->path, LONGEST_PROGRAM, &text, &program->length);
        program->text = error ? NULL : text;
        return error;
    }
    program->path = NULL;
    if (!formulas_alone(task))
        return error_new(
            "%s: neither a program in AscendDSL, %s/program.py, nor a formula for each output says how it is "
            "computed",
            task->name, task->dir);
    error = dsl_write(arena, task, &program->text);
    program->length = error ? 0 : strlen(program->text);
    return error;
}

bool candidate_program_compile(struct arena *arena, const struct candidate_program *program, const struct task *task,
                               struct dsl_lowered *lowered, struct dsl_messages *messages, struct akgen_error **error)
{
    const char *path = program->path ? program->path : "program.py";
    char *text = arena_copy(arena, program->text, program->length + 1);
    struct dsl_opdef opdef;
    const struct dsl_tree *tree = dsl_parse(arena, path, text, program->length, messages);
    const struct dsl_program *checked = tree ? dsl_check(arena, tree, messages) : NULL;
    *error = checked ? dsl_opdef_of_task(arena, checked, task, &opdef) : NULL;
    return checked && !*error && dsl_lower(arena, (struct dsl_tree *)tree, &opdef, DSL_PASSES_COUNT, lowered, messages);
}

struct akgen_error *candidate_program_review(struct arena *arena, const struct candidate_program *program,
                                             const struct task *task, int only_case, struct dsl_messages *messages)
{
    const char *path = program->path ? program->path : "program.py";
    struct dsl_lowered lowered;
    struct akgen_error *error = NULL;
    *messages = (struct dsl_messages){.arena = arena};
    const struct dsl_tree *tree =
        dsl_parse(arena, path, arena_copy(arena, program->text, program->length + 1), program->length, messages);
    const struct dsl_program *checked = tree ? dsl_check(arena, tree, messages) : NULL;
    if (checked && !messages->count)
        dsl_try_sizes(arena, checked, npu_socs, messages);
    if (checked && !messages->count)
        error = dsl_trials_try(arena, checked, task, only_case, true, REVIEWED_ELEMENTS, messages);
    struct dsl_messages found = {.arena = arena};
    if (!error && checked && !messages->count &&
        !candidate_program_compile(arena, program, task, &lowered, &found, &error) && found.count) {
        const struct dsl_message *message = dsl_messages_error(&found);
        dsl_complain(messages, message->place, message->rule, message->remedy, "%s", message->text);
    }
    return error;
}
