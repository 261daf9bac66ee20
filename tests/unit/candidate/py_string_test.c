/* The reader of Python strings against what Python itself makes of the same text. */
#include "candidate/response.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct reading {
    struct arena arena;
    struct py_strings strings;
    struct py_problem problem;
};

static void read_all(struct reading *reading, const char *source)
{
    memset(reading, 0, sizeof *reading);
    py_read(&reading->arena, source, 1, &reading->strings, &reading->problem);
}

static void assert_value(const char *source, const char *expected)
{
    struct reading reading;
    read_all(&reading, source);
    assert_null(reading.problem.message);
    const struct py_value *value = py_find(&reading.strings, "a");
    assert_non_null(value);
    assert_string_equal(value->text, expected);
    arena_free(&reading.arena);
}

static void assert_problem(const char *source, enum py_problem_kind kind, int line, const char *part)
{
    struct reading reading;
    read_all(&reading, source);
    assert_non_null(reading.problem.message);
    if (!strstr(reading.problem.message, part))
        fail_msg("'%s' lacks '%s'", reading.problem.message, part);
    assert_int_equal(reading.problem.kind, kind);
    assert_int_equal(reading.problem.line, line);
    arena_free(&reading.arena);
}

static void literals(void **state)
{
    (void)state;
    assert_value("a = 'x\"y'", "x\"y");
    assert_value("a = \"\"\"\n'one' \"two\"\n\"\"\"", "\n'one' \"two\"\n");
    assert_value("a = '\\n\\t\\\\\\'\\101\\x41\\u0041\\U0001f600\\q'", "\n\t\\'AAA\xf0\x9f\x98\x80\\q");
    assert_value("a = r'\\n\\''", "\\n\\'");
    assert_value("a = 'one\\\ntwo'", "onetwo");
    assert_value("a = ''", "");
    assert_value("a: str = u'x' # comment", "x");
    assert_value("'''a docstring'''\nimport os\nfrom a import b as c\n\na = 'x';", "x");
}

static void sums(void **state)
{
    (void)state;
    assert_value("a = 'x' \"y\" r'z'", "xyz");
    assert_value("a = ('x' # first\n\n     'y' + 'z')", "xyz");
    assert_value("b = 'x'; a = b + 'y' + (b)", "xyx");
    assert_value("a = 'x'\na += 'y'\na += a", "xyxy");
    assert_value("a = \\\n  'x'", "x");
    assert_value("a = ' x\\n'.strip().replace('x', 'yx')", "yx");
}

static void f_strings(void **state)
{
    (void)state;
    assert_value("n = 'Relu'\na = f'class {n}{{}}; {{{n}}}'", "class Relu{}; {Relu}");
    assert_value("n = 40\na = f'{n} { 7 } {\"s\"}' '{n}'", "40 7 s{n}");
    /* repr() of reals: as few digits as tell them apart, an exponent from 1e16 and below 1e-4 */
    assert_value("a = f'{1e-5} {0.0001} {2.50} {1e3} {1e16} {3.14159265358979}'",
                 "1e-05 0.0001 2.5 1000.0 1e+16 3.14159265358979");
    assert_value("n = 'x'\na = rf'\\d{n}'", "\\dx");
}

