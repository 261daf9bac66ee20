/* The benchmarks' graphs: each row is a formula, and is found by its key and by another way to write it. */
#include "cot/benchmark.h"
#include "cot/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_rows(void **state)
{
    const char *task, *formulas;
    uint64_t key;
    int rows = 0;
    (void)state;
    for (; (task = cot_benchmark_row(rows, &formulas, &key)); rows++) {
        assert_int_not_equal(key, 0);
        assert_non_null(cot_benchmark_graph(key));
    }
    assert_true(rows > 100);
}

static void test_found(void **state)
{
    static const char *const texts[] = {"out = q * rsqrt(mean(q * q) + tiny) * w", "a = silu(b)"};
    uint64_t key;
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_null(graph_key_of_text(texts[i], NULL, &key));
        if (!cot_benchmark_graph(key))
            fail_msg("%s is no benchmark's", texts[i]);
    }
    assert_null(graph_key_of_text("y = tanh(x) * silu(g) + 3", NULL, &key));
    assert_null(cot_benchmark_graph(key));
}

/* What tests/gen/formulas.tsv says of a task is a benchmark's graph: "task TAB formulas", "-" where there are none. */
static void test_table(void **state)
{
    FILE *table = fopen(AKGEN_SOURCE_DIR "/tests/gen/formulas.tsv", "r");
    char line[4096];
    int rows = 0;
    (void)state;
    assert_non_null(table);
    while (fgets(line, sizeof line, table)) {
        char *formulas = strchr(line, '\t');
        uint64_t key;
        if (*line == '#' || !formulas || formulas[1] == '-')
            continue;
        formulas[1 + strcspn(formulas + 1, "\t\n")] = '\0';
        assert_null(graph_key_of_text(formulas + 1, NULL, &key));
        if (!cot_benchmark_graph(key))
            fail_msg("no benchmark's: %s", line);
        rows++;
    }
    fclose(table);
    assert_true(rows >= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_found),
                                       cmocka_unit_test(test_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
