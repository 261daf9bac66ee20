/* All prompts: complete, and without the task's own program, reference or compiled project. */
#include "base/files.h"
#include "dsl/dsl.h"
#include "dsl/specialise.h"
#include "candidate/program.h"
#include "gen/prompt_internal.h"
#include "gen/repair_internal.h"
#include "op/op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { WINDOW = 5, SLOTS = 1 << 20, FEWEST_LETTERS = 6, LONGEST_FILE = 1 << 22 };

/* Five lines of code in a row, and whose they are: of one operator, or of several (or given to all), which tells nothing. */
enum { FREE = -1, SEVERAL = -2 };
struct window {
    uint64_t digest;
    int owner; /* number of a task, the first of its operator; FREE, SEVERAL */
};
static struct {
    struct arena arena;
    struct task *tasks;
    int count;
    int *operators; /* per task: the first task that is the same operator */
    struct window *windows;
} all;

static struct window *slot_of(uint64_t digest)
{
    size_t at = digest % SLOTS;
    while (all.windows[at].owner != FREE && all.windows[at].digest != digest)
        at = (at + 1) % SLOTS;
    return &all.windows[at];
}

/* The line without spaces, if it says something: neither a comment, nor punctuation, nor a word or two. */
static bool is_code(const char *line, size_t length, char *bare, size_t *bare_length)
{
    size_t letters = 0, kept = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '/' && i + 1 < length && line[i + 1] == '/')
            break;
        if (isspace((unsigned char)line[i]))
            continue;
        letters += isalnum((unsigned char)line[i]) != 0;
        bare[kept++] = line[i];
    }
    *bare_length = kept;
    return letters >= FEWEST_LETTERS && *bare != '#' && *bare != '*';
}

/* Calls `take` for each five lines of code in a row. */
static void each_window(const char *text, void (*take)(uint64_t digest, const char *last, void *closure), void *closure)
{
    uint64_t digests[WINDOW];
    int count = 0;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), kept;
        char *bare = malloc(length + 1);
        if (is_code(line, length, bare, &kept)) {
            digests[count++ % WINDOW] = XXH3_64bits(bare, kept);
            if (count >= WINDOW) {
                uint64_t ordered[WINDOW];
                for (int i = 0; i < WINDOW; i++)
                    ordered[i] = digests[(count + i) % WINDOW];
                take(XXH3_64bits(ordered, sizeof ordered), line, closure);
            }
        }
        free(bare);
        line += length + (line[length] == '\n');
    }
}

static void own(uint64_t digest, const char *last, void *closure)
{
    struct window *window = slot_of(digest);
    int owner = *(int *)closure;
    (void)last;
    window->digest = digest;
    window->owner = window->owner == FREE || window->owner == owner ? owner : SEVERAL;
}

static void own_files(const char *dir, int owner)
{
    const char **paths;
    size_t count;
    char *text;
    assert_null(files_list(&all.arena, dir, &paths, &count));
    for (size_t i = 0; i < count; i++) {
        assert_null(
            files_read(&all.arena, arena_printf(&all.arena, "%s/%s", dir, paths[i]), LONGEST_FILE, &text, NULL));
        each_window(text, own, &owner);
    }
}

/* The kernel for the first case alone, where the program has one. */
static void own_kernel(const struct task *task, const struct candidate_program *program, int owner)
{
    struct dsl_lowered lowered;
    struct dsl_messages messages = {0};
    struct dsl_opdef opdef;
    char *text = arena_copy(&all.arena, program->text, program->length + 1);
    struct dsl_tree *tree = (struct dsl_tree *)dsl_parse(&all.arena, program->path, text, program->length, &messages);
    const struct dsl_program *checked = dsl_check(&all.arena, tree, &messages);
    assert_null(dsl_opdef_of_task(&all.arena, checked, task, &opdef));
    struct akgen_error *error = dsl_specialise(&all.arena, tree, task, task->cases[0].id, npu_socs, &opdef, &messages);
    if (!error && !messages.count && dsl_lower(&all.arena, tree, &opdef, DSL_PASSES_COUNT, &lowered, &messages))
        each_window(lowered.files[0].text, own, &owner);
    error_free(error);
}

