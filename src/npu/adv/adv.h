/* What the routines of the high-level APIs share: the call in progress, its temporary space, and one function per basic
 * instruction form that they are made of. */
#ifndef NPU_ADV_ADV_H
#define NPU_ADV_ADV_H

#include "abi/npu_adv.h"
#include "npu/npu_internal.h"

typedef void adv_routine(struct npu_core *core, const struct npu_adv *call);
#define NPU_ADV(id, name, routine, types, source) adv_routine adv_##routine;
#include "abi/adv.def"
#undef NPU_ADV
/* The routine adv_<name>() that is another one with arguments. */
#define ADV_VARIANT(name, routine, ...)                                                                                \
    void adv_##name(struct npu_core *core, const struct npu_adv *call)                                                 \
    {                                                                                                                  \
        routine(core, call, __VA_ARGS__);                                                                              \
    }

/* One line of adv.def. */
struct adv_row {
    const char *name;
    adv_routine *routine;
    uint64_t types;
    const char *source;
};
extern const struct adv_row adv_rows[NPU_ADV_OPS];

/* Operands. A routine cuts its operands and its temporary space into pieces: tensors of their own. */

/* Elements [first, first+count) of a tensor of `type`. */
struct npu_tensor adv_part(const struct npu_tensor *tensor, uint8_t type, uint32_t first, uint32_t count);
/* `bytes` of the temporary space at byte offset `offset`; a trap (adv_tmp_too_small) if it has less. */
struct npu_tensor adv_tmp(struct npu_core *core, const struct npu_adv *call, uint32_t offset, uint32_t bytes);
/* Elements of `type` of one of `pieces` equal parts of the temporary space, each a multiple of 256 bytes where there is
 * room and of 32 bytes otherwise; a trap if nothing is left. */
uint32_t adv_split(struct npu_core *core, const struct npu_adv *call, uint8_t type, uint32_t pieces);
/* Bytes of `count` elements. */
uint32_t adv_bytes(uint8_t type, uint32_t count);
/* The bits of a number in `type` (FLOAT, FLOAT16, BF16, INT32, INT16), as scalar operands want them. */
uint64_t adv_scalar(uint8_t type, double value);
/* The number whose bits they are; of any other type: those of a float. */
double adv_number(uint8_t type, uint64_t bits);

/* Basic instructions, level 2 (`count` elements), each followed by a barrier of pipe V. */

void adv_unary(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct npu_tensor src, uint8_t type,
               uint32_t count);
void adv_binary(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct npu_tensor src0,
                struct npu_tensor src1, uint8_t type, uint32_t count);
/* Adds, Muls, Maxs, Mins, LeakyRelu, Axpy (dst += src * value), shifts. */
void adv_scalar_op(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct npu_tensor src, double value,
                   uint8_t type, uint32_t count);
void adv_duplicate(struct npu_core *core, struct npu_tensor dst, double value, uint8_t type, uint32_t count);
/* round_mode: RoundMode as Cast takes it. */
void adv_cast(struct npu_core *core, struct npu_tensor dst, uint8_t dst_type, struct npu_tensor src, uint8_t src_type,
              int round_mode, uint32_t count);
/* Any other instruction: filled by the routine, issued under the kernel's line, followed by a barrier of pipe V. */
void adv_issue(struct npu_core *core, const struct npu_insn *insn);
/* The initialiser of an instruction whose result has the type of its first source. */
#define ADV_INSN(operation, shape, type, ...)                                                                          \
    {.op = (uint16_t)(operation), .form = NPU_FORM_##shape, .dst_type = (type), .src_type = (type), __VA_ARGS__}

#endif
