// Host part of Cross: y = x1 x x2 along a dimension of size 3; any shape, float32, float16, int32, int8.
#include "cross_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include <algorithm>

namespace optiling {
constexpr int64_t FIRST_OF_THREE = -65530; // dim: the first dimension of size 3
constexpr uint64_t FLAT_COLUMNS = 8;       // rows up to this length are not worth copies of their own
constexpr uint64_t FLAT_ROWS = 8;          // so many rows of any length end on a multiple of 32 bytes
constexpr uint64_t ALIGN = 64;             // elements: at least 32 bytes of every type
constexpr uint64_t ROW_ALIGN = 32;         // elements: 32 bytes of the smallest type
constexpr uint64_t MIN_TILE = 512;         // vectors: fewer are not worth a core
constexpr uint64_t MAX_TILE_ROWS = 4095;   // blocks of one DataCopyPad
// UB bytes per vector: two buffers each for x1, x2 and y of 4-byte numbers and one for a product; narrower types with
// their 4-byte copies take no more. Of a flat tile: buffers for two products of the whole tile and two tables of
// offsets instead.
constexpr uint64_t UB_PER_VECTOR = 80;
constexpr uint64_t UB_PER_FLAT_VECTOR = 120;

static uint64_t CeilDiv(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit;
}

static uint64_t RoundUp(uint64_t value, uint64_t unit)
{
    return CeilDiv(value, unit) * unit;
}

// The dimension of the attribute, or -1.
static int64_t Dimension(const gert::Shape &shape, int64_t dim)
{
    int64_t rank = static_cast<int64_t>(shape.GetDimNum());
    if (dim == FIRST_OF_THREE) {
        dim = 0;
        while (dim < rank && shape.GetDim(dim) != 3) {
            dim++;
        }
    } else if (dim < 0) {
        dim += rank;
    }
    return dim >= 0 && dim < rank && shape.GetDim(dim) == 3 ? dim : -1;
}

// Tiles go to the blocks in turn, so small inputs get smaller tiles for more cores.
static uint32_t SetTiles(CrossTilingData &tiling, uint64_t rows, uint64_t columns, uint64_t ubBytes, uint64_t cores)
{
    bool flat = columns <= FLAT_COLUMNS;
    uint64_t rowInUb = flat ? columns : RoundUp(columns, ROW_ALIGN);
    uint64_t limit = std::max(RoundUp(CeilDiv(rows * rowInUb, cores), ALIGN), MIN_TILE);
    limit = std::min(limit, ubBytes / (flat ? UB_PER_FLAT_VECTOR : UB_PER_VECTOR) / ALIGN * ALIGN);
    bool whole = rowInUb <= limit;
    uint64_t tileColumns = whole ? columns : limit;
    uint64_t tileRows = whole && columns ? std::min(limit / rowInUb, MAX_TILE_ROWS) : 1;
    tileRows = flat ? RoundUp(tileRows, FLAT_ROWS) : tileRows;

    tiling.set_rows(rows);
    tiling.set_columns(columns);
    tiling.set_tileRows(static_cast<uint32_t>(tileRows));
    tiling.set_tileColumns(static_cast<uint32_t>(tileColumns));
    tiling.set_tile(static_cast<uint32_t>(3 * tileRows * std::min(rowInUb, limit)));
    tiling.set_flat(flat);

    uint64_t tiles = columns ? CeilDiv(rows, tileRows) * CeilDiv(columns, tileColumns) : 0;
    return static_cast<uint32_t>(std::min(std::max<uint64_t>(tiles, 1), cores));
}

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    const gert::Shape &shape = context->GetInputShape(0)->GetStorageShape();
    int64_t dim = Dimension(shape, *context->GetAttrs()->GetInt(0));
    if (dim < 0) {
        return ge::GRAPH_FAILED;
    }
    uint64_t rows = 1;
    uint64_t columns = 1;
    for (int64_t i = 0; i < static_cast<int64_t>(shape.GetDimNum()); i++) {
        rows *= i < dim ? shape.GetDim(i) : 1;
        columns *= i > dim ? shape.GetDim(i) : 1;
    }

    CrossTilingData tiling;
    context->SetBlockDim(SetTiles(tiling, rows, columns, ubBytes, platform.GetCoreNumAiv()));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class Cross : public OpDef {
public:
    explicit Cross(const char *name) : OpDef(name)
    {
        this->Input("x1")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_INT32, ge::DT_INT8})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("x2")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_INT32, ge::DT_INT8})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_INT32, ge::DT_INT8})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("dim").AttrType(OPTIONAL).Int(-65530);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(Cross);
} // namespace ops
