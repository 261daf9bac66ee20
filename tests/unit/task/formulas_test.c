/* Formulas for tasks that have a reference (tests/gen/formulas.tsv): what the planner makes of them is a program that the checker
 * takes and that is right by the task's own reference in its smallest case. */
#include "dsl/bind.h"
#include "dsl/dsl.h"
#include "dsl/write.h"
#include "task/task.h"

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
    assert_true(right >= 123);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
