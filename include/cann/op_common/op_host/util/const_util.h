// Values of inputs that tiling reads (opbase, op_common/op_host/util/const_util.h).
#ifndef CANN_OP_COMMON_OP_HOST_UTIL_CONST_UTIL_H
#define CANN_OP_COMMON_OP_HOST_UTIL_CONST_UTIL_H

#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "op_common/log/log.h"

namespace Ops
{
namespace Base
{
using namespace ge;

// Calls `take` with the values of the tensor's integer type; false for a tensor without values or of another type.
template <typename Take> bool AkgenWithIntegers(const gert::Tensor *tensor, Take take)
{
    const auto with = [&](const auto *values) { return values != nullptr && take(values); };
    switch (tensor == nullptr ? ge::DT_UNDEFINED : tensor->GetDataType()) {
    case ge::DT_INT32:
        return with(tensor->template GetData<int32_t>());
    case ge::DT_INT64:
        return with(tensor->template GetData<int64_t>());
    case ge::DT_UINT32:
        return with(tensor->template GetData<uint32_t>());
    case ge::DT_UINT64:
        return with(tensor->template GetData<uint64_t>());
    default:
        OP_LOGE("GetConstInt", "an input is missing or not of int32, int64, uint32 or uint64");
        return false;
    }
}
// The first value of a tensor that holds T; false for one without values.
template <typename T, typename Value> bool GetValueToInteger(const gert::Tensor *tensor, Value &value)
{
    const T *values = tensor->GetData<T>();
    if (values == nullptr || tensor->GetSize() == 0) {
        OP_LOGE("GetValueToInteger", "the tensor has no values");
        return false;
    }
    value = static_cast<Value>(values[0]);
    return true;
}
// All values of a tensor that holds T, as a shape.
template <typename T> bool GetValueToShape(const gert::Tensor *tensor, gert::Shape &shape)
{
    const T *values = tensor->GetData<T>();
    if (values == nullptr) {
        OP_LOGE("GetValueToShape", "the tensor has no values");
        return false;
    }
    shape.SetDimNum(0);
    for (int64_t i = 0; i < tensor->GetShapeSize(); i++)
        shape.AppendDim(static_cast<int64_t>(values[i]));
    return true;
}
// The first value of input `inputIdx`.
template <typename ContextType, typename T> bool GetConstInt(const ContextType *context, int64_t inputIdx, T &value)
{
    return context != nullptr && AkgenWithIntegers(context->GetInputTensor(inputIdx), [&](const auto *values) {
               value = static_cast<T>(values[0]);
               return true;
           });
}
// All values of input `inputIdx`, as a shape.
template <typename ContextType>
bool GetConstIntToShape(const ContextType *context, int64_t inputIdx, gert::Shape &shape)
{
    if (context == nullptr)
        return false;
    const gert::Tensor *tensor = context->GetInputTensor(inputIdx);
    return AkgenWithIntegers(tensor, [&](const auto *values) {
        shape.SetDimNum(0);
        for (int64_t i = 0; i < tensor->GetShapeSize(); i++)
            shape.AppendDim(static_cast<int64_t>(values[i]));
        return true;
    });
}
} // namespace Base
} // namespace Ops
#endif
