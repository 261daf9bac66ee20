/* One case of one candidate: make the inputs, bind them to the OpDef, lay them out in shared memory, run the job in the
 * jail, read the outputs where the kernel left them, compare.
 *
 * Binding follows upstream's call: tensors go to OpDef inputs and outputs by order, attributes by name or, where a
 * candidate named them differently, by order. An answer's wrapper passes attributes by the names of its constructor's
 * arguments, or constants. A task output that has no OpDef output is the memory of the input it
 * names (operators that only write in place declare no output). */
#include "base/digest.h"
#include "eval/eval_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* How the memory of a tensor is cut. The benchmarks keep theirs in PyTorch: torch_npu's allocator gives bytes + 32,
 * rounded up to 512 (round_size in NPUCachingAllocator.cpp), so a copy of whole blocks that runs over a small tensor's
 * end touches nothing of anybody's there. All that CANN promises is aclrtMalloc's: rounded up to 32, plus 32. */
enum { GM_UNIT_TORCH = 512, GM_UNIT_CANN = 32 };
enum { GM_ALIGN = 512, GM_SLACK = 1024, GM_SHIFT = 3 * GM_ALIGN, FORMAT_ND = 2 };

/* The tensors of a case in the memory that akgen and akgen-run share. */
struct gm_memory {
    int fd;
    uint8_t *base;
    uint64_t bytes;
};

struct bound_case {
    const struct eval_candidate *candidate;
    struct prepared *prepared;
    const struct task_instance *instance;  /* its case */
    struct job_argument *inputs, *outputs; /* in OpDef order */
    struct op_attr *attrs;
    struct gm_memory gm;
    uint64_t begin; /* offset of the first tensor */
};

static void *copy_array(struct arena *arena, const void *from, size_t bytes)
{
    void *copy = arena_alloc(arena, bytes ? bytes : 1);
    if (bytes)
        memcpy(copy, from, bytes);
    return copy;
}

/* ---- binding ------------------------------------------------------------------------------------------------------
 */
static bool types_fit(const struct op_param *param, int combination, const struct task_argument *argument)
{
    for (int i = 0; i < argument->count; i++)
        if (argument->tensors[i].type != param->types[combination])
            return false;
    return true;
}

/* The rank that a ge::Format is for, 0 if it says nothing about it. */
static int format_rank(int format)
{
    enum { NCHW = 0, NHWC = 1, NDHWC = 27, NCDHW = 30 };
    return format == NCHW || format == NHWC ? 4 : format == NDHWC || format == NCDHW ? 5 : 0;
}

static bool formats_fit(const struct op_param *param, int combination, const struct task_argument *argument)
{
    int rank = format_rank(param->formats[combination]);
    for (int i = 0; i < argument->count && rank; i++)
        if (argument->tensors[i].rank != rank)
            return false;
    return true;
}

static bool combination_fits(const struct op_def *def, const struct task_instance *instance, int combination,
                             bool (*fit)(const struct op_param *, int, const struct task_argument *))
{
    const struct task *task = instance->task;
    bool fits = true;
    for (int i = 0; fits && i < def->input_count && i < task->input_count; i++)
        fits = fit(&def->inputs[i], combination, &instance->inputs[i]);
    for (int i = 0; fits && i < def->output_count && i < task->output_count; i++)
        fits = fit(&def->outputs[i], combination, &instance->outputs[i]);
    return fits;
}

int eval_combination(const struct op_def *def, const struct task_instance *instance)
{
    int first = -1;
    for (int c = 0; c < def->combinations; c++) {
        if (!combination_fits(def, instance, c, types_fit))
            continue;
        if (combination_fits(def, instance, c, formats_fit))
            return c;
        first = first < 0 ? c : first;
    }
    return first;
}

/* A tensor comes in the format of the OpDef where that one names the dimensions of a tensor of its rank, else as ND. */
static void set_format(const struct op_param *param, int combination, struct job_argument *argument)
{
    int format = param->formats[combination];
    for (int i = 0; i < argument->count; i++)
        if (format_rank(format) && argument->tensors[i].shape.rank == format_rank(format))
            argument->tensors[i].shape.format = format;
}

static void set_formats(struct bound_case *bound, int combination)
{
    const struct op_def *def = &bound->candidate->build->def;
    for (int i = 0; i < def->input_count; i++)
        set_format(&def->inputs[i], combination, &bound->inputs[i]);
    for (int i = 0; i < def->output_count; i++)
        set_format(&def->outputs[i], combination, &bound->outputs[i]);
}

