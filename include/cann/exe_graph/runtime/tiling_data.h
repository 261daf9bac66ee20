// gert::TilingData: the raw bytes that travel to the kernel.
#ifndef CANN_EXE_GRAPH_RUNTIME_TILING_DATA_H
#define CANN_EXE_GRAPH_RUNTIME_TILING_DATA_H

#include "abi/op_abi.h"
#include "graph/ge_error_codes.h"

#include <cstddef>
#include <type_traits>

namespace gert
{
class TilingData
{
  public:
    TilingData() = delete;
    TilingData(const TilingData &) = delete;

    size_t GetCapacity() const
    {
        return akgen_raw_capacity(reinterpret_cast<const akgen_raw_tiling *>(this));
    }
    size_t GetDataSize() const
    {
        return akgen_raw_size(reinterpret_cast<const akgen_raw_tiling *>(this));
    }
    void SetDataSize(const size_t size)
    {
        akgen_raw_set_size(reinterpret_cast<akgen_raw_tiling *>(this), size);
    }
    void *GetData()
    {
        return akgen_raw_data(reinterpret_cast<akgen_raw_tiling *>(this));
    }
    template <typename T, typename std::enable_if<std::is_standard_layout<T>::value, int>::type = 0>
    ge::graphStatus Append(const T &value)
    {
        return akgen_raw_append(reinterpret_cast<akgen_raw_tiling *>(this), &value, sizeof(T));
    }
    template <typename T, typename std::enable_if<std::is_standard_layout<T>::value, int>::type = 0>
    ge::graphStatus Append(const T *values, const size_t count)
    {
        return akgen_raw_append(reinterpret_cast<akgen_raw_tiling *>(this), values, count * sizeof(T));
    }
};
template <typename T> TilingData &operator<<(TilingData &out, const T &value)
{
    out.Append(value);
    return out;
}
} // namespace gert
#endif
