/* Tilings that are known when the kernel is compiled. asc-devkit docs, 矩阵计算/Matmul-Kernel侧接口/GetMatmulApiTiling.
 * The steps and depths in L1 are those of src/op/tiling_matmul.c, an algorithm of our own. */
#ifndef ASCENDC_ADV_MATMUL_CONSTANT_H
#define ASCENDC_ADV_MATMUL_CONSTANT_H

#include "adv/matmul_config.h"

/* Fields that are -1 come from the tiling that the object is given. */
struct MatmulApiStaticTiling {
    int32_t usedCoreNum = -1, M = -1, N = -1, Ka = -1, Kb = -1;
    int32_t singleCoreM = -1, singleCoreN = -1, singleCoreK = -1;
    int32_t baseM = -1, baseN = -1, baseK = -1;
    int32_t depthA1 = -1, depthB1 = -1, stepM = -1, stepN = -1;
    int32_t isBias = -1, transLength = -1, iterateOrder = -1;
    int32_t shareMode = -1, shareL1Size = -1, shareL0CSize = -1, shareUbSize = -1;
    int32_t stepKa = -1, stepKb = -1, depthAL1CacheUB = -1, depthBL1CacheUB = -1;
    int32_t dbL0A = -1, dbL0B = -1, dbL0C = -1;
    int32_t ALayoutInfoB = -1, ALayoutInfoS = -1, ALayoutInfoN = -1, ALayoutInfoG = -1, ALayoutInfoD = -1;
    int32_t BLayoutInfoB = -1, BLayoutInfoS = -1, BLayoutInfoN = -1, BLayoutInfoG = -1, BLayoutInfoD = -1;
    int32_t CLayoutInfoB = -1, CLayoutInfoS1 = -1, CLayoutInfoN = -1, CLayoutInfoG = -1, CLayoutInfoS2 = -1;
    int32_t BatchNum = -1, mxTypePara = -1;
    MatmulConfig cfg = CFG_NORM;
};

