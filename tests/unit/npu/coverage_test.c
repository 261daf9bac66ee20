/* Every instruction of isa.def has been compared with a plain loop: in each pair of data types and each form that a
 * kernel can write, and in each mode and along each path. The tests of instructions leave what they compared beside
 * their program (coverage.h); ctest runs them before this one, which takes their names as its arguments and believes no
 * list of a program that is not there any more:
 *   npu_tests coverage_test PROGRAM:FILE... */
/* test: needs=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/isa_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define HAS(form) (1u << (form))
enum {
    LEVEL_0 = HAS(LENGTH) | HAS(BITS) | HAS(COUNTER),
    REGISTERS = HAS(REG) | HAS(REG_COUNTER),
    EVERY_FORM = HAS(COUNT) | LEVEL_0 | REGISTERS,
    NO_FORM = HAS(COUNT) /* what a test says of an instruction that has no mask */
};
static const struct {
    const char *family;
    unsigned forms;
} family_forms[] = {{"binary", EVERY_FORM},
                    {"ternary", EVERY_FORM},
                    {"scalar", EVERY_FORM},
                    {"unary", EVERY_FORM},
                    {"cast", EVERY_FORM},
                    {"compound", EVERY_FORM},
                    {"dequant", EVERY_FORM},
                    {"duplicate", EVERY_FORM},
                    {"select", EVERY_FORM},
                    {"create_index", HAS(COUNT) | LEVEL_0},
                    {"gather", HAS(COUNT) | LEVEL_0},
                    {"copy", LEVEL_0 | REGISTERS},
                    {"whole_reduce", LEVEL_0 | REGISTERS},
                    {"block_reduce", LEVEL_0 | REGISTERS},
                    {"pair_reduce", LEVEL_0 | REGISTERS},
                    {"vcadd_acc", LEVEL_0 | REGISTERS},
                    {"reduce", HAS(COUNT) | HAS(LENGTH) | HAS(BITS)},
                    {"compare", HAS(COUNT) | HAS(LENGTH) | HAS(BITS)}};

static unsigned forms_of(uint16_t op)
{
#define NPU_INSN(id, name, pipe, family, types, ...) [NPU_OP_##id] = #family,
    static const char *const names[NPU_OPS] = {
#include "abi/isa.def"
    };
#undef NPU_INSN
    for (size_t i = 0; i < sizeof family_forms / sizeof *family_forms; i++)
        if (!strcmp(names[op], family_forms[i].family))
            return family_forms[i].forms;
    return NO_FORM;
}

/* Paths of copies. */
static const struct {
    uint16_t op;
    uint8_t from, to;
} paths[] = {{NPU_OP_DATA_COPY, NPU_GM, NPU_VECIN},
             {NPU_OP_DATA_COPY, NPU_VECOUT, NPU_GM},
             {NPU_OP_DATA_COPY, NPU_VECCALC, NPU_VECCALC},
             {NPU_OP_DATA_COPY, NPU_GM, NPU_A1},
             {NPU_OP_DATA_COPY, NPU_A1, NPU_C2},
             {NPU_OP_DATA_COPY, NPU_A1, NPU_C2PIPE2GM},
             {NPU_OP_DATA_COPY_PAD, NPU_GM, NPU_VECIN},
             {NPU_OP_DATA_COPY_PAD, NPU_VECOUT, NPU_GM},
             {NPU_OP_LOAD_DATA, NPU_A1, NPU_A2},
             {NPU_OP_LOAD_DATA, NPU_A1, NPU_B2},
             {NPU_OP_LOAD_DATA, NPU_GM, NPU_A2},
             {NPU_OP_LOAD_DATA, NPU_GM, NPU_A1},
             {NPU_OP_LOAD_DATA_3D, NPU_A1, NPU_A2},
             {NPU_OP_LOAD_DATA_3D, NPU_A1, NPU_B2},
             {NPU_OP_FIXPIPE, NPU_CO1, NPU_GM},
             {NPU_OP_FIXPIPE, NPU_CO1, NPU_A1}};

static struct covered_row *rows;
static size_t row_count;

static char **files; /* the tests of instructions */
static int file_count;

/* Adds the rows that a file of tests of a program has left; NULL, or why there is nothing to believe. */
static const char *read_rows(const char *program, const char *tests)
{
    char path[PATH_MAX], identity[64] = "";
    unsigned op, form, src, dst, mode, way;
    struct arena arena = {0};
    covered_path_of_list(path, program, tests);
    FILE *file = fopen(path, "r");
    if (!file)
        return "has left no list: it has not run, or did not end well, or compares nothing";
    bool same = fscanf(file, "%63s", identity) == 1 && !strcmp(identity, covered_identity(&arena, program));
    arena_free(&arena);
    while (same && fscanf(file, "%u %u %u %u %u %u", &op, &form, &src, &dst, &mode, &way) == 6) {
        rows = realloc(rows, (row_count + 1) * sizeof *rows);
        assert_non_null(rows);
        rows[row_count++] =
            (struct covered_row){(uint16_t)op, (uint8_t)form, (uint8_t)src, (uint8_t)dst, (uint8_t)mode, (uint16_t)way};
    }
    fclose(file);
    return same ? NULL : "was built again after it left its list";
}

static void every_test_has_left_a_list(void **state)
{
    (void)state;
    assert_true(file_count > 20);
    for (int i = 0; i < file_count; i++) {
        char *colon = strrchr(files[i], ':');
        assert_non_null(colon);
        *colon = '\0';
        const char *problem = read_rows(files[i], colon + 1);
        if (problem)
            fail_msg("%s %s", colon + 1, problem);
    }
}

static void write_file(const char *path, const char *text)
{
    struct akgen_error *error = files_write(path, text, strlen(text));
    assert_null(error);
}

