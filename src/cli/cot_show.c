/* akgen cot stats | show | search: what a database of samples holds. */
#include "base/arena.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/cot.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT_TEXT = 100, SEARCH_LIMIT = 20, ROWS = 20 };

struct arguments {
    const char *db;
    struct cot_filter filter;
    struct text words;   /* the arguments, with spaces between */
    const char *operand; /* what they are */
    bool json, all;      /* all: tables have every row */
    int shown;           /* samples */
};

static void take_word(void *words, char *text, const struct argp_state *state)
{
    (void)state;
    text_addf(words, "%s%s", ((struct text *)words)->length ? " " : "", text);
}

#define CLI_OF   struct arguments
#define AS_LINES {"json", 0, NULL, CLI_FLAG(json), 2, "a JSON object for each, in a line"}
static const struct cli_option stats_rows[] = {
    {"json", 0, NULL, CLI_FLAG(json), 2, "one JSON object, with all rows"},
    {"all", 0, NULL, CLI_FLAG(all), 2, "every row of every table, by name (default: the 20 largest of a longer one)"},
};
static const struct cli_option show_rows[] = {
    AS_LINES,
    {NULL, 0, "ID", CLI_CALL(take_word, .at = CLI_AT(words)), 0, NULL},
};
static const struct cli_option search_rows[] = {
    {"limit", 0, "N", CLI_NUMBER(filter.most, 1, INT32_MAX), 2, "the best N (default 20)"},
    AS_LINES,
    {NULL, 0, "WORDS", CLI_CALL(take_word, .at = CLI_AT(words)), 0, NULL},
};
#define PARTS .parts = {{&cli_cot_db_table, CLI_AT(db)}, {&cli_cot_filter_table, CLI_AT(filter)}}

static void check_words(void *arguments, const struct argp_state *state)
{
    if (!((struct arguments *)arguments)->words.length)
        argp_error(state, "%s is needed", ((struct arguments *)arguments)->operand);
}

/* Text that may be null as JSON; JSON text as what it says. */
static json_t *json_of(const char *text)
{
    json_t *json = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    return json ? json : json_null();
}

static json_t *sample_json(const struct cot_sample *sample)
{
    return json_pack("{s:s s:s s:s s:s s:s s:s? s:s s:o s:s s:s s:s? s:I s:o}", "id", sample->id, "part",
                     cot_parts.of[sample->part], "mode", cot_modes.of[sample->mode], "split",
                     cot_splits.of[sample->split], "question", sample->question, "chain", sample->chain, "answer",
                     sample->answer, "verdict", json_of(sample->verdict), "provenance", sample->provenance, "licence",
                     sample->licence, "graph", sample->graph, "bytes", (json_int_t)sample->bytes, "tags",
                     json_of(sample->tags));
}

static struct akgen_error *print_json(void *closure, const struct cot_sample *sample)
{
    struct arguments *arguments = closure;
    json_t *json = sample_json(sample);
    cli_print_json(json, JSON_COMPACT);
    arguments->shown++;
    return NULL;
}

static void print_part(const char *name, const char *text, const struct cli_colors *colors)
{
    if (!text)
        return;
    printf("\n%s%s%s\n", colors->bold, name, colors->off);
    cli_print_clean(stdout, text);
    putchar('\n');
}

static void print_field(const char *name, const char *text)
{
    if (!text)
        return;
    printf("%-10s ", name);
    cli_print_clean(stdout, text);
    putchar('\n');
}

static struct akgen_error *print_sample(void *closure, const struct cot_sample *sample)
{
    struct arguments *arguments = closure;
    struct cli_colors colors = cli_colors_for(stdout);
    if (arguments->shown++)
        printf("\n");
    print_field("id", sample->id);
    print_field("part", cot_parts.of[sample->part]);
    print_field("mode", cot_modes.of[sample->mode]);
    print_field("split", cot_splits.of[sample->split]);
    print_field("from", sample->provenance);
    print_field("licence", sample->licence);
    print_field("graph", sample->graph);
    print_field("verdict", sample->verdict);
    print_field("tags", sample->tags);
    print_part("Question", sample->question, &colors);
    print_part("Chain", sample->chain, &colors);
    print_part("Answer", sample->answer, &colors);
    return NULL;
}

/* The beginning of a text, in one line. */
static struct akgen_error *print_line(void *closure, const struct cot_sample *sample)
{
    struct arguments *arguments = closure;
    char line[SHORT_TEXT + 1];
    size_t length = 0;
    for (const char *at = sample->question; *at && length < SHORT_TEXT; at++)
        if (*at != '\n' || (length && line[length - 1] != ' '))
            line[length++] = (char)(*at == '\n' ? ' ' : *at);
    line[length] = 0;
    text_make_utf8(line); /* a character that was cut */
    printf("%.12s  %-19s ", sample->id, cot_parts.of[sample->part]);
    cli_print_clean(stdout, line);
    putchar('\n');
    arguments->shown++;
    return NULL;
}

static int show(const struct arguments *arguments, struct akgen_error *(*visit)(void *, const struct cot_sample *),
                const char *nothing)
{
    struct store *store = NULL;
    struct akgen_error *error = store_open_to_read(arguments->db, &store);
    if (!error)
        error = cot_store_each(store, &arguments->filter, visit, (void *)arguments);
    store_close(store);
    if (error)
        return cli_fail(EXIT_USAGE, error);
    if (arguments->shown)
        return EXIT_PASS;
    return cli_fail(EXIT_USAGE, error_new("%s: no sample %s '%s'", arguments->db, nothing, arguments->words.bytes));
}

