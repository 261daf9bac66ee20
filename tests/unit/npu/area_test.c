/* The memories of the device lie where nothing else does, in every process. */
#include "npu/area.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 100000, GUARD = 65536 };

static void parts_have_guards(void **state)
{
    (void)state;
    uint64_t low, device;
    assert_true(npu_area_device(&low, &device));
    for (int area = 0; area < NPU_AREAS; area++) {
        uint64_t next = 0;
        uint8_t *first = npu_area_map(area, &next, BYTES, -1), *second = npu_area_map(area, &next, BYTES, -1);
        assert_ptr_not_equal(first, MAP_FAILED);
        assert_true(second >= first + BYTES + GUARD);
        assert_true(first[0] == 0 && second[BYTES - 1] == 0);
        assert_int_equal(npu_area_of((uint64_t)first), area);
        assert_int_equal(npu_area_of((uint64_t)second + BYTES + GUARD), area);
        assert_int_equal((uint64_t)first - low < device, area != NPU_AREA_STACKS);
        munmap(first, BYTES);
        munmap(second, BYTES);
    }
    int local = 0;
    void *heap = malloc(1);
    assert_int_equal(npu_area_of((uint64_t)&local), NPU_AREAS);
    assert_int_equal(npu_area_of((uint64_t)heap), NPU_AREAS);
    assert_int_equal(npu_area_of((uint64_t)&printf), NPU_AREAS);
    free(heap);
}

/* What is taken already is left alone, and what was given back is taken again. */
static void search_goes_on(void **state)
{
    (void)state;
    uint64_t next = 0, again = 0, once_more = 0;
    uint8_t *first = npu_area_map(NPU_AREA_LOCAL, &next, BYTES, -1);
    uint8_t *second = npu_area_map(NPU_AREA_LOCAL, &again, BYTES, -1);
    assert_true(second > first);
    assert_true(again > next);
    munmap(first, BYTES);
    assert_ptr_equal(npu_area_map(NPU_AREA_LOCAL, &once_more, BYTES, -1), first);
    munmap(first, BYTES);
    munmap(second, BYTES);
}

static void a_file_is_shared(void **state)
{
    (void)state;
    uint64_t next = 0;
    int fd = memfd_create("area", 0);
    assert_int_equal(ftruncate(fd, BYTES), 0);
    uint8_t *at = npu_area_map(NPU_AREA_TENSORS, &next, BYTES, fd);
    at[5] = 7;
    uint8_t read_back = 0;
    assert_int_equal(pread(fd, &read_back, 1, 5), 1);
    assert_int_equal(read_back, 7);
    munmap(at, BYTES);
    close(fd);
}

static void too_much_is_refused(void **state)
{
    (void)state;
    uint64_t next = 0;
    assert_ptr_equal(npu_area_map(NPU_AREA_LOCAL, &next, SIZE_MAX / 2, -1), MAP_FAILED);
    assert_int_equal(next, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_have_guards), cmocka_unit_test(search_goes_on),
                                       cmocka_unit_test(a_file_is_shared), cmocka_unit_test(too_much_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