static int find_input(const struct task *task, const char *name)
{
    for (int i = 0; i < task->input_count; i++)
        if (strcmp(task->inputs[i].name, name) == 0)
            return i;
    return -1;
}

static struct op_tensor shape_of(const struct task_tensor *tensor)
{
    struct op_tensor shape = {
        .type = tensor->type, .format = FORMAT_ND, .rank = tensor->rank, .values = tensor->values};
    memcpy(shape.dims, tensor->dims, sizeof(int64_t) * (size_t)tensor->rank);
    return shape;
}

static struct job_argument bind_argument(struct arena *arena, const struct task_argument *argument, bool list)
{
    struct job_argument bound = {.count = argument->count, .list = list, .alias = -1};
    bound.tensors = arena_alloc(arena, sizeof *bound.tensors * (size_t)argument->count);
    for (int i = 0; i < argument->count; i++) {
        const struct task_tensor *tensor = &argument->tensors[i];
        bound.tensors[i].shape = shape_of(tensor);
        bound.tensors[i].bytes = (uint64_t)tensor->elements * akgen_dtype_size(tensor->type);
    }
    return bound;
}

/* NULL, or why the candidate's OpDef cannot be called as the task calls its operator. */
static const char *bind_tensors(struct arena *arena, struct bound_case *bound)
{
    const struct task *task = bound->instance->task;
    const struct op_def *def = &bound->candidate->build->def;
    if (def->input_count != task->input_count)
        return arena_printf(arena, "the OpDef declares %d inputs, the task calls it with %d", def->input_count,
                            task->input_count);
    if (def->output_count > task->output_count)
        return arena_printf(arena, "the OpDef declares %d outputs, the task reads %d", def->output_count,
                            task->output_count);
    for (int i = def->output_count; i < task->output_count; i++)
        if (!task->outputs[i].in_place)
            return arena_printf(arena, "the OpDef declares %d outputs, the task needs '%s' too", def->output_count,
                                task->outputs[i].name);
    bound->inputs = arena_alloc(arena, sizeof *bound->inputs * (size_t)(task->input_count + 1));
    for (int i = 0; i < task->input_count; i++) {
        const struct task_param *param = &task->inputs[i];
        bound->inputs[i] = bind_argument(arena, &bound->instance->inputs[i], param->kind == TASK_TENSOR_LIST);
        bound->inputs[i].host_values =
            param->value_depend || param->kind == TASK_SCALAR || param->kind == TASK_SCALAR_LIST;
        if (def->inputs[i].value_depend && !bound->inputs[i].host_values)
            return arena_printf(arena,
                                "the OpDef says ValueDepend for '%s', but the task passes a tensor whose values only "
                                "the device has",
                                def->inputs[i].name);
    }
    bound->outputs = arena_alloc(arena, sizeof *bound->outputs * (size_t)(task->output_count + 1));
    for (int i = 0; i < task->output_count; i++) {
        const struct task_param *param = &task->outputs[i];
        bound->outputs[i] = bind_argument(arena, &bound->instance->outputs[i], param->kind == TASK_TENSOR_LIST);
        if (param->in_place) {
            int input = find_input(task, param->in_place);
            bound->outputs[i].alias = input;
            bound->inputs[input].written = true;
        }
        /* What no profile judges the operator may leave alone. */
        bool defined =
            (param->init && strcmp(param->init, "poison") != 0) || !task_output_judged(bound->instance, i, TASK_STRICT);
        for (int t = 0; t < bound->outputs[i].count; t++)
            bound->outputs[i].tensors[t].defined = defined;
    }
    return NULL;
}

/* The task's attribute of that name, or -1. */
static int find_attr(const struct task *task, const char *name)
{
    for (int t = 0; t < task->attr_count && name; t++)
        if (strcmp(task->attrs[t].name, name) == 0)
            return t;
    return -1;
}

static const char *bind_attrs(struct arena *arena, struct bound_case *bound)
{
    const struct task *task = bound->instance->task;
    const struct op_def *def = &bound->candidate->build->def;
    bound->attrs = copy_array(arena, def->attrs, sizeof *def->attrs * (size_t)def->attr_count);
    for (int i = 0; i < def->attr_count; i++) {
        const struct op_wrapper *wrapper = bound->candidate->wrapper;
        int from = wrapper ? find_attr(task, wrapper->attrs[i].name) : -1;
        if (from < 0 && wrapper && wrapper->attrs[i].value) {
            bound->attrs[i].value = wrapper->attrs[i].value;
            continue;
        }
        if (from < 0)
            from = find_attr(task, def->attrs[i].name);
        if (from < 0 && def->attr_count == task->attr_count)
            from = i;
        if (from >= 0)
            bound->attrs[i].value = bound->instance->attrs[from];
        else if (def->attrs[i].required)
            return arena_printf(arena, "the OpDef requires attribute '%s', which the task does not pass",
                                def->attrs[i].name);
    }
    return NULL;
}

