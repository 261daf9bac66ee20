// gert::Tensor: shape, type and, where tiling may read them, the values of a tensor. A view: `this` is an akgen_tensor.
#ifndef CANN_EXE_GRAPH_RUNTIME_TENSOR_H
#define CANN_EXE_GRAPH_RUNTIME_TENSOR_H

#include "exe_graph/runtime/storage_format.h"
#include "exe_graph/runtime/storage_shape.h"
#include "graph/types.h"

namespace gert
{
class Tensor
{
  public:
    Tensor() = delete;
    Tensor(const Tensor &) = delete;
    Tensor &operator=(const Tensor &) = delete;

    int64_t GetShapeSize() const
    {
        return GetStorageShape().GetShapeSize();
    }
    const StorageShape &GetShape() const
    {
        return *reinterpret_cast<const StorageShape *>(&View()->shape);
    }
    const Shape &GetOriginShape() const
    {
        return GetShape().GetOriginShape();
    }
    const Shape &GetStorageShape() const
    {
        return GetShape().GetStorageShape();
    }
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
    const void *GetAddr() const
    {
        return View()->values;
    }
    size_t GetSize() const
    {
        return View()->bytes;
    }
    template <typename T> const T *GetData() const
    {
        return static_cast<const T *>(View()->values);
    }

  private:
    const akgen_tensor *View() const
    {
        return reinterpret_cast<const akgen_tensor *>(this);
    }
};
} // namespace gert
#endif
