/* Programs that the checker accepts go through the compiler: it ends with a project or a message, what a pass leaves is
 * printed, read and printed alike, and no pass leaves what is no program (rule `internal`). */
#include "dsl/dsl.h"
#include "dsl/lower.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#define FLAT(tensors, allocations, body)                                                                               \
    "@ascend_kernel\ndef k(" tensors ", total, per, tile):\n    start = tl.program_id(0) * per\n"                      \
    "    end = min(start + per, total)\n" allocations                                                                  \
    "    for at in range(start, end, tile):\n        n = min(tile, end - at)\n        o = at + tl.arange(0, tile)\n"   \
    "        with tl.copyin():\n            tl.load(x + o, a, mask=o < end)\n" body "def h(" tensors                   \
    ", tile: tl.constexpr = 64):\n    total = x.numel()\n    cores = min(tl.num_vec_cores(), total)\n"                 \
    "    k[cores](" tensors ", total, tl.cdiv(total, cores), tile)\n"

void fuzz_seeds(void)
{
    static const char *const texts[] = {
        FLAT("x, y", "    a = tl.alloc_ub(tile, dtype=tl.float32)\n",
             "        with tl.compute():\n            tl.vtanh(a, a)\n            tl.vpow(a, a, 2.0)\n"
             "        with tl.copyout():\n            tl.store(y + o, a, mask=o < end)\n"),
        FLAT("x, w, y",
             "    a = tl.alloc_ub(tile, dtype=x.dtype)\n    b = tl.alloc_ub(tile, dtype=tl.float16)\n"
             "    p = tl.alloc_ub(tile, dtype=tl.bool)\n    r = tl.alloc_ub(8, dtype=tl.float32)\n    s = 0.0\n",
             "        with tl.compute():\n            tl.cast(b, a, count=n)\n            tl.vgt(p, b, 0.5, count=n)\n"
             "            tl.vselect(b, p, 1, b, count=n)\n            tl.vmul(b[0:8], b[8:16], b + 16)\n"
             "            tl.reduce_max(r, a, a, count=n)\n            s += tl.extract_scalar(r, 0)\n"
             "        if s > 1:\n            with tl.copyin():\n                tl.load(w + at, a, count=n)\n"
             "        with tl.compute():\n            tl.iota(a, 0, step=2)\n            tl.vsub(b, b, 0.1, count=n)\n"
             "            tl.set_scalar(b, 0, s)\n        with tl.copyout():\n            tl.store(y + at, b, "
             "count=n)\n"),
        "@ascend_kernel\ndef k(x, g, y, rows, cols, tile):\n    pitch = tl.pitch(cols)\n    step = tile // pitch\n"
        "    a = tl.alloc_ub(tile, dtype=tl.float32)\n    b = tl.alloc_ub(tile, dtype=tl.float32)\n"
        "    c = tl.alloc_ub(tile // 16, dtype=tl.float32)\n    with tl.copyin():\n        tl.load(g, b, count=cols)\n"
        "    for row in range(tl.program_id(0) * step, rows, tl.num_programs(0) * step):\n"
        "        n = min(step, rows - row)\n        with tl.copyin():\n"
        "            tl.load_rows(x + row * cols, a, n, cols, cols, pitch, other=0.0)\n        with tl.compute():\n"
        "            tl.row_sum(c, a, n, cols, pitch)\n            tl.vdiv_col(a, a, c, n, cols, pitch)\n"
        "            tl.vmul_row(a, a, b, n, cols, pitch)\n        with tl.copyout():\n"
        "            tl.store_rows(y + row * cols, a, n, cols, cols, pitch)\n"
        "def h(x: torch.Tensor, g: torch.Tensor, y: torch.Tensor):\n    rows, cols = x.shape\n    k[4](x, g, y, rows, "
        "cols, 1024)\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fuzz_seed_text(texts[i]);
    fuzz_seed_files("tasks/npukernelbench", "program.py");
}

enum { COMBINATIONS = 3 };

/* An operator whose inputs, outputs and attributes are the parameters of the host function: a tensor is an output if its name
 * begins with y or if it is the last one. */
static struct dsl_opdef opdef_of(struct arena *arena, const struct dsl_program *program, size_t choice)
{
    static const enum akgen_dtype types[][COMBINATIONS] = {{AKGEN_FLOAT16, AKGEN_FLOAT, AKGEN_BF16},
                                                           {AKGEN_FLOAT, AKGEN_FLOAT, AKGEN_FLOAT},
                                                           {AKGEN_INT32, AKGEN_FLOAT, AKGEN_INT8},
                                                           {AKGEN_BF16, AKGEN_BF16, AKGEN_BF16}};
    const struct dsl_function *host = program->host->function;
    size_t room = (size_t)host->count + 1;
    struct dsl_opdef opdef = {.type = "Program", .entry = "program", .combinations = COMBINATIONS};
    struct task_attr *attrs = arena_alloc(arena, room * sizeof *attrs);
    opdef.inputs = arena_alloc(arena, room * sizeof *opdef.inputs);
    opdef.outputs = arena_alloc(arena, room * sizeof *opdef.outputs);
    opdef.roles = arena_alloc(arena, room * sizeof *opdef.roles);
    opdef.attrs = attrs;
    int last = 0;
    for (int i = 0; i < host->count; i++) {
        enum dsl_type type = dsl_scope_find(&program->host_names, host->parameters[i].name)->type;
        last = type == DSL_TYPE_TENSOR || type == DSL_TYPE_TENSORS ? i : last;
    }
    for (int i = 0; i < host->count; i++) {
        const struct dsl_symbol *symbol = dsl_scope_find(&program->host_names, host->parameters[i].name);
        bool list = symbol->type == DSL_TYPE_TENSORS, tensor = list || symbol->type == DSL_TYPE_TENSOR;
        bool output = tensor && (i == last || *symbol->name == 'y');
        struct dsl_operand operand = {.name = symbol->name,
                                      .output = output,
                                      .list = list,
                                      .optional = host->parameters[i].value != NULL,
                                      .types = types[choice % (sizeof types / sizeof *types)],
                                      .in_place = TASK_NONE,
                                      .declared = true};
        struct task_attr attr = {.name = symbol->name,
                                 .type = symbol->type == DSL_TYPE_REAL   ? TASK_ATTR_FLOAT
                                         : symbol->type == DSL_TYPE_TEXT ? TASK_ATTR_STRING
                                         : symbol->type == DSL_TYPE_INTS ? TASK_ATTR_LIST_INT
                                         : symbol->type == DSL_TYPE_BOOL ? TASK_ATTR_BOOL
                                                                         : TASK_ATTR_INT};
        if (symbol->constexpr) {
            opdef.roles[i] = (struct dsl_parameter_role){DSL_PARAMETER_DEFAULT, 0};
        } else if (output) {
            opdef.roles[i] = (struct dsl_parameter_role){DSL_PARAMETER_OUTPUT, opdef.output_count};
            opdef.outputs[opdef.output_count++] = operand;
        } else if (tensor) {
            opdef.roles[i] = (struct dsl_parameter_role){DSL_PARAMETER_INPUT, opdef.input_count};
            opdef.inputs[opdef.input_count++] = operand;
        } else {
            opdef.roles[i] = (struct dsl_parameter_role){DSL_PARAMETER_ATTR, opdef.attr_count};
            attrs[opdef.attr_count++] = attr;
        }
    }
    return opdef;
}

static void lower(struct arena *arena, struct dsl_tree *tree, const struct dsl_opdef *opdef, enum dsl_pass last)
{
    struct dsl_messages messages = {.arena = arena}, none;
    struct dsl_lowered lowered;
    bool good = dsl_lower(arena, tree, opdef, last, &lowered, &messages);
    for (int i = 0; i < messages.kept; i++)
        if (messages.items[i].rule == DSL_RULE_internal)
            abort();
    if (good != (messages.count == 0))
        abort();
    if (!good || last == DSL_PASSES_COUNT)
        return;
    const char *once = dsl_format(arena, lowered.tree);
    const struct dsl_tree *again = dsl_parse(arena, "x.py", once, strlen(once), &none);
    if (!again || strcmp(dsl_format(arena, again), once) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct dsl_messages messages;
    struct dsl_tree *tree = (struct dsl_tree *)dsl_parse(&arena, "x.py", (const char *)bytes, length, &messages);
    const struct dsl_program *program = tree ? dsl_check(&arena, tree, &messages) : NULL;
    if (program) {
        struct dsl_opdef opdef = opdef_of(&arena, program, length);
        lower(&arena, tree, &opdef, (enum dsl_pass)(length / 4 % (DSL_PASSES_COUNT + 1)));
    }
    arena_free(&arena);
    return 0;
}
