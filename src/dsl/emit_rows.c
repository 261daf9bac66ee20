/* Functions on rows and columns of a matrix in UB, which the printed kernel brings along: a vector instruction takes 256 bytes
 * of each of up to 255 rows at once, or up to 255 times 256 bytes of one row, and these choose. */
#include "dsl/emit.h"

#include <string.h>

/* What a kind of function looks like; $N stands for its name, $I for the instruction, $R for the one that folds a row. */
enum kind {
    KIND_ROW,
    KIND_COLUMN,
    KIND_FOLD_ROWS,
    KIND_FOLD_ROWS_INT,
    KIND_PLACE_IN_ROWS,
    KIND_FOLD_COLUMNS,
    KIND_SPREAD_ROW,
    KIND_SPREAD_COLUMN,
    KIND_TURN,
    KIND_GAPS
};

static const char *const kinds[] = {
    [KIND_ROW] = "// to(r, c) = $I of from(r, c) and row[c].\n"
                 "template <typename E>\n"
                 "__aicore__ inline void $N(const LocalTensor<E> &to, const LocalTensor<E> &from,\n"
                 "                          const LocalTensor<E> &row, int64_t rows, int64_t cols, int64_t pitch)\n{\n"
                 "    if (!MANY_ROWS<E>(rows, cols, pitch)) {\n"
                 "        for (int64_t r = 0; r < rows; r++) {\n"
                 "            $I(to[r * pitch], from[r * pitch], row, cols);\n        }\n        return;\n    }\n"
                 "    const uint8_t step = pitch * sizeof(E) / BLOCK_BYTES;\n"
                 "    for (int64_t c = 0; c < cols; c += LANES<E>) {\n"
                 "        for (int64_t r = 0; r < rows; r += ROWS_AT_ONCE) {\n"
                 "            const int64_t at = r * pitch + c;\n"
                 "            $I(to[at], from[at], row[c], Min(cols - c, LANES<E>), Min(rows - r, ROWS_AT_ONCE),\n"
                 "                BinaryRepeatParams(1, 1, 1, step, step, 0));\n        }\n    }\n}\n",
    [KIND_COLUMN] =
        "// to(r, c) = $I of from(r, c) and column[r]. In `room` each element of the column fills a block.\n"
        "template <typename E>\n"
        "__aicore__ inline void $N(const LocalTensor<E> &to, const LocalTensor<E> &from,\n"
        "                          const LocalTensor<E> &column, const LocalTensor<E> &room, int64_t rows, int64_t "
        "cols,\n"
        "                          int64_t pitch)\n{\n"
        "    constexpr int64_t BLOCK = BLOCK_BYTES / sizeof(E);\n"
        "    FillBlocks(room, column, rows);\n"
        "    if (!MANY_ROWS<E>(rows, cols, pitch)) {\n"
        "        const int64_t whole = cols / LANES<E>, rest = cols % LANES<E>;\n"
        "        for (int64_t r = 0; r < rows; r++) {\n"
        "            for (int64_t c = 0; c < whole; c += ROWS_AT_ONCE) {\n"
        "                const int64_t at = r * pitch + c * LANES<E>;\n"
        "                $I(to[at], from[at], room[r * BLOCK], LANES<E>, Min(whole - c, ROWS_AT_ONCE),\n"
        "                    BinaryRepeatParams(1, 1, 0, 8, 8, 0));\n            }\n"
        "            if (rest) {\n                const int64_t at = r * pitch + whole * LANES<E>;\n"
        "                $I(to[at], from[at], room[r * BLOCK], rest, 1, BinaryRepeatParams(1, 1, 0, 8, 8, 0));\n"
        "            }\n        }\n        return;\n    }\n"
        "    const uint8_t step = pitch * sizeof(E) / BLOCK_BYTES;\n"
        "    for (int64_t c = 0; c < cols; c += LANES<E>) {\n"
        "        for (int64_t r = 0; r < rows; r += ROWS_AT_ONCE) {\n"
        "            const int64_t at = r * pitch + c;\n"
        "            $I(to[at], from[at], room[r * BLOCK], Min(cols - c, LANES<E>), Min(rows - r, ROWS_AT_ONCE),\n"
        "                BinaryRepeatParams(1, 1, 0, step, step, 1));\n        }\n    }\n}\n",
    [KIND_FOLD_ROWS] =
        "// to[r] = all elements of row r taken together. Longer rows are folded into `room` first, LANES for each.\n"
        "template <typename E>\n"
        "__aicore__ inline void $N(const LocalTensor<E> &to, const LocalTensor<E> &from,\n"
        "                          const LocalTensor<E> &room, int64_t rows, int64_t cols, int64_t pitch)\n{\n"
        "    const uint8_t step = pitch * sizeof(E) / BLOCK_BYTES;\n"
        "    if (cols <= LANES<E> && MANY_ROWS<E>(rows, cols, pitch)) {\n"
        "        for (int64_t r = 0; r < rows; r += ROWS_AT_ONCE) {\n"
        "            $R(to[r], from[r * pitch], cols, Min(rows - r, ROWS_AT_ONCE), 1, 1, step$O);\n"
        "        }\n        return;\n    }\n"
        "    const int64_t lanes = Min(cols, LANES<E>);\n"
        "    if (MANY_ROWS<E>(rows, cols, pitch)) {\n"
        "        for (int64_t r = 0; r < rows; r += ROWS_AT_ONCE) {\n"
        "            const int64_t n = Min(rows - r, ROWS_AT_ONCE);\n"
        "            Muls(room[r * LANES<E>], from[r * pitch], static_cast<E>(1), lanes, n,\n"
        "                 UnaryRepeatParams(1, 1, 8, step));\n"
        "            for (int64_t c = LANES<E>; c < cols; c += LANES<E>) {\n"
        "                PipeBarrier<PIPE_V>();\n"
        "                $I(room[r * LANES<E>], from[r * pitch + c], room[r * LANES<E>], Min(cols - c, LANES<E>), n,\n"
        "                    BinaryRepeatParams(1, 1, 1, 8, step, 8));\n            }\n        }\n    } else {\n"
        "        for (int64_t r = 0; r < rows; r++) {\n"
        "            const LocalTensor<E> part = room[r * LANES<E>];\n"
        "            Muls(part, from[r * pitch], static_cast<E>(1), lanes);\n"
        "            const int64_t whole = cols / LANES<E>, rest = cols % LANES<E>;\n"
        "            for (int64_t c = 1; c < whole; c += ROWS_AT_ONCE) { // each repeat joins the same lanes\n"
        "                PipeBarrier<PIPE_V>();\n"
        "                $I(part, from[r * pitch + c * LANES<E>], part, LANES<E>, Min(whole - c, ROWS_AT_ONCE),\n"
        "                    BinaryRepeatParams(1, 1, 1, 0, 8, 0));\n            }\n"
        "            if (whole && rest) {\n                PipeBarrier<PIPE_V>();\n"
        "                $I(part, from[r * pitch + whole * LANES<E>], part, rest);\n            }\n        }\n    }\n"
        "    PipeBarrier<PIPE_V>();\n"
        "    for (int64_t r = 0; r < rows; r += ROWS_AT_ONCE) {\n"
        "        $R(to[r], room[r * LANES<E>], lanes, Min(rows - r, ROWS_AT_ONCE), 1, 1, 8$O);\n    }\n}\n",
    [KIND_FOLD_ROWS_INT] =
        "// to[r] = all integers of row r taken together: by blocks, of which `room` then has one for each row, and "
        "what stands\n"
        "// at a place of them by Gather.\n"
        "__aicore__ inline void $N(const LocalTensor<int32_t> &to, const LocalTensor<int32_t> &from,\n"
        "                          const LocalTensor<int32_t> &room, const LocalTensor<int32_t> &offsets, int64_t "
        "rows,\n"
        "                          int64_t cols, int64_t pitch)\n{\n"
        "    constexpr int64_t BLOCK = BLOCK_BYTES / sizeof(int32_t);\n"
        "    const int64_t lanes = Min(cols, BLOCK), whole = cols / BLOCK;\n"
        "    const LocalTensor<int32_t> column = room[rows * BLOCK];\n"
        "    for (int64_t r = 0; r < rows; r++) {\n"
        "        const LocalTensor<int32_t> part = room[r * BLOCK];\n"
        "        Muls(part, from[r * pitch], 1, lanes);\n"
        "        for (int64_t c = 1; c < whole; c += ROWS_AT_ONCE) { // each repeat joins the same block\n"
        "            PipeBarrier<PIPE_V>();\n"
        "            $I(part, from[r * pitch + c * BLOCK], part, BLOCK, Min(whole - c, ROWS_AT_ONCE),\n"
        "                BinaryRepeatParams(1, 1, 1, 0, 1, 0));\n        }\n"
        "        if (whole && cols % BLOCK) {\n            PipeBarrier<PIPE_V>();\n"
        "            $I(part, from[r * pitch + whole * BLOCK], part, cols % BLOCK);\n        }\n    }\n"
        "    CreateVecIndex(offsets, 0, rows);\n    PipeBarrier<PIPE_V>();\n"
        "    Muls(offsets, offsets, static_cast<int32_t>(BLOCK_BYTES), rows);\n    PipeBarrier<PIPE_V>();\n"
        "    Gather(to, room, offsets.ReinterpretCast<uint32_t>(), 0, rows);\n"
        "    for (int64_t lane = 1; lane < lanes; lane++) {\n"
        "        PipeBarrier<PIPE_V>();\n"
        "        Gather(column, room, offsets.ReinterpretCast<uint32_t>(), lane * sizeof(int32_t), rows);\n"
        "        PipeBarrier<PIPE_V>();\n        $I(to, to, column, rows);\n    }\n}\n",
    [KIND_PLACE_IN_ROWS] =
        "// to[r] = where in row r its $I stands, the first of equal ones.\n"
        "template <typename E>\n"
        "__aicore__ inline void $N(const LocalTensor<int32_t> &to, const LocalTensor<E> &from,\n"
        "                          const LocalTensor<E> &room, int64_t rows, int64_t cols, int64_t pitch)\n{\n"
        "    const uint8_t step = pitch * sizeof(E) / BLOCK_BYTES;\n"
        "    if (cols <= LANES<E> && MANY_ROWS<E>(rows, cols, pitch)) {\n"
        "        for (int64_t r = 0; r < rows; r += ROWS_AT_ONCE) {\n"
        "            Whole$R(to[r].template ReinterpretCast<E>(), from[r * pitch], cols, Min(rows - r, ROWS_AT_ONCE), "
        "1, 1, step,\n"
        "                           ReduceOrder::ORDER_ONLY_INDEX);\n"
        "        }\n        return;\n    }\n"
        "    constexpr int64_t BLOCK = BLOCK_BYTES / sizeof(E);\n"
        "    const LocalTensor<E> work = room[(2 * rows + BLOCK - 1) / BLOCK * BLOCK]; // behind pairs of value and "
        "place\n"
        "    for (int64_t r = 0; r < rows; r++) {\n"
        "        $R<E>(room[2 * r], from[r * pitch], work, cols, true);\n"
        "        PipeBarrier<PIPE_V>();\n"
        "    }\n"
        "    uint64_t taken = 0;\n"
        "    constexpr uint8_t ODD = 2; // pattern of GatherMask, which leaves the rest of its last block in any "
        "state\n"
        "    GatherMask(work, room, ODD, true, 2 * rows, {1, 1, 8, 0}, taken);\n"
        "    PipeBarrier<PIPE_V>();\n"
        "    const LocalTensor<uint16_t> words = work.template ReinterpretCast<uint16_t>();\n"
        "    Or(to.template ReinterpretCast<uint16_t>(), words, words, 2 * rows);\n}\n",
    [KIND_FOLD_COLUMNS] =
        "// to[c] = all elements of column c taken together.\n"
        "template <typename E>\n"
        "__aicore__ inline void $N(const LocalTensor<E> &to, const LocalTensor<E> &from, int64_t rows, int64_t cols,\n"
        "                          int64_t pitch)\n{\n"
        "    Muls(to, from, static_cast<E>(1), cols);\n"
        "    if (!MANY_ROWS<E>(rows, cols, pitch)) {\n"
        "        for (int64_t r = 1; r < rows; r++) {\n            PipeBarrier<PIPE_V>();\n"
        "            $I(to, from[r * pitch], to, cols);\n        }\n        return;\n    }\n"
        "    const uint8_t step = pitch * sizeof(E) / BLOCK_BYTES;\n"
        "    for (int64_t r = 1; r < rows; r += ROWS_AT_ONCE) { // each repeat joins the same lanes\n"
        "        PipeBarrier<PIPE_V>();\n"
        "        for (int64_t c = 0; c < cols; c += LANES<E>) {\n"
        "            $I(to[c], from[r * pitch + c], to[c], Min(cols - c, LANES<E>), Min(rows - r, ROWS_AT_ONCE),\n"
        "                BinaryRepeatParams(1, 1, 1, 0, step, 0));\n        }\n    }\n}\n",
    [KIND_SPREAD_ROW] =
        "// to(r, c) = row[c].\n"
        "template <typename E>\n"
        "__aicore__ inline void $N(const LocalTensor<E> &to, const LocalTensor<E> &row, int64_t rows, int64_t cols,\n"
        "                          int64_t pitch)\n{\n"
        "    if (!MANY_ROWS<E>(rows, cols, pitch)) {\n"
        "        for (int64_t r = 0; r < rows; r++) {\n"
        "            Muls(to[r * pitch], row, static_cast<E>(1), cols);\n        }\n        return;\n    }\n"
        "    const uint8_t step = pitch * sizeof(E) / BLOCK_BYTES;\n"
        "    for (int64_t c = 0; c < cols; c += LANES<E>) {\n"
        "        for (int64_t r = 0; r < rows; r += ROWS_AT_ONCE) {\n"
        "            Muls(to[r * pitch + c], row[c], static_cast<E>(1), Min(cols - c, LANES<E>),\n"
        "                 Min(rows - r, ROWS_AT_ONCE), UnaryRepeatParams(1, 1, step, 0));\n        }\n    }\n}\n",
    [KIND_SPREAD_COLUMN] =
        "// to(r, c) = column[r]. In `room` each element of the column fills a block.\n"
        "template <typename E>\n"
        "__aicore__ inline void $N(const LocalTensor<E> &to, const LocalTensor<E> &column, const LocalTensor<E> "
        "&room,\n"
        "                          int64_t rows, int64_t cols, int64_t pitch)\n{\n"
        "    constexpr int64_t BLOCK = BLOCK_BYTES / sizeof(E);\n"
        "    FillBlocks(room, column, rows);\n"
        "    for (int64_t c = 0; c < cols; c += LANES<E>) {\n"
        "        const bool many = MANY_ROWS<E>(rows, cols, pitch);\n"
        "        const uint8_t step = many ? pitch * sizeof(E) / BLOCK_BYTES : 0;\n"
        "        const int64_t most = many ? ROWS_AT_ONCE : 1;\n"
        "        for (int64_t r = 0; r < rows; r += most) {\n"
        "            Muls(to[r * pitch + c], room[r * BLOCK], static_cast<E>(1), Min(cols - c, LANES<E>),\n"
        "                 Min(rows - r, most), UnaryRepeatParams(1, 0, step, 1));\n        }\n    }\n}\n",
    [KIND_GAPS] = "// What lies between the columns and the pitch becomes the value.\n"
                  "template <typename E>\n"
                  "__aicore__ inline void $N(const LocalTensor<E> &to, float value, int64_t rows, int64_t cols, "
                  "int64_t pitch)\n{\n"
                  "    constexpr int64_t BITS = 64;\n    const E element = static_cast<E>(value);\n"
                  "    const int64_t most = MANY_ROWS<E>(LANES<E>, 1, pitch) ? ROWS_AT_ONCE : 1;\n"
                  "    const uint8_t step = most > 1 ? pitch * sizeof(E) / BLOCK_BYTES : 8;\n"
                  "    for (int64_t c = cols / LANES<E> * LANES<E>; c < pitch; c += LANES<E>) {\n"
                  "        uint64_t lanes[2] = {0, 0};\n"
                  "        for (int64_t lane = Max<int64_t>(cols - c, 0); lane < Min(pitch - c, LANES<E>); lane++) {\n"
                  "            lanes[lane / BITS] |= 1ULL << lane % BITS;\n        }\n"
                  "        for (int64_t r = 0; r < rows && (lanes[0] | lanes[1]); r += most) {\n"
                  "            Duplicate(to[r * pitch + c], element, lanes, Min(rows - r, most), 1, step);\n        "
                  "}\n    }\n}\n",
    [KIND_TURN] =
        "// to(c, r) = from(r, c): each row of `to` gathers a column.\n"
        "template <typename E>\n"
        "__aicore__ inline void $N(const LocalTensor<E> &to, const LocalTensor<E> &from,\n"
        "                          LocalTensor<int32_t> offsets, int64_t rows, int64_t cols, int64_t pitch,\n"
        "                          int64_t toPitch)\n{\n"
        "    CreateVecIndex(offsets, 0, rows);\n    PipeBarrier<PIPE_V>();\n"
        "    Muls(offsets, offsets, static_cast<int32_t>(pitch * sizeof(E)), rows);\n    PipeBarrier<PIPE_V>();\n"
        "    for (int64_t c = 0; c < cols; c++) {\n"
        "        Gather(to[c * toPitch], from, offsets.template ReinterpretCast<uint32_t>(),\n"
        "               static_cast<uint32_t>(c * sizeof(E)), rows);\n    }\n}\n"};

