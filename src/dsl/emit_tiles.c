/* The cube in the printed kernel: tiles come into L1 as fractals (Nd2Nz), a product takes them in parts of half of L0A and L0B,
 * and Fixpipe brings it to global memory. The layouts: asc-devkit docs, LoadData2D, Mmad, Fixpipe. */
#include "dsl/emit.h"

#include <inttypes.h>
#include <string.h>

enum {
    HALF_BYTES = 32 << 10 /* of L0A and of L0B, which hold two parts */,
    TABLE_BYTES = 1024 /* of the bias table */
};

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

/* Refuses what Fixpipe does not convert, in every combination of types. */
static void check_scale(struct emit *emit, const struct dsl_expr *call)
{
    const struct lowering *lowering = emit->lowering;
    const struct lower_type *from = &lower_buffer_of(lowering, call->items[2])->type;
    const struct lower_type to = lower_tensor_of(emit->lowering, call_argument(call, "address"))->elements;
    for (int c = 0; emit->good && c < lowering->opdef->combinations; c++) {
        enum akgen_dtype type = lower_type_in(&to, c);
        bool half = type == AKGEN_FLOAT16 && lower_type_in(from, c) == AKGEN_INT32;
        if (!half && type != AKGEN_INT8 && type != AKGEN_UINT8)
            emit->good =
                LOWER_FAIL(emit->lowering, call->place, DSL_RULE_types, DSL_SCALED_PAIRS, "a scale between %s and %s",
                           akgen_dtype_name(lower_type_in(from, c)), akgen_dtype_name(type));
    }
}

static bool is_row(struct emit *emit, const struct dsl_expr *tile)
{
    int64_t rows, cols;
    return lower_matrix(emit->lowering, lower_buffer_of(emit->lowering, tile), &rows, &cols) && rows == 1;
}

void emit_tile(struct emit *emit, const struct dsl_expr *call, const char *gm, const char *local)
{
    const struct dsl_expr *address = call_argument(call, "address");
    bool load = call->operation->place == DSL_PLACE_COPYIN;
    const char *offset = address->kind == DSL_BINARY ? emit_expr_text(emit, address->items[1]) : "0";
    const struct dsl_expr *scale = call_argument(call, "scale");
    emit->tiles = true;
    emit->scales |= scale != NULL;
    if (scale)
        check_scale(emit, call);
    emit_indent(emit);
    if (load && is_row(emit, call->items[2])) { /* a bias */
        const char *cols = emit_expr_text(emit, call_argument(call, "cols"));
        text_addf(emit->out, "DataCopy(%s, %s[%s], Nd2NzParams(1, 1, %s, 0, %s, 1, 1, 0));\n", local, gm, offset, cols,
                  cols);
        return;
    }
    if (load)
        text_addf(emit->out, "LoadTile<%s>(%s, %s[%s]", shape_text(emit, call->items[2]), local, gm, offset);
    else
        text_addf(emit->out, "Store%s(%s[%s], %s", scale ? "Scaled" : "Tile", gm, offset, local);
    for (int i = 3; i < call->count; i++)
        text_addf(emit->out, ", %s",
                  emit_expr_text(emit, call->items[i]->kind == DSL_NAMED ? call->items[i]->items[0] : call->items[i]));
    text_add(emit->out, ");\n");
}

/* Refuses a bias whose kind of number the product has not. */
static void check_bias(struct emit *emit, const struct dsl_expr *call, const struct dsl_expr *bias)
{
    const struct lowering *lowering = emit->lowering;
    const struct lower_type *of = &lower_buffer_of(lowering, bias)->type;
    const struct lower_type *product = &lower_buffer_of(lowering, call->items[1])->type;
    for (int c = 0; emit->good && c < lowering->opdef->combinations; c++) {
        enum akgen_dtype type = lower_type_in(of, c), sum = lower_type_in(product, c);
        if (task_is_float(type) != task_is_float(sum))
            emit->good = LOWER_FAIL(emit->lowering, bias->place, DSL_RULE_types, DSL_BIAS_TYPES, "a bias of %s for %s",
                                    akgen_dtype_name(type), akgen_dtype_name(sum));
    }
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
    const struct dsl_expr *init = call_argument(call, "init"), *bias = call_argument(call, "bias");
    if (bias)
        check_bias(emit, call, bias);
    check_flag(emit, call, "transpose_a");
    check_flag(emit, call, "transpose_b");
    emit->tiles = true;
    *(bias ? &emit->biased : &emit->products) = true;
    emit->aids[AID_MIN] = emit->aids[AID_MAX] = true;
    emit_indent(emit);
    text_addf(emit->out, "Multiply<%s, %s>(", shape_text(emit, call->items[2]), shape_text(emit, call->items[3]));
    for (int i = 1; i <= 3; i++)
        text_addf(emit->out, "%s, ", emit_name(emit, operand_buffer(call->items[i], NULL)));
    text_add(emit->out, "a2Queue, b2Queue");
    if (bias)
        text_addf(emit->out, ", %s, c2Queue", emit_name(emit, operand_buffer(bias, NULL)));
    for (int i = 4; i <= 6; i++)
        text_addf(emit->out, ", %s", emit_expr_text(emit, call->items[i]));
    text_addf(emit->out, ", %s);\n", init ? emit_expr_text(emit, init) : "false");
}

