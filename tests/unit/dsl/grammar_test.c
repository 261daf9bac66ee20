/* The grammar of AscendDSL: all programs of tasks are texts of it, and what it yields parses. */
#include "dsl/dsl.h"

#include "base/files.h"
#include "lm/recogniser.h"
#include "unit/lm/derive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

static struct arena arena;
static struct lm_grammar *grammar;
static struct lm_recogniser *recogniser;

static int set_up(void **state)
{
    (void)state;
    const char *text = dsl_grammar(&arena);
    struct akgen_error *error = lm_grammar_parse("dsl", text, strlen(text), &grammar);
    if (error) {
        print_message("%s\n", error->message);
        error_free(error);
        return -1;
    }
    recogniser = lm_recogniser_new(grammar);
    print_message("%d nodes, %d classes of bytes\n", grammar->node_count, grammar->class_count);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    lm_recogniser_free(recogniser);
    lm_grammar_free(grammar);
    arena_free(&arena);
    return 0;
}

/* Bytes of the text that some text of the grammar begins with; all and one more if it is one. */
static size_t accepted(const char *text)
{
    uint32_t at = lm_recogniser_begin(recogniser);
    size_t i = 0;
    for (; text[i]; i++)
        if ((at = lm_recogniser_step(recogniser, at, (uint8_t)text[i])) == LM_DEAD)
            return i;
    return i + lm_recogniser_may_end(recogniser, at);
}

static void assert_accepted(const char *name, const char *text)
{
    size_t read = accepted(text), from = read < 60 ? 0 : read - 60;
    if (read != strlen(text) + 1)
        fail_msg("%s: byte %zu, behind ...%.*s<<HERE>>%.20s", name, read, (int)(read - from), text + from, text + read);
}

static void accepts_programs(void **state)
{
    const char **paths, folder[] = AKGEN_SOURCE_DIR "/tasks";
    size_t count;
    int programs = 0;
    (void)state;
    assert_null(files_list(&arena, folder, &paths, &count));
    for (size_t i = 0; i < count; i++) {
        const char *name = strrchr(paths[i], '/');
        char *text;
        size_t length;
        if (!name || strcmp(name, "/program.py") != 0)
            continue;
        assert_null(files_read(&arena, arena_printf(&arena, "%s/%s", folder, paths[i]), 1 << 20, &text, &length));
        assert_accepted(paths[i], text);
        programs++;
    }
    assert_int_equal(programs, 212);
}