static void own_task(int number)
{
    struct task *task = &all.tasks[number];
    int owner = all.operators[number];
    struct candidate_program program;
    struct dsl_lowered lowered;
    struct dsl_messages messages = {0};
    struct akgen_error *error = NULL;
    own_files(arena_printf(&all.arena, "%s/reference", task->dir), owner);
    assert_null(candidate_program_of_task(&all.arena, task, &program));
    each_window(program.text, own, &owner);
    assert_true(candidate_program_compile(&all.arena, &program, task, &lowered, &messages, &error));
    for (int i = 0; i < lowered.count; i++)
        each_window(lowered.files[i].text, own, &owner);
    own_kernel(task, &program, owner);
}

static int first_of_operator(int number)
{
    for (int i = 0; i < number; i++)
        if (prompt_same_operator(&all.tasks[number], all.tasks[i].op) ||
            prompt_same_reference(&all.tasks[number], &all.tasks[i]))
            return all.operators[i];
    return number;
}

static int set_up(void **state)
{
    (void)state;
    int given = SEVERAL;
    assert_null(task_load_all(&all.arena, AKGEN_SOURCE_DIR, &all.tasks, &all.count));
    all.operators = malloc((size_t)all.count * sizeof *all.operators);
    all.windows = malloc(SLOTS * sizeof *all.windows);
    for (size_t i = 0; i < SLOTS; i++)
        all.windows[i].owner = FREE;
    for (int i = 0; i < all.count; i++)
        all.operators[i] = first_of_operator(i);
    for (int i = 0; i < all.count; i++)
        own_task(i);
    for (int i = 0; i < all.count; i++) /* what every prompt gives is no secret */
        for (int host_given = 0; host_given < 2; host_given++) {
            struct task_question question;
            assert_null(task_question(&all.arena, &all.tasks[i], host_given, &question));
            for (size_t f = 0; f < question.count; f++)
                each_window(question.files[f].bytes, own, &given);
        }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(all.operators);
    free(all.windows);
    arena_free(&all.arena);
    return 0;
}

struct search {
    int operator; /* of the prompt's task */
    int windows;
    char found[200];
};

static void seek(uint64_t digest, const char *last, void *closure)
{
    struct search *search = closure;
    search->windows++;
    if (slot_of(digest)->owner == search->operator&& !* search->found)
        snprintf(search->found, sizeof search->found, "%.*s", (int)strcspn(last, "\n"), last);
}

/* A placeholder that is left: "{{", perhaps a sign, small letters, "}}". */
static bool has_placeholder(const char *text)
{
    for (const char *at = text; (at = strstr(at, "{{")); at += 2) {
        const char *name = at + 2 + strspn(at + 2, "#^/>! ");
        size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz_ ");
        if (length && strncmp(name + length, "}}", 2) == 0)
            return true;
    }
    return false;
}

/* What a prompt says whatever its variant is. */
static void check_parts(const struct task *task, const struct gen_prompt_options *options, const char *question)
{
    struct arena arena = {0};
    const char *name = op_snake_case(&arena, task->op_type);
    assert_non_null(strstr(question, arena_printf(&arena, "# Operator %s\n", task->op_type)));
    assert_non_null(strstr(question, arena_printf(&arena, "\n| %d | ", task->cases[0].id)));
    assert_non_null(strstr(question, "| vector cores (AIV) | 48 |"));
    for (int i = 0; i < task->input_count; i++)
        assert_non_null(strstr(question, arena_printf(&arena, "`%s`", task->inputs[i].name)));
    if (options->language == EVAL_DSL) {
        assert_non_null(strstr(question, "@ascend_kernel"));
        assert_non_null(strstr(question, "\n<program.py>\nimport tile.language as tl\n"));
    } else {
        assert_non_null(strstr(question, arena_printf(&arena, "<op_kernel/%s.cpp>\n...\n", name)));
        assert_non_null(strstr(question, arena_printf(&arena, "void %s(", name)));
        assert_non_null(strstr(question, arena_printf(&arena, "OP_ADD(%s);", task->op_type)));
    }
    bool shows = options->variant == GEN_ONE_SHOT || options->variant == GEN_EXEMPLARS;
    assert_int_equal(shows, strstr(question, "# Example\n") != NULL);
    assert_int_equal(options->variant == GEN_RETRIEVAL,
                     strstr(question, "# From the documentation\n") || strstr(question, "# From the reference\n"));
    arena_free(&arena);
}

