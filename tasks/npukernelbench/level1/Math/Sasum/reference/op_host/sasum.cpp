// Host part of Sasum: result = sum of |x[i * incx]| for i < n; float32, float16.
#include "sasum_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include <algorithm>

namespace optiling {
enum AttrIndex { ATTR_N, ATTR_INCX };

constexpr uint64_t ALIGN = 64;           // elements: two 32-byte units at least, so that blocks start aligned
constexpr uint64_t MIN_PER_BLOCK = 1024; // elements: fewer are not worth a core
constexpr uint64_t UNIT = 32;            // bytes that a strided element takes in UB
constexpr uint64_t MAX_BURSTS = 4095;    // of one DataCopyPad; a strided element is one

static uint64_t CeilDiv(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit;
}

// How many of the n elements lie inside x. As in BLAS a stride that is not positive selects none.
static uint64_t CountInside(int64_t elements, int64_t n, int64_t stride)
{
    if (n <= 0 || stride <= 0) {
        return 0;
    }
    return std::min<uint64_t>(n, CeilDiv(elements, stride));
}

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    uint64_t cores = platform.GetCoreNumAiv();

    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    int64_t stride = *attrs->GetInt(ATTR_INCX);
    int64_t elements = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    uint64_t total = CountInside(elements, *attrs->GetInt(ATTR_N), stride);

    uint64_t blocks = std::clamp<uint64_t>(CeilDiv(total, MIN_PER_BLOCK), 1, cores);
    uint64_t perBlock = std::max(CeilDiv(CeilDiv(total, blocks), ALIGN) * ALIGN, ALIGN);
    blocks = std::max<uint64_t>(CeilDiv(total, perBlock), 1);
    uint64_t elementBytes = ge::GetSizeByDataType(context->GetInputDesc(0)->GetDataType());
    uint64_t width = stride > 1 ? UNIT / elementBytes : 1; // elements in UB for each to sum
    // Two input buffers, two of floats and part of a work buffer; what the small ones take is left by rounding down.
    uint64_t tile = ubBytes / (width * (2 * elementBytes + 2 * sizeof(float) + 1)) / ALIGN * ALIGN;
    tile = std::min(tile, perBlock);
    if (stride > 1) {
        tile = std::min(tile, MAX_BURSTS);
    }

    SasumTilingData tiling;
    tiling.set_total(total);
    tiling.set_perBlock(perBlock);
    tiling.set_tile(static_cast<uint32_t>(tile));
    tiling.set_stride(static_cast<uint32_t>(std::max<int64_t>(stride, 1)));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(static_cast<uint32_t>(blocks));
    // One partial sum per block, each in a unit of its own.
    context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize() + cores * UNIT;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class Sasum : public OpDef {
public:
    explicit Sasum(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("result")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("n").AttrType(OPTIONAL).Int(0);
        this->Attr("incx").AttrType(OPTIONAL).Int(1);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(Sasum);
} // namespace ops
