/* Reading an answer: its form is found, and what it holds becomes files. */
#include "candidate/answer.h"
#include "candidate/answer_internal.h"
#include "base/text.h"

#include <ctype.h>

/* Answers that are formulas: "d = x - mean(x); y = d * scale", on one line or several, perhaps in a code block of their own. */
/* `name =` and something behind it, which is no comparison. */
static bool is_statement(struct answer_span span, struct answer_span *name)
{
    size_t length = 0;
    while (length < span.length && (isalnum((unsigned char)span.at[length]) || span.at[length] == '_'))
        length++;
    *name = (struct answer_span){span.at, length};
    size_t at = length;
    while (at < span.length && span.at[at] == ' ')
        at++;
    return length && !isdigit((unsigned char)*span.at) && at + 1 < span.length && span.at[at] == '=' &&
           span.at[at + 1] != '=';
}

bool answer_is_formulas(struct arena *arena, const char *text, const struct task *task, const char **statements)
{
    struct text kept = {0};
    bool output = false, formulas = true;
    for (const char *at = text; *at && formulas;) {
        size_t length = strcspn(at, ";\n");
        struct answer_span span = answer_trim(answer_between(at, at + length)), name;
        at += length + (at[length] != '\0');
        while (span.length && *span.at == '`') /* ticks and fences around */
            span.at++, span.length--;
        while (span.length && span.at[span.length - 1] == '`')
            span.length--;
        if (!span.length)
            continue;
        formulas = is_statement(span, &name);
        for (int i = 0; i < task->output_count; i++)
            output |= strlen(task->outputs[i].name) == name.length &&
                      strncmp(task->outputs[i].name, name.at, name.length) == 0;
        text_append(&kept, span.at, span.length);
        text_add(&kept, "\n");
    }
    *statements = arena_strdup(arena, kept.bytes ? kept.bytes : "");
    text_free(&kept);
    return formulas && output;
}

static void refuse(struct answer *answer, const char *problem)
{
    answer->kind = ANSWER_IS_NOTHING;
    answer->problem = problem;
}

/* An answer that has no code, in a line: its beginning says what it is. */
static const char *describe_prose(struct arena *arena, const char *text)
{
    enum { SHOWN = 60 };
    struct answer_span trimmed = answer_trim(answer_span_of(text));
    char *begin = arena_strndup(arena, trimmed.at, trimmed.length < SHOWN ? trimmed.length : SHOWN);
    for (size_t length = strlen(begin); length && trimmed.length > SHOWN && (begin[length - 1] & 0x80); length--)
        begin[length - 1] = '\0'; /* it may have been cut inside a character */
    for (char *c = begin; *c; c++)
        if (isspace((unsigned char)*c))
            *c = ' ';
        else if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return arena_printf(arena, "the answer holds no code; it begins with '%s%s'", begin,
                        trimmed.length > SHOWN ? ".." : "");
}

/* Six strings are read by op/response.h, which takes the first fence or everything: what stands before them goes away, so that
 * the lines have their numbers still. */
static void take_strings(struct arena *arena, const char *original, size_t length, char *text,
                         const struct answer_blocks *blocks, struct answer *answer)
{
    struct op_file *file = arena_alloc(arena, sizeof *file);
    const struct answer_block *strings = NULL;
    for (int i = 0; i < blocks->count && !strings; i++)
        if (blocks->items[i].begin && (blocks->items[i].marks & ANSWER_HAS_STRINGS))
            strings = &blocks->items[i];
    bool others = strings && strings->complete && strings != &blocks->items[0];
    if (others) {
        const char *fence = strings->begin > text ? strings->begin - 1 : text;
        while (fence > text && fence[-1] != '\n')
            fence--;
        for (char *c = text; c < fence; c++)
            *c = *c == '\n' ? '\n' : ' ';
    }
    bool whole = !answer->thinking && !others;
    *file = whole ? (struct op_file){"answer.txt", arena_strndup(arena, original, length), length}
                  : (struct op_file){"answer.txt", text, strlen(text)};
    answer->kind = ANSWER_IS_STRINGS;
    answer->files = file;
    answer->count = 1;
}

static bool take_formulas(struct arena *arena, const char *text, const struct task *task, struct answer *answer)
{
    struct op_file *file = arena_alloc(arena, sizeof *file);
    *file = (struct op_file){.path = "formulas.txt"};
    if (!answer_is_formulas(arena, text, task, &file->bytes))
        return false;
    file->length = strlen(file->bytes);
    answer->kind = ANSWER_IS_FORMULAS;
    answer->files = file;
    answer->count = 1;
    return true;
}

void answer_hold(struct arena *arena, struct answer *answer, enum eval_language asked)
{
    const char *problem =
        answer->kind == ANSWER_IS_NOTHING ? NULL : eval_language_problem(arena, asked, answer->language);
    if (problem)
        refuse(answer, problem);
}

/* Finds the answer's form and what it holds. */
static void read(struct arena *arena, const char *text, size_t length, const struct task *task, enum eval_scope scope,
                 enum eval_language asked, struct answer *answer)
{
    int open;
    struct answer_blocks blocks = {0};
    *answer = (struct answer){.kind = ANSWER_IS_NOTHING};
    char *clean = answer_clean(arena, text, length);
    answer->thinking = answer_take_thinking(arena, clean, &open);
    if (answer_is_blank(answer_span_of(clean))) {
        refuse(answer, open ? arena_printf(arena, "the answer ends in its thinking, which begins in line %d", open)
                       : answer->thinking ? "nothing stands behind the thinking"
                                          : "the answer is empty");
        return;
    }
    bool strings = answer_marks(clean) & ANSWER_HAS_STRINGS;
    if (!answer_marks(clean) && take_formulas(arena, clean, task, answer))
        return;
    const char *begin = clean + strspn(clean, " \t\n");
    if (*begin == '{' || *begin == '[')
        answer_add_json(arena, begin, &blocks);
    if (!blocks.count)
        answer_find_blocks(arena, clean, &blocks);
    if (!blocks.count && (begin = strstr(clean, "\n{")))
        answer_add_json(arena, begin + 1, &blocks);
    for (int i = 0, count = blocks.count; i < count; i++) {
        struct answer_block block = blocks.items[i];
        if (!block.label.name && (strncmp(block.language, "json", 4) == 0 || *block.text == '{')) {
            int before = blocks.count;
            answer_add_json(arena, block.text, &blocks);
            if (blocks.count > before)
                blocks.items[i].language = "json"; /* it is those files, and none itself */
        }
    }
    if (strings)
        take_strings(arena, text, length, clean, &blocks, answer);
    else if (!blocks.count)
        refuse(answer, answer_marks(clean) & ANSWER_HAS_DIFF ? "the answer is a diff, expected whole files"
                                                             : describe_prose(arena, clean));
    else
        answer_make_files(arena, &blocks, task, scope, asked, answer);
}

void answer_read(struct arena *arena, const char *text, size_t length, const struct task *task, enum eval_scope scope,
                 enum eval_language asked, struct answer *answer)
{
    static const enum eval_language languages[] = {[ANSWER_IS_PROJECT] = EVAL_ASCENDC,
                                                   [ANSWER_IS_STRINGS] = EVAL_ASCENDC,
                                                   [ANSWER_IS_PROGRAM] = EVAL_DSL,
                                                   [ANSWER_IS_FORMULAS] = EVAL_GRAPH,
                                                   [ANSWER_IS_NOTHING] = EVAL_ANY};
    read(arena, text, length, task, scope, asked, answer);
    answer->language = languages[answer->kind];
    answer_hold(arena, answer, asked);
}
