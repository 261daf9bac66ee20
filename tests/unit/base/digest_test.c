/* Names for content: SHA-256 as FIPS 180-4 has it (the examples of NIST's "SHA256.pdf"), and the two kinds of digest. */
#include "base/digest.h"
#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static void assert_sha(const char *text, size_t times, size_t at_once, const char *expected)
{
    struct sha256 sha;
    uint8_t bytes[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    sha256_init(&sha);
    for (size_t i = 0; i < times; i++)
        for (size_t at = 0, length = strlen(text), n; at < length; at += n) {
            n = length - at < at_once ? length - at : at_once;
            sha256_add(&sha, text + at, n);
        }
    sha256_finish(&sha, bytes);
    for (int i = 0; i < SHA256_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(hex, expected);
}

static void test_the_standards_examples(void **state)
{
    (void)state;
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    for (size_t at_once = 1; at_once <= 100; at_once += 9) {
        assert_sha("", 1, at_once, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_sha("abc", 1, at_once, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_sha(two_blocks, 1, at_once, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
    assert_sha("aaaaaaaaaa", 100000, 64, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_a_digest_is_its_first_half(void **state)
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
        cmocka_unit_test(test_the_standards_examples),
        cmocka_unit_test(test_a_digest_is_its_first_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