static void what_python_refuses(void **state)
{
    (void)state;
    assert_problem("b = 'x'\na = 'y\n", PY_INVALID, 2, "does not end");
    assert_problem("\na = '''y\n\n", PY_INVALID, 2, "does not end");
    assert_problem("a = b", PY_INVALID, 1, "'b' is not assigned");
    assert_problem("a += 'x'", PY_INVALID, 1, "'a' is not assigned");
    assert_problem("a = f'''\nint f() { return 1; }'''", PY_INVALID, 2, "{{");
    assert_problem("a = f'{x, y}'", PY_INVALID, 1, "names 'x'");
    assert_problem("a = f'}'", PY_INVALID, 1, "single '}'");
    assert_problem("a = f'{}'", PY_INVALID, 1, "empty field");
    assert_problem("a = 'x' + 1", PY_INVALID, 1, "cannot be added");
    assert_problem("a = b'x'", PY_INVALID, 1, "bytes");
    assert_problem("a = '\\x4'", PY_INVALID, 1, "hexadecimal");
    assert_problem("a = '\\0'", PY_INVALID, 1, "NUL");
    assert_problem("a = 'x'\n  b = 'y'", PY_INVALID, 2, "indented");
    assert_problem("Here is the code", PY_INVALID, 1, "no Python statement");
    assert_problem("a =", PY_INVALID, 1, "value is missing");
    assert_problem("a = ('x'", PY_INVALID, 1, "expected ')'");
}

static void what_is_left_to_python(void **state)
{
    (void)state;
    assert_problem("import textwrap\na = textwrap.dedent('x')", PY_BEYOND, 2, "a call of textwrap.dedent");
    assert_problem("a = 'x' % 1", PY_BEYOND, 1, "operation");
    assert_problem("a = 'x' * 2", PY_BEYOND, 1, "operation");
    assert_problem("a = 'x'.format(1)", PY_BEYOND, 1, "format");
    assert_problem("n = 'x'\na = f'{n.upper()}'", PY_BEYOND, 2, "n.upper()");
    assert_problem("n = 4\na = f'{n * 2}'", PY_BEYOND, 2, "n * 2");
    assert_problem("a = ('x', 'y')", PY_BEYOND, 1, "tuple");
    assert_problem("a = 0x10", PY_BEYOND, 1, "decimal");
    assert_problem("if True:\n    a = 'x'", PY_BEYOND, 1, "'if'");
    assert_problem("print('done')", PY_BEYOND, 1, "a call of print");
    assert_problem("open('/etc/passwd')", PY_EXECUTES, 1, "a call of open");
    assert_problem("a = __import__('os').popen('id').read()", PY_EXECUTES, 1, "__import__");
    assert_problem("import subprocess\nsubprocess.run(['id'])", PY_EXECUTES, 2, "subprocess.run");
}

static void growth_is_bounded(void **state)
{
    (void)state;
    char source[2048] = "a = 'xxxxxxxxxxxxxxxx'\n";
    for (int i = 0; i < 60; i++)
        strcat(source, "a = a + a\n");
    struct reading reading;
    read_all(&reading, source);
    assert_int_equal(reading.problem.kind, PY_INVALID);
    assert_non_null(strstr(reading.problem.message, "16 MiB"));
    arena_free(&reading.arena);
    char deep[512] = "a = ";
    memset(deep + 4, '(', 400);
    assert_problem(deep, PY_INVALID, 1, "parentheses");
}

static void file_names(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_string_equal(op_response_name(&arena, "average_pooling1d_custom"), "average_pooling_1d_custom");
    assert_string_equal(op_response_name(&arena, "l1_norm_custom"), "l1_norm_custom");
    arena_free(&arena);
}

