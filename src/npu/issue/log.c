/* The instruction log: one readable line per instruction and per synchronisation, in the order in which the kernel
 * issues them (a random schedule executes them in another). */
#include "npu/gm_region.h"
#include "npu/isa.h"
#include "npu/issue/issue.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/order/order.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_BYTES = 512 };

struct line {
    char text[LINE_BYTES];
    size_t length;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = sizeof line->text - line->length;
    int n = vsnprintf(line->text + line->length, room, format, args);
    va_end(args);
    if (n > 0)
        line->length += (size_t)n < room ? (size_t)n : room - 1;
}

/* "UB+0x1000", "L0A+0x0", "x+0x200": where an operand begins. */
static void add_place(struct line *line, const struct npu_core *core, const char *operand,
                      const struct npu_tensor *tensor)
{
    if (!tensor->addr)
        return;
    add(line, "  %s ", operand);
    if (core->ub && npu_in_ub(core, tensor->addr)) {
        enum npu_memory memory = npu_memory_at(core, tensor->addr);
        add(line, "%s+0x%llx", npu_memories[memory].name,
            (unsigned long long)(tensor->addr - npu_memory_base(core, memory)));
        return;
    }
    const struct npu_gm_region *region = npu_gm_below(core->npu, tensor->addr);
    if (region && tensor->addr - (uint64_t)region->base < region->bytes)
        add(line, "%s+0x%llx", region->name, (unsigned long long)(tensor->addr - (uint64_t)region->base));
    else
        add(line, "0x%llx", (unsigned long long)tensor->addr);
}

/* The shape of a cube's instruction: rows x columns of a matrix, fractals, m x k x n of a product. False for others. */
static bool add_matrix(struct line *line, const struct npu_insn *insn)
{
    const char *type = akgen_dtype_name(insn->src_type);
    switch (insn->op) {
    case NPU_OP_ND2NZ:
        add(line, "  %u x %u", insn->nd2nz.n, insn->nd2nz.d);
        if (insn->nd2nz.nd_num != 1)
            add(line, " x %u", insn->nd2nz.nd_num);
        add(line, " %s, ND to NZ", type);
        return true;
    case NPU_OP_LOAD_DATA:
        add(line, "  %u fractals of %s%s", insn->load_2d.repeat, type, insn->load_2d.transpose ? ", transposed" : "");
        return true;
    case NPU_OP_LOAD_DATA_WITH_TRANSPOSE:
        add(line, "  %u times fractals of %s, transposed", insn->load_2d.repeat, type);
        return true;
    case NPU_OP_LOAD_DATA_3D:
        add(line, "  %u x %u %s%s", insn->load_3d.m, insn->load_3d.k, type,
            insn->load_3d.transpose ? ", transposed" : "");
        return true;
    case NPU_OP_MMAD:
        add(line, "  %u x %u x %u %s to %s%s", insn->mmad.m, insn->mmad.k, insn->mmad.n, type,
            akgen_dtype_name(insn->dst_type),
            insn->mmad.init == NPU_C_ACCUMULATE ? ", added to C"
            : insn->mmad.init == NPU_C_BIAS     ? ", added to the bias"
                                                : "");
        return true;
    case NPU_OP_FIXPIPE:
        add(line, "  %u x %u %s to %s%s", insn->fixpipe.m, insn->fixpipe.n, type, akgen_dtype_name(insn->dst_type),
            insn->fixpipe.nz2nd ? ", NZ to ND" : "");
        return true;
    default:
        return false;
    }
}

/* How many elements, or the shape of a copy. */
static void add_extent(struct line *line, const struct npu_insn *insn)
{
    if (add_matrix(line, insn))
        return;
    bool copy = insn->op == NPU_OP_DATA_COPY || insn->op == NPU_OP_DATA_COPY_PAD;
    const char *type = akgen_dtype_name(insn->src_type);
    if (insn->form == NPU_FORM_COUNT)
        add(line, "  %u %s", insn->count, type);
    else if (copy)
        add(line, "  %u x %u %s", insn->copy.block_count, insn->copy.block_len,
            insn->op == NPU_OP_DATA_COPY ? "blocks" : "bytes");
    else if (insn->form == NPU_FORM_MASK_LEN)
        add(line, "  %u repeats of %llu %s", insn->repeat, (unsigned long long)insn->mask[0], type);
    else if (insn->form == NPU_FORM_MASK_BITS)
        add(line, "  %u repeats under %llx:%llx %s", insn->repeat, (unsigned long long)insn->mask[1],
            (unsigned long long)insn->mask[0], type);
    else
        add(line, "  %u repeats %s", insn->repeat, type);
    if (insn->dst_type && insn->dst_type != insn->src_type)
        add(line, " to %s", akgen_dtype_name(insn->dst_type));
}

static void send(const struct npu_core *core, const char *pipe, const char *api, const struct line *line)
{
    const struct npu_config *config = npu_config_of(core->npu);
    const struct npu_log_line out = {
        .core = core->block, .aic = core->aic, .pipe = pipe, .api = api, .text = line->text, .pc = core->pc};
    config->log(config->log_closure, &out);
}

void npu_log_instruction(const struct npu_core *core, int pipe, const struct npu_insn *insn)
{
    struct line line = {0};
    if (core->api)
        add(&line, "  of %s", core->api);
    add_place(&line, core, "dst", &insn->dst);
    add_place(&line, core, "src0", &insn->src0);
    add_place(&line, core, "src1", &insn->src1);
    add_extent(&line, insn);
    send(core, npu_pipe_name(pipe), npu_isa[insn->op].name, &line);
}

void npu_log_sync(const struct npu_core *core, const char *pipe, const char *api, const char *format, ...)
{
    struct line line = {0};
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line.text, sizeof line.text, format, args);
    va_end(args);
    line.length = n > 0 ? (size_t)n : 0;
    send(core, pipe, api, &line);
}
