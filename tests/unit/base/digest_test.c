/* Names for content: the two kinds of digest. The expected half is that of NIST's example "abc" (SHA256.pdf). */
#include "base/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_the_two_kinds(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct digest *digest = digest_new_unforgeable();
    digest_bytes(digest, "abc", 3);
    assert_string_equal(digest_finish(digest, &arena), "ba7816bf8f01cfea414140de5dae2223");
    digest = digest_new();
    digest_string(digest, "ab");
    digest_string(digest, "c");
    const char *first = digest_finish(digest, &arena);
    digest = digest_new();
    digest_string(digest, "a");
    digest_string(digest, "bc");
    assert_string_not_equal(digest_finish(digest, &arena), first);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_two_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