/* What forward passes reaches the attributes. */
static void wrapper(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct py_value model = {.text = "class ModelNew(nn.Module):\n"
                                     "    def __init__(self, dim: int, eps: float = 1e-3):  # (\n"
                                     "        super().__init__()\n"
                                     "        self.w = nn.Parameter(torch.ones(dim))\n"
                                     "        self.eps = float(eps)\n"
                                     "    def forward(self, x):\n"
                                     "        '''doc'''\n"
                                     "        x = x.contiguous()\n"
                                     "        y = custom_ops_lib.f(x.contiguous(),\n"
                                     "                             self.w, self.eps, True)\n"
                                     "        return y\n",
                             .line = 1};
    struct py_value bind = {.text = "at::Tensor g(const at::Tensor &x, const at::Tensor &w, double e, bool b) {\n"
                                    "  auto xc = x.contiguous(); // x * 2\n"
                                    "  std::vector<int64_t> shape(x.sizes().begin(), x.sizes().end());\n"
                                    "  at::Tensor out = at::empty(shape, x.options());\n"
                                    "  EXEC_NPU_CMD(aclnnOp, xc, w, static_cast<double>(e), b, 4, out);\n"
                                    "  return out;\n}\n"
                                    "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"f\", &g, \"doc\"); }\n",
                            .line = 1};
    struct op_response response = {.python_bind = &bind, .model = &model};
    struct op_attr attrs[] = {{.name = "epsilon", .type = OP_ATTR_FLOAT},
                              {.name = "flag", .type = OP_ATTR_BOOL},
                              {.name = "k", .type = OP_ATTR_INT}};
    struct op_def def = {.type = "Op", .input_count = 2, .output_count = 1, .attr_count = 3, .attrs = attrs};
    struct op_wrapper wrapper;
    op_wrapper_read(&arena, &response, &def, &wrapper);
    assert_null(wrapper.reason);
    assert_string_equal(wrapper.attrs[0].name, "eps");
    assert_float_equal(json_real_value(wrapper.attrs[0].value), 1e-3, 0);
    assert_true(json_is_true(wrapper.attrs[1].value));
    assert_int_equal(json_integer_value(wrapper.attrs[2].value), 4);
    op_wrapper_release(&wrapper);

    def.attr_count = 2; /* one argument too many then */
    op_wrapper_read(&arena, &response, &def, &wrapper);
    assert_int_equal(wrapper.kind, OP_WRAPPER_BROKEN);
    assert_non_null(strstr(wrapper.reason, "line 5): aclnnOp takes 2 inputs, 2 attributes and 1 outputs"));
    op_wrapper_release(&wrapper);
    bind.text = "at::Tensor g(const at::Tensor &x, const at::Tensor &w, double e, bool b) { EXEC_NPU_CMD; }\n"
                "PYBIND11_MODULE(T, m) { m.def(\"f\", &g); }\n";
    op_wrapper_read(&arena, &response, &def, &wrapper);
    assert_int_equal(wrapper.kind, OP_WRAPPER_BROKEN);

    /* through a method of its own: a use, but no plain one */
    model.text = "class ModelNew(nn.Module):\n"
                 "    def run(self, x):\n"
                 "        return custom_ops_lib.f(x)\n"
                 "    def forward(self, x):\n"
                 "        return self.run(x)\n";
    op_wrapper_read(&arena, &response, &def, &wrapper);
    assert_int_equal(wrapper.kind, OP_WRAPPER_MORE);
    model.text = "import custom_ops_lib\nclass ModelNew(nn.Module):\n    def forward(self, x):\n";
    op_wrapper_read(&arena, &response, &def, &wrapper);
    assert_int_equal(wrapper.kind, OP_WRAPPER_FOREIGN);
    model.text = "x = custom_ops_lib.f\nclass ModelNew(nn.Module):\n    def forward(self, x):\n";
    op_wrapper_read(&arena, &response, &def, &wrapper);
    assert_int_equal(wrapper.kind, OP_WRAPPER_BROKEN);
    model.text = "# custom_ops_lib\nimport custom_ops_lib as lib\nclass ModelNew(nn.Module):\n"
                 "    def forward(self, x):\n        return torch.relu(x)\n";
    op_wrapper_read(&arena, &response, &def, &wrapper);
    assert_int_equal(wrapper.kind, OP_WRAPPER_FOREIGN);
    assert_non_null(strstr(wrapper.reason, "ModelNew never calls lib"));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals),
        cmocka_unit_test(sums),
        cmocka_unit_test(f_strings),
        cmocka_unit_test(what_python_refuses),
        cmocka_unit_test(what_is_left_to_python),
        cmocka_unit_test(growth_is_bounded),
        cmocka_unit_test(file_names),
        cmocka_unit_test(wrapper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