/* ---- shared memory ------------------------------------------------------------------------------------------------
 */
static void place(struct job_argument *argument, uint64_t gap, uint64_t *offset)
{
    for (int i = 0; i < argument->count; i++) {
        argument->tensors[i].offset = *offset;
        *offset += (argument->tensors[i].bytes + gap + GM_ALIGN - 1) / GM_ALIGN * GM_ALIGN;
    }
}

static void add_sizes(const struct job_argument *argument, uint64_t *bytes, uint64_t *tensors)
{
    for (int i = 0; i < argument->count; i++)
        *bytes += argument->tensors[i].bytes;
    *tensors += (uint64_t)argument->count;
}

/* What is left free behind each tensor, so that an access with a wrong stride leaves its tensor and does not fall into
 * the next. The gaps are never touched and take no memory. */
static uint64_t gap_between(const struct bound_case *bound)
{
    static const uint64_t all_gaps = 1ULL << 30;
    uint64_t bytes = 0, tensors = 1;
    for (int i = 0; i < bound->instance->task->input_count; i++)
        add_sizes(&bound->inputs[i], &bytes, &tensors);
    for (int i = 0; i < bound->instance->task->output_count; i++)
        add_sizes(&bound->outputs[i], &bytes, &tensors);
    return GM_SLACK + (bytes < all_gaps / tensors ? bytes : all_gaps / tensors);
}

/* A pattern that is a NaN in every floating type, so that an unwritten output never looks right. */
enum { POISON = 0xff };
static void poison(void *at, size_t bytes)
{
    memset(at, POISON, bytes);
}

static bool gm_create(struct gm_memory *gm, uint64_t bytes)
{
    gm->bytes = bytes ? bytes : GM_ALIGN;
    gm->fd = memfd_create("akgen-gm", MFD_CLOEXEC);
    if (gm->fd < 0 || ftruncate(gm->fd, (off_t)gm->bytes) != 0)
        return false;
    gm->base = mmap(NULL, gm->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, gm->fd, 0);
    if (gm->base == MAP_FAILED)
        gm->base = NULL;
    return gm->base != NULL;
}

static void gm_free(struct gm_memory *gm)
{
    if (gm->base)
        munmap(gm->base, gm->bytes);
    if (gm->fd >= 0)
        close(gm->fd);
}

/* What lies behind a tensor in its allocation must not look like a value. */
static void poison_behind(const struct gm_memory *gm, const struct job_argument *argument)
{
    for (int i = 0; i < argument->count; i++)
        poison(gm->base + argument->tensors[i].offset + argument->tensors[i].bytes, GM_SLACK);
}

/* GM as it is before a run: inputs, zeros where the contract gives them, and nothing that looks like a value elsewhere.
 */
static void fill(struct bound_case *bound)
{
    const struct task *task = bound->instance->task;
    for (int i = 0; i < task->input_count; i++)
        for (int t = 0; t < bound->inputs[i].count; t++)
            memcpy(bound->gm.base + bound->inputs[i].tensors[t].offset, bound->instance->inputs[i].tensors[t].values,
                   bound->inputs[i].tensors[t].bytes);
    for (int i = 0; i < task->input_count; i++)
        poison_behind(&bound->gm, &bound->inputs[i]);
    for (int i = 0; i < task->output_count; i++)
        if (bound->outputs[i].alias < 0)
            poison_behind(&bound->gm, &bound->outputs[i]);
    for (int i = 0; i < task->output_count; i++)
        for (int t = 0; t < bound->outputs[i].count && bound->outputs[i].alias < 0; t++)
            memset(bound->gm.base + bound->outputs[i].tensors[t].offset,
                   bound->outputs[i].tensors[t].defined ? 0 : POISON, bound->outputs[i].tensors[t].bytes);
}

