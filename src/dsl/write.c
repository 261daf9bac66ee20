/* The planner, for formulas that compute element by element: all cores take an equal share of the elements, tile by tile;
 * everything is computed in float32 in UB, one operation for each step of the formula, in as few buffers as hold a value at
 * once. */
#include "dsl/write.h"
#include "base/array.h"
#include "base/text.h"
#include "dsl/dsl.h"
#include "op/op.h"
#include "task/expr/tree.h"

#include <stdlib.h>
#include <string.h>

enum { UB_BYTES = 176 << 10, TILE_UNIT = 64, TILE_MOST = 8192, TEMPS_MAX = 32 };

/* A buffer for values between, or a truth value's. */
struct temporary {
    const char *name;
    bool truth, taken;
};

struct plan {
    struct arena *arena;
    const struct task *task;
    struct text steps; /* of the compute stage */
    struct temporary temporaries[TEMPS_MAX];
    int count;
    bool used[TASK_MAX_PARAMS + TASK_MAX_ATTRS]; /* an output's formula names the input or attribute */
    bool whole[TASK_MAX_PARAMS];          /* the input has an element for each of the output's; else it is a number */
    const char *results[TASK_MAX_PARAMS]; /* the buffer that an output is stored from */
    struct akgen_error *error;
};

/* What a part of a formula is: a number of the kernel, as text, or a buffer. */
struct operand {
    const char *text;
    struct temporary *temporary; /* of a buffer that is one of the plan's */
    bool buffer, truth;
};

static struct operand write_value(struct plan *plan, const struct expr *node);

static void step(struct plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void step(struct plan *plan, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_addf(&plan->steps, "            tl.%s\n", line);
}

static struct operand number_of(const char *text)
{
    return (struct operand){.text = text};
}

/* A buffer that nobody needs now. */
static struct operand take(struct plan *plan, bool truth)
{
    int i = 0, same = 0;
    for (; i < plan->count; i++) {
        same += plan->temporaries[i].truth == truth;
        if (plan->temporaries[i].truth == truth && !plan->temporaries[i].taken)
            break;
    }
    if (i == plan->count && plan->count == TEMPS_MAX) {
        if (!plan->error)
            plan->error = error_new("the formula holds more than %d values at once", TEMPS_MAX);
        i = 0;
    } else if (i == plan->count) {
        plan->temporaries[plan->count++] =
            (struct temporary){arena_printf(plan->arena, "%s%d_ub", truth ? "truth" : "value", same + 1), truth, false};
    }
    plan->temporaries[i].taken = true;
    return (struct operand){plan->temporaries[i].name, &plan->temporaries[i], true, truth};
}

static void give_back(struct operand operand)
{
    if (operand.temporary)
        operand.temporary->taken = false;
}

/* The operand itself if it may be written, else a new buffer. */
static struct operand over(struct plan *plan, struct operand operand)
{
    return operand.temporary && !operand.truth ? operand : take(plan, false);
}

/* A number in every element of a buffer. */
static struct operand as_buffer(struct plan *plan, struct operand operand)
{
    if (operand.truth) {
        struct operand value = take(plan, false);
        step(plan, "cast(%s, %s)", value.text, operand.text);
        give_back(operand);
        return value;
    }
    if (operand.buffer)
        return operand;
    struct operand filled = take(plan, false);
    step(plan, "duplicate(%s, %s)", filled.text, operand.text);
    return filled;
}

static struct operand as_value(struct plan *plan, struct operand operand)
{
    return operand.truth ? as_buffer(plan, operand) : operand;
}

static const char *operation_for(const char *function)
{
    static const char *const names[][2] = {
        {"abs", "vabs"},   {"sqrt", "vsqrt"},   {"exp", "vexp"},   {"log", "vln"},      {"log2", "vlog2"},
        {"sin", "vsin"},   {"cos", "vcos"},     {"tan", "vtan"},   {"asin", "vasin"},   {"acos", "vacos"},
        {"atan", "vatan"}, {"sinh", "vsinh"},   {"cosh", "vcosh"}, {"tanh", "vtanh"},   {"erf", "verf"},
        {"erfc", "verfc"}, {"floor", "vfloor"}, {"ceil", "vceil"}, {"round", "vround"}, {"trunc", "vtrunc"},
        {"sign", "vsign"}, {"neg", "vneg"},     {"min", "vmin"},   {"max", "vmax"},     {"+", "vadd"},
        {"-", "vsub"},     {"*", "vmul"},       {"/", "vdiv"},     {"**", "vpow"},      {"<", "vlt"},
        {">", "vgt"},      {"<=", "vle"},       {">=", "vge"},     {"==", "veq"},       {"!=", "vne"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], function) == 0)
            return names[i][1];
    return NULL;
}

