/* Documents, what is found in them, and what never is. */
#include "gen/library_internal.h"
#include "base/files.h"
#include "gen/prompt_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *name, *words;
    } cases[] = {{"ReduceSum", "reduce sum"},
                 {"TopKV3", "top kv3"},
                 {"Sort32", "sort32"},
                 {"DataCopyPad", "data copy pad"},
                 {"tl.vsqrt(dst, src, count=)", "sqrt"},
                 {"tl.vadd_row(dst, a)", "add row"},
                 {"tl.load(address)", "load"},
                 {"GET_TILING_DATA", "get tiling data"},
                 {"", ""}};
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(library_words(&arena, cases[i].name), cases[i].words);
    arena_free(&arena);
}

static void test_html(void **state)
{
    (void)state;
    static const struct {
        const char *html, *text;
    } cases[] = {{"<p>a  b\n</p><p>c</p>", "a b\nc\n"},
                 {"<h2>Add</h2>x", "\n## Add\nx"},
                 {"1 &lt; 2 &amp;&amp; &#65;&#x42; &unknown; &", "1 < 2 && AB &unknown; &"},
                 {"<script>if (a<b) {}</script>x<style>y</style>z", "xz"},
                 {"a<!-- <p>no</p> -->b", "ab"},
                 {"<table><tr><td>1</td><th>2</th></tr></table>", "1 | 2 |\n"},
                 {"a < b", "a < b"},
                 {"<p", ""},
                 {"<!--", ""},
                 {"<script>", ""}};
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = library_text_of_html(&arena, cases[i].html, strlen(cases[i].html));
        if (strcmp(text, cases[i].text) != 0)
            fail_msg("'%s' became '%s'", cases[i].html, text);
    }
    arena_free(&arena);
}

/* A folder of documents that is removed again. */
static char *make_folder(void)
{
    char name[] = "/tmp/akgen-library-XXXXXX";
    assert_non_null(mkdtemp(name));
    return strdup(name);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    struct arena arena = {0};
    const char *path = arena_printf(&arena, "%s/%s", folder, name);
    assert_null(files_make_directory(arena_strndup(&arena, path, (size_t)(strrchr(path, '/') - path))));
    assert_null(files_write(path, text, strlen(text)));
    arena_free(&arena);
}

static const char *found(struct arena *arena, const struct gen_library *library, const char *word, const char *hidden,
                         size_t budget)
{
    const char *text;
    struct akgen_error *error =
        gen_library_find(library, arena, &(struct gen_query){.words = &word, .word_count = 1}, hidden, budget, &text);
    if (error)
        fail_msg("%s", error->message);
    return text;
}

static void test_documents(void **state)
{
    (void)state;
    char *folder = make_folder();
    struct arena arena = {0};
    struct gen_library *library;
    write_file(folder, "a.md", "# Zebra\n\nFirst stripes.\n\n## Horse\n\nNo stripes at all.\n");
    write_file(folder, "deep/b.txt", "# not markdown but a heading all the same\nlion\n");
    write_file(folder, "deep/skipped.c", "zebra in a source\n");
    write_file(folder, "secret/c.md", "zebra of the task\n");
    assert_int_equal(symlink(arena_printf(&arena, "%s/secret/c.md", folder), arena_printf(&arena, "%s/d.md", folder)),
                     0);
    struct gen_library_sources sources = {.documents = (const char *[]){folder},
                                          .document_count = 1,
                                          .hidden = (const char *[]){arena_printf(&arena, "%s/secret", folder), NULL}};
    assert_null(gen_library_open(&sources, &library));
    assert_string_equal(found(&arena, library, "zebra", NULL, 1000), "**Zebra**\n\nFirst stripes.");
    assert_string_equal(found(&arena, library, "LION", NULL, 1000),
                        "**not markdown but a heading all the same**\n\nlion");
    /* Both have stripes; the shorter entry is the better answer. What does not fit is left out. */
    assert_non_null(strstr(found(&arena, library, "stripes", NULL, 1000), "No stripes at all."));
    assert_null(strstr(found(&arena, library, "stripes", NULL, 30), "No stripes at all."));
    assert_string_equal(found(&arena, library, "stripes", folder, 1000), "");
    /* What SQLite would take for its own language is text. */
    static const char *const odd[] = {"\"", "NEAR(a b)", "zebra\" OR \"lion", "*", "name : zebra", "", "\xff\xfe", "-"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        found(&arena, library, odd[i], NULL, 1000);
    gen_library_close(library);
    files_remove_tree(folder);
    free(folder);
    arena_free(&arena);
}

/* A document of one line, or of bytes, is cut and never larger than an entry may be. */
static void test_long_lines(void **state)
{
    (void)state;
    enum { BYTES = 300000 };
    char *folder = make_folder(), *text = malloc(BYTES + 1);
    struct arena arena = {0};
    struct library_entries entries = {.arena = &arena};
    for (int i = 0; i < BYTES; i++)
        text[i] = i % 3 == 0 ? '\xe4' : i % 3 == 1 ? '\xbd' : '\xa0'; /* 你, so that no cut may fall inside */
    text[BYTES] = 0;
    write_file(folder, "long.txt", text);
    assert_null(library_read_document(&entries, folder, NULL));
    assert_true(entries.count >= BYTES / LIBRARY_LARGEST_ENTRY);
    for (size_t i = 0; i < entries.count; i++) {
        assert_true(strlen(entries.items[i].text) <= LIBRARY_LARGEST_ENTRY);
        assert_int_equal((unsigned char)entries.items[i].text[0], 0xe4);
    }
    files_remove_tree(folder);
    free(folder);
    free(text);
    arena_free(&arena);
}

/* Every function that a word leads to is one that a kernel can call. */
static void test_names_exist(void **state)
{
    (void)state;
    static const char *const names[] = {
#define QUERY(word, names) names,
#include "gen/query_names.def"
#undef QUERY
    };
    struct arena arena = {0};
    struct gen_library *library;
    struct gen_library_sources sources = {.api = AKGEN_SOURCE_DIR "/docs/api.md"};
    assert_null(gen_library_open(&sources, &library));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *list = arena_strdup(&arena, names[i]), *rest;
        for (char *name = strtok_r(list, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
            if (!strstr(found(&arena, library, name, NULL, 100000), arena_printf(&arena, "%s`", name)))
                fail_msg("query_names.def leads to '%s', which docs/api.md lacks", name);
    }
    assert_string_equal(found(&arena, library, "vadd", NULL, 1000), ""); /* an intrinsic */
    gen_library_close(library);
    arena_free(&arena);
}

/* What a task leads to. */
static void test_query(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    struct gen_query query;
    assert_null(task_find(&arena, AKGEN_SOURCE_DIR, "multikernelbench/level1/Activation/Softmax", &task));
    assert_null(prompt_query(&arena, &task, &query));
    const char *wanted[] = {"DataCopyPad", "ReduceMax", "Exp", "ReduceSum", "Div"};
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) {
        int times = 0;
        for (int i = 0; i < query.name_count; i++)
            times += strcmp(query.names[i], wanted[w]) == 0;
        if (times != 1)
            fail_msg("'%s' %d times", wanted[w], times);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),      cmocka_unit_test(test_html),        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_long_lines), cmocka_unit_test(test_names_exist), cmocka_unit_test(test_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