static bool lay_out(struct bound_case *bound)
{
    const struct task *task = bound->instance->task;
    uint64_t end = bound->begin, gap = gap_between(bound);
    for (int i = 0; i < task->input_count; i++)
        place(&bound->inputs[i], gap, &end);
    for (int i = 0; i < task->output_count; i++) {
        struct job_argument *output = &bound->outputs[i];
        if (output->alias < 0)
            place(output, gap, &end);
        else
            for (int t = 0; t < output->count; t++)
                output->tensors[t].offset = bound->inputs[output->alias].tensors[t].offset;
    }
    if (!gm_create(&bound->gm, end))
        return false;
    fill(bound);
    return true;
}

/* ---- judging ------------------------------------------------------------------------------------------------------
 */
static struct task_argument *actual_outputs(struct arena *arena, const struct bound_case *bound)
{
    const struct task *task = bound->instance->task;
    struct task_argument *actual =
        copy_array(arena, bound->instance->outputs, sizeof *actual * (size_t)task->output_count);
    for (int i = 0; i < task->output_count; i++) {
        actual[i].tensors = copy_array(arena, actual[i].tensors, sizeof *actual[i].tensors * (size_t)actual[i].count);
        for (int t = 0; t < actual[i].count; t++)
            actual[i].tensors[t].values = bound->gm.base + bound->outputs[i].tensors[t].offset;
    }
    return actual;
}

/* Name of an input that the kernel changed although the operator only reads it, or NULL. */
static const char *changed_input(const struct bound_case *bound)
{
    const struct task *task = bound->instance->task;
    for (int i = 0; i < task->input_count; i++)
        for (int t = 0; t < bound->inputs[i].count && !bound->inputs[i].written; t++)
            if (memcmp(bound->gm.base + bound->inputs[i].tensors[t].offset,
                       bound->instance->inputs[i].tensors[t].values, bound->inputs[i].tensors[t].bytes) != 0)
                return task->inputs[i].name;
    return NULL;
}

/* Bytes of the output's tensor that the reference has values for. */
static uint64_t expected_bytes(const struct bound_case *bound, const struct task_argument *expected, int i, int t)
{
    const struct job_tensor *tensor = &bound->outputs[i].tensors[t];
    const struct task_tensor *whole = &bound->instance->outputs[i].tensors[t];
    bool shorter =
        whole->rank == 1 && expected[i].tensors[t].rank == 1 && expected[i].tensors[t].dims[0] < whole->dims[0];
    return shorter ? (uint64_t)expected[i].tensors[t].dims[0] * akgen_dtype_size(whole->type) : tensor->bytes;
}

/* Why the outputs do not count as written, or NULL: bytes of a compared output that no block ever wrote may hold the
 * right value by luck. What lies behind a result that is shorter than its tensor may stay unwritten. */
static const char *unwritten_output(struct arena *arena, const struct bound_case *bound,
                                    const struct task_argument *expected, const struct job_result *run)
{
    const struct task *task = bound->instance->task;
    int at = 0;
    for (int i = 0; i < bound->candidate->build->def.output_count; i++)
        for (int t = 0; t < bound->outputs[i].count && at < run->undefined_count; t++, at++)
            if (run->undefined[at] && task_output_judged(bound->instance, i, bound->candidate->options->profile) &&
                run->undefined_first[at] < expected_bytes(bound, expected, i, t))
                return arena_printf(arena, "%lu bytes of output '%s' were never written, the first at offset %lu",
                                    (unsigned long)run->undefined[at], task->outputs[i].name,
                                    (unsigned long)run->undefined_first[at]);
    return NULL;
}

static void row_set(struct verdict_case *row, enum verdict_kind kind, enum verdict_stage stage, const char *error)
{
    row->kind = kind;
    row->stage = stage;
    row->error = error;
    row->ok = kind == VERDICT_PASS;
}

/* At least this many different values make an output one that no mistake repeats. */
enum { VARIED = 16 };

static int count_values(const uint8_t *values, uint64_t count, size_t size)
{
    const uint8_t *seen[VARIED];
    int found = 0;
    for (uint64_t i = 0; i < count && found < VARIED; i++) {
        bool known = false;
        for (int k = 0; k < found && !known; k++)
            known = memcmp(seen[k], values + i * size, size) == 0;
        if (!known)
            seen[found++] = values + i * size;
    }
    return found;
}

/* What judge_repetition compares. */
static void describe_outputs(struct arena *arena, const struct bound_case *bound, struct verdict_case *row)
{
    struct digest *digest = digest_new();
    for (int i = 0; i < bound->instance->task->output_count; i++)
        for (int t = 0; t < bound->outputs[i].count; t++) {
            const struct job_tensor *tensor = &bound->outputs[i].tensors[t];
            const uint8_t *values = bound->gm.base + tensor->offset;
            size_t size = akgen_dtype_size(tensor->shape.type);
            digest_bytes(digest, values, tensor->bytes);
            row->varied |= count_values(values, tensor->bytes / size, size) == VARIED;
        }
    row->outputs = digest_finish(digest, arena);
}

