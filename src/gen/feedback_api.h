/* What docs/api.md says of an API that a compiler complains about. */
#ifndef GEN_FEEDBACK_API_H
#define GEN_FEEDBACK_API_H

#include "base/arena.h"

enum { FEEDBACK_FORMS = 3 };
struct feedback_api {
    const char *name;  /* as it is written; NULL: there is none of this name, in whatever letters */
    const char *types; /* "half, float"; "" */
    const char
        *forms[FEEDBACK_FORMS]; /* "(LocalTensor<T> dst, LocalTensor<T> src, int32_t count)", the shortest first */
    int count, more;
};
/* The API that a message quotes as 'NAME', or one whose name is nearly that. In the arena. */
struct feedback_api feedback_api_of(struct arena *arena, const char *message);

#endif
