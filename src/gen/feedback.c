/* Points are collected in the order in which they decide: what the compiler of programs says, what the C++ compiler says, why the
 * candidate was refused; then case by case faults, failed tilings, timeouts, wrong numbers; behind wrong numbers the notes
 * that may explain them. A thing that several cases have is one point. */
#include "gen/feedback.h"
#include "gen/remedy.h"
#include "base/files.h"
#include "dsl/program.h"
#include "toolchain/toolchain.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* docs/api.md has a line for each function: | `Muls` | V | half, float | `(form)`<br>`(form)` | notes |. */
enum { LARGEST_PAGE = 4 << 20, LONGEST_NAME = 60, LONGEST_FORM = 240 };

/* The text between the bars behind `*at`, which moves to the next one. */
static const char *take_column(struct arena *arena, const char **at)
{
    const char *begin = *at + strspn(*at, "| "), *end = strstr(begin, " | ");
    size_t length = end ? (size_t)(end - begin) : strcspn(begin, "\n");
    *at = begin + length;
    return arena_strndup(arena, begin, length);
}

static int by_length(const void *a, const void *b)
{
    size_t first = strlen(*(const char *const *)a), second = strlen(*(const char *const *)b);
    return first != second ? (first < second ? -1 : 1) : strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void take_forms(struct arena *arena, const char *text, struct feedback_api *api)
{
    const char *forms[64];
    int count = 0;
    for (const char *at = text; (at = strchr(at, '`')) && count < 64;) {
        size_t length = strcspn(++at, "`");
        if (length < LONGEST_FORM)
            forms[count++] = arena_strndup(arena, at, length);
        at += length + (at[length] == '`');
    }
    qsort(forms, (size_t)count, sizeof *forms, by_length);
    api->count = count < FEEDBACK_FORMS ? count : FEEDBACK_FORMS;
    api->more = count - api->count;
    memcpy(api->forms, forms, sizeof *forms * (size_t)api->count);
}

/* The line of a function: of this name, else of one that differs in the case of letters, else in one character. */
static const char *find_line(struct arena *arena, const char *page, const char *name)
{
    size_t length = strlen(name), differing = 2;
    const char *other = NULL, *near = NULL;
    for (const char *line = page; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, "| `", 3) != 0)
            continue;
        if (strncasecmp(line + 3, name, length) != 0 || line[3 + length] != '`') {
            if (dsl_name_is_nearer(name, arena_strndup(arena, line + 3, strcspn(line + 3, "`\n")), &differing))
                near = line;
            continue;
        }
        if (strncmp(line + 3, name, length) == 0)
            return line;
        other = other ? other : line;
    }
    return other ? other : near;
}

struct feedback_api feedback_api_of(struct arena *arena, const char *message)
{
    struct feedback_api api = {0};
    char *page;
    const char *quote = strchr(message, '\''), *end = quote ? strchr(quote + 1, '\'') : NULL;
    size_t length = end ? (size_t)(end - quote - 1) : 0;
    if (!length || length > LONGEST_NAME)
        return api;
    const char *name = arena_strndup(arena, quote + 1, length);
    struct akgen_error *error =
        files_read(arena, arena_printf(arena, "%s/docs/api.md", toolchain_home()), LARGEST_PAGE, &page, NULL);
    const char *line = error ? NULL : find_line(arena, page, name);
    error_free(error);
    if (!line)
        return api;
    api.name = arena_strndup(arena, line + 3, strcspn(line + 3, "`\n"));
    take_column(arena, &line);
    take_column(arena, &line);
    api.types = take_column(arena, &line);
    take_forms(arena, take_column(arena, &line), &api);
    return api;
}

enum {
    LONGEST_CODE = 160, /* bytes of a source line */
    LONGEST_WHAT = 600, /* of a message */
    CASES_NAMED = 4,
    PLACES_NAMED = 4,
    MISMATCHES = 3, /* points of wrong numbers */
    HINTS = 3,      /* notes */
    CALLERS = 3,    /* of a finding */
    SEEN = 64       /* points that are told apart; more of them are counted as left out */
};