static void check_prompt(int number, const struct gen_prompt_options *options)
{
    struct arena arena = {0};
    struct gen_prompt prompt;
    const struct task *task = &all.tasks[number];
    struct search search = {.operator= all.operators[number] };
    struct akgen_error *error = gen_prompt_of_task(&arena, task, options, &prompt);
    if (error)
        fail_msg("%s", error->message);
    assert_int_equal(prompt.count, 2);
    assert_string_equal(prompt.messages[0].role, "system");
    assert_string_equal(prompt.messages[1].role, "user");
    for (int i = 0; i < prompt.count; i++) {
        const char *text = prompt.messages[i].text;
        if (has_placeholder(text))
            fail_msg("%s: a placeholder is left", task->name);
        each_window(text, seek, &search);
    }
    if (*search.found)
        fail_msg("%s/%s, %s, %s: the prompt holds five lines of its own answer, the last: %s", task->suite, task->name,
                 eval_languages.of[options->language], gen_variants.of[options->variant], search.found);
    assert_true(prompt.tokens > 300 && prompt.tokens < 40000);
    check_parts(task, options, prompt.messages[1].text);
    arena_free(&arena);
}

/* The messages that a round behind a pass adds: what is given back is what was answered, and nothing else of an answer is in them. */
static void check_faster(int number, const struct gen_prompt_options *options)
{
    struct arena arena = {0};
    const struct task *task = &all.tasks[number];
    const struct npu_soc *soc = options->soc;
    const struct gen_model model = {.prompt = *options};
    const struct eval_options eval = {.soc = soc};
    const struct gen_repair_options settings = {.model = &model, .eval = &eval};
    struct search search = {.operator= all.operators[number] };
    struct verdict_case row = {.id = task->cases[0].id, .shape = "x[8]", .dtype = "float16"};
    row.run.timing.model = (struct npu_timing){.known = true, .mhz = 1800, .cycles = 22500, .bound_cycles = 9000};
    const struct verdict verdict = {.kind = AKGEN_VERDICT_PASS, .cases = &row, .case_count = 1, .options = &eval};
    struct op_file file = {.path = "program.py", .bytes = "given = back\n", .length = strlen("given = back\n")};
    struct attempt attempt = {.text = "", .row = {.cases_total = 4}, .timed = true};
    struct repair repair = {.arena = &arena, .task = task, .options = &settings};
    struct gen_prompt prompt;
    attempt.answer = (struct answer){.kind = ANSWER_IS_PROGRAM, .files = &file, .count = 1};
    assert_true(times_of(&arena, &verdict, &attempt.times));
    attempt.told = optimise_told(&arena, &verdict, &attempt.times);
    assert_null(optimise_read_templates(&repair));
    assert_null(gen_prompt_of_task(&arena, task, options, &repair.prompt));
    assert_null(optimise_prompt(&repair, &attempt, &prompt));
    assert_int_equal(prompt.count, 4);
    assert_string_equal(prompt.messages[1].text, repair.prompt.messages[1].text);
    assert_string_equal(prompt.messages[2].text, "<program.py>\ngiven = back\n</program.py>\n");
    const char *asked = prompt.messages[3].text;
    each_window(asked, seek, &search);
    assert_string_equal(search.found, "");
    assert_false(has_placeholder(asked));
    assert_non_null(strstr(asked, arena_printf(&arena, "run on a simulated %s,", soc->name)));
    assert_non_null(strstr(asked, "Nothing was measured"));
    assert_non_null(strstr(asked, "now 12.50 us"));
    assert_non_null(strstr(
        asked, arena_printf(&arena, "\n| %d | float16 x[8] | 12.50 | 0.00 | S of AIV | 5.00 | 40 %% |\n", row.id)));
    assert_non_null(strstr(asked, "It is tried as before with 3 cases of other sizes"));
    assert_int_equal(options->language == EVAL_DSL, strstr(asked, "Answer as before: the complete program,") != NULL);
    assert_null(strstr(asked, "Earlier attempts"));
    arena_free(&arena);
}