/* True if the outputs are what the operator makes of its inputs as the kernel left them. */
static bool fits_changed_inputs(struct arena *arena, const struct bound_case *bound, enum task_profile profile)
{
    const struct task *task = bound->instance->task;
    struct task_instance changed = *bound->instance;
    changed.inputs = copy_array(arena, changed.inputs, sizeof *changed.inputs * (size_t)task->input_count);
    for (int i = 0; i < task->input_count; i++) {
        struct task_argument *input = &changed.inputs[i];
        input->tensors = copy_array(arena, input->tensors, sizeof *input->tensors * (size_t)input->count);
        for (int t = 0; t < input->count && !bound->inputs[i].written; t++)
            input->tensors[t].values = bound->gm.base + bound->inputs[i].tensors[t].offset;
    }
    struct task_argument *expected = NULL;
    struct task_mismatch mismatch = {0};
    struct akgen_error *error = task_reference(&changed, profile, &expected);
    if (!error)
        task_compare(&changed, profile, expected, actual_outputs(arena, bound), &mismatch);
    task_outputs_free(expected);
    error_free(error);
    return mismatch.ok;
}

static void judge_outputs(struct arena *arena, struct bound_case *bound, struct verdict_case *row)
{
    enum task_profile profile = bound->candidate->options->profile;
    const struct task_argument *expected = NULL;
    struct akgen_error *error = prepared_expected(bound->prepared, &expected);
    if (error) {
        row_set(row, VERDICT_INFRA_ERROR, STAGE_COMPARE, arena_strdup(arena, error->message));
        error_free(error);
        return;
    }
    task_compare(bound->instance, profile, expected, actual_outputs(arena, bound), &row->mismatch);
    row->compared = true;
    const char *changed = changed_input(bound);
    const char *unwritten = unwritten_output(arena, bound, expected, &row->run);
    describe_outputs(arena, bound, row);
    if (!row->mismatch.ok && changed && !unwritten && fits_changed_inputs(arena, bound, profile))
        row_set(row, VERDICT_REJECTED, STAGE_COMPARE,
                arena_printf(arena, "the kernel changed input '%s' into one that its outputs fit (%s)", changed,
                             row->mismatch.reason));
    else if (!row->mismatch.ok)
        row_set(row, VERDICT_WRONG, STAGE_COMPARE, arena_strdup(arena, row->mismatch.reason));
    else if (unwritten)
        row_set(row, VERDICT_WRONG, STAGE_COMPARE, unwritten);
    else if (changed && profile == TASK_STRICT)
        row_set(row, VERDICT_WRONG, STAGE_COMPARE,
                arena_printf(arena, "input '%s' was changed by the kernel", changed));
    else
        row_set(row, VERDICT_PASS, STAGE_COMPARE, NULL);
}

static const struct job_finding *first_fatal(const struct job_result *run, const char *kind)
{
    for (size_t i = 0; i < run->finding_count; i++)
        if (run->findings[i].fatal && (!kind || strcmp(run->findings[i].kind, kind) == 0))
            return &run->findings[i];
    return NULL;
}

static const char *place_of(struct arena *arena, const struct job_finding *finding)
{
    if (!finding->file)
        return finding->message;
    return arena_printf(arena, "%s:%d: %s", finding->file, finding->line, finding->message);
}

static enum verdict_stage stage_of(const struct job_result *run)
{
    return run->stage && strcmp(run->stage, "tiling") == 0 ? STAGE_TILING : STAGE_RUN;
}

static void judge_run(struct arena *arena, struct bound_case *bound, struct verdict_case *row)
{
    const struct job_result *run = &row->run;
    const struct job_finding *finding;
    switch (run->status) {
    case JOB_BROKEN:
        row_set(row, VERDICT_INFRA_ERROR, STAGE_RUN, run->error);
        break;
    case JOB_TILING_FAILED:
        row_set(row, VERDICT_WRONG, STAGE_TILING, run->error);
        break;
    case JOB_LOAD_FAILED:
        row_set(row, VERDICT_COMPILE_ERROR, STAGE_KERNEL, run->error);
        break;
    case JOB_TIMEOUT:
        row_set(row, VERDICT_TIMEOUT, STAGE_RUN, run->error);
        break;
    case JOB_CHEATED:
        row_set(row, VERDICT_REJECTED, stage_of(run), run->error);
        break;
    case JOB_CRASHED:
    case JOB_EXITED:
        row_set(row, VERDICT_FAULT, stage_of(run), run->error);
        break;
    case JOB_OK:
        if ((finding = first_fatal(run, "unsupported")))
            row_set(row, VERDICT_UNSUPPORTED, STAGE_RUN, place_of(arena, finding));
        else if ((finding = first_fatal(run, NULL)))
            row_set(row, VERDICT_FAULT, STAGE_RUN, place_of(arena, finding));
        else
            judge_outputs(arena, bound, row);
        break;
    }
}