/* A point while cases are still being added to it. */
struct found {
    const char *key, *title, *place, *remedy;
    struct text body; /* the lines before those of cases and places */
    int cases, named;
    const struct verdict_case *last_case; /* that was counted */
    struct text case_list, place_list;
    int places, places_named;
    bool hint; /* of a note, which explains others and is wrong by itself only where they are */
};
struct collection {
    struct arena *arena;
    const struct verdict *verdict;
    struct found found[SEEN];
    int count, beyond; /* beyond: those that have no room */
};

/* What a candidate had a hand in: one line, cut, without control characters and fences. */
static const char *clean(struct arena *arena, const char *text, size_t limit)
{
    size_t length = strnlen(text, limit + 1);
    char *copy = arena_strndup(arena, text, length < limit ? length : limit);
    for (char *at = copy; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
        if (strncmp(at, "```", 3) == 0 || strncmp(at, "~~~", 3) == 0)
            *at = '\'';
    }
    text_make_utf8(copy);
    return length > limit ? arena_printf(arena, "%s ..", copy) : copy;
}

static void add_line(struct collection *all, struct found *found, const char *word, const char *text)
{
    text_addf(&found->body, "   %-8s%s\n", word, clean(all->arena, text, LONGEST_WHAT));
}

/* The source line, and where the column is known and shown, a caret below it. */
static void add_code(struct collection *all, struct found *found, const char *text, int column)
{
    if (!text || !*text)
        return;
    size_t blanks = strspn(text, " \t");
    text += blanks;
    column -= (int)blanks;
    text_addf(&found->body, "   %-8s%s\n", "code:", clean(all->arena, text, LONGEST_CODE));
    if (column > 0 && column <= LONGEST_CODE && (size_t)column <= strlen(text) + 1)
        text_addf(&found->body, "   %-8s%*s^\n", "", column - 1, "");
}

/* The point of this key, which is new if nothing of it was found before; NULL: there is no room for another. */
static struct found *find(struct collection *all, const char *key, bool *is_new)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->found[i].key, key) == 0) {
            *is_new = false;
            return &all->found[i];
        }
    *is_new = true;
    if (all->count == SEEN) {
        all->beyond++;
        return NULL;
    }
    struct found *found = &all->found[all->count++];
    *found = (struct found){.key = key};
    return found;
}

static const char *place_of(struct collection *all, const char *file, int line, int column)
{
    if (!file || !*file)
        return NULL;
    file = clean(all->arena, file, LONGEST_CODE);
    return !line    ? file
           : column ? arena_printf(all->arena, "%s:%d:%d", file, line, column)
                    : arena_printf(all->arena, "%s:%d", file, line);
}

static void add_place(struct found *found, const char *place)
{
    if (place && !found->place) {
        found->place = place;
        text_addf(&found->body, "   %-8s%s\n", "place:", place);
    } else if (place) {
        if (found->places++ < PLACES_NAMED) {
            found->places_named++;
            text_addf(&found->place_list, "%s%s", found->places > 1 ? ", " : "", place);
        }
    }
}

static void set_remedy(struct collection *all, struct found *found, const char *remedy)
{
    found->remedy = remedy ? clean(all->arena, remedy, LONGEST_WHAT) : NULL;
}

static void count_case(struct found *found, const struct verdict_case *row)
{
    if (found->last_case == row)
        return;
    found->last_case = row;
    if (found->cases++ < CASES_NAMED) {
        found->named++;
        text_addf(&found->case_list, "%s%s %s%s", found->cases > 1 ? "; " : "", row->dtype ? row->dtype : "",
                  row->shape ? row->shape : "", row->hidden ? " (a size that the task does not show)" : "");
    }
}

/* ---- Building */

