/* What made-up operators are told in: each kind of wording occurs and its operators are proved, and no sentence is one of a benchmark's. */
#include "cot/synth_prove.h"
#include "base/files.h"
#include "gen/prompt.h"
#include "task/task.h"

#include <ctype.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 12000, FIRST = 500, EACH = 2, WORDS = 5 };

/* A kind of wording, as an extended regular expression that finds it in a question; `answer` finds the answer that it goes with, "" any. */
static const struct {
    const char *wording, *answer;
} kinds[] = {
    {"(clamped|held|cut off|limited|clipped|brought) [^.]*rounded|rounded[^.]* "
     "(clamped|held|cut|limited|clipped|brought)",
     "clamp\\("},
    {"(With|Let us write|Short names:|Here|This is with|What the letters mean:|In it) `[^`]*`( =| being| for) `[^`]*`",
     ""},
    {", [^,]* (where|if) it (is|exceeds|equals|lies|does|differs)", "where\\("},
    {"is true (where|if) `[^`]*` is (finite|a finite|neither)|(where|if|whether|places where|wherever) `[^`]*` is "
     "(finite|a finite)",
     "< inf|== 0"},
    {"(where|if|whether) `[^`]*` is (nan|not a number|no number)", "!="},
    {"is (positive|greater than 0|above 0)", "> 0"},
    {"to (the )?base (10|2)", "log(10|2)\\("},
    {"logarithm of [^.]* to (the )?base `?[0-9.]+`?", "log\\(.*\\) / log\\("},
    {"square root of|the root of", "sqrt\\("},
    {"halves to even|to the even one|to the even neighbour", "round\\("},
    {"rounded down|rounded up|rounded towards|cut off", "floor\\(|ceil\\(|trunc\\("},
    {"modulus of|without its sign|the sign dropped", "abs\\("},
    {"\\|[a-zA-Z_0-9]+\\|\\)", "abs\\("},
    {"very element of `[^`]*` becomes|ach element of `[^`]*` is overwritten", ""},
    {"`[^`]* [-+*/]= ", ""},
    {"filled with|is `[^`]*` everywhere|in every element", "= "},
    {"is a copy of|holds the values of|in the type of", ""},
    {"\\[0\\][^`]* \\+ [^`]*\\[[a-zA-Z_0-9]+\\][^`]* \\+ \\.\\.\\. \\+ [^`]*\\[\\([a-zA-Z_0-9]+ - 1\\) \\* ",
     "sum\\(.*, all\\)"},
    {"= sqrt\\([^`]*\\+ \\.\\.\\. \\+", "sqrt\\(sum\\("},
    {"\"none\"", ""},
    {"\"(sum|mean)\"", "(sum|mean)\\(.*, all\\)"},
    {"attr [A-Za-z_0-9]+ string", ""},
    {"attr [A-Za-z_0-9]+ bool", ""},
    {"(with|where) [^:]*, with `", ";"},
    {"[0-9]\\.[0-9]{16,}", ""},
    {"not needed|lends its shape|do not count|not read|left alone", ""},
    {"in [A-Za-z_0-9]+ absent", ""},
    {"(if|with) `[^`]*`( is| =)? \"(mean|avg|batchmean)\"|: `[^`]* = [^`]* / [a-zA-Z(]",
     "= [0-9.-]+ / size\\(.*, all\\);"},
    {"derivative of `|slope of `|for a slope", "; "},
    {"along dimension `[a-zA-Z]", "// 2:\\]"},
    {"; (over the last|per row|along the last|for each row)", "\\("},
    {"elements of a row|A row has|Rows are of", "size\\("},
    {"one element for each column|goes with the columns|Every row takes", ""},
    {"a number for each tensor|one number for every tensor|goes with tensor `t`", ""},
    {"integral of|∫", ""},
    {"the series |the limit of|derivative is", ""},
    {"`[^`]*\\* [a-zA-Z_0-9]+\\] [-+*/]= |`[^`]*\\[[a-zA-Z_0-9]+ \\* i\\] [-+*/]= ", " = "},
    {"(first `[a-zA-Z_0-9]*` elements|number `[a-zA-Z_0-9]*` on|Past element)", ""},
    {"counted from 1|1-based|with 1 for the first|beginning with 1", "index\\(.*\\) \\+ 1"},
    {"(is|stands?|becomes) .*ties go to the last|the last one of several|of equal ones the last",
     "amax\\(where\\(.*, -1\\)"},
    {"arg(max|min)\\(", "ama?[xi]n?\\(where\\("},
    {"half of each row|half of every row", "// 2"},
    {"is (true|1) where [^.]*(false|0) where (it|`[^`]*`) (is|does|equals|exceeds|lies|differs)",
     " (<|>|<=|>=|==|!=) "},
    {"quarter", "// 4"},
    {"(largest|smallest) `[^`]*` .*(points to|which element|at which place|position|index|number)",
     "= ama?[xi]n?\\(.*; .*index\\("},
    {"add up to 1|adds up to 1|smooth argmax", "softmax\\("},
    {"`[^`]* >= [^`]* // 2`", "index\\(.*// 2"},
    {"(except where|apart from the places) ", "where\\(.*index"},
    {"row and column differ|the row is not the column", "!="},
    {"is even|both even or both odd", "% 2 == 0"},
    {"(is|are|becomes|with|to|value|made) `?(1|2.5|0)`?( everywhere| throughout|, whatever|[.,; ])", "= (1|2.5|0)$"},
    {"(inf, -inf or nan|nan or an infinity|infinite or no number)", "inf"},
    {"(and|or) `[^`]*` (is|has)", "inf and|inf or|!= .* or"},
    {"where `[^`]*` is false", "where\\("},
    {"\n- [A-Z]", ""},
    {"over all rows|over the rows|down the columns|column by column|of each column", "\\(.*, 0\\)"},
    {"over dimension 1|second dimension|over the columns", "\\(.*, 1\\)"},
    {"over the first two dimensions|over dimensions 0 and 1|all dimensions but the last", ", 0, 1\\)"},
    {"(sums? of a row|over a row|over one row|going along the row)", "sum\\(.*, 0"},
    {"layer norm|RMS norm|norm of rows|norm of centred rows", "size\\(|mean\\("},
    {"first half of `[^`]*` is|in its first half|fills the first half|left half of `[^`]*` is", "concat\\("},
    {"[a-z]'\\([a-zA-Z_0-9]+\\)`", "concat\\("},
    {"where `[^`]*` is 0 and `|, for 0, `|= 0 means `", "size\\("},
    {"`(max|sum|min|exp|tanh|relu|sqrt|sigmoid|mean|abs|log)` (is|holds|gets|=) ",
     "(max|sum|min|exp|tanh|relu|sqrt|sigmoid|mean|abs|log) = "},
    {"is the slope of `[^`]*` (for|with) `|(where|with the derivative) `[^`]*`(, the derivative of| of| is the "
     "gradient of) `",
     "; "},
    {"[*+-] \\([^()`]* / [^()`]*\\) \\*|\\* \\([^()`]* / [^()`]*\\)`", " / "},
    {"row `i` of|each row of|every row of|row sums of|row by row|dim=-1", "(sum|mean)\\("},
    {"unbiased|- 1\\)", "- 1\\)"},
    {"half opens the other|what opens is the|half is the one that goes", "size\\("},
    {"hold one element per row|for every row\\.|one number a row each|each row has one element|as long as there are",
     ""},
    {"input `[^`]*` holds `", "concat\\(|; "},
    {"`(gelu|silu|tanh|sigmoid|softplus) = ", "(gelu|silu|tanh|sigmoid|softplus) = .* \\* "},
    {"`(max|sum|exp) = (torch.)?(max|amax|sum|exp)\\(", "(max|sum|exp) = "},
    {"in [a-zA-Z_0-9]+ int(32|64) \\[[12]\\]", "mean\\(|sum\\(|var\\("},
    {"list [a-z0-9]+ \\[1\\]|in [A-Za-z_0-9]+ [a-z0-9]+ \\[[0-9]+\\]", ""},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool finds(const char *expression, const char *text)
{
    regex_t compiled;
    assert_int_equal(regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB), 0);
    bool found = regexec(&compiled, text, 0, NULL, 0) == 0;
    regfree(&compiled);
    return found;
}

