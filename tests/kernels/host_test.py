#!/usr/bin/env python3
"""Small operator projects, one for each mechanism of a host part. Each adds two tensors of half; its kernel takes the
tile length and whatever else it checks from tiling data, so that a wrong layout or value gives wrong sums."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from akgen_program import verdict  # noqa: E402

TASK = "level1/Math/UnalignAdd"  # case 0: 128 x 256 halves
DEF = """
namespace ops {
class UnalignAdd : public OpDef {
public:
    explicit UnalignAdd(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->AICore()%s.AddConfig("ascend910b");
    }
};
OP_ADD(UnalignAdd);
} // namespace ops
"""
KERNEL = """
#include "kernel_operator.h"
%s
using namespace AscendC;
extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    %s
    constexpr uint32_t PER_BLOCK = 1024; // 32768 elements over 32 blocks
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> xQueue, yQueue;
    TQue<QuePosition::VECOUT, 1> zQueue;
    GlobalTensor<half> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ half *)x + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
    pipe.InitBuffer(xQueue, 1, tile * sizeof(half));
    pipe.InitBuffer(yQueue, 1, tile * sizeof(half));
    pipe.InitBuffer(zQueue, 1, tile * sizeof(half));
    for (uint32_t at = 0; at < PER_BLOCK; at += tile) {
        LocalTensor<half> a = xQueue.AllocTensor<half>(), b = yQueue.AllocTensor<half>();
        DataCopy(a, xGm[at], tile);
        DataCopy(b, yGm[at], tile);
        xQueue.EnQue(a);
        yQueue.EnQue(b);
        a = xQueue.DeQue<half>();
        b = yQueue.DeQue<half>();
        LocalTensor<half> c = zQueue.AllocTensor<half>();
        Add(c, a, b, tile);
        zQueue.EnQue(c);
        c = zQueue.DeQue<half>();
        DataCopy(zGm[at], c, tile);
        xQueue.FreeTensor(a);
        yQueue.FreeTensor(b);
        zQueue.FreeTensor(c);
    }
}
"""
SAVE = """
    data.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(data.GetDataSize());
    context->SetBlockDim(32);
