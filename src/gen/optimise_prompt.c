/* The question of a round that makes a right candidate faster: the task's prompt, the candidate's own code as if the model had just
 * answered with it, and what its modelled time is made of. */
#include "base/files.h"
#include "base/text.h"
#include "eval/timing.h"
#include "eval/timing_text.h"
#include "gen/repair_internal.h"
#include "toolchain/toolchain.h"

#include <string.h>

/* The placeholders of prompts/optimise/user.md. */
enum { TIMING, MEAN, HIDDEN, SOC, EARLIER, PROGRAM, PLACEHOLDERS };
static const char *const placeholders[] = {[TIMING] = "timing",
                                           [MEAN] = "mean",
                                           [HIDDEN] = "hidden",
                                           [SOC] = "soc",
                                           [EARLIER] = "earlier",
                                           [PROGRAM] = "program",
                                           NULL};

enum {
    ROWS = 24,         /* of the table */
    DETAILED = 3,      /* cases that are gone into */
    TRIES_NAMED = 6,   /* earlier attempts to make the same code faster */
    LONGEST_CODE = 160 /* bytes of a source line */
};

struct akgen_error *optimise_read_templates(struct repair *repair)
{
    static const char *const names[] = {"user", NULL};
    const char *copies = repair->options->model->prompt.templates;
    struct gen_template_folders folders = {
        .own = arena_printf(repair->arena, "%s/prompts/optimise", toolchain_home()),
        .copies = copies ? arena_printf(repair->arena, "%s/optimise", copies) : NULL,
    };
    if (folders.copies && !files_exists(folders.copies))
        folders.copies = NULL;
    return gen_templates_read(repair->arena, &folders, names, placeholders, &repair->faster_templates);
}

/* ---- What is told of a time */

/* The line that takes most time, of the program where the project was compiled of one. */
static const char *costliest_line(struct arena *arena, const struct verdict *verdict, const struct job_timing *timing)
{
    struct source_place place = timing_source(verdict->candidate.map, timing);
    const char *line = place.program ? place.text
                       : timing->file && *timing->file != '/'
                           ? toolchain_source_line(arena, &verdict->candidate.files, timing->file, timing->line)
                           : NULL;
    if (!line)
        return NULL;
    line += strspn(line, " \t");
    size_t length = strlen(line);
    char *copy = arena_strndup(arena, line, length < LONGEST_CODE ? length : LONGEST_CODE);
    for (char *at = copy; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f || *at == '`')
            *at = *at == '`' ? '\'' : ' ';
    text_make_utf8(copy);
    return copy;
}

static double bytes_moved(const struct verdict_case *row)
{
    return (double)(row->run.timing.model.read + row->run.timing.model.written);
}

static double below_bound(const struct verdict_case *row)
{
    return -timing_roofline(&row->run.timing.model);
}

/* The shown case of the highest rank that is not chosen yet; NULL: there is none. */
static const struct verdict_case *next_case(const struct verdict *verdict, double (*rank)(const struct verdict_case *),
                                            const struct verdict_case *const *chosen, int count)
{
    const struct verdict_case *next = NULL;
    for (int i = 0; i < verdict->case_count; i++) {
        const struct verdict_case *row = &verdict->cases[i];
        bool taken = row->hidden;
        for (int k = 0; k < count; k++)
            taken |= chosen[k] == row;
        if (!taken && (!next || rank(row) > rank(next)))
            next = row;
    }
    return next;
}

/* The cases worth going into: that which moves most bytes, then those that are furthest from their bound. */
static int choose_cases(const struct verdict *verdict, const struct verdict_case **chosen)
{
    int count = 0;
    for (const struct verdict_case *next = next_case(verdict, bytes_moved, chosen, 0); next && count < DETAILED;
         next = next_case(verdict, below_bound, chosen, count))
        chosen[count++] = next;
    return count;
}

const char *optimise_told(struct arena *arena, const struct verdict *verdict, const struct times *times)
{
    const struct verdict_case *chosen[DETAILED];
    const struct timing_style plain = {"", "", ""};
    struct text text = {0};
    text_add(&text,
             "| case | data types and shapes | us | of it the launch | bound by | the bound, us | bound / time |\n"
             "|--:|---|--:|--:|---|--:|--:|\n");
    for (int i = 0; i < times->count && i < ROWS; i++) {
        const struct times_case *row = &times->cases[i];
        text_addf(&text, "| %d | %s %s | %.2f | %.2f | %s | %.2f | %.0f %% |\n", row->id, row->dtype, row->shape,
                  row->us, row->launch_us, row->bound, row->bound_us, 100 * row->bound_us / row->us);
    }
    if (times->count > ROWS)
        text_addf(&text, "\n%d more cases are not shown.\n", times->count - ROWS);
    int count = choose_cases(verdict, chosen);
    for (int i = 0; i < count; i++) {
        const char *line = costliest_line(arena, verdict, &chosen[i]->run.timing);
        text_add(&text, "\n");
        timing_add_case(&text, verdict, chosen[i], &plain);
        if (line)
            text_addf(&text, "    costliest line: `%s`\n", line);
    }
    return text_keep(&text, arena);
}

/* ---- The prompt */

struct akgen_error *optimise_prompt(struct repair *repair, const struct attempt *attempt, struct gen_prompt *prompt)
{
    struct arena *arena = repair->arena;
    const struct gen_prompt *task = &repair->prompt;
    const char *values[PLACEHOLDERS] = {0}, *code = repair_code(arena, attempt);
    *prompt = (struct gen_prompt){0};
    if (!code)
        return NULL;
    values[TIMING] = attempt->told;
    values[MEAN] = arena_printf(arena, "%.2f", attempt->times.mean_us);
    const struct gen_prompt_options *options = &repair->options->model->prompt;
    int hidden = attempt->row.cases_total - attempt->times.count;
    values[HIDDEN] = hidden > 0 ? arena_printf(arena, "%d", hidden) : NULL;
    values[SOC] = repair->options->eval->soc->name;
    /* What became of the answers that were to be faster than this one: a list, the last ones. NULL: there was none. */
    struct text text = {0};
    int tries = 0, seen = 0;
    for (int i = 0; i < repair->count; i++)
        tries += repair->attempts[i].parent == attempt->sample && repair->attempts[i].judged;
    for (int i = 0; i < repair->count; i++) {
        const struct attempt *try = &repair->attempts[i];
        if (try->parent != attempt->sample || !try->judged || tries - seen++ > TRIES_NAMED)
            continue;
        const char *ended = try->same_as == attempt->sample ? "the same code came back" : try->ended;
        text_addf(&text, "- %s%s\n", ended, try->timed && try->same_as != attempt->sample ? ": not faster" : "");
    }
    const char *list = text_keep(&text, arena);
    values[EARLIER] = *list ? list : NULL;
    values[PROGRAM] = options->language == EVAL_DSL ? "yes" : NULL;
    struct gen_message *messages = arena_alloc(arena, sizeof *messages * (size_t)(task->count + 2));
    memcpy(messages, task->messages, sizeof *messages * (size_t)task->count);
    messages[task->count] = (struct gen_message){"assistant", code};
    messages[task->count + 1] =
        (struct gen_message){"user", gen_templates_fill(arena, repair->faster_templates, "user", values)};
    return gen_prompt_of_messages(arena, messages, task->count + 2, options, prompt);
}
