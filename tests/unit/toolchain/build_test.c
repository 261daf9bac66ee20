/* A project from its directory to numbers: built with the real compiler, run in the real jail. */
/* test: cost=10 builds=both */
#include "base/files.h"
#include "jail/job_exchange.h"
#include "toolchain/toolchain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ELEMENTS = 6144, BLOCKS = 4, TENSOR_BYTES = ELEMENTS * 4, SLOT = (TENSOR_BYTES + 1023) / 512 * 512 };

static const char host_source[] =
    "#include \"register/op_def_registry.h\"\n"
    "#include \"register/tilingdata_base.h\"\n"
    "namespace optiling {\n"
    "BEGIN_TILING_DATA_DEF(AddTiling)\n"
    "TILING_DATA_FIELD_DEF(uint32_t, length);\n"
    "END_TILING_DATA_DEF;\n"
    "REGISTER_TILING_DATA_CLASS(AddCustom, AddTiling)\n"
    "static ge::graphStatus Tile(gert::TilingContext *context)\n"
    "{\n"
    "    AddTiling tiling;\n"
    "    context->SetBlockDim(4);\n"
    "    tiling.set_length(context->GetInputShape(0)->GetOriginShape().GetShapeSize() / 4);\n"
    "    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());\n"
    "    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());\n"
    "    TILING_EXTRA\n"
    "    return ge::GRAPH_SUCCESS;\n"
    "}\n"
    "}\n"
    "namespace ops {\n"
    "class AddCustom : public OpDef {\n"
    "public:\n"
    "    explicit AddCustom(const char *name) : OpDef(name)\n"
    "    {\n"
    "        CONSTRUCTOR_EXTRA\n"
    "        this->Input(\"x\").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, "
    "ge::FORMAT_ND});\n"
    "        this->Input(\"y\").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, "
    "ge::FORMAT_ND});\n"
    "        this->Output(\"z\").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, "
    "ge::FORMAT_ND});\n"
    "        this->AICore().SetTiling(optiling::Tile).AddConfig(\"ascend910b\");\n"
    "    }\n"
    "};\n"
    "OP_ADD(AddCustom);\n"
    "}\n";

static const char kernel_source[] =
    "#include \"kernel_operator.h\"\n"
    "using namespace AscendC;\n"
    "DECLARATIONS\n"
    "extern \"C\" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR "
    "tiling)\n"
    "{\n"
    "    GET_TILING_DATA(data, tiling);\n"
    "    uint32_t n = data.length;\n"
    "    TPipe pipe;\n"
    "    TQue<QuePosition::VECIN, 1> inX, inY;\n"
    "    TQue<QuePosition::VECOUT, 1> outZ;\n"
    "    GlobalTensor<DTYPE_X> gx, gy, gz;\n"
    "    gx.SetGlobalBuffer((__gm__ DTYPE_X *)x + GetBlockIdx() * n, n);\n"
    "    gy.SetGlobalBuffer((__gm__ DTYPE_X *)y + GetBlockIdx() * n, n);\n"
    "    gz.SetGlobalBuffer((__gm__ DTYPE_X *)z + GetBlockIdx() * n, n);\n"
    "    pipe.InitBuffer(inX, 1, n * sizeof(DTYPE_X));\n"
    "    pipe.InitBuffer(inY, 1, n * sizeof(DTYPE_X));\n"
    "    pipe.InitBuffer(outZ, 1, n * sizeof(DTYPE_X));\n"
    "    LocalTensor<DTYPE_X> a = inX.AllocTensor<DTYPE_X>(), b = inY.AllocTensor<DTYPE_X>();\n"
    "    DataCopy(a, gx, n);\n"
    "    DataCopy(b, gy, n);\n"
    "    inX.EnQue(a);\n"
    "    inY.EnQue(b);\n"
    "    a = inX.DeQue<DTYPE_X>();\n"
    "    b = inY.DeQue<DTYPE_X>();\n"
    "    LocalTensor<DTYPE_X> c = outZ.AllocTensor<DTYPE_X>();\n"
    "    COMPUTE\n" /* line 26 */
    "    outZ.EnQue(c);\n"
    "    c = outZ.DeQue<DTYPE_X>();\n"
    "    DataCopy(gz, c, n);\n"
    "    outZ.FreeTensor(c);\n"
    "    inX.FreeTensor(a);\n"
    "    inY.FreeTensor(b);\n"
    "}\n";
enum { COMPUTE_LINE = 26 };

static char cache[] = "/tmp/akgen-cache-XXXXXX"; /* of this run of the tests */

static int make_cache(void **state)
{
    (void)state;
    return !mkdtemp(cache);
}