"""

# TilingBaseClass and its registry: the first template in order does not suit the case, the second does.
TEMPLATES = """
#include "error/ops_error.h"
#include "register/device_op_impl_registry.h"
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/tiling_base.h"
#include "tiling/tiling_templates_registry.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(WideTiling)
TILING_DATA_FIELD_DEF(uint64_t, unused);
TILING_DATA_FIELD_DEF(uint32_t, tile);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(UnalignAdd_20, WideTiling)
static int32_t CheckLogLevel(int32_t, int32_t) { return 0; } // as MaxPool3DWithArgmaxV2 of cann-ops has
static_assert(std::is_same<decltype(&CheckLogLevel), int32_t (*)(int32_t, int32_t)>::value, "");
class Template : public TilingBaseClass {
public:
    explicit Template(gert::TilingContext *context) : TilingBaseClass(context) {}
protected:
    ge::graphStatus GetPlatformInfo() override
    {
        auto platform = platform_ascendc::PlatformAscendC(context_->GetPlatformInfo());
        platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, aicoreParams_.ubSize);
        OPS_CHECK(aicoreParams_.ubSize == 0, OPS_REPORT_VECTOR_INNER_ERR(context_->GetNodeName(), "no UB"),
                  return ge::GRAPH_FAILED);
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus GetShapeAttrsInfo() override
    {
        auto shape = context_->GetInputShape(0);
        OPS_LOG_E_IF_NULL(context_, shape, return ge::GRAPH_FAILED)
        OPS_ERR_IF(shape->GetStorageShape().GetDimNum() != 2, OPS_LOG_E(context_, "not two"), return ge::GRAPH_FAILED);
        OPS_LOG_W_IF(false, context_, return ge::GRAPH_FAILED, "never");
        OPS_LOG_D(context_->GetNodeName(), "%ld elements", shape->GetStorageShape().GetShapeSize());
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus DoLibApiTiling() override { return ge::GRAPH_SUCCESS; }
    ge::graphStatus GetWorkspaceSize() override { return ge::GRAPH_SUCCESS; }
};
class Narrow : public Template {
public:
    using Template::Template;
protected:
    bool IsCapable() override { return context_->GetInputShape(0)->GetStorageShape().GetDim(1) < 100; }
    ge::graphStatus DoOpTiling() override { return ge::GRAPH_FAILED; }
    uint64_t GetTilingKey() const override { return 10; }
    ge::graphStatus PostTiling() override { return ge::GRAPH_FAILED; }
};
class Wide : public Template {
public:
    using Template::Template;
protected:
    bool IsCapable() override { return true; }
    ge::graphStatus DoOpTiling() override { data_.set_tile(256); return ge::GRAPH_SUCCESS; }
    uint64_t GetTilingKey() const override { return 20; }
    ge::graphStatus PostTiling() override
    {
        data_.SaveToBuffer(context_->GetRawTilingData()->GetData(), context_->GetRawTilingData()->GetCapacity());
        context_->GetRawTilingData()->SetDataSize(data_.GetDataSize());
        context_->SetBlockDim(32);
        return ge::GRAPH_SUCCESS;
    }
    WideTiling data_;
};
REGISTER_TILING_TEMPLATE("UnalignAdd", Wide, 2000);
REGISTER_TILING_TEMPLATE("UnalignAdd", Narrow, 1000);
struct CompileInfo { uint32_t cores; };
static ge::graphStatus Tile(gert::TilingContext *context)
{
    auto info = static_cast<const CompileInfo *>(context->GetCompileInfo());
    OPS_CHECK(info == nullptr || info->cores != 48, OPS_LOG_E(context, "no cores"), return ge::GRAPH_FAILED);
    return TilingRegistry::GetInstance().DoTilingImpl(context);
}
static ge::graphStatus Prepare(gert::TilingParseContext *context)
{
    auto info = context->GetCompiledInfo<CompileInfo>();
    info->cores = platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();
    return ge::GRAPH_SUCCESS;
}
IMPL_OP_OPTILING(UnalignAdd).Tiling(Tile).TilingParse<CompileInfo>(Prepare);
DEVICE_IMPL_OP_OPTILING(UnalignAdd).Tiling(Tile); // for graphs
} // namespace optiling
"""

# Structures of high-level APIs between others: what host and kernel take for their layout must be one.
NESTED = """
#include "register/op_def_registry.h"
#include "tiling/tiling_api.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(NestedTiling)
TILING_DATA_FIELD_DEF(uint8_t, first);
TILING_DATA_FIELD_DEF_STRUCT(SoftMaxTiling, rows);
TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, product);
TILING_DATA_FIELD_DEF_STRUCT(TopkTiling, top);
TILING_DATA_FIELD_DEF_STRUCT(GroupNormTiling, groups);
TILING_DATA_FIELD_DEF_STRUCT(BatchNormTiling, batch);
TILING_DATA_FIELD_DEF_STRUCT(LayerNormGradTiling, grad);
TILING_DATA_FIELD_DEF_STRUCT(LayerNormGradBetaTiling, beta);
TILING_DATA_FIELD_DEF_STRUCT(PadTiling, pad);
TILING_DATA_FIELD_DEF_STRUCT(ConfusionTransposeTiling, turn);
TILING_DATA_FIELD_DEF(uint32_t, last);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(UnalignAdd, NestedTiling)
static ge::graphStatus Tile(gert::TilingContext *context)
{
    NestedTiling data;
    data.set_first(7);
    data.set_last(99);
    ge::Shape shape({16, 64});
    uint32_t least = AscendC::GetSoftMaxMinTmpSize(shape, 4, false), max = 0, min = 0;
    AscendC::SoftMaxTilingFunc(shape, 4, 4 * least, data.rows); // four rows of 64
    AscendC::tiling::SoftMaxTiling plain;
    AscendC::SoftMaxTilingFunc(shape, 4, 4 * least, plain);
    AscendC::GetSigmoidMaxMinTmpSize(shape, 2, false, max, min);
    if (plain.splitSize != data.rows.get_splitSize() || max != 2048)
        return ge::GRAPH_FAILED;
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    matmul_tiling::MultiCoreMatmulTiling matmul(platform);
    matmul.SetDim(16);
    matmul.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
    matmul.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
    matmul.SetCType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT);
    matmul.SetShape(1024, 1024, 1024);
    matmul.SetOrgShape(1024, 1024, 1024);
    matmul.SetBufferSpace(-1, -1, -1);
    if (matmul.GetTiling(data.product) == -1)
        return ge::GRAPH_FAILED;
    AscendC::TopKTilingFunc(platform, 32, 4, 18, 2, true, AscendC::TopKMode::TOPK_NSMALL, true, data.top);
    ge::Shape four({2, 8, 5, 3}), three({8, 2, 16}), rows({4, 3, 32, 30}), ragged({16, 15});
    AscendC::GetGroupNormMaxMinTmpSize(four, 4, false, 4, max, min);
    AscendC::GetGroupNormNDTilingInfo(four, min, 4, false, 4, data.groups);
    if (!AscendC::GetBatchNormMaxMinTmpSize(three, three, 2, false, max, min) ||
        !AscendC::GetBatchNormNDTilingInfo(three, three, max, 2, false, data.batch))
        return ge::GRAPH_FAILED;
    AscendC::GetLayerNormGradMaxMinTmpSize(rows, 4, false, max, min);
    AscendC::GetLayerNormGradNDTilingInfo(rows, max, 4, false, data.grad);
    AscendC::GetLayerNormGradBetaMaxMinTmpSize(rows, 2, false, max, min);
    AscendC::GetLayerNormGradBetaNDTilingInfo(rows, min, 2, false, data.beta);
    AscendC::GetPadMaxMinTmpSize(ragged, 2, max, min);
    AscendC::PadTilingFunc(ragged, ragged, max, 2, data.pad);
    AscendC::GetTransposeTilingInfo(ge::Shape({32, 48}), 0, 2, 7, data.turn);
