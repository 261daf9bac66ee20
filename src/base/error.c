#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

static struct akgen_error out_of_memory = {(char *)"out of memory", false};

static struct akgen_error *error_take(char *message)
{
    struct akgen_error *error = message ? malloc(sizeof *error) : NULL;
    if (!error) {
        free(message);
        return &out_of_memory;
    }
    *error = (struct akgen_error){.message = message};
    return error;
}

struct akgen_error *error_new(const char *format, ...)
{
    char *message = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&message, format, args) < 0)
        message = NULL;
    va_end(args);
    return error_take(message);
}

struct akgen_error *error_prefix(struct akgen_error *error, const char *format, ...)
{
    char *prefix = NULL, *message = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&prefix, format, args) < 0)
        prefix = NULL;
    va_end(args);
    if (!prefix || error == &out_of_memory || asprintf(&message, "%s: %s", prefix, error->message) < 0) {
        free(prefix);
        return error;
    }
    free(prefix);
    free(error->message);
    error->message = message;
    return error;
}

struct akgen_error *error_of_the_file(struct akgen_error *error)
{
    if (error != &out_of_memory)
        error->of_the_file = true;
    return error;
}

void error_free(struct akgen_error *error)
{
    if (!error || error == &out_of_memory)
        return;
    free(error->message);
    free(error);
}