static int remove_cache(void **state)
{
    (void)state;
    files_remove_tree(cache);
    return 0;
}

/* A project with placeholders filled in, and what was made of it. */
struct fixture {
    struct arena arena;
    struct op_files files;
    struct op_project project;
    struct build build;
    struct build_options options;
    const char *inject, *inject_host; /* a failure of akgen-run, of akgen-host */
};

static const char *replace(struct arena *arena, const char *text, const char *word, const char *by)
{
    const char *at = strstr(text, word);
    if (!at)
        return text;
    return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, by, at + strlen(word));
}

static void write_project(struct fixture *fixture, const char *host, const char *kernel)
{
    struct arena *arena = &fixture->arena;
    static const char *const words[] = {"TILING_EXTRA", "CONSTRUCTOR_EXTRA", "DECLARATIONS"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        host = replace(arena, host, words[i], "");
        kernel = replace(arena, kernel, words[i], "");
    }
    kernel = replace(arena, kernel, "COMPUTE", "Add(c, a, b, n);");
    const struct op_file files[] = {{"op_host/add_custom.cpp", host, strlen(host)},
                                    {"op_kernel/add_custom.cpp", kernel, strlen(kernel)}};
    fixture->files = op_files_of(arena, files, sizeof files / sizeof *files);
}

/* Puts a file into the project, or another in its place. */
static void put(struct fixture *fixture, const char *path, const char *text)
{
    struct op_file files[8] = {{path, text, strlen(text)}};
    size_t count = 1;
    for (size_t i = 0; i < fixture->files.count && count < sizeof files / sizeof *files; i++)
        if (strcmp(fixture->files.items[i].path, path) != 0)
            files[count++] = fixture->files.items[i];
    fixture->files = op_files_of(&fixture->arena, files, count);
}

static void build_written(struct fixture *fixture)
{
    static const bool wanted[] = {true, false};
    fixture->options = (struct build_options){.cache_dir = cache, .jobs = 2, .wanted = wanted};
    assert_null(op_project_find(&fixture->arena, &fixture->files, "AddCustom", true, &fixture->project));
    struct akgen_error *error = toolchain_build(&fixture->arena, &fixture->project, &fixture->options, &fixture->build);
    if (error)
        fail_msg("%s", error->message);
}

static void build(struct fixture *fixture, const char *host, const char *kernel)
{
    write_project(fixture, host, kernel);
    build_written(fixture);
}

static void finish(struct fixture *fixture)
{
    arena_free(&fixture->arena);
}

static const char *with(struct fixture *fixture, const char *text, const char *word, const char *by)
{
    return replace(&fixture->arena, text, word, by);
}

/* The shapes of a job's tensors. */
static struct op_argument *shapes(struct fixture *fixture, const struct job_argument *arguments, int count)
{
    struct op_argument *list = arena_alloc(&fixture->arena, sizeof *list * (size_t)(count + 1));
    for (int i = 0; i < count; i++) {
        list[i].count = arguments[i].count;
        list[i].tensors = arena_alloc(&fixture->arena, sizeof *list[i].tensors * (size_t)(arguments[i].count + 1));
        for (int t = 0; t < arguments[i].count; t++)
            list[i].tensors[t] = arguments[i].tensors[t].shape;
    }
    return list;
}

/* The host part, and with what it decides the kernel. */
static void run_both(struct fixture *fixture, struct job *job, struct job_result *result)
{
    const struct build *built = &fixture->build;
    const struct host_job asked = {.host_so = built->host_so,
                                   .op_type = "AddCustom",
                                   .soc = "Ascend910B2",
                                   .tile = true,
                                   .inputs = shapes(fixture, job->inputs, job->input_count),
                                   .outputs = shapes(fixture, job->outputs, job->output_count),
                                   .input_count = job->input_count,
                                   .output_count = job->output_count,
                                   .seconds = 20,
                                   .inject = fixture->inject_host};
    struct host_result host;
    host_run(&fixture->arena, &asked, &host);
    if (host.status != JOB_OK) {
        job_without_kernel(&host, result);
        return;
    }
    job->tiling = host.tiling;
    job->printed_before = host.printed;
    job->tiling_by_field = op_tiling_decode(&built->def, host.tiling.key, host.tiling.bytes, host.tiling.size);
    job_run(&fixture->arena, job, result);
    json_decref(job->tiling_by_field);
}