/* Digits say where and how much, and change from round to round. */
static const char *without_numbers(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text), *out = copy;
    for (const char *at = copy; *at; at++)
        if (!isdigit((unsigned char)*at) || (at > copy && isalpha((unsigned char)at[-1])))
            *out++ = *at;
    *out = '\0';
    return copy;
}

static void collect_program(struct collection *all, const struct dsl_messages *messages)
{
    for (int i = 0; i < messages->kept; i++) {
        const struct dsl_message *message = &messages->items[i];
        const char *source = dsl_message_line(all->arena, messages, message);
        const char *rule = dsl_rule_name(message->rule);
        const char *place = place_of(all, "program.py", message->place.line, message->place.column);
        bool is_new;
        if (message->warning)
            continue;
        struct found *found = find(
            all, arena_printf(all->arena, "program %s %s", rule, without_numbers(all->arena, message->text)), &is_new);
        if (found && is_new) {
            found->title = arena_printf(all->arena, "error, rule %s", rule);
            add_place(found, place);
            add_code(all, found, source, strlen(source) < LONGEST_CODE ? message->place.column : 0);
            add_line(all, found, "what:", message->text);
            add_line(all, found, "rule:", dsl_rule_demand(message->rule));
            set_remedy(all, found, message->remedy ? message->remedy : dsl_rule_demand(message->rule));
        } else if (found) {
            add_place(found, place);
        }
    }
    all->beyond += messages->count > messages->kept ? messages->count - messages->kept : 0;
}

/* How the API is called that the message is about, if it is about one. */
static void add_api(struct collection *all, struct found *found, const struct diagnostic *diagnostic)
{
    struct feedback_api api = feedback_api_of(all->arena, diagnostic->message);
    bool unknown = strstr(diagnostic->message, "undeclared") || strstr(diagnostic->message, "no member named");
    if (!api.name || strstr(diagnostic->message, "did you mean") ||
        (!unknown && !strstr(diagnostic->message, arena_printf(all->arena, "'%s'", api.name))))
        return;
    for (int i = 0; i < api.count; i++)
        add_line(all, found, "form:", arena_printf(all->arena, "%s%s", api.name, api.forms[i]));
    if (*api.types)
        add_line(all, found, "types:", api.types);
    if (unknown)
        set_remedy(all, found, arena_printf(all->arena, "write '%s', which is in the namespace AscendC", api.name));
}

static void collect_diagnostics(struct collection *all)
{
    const struct build *build = &all->verdict->build;
    for (int i = 0; i < build->diagnostic_count; i++) {
        const struct diagnostic *diagnostic = &build->diagnostics[i];
        struct source_place from = source_map_find(all->verdict->candidate.map, diagnostic->file, diagnostic->line);
        const char *class = diagnostic_class_name(diagnostic->class);
        const char *place = from.program ? place_of(all, from.program, from.line, 0)
                                         : place_of(all, diagnostic->file, diagnostic->line, diagnostic->column);
        bool is_new;
        if (!diagnostic->error)
            continue;
        struct found *found = find(
            all, arena_printf(all->arena, "compile %s %s", class, without_numbers(all->arena, diagnostic->message)),
            &is_new);
        if (found && is_new) {
            found->title = arena_printf(all->arena, "compile error, class %s", class);
            add_place(found, place);
            add_code(all, found, from.program ? from.text : diagnostic->text, from.program ? 0 : diagnostic->column);
            add_line(all, found, "what:", diagnostic->message);
            set_remedy(all, found, gen_remedy_of_diagnostic(diagnostic));
            add_api(all, found, diagnostic);
        } else if (found) {
            add_place(found, place);
        }
    }
}

