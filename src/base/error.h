/* Errors that travel: what was wrong, where, and what would be right. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

/* A function that can fail returns `struct akgen_error *`: NULL is success, anything else is owned by the caller. */
struct akgen_error {
    char *message;    /* complete sentence(s), no newline at the end */
    bool of_the_file; /* it is the file itself (base/files.h): whoever made it, not this machine, is to blame */
};

/* A new error with a printf message. Never returns NULL: out of memory yields a static error that error_free
 * ignores. */
struct akgen_error *error_new(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
/* Puts "<prefix>: " in front of the message and returns the same error. */
struct akgen_error *error_prefix(struct akgen_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(1), returns_nonnull));
/* Marks the error as of the file, and returns it. */
struct akgen_error *error_of_the_file(struct akgen_error *error) __attribute__((nonnull(1), returns_nonnull));
/* Releases an error; NULL is allowed. */
void error_free(struct akgen_error *error);

#endif
