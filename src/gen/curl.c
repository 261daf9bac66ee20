#include "gen/curl.h"

#include <dlfcn.h>
#include <pthread.h>

struct gen_curl gen_curl;
static bool loaded;

/* The library stays loaded. */
static void load(void)
{
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    const struct {
        const char *name;
        void **place;
    } calls[] = {
#define ROW(name) {"curl_" #name, (void **)&gen_curl.name},
        GEN_CURL_CALLS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!(*calls[i].place = dlsym(library, calls[i].name)))
            return;
    loaded = gen_curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

struct akgen_error *gen_curl_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return loaded ? NULL
                  : error_new("libcurl.so.4, through which models are asked, is missing or too old (" LIBCURL_VERSION
                              " is expected); Debian's package is libcurl4");
}
