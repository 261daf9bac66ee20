// gert::StorageShape: the shape an author thinks of and the shape in memory.
#ifndef CANN_EXE_GRAPH_RUNTIME_STORAGE_SHAPE_H
#define CANN_EXE_GRAPH_RUNTIME_STORAGE_SHAPE_H

#include "exe_graph/runtime/shape.h"

namespace gert
{
class StorageShape
{
  public:
    StorageShape() = default;
    StorageShape(const std::initializer_list<int64_t> &origin, const std::initializer_list<int64_t> &storage)
        : origin_(origin), storage_(storage)
    {
    }
    const Shape &GetOriginShape() const
    {
        return origin_;
    }
    // The original shape, under the name of newer releases.
    const Shape &GetShape() const
    {
        return origin_;
    }
    const Shape &GetStorageShape() const
    {
        return storage_;
    }
    Shape &MutableOriginShape()
    {
        return origin_;
    }
    Shape &MutableShape()
    {
        return origin_;
    }
    Shape &MutableStorageShape()
    {
        return storage_;
    }
    bool operator==(const StorageShape &other) const
    {
        return origin_ == other.origin_ && storage_ == other.storage_;
    }
    bool operator!=(const StorageShape &other) const
    {
        return !(*this == other);
    }

  private:
    Shape origin_;
    Shape storage_;
};
static_assert(sizeof(StorageShape) == sizeof(akgen_storage_shape), "a gert::StorageShape is an akgen_storage_shape");
} // namespace gert
#endif