/* "x[8,2048] y[8,2048]"; a list shows its first shapes. */
static const char *describe_shape(struct arena *arena, const struct task_instance *instance)
{
    const char *text = "";
    for (int i = 0; i < instance->task->input_count; i++) {
        const struct task_argument *argument = &instance->inputs[i];
        for (int t = 0; t < argument->count && t < 3; t++) {
            text = arena_printf(arena, "%s%s%s[", text, *text ? " " : "", instance->task->inputs[i].name);
            for (int d = 0; d < argument->tensors[t].rank; d++)
                text = arena_printf(arena, "%s%s%ld", text, d ? "," : "", (long)argument->tensors[t].dims[d]);
            text = arena_printf(arena, "%s]", text);
        }
        if (argument->count > 3)
            text = arena_printf(arena, "%s (%d tensors)", text, argument->count);
    }
    return text;
}

static const char *describe_dtype(const struct task_instance *instance)
{
    const struct task *task = instance->task;
    for (int i = 0; i < task->input_count; i++)
        if (instance->inputs[i].count && task->inputs[i].kind != TASK_SCALAR &&
            task->inputs[i].kind != TASK_SCALAR_LIST)
            return akgen_dtype_name(instance->inputs[i].tensors[0].type);
    return instance->outputs[0].count ? akgen_dtype_name(instance->outputs[0].tensors[0].type) : "";
}

/* The output bytes of a run, one after the other; the caller frees them. */
static uint8_t *save_outputs(const struct bound_case *bound)
{
    uint64_t bytes = 0, tensors = 0;
    for (int i = 0; i < bound->instance->task->output_count; i++)
        add_sizes(&bound->outputs[i], &bytes, &tensors);
    uint8_t *outputs = malloc(bytes + 1), *saved = outputs;
    if (!outputs)
        abort();
    for (int i = 0; i < bound->instance->task->output_count; i++)
        for (int t = 0; t < bound->outputs[i].count; t++) {
            const struct job_tensor *tensor = &bound->outputs[i].tensors[t];
            memcpy(saved, bound->gm.base + tensor->offset, tensor->bytes);
            saved += tensor->bytes;
        }
    return outputs;
}

/* "y[17]": the first element that differs from the saved bytes; NULL if none does. */
static const char *first_difference(struct arena *arena, const struct bound_case *bound, const uint8_t *saved)
{
    for (int i = 0; i < bound->instance->task->output_count; i++)
        for (int t = 0; t < bound->outputs[i].count; t++) {
            const struct job_tensor *tensor = &bound->outputs[i].tensors[t];
            const uint8_t *now = bound->gm.base + tensor->offset;
            size_t at = 0, size = akgen_dtype_size(bound->instance->outputs[i].tensors[t].type);
            while (at < tensor->bytes && now[at] == saved[at])
                at++;
            if (at < tensor->bytes)
                return arena_printf(arena, "%s[%zu]", bound->instance->task->outputs[i].name, at / (size ? size : 1));
            saved += tensor->bytes;
        }
    return NULL;
}

/* True if the case runs otherwise where UB holds something else before it is written. */
static bool runs_otherwise(struct arena *arena, struct bound_case *bound, const struct job *job, uint64_t poison,
                           const struct verdict_case *row, const uint8_t *outputs)
{
    struct job other = *job;
    struct job_result run = {0};
    other.poison = poison;
    other.log_fd = -1;
    fill(bound);
    job_run(arena, &other, &run);
    bool otherwise =
        run.status != JOB_OK || run.stats.path != row->run.stats.path || first_difference(arena, bound, outputs);
    job_result_free(&run);
    return otherwise;
}

/* A value made of bytes that nothing has written was stored in UB, where it does no harm by itself; whether it decides
 * about anything besides shows when UB holds something else: one, minus one, zero in most types. What runs otherwise
 * without that (it reads its own stack) proves nothing. */
