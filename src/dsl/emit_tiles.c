/* The cube in the printed kernel: tiles come into L1 as fractals (Nd2Nz), a product takes them in parts of half of L0A and L0B,
 * and Fixpipe brings it to global memory. The layouts: asc-devkit docs, LoadData2D, Mmad, Fixpipe. */
#include "dsl/emit.h"

#include <inttypes.h>
#include <string.h>

enum { HALF_BYTES = 32 << 10 }; /* of L0A and of L0B, which hold two parts */

static const struct lower_buffer *buffer_of(const struct emit *emit, const struct dsl_expr *operand)
{
    return lower_buffer_find(emit->lowering, operand_buffer(operand, NULL));
}

static int64_t rows_of(const struct emit *emit, const struct dsl_expr *operand)
{
    int64_t rows = 0, cols;
    lower_matrix(emit->lowering, buffer_of(emit, operand), &rows, &cols);
    return rows;
}

void emit_tile(struct emit *emit, const struct dsl_expr *call, const char *gm, const char *local)
{
    const struct dsl_expr *address = call_argument(call, "address");
    bool load = call->operation->place == DSL_PLACE_COPYIN;
    const char *offset = address->kind == DSL_BINARY ? emit_expr_text(emit, address->items[1]) : "0";
    emit->tiles = true;
    emit_indent(emit);
    if (load)
        text_addf(emit->out, "LoadTile<%" PRId64 ">(%s, %s[%s]", rows_of(emit, call->items[2]), local, gm, offset);
    else
        text_addf(emit->out, "StoreTile(%s[%s], %s", gm, offset, local);
    for (int i = 3; i < call->count; i++)
        text_addf(emit->out, ", %s", emit_expr_text(emit, call->items[i]));
    text_add(emit->out, ");\n");
}

void emit_product(struct emit *emit, const struct dsl_expr *call)
{
    const struct dsl_expr *init = call_argument(call, "init"), *turned = call_argument(call, "transpose_b");
    bool is_turned = turned && (turned->kind == DSL_TRUE || tree_is_integer(turned, 1));
    if (turned && !is_turned && turned->kind != DSL_FALSE && !tree_is_integer(turned, 0))
        emit->good = LOWER_FAIL(emit->lowering, turned->place, DSL_RULE_not_compiled, "write True or False",
                                "whether b is transposed is not known before the run");
    emit->tiles = emit->products = true;
    emit->aids[AID_MIN] = emit->aids[AID_MAX] = true;
    emit_indent(emit);
    text_addf(emit->out, "Multiply<%" PRId64 ", %" PRId64 ", %s>(", rows_of(emit, call->items[2]),
              rows_of(emit, call->items[3]), is_turned ? "true" : "false");
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
    text_add(members, "    TQue<TPosition::A2, 2> a2Queue; // parts of the operands in L0A and L0B\n"
                      "    TQue<TPosition::B2, 2> b2Queue;\n");
}

static const char *const tiles =
    "constexpr int64_t FRACTAL = 16; // rows of a fractal, which has 32 bytes of each\n\n"
    "// `rows` rows of `cols` elements become fractals of a tile of TILE_ROWS rows. A single row comes twice: the "
    "product of\n"
    "// one row has another layout.\n"
    "template <int64_t TILE_ROWS, typename E>\n"
    "__aicore__ inline void LoadTile(const LocalTensor<E> &to, const GlobalTensor<E> &from, int64_t rows, int64_t "
    "cols,\n"
    "                                int64_t gmPitch)\n{\n"
    "    constexpr int64_t C0 = 32 / sizeof(E), PITCH_MAX = 65535;\n"
    "    if (gmPitch <= PITCH_MAX) {\n"
    "        DataCopy(to, from, Nd2NzParams(1, rows, cols, 0, gmPitch, TILE_ROWS, 1, 0));\n    } else {\n"
    "        for (int64_t row = 0; row < rows; row++) {\n"
    "            DataCopy(to[row * C0], from[row * gmPitch], Nd2NzParams(1, 1, cols, 0, cols, TILE_ROWS, 1, 0));\n"
    "        }\n    }\n"
    "    if (rows == 1) {\n        DataCopy(to[C0], from, Nd2NzParams(1, 1, cols, 0, cols, TILE_ROWS, 1, 0));\n    "
    "}\n}\n\n"
    "// The first rows and columns of a product, rounded to the tensor's type.\n"
    "template <typename D, typename C>\n"
    "__aicore__ inline void StoreTile(const GlobalTensor<D> &to, const LocalTensor<C> &from, int64_t rows, int64_t "
    "cols,\n"
    "                                 int64_t gmPitch)\n{\n"
    "    const int64_t fractals = (rows + FRACTAL - 1) / FRACTAL;\n"
    "    FixpipeParamsV220 params(cols, rows, fractals * FRACTAL, gmPitch, false);\n"
    "    if constexpr (std::is_same_v<D, half>) {\n        params.quantPre = QuantMode_t::F322F16;\n"
    "    } else if constexpr (std::is_same_v<D, bfloat16_t>) {\n        params.quantPre = QuantMode_t::F322BF16;\n    "
    "}\n"
    "    Fixpipe<D, C, CFG_ROW_MAJOR>(to, from, params);\n}\n\n";