/* The verdict's own sentence, where nothing else says more. */
static void collect_reason(struct collection *all)
{
    static const char *const remedies[] = {
        [AKGEN_VERDICT_REJECTED] = "compute the outputs on the NPU from the inputs, by calls of Ascend C alone",
        [AKGEN_VERDICT_UNSUPPORTED] = "another API that does the same: the simulator lacks this one",
        [AKGEN_VERDICT_TIMEOUT] = "work by vector instructions on whole tiles, and loops that end",
        [AKGEN_VERDICT_COMPILE_ERROR] = "answer with all files that are asked for, under their names, complete",
    };
    const struct verdict *verdict = all->verdict;
    bool is_new;
    if (!verdict->reason || all->count)
        return;
    struct found *found = find(
        all, arena_printf(all->arena, "reason %d %s", (int)verdict->kind, without_numbers(all->arena, verdict->reason)),
        &is_new);
    if (!found)
        return;
    found->title = akgen_verdict_kind_name(verdict->kind);
    add_line(all, found, "what:", verdict->reason);
    if (verdict->kind == AKGEN_VERDICT_COMPILE_ERROR && verdict->stage == AKGEN_STAGE_HOST)
        set_remedy(all, found,
                   "declare the task's inputs, outputs, data types and attributes in OpDef, by their names and in "
                   "their order, each list with one entry for each combination");
    else if ((size_t)verdict->kind < sizeof remedies / sizeof *remedies)
        set_remedy(all, found, remedies[verdict->kind]);
}

/* ---- Cases */

static const char *line_of(struct collection *all, const char *file, int line)
{
    return file ? toolchain_source_line(all->arena, &all->verdict->candidate.files, file, line) : NULL;
}

/* Who called the function in which something was found, as far as the compiler put it in its caller's place. */
static void add_callers(struct collection *all, struct found *found, const struct job_call *calls)
{
    for (int i = 0; calls && calls->file && i < CALLERS; calls++, i++) {
        add_line(all, found, "from:", place_of(all, calls->file, calls->line, 0));
        add_code(all, found, line_of(all, calls->file, calls->line), 0);
    }
}

static void collect_finding(struct collection *all, const struct verdict_case *row, const struct job_finding *finding)
{
    const struct source_map *map = all->verdict->candidate.map;
    struct source_place from = source_map_of_finding(map, finding, false);
    struct source_place other = source_map_of_finding(map, finding, true);
    const char *code = from.program ? from.text : line_of(all, finding->file, finding->line);
    const char *api = finding->api && *finding->api ? finding->api : "-";
    bool is_new;
    struct found *found =
        find(all,
             arena_printf(all->arena, "%s %s %s %s", finding->fatal ? "fault" : "note", finding->fault, api,
                          code ? clean(all->arena, code + strspn(code, " \t"), LONGEST_CODE) : ""),
             &is_new);
    if (found && is_new) {
        struct gen_fault_text text = gen_remedy_of_fault(finding->fault);
        found->title = arena_printf(all->arena, "%s %s", finding->fatal ? "fault" : "note", finding->fault);
        found->hint = !finding->fatal;
        add_place(found, from.program ? place_of(all, from.program, from.line, 0)
                                      : place_of(all, finding->file, finding->line, 0));
        add_code(all, found, code, 0);
        if (finding->file_other) {
            add_line(all, found, "other:",
                     other.program ? place_of(all, other.program, other.line, 0)
                                   : place_of(all, finding->file_other, finding->line_other, 0));
            add_code(all, found, other.program ? other.text : line_of(all, finding->file_other, finding->line_other),
                     0);
        }
        add_callers(all, found, finding->calls);
        if (finding->api && *finding->api)
            add_line(all, found, "call:",
                     finding->operand && *finding->operand
                         ? arena_printf(all->arena, "%s, operand %s", finding->api, finding->operand)
                         : finding->api);
        add_line(all, found, "what:", finding->message);
        if (text.rule && strcmp(text.rule, "-") != 0)
            add_line(all, found, "rule:",
                     arena_strndup(all->arena, text.rule,
                                   strstr(text.rule, " ([") ? (size_t)(strstr(text.rule, " ([") - text.rule)
                                                            : strlen(text.rule)));
        set_remedy(all, found, text.remedy);
    }
    if (found)
        count_case(found, row);
}

