/* akgen doctor: what this machine has, what is missing and how to get it. */
#include "cli/cli.h"
#include "gen/curl.h"
#include "jail/sandbox.h"

#include <sys/utsname.h>
#include <unistd.h>

static void print_item(const struct cli_colors *colors, bool ok, const char *name, const char *text)
{
    printf("%s%-4s%s %-12s %s\n", ok ? colors->good : colors->bad, ok ? "ok" : "BAD", colors->off, name, text);
}

/* A layer that is required and not granted does not keep akgen from working: --require-jail asks for it. False if akgen
 * runs nothing here. */
static bool print_jail(const struct cli_colors *colors, struct arena *arena)
{
    const struct sandbox_layer_state *layers = sandbox_layers();
    const char *refusal = sandbox_refusal(), *missing = sandbox_missing(arena);
    print_item(colors, !refusal && !missing, "jail",
               refusal   ? refusal
               : missing ? arena_printf(arena, "incomplete: no %s", missing)
                         : "complete");
    for (int i = 0; i < SANDBOX_LAYER_COUNT; i++)
        printf("%s%-4s%s   %s%s%s\n", layers[i].granted ? colors->good : colors->bad,
               layers[i].granted    ? "ok"
               : layers[i].required ? "BAD"
                                    : "no",
               colors->off, layers[i].name, layers[i].granted ? "" : ": ", layers[i].granted ? "" : layers[i].lost);
    return !refusal;
}

int cli_doctor(int argc, char **argv)
{
    static const struct cli_table table = {.doc = "Checks that this machine can build, run and judge kernels."};
    cli_parse(&table, argc, argv, NULL);
    struct cli_colors colors = cli_colors_for(stdout);
    struct arena arena = {0};
    const char *version = "";
    struct task *tasks;
    struct utsname machine;
    int task_count = 0;
    bool ok = true;

    uname(&machine);
    print_item(&colors, true, "akgen", arena_printf(&arena, "%s, home %s", AKGEN_VERSION, toolchain_home()));
    print_item(&colors, true, "machine",
               arena_printf(&arena, "%s %s, %ld processors, %ld MiB", machine.sysname, machine.machine,
                            sysconf(_SC_NPROCESSORS_ONLN),
                            sysconf(_SC_PHYS_PAGES) / 1024 * sysconf(_SC_PAGESIZE) / 1024));
    struct akgen_error *error = toolchain_version(&arena, &version);
    print_item(&colors, !error, "compiler", error ? error->message : version);
    ok &= !error;
    error_free(error);
    error = toolchain_prepare(&arena, NULL);
    print_item(&colors, !error, "headers", error ? error->message : "precompiled");
    ok &= !error;
    error_free(error);
    ok &= print_jail(&colors, &arena);
    error = task_load_all(&arena, toolchain_home(), &tasks, &task_count);
    print_item(&colors, !error && task_count, "tasks", error ? error->message : arena_printf(&arena, "%d", task_count));
    ok &= !error && task_count;
    error_free(error);
    error = gen_curl_load(); /* candidates are judged without it */
    print_item(&colors, !error, "models", error ? error->message : gen_curl.version());
    error_free(error);
    arena_free(&arena);
    return ok ? EXIT_PASS : EXIT_OWN_FAILURE;
}