/* Runs the fp32 combination on 6144 elements, x[i] = i, y[i] = 0.5; z is where the result is. */
static void run(struct fixture *fixture, struct job_result *result, float *z)
{
    struct job_tensor tensors[3];
    struct job_argument arguments[3];
    int fd = memfd_create("gm", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, 3 * SLOT), 0);
    float *gm = mmap(NULL, 3 * SLOT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(gm, MAP_FAILED);
    for (int i = 0; i < 3; i++) {
        tensors[i] =
            (struct job_tensor){.shape = {.type = AKGEN_FLOAT, .format = 2, .rank = 2, .dims = {3, ELEMENTS / 3}},
                                .offset = (uint64_t)i * SLOT,
                                .bytes = TENSOR_BYTES};
        arguments[i] = (struct job_argument){.tensors = &tensors[i], .count = 1, .alias = -1};
    }
    for (int i = 0; i < ELEMENTS; i++) {
        gm[i] = (float)i;
        gm[SLOT / 4 + i] = 0.5f;
    }
    const struct build *built = &fixture->build;
    struct job job = {.kernel_so = built->kernels[0].so,
                      .cube_so = built->kernels[0].cube_so,
                      .entry = built->entry,
                      .soc = "Ascend910B2",
                      .inputs = arguments,
                      .input_count = 2,
                      .outputs = arguments + 2,
                      .output_count = 1,
                      .headers = arena_printf(&fixture->arena, "%s/include", toolchain_home()),
                      .gm_fd = fd,
                      .gm_bytes = 3 * SLOT,
                      .seconds = 20,
                      .inject = fixture->inject};
    run_both(fixture, &job, result);
    memcpy(z, gm + 2 * SLOT / 4, TENSOR_BYTES);
    munmap(gm, 3 * SLOT);
    close(fd);
}

static void assert_built(const struct build *built)
{
    if (built->stage == BUILD_OK)
        return;
    for (int i = 0; i < built->diagnostic_count; i++)
        print_message("%s:%d: %s\n", built->diagnostics[i].file, built->diagnostics[i].line,
                      built->diagnostics[i].message);
    fail_msg("stage %d: %s", built->stage, built->error);
}

static void test_add_computes(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    struct job_result result;
    float z[ELEMENTS];
    build(&fixture, host_source, kernel_source);
    assert_built(&fixture.build);
    assert_int_equal(fixture.build.kernel_count, 2);
    assert_non_null(fixture.build.kernels[0].so);
    assert_null(fixture.build.kernels[1].so);
    assert_null(fixture.build.kernels[0].cube_so);
    run(&fixture, &result, z);
    if (result.status != JOB_OK)
        fail_msg("%s: %s", job_stage_name(result.stage), result.error);
    assert_int_equal(result.block_dim, BLOCKS);
    assert_false(result.fault);
    assert_int_equal(json_integer_value(json_object_get(result.tiling, "length")), ELEMENTS / BLOCKS);
    assert_int_equal(result.undefined_count, 1);
    assert_int_equal(result.undefined[0], 0);
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(z[i] == (float)i + 0.5f);
    job_result_free(&result);
    finish(&fixture);
}

static void test_second_build_is_cached_and_a_change_is_not(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    struct build again;
    build(&fixture, host_source, kernel_source);
    assert_built(&fixture.build);
    assert_null(toolchain_build(&fixture.arena, &fixture.project, &fixture.options, &again));
    assert_true(again.kernels[0].cached);
    assert_string_equal(again.kernels[0].so, fixture.build.kernels[0].so);
    assert_string_equal(again.source_hash, fixture.build.source_hash);
    put(&fixture, "shared.h", "//");
    assert_null(toolchain_build(&fixture.arena, &fixture.project, &fixture.options, &again));
    assert_false(again.kernels[0].cached);
    assert_string_not_equal(again.source_hash, fixture.build.source_hash);
    finish(&fixture);
}

static void test_compile_error_has_place_and_class(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    build(&fixture, host_source, with(&fixture, kernel_source, "COMPUTE", "Add(c, a, bb, n);"));
    assert_int_equal(fixture.build.stage, BUILD_KERNEL);
    assert_int_equal(fixture.build.diagnostic_count, 1);
    const struct diagnostic *found = &fixture.build.diagnostics[0];
    assert_string_equal(found->file, "op_kernel/add_custom.cpp");
    assert_int_equal(found->line, COMPUTE_LINE);
    assert_int_equal(found->column, 15);
    assert_int_equal(found->class, DIAG_SCOPE);
    assert_string_equal(found->text, "    Add(c, a, bb, n);");
    finish(&fixture);
}

