// Host part of AddLayerNorm: x = x1 + x2 + bias, y = layer_norm(x) gamma + beta over the last dimension, any shape.
#include "add_layer_norm_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include <algorithm>
#include <vector>

namespace optiling {
constexpr uint64_t CHUNK_ALIGN = 64;     // elements: whole 32-byte units of every type
constexpr uint64_t UNIT_BYTES = 32;      // of UB: alignment of a row, room for a row's statistics
constexpr uint64_t RESERVED = 2048;      // UB bytes lost to rounding buffers up
constexpr uint64_t MAX_TILE_ROWS = 4095; // blocks that one DataCopyPad moves
// Inputs and attributes by position.
constexpr size_t X1 = 0, X2 = 1, GAMMA = 2, BIAS = 4;
constexpr size_t EPSILON = 0, ADDITIONAL_OUTPUT = 1;
enum Bias : uint32_t { BIAS_ABSENT, BIAS_FULL, BIAS_ROW };

static uint64_t RoundUp(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint64_t SizeOf(gert::TilingContext *context, size_t input)
{
    return context->GetInputDesc(input)->GetDataType() == ge::DT_FLOAT ? 4 : 2;
}

static Bias BiasOf(gert::TilingContext *context, uint64_t length)
{
    auto shape = context->GetOptionalInputShape(BIAS);
    if (shape == nullptr) {
        return BIAS_ABSENT;
    }
    return static_cast<uint64_t>(shape->GetStorageShape().GetShapeSize()) == length ? BIAS_ROW : BIAS_FULL;
}

// Splits the rows over blocks and UB; returns the number of blocks.
static uint64_t SplitRows(gert::TilingContext *context, uint64_t ubBytes, uint64_t cores,
                          AddLayerNormTilingData &tiling)
{
    uint64_t length = context->GetInputShape(GAMMA)->GetStorageShape().GetShapeSize();
    uint64_t rows = context->GetInputShape(X1)->GetStorageShape().GetShapeSize() / length;
    uint64_t rowsPerBlock = (rows + cores - 1) / cores;
    uint64_t size1 = SizeOf(context, X1), size2 = SizeOf(context, X2);
    uint64_t smaller = std::min(size1, size2), sizeY = std::max(size1, size2); // bias, y and x have the wider type
    Bias bias = BiasOf(context, length);
    bool writeX = *context->GetAttrs()->GetBool(ADDITIONAL_OUTPUT);

    // Per element of a tile: everything that moves row by row twice, the sum and a buffer of floats to work in. Per
    // element of one row: gamma, beta and a bias row as floats, where they arrive, and 4 bytes per 64 elements in which
    // ReduceSum works.
    uint64_t tileBytes = 2 * (size1 + size2 + sizeY * (1 + (bias == BIAS_FULL) + writeX)) + 2 * 4;
    uint64_t sharedBytes = (2 + (bias == BIAS_ROW)) * 4 + 4 + 1;
    uint64_t statisticsBytes = 2 * 2 * UNIT_BYTES;
    ubBytes -= RESERVED;
    uint64_t shared = RoundUp(length, CHUNK_ALIGN) * sharedBytes;
    uint64_t rowBytes = RoundUp(length, UNIT_BYTES / smaller) * tileBytes + statisticsBytes;
    uint64_t fits = ubBytes > shared ? (ubBytes - shared) / rowBytes : 0;
    uint64_t chunk =
        fits > 0 ? length : (ubBytes - statisticsBytes) / (tileBytes + sharedBytes) / CHUNK_ALIGN * CHUNK_ALIGN;

    tiling.set_rows(rows);
    tiling.set_rowsPerBlock(rowsPerBlock);
    tiling.set_length(static_cast<uint32_t>(length));
    tiling.set_chunk(static_cast<uint32_t>(chunk));
    tiling.set_tileRows(fits > 0 ? static_cast<uint32_t>(std::min({fits, rowsPerBlock, MAX_TILE_ROWS})) : 1);
    tiling.set_bias(bias);
    tiling.set_writeX(writeX);
    return (rows + rowsPerBlock - 1) / rowsPerBlock;
}

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);

    AddLayerNormTilingData tiling;
    uint64_t blocks = SplitRows(context, ubBytes, platform.GetCoreNumAiv(), tiling);
    tiling.set_epsilon(*context->GetAttrs()->GetFloat(EPSILON));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(static_cast<uint32_t>(blocks));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
// One column per combination of types: four of mixed inputs, two of 16-bit inputs with float weights, three of one
// type.
static const std::vector<ge::DataType> X1_TYPES = {ge::DT_FLOAT,   ge::DT_FLOAT,   ge::DT_FLOAT16,
                                                   ge::DT_BF16,    ge::DT_FLOAT16, ge::DT_BF16,
                                                   ge::DT_FLOAT16, ge::DT_BF16,    ge::DT_FLOAT};
static const std::vector<ge::DataType> X2_TYPES = {ge::DT_FLOAT16, ge::DT_BF16,    ge::DT_FLOAT,
                                                   ge::DT_FLOAT,   ge::DT_FLOAT16, ge::DT_BF16,
                                                   ge::DT_FLOAT16, ge::DT_BF16,    ge::DT_FLOAT};
static const std::vector<ge::DataType> WEIGHT_TYPES = {ge::DT_FLOAT,   ge::DT_FLOAT, ge::DT_FLOAT,
                                                       ge::DT_FLOAT,   ge::DT_FLOAT, ge::DT_FLOAT,
                                                       ge::DT_FLOAT16, ge::DT_BF16,  ge::DT_FLOAT};
static const std::vector<ge::DataType> Y_TYPES = {ge::DT_FLOAT,   ge::DT_FLOAT,   ge::DT_FLOAT,
                                                  ge::DT_FLOAT,   ge::DT_FLOAT16, ge::DT_BF16,
                                                  ge::DT_FLOAT16, ge::DT_BF16,    ge::DT_FLOAT};
static const std::vector<ge::DataType> STATISTICS_TYPES(9, ge::DT_FLOAT);
static const std::vector<ge::Format> FORMATS(9, ge::FORMAT_ND);

class AddLayerNorm : public OpDef {
public:
    explicit AddLayerNorm(const char *name) : OpDef(name)
    {
        this->Input("x1").ParamType(REQUIRED).DataType(X1_TYPES).Format(FORMATS);
        this->Input("x2").ParamType(REQUIRED).DataType(X2_TYPES).Format(FORMATS);
        this->Input("gamma").ParamType(REQUIRED).DataType(WEIGHT_TYPES).Format(FORMATS);
        this->Input("beta").ParamType(REQUIRED).DataType(WEIGHT_TYPES).Format(FORMATS);
        this->Input("bias").ParamType(OPTIONAL).DataType(Y_TYPES).Format(FORMATS);
        this->Output("y").ParamType(REQUIRED).DataType(Y_TYPES).Format(FORMATS);
        this->Output("mean").ParamType(REQUIRED).DataType(STATISTICS_TYPES).Format(FORMATS);
        this->Output("rstd").ParamType(REQUIRED).DataType(STATISTICS_TYPES).Format(FORMATS);
        this->Output("x").ParamType(REQUIRED).DataType(Y_TYPES).Format(FORMATS);
        this->Attr("epsilon").AttrType(OPTIONAL).Float(1e-5);
        this->Attr("additional_output").AttrType(OPTIONAL).Bool(false);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(AddLayerNorm);
} // namespace ops
