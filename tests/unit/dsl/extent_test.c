/* Large programs: the checker takes time in proportion to the text, and what is too large for the compiler's passes is refused. */
#include "dsl/dsl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* Repetitions of a shape's line: about a megabyte. Quadratic time would be minutes, sanitized hours. */
enum { REPEATED = 18000, SECONDS_MAX = 10 };

/* A kernel's or a host function's body; %d in `each` is the number of the line. */
struct shape {
    const char *name;
    const char *kernel, *each, *kernel_end; /* in the kernel: before, REPEATED times, after */
    const char *each_host, *each_file;      /* in the host function, and after it */
    enum dsl_rule rule;                     /* of the first message */
    const char *says;
};

static const struct shape shapes[] = {
    {"buffers", .each = "    u%d = tl.alloc_ub(8, dtype=tl.float32)\n", .rule = DSL_RULE_extent,
     .says = "18000 buffers"},
    {"variables under conditions", .each = "    if n > %d:\n        u%d = 1\n", .rule = DSL_RULE_extent,
     .says = "names"},
    {"variables on both ways", .each = "    if n:\n        u%d = 1\n    else:\n        u%d = n\n",
     .rule = DSL_RULE_extent, .says = "names"},
    {"host variables", .each_host = "    if n:\n        u%d = 1\n", .rule = DSL_RULE_extent, .says = "names"},
    {"loops", .each = "    for u%d in range(n):\n        v = u%d\n", .rule = DSL_RULE_extent, .says = "names"},
    {"largest", .kernel = "    v = 1.0\n    for i in range(n):\n        pass\n", .each = "        u%d = max(v, 1.0)\n",
     .rule = DSL_RULE_extent, .says = "names"},
    {"statements", .kernel = "    v = n\n", .each = "    v = v + %d\n", .rule = DSL_RULE_extent, .says = "statements"},
    {"unknown names", .each = "    u%d = nothing%d\n", .rule = DSL_RULE_names, .says = "nothing0"},
    {"functions", .each_file = "def f%d(a):\n    f%d[1](a)\n", .rule = DSL_RULE_functions, .says = "'f0'"},
    {"kernels", .each_file = "@ascend_kernel\ndef f%d(a):\n    return\n", .rule = DSL_RULE_functions, .says = "'f0'"},
    {"constants", .each_file = "C%d = %d\n", .rule = DSL_RULE_extent, .says = "18000 constants"},
};

static void add_each(struct text *text, const char *each)
{
    for (int i = 0; each && i < REPEATED; i++) {
        const char *at = each;
        for (const char *number; (number = strstr(at, "%d")); at = number + 2)
            text_addf(text, "%.*s%d", (int)(number - at), at, i);
        text_add(text, at);
    }
}

static struct text program_of(const struct shape *shape)
{
    struct text text = {0};
    text_addf(&text, "@ascend_kernel\ndef k(x, n):\n    return_value = n\n%s", shape->kernel ? shape->kernel : "");
    add_each(&text, shape->each);
    text_addf(&text, "%sdef host(x: torch.Tensor):\n    n = x.numel()\n", shape->kernel_end ? shape->kernel_end : "");
    add_each(&text, shape->each_host);
    text_add(&text, "    k[1](x, n)\n");
    add_each(&text, shape->each_file);
    return text;
}

static void test_time(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct arena arena = {0};
        struct text text = program_of(&shapes[s]);
        struct dsl_messages messages = {.arena = &arena};
        const clock_t start = clock();
        assert_null(dsl_check_text(&arena, text.bytes, &messages));
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (messages.items[0].rule != shapes[s].rule || !strstr(messages.items[0].text, shapes[s].says) ||
            seconds > SECONDS_MAX)
            fail_msg("%s: %.1f s, '%s'", shapes[s].name, seconds, messages.items[0].text);
        text_free(&text);
        arena_free(&arena);
    }
}

