/* The primer of AscendDSL as prompts show it: without the programs of the operator that is asked for. */
#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "gen/prompt_internal.h"

#include <string.h>

enum { LONGEST_FILE = 1 << 20 };

/* A piece of the page: text, or a program of a task with what is told of it. */
struct prompt_primer_piece {
    const char *text;
    const struct task *task; /* whose operator it computes; NULL: none's */
    bool program;
};

/* Programs that stand in for the first one, which the page explains the language by. */
static const char *const stand_ins[] = {"npukernelbench/level1/Math/Sqrt", "npukernelbench/level1/Math/Muls"};

static void add(struct arena *arena, struct prompt_primer *primer, const char *text, size_t length,
                const struct task *task, bool program)
{
    const char *kept = arena_strndup(arena, text, length);
    ARRAY_ADD(arena, primer->pieces, primer->count, primer->capacity,
              (struct prompt_primer_piece){kept, task, program});
}

/* The task of a block "```python task=level1/Math/Neg case=0"; NULL: it names none. */
static struct akgen_error *task_of_block(struct arena *arena, const char *home, const char *line, struct task **task)
{
    const char *end = line + strcspn(line, "\n"), *named = strstr(line, "task=");
    *task = NULL;
    if (!named || named > end)
        return NULL;
    named += strlen("task=");
    *task = arena_alloc(arena, sizeof **task);
    struct akgen_error *error = task_find(arena, home, arena_strndup(arena, named, strcspn(named, " \n")), *task);
    return !error && (*task)->broken ? error_new("%s", (*task)->broken) : error;
}

/* The end of a block that begins at `line`, behind its last line. */
static const char *behind_block(const char *line)
{
    const char *end = strstr(line + 3, "\n```");
    end = end ? end + 4 : line + strlen(line);
    return *end == '\n' ? end + 1 : end;
}

struct akgen_error *prompt_primer_read(struct arena *arena, const char *home, struct prompt_primer *primer)
{
    char *page;
    struct task *task = NULL;
    struct akgen_error *error =
        files_read(arena, arena_printf(arena, "%s/docs/dsl-primer.md", home), LONGEST_FILE, &page, NULL);
    if (!error) {
        for (int i = 0; i < PRIMER_STAND_INS && !error; i++) {
            char *program;
            error = files_read(arena, arena_printf(arena, "%s/tasks/%s/program.py", home, stand_ins[i]), LONGEST_FILE,
                               &program, NULL);
            if (!error)
                error = prompt_load_task(arena, home, stand_ins[i], &primer->stand_in_tasks[i]);
            primer->stand_ins[i] = error ? NULL : arena_printf(arena, "```python\n%s```\n", program);
        }
    }
    /* How to call akgen is for people. */
    char *way = error ? NULL : strstr(page, "\n## The way to work\n");
    if (way)
        *way = 0;
    for (const char *line = error ? "" : page, *next; *line && !error; line = next) {
        bool block = strncmp(line, "```", 3) == 0;
        next = line + strcspn(line, "\n");
        next = block ? behind_block(line) : next + (*next == '\n');
        if (!block) {
            if (strncmp(line, "# ", 2) != 0)
                add(arena, primer, line, (size_t)(next - line), NULL, false);
            continue;
        }
        bool told = strncmp(line, "```text", 7) == 0; /* what the checker says of the program before it */
        if (!told)
            error = task_of_block(arena, home, line, &task);
        /* A block of code without what the tests of the page need to know of it. */
        const char *code = line + strcspn(line, "\n");
        const char *bare = arena_printf(arena, "%.*s%.*s", (int)strcspn(line, " \n"), line, (int)(next - code), code);
        add(arena, primer, bare, strlen(bare), task, !told);
    }
    return error;
}

struct akgen_error *prompt_text_primer(struct prompt_maker *maker, const char **text)
{
    const struct prompt_primer *primer = &maker->shelf->primer;
    struct text page = {0};
    bool first = true;
    for (int i = 0; i < primer->count; i++) {
        const struct prompt_primer_piece *piece = &primer->pieces[i];
        const char *shown = piece->text;
        if (piece->task && !prompt_is_other(maker->task, piece->task)) {
            shown = piece->program ? "(An example is left out here: it is of the operator that is asked for.)\n" : "";
            for (int s = 0; first && s < PRIMER_STAND_INS; s++)
                if (prompt_is_other(maker->task, primer->stand_in_tasks[s])) {
                    shown = primer->stand_ins[s];
                    break;
                }
        }
        first &= !piece->program;
        text_add(&page, shown);
    }
    *text = arena_strdup(maker->arena, page.bytes ? page.bytes : "");
    text_free(&page);
    return NULL;
}
