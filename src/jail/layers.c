#include "jail/layers.h"
#include "base/text.h"
#include "jail/calls.h"
#include "jail/landlock.h"
#include "jail/namespaces.h"

#include <pthread.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { SCOPE_VERSION = 6 }; /* of Landlock: signals and abstract sockets */

static struct sandbox_layer_state states[] = {
#define STATE(id, name, required, lost) {name, lost, required, false},
    SANDBOX_LAYERS(STATE)
#undef STATE
};
static uint32_t granted;

static bool has_fixed_addresses(void)
{
    const unsigned long ask = 0xffffffff; /* changes nothing (personality(2)) */
    int persona = personality(ask);
    bool fixed = persona >= 0 && personality((unsigned long)persona | ADDR_NO_RANDOMIZE) >= 0;
    if (fixed)
        personality((unsigned long)persona);
    return fixed;
}

static void try_landlock(void)
{
    int ruleset = landlock_prepare(landlock_version(), NULL, NULL);
    _exit(ruleset < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || landlock_restrict(ruleset) ? 1 : 0);
}

static void try_calls(void)
{
    _exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || calls_restrict() ? 1 : 0);
}

static void find_out(void)
{
    int landlock = namespaces_try(try_landlock) ? landlock_version() : 0;
    granted = namespaces_prepare()->layers;
    granted |= landlock ? LAYER(SANDBOX_LANDLOCK) : 0;
    granted |= landlock >= SCOPE_VERSION ? LAYER(SANDBOX_SCOPE) : 0;
    granted |= calls_prepare() && namespaces_try(try_calls) ? LAYER(SANDBOX_SECCOMP) : 0;
    granted |= has_fixed_addresses() ? LAYER(SANDBOX_ADDRESSES) : 0;
    for (int i = 0; i < SANDBOX_LAYER_COUNT; i++)
        states[i].granted = granted & LAYER(i);
}

uint32_t layers_granted(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_out);
    return granted;
}

const struct sandbox_layer_state *sandbox_layers(void)
{
    layers_granted();
    return states;
}

const char *sandbox_refusal(void)
{
    if (access("/proc/self/fd", X_OK))
        return "/proc is not mounted: objects are loaded through it ('mount -t proc proc /proc' as root)";
    if (!sandbox_layers()[SANDBOX_SECCOMP].granted)
        return "this machine grants no seccomp filter, and nothing else keeps a candidate from system calls: a kernel "
               "with "
               "CONFIG_SECCOMP_FILTER is needed, and a container that allows seccomp(2)";
    return NULL;
}

const char *sandbox_missing(struct arena *arena)
{
    struct text text = {0};
    const struct sandbox_layer_state *layers = sandbox_layers();
    for (int i = 0; i < SANDBOX_LAYER_COUNT; i++)
        if (layers[i].required && !layers[i].granted)
            text_addf(&text, "%s%s", text.length ? ", " : "", layers[i].name);
    const char *kept = text_keep(&text, arena);
    return *kept ? kept : NULL;
}
