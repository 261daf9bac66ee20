/* The cube in the printed kernel: tiles come into L1 as fractals (Nd2Nz), a product takes them in parts of half of L0A and L0B,
 * and Fixpipe brings it to global memory. The layouts: asc-devkit docs, LoadData2D, Mmad, Fixpipe. */
#include "dsl/emit.h"

#include <inttypes.h>
#include <string.h>

enum { HALF_BYTES = 32 << 10 }; /* of L0A and of L0B, which hold two parts */

/* Rows and columns of a tile, and how it lies in L1: "128, 64, false" (or true: as squares). A tile whose rows are those of k
 * is turned on the way to L0; float32 is so in squares of two fractals beside each other. */
struct shape {
    int64_t rows, cols;
    bool deep;
};

static bool is_true(const struct dsl_expr *flag)
{
    return flag && (flag->kind == DSL_TRUE || tree_is_integer(flag, 1));
}

struct operand {
    const char *buffer;
    bool deep, wide; /* whether a product takes its rows as those of k, as rows of a or columns of b */
};

static void note_operand(void *closure, struct dsl_expr *part)
{
    struct operand *operand = closure;
    if (part->kind != DSL_CALL || !part->operation || strcmp(part->operation->name, "gemm") != 0)
        return;
    for (int i = 0; i < 2; i++)
        if (strcmp(operand_buffer(part->items[2 + i], NULL), operand->buffer) == 0) {
            bool turned = is_true(call_argument(part, i ? "transpose_b" : "transpose_a"));
            operand->deep |= turned != (i == 1);
            operand->wide |= turned == (i == 1);
        }
}

static void note_operands_below(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, note_operand, closure);
}

static struct shape shape_of(struct emit *emit, const struct dsl_expr *tile)
{
    struct shape shape = {0};
    struct operand operand = {.buffer = operand_buffer(tile, NULL)};
    struct dsl_block *kernel = lower_kernel(emit->lowering);
    lower_matrix(emit->lowering, lower_buffer_of(emit->lowering, tile), &shape.rows, &shape.cols);
    for (int i = 0; i < kernel->count; i++)
        statement_visit(kernel->items[i], note_operands_below, &operand);
    if (operand.deep && operand.wide)
        emit->good = LOWER_FAIL(emit->lowering, tile->place, DSL_RULE_not_compiled, "load it into a second buffer too",
                                "'%s' is an operand as it is and another transposed", operand.buffer);
    shape.deep = operand.deep;
    return shape;
}

static const char *shape_text(struct emit *emit, const struct dsl_expr *tile)
{
    struct shape shape = shape_of(emit, tile);
    return arena_printf(emit->lowering->arena, "%" PRId64 ", %" PRId64 ", %s", shape.rows, shape.cols,
                        shape.deep ? "true" : "false");
}

void emit_tile(struct emit *emit, const struct dsl_expr *call, const char *gm, const char *local)
{
    const struct dsl_expr *address = call_argument(call, "address");
    bool load = call->operation->place == DSL_PLACE_COPYIN;
    const char *offset = address->kind == DSL_BINARY ? emit_expr_text(emit, address->items[1]) : "0";
    emit->tiles = true;
    emit_indent(emit);
    if (load)
        text_addf(emit->out, "LoadTile<%s>(%s, %s[%s]", shape_text(emit, call->items[2]), local, gm, offset);
    else
        text_addf(emit->out, "StoreTile(%s[%s], %s", gm, offset, local);
    for (int i = 3; i < call->count; i++)
        text_addf(emit->out, ", %s", emit_expr_text(emit, call->items[i]));
    text_add(emit->out, ");\n");
}

static void check_flag(struct emit *emit, const struct dsl_expr *call, const char *name)
{
    const struct dsl_expr *flag = call_argument(call, name);
    if (flag && !is_true(flag) && flag->kind != DSL_FALSE && !tree_is_integer(flag, 0))
        emit->good = LOWER_FAIL(emit->lowering, flag->place, DSL_RULE_not_compiled, "write True or False",
                                "what '%s' is, is not known before the run", name);
}

