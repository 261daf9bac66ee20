// The part of a context that tiling and its relatives share. `this` is an akgen_tiling_context.
#ifndef CANN_EXE_GRAPH_RUNTIME_EXTENDED_KERNEL_CONTEXT_H
#define CANN_EXE_GRAPH_RUNTIME_EXTENDED_KERNEL_CONTEXT_H

#include "exe_graph/runtime/compute_node_info.h"

namespace gert
{
class ExtendedKernelContext
{
  public:
    ExtendedKernelContext() = delete;
    ExtendedKernelContext(const ExtendedKernelContext &) = delete;
    ExtendedKernelContext &operator=(const ExtendedKernelContext &) = delete;

    const CompileTimeTensorDesc *GetInputDesc(const size_t index) const
    {
        return Desc(akgen_context_input(View(), index));
    }
    const CompileTimeTensorDesc *GetOptionalInputDesc(const size_t ir_index) const
    {
        return Desc(akgen_context_ir_input(View(), ir_index, 0));
    }
    const CompileTimeTensorDesc *GetRequiredInputDesc(const size_t ir_index) const
    {
        return Desc(akgen_context_ir_input(View(), ir_index, 0));
    }
    const CompileTimeTensorDesc *GetDynamicInputDesc(const size_t ir_index, const size_t relative_index) const
    {
        return Desc(akgen_context_ir_input(View(), ir_index, relative_index));
    }
    const CompileTimeTensorDesc *GetOutputDesc(const size_t index) const
    {
        return Desc(akgen_context_output(View(), index));
    }
    const CompileTimeTensorDesc *GetRequiredOutputDesc(const size_t ir_index) const
    {
        return Desc(akgen_context_ir_output(View(), ir_index, 0));
    }
    const CompileTimeTensorDesc *GetDynamicOutputDesc(const size_t ir_index, const size_t relative_index) const
    {
        return Desc(akgen_context_ir_output(View(), ir_index, relative_index));
    }
    const AnchorInstanceInfo *GetIrInputInstanceInfo(const size_t ir_index) const
    {
        return GetComputeNodeInfo()->GetInputInstanceInfo(ir_index);
    }
    const AnchorInstanceInfo *GetIrOutputInstanceInfo(const size_t ir_index) const
    {
        return GetComputeNodeInfo()->GetOutputInstanceInfo(ir_index);
    }
    const RuntimeAttrs *GetAttrs() const
    {
        return GetComputeNodeInfo()->GetAttrs();
    }
    size_t GetComputeNodeInputNum() const
    {
        return akgen_context_input_count(View());
    }
    size_t GetComputeNodeOutputNum() const
    {
        return akgen_context_output_count(View());
    }
    const char *GetNodeType() const
    {
        return akgen_context_node_type(View());
    }
    const char *GetNodeName() const
    {
        return akgen_context_node_name(View());
    }
    const ComputeNodeInfo *GetComputeNodeInfo() const
    {
        return reinterpret_cast<const ComputeNodeInfo *>(this);
    }

  protected:
    static const CompileTimeTensorDesc *Desc(const akgen_tensor *tensor)
    {
        return reinterpret_cast<const CompileTimeTensorDesc *>(tensor);
    }
    const akgen_tiling_context *View() const
    {
        return reinterpret_cast<const akgen_tiling_context *>(this);
    }
    akgen_tiling_context *View()
    {
        return reinterpret_cast<akgen_tiling_context *>(this);
    }
};
} // namespace gert
#endif
