// Host part of Tril: the lower triangles of a batch of matrices, any shape, float16, float32.
#include "tril_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
constexpr uint64_t UNIT_BYTES = 32;      // rows start at multiples of it in UB
constexpr uint64_t BUFFERS = 2;          // one queue for input and output, double-buffered
constexpr uint64_t MAX_ROWS = 4095;      // of one copy instruction
constexpr uint64_t MIN_PER_BLOCK = 1024; // elements: fewer are not worth a core

static uint64_t DivideUp(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit;
}

static uint64_t Smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t Larger(uint64_t a, uint64_t b)
{
    return a < b ? b : a;
}

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    uint64_t cores = platform.GetCoreNumAiv();
    const gert::Shape &shape = context->GetInputShape(0)->GetStorageShape();
    uint64_t rows = shape.GetDim(shape.GetDimNum() - 2);
    uint64_t columns = shape.GetDim(shape.GetDimNum() - 1);
    uint64_t allRows = shape.GetShapeSize() / columns;

    // A tile is a group of rows, cut into segments of columns if one row is too long for UB or for the cores to share.
    uint64_t unit = UNIT_BYTES / ge::GetSizeByDataType(context->GetInputDesc(0)->GetDataType());
    uint64_t fits = ubBytes / BUFFERS / UNIT_BYTES * unit;
    uint64_t share = Larger(DivideUp(allRows * columns, cores), MIN_PER_BLOCK);
    uint64_t longest = Smaller(fits, allRows < cores ? DivideUp(share, unit) * unit : fits);
    uint64_t segment = Smaller(DivideUp(columns, unit) * unit, longest);
    uint64_t rowsPerTile = Smaller(Smaller(fits / segment, MAX_ROWS), DivideUp(share, columns));
    uint64_t tiles = DivideUp(allRows, rowsPerTile) * DivideUp(columns, segment);
    uint64_t perBlock = DivideUp(tiles, cores);
    uint64_t blocks = DivideUp(tiles, perBlock);

    TrilTilingData tiling;
    tiling.set_rows(rows);
    tiling.set_columns(columns);
    tiling.set_allRows(allRows);
    tiling.set_diagonal(*context->GetAttrs()->GetAttrPointer<int64_t>(0));
    tiling.set_tiles(tiles);
    tiling.set_perBlock(perBlock);
    tiling.set_rowsPerTile(static_cast<uint32_t>(rowsPerTile));
    tiling.set_segment(static_cast<uint32_t>(segment));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(static_cast<uint32_t>(blocks));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class Tril : public OpDef {
public:
    explicit Tril(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("diagonal").AttrType(OPTIONAL).Int(0);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(Tril);
} // namespace ops