static bool is_comparison(const char *function)
{
    return strchr("<>=!", *function) != NULL;
}

/* The same comparison with its sides changed. */
static const char *turned(const char *function)
{
    return strcmp(function, "<") == 0    ? ">"
           : strcmp(function, ">") == 0  ? "<"
           : strcmp(function, "<=") == 0 ? ">="
           : strcmp(function, ">=") == 0 ? "<="
                                         : function;
}

/* 1 / (1 + exp(-x)). */
static struct operand write_sigmoid(struct plan *plan, struct operand x)
{
    struct operand value = over(plan, x);
    step(plan, "vneg(%s, %s)", value.text, x.text);
    step(plan, "vexp(%s, %s)", value.text, value.text);
    step(plan, "vadd(%s, %s, 1.0)", value.text, value.text);
    step(plan, "vreciprocal(%s, %s)", value.text, value.text);
    return value;
}

/* log(1 + x): of the sum that was rounded, corrected by what rounding took: log(s) * x / (s - 1), and x where s is 1. */
static struct operand write_log1p(struct plan *plan, struct operand x)
{
    struct operand sum = take(plan, false), value = take(plan, false), same = take(plan, true);
    step(plan, "vadd(%s, %s, 1.0)", sum.text, x.text);
    step(plan, "veq(%s, %s, 1.0)", same.text, sum.text);
    step(plan, "vln(%s, %s)", value.text, sum.text);
    step(plan, "vsub(%s, %s, 1.0)", sum.text, sum.text);
    step(plan, "vmul(%s, %s, %s)", value.text, value.text, x.text);
    step(plan, "vdiv(%s, %s, %s)", value.text, value.text, sum.text);
    step(plan, "vselect(%s, %s, %s, %s)", value.text, same.text, x.text, value.text);
    step(plan, "vadd(%s, %s, 1.0)", sum.text, x.text); /* the logarithm of infinity has no quotient */
    step(plan, "veq(%s, %s, float(\"inf\"))", same.text, sum.text);
    step(plan, "vselect(%s, %s, %s, %s)", value.text, same.text, sum.text, value.text);
    give_back(sum);
    give_back(same);
    give_back(x);
    return value;
}

/* exp(x) - 1 by (e - 1) * x / log(e), x where e is 1, -1 where e is too small to count, e where it is infinite. */
static struct operand write_expm1(struct plan *plan, struct operand x)
{
    struct operand power = take(plan, false), value = take(plan, false), small = take(plan, true);
    struct operand root = take(plan, false);
    step(plan, "vexp(%s, %s)", power.text, x.text);
    step(plan, "vln(%s, %s)", root.text, power.text);
    step(plan, "vsub(%s, %s, 1.0)", value.text, power.text);
    step(plan, "vmul(%s, %s, %s)", value.text, value.text, x.text);
    step(plan, "vdiv(%s, %s, %s)", value.text, value.text, root.text);
    step(plan, "veq(%s, %s, 1.0)", small.text, power.text);
    step(plan, "vselect(%s, %s, %s, %s)", value.text, small.text, x.text, value.text);
    step(plan, "vsub(%s, %s, 1.0)", root.text, power.text);
    step(plan, "vgt(%s, %s, 40.0)", small.text, x.text);
    step(plan, "vselect(%s, %s, %s, %s)", value.text, small.text, root.text, value.text);
    step(plan, "vlt(%s, %s, -40.0)", small.text, x.text);
    step(plan, "vselect(%s, %s, -1.0, %s)", value.text, small.text, value.text);
    give_back(power);
    give_back(root);
    give_back(small);
    give_back(x);
    return value;
}