static void lists_of_other_builds_are_not_read(void **state)
{
    (void)state;
    char program[] = "/tmp/akgen-coverage.XXXXXX", list[PATH_MAX], text[64];
    struct arena arena = {0};
    size_t before = row_count;
    assert_true(close(mkstemp(program)) == 0);
    write_file(program, "one build");
    covered_path_of_list(list, program, "insn/any_test");
    snprintf(text, sizeof text, "%s\n1 0 0 0 0 0\n", covered_identity(&arena, program));
    assert_non_null(read_rows(program, "insn/any_test")); /* no list */
    write_file(list, text);
    assert_null(read_rows(program, "insn/any_test"));
    assert_int_equal(row_count, before + 1);
    row_count = before;
    write_file(program, "another");
    assert_non_null(read_rows(program, "insn/any_test"));
    assert_int_equal(row_count, before);
    arena_free(&arena);
    unlink(list);
    unlink(program);
}

static int free_all(void **state)
{
    (void)state;
    free(rows);
    return 0;
}

static const char *type_name(uint8_t type)
{
    return akgen_dtype_name((enum akgen_dtype)type);
}

/* What is wanted of a row; what is negative is not looked at. */
static bool is_covered(int op, int form, int src, int dst, int mode, int path)
{
    for (size_t i = 0; i < row_count; i++) {
        const struct covered_row *row = &rows[i];
        if (row->op == op && (form < 0 || row->form == form) && (src < 0 || row->src_type == src) &&
            (dst < 0 || row->dst_type == dst) && (mode < 0 || row->mode == mode) && (path < 0 || row->path == path))
            return true;
    }
    return false;
}

static int missing_of(uint16_t op, uint8_t src, uint8_t dst)
{
    int missing = 0;
    for (int form = 0; form < FORMS; form++)
        if (forms_of(op) & HAS(form) && !is_covered(op, form, src, dst, -1, -1)) {
            print_message("%s from %s to %s: %s is not tested\n", npu_isa[op].name, type_name(src), type_name(dst),
                          forms_of(op) == NO_FORM ? "nothing" : form_names[form]);
            missing++;
        }
    for (int mode = 0; mode < ISA_MODES; mode++)
        if (isa_has_mode(op, src, dst, mode) && !is_covered(op, -1, src, dst, mode, -1)) {
            print_message("%s from %s to %s: mode %d is not tested\n", npu_isa[op].name, type_name(src), type_name(dst),
                          mode);
            missing++;
        }
    return missing;
}

static void every_instruction_type_and_form(void **state)
{
    (void)state;
    int missing = 0, wanted = 0;
    for (uint16_t op = 1; op < NPU_OPS; op++)
        for (uint8_t src = 0; src < AKGEN_DTYPE_CODES; src++) {
            uint8_t dst[ISA_DESTINATIONS];
            if (!(npu_isa[op].types >> src & 1))
                continue;
            int n = isa_destinations(op, src, dst);
            wanted += n;
            for (int i = 0; i < n; i++)
                missing += missing_of(op, src, dst[i]);
        }
    assert_true(wanted > 250);
    assert_int_equal(missing, 0);
}

/* High-level APIs: every data type, with and without a sharedTmpBuffer, and isReuseSource where it has an effect. */
static const struct {
    const char *name;
    uint64_t types;
} adv_rows[] = {
#define NPU_ADV(id, name, routine, types, source) [NPU_ADV_##id] = {name, types},
#include "abi/adv.def"
#undef NPU_ADV
};

static bool takes_no_space(int op)
{
    return op == NPU_ADV_LOG || op == NPU_ADV_LOG10 || op == NPU_ADV_SILU || op == NPU_ADV_SWISH ||
           op == NPU_ADV_ARANGE || op == NPU_ADV_COPY_SLICES || op == NPU_ADV_COPY_NZ2ND;
}
/* Its document gives it a sharedTmpBuffer that it does not use. */
static bool lives_in_place(int op)
{
    return op == NPU_ADV_UNPAD || op == NPU_ADV_TRANSPOSE;
}

static void every_high_level_api(void **state)
{
    (void)state;
    int missing = 0;
    for (int op = 1; op < NPU_ADV_OPS; op++) {
        for (int type = 0; type < AKGEN_DTYPE_CODES; type++)
            if (adv_rows[op].types >> type & 1 && !is_covered(COVERED_ADV + op, -1, type, -1, -1, -1)) {
                print_message("%s of %s is not tested\n", adv_rows[op].name, type_name((uint8_t)type));
                missing++;
            }
        for (int space = 0; space < SPACES; space++)
            if (!(space == SPACE_GIVEN && takes_no_space(op)) && !(space == SPACE_LEFT && lives_in_place(op)) &&
                !is_covered(COVERED_ADV + op, space, -1, -1, -1, -1)) {
                print_message("%s %s sharedTmpBuffer is not tested\n", adv_rows[op].name, space ? "without" : "with");
                missing++;
            }
    }
    assert_int_equal(missing, 0);
}

static void every_path(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (!is_covered(paths[i].op, -1, -1, -1, -1, covered_path(paths[i].from, paths[i].to)))
            fail_msg("%s from position %d to %d is not tested", npu_isa[paths[i].op].name, paths[i].from, paths[i].to);
}

int main(void)
{
    files = unit_argv + 1;
    file_count = unit_argc - 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_test_has_left_a_list),
                                       cmocka_unit_test(lists_of_other_builds_are_not_read),
                                       cmocka_unit_test(every_instruction_type_and_form),
                                       cmocka_unit_test(every_high_level_api), cmocka_unit_test(every_path)};
    return cmocka_run_group_tests(tests, NULL, free_all);
}
