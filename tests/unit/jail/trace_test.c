/* Slices as akgen-run writes them become a trace. */
#include "jail/trace_internal.h"
#include "jail/job_exchange.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct npu_timing at_2_ghz = {.known = true, .mhz = 2000};

/* The trace of these lines; the caller's. */
static json_t *trace_of(const char *lines, const struct npu_timing *timing)
{
    int slices = memfd_create("slices", MFD_CLOEXEC), trace = memfd_create("trace", MFD_CLOEXEC);
    assert_int_equal(write(slices, lines, strlen(lines)), strlen(lines));
    assert_int_equal(write(trace, "what stood there before", 23), 23);
    assert_int_equal(lseek(trace, 0, SEEK_SET), 0);
    const struct job job = {.trace_fd = trace};
    int failed;
    trace_write(&job, timing, slices, &failed);
    assert_int_equal(failed, 0);
    assert_int_equal(lseek(trace, 0, SEEK_SET), 0);
    json_error_t error;
    json_t *json = json_loadfd(trace, 0, &error);
    close(slices);
    close(trace);
    return json;
}

/* The nth event of that phase; NULL: there are no more. */
static const json_t *event(const json_t *trace, const char *phase, int n)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(trace, i, entry) if (strcmp(json_string_value(json_object_get(entry, "ph")), phase) == 0 &&
                                            n-- == 0) return entry;
    return NULL;
}

static double number(const json_t *entry, const char *key)
{
    return json_number_value(json_object_get(entry, key));
}

static const char *name(const json_t *entry)
{
    return json_string_value(json_object_get(entry, "name"));
}

static void test_slices(void **state)
{
    (void)state;
    json_t *trace = trace_of("3 0 2 100.000 300.500 4096 0 0 0 0\tDataCopy\t\n"
                             "3 0 1 300.500 400.000 0 1024 0 0 0\tAdd\tSoftMax\n"
                             "1 1 4 0.000 50.000 0 0 0 0 0\tMmad\t\n",
                             &at_2_ghz);
    const json_t *copy = event(trace, "X", 0), *add = event(trace, "X", 1), *mmad = event(trace, "X", 2);
    assert_null(event(trace, "X", 3));
    assert_string_equal(name(copy), "DataCopy");
    assert_float_equal(number(copy, "ts"), 0.05, 1e-9);
    assert_float_equal(number(copy, "dur"), 0.10025, 1e-9);
    assert_int_equal(number(json_object_get(copy, "args"), "bytes"), 4096);
    assert_null(json_object_get(json_object_get(copy, "args"), "of"));
    assert_int_equal(number(json_object_get(add, "args"), "elements"), 1024);
    assert_string_equal(json_string_value(json_object_get(json_object_get(add, "args"), "of")), "SoftMax");
    assert_true(number(copy, "pid") == number(add, "pid") && number(copy, "tid") != number(add, "tid"));
    assert_true(number(copy, "pid") != number(mmad, "pid"));
    /* Names: of the process, then its labels and order, then of the thread and its order. */
    const char *const names[] = {"AIV 3", "modelled", NULL, "MTE2", NULL, "V", NULL, "AIC 1", "modelled", NULL, "M"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *arguments = json_object_get(event(trace, "M", (int)i), "args");
        const char *text = json_string_value(json_object_iter_value(json_object_iter((json_t *)arguments)));
        if (names[i])
            assert_string_equal(text, names[i]);
        else
            assert_null(text);
    }
    json_decref(trace);
}

/* Work of one pipe that overlaps stands side by side; the cores' slices come in any order. */
static void test_overlap(void **state)
{
    (void)state;
    json_t *trace = trace_of("0 0 2 0.000 100.000 8 0 0 0 0\tA\t\n1 0 2 0.000 10.000 8 0 0 0 0\tB\t\n"
                             "0 0 2 50.000 150.000 8 0 0 0 0\tC\t\n0 0 2 100.000 200.000 8 0 0 0 0\tD\t\n",
                             &at_2_ghz);
    const double first = number(event(trace, "X", 0), "tid");
    assert_true(number(event(trace, "X", 1), "tid") == first);
    assert_true(number(event(trace, "X", 2), "tid") != first);
    assert_true(number(event(trace, "X", 3), "tid") == first);
    json_decref(trace);
}

