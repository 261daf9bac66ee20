/* Functions on integers of 64 bits, which the printed kernel brings along. The vector unit computes 32 bits at most: elements are
 * taken apart into their low and their high words, a chunk at a time, computed by these, and put together again. */
#include "dsl/emit.h"

#include <string.h>

#define WORDS_IN "const LocalTensor<int32_t> &"
#define ELEMENTS "const LocalTensor<int64_t> &"
#define BARRIER  "    PipeBarrier<PIPE_V>();\n"

/* What the functions are made of. %d: elements of a chunk. */
static const char *const common = "// Integers of 64 bits are computed by their words, a chunk at a time. In a room "
                                  "lie, each as many words as a chunk\n"
                                  "// has elements, the low and behind them the high words of two operands and of the "
                                  "result, words for steps, and where\n"
                                  "// the result's words are, low and high by turns.\n"
                                  "struct Int64Room {\n"
                                  "    static constexpr int64_t CHUNK = %d, HIGH = CHUNK, A = 0, B = 2 * CHUNK, RESULT "
                                  "= 4 * CHUNK, STEP = 6 * CHUNK,\n"
                                  "                             CARRY = 7 * CHUNK, PLACES = 8 * CHUNK;\n};\n\n";
static const char *const operands =
    "__aicore__ inline LocalTensor<int64_t> PartOf(" ELEMENTS
    "elements, int64_t at)\n{\n    return elements[at];\n}\n\n"
    "__aicore__ inline int64_t PartOf(int64_t number, int64_t)\n{\n    return number;\n}\n\n"
    "__aicore__ inline void TakeApart(" WORDS_IN "low, " ELEMENTS "from, int64_t count)\n{\n"
    "    uint64_t taken = 0;\n    constexpr uint8_t EVEN = 1, ODD = 2; // patterns of GatherMask\n"
    "    const LocalTensor<int32_t> words = from.ReinterpretCast<int32_t>();\n"
    "    GatherMask(low, words, EVEN, true, 2 * count, {1, 1, 8, 0}, taken);\n"
    "    GatherMask(low[Int64Room::HIGH], words, ODD, true, 2 * count, {1, 1, 8, 0}, taken);\n}\n\n"
    "// A number in every element.\n"
    "__aicore__ inline void TakeApart(" WORDS_IN "low, int64_t number, int64_t count)\n{\n"
    "    constexpr int64_t WORD_BITS = 32;\n"
    "    Duplicate(low, static_cast<int32_t>(number), count);\n"
    "    Duplicate(low[Int64Room::HIGH], static_cast<int32_t>(number >> WORD_BITS), count);\n}\n\n";
static const char *const results =
    "// Byte offsets of the result's words: those of element i are 4 i and, of the high ones, 4 (CHUNK + i).\n"
    "__aicore__ inline void FindPlaces(" WORDS_IN "room)\n{\n"
    "    constexpr int64_t CHUNK = Int64Room::CHUNK, COUNT = 2 * CHUNK;\n"
    "    constexpr uint32_t ALL_BUT_LAST = 31;\n"
    "    const LocalTensor<int32_t> places = room[Int64Room::PLACES], odd = room[Int64Room::A];\n"
    "    const LocalTensor<uint32_t> bits = odd.ReinterpretCast<uint32_t>();\n"
    "    CreateVecIndex(places, 0, COUNT);\n" BARRIER
    "    ShiftLeft(bits, places.ReinterpretCast<uint32_t>(), ALL_BUT_LAST, COUNT);\n" BARRIER
    "    ShiftRight(bits, bits, ALL_BUT_LAST, COUNT);\n    Muls(places, places, 2, COUNT);\n" BARRIER
    "    Muls(odd, odd, static_cast<int32_t>(4 * CHUNK - 2), COUNT);\n" BARRIER
    "    Add(places, places, odd, COUNT);\n}\n\n"
    "__aicore__ inline void PutTogether(" ELEMENTS "to, " WORDS_IN "room, int64_t count)\n{\n"
    "    Gather(to.ReinterpretCast<int32_t>(), room[Int64Room::RESULT],\n"
    "           room[Int64Room::PLACES].ReinterpretCast<uint32_t>(), 0, 2 * count);\n}\n\n";

