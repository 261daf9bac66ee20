/* akgen-run: the program inside the jail. It reads one job, loads the candidate's objects, runs tiling and kernel on
 * the simulated machine and writes the result. Everything that the candidate executes, it executes here. */
#include "npu/npu.h"
#include "base/clock.h"
#include "run/guard.h"
#include "sandbox/job_internal.h"
#include "run/overrides.h"
#include "run/symbolize.h"
#include "run/task_types.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* GetLibApiWorkSpaceSize() of an Ascend 910B: 16 MiB before the user's part of the workspace. */
enum { RESERVED_WORKSPACE = 16 << 20, GM_ALIGN = 512, EXIT_OURS = 70 };

/* One of the candidate's kernel objects. */
struct loaded {
    const char *path;
    int fd; /* of the file, opened before the guard forbids that; -1: no such object */
    void *entry;
    uint64_t base;
    struct symbolizer *symbolizer; /* made for the first finding */
};
struct runner {
    struct arena arena;
    struct job job;
    struct job_result result;
    int result_fd;
    struct guard guard;
    char *evidence;                         /* of a violation, with room for its words */
    const struct npu_task_type *task_types; /* that the kernel names */
    size_t task_type_count;
    uint8_t *gm; /* out of reach while the host part runs */
    struct op_def def;
    struct op_tiling tiling;
    struct loaded kernel, cube; /* what AIVs and AICs run */
    struct npu *npu;
    FILE *log; /* the instruction log; NULL: none */
    uint64_t args[NPU_MAX_ARGS];
    int arg_count;
};

static void set_stage(struct runner *runner, const char *stage)
{
    char bytes[JOB_STAGE_BYTES] = {0};
    snprintf(bytes, sizeof bytes, "%s", stage);
    if (pwrite(runner->result_fd, bytes, sizeof bytes, 0) < 0)
        _exit(EXIT_OURS);
    runner->result.stage = stage;
}

/* Writes the result and ends the process at once: the candidate's destructors are of no interest. */
static _Noreturn void finish(struct runner *runner)
{
    json_t *json = job_result_to_json(&runner->result);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    size_t length = text ? strlen(text) : 0;
    fflush(NULL);
    if (!text || pwrite(runner->result_fd, text, length, JOB_STAGE_BYTES) != (ssize_t)length)
        _exit(EXIT_OURS);
    _exit(0);
}

static _Noreturn void fail(struct runner *runner, enum job_status status, const char *message)
{
    runner->result.status = status;
    runner->result.error = message;
    finish(runner);
}

static _Noreturn void fail_error(struct runner *runner, enum job_status status, struct akgen_error *error)
{
    fail(runner, status, arena_strdup(&runner->arena, error->message));
}

static int option(int argc, char **argv, const char *name)
{
    size_t length = strlen(name);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
            return atoi(argv[i] + length + 1);
    return -1;
}

static void read_job(struct runner *runner, int fd)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) || status.st_size <= 0)
        fail(runner, JOB_BROKEN, "no job on the descriptor --job");
    char *text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    json_t *json = text == MAP_FAILED ? NULL : json_loadb(text, (size_t)status.st_size, 0, NULL);
    if (!json)
        fail(runner, JOB_BROKEN, "the job is no JSON");
    struct akgen_error *error = job_from_json(&runner->arena, json, &runner->job);
    if (error)
        fail_error(runner, JOB_BROKEN, error);
    runner->result.nonce = runner->job.nonce;
    /* The candidate shall not read it there. */
    json_decref(json);
    munmap(text, (size_t)status.st_size);
    close(fd);
}

static void map_gm(struct runner *runner, int fd)
{
    size_t bytes = runner->job.gm_bytes;
    if (!bytes)
        return;
    runner->gm = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (runner->gm == MAP_FAILED)
        fail(runner, JOB_BROKEN, "the tensors' memory cannot be mapped");
    close(fd);
}

/* The host part of an operator sees no memory of the device: what it wrote there would be work that the kernel left
 * undone. */
static void protect_gm(struct runner *runner, int protection)
{
    if (runner->gm && mprotect(runner->gm, runner->job.gm_bytes, protection))
        fail(runner, JOB_BROKEN, "the tensors' memory cannot be protected");
}

