/* A fuzz target is one file with two functions: it runs one input, and it names the inputs to begin with. The preset
 * 'fuzz' links it with libFuzzer; every other build links it with mutate.c and runs some thousand inputs in ctest.
 *
 *   build/debug/tests/csv_fuzz --seeds /tmp/csv && build/fuzz/fuzz/csv_fuzz -max_total_time=60 /tmp/csv */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Runs the input to its end and returns 0, or aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* Says with fuzz_seed and fuzz_seed_files what mutation begins with. */
void fuzz_seeds(void);

/* seeds.c. An input is cut at FUZZ_LONGEST bytes. */
enum { FUZZ_LONGEST = 1 << 16 };
struct fuzz_input {
    uint8_t *bytes;
    size_t length;
};
extern struct fuzz_input *fuzz_inputs;
extern size_t fuzz_input_count;
void fuzz_seed(const void *bytes, size_t length);
void fuzz_seed_text(const char *text);
/* Each file below `folder` of the source tree whose name ends like this. */
void fuzz_seed_files(const char *folder, const char *ending);

#endif