static void try_other_poison(struct arena *arena, struct bound_case *bound, const struct job *job,
                             struct verdict_case *row)
{
    static const uint64_t poisons[] = {0x3f803f803f803f80, 0xbf80bf80bf80bf80, 0x8000000080000000};
    struct job_finding *finding = NULL;
    for (size_t i = 0; i < row->run.finding_count && !finding; i++)
        if (strcmp(row->run.findings[i].fault, "undefined_scalar") == 0)
            finding = &row->run.findings[i];
    if (!finding || !row->ok)
        return;
    uint8_t *outputs = save_outputs(bound);
    bool otherwise = false;
    for (size_t i = 0; i < sizeof poisons / sizeof poisons[0] && !otherwise; i++)
        otherwise = runs_otherwise(arena, bound, job, poisons[i], row, outputs);
    /* The last run of all: its outputs are the case's. */
    if (!runs_otherwise(arena, bound, job, 0, row, outputs) && otherwise) {
        finding->fatal = row->run.fault = true;
        finding->message =
            arena_printf(arena, "%s; the kernel runs otherwise where they hold something else", finding->message);
        row_set(row, VERDICT_FAULT, STAGE_RUN, place_of(arena, finding));
    }
    free(outputs);
}

/* --seeds: the same case once more per random schedule, until one is not right. Right results that differ in their bits
 * are told: the order decides about them. */
static void run_other_orders(struct arena *arena, struct bound_case *bound, struct job *job, struct verdict_case *row)
{
    uint8_t *saved = save_outputs(bound);
    job->random_order = true;
    for (int seed = 1; seed <= bound->candidate->options->orders && row->ok; seed++) {
        struct verdict_case other = *row;
        job->seed = (uint64_t)seed;
        fill(bound);
        job_run(arena, job, &other.run);
        judge_run(arena, bound, &other);
        row->orders_tried = other.orders_tried = seed;
        const char *where = other.ok && !row->order_decides ? first_difference(arena, bound, saved) : NULL;
        if (where)
            row->order_decides =
                arena_printf(arena, "%s has other bits under --schedule=random:%d, though right", where, seed);
        if (!other.ok) {
            struct verdict_case first = *row;
            other.error = arena_printf(arena, "under --schedule=random:%d: %s", seed, other.error ? other.error : "");
            *row = other;
            other = first;
        }
        job_result_free(&other.run);
    }
    free(saved);
}

static void show_run(struct arena *arena, const struct bound_case *bound)
{
    const struct eval_debug *debug = bound->candidate->options->debug;
    const struct task_argument *expected = NULL;
    if (!debug->on_run)
        return;
    error_free(prepared_expected(bound->prepared, &expected));
    debug->on_run(debug->closure, bound->instance, actual_outputs(arena, bound), expected);
}

static void run_bound(struct arena *arena, struct bound_case *bound, int combination, struct verdict_case *row)
{
    const struct eval_candidate *candidate = bound->candidate;
    const struct eval_options *options = candidate->options;
    const struct build *build = candidate->build;
    const struct task *task = bound->instance->task;
    const struct build_kernel *kernel = NULL;
    for (int i = 0; i < build->kernel_count; i++)
        if (build->kernels[i].combination == combination && build->kernels[i].so)
            kernel = &build->kernels[i];
    if (!kernel) {
        row_set(row, VERDICT_INFRA_ERROR, STAGE_KERNEL,
                arena_printf(arena, "no object was built for data type combination %d", combination));
        return;
    }
    struct job job = {
        .kind = JOB_RUN,
        .host_so = build->host_so,
        .kernel_so = kernel->so,
        .cube_so = kernel->cube_so,
        .inferred_type = kernel->inferred_type,
        .op_type = task->op_type,
        .entry = build->entry,
        .def = &build->def,
        .soc = options->soc->name,
        .sync = candidate->sync,
        .random_order = options->random_order,
        .seed = options->order_seed,
        .inputs = bound->inputs,
        .outputs = bound->outputs,
        .input_count = task->input_count,
        .output_count = build->def.output_count,
        .attrs = bound->attrs,
        .attr_count = build->def.attr_count,
        .gm_fd = bound->gm.fd,
        .gm_bytes = bound->gm.bytes,
        .gm_unit = options->profile == TASK_STRICT ? GM_UNIT_CANN : GM_UNIT_TORCH,
        .headers = arena_printf(arena, "%s/include", toolchain_home()),
        .seconds = options->case_seconds > 0 ? options->case_seconds : 60,
    };
    if (options->debug) {
        job.log_fd = options->debug->log_fd;
        job.debugger = options->debug->debugger;
    }
    job_run(arena, &job, &row->run);
    judge_run(arena, bound, row);
    if (options->debug)
        show_run(arena, bound);
    if (!job.debugger)
        try_other_poison(arena, bound, &job, row);
    if (options->orders)
        run_other_orders(arena, bound, &job, row);
}

