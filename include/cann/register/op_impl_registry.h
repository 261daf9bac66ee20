// IMPL_OP_OPTILING and its relatives: functions registered under an operator type when host.so is loaded.
#ifndef CANN_REGISTER_OP_IMPL_REGISTRY_H
#define CANN_REGISTER_OP_IMPL_REGISTRY_H

#include "abi/op_abi.h"
#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/infer_shape_range_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "graph/operator.h"

#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gert
{
using TilingFunctionPointer = ge::graphStatus (*)(TilingContext *);

// The runtime knows these functions by their C signature: a context's address is its handle.
inline akgen_tiling_function *AkgenTiling(TilingFunctionPointer function)
{
    return reinterpret_cast<akgen_tiling_function *>(function);
}

class OpImplRegisterV2
{
  public:
    using InferShapeFunc = ge::graphStatus (*)(InferShapeContext *);
    using InferShapeRangeFunc = ge::graphStatus (*)(InferShapeRangeContext *);
    using InferDataTypeFunc = ge::graphStatus (*)(InferDataTypeContext *);
    using TilingKernelFunc = TilingFunctionPointer;
    using TilingParseFunc = ge::graphStatus (*)(TilingParseContext *);

    explicit OpImplRegisterV2(const char *op_type) : op_type_(op_type)
    {
    }
    OpImplRegisterV2 &InferShape(InferShapeFunc)
    {
        return *this;
    }
    OpImplRegisterV2 &InferShapeRange(InferShapeRangeFunc)
    {
        return *this;
    }
    OpImplRegisterV2 &InferDataType(InferDataTypeFunc)
    {
        return *this;
    }
    OpImplRegisterV2 &InferOutDataTypeSameWithFirstInput()
    {
        return *this;
    }
    OpImplRegisterV2 &OutputShapeDependOnCompute(std::initializer_list<int32_t>)
    {
        return *this;
    }
    OpImplRegisterV2 &HostInputs(std::initializer_list<int32_t>)
    {
        return *this;
    }
    OpImplRegisterV2 &Tiling(TilingKernelFunc function, size_t = 2048)
    {
        akgen_impl_tiling(op_type_, AkgenTiling(function));
        return *this;
    }
    template <typename T> OpImplRegisterV2 &TilingParse(TilingParseFunc function)
    {
        akgen_impl_tiling_parse(
            op_type_, reinterpret_cast<akgen_parse_function *>(function), []() -> void * { return new T(); },
            [](void *compile_info) { delete static_cast<T *>(compile_info); });
        return *this;
    }
    OpImplRegisterV2 &InputsDataDependency(std::initializer_list<int32_t> inputs)
    {
        return TilingInputsDataDependency(inputs);
    }
    OpImplRegisterV2 &TilingInputsDataDependency(std::initializer_list<int32_t> inputs)
    {
        for (const int32_t input : inputs)
            akgen_impl_value_depend(op_type_, static_cast<size_t>(input));
        return *this;
    }
    // Attributes of graphs beyond those of the OpDef; a call through the OpDef has none.
    OpImplRegisterV2 &PrivateAttr(const char *)
    {
        return *this;
    }
    template <typename T> OpImplRegisterV2 &PrivateAttr(const char *, const T &)
    {
        return *this;
    }
    template <typename T> OpImplRegisterV2 &PrivateAttr(const char *, std::initializer_list<T>)
    {
        return *this;
    }

  private:
    const char *op_type_;
};
using OpImplRegister = OpImplRegisterV2;
using OpImplKernelRegistry = OpImplRegisterV2;
} // namespace gert

#define AKGEN_IMPL_OP_NAME(counter) g_op_impl_##counter
#define AKGEN_IMPL_OP_EXPAND(op_type, count)                                                                           \
    [[maybe_unused]] static gert::OpImplRegisterV2 AKGEN_IMPL_OP_NAME(count) = gert::OpImplRegisterV2(#op_type)
#define IMPL_OP(op_type)            AKGEN_IMPL_OP_EXPAND(op_type, __COUNTER__)
#define IMPL_OP_INFERSHAPE(op_type) IMPL_OP(op_type)
#define IMPL_OP_INFER(op_type)      IMPL_OP(op_type)
#define IMPL_OP_OPTILING(op_type)   IMPL_OP(op_type)
#endif