/* The report of a violation is written while the candidate's call is under way, perhaps inside the allocator with its
 * locks held: nothing may be allocated then. So its text is made beforehand, with room for what is not known yet. */
enum { EVIDENCE_BYTES = 200, STAGE_BYTES = 16, ROOM = '#' };

static void prepare_evidence(struct runner *runner)
{
    char error[EVIDENCE_BYTES + 1] = {0}, stage[STAGE_BYTES + 1] = {0};
    memset(error, ROOM, EVIDENCE_BYTES);
    memset(stage, ROOM, STAGE_BYTES);
    const struct job_result result = {
        .status = JOB_CHEATED, .error = error, .stage = stage, .nonce = runner->result.nonce};
    json_t *json = job_result_to_json(&result);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    if (!text)
        fail(runner, JOB_BROKEN, "no memory for the report");
    runner->evidence = arena_strdup(&runner->arena, text);
    free(text);
    json_decref(json);
}

/* Puts `words` where the string of `room` bytes of ROOM is; the rest becomes white space behind the closing quote. */
static void fill_in(char *text, size_t room, const char *const *words)
{
    char *at = strchr(text, ROOM);
    while (at && strspn(at, "#") != room)
        at = strchr(at + strspn(at, "#"), ROOM);
    if (!at)
        return;
    char *end = at + room;
    for (; *words; words++)
        for (const char *c = *words; *c && at < end; c++)
            *at++ = *c;
    *at++ = '"';
    while (at <= end)
        *at++ = ' ';
}

/* Not sanitized: before a function that does not return AddressSanitizer would allocate, too. */
__attribute__((no_sanitize("address"))) static void violated(void *closure, const char *what)
{
    struct runner *runner = closure;
    const char *stage = runner->result.stage;
    if (strcmp(stage, "report") == 0) /* the candidate's code does not run any more: ours */
        fail(runner, JOB_BROKEN, arena_printf(&runner->arena, "%s in stage report", what));
    fill_in(runner->evidence, EVIDENCE_BYTES, (const char *const[]){what, " in stage ", stage, NULL});
    fill_in(runner->evidence, STAGE_BYTES, (const char *const[]){stage, NULL});
    size_t length = strlen(runner->evidence);
    _exit(pwrite(runner->result_fd, runner->evidence, length, JOB_STAGE_BYTES) == (ssize_t)length ? 0 : EXIT_OURS);
}

