// Host part of PreLayerNorm: res_out = layer_norm(x + y) gamma + beta over the last dimension, any shape, float32.
#include "pre_layer_norm_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include <algorithm>

namespace optiling {
constexpr uint64_t CHUNK_ALIGN = 64; // elements: whole 32-byte units
// floats in 32 bytes: alignment of a row, room for a row's statistics
constexpr uint64_t UNIT = 8;
constexpr uint64_t RESERVED = 1024;                // UB bytes lost to rounding buffers up
constexpr uint64_t MAX_TILE_ROWS = 4095;           // blocks that one DataCopyPad moves
constexpr uint64_t TILE_BYTES = (2 + 2 + 2) * 4;   // per element: x, y and the result, double-buffered
constexpr uint64_t SHARED_BYTES = (1 + 1) * 4 + 1; // gamma, beta, and 4 bytes per 64 elements in which ReduceSum works
constexpr uint64_t ROW_BYTES = 2 * UNIT * 4;       // two statistics

static uint64_t RoundUp(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

// Splits the rows over blocks and UB; returns the number of blocks.
static uint64_t SplitRows(gert::TilingContext *context, uint64_t ubBytes, uint64_t cores,
                          PreLayerNormTilingData &tiling)
{
    uint64_t length = context->GetInputShape(2)->GetStorageShape().GetShapeSize();
    uint64_t rows = context->GetInputShape(0)->GetStorageShape().GetShapeSize() / length;
    uint64_t rowsPerBlock = (rows + cores - 1) / cores;

    ubBytes -= RESERVED;
    uint64_t shared = RoundUp(length, CHUNK_ALIGN) * SHARED_BYTES;
    uint64_t fits = ubBytes > shared ? (ubBytes - shared) / (RoundUp(length, UNIT) * TILE_BYTES + ROW_BYTES) : 0;
    uint64_t chunk =
        fits > 0 ? length : (ubBytes - ROW_BYTES) / (TILE_BYTES + SHARED_BYTES) / CHUNK_ALIGN * CHUNK_ALIGN;

    tiling.set_rows(rows);
    tiling.set_rowsPerBlock(rowsPerBlock);
    tiling.set_length(static_cast<uint32_t>(length));
    tiling.set_chunk(static_cast<uint32_t>(chunk));
    tiling.set_tileRows(fits > 0 ? static_cast<uint32_t>(std::min({fits, rowsPerBlock, MAX_TILE_ROWS})) : 1);
    return (rows + rowsPerBlock - 1) / rowsPerBlock;
}

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);

    PreLayerNormTilingData tiling;
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
class PreLayerNorm : public OpDef {
public:
    explicit PreLayerNorm(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("gamma").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("beta").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("res_out").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("epsilon").Float();
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(PreLayerNorm);
} // namespace ops