void emit_product(struct emit *emit, const struct dsl_expr *call)
{
    const struct dsl_expr *init = call_argument(call, "init");
    check_flag(emit, call, "transpose_a");
    check_flag(emit, call, "transpose_b");
    emit->tiles = emit->products = true;
    emit->aids[AID_MIN] = emit->aids[AID_MAX] = true;
    emit_indent(emit);
    text_addf(emit->out, "Multiply<%s, %s>(", shape_text(emit, call->items[2]), shape_text(emit, call->items[3]));
    for (int i = 1; i <= 3; i++)
        text_addf(emit->out, "%s, ", emit_name(emit, operand_buffer(call->items[i], NULL)));
    text_add(emit->out, "a2Queue, b2Queue");
    for (int i = 4; i <= 6; i++)
        text_addf(emit->out, ", %s", emit_expr_text(emit, call->items[i]));
    text_addf(emit->out, ", %s);\n", init ? emit_expr_text(emit, init) : "false");
}

void emit_halves(struct emit *emit, struct text *members)
{
    emit_line(emit, "pipe->InitBuffer(a2Queue, 2, %d);", HALF_BYTES);
    emit_line(emit, "pipe->InitBuffer(b2Queue, 2, %d);", HALF_BYTES);
    const char *purpose = "two tensors, one is filled from L1 while the other is multiplied";
    lower_add_printed(emit->lowering, (struct lower_added){"a2Queue", "L0A", purpose, 2 * HALF_BYTES});
    lower_add_printed(emit->lowering, (struct lower_added){"b2Queue", "L0B", purpose, 2 * HALF_BYTES});
    text_add(members, "    TQue<TPosition::A2, 2> a2Queue; // parts of the operands in L0A and L0B\n"
                      "    TQue<TPosition::B2, 2> b2Queue;\n");
}

static const char *const tiles =
    "constexpr int64_t FRACTAL = 16; // rows of a fractal, which has 32 bytes of each\n"
    "\n"
    "// `rows` rows of `cols` elements become fractals, in columns of ROWS rows. A single row comes twice: the product "
    "of\n"
    "// one row has another layout.\n"
    "template <int64_t ROWS, typename E>\n"
    "__aicore__ inline void LoadFractals(const LocalTensor<E> &to, const GlobalTensor<E> &from, int64_t rows, int64_t "
    "cols,\n"
    "                                    int64_t gmPitch)\n"
    "{\n"
    "    constexpr int64_t C0 = 32 / sizeof(E), PITCH_MAX = 65535;\n"
    "    if (gmPitch <= PITCH_MAX) {\n"
    "        DataCopy(to, from, Nd2NzParams(1, rows, cols, 0, gmPitch, ROWS, 1, 0));\n"
    "    } else {\n"
    "        for (int64_t row = 0; row < rows; row++) {\n"
    "            DataCopy(to[row * C0], from[row * gmPitch], Nd2NzParams(1, 1, cols, 0, cols, ROWS, 1, 0));\n"
    "        }\n"
    "    }\n"
    "    if (rows == 1) {\n"
    "        DataCopy(to[C0], from, Nd2NzParams(1, 1, cols, 0, cols, ROWS, 1, 0));\n"
    "    }\n"
    "}\n"
    "\n"
    "// A tile of ROWS by COLS. DEEP: its rows are those of k; then 32-bit elements lie in slabs of 16 rows, whose "
    "fractals\n"
    "// are neighbours, because squares of two are turned.\n"
    "template <int64_t ROWS, int64_t COLS, bool DEEP, typename E>\n"
    "__aicore__ inline void LoadTile(const LocalTensor<E> &to, const GlobalTensor<E> &from, int64_t rows, int64_t "
    "cols,\n"
    "                                int64_t gmPitch)\n"
    "{\n"
    "    if constexpr (DEEP && sizeof(E) == 4) {\n"
    "        for (int64_t row = 0; row < rows; row += FRACTAL) {\n"
    "            const int64_t left = rows - row;\n"
    "            LoadFractals<FRACTAL>(to[row * COLS], from[row * gmPitch], left < FRACTAL ? left : FRACTAL, cols, "
    "gmPitch);\n"
    "        }\n"
    "    } else {\n"
    "        LoadFractals<ROWS>(to, from, rows, cols, gmPitch);\n"
    "    }\n"
    "}\n"
    "\n"
    "// The first rows and columns of a product, rounded to the tensor's type.\n"
    "template <typename D, typename C>\n"
    "__aicore__ inline void StoreTile(const GlobalTensor<D> &to, const LocalTensor<C> &from, int64_t rows, int64_t "
    "cols,\n"
    "                                 int64_t gmPitch)\n"
    "{\n"
    "    const int64_t fractals = (rows + FRACTAL - 1) / FRACTAL;\n"
    "    FixpipeParamsV220 params(cols, rows, fractals * FRACTAL, gmPitch, false);\n"
    "    if constexpr (std::is_same_v<D, half>) {\n"
    "        params.quantPre = QuantMode_t::F322F16;\n"
    "    } else if constexpr (std::is_same_v<D, bfloat16_t>) {\n"
    "        params.quantPre = QuantMode_t::F322BF16;\n"
    "    }\n"
    "    Fixpipe<D, C, CFG_ROW_MAJOR>(to, from, params);\n"
    "}\n"
    "\n";