static const char *const common =
    "constexpr int64_t BLOCK_BYTES = 32;\n"
    "constexpr int64_t ROWS_AT_ONCE = 248; // repeats of an instruction: at most 255, and results begin at whole "
    "blocks\n"
    "template <typename E>\nconstexpr int64_t LANES = 256 / sizeof(E); // elements of a repeat\n\n"
    "// Whether an instruction takes a part of many rows, and not many parts of a row.\n"
    "template <typename E>\n"
    "__aicore__ inline bool MANY_ROWS(int64_t rows, int64_t cols, int64_t pitch)\n{\n"
    "    return pitch * sizeof(E) / BLOCK_BYTES < 256 && rows * LANES<E> >= cols;\n}\n\n";
static const char *const fill_blocks =
    "// Each of the first `count` elements of `from` fills a block of `to`.\n"
    "template <typename E>\n"
    "__aicore__ inline void FillBlocks(const LocalTensor<E> &to, const LocalTensor<E> &from, int64_t count)\n{\n"
    "    constexpr int64_t AT_ONCE = 8;\n"
    "    for (int64_t i = 0; i < count; i += AT_ONCE * ROWS_AT_ONCE) {\n"
    "        const int64_t repeats = (Min(count - i, AT_ONCE * ROWS_AT_ONCE) + AT_ONCE - 1) / AT_ONCE;\n"
    "        Brcb(to[i * (BLOCK_BYTES / static_cast<int64_t>(sizeof(E)))], from[i], repeats, BrcbRepeatParams(1, "
    "8));\n    }\n"
    "    PipeBarrier<PIPE_V>();\n}\n\n";

