// gert::RuntimeAttrs: attribute values by OpDef index. What is stored is int64_t, float, bool, characters or a vector;
// as in CANN nothing checks that the reader asks for the same type.
#ifndef CANN_EXE_GRAPH_RUNTIME_RUNTIME_ATTRS_H
#define CANN_EXE_GRAPH_RUNTIME_RUNTIME_ATTRS_H

#include "exe_graph/runtime/continuous_vector.h"

#include <cstdint>

namespace gert
{
class RuntimeAttrs
{
  public:
    RuntimeAttrs() = delete;
    RuntimeAttrs(const RuntimeAttrs &) = delete;

    template <typename T> const T *GetAttrPointer(const size_t index) const
    {
        return static_cast<const T *>(akgen_attrs_get(reinterpret_cast<const akgen_attrs *>(this), index));
    }
    const int64_t *GetInt(const size_t index) const
    {
        return GetAttrPointer<int64_t>(index);
    }
    const float *GetFloat(const size_t index) const
    {
        return GetAttrPointer<float>(index);
    }
    const bool *GetBool(const size_t index) const
    {
        return GetAttrPointer<bool>(index);
    }
    const char *GetStr(const size_t index) const
    {
        return GetAttrPointer<char>(index);
    }
    const TypedContinuousVector<int64_t> *GetListInt(const size_t index) const
    {
        return GetAttrPointer<TypedContinuousVector<int64_t>>(index);
    }
    const TypedContinuousVector<float> *GetListFloat(const size_t index) const
    {
        return GetAttrPointer<TypedContinuousVector<float>>(index);
    }
    const ContinuousVectorVector *GetListListInt(const size_t index) const
    {
        return GetAttrPointer<ContinuousVectorVector>(index);
    }
    size_t GetAttrNum() const
    {
        return akgen_attrs_count(reinterpret_cast<const akgen_attrs *>(this));
    }
};
} // namespace gert
#endif
