// TilingBaseClass of cann-ops' common sources: tiling as steps that an operator fills in.
#ifndef CANN_TILING_TILING_BASE_H
#define CANN_TILING_TILING_BASE_H

#include "exe_graph/runtime/tiling_context.h"
#include "graph/ge_error_codes.h"
#include "graph/utils/type_utils.h"
#include "tiling/platform/platform_ascendc.h"

#include <cstdint>
#include <memory>
#include <sstream>

// Published operators mark their tiling functions with it; it means something in cann-ops' own tests only.
#ifdef ASCENDC_OP_TEST
#define ASCENDC_EXTERN_C extern "C"
#else
#define ASCENDC_EXTERN_C
#endif

namespace optiling
{
struct AiCoreParams {
    uint64_t ubSize = 0;
    uint64_t blockDim = 0;
    uint64_t aicNum = 0;
    uint64_t l1Size = 0;
    uint64_t l0aSize = 0;
    uint64_t l0bSize = 0;
    uint64_t l0cSize = 0;
};

class TilingBaseClass
{
  public:
    explicit TilingBaseClass(gert::TilingContext *context) : context_(context)
    {
    }
    virtual ~TilingBaseClass() = default;

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

    gert::TilingContext *context_ = nullptr;
    std::unique_ptr<platform_ascendc::PlatformAscendC> ascendcPlatform_{nullptr};
    uint32_t blockDim_{0};
    uint64_t workspaceSize_{0};
    uint64_t tilingKey_{0};
    AiCoreParams aicoreParams_;
};
} // namespace optiling
#endif
