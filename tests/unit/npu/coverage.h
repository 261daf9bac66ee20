/* Which instructions a test program has compared with its plain loop. Each test of instructions writes its list beside
 * itself, as NAME.covered; coverage_test.c holds the lists against isa.def. */
#ifndef TESTS_NPU_COVERAGE_H
#define TESTS_NPU_COVERAGE_H

#include "forms.h"
#include "npu/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* From which memory to which, of which npu_memory_of(position) says -1 to 6. */
static inline uint16_t covered_path(int from, int to)
{
    return (uint16_t)((npu_memory_of(from) + 1) << 8 | (npu_memory_of(to) + 1));
}

struct covered_row {
    uint16_t op;
    uint8_t form, src_type, dst_type, mode;
    uint16_t path;
};

static struct covered_row *covered_rows;
static size_t covered_count, covered_room;

/* The form as a kernel would name it: counter mode is a form of its own. */
static inline enum form covered_form(const struct npu_insn *insn, const struct npu_regs *regs)
{
    switch (insn->form) {
    case NPU_FORM_COUNT:
        return COUNT;
    case NPU_FORM_MASK_REG:
        return regs->counter ? REG_COUNTER : REG;
    default:
        return regs->counter ? COUNTER : insn->form == NPU_FORM_MASK_LEN ? LENGTH : BITS;
    }
}

static void covered_write(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof ".covered");
    if (length < 0)
        return;
    memcpy(path + length, ".covered", sizeof ".covered");
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    for (size_t i = 0; i < covered_count; i++)
        fprintf(file, "%u %u %u %u %u %u\n", covered_rows[i].op, covered_rows[i].form, covered_rows[i].src_type,
                covered_rows[i].dst_type, covered_rows[i].mode, covered_rows[i].path);
    fclose(file);
    free(covered_rows);
}

/* Call it when the results of an instruction were right. `form` of instructions without one: COUNT. */
static inline void covered(const struct npu_insn *insn, enum form form)
{
    struct covered_row row = {insn->op,       (uint8_t)form, insn->src_type,
                              insn->dst_type, insn->mode,    covered_path(insn->src0.position, insn->dst.position)};
    for (size_t i = covered_count; i-- > 0;)
        if (!memcmp(&covered_rows[i], &row, sizeof row))
            return;
    if (!covered_count)
        atexit(covered_write);
    if (covered_count == covered_room) {
        covered_room = covered_room ? 2 * covered_room : 256;
        covered_rows = realloc(covered_rows, covered_room * sizeof *covered_rows);
    }
    covered_rows[covered_count++] = row;
}

#endif
