// gert::InferShapeContext: compiled, never called, because the task says every output's shape.
#ifndef CANN_EXE_GRAPH_RUNTIME_INFER_SHAPE_CONTEXT_H
#define CANN_EXE_GRAPH_RUNTIME_INFER_SHAPE_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/tensor.h"

namespace gert
{
class InferShapeContext : public ExtendedKernelContext
{
  public:
    const Shape *GetInputShape(const size_t) const
    {
        akgen_never_run("InferShapeContext::GetInputShape");
    }
    const Shape *GetOptionalInputShape(const size_t) const
    {
        akgen_never_run("InferShapeContext::GetOptionalInputShape");
    }
    const Shape *GetRequiredInputShape(const size_t) const
    {
        akgen_never_run("InferShapeContext::GetRequiredInputShape");
    }
    const Shape *GetDynamicInputShape(const size_t, const size_t) const
    {
        akgen_never_run("InferShapeContext::GetDynamicInputShape");
    }
    const Tensor *GetInputTensor(const size_t) const
    {
        akgen_never_run("InferShapeContext::GetInputTensor");
    }
    const Tensor *GetOptionalInputTensor(const size_t) const
    {
        akgen_never_run("InferShapeContext::GetOptionalInputTensor");
    }
    const Tensor *GetDynamicInputTensor(const size_t, const size_t) const
    {
        akgen_never_run("InferShapeContext::GetDynamicInputTensor");
    }
    Shape *GetOutputShape(const size_t)
    {
        akgen_never_run("InferShapeContext::GetOutputShape");
    }
};
} // namespace gert
#endif