void emit_halves(struct emit *emit, struct text *members)
{
    if (!emit->products && !emit->biased)
        return;
    emit_line(emit, "pipe->InitBuffer(a2Queue, 2, %d);", HALF_BYTES);
    emit_line(emit, "pipe->InitBuffer(b2Queue, 2, %d);", HALF_BYTES);
    const char *purpose = "two tensors, one is filled from L1 while the other is multiplied";
    lower_add_printed(emit->lowering, (struct lower_added){"a2Queue", "L0A", purpose, 2 * HALF_BYTES});
    lower_add_printed(emit->lowering, (struct lower_added){"b2Queue", "L0B", purpose, 2 * HALF_BYTES});
    text_add(members, "    TQue<TPosition::A2, 2> a2Queue; // parts of the operands in L0A and L0B\n"
                      "    TQue<TPosition::B2, 2> b2Queue;\n");
    if (!emit->biased)
        return;
    emit_line(emit, "pipe->InitBuffer(c2Queue, 1, %d);", TABLE_BYTES);
    lower_add_printed(emit->lowering,
                      (struct lower_added){"c2Queue", "the bias table", "one tensor, a row at a time", TABLE_BYTES});
    text_add(members, "    TQue<TPosition::C2, 1> c2Queue; // the row that a product begins with\n");
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
static const char *const operands =
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
    "\n";
/* $ and a letter: what `variants` has for a product that begins with zeros, or with a bias. */
static const char *const product =
    "// c (m x n) = a (m x k, or k x m if A_DEEP) times b (k x n, or n x k unless B_DEEP), added to what c holds "
    "unless\n"
    "// `init`$W. What fits into half of L0A and L0B is multiplied at once.\n"
    "template <int64_t A_ROWS, int64_t A_COLS, bool A_DEEP, int64_t B_ROWS, int64_t B_COLS, bool B_DEEP, typename C,\n"
    "          typename E$T>\n"
    "__aicore__ inline void Multiply(const LocalTensor<C> &c, const LocalTensor<E> &a, const LocalTensor<E> &b,\n"
    "                                TQue<TPosition::A2, 2> &a2Queue, TQue<TPosition::B2, 2> &b2Queue, $Pint64_t m, "
    "int64_t n,\n"
    "                                int64_t k, bool init)\n"
    "{\n"
    "    constexpr int64_t C0 = 32 / sizeof(E), HALF = 32768 / sizeof(E), DEPTH = C0 < FRACTAL ? FRACTAL : C0;\n"
    "    constexpr int64_t HEIGHT = sizeof(E) == 1 && A_DEEP ? C0 : FRACTAL, WIDTH = sizeof(E) == 1 && B_DEEP ? C0 : "
    "FRACTAL;\n"
    "    const int64_t rows = Max<int64_t>(m, 2), cols = (n + WIDTH - 1) / WIDTH * WIDTH; // of whole squares\n"
    "    const int64_t high = (rows + HEIGHT - 1) / HEIGHT * HEIGHT / FRACTAL, wide = cols / FRACTAL;\n"
    "    const int64_t step = HALF / (Max(high, wide) * FRACTAL) / DEPTH * DEPTH;\n"
    "$L"
    "    for (int64_t at = 0; at < k; at += step) {\n"
    "        const int64_t part = Min(step, k - at), deep = (part + DEPTH - 1) / DEPTH * DEPTH / C0;\n"
    "        LocalTensor<E> a2 = a2Queue.AllocTensor<E>(), b2 = b2Queue.AllocTensor<E>();\n"
    "        LoadLeft<A_ROWS, A_COLS, A_DEEP>(a2, a, at, high, deep);\n"
    "        LoadRight<B_ROWS, B_COLS, B_DEEP>(b2, b, at, wide, deep);\n"
    "        a2Queue.EnQue(a2);\n"
    "        b2Queue.EnQue(b2);\n"
    "        a2 = a2Queue.DeQue<E>();\n"
    "        b2 = b2Queue.DeQue<E>();\n"
    "        MmadParams params(rows, WIDTH == FRACTAL ? n : cols, part, 0, false, $I);\n"
    "        params.kDirectionAlign = sizeof(E) == 4; // rows of L0A have whole squares\n"
    "$M"
    "        if ((m / FRACTAL) * (n / FRACTAL) < 10) { // what follows a small product has to be told to wait for it\n"
    "            PipeBarrier<PIPE_M>();\n"
    "        }\n"
    "        a2Queue.FreeTensor(a2);\n"
    "        b2Queue.FreeTensor(b2);\n"
    "    }\n"
    "}\n"
    "\n";
static const struct {
    char letter;
    const char *plain, *biased;
} variants[] = {
    {'W', "", ", which begins with the row `bias`"},
    {'T', "", ", typename S"},
    {'P', "", "const LocalTensor<S> &bias,\n                                TQue<TPosition::C2, 1> &c2Queue, "},
    {'L', "",
     "    if (init) { // half becomes float on its way into the bias table\n"
     "        LocalTensor<C> row = c2Queue.AllocTensor<C>();\n"
     "        DataCopy(row, bias, DataCopyParams(1, (cols * sizeof(S) + 63) / 64, 0, 0));\n"
     "        c2Queue.EnQue(row);\n"
     "    }\n"},
    {'I', "init && at == 0", "false"},
    {'M', "        Mmad(c, a2, b2, params);\n",
     "        if (init && at == 0) {\n"
     "            LocalTensor<C> row = c2Queue.DeQue<C>();\n"
     "            Mmad(c, a2, b2, row, params);\n"
     "            c2Queue.FreeTensor(row);\n"
     "        } else {\n"
     "            Mmad(c, a2, b2, params);\n"
     "        }\n"},
};
static const char *const scaled =
    "// The same of elements times `scale`, of whose fraction 10 bits count; whole numbers end at the type's limits.\n"
    "template <typename D, typename C>\n"
    "__aicore__ inline void StoreScaled(const GlobalTensor<D> &to, const LocalTensor<C> &from, int64_t rows, int64_t "
    "cols,\n"
    "                                   int64_t gmPitch, float scale)\n"
    "{\n"
    "    constexpr uint64_t SIGNED = std::is_same_v<D, int8_t> ? 1ULL << 46 : 0;\n"
    "    const int64_t fractals = (rows + FRACTAL - 1) / FRACTAL;\n"
    "    FixpipeParamsV220 params(cols, rows, fractals * FRACTAL, gmPitch, false);\n"
    "    params.deqScalar = *reinterpret_cast<uint32_t *>(&scale) | SIGNED;\n"
    "    params.quantPre = std::is_same_v<D, half>    ? QuantMode_t::DEQF16\n"
    "                      : std::is_same_v<C, float> ? QuantMode_t::QF322B8_PRE\n"
    "                                                 : QuantMode_t::REQ8;\n"
    "    Fixpipe<D, C, CFG_ROW_MAJOR>(to, from, params);\n"
    "}\n"
    "\n";

static void print_product(struct text *out, bool biased)
{
    for (const char *from = product; *from; from++) {
        if (*from != '$') {
            text_append(out, from, 1);
            continue;
        }
        from++;
        for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
            if (variants[i].letter == *from)
                text_add(out, biased ? variants[i].biased : variants[i].plain);
    }
}

void emit_tiles_aids(struct emit *emit, struct text *out)
{
    text_add(out, emit->tiles ? tiles : "");
    text_add(out, emit->scales ? scaled : "");
    text_add(out, emit->products || emit->biased ? operands : "");
    for (int biased = 0; biased < 2; biased++)
        if (biased ? emit->biased : emit->products)
            print_product(out, biased);
}