static void test_every_combination_must_compile(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    /* The second combination (half) is not wanted, but it is part of 'compiles'. */
    build(&fixture, host_source,
          with(&fixture, kernel_source, "COMPUTE",
               "static_assert(sizeof(DTYPE_X) == 4, \"float only\"); Add(c, a, b, n);"));
    assert_int_equal(fixture.build.stage, BUILD_KERNEL);
    assert_non_null(fixture.build.kernels[0].so);
    assert_non_null(strstr(fixture.build.diagnostics[0].message, "float only"));
    finish(&fixture);
}

static void test_undefined_function_is_an_error_with_its_line(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    const char *kernel = with(&fixture, kernel_source, "DECLARATIONS", "__aicore__ int Missing(int n);");
    build(&fixture, host_source, with(&fixture, kernel, "COMPUTE", "Add(c, a, b, Missing(n));"));
    assert_int_equal(fixture.build.stage, BUILD_KERNEL);
    assert_non_null(strstr(fixture.build.diagnostics[0].message, "undefined function 'Missing(int)'"));
    assert_int_equal(fixture.build.diagnostics[0].line, COMPUTE_LINE);
    assert_string_equal(fixture.build.diagnostics[0].file, "op_kernel/add_custom.cpp");
    finish(&fixture);
}

static void test_kernel_with_the_questions_host_part(void **state)
{
    (void)state;
    struct fixture question = {0}, fixture = {0};
    struct job_result result;
    float z[ELEMENTS];
    write_project(&question, host_source, kernel_source);
    /* The candidate's own host part does not even compile, and its kernel has no tiling parameter. */
    write_project(&fixture, "#error not to be compiled", with(&fixture, kernel_source, ", GM_ADDR tiling", ""));
    fixture.options =
        (struct build_options){.cache_dir = cache, .jobs = 1, .host = &question.files, .sanitize_kernel_tiling = true};
    assert_null(op_project_find(&fixture.arena, &fixture.files, "AddCustom", false, &fixture.project));
    assert_null(toolchain_build(&fixture.arena, &fixture.project, &fixture.options, &fixture.build));
    assert_built(&fixture.build);
    run(&fixture, &result, z);
    assert_int_equal(result.status, JOB_OK);
    assert_true(z[ELEMENTS - 1] == ELEMENTS - 0.5f);
    job_result_free(&result);
    finish(&question);
    finish(&fixture);
}

static void test_compiler_limits(void **state)
{
    (void)state;
    static const char *const bombs[] = {
        "template <int N> struct R { static constexpr int v = R<N + 1>::v; }; static_assert(R<0>::v, \"\");",
        "#include __FILE__",
        "constexpr int f(int n) { while (true) n++; return n; } static_assert(f(0), \"\");",
        "#include \"/etc/hostname\"",
        "__attribute__((device, used)) char big[400 << 20] = {1};",
    };
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        struct fixture fixture = {0};
        build(&fixture, host_source, with(&fixture, kernel_source, "DECLARATIONS", bombs[i]));
        if (fixture.build.stage != BUILD_KERNEL || !fixture.build.diagnostic_count)
            fail_msg("'%s' ended in stage %d", bombs[i], fixture.build.stage);
        finish(&fixture);
    }
}

static void test_no_entry_point(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    static const char other[] =
        "#include \"kernel_operator.h\"\nextern \"C\" __global__ __aicore__ void other(GM_ADDR x) {}\n";
    build(&fixture, host_source, kernel_source);
    put(&fixture, "op_kernel/add_custom.cpp", other);
    assert_null(toolchain_build(&fixture.arena, &fixture.project, &fixture.options, &fixture.build));
    assert_int_equal(fixture.build.stage, BUILD_PARSE);
    assert_int_equal(fixture.build.diagnostics[0].class, DIAG_SYNTAX);
    assert_non_null(strstr(fixture.build.error, "other"));
    finish(&fixture);
}

static void test_constructor_that_crashes(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    build(&fixture, with(&fixture, host_source, "CONSTRUCTOR_EXTRA", "__builtin_trap();"), kernel_source);
    assert_int_equal(fixture.build.stage, BUILD_DESCRIBE);
    assert_non_null(strstr(fixture.build.error, "stage load"));
    finish(&fixture);
}

/* Builds with a statement in the tiling function and runs; the status is what the statement caused. */
static void run_tiling_extra(const char *statement, struct job_result *result, struct fixture *fixture)
{
    float z[ELEMENTS];
    const char *host = replace(&fixture->arena, host_source, "TILING_EXTRA", statement);
    build(fixture,
          arena_printf(&fixture->arena, "#include <cstdlib>\n#include <cstring>\n#include <unistd.h>\n%s", host),
          kernel_source);
    assert_built(&fixture->build);
    run(fixture, result, z);
}

