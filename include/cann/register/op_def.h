// ops::OpDef and its parts. The constructor of a candidate's class runs once, to describe the operator: every call is
// recorded by the host runtime. Parameters and attributes are handles: their classes have no members.
#ifndef CANN_REGISTER_OP_DEF_H
#define CANN_REGISTER_OP_DEF_H

#include "register/op_impl_registry.h"
#include "tiling/unsupported.h"

#include <iostream>
#include <memory>
#include <vector>

namespace optiling
{
using OP_CHECK_FUNC = ge::graphStatus (*)(const ge::Operator &op, ge::AscendString &result);
using PARAM_GENERALIZE_FUNC = ge::graphStatus (*)(const ge::Operator &op, const ge::AscendString &generalize_config,
                                                  ge::AscendString &generalized_op_params);
} // namespace optiling

namespace ops
{
enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class FormatCheckOption : uint32_t { DEFAULT = 0, STRICT = 1, MAX };
enum class DependScope : uint32_t { ALL = 0, TILING = 1, INVALID_SCOPE };
enum class FollowType : uint32_t { ALL = 0, DTYPE = 1, FORMAT = 2, SHAPE = 3, INVALID_TYPE };
enum class CommentSection : uint32_t {
    CATEGORY = 0,
    BRIEF = 1,
    CONSTRAINTS = 2,
    RESTRICTIONS = 3,
    SEE = 4,
    THIRDPARTYFWKCOMPAT = 5,
    SECTION_MAX
};
enum class HcclServerType : uint32_t { AICPU = 0, AICORE = 1, CCU = 2, MAX };
enum class AttrDataType {
    ATTR_DT_BOOL = 0,
    ATTR_DT_FLOAT = 1,
    ATTR_DT_INT = 2,
    ATTR_DT_STR = 3,
    ATTR_DT_LIST_BOOL = 4,
    ATTR_DT_LIST_FLOAT = 5,
    ATTR_DT_LIST_INT = 6,
    ATTR_DT_LIST_LIST_INT = 7,
    ATTR_DT_MAX
};
enum class ScalarType : uint32_t {
    UINT64 = 0,
    INT64 = 1,
    UINT32 = 2,
    INT32 = 3,
    UINT16 = 4,
    INT16 = 5,
    UINT8 = 6,
    INT8 = 7,
    FLOAT32 = 8,
    FLOAT16 = 9,
    INVALID_DTYPE = static_cast<uint32_t>(-1),
};
union ScalarNum {
    uint64_t value_u64;
    int64_t value_i64;
    float value_f32;
    ScalarNum() : value_u64(0)
    {
    }
    explicit ScalarNum(uint64_t value) : value_u64(value)
    {
    }
    explicit ScalarNum(int64_t value) : value_i64(value)
    {
    }
    explicit ScalarNum(float value) : value_f32(value)
    {
    }
};
struct ScalarVar {
    ScalarType scalar_type;
    ScalarNum scalar_num;
    ScalarVar() : scalar_type(ScalarType::INVALID_DTYPE)
    {
    }
    template <typename T>
    ScalarVar(ScalarType type, T value)
        : scalar_type(type), scalar_num(type == ScalarType::FLOAT32 || type == ScalarType::FLOAT16
                                            ? ScalarNum(static_cast<float>(value))
                                            : ScalarNum(static_cast<int64_t>(value)))
    {
    }
};

class OpParamDef
{
  public:
    OpParamDef() = delete;
    OpParamDef(const OpParamDef &) = delete;
    OpParamDef &operator=(const OpParamDef &) = delete;