""" + SAVE + """
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling
"""

# SetTiling alone gives a CompileInfo that nobody fills in.
UNFILLED = """
#include "register/op_def_registry.h"
namespace optiling {
struct CompileInfo { uint32_t cores; };
static ge::graphStatus Tile(gert::TilingContext *context)
{
    context->SetBlockDim(static_cast<const CompileInfo *>(context->GetCompileInfo())->cores);
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling
"""

# What newer operators take from opbase: their messages, arithmetic, questions about shapes and chip, tiling as steps.
OPBASE = """
#include "graph/operator_reg.h"
#include "log/log.h"
#include "op_common/op_host/infershape_broadcast_util.h"
#include "op_common/op_host/infershape_elewise_util.h"
#include "op_common/op_host/util/const_util.h"
#include "op_host/tiling_base_class.h"
#include "op_host/tiling_base_util.h"
#include "platform/platform_infos_def.h"
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "toolchain/slog.h"
#include "util/math_util.h"
#include "util/platform_util.h"
#include "util/shape_util.h"
namespace optiling {
using namespace Ops::Base;
BEGIN_TILING_DATA_DEF(StepsTiling)
TILING_DATA_FIELD_DEF(uint32_t, tile);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(UnalignAdd, StepsTiling)
static bool Arithmetic()
{
    SplitResult parts, by;
    SplitIntoEqualByParts(10, 4, parts);  // 3 3 3 1
    SplitIntoEqualByFactor(10, 16, by);   // 10
    return CeilDiv(7, 2) == 4 && CeilDiv(-7, 2) == -3 && CeilDiv(5, 0) == 5 && CeilAlign(33u, 32u) == 64 &&
           CeilAlign<int8_t>(100, 64) == 127 && FloorAlign(33, 32) == 32 && FloorDiv(9, 0) == 9 && LastPow2(48) == 32 &&
           LastPow2(0) == 1 && parts.splitCount == 4 && parts.splitFactor == 3 && parts.splitTailFactor == 1 &&
           by.splitCount == 1 && by.splitFactor == 0 && by.splitTailFactor == 10;
}
static bool Shapes()
{
    gert::Shape shape({4, -1}), scalar, wide({3, 1, 5}), all, none({7});
    bool unknown = IsUnknownShape(shape);
    if (!BroadcastShape(&wide, &scalar, &all) || ToString(all) != ToString(wide) || BroadcastShape(&wide, &none, &all))
        return false;
    gert::Shape rows({4, 1}), empty({0, 1});
    if (!BroadcastShape({&wide, &rows, &scalar}, &all) || !(all == gert::Shape({3, 4, 5})) ||
        !BroadcastShape(&wide, &empty, &all) || !(all == gert::Shape({3, 0, 5})))
        return false;
    SetUnknownRank(shape);
    return unknown && IsUnknownRank(shape) && ToString(shape) == "[-2]" && EnsureNotScalar(scalar).GetDim(0) == 1 &&
           CheckAxisBounds(2, -2) && !CheckAxisBounds(2, 2) && CheckAxisBounds(0, 0);
}
static bool Formats()
{
    const auto grouped = static_cast<ge::Format>(ge::GetFormatFromSubAndC0(ge::FORMAT_FRACTAL_Z, 4, 5));
    return std::string(ge::GetFormatName(ge::FORMAT_NDC1HWC0)) == "NDC1HWC0" && ge::GetC0Value(grouped) == 16 &&
           std::string(ge::GetFormatName(ge::FORMAT_ALL)) == "UNKNOWN" && ge::GetC0Value(ge::FORMAT_ND) == -1 &&
           ge::TypeUtils::FormatToSerialString(grouped) == "FRACTAL_Z:4" &&
           ge::TypeUtils::FormatToSerialString(ge::FORMAT_FRACTAL_NZ_C0_8) == "FRACTAL_NZ_C0_8";
}
static bool Chip(gert::TilingContext *context)
{
    std::string name, cores, nothing = "kept";
    fe::PlatformInfo platform;
    fe::OptionalInfo optional;
    if (fe::PlatformInfoManager::Instance().GetPlatformInfoWithOutSocVersion(platform, optional) != 0 ||
        platform.str_info.short_soc_version != "Ascend910B" || platform.soc_info.vector_core_cnt != 48)
        return false;
    auto infos = context->GetPlatformInfo();
    return GetAivCoreNum(context) == 48 && GetAicCoreNum(context) == 24 && GetUbSize(context) == 196352 &&
           GetUbBlockSize(context) == 32 && infos->GetPlatformRes("version", "SoC_version", name) &&
           name == "Ascend910B2" && infos->GetPlatformResWithLock("SoCInfo", "vector_core_cnt", cores) &&
           cores == "48" && !infos->GetPlatformRes("SoCInfo", "wings", nothing) && nothing == "kept" &&
           ge::GetSizeInBytes(5, ge::DT_INT4) == 3 && ge::GetSizeInBytes(5, ge::DT_FLOAT16) == 10 &&
           ge::GetPrimaryFormat(ge::FORMAT_FRACTAL_Z | 8 << 8) == ge::FORMAT_FRACTAL_Z && Formats();
}
class Steps : public TilingBaseClass {
public:
    using TilingBaseClass::TilingBaseClass;
protected:
    bool IsCapable() override { return Arithmetic() && Shapes() && Chip(context_); }
    ge::graphStatus GetPlatformInfo() override { aicoreParams_.numBlocks = 32; return ge::GRAPH_SUCCESS; }
    ge::graphStatus GetShapeAttrsInfo() override
    {
        auto shape = context_->GetInputShape(0);
        OP_CHECK_NULL_WITH_CONTEXT(context_, shape);
        OP_CHECK_IF(shape->GetStorageShape().GetDimNum() != 2,
                    OP_LOGE_FOR_INVALID_SHAPEDIM(context_->GetNodeName(), "x", 3, "2"), return ge::GRAPH_FAILED);
        OP_LOGD(context_, "x is %s", ToString(shape->GetStorageShape()).c_str());
        OP_LOGI(context_);
        int64_t value = 5; // no input of this operator has values that tiling may read
        OP_CHECK_IF(GetConstInt(context_, 0, value) || value != 5, REPORT_INNER_ERR_MSG("E89999", "%ld", value),
                    return ge::GRAPH_FAILED);
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus DoOpTiling() override { data_.set_tile(256); return ge::GRAPH_SUCCESS; }
    ge::graphStatus DoLibApiTiling() override { return ge::GRAPH_SUCCESS; }
    ge::graphStatus GetWorkspaceSize() override { return ge::GRAPH_SUCCESS; }
    uint64_t GetTilingKey() const override { return CalcTschBlockDim(48, 24, 48); }
    ge::graphStatus PostTiling() override
    {
        data_.SaveToBuffer(context_->GetRawTilingData()->GetData(), context_->GetRawTilingData()->GetCapacity());
        context_->GetRawTilingData()->SetDataSize(data_.GetDataSize());
        context_->SetBlockDim(aicoreParams_.numBlocks);
        return ge::GRAPH_SUCCESS;
    }
    StepsTiling data_;
};
static ge::graphStatus Tile(gert::TilingContext *context)
{
    Steps steps(context);
    ge::graphStatus status = steps.DoTiling();
    OP_CHECK_IF(status != ge::GRAPH_SUCCESS, dlog_error(OP, "%u", status), return ge::GRAPH_FAILED);
    return status;
}
static ge::graphStatus Infer(gert::InferShapeContext *context)
{
    return InferShape4Elewise(context);
}
IMPL_OP_INFERSHAPE(UnalignAdd).InferShape(Infer).PrivateAttr("hidden", int64_t(1)).InferOutDataTypeSameWithFirstInput();
} // namespace optiling
namespace ge {
REG_OP(UnalignAdd)
    .INPUT(x, TensorType({DT_FLOAT16}))
    .OPTIONAL_INPUT(y, "T")
    .OUTPUT(z, "T")
    .ATTR(order, ListInt, {1, 2})
    .OP_END_FACTORY_REG(UnalignAdd)
} // namespace ge
namespace ops {
static OpAICoreConfig Config()
{
    OpAICoreConfig config; // replaces what the OpDef says of x
    config.Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    return config;
}
class UnalignAdd : public OpDef {
public:
    explicit UnalignAdd(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_INT8}).Format({ge::FORMAT_ND});
        this->Input("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        OpAICoreConfig config = Config(), copy("ascend910b");
        copy = config;
        this->AICore().SetTiling(optiling::Tile).AddConfig("ascend910b", copy);
    }
};
OP_ADD(UnalignAdd);
} // namespace ops
"""

# Numbers and chip as opbase has them, arrays of a size that is known at run time, reduced shapes: each must be right for the
# tile to be 256. The other chip's way is compiled and not taken.
NEWER = """
#include "aclnn/opdev/platform.h"
#include "atvoss/elewise/elewise_tiling.h"
#include "atvoss/util/dag.h"
#include "atvoss/util/vec.h"
#include "graph/c_types.h"
#include "lib/math/sin_tiling.h"
#include "log/log.h"
#include "op_host/infershape_reduce_util.h"
#include "op_host/tiling_base_util.h"
#include "op_host/util/fp16.h"
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "runtime/continuous_vector.h"
#include "tiling/broadcast/broadcast_tiling.h"
#include "util/bfloat16.h"
#include "dims.h"
namespace optiling {
using Ops::Base::bfloat16;
using Ops::Base::fp16_t;
BEGIN_TILING_DATA_DEF(NewerTiling)
TILING_DATA_FIELD_DEF(uint32_t, tile);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(UnalignAdd, NewerTiling)
template <typename T> struct Graph {
    using One = MAKE_CONST(T, 1);
    using In = Ops::Base::Bind<Ops::Base::Vec::CopyIn<T>, Ops::Base::Placeholder::In0<T>>;
    using Sum = Ops::Base::Bind<Ops::Base::Vec::Adds<T>, In, One>;
    using Out = Ops::Base::Bind<Ops::Base::Vec::CopyOut<T>, Ops::Base::Placeholder::Out0<T>, Sum>;
    using OpDag = Ops::Base::DAGSch<Ops::Base::Elems<Out>, void, Ops::Base::MemOptCfg<Ops::Base::MemLevel::LEVEL_2>>;
};
static bool Numbers()
{
    fp16_t third = 1.0f, most = 1e9, tie = 2049, bits(uint16_t(0x3c00)), half;
    third = third / fp16_t(3);
    half.val = 0x3800;
    bfloat16 rounded = 1.00390625f, sum = bfloat16(1) + bfloat16(0.0078125f), odd(0x4049, bfloat16::from_bits());
    return third.val == 0x3555 && most.val == 0x7bff && tie.val == 0x6800 && float(bits) == 1 && half < bits &&
           int32_t(fp16_t(2.5f)) == 2 && int8_t(fp16_t(-300)) == -128 && rounded.value == 0x3f80 &&
           sum.value == 0x3f81 && float(odd) == 3.140625f && -odd < odd &&
           bfloat16::round_to_bfloat16(__builtin_nanf("")).value == 0x7fc0;
}
static bool Arrays(int n, const gert::Shape &shape)
{
    int64_t none[n] = {}, some[shape.GetDimNum()] = {7}, two[n][2] = {}, *places[n]{none, some};
    const float numbers[n] = {0.5f, static_cast<float>(n)};
    for (int i = 0; i < n; i++)
        if (none[i] || two[i][1] || numbers[i] != (i == 0 ? 0.5f : i == 1 ? n : 0) || (i > 1 && places[i]))
            return false;
    return some[0] == 7 && some[1] == 0 && places[1] == some && sizeof some == 16 && LastOf(shape) == 256;
}
static bool Reduced()
{
    const gert::Shape shape({2, 3, 4}), scalar;
    const int64_t axes[] = {-1, 0}, wrong = 3;
    gert::Shape kept, left, other;
    return Ops::Base::ReduceDimsWithKeepDims(&shape, axes, 2, &kept) == ge::GRAPH_SUCCESS &&
           kept == gert::Shape({1, 3, 1}) &&
           Ops::Base::ReduceDimsWithoutKeepDims(&shape, axes, 2, &left) == ge::GRAPH_SUCCESS &&
           left == gert::Shape({3}) &&
           Ops::Base::ReduceDimsWithKeepDims(&shape, &wrong, 1, &other) == ge::GRAPH_FAILED &&
           Ops::Base::ReduceDimsWithKeepDims(&scalar, axes, 1, &other) == ge::GRAPH_SUCCESS && other.IsScalar();
}
static bool Chip()
{
    const op::PlatformInfo &chip = op::GetCurrentPlatformInfo();
    return chip.GetSocVersion() == op::SocVersion::ASCEND910B && chip.GetSocLongVersion() == "Ascend910B2" &&
           chip.GetBlockSize() == 32 && chip.GetVectorCoreNum() == 48 && std::string("Ascend910B") ==
           op::ToString(chip.GetSocVersion()).GetString() && C_DT_BF16 == ge::DT_BF16 &&
           chip.CheckSupport(op::SocSpec::INST_MMAD, op::SocSpecAbility::INST_MMAD_F162F32);
}
static ge::graphStatus Tile(gert::TilingContext *context)
{
    const gert::Shape &shape = context->GetInputShape(0)->GetShape();
    uint32_t most = 0, least = 0;
    AscendC::GetSinMaxMinTmpSize(ge::Shape({64}), 4, false, most, least);
    bool regbase = Ops::Base::IsRegbaseSocVersion(context);
    if (REGBASE) {
        Ops::Base::EleBaseTilingDataV2 data;
        return Ops::Base::ElewiseBaseTiling(context).DoTiling<Graph<Ops::Base::half>::OpDag>(data);
    }
    OP_CHECK_IF(!Numbers(), OP_LOGE(context, "numbers"), return ge::GRAPH_FAILED);
    OP_CHECK_IF(!Arrays(3, shape), OP_LOGE(context, "arrays"), return ge::GRAPH_FAILED);
    OP_CHECK_IF(!Reduced(), OP_LOGE(context, "reduced"), return ge::GRAPH_FAILED);
    OP_CHECK_IF(!Chip() || most < least, OP_LOGE(context, "chip"), return ge::GRAPH_FAILED);
    NewerTiling data;
    data.set_tile(256);
""" + SAVE + """
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling
"""
DIMS = """
#pragma once
#include "exe_graph/runtime/shape.h"
static inline int64_t LastOf(const gert::Shape &shape)
{
    int64_t dims[shape.GetDimNum()] = {0};
    for (size_t i = 0; i < shape.GetDimNum(); i++)
        dims[i] += shape.GetDim(i);
    return dims[shape.GetDimNum() - 1];
}
"""

BY_FUNCTION = DEF % ".SetTiling(optiling::Tile)"


class Host(unittest.TestCase):
    def run_project(self, host, kernel, task=TASK, name="unalign_add", headers=()):
        with tempfile.TemporaryDirectory() as directory:
            project = pathlib.Path(directory)
            for header, text in headers:
                (project / header).write_text(text)
            for folder, text in (("op_host", host), ("op_kernel", kernel)):
                (project / folder).mkdir()
                (project / folder / f"{name}.cpp").write_text(text)
            return verdict(task, project, "--case", "0")

    def check_passes(self, result):
        self.assertEqual((result["verdict"], result["reason"]), ("pass", None), result["compile"]["diagnostics"])
        return result["cases"][0]["run"]

    def test_templates(self):
        kernel = KERNEL % ("", "GET_TILING_DATA_WITH_STRUCT(WideTiling, data, tiling);\n"
                           "    if (!TILING_KEY_IS(20)) {\n        return;\n    }\n    uint32_t tile = data.tile;")
        run = self.check_passes(self.run_project(TEMPLATES + DEF % "", kernel))
        self.assertEqual(run["tiling_key"], 20)
        self.assertEqual(run["tiling"], {"unused": 0, "tile": 256})

    def test_opbase(self):
        kernel = KERNEL % ('#include "op_kernel/math_util.h"\n#include "op_kernel/platform_util.h"\n',
                           """GET_TILING_DATA(data, tiling);
    bool right = Ops::Base::CeilDiv(7, 2) == 4 && Ops::Base::CeilAlign(33u, 32u) == 64 &&
                 Ops::Base::FloorAlign(33, 32) == 32 && Ops::Base::GetUbBlockSize() == 32;
    uint32_t tile = right ? data.tile : 0;
    if (!right) {
        return;
    }""")
        run = self.check_passes(self.run_project(OPBASE, kernel))
        self.assertEqual((run["tiling_key"], run["tiling"]), (24, {"tile": 256}))

    def newer(self, regbase):
        host = NEWER.replace("REGBASE", regbase) + BY_FUNCTION
        kernel = KERNEL % ("", "GET_TILING_DATA(data, tiling);\n    uint32_t tile = data.tile;")
        return self.run_project(host, kernel, headers=[("dims.h", DIMS)])

    def test_newer_headers(self):
        self.check_passes(self.newer("regbase"))

    def test_narrowing(self):
        """g++ warns of a value that it does not know; a constant that does not fit is an error to it as well."""
        for values, verdict_expected in (("rows, 5", "pass"), ("rows, -1", "compile_error")):
            host = NEWER.replace("REGBASE", "false").replace("    NewerTiling data;\n", f"""    const int64_t rows = shape.GetDim(0);
    uint32_t narrow[2] = {{{values}}};
    OP_CHECK_IF(narrow[0] != 128, OP_LOGE(context, "narrow"), return ge::GRAPH_FAILED);
    NewerTiling data;
""") + BY_FUNCTION
            kernel = KERNEL % ("", "GET_TILING_DATA(data, tiling);\n    uint32_t tile = data.tile;")
            result = self.run_project(host, kernel, headers=[("dims.h", DIMS)])
            self.assertEqual(result["verdict"], verdict_expected, result["compile"]["diagnostics"])

    def test_what_only_other_chips_have_is_named(self):
        result = self.newer("!regbase")
        self.assertEqual((result["verdict"], result["stage"]), ("unsupported", "tiling"), result["reason"])
        self.assertIn("Ops::Base::ElewiseBaseTiling::DoTiling", result["reason"])
        host = '#include "atvoss/reduce/reduce_tiling.h"\n' + UNFILLED + BY_FUNCTION
        result = self.run_project(host, KERNEL % ("", "uint32_t tile = 256;"))
        self.assertEqual(result["verdict"], "unsupported", result["reason"])
        self.assertIn("atvoss/reduce/reduce_tiling.h", result["reason"])

    def test_nested_structures(self):
        kernel = KERNEL % ('#include "kernel_tiling/kernel_tiling.h"\n', """GET_TILING_DATA(data, tiling);
    const SoftMaxTiling &rows = data.rows;
    const TCubeTiling &product = data.product;
    bool right = data.first == 7 && data.last == 99 && product.baseN == 256 && product.usedCoreNum == 16 &&
                 data.top.vreducehalfValMask4 == 0x11;
    const GroupNormTiling &groups = data.groups; // 16 elements of 15 count, two channels a group, one group at a time
    right = right && groups.smallShape && groups.dhwAlignSize == 32 && groups.bsCurLength == 1 && groups.loopRound == 8;
    right = right && data.batch.shCurLength == 32 && data.batch.firstDimValueBack == 0.125f;
    right = right && data.grad.nohCalSize == 32 && data.grad.x3TensorPos == 5 * 32 * 32 && data.grad.tailSize == 384;
    right = right && data.beta.bsCurLength == 1 && data.beta.originalHLength == 30 && data.beta.inputDyTmpTensorPos == 64;
    right = right && data.pad.tmpBuffer1BlockNum == 15 && data.pad.widthFractalTailAlingned == 16;
    right = right && data.turn.param1 == 32 && data.turn.param4 == 32 && data.turn.param5 == 3;
    uint32_t tile = right ? rows.splitSize : 32;
    if (!right) {
        return;
    }""")
        run = self.check_passes(self.run_project(NESTED + BY_FUNCTION, kernel))
        self.assertEqual(run["tiling"]["rows"]["splitSize"], 256)
        self.assertEqual(run["tiling"]["product"]["singleCoreM"], 256)
        self.assertEqual(run["tiling"]["last"], 99)

    def test_compile_info_that_nothing_fills(self):
        result = self.run_project(UNFILLED + BY_FUNCTION, KERNEL % ("", "uint32_t tile = 256;"))
        self.assertEqual((result["verdict"], result["stage"]), ("wrong", "tiling"))
        self.assertIn("registers no TilingParse", result["reason"])

    def test_format_of_the_dimensions(self):
        """BatchNormV3 comes with four dimensions; a tensor has the OpDef's format if that one is for its rank."""
        types = ["ge::DT_FLOAT"] * 2
        formats = "ge::FORMAT_NCDHW, ge::FORMAT_NCHW"
        parameters = "".join(
            f'        this->{side}("{name}").ParamType(REQUIRED).DataType({{{", ".join(types)}}})'
            f'.Format({{{formats if name in "xy" else "ge::FORMAT_ND, ge::FORMAT_ND"}}});\n'
            for side, names in (("Input", ("x", "weight", "bias", "running_mean", "running_var")),
                                ("Output", ("y", "running_mean", "running_var", "save_mean", "save_rstd")))
            for name in names)
        host = """
#include "register/op_def_registry.h"
namespace optiling {
static ge::graphStatus Tile(gert::TilingContext *context)
{
    bool right = context->GetInputShape(0)->GetStorageShape().GetDimNum() == 4 &&
                 context->GetInputDesc(0)->GetStorageFormat() == ge::FORMAT_NCHW &&
                 context->GetInputDesc(1)->GetStorageFormat() == ge::FORMAT_ND;
    context->SetBlockDim(1);
    return right ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}
} // namespace optiling
namespace ops {
class BatchNormV3 : public OpDef {
public:
    explicit BatchNormV3(const char *name) : OpDef(name)
    {
%s        this->Attr("epsilon").AttrType(OPTIONAL).Float(1e-5);
        this->AICore().SetTiling(optiling::Tile).AddConfig("ascend910b");
    }
};
OP_ADD(BatchNormV3);
} // namespace ops
""" % parameters
        arguments = ", ".join(f"GM_ADDR a{i}" for i in range(12))
        kernel = f'#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void batch_norm_v3({arguments}) {{}}\n'
        result = self.run_project(host, kernel, "level2/Norm/BatchNormV3", "batch_norm_v3")
        self.assertEqual(result["stage"], "compare", (result["reason"], result["compile"]["diagnostics"]))


# A task whose outputs are x + first and x + second: what they hold before x is added atomically decides.
FILLED_TASK = """suite: host
level: 1
category: T
op: Filled
reference: formula
inputs:
  - {name: x, shape: "[600]", dtype: "$dtype", types: [%(types)s], generate: "randint(-3, 4)"}
outputs:
  - {name: y, shape: "[600]", dtype: "$dtype", types: [%(types)s], formula: "x + %(first)s"%(init)s}
  - {name: z, shape: "[600]", dtype: "$dtype", types: [%(types)s], formula: "x + %(second)s"%(init)s}
"""
FILLED_HOST = """
#include "register/op_def_registry.h"
namespace optiling {
static ge::graphStatus Tile(gert::TilingContext *context)
{
    context->SetBlockDim(1);
    %(atomic)s
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling
namespace ops {
class Filled : public OpDef {
public:
    explicit Filled(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({%(types)s}).Format({%(formats)s});
        this->Output("y").ParamType(REQUIRED).DataType({%(types)s}).Format({%(formats)s})%(first)s;
        this->Output("z").ParamType(REQUIRED).DataType({%(types)s}).Format({%(formats)s})%(second)s;
        this->AICore().SetTiling(optiling::Tile).AddConfig("ascend910b");
    }
};
OP_ADD(Filled);
} // namespace ops
"""
FILLED_KERNEL = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void filled(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> queue;
    GlobalTensor<DTYPE_X> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x, 600);
    yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y, 600);
    zGm.SetGlobalBuffer((__gm__ DTYPE_X *)z, 600);
    pipe.InitBuffer(queue, 1, 640 * sizeof(DTYPE_X));
    LocalTensor<DTYPE_X> a = queue.AllocTensor<DTYPE_X>();
    DataCopyExtParams copy{1, 600 * sizeof(DTYPE_X), 0, 0, 0};
    DataCopyPad(a, xGm, copy, DataCopyPadExtParams<DTYPE_X>{false, 0, 0, 0});
    queue.EnQue(a);
    a = queue.DeQue<DTYPE_X>();
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    %(plain)sSetAtomicAdd<DTYPE_X>();
    DataCopyPad(yGm, a, copy);
    SetAtomicAdd<DTYPE_X>();
    DataCopyPad(zGm, a, copy);
    SetAtomicNone();
    queue.FreeTensor(a);
}
"""
GE_TYPES = {"float16": "ge::DT_FLOAT16", "float32": "ge::DT_FLOAT", "bfloat16": "ge::DT_BF16", "int32": "ge::DT_INT32",
            "int16": "ge::DT_INT16", "int8": "ge::DT_INT8"}


class InitValue(unittest.TestCase):
    """OpParamDef::InitValue with SetNeedAtomic(true): the outputs that have one begin with it in every run."""

    def run_filled(self, first, second, values=("0", "0"), types=("float32",), atomic="context->SetNeedAtomic(true);", plain="", init="",
                   options=()):
        """The verdict where the OpDef's outputs have these InitValue calls and the task wants x plus these values."""
        with tempfile.TemporaryDirectory(prefix="akgen-host-") as directory:
            task, project = pathlib.Path(directory) / "host/level1/T/Filled", pathlib.Path(directory) / "project"
            words = {"types": ", ".join(types), "first": values[0], "second": values[1], "init": init}
            texts = {task / "task.yaml": FILLED_TASK % words, task / "desc.md": "Filled\n",
                     task / "cases.csv": "case_id;dtype\n" + "".join(f"{i};{name}\n" for i, name in enumerate(types)),
                     project / "op_host/filled.cpp": FILLED_HOST % {
                         "atomic": atomic, "first": first, "second": second, "formats": ", ".join(["ge::FORMAT_ND"] * len(types)),
                         "types": ", ".join(GE_TYPES[name] for name in types)},
                     project / "op_kernel/filled.cpp": FILLED_KERNEL % {"plain": plain}}
            texts[task / "question/kernel/op_host/filled.cpp"] = texts[project / "op_host/filled.cpp"]  # for --scope=kernel
            for path, text in texts.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return verdict(task, project, *options)

    def assert_pass(self, result):
        self.assertEqual(result["verdict"], "pass", (result["reason"], result["compile"]["diagnostics"]))

    def assert_undefined(self, result, output):
        self.assertEqual(result["verdict"], "fault", result["reason"])
        self.assertRegex(result["reason"], f"bytes of output {output} from offset 0 on come from UB or GM that nothing has written")

    def test_zero_in_every_type_run_and_order(self):
        self.assert_pass(self.run_filled(".InitValue(0)", ".InitValue(0)", types=tuple(GE_TYPES)))
        self.assert_pass(self.run_filled(".InitValue(0)", ".InitValue(0)", options=("--profile=strict", "--inputs=3", "--seeds=2")))
        self.assert_pass(self.run_filled(".InitValue(0)", ".InitValue(0)", options=("--scope=kernel",)))

    def test_both_calls_are_needed(self):
        for first, second, atomic, output in [
            (".InitValue(0)", ".InitValue(0)", "", "y"),
            (".InitValue(0)", ".InitValue(0)", "context->SetNeedAtomic(false);", "y"),
            ("", "", "context->SetNeedAtomic(true);", "y"),
            (".InitValue(0)", "", "context->SetNeedAtomic(true);", "z"),
        ]:
            with self.subTest(first=first, second=second, atomic=atomic):
                self.assert_undefined(self.run_filled(first, second, atomic=atomic), output)

    def test_an_output_without_one_is_the_kernel_s(self):
        """y is stored, z added to: only z needs a value before."""
        self.assert_pass(self.run_filled("", ".InitValue(0)", plain="// "))

    def test_values(self):
        """Of the scalar's type, whatever the output's is; of a list that of the case's data type; the last call counts."""
        one = ".InitValue({ScalarType::%s, %s})"
        for first, second, values, types in [
            (one % ("FLOAT32", "1.5"), one % ("FLOAT32", "-2"), ("1.5", "(-2)"), ["float32"]),
            (one % ("FLOAT16", "0.5"), one % ("FLOAT16", "-1024"), ("0.5", "(-1024)"), ["float16"]),
            (one % ("INT32", "-70000"), one % ("UINT32", "5u"), ("(-70000)", "5"), ["int32"]),
            (one % ("INT16", "-300"), one % ("UINT16", "7"), ("(-300)", "7"), ["int16"]),
            (one % ("INT8", "-5"), one % ("UINT8", "9"), ("(-5)", "9"), ["int8"]),
            (one % ("INT32", "0x40000000"), one % ("INT16", "0x4000"), ("2", "2.00390625"), ["float32"]),
            (one % ("UINT64", "0x3f8000003f800000"), one % ("INT64", "0x4000000040000000"), ("1", "2"), ["float32"]),
            (".InitValue(0)" + one % ("FLOAT32", "4"), one % ("FLOAT32", "4") + ".InitValue(0)", ("4", "0"), ["float32"]),
            (".InitValue({{ScalarType::FLOAT16, 3}, {ScalarType::FLOAT32, 3.0}, {ScalarType::INT32, 3}})",
             ".InitValue(std::vector<ScalarVar>{{ScalarType::FLOAT16, -1.f}, {ScalarType::FLOAT32, -1}, {ScalarType::INT32, -1}})",
             ("3", "(-1)"), ["float16", "float32", "int32"]),
        ]:
            with self.subTest(first=first, second=second):
                self.assert_pass(self.run_filled(first, second, values, types))
        self.assertEqual(self.run_filled(one % ("FLOAT32", "1.5"), ".InitValue(0)")["verdict"], "wrong")

    def test_what_cann_refuses(self):
        for call, message in [
            (".InitValue(1)", r"output 'y': InitValue\(1\): a plain number may only be 0"),
            (".InitValue(std::vector<ScalarVar>{{ScalarType::INT32, 1}})", "lists 1 values in InitValue and 2 data types"),
            (".InitValue({ScalarType::INVALID_DTYPE, 1})", "InitValue has the type 4294967295, which is none of ScalarType"),
        ]:
            with self.subTest(call=call):
                result = self.run_filled(call, ".InitValue(0)", types=("float32", "int32"))
                self.assertEqual(result["verdict"], "compile_error", result["reason"])
                self.assertRegex(result["reason"], message)

    def test_the_launch_that_fills_takes_time(self):
        """3.6 us: starting 48 AIVs once more. The same kernel, whose outputs the task itself zeroes, needs none."""
        filled = self.run_filled(".InitValue(0)", ".InitValue(0)")["cases"][0]["timing"]
        zeroed = self.run_filled("", "", init=", init: zero")["cases"][0]["timing"]
        self.assertAlmostEqual(filled["launch_us"] - zeroed["launch_us"], 3.6, delta=0.05)
        self.assertAlmostEqual(filled["us"] - zeroed["us"], 3.6, delta=0.05)


if __name__ == "__main__":
    unittest.main()
