// gert::InferShapeRangeContext: compiled, never called.
#ifndef CANN_EXE_GRAPH_RUNTIME_INFER_SHAPE_RANGE_CONTEXT_H
#define CANN_EXE_GRAPH_RUNTIME_INFER_SHAPE_RANGE_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/tensor.h"

namespace gert
{
template <typename T> class Range
{
  public:
    const T *GetMin() const
    {
        akgen_never_run("Range::GetMin");
    }
    const T *GetMax() const
    {
        akgen_never_run("Range::GetMax");
    }
    T *GetMin()
    {
        akgen_never_run("Range::GetMin");
    }
    T *GetMax()
    {
        akgen_never_run("Range::GetMax");
    }
    void SetMin(T *)
    {
        akgen_never_run("Range::SetMin");
    }
    void SetMax(T *)
    {
        akgen_never_run("Range::SetMax");
    }
};

class InferShapeRangeContext : public ExtendedKernelContext
{
  public:
    const Range<Shape> *GetInputShapeRange(const size_t) const
    {
        akgen_never_run("InferShapeRangeContext::GetInputShapeRange");
    }
    Range<Shape> *GetOutputShapeRange(const size_t)
    {
        akgen_never_run("InferShapeRangeContext::GetOutputShapeRange");
    }
};
} // namespace gert
#endif
