/* Formulas for tasks that have a reference (tests/gen/formulas.tsv): what the planner makes of them is a program that the checker
 * takes and that is right by the task's own reference in its smallest case. */
#include "dsl/bind.h"
#include "dsl/dsl.h"
#include "dsl/write.h"
#include "lm/recogniser.h"
#include "task/expr/formula.h"
#include "task/expr/print.h"
#include "task/task.h"
#include "unit/lm/derive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TABLE AKGEN_SOURCE_DIR "/tests/gen/formulas.tsv"
enum { LONGEST = 1 << 13 };

/* NULL: the program is right in the smallest case; else what is wrong. */
static const char *run(struct arena *arena, const char *name, const char *text)
{
    struct task task, copy;
    const char *program;
    struct dsl_messages messages = {0};
    struct dsl_binding *bindings;
    struct task_instance *instance;
    struct dsl_outcome outcome;
    struct akgen_error *error = task_find(arena, AKGEN_SOURCE_DIR, name, &task);
    if (!error)
        error = task_with_formulas(arena, &task, text, &copy);
    if (!error)
        error = dsl_write(arena, &copy, &program);
    if (error)
        return error->message;
    const struct dsl_tree *tree = dsl_parse(arena, name, program, strlen(program), &messages);
    const struct dsl_program *checked = tree ? dsl_check(arena, tree, &messages) : NULL;
    if (!checked)
        return arena_printf(arena, "line %d: %s", messages.items[0].place.line, messages.items[0].text);
    if ((error = dsl_bind(arena, checked, &task, &bindings)))
        return error->message;
    const struct task_case *smallest = &task.cases[0];
    for (int i = 1; i < task.case_count; i++)
        smallest = task.cases[i].elements < smallest->elements ? &task.cases[i] : smallest;
    if ((error = task_instance_make(&task, smallest, 1, false, &instance)))
        return error->message;
    dsl_run_case(arena, checked, bindings, instance, npu_socs, TASK_STRICT, &messages, &outcome);
    task_instance_free(instance);
    if (!outcome.ran)
        return arena_printf(arena, "line %d: %s", messages.items[0].place.line, messages.items[0].text);
    return outcome.by[TASK_STRICT].ok
               ? NULL
               : arena_printf(arena, "case %d: %s", smallest->id, outcome.by[TASK_STRICT].reason);
}

static bool accepts(struct lm_recogniser *recogniser, const char *text)
{
    uint32_t at = lm_recogniser_begin(recogniser);
    for (; *text && at != LM_DEAD; text++)
        at = lm_recogniser_step(recogniser, at, (uint8_t)*text);
    return lm_recogniser_may_end(recogniser, at);
}

/* The grammar of a task's answers, NULL if it has none. */
static struct lm_grammar *answer_grammar(struct arena *arena, const struct task *task)
{
    struct lm_grammar *grammar = NULL;
    const char *text = task_answer_grammar(arena, task);
    struct akgen_error *error = text ? lm_grammar_parse(task->name, text, strlen(text), &grammar) : NULL;
    if (error)
        fail_msg("%s", error->message);
    return grammar;
}

