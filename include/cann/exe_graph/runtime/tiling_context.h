// gert::TilingContext: what a tiling function reads and sets.
#ifndef CANN_EXE_GRAPH_RUNTIME_TILING_CONTEXT_H
#define CANN_EXE_GRAPH_RUNTIME_TILING_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/tensor.h"
#include "exe_graph/runtime/tiling_data.h"

namespace fe
{
class PlatFormInfos;
}

namespace gert
{
class TilingContext : public ExtendedKernelContext
{
  public:
    const void *GetCompileInfo() const
    {
        return akgen_context_compile_info(View());
    }
    template <typename T> const T *GetCompileInfo() const
    {
        return static_cast<const T *>(GetCompileInfo());
    }
    fe::PlatFormInfos *GetPlatformInfo() const
    {
        return reinterpret_cast<fe::PlatFormInfos *>(akgen_context_platform(View()));
    }
    int32_t GetDeterministic() const
    {
        return akgen_context_deterministic(View());
    }
    int32_t GetDeterministicLevel() const
    {
        return akgen_context_deterministic(View());
    }

    // Shapes and tensors.
    const StorageShape *GetInputShape(const size_t index) const
    {
        return AsShape(akgen_context_input(View(), index));
    }
    const StorageShape *GetOptionalInputShape(const size_t ir_index) const
    {
        return AsShape(akgen_context_ir_input(View(), ir_index, 0));
    }
    const StorageShape *GetRequiredInputShape(const size_t ir_index) const
    {
        return AsShape(akgen_context_ir_input(View(), ir_index, 0));
    }
    const StorageShape *GetDynamicInputShape(const size_t ir_index, const size_t relative_index) const
    {
        return AsShape(akgen_context_ir_input(View(), ir_index, relative_index));
    }
    const Tensor *GetInputTensor(const size_t index) const
    {
        return AsTensor(akgen_context_input(View(), index));
    }
    const Tensor *GetOptionalInputTensor(const size_t ir_index) const
    {
        return AsTensor(akgen_context_ir_input(View(), ir_index, 0));
    }
    const Tensor *GetRequiredInputTensor(const size_t ir_index) const
    {
        return AsTensor(akgen_context_ir_input(View(), ir_index, 0));
    }
    const Tensor *GetDynamicInputTensor(const size_t ir_index, const size_t relative_index) const
    {
        return AsTensor(akgen_context_ir_input(View(), ir_index, relative_index));
    }
    const StorageShape *GetOutputShape(const size_t index) const
    {
        return AsShape(akgen_context_output(View(), index));
    }

    // Results.
    ge::graphStatus SetTilingKey(const uint64_t tiling_key)
    {
        return Set(AKGEN_TILING_KEY, tiling_key);
    }
    uint64_t GetTilingKey() const
    {
        return akgen_context_get(View(), AKGEN_TILING_KEY);
    }
    ge::graphStatus SetBlockDim(const uint32_t block_dim)
    {
        return Set(AKGEN_BLOCK_DIM, block_dim);
    }
    uint32_t GetBlockDim() const
    {
        return Get32(AKGEN_BLOCK_DIM);
    }
    ge::graphStatus SetSimdNumBlocks(const uint32_t num_blocks)
    {
        return Set(AKGEN_BLOCK_DIM, num_blocks);
    }
    uint32_t GetSimdNumBlocks() const
    {
        return Get32(AKGEN_BLOCK_DIM);
    }
    ge::graphStatus SetAicpuBlockDim(const uint32_t block_dim)
    {
        return Set(AKGEN_AICPU_BLOCK_DIM, block_dim);
    }
    uint32_t GetAicpuBlockDim() const
    {
        return Get32(AKGEN_AICPU_BLOCK_DIM);
    }
    ge::graphStatus SetScheduleMode(const uint32_t mode)
    {
        return Set(AKGEN_SCHEDULE_MODE, mode);
    }
    uint32_t GetScheduleMode() const
    {
        return Get32(AKGEN_SCHEDULE_MODE);
    }
    ge::graphStatus SetNeedAtomic(const bool atomic)
    {
        return Set(AKGEN_NEED_ATOMIC, atomic);
    }
    bool NeedAtomic() const
    {
        return akgen_context_get(View(), AKGEN_NEED_ATOMIC) != 0;
    }
    ge::graphStatus SetTilingCond(const int32_t condition)
    {
        return Set(AKGEN_TILING_COND, static_cast<uint32_t>(condition));
    }
    int32_t GetTilingCond() const
    {
        return static_cast<int32_t>(Get32(AKGEN_TILING_COND));
    }
    ge::graphStatus SetLocalMemorySize(const uint32_t bytes)
    {
        return Set(AKGEN_LOCAL_MEMORY_SIZE, bytes);
    }
    uint32_t GetLocalMemorySize() const
    {
        return Get32(AKGEN_LOCAL_MEMORY_SIZE);
    }
    TilingData *GetRawTilingData()
    {
        return reinterpret_cast<TilingData *>(akgen_context_raw_tiling(View()));
    }
    template <typename T> T *GetTilingData()
    {
        TilingData *raw = GetRawTilingData();
        if (raw->GetCapacity() < sizeof(T))
            return nullptr;
        raw->SetDataSize(sizeof(T));
        return static_cast<T *>(raw->GetData());
    }
    size_t *GetWorkspaceSizes(const size_t workspace_count)
    {
        return akgen_context_workspaces(View(), workspace_count);
    }
    size_t GetWorkspaceNum() const
    {
        return akgen_context_workspace_count(View());
    }

  private:
    static const StorageShape *AsShape(const akgen_tensor *tensor)
    {
        return tensor ? reinterpret_cast<const StorageShape *>(&tensor->shape) : nullptr;
    }
    static const Tensor *AsTensor(const akgen_tensor *tensor)
    {
        return reinterpret_cast<const Tensor *>(tensor);
    }
    ge::graphStatus Set(akgen_context_number which, uint64_t value)
    {
        akgen_context_set(View(), which, value);
        return ge::GRAPH_SUCCESS;
    }
    uint32_t Get32(akgen_context_number which) const
    {
        return static_cast<uint32_t>(akgen_context_get(View(), which));
    }
};
} // namespace gert
#endif