/* Steps on the words of a chunk. */
enum step { STEP_OR, STEP_CARRY, STEP_ADD, STEP_NOT, STEP_SUB, STEP_LESS, STEP_MUL, STEP_COUNT };
#define NEEDS(step) (1u << (step))
static const struct {
    unsigned needs;
    const char *text;
} steps[STEP_COUNT] = {
    [STEP_OR] = {0, "__aicore__ inline void OrWords(" WORDS_IN "to, " WORDS_IN "a, " WORDS_IN "b, int64_t count)\n{\n"
                    "    Or(to.ReinterpretCast<uint16_t>(), a.ReinterpretCast<uint16_t>(), "
                    "b.ReinterpretCast<uint16_t>(), 2 * count);\n}\n\n"},
    [STEP_CARRY] = {0,
                    "// CARRY = 1 where the sum of the operands' words (`plane`: 0 the low, HIGH the high ones) has 33 "
                    "bits: where both, or\n// one of them and not the sum, begin with a 1.\n"
                    "__aicore__ inline void CarryOf(" WORDS_IN "room, int64_t plane, int64_t count)\n{\n"
                    "    constexpr uint32_t ALL_BUT_FIRST = 31;\n"
                    "    const LocalTensor<uint16_t> to = room[Int64Room::CARRY].ReinterpretCast<uint16_t>(),\n"
                    "                                step = room[Int64Room::STEP].ReinterpretCast<uint16_t>(),\n"
                    "                                a = room[Int64Room::A + plane].ReinterpretCast<uint16_t>(),\n"
                    "                                b = room[Int64Room::B + plane].ReinterpretCast<uint16_t>(),\n"
                    "                                sum = room[Int64Room::RESULT + "
                    "plane].ReinterpretCast<uint16_t>();\n"
                    "    Or(to, a, b, 2 * count);\n    Not(step, sum, 2 * count);\n" BARRIER
                    "    And(to, to, step, 2 * count);\n" BARRIER "    And(step, a, b, 2 * count);\n" BARRIER
                    "    Or(to, to, step, 2 * count);\n" BARRIER
                    "    const LocalTensor<uint32_t> carry = room[Int64Room::CARRY].ReinterpretCast<uint32_t>();\n"
                    "    ShiftRight(carry, carry, ALL_BUT_FIRST, count);\n" BARRIER "}\n\n"},
    [STEP_ADD] = {NEEDS(STEP_CARRY), "// RESULT = A + B.\n"
                                     "__aicore__ inline void AddWords(" WORDS_IN "room, int64_t count)\n{\n"
                                     "    constexpr int64_t HIGH = Int64Room::HIGH, RESULT = Int64Room::RESULT;\n"
                                     "    Add(room[RESULT], room[Int64Room::A], room[Int64Room::B], count);\n"
                                     "    Add(room[RESULT + HIGH], room[Int64Room::A + HIGH], room[Int64Room::B + "
                                     "HIGH], count);\n" BARRIER "    CarryOf(room, 0, count);\n"
                                     "    Add(room[RESULT + HIGH], room[RESULT + HIGH], room[Int64Room::CARRY], "
                                     "count);\n" BARRIER "}\n\n"},
    [STEP_NOT] = {0, "__aicore__ inline void NotWords(" WORDS_IN "low, int64_t count)\n{\n"
                     "    const LocalTensor<uint16_t> words = low.ReinterpretCast<uint16_t>(),\n"
                     "                                high = low[Int64Room::HIGH].ReinterpretCast<uint16_t>();\n"
                     "    Not(words, words, 2 * count);\n    Not(high, high, 2 * count);\n" BARRIER "}\n\n"},
    [STEP_SUB] = {NEEDS(STEP_ADD) | NEEDS(STEP_NOT),
                  "// RESULT = A - B, which is ~(~A + B).\n"
                  "__aicore__ inline void SubWords(" WORDS_IN "room, int64_t count)\n{\n"
                  "    NotWords(room[Int64Room::A], count);\n"
                  "    AddWords(room, count);\n"
                  "    NotWords(room[Int64Room::RESULT], count);\n}\n\n"},
    [STEP_LESS] =
        {NEEDS(STEP_ADD) | NEEDS(STEP_NOT),
         "// CARRY = 1 where A < B: of unsigned numbers, what ~A + B carries. With their signs turned the others "
         "are in the same\n// order. B stays so, A is ~A.\n"
         "__aicore__ inline void LessWords(" WORDS_IN "room, int64_t count)\n{\n"
         "    constexpr int32_t SIGN = -2147483647 - 1;\n"
         "    const LocalTensor<int32_t> a = room[Int64Room::A + Int64Room::HIGH],\n"
         "                               b = room[Int64Room::B + Int64Room::HIGH];\n"
         "    Adds(a, a, SIGN, count);\n    Adds(b, b, SIGN, count);\n" BARRIER
         "    NotWords(room[Int64Room::A], count);\n    AddWords(room, count);\n"
         "    CarryOf(room, Int64Room::HIGH, count);\n}\n\n"},
    [STEP_MUL] = {
        0, "// high += product >> 16, low += its lower half. The product is used up.\n"
           "__aicore__ inline void AddMiddle(" WORDS_IN "high, " WORDS_IN "low, " WORDS_IN "product, " WORDS_IN
           "step, int64_t count)\n{\n"
           "    constexpr uint32_t HALF = 16;\n"
           "    const LocalTensor<uint32_t> bits = product.ReinterpretCast<uint32_t>();\n"
           "    ShiftRight(step.ReinterpretCast<uint32_t>(), bits, HALF, count);\n" BARRIER
           "    ShiftLeft(bits, bits, HALF, count);\n    Add(high, high, step, count);\n" BARRIER
           "    ShiftRight(bits, bits, HALF, count);\n" BARRIER "    Add(low, low, product, count);\n" BARRIER "}\n\n"
           "// RESULT = A * B, of which 64 bits are kept. A product of words needs 64 bits as well, so the low ones "
           "are multiplied\n// by halves.\n"
           "__aicore__ inline void MulWords(" WORDS_IN "room, int64_t count)\n{\n"
           "    constexpr uint32_t HALF = 16;\n"
           "    const LocalTensor<int32_t> aLow = room[Int64Room::A], aHigh = room[Int64Room::A + "
           "Int64Room::HIGH],\n"
           "                               bLow = room[Int64Room::B], bHigh = room[Int64Room::B + "
           "Int64Room::HIGH],\n"
           "                               low = room[Int64Room::RESULT], high = room[Int64Room::RESULT + "
           "Int64Room::HIGH],\n"
           "                               middle = room[Int64Room::STEP], product = "
           "room[Int64Room::CARRY];\n"
           "    const LocalTensor<uint32_t> aBits = aLow.ReinterpretCast<uint32_t>(), bBits = "
           "bLow.ReinterpretCast<uint32_t>();\n"
           "    Mul(high, aHigh, bLow, count);\n    Mul(middle, aLow, bHigh, count);\n"
           "    Mul(low, aLow, bLow, count);\n" BARRIER "    Add(high, high, middle, count);\n"
           "    ShiftRight(aHigh.ReinterpretCast<uint32_t>(), aBits, HALF, count);\n"
           "    ShiftRight(bHigh.ReinterpretCast<uint32_t>(), bBits, HALF, count);\n" BARRIER
           "    ShiftLeft(aBits, aBits, HALF, count);\n    ShiftLeft(bBits, bBits, HALF, count);\n" BARRIER
           "    ShiftRight(aBits, aBits, HALF, count);\n    ShiftRight(bBits, bBits, HALF, count);\n" BARRIER
           "    Mul(middle, aLow, bLow, count);\n    Mul(product, aHigh, bHigh, count);\n" BARRIER
           "    ShiftRight(middle.ReinterpretCast<uint32_t>(), middle.ReinterpretCast<uint32_t>(), HALF, "
           "count);\n"
           "    Add(high, high, product, count);\n" BARRIER "    Mul(product, aLow, bHigh, count);\n" BARRIER
           "    Mul(bLow, aHigh, bLow, count);\n" BARRIER "    AddMiddle(high, middle, product, aLow, count);\n"
           "    AddMiddle(high, middle, bLow, aLow, count);\n"
           "    ShiftRight(middle.ReinterpretCast<uint32_t>(), middle.ReinterpretCast<uint32_t>(), HALF, "
           "count);\n" BARRIER "    Add(high, high, middle, count);\n" BARRIER "}\n\n"}};

