/* The tensors' memory when the kernel's process is gone, and when it is not. */
#include "eval/case_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1 << 16 };

/* A process that maps the memory, writes a byte of it and says so; it ends when it is killed. */
static pid_t start_writer(const struct gm_memory *gm)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid) {
        volatile uint8_t *mine = mmap(NULL, gm->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, gm->fd, 0);
        if (mine == MAP_FAILED || !ftruncate(gm->fd, 4096) || !ftruncate(gm->fd, 2 * BYTES))
            _exit(1);
        mine[7] = 42;
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            mine[8]++;
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_a_process_that_is_gone(void **state)
{
    (void)state;
    struct gm_memory gm;
    assert_true(gm_memory_create(&gm, BYTES));
    assert_int_equal(pwrite(gm.fd, &(char){3}, 1, 9), 1);
    end(start_writer(&gm));
    assert_true(gm_memory_take_away(&gm));
    assert_int_equal(gm.base[7], 42);
    assert_int_equal(gm.base[9], 3);
    /* Nobody writes it any more; what akgen writes is its own. */
    assert_int_equal(pwrite(gm.fd, "x", 1, 0), -1);
    assert_int_equal(errno, EPERM);
    assert_ptr_equal(mmap(NULL, gm.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, gm.fd, 0), MAP_FAILED);
    gm.base[7] = 1;
    assert_int_equal(gm.base[7], 1);
    gm_memory_free(&gm);
}

static void test_a_process_that_lives_on(void **state)
{
    (void)state;
    struct gm_memory gm;
    assert_true(gm_memory_create(&gm, BYTES));
    pid_t pid = start_writer(&gm);
    assert_false(gm_memory_take_away(&gm));
    end(pid);
    gm_memory_free(&gm);
}

/* A process that akgen starts for something else has no mapping of it, so it does not count as one that lives on. */
static void test_a_process_that_has_no_part_in_it(void **state)
{
    (void)state;
    struct gm_memory gm;
    assert_true(gm_memory_create(&gm, BYTES));
    pid_t pid = fork();
    if (!pid)
        for (;;)
            pause();
    assert_true(gm_memory_take_away(&gm));
    end(pid);
    gm_memory_free(&gm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_process_that_is_gone),
        cmocka_unit_test(test_a_process_that_lives_on),
        cmocka_unit_test(test_a_process_that_has_no_part_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
