// gert::Shape, a value of up to 25 dimensions.
#ifndef CANN_EXE_GRAPH_RUNTIME_SHAPE_H
#define CANN_EXE_GRAPH_RUNTIME_SHAPE_H

#include "abi/op_abi.h"
#include "graph/ge_error_codes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace gert
{
class Shape : private akgen_shape
{
  public:
    static constexpr size_t kMaxDimNum = AKGEN_MAX_RANK;
    static constexpr int64_t kInvalidDimValue = std::numeric_limits<int64_t>::min();

    Shape() : akgen_shape{}
    {
    }
    Shape(const std::initializer_list<int64_t> &dims) : akgen_shape{}
    {
        if (dims.size() > kMaxDimNum)
            return;
        for (const int64_t dim : dims)
            akgen_shape::dims[rank++] = dim;
    }
    bool operator==(const Shape &other) const
    {
        if (rank != other.rank)
            return false;
        for (size_t i = 0; i < rank; i++)
            if (dims[i] != other.dims[i])
                return false;
        return true;
    }
    bool operator!=(const Shape &other) const
    {
        return !(*this == other);
    }
    int64_t GetShapeSize() const
    {
        return akgen_shape_elements(this);
    }
    bool IsScalar() const
    {
        return rank == 0;
    }
    void SetScalar()
    {
        rank = 0;
    }
    size_t GetDimNum() const
    {
        return rank;
    }
    void SetDimNum(const size_t dim_num)
    {
        rank = dim_num;
    }
    int64_t GetDim(const size_t index) const
    {
        return index < kMaxDimNum ? dims[index] : kInvalidDimValue;
    }
    void SetDim(const size_t index, const int64_t value)
    {
        if (index < kMaxDimNum)
            dims[index] = value;
    }
    int64_t operator[](const size_t index) const
    {
        return GetDim(index);
    }
    int64_t &operator[](const size_t index)
    {
        return dims[index];
    }
    Shape &AppendDim(const int64_t value)
    {
        if (rank < kMaxDimNum)
            dims[rank++] = value;
        return *this;
    }
};
static_assert(sizeof(Shape) == sizeof(akgen_shape), "a gert::Shape is an akgen_shape");
} // namespace gert
#endif