/* The loop over the chunks; what is done with each stands between. */
#define LOOP                                                                                                           \
    "    for (int64_t at = 0; at < count; at += Int64Room::CHUNK) {\n"                                                 \
    "        const int64_t n = Min(count - at, Int64Room::CHUNK);\n    " BARRIER
#define TAKE(operand, name) "        TakeApart(room[Int64Room::" operand "], PartOf(" name ", at), n);\n"
#define BINARY(name, means, steps)                                                                                     \
    "// to = " means "; either may be a number.\n"                                                                     \
    "template <typename A, typename B>\n"                                                                              \
    "__aicore__ inline void " name "(" ELEMENTS "to, const A &a, const B &b, " WORDS_IN "room, int64_t count)\n{\n"    \
    "    FindPlaces(room);\n" LOOP TAKE("A", "a") TAKE("B", "b") "    " BARRIER "        " steps "(room, n);\n"        \
                                                                 "        PutTogether(to[at], room, n);\n    }\n}\n\n"
#define EXTREME(name, means, same, other)                                                                              \
    "// to = " means " of a and b; either may be a number.\n"                                                          \
    "template <typename A, typename B>\n"                                                                              \
    "__aicore__ inline void " name "(" ELEMENTS "to, const A &a, const B &b, " WORDS_IN "room, int64_t count)\n{\n"    \
    "    constexpr int32_t SIGN = -2147483647 - 1;\n"                                                                  \
    "    const LocalTensor<int32_t> step = room[Int64Room::STEP], high = room[Int64Room::RESULT + Int64Room::HIGH];\n" \
    "    FindPlaces(room);\n" LOOP TAKE("A", "a")                                                                      \
        TAKE("B", "b") "    " BARRIER "        LessWords(room, n);\n        NotWords(room[Int64Room::A], n);\n"        \
                       "        for (int64_t plane = 0; plane <= Int64Room::HIGH; plane += Int64Room::HIGH) { // + "   \
                       "(the other - it) where a "                                                                     \
                       "< b\n"                                                                                         \
                       "            const LocalTensor<int32_t> it = room[Int64Room::" same " + plane];\n"              \
                       "            Sub(step, room[Int64Room::" other " + plane], it, n);\n        " BARRIER           \
                       "            Mul(step, step, room[Int64Room::CARRY], n);\n        " BARRIER                     \
                       "            Add(room[Int64Room::RESULT + plane], it, step, n);\n        " BARRIER              \
                       "        }\n"                                                                                   \
                       "        Adds(high, high, SIGN, n);\n    " BARRIER                                              \
                       "        PutTogether(to[at], room, n);\n    }\n}\n\n"
