/* Code on huge pages: a library's functions do what they did, from memory that is no longer the file's. */
#include "base/huge_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <cblas.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { SIDE = 64 };

/* Bytes of code that is mapped from the library's file. */
static unsigned long code_of_file(const char *library)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long from, to, sum = 0;
    char line[4096], rights[5];
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, library) && sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && strchr(rights, 'x'))
            sum += to - from;
    if (maps)
        fclose(maps);
    return sum;
}

static bool has_huge_pages(void)
{
    const size_t huge = 2UL << 20;
    char *memory = mmap(NULL, 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *page = memory + -(uintptr_t)memory % huge;
    assert_ptr_not_equal(memory, MAP_FAILED);
    madvise(page, huge, MADV_HUGEPAGE);
    memset(page, 1, huge);
    bool good = madvise(page, huge, MADV_COLLAPSE) == 0;
    munmap(memory, 2 * huge);
    return good;
}

static void multiply(double *product)
{
    double a[SIDE * SIDE], b[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i] = i % 7;
        b[i] = i % 5;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, a, SIDE, b, SIDE, 0, product, SIDE);
}

static void test_a_library_moves(void **state)
{
    (void)state;
    double before[SIDE * SIDE], after[SIDE * SIDE];
    multiply(before);
    unsigned long mapped = code_of_file("openblas");
    unsigned long moved = huge_text();
    multiply(after);
    assert_memory_equal(before, after, sizeof before);
    assert_true(mapped > 0);
    if (!has_huge_pages()) {
        assert_int_equal(moved, 0);
        assert_int_equal(code_of_file("openblas"), mapped);
        return;
    }
    assert_true(moved > 0);
    assert_true(code_of_file("openblas") < mapped);
}

static void test_twice(void **state)
{
    (void)state;
    double before[SIDE * SIDE], after[SIDE * SIDE];
    unsigned long moved = huge_text();
    multiply(before);
    assert_int_equal(huge_text(), moved);
    multiply(after);
    assert_memory_equal(before, after, sizeof before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_library_moves), cmocka_unit_test(test_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
