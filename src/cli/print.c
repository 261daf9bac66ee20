/* A verdict for people. Where something has a place in the candidate's source, that line is shown with a caret. */
#include "base/text.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PRINTED_LINES = 40 };

struct cli_colors cli_colors_for(FILE *stream)
{
    if (!isatty(fileno(stream)) || getenv("NO_COLOR"))
        return (struct cli_colors){"", "", "", "", "", ""};
    return (struct cli_colors){"\033[32m", "\033[31m", "\033[33m", "\033[2m", "\033[1m", "\033[0m"};
}

const char *cli_verdict_color(const struct cli_colors *colors, enum akgen_verdict_kind kind)
{
    return kind == AKGEN_VERDICT_PASS ? colors->good : kind >= AKGEN_VERDICT_UNSUPPORTED ? colors->warn : colors->bad;
}

void cli_print_clean(FILE *out, const char *text)
{
    text_put_plain(out, text);
}

void cli_print_json(json_t *json, size_t flags)
{
    json_dumpf(json, stdout, flags);
    putchar('\n');
    json_decref(json);
}

static void print_source_line(FILE *out, const struct cli_colors *colors, const char *text, int line, int column)
{
    fprintf(out, "  %6d | ", line);
    cli_print_clean(out, text);
    fprintf(out, "\n         | ");
    int at = column > 0 ? column - 1 : (int)strspn(text, " \t");
    for (int i = 0; i < at && text[i]; i++)
        fputc(text[i] == '\t' ? '\t' : ' ', out);
    fprintf(out, "%s^%s\n", colors->good, colors->off);
}

/* Where it comes from, of a project that was compiled of a program: "program.py:23: tl.store(..)". */
static void print_source_place(FILE *out, const struct cli_colors *colors, struct source_place place)
{
    if (!place.program)
        return;
    fprintf(out, "         | from %s", colors->bold);
    cli_print_clean(out, place.program);
    fprintf(out, ":%d:%s ", place.line, colors->off);
    cli_print_clean(out, place.text ? place.text : "");
    fputc('\n', out);
}

/* "op_kernel/sqrt.cpp:3:7: "; a #line may have named the file. A column below 0: none. */
static void print_place(FILE *out, const struct cli_colors *colors, const char *file, int line, int column)
{
    fputs(colors->bold, out);
    cli_print_clean(out, file);
    fprintf(out, ":%d", line);
    if (column >= 0)
        fprintf(out, ":%d", column);
    fprintf(out, ":%s ", colors->off);
}

static void print_diagnostics(FILE *out, const struct verdict *verdict, const struct cli_colors *colors)
{
    const struct build *build = &verdict->build;
    for (int i = 0; i < build->diagnostic_count; i++) {
        const struct diagnostic *d = &build->diagnostics[i];
        if (d->file && *d->file)
            print_place(out, colors, d->file, d->line, d->column);
        fprintf(out, "%s%s [%s]:%s ", d->error ? colors->bad : colors->warn, diagnostic_severities.of[d->error],
                diagnostic_class_name(d->class), colors->off);
        cli_print_clean(out, d->message);
        fputc('\n', out);
        if (d->text && d->line)
            print_source_line(out, colors, d->text, d->line, d->column);
        print_source_place(out, colors, source_map_find(verdict->candidate.map, d->file, d->line));
    }
}

/* Prints line `number` of a file of the candidate or of AKGen's headers, if there is one. */
static void print_line_of(FILE *out, const struct verdict *verdict, const char *file, int number,
                          const struct cli_colors *colors)
{
    struct arena arena = {0};
    const char *text = toolchain_source_line(&arena, &verdict->candidate.files, file, number);
    if (text)
        print_source_line(out, colors, text, number, 0);
    arena_free(&arena);
}

static void print_finding(FILE *out, const struct verdict *verdict, const struct job_finding *finding,
                          const struct cli_colors *colors)
{
    const char *color = finding->fatal ? colors->bad : colors->warn;
    fprintf(out, "    ");
    if (finding->file)
        print_place(out, colors, finding->file, finding->line, -1);
    fprintf(out, "%s%s %s:%s ", color, finding->fatal ? "fault" : "note", finding->fault, colors->off);
    if (finding->api && *finding->api)
        fprintf(out, "%s: ", finding->api);
    cli_print_clean(out, finding->message);
    if (finding->core >= 0)
        fprintf(out, " %s(%s %d, %lu times)%s", colors->dim, finding->aic ? "AIC" : "core", finding->core,
                (unsigned long)finding->count, colors->off);
    fputc('\n', out);
    if (finding->file)
        print_line_of(out, verdict, finding->file, finding->line, colors);
    print_source_place(out, colors, source_map_of_finding(verdict->candidate.map, finding, false));
    if (finding->file_other) {
        fprintf(out, "    %sthe other access: ", colors->dim);
        cli_print_clean(out, finding->file_other);
        fprintf(out, ":%d%s\n", finding->line_other, colors->off);
        print_line_of(out, verdict, finding->file_other, finding->line_other, colors);
        print_source_place(out, colors, source_map_of_finding(verdict->candidate.map, finding, true));
    }
}

/* Prints the loop that cores were in when the launch was ended for its steps. */
static void print_endless(FILE *out, const struct verdict *verdict, const struct job_endless *loop,
                          const struct cli_colors *colors)
{
    if (!loop->file)
        return;
    fprintf(out, "    %s%s:%d:%s %sno end:%s %lu rounds or more on %d core%s\n", colors->bold, loop->file, loop->line,
            colors->off, colors->bad, colors->off, (unsigned long)loop->rounds, loop->cores,
            loop->cores == 1 ? "" : "s");
    print_line_of(out, verdict, loop->file, loop->line, colors);
    print_source_place(out, colors, source_map_of_calls(verdict->candidate.map, loop->file, loop->line, loop->calls));
}