/* By what the wrong elements have in common. */
static const char *remedy_of_mismatch(const struct verdict_case *row)
{
    static const struct {
        const char *part, *remedy;
    } by_where[] = {
        {"only the last",
         "the tail of a row: copy and compute what is left behind the last whole block or tile, by DataCopyPad "
         "with the exact number of bytes and a count of exactly the elements that are left"},
        {"on is wrong",
         "the end of the tensor: the last tile and the last core's part are copied, computed and stored up to "
         "the last element, and parts times cores cover all of it"},
        {"only the first", "the beginning: offsets begin at 0, and no part of the work overwrites another's"},
        {"only row", "the row that is named: its offset and its part of the work"},
        {"nan",
         "what nothing has written reads as nan: store every element; else guard divisions, logarithms and roots"},
        {"infinite", "keep the intermediate values in range: subtract the maximum before Exp, compute in float"},
        {"there is 0", "store what was computed: the right tensor, after the computation, at the right offset"},
        {"everywhere",
         "the same number comes out everywhere: each element needs its own input, each row its own result"},
        {"times what",
         "a factor is missing or one too many: compare the formula's constants and divisions with the code"},
        {"is expected", "a constant is added or left out: compare the formula with the code, term by term"},
    };
    for (size_t i = 0; i < sizeof by_where / sizeof *by_where; i++)
        if (strstr(row->mismatch.where, by_where[i].part))
            return by_where[i].remedy;
    if (row->compared && !row->mismatch.not_finite && row->mismatch.max_rel < 0.05)
        return "the numbers are near: compute in float32 (Cast half and bfloat16 to float first, back at the end), Div "
               "and "
               "Sqrt in place of Reciprocal and Rsqrt, long sums in float32; or a small term is missing (epsilon, "
               "bias)";
    return "compare the code with the specification step by step: order of the inputs, axes, offsets, constants";
}

static void collect_mismatch(struct collection *all, const struct verdict_case *row)
{
    const struct task_mismatch *mismatch = &row->mismatch;
    bool is_new;
    const char *where = *mismatch->where ? without_numbers(all->arena, mismatch->where) : "";
    const char *key = arena_printf(all->arena, "wrong %s %s",
                                   row->compared && mismatch->output_name ? mismatch->output_name : "", where);
    int others = 0;
    for (int i = 0; i < all->count; i++)
        others += strncmp(all->found[i].key, "wrong ", 6) == 0 && strcmp(all->found[i].key, key) != 0;
    if (others >= MISMATCHES)
        key = "wrong otherwise";
    struct found *found = find(all, key, &is_new);
    if (found && is_new) {
        found->title = "wrong numbers";
        if (row->error)
            add_line(all, found, "what:", row->error);
        if (row->compared && !mismatch->ok)
            add_line(all, found, "size:",
                     arena_printf(all->arena, "largest error %.3g, relative %.3g; %" PRIu64 " not finite",
                                  mismatch->max_abs, mismatch->max_rel, mismatch->not_finite));
        if (*mismatch->where)
            add_line(all, found, "where:", mismatch->where);
        /* What the host part told the kernel in this case: a value that is missing there is 0 here. */
        char *tiling = row->run.tiling ? json_dumps(row->run.tiling, JSON_COMPACT) : NULL;
        if (row->run.block_dim > 0)
            add_line(all, found, "launch:",
                     arena_printf(all->arena, "%d blocks%s%s", row->run.block_dim, tiling ? ", tiling " : "",
                                  tiling ? tiling : ""));
        free(tiling);
        set_remedy(all, found, remedy_of_mismatch(row));
    }
    if (found)
        count_case(found, row);
}