static void bind_and_run(struct arena *arena, struct bound_case *bound, struct verdict_case *row)
{
    int combination = -1;
    const char *why = bind_tensors(arena, bound);
    if (!why)
        why = bind_attrs(arena, bound);
    if (!why && (combination = eval_combination(&bound->candidate->build->def, bound->instance)) < 0)
        why = arena_printf(arena, "no data type combination of the OpDef fits this case (%s)", row->dtype);
    if (!why)
        set_formats(bound, combination);
    if (why)
        row_set(row, VERDICT_COMPILE_ERROR, STAGE_HOST, why);
    else if (!lay_out(bound))
        row_set(row, VERDICT_INFRA_ERROR, STAGE_RUN,
                arena_printf(arena, "no shared memory for the case's tensors: %s", strerror(errno)));
    else
        run_bound(arena, bound, combination, row);
    gm_free(&bound->gm);
}

/* One run of a case: inputs from `seed`, the first tensor at offset `begin` of GM. */
static void run_case(const struct eval_candidate *candidate, const struct task_case *task_case, uint64_t seed,
                     uint64_t begin, struct arena *arena, struct verdict_case *row)
{
    struct bound_case bound = {.candidate = candidate, .gm = {.fd = -1}, .begin = begin};
    struct akgen_error *error =
        prepared_get(candidate->task, task_case, seed, !row->hidden, candidate->options, &bound.prepared);
    row->task_case = task_case;
    row->id = task_case->id;
    if (error) {
        row_set(row, VERDICT_INFRA_ERROR, STAGE_RUN, arena_strdup(arena, error->message));
        error_free(error);
        return;
    }
    bound.instance = prepared_instance(bound.prepared);
    row->shape = describe_shape(arena, bound.instance);
    row->dtype = describe_dtype(bound.instance);
    row->reduced = bound.instance->reduced;
    bind_and_run(arena, &bound, row);
    prepared_release(bound.prepared);
}

/* A table of results fits the inputs that it was made for and comes out unchanged for all others. That something comes
 * out unchanged proves nothing where it holds few values: a kernel that answers `false` everywhere may be an honest
 * mistake. */
static void judge_repetition(struct arena *arena, const struct verdict_case *first, struct verdict_case *again)
{
    if (again->kind == VERDICT_WRONG && again->compared && first->varied && strcmp(first->outputs, again->outputs) == 0)
        row_set(again, VERDICT_REJECTED, STAGE_COMPARE,
                arena_printf(arena,
                             "the outputs are bit by bit those of the first inputs, for which they were right: results "
                             "are built in (%s)",
                             again->error));
}

/* Runs a right case once more with other inputs, under the strict profile at other addresses: what was right by luck,
 * or by knowing where and what the inputs are, is not right again. */
static void run_again(const struct eval_candidate *candidate, const struct task_case *task_case, int trial,
                      struct arena *arena, struct verdict_case *row)
{
    struct verdict_case again = {.hidden = row->hidden};
    bool strict = candidate->options->profile == TASK_STRICT;
    uint64_t seed = candidate->options->input_seed + (uint64_t)trial;
    run_case(candidate, task_case, strict ? seed | TASK_OTHER_VALUES : seed, strict ? GM_SHIFT * (uint64_t)trial : 0,
             arena, &again);
    judge_repetition(arena, row, &again);
    row->trials = again.trials = trial + 1;
    if (!again.ok) {
        again.error = arena_printf(arena, "with other inputs%s: %s", strict ? " at other addresses" : "",
                                   again.error ? again.error : "");
        struct verdict_case first = *row;
        *row = again;
        again = first;
    }
    job_result_free(&again.run);
}

void eval_case(const struct eval_candidate *candidate, const struct task_case *task_case, struct arena *arena,
               struct verdict_case *row)
{
    run_case(candidate, task_case, candidate->options->input_seed, 0, arena, row);
    row->trials = 1;
    for (int trial = 1; row->ok && trial < eval_trials(candidate->task, candidate->options); trial++)
        run_again(candidate, task_case, trial, arena, row);
}
