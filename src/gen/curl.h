/* libcurl, loaded when the first model is asked: with all that it loads in its turn it takes 20 ms, for which no other command
 * of akgen has to wait. `gen_curl.easy_init()` is its curl_easy_init(). */
#ifndef GEN_CURL_H
#define GEN_CURL_H

#include "base/error.h"

#include <curl/curl.h>

#define GEN_CURL_CALLS(X)                                                                                              \
    X(global_init)                                                                                                     \
    X(version)                                                                                                         \
    X(free)                                                                                                            \
    X(url)                                                                                                             \
    X(url_cleanup)                                                                                                     \
    X(url_get)                                                                                                         \
    X(url_set)                                                                                                         \
    X(slist_append)                                                                                                    \
    X(slist_free_all)                                                                                                  \
    X(easy_init)                                                                                                       \
    X(easy_cleanup)                                                                                                    \
    X(easy_getinfo)                                                                                                    \
    X(easy_setopt)                                                                                                     \
    X(easy_strerror)                                                                                                   \
    X(multi_init)                                                                                                      \
    X(multi_cleanup)                                                                                                   \
    X(multi_setopt)                                                                                                    \
    X(multi_add_handle)                                                                                                \
    X(multi_remove_handle)                                                                                             \
    X(multi_perform)                                                                                                   \
    X(multi_info_read)                                                                                                 \
    X(multi_poll)                                                                                                      \
    X(multi_wakeup)
#define GEN_CURL_FIELD(name) __typeof__(&curl_##name) name;

/* Written once, by gen_curl_load. */
extern struct gen_curl {
    GEN_CURL_CALLS(GEN_CURL_FIELD)
} gen_curl;
/* Before the first call. An error says what to install. */
struct akgen_error *gen_curl_load(void);

#endif
