/* The binding's types: which functions torch's dispatcher takes, and what an aclnn function finds of an argument. */
#include "candidate/response.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct reading {
    struct arena arena;
    struct op_attr attr;
    struct op_def def;
    struct op_wrapper wrapper;
};

/* An operator with one input, one attribute and one output, called as f(x, self.a). */
static void read_binding(struct reading *reading, enum op_attr_type type, const char *binding)
{
    static struct op_param x, y;
    static const struct py_value model = {.text = "class ModelNew(torch.nn.Module):\n"
                                                  "    def __init__(self, a):\n"
                                                  "        self.a = a\n"
                                                  "    def forward(self, x):\n"
                                                  "        return custom_ops_lib.f(x, self.a)\n",
                                          .line = 1};
    const struct py_value bind = {.text = binding, .line = 1, .text_line = 1};
    const struct op_response response = {.python_bind = &bind, .model = &model};
    memset(reading, 0, sizeof *reading);
    reading->attr = (struct op_attr){.name = "a", .type = type};
    reading->def = (struct op_def){.type = "F",
                                   .inputs = &x,
                                   .input_count = 1,
                                   .outputs = &y,
                                   .output_count = 1,
                                   .attrs = &reading->attr,
                                   .attr_count = 1};
    op_wrapper_read(&reading->arena, &response, &reading->def, &reading->wrapper);
}

static void release(struct reading *reading)
{
    op_wrapper_release(&reading->wrapper);
    arena_free(&reading->arena);
}

/* Verdict on a function that TORCH_LIBRARY_IMPL registers, with this signature. */
static void assert_registered(const char *result, const char *parameter, const char *wanted)
{
    char binding[1000];
    snprintf(binding, sizeof binding,
             "#include <torch/extension.h>\n"
             "%s f(const at::Tensor& x, %s) {\n"
             "    double v = 0; at::Tensor y = at::empty_like(x);\n"
             "    EXEC_NPU_CMD(aclnnF, x, 1.0, y);\n    return y;\n}\n"
             "TORCH_LIBRARY_IMPL(myops, PrivateUse1, m) { m.impl(\"f\", &f); }\n"
             "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"f\", &f); }\n",
             result, parameter);
    struct reading reading;
    read_binding(&reading, OP_ATTR_FLOAT, binding);
    bool invalid = reading.wrapper.kind == OP_WRAPPER_INVALID;
    if (invalid != (wanted != NULL) || (wanted && !strstr(reading.wrapper.reason, wanted)))
        fail_msg("%s f(x, %s): kind %d, %s", result, parameter, reading.wrapper.kind,
                 reading.wrapper.reason ? reading.wrapper.reason : "fine");
    if (wanted)
        assert_int_equal(reading.wrapper.line, 2);
    release(&reading);
}

static void dispatcher_knows_few_types(void **state)
{
    (void)state;
    static const char *const taken[] = {"double a",
                                        "int64_t a",
                                        "long a",
                                        "bool a",
                                        "const at::Tensor& a",
                                        "at::IntArrayRef a",
                                        "std::string a",
                                        "c10::string_view a",
                                        "const c10::optional<double>& a",
                                        "std::vector<int64_t> a",
                                        "at::Scalar a",
                                        "c10::ArrayRef<double> a = {}",
                                        "std::array<bool, 3> a",
                                        "c10::List<bool> a",
                                        "double floats",
                                        "at::TensorList int_list"};
    static const struct {
        const char *parameter, *wants;
    } refused[] = {{"float a", "double, not float"},
                   {"const float& a", "double, not float"},
                   {"float a = 0.5f", "double, not float"},
                   {"float", "double, not float"},
                   {"at::Half a", "double, not Half"},
                   {"int a", "int64_t, not int"},
                   {"int32_t a", "int64_t, not int32_t"},
                   {"unsigned int a", "int64_t, not unsigned int"},
                   {"const uint64_t a", "int64_t, not uint64_t"},
                   {"size_t a", "int64_t, not size_t"},
                   {"long long a", "int64_t, not long long"},
                   {"int8_t a", "int64_t, not int8_t"},
                   {"const char *a", "string_view or std::string, not char*"},
                   {"c10::optional<float> a", "double, not optional<float>"},
                   {"std::vector<float> a", "double, not vector<float>"},
                   {"const std::vector<bool>& a", "List<bool>, not vector<bool>"},
                   {"c10::optional<std::vector<int>> a", "int64_t, not optional<vector<int>>"},
                   {"std::array<int, 2> a", "int64_t, not array<int,2>"}};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        assert_registered("at::Tensor", taken[i], NULL);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_registered("at::Tensor", refused[i].parameter, refused[i].wants);
    assert_registered("static std::tuple<at::Tensor, float>", "double a", "as the result of f");
    assert_registered("std::tuple<at::Tensor, at::Tensor>", "double a", NULL);
}

