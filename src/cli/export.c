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

enum {
    KEY_DB = 0x500,
    KEY_RUN,
    KEY_STRATEGY,
    KEY_FORMAT,
    KEY_PER_TASK,
    KEY_SEED,
    KEY_FIRST_ROUND,
    KEY_REASONING,
    KEY_PROVENANCE,
    KEY_ONLY,
    KEY_EXCLUDE,
    KEY_LANGUAGE,
    LIST_MAX = 256,
    PER_TASK = 8
};

struct export_arguments {
    struct export_options export;
    const char *db, *output;
    int64_t runs[LIST_MAX];
    const char *only[LIST_MAX], *except[LIST_MAX];
};

static const struct argp_option options[] = {
    {"db", KEY_DB, "FILE", 0, "database written by 'akgen bench --db', which is only read", 1},
    {"run", KEY_RUN, "N", CLI_SEVERAL, "only run N; may be given several times (default: all runs of the file)", 1},
    {"only", KEY_ONLY, "GLOB", CLI_SEVERAL, "only tasks whose name matches, with or without the suite; several times",
     1},
    {"exclude", KEY_EXCLUDE, "GLOB", CLI_SEVERAL, "tasks that are held out; several times", 1},
    {"language", KEY_LANGUAGE, "ascendc|dsl|graph|" BENCH_UNKNOWN_LANGUAGE, 0,
     "only answers that were asked for in this language; needed where the runs have several. Runs of an earlier akgen "
     "have none and are left out, but for " BENCH_UNKNOWN_LANGUAGE,
     1},
    {"format", KEY_FORMAT, WORD_CHOICE(EXPORT_FORMATS, ""), 0, "whose loader reads the rows (default trl)", 2},
    {"strategy", KEY_STRATEGY, WORD_CHOICE(EXPORT_STRATEGIES, ""), 0,
     "preferences: which answers are the worse ones, those that compile and fail, those that do not compile, or both "
     "(default)",
     2},
    {"per-task", KEY_PER_TASK, "K", 0, "rows of one task at most; 0: all (default 8)", 2},
    {"seed", KEY_SEED, "S", 0, "which of them (default 0)", 2},
    {"first-round", KEY_FIRST_ROUND, NULL, 0, "leave out the answers to repairs", 2},
    {"reasoning", KEY_REASONING, NULL, 0, "keep what the model thought, in <think> before the answer", 2},
    {"provenance", KEY_PROVENANCE, NULL, 0, "a column says of each row: task, prompt, run, sample, verdict, model", 2},
    {"output", 'o', "FILE", 0, "where the rows go (default: standard output); replaced when they are complete", 3},
    {0},
};

/* One more of an option that may be given several times. */
static int one_more(const struct argp_state *state, const char *option, int count)
{
    if (count == LIST_MAX)
        argp_error(state, "--%s: more than %d", option, LIST_MAX);
    return count;
}

/* A word of the table, as a value of its enum. */
static int word(const struct argp_state *state, const char *option, const char *text, const struct words *words)
{
    for (int value = 0; value < words->count; value++)
        if (strcmp(words->of[value], text) == 0)
            return value;
    argp_error(state, "--%s: no '%s'; --help lists what there is", option, text);
    return 0;
}

static error_t parse_rows(int key, char *text, struct argp_state *state)
{
    struct export_options *export = &((struct export_arguments *)state->input)->export;
    switch (key) {
    case KEY_FORMAT:
        export->format = (enum export_format)word(state, "format", text, &export_formats); // NOLINT: one of the table's
        break;
    case KEY_STRATEGY:
        export->strategy = (enum export_strategy)word(state, "strategy", text, &export_strategies); // NOLINT
        break;
    case KEY_PER_TASK:
        export->per_task = cli_parse_number(state, "per-task", text, 0, INT32_MAX);
        break;
    case KEY_SEED:
        export->seed = cli_parse_number(state, "seed", text, 0, INT32_MAX);
        break;
    case KEY_FIRST_ROUND:
        export->first_round = true;
        break;
    case KEY_REASONING:
        export->reasoning = true;
        break;
    case KEY_PROVENANCE:
        export->provenance = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct export_arguments *arguments = state->input;
    struct export_options *export = &arguments->export;
    switch (key) {
    case KEY_DB:
        arguments->db = text;
        break;
    case KEY_RUN:
        arguments->runs[one_more(state, "run", export->run_count)] = cli_parse_number(state, "run", text, 1, INT32_MAX);
        export->run_count++;
        break;
    case KEY_ONLY:
        arguments->only[one_more(state, "only", export->only_count)] = text;
        export->only_count++;
        break;
    case KEY_EXCLUDE:
        arguments->except[one_more(state, "exclude", export->except_count)] = text;
        export->except_count++;
        break;
    case KEY_LANGUAGE:
        if (strcmp(text, BENCH_UNKNOWN_LANGUAGE) != 0)
            word(state, "language", text, &eval_languages);
        if (strcmp(text, eval_languages.of[EVAL_ANY]) == 0)
            argp_error(state, "--language: an export is of one language, and 'any' is none");
        export->language = text;
        break;
    case 'o':
        arguments->output = text;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "unexpected argument '%s'", text);
        export->what = (enum export_kind)word(state, "export", text, &export_kinds); // NOLINT
        break;
    case ARGP_KEY_END:
        if (!state->arg_num || !arguments->db)
            argp_error(state, "'preferences' or 'sft', and --db FILE are needed");
        if (export->what != EXPORT_PREFERENCES && cli_given(state, KEY_STRATEGY))
            argp_error(state, "--strategy is of preferences, which have a worse answer");
        if (export->what == EXPORT_PREFERENCES && export->format == EXPORT_TRL_MESSAGES)
            argp_error(state, "--format trl-messages has no place for two answers; it is for sft");
        break;
    default:
        return parse_rows(key, text, state);
    }
    return 0;
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
    static const struct argp argp = {
        .options = options,
        .parser = parse,
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
    cli_parse(&argp, argc, argv, &arguments);
    int code;
    struct akgen_error *error = export_rows(&arguments, &code);
    return error ? cli_fail(code, error) : EXIT_PASS;
}