    OpParamDef &ParamType(Option param_type)
    {
        akgen_param_type(Handle(), param_type);
        return *this;
    }
    OpParamDef &DataType(std::vector<ge::DataType> types)
    {
        akgen_param_dtypes(Handle(), Codes(types), types.size(), false);
        return *this;
    }
    OpParamDef &DataTypeList(std::vector<ge::DataType> types)
    {
        akgen_param_dtypes(Handle(), Codes(types), types.size(), true);
        return *this;
    }
    OpParamDef &Format(std::vector<ge::Format> formats)
    {
        akgen_param_formats(Handle(), Codes(formats), formats.size(), false);
        return *this;
    }
    OpParamDef &FormatList(std::vector<ge::Format> formats)
    {
        akgen_param_formats(Handle(), Codes(formats), formats.size(), true);
        return *this;
    }
    OpParamDef &ValueDepend(Option)
    {
        return Flag(AKGEN_PARAM_VALUE_DEPEND);
    }
    OpParamDef &ValueDepend(Option, DependScope)
    {
        return Flag(AKGEN_PARAM_VALUE_DEPEND);
    }
    OpParamDef &Scalar()
    {
        return Flag(AKGEN_PARAM_SCALAR);
    }
    OpParamDef &ScalarList()
    {
        return Flag(AKGEN_PARAM_SCALAR_LIST);
    }
    OpParamDef &OutputShapeDependOnCompute()
    {
        return Flag(AKGEN_PARAM_SHAPE_DEPENDS);
    }
    OpParamDef &Follow(const char *name)
    {
        return Follow(name, FollowType::ALL);
    }
    OpParamDef &Follow(const char *name, FollowType type)
    {
        akgen_param_follow(Handle(), name, static_cast<int>(type));
        return *this;
    }

    OpParamDef &InitValue(uint64_t value)
    {
        akgen_param_init_number(Handle(), value);
        return *this;
    }
    OpParamDef &InitValue(const ScalarVar &value)
    {
        akgen_param_init(Handle(), Scalars(&value), 1, false);
        return *this;
    }
    OpParamDef &InitValue(const std::vector<ScalarVar> &value)
    {
        akgen_param_init(Handle(), Scalars(value.data()), value.size(), true);
        return *this;
    }

    // What follows concerns binaries or aclnn signatures.
    OpParamDef &DataTypeForBinQuery(std::vector<ge::DataType>)
    {
        return *this;
    }
    OpParamDef &FormatForBinQuery(std::vector<ge::Format>)
    {
        return *this;
    }
    OpParamDef &UnknownShapeFormat(std::vector<ge::Format>)
    {
        return *this;
    }
    OpParamDef &IgnoreContiguous()
    {
        return *this;
    }
    OpParamDef &AutoContiguous()
    {
        return *this;
    }
    OpParamDef &To(const ge::DataType)
    {
        return *this;
    }
    OpParamDef &To(const char *)
    {
        return *this;
    }
    OpParamDef &Version(uint32_t)
    {
        return *this;
    }
    OpParamDef &Comment(const char *)
    {
        return *this;
    }

  private:
    template <typename T> static const int *Codes(const std::vector<T> &values)
    {
        static_assert(sizeof(T) == sizeof(int), "codes travel as int");
        return reinterpret_cast<const int *>(values.data());
    }
    static const akgen_scalar *Scalars(const ScalarVar *values)
    {
        static_assert(sizeof(ScalarVar) == sizeof(akgen_scalar), "values travel as akgen_scalar");
        return reinterpret_cast<const akgen_scalar *>(values);
    }
    OpParamDef &Flag(akgen_param_flag flag)
    {
        akgen_param_flag_set(Handle(), flag);
        return *this;
    }
    akgen_op_param *Handle()
    {
        return reinterpret_cast<akgen_op_param *>(this);
    }
};

class OpAttrDef
{
  public:
    OpAttrDef() = delete;
    OpAttrDef(const OpAttrDef &) = delete;
    OpAttrDef &operator=(const OpAttrDef &) = delete;

