/* Which instructions and high-level APIs a file of tests has compared with its plain loops. It writes its list beside its
 * program, as PROGRAM.FILE.covered, under the digest of the program; coverage_test.c holds the lists of all files whose head
 * says `test: leaves=covered` against isa.def and adv.def. */
#ifndef TESTS_NPU_COVERAGE_H
#define TESTS_NPU_COVERAGE_H

#include "unit/npu/forms.h"
#include "unit/unit.h"

#include "abi/npu_adv.h"
#include "base/digest.h"
#include "base/files.h"
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

/* What tells a program from the one that an earlier build made under its name. The digest is the arena's. */
static inline const char *covered_identity(struct arena *arena, const char *program)
{
    char *bytes;
    size_t length;
    struct akgen_error *error = files_read(arena, program, SIZE_MAX, &bytes, &length);
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        abort();
    }
    struct digest *digest = digest_new();
    digest_bytes(digest, bytes, length);
    return digest_finish(digest, arena);
}

/* Where the list of a file of tests of `program` is. */
static inline void covered_path_of_list(char path[PATH_MAX], const char *program, const char *file)
{
    int at = snprintf(path, PATH_MAX, "%s.", program);
    snprintf(path + at, PATH_MAX - (size_t)at, "%s.covered", file);
    for (char *slash = path + at; (slash = strchr(slash, '/'));)
        *slash = '_';
}

/* Where this file's is. */
static inline void covered_own_path(char path[PATH_MAX])
{
    char program[PATH_MAX - 256];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        abort();
    program[length] = '\0';
    covered_path_of_list(path, program, unit_argv[0]);
}

static void covered_write(void)
{
    char path[PATH_MAX];
    covered_own_path(path);
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    struct arena arena = {0};
    fprintf(file, "%s\n", covered_identity(&arena, "/proc/self/exe"));
    arena_free(&arena);
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
    if (!covered_count) { /* a program that ends early leaves nothing, and not what it left last time */
        char path[PATH_MAX];
        covered_own_path(path);
        unlink(path);
        atexit(covered_write);
    }
    if (covered_count == covered_room) {
        covered_room = covered_room ? 2 * covered_room : 256;
        covered_rows = realloc(covered_rows, covered_room * sizeof *covered_rows);
    }
    covered_rows[covered_count++] = row;
}

/* High-level APIs are numbered behind the instructions. A row's form: whose the temporary space is; its mode: whether
 * the source may be overwritten. */
enum { COVERED_ADV = 1024 };
enum covered_space { SPACE_GIVEN, SPACE_LEFT, SPACES };

static inline void covered_adv(const struct npu_adv *call, bool left)
{
    struct npu_insn row = {.op = (uint16_t)(COVERED_ADV + call->op),
                           .src_type = call->type,
                           .dst_type = call->dst_type,
                           .mode = call->flags & NPU_ADV_REUSE_SOURCE};
    covered(&row, (enum form)(left ? SPACE_LEFT : SPACE_GIVEN));
}

#endif