/* How a case ended that no finding and no comparison explains. */
static void collect_end(struct collection *all, const struct verdict_case *row)
{
    static const struct {
        enum akgen_verdict_kind kind;
        enum akgen_verdict_stage stage;
        const char *title, *remedy;
    } ends[] = {
        {AKGEN_VERDICT_WRONG, AKGEN_STAGE_TILING, "tiling failed",
         "let the tiling function end with GRAPH_SUCCESS and call SetBlockDim, SaveToBuffer and SetDataSize with "
         "numbers in range, for this shape and data type too"},
        {AKGEN_VERDICT_TIMEOUT, AKGEN_STAGE_RUN, "timeout",
         "a loop that does not end, a wait for what nobody sets, or work element by element: use vector instructions "
         "on tiles"},
        {AKGEN_VERDICT_FAULT, AKGEN_STAGE_TILING, "the host part crashed",
         "check pointers and divisors of the tiling function: GetAttrPointer and GetInputShape may be NULL, a size may "
         "be 0"},
        {AKGEN_VERDICT_FAULT, AKGEN_STAGE_RUN, "the kernel crashed",
         "reach memory by GlobalTensor and LocalTensor alone, within their sizes"},
        {AKGEN_VERDICT_REJECTED, AKGEN_STAGE_RUN, "rejected",
         "compute the outputs on the NPU from the inputs, by calls of Ascend C alone: no other way is allowed"},
        {AKGEN_VERDICT_COMPILE_ERROR, AKGEN_STAGE_HOST, "the OpDef does not fit",
         "declare the task's inputs, outputs, data types and attributes in OpDef, by their names and in their order"},
    };
    const char *title = akgen_verdict_kind_name(row->kind), *remedy = NULL, *error = row->error ? row->error : "";
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i].kind == row->kind && (ends[i].stage == row->stage || row->kind == AKGEN_VERDICT_TIMEOUT ||
                                          row->kind == AKGEN_VERDICT_REJECTED)) {
            title = ends[i].title;
            remedy = ends[i].remedy;
            break;
        }
    bool is_new;
    struct found *found =
        find(all, arena_printf(all->arena, "end %s %s", title, without_numbers(all->arena, error)), &is_new);
    if (found && is_new) {
        found->title = title;
        add_line(all, found, "what:", error);
        set_remedy(all, found, remedy);
    }
    if (found)
        count_case(found, row);
}

/* A launch that was ended for its steps: the loop that most cores were in; the error names the others. */
static void collect_endless(struct collection *all, const struct verdict_case *row)
{
    const struct job_endless *loop = row->run.endless;
    struct source_place from = source_map_of_calls(all->verdict->candidate.map, loop->file, loop->line, loop->calls);
    const char *code = from.program ? from.text : line_of(all, loop->file, loop->line);
    const char *place =
        from.program ? place_of(all, from.program, from.line, 0) : place_of(all, loop->file, loop->line, 0);
    bool is_new;
    struct found *found = find(all, arena_printf(all->arena, "endless %s", place ? place : "-"), &is_new);
    if (found && is_new) {
        found->title = "timeout";
        add_place(found, place);
        add_code(all, found, code, 0);
        add_callers(all, found, loop->calls);
        add_line(all, found, "what:", row->error);
        set_remedy(all, found,
                   "let this loop end: what it counts must grow in every round (a step or a tile of 0 from the tiling "
                   "data does not), and what it waits for must be written by a core that is not waiting itself");
    }
    if (found)
        count_case(found, row);
}

static void collect_case(struct collection *all, const struct verdict_case *row)
{
    bool explained = row->run.endless_count && row->error;
    if (row->kind == AKGEN_VERDICT_PASS || (!row->error && !row->run.finding_count) ||
        (row->error && strncmp(row->error, "not run", 7) == 0))
        return;
    if (explained)
        collect_endless(all, row);
    for (size_t i = 0; i < row->run.finding_count; i++)
        if (row->run.findings[i].fatal) {
            collect_finding(all, row, &row->run.findings[i]);
            explained = true;
        }
    if (explained)
        return;
    if (row->kind == AKGEN_VERDICT_WRONG && row->stage == AKGEN_STAGE_COMPARE)
        collect_mismatch(all, row);
    else
        collect_end(all, row);
}

static bool has_undefined_fault(const struct verdict_case *row)
{
    for (size_t f = 0; f < row->run.finding_count; f++)
        if (row->run.findings[f].fatal && row->run.findings[f].kind == NPU_UNDEFINED)
            return true;
    return false;
}