    OpAttrDef &AttrType(Option attr_type)
    {
        akgen_attr_option(Handle(), attr_type);
        return *this;
    }
    OpAttrDef &Bool()
    {
        return Type(AttrDataType::ATTR_DT_BOOL);
    }
    OpAttrDef &Bool(bool value)
    {
        akgen_attr_bool(Handle(), value);
        return *this;
    }
    OpAttrDef &Float()
    {
        return Type(AttrDataType::ATTR_DT_FLOAT);
    }
    OpAttrDef &Float(float value)
    {
        akgen_attr_float(Handle(), value);
        return *this;
    }
    OpAttrDef &Int()
    {
        return Type(AttrDataType::ATTR_DT_INT);
    }
    OpAttrDef &Int(int64_t value)
    {
        akgen_attr_int(Handle(), value);
        return *this;
    }
    OpAttrDef &String()
    {
        return Type(AttrDataType::ATTR_DT_STR);
    }
    OpAttrDef &String(const char *value)
    {
        akgen_attr_string(Handle(), value);
        return *this;
    }
    OpAttrDef &ListBool()
    {
        return Type(AttrDataType::ATTR_DT_LIST_BOOL);
    }
    OpAttrDef &ListBool(std::vector<bool> values)
    {
        akgen_attr_default_list(Handle(), static_cast<int>(AttrDataType::ATTR_DT_LIST_BOOL));
        for (const bool value : values)
            akgen_attr_append_bool(Handle(), value);
        return *this;
    }
    OpAttrDef &ListFloat()
    {
        return Type(AttrDataType::ATTR_DT_LIST_FLOAT);
    }
    OpAttrDef &ListFloat(std::vector<float> values)
    {
        akgen_attr_default_list(Handle(), static_cast<int>(AttrDataType::ATTR_DT_LIST_FLOAT));
        for (const float value : values)
            akgen_attr_append_float(Handle(), value);
        return *this;
    }
    OpAttrDef &ListInt()
    {
        return Type(AttrDataType::ATTR_DT_LIST_INT);
    }
    OpAttrDef &ListInt(std::vector<int64_t> values)
    {
        akgen_attr_default_list(Handle(), static_cast<int>(AttrDataType::ATTR_DT_LIST_INT));
        for (const int64_t value : values)
            akgen_attr_append_int(Handle(), value);
        return *this;
    }
    OpAttrDef &ListListInt()
    {
        return Type(AttrDataType::ATTR_DT_LIST_LIST_INT);
    }
    OpAttrDef &ListListInt(std::vector<std::vector<int64_t>> values)
    {
        akgen_attr_default_list(Handle(), static_cast<int>(AttrDataType::ATTR_DT_LIST_LIST_INT));
        for (const std::vector<int64_t> &row : values)
            akgen_attr_append_ints(Handle(), row.data(), row.size());
        return *this;
    }
    OpAttrDef &Version(uint32_t)
    {
        return *this;
    }
    OpAttrDef &Comment(const char *)
    {
        return *this;
    }
    AKGEN_UNSUPPORTED("OpAttrDef::GetName") ge::AscendString &GetName() const;
    bool IsRequired()
    {
        return akgen_attr_is_required(Handle());
    }

  private:
    OpAttrDef &Type(AttrDataType type)
    {
        akgen_attr_type(Handle(), static_cast<int>(type));
        return *this;
    }
    akgen_op_attr *Handle()
    {
        return reinterpret_cast<akgen_op_attr *>(this);
    }
};

// Flags of one SoC. They steer CANN's compiler, which has no counterpart here; parameters declared on a configuration
// replace the operator's own for that SoC.
class OpAICoreConfig
{
  public:
    OpAICoreConfig() : OpAICoreConfig("")
    {
    }
    OpAICoreConfig(const char *soc) : def_(akgen_def_new(soc))
    {
    }
    OpAICoreConfig(const OpAICoreConfig &other) : def_(akgen_def_copy(other.def_))
    {
    }
    OpAICoreConfig &operator=(const OpAICoreConfig &other)
    {
        if (this != &other) {
            akgen_def_free(def_);
            def_ = akgen_def_copy(other.def_);
        }
        return *this;
    }
    ~OpAICoreConfig()
    {
        akgen_def_free(def_);
    }
    OpParamDef &Input(const char *name)
    {
        return *reinterpret_cast<OpParamDef *>(akgen_def_input(def_, name));
    }
    OpParamDef &Output(const char *name)
    {
        return *reinterpret_cast<OpParamDef *>(akgen_def_output(def_, name));
    }
    OpAICoreConfig &DynamicCompileStaticFlag(bool)
    {
        return *this;
    }
    OpAICoreConfig &DynamicFormatFlag(bool)
    {
        return *this;
    }
    OpAICoreConfig &DynamicRankSupportFlag(bool)
    {
        return *this;
    }
    OpAICoreConfig &DynamicShapeSupportFlag(bool)
    {
        return *this;
    }
    OpAICoreConfig &NeedCheckSupportFlag(bool)
    {
        return *this;
    }
    OpAICoreConfig &PrecisionReduceFlag(bool)
    {
        return *this;
    }
    OpAICoreConfig &ExtendCfgInfo(const char *, const char *)
    {
        return *this;
    }