static struct operand write_unary(struct plan *plan, const struct expr *node)
{
    struct operand x = as_value(plan, write_value(plan, node->kids[0]));
    const char *operation = operation_for(node->name);
    if (!x.buffer && strcmp(node->name, "neg") == 0)
        return number_of(arena_printf(plan->arena, "-(%s)", x.text));
    x = as_buffer(plan, x);
    if (strcmp(node->name, "sigmoid") == 0)
        return write_sigmoid(plan, x);
    if (strcmp(node->name, "log1p") == 0)
        return write_log1p(plan, x);
    if (strcmp(node->name, "expm1") == 0)
        return write_expm1(plan, x);
    if (!operation) {
        if (!plan->error)
            plan->error = error_new("the planner has no operation for '%s'", node->name);
        return x;
    }
    struct operand value = over(plan, x);
    step(plan, "%s(%s, %s)", operation, value.text, x.text);
    return value;
}

/* A number and a buffer, in this order. */
static struct operand write_number_first(struct plan *plan, const char *name, struct operand a, struct operand b)
{
    struct operand value;
    if (strcmp(name, "-") == 0) { /* a - b is -b + a */
        value = over(plan, b);
        step(plan, "vneg(%s, %s)", value.text, b.text);
        step(plan, "vadd(%s, %s, %s)", value.text, value.text, a.text);
        return value;
    }
    value = as_buffer(plan, a);
    step(plan, "%s(%s, %s, %s)", operation_for(name), value.text, value.text, b.text);
    give_back(b);
    return value;
}

static struct operand write_binary(struct plan *plan, const struct expr *node)
{
    const char *name = node->name;
    struct operand a = as_value(plan, write_value(plan, node->kids[0]));
    struct operand b = as_value(plan, write_value(plan, node->kids[1]));
    bool compares = is_comparison(name), commutes = strchr("+*", *name) && !name[1];
    commutes |= strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
    if (!a.buffer && !b.buffer && strchr("+-*/", *name) && !name[1])
        return number_of(arena_printf(plan->arena, "(%s %s %s)", a.text, name, b.text));
    if (!a.buffer && b.buffer && (commutes || compares)) {
        struct operand first = a;
        a = b;
        b = first;
        name = turned(name);
    } else if (!a.buffer && b.buffer) {
        return write_number_first(plan, name, a, b);
    }
    a = as_buffer(plan, a);
    struct operand value = compares ? take(plan, true) : a.temporary ? a : b.temporary ? b : take(plan, false);
    if (strcmp(name, "**") == 0 && strcmp(b.text, "2") == 0)
        step(plan, "vmul(%s, %s, %s)", value.text, a.text, a.text);
    else
        step(plan, "%s(%s, %s, %s)", operation_for(name), value.text, a.text, b.text);
    if (a.temporary != value.temporary)
        give_back(a);
    if (b.temporary != value.temporary)
        give_back(b);
    return value;
}

static struct operand write_choice(struct plan *plan, const struct expr *node)
{
    struct operand condition = write_value(plan, node->kids[0]);
    if (!condition.truth) {
        struct operand truth = take(plan, true);
        condition = as_buffer(plan, condition);
        step(plan, "vne(%s, %s, 0.0)", truth.text, condition.text);
        give_back(condition);
        condition = truth;
    }
    struct operand yes = as_value(plan, write_value(plan, node->kids[1]));
    struct operand no = as_value(plan, write_value(plan, node->kids[2]));
    struct operand value = take(plan, false);
    step(plan, "vselect(%s, %s, %s, %s)", value.text, condition.text, yes.text, no.text);
    give_back(condition);
    give_back(yes);
    give_back(no);
    return value;
}

static const char *number_text(struct plan *plan, const struct expr_value *value)
{
    if (value->kind == EXPR_BOOL)
        return value->integer ? "1" : "0";
    if (value->kind == EXPR_INT)
        return arena_printf(plan->arena, "%lld", (long long)value->integer);
    if (value->real != value->real || value->real * 0 != 0)
        return value->real > 0 ? "float(\"inf\")" : value->real < 0 ? "float(\"-inf\")" : "float(\"nan\")";
    const char *text = arena_printf(plan->arena, "%.17g", value->real);
    return strpbrk(text, ".e") ? text : arena_printf(plan->arena, "%s.0", text);
}

