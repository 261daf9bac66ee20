/* Near duplicates against exact Jaccard similarities, on texts that were changed a little, more and much. */
#include "cot/minhash.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEXTS = 500, LENGTH = 1200, PIECES = LENGTH - MINHASH_PIECE + 1 };

static uint32_t state = 1;
static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, MINHASH_PIECE);
}

static int distinct(char (*pieces)[MINHASH_PIECE], const char *text)
{
    int count = 0;
    for (int i = 0; i < PIECES; i++)
        memcpy(pieces[i], text + i, MINHASH_PIECE);
    qsort(pieces, PIECES, MINHASH_PIECE, compare);
    for (int i = 0; i < PIECES; i++)
        if (!count || compare(pieces[count - 1], pieces[i]) != 0)
            memmove(pieces[count++], pieces[i], MINHASH_PIECE);
    return count;
}

static double jaccard(const char *a, const char *b)
{
    static char left[PIECES][MINHASH_PIECE], right[PIECES][MINHASH_PIECE];
    int lefts = distinct(left, a), rights = distinct(right, b), both = 0;
    for (int i = 0; i < lefts; i++)
        both += bsearch(left[i], right, (size_t)rights, MINHASH_PIECE, compare) != NULL;
    return (double)both / (lefts + rights - both);
}

static void near_duplicates_are_found(void **unused)
{
    (void)unused;
    int found = 0, similar = 0, right = 0;
    double largest_error = 0;
    for (int i = 0; i < TEXTS; i++) {
        char a[LENGTH], b[LENGTH];
        for (int c = 0; c < LENGTH; c++)
            a[c] = (char)('a' + next() % 20);
        memcpy(b, a, LENGTH);
        for (int changes = i % 50; changes > 0; changes--)
            b[next() % LENGTH] = '#';
        struct minhash hashes[2] = {minhash_of(a, LENGTH), minhash_of(b, LENGTH)};
        struct minhash_index *index = minhash_index_new();
        assert_int_equal(minhash_index_add(index, &hashes[0], 0.8), -1);
        bool is_found = minhash_index_add(index, &hashes[1], 0.8) == 0;
        minhash_index_free(index);
        double exact = jaccard(a, b), error = fabs(exact - minhash_similarity(&hashes[0], &hashes[1]));
        largest_error = error > largest_error ? error : largest_error;
        similar += exact >= 0.8;
        found += is_found;
        right += is_found && exact >= 0.8;
    }
    print_message("of %d pairs %d are similar, %d found, %d of them rightly; largest error %.3f\n", TEXTS, similar,
                  found, right, largest_error);
    assert_in_range(similar, 100, 300);
    assert_true(right >= 0.9 * similar); /* recall */
    assert_true(right >= 0.9 * found);   /* precision */
    assert_true(largest_error < 4.5 * sqrt(0.25 / MINHASH_BINS));
}

static void strangers_are_none(void **unused)
{
    (void)unused;
    struct minhash_index *index = minhash_index_new();
    for (int i = 0; i < 3000; i++) { /* the index grows twice */
        char text[LENGTH];
        for (int c = 0; c < LENGTH; c++)
            text[c] = (char)('a' + next() % 20);
        struct minhash hash = minhash_of(text, LENGTH);
        assert_int_equal(minhash_index_add(index, &hash, 0.8), -1);
        assert_int_equal(minhash_index_add(index, &hash, 0.8), i);
    }
    struct minhash empty = minhash_of("", 0), a = minhash_of("a", 1), again = minhash_of("a", 1);
    assert_true(minhash_similarity(&a, &again) == 1);
    assert_true(minhash_similarity(&a, &empty) < 1);
    minhash_index_free(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_duplicates_are_found),
        cmocka_unit_test(strangers_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