static const struct {
    const char *name;
    enum kind kind;
    const char *instruction, *fold;
} functions[] = {
    {"AddRow", KIND_ROW, "Add", ""},
    {"SubRow", KIND_ROW, "Sub", ""},
    {"MulRow", KIND_ROW, "Mul", ""},
    {"DivRow", KIND_ROW, "Div", ""},
    {"MaxRow", KIND_ROW, "Max", ""},
    {"MinRow", KIND_ROW, "Min", ""},
    {"AddColumn", KIND_COLUMN, "Add", ""},
    {"SubColumn", KIND_COLUMN, "Sub", ""},
    {"MulColumn", KIND_COLUMN, "Mul", ""},
    {"DivColumn", KIND_COLUMN, "Div", ""},
    {"MaxColumn", KIND_COLUMN, "Max", ""},
    {"MinColumn", KIND_COLUMN, "Min", ""},
    {"FoldRowsSum", KIND_FOLD_ROWS, "Add", "WholeReduceSum"},
    {"FoldRowsMax", KIND_FOLD_ROWS, "Max", "WholeReduceMax"},
    {"FoldRowsMin", KIND_FOLD_ROWS, "Min", "WholeReduceMin"},
    {"FoldRowsIntSum", KIND_FOLD_ROWS_INT, "Add", ""},
    {"FoldRowsIntMax", KIND_FOLD_ROWS_INT, "Max", ""},
    {"FoldRowsIntMin", KIND_FOLD_ROWS_INT, "Min", ""},
    {"PlaceOfMax", KIND_PLACE_IN_ROWS, "largest", "ReduceMax"},
    {"PlaceOfMin", KIND_PLACE_IN_ROWS, "smallest", "ReduceMin"},
    {"FoldColumnsSum", KIND_FOLD_COLUMNS, "Add", ""},
    {"FoldColumnsMax", KIND_FOLD_COLUMNS, "Max", ""},
    {"FoldColumnsMin", KIND_FOLD_COLUMNS, "Min", ""},
    {"SpreadRow", KIND_SPREAD_ROW, "Muls", ""},
    {"SpreadColumn", KIND_SPREAD_COLUMN, "Muls", ""},
    {"Turn", KIND_TURN, "Gather", ""},
    {"FillGaps", KIND_GAPS, "Duplicate", ""},
};