static void test_tiling_that_misbehaves(void **state)
{
    (void)state;
    static const struct {
        const char *statement;
        enum job_status status;
    } rows[] = {
        {"exit(0);", JOB_EXITED},
        {"_exit(3);", JOB_EXITED},
        {"abort();", JOB_CRASHED},
        {"*(volatile int *)8 = 1;", JOB_CRASHED},
        {"{ char *p = new char[100ull << 30]; memset(p, 1, 4096); }", JOB_CRASHED},
        {"return ge::GRAPH_FAILED;", JOB_TILING_FAILED},
        {"{ ge::AscendString name; ge::Operator().GetName(name); }", JOB_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture fixture = {0};
        struct job_result result;
        run_tiling_extra(rows[i].statement, &result, &fixture);
        if (result.status != rows[i].status)
            fail_msg("'%s' ends with status %d, expected %d: %s", rows[i].statement, result.status, rows[i].status,
                     result.error);
        assert_int_equal(result.stage, JOB_TILING);
        job_result_free(&result);
        finish(&fixture);
    }
}

static void test_printing_is_captured_and_harmless(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    struct job_result result;
    run_tiling_extra("if (write(1, \"{\\\"status\\\":0}\\n\", 13) < 0) return ge::GRAPH_FAILED;", &result, &fixture);
    assert_int_equal(result.status, JOB_OK);
    assert_memory_equal(result.printed, "{\"status\":0}\n", 13);
    job_result_free(&result);
    finish(&fixture);
}

/* Copies each tensor of a list, finding addresses, ranks and dimensions where CANN puts them. */
static const char list_kernel[] =
    "#include \"kernel_operator.h\"\n"
    "using namespace AscendC;\n"
    "extern \"C\" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR "
    "tiling)\n"
    "{\n"
    "    if (GetBlockIdx() != 0 || y != nullptr) return;\n"
    "    __gm__ uint64_t *from = (__gm__ uint64_t *)x, *to = (__gm__ uint64_t *)z;\n"
    "    TPipe pipe;\n"
    "    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> queue;\n"
    "    pipe.InitBuffer(queue, 1, 4096);\n"
    "    __gm__ uint64_t *shape = from + 1;\n"
    "    for (uint32_t t = 0; t < 2; t++) {\n"
    "        uint32_t rank = (uint32_t)shape[0], index = (uint32_t)(shape[0] >> 32), n = 1;\n"
    "        for (uint32_t d = 0; d < rank; d++) n *= (uint32_t)shape[1 + d];\n"
    "        shape += 1 + rank;\n"
    "        GlobalTensor<float> in, out;\n"
    "        in.SetGlobalBuffer((__gm__ float *)from[from[0] / 8 + index], n);\n"
    "        out.SetGlobalBuffer((__gm__ float *)to[to[0] / 8 + index], n);\n"
    "        LocalTensor<float> a = queue.AllocTensor<float>();\n"
    "        DataCopy(a, in, n);\n"
    "        queue.EnQue(a);\n"
    "        a = queue.DeQue<float>();\n"
    "        DataCopy(out, a, n);\n"
    "        queue.FreeTensor(a);\n"
    "    }\n"
    "}\n";

static void test_lists_and_absent_optionals(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    struct job_result result;
    const char *host =
        with(&fixture, host_source, "Input(\"x\").ParamType(REQUIRED)", "Input(\"x\").ParamType(DYNAMIC)");
    host = with(&fixture, host, "Input(\"y\").ParamType(REQUIRED)", "Input(\"y\").ParamType(OPTIONAL)");
    host = with(&fixture, host, "Output(\"z\").ParamType(REQUIRED)", "Output(\"z\").ParamType(DYNAMIC)");
    host = with(&fixture, host, "context->GetInputShape(0)->GetOriginShape().GetShapeSize() / 4", "1");
    build(&fixture, host, list_kernel);
    assert_built(&fixture.build);
    struct job_tensor tensors[4] = {{.shape = {.format = 2, .rank = 2, .dims = {4, 16}}, .bytes = 256},
                                    {.shape = {.format = 2, .rank = 1, .dims = {8}}, .bytes = 32}};
    memcpy(tensors + 2, tensors, 2 * sizeof *tensors);
    for (int i = 0; i < 4; i++)
        tensors[i].offset = (uint64_t)i * 1024;
    struct job_argument inputs[] = {{.tensors = tensors, .count = 2, .list = true, .alias = -1}, {.alias = -1}};
    struct job_argument output = {.tensors = tensors + 2, .count = 2, .list = true, .alias = -1};
    int fd = memfd_create("gm", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, 4096), 0);
    float *gm = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(gm, MAP_FAILED);
    for (int i = 0; i < 512; i++)
        gm[i] = (float)i + 1;
    const struct build *built = &fixture.build;
    struct job job = {.kernel_so = built->kernels[0].so,
                      .entry = built->entry,
                      .soc = "Ascend910B2",
                      .inputs = inputs,
                      .input_count = 2,
                      .outputs = &output,
                      .output_count = 1,
                      .gm_fd = fd,
                      .gm_bytes = 4096,
                      .seconds = 20};
    run_both(&fixture, &job, &result);
    if (result.status != JOB_OK || result.fault)
        fail_msg("%s %s", result.error ? result.error : "", result.fault ? result.findings[0].message : "");
    assert_memory_equal(gm + 512, gm, 256);
    assert_memory_equal(gm + 768, gm + 256, 32);
    assert_true(gm[776] == 0); /* nothing behind the second tensor */
    assert_int_equal(result.undefined_count, 2);
    assert_int_equal(result.undefined[0] + result.undefined[1], 0);
    job_result_free(&result);
    munmap(gm, 4096);
    close(fd);
    finish(&fixture);
}

