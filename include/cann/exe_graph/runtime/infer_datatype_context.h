// gert::InferDataTypeContext: compiled, never called, because the task says every output's type.
#ifndef CANN_EXE_GRAPH_RUNTIME_INFER_DATATYPE_CONTEXT_H
#define CANN_EXE_GRAPH_RUNTIME_INFER_DATATYPE_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"
#include "graph/ge_error_codes.h"

namespace gert
{
class InferDataTypeContext : public ExtendedKernelContext
{
  public:
    ge::DataType GetInputDataType(const size_t) const
    {
        akgen_never_run("InferDataTypeContext::GetInputDataType");
    }
    ge::DataType GetOptionalInputDataType(const size_t) const
    {
        akgen_never_run("InferDataTypeContext::GetOptionalInputDataType");
    }
    ge::DataType GetRequiredInputDataType(const size_t) const
    {
        akgen_never_run("InferDataTypeContext::GetRequiredInputDataType");
    }
    ge::DataType GetDynamicInputDataType(const size_t, const size_t) const
    {
        akgen_never_run("InferDataTypeContext::GetDynamicInputDataType");
    }
    ge::DataType GetOutputDataType(const size_t) const
    {
        akgen_never_run("InferDataTypeContext::GetOutputDataType");
    }
    ge::graphStatus SetOutputDataType(const size_t, const ge::DataType)
    {
        akgen_never_run("InferDataTypeContext::SetOutputDataType");
    }
};
} // namespace gert
#endif
