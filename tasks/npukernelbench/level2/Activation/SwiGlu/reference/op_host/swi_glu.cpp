// Host part of SwiGlu: y = a sigmoid(a) b for the halves a, b of x along dim; any shape, float16, float32, bfloat16.
#include "swi_glu_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include <algorithm>

namespace optiling {
// elements: at least two 32-byte units of every type, so that tiles start aligned
constexpr uint64_t ALIGN = 64;
constexpr uint64_t ROW_ALIGN = 16;       // elements: at least 32 bytes of every type
constexpr uint64_t MIN_TILE = 1024;      // elements: fewer are not worth a core
constexpr uint64_t MAX_TILE_ROWS = 4095; // blocks of one DataCopyPad
// bytes: two buffers each for a, b and y and one for the divisor, all of floats; 16-bit
// types with their floats take less
constexpr uint64_t UB_PER_ELEMENT = 28;

static uint64_t CeilDiv(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit;
}

static uint64_t RoundUp(uint64_t value, uint64_t unit)
{
    return CeilDiv(value, unit) * unit;
}

// Tiles go to the blocks in turn, so small inputs get smaller tiles for more cores.
static uint32_t SetTiles(SwiGluTilingData &tiling, uint64_t rows, uint64_t columns, uint64_t ubBytes, uint64_t cores)
{
    uint64_t rowInUb = RoundUp(columns, ROW_ALIGN);
    uint64_t limit = std::max(RoundUp(CeilDiv(rows * rowInUb, cores), ALIGN), MIN_TILE);
    limit = std::min(limit, ubBytes / UB_PER_ELEMENT / ALIGN * ALIGN);
    bool whole = rowInUb <= limit;
    uint64_t tileColumns = whole ? columns : limit;
    uint64_t tileRows = whole && columns ? std::min(limit / rowInUb, MAX_TILE_ROWS) : 1;

    tiling.set_rows(rows);
    tiling.set_columns(columns);
    tiling.set_tileRows(static_cast<uint32_t>(tileRows));
    tiling.set_tileColumns(static_cast<uint32_t>(tileColumns));
    tiling.set_tile(static_cast<uint32_t>(tileRows * std::min(rowInUb, limit)));

    uint64_t tiles = columns ? CeilDiv(rows, tileRows) * CeilDiv(columns, tileColumns) : 0;
    return static_cast<uint32_t>(std::min(std::max<uint64_t>(tiles, 1), cores));
}

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    const gert::Shape &shape = context->GetInputShape(0)->GetStorageShape();
    int64_t rank = static_cast<int64_t>(shape.GetDimNum());
    int64_t dim = *context->GetAttrs()->GetInt(0);
    dim += dim < 0 ? rank : 0;
    if (dim < 0 || dim >= rank || shape.GetDim(dim) % 2 != 0) {
        return ge::GRAPH_FAILED;
    }
    uint64_t rows = 1;
    uint64_t columns = shape.GetDim(dim) / 2;
    for (int64_t i = 0; i < rank; i++) {
        rows *= i < dim ? shape.GetDim(i) : 1;
        columns *= i > dim ? shape.GetDim(i) : 1;
    }

    SwiGluTilingData tiling;
    context->SetBlockDim(SetTiles(tiling, rows, columns, ubBytes, platform.GetCoreNumAiv()));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class SwiGlu : public OpDef {
public:
    explicit SwiGlu(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("dim").AttrType(OPTIONAL).Int(-1);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(SwiGlu);
} // namespace ops