static void test_a_function_that_two_host_files_define(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    static const char definition[] = "int Align(int n) { return (n + 31) / 32 * 32; }\n";
    write_project(&fixture, arena_printf(&fixture.arena, "%s%s", definition, host_source), kernel_source);
    put(&fixture, "op_host/infer.cpp", definition);
    build_written(&fixture);
    assert_built(&fixture.build);
    finish(&fixture);
}

/* Both sides may call what is marked so, the host in constant expressions of the kernel file. */
static void test_functions_of_both_sides(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    const char *kernel = with(&fixture, kernel_source, "DECLARATIONS",
                              "template <int N, class T> __forceinline__ [host, aicore] constexpr T RoundUp(T v)"
                              "{ return (v + N - 1) / N * N; }\n"
                              "inline int HostSide(int v) { return RoundUp<8>(v); }\n"
                              "constexpr int TILE = RoundUp<8>(61);");
    build(&fixture, host_source, with(&fixture, kernel, "COMPUTE", "Add(c, a, b, RoundUp<8>(n) + TILE - 64);"));
    assert_built(&fixture.build);
    finish(&fixture);
}

static void test_fault_names_the_line(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    struct job_result result;
    float z[ELEMENTS];
    build(&fixture, host_source, with(&fixture, kernel_source, "COMPUTE", "Add(c, a, b, n + 65536);"));
    assert_built(&fixture.build);
    run(&fixture, &result, z);
    assert_int_equal(result.status, JOB_OK);
    assert_true(result.fault);
    assert_int_equal(result.findings[0].line, COMPUTE_LINE);
    assert_string_equal(result.findings[0].file, "op_kernel/add_custom.cpp");
    assert_string_equal(result.findings[0].api, "Add");
    job_result_free(&result);
    finish(&fixture);
}

/* The compiler would make one call of the two, which has no line. */
static void test_the_same_call_in_both_branches_keeps_its_line(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    struct job_result result;
    float z[ELEMENTS];
    build(&fixture, host_source,
          with(&fixture, kernel_source, "COMPUTE",
               "if (n % 2) {\n Add(c, a, b, n + 1);\n } else {\n Add(c, a, b, n + 65536);\n }"));
    assert_built(&fixture.build);
    run(&fixture, &result, z);
    assert_int_equal(result.status, JOB_OK);
    assert_true(result.fault);
    assert_int_equal(result.findings[0].line, COMPUTE_LINE + 3);
    job_result_free(&result);
    finish(&fixture);
}

/* Nothing of the kernel's return is left to the caller: its last call comes back. */
static void test_a_call_at_the_end_keeps_its_line(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    struct job_result result;
    float z[ELEMENTS];
    const char *ends =
        with(&fixture, kernel_source, "    inY.FreeTensor(b);\n", "    inY.FreeTensor(b);\n    last();\n");
    ends =
        with(&fixture, ends, "DECLARATIONS", "__aicore__ __attribute__((noinline)) void last() { SyncAll<false>(); }");
    build(&fixture, host_source, with(&fixture, ends, "COMPUTE", "Add(c, a, b, n);"));
    assert_built(&fixture.build);
    run(&fixture, &result, z);
    assert_true(result.fault);
    assert_string_equal(result.findings[0].fault, "sync_without_cube");
    assert_int_equal(result.findings[0].line, 3);
    job_result_free(&result);
    finish(&fixture);
}

