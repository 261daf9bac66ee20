// An operator with every kind of parameter. Its tiling function writes what it sees into the tiling data, where the
// test reads it.
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"
#include "platform/platform_info.h"
#include "graph/utils/type_utils.h"
#include "op_common/op_host/infershape_reduce_util.h"
#include "op_common/op_host/util/const_util.h"

namespace optiling
{
BEGIN_TILING_DATA_DEF(ProbeInner)
TILING_DATA_FIELD_DEF(uint16_t, small);
TILING_DATA_FIELD_DEF_ARR(uint16_t, 3, trio);
TILING_DATA_FIELD_DEF(uint8_t, last);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ProbeInnerOp, ProbeInner)

BEGIN_TILING_DATA_DEF(ProbeTilingData)
TILING_DATA_FIELD_DEF(uint8_t, inputs);
TILING_DATA_FIELD_DEF(uint32_t, elements);
TILING_DATA_FIELD_DEF(uint8_t, absent);
TILING_DATA_FIELD_DEF_STRUCT(ProbeInner, inner);
TILING_DATA_FIELD_DEF(uint8_t, dtype);
TILING_DATA_FIELD_DEF(int64_t, listDim);
TILING_DATA_FIELD_DEF(float, scale);
TILING_DATA_FIELD_DEF(int32_t, mode);
TILING_DATA_FIELD_DEF_ARR(int64_t, 2, axes);
TILING_DATA_FIELD_DEF(uint8_t, flag);
TILING_DATA_FIELD_DEF(uint16_t, nameLength);
TILING_DATA_FIELD_DEF(uint64_t, ub);
TILING_DATA_FIELD_DEF(uint32_t, cores);
TILING_DATA_FIELD_DEF(float, scalarValue);
TILING_DATA_FIELD_DEF(int64_t, kValue);
TILING_DATA_FIELD_DEF(uint32_t, listStart);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Probe, ProbeTilingData)

BEGIN_TILING_DATA_DEF(ProbeSmall)
TILING_DATA_FIELD_DEF(int8_t, only);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Probe_7, ProbeSmall)

struct CompileInfo {
    uint32_t cores = 0;
    uint64_t ub = 0;
};

static ge::graphStatus Prepare(gert::TilingParseContext *context)
{
    auto info = context->GetCompiledInfo<CompileInfo>();
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    info->cores = platform.GetCoreNumAiv();
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, info->ub);
    return ge::GRAPH_SUCCESS;
}