/* Every task in one language, all variants, scopes and modes. */
static void check_language(enum eval_language language)
{
    static const struct {
        enum eval_scope scope;
        enum eval_mode mode;
    } kinds[] = {{EVAL_PROJECT, EVAL_DYNAMIC}, {EVAL_PROJECT, EVAL_STATIC}, {EVAL_KERNEL, EVAL_STATIC}};
    for (int variant = 0; variant < gen_variants.count; variant++) {
        struct gen_prompt_options options = {
            .language = language, .variant = (enum gen_variant)variant, .only_case = -1, .soc = npu_socs};
        struct gen_shelf *shelf;
        assert_null(gen_shelf_open(&options, &shelf));
        options.shelf = shelf;
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds - (language == EVAL_DSL); kind++)
            for (int i = 0; i < all.count; i++) {
                options.scope = kinds[kind].scope;
                options.mode = kinds[kind].mode;
                check_prompt(i, &options);
                if (variant == GEN_ZERO_SHOT)
                    check_faster(i, &options);
            }
        gen_shelf_close(shelf);
    }
}

static void test_ascendc(void **state)
{
    (void)state;
    assert_int_equal(all.count, 212);
    check_language(EVAL_ASCENDC);
}

static void test_dsl(void **state)
{
    (void)state;
    check_language(EVAL_DSL);
}

/* The search finds what it is to find: a prompt with the task's own program in it. */
static void test_the_search(void **state)
{
    (void)state;
    for (int i = 0; i < all.count; i++) {
        struct search search = {.operator= all.operators[i] };
        struct candidate_program program;
        assert_null(candidate_program_of_task(&all.arena, &all.tasks[i], &program));
        each_window(program.text, seek, &search);
        if (!*search.found)
            fail_msg("%s: its own program would not be found", all.tasks[i].name);
    }
}

static const struct task *task_of(const char *name)
{
    for (int i = 0; i < all.count; i++)
        if (strcmp(arena_printf(&all.arena, "%s/%s", all.tasks[i].suite, all.tasks[i].name), name) == 0)
            return &all.tasks[i];
    fail_msg("no task %s", name);
    return NULL;
}

/* Which example a task's prompt shows. */
static void expect_example(const char *task, enum eval_language language, enum gen_variant variant, const char *example)
{
    struct arena arena = {0};
    struct gen_prompt prompt;
    struct gen_prompt_options options = {.language = language,
                                         .variant = variant,
                                         .scope = EVAL_PROJECT,
                                         .mode = EVAL_DYNAMIC,
                                         .only_case = -1,
                                         .soc = npu_socs};
    assert_null(gen_prompt_of_task(&arena, task_of(task), &options, &prompt));
    if (!strstr(prompt.messages[1].text, arena_printf(&arena, ", %s.\n", example)))
        fail_msg("%s does not show %s", task, example);
    arena_free(&arena);
}

static void test_examples(void **state)
{
    (void)state;
#define NPU "npukernelbench/"
#define MKB "multikernelbench/"
    expect_example(NPU "level1/Math/Lerp", EVAL_ASCENDC, GEN_ONE_SHOT, NPU "level1/Math/Sqrt");
    expect_example(NPU "level1/Math/Sqrt", EVAL_ASCENDC, GEN_ONE_SHOT, NPU "level1/Math/UnalignAdd");
    expect_example(NPU "level1/Math/Lerp", EVAL_ASCENDC, GEN_EXEMPLARS, NPU "level1/Math/Sqrt");
    expect_example(NPU "level1/Math/Sqrt", EVAL_DSL, GEN_EXEMPLARS, NPU "level1/Math/Addcmul");
    expect_example(MKB "level1/Loss/HingeLoss", EVAL_DSL, GEN_EXEMPLARS, MKB "level1/Loss/MseLoss");
    /* All matrix products of two matrices are one operator; MatmulBias is another. */
    expect_example(NPU "level3/GMM/PaddingMatmul", EVAL_ASCENDC, GEN_EXEMPLARS, NPU "level3/GMM/MatmulBias");
    expect_example(NPU "level3/GMM/MatmulBias", EVAL_ASCENDC, GEN_EXEMPLARS, NPU "level3/GMM/BasicMatmul");
}