static const char *const product =
    "// c (m x n) = a (m x k) times b (k x n, or n x k if TURNED), added to what c holds unless `init`. Tiles of "
    "A_ROWS and\n"
    "// B_ROWS rows; what fits into half of L0A and L0B is multiplied at once.\n"
    "template <int64_t A_ROWS, int64_t B_ROWS, bool TURNED, typename C, typename E>\n"
    "__aicore__ inline void Multiply(const LocalTensor<C> &c, const LocalTensor<E> &a, const LocalTensor<E> &b,\n"
    "                                TQue<TPosition::A2, 2> &a2Queue, TQue<TPosition::B2, 2> &b2Queue, int64_t m,\n"
    "                                int64_t n, int64_t k, bool init)\n{\n"
    "    constexpr int64_t C0 = 32 / sizeof(E), HALF = 32768 / sizeof(E);\n"
    "    const int64_t rows = Max<int64_t>(m, 2), high = (rows + FRACTAL - 1) / FRACTAL;\n"
    "    const int64_t width = sizeof(E) == 1 && !TURNED ? C0 : FRACTAL; // columns of a square that is turned\n"
    "    const int64_t wide = (n + width - 1) / width * width / FRACTAL;\n"
    "    const int64_t step = HALF / (Max(high, wide) * FRACTAL) / C0 * C0;\n"
    "    for (int64_t at = 0; at < k; at += step) {\n"
    "        const int64_t part = Min(step, k - at), deep = (part + C0 - 1) / C0;\n"
    "        LocalTensor<E> a2 = a2Queue.AllocTensor<E>(), b2 = b2Queue.AllocTensor<E>();\n"
    "        LoadData2DParams load;\n"
    "        load.repeatTimes = deep;\n        load.srcStride = A_ROWS / FRACTAL;\n"
    "        for (int64_t i = 0; i < high; i++) {\n"
    "            LoadData(a2[i * deep * FRACTAL * C0], a[at * A_ROWS + i * FRACTAL * C0], load);\n        }\n"
    "        load.repeatTimes = wide;\n"
    "        for (int64_t i = 0; i < deep; i++) {\n"
    "            if constexpr (TURNED) {\n                load.srcStride = 1;\n"
    "                LoadData(b2[i * wide * FRACTAL * C0], b[(at / C0 + i) * B_ROWS * C0], load);\n"
    "            } else if constexpr (sizeof(E) == 2) {\n"
    "                load.srcStride = B_ROWS / FRACTAL;\n                load.ifTranspose = true;\n"
    "                LoadData(b2[i * wide * FRACTAL * C0], b[(at / C0 + i) * FRACTAL * C0], load);\n"
    "            } else { // squares of 32 x 32, two fractals each\n"
    "                LoadData2dTransposeParams squares(0, wide / 2, B_ROWS / C0, 1, 0);\n"
    "                LoadDataWithTranspose(b2[i * wide * FRACTAL * C0], b[(at / C0 + i) * C0 * C0], squares);\n"
    "            }\n        }\n"
    "        a2Queue.EnQue(a2);\n        b2Queue.EnQue(b2);\n"
    "        a2 = a2Queue.DeQue<E>();\n        b2 = b2Queue.DeQue<E>();\n"
    "        Mmad(c, a2, b2, MmadParams(rows, n, part, 0, false, init && at == 0));\n"
    "        if ((m / FRACTAL) * (n / FRACTAL) < 10) { // what follows a small product has to be told to wait for it\n"
    "            PipeBarrier<PIPE_M>();\n        }\n"
    "        a2Queue.FreeTensor(a2);\n        b2Queue.FreeTensor(b2);\n    }\n}\n\n";

void emit_tiles_aids(struct emit *emit, struct text *out)
{
    text_add(out, emit->tiles ? tiles : "");
    text_add(out, emit->products ? product : "");
}