/* ---- What is said */

/* "all bfloat16 cases are wrong, all others are right", if that is so; else NULL. */
static const char *types_that_fail(struct arena *arena, const struct verdict *verdict)
{
    const char *failing = NULL;
    int right = 0, wrong = 0;
    for (int i = 0; i < verdict->case_count; i++) {
        const struct verdict_case *row = &verdict->cases[i];
        if (!row->dtype)
            return NULL;
        if (!row->ok && failing && strcmp(failing, row->dtype) != 0)
            return NULL;
        failing = row->ok ? failing : row->dtype;
    }
    for (int i = 0; failing && i < verdict->case_count; i++) {
        const struct verdict_case *row = &verdict->cases[i];
        if (row->ok && strcmp(row->dtype, failing) == 0)
            return NULL;
        right += row->ok;
        wrong += !row->ok;
    }
    return right && wrong > 1 ? arena_printf(arena, "all cases of %s fail, all others are right", failing) : NULL;
}

static const char *sizes_that_fail(const struct verdict *verdict)
{
    int hidden = 0;
    for (int i = 0; i < verdict->case_count; i++) {
        if (!verdict->cases[i].ok && !verdict->cases[i].hidden)
            return NULL;
        hidden += !verdict->cases[i].ok;
    }
    return hidden ? "only sizes that the task does not show fail: the code has to be right for any size" : NULL;
}

static const char *head_of(struct arena *arena, const struct verdict *verdict, bool refused)
{
    static const char *const meaning[] = {
        [AKGEN_STAGE_PARSE] = "the answer could not be read as what was asked for",
        [AKGEN_STAGE_HOST] = "the host part does not compile or does not describe the operator",
        [AKGEN_STAGE_KERNEL] = "the kernel does not compile",
        [AKGEN_STAGE_TILING] = "it compiles; the tiling function does not get to a launch",
        [AKGEN_STAGE_RUN] = "it compiles and is launched; the kernel does what the chip does not forgive",
        [AKGEN_STAGE_COMPARE] = "it compiles and runs; the results are not right",
    };
    const char *types = types_that_fail(arena, verdict), *sizes = sizes_that_fail(verdict);
    const char *pattern = sizes ? sizes : types, *means = meaning[verdict->stage];
    if (verdict->kind == AKGEN_VERDICT_PASS)
        return arena_printf(arena, "Verdict: pass. All of %d cases are right.", verdict->cases_total);
    if (refused && verdict->stage == AKGEN_STAGE_PARSE)
        means = "the checker or the compiler of AscendDSL refuses the program";
    const char *head = arena_printf(arena, "Verdict: %s at stage %s (%s).", akgen_verdict_kind_name(verdict->kind),
                                    akgen_verdict_stage_name(verdict->stage), means);
    if (verdict->cases_total)
        head = arena_printf(arena, "%s %d of %d cases are right%s%s.", head, verdict->cases_passed,
                            verdict->cases_total, pattern ? "; " : "", pattern ? pattern : "");
    return head;
}

static void finish(struct arena *arena, struct found *found, struct gen_point *point)
{
    if (found->place_list.length)
        text_addf(&found->body, "   %-8s%s%s\n", "also:", found->place_list.bytes,
                  found->places > found->places_named
                      ? arena_printf(arena, " and %d places more", found->places - found->places_named)
                      : "");
    if (found->case_list.length)
        text_addf(&found->body, "   %-8s%s%s\n", "cases:", clean(arena, found->case_list.bytes, 2 * LONGEST_WHAT),
                  found->cases > found->named ? arena_printf(arena, "; and %d more", found->cases - found->named) : "");
    if (found->remedy)
        text_addf(&found->body, "   %-8s%s\n", "remedy:", found->remedy);
    *point = (struct gen_point){.key = found->key,
                                .title = found->title,
                                .text = arena_strdup(arena, found->body.bytes ? found->body.bytes : ""),
                                .place = found->place,
                                .remedy = found->remedy};
}