/* Whether an operator may be of a kind of which more are wanted: lines of tensors and attributes are in the question alone. */
static bool is_wanted(const struct synth_operator *made, const int *seen)
{
    for (int i = 0; i < KINDS; i++)
        if (seen[i] < EACH &&
            (finds("^(attr|in|list)", kinds[i].wording) || finds(kinds[i].wording, made->description)))
            return true;
    return false;
}

/* Two proved operators of each kind come within these seeds. */
static void test_kinds(void **state)
{
    char scratch[] = "/tmp/akgen-synth-XXXXXX";
    int seen[KINDS] = {0};
    (void)state;
    assert_non_null(mkdtemp(scratch));
    for (uint64_t seed = FIRST; seed < FIRST + SEEDS; seed++) {
        struct arena arena = {0};
        struct synth_operator made;
        struct synth_proof proof = {0};
        synth_operator_make(&arena, seed, &made);
        bool wanted = is_wanted(&made, seen);
        if (wanted)
            assert_null(synth_prove(&arena, &made, scratch, false, &proof));
        for (int i = 0; i < KINDS && wanted && !proof.dropped; i++)
            seen[i] += seen[i] < EACH && finds(kinds[i].wording, proof.brief) && finds(kinds[i].answer, made.answer);
        arena_free(&arena);
    }
    files_remove_tree(scratch);
    for (int i = 0; i < KINDS; i++)
        if (seen[i] < EACH)
            fail_msg("'%s' with '%s': %d operators", kinds[i].wording, kinds[i].answer, seen[i]);
}

