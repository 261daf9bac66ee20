// List attributes. Views: `this` is an akgen_vector, its elements follow it.
#ifndef CANN_EXE_GRAPH_RUNTIME_CONTINUOUS_VECTOR_H
#define CANN_EXE_GRAPH_RUNTIME_CONTINUOUS_VECTOR_H

#include "abi/op_abi.h"

#include <cstddef>

namespace gert
{
class ContinuousVector
{
  public:
    ContinuousVector() = delete;
    ContinuousVector(const ContinuousVector &) = delete;
    size_t GetSize() const
    {
        return View()->size;
    }
    size_t GetCapacity() const
    {
        return View()->capacity;
    }
    const void *GetData() const
    {
        return View() + 1;
    }

  private:
    const akgen_vector *View() const
    {
        return reinterpret_cast<const akgen_vector *>(this);
    }
};

template <typename T> class TypedContinuousVector : public ContinuousVector
{
  public:
    const T *GetData() const
    {
        return static_cast<const T *>(ContinuousVector::GetData());
    }
    const T *begin() const
    {
        return GetData();
    }
    const T *end() const
    {
        return GetData() + GetSize();
    }
};

class ContinuousVectorVector
{
  public:
    ContinuousVectorVector() = delete;
    ContinuousVectorVector(const ContinuousVectorVector &) = delete;
    size_t GetSize() const
    {
        return View()->size;
    }
    const ContinuousVector *Get(const size_t index) const
    {
        return index < View()->size ? reinterpret_cast<const ContinuousVector *>(View()->items[index]) : nullptr;
    }

  private:
    const akgen_vector_list *View() const
    {
        return reinterpret_cast<const akgen_vector_list *>(this);
    }
};
} // namespace gert
#endif
