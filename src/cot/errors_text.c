/* What a sample says of an error: short sentences, each of which follows from what was found or from the change that was made. */
#include "base/text.h"
#include "cot/errors_internal.h"
#include "cot/signature.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 6 /* lines before and behind a change */ };

static int lines_of(const char *text)
{
    int count = 0;
    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        count++;
    return count;
}

/* The lines from `first` to `last`, counted from 1, as far as there are such. */
static const char *lines(struct arena *arena, const char *text, int first, int last)
{
    const char *begin = text, *end;
    for (int i = 1; i < first && strchr(begin, '\n'); i++)
        begin = strchr(begin, '\n') + 1;
    end = begin;
    for (int i = first < 1 ? 1 : first; i <= last && *end; i++)
        end += strcspn(end, "\n") + (strchr(end, '\n') != NULL);
    return arena_strndup(arena, begin, (size_t)(end - begin));
}

static const char *shown(struct arena *arena, const struct errors_told *told, const struct cot_mutation *mutation,
                         const char *text, const char *changed)
{
    if (!told->part)
        return text;
    return lines(arena, text, mutation->line - AROUND, mutation->line + lines_of(changed) - 1 + AROUND);
}

const char *errors_question(struct arena *arena, const struct errors_told *told, const struct cot_mutation *mutation,
                            const struct errors_found *found)
{
    struct text text = {0};
    const char *code = shown(arena, told, mutation, mutation->text, mutation->wrong);
    if (told->part) {
        int first = mutation->line - AROUND < 1 ? 1 : mutation->line - AROUND;
        text_addf(&text, "A %s in Ascend C does not compile. `%s` from line %d on:\n", told->seen, told->file, first);
    } else {
        text_addf(&text, "%s\n\nThis answer is wrong%s%s%s:\n", told->brief, told->file ? ", in `" : "",
                  told->file ? told->file : "", told->file ? "`" : "");
    }
    text_addf(&text, "```%s\n%s%s```\n", told->language, code, *code && code[strlen(code) - 1] == '\n' ? "" : "\n");
    text_addf(&text, "What was found:\n```\n%s```\n%s", found->told,
              told->part ? "What is wrong? Write these lines as they have to be."
                         : "What is wrong? Write the whole answer as it has to be.");
    return text_keep(&text, arena);
}

/* A sentence, with a full stop. */
static void add_sentence(struct text *text, const char *before, const char *says)
{
    size_t length = strlen(says);
    while (length && strchr("\n .", says[length - 1]))
        length--;
    text_addf(text, "%s%.*s.\n", before, (int)length, says);
}

/* Lines of code, with blanks before each. */
static void add_code(struct text *text, const char *code)
{
    const char *first = code + strspn(code, " ");
    text_addf(text, "    %s\n", first);
}

const char *errors_chain(struct arena *arena, const struct errors_told *told, const struct cot_mutation *mutation,
                         const struct errors_found *found)
{
    struct text text = {0};
    bool compile = strcmp(found->verdict, "compile_error") == 0, wrong = strcmp(found->verdict, "wrong") == 0;
    if (compile)
        add_sentence(&text, "It is refused before it runs: ", found->says);
    else if (wrong)
        add_sentence(&text, "It compiles and runs, and what it computes is not what is asked for: ", found->says);
    else
        add_sentence(
            &text, arena_printf(arena, "It compiles, and its run ends with a %s (%s): ", found->verdict, found->class),
            found->says);
    if (found->rule && strcmp(found->rule, "-") != 0)
        add_sentence(&text, "The rule: ", found->rule);
    const char *line =
        arena_printf(arena, "%s%s%d", told->file ? told->file : "line ", told->file ? ":" : "", mutation->line);
    if (mutation->wrong) {
        text_addf(&text, "The cause, %s (%s):\n", line, mutation->name);
        add_code(&text, mutation->wrong);
        text_addf(&text, "%s It has to be:\n", mutation->why);
        add_code(&text, mutation->right);
    } else {
        text_addf(&text, "The cause is a line that is missing at %s (%s):\n", line, mutation->name);
        add_code(&text, mutation->right);
        text_addf(&text, "%s\n", mutation->why);
    }
    if (found->remedy)
        add_sentence(&text, "What is advised for what was found: ", found->remedy);
    if (told->chain)
        add_sentence(&text, "How the right answer does it: ", told->chain);
    const char *kept = arena_strndup(arena, text.bytes, text.length - 1);
    text_free(&text);
    return kept;
}

const char *errors_answer(struct arena *arena, const struct errors_told *told, const struct cot_mutation *mutation)
{
    return shown(arena, told, mutation, told->text, mutation->right);
}

const char *errors_verdict(struct arena *arena, const char *right, const struct cot_mutation *mutation,
                           const struct errors_found *found)
{
    json_t *verdict = json_loads(right, 0, NULL);
    json_object_set_new(verdict, "before",
                        json_pack("{s:s, s:s, s:s, s:s}", "verdict", found->verdict, "class", found->class, "signature",
                                  cot_signature(arena, found->says), "mutation", mutation->name));
    char *text = json_dumps(verdict, JSON_COMPACT | JSON_REAL_PRECISION(6));
    const char *kept = arena_strdup(arena, text);
    free(text);
    json_decref(verdict);
    return kept;
}