static void test_hash(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct gen_prompt first, second, third;
    struct gen_prompt_options options = {.scope = EVAL_PROJECT, .mode = EVAL_DYNAMIC, .only_case = -1, .soc = npu_socs};
    const struct task *task = task_of(NPU "level1/Math/Sqrt");
    assert_null(gen_prompt_of_task(&arena, task, &options, &first));
    assert_null(gen_prompt_of_task(&arena, task, &options, &second));
    assert_string_equal(first.hash, second.hash);
    assert_null(gen_prompt_of_messages(&arena, first.messages, first.count, &options, &third));
    assert_string_equal(first.hash, third.hash);
    assert_int_equal(first.tokens, third.tokens);
    options.soc = npu_soc_find("910B3"); /* 40 vector cores */
    assert_null(gen_prompt_of_task(&arena, task, &options, &third));
    assert_string_not_equal(first.hash, third.hash);
    assert_non_null(strstr(third.messages[1].text, "| vector cores (AIV) | 40 |"));
    arena_free(&arena);
}

static void test_limits(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct gen_prompt prompt;
    struct gen_prompt_options options = {
        .scope = EVAL_PROJECT, .mode = EVAL_DYNAMIC, .variant = GEN_ONE_SHOT, .only_case = -1, .soc = npu_socs};
    const struct task *task = task_of(NPU "level2/Norm/AddLayerNorm");
    assert_null(gen_prompt_of_task(&arena, task, &options, &prompt));
    assert_true(prompt.estimated);
    options.token_limit = prompt.tokens;
    assert_null(gen_prompt_of_task(&arena, task, &options, &prompt));
    options.token_limit = prompt.tokens - 7;
    struct akgen_error *error = gen_prompt_of_task(&arena, task, &options, &prompt);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "by an estimate, 7 more than the limit"));
    assert_non_null(strstr(error->message, "its longest part is 'Example'"));
    error_free(error);
    options.token_limit = 0;
    options.scope = EVAL_KERNEL;
    error = gen_prompt_of_task(&arena, task, &options, &prompt);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "is made for one case"));
    error_free(error);
    options.only_case = 77;
    error = gen_prompt_of_task(&arena, task, &options, &prompt);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "has no case 77"));
    error_free(error);
    arena_free(&arena);
}

/* docs/prompts.md has each placeholder, and no other. */
static void test_documented(void **state)
{
    (void)state;
    static const char *const names[] = {
#define PROMPT_NAME(name) "`" #name "`",
        PROMPT_TEXTS(PROMPT_NAME) PROMPT_FLAGS(PROMPT_NAME)};
    struct arena arena = {0};
    char *text;
    size_t listed = 0;
    assert_null(files_read(&arena, AKGEN_SOURCE_DIR "/docs/prompts.md", LONGEST_FILE, &text, NULL));
    char *table = strstr(text, "\n| placeholder | text |"), *end = strstr(text, "\n## Tokens");
    assert_true(table && end);
    *end = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strstr(table, names[i]))
            fail_msg("%s stands in no table", names[i]);
    for (char *row = strstr(table, "\n| `"); row; row = strstr(row + 1, "\n| `"))
        for (char *name = row + 1; name < strstr(row + 3, " |"); name++)
            listed += *name == '`';
    assert_int_equal(listed / 2, sizeof names / sizeof *names);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_search), cmocka_unit_test(test_ascendc), cmocka_unit_test(test_dsl),
        cmocka_unit_test(test_examples),   cmocka_unit_test(test_hash),    cmocka_unit_test(test_limits),
        cmocka_unit_test(test_documented),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