int cli_cot_show(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(show_rows),
        PARTS,
        .check = check_words,
        .args_doc = "ID",
        .doc = "Prints the sample with this id, or all whose id begins so.\v",
    };
    struct arguments arguments = {.operand = table.args_doc};
    cli_parse(&table, argc, argv, &arguments);
    arguments.filter.id = arguments.words.bytes;
    int code = show(&arguments, arguments.json ? print_json : print_sample, "whose id begins with");
    text_free(&arguments.words);
    return code;
}

int cli_cot_search(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(search_rows),
        PARTS,
        .check = check_words,
        .args_doc = "WORDS",
        .doc = "Lists samples that have all of these words in question, chain or answer, the best first.\v",
    };
    struct arguments arguments = {.operand = table.args_doc, .filter.most = SEARCH_LIMIT};
    cli_parse(&table, argc, argv, &arguments);
    arguments.filter.search = arguments.words.bytes;
    int code = show(&arguments, arguments.json ? print_json : print_line, "with the words");
    text_free(&arguments.words);
    return code;
}

/* The tables of stats. */
static const struct {
    enum cot_by by;
    const char *name;
} tables[] = {{COT_BY_PART, "part"},       {COT_BY_MODE, "mode"}, {COT_BY_VERDICT, "verdict"},
              {COT_BY_LICENCE, "licence"}, {COT_BY_STEP, "step"}, {COT_BY_TAG, "tag"}};

static int larger(const void *one, const void *other)
{
    const struct cot_count *a = one, *b = other;
    return a->samples != b->samples ? (a->samples < b->samples) - (a->samples > b->samples) : strcmp(a->name, b->name);
}

/* Without `all` a long table is cut to its largest rows. */
static void print_table(const char *name, struct cot_count *rows, int count, bool all)
{
    struct cot_count total = {.name = "all"};
    const int more = all || count <= ROWS ? 0 : count - ROWS;
    if (more)
        qsort(rows, (size_t)count, sizeof *rows, larger);
    count -= more;
    printf("%-20s %10s %12s %10s %8s %8s\n", name, "samples", "bytes", "train", "valid", "test");
    for (int i = 0; i <= count; i++) {
        const struct cot_count *row = i < count ? &rows[i] : &total;
        if (i == count && strcmp(name, "part") != 0)
            break;
        cli_print_clean(stdout, row->name);
        printf("%*s %10lld %12lld %10lld %8lld %8lld\n", (int)(strlen(row->name) < 20 ? 20 - strlen(row->name) : 0), "",
               (long long)row->samples, (long long)row->bytes, (long long)row->splits[COT_TRAIN],
               (long long)row->splits[COT_VALID], (long long)row->splits[COT_TEST]);
        total.samples += row->samples;
        total.bytes += row->bytes;
        for (int split = 0; split < cot_splits.count; split++)
            total.splits[split] += row->splits[split];
    }
    printf(more ? "%d more; --all shows them\n\n" : "\n", more);
}

static json_t *table_json(const struct cot_count *rows, int count)
{
    json_t *table = json_object();
    for (int i = 0; i < count; i++) {
        json_t *row =
            json_pack("{s:I s:I}", "samples", (json_int_t)rows[i].samples, "bytes", (json_int_t)rows[i].bytes);
        for (int split = 0; split < cot_splits.count; split++)
            json_object_set_new(row, cot_splits.of[split], json_integer(rows[i].splits[split]));
        json_object_set_new(table, rows[i].name, row);
    }
    return table;
}

/* The drops, as {step: {reason: count}} or as a table. */
static void print_drops(const struct cot_count *rows, int count, json_t *all)
{
    json_t *table = json_object();
    if (count && !all)
        printf("%-20s %10s  %s\n", "dropped by", "count", "reason");
    for (int i = 0; i < count; i++) {
        json_t *step = json_object_get(table, rows[i].below);
        if (!step)
            json_object_set_new(table, rows[i].below, step = json_object());
        json_object_set_new(step, rows[i].name, json_integer(rows[i].samples));
        if (!all)
            printf("%-20s %10lld  %s\n", rows[i].below, (long long)rows[i].samples, rows[i].name);
    }
    if (all)
        json_object_set(all, "dropped", table);
    json_decref(table);
}

static struct akgen_error *print_stats(struct store *store, const struct arguments *arguments)
{
    struct arena arena = {0};
    struct cot_count *rows;
    int count;
    struct akgen_error *error = NULL;
    json_t *all = arguments->json ? json_object() : NULL;
    for (size_t i = 0; !error && i < sizeof tables / sizeof *tables; i++) {
        error = cot_store_count(store, &arguments->filter, tables[i].by, &arena, &rows, &count);
        if (!error && all)
            json_object_set_new(all, tables[i].name, table_json(rows, count));
        else if (!error && (count || !i))
            print_table(tables[i].name, rows, count, arguments->all);
    }
    if (!error)
        error = cot_store_count(store, &arguments->filter, COT_BY_DROP, &arena, &rows, &count);
    if (!error)
        print_drops(rows, count, all);
    if (!error && all)
        cli_print_json(json_incref(all), JSON_INDENT(2));
    json_decref(all);
    arena_free(&arena);
    return error;
}

int cli_cot_stats(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(stats_rows),
        PARTS,
        .excess = CLI_UNEXPECTED,
        .doc = "Counts the samples of a database by part, mode, verdict, licence, step and tag, and what was dropped "
               "and why.\v",
    };
    struct arguments arguments = {0};
    cli_parse(&table, argc, argv, &arguments);
    struct store *store = NULL;
    struct akgen_error *error = store_open_to_read(arguments.db, &store);
    if (!error)
        error = print_stats(store, &arguments);
    store_close(store);
    return error ? cli_fail(EXIT_USAGE, error) : EXIT_PASS;
}