/* Whatever the grammar of a task's answers yields is read, names are known, and outputs are there. */
static void yields_answers_to_each_task(void **state)
{
    enum { TEXTS = 40 };
    struct arena arena = {0};
    struct task *tasks;
    int count, read = 0, none = 0, statements = 0;
    (void)state;
    assert_null(task_load_all(&arena, AKGEN_SOURCE_DIR, &tasks, &count));
    for (int i = 0; i < count; i++) {
        struct arena own = {0};
        struct deriver deriver;
        struct lm_grammar *grammar = tasks[i].broken ? NULL : answer_grammar(&own, &tasks[i]);
        none += !grammar;
        if (!grammar)
            continue;
        struct lm_recogniser *recogniser = lm_recogniser_new(grammar);
        derive_begin(&deriver, grammar, (uint64_t)i);
        for (int k = 0; k < TEXTS; k++) {
            struct task copy;
            const char *text = derive(&deriver, (size_t)rng_integer(&deriver.rng, 0, 200));
            if (!text || !accepts(recogniser, text))
                fail_msg("%s: '%s' is no text of its grammar", tasks[i].name, text ? text : "(stuck)");
            struct akgen_error *error = task_with_formulas(&own, &tasks[i], text, &copy);
            if (error)
                fail_msg("%s: '%s': %s", tasks[i].name, text, error->message);
            read++;
            for (const char *c = text; *c; c++)
                statements += *c == ';';
        }
        derive_end(&deriver);
        lm_recogniser_free(recogniser);
        lm_grammar_free(grammar);
        arena_free(&own);
    }
    print_message("%d answers to %d tasks, %d more statements; %d tasks have no grammar\n", read, count - none,
                  statements, none);
    assert_true(count > 190 && none < 3 && statements > read);
    arena_free(&arena);
}