/* Both objects are the same source, each for its kind of core. */
static void test_a_kernel_that_starts_aics_is_compiled_for_both(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    struct job_result result;
    float z[ELEMENTS];
    build(
        &fixture, host_source,
        with(
            &fixture, kernel_source, "COMPUTE",
            "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1); Add(c, a, b, n); if ASCEND_IS_AIC { printf(\"cube\"); }"
            " if (g_coreType == AIV) { printf(\"vector\"); }"));
    assert_built(&fixture.build);
    assert_non_null(fixture.build.kernels[0].cube_so);
    assert_string_not_equal(fixture.build.kernels[0].cube_so, fixture.build.kernels[0].so);
    assert_null(fixture.build.kernels[1].cube_so);
    run(&fixture, &result, z);
    if (result.status != JOB_OK)
        fail_msg("%s: %s", job_stage_name(result.stage), result.error);
    assert_false(result.fault);
    assert_int_equal(result.stats.kernel_type, NPU_TYPE_MIX_AIC_1_1);
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(z[i] == (float)i + 0.5f);
    const char *printed = result.printed;
    int cubes = 0, vectors = 0;
    for (const char *at = printed; (at = strstr(at, "cube")); at++)
        cubes++;
    for (const char *at = printed; (at = strstr(at, "vector")); at++)
        vectors++;
    assert_int_equal(cubes, BLOCKS);
    assert_int_equal(vectors, BLOCKS);
    job_result_free(&result);
    finish(&fixture);
}

static void test_the_half_for_aics_must_compile(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    build(&fixture, host_source,
          with(&fixture, kernel_source, "COMPUTE",
               "KERNEL_TASK_TYPE(1, KERNEL_TYPE_MIX_AIC_1_2); Add(c, a, b, n);\n#ifdef __DAV_C220_CUBE__\n"
               "    no_such_name = 1;\n#endif"));
    assert_int_equal(fixture.build.stage, BUILD_KERNEL);
    assert_int_equal(fixture.build.diagnostic_count, 1);
    assert_int_equal(fixture.build.diagnostics[0].line, COMPUTE_LINE + 2);
    finish(&fixture);
}

/* The host part's tiling key is 0. */
static void test_types_belong_to_tiling_keys(void **state)
{
    (void)state;
    static const struct {
        const char *names;
        enum npu_kernel_type type; /* NPU_TYPE_MISSING: refused */
    } kernels[] = {
        {"KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY); KERNEL_TASK_TYPE(0, KERNEL_TYPE_MIX_AIV_1_0);",
         NPU_TYPE_MIX_AIV_1_0},
        {"KERNEL_TASK_TYPE(1, KERNEL_TYPE_MIX_AIV_1_0); KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);",
         NPU_TYPE_AIV_ONLY},
        {"if (TILING_KEY_IS(1)) { KERNEL_TASK_TYPE(1, KERNEL_TYPE_MIX_AIV_1_0); }", NPU_TYPE_MISSING},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        struct fixture fixture = {0};
        struct job_result result;
        float z[ELEMENTS];
        const char *compute = arena_printf(&fixture.arena, "%s Add(c, a, b, n);", kernels[i].names);
        build(&fixture, host_source, with(&fixture, kernel_source, "COMPUTE", compute));
        assert_built(&fixture.build);
        run(&fixture, &result, z);
        assert_int_equal(result.status, JOB_OK);
        assert_int_equal(result.fault, kernels[i].type == NPU_TYPE_MISSING);
        if (result.fault)
            assert_string_equal(result.findings[0].fault, "kernel_type_missing");
        else
            assert_int_equal(result.stats.kernel_type, kernels[i].type);
        job_result_free(&result);
        finish(&fixture);
    }
}

/* Out of memory, or a result that cannot be written, at every point of akgen-run: either it came to nothing, or the
 * outcome is right. Never is the candidate made to answer for it. */
static void try_failures(const char *point, bool every)
{
    struct fixture fixture = {0};
    struct job_result result = {.status = JOB_BROKEN};
    float z[ELEMENTS];
    int broken = 0;
    build(&fixture, host_source, kernel_source);
    for (int number = 1; number < 1 << 20 && result.status != JOB_OK; number += every ? 1 : 1 + number / 4) {
        fixture.inject = arena_printf(&fixture.arena, "%s:%d", point, number);
        run(&fixture, &result, z);
        if (result.status != JOB_OK && result.status != JOB_BROKEN)
            fail_msg("%s: %s", fixture.inject, result.error);
        if (result.status == JOB_BROKEN)
            assert_non_null(strstr(result.error, "akgen-run"));
        broken += result.status == JOB_BROKEN;
        if (result.status != JOB_OK)
            job_result_free(&result);
    }
    assert_true(broken > 2);
    assert_int_equal(result.status, JOB_OK);
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(z[i] == (float)i + 0.5f);
    job_result_free(&result);
    finish(&fixture);
}

