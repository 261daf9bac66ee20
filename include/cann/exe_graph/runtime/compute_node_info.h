// What is known about the operator before it runs: its tensors' types and how they are bound to the OpDef. Views.
#ifndef CANN_EXE_GRAPH_RUNTIME_COMPUTE_NODE_INFO_H
#define CANN_EXE_GRAPH_RUNTIME_COMPUTE_NODE_INFO_H

#include "abi/op_abi.h"
#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/storage_format.h"
#include "graph/types.h"

namespace gert
{
// How many tensors an OpDef parameter has, and the position of the first one.
class AnchorInstanceInfo
{
  public:
    AnchorInstanceInfo() = delete;
    size_t GetInstanceNum() const
    {
        return reinterpret_cast<const akgen_instance *>(this)->count;
    }
    size_t GetInstanceStart() const
    {
        return reinterpret_cast<const akgen_instance *>(this)->first;
    }
};

class CompileTimeTensorDesc
{
  public:
    CompileTimeTensorDesc() = delete;
    ge::DataType GetDataType() const
    {
        return static_cast<ge::DataType>(View()->dtype);
    }
    ge::Format GetStorageFormat() const
    {
        return static_cast<ge::Format>(View()->storage_format);
    }
    ge::Format GetOriginFormat() const
    {
        return static_cast<ge::Format>(View()->origin_format);
    }
    StorageFormat GetFormat() const
    {
        return {GetOriginFormat(), GetStorageFormat()};
    }

  private:
    const akgen_tensor *View() const
    {
        return reinterpret_cast<const akgen_tensor *>(this);
    }
};

class ComputeNodeInfo
{
  public:
    ComputeNodeInfo() = delete;
    const char *GetNodeType() const
    {
        return akgen_context_node_type(View());
    }
    const char *GetNodeName() const
    {
        return akgen_context_node_name(View());
    }
    size_t GetIrInputsNum() const
    {
        return akgen_context_ir_input_count(View());
    }
    size_t GetIrOutputsNum() const
    {
        return akgen_context_ir_output_count(View());
    }
    size_t GetInputsNum() const
    {
        return akgen_context_input_count(View());
    }
    size_t GetOutputsNum() const
    {
        return akgen_context_output_count(View());
    }
    const AnchorInstanceInfo *GetInputInstanceInfo(const size_t ir_index) const
    {
        return reinterpret_cast<const AnchorInstanceInfo *>(akgen_context_input_instance(View(), ir_index));
    }
    const AnchorInstanceInfo *GetOutputInstanceInfo(const size_t ir_index) const
    {
        return reinterpret_cast<const AnchorInstanceInfo *>(akgen_context_output_instance(View(), ir_index));
    }
    const CompileTimeTensorDesc *GetInputTdInfo(const size_t index) const
    {
        return reinterpret_cast<const CompileTimeTensorDesc *>(akgen_context_input(View(), index));
    }
    const CompileTimeTensorDesc *GetOutputTdInfo(const size_t index) const
    {
        return reinterpret_cast<const CompileTimeTensorDesc *>(akgen_context_output(View(), index));
    }
    const RuntimeAttrs *GetAttrs() const
    {
        return reinterpret_cast<const RuntimeAttrs *>(akgen_context_attrs(View()));
    }

  private:
    const akgen_tiling_context *View() const
    {
        return reinterpret_cast<const akgen_tiling_context *>(this);
    }
};
} // namespace gert
#endif