/* What is written to a task and what is not: names that are not there, or not yet; outputs that are missing; another way to write it. */
static void test_answers(void **state)
{
    static const struct {
        const char *task, *yes[4], *no[10];
    } rows[] = {
        {"npukernelbench/level2/Norm/AddLayerNorm",
         {"x = x1 + x2; mean = mean(x); d = x - mean; rstd = rsqrt(mean(d * d) + epsilon); y = d * rstd * gamma "
          "+ beta"},
         {"y = d", "y = x1", "d = d + x1; y = d; x = d; mean = d; rstd = d", "y = x; x = x1; mean = x; rstd = x",
          "y = x1; x = x1; mean = x; rstd = x; y = x", "y = x1; x = x1; mean = x; rstd = x; d = x",
          "y=x1; x = x1; mean = x; rstd = x"}},
        {"npukernelbench/level1/Math/Sqrt",
         {"y = where(index(x, -1) == index(x, -2), x, 0)", "y = sqrt(x)",
          "d = x[:size(x) // 2]; y = sum(d, all) + 1e-6", "y = x * erf(x / sqrt(2)) - pi * index(y)"},
         {"y = index(x, all)", "d = x; y = index(d, 0)", "y = sqrt(z)", "y = sum(2)", "x = x; y = x", "sqrt(x)",
          "y = sqrt(x);", "y = x;y = x", "y = sqrt(y)", ""}},
        {"npukernelbench/level2/Foreach/ForeachSqrt",
         {"y = sqrt(x)", "d = -x; y = where(d > 0 and x < 3, d, 1)", "y = x + type_as(x * 2, x)"},
         {"y = index(x, 0)", "y = type_as(x, y)", "y = type_as(2, x)", "d = x; y = type_as(x, d)", "y = sum(x)",
          "y = softmax(x)", "y = x[1:]", "y = x / size(x)"}},
        {"npukernelbench/level1/TensorCreation/Arange",
         {"out = start + index(out) * step", "d = index(out); out = start + d * step", "out = index(out, 0)"},
         {"out = index(start)", "out = out + index(out)", "d = start; out = index(d)", "out = index(out) * out"}},
        {"npukernelbench/level2/Activation/InplaceAttnSoftmax",
         {"x = softmax(x)", "e = exp(x - amax(x)); x = e / sum(e)"},
         {"x = x; x = x", "y = softmax(x)"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct task task;
        assert_null(task_find(&arena, AKGEN_SOURCE_DIR, rows[i].task, &task));
        struct lm_grammar *grammar = answer_grammar(&arena, &task);
        struct lm_recogniser *recogniser = lm_recogniser_new(grammar);
        for (int k = 0; k < 10; k++) {
            if (k < 4 && rows[i].yes[k] && !accepts(recogniser, rows[i].yes[k]))
                fail_msg("%s: '%s' is not accepted", rows[i].task, rows[i].yes[k]);
            if (rows[i].no[k] && accepts(recogniser, rows[i].no[k]))
                fail_msg("%s: '%s' is accepted", rows[i].task, rows[i].no[k]);
        }
        lm_recogniser_free(recogniser);
        lm_grammar_free(grammar);
        arena_free(&arena);
    }
}

/* One case: its data types, and what it gives as inputs that each call has. */
static void test_one_case(void **state)
{
    static const char *const layer_norm =
        "x = x1 + x2 + bias; mean = mean(x); rstd = rsqrt(var(x) + epsilon); y = (x - "
        "mean) * rstd * gamma + beta";
    struct arena arena = {0};
    struct task task, one, copy;
    (void)state;
    assert_null(task_find(&arena, AKGEN_SOURCE_DIR, "npukernelbench/level1/Comparison/Equal", &task));
    assert_null(task_of_case(&arena, &task, 3, &one));
    assert_int_equal(one.case_count, 1);
    assert_int_equal(one.cases[0].id, 3);
    assert_int_equal(one.inputs[0].type_count, 1);
    assert_int_equal(one.combination_count, 1);
    struct task_instance *instance;
    assert_null(task_instance_shapes(&one, one.cases, &instance));
    assert_int_equal(one.inputs[1].types[0], instance->inputs[1].tensors[0].type);
    assert_int_equal(one.combinations[0][0], instance->inputs[0].tensors[0].type);
    assert_true(task.inputs[0].type_count > 1);
    task_instance_free(instance);
    struct akgen_error *error = task_of_case(&arena, &task, 4711, &one);
    assert_string_equal(error->message, "level1/Comparison/Equal: no case 4711");
    error_free(error);
    assert_null(task_find(&arena, AKGEN_SOURCE_DIR, "npukernelbench/level2/Norm/AddLayerNorm", &task));
    assert_null(task_of_case(&arena, &task, 0, &one));
    error = task_with_formulas(&arena, &task, layer_norm, &copy);
    assert_non_null(strstr(error->message, "'bias' is optional"));
    error_free(error);
    assert_null(task_with_formulas(&arena, &one, layer_norm, &copy));
    struct lm_grammar *grammar = answer_grammar(&arena, &one);
    struct lm_recogniser *recogniser = lm_recogniser_new(grammar);
    assert_true(accepts(recogniser, layer_norm));
    lm_recogniser_free(recogniser);
    lm_grammar_free(grammar);
    arena_free(&arena);
}

/* Names that no grammar can have, and more outputs than it has marks. */
static void test_names_of_none(void **state)
{
    struct arena arena = {0};
    const char *many[70], *one[] = {"inf"}, *good[] = {"y"};
    (void)state;
    for (int i = 0; i < 70; i++)
        many[i] = arena_printf(&arena, "y%d", i);
    assert_null(formula_answer_grammar(&arena, &(struct formula_answer){.outputs = one, .output_count = 1}));
    assert_null(formula_answer_grammar(&arena, &(struct formula_answer){.outputs = many, .output_count = 65}));
    assert_null(formula_answer_grammar(&arena, &(struct formula_answer){0}));
    for (int outputs = 1; outputs <= 64; outputs += 63) {
        const struct formula_readable odd[] = {{"a b", false, false}, {"\"", true, true}, {"x", false, true}};
        const char *text = formula_answer_grammar(
            &arena, &(struct formula_answer){
                        .names = odd, .name_count = 3, .outputs = outputs > 1 ? many : good, .output_count = outputs});
        struct lm_grammar *grammar;
        assert_non_null(text);
        assert_null(lm_grammar_parse("g", text, strlen(text), &grammar));
        lm_grammar_free(grammar);
    }
    arena_free(&arena);
}

/* What is printed is read as what it was printed from. */
static void test_printing(void **state)
{
    static const char *const rows[][2] = {
        {"(x + y)[:2] + (-x)[1]", "(x + y)[:2] + (-x)[1]"},
        {"((x)[1:])[:2]", "x[1:][:2]"},
        {"(x < y) < 1", "(x < y) < 1"},
        {"x != (y >= 1)", "x != (y >= 1)"},
        {"(not x < y) + 1", "(not(x < y)) + 1"},
        {"not x and not (y or x)", "not(x) and not(y or x)"},
        {"a + (b + c) - (x - y)", "a + b + c - (x - y)"},
        {"(-x) ** 2 ** (-y)", "(-x)**2**-y"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        for (int again = 0; again < 2; again++) {
            struct expr *tree;
            struct text text = {0};
            struct akgen_error *error = expr_tree_parse(&arena, rows[i][again], &tree);
            if (error)
                fail_msg("%s", error->message);
            expr_print(&text, tree);
            assert_string_equal(text.bytes, rows[i][1]);
            text_free(&text);
        }
        arena_free(&arena);
    }
}

/* Each output is one number, an attribute or one input, whatever the others are: there is no plan for that, or the planner's program is one that the
 * checker takes. Of lists there are always plans. */
static void test_little_is_read(void **state)
{
    struct arena arena = {0};
    struct task *tasks;
    int count, planned = 0, none = 0, wrong = 0;
    (void)state;
    assert_null(task_load_all(&arena, AKGEN_SOURCE_DIR, &tasks, &count));
    for (int i = 0; i < count; i++) {
        const struct task *task = &tasks[i];
        for (int from = -1; from < task->input_count + task->attr_count && !task->broken; from++) {
            const char *read = from < 0                   ? "2"
                               : from < task->input_count ? task->inputs[from].name
                                                          : task->attrs[from - task->input_count].name;
            struct arena own = {0};
            struct task copy;
            struct text text = {0};
            const char *program;
            struct dsl_messages messages = {0};
            for (int o = 0; o < task->output_count; o++)
                text_addf(&text, "%s = %s; ", task->outputs[o].name, read);
            struct akgen_error *error = task_with_formulas(&own, task, text.bytes, &copy);
            error = error ? error : dsl_write(&own, &copy, &program);
            const struct dsl_tree *tree =
                error ? NULL : dsl_parse(&own, task->name, program, strlen(program), &messages);
            if (tree && !dsl_check(&own, tree, &messages)) {
                print_error("%s: %s: line %d: %s\n", task->name, text.bytes, messages.items[0].place.line,
                            messages.items[0].text);
                wrong++;
            }
            planned += !error;
            none += error != NULL;
            error_free(error);
            text_free(&text);
            arena_free(&own);
        }
    }
    print_message("%d plans, %d formulas without one\n", planned, none);
    assert_int_equal(wrong, 0);
    assert_true(planned > 100);
    arena_free(&arena);
}

static void test_table(void **state)
{
    (void)state;
    char line[LONGEST];
    int right = 0, wrong = 0;
    FILE *table = fopen(TABLE, "r");
    assert_non_null(table);
    while (fgets(line, sizeof line, table)) {
        char *tab = strchr(line, '\t');
        line[strcspn(line, "\n")] = 0;
        if (*line == '#')
            continue;
        assert_non_null(tab);
        *tab++ = 0;
        if (*tab == '-' && tab[1] == '\t')
            continue;
        struct arena arena = {0};
        const char *why = run(&arena, line, tab);
        if (why)
            print_error("%s\t%s\n", line, why);
        right += !why;
        wrong += why != NULL;
        arena_free(&arena);
    }
    fclose(table);
    assert_int_equal(wrong, 0);
    assert_true(right >= 132);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_little_is_read),
                                       cmocka_unit_test(yields_answers_to_each_task),
                                       cmocka_unit_test(test_answers),
                                       cmocka_unit_test(test_one_case),
                                       cmocka_unit_test(test_names_of_none),
                                       cmocka_unit_test(test_printing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