static void open_object(struct loaded *object, const char *path)
{
    object->path = path;
    object->fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static void refuse_overrides(struct runner *runner, const char *path)
{
    if (!path)
        return;
    const char *name = overrides_find(&runner->arena, path);
    if (overrides_early(path))
        fail(runner, JOB_CHEATED, "the kernel has functions that run when it is loaded");
    if (name)
        fail(runner, JOB_CHEATED,
             arena_printf(&runner->arena, "the kernel defines %s, a function of the machine", name));
}

/* Everything that needs a file or the tensors is done before the candidate's first instruction. */
static void shut_the_door(struct runner *runner)
{
    open_object(&runner->kernel, runner->job.kernel_so);
    open_object(&runner->cube, runner->job.cube_so);
    if (runner->job.kernel_so)
        runner->task_type_count = task_types_read(&runner->arena, runner->job.kernel_so, &runner->task_types);
    refuse_overrides(runner, runner->job.kernel_so);
    refuse_overrides(runner, runner->job.cube_so);
    protect_gm(runner, PROT_NONE);
    runner->guard = (struct guard){.result_fd = runner->result_fd,
                                   .log_fd = runner->log ? fileno(runner->log) : -1,
                                   .fence = runner->gm,
                                   .fence_bytes = runner->job.gm_bytes,
                                   .violated = violated,
                                   .closure = runner};
    prepare_evidence(runner);
    guard_install(&runner->guard);
}

/* The host part. */
static void load_host(struct runner *runner)
{
    set_stage(runner, "load");
    /* Objects are linked without the libraries of the toolchain that makes them; what they call is put here for them.
     */
    static const char *const libraries[] = {"libstdc++.so.6", "libgcc_s.so.1"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (!dlopen(libraries[i], RTLD_NOW | RTLD_GLOBAL))
            fail(runner, JOB_BROKEN, arena_strdup(&runner->arena, dlerror()));
    shut_the_door(runner);
    struct akgen_error *error = op_describe(&runner->arena, runner->job.host_so, runner->job.op_type, &runner->def);
    if (error)
        fail_error(runner, JOB_LOAD_FAILED, error);
}

/* What tiling may read it gets as a copy. */
static void *copy_values(struct runner *runner, const struct job_tensor *tensor)
{
    void *values = arena_alloc(&runner->arena, tensor->bytes);
    memcpy(values, runner->gm + tensor->offset, tensor->bytes);
    return values;
}

static struct op_argument *call_arguments(struct runner *runner, const struct job_argument *arguments, int count)
{
    struct op_argument *list = arena_alloc(&runner->arena, ((size_t)count + 1) * sizeof *list);
    for (int i = 0; i < count; i++) {
        list[i].count = arguments[i].count;
        list[i].tensors = arena_alloc(&runner->arena, ((size_t)arguments[i].count + 1) * sizeof *list[i].tensors);
        for (int t = 0; t < arguments[i].count; t++) {
            const struct job_tensor *tensor = &arguments[i].tensors[t];
            list[i].tensors[t] = tensor->shape;
            if (tensor->offset > runner->job.gm_bytes || tensor->bytes > runner->job.gm_bytes - tensor->offset)
                fail(runner, JOB_BROKEN, "a tensor lies outside the shared memory");
            if (arguments[i].host_values && tensor->bytes)
                list[i].tensors[t].values = copy_values(runner, tensor);
        }
    }
    return list;
}

static void end_unsupported(void *runner, const char *function)
{
    fail(runner, JOB_UNSUPPORTED, function);
}

static void run_tiling(struct runner *runner, const struct npu_soc *soc)
{
    const struct job *job = &runner->job;
    set_stage(runner, "tiling");
    protect_gm(runner, PROT_READ);
    const struct op_call call = {.soc = soc,
                                 .inputs = call_arguments(runner, job->inputs, job->input_count),
                                 .outputs = call_arguments(runner, job->outputs, job->output_count),
                                 .attrs = job->attrs,
                                 .input_count = job->input_count,
                                 .output_count = job->output_count,
                                 .attr_count = job->attr_count};
    protect_gm(runner, PROT_NONE);
    op_on_never_run(end_unsupported, runner);
    struct akgen_error *error = op_tile(&runner->def, &call, &runner->tiling);
    if (error)
        fail_error(runner, JOB_TILING_FAILED, error);
    runner->result.block_dim = runner->tiling.block_dim;
    runner->result.tiling_key = runner->tiling.key;
    runner->result.workspace = runner->tiling.workspace;
    runner->result.tiling_bytes = runner->tiling.size;
    runner->result.tiling =
        op_tiling_decode(&runner->def, runner->tiling.key, runner->tiling.bytes, runner->tiling.size);
}

/* The kernel's arguments. */
static uint8_t *allocate(struct runner *runner, uint64_t bytes)
{
    uint8_t *at =
        mmap(NULL, bytes + GM_ALIGN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        fail(
            runner, JOB_TILING_FAILED,
            arena_printf(&runner->arena, "no memory for %llu bytes of workspace or tiling", (unsigned long long)bytes));
    return at;
}

static void add_argument(struct runner *runner, uint64_t value)
{
    if (runner->arg_count == NPU_MAX_ARGS)
        fail(runner, JOB_BROKEN, "more kernel arguments than the machine takes");
    runner->args[runner->arg_count++] = value;
}

/* The block of memory that stands for a dynamic parameter (ListTensorDesc.md in the Ascend C documentation): a byte
 * offset to the addresses; for each tensor its rank (low half) and index (high half) and then its dimensions; the
 * addresses. */
static uint64_t *address_table(struct runner *runner, const struct job_argument *argument, const char *name)
{
    uint64_t words = 1;
    for (int t = 0; t < argument->count; t++)
        words += 1 + (uint64_t)(argument->tensors[t].shape.rank > 0 ? argument->tensors[t].shape.rank : 0);
    uint64_t bytes = (words + (uint64_t)argument->count) * sizeof(uint64_t), at = 1;
    uint64_t *table = (uint64_t *)allocate(runner, bytes);
    table[0] = words * sizeof(uint64_t);
    for (int t = 0; t < argument->count; t++) {
        const struct op_tensor *shape = &argument->tensors[t].shape;
        uint32_t rank = shape->rank > 0 ? (uint32_t)shape->rank : 0;
        table[at++] = (uint64_t)t << 32 | rank;
        for (uint32_t d = 0; d < rank; d++)
            table[at++] = (uint64_t)shape->dims[d];
        table[words + (uint64_t)t] = (uint64_t)(runner->gm + argument->tensors[t].offset);
    }
    npu_gm_add(runner->npu, name, table, bytes, NPU_GM_ADDRESSES, true);
    return table;
}

/* What of a tensor's block of GM lies behind the tensor, if blocks are multiples of `unit`. */
static uint64_t padding_of(uint64_t bytes, uint64_t unit)
{
    return (bytes + 32 + unit - 1) / unit * unit - bytes;
}

/* Reads behind a tensor do no harm in the block that the allocator makes; what they bring is tracked as undefined. A
 * write there would be lost without a trace, so it is held to what CANN promises. */
static void add_padding(const struct runner *runner, const void *base, uint64_t bytes)
{
    enum { PROMISED = 32 };
    uint64_t unit = runner->job.gm_unit ? runner->job.gm_unit : PROMISED;
    npu_gm_padding(runner->npu, base, padding_of(bytes, unit), padding_of(bytes, PROMISED));
}

static void add_tensors(struct runner *runner, const struct job_argument *argument, const char *name,
                        enum npu_gm_kind kind)
{
    for (int t = 0; t < argument->count; t++) {
        const struct job_tensor *tensor = &argument->tensors[t];
        const char *label = argument->list ? arena_printf(&runner->arena, "%s[%d]", name, t) : name;
        if (!tensor->bytes)
            continue;
        uint8_t *base = runner->gm + tensor->offset;
        npu_gm_add(runner->npu, label, base, tensor->bytes, kind, kind != NPU_GM_OUTPUT || tensor->defined);
        add_padding(runner, base, tensor->bytes);
    }
}

static void bind_argument(struct runner *runner, const struct job_argument *argument, const char *name)
{
    if (!argument->count)
        add_argument(runner, 0);
    else if (argument->list)
        add_argument(runner, (uint64_t)address_table(runner, argument, name));
    else
        add_argument(runner, (uint64_t)(runner->gm + argument->tensors[0].offset));
}

static const char *param_name(const struct op_param *params, int count, int index)
{
    return index < count ? params[index].name : "?";
}

/* Where an OpDef has an output whose shape is known only after the run (OutputShapeDependOnCompute), the kernel gets an
 * address for the shapes: 64-bit words, the rank and the sizes. */
static void bind_shapes(struct runner *runner)
{
    enum { WORDS = 9 }; /* the rank and up to 8 sizes, per output */
    int outputs = 0;
    for (int i = 0; i < runner->def.output_count; i++)
        outputs += runner->def.outputs[i].shape_depends;
    if (!outputs)
        return;
    uint64_t bytes = (uint64_t)runner->def.output_count * WORDS * sizeof(uint64_t);
    uint8_t *shapes = allocate(runner, bytes);
    npu_gm_add(runner->npu, "shapes of outputs", shapes, bytes, NPU_GM_INOUT, true);
    add_argument(runner, (uint64_t)shapes);
}

/* Inputs, outputs, shapes of outputs, workspace, tiling: the order of a kernel's parameters. */
static void bind_arguments(struct runner *runner)
{
    const struct job *job = &runner->job;
    for (int i = 0; i < job->input_count; i++) {
        const char *name = param_name(runner->def.inputs, runner->def.input_count, i);
        add_tensors(runner, &job->inputs[i], name, job->inputs[i].written ? NPU_GM_INOUT : NPU_GM_INPUT);
        bind_argument(runner, &job->inputs[i], name);
    }
    for (int i = 0; i < job->output_count; i++) {
        const char *name = param_name(runner->def.outputs, runner->def.output_count, i);
        if (job->outputs[i].alias < 0)
            add_tensors(runner, &job->outputs[i], name, NPU_GM_OUTPUT);
        bind_argument(runner, &job->outputs[i], name);
    }
    npu_gm_span(runner->npu, runner->gm, job->gm_bytes);
    bind_shapes(runner);
    uint8_t *workspace = allocate(runner, runner->tiling.workspace);
    if (runner->tiling.workspace)
        npu_gm_add(runner->npu, "workspace", workspace, runner->tiling.workspace, NPU_GM_WORKSPACE, false);
    add_argument(runner, (uint64_t)workspace);
    uint8_t *tiling = allocate(runner, runner->tiling.size);
    if (runner->tiling.size) {
        memcpy(tiling, runner->tiling.bytes, runner->tiling.size);
        npu_gm_add(runner->npu, "tiling", tiling, runner->tiling.size, NPU_GM_TILING, true);
    }
    add_argument(runner, (uint64_t)tiling);
}

/* The kernel. */
static void load_object(struct runner *runner, const char *path, struct loaded *loaded)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        fail(runner, JOB_LOAD_FAILED, arena_strdup(&runner->arena, dlerror()));
    loaded->entry = dlsym(object, runner->job.entry);
    if (!loaded->entry)
        fail(runner, JOB_LOAD_FAILED, arena_strdup(&runner->arena, dlerror()));
    struct link_map *map;
    if (!dlinfo(object, RTLD_DI_LINKMAP, &map))
        loaded->base = map->l_addr;
}

/* The type that the kernel names for the launch's tiling key, and the objects that it needs. */
static enum npu_kernel_type load_kernel(struct runner *runner)
{
    set_stage(runner, "load");
    enum npu_kernel_type type = npu_kernel_type_choose(runner->task_types, runner->task_type_count, runner->tiling.key);
    if (type == NPU_TYPE_INFERRED)
        type = (enum npu_kernel_type)runner->job.inferred_type;
    int aic, aiv;
    npu_kernel_type_cores(type, &aic, &aiv);
    if (aiv)
        load_object(runner, runner->job.kernel_so, &runner->kernel);
    if (aic && !runner->job.cube_so)
        fail(runner, JOB_BROKEN, "the kernel starts AICs and was not compiled for them");
    if (aic)
        load_object(runner, runner->job.cube_so, &runner->cube);
    return type;
}

static const char *kind_name(enum npu_kind kind)
{
    static const char *const names[] = {"trap", "differs", "undefined", "hazard", "unsupported"};
    return names[kind];
}

static void place_of(struct runner *runner, uint64_t pc, const char **file, int *line)
{
    struct loaded *loaded = &runner->kernel;
    if (runner->cube.entry && pc > runner->cube.base && (runner->cube.base > loaded->base || pc <= loaded->base))
        loaded = &runner->cube;
    *file = NULL;
    *line = 0;
    if (pc <= loaded->base)
        return;
    if (!loaded->symbolizer)
        loaded->symbolizer = symbolizer_open(loaded->fd);
    /* A return address: the call is the instruction before it. */
    if (!symbolizer_place(loaded->symbolizer, pc - loaded->base - 1, runner->job.headers, file, line))
        *file = NULL;
}

static void report_findings(struct runner *runner)
{
    struct job_result *result = &runner->result;
    const struct npu_finding *found = npu_findings(runner->npu, &result->finding_count);
    result->findings = arena_alloc(&runner->arena, (result->finding_count + 1) * sizeof *result->findings);
    for (size_t i = 0; i < result->finding_count; i++) {
        struct job_finding *finding = &result->findings[i];
        *finding = (struct job_finding){.fault = found[i].fault,
                                        .kind = kind_name(found[i].kind),
                                        .message = found[i].message,
                                        .api = found[i].api,
                                        .operand = found[i].operand,
                                        .pipe = npu_pipe_name(found[i].pipe),
                                        .fatal = found[i].fatal,
                                        .core = found[i].core,
                                        .aic = found[i].aic,
                                        .count = found[i].count};
        place_of(runner, found[i].pc, &finding->file, &finding->line);
        place_of(runner, found[i].pc_other, &finding->file_other, &finding->line_other);
    }
}

static void report_undefined(struct runner *runner)
{
    const struct job *job = &runner->job;
    struct job_result *result = &runner->result;
    size_t count = 0;
    for (int i = 0; i < job->output_count; i++)
        count += (size_t)job->outputs[i].count;
    result->undefined = arena_alloc(&runner->arena, (count + 1) * sizeof *result->undefined);
    result->undefined_first = arena_alloc(&runner->arena, (count + 1) * sizeof *result->undefined_first);
    for (int i = 0; i < job->output_count; i++)
        for (int t = 0; t < job->outputs[i].count; t++) {
            const struct job_tensor *tensor = &job->outputs[i].tensors[t];
            size_t first = 0;
            int at = result->undefined_count++;
            if (tensor->bytes)
                result->undefined[at] = npu_gm_undefined(runner->npu, runner->gm + tensor->offset, &first);
            result->undefined_first[at] = first;
        }
}

/* "AIV 3   MTE2  DataCopy  dst UB+0x0  src0 x+0x800  512 float32  op_kernel/add.cpp:42" */
static void log_line(void *closure, const struct npu_log_line *line)
{
    struct runner *runner = closure;
    const char *file;
    int number;
    place_of(runner, line->pc, &file, &number);
    fprintf(runner->log, "%s %-3d %-4s %-16s%s", line->aic ? "AIC" : "AIV", line->core, line->pipe, line->api,
            line->text);
    if (file)
        fprintf(runner->log, "  %s:%d", file, number);
    fputc('\n', runner->log);
}

/* Variables in GM that the kernel's source defines (`__gm__` at namespace scope). */
static void add_variables(struct runner *runner, const struct loaded *loaded)
{
    uint64_t address, bytes;
    if (loaded->entry && symbolizer_section(loaded->fd, "akgen_gm", &address, &bytes))
        npu_gm_add(runner->npu, "variables in GM", (void *)(loaded->base + address), bytes, NPU_GM_INOUT, true);
}

static void run_kernel(struct runner *runner, const struct npu_soc *soc, enum npu_kernel_type type)
{
    const struct npu_config config = {.soc = soc,
                                      .sync = runner->job.sync,
                                      .random_order = runner->job.random_order,
                                      .seed = runner->job.seed,
                                      .poison = runner->job.poison,
                                      .tiling_key = runner->tiling.key,
                                      .kernel_type = type,
                                      .aic_kernel = runner->cube.entry,
                                      .reserved_workspace = RESERVED_WORKSPACE,
                                      .log = runner->log ? log_line : NULL,
                                      .log_closure = runner};
    protect_gm(runner, PROT_READ | PROT_WRITE);
    guard_open_fence();
    runner->npu = npu_create(&config);
    bind_arguments(runner);
    add_variables(runner, &runner->kernel);
    add_variables(runner, &runner->cube);
    set_stage(runner, "run");
    double start = clock_seconds();
    npu_launch(runner->npu, runner->kernel.entry, runner->args, runner->arg_count, runner->tiling.block_dim);
    runner->result.run_seconds = clock_seconds() - start;
    runner->result.stats = npu_stats(runner->npu);
    set_stage(runner, "report");
    report_findings(runner);
    report_undefined(runner);
}

/* In a sanitized build a crash of the candidate must still end by its signal, and its memory must have a limit. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:abort_on_error=1:detect_leaks="
           "0:"
           "max_allocation_size_mb=16384:symbolize=0";
}

int main(int argc, char **argv)
{
    static struct runner runner = {.result = {.status = JOB_OK}};
    /* What a kernel printed before it hangs or crashes is what its author looks for. */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    runner.result_fd = option(argc, argv, "--result");
    set_stage(&runner, "start");
    read_job(&runner, option(argc, argv, "--job"));
    if (runner.job.kind == JOB_RUN)
        map_gm(&runner, option(argc, argv, "--gm"));
    int log = option(argc, argv, "--log");
    runner.log = log >= 0 ? fdopen(log, "a") : NULL;
    load_host(&runner);
    if (runner.job.kind == JOB_DESCRIBE) {
        runner.result.def = runner.def;
        finish(&runner);
    }
    const struct npu_soc *soc = npu_soc_find(runner.job.soc);
    if (!soc)
        fail(&runner, JOB_BROKEN, arena_printf(&runner.arena, "there is no SoC named '%s'", runner.job.soc));
    run_tiling(&runner, soc);
    run_kernel(&runner, soc, load_kernel(&runner));
    finish(&runner);
}