static void print_mismatch(FILE *out, const struct task_mismatch *mismatch)
{
    fprintf(out, "    first mismatch: %s", mismatch->output_name ? mismatch->output_name : "output");
    if (mismatch->tensor)
        fprintf(out, "#%d", mismatch->tensor);
    fprintf(out, "[%ld] is %.9g, expected %.9g %s; %lu of %lu elements are wrong, max abs %.3g, max rel %.3g\n",
            (long)mismatch->index, mismatch->actual, mismatch->expected, mismatch->distance,
            (unsigned long)mismatch->wrong, (unsigned long)mismatch->elements, mismatch->max_abs, mismatch->max_rel);
    if (*mismatch->where)
        fprintf(out, "    %s\n", mismatch->where);
}

/* The first lines of what the candidate printed. */
static void print_printed(FILE *out, const char *text, const struct cli_colors *colors)
{
    struct arena arena = {0};
    int shown = 0;
    for (; *text && shown < PRINTED_LINES; shown++) {
        size_t length = strcspn(text, "\n");
        fprintf(out, "    %sprinted:%s ", colors->dim, colors->off);
        cli_print_clean(out, arena_strndup(&arena, text, length));
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
    if (*text)
        fprintf(out, "    %sprinted more; --json has it%s\n", colors->dim, colors->off);
    arena_free(&arena);
}

static void print_case(FILE *out, const struct verdict *verdict, const struct verdict_case *row,
                       const struct cli_colors *colors)
{
    fprintf(out, "  case %-3d %s%-13s%s %s %s%s", row->id, cli_verdict_color(colors, row->kind),
            akgen_verdict_kind_name(row->kind), colors->off, row->dtype ? row->dtype : "", row->shape ? row->shape : "",
            row->reduced  ? " (reduced; --full for the published size)"
            : row->hidden ? " (hidden)"
                          : "");
    if (row->compared)
        fprintf(out, "  %smax abs %.3g, max rel %.3g; %d blocks, %.1f ms%s", colors->dim, row->mismatch.max_abs,
                row->mismatch.max_rel, row->run.block_dim, row->run.run_seconds * 1e3, colors->off);
    if (row->orders_tried && row->ok)
        fprintf(out, "%s; right under random:1 to random:%d too%s", colors->dim, row->orders_tried, colors->off);
    fputc('\n', out);
    if (row->stand_in) {
        fprintf(out, "    %snote:%s a smaller case that stood in is not right and does not count: ", colors->warn,
                colors->off);
        cli_print_clean(out, row->stand_in);
        fputc('\n', out);
    }
    if (row->order_decides)
        fprintf(out, "    %snote:%s %s\n", colors->warn, colors->off, row->order_decides);
    if (row->compared && !row->mismatch.ok)
        print_mismatch(out, &row->mismatch);
    else if (row->error && (!row->run.fault || row->run.endless_count)) {
        fprintf(out, "    ");
        cli_print_clean(out, row->error);
        fputc('\n', out);
    }
    for (size_t i = 0; i < row->run.endless_count; i++)
        print_endless(out, verdict, &row->run.endless[i], colors);
    for (size_t i = 0; i < row->run.finding_count; i++)
        print_finding(out, verdict, &row->run.findings[i], colors);
    if (row->run.printed)
        print_printed(out, row->run.printed, colors);
}

void cli_print_cases(FILE *out, const struct verdict *verdict, const struct cli_colors *colors)
{
    const struct eval_options *options = verdict->options;
    const struct build *build = &verdict->build;
    bool built = build->stage == BUILD_OK && build->kernel_count;
    fprintf(out, "%s%s%s  %s  (%s, %s, %s, %s, sync %s, language %s)\n", colors->bold, verdict->task, colors->off,
            verdict->candidate.name, options->soc->name, eval_modes.of[options->mode], eval_scopes.of[options->scope],
            eval_profiles.of[options->profile], eval_syncs.of[verdict->sync], eval_languages.of[verdict->language]);
    if (*verdict->protocol)
        fprintf(out, "  protocol %s\n", verdict->protocol);
    print_diagnostics(out, verdict, colors);
    if (built)
        fprintf(out, "  build    %sok%s            host %.2f s, kernels %.2f s (%d data type combinations)\n",
                colors->good, colors->off, build->host_seconds + build->describe_seconds, build->kernel_seconds,
                build->def.combinations);
    for (int i = 0; built && i < verdict->case_count; i++)
        print_case(out, verdict, &verdict->cases[i], colors);
}

void cli_print_conclusion(FILE *out, const struct verdict *verdict, const struct cli_colors *colors)
{
    fprintf(out, "%s%s%s: %d of %d cases, %.2f s", cli_verdict_color(colors, verdict->kind),
            akgen_verdict_kind_name(verdict->kind), colors->off, verdict->cases_passed, verdict->cases_total,
            verdict->seconds);
    if (verdict->kind != AKGEN_VERDICT_PASS) {
        fprintf(out, "; stage %s: ", akgen_verdict_stage_name(verdict->stage));
        cli_print_clean(out, verdict->reason ? verdict->reason : "");
    }
    fputc('\n', out);
}

void cli_print_verdict(FILE *out, const struct verdict *verdict, const struct cli_colors *colors)
{
    cli_print_cases(out, verdict, colors);
    cli_print_conclusion(out, verdict, colors);
}

void cli_print_progress(void *closure, int done, int total)
{
    (void)closure;
    fprintf(stderr, "\r\033[Kcase %d of %d", done, total);
    if (done == total)
        fputs("\r\033[K", stderr);
}
