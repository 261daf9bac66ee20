/* The inputs that mutation begins with. */
#include "fuzz.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena; /* of bytes and paths, to the end of the program */

static void check(struct akgen_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(2);
}

struct fuzz_input *fuzz_inputs;
size_t fuzz_input_count;

void fuzz_seed(const void *bytes, size_t length)
{
    fuzz_inputs = realloc(fuzz_inputs, (fuzz_input_count + 1) * sizeof *fuzz_inputs);
    if (!fuzz_inputs)
        abort();
    length = length < FUZZ_LONGEST ? length : FUZZ_LONGEST;
    fuzz_inputs[fuzz_input_count++] =
        (struct fuzz_input){memcpy(arena_alloc(&arena, length + 1), bytes, length), length};
}

void fuzz_seed_text(const char *text)
{
    fuzz_seed(text, strlen(text));
}

void fuzz_seed_files(const char *folder, const char *ending)
{
    const char **paths;
    size_t count, length;
    char *bytes;
    const char *root = arena_printf(&arena, "%s/%s", AKGEN_SOURCE_DIR, folder);
    check(files_list(&arena, root, &paths, &count));
    for (size_t i = 0; i < count; i++) {
        size_t all = strlen(paths[i]), end = strlen(ending);
        if (all < end || strcmp(paths[i] + all - end, ending))
            continue;
        check(files_read(&arena, arena_printf(&arena, "%s/%s", root, paths[i]), SIZE_MAX, &bytes, &length));
        fuzz_seed(bytes, length);
    }
}