/* One operation is a fifteenth of all, two a seventh. */
static void test_short(void **state)
{
    int of[3] = {0};
    (void)state;
    for (uint64_t seed = FIRST; seed < FIRST + 1000; seed++) {
        struct arena arena = {0};
        struct synth_operator made;
        synth_operator_make(&arena, seed, &made);
        of[made.operations < 3 ? made.operations : 0] += made.operations < 3;
        arena_free(&arena);
    }
    assert_true(of[0] + of[1] > 1000 / 15);
    assert_true(of[2] > 1000 / 7);
}

static char *descriptions; /* of SEEDS operators, one behind the other */

static int make_descriptions(void **state)
{
    FILE *all = NULL;
    size_t size;
    (void)state;
    all = open_memstream(&descriptions, &size);
    for (uint64_t seed = FIRST; seed < FIRST + SEEDS; seed++) {
        struct arena arena = {0};
        struct synth_operator made;
        synth_operator_make(&arena, seed, &made);
        fprintf(all, "%s\n", made.description);
        arena_free(&arena);
    }
    fclose(all);
    return 0;
}
static int free_descriptions(void **state)
{
    (void)state;
    free(descriptions);
    return 0;
}

/* A sentence ends before a blank or a line's end, behind '.', ':' or ';'. */
static size_t sentence_length(const char *text)
{
    size_t length = 0;
    while (text[length] && text[length] != '\n' &&
           !(strchr(".:;", text[length]) && (text[length + 1] == ' ' || text[length + 1] == '\n' || !text[length + 1])))
        length++;
    return length;
}

static int words_of(const char *text, size_t length)
{
    int words = 0;
    for (size_t i = 0; i < length; i++)
        words += !isspace((unsigned char)text[i]) && (i == 0 || isspace((unsigned char)text[i - 1]));
    return words;
}

/* No sentence of five words or more of a benchmark's question stands in a description. */
static void test_no_benchmark_sentence(void **state)
{
    struct arena arena = {0};
    struct task *tasks;
    int count, sentences = 0;
    (void)state;
    assert_null(task_load_all(&arena, AKGEN_SOURCE_DIR, &tasks, &count));
    for (int i = 0; i < count; i++) {
        const char *brief;
        assert_null(gen_task_brief(&arena, &tasks[i], &brief));
        for (const char *at = strchr(brief, '\n'); at && *at;) {
            at += strspn(at, "-. :;\n");
            size_t length = sentence_length(at);
            const char *sentence = arena_strndup(&arena, at, length);
            bool tensor = strncmp(at, "in ", 3) == 0 || strncmp(at, "out ", 4) == 0 || strncmp(at, "attr ", 5) == 0;
            if (!tensor && words_of(at, length) >= WORDS && ++sentences && strstr(descriptions, sentence))
                fail_msg("%s: '%s'", tasks[i].op, sentence);
            at += length;
        }
    }
    assert_true(count > 100 && sentences > 300);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_short),
                                       cmocka_unit_test(test_no_benchmark_sentence)};
    return cmocka_run_group_tests(tests, make_descriptions, free_descriptions);
}
