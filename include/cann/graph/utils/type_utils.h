// ge::TypeUtils: names and sizes of element types and formats.
#ifndef CANN_GRAPH_UTILS_TYPE_UTILS_H
#define CANN_GRAPH_UTILS_TYPE_UTILS_H

#include "graph/ascend_string.h"
#include "graph/ge_error_codes.h"
#include "graph/types.h"

namespace ge
{
class TypeUtils
{
  public:
    static std::string DataTypeToSerialString(const DataType type)
    {
        return akgen_ge_dtype_name(type);
    }
    static AscendString DataTypeToAscendString(const DataType &type)
    {
        return AscendString(akgen_ge_dtype_name(type));
    }
    // "FRACTAL_Z:4" for four groups.
    static std::string FormatToSerialString(const Format format)
    {
        const std::string name = akgen_ge_format_name(GetPrimaryFormat(format));
        return HasSubFormat(format) ? name + ":" + std::to_string(GetSubFormat(format)) : name;
    }
    static AscendString FormatToAscendString(const Format &format)
    {
        return AscendString(FormatToSerialString(format).c_str());
    }
    static bool IsDataTypeValid(const DataType type)
    {
        return type >= DT_FLOAT && type < DT_MAX && type != DT_UNDEFINED;
    }
    static bool GetDataTypeLength(const DataType type, uint32_t &length)
    {
        const int bytes = akgen_ge_dtype_size(type);
        if (bytes < 0)
            return false;
        length = static_cast<uint32_t>(bytes);
        return true;
    }
};
} // namespace ge
#endif
