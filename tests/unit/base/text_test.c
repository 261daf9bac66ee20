/* Text that a stranger wrote, as it reaches a terminal and a page. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *text, *terminal, *page;
} rows[] = {
    {"a\tb", "a\tb", "a\tb"},
    {"a\033[2Jb", "a?[2Jb", "a?[2Jb"},
    {"a\177b", "a?b", "a?b"},
    {"a\xc2\x9b"
     "2Jb",
     "a?2Jb", "a?2Jb"},                                                          /* CSI of C1 */
    {"x\xe2\x80\xae(cba)\xe2\x80\xac", "x?(cba)?", "x?(cba)?"},                  /* U+202E, U+202C */
    {"\xe2\x81\xa6z\xe2\x81\xa9\xe2\x80\x8f\xd8\x9c", "?z???", "?z???"},         /* U+2066, U+2069, U+200F, U+061C */
    {"\xe2\x80\xa2 \xd8\xa7 \xe4\xb8\xad", "\xe2\x80\xa2 \xd8\xa7 \xe4\xb8\xad", /* letters and a bullet stay */
     "\xe2\x80\xa2 \xd8\xa7 \xe4\xb8\xad"},
    {"\xe2\x80", "??", "??"}, /* cut off: no character */
    {"a\x9b"
     "2Jb\xc3(",
     "a?2Jb?(", "a?2Jb?("}, /* CSI where a terminal reads Latin-1 */
    {"<b a='\"'>&", "<b a='\"'>&", "&lt;b a=&#39;&quot;&#39;&gt;&amp;"},
};

static char *put(void (*put_text)(FILE *, const char *), const char *text)
{
    char *bytes;
    size_t length;
    FILE *out = open_memstream(&bytes, &length);
    put_text(out, text);
    fclose(out);
    return bytes;
}

static void controls_do_not_reach_a_reader(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *terminal = put(text_put_plain, rows[i].text), *page = put(text_put_html, rows[i].text);
        assert_string_equal(terminal, rows[i].terminal);
        assert_string_equal(page, rows[i].page);
        free(terminal);
        free(page);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(controls_do_not_reach_a_reader)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
