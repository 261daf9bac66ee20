/* akgen export preferences | sft: training data of stored runs. */
#include "runs/export.h"
#include "base/arena.h"
#include "base/files.h"
#include "cli/cli.h"
#include "gen/protocol.h"
#include "runs/bench.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIST_MAX = 256, PER_TASK = 8 };

struct export_arguments {
    struct export_options export;
    const char *db, *output;
    int64_t runs[LIST_MAX];
    const char *only[LIST_MAX], *except[LIST_MAX];
};

static void take_what(void *what, char *text, const struct argp_state *state)
{
    if (state->arg_num > 0)
        argp_error(state, CLI_UNEXPECTED, text);
    *(enum export_kind *)what = cli_parse_word(state, "export", text, &export_kinds, CLI_SEE_HELP); // NOLINT
}

static void take_run(void *export, char *text, const struct argp_state *state)
{
    struct export_arguments *arguments = export;
    if (arguments->export.run_count == LIST_MAX)
        argp_error(state, "--run: more than %d", LIST_MAX);
    arguments->runs[arguments->export.run_count++] = cli_parse_number(state, "run", text, 1, INT32_MAX);
}

static void take_language(void *language, char *text, const struct argp_state *state)
{
    if (strcmp(text, BENCH_UNKNOWN_LANGUAGE) != 0)
        cli_parse_word(state, "language", text, &eval_languages, CLI_SEE_HELP);
    if (strcmp(text, eval_languages.of[EVAL_ANY]) == 0)
        argp_error(state, "--language: an export is of one language, and 'any' is none");
    *(const char **)language = text;
}

#define CLI_OF struct export_arguments
static const struct cli_option rows[] = {
    {"db", 0, "FILE", CLI_TEXT(db), 1, "database written by 'akgen bench --db', which is only read"},
    {"run", 0, "N", CLI_CALL(take_run, .flags = CLI_SEVERAL), 1,
     "only run N; may be given several times (default: all runs of the file)"},
    {"only", 0, "GLOB", CLI_LIST(only, export.only_count), 1,
     "only tasks whose name matches, with or without the suite; several times"},
    {"exclude", 0, "GLOB", CLI_LIST(except, export.except_count), 1, "tasks that are held out; several times"},
    {"language", 0, "ascendc|dsl|graph|" BENCH_UNKNOWN_LANGUAGE, CLI_CALL(take_language, .at = CLI_AT(export.language)),
     1,
     "only answers that were asked for in this language; needed where the runs have several. Runs of an earlier akgen "
     "have none and are left out, but for " BENCH_UNKNOWN_LANGUAGE},
    {"format", 0, WORD_CHOICE(EXPORT_FORMATS, ""), CLI_WORD(export.format, export_formats, CLI_SEE_HELP), 2,
     "whose loader reads the rows (default trl)"},
    {"strategy", 0, WORD_CHOICE(EXPORT_STRATEGIES, ""), CLI_WORD(export.strategy, export_strategies, CLI_SEE_HELP), 2,
     "preferences: which answers are the worse ones, those that compile and fail, those that do not compile, or both "
     "(default)"},
    {"per-task", 0, "K", CLI_NUMBER(export.per_task, 0, INT32_MAX), 2, "rows of one task at most; 0: all (default 8)"},
    {"seed", 0, "S", CLI_NUMBER(export.seed, 0, INT32_MAX), 2, "which of them (default 0)"},
    {"first-round", 0, NULL, CLI_FLAG(export.first_round), 2, "leave out the answers to repairs"},
    {"reasoning", 0, NULL, CLI_FLAG(export.reasoning), 2, "keep what the model thought, in <think> before the answer"},
    {"provenance", 0, NULL, CLI_FLAG(export.provenance), 2,
     "a column says of each row: task, prompt, run, sample, verdict, model"},
    {"output", 'o', "FILE", CLI_TEXT(output), 3,
     "where the rows go (default: standard output); replaced when they are complete"},
    {NULL, 0, "WHAT", CLI_CALL(take_what, .at = CLI_AT(export.what)), 0, NULL},
};