/* The limits of a function, and one more than each. */
static void test_limits(void **state)
{
    (void)state;
    static const struct {
        const char *each, *says;
        int most;
    } limits[] = {{"    u%d = tl.alloc_ub(8, dtype=tl.float32)\n", "257 buffers are more than 256", 256},
                  {"    u%d = 1\n", "2049 names are more than 2048", 2048 - 2},
                  {"    v = %d\n", "4097 statements are more than 4096", 4096}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int more = 0; more < 2; more++) {
            struct arena arena = {0};
            struct text text = {0};
            struct dsl_messages messages = {.arena = &arena};
            text_add(&text, "@ascend_kernel\ndef k(x, n):\n");
            for (int k = 0; k < limits[i].most + more; k++) {
                const char *number = strstr(limits[i].each, "%d");
                text_addf(&text, "%.*s%d%s", (int)(number - limits[i].each), limits[i].each, k, number + 2);
            }
            text_add(&text, "def host(x: torch.Tensor):\n    k[1](x, 1)\n");
            const struct dsl_program *program = dsl_check_text(&arena, text.bytes, &messages);
            if ((program != NULL) == more || messages.count != more)
                fail_msg("%s: %d more: '%s'", limits[i].says, more, messages.count ? messages.items[0].text : "");
            if (more)
                assert_string_equal(messages.items[0].text, limits[i].says);
            text_free(&text);
            arena_free(&arena);
        }
}

/* Loops in each other: each that is added doubles what the passes do. */
static void test_loops(void **state)
{
    (void)state;
    for (int loops = 8; loops <= 9; loops++) {
        struct arena arena = {0};
        struct text text = {0};
        struct dsl_messages messages = {.arena = &arena};
        text_add(&text, "@ascend_kernel\ndef k(x, n):\n");
        for (int i = 0; i < loops; i++)
            text_addf(&text, "%*sfor i in range(2):\n", 4 * i + 4, "");
        text_addf(&text, "%*sv = n\ndef host(x: torch.Tensor):\n    k[1](x, 1)\n", 4 * loops + 4, "");
        const struct dsl_program *program = dsl_check_text(&arena, text.bytes, &messages);
        assert_int_equal(program != NULL, loops == 8);
        assert_int_equal(messages.count, loops - 8);
        if (loops == 9)
            assert_int_equal(messages.items[0].place.line, 2 + 9);
        text_free(&text);
        arena_free(&arena);
    }
}

/* After two branches a name has a value where both gave it one, or where those that did not have left. */
static void test_branches(void **state)
{
    (void)state;
    static const struct {
        const char *branches;
        bool bound;
    } rows[] = {
        {"    if n:\n        v = 1\n    else:\n        v = 2\n", true},
        {"    if n:\n        v = 1\n    else:\n        w = 2\n", false},
        {"    if n:\n        v = 1\n", false},
        {"    if n:\n        v = 1\n    else:\n        return\n", true},
        {"    if n:\n        return\n    else:\n        v = 1\n", true},
        {"    if n:\n        return\n    v = 1\n", true},
        {"    if n:\n        v = 1\n        return\n", false},
        {"    if n:\n        v = 1\n        return\n    else:\n        w = 1\n", false},
        {"    for i in range(n):\n        v = 1\n", false},
        {"    v = 1\n    for i in range(n):\n        v = 2\n", true},
        {"    v = 1\n    if n:\n        v = 2\n    else:\n        w = 1\n", true},
        {"    if n:\n        if n > 1:\n            v = 1\n        else:\n            v = 2\n    else:\n"
         "        if n < 1:\n            w = 1\n            v = 3\n        else:\n            v = 4\n",
         true},
        {"    if n:\n        if n > 1:\n            v = 1\n        else:\n            w = 2\n    else:\n"
         "        v = 3\n",
         false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct dsl_messages messages = {.arena = &arena};
        const char *text = arena_printf(
            &arena, "@ascend_kernel\ndef k(x, n):\n%s    z = v\ndef host(x: torch.Tensor):\n    k[1](x, 1)\n",
            rows[i].branches);
        if ((dsl_check_text(&arena, text, &messages) != NULL) != rows[i].bound)
            fail_msg("%s", rows[i].branches);
        if (!rows[i].bound)
            assert_string_equal(messages.items[0].text, "'v' may have no value here");
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