/* An arrow goes from what sets a flag to what waits for it, whichever comes first in the file, and never back in time. */
static void test_flags(void **state)
{
    (void)state;
    static const char *const orders[] = {
        "0 0 2 100.000 110.000 0 0 7 0 0\tSetFlag\t\n0 0 1 20.000 112.000 0 0 7 0 0\tWaitFlag\t\n",
        "0 0 1 20.000 112.000 0 0 7 0 0\tWaitFlag\t\n0 0 2 100.000 110.000 0 0 7 0 0\tSetFlag\t\n"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        json_t *trace = trace_of(orders[i], &at_2_ghz);
        const json_t *start = event(trace, "s", 0), *finish = event(trace, "f", 0);
        assert_float_equal(number(start, "ts"), 0.05, 1e-9);
        assert_float_equal(number(finish, "ts"), 0.05, 1e-9);
        assert_true(number(start, "id") == number(finish, "id"));
        assert_true(number(start, "tid") == number(event(trace, "X", i ? 1 : 0), "tid"));
        assert_true(number(finish, "tid") == number(event(trace, "X", i ? 0 : 1), "tid"));
        assert_null(event(trace, "s", 1));
        json_decref(trace);
    }
}

/* What is no slice is left out, and no name leaves its string. */
static void test_what_is_none(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "nonsense\n",
        "0 0 7 0.0 1.0 0 0 0 0 0\tlane\t\n",
        "-1 0 1 0.0 1.0 0 0 0 0 0\tcore\t\n",
        "131072 0 1 0.0 1.0 0 0 0 0 0\tcore\t\n",
        "0 2 1 0.0 1.0 0 0 0 0 0\tkind\t\n",
        "0 0 1 2.0 1.0 0 0 0 0 0\tbackwards\t\n",
        "0 0 1 nan 1.0 0 0 0 0 0\ttime\t\n",
        "0 0 1 0.0 inf 0 0 0 0 0\ttime\t\n",
        "0 0 1 0.0 1.0 0 0 0 9 0\tobject\t\n",
        "0 0 1 0.0 1.0 0 0 0 -1 0\tobject\t\n",
        "0 0 1 0.0 1.0 0 0 0 0 0\tno second name\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        json_t *trace = trace_of(lines[i], &at_2_ghz);
        assert_true(json_is_array(trace));
        assert_int_equal(json_array_size(trace), 0);
        json_decref(trace);
    }
    json_t *trace = trace_of("0 0 1 0.0 1.0 0 0 0 0 0\ta\"b\\c\x01\xff\tq\"\n", &at_2_ghz);
    assert_string_equal(name(event(trace, "X", 0)), "a?b?c??");
    json_decref(trace);
}

/* A timeline that was cut says so. */
static void test_no_room(void **state)
{
    (void)state;
    enum { LINE = 1 << 20, LINES = JOB_SLICES_LIMIT / LINE };
    static const char first[] = "0 0 1 0.0 4000.0 0 0 0 0 0\tA\t\n";
    char *lines = calloc((size_t)(LINES + 1) * LINE + sizeof first, 1);
    size_t length = sizeof first - 1;
    memcpy(lines, first, length);
    for (int i = 0; i < LINES; i++, length += LINE) {
        memset(lines + length, 'x', LINE - 1);
        lines[length + LINE - 1] = '\n';
    }
    json_t *trace = trace_of(lines, &at_2_ghz);
    assert_string_equal(name(event(trace, "i", 0)), "what follows has no room");
    assert_float_equal(number(event(trace, "i", 0), "ts"), 2, 1e-9);
    json_decref(trace);
    lines[length - LINE] = '\0';
    trace = trace_of(lines, &at_2_ghz);
    assert_null(event(trace, "i", 0));
    assert_non_null(event(trace, "X", 0));
    json_decref(trace);
    free(lines);
}

/* What could not be written is told, also where the last bytes would have room. */
static void test_a_full_disk(void **state)
{
    (void)state;
    static const char slice[] = "0 0 1 10 20 0 64 0 0 0\tAdd\t\n";
    for (int lines = 1; lines <= 2000; lines *= 2000) {
        int slices = memfd_create("slices", MFD_CLOEXEC), full = open("/dev/full", O_WRONLY | O_CLOEXEC), failed = 0;
        for (int i = 0; i < lines; i++)
            assert_int_equal(write(slices, slice, sizeof slice - 1), sizeof slice - 1);
        const struct job job = {.trace_fd = full};
        assert_false(trace_write(&job, &at_2_ghz, slices, &failed));
        assert_int_equal(failed, ENOSPC);
        close(slices);
        close(full);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_disk), cmocka_unit_test(test_slices),       cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_flags),       cmocka_unit_test(test_what_is_none), cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