static const char *const product =
    "// k from `at` on, `deep` fractals of it, of `high` rows of fractals of a go to L0A. 32-bit elements are turned "
    "in\n"
    "// squares of 16 x 16, two fractals beside each other, bytes in squares of 32 x 32, two on each other.\n"
    "template <int64_t ROWS, int64_t COLS, bool DEEP, typename E>\n"
    "__aicore__ inline void LoadLeft(const LocalTensor<E> &to, const LocalTensor<E> &from, int64_t at, int64_t high,\n"
    "                                int64_t deep)\n"
    "{\n"
    "    constexpr int64_t C0 = 32 / sizeof(E), SIZE = FRACTAL * C0;\n"
    "    LoadData2DParams rows(0, deep, DEEP ? 1 : ROWS / FRACTAL, 0, 0, DEEP, 0);\n"
    "    if constexpr (!DEEP) {\n"
    "        for (int64_t i = 0; i < high; i++) {\n"
    "            LoadData(to[i * deep * SIZE], from[at * ROWS + i * SIZE], rows);\n"
    "        }\n"
    "    } else if constexpr (sizeof(E) == 2) {\n"
    "        for (int64_t i = 0; i < high; i++) {\n"
    "            LoadData(to[i * deep * SIZE], from[(i * ROWS + at) * C0], rows);\n"
    "        }\n"
    "    } else if constexpr (sizeof(E) == 1) {\n"
    "        LoadData2dTransposeParams squares(0, deep, 1, 0, deep - 1);\n"
    "        for (int64_t i = 0; i < high / 2; i++) {\n"
    "            LoadDataWithTranspose(to[2 * i * deep * SIZE], from[(i * ROWS + at) * C0], squares);\n"
    "        }\n"
    "    } else {\n"
    "        LoadData2dTransposeParams squares(0, deep / 2, COLS / FRACTAL, 1, 0);\n"
    "        for (int64_t i = 0; i < high; i++) {\n"
    "            LoadDataWithTranspose(to[i * deep * SIZE], from[at * COLS + i * FRACTAL * FRACTAL], squares);\n"
    "        }\n"
    "    }\n"
    "}\n"
    "\n"
    "// The same of `wide` columns of fractals of b, to L0B.\n"
    "template <int64_t ROWS, int64_t COLS, bool DEEP, typename E>\n"
    "__aicore__ inline void LoadRight(const LocalTensor<E> &to, const LocalTensor<E> &from, int64_t at, int64_t wide,\n"
    "                                 int64_t deep)\n"
    "{\n"
    "    constexpr int64_t C0 = 32 / sizeof(E), SIZE = FRACTAL * C0;\n"
    "    LoadData2DParams columns(0, wide, DEEP ? ROWS / FRACTAL : 1, 0, 0, DEEP, 0);\n"
    "    if constexpr (!DEEP) {\n"
    "        for (int64_t i = 0; i < deep; i++) {\n"
    "            LoadData(to[i * wide * SIZE], from[(at + i * C0) * ROWS], columns);\n"
    "        }\n"
    "    } else if constexpr (sizeof(E) == 2) {\n"
    "        for (int64_t i = 0; i < deep; i++) {\n"
    "            LoadData(to[i * wide * SIZE], from[(at + i * C0) * C0], columns);\n"
    "        }\n"
    "    } else if constexpr (sizeof(E) == 1) {\n"
    "        LoadData2dTransposeParams squares(0, wide / 2, ROWS / C0, 1, 0);\n"
    "        for (int64_t i = 0; i < deep; i++) {\n"
    "            LoadDataWithTranspose(to[i * wide * SIZE], from[(at + i * C0) * C0], squares);\n"
    "        }\n"
    "    } else {\n"
    "        LoadData2dTransposeParams squares(0, wide, 1, 0, wide - 1);\n"
    "        for (int64_t i = 0; i < deep / 2; i++) {\n"
    "            LoadDataWithTranspose(to[2 * i * wide * SIZE], from[(at + i * FRACTAL) * COLS], squares);\n"
    "        }\n"
    "    }\n"
    "}\n"
    "\n"
    "// c (m x n) = a (m x k, or k x m if A_DEEP) times b (k x n, or n x k unless B_DEEP), added to what c holds "
    "unless\n"
    "// `init`. What fits into half of L0A and L0B is multiplied at once.\n"
    "template <int64_t A_ROWS, int64_t A_COLS, bool A_DEEP, int64_t B_ROWS, int64_t B_COLS, bool B_DEEP, typename C,\n"
    "          typename E>\n"
    "__aicore__ inline void Multiply(const LocalTensor<C> &c, const LocalTensor<E> &a, const LocalTensor<E> &b,\n"
    "                                TQue<TPosition::A2, 2> &a2Queue, TQue<TPosition::B2, 2> &b2Queue, int64_t m, "
    "int64_t n,\n"
    "                                int64_t k, bool init)\n"
    "{\n"
    "    constexpr int64_t C0 = 32 / sizeof(E), HALF = 32768 / sizeof(E), DEPTH = C0 < FRACTAL ? FRACTAL : C0;\n"
    "    constexpr int64_t HEIGHT = sizeof(E) == 1 && A_DEEP ? C0 : FRACTAL, WIDTH = sizeof(E) == 1 && B_DEEP ? C0 : "
    "FRACTAL;\n"
    "    const int64_t rows = Max<int64_t>(m, 2), cols = (n + WIDTH - 1) / WIDTH * WIDTH; // of whole squares\n"
    "    const int64_t high = (rows + HEIGHT - 1) / HEIGHT * HEIGHT / FRACTAL, wide = cols / FRACTAL;\n"
    "    const int64_t step = HALF / (Max(high, wide) * FRACTAL) / DEPTH * DEPTH;\n"
    "    for (int64_t at = 0; at < k; at += step) {\n"
    "        const int64_t part = Min(step, k - at), deep = (part + DEPTH - 1) / DEPTH * DEPTH / C0;\n"
    "        LocalTensor<E> a2 = a2Queue.AllocTensor<E>(), b2 = b2Queue.AllocTensor<E>();\n"
    "        LoadLeft<A_ROWS, A_COLS, A_DEEP>(a2, a, at, high, deep);\n"
    "        LoadRight<B_ROWS, B_COLS, B_DEEP>(b2, b, at, wide, deep);\n"
    "        a2Queue.EnQue(a2);\n"
    "        b2Queue.EnQue(b2);\n"
    "        a2 = a2Queue.DeQue<E>();\n"
    "        b2 = b2Queue.DeQue<E>();\n"
    "        MmadParams params(rows, WIDTH == FRACTAL ? n : cols, part, 0, false, init && at == 0);\n"
    "        params.kDirectionAlign = sizeof(E) == 4; // rows of L0A have whole squares\n"
    "        Mmad(c, a2, b2, params);\n"
    "        if ((m / FRACTAL) * (n / FRACTAL) < 10) { // what follows a small product has to be told to wait for it\n"
    "            PipeBarrier<PIPE_M>();\n"
    "        }\n"
    "        a2Queue.FreeTensor(a2);\n"
    "        b2Queue.FreeTensor(b2);\n"
    "    }\n"
    "}\n"
    "\n";

void emit_tiles_aids(struct emit *emit, struct text *out)
{
    text_add(out, emit->tiles ? tiles : "");
    text_add(out, emit->products ? product : "");
}