static void accepts_forms(void **state)
{
    static const char *const texts[] = {
        "def f():\n    pass",
        "# first\n\n# second\n\"\"\"A text \"with\" \\\" quotes\nof two lines\"\"\"\nN = 0x1F  # one\ndef f(a, b: int "
        "= 3, *, c):",
        "from a.b import c as d, e\n@ascend_kernel\n@other.name\n# here too\ndef f(\n    a,  # one\n    # two\n    "
        "b,\n) -> None:  # three\n\n    # four\n"
        "    return a, b\n\n\n# five\n  # six\n",
        "def f():\n    if a < b <= c and not d or -e ** -2 // f[1:, :n] != (1 if x is not None else 2,):\n        "
        "pass\n    elif y:\n        z += 1\n"
        "    # between\n    else:\n        x = [1, 0x1f, 1_000, .5e-3, ()]\n    while True:\n        break\n    for i, "
        "j in range(3):\n        with a.b():\n"
        "            assert n % 2 == 0, 'it is'\n    x: tl.constexpr = \"a\"\n    k[min(a, 1)](x, y=(1 +\n      2),)\n",
    };
    static const char *const others[] = {"",
                                         "x = 1\n",
                                         "def f():\n    x\n",
                                         "def f():\n  pass\n",
                                         "def f(): pass\n",
                                         "def f():\n    if = 3\n",
                                         "def f():\n    pass\n        pass\n",
                                         "def f():\n    x = 1if y else 2\n",
                                         "def f():\n    x = 007\n",
                                         "def f():\n    x = f(a=1, 2)\n",
                                         "def f():\n    x = lambda: 1\n",
                                         "def f():\n\tpass\n",
                                         "def f():\n    x = {}\n",
                                         "def f():\n    for x in y:\n        pass\n    else:\n        pass\n",
                                         "def f():\n    x = 'a\n'\n",
                                         "def f():\n    a = b = 1\n",
                                         "def f():\n    x = a[1:2:3]\n",
                                         "def f():\n    if x:\n    pass\n",
                                         "def f():\n    x = (1\n",
                                         "def f():\n    pass; pass\n",
                                         "def f():\n    x = \xff\n"};
    (void)state;
    assert_int_equal(accepted(texts[1]), strstr(texts[1], "*, c") - texts[1]); /* which Python has */
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (i != 1)
            assert_accepted("form", texts[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (accepted(others[i]) == strlen(others[i]) + 1)
            fail_msg("accepted: %s", others[i]);
}

static void assert_parsed(const char *text, int walk)
{
    struct dsl_messages messages;
    if (!dsl_parse(&arena, "x.py", text, strlen(text), &messages))
        fail_msg("walk %d: line %d: %s\n%s", walk, messages.items[0].place.line, messages.items[0].text, text);
}

static void yields_programs(void **state)
{
    enum { WALKS = 3000 };
    struct deriver deriver;
    size_t bytes = 0, longest = 0;
    (void)state;
    derive_begin(&deriver, grammar, 15);
    for (int i = 0; i < WALKS; i++) {
        const char *text = derive(&deriver, (size_t)rng_integer(&deriver.rng, 0, 1500));
        if (i % 10 == 0)
            assert_accepted("walk", text);
        assert_parsed(text, i);
        bytes += strlen(text);
        longest = strlen(text) > longest ? strlen(text) : longest;
        if (i % 100 == 0)
            arena_free(&arena);
    }
    print_message("%zu bytes on average, %zu at most\n", bytes / WALKS, longest);
    assert_true(longest > 1500);
    derive_end(&deriver);
}

/* As high, as deep and as many in a row as the grammar has them. */
static void yields_no_program_that_is_too_deep(void **state)
{
    static const int operators[] = {24, 16, 16, 12, 12, 12, 12, 12}; /* of each level (src/dsl/grammar.c) */
    struct text text = {0}, program = {0};
    (void)state;
    text_add(&text, "-x**-x.a.a.a.a()");
    for (int d = 7; d >= 0;
         d--) { /* from the innermost level outwards: all that makes the tree higher goes around it */
        struct text outer = {0};
        text_addf(&outer, d == 7 ? "%s" : "-x**-x[:%s, 1].a.a.a.a.a", text.bytes);
        for (int i = 0; i < operators[d]; i++)
            text_add(&outer, " < x");
        text_free(&text);
        text_addf(&text, "x if x else x if not %s else x", outer.bytes);
        text_free(&outer);
    }
    text_addf(&program, "def f():\n    x: x = %s, x\n", text.bytes);
    for (int d = 1; d < 8; d++)
        text_addf(&program, "%*sif x:\n", 4 * d, "");
    text_addf(&program, "%*sx = x(x=x)\n", 32, "");
    for (int d = 7; d > 0; d--) {
        for (int i = 0; i < 15; i++)
            text_addf(&program, "%*selif x:\n%*spass\n", 4 * d, "", 4 * d + 4, "");
        text_addf(&program, "%*selse:\n%*spass\n", 4 * d, "", 4 * d + 4, "");
    }
    assert_accepted("deepest", program.bytes);
    assert_parsed(program.bytes, -1);
    text_free(&text);
    text_free(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_programs),
        cmocka_unit_test(accepts_forms),
        cmocka_unit_test(yields_programs),
        cmocka_unit_test(yields_no_program_that_is_too_deep),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