static void check_arguments(void *arguments, const struct argp_state *state)
{
    const struct export_options *export = &((struct export_arguments *)arguments)->export;
    if (!state->arg_num || !((struct export_arguments *)arguments)->db)
        argp_error(state, "'preferences' or 'sft', and --db FILE are needed");
    if (export->what != EXPORT_PREFERENCES && cli_given(state, "strategy"))
        argp_error(state, "--strategy is of preferences, which have a worse answer");
    if (export->what == EXPORT_PREFERENCES && export->format == EXPORT_TRL_MESSAGES)
        argp_error(state, "--format trl-messages has no place for two answers; it is for sft");
}

/* A prompt as completions and commands get it. */
static char *plain(const json_t *messages)
{
    struct arena arena = {0};
    const size_t count = json_array_size(messages);
    struct gen_message *list = arena_alloc(&arena, sizeof *list * (count + 1));
    for (size_t i = 0; i < count; i++) {
        const json_t *message = json_array_get(messages, i);
        const char *content = json_string_value(json_object_get(message, "content"));
        list[i] = (struct gen_message){json_string_value(json_object_get(message, "role")), content ? content : ""};
    }
    char *text = gen_protocol_prompt(list, (int)count);
    arena_free(&arena);
    return text;
}

/* Writes to a file beside `path` that takes its place when all is written. */
static struct akgen_error *export_to_file(struct store *store, const struct export_options *export, const char *path,
                                          int *code)
{
    struct arena arena = {0};
    char *half = arena_printf(&arena, "%s.XXXXXX", path);
    int fd = mkostemp(half, O_CLOEXEC);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    struct akgen_error *error = out ? export_write(store, export, out, stderr) : error_new("%s: %m", path);
    *code = out && !ferror(out) ? EXIT_USAGE : EXIT_OWN_FAILURE;
    mode_t mask = umask(0);
    umask(mask);
    if (out && !error && fchmod(fd, 0666 & ~mask))
        error = error_new("%s: %m", path);
    bool complete = !error;
    if (out && fclose(out) && complete)
        error = error_new("%s: %m", path);
    if (out && !error && rename(half, path))
        error = error_new("%s: %m", path);
    if (complete)
        *code = EXIT_OWN_FAILURE;
    if (out && error)
        unlink(half);
    arena_free(&arena);
    return error;
}

/* `code`: what the command ends with if there is an error: 3 if the rows could not be written. */
static struct akgen_error *export_rows(const struct export_arguments *arguments, int *code)
{
    struct store *store = NULL;
    *code = EXIT_USAGE;
    struct akgen_error *error = store_open_to_read(arguments->db, &store);
    if (!error && arguments->output)
        error = export_to_file(store, &arguments->export, arguments->output, code);
    else if (!error)
        error = export_write(store, &arguments->export, stdout, stderr);
    store_close(store);
    if (!error && fflush(stdout))
        error = error_new("cannot write the rows: %m");
    if (ferror(stdout))
        *code = EXIT_OWN_FAILURE;
    return error;
}

int cli_export(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .check = check_arguments,
        .args_doc = "preferences --db FILE\nsft --db FILE\ncann DIR -o OUT",
        .doc = "Training data of stored runs as JSONL, a row a line; or a judged project for a machine with a chip."
               "\vpreferences pairs answers of a model to the same question, the better one first: right over wrong "
               "(AscendKernelGen's rule). sft has the right ones, each candidate once. Both tell on standard error "
               "what became of tasks and answers. 'akgen export cann --help' explains the third.",
    };
    if (argc > 1 && strcmp(argv[1], "cann") == 0) {
        static char name[] = "akgen export cann";
        argv[1] = name;
        return cli_export_cann(argc - 1, argv + 1);
    }
    struct export_arguments arguments = {
        .export = {.per_task = PER_TASK, .strategy = EXPORT_BOTH, .format = EXPORT_TRL, .plain = plain}};
    arguments.export.runs = arguments.runs;
    arguments.export.only = arguments.only;
    arguments.export.except = arguments.except;
    cli_parse(&table, argc, argv, &arguments);
    int code;
    struct akgen_error *error = export_rows(&arguments, &code);
    return error ? cli_fail(code, error) : EXIT_PASS;
}
