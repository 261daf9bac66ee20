/* Which cores a kernel that names no type needs: every group of the machine's functions, by the names that the headers
 * declare. */
#include "abi/npu_adv.h"
#include "abi/npu_matmul.h"
#include "toolchain/toolchain_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* The name of a function that is declared. */
#define NAME(function) (sizeof(&function) ? #function : NULL)

static struct core_uses of(const char *first, const char *second)
{
    const char *names[] = {"memcpy", NAME(npu_que_init), first, second, NULL};
    return core_uses_of_names(names);
}

static void assert_type(const char *first, const char *second, int type)
{
    struct core_uses uses = of(first, second);
    assert_int_equal(core_type_of(ENTRY_UNNAMED, &uses, &uses), type);
}

static void vector_work(void **state)
{
    (void)state;
    const char *const names[] = {NAME(npu_issue),  NAME(npu_advanced), NAME(npu_matmul_open),
                                 NAME(npu_ib_set), NAME(npu_ib_wait),  NAME(npu_block_turn)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(of(names[i], NULL).vector);
        assert_type(NAME(npu_issue_cube), names[i], NPU_TYPE_MIX_AIC_1_2);
    }
    assert_type(NAME(npu_advanced), NULL, NPU_TYPE_INFERRED);
}

static void cube_work(void **state)
{
    (void)state;
    const char *const names[] = {NAME(npu_issue_cube), NAME(npu_matmul_init), NAME(npu_matmul_iterate_all),
                                 NAME(npu_matmul_end)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct core_uses uses = of(names[i], NULL);
        assert_true(uses.cube && !uses.vector && !uses.sync);
        assert_type(names[i], NULL, NPU_TYPE_AIC_ONLY);
    }
}

static void synchronisation(void **state)
{
    (void)state;
    const char *const names[] = {NAME(npu_sync_all), NAME(npu_sync_all_soft), NAME(npu_cross_core_set_flag),
                                 NAME(npu_cross_core_wait_flag)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_type(NAME(npu_issue_cube), names[i], NPU_TYPE_MIX_AIC_1_0);
}

/* DataCopy is the vector's where nothing of the cube stands beside it. */
static void copies(void **state)
{
    (void)state;
    assert_true(of(NAME(npu_issue_copy), NULL).vector);
    assert_false(of(NAME(npu_issue_copy), NAME(npu_issue_cube)).vector);
    assert_type(NAME(npu_issue_copy), NAME(npu_issue_cube), NPU_TYPE_AIC_ONLY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(vector_work), cmocka_unit_test(cube_work),
                                       cmocka_unit_test(synchronisation), cmocka_unit_test(copies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
