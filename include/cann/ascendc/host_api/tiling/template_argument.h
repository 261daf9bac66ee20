// Tiling keys made of template arguments, for a tiling function: the host's side of the header of the same name that
// kernels include (asc-devkit, docs/zh/api, Utils-API/Tiling模板编程). A key holds the arguments in the order of their
// declaration, the first in the lowest bits.
#ifndef CANN_ASCENDC_HOST_API_TILING_TEMPLATE_ARGUMENT_H
#define CANN_ASCENDC_HOST_API_TILING_TEMPLATE_ARGUMENT_H

#include "abi/template_codes.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <utility>
#include <vector>

constexpr uint32_t ASCENDC_TPL_KERNEL_TYPE = 4;
constexpr uint32_t ASCENDC_TPL_DETERMINISTIC = 5;
constexpr uint32_t ASCENDC_TPL_SHARED_KERNEL_TYPE = 6;
constexpr uint8_t MAX_BITS_NUM = 64;
constexpr uint64_t INVALID_TILING_KEY = UINT64_MAX;

struct ParamStruct {
    const char *name;
    uint32_t paramType;
    uint8_t bitWidth;
    std::vector<uint64_t> vals; // of ASCENDC_TPL_UINT: as declared, with the mode in front, until it is spelled out
    const char *macroType;
    ParamStruct(const char *inName, uint32_t inParamType, uint8_t inBitWidth, std::vector<uint64_t> inVals,
                const char *inMacroType)
        : name(inName), paramType(inParamType), bitWidth(inBitWidth), vals(std::move(inVals)), macroType(inMacroType)
    {
        if (paramType == ASCENDC_TPL_UINT && !vals.empty())
            SpellOut();
    }

  private:
    void SpellOut()
    {
        uint64_t mode = vals[0], ranges = mode == ASCENDC_TPL_UI_LIST || vals.size() < 2 ? 0 : vals[1];
        size_t at = mode == ASCENDC_TPL_UI_LIST ? 1 : 2;
        std::vector<uint64_t> values;
        for (; ranges && at + 1 < vals.size(); ranges--, at += 2)
            for (uint64_t value = vals[at]; value <= vals[at + 1]; value++)
                values.push_back(value);
        if (mode != ASCENDC_TPL_UI_RANGE)
            values.insert(values.end(), vals.begin() + static_cast<std::ptrdiff_t>(at), vals.end());
        vals = std::move(values);
    }
};
using TilingDeclareParams = std::vector<ParamStruct>;
using TilingSelectParams = std::vector<std::vector<ParamStruct>>;

#define AKGEN_TPL_PARAM(x, kind, bits, ...) ParamStruct(#x, kind, bits, {__VA_ARGS__}, "DECL")
#define ASCENDC_TPL_ARGS_DECL(operator_type, ...)                                                                      \
    static TilingDeclareParams g_tilingDeclareParams                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
// What is selected, the kernel's compiler checks.
#define ASCENDC_TPL_SEL(...)

namespace AscendC
{
// The key, or INVALID_TILING_KEY for a value of ASCENDC_TPL_UINT that is not declared and for more than 64 bits.
inline uint64_t FastEncodeTilingKeyDirect(const TilingDeclareParams &declared,
                                          std::initializer_list<uint64_t> arguments)
{
    uint64_t key = 0;
    unsigned shift = 0;
    auto argument = arguments.begin();
    for (const ParamStruct &param : declared) {
        if (argument == arguments.end())
            break;
        uint64_t code = *argument++;
        if (param.paramType == ASCENDC_TPL_UINT) {
            size_t place = 0;
            while (place < param.vals.size() && param.vals[place] != code)
                place++;
            if (place == param.vals.size()) {
                std::printf("[ERROR] ASCENDC_TPL_UINT_DECL of %s has no value %llu\n", param.name,
                            static_cast<unsigned long long>(code));
                return INVALID_TILING_KEY;
            }
            code = place;
        }
        key |= shift < MAX_BITS_NUM ? code << shift : 0;
        shift += param.bitWidth;
    }
    return shift > MAX_BITS_NUM ? INVALID_TILING_KEY : key;
}
} // namespace AscendC

#define GET_TPL_TILING_KEY(...) AscendC::FastEncodeTilingKeyDirect(g_tilingDeclareParams, {__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...)                                                                            \
    do {                                                                                                               \
        uint64_t key = GET_TPL_TILING_KEY(__VA_ARGS__);                                                                \
        context->SetTilingKey(key);                                                                                    \
    } while (0)

#endif