static void test_failures_of_akgen_run_are_ours(void **state)
{
    (void)state;
    try_failures("memory", false);
    try_failures("write", true);
}

/* What the candidate leaves without memory is its own doing. */
static void test_a_candidate_that_takes_all_memory(void **state)
{
    (void)state;
    static const char greedy[] = "for (size_t size = (size_t)1 << 30; size; size /= 2)\n"
                                 "        while (mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | "
                                 "MAP_NORESERVE, -1, 0) != MAP_FAILED) {}\n"
                                 "    for (int i = 0; i < 1000000; i++) new AddTiling;\n";
    struct fixture fixture = {0};
    struct job_result result;
    float z[ELEMENTS];
    if (SANITIZED) /* there is no limit then */
        skip();
    const char *host = arena_printf(&fixture.arena, "#include <sys/mman.h>\n%s", host_source);
    build(&fixture, with(&fixture, host, "TILING_EXTRA", greedy), kernel_source);
    assert_built(&fixture.build);
    run(&fixture, &result, z);
    assert_true(result.status == JOB_EXITED || result.status == JOB_CRASHED);
    assert_int_equal(result.stage, JOB_TILING);
    job_result_free(&result);
    finish(&fixture);
}

/* The same for akgen-host. What it says about itself once the candidate is in is not believed, so an end that happens
 * again is the candidate's; but no failure of ours becomes a cheat, or a word of its tiling function. */
static void test_failures_of_akgen_host(void **state)
{
    (void)state;
    static const char *const points[] = {"memory", "write"};
    struct fixture fixture = {0};
    float z[ELEMENTS];
    build(&fixture, host_source, kernel_source);
    for (size_t p = 0; p < sizeof points / sizeof *points; p++) {
        struct job_result result = {.status = JOB_BROKEN};
        int broken = 0, ended = 0;
        for (int number = 1; number < 1 << 20 && result.status != JOB_OK; number += 1 + number / 8) {
            fixture.inject_host = arena_printf(&fixture.arena, "%s:%d", points[p], number);
            run(&fixture, &result, z);
            bool ours = result.status == JOB_EXITED &&
                        (strstr(result.error, "exit code 3 ") || strstr(result.error, "exit code 70 "));
            if (result.status != JOB_OK && result.status != JOB_BROKEN && !ours)
                fail_msg("%s: %s", fixture.inject_host, result.error);
            broken += result.status == JOB_BROKEN;
            ended += result.status == JOB_EXITED;
            job_result_free(&result);
        }
        assert_true(broken > 0 && ended > 0);
        assert_int_equal(result.status, JOB_OK);
        assert_true(z[ELEMENTS - 1] == ELEMENTS - 0.5f);
    }
    finish(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_computes),
        cmocka_unit_test(test_second_build_is_cached_and_a_change_is_not),
        cmocka_unit_test(test_compile_error_has_place_and_class),
        cmocka_unit_test(test_every_combination_must_compile),
        cmocka_unit_test(test_undefined_function_is_an_error_with_its_line),
        cmocka_unit_test(test_kernel_with_the_questions_host_part),
        cmocka_unit_test(test_compiler_limits),
        cmocka_unit_test(test_no_entry_point),
        cmocka_unit_test(test_constructor_that_crashes),
        cmocka_unit_test(test_tiling_that_misbehaves),
        cmocka_unit_test(test_printing_is_captured_and_harmless),
        cmocka_unit_test(test_lists_and_absent_optionals),
        cmocka_unit_test(test_a_function_that_two_host_files_define),
        cmocka_unit_test(test_functions_of_both_sides),
        cmocka_unit_test(test_fault_names_the_line),
        cmocka_unit_test(test_the_same_call_in_both_branches_keeps_its_line),
        cmocka_unit_test(test_a_call_at_the_end_keeps_its_line),
        cmocka_unit_test(test_a_kernel_that_starts_aics_is_compiled_for_both),
        cmocka_unit_test(test_the_half_for_aics_must_compile),
        cmocka_unit_test(test_types_belong_to_tiling_keys),
        cmocka_unit_test(test_failures_of_akgen_run_are_ours),
        cmocka_unit_test(test_failures_of_akgen_host),
        cmocka_unit_test(test_a_candidate_that_takes_all_memory),
    };
    return cmocka_run_group_tests(tests, make_cache, remove_cache);
}
