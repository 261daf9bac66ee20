// Compiled with the generated header in front: the kernel's structures lie where the host wrote.
static_assert(offsetof(ProbeTilingData, inputs) == 0, "");
static_assert(offsetof(ProbeTilingData, elements) == 4, "a field lies at a multiple of its size");
static_assert(offsetof(ProbeTilingData, absent) == 8, "");
static_assert(offsetof(ProbeTilingData, inner) == 16, "a structure lies at a multiple of 8");
static_assert(offsetof(ProbeTilingData, dtype) == 32, "the inner structure's 9 bytes are rounded up to 16");
static_assert(offsetof(ProbeTilingData, listDim) == 40, "");
static_assert(offsetof(ProbeInner, trio) == 2, "");
static_assert(offsetof(ProbeInner, last) == 8, "");
static_assert(sizeof(ProbeInner) == 16, "");
static_assert(sizeof(ProbeSmall) == 8, "the whole is rounded up to 8");
static_assert(offsetof(ProbeTilingData, nameLength) == 74, "");
static_assert(offsetof(ProbeTilingData, listStart) == 104, "");
static_assert(sizeof(ProbeTilingData) == 112, "");
static_assert(sizeof(akgen_tiling_default) == sizeof(ProbeTilingData), "");
static_assert(sizeof(AKGEN_TILING_DEFAULT_STRUCT) == sizeof(ProbeTilingData), "");
#define ROW(key, name) static_assert(key == 7 && sizeof(name) == sizeof(ProbeSmall), "");
AKGEN_TILING_KEYED(ROW)