namespace akgen
{
constexpr int32_t MATMUL_L0 = 64 * 1024;

template <typename T> constexpr int32_t matmul_bytes(int32_t elements)
{
    return std::is_same_v<T, AscendC::int4b_t> ? elements / 2 : elements * int32_t(sizeof(T));
}
constexpr int32_t matmul_parts(int32_t whole, int32_t part)
{
    return (whole + part - 1) / part;
}
/* Bytes of L1 that a base block takes; none where the kernel has put the matrix into L1 itself. */
template <class TYPE> constexpr int32_t matmul_l1_bytes(int32_t outer, int32_t k)
{
    return TYPE::pos == AscendC::TPosition::TSCM ? 0
                                                 : matmul_bytes<typename TYPE::T>(outer * (matmul_parts(k, 16) * 16));
}
template <class A_TYPE, class B_TYPE, class BIAS_TYPE>
constexpr void matmul_fill_l1(MatmulApiStaticTiling &t, bool quantised, int32_t space)
{
    const int32_t step = matmul_l1_bytes<A_TYPE>(t.baseM, t.baseK) + matmul_l1_bytes<B_TYPE>(t.baseN, t.baseK);
    const int32_t rows = (t.isBias ? matmul_bytes<typename BIAS_TYPE::T>(t.baseN) : 0) + (quantised ? t.baseN * 8 : 0);
    const int32_t fit = step ? (space - rows) / step : 1, steps = matmul_parts(t.singleCoreK, t.baseK);
    const int32_t buffers = fit >= steps || fit < 2 ? 1 : 2;
    const int32_t taken = fit >= steps ? steps : fit < 1 ? 1 : fit / buffers;
    t.stepM = t.stepN = 1;
    t.stepKa = t.stepKb = taken;
    t.depthA1 = t.depthB1 = taken * buffers;
    t.shareL1Size = step * taken * buffers + rows;
    /* All of K in L1: the matrix that is read less often goes first. */
    const int32_t m = t.singleCoreM, n = t.singleCoreN;
    t.iterateOrder = taken == steps && m + n * matmul_parts(m, t.baseM) < n + m * matmul_parts(n, t.baseN);
}
template <class A_TYPE, class B_TYPE> constexpr void matmul_base(MatmulApiStaticTiling &t, const MatmulConfig &config)
{
    t.baseM = int32_t(config.basicM);
    t.baseN = int32_t(config.basicN);
    t.baseK = int32_t(config.basicK);
    t.dbL0A = 2 * matmul_bytes<typename A_TYPE::T>(t.baseM * t.baseK) <= MATMUL_L0 ? 2 : 1;
    t.dbL0B = 2 * matmul_bytes<typename B_TYPE::T>(t.baseN * t.baseK) <= MATMUL_L0 ? 2 : 1;
    t.isBias = config.enableSetBias;
}
constexpr MatmulApiStaticTiling matmul_constants(const MatmulApiStaticTiling &tiling)
{
    return tiling;
}
constexpr MatmulApiStaticTiling matmul_constants(const MatmulConfig &config)
{
    MatmulApiStaticTiling tiling;
    const uint32_t sizes[] = {config.singleCoreM, config.singleCoreN, config.singleCoreK,
                              config.basicM,      config.basicN,      config.basicK};
    int32_t *const fields[] = {&tiling.singleCoreM, &tiling.singleCoreN, &tiling.singleCoreK,
                               &tiling.baseM,       &tiling.baseN,       &tiling.baseK};
    for (int i = 0; i < 6; i++)
        if (sizes[i])
            *fields[i] = int32_t(sizes[i]);
    return tiling;
}
/* What CANN asserts of a constant tiling: MatmulShapeTiling in its implementation. */
constexpr bool matmul_is_static(const MatmulConfig &)
{
    return false;
}
constexpr bool matmul_is_static(const MatmulApiStaticTiling &)
{
    return true;
}
constexpr int32_t matmul_l0_buffers(const MatmulApiStaticTiling &t)
{
    return (t.dbL0A - 1) & (t.dbL0B - 1) ? 2 : 1;
}
} // namespace akgen

namespace AscendC
{
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE>
constexpr MatmulApiStaticTiling GetMatmulApiTiling(const MatmulConfig &mmCFG, int32_t l1Size = 512 * 1024)
{
    MatmulApiStaticTiling tiling;
    tiling.cfg = mmCFG;
    if (mmCFG.basicM && mmCFG.basicN && mmCFG.basicK)
        akgen::matmul_base<A_TYPE, B_TYPE>(tiling, mmCFG);
    if (!mmCFG.singleCoreM || !mmCFG.singleCoreN || !mmCFG.singleCoreK)
        return tiling;
    tiling.M = tiling.singleCoreM = int32_t(mmCFG.singleCoreM);
    tiling.N = tiling.singleCoreN = int32_t(mmCFG.singleCoreN);
    tiling.Ka = tiling.Kb = tiling.singleCoreK = int32_t(mmCFG.singleCoreK);
    akgen::matmul_fill_l1<A_TYPE, B_TYPE, BIAS_TYPE>(tiling, mmCFG.enableQuantVector, l1Size);
    tiling.dbL0C = 1;
    tiling.transLength = akgen::matmul_bytes<typename C_TYPE::T>(tiling.baseM * tiling.baseN);
    tiling.shareL0CSize = tiling.baseM * tiling.baseN * 4;
    tiling.shareMode = tiling.shareUbSize = 0;
    return tiling;
}
constexpr MatmulConfig ToMatmulConfig(const MatmulConfig &config)
{
    return config;
}
constexpr MatmulConfig ToMatmulConfig(const MatmulApiStaticTiling &tiling)
{
    return tiling.cfg;
}
} // namespace AscendC

#endif