void emit_need_rows(struct emit *emit, const char *name)
{
    enum { MOST = sizeof emit->rows / sizeof *emit->rows };
    emit->aids[AID_MIN] = true;
    emit->aids[AID_MAX] |= strcmp(name, "FillGaps") == 0;
    for (int i = 0; i < emit->row_count; i++)
        if (strcmp(emit->rows[i], name) == 0)
            return;
    if (emit->row_count < MOST)
        emit->rows[emit->row_count++] = name;
}

/* The text of a kind, with what '$' and a letter stand for. */
static void print_function(struct text *out, size_t number)
{
    for (const char *from = kinds[functions[number].kind]; *from; from++) {
        if (*from != '$') {
            text_append(out, from, 1);
            continue;
        }
        from++;
        bool orders = *functions[number].fold && strcmp(functions[number].fold, "WholeReduceSum") != 0;
        text_add(out, *from == 'N'   ? functions[number].name
                      : *from == 'I' ? functions[number].instruction
                      : *from == 'R' ? functions[number].fold
                      : orders       ? ", ReduceOrder::ORDER_ONLY_VALUE"
                                     : "");
    }
    text_add(out, "\n");
}

void emit_rows_aids(struct emit *emit, struct text *out)
{
    bool fills = false;
    if (emit->row_count)
        text_add(out, common);
    for (int i = 0; i < emit->row_count; i++)
        for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
            if (strcmp(functions[f].name, emit->rows[i]) != 0)
                continue;
            bool column = functions[f].kind == KIND_COLUMN || functions[f].kind == KIND_SPREAD_COLUMN;
            if (column && !fills)
                text_add(out, fill_blocks);
            fills |= column;
            print_function(out, f);
        }
}
