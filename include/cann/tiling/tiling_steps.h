// What the two TilingBaseClass have in common: cann-ops' (tiling/tiling_base.h) and opbase's
// (op_common/op_host/tiling_base_class.h).
#ifndef CANN_TILING_TILING_STEPS_H
#define CANN_TILING_TILING_STEPS_H

#include "exe_graph/runtime/tiling_context.h"
#include "graph/ge_error_codes.h"
#include "graph/utils/type_utils.h"
#include "tiling/platform/platform_ascendc.h"

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

// Published operators mark their tiling functions with it; it means something in cann-ops' own tests only.
#ifdef ASCENDC_OP_TEST
#define ASCENDC_EXTERN_C extern "C"
#else
#define ASCENDC_EXTERN_C
#endif

namespace optiling
{
// Tiling as steps; Params is the structure of aicoreParams_, which cann-ops and opbase declare apart.
template <typename Params> class AkgenTilingSteps
{
  public:
    explicit AkgenTilingSteps(gert::TilingContext *context) : context_(context)
    {
    }
    virtual ~AkgenTilingSteps() = default;

    // GRAPH_PARAM_INVALID says that this template does not suit the case, so that the next one is tried.
    ge::graphStatus DoTiling()
    {
        ge::graphStatus status = GetShapeAttrsInfo();
        if (status == ge::GRAPH_SUCCESS)
            status = GetPlatformInfo();
        if (status != ge::GRAPH_SUCCESS)
            return status;
        if (!IsCapable())
            return ge::GRAPH_PARAM_INVALID;
        status = DoOpTiling();
        if (status == ge::GRAPH_SUCCESS)
            status = DoLibApiTiling();
        if (status == ge::GRAPH_SUCCESS)
            status = GetWorkspaceSize();
        if (status == ge::GRAPH_SUCCESS)
            status = PostTiling();
        if (status != ge::GRAPH_SUCCESS)
            return status;
        context_->SetTilingKey(GetTilingKey());
        DumpTilingInfo();
        return ge::GRAPH_SUCCESS;
    }
    virtual void Reset(gert::TilingContext *context)
    {
        context_ = context;
    }

  protected:
    virtual bool IsCapable() = 0;
    virtual ge::graphStatus GetPlatformInfo() = 0;
    virtual ge::graphStatus GetShapeAttrsInfo() = 0;
    virtual ge::graphStatus DoOpTiling() = 0;
    virtual ge::graphStatus DoLibApiTiling() = 0;
    [[nodiscard]] virtual uint64_t GetTilingKey() const = 0;
    virtual ge::graphStatus GetWorkspaceSize() = 0;
    virtual ge::graphStatus PostTiling() = 0;
    virtual void DumpTilingInfo()
    {
    }
    // Blocks of an operator whose AICs each serve aivCoreNum / aicCoreNum AIVs, from the number of AIVs it wants.
    static uint32_t CalcTschBlockDim(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum)
    {
        if (aicCoreNum == 0 || aivCoreNum == 0 || aicCoreNum > aivCoreNum)
            return sliceNum;
        const uint32_t ratio = aivCoreNum / aicCoreNum;
        return (sliceNum + ratio - 1) / ratio;
    }
    template <typename T> [[nodiscard]] std::string GetShapeDebugStr(const T &shape) const
    {
        std::ostringstream text;
        for (size_t i = 0; i < shape.GetDimNum(); i++)
            text << (i ? ", " : "") << shape.GetDim(i);
        return "[" + text.str() + "]";
    }

    gert::TilingContext *context_ = nullptr;
    std::unique_ptr<platform_ascendc::PlatformAscendC> ascendcPlatform_{nullptr};
    uint32_t blockDim_{0};
    uint64_t workspaceSize_{0};
    uint64_t tilingKey_{0};
    Params aicoreParams_ = {};
};
} // namespace optiling
#endif