static void every_form_of_registration(void **state)
{
    (void)state;
    static const struct {
        const char *binding;
        bool invalid;
    } rows[] = {
        {"at::Tensor g(at::Tensor x, float a) { return x; }\nTORCH_LIBRARY(ops, m) { m.def(\"g(Tensor x, float a) -> "
         "Tensor\", &g); }",
         true},
        {"at::Tensor g(at::Tensor x, float a) { return x; }\nTORCH_LIBRARY(ops, m) { m.def(\"g(Tensor x, float a) -> "
         "Tensor\"); }",
         false},
        {"at::Tensor g(at::Tensor x, int n)\n{ return x; }\nTORCH_LIBRARY_IMPL(ops, PrivateUse1, lib) { "
         "lib.impl(\"g\", TORCH_FN(g)); }",
         true},
        {"at::Tensor g(at::Tensor x, float a);\nat::Tensor g(at::Tensor x, float a) { return x; }\n"
         "TORCH_LIBRARY_FRAGMENT(ops, m) { m.impl(\"g\", torch::dispatch(c10::DispatchKey::PrivateUse1, &g)); }",
         true},
        {"TORCH_LIBRARY_IMPL(ops, PrivateUse1, m) { m.impl(\"g\", [](const at::Tensor& x, float a) { return x; }); }",
         true},
        {"TORCH_LIBRARY_IMPL(ops, PrivateUse1, m) { m.impl(\"g\", [](const at::Tensor& x, double a) { return x; }); }",
         false},
        {"at::Tensor g(at::Tensor x, float a) { return x; }\n// TORCH_LIBRARY(ops, m) { m.impl(\"g\", &g); }", false},
        {"at::Tensor g(at::Tensor x, float a) { return x; }\nPYBIND11_MODULE(A, m) { m.def(\"g\", &g); }", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reading reading;
        read_binding(&reading, OP_ATTR_FLOAT, rows[i].binding);
        if ((reading.wrapper.kind == OP_WRAPPER_INVALID) != rows[i].invalid)
            fail_msg("row %zu: kind %d, %s", i, reading.wrapper.kind,
                     reading.wrapper.reason ? reading.wrapper.reason : "");
        release(&reading);
    }
}

/* `passed` as the attribute of a function that pybind11 exports with the parameter. */
static void assert_passing(enum op_attr_type type, const char *parameter, const char *before, const char *passed,
                           enum op_passing passing)
{
    char binding[1000];
    snprintf(binding, sizeof binding,
             "at::Tensor f(const at::Tensor& x, %s) {\n    at::Tensor y = at::empty_like(x);\n    %s\n"
             "    EXEC_NPU_CMD(aclnnF, x, %s, y);\n    return y;\n}\n"
             "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"f\", &f); }\n",
             parameter, before, passed);
    struct reading reading;
    read_binding(&reading, type, binding);
    bool broken = passing == OP_PASSED_ELSEWHERE;
    const struct op_wrapper_value *value = &reading.wrapper.attrs[0];
    if ((reading.wrapper.kind == OP_WRAPPER_BROKEN) != broken || value->passing != passing ||
        (!broken && (value->note != NULL) != (passing != OP_PASSED_WHOLE)))
        fail_msg("f(x, %s) { %s %s }: kind %d, passing %d, %s", parameter, before, passed, reading.wrapper.kind,
                 value->passing, reading.wrapper.reason ? reading.wrapper.reason : "");
    release(&reading);
}

static void nothing_is_converted(void **state)
{
    (void)state;
    assert_passing(OP_ATTR_FLOAT, "double a", "", "a", OP_PASSED_WHOLE);
    assert_passing(OP_ATTR_FLOAT, "float a", "", "a", OP_PASSED_LOW_HALF);
    assert_passing(OP_ATTR_FLOAT, "double a", "", "static_cast<float>(a)", OP_PASSED_LOW_HALF);
    assert_passing(OP_ATTR_FLOAT, "double a", "float s = static_cast<float>(a);", "s", OP_PASSED_LOW_HALF);
    assert_passing(OP_ATTR_FLOAT, "double a", "const float s = a;", "s", OP_PASSED_LOW_HALF);
    assert_passing(OP_ATTR_FLOAT, "double a", "auto s = static_cast<float>(a);", "s", OP_PASSED_LOW_HALF);
    assert_passing(OP_ATTR_FLOAT, "float a", "double s = static_cast<double>(a);", "s", OP_PASSED_WHOLE);
    assert_passing(OP_ATTR_FLOAT, "float a", "auto s = static_cast<double>(a);", "s", OP_PASSED_WHOLE);
    assert_passing(OP_ATTR_FLOAT, "double a", "", "0.5f", OP_PASSED_LOW_HALF);
    assert_passing(OP_ATTR_FLOAT, "double a", "", "0.5", OP_PASSED_WHOLE);
    assert_passing(OP_ATTR_FLOAT, "int64_t a", "", "a", OP_PASSED_ELSEWHERE);
    assert_passing(OP_ATTR_FLOAT, "at::Scalar a", "", "a", OP_PASSED_ELSEWHERE);
    assert_passing(OP_ATTR_INT, "int64_t a", "", "a", OP_PASSED_WHOLE);
    assert_passing(OP_ATTR_INT, "int a", "", "a", OP_PASSED_UNSIGNED);
    assert_passing(OP_ATTR_INT, "bool a", "", "a", OP_PASSED_WHOLE);
    assert_passing(OP_ATTR_INT, "double a", "", "a", OP_PASSED_ELSEWHERE);
    assert_passing(OP_ATTR_BOOL, "bool a", "", "a", OP_PASSED_WHOLE);
    assert_passing(OP_ATTR_BOOL, "int64_t a", "", "a", OP_PASSED_WHOLE);
    assert_passing(OP_ATTR_BOOL, "float a", "", "a", OP_PASSED_ELSEWHERE);
    assert_passing(OP_ATTR_STRING, "std::string a", "", "a", OP_PASSED_ELSEWHERE);
    assert_passing(OP_ATTR_STRING, "const char *a", "", "a", OP_PASSED_WHOLE);
    assert_passing(OP_ATTR_LIST_INT, "at::IntArrayRef a", "", "a", OP_PASSED_WHOLE);
    assert_passing(OP_ATTR_LIST_INT, "std::vector<int64_t> a", "", "a", OP_PASSED_ELSEWHERE);
}

static void what_arrives(void **state)
{
    (void)state;
    static const struct {
        enum op_passing passing;
        double passed, received;
        bool integer;
    } rows[] = {{OP_PASSED_WHOLE, 0.25, 0.25, false},       {OP_PASSED_LOW_HALF, 0.25, 0, false},
                {OP_PASSED_LOW_HALF, -1e30, 0, false},      {OP_PASSED_UNSIGNED, 7, 7, true},
                {OP_PASSED_UNSIGNED, -1, 4294967295, true}, {OP_PASSED_WHOLE, -1, -1, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *passed = rows[i].integer ? json_integer((json_int_t)rows[i].passed) : json_real(rows[i].passed);
        json_t *received = op_wrapper_received(rows[i].passing, passed);
        assert_true(json_number_value(received) == rows[i].received);
        assert_int_equal(json_is_integer(received), rows[i].integer);
        json_decref(received);
        json_decref(passed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dispatcher_knows_few_types),
                                       cmocka_unit_test(every_form_of_registration),
                                       cmocka_unit_test(nothing_is_converted), cmocka_unit_test(what_arrives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
