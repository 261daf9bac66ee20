// Host part of RmsNorm: y = x / sqrt(mean(x^2) + epsilon) gamma over the last dimension, any shape.
#include "rms_norm_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include <algorithm>

namespace optiling {
constexpr uint64_t CHUNK_ALIGN = 64;     // elements: whole 32-byte units of every type
constexpr uint64_t UNIT_BYTES = 32;      // of UB: alignment of a row, room for a row's statistics
constexpr uint64_t RESERVED = 1024;      // UB bytes lost to rounding buffers up
constexpr uint64_t MAX_TILE_ROWS = 4095; // blocks that one DataCopyPad moves

static uint64_t RoundUp(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint64_t SizeOf(ge::DataType type)
{
    return type == ge::DT_FLOAT ? 4 : 2;
}

// Splits the rows over blocks and UB. With x and y double-buffered, squares and, for 16-bit types, x in float.
static uint64_t SplitRows(gert::TilingContext *context, uint64_t ubBytes, uint64_t cores, RmsNormTilingData &tiling)
{
    auto x = context->GetInputShape(0)->GetStorageShape();
    uint64_t length = context->GetInputShape(1)->GetStorageShape().GetShapeSize();
    uint64_t rows = x.GetShapeSize() / length;
    uint64_t rowsPerBlock = (rows + cores - 1) / cores;
    uint64_t xSize = SizeOf(context->GetInputDesc(0)->GetDataType());
    uint64_t gammaSize = SizeOf(context->GetInputDesc(1)->GetDataType());
    uint64_t tileBytes = 4 * xSize + 4 + (xSize == 4 ? 0 : 4);
    // 1: 4 bytes per 64 elements in which ReduceSum works
    uint64_t gammaBytes = gammaSize + (gammaSize == 4 ? 0 : 4) + 1;

    ubBytes -= RESERVED;
    uint64_t shared = RoundUp(length, CHUNK_ALIGN) * gammaBytes;
    uint64_t rowBytes = RoundUp(length * xSize, UNIT_BYTES) / xSize * tileBytes + 2 * UNIT_BYTES;
    uint64_t fits = ubBytes > shared ? (ubBytes - shared) / rowBytes : 0;
    uint64_t tileRows = std::min({fits, rowsPerBlock, MAX_TILE_ROWS});

    tiling.set_rows(rows);
    tiling.set_rowsPerBlock(rowsPerBlock);
    tiling.set_length(static_cast<uint32_t>(length));
    tiling.set_tileRows(static_cast<uint32_t>(fits > 0 ? tileRows : 1));
    tiling.set_chunk(
        static_cast<uint32_t>(fits > 0 ? length : ubBytes / (tileBytes + gammaBytes) / CHUNK_ALIGN * CHUNK_ALIGN));
    return (rows + rowsPerBlock - 1) / rowsPerBlock;
}

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);

    RmsNormTilingData tiling;
    uint64_t blocks = SplitRows(context, ubBytes, platform.GetCoreNumAiv(), tiling);
    tiling.set_epsilon(*context->GetAttrs()->GetFloat(0));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(static_cast<uint32_t>(blocks));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class RmsNorm : public OpDef {
public:
    explicit RmsNorm(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_BF16, ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("gamma")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_BF16, ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("rstd")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("epsilon").AttrType(OPTIONAL).Float(1e-6);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(RmsNorm);
} // namespace ops