  private:
    friend class OpAICoreDef;
    akgen_op_def *def_;
};

class OpAICoreDef
{
  public:
    explicit OpAICoreDef(akgen_op_def *def) : def_(def)
    {
    }
    OpAICoreDef &SetTiling(gert::TilingFunctionPointer function)
    {
        akgen_def_set_tiling(def_, gert::AkgenTiling(function));
        return *this;
    }
    OpAICoreDef &AddConfig(const char *soc)
    {
        akgen_def_add_config(def_, soc, nullptr);
        return *this;
    }
    OpAICoreDef &AddConfig(const char *soc, OpAICoreConfig &config)
    {
        akgen_def_add_config(def_, soc, config.def_);
        return *this;
    }
    // Graph-mode checks; nothing here asks them.
    OpAICoreDef &SetCheckSupport(optiling::OP_CHECK_FUNC)
    {
        return *this;
    }
    OpAICoreDef &SetOpSelectFormat(optiling::OP_CHECK_FUNC)
    {
        return *this;
    }
    OpAICoreDef &SetOpSupportInfo(optiling::OP_CHECK_FUNC)
    {
        return *this;
    }
    OpAICoreDef &SetOpSpecInfo(optiling::OP_CHECK_FUNC)
    {
        return *this;
    }
    OpAICoreDef &SetParamGeneralize(optiling::PARAM_GENERALIZE_FUNC)
    {
        return *this;
    }
    OpAICoreDef &LaunchWithZeroEleOutputTensors(bool)
    {
        return *this;
    }

  private:
    akgen_op_def *def_;
};

class OpMC2Def
{
  public:
    OpMC2Def &HcclGroup(const char *)
    {
        return *this;
    }
    OpMC2Def &HcclGroup(std::vector<const char *>)
    {
        return *this;
    }
    void HcclServerType(enum HcclServerType, const char * = nullptr)
    {
    }
};

class OpDef
{
  public:
    explicit OpDef(const char *type) : def_(akgen_def_new(type)), aicore_(def_)
    {
    }
    OpDef(const OpDef &) = delete;
    OpDef &operator=(const OpDef &) = delete;
    ~OpDef()
    {
        akgen_def_free(def_);
    }
    OpParamDef &Input(const char *name)
    {
        return *reinterpret_cast<OpParamDef *>(akgen_def_input(def_, name));
    }
    OpParamDef &Output(const char *name)
    {
        return *reinterpret_cast<OpParamDef *>(akgen_def_output(def_, name));
    }
    OpAttrDef &Attr(const char *name)
    {
        return *reinterpret_cast<OpAttrDef *>(akgen_def_attr(def_, name));
    }
    OpAICoreDef &AICore()
    {
        return aicore_;
    }
    OpMC2Def &MC2()
    {
        return mc2_;
    }
    // Shapes and types of outputs come from the task, so inference is compiled and never called.
    OpDef &SetInferShape(gert::OpImplRegisterV2::InferShapeFunc)
    {
        return *this;
    }
    OpDef &SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeFunc)
    {
        return *this;
    }
    OpDef &SetInferDataType(gert::OpImplRegisterV2::InferDataTypeFunc)
    {
        return *this;
    }
    OpDef &Comment(CommentSection, const char *)
    {
        return *this;
    }
    OpDef &Comment(const char *)
    {
        return *this;
    }
    void FormatMatchMode(FormatCheckOption)
    {
    }
    void EnableFallBack()
    {
    }

    // Hands the recorded definition to the runtime (OP_ADD).
    akgen_op_def *AkgenRelease()
    {
        akgen_op_def *def = def_;
        def_ = nullptr;
        return def;
    }

  private:
    akgen_op_def *def_;
    OpAICoreDef aicore_;
    OpMC2Def mc2_;
};
} // namespace ops
#endif
