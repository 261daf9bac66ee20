/* Where AKGen's own files are. */
#include "base/files.h"
#include "toolchain/toolchain.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char home[PATH_MAX];
static pthread_once_t home_once = PTHREAD_ONCE_INIT;

static bool take_home(const char *candidate)
{
    char probe[PATH_MAX + 32];
    char resolved[PATH_MAX];
    if (!realpath(candidate, resolved))
        return false;
    snprintf(probe, sizeof probe, "%s/include/abi/npu_abi.h", resolved);
    if (!files_exists(probe))
        return false;
    memcpy(home, resolved, sizeof home);
    return true;
}

static void find_home(void)
{
    const char *given = getenv("AKGEN_HOME");
    if (given && *given) {
        if (!realpath(given, home))
            snprintf(home, sizeof home, "%s", given);
        return;
    }
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        static const char *const places[] = {"..", "../share/akgen", "../.."};
        self[length] = '\0';
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = '\0';
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            char candidate[PATH_MAX + 32];
            snprintf(candidate, sizeof candidate, "%s/%s", self, places[i]);
            if (take_home(candidate))
                return;
        }
    }
    snprintf(home, sizeof home, "%s", AKGEN_SOURCE_DIR);
}

const char *toolchain_home(void)
{
    pthread_once(&home_once, find_home);
    return home;
}
