/* akgen lm train --engine torchrun: the folder of a run, and the launcher's process. */
#include "cli/lm_torchrun.h"

#include "base/arena.h"
#include "base/files.h"
#include "cli/cli.h"
#include "lm/cluster.h"
#include "toolchain/toolchain.h"

#include <errno.h>
#include <jansson.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

enum { NOT_FOUND = 127, LACKS = 3 };

/* The versions that the program was tested with; tests/peers/lm_torchrun_test.py. */
static const char wanted[] = "torch==2.1.2 transformers==4.51.3 accelerate==1.2.1";
static const char probe[] =
    "import importlib.util, sys\n"
    "lacks = [name for name in sys.argv[1:] if not importlib.util.find_spec(name)]\n"
    "print('akgen: ' + sys.executable + ' lacks ' + ', '.join(lacks), file=sys.stderr) if lacks else None\n"
    "sys.exit(3 if lacks else 0)\n";

static const char *python_of(void)
{
    const char *given = getenv("PYTHON");
    return given && *given ? given : "python3";
}

/* Runs a program to its end. Its exit code, 128 and its signal, or NOT_FOUND. */
static int run(const char *program, char *const *arguments)
{
    pid_t process;
    int status;
    if (posix_spawnp(&process, program, NULL, NULL, arguments, environ) != 0)
        return NOT_FOUND;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static struct akgen_error *look_for_python(bool adapters)
{
    const char *python = python_of();
    char *arguments[] = {(char *)python,         (char *)"-c",         (char *)probe,  (char *)"torch",
                         (char *)"transformers", (char *)"accelerate", (char *)"peft", NULL};
    if (!adapters)
        arguments[6] = NULL;
    int code = run(python, arguments);
    if (code == NOT_FOUND)
        return error_new(
            "'%s' cannot be started: --engine torchrun needs Python 3 with %s%s; PYTHON may name another one", python,
            wanted, adapters ? " peft==0.12.0" : "");
    if (code == LACKS)
        return error_new(
            "--engine torchrun needs more packages: %s -m pip install %s%s (or, by PYTHON, name a Python that "
            "has them)",
            python, wanted, adapters ? " peft==0.12.0" : "");
    return code ? error_new("'%s' ended with %d when it was asked for its packages", python, code) : NULL;
}

static void print_result(const struct lm_train_options *train, const struct lm_train_result *result, bool started,
                         bool json)
{
    if (json) {
        json_t *root = json_pack("{s:i s:i s:i s:i s:I s:b}", "steps", result->steps, "samples", result->samples, "cut",
                                 result->cut, "left_out", result->left_out, "learned_tokens",
                                 (json_int_t)result->learned, "started", started);
        cli_print_json(root, JSON_INDENT(2));
    } else {
        printf("samples   %d of %lld tokens to learn, %d steps\n", result->samples, (long long)result->learned,
               result->steps);
    }
    if (!started && !json)
        printf("written   %s/torchrun; its run.sh starts it\n", train->out);
    fflush(stdout);
}

int cli_torchrun(const struct lm_train_options *train, const struct cli_torchrun *torchrun, bool json)
{
    struct arena arena = {0};
    struct lm_train_result result;
    const struct lm_cluster_options cluster = {
        .processes = torchrun->processes ? torchrun->processes : 1,
        .nodes = torchrun->nodes ? torchrun->nodes : 1,
        .program = arena_printf(&arena, "%s/python/torchrun/train.py", toolchain_home())};
    bool starts = !torchrun->dry_run && cluster.nodes == 1;
    struct akgen_error *error = starts ? look_for_python(train->adapters != NULL) : NULL;
    if (!error)
        error = lm_cluster_write(train, &cluster, &result);
    if (!error) {
        print_result(train, &result, starts, json);
        if (!starts && cluster.nodes > 1)
            printf(
                "          on each of %d machines, with MASTER_ADDR the first one's address, and NODE_RANK from 0 on\n",
                cluster.nodes);
    }
    if (!error && starts) {
        const char *script = arena_printf(&arena, "%s/torchrun/run.sh", train->out);
        char *arguments[] = {(char *)"sh", (char *)script, NULL};
        int code = run("sh", arguments);
        if (code)
            error = error_new("%s ended with %d, and said above why", script, code);
        else if (!json)
            printf("written   %s\n", train->out);
    }
    arena_free(&arena);
    return cli_end(error);
}
