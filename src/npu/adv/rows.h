/* Matrices in UB, for the APIs that work row by row: softmax, normalisation, reductions of the last axis.
 *
 * A matrix is ND (rows `pitch` elements apart) or NZ (panels of 16 columns, each with all rows, `panel` elements
 * apart). An operand can also be one row for all rows (pitch 0), or one 32-byte block per row that stands for every
 * block of that row (spread): that is how statistics of a row meet the row. Every function issues as few instructions
 * as the strides allow: all rows at once column by column, or row by row in counter mode. */
#ifndef NPU_ADV_ROWS_H
#define NPU_ADV_ROWS_H

#include "npu/adv/adv.h"
#include "npu/insn/lanes.h"

enum { ADV_PANEL = 16, ADV_LANES32 = NPU_REPEAT / 4, ADV_BLOCK32 = NPU_BLOCK / 4 };

struct adv_rows {
    struct npu_tensor tensor;
    uint8_t type;
    bool spread;
    uint32_t pitch; /* elements from row to row; NZ: 16 */
    uint32_t panel; /* NZ: elements from panel to panel; 0: ND */
};

struct adv_rows adv_nd(struct npu_tensor tensor, uint8_t type, uint32_t pitch);
struct adv_rows adv_nz(struct npu_tensor tensor, uint8_t type, uint32_t rows);
struct adv_rows adv_spread(struct npu_tensor tensor, uint8_t type, uint32_t pitch);
/* The tensor without its first elements; past its end it keeps a byte: a note, and out of UB a trap. */
struct npu_tensor adv_behind(const struct npu_tensor *tensor, uint8_t type, uint32_t first);
/* The matrix without its first `row` rows. */
struct adv_rows adv_rows_from(struct adv_rows all, uint32_t row);

/* dst = op(src0, src1) on rows x cols elements. */
void adv_rows_binary(struct npu_core *core, enum npu_op op, struct adv_rows dst, struct adv_rows src0,
                     struct adv_rows src1, uint32_t rows, uint32_t cols);
void adv_rows_unary(struct npu_core *core, enum npu_op op, struct adv_rows dst, struct adv_rows src, uint32_t rows,
                    uint32_t cols);
void adv_rows_scalar(struct npu_core *core, enum npu_op op, struct adv_rows dst, struct adv_rows src, double value,
                     uint32_t rows, uint32_t cols);
/* Every element of dst gets the bits of a scalar. */
void adv_rows_fill(struct npu_core *core, struct adv_rows dst, uint64_t bits, uint32_t rows, uint32_t cols);
/* Types of equal size. */
void adv_rows_copy(struct npu_core *core, struct adv_rows dst, struct adv_rows src, uint32_t rows, uint32_t cols);
/* round_mode as Cast takes it. */
void adv_rows_cast(struct npu_core *core, struct adv_rows dst, struct adv_rows src, int round_mode, uint32_t rows,
                   uint32_t cols);
/* dst[r] = sum (NPU_OP_ADD), largest (NPU_OP_MAX) or smallest (NPU_OP_MIN) of the first `cols` float elements of row r;
 * rows results one after the other. `folds`: rows x 64 floats (NZ: rows x 16), free afterwards; not used for ND rows of
 * at most 64 columns. */
void adv_rows_reduce(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct adv_rows src,
                     struct npu_tensor folds, uint32_t rows, uint32_t cols);
/* Element r of `packed` (float) becomes row r of dst, which has `pitch` equal elements: 8 or 16. packed may be dst's
 * own memory; it is read in groups of 8. scratch: a multiple of 64 floats, at least rows x 8, disjoint from both. */
void adv_rows_spread(struct npu_core *core, struct npu_tensor dst, struct npu_tensor packed, struct npu_tensor scratch,
                     uint32_t rows, uint32_t pitch);

/* Both: row r of dst has `pitch` elements, each what adv_rows_reduce gives for it. folds: rows x 64 floats, rounded up
 * to rows in eights. */
void adv_rows_reduce_spread(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct adv_rows src,
                            struct npu_tensor folds, uint32_t rows, uint32_t cols, uint32_t pitch);

/* The first `kept` bytes of each row of `given` bytes, one after the other; dst may be src. Masks whose rows are longer
 * than the data's. */
void adv_close_up(struct npu_core *core, struct npu_tensor dst, struct npu_tensor src, uint32_t rows, uint32_t kept,
                  uint32_t given);

/* Float rows of more than 64 columns are folded to 64 sums, in place; how many columns are left. */
uint32_t adv_fold(struct npu_core *core, struct adv_rows x, uint32_t rows, uint32_t cols);
/* The sums of folded rows, one after the other at `packed`, which may start at any float. */
void adv_row_sums(struct npu_core *core, struct npu_tensor packed, struct adv_rows x, uint32_t rows, uint32_t width);
/* The scalar unit waits for the vector pipe, as GetValue after SetFlag and WaitFlag of V_S; then it reads element i. */
void adv_await_vector(struct npu_core *core);
float adv_read_float(struct npu_core *core, const struct npu_tensor *tensor, uint32_t i);

/* SetMaskCount with a count, and back to "all elements, normal mode", as these APIs leave the registers. */
void adv_count_mask(struct npu_core *core, uint64_t count);
void adv_reset_mask(struct npu_core *core);

#endif