static ge::graphStatus Tiling(gert::TilingContext *context)
{
    const int64_t mode = *context->GetAttrs()->GetInt(1);
    if (mode == -1)
        return ge::GRAPH_FAILED;
    if (mode == -2) // no block dim
        return ge::GRAPH_SUCCESS;
    context->SetBlockDim(mode == -3 ? 0 : 40);
    size_t *workspace = context->GetWorkspaceSizes(2);
    workspace[0] = 1000;
    workspace[1] = 24;
    auto raw = context->GetRawTilingData();
    if (mode == 7) {
        ProbeSmall small;
        small.set_only(-5);
        context->SetTilingKey(7);
        small.SaveToBuffer(raw->GetData(), raw->GetCapacity());
        raw->SetDataSize(small.GetDataSize());
        return ge::GRAPH_SUCCESS;
    }
    if (mode == 8) { // the values of k, as opbase reads them
        const gert::Tensor *k = context->GetInputTensor(3);
        gert::Shape shape, again, reduced;
        int32_t number = 0;
        const bool right = Ops::Base::GetValueToShape<int64_t>(k, shape) && shape == gert::Shape({123456789012}) &&
                           Ops::Base::GetConstIntToShape(context, 3, again) && again == shape &&
                           Ops::Base::GetValueToInteger<int64_t>(k, number) &&
                           number == static_cast<int32_t>(123456789012) &&
                           !Ops::Base::GetValueToShape<float>(context->GetInputTensor(0), again) && again == shape &&
                           Ops::Base::ReduceDims<int64_t>(&shape, k, 1, true, &reduced) == ge::GRAPH_FAILED;
        context->SetTilingKey(right ? 8 : 9);
        return ge::GRAPH_SUCCESS;
    }
    ProbeTilingData tiling;
    const CompileInfo *info = context->GetCompileInfo<CompileInfo>();
    tiling.set_inputs(context->GetComputeNodeInputNum());
    tiling.set_elements(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
    tiling.set_absent(context->GetOptionalInputShape(1) == nullptr);
    uint16_t trio[] = {10, 20, 30, 40};
    tiling.inner.set_small(9);
    tiling.inner.set_trio(trio);
    tiling.inner.set_last(tiling.inner.get_trio()[2]);
    tiling.set_dtype(context->GetInputDesc(0)->GetDataType());
    tiling.set_listDim(context->GetDynamicInputShape(2, 1)->GetOriginShape().GetDim(0));
    tiling.set_scale(*context->GetAttrs()->GetFloat(0));
    tiling.set_mode(*context->GetAttrs()->GetAttrPointer<int32_t>(1));
    auto axes = context->GetAttrs()->GetListInt(2);
    if (axes->GetSize() != 2)
        return ge::GRAPH_PARAM_INVALID;
    int64_t copy[2] = {axes->GetData()[0], axes->GetData()[1]};
    tiling.set_axes(copy);
    tiling.set_flag(*context->GetAttrs()->GetBool(3));
    tiling.set_nameLength(strlen(context->GetAttrs()->GetStr(4)));
    tiling.set_ub(info->ub);
    tiling.set_cores(info->cores);
    tiling.set_scalarValue(*context->GetOptionalInputTensor(4)->GetData<float>());
    tiling.set_kValue(context->GetInputTensor(3)->GetData<int64_t>()[0]);
    tiling.set_listStart(context->GetIrInputInstanceInfo(2)->GetInstanceStart());
    context->SetTilingKey(3);
    const size_t room = mode == -4 ? 8 : raw->GetCapacity();
    tiling.SaveToBuffer(raw->GetData(), room);
    raw->SetDataSize(tiling.GetDataSize());
    return ge::GRAPH_SUCCESS;
}
IMPL_OP_OPTILING(Probe).Tiling(Tiling).TilingParse<CompileInfo>(Prepare);
} // namespace optiling

namespace ops
{
class Probe : public OpDef
{
  public:
    explicit Probe(const char *name) : OpDef(name)
    {
        std::vector<ge::DataType> types{ge::DT_FLOAT16, ge::DT_FLOAT};
        std::vector<ge::Format> formats(types.size(), ge::FORMAT_ND);
        this->Input("x").ParamType(REQUIRED).DataType(types).Format(formats).UnknownShapeFormat(formats);
        this->Input("w").ParamType(OPTIONAL).DataType(types).Format(formats).AutoContiguous();
        this->Input("list").ParamType(DYNAMIC).DataType(types).Format(formats);
        this->Input("k").ParamType(REQUIRED).DataTypeList({ge::DT_INT64}).Format(formats).ValueDepend(OPTIONAL);
        this->Input("s").Scalar().ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT}).Format(formats);
        this->Output("x").ParamType(REQUIRED).DataType(types).Format(formats);
        this->Output("y").ParamType(DYNAMIC).Follow("list").OutputShapeDependOnCompute();
        this->Attr("scale").AttrType(OPTIONAL).Float(0.5f);
        this->Attr("mode").AttrType(REQUIRED).Int();
        this->Attr("axes").AttrType(OPTIONAL).ListInt({3, -1});
        this->Attr("flag").AttrType(OPTIONAL).Bool(true);
        this->Attr("name").AttrType(OPTIONAL).String("mean");
        OpAICoreConfig config;
        config.DynamicCompileStaticFlag(true).DynamicShapeSupportFlag(true).ExtendCfgInfo("opFile.value", "probe");
        this->AICore().AddConfig("ascend910b", config).AddConfig("ascend910_93");
    }
};
OP_ADD(Probe);
} // namespace ops