#define SHIFT(name, means, body)                                                                                       \
    "// to = " means ".\n"                                                                                             \
    "__aicore__ inline void " name "(" ELEMENTS "to, " ELEMENTS "a, int64_t by, " WORDS_IN "room, int64_t count)\n{\n" \
    "    constexpr int64_t WORD_BITS = 32, BITS = 64;\n"                                                               \
    "    const LocalTensor<int32_t> aLow = room[Int64Room::A], aHigh = room[Int64Room::A + Int64Room::HIGH],\n"        \
    "                               low = room[Int64Room::RESULT], high = room[Int64Room::RESULT + "                   \
    "Int64Room::HIGH],\n"                                                                                              \
    "                               step = room[Int64Room::STEP];\n"                                                   \
    "    FindPlaces(room);\n" LOOP TAKE("A", "a") "    " BARRIER body "    " BARRIER                                   \
                                                  "        PutTogether(to[at], room, n);\n    }\n}\n\n"

enum { NO_RESULT = 1, NO_OPERANDS = 2 };
static const struct {
    const char *name; /* of the function, as in instructions.def up to '<' */
    unsigned needs;
    int lacks;
    const char *text;
} functions[] = {
    {"FillInt64", 0, NO_RESULT | NO_OPERANDS,
     "// The value in `count` elements: its low word in the even lanes, then its high one in the odd lanes.\n"
     "__aicore__ inline void FillInt64(" ELEMENTS "to, int64_t value, int64_t count)\n{\n"
     "    constexpr int64_t REPEAT = 32, REPEATS_MAX = 248, WORD_BITS = 32;\n"
     "    const LocalTensor<int32_t> words = to.ReinterpretCast<int32_t>();\n"
     "    const int64_t rest = count % REPEAT;\n"
     "    for (int half = 0; half < 2; half++) {\n"
     "        const uint64_t lanes = 0x5555555555555555ULL << half;\n"
     "        const int32_t word = static_cast<int32_t>(value >> (half * WORD_BITS));\n"
     "        uint64_t all[2] = {lanes, 0}, some[2] = {lanes & ((1ULL << (2 * rest)) - 1), 0};\n"
     "        for (int64_t at = 0; at < count - rest; at += REPEATS_MAX * REPEAT) {\n"
     "            Duplicate(words[2 * at], word, all, Min((count - at) / REPEAT, REPEATS_MAX), 1, 8);\n        }\n"
     "        if (rest) {\n            Duplicate(words[2 * (count - rest)], word, some, 1, 1, 8);\n        }\n   "
     " " BARRIER "    }\n}\n\n"},
    {"AddInt64", NEEDS(STEP_ADD), 0, BINARY("AddInt64", "a + b", "AddWords")},
    {"SubInt64", NEEDS(STEP_SUB), 0, BINARY("SubInt64", "a - b", "SubWords")},
    {"MulInt64", NEEDS(STEP_MUL), 0, BINARY("MulInt64", "a * b", "MulWords")},
    {"MaxInt64", NEEDS(STEP_LESS), 0, EXTREME("MaxInt64", "the larger", "A", "B")},
    {"MinInt64", NEEDS(STEP_LESS), 0, EXTREME("MinInt64", "the smaller", "B", "A")},
    {"ShiftLeftInt64", NEEDS(STEP_OR), 0,
     SHIFT("ShiftLeftInt64", "a << by; 0 where there are not so many bits",
           "        if (by < 0 || by >= BITS) {\n"
           "            Duplicate(low, 0, n);\n            Duplicate(high, 0, n);\n"
           "        } else if (by >= WORD_BITS) {\n            Duplicate(low, 0, n);\n"
           "            ShiftLeft(high.ReinterpretCast<uint32_t>(), aLow.ReinterpretCast<uint32_t>(),\n"
           "                      static_cast<uint32_t>(by - WORD_BITS), n);\n        } else {\n"
           "            ShiftLeft(low.ReinterpretCast<uint32_t>(), aLow.ReinterpretCast<uint32_t>(), "
           "static_cast<uint32_t>(by), n);\n"
           "            ShiftLeft(high.ReinterpretCast<uint32_t>(), aHigh.ReinterpretCast<uint32_t>(), "
           "static_cast<uint32_t>(by), n);\n"
           "            if (by > 0) { // what goes from one word into the other\n"
           "                ShiftRight(step.ReinterpretCast<uint32_t>(), aLow.ReinterpretCast<uint32_t>(),\n"
           "                           static_cast<uint32_t>(WORD_BITS - by), n);\n            " BARRIER
           "                OrWords(high, high, step, n);\n            }\n        }\n")},
    {"ShiftRightInt64", NEEDS(STEP_OR), 0,
     SHIFT("ShiftRightInt64", "a >> by, with its sign; the sign alone where there are not so many bits",
           "        const int64_t bits = by < 0 || by >= BITS ? BITS - 1 : by;\n"
           "        if (bits >= WORD_BITS) {\n"
           "            ShiftRight(low, aHigh, static_cast<int32_t>(bits - WORD_BITS), n);\n"
           "            ShiftRight(high, aHigh, static_cast<int32_t>(WORD_BITS - 1), n);\n        } else {\n"
           "            ShiftRight(low.ReinterpretCast<uint32_t>(), aLow.ReinterpretCast<uint32_t>(), "
           "static_cast<uint32_t>(bits),\n                       n);\n"
           "            ShiftRight(high, aHigh, static_cast<int32_t>(bits), n);\n"
           "            if (bits > 0) { // what goes from one word into the other\n"
           "                ShiftLeft(step.ReinterpretCast<uint32_t>(), aHigh.ReinterpretCast<uint32_t>(),\n"
           "                          static_cast<uint32_t>(WORD_BITS - bits), n);\n            " BARRIER
           "                OrWords(low, low, step, n);\n            }\n        }\n")},
    {"CompareInt64", NEEDS(STEP_LESS) | NEEDS(STEP_OR), NO_RESULT,
     "// A bit for each element: MODE holds between a and b, either of which may be a number. CARRY tells whether one "
     "is "
     "less than the\n// other, or whether they differ.\n"
     "template <CMPMODE MODE, typename A, typename B>\n"
     "__aicore__ inline void CompareInt64(const LocalTensor<uint8_t> &to, const A &a, const B &b, " WORDS_IN
     "room, int64_t count)\n{\n"
     "    constexpr bool SWAPPED = MODE == CMPMODE::GT || MODE == CMPMODE::LE;\n"
     "    constexpr bool DIFFERENCE = MODE == CMPMODE::EQ || MODE == CMPMODE::NE;\n"
     "    constexpr int32_t CARRIES = MODE == CMPMODE::LT || MODE == CMPMODE::GT;\n"
     "    constexpr int64_t HIGH = Int64Room::HIGH, RESULT = Int64Room::RESULT, BITS = 8;\n" LOOP
     "        TakeApart(room[SWAPPED ? Int64Room::B : Int64Room::A], PartOf(a, at), n);\n"
     "        TakeApart(room[SWAPPED ? Int64Room::A : Int64Room::B], PartOf(b, at), n);\n    " BARRIER
     "        if constexpr (DIFFERENCE) {\n"
     "            Sub(room[RESULT], room[Int64Room::A], room[Int64Room::B], n);\n"
     "            Sub(room[RESULT + HIGH], room[Int64Room::A + HIGH], room[Int64Room::B + HIGH], n);\n        " BARRIER
     "            OrWords(room[Int64Room::CARRY], room[RESULT], room[RESULT + HIGH], n);\n        " BARRIER
     "        } else {\n            LessWords(room, n);\n        }\n"
     "        const LocalTensor<uint8_t> bits = to[at / BITS];\n"
     "        CompareScalar(bits, room[Int64Room::CARRY], CARRIES, CMPMODE::EQ, Whole<int32_t>(n));\n"
     "        if constexpr (MODE == CMPMODE::NE) {\n        " BARRIER
     "            const LocalTensor<uint16_t> words = bits.ReinterpretCast<uint16_t>();\n"
     "            Not(words, words, Whole<int32_t>(n) / 16);\n        }\n    }\n}\n\n"},
    {"ChooseInt64", 0, 0,
     "// Where the bit is set the element of `yes`, else that of `no`.\n"
     "__aicore__ inline void ChooseInt64(" ELEMENTS "to, const LocalTensor<uint8_t> &bits, " ELEMENTS "yes,\n"
     "                                   " ELEMENTS "no, " WORDS_IN "room, int64_t count)\n{\n"
     "    constexpr int64_t BITS = 8;\n    const LocalTensor<float> words = room.ReinterpretCast<float>();\n"
     "    FindPlaces(room);\n" LOOP TAKE("A", "yes") TAKE(
         "B",
         "no") "    " BARRIER "        for (int64_t plane = 0; plane <= Int64Room::HIGH; plane += Int64Room::HIGH) {\n"
               "            Select(words[Int64Room::RESULT + plane], bits[at / BITS], words[Int64Room::A + plane],\n"
               "                   words[Int64Room::B + plane], SELMODE::VSEL_TENSOR_TENSOR_MODE, n);\n        " BARRIER
               "        }\n        PutTogether(to[at], room, n);\n    }\n}\n\n"},
    {"GatherInt64", 0, NO_OPERANDS,
     "// to = the element at byte base + index of `from`.\n"
     "__aicore__ inline void GatherInt64(" ELEMENTS "to, " ELEMENTS "from, " WORDS_IN "index,\n"
     "                                   int64_t base, " WORDS_IN "room, int64_t count)\n{\n"
     "    constexpr int64_t WORD_BYTES = 4;\n"
     "    const LocalTensor<int32_t> words = from.ReinterpretCast<int32_t>();\n    FindPlaces(room);\n" LOOP
     "        const LocalTensor<uint32_t> places = index[at].ReinterpretCast<uint32_t>();\n"
     "        Gather(room[Int64Room::RESULT], words, places, static_cast<uint32_t>(base), n);\n"
     "        Gather(room[Int64Room::RESULT + Int64Room::HIGH], words, places, static_cast<uint32_t>(base + "
     "WORD_BYTES), n);\n    " BARRIER "        PutTogether(to[at], room, n);\n    }\n}\n\n"},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };
_Static_assert(FUNCTIONS <= sizeof(unsigned) * 8, "a bit for each function");

void emit_need_int64(struct emit *emit, const char *api)
{
    size_t length = strcspn(api, "<");
    emit->aids[AID_MIN] = true;
    emit->aids[AID_WHOLE] |= strchr(api, '<') != NULL;
    for (unsigned f = 0; f < FUNCTIONS; f++)
        if (strlen(functions[f].name) == length && strncmp(functions[f].name, api, length) == 0)
            emit->int64 |= 1u << f;
}

void emit_int64_aids(struct emit *emit, struct text *out)
{
    bool needs[STEP_COUNT] = {0}, room = false, takes = false, puts = false;
    for (unsigned f = 0; f < FUNCTIONS; f++) {
        if (!(emit->int64 & 1u << f))
            continue;
        room |= !(functions[f].lacks & NO_RESULT) || !(functions[f].lacks & NO_OPERANDS);
        takes |= !(functions[f].lacks & NO_OPERANDS);
        puts |= !(functions[f].lacks & NO_RESULT);
        for (int s = 0; s < STEP_COUNT; s++)
            needs[s] |= functions[f].needs & NEEDS(s);
    }
    for (int s = STEP_COUNT - 1; s >= 0; s--) /* each needs only those before it */
        for (int other = 0; needs[s] && other < s; other++)
            needs[other] |= steps[s].needs & NEEDS(other);
    if (room)
        text_addf(out, common, LOWER_INT64_CHUNK);
    text_add(out, takes ? operands : "");
    text_add(out, puts ? results : "");
    for (int s = 0; s < STEP_COUNT; s++)
        text_add(out, needs[s] ? steps[s].text : "");
    for (unsigned f = 0; f < FUNCTIONS; f++)
        text_add(out, emit->int64 & 1u << f ? functions[f].text : "");
}
