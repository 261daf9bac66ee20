/* The question of a round: the task's prompt, the candidate's own code as if the model had just answered with it, and what is wrong with
 * it. The rounds before are left out, so that a question does not grow from round to round. */
#include "base/files.h"
#include "base/text.h"
#include "gen/repair_internal.h"

#include <string.h>

/* The placeholders of prompts/repair/user.md. */
enum { FEEDBACK, UNREADABLE, CUT, AGAIN, PROGRAM, PLACEHOLDERS };
static const char *const placeholders[] = {[FEEDBACK] = "feedback", [UNREADABLE] = "unreadable", [CUT] = "cut",
                                           [AGAIN] = "again",       [PROGRAM] = "program",       NULL};

enum {
    LARGEST_CODE = 128 << 10, /* bytes of code that are given back */
    UNREADABLE_SHOWN = 4 << 10
};

struct akgen_error *repair_read_templates(struct repair *repair)
{
    static const char *const names[] = {"user", NULL};
    const char *copies = repair->options->model->prompt.templates;
    struct gen_template_folders folders = {
        .own = arena_printf(repair->arena, "%s/prompts/repair", toolchain_home()),
        .copies = copies ? arena_printf(repair->arena, "%s/repair", copies) : NULL,
    };
    if (folders.copies && !files_exists(folders.copies))
        folders.copies = NULL;
    return gen_templates_read(repair->arena, &folders, names, placeholders, &repair->templates);
}

const char *repair_code(struct arena *arena, const struct attempt *attempt)
{
    const struct answer *answer = &attempt->answer;
    struct text text = {0};
    size_t length = strlen(attempt->text);
    if (answer->kind == ANSWER_IS_NOTHING || answer->kind == ANSWER_IS_STRINGS) {
        size_t limit = answer->kind == ANSWER_IS_NOTHING ? UNREADABLE_SHOWN : LARGEST_CODE;
        char *shown = arena_strndup(arena, attempt->text, length < limit ? length : limit);
        text_make_utf8(shown);
        return length <= limit ? shown : answer->kind == ANSWER_IS_NOTHING ? arena_printf(arena, "%s ..", shown) : NULL;
    }
    for (int i = 0; i < answer->count && text.length <= LARGEST_CODE; i++) {
        const struct op_file *file = &answer->files[i];
        text_addf(&text, "<%s>\n%s%s</%s>\n", file->path, file->bytes,
                  file->length && file->bytes[file->length - 1] == '\n' ? "" : "\n", file->path);
    }
    char *code = text.length <= LARGEST_CODE ? arena_strdup(arena, text.bytes ? text.bytes : "") : NULL;
    text_free(&text);
    if (code)
        text_make_utf8(code);
    return code;
}

struct akgen_error *repair_prompt(struct repair *repair, const struct attempt *attempt, struct gen_prompt *prompt)
{
    struct arena *arena = repair->arena;
    const struct gen_prompt *task = &repair->prompt;
    const struct gen_feedback *before = attempt->parent < 0 ? NULL : &repair->attempts[attempt->parent].feedback;
    const char *values[PLACEHOLDERS] = {0}, *code = repair_code(arena, attempt);
    *prompt = (struct gen_prompt){0};
    if (!code)
        return NULL;
    values[FEEDBACK] = gen_feedback_text(arena, &attempt->feedback, before);
    values[UNREADABLE] = attempt->answer.kind == ANSWER_IS_NOTHING ? attempt->answer.problem : NULL;
    values[CUT] = attempt->finish && strcmp(attempt->finish, SAMPLE_CUT) == 0 ? "yes" : NULL;
    values[AGAIN] = attempt->last_mend;
    values[PROGRAM] = repair->options->model->prompt.language == EVAL_DSL ? "yes" : NULL;
    struct gen_message *messages = arena_alloc(arena, sizeof *messages * (size_t)(task->count + 2));
    memcpy(messages, task->messages, sizeof *messages * (size_t)task->count);
    messages[task->count] = (struct gen_message){"assistant", code};
    messages[task->count + 1] =
        (struct gen_message){"user", gen_templates_fill(arena, repair->templates, "user", values)};
    return gen_prompt_of_messages(arena, messages, task->count + 2, &repair->options->model->prompt, prompt);
}