static struct operand write_value(struct plan *plan, const struct expr *node)
{
    const struct task *task = plan->task;
    switch (node->node) {
    case NODE_VALUE:
        return number_of(number_text(plan, &node->value));
    case NODE_WORD:
        if (node->index >= task->input_count)
            return number_of(task->attrs[node->index - task->input_count].name);
        if (!plan->whole[node->index])
            return number_of(arena_printf(plan->arena, "%s_value", task->inputs[node->index].name));
        return (struct operand){.text = arena_printf(plan->arena, "%s_ub", task->inputs[node->index].name),
                                .buffer = true};
    case NODE_CHOICE:
        return write_choice(plan, node);
    default:
        return node->kid_count == 1 ? write_unary(plan, node) : write_binary(plan, node);
    }
}

static bool is_scalar(const struct task_param *param)
{
    return param->kind == TASK_SCALAR || strcmp(expr_text(param->shape), "[1]") == 0;
}

static struct akgen_error *check(const struct task *task)
{
    for (int i = 0; i < task->input_count + task->output_count; i++) {
        bool output = i >= task->input_count;
        const struct task_param *param = output ? &task->outputs[i - task->input_count] : &task->inputs[i];
        if (output && !param->formula)
            return error_new("%s: output '%s' has no formula to plan from", task->name, param->name);
        if (param->kind != TASK_TENSOR && param->kind != TASK_SCALAR)
            return error_new("%s: '%s' is a list, which the planner has no plan for", task->name, param->name);
        if (param->kind == TASK_SCALAR && output)
            return error_new("%s: output '%s' is no tensor", task->name, param->name);
        if (param->optional)
            return error_new("%s: '%s' may be missing, which the planner has no plan for", task->name, param->name);
        for (int t = 0; t < param->type_count; t++)
            if (!task_is_float(param->types[t]) || param->types[t] == AKGEN_DOUBLE)
                return error_new("%s: '%s' may be %s; the planner computes float16, bfloat16 and float32", task->name,
                                 param->name, akgen_dtype_name(param->types[t]));
    }
    return NULL;
}

/* How many elements a tile has: as many as fit, inputs and outputs twice, and a float32 beside a 16-bit one. */
static int tile_size(const struct plan *plan, int transfers)
{
    enum { OF_TRANSFER = 8, OF_VALUE = 4, OF_TRUTH = 1 };
    int bytes = transfers * OF_TRANSFER + OF_VALUE; /* and room of the compiler's */
    for (int i = 0; i < plan->count; i++)
        bytes += plan->temporaries[i].truth ? OF_TRUTH : OF_VALUE;
    int tile = UB_BYTES / bytes / TILE_UNIT * TILE_UNIT;
    return tile < TILE_MOST ? tile : TILE_MOST;
}

/* The parameters of the kernel, or with their types those of the host function. */
static void add_names(const struct plan *plan, struct text *out, bool types)
{
    const struct task *task = plan->task;
    static const char *const annotations[TASK_ATTR_TYPES] = {
        [TASK_ATTR_INT] = ": int", [TASK_ATTR_FLOAT] = ": float", [TASK_ATTR_BOOL] = ": bool"};
    for (int i = 0; i < task->input_count; i++)
        if (types || plan->used[i])
            text_addf(out, "%s%s, ", task->inputs[i].name, types ? ": torch.Tensor" : "");
    for (int i = 0; i < task->output_count; i++)
        text_addf(out, "%s%s%s", i ? ", " : "", task->outputs[i].name, types ? ": torch.Tensor" : "");
    for (int i = 0; i < task->attr_count; i++)
        if (types || plan->used[task->input_count + i])
            text_addf(out, ", %s%s", task->attrs[i].name, types ? annotations[task->attrs[i].type] : "");
}