void gen_feedback_read(struct arena *arena, const struct verdict *verdict, const struct dsl_messages *program,
                       struct gen_feedback *feedback)
{
    struct collection *all = arena_alloc(arena, sizeof *all);
    *all = (struct collection){.arena = arena, .verdict = verdict};
    *feedback = (struct gen_feedback){.head = head_of(arena, verdict, program)};
    if (program)
        collect_program(all, program);
    if (!all->count)
        collect_diagnostics(all);
    bool builds = !all->count;
    for (int i = 0; builds && i < verdict->case_count; i++)
        collect_case(all, &verdict->cases[i]);
    if (builds) {
        /* Notes of the cases that are wrong by their numbers or compute with what nothing has written: a few, the first. */
        int before = all->count;
        for (int i = 0; i < all->verdict->case_count; i++) {
            const struct verdict_case *row = &all->verdict->cases[i];
            bool asks = row->kind == AKGEN_VERDICT_WRONG || has_undefined_fault(row);
            for (size_t f = 0; asks && f < row->run.finding_count && all->count < before + HINTS; f++)
                if (!row->run.findings[f].fatal)
                    collect_finding(all, row, &row->run.findings[f]);
        }
    }
    collect_reason(all);
    for (int i = 0; i < all->count; i++) {
        struct found *found = &all->found[i];
        feedback->all += found->hint ? 0 : 1 + found->places + (found->cases ? found->cases - 1 : 0);
        if (feedback->count < GEN_POINTS)
            finish(arena, found, &feedback->points[feedback->count++]);
        else
            feedback->left_out++;
        text_free(&found->body);
        text_free(&found->case_list);
        text_free(&found->place_list);
    }
    feedback->left_out += all->beyond;
    feedback->all += all->beyond;
}

static bool has(const struct gen_feedback *feedback, const char *key)
{
    for (int i = 0; feedback && i < feedback->count; i++)
        if (strcmp(feedback->points[i].key, key) == 0)
            return true;
    return false;
}

const char *gen_feedback_text(struct arena *arena, const struct gen_feedback *feedback,
                              const struct gen_feedback *before)
{
    struct text text = {0};
    int news = 0;
    text_addf(&text, "%s\n", feedback->head);
    for (int i = 0; i < feedback->count; i++)
        news += !has(before, feedback->points[i].key);
    /* Where nothing is new, what stayed is what decides, and is told in full. */
    if (before && !news && feedback->count)
        text_add(&text, "\nThe last change has mended none of this:\n");
    for (int i = 0, number = 0; i < feedback->count; i++)
        if (!news || !has(before, feedback->points[i].key))
            text_addf(&text, "\n%d. %s\n%s", ++number, feedback->points[i].title, feedback->points[i].text);
    if (feedback->left_out)
        text_addf(&text, "\n%d more of this kind are not shown.\n", feedback->left_out);
    if (news) {
        /* The points that were there before, a line each. */
        bool said = false;
        for (int i = 0; i < feedback->count; i++) {
            const struct gen_point *point = &feedback->points[i];
            if (!has(before, point->key))
                continue;
            text_add(&text, said ? "" : "\nUnchanged since the last round:\n");
            said = true;
            text_addf(&text, "- %s%s%s%s%s\n", point->title, point->place ? ", " : "", point->place ? point->place : "",
                      point->remedy ? "; remedy: " : "", point->remedy ? point->remedy : "");
        }
    }
    bool said = false;
    for (int i = 0; before && i < before->count; i++) {
        const struct gen_point *point = &before->points[i];
        if (has(feedback, point->key))
            continue;
        text_add(&text, said ? "" : "\nMended since the last round, keep it so:\n");
        said = true;
        text_addf(&text, "- %s%s%s\n", point->title, point->place ? ", " : "", point->place ? point->place : "");
    }
    char *result = arena_strdup(arena, text.bytes);
    text_free(&text);
    return result;
}
