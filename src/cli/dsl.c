/* akgen dsl check | fmt FILE..: programs in AscendDSL. */
#include "base/files.h"
#include "cli/cli.h"
#include "dsl/dsl.h"

#include <string.h>
#include <unistd.h>

enum { KEY_JSON = 0x500, KEY_CHECK, PROGRAMS_MAX = 1024, LONGEST_FILE = 4 << 20 };

struct dsl_arguments {
    bool json, check;
    const char *command, *files[PROGRAMS_MAX];
    int count;
};

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "check: print what is wrong as JSON", 0},
    {"check", KEY_CHECK, NULL, 0, "fmt: name the files that are formatted otherwise and change none", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct dsl_arguments *arguments = state->input;
    if (key == KEY_JSON)
        arguments->json = true;
    else if (key == KEY_CHECK)
        arguments->check = true;
    else if (key == ARGP_KEY_ARG && !arguments->command)
        arguments->command = text;
    else if (key == ARGP_KEY_ARG && arguments->count < PROGRAMS_MAX)
        arguments->files[arguments->count++] = text;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "more than %d files", PROGRAMS_MAX);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* A file's text; "-" is the standard input. */
static struct akgen_error *read_text(struct arena *arena, const char *path, char **text, size_t *length)
{
    if (strcmp(path, "-") != 0)
        return files_read(arena, path, LONGEST_FILE, text, length);
    struct text all = {0};
    char part[1 << 14];
    size_t got;
    while ((got = fread(part, 1, sizeof part, stdin)) > 0 && all.length <= LONGEST_FILE)
        text_append(&all, part, got);
    *text = arena_strndup(arena, all.bytes ? all.bytes : "", all.length);
    *length = all.length;
    text_free(&all);
    return NULL;
}

/* Says on standard error what is wrong with a program. */
static void print_messages(const struct dsl_messages *messages)
{
    struct text text = {0};
    dsl_messages_print(messages, &text);
    fputs(text.bytes ? text.bytes : "", stderr);
    text_free(&text);
}

/* One file of a command; the exit code. `all`: the messages of all files as JSON, NULL without --json. */
typedef int on_file(struct arena *arena, const struct dsl_arguments *arguments, const char *path, json_t *all);

static int check_file(struct arena *arena, const struct dsl_arguments *arguments, const char *path, json_t *all)
{
    char *text;
    size_t length;
    struct dsl_messages messages;
    (void)arguments;
    struct akgen_error *error = read_text(arena, path, &text, &length);
    if (error)
        return cli_fail(EXIT_USAGE, error);
    const struct dsl_tree *tree = dsl_parse(arena, path, text, length, &messages);
    if (tree)
        dsl_check(arena, tree, &messages);
    if (all)
        json_array_append_new(all, json_pack("{s:s, s:i, s:o}", "file", path, "errors", messages.count, "messages",
                                             dsl_messages_json(&messages)));
    else
        print_messages(&messages);
    return messages.count ? EXIT_OTHER_VERDICT : EXIT_PASS;
}

static int format_file(struct arena *arena, const struct dsl_arguments *arguments, const char *path, json_t *all)
{
    char *text;
    size_t length;
    struct dsl_messages messages;
    bool filter = strcmp(path, "-") == 0;
    (void)all;
    struct akgen_error *error = read_text(arena, path, &text, &length);
    if (error)
        return cli_fail(EXIT_USAGE, error);
    const struct dsl_tree *tree = dsl_parse(arena, path, text, length, &messages);
    print_messages(&messages);
    if (!tree)
        return EXIT_OTHER_VERDICT;
    const char *formatted = dsl_format(arena, tree);
    bool same = strlen(formatted) == length && memcmp(formatted, text, length) == 0;
    if (arguments->check) {
        if (!same)
            printf("%s\n", path);
        return same ? EXIT_PASS : EXIT_OTHER_VERDICT;
    }
    if (filter)
        fputs(formatted, stdout);
    else if (!same)
        error = files_write(path, formatted, strlen(formatted));
    return error ? cli_fail(EXIT_OWN_FAILURE, error) : EXIT_PASS;
}

static int each_file(const struct dsl_arguments *arguments, on_file *run)
{
    int worst = EXIT_PASS;
    json_t *all = arguments->json ? json_array() : NULL;
    for (int i = 0; i < arguments->count; i++) {
        struct arena arena = {0};
        int code = run(&arena, arguments, arguments->files[i], all);
        worst = code > worst ? code : worst;
        arena_free(&arena);
    }
    if (all) {
        json_dumpf(all, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(all);
    }
    return worst;
}

int cli_dsl(int argc, char **argv)
{
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .args_doc = "check FILE..\nfmt FILE..",
                                     .doc = "Programs in AscendDSL; '-' is the standard input."
                                            "\vcheck says what is wrong with programs, where, by which rule and what "
                                            "to do. fmt formats them in place."};
    struct dsl_arguments arguments = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (arguments.count && strcmp(arguments.command, "check") == 0)
        return each_file(&arguments, check_file);
    if (arguments.count && strcmp(arguments.command, "fmt") == 0)
        return each_file(&arguments, format_file);
    argp_help(&argp, stderr, ARGP_HELP_USAGE, argv[0]);
    return EXIT_USAGE;
}