static void add_kernel(struct plan *plan, struct text *out, const char *stem, const char *results)
{
    const struct task *task = plan->task;
    text_add(out, "import tile.language as tl\n\n\n");
    for (int i = 0; i < task->output_count; i++)
        text_addf(out, "# %s = %s\n", task->outputs[i].name, task->outputs[i].formula->text);
    text_addf(out,
              "# Element by element, in float32: each core takes a part of the elements, a tile at a time.\n"
              "@ascend_kernel\ndef %s_kernel(",
              stem);
    add_names(plan, out, false);
    text_add(out, ", total, per_core, tile):\n    start = tl.program_id(0) * per_core\n"
                  "    end = min(start + per_core, total)\n");
    for (int i = 0; i < task->input_count; i++)
        if (plan->used[i])
            text_addf(out,
                      plan->whole[i] ? "    %s_ub = tl.alloc_ub(tile, dtype=tl.float32)\n"
                                     : "    %s_value = tl.extract_scalar(%s, 0)\n",
                      task->inputs[i].name, task->inputs[i].name);
    for (int i = 0; i < plan->count; i++)
        text_addf(out, "    %s = tl.alloc_ub(tile, dtype=tl.%s)\n", plan->temporaries[i].name,
                  plan->temporaries[i].truth ? "bool" : "float32");
    text_add(out, "    for at in range(start, end, tile):\n        offsets = at + tl.arange(0, tile)\n");
    bool loads = false;
    for (int i = 0; i < task->input_count; i++) {
        text_add(out, plan->whole[i] && !loads ? "        with tl.copyin():\n" : "");
        loads |= plan->whole[i];
        if (plan->whole[i])
            text_addf(out, "            tl.load(%s + offsets, %s_ub, mask=offsets < end)\n", task->inputs[i].name,
                      task->inputs[i].name);
    }
    text_addf(out, "%s%s        with tl.copyout():\n", *results ? "        with tl.compute():\n" : "", results);
    for (int i = 0; i < task->output_count; i++)
        text_addf(out, "            tl.store(%s + offsets, %s, mask=offsets < end)\n", task->outputs[i].name,
                  plan->results[i]);
}

static void add_host(struct plan *plan, struct text *out, const char *stem, int tile)
{
    const struct task *task = plan->task;
    text_addf(out, "\n\ndef %s_host(", stem);
    add_names(plan, out, true);
    text_addf(out, ", tile: tl.constexpr = %d):\n    total = %s.numel()\n    if total == 0:\n        return\n", tile,
              task->outputs[0].name);
    text_add(out, "    # at least 512 elements for a core, in steps of 64\n"
                  "    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))\n"
                  "    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64\n");
    for (int i = 0; i < task->input_count; i++)
        if (plan->whole[i])
            text_addf(out, "    assert %s.numel() == total, \"'%s' has other elements than the output\"\n",
                      task->inputs[i].name, task->inputs[i].name);
    text_addf(out, "    %s_kernel[cores](", stem);
    add_names(plan, out, false);
    text_add(out, ", total, per_core, tile)\n");
}

static const struct expr *value_of(const struct formula *formula)
{
    return formula->steps[formula->count - 1].tree;
}

struct akgen_error *dsl_write(struct arena *arena, const struct task *task, const char **program)
{
    struct plan plan = {.arena = arena, .task = task, .error = check(task)};
    struct dsl_messages messages = {0};
    struct text out = {0};
    int transfers = task->output_count;
    if (plan.error)
        return plan.error;
    for (int i = 0; i < task->input_count + task->attr_count; i++)
        for (int o = 0; o < task->output_count; o++)
            plan.used[i] |= formula_uses(task->outputs[o].formula, i);
    for (int i = 0; i < task->input_count; i++) {
        plan.whole[i] = plan.used[i] && !is_scalar(&task->inputs[i]);
        transfers += plan.whole[i];
    }
    for (int i = 0; i < task->output_count; i++) /* each keeps its buffer up to the store */
        plan.results[i] = as_buffer(&plan, write_value(&plan, value_of(task->outputs[i].formula))).text;
    const char *stem = op_snake_case(arena, task->op);
    add_kernel(&plan, &out, stem, plan.steps.bytes ? plan.steps.bytes : "");
    add_host(&plan, &out, stem, tile_size(&plan, transfers));
    text_free(&plan.steps);
    const struct dsl_tree *tree =
        plan.error ? NULL : dsl_parse(arena, "plan", arena_strdup(arena, out.bytes), out.length, &messages);
    if (tree)
        *program = dsl_format(arena, tree);
    else if (!plan.error)
        plan.error = error_new("%s: the plan is no program: %s", task->name, messages.items[0].text);
    text_free(&out);
    return plan.error;
}
