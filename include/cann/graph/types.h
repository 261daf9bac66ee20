// ge::DataType and ge::Format with CANN's numbers (CANN 8.1 graph/types.h).
#ifndef CANN_GRAPH_TYPES_H
#define CANN_GRAPH_TYPES_H

#include "abi/c_codes.h"
#include "abi/op_abi.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace ge
{
using char_t = char;
using float32_t = float;
using float64_t = double;

enum DataType {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_STRING = 13,
    DT_DUAL_SUB_INT8 = 14,
    DT_DUAL_SUB_UINT8 = 15,
    DT_COMPLEX64 = 16,
    DT_COMPLEX128 = 17,
    DT_QINT8 = 18,
    DT_QINT16 = 19,
    DT_QINT32 = 20,
    DT_QUINT8 = 21,
    DT_QUINT16 = 22,
    DT_RESOURCE = 23,
    DT_STRING_REF = 24,
    DT_DUAL = 25,
    DT_VARIANT = 26,
    DT_BF16 = 27,
    DT_UNDEFINED = 28,
    DT_INT4 = 29,
    DT_UINT1 = 30,
    DT_INT2 = 31,
    DT_UINT2 = 32,
    DT_COMPLEX32 = 33,
    DT_HIFLOAT8 = 34,
    DT_FLOAT8_E5M2 = 35,
    DT_FLOAT8_E4M3FN = 36,
    DT_FLOAT8_E8M0 = 37,
    DT_FLOAT6_E3M2 = 38,
    DT_FLOAT6_E2M3 = 39,
    DT_FLOAT4_E2M1 = 40,
    DT_FLOAT4_E1M2 = 41,
    DT_MAX
};

enum Format {
    FORMAT_NCHW = 0,
    FORMAT_NHWC = 1,
    FORMAT_ND = 2,
    FORMAT_NC1HWC0 = 3,
    FORMAT_FRACTAL_Z = 4,
    FORMAT_NC1C0HWPAD = 5,
    FORMAT_NHWC1C0 = 6,
    FORMAT_FSR_NCHW = 7,
    FORMAT_FRACTAL_DECONV = 8,
    FORMAT_C1HWNC0 = 9,
    FORMAT_FRACTAL_DECONV_TRANSPOSE = 10,
    FORMAT_FRACTAL_DECONV_SP_STRIDE_TRANS = 11,
    FORMAT_NC1HWC0_C04 = 12,
    FORMAT_FRACTAL_Z_C04 = 13,
    FORMAT_CHWN = 14,
    FORMAT_FRACTAL_DECONV_SP_STRIDE8_TRANS = 15,
    FORMAT_HWCN = 16,
    FORMAT_NC1KHKWHWC0 = 17,
    FORMAT_BN_WEIGHT = 18,
    FORMAT_FILTER_HWCK = 19,
    FORMAT_HASHTABLE_LOOKUP_LOOKUPS = 20,
    FORMAT_HASHTABLE_LOOKUP_KEYS = 21,
    FORMAT_HASHTABLE_LOOKUP_VALUE = 22,
    FORMAT_HASHTABLE_LOOKUP_OUTPUT = 23,
    FORMAT_HASHTABLE_LOOKUP_HITS = 24,
    FORMAT_C1HWNCoC0 = 25,
    FORMAT_MD = 26,
    FORMAT_NDHWC = 27,
    FORMAT_FRACTAL_ZZ = 28,
    FORMAT_FRACTAL_NZ = 29,
    FORMAT_NCDHW = 30,
    FORMAT_DHWCN = 31,
    FORMAT_NDC1HWC0 = 32,
    FORMAT_FRACTAL_Z_3D = 33,
    FORMAT_CN = 34,
    FORMAT_NC = 35,
    FORMAT_DHWNC = 36,
    FORMAT_FRACTAL_Z_3D_TRANSPOSE = 37,
    FORMAT_FRACTAL_ZN_LSTM = 38,
    FORMAT_FRACTAL_Z_G = 39,
    FORMAT_RESERVED = 40,
    FORMAT_ALL = 41,
    FORMAT_NULL = 42,
    FORMAT_ND_RNN_BIAS = 43,
    FORMAT_FRACTAL_ZN_RNN = 44,
    FORMAT_NYUV = 45,
    FORMAT_NYUV_A = 46,
    FORMAT_NCL = 47,
    FORMAT_FRACTAL_Z_WINO = 48,
    FORMAT_C1HWC0 = 49,
    FORMAT_FRACTAL_NZ_C0_16 = 50,
    FORMAT_FRACTAL_NZ_C0_32 = 51,
    FORMAT_FRACTAL_NZ_C0_2 = 52,
    FORMAT_FRACTAL_NZ_C0_4 = 53,
    FORMAT_FRACTAL_NZ_C0_8 = 54,
    FORMAT_END,
    FORMAT_MAX = 0xff
};

inline int GetSizeByDataType(DataType type)
{
    return akgen_ge_dtype_size(type);
}

// Bytes of so many elements, those of less than a byte packed; -1 for a type without a size.
inline int64_t GetSizeInBytes(int64_t element_count, DataType data_type)
{
    constexpr int kBits = 1000; // GetSizeByDataType's mark for a size in bits
    const int size = akgen_ge_dtype_size(data_type);
    if (size < 0 || element_count < 0)
        return -1;
    return size > kBits ? (element_count * (size - kBits) + 7) / 8 : element_count * size;
}

// A format's number carries a sub-format (the groups of a grouped convolution) in bits 8 to 23 and the length of C0 in
// bits 24 to 27.
inline int32_t GetPrimaryFormat(int32_t format)
{
    return format & 0xff;
}
inline int32_t GetSubFormat(int32_t format)
{
    return (format & 0xffff00) >> 8;
}
inline bool HasSubFormat(int32_t format)
{
    return GetSubFormat(format) > 0;
}
inline int32_t GetC0Format(int32_t format)
{
    return format >> 24 & 0xf;
}
inline bool HasC0Format(int32_t format)
{
    return GetC0Format(format) > 0;
}
// The bits hold one more than the length's logarithm; -1 where they are 0.
inline int64_t GetC0Value(int32_t format)
{
    return HasC0Format(format) ? int64_t(1) << (GetC0Format(format) - 1) : -1;
}
inline int32_t GetFormatFromC0(int32_t format, int32_t c0_format)
{
    return (format & 0xffffff) | (c0_format & 0xf) << 24;
}
inline int32_t GetFormatFromSubAndC0(int32_t primary_format, int32_t sub_format, int32_t c0_format)
{
    return GetFormatFromC0((primary_format & 0xff) | (sub_format & 0xffff) << 8, c0_format);
}
inline int32_t GetFormatFromSub(int32_t primary_format, int32_t sub_format)
{
    return GetFormatFromSubAndC0(primary_format, sub_format, 0);
}
// Of a format proper: neither a mark such as FORMAT_ALL nor one with a sub-format.
inline const char_t *GetFormatName(Format format)
{
    const bool proper = format >= 0 && format < FORMAT_END && format != FORMAT_FRACTAL_ZZ &&
                        (format < FORMAT_RESERVED || format > FORMAT_NULL);
    return proper ? akgen_ge_format_name(format) : "UNKNOWN";
}
} // namespace ge

// The runtime has them compiled: in a host part they would be half of its code. Used here, they are instantiated in the
// precompiled header, and not again in each host part.
extern template class std::vector<ge::DataType>;
extern template class std::vector<ge::Format>;
namespace ge
{
inline bool AkgenUsesLists()
{
    const std::vector<DataType> types = {DT_FLOAT}, sameTypes(types);
    const std::vector<Format> formats = {FORMAT_ND}, sameFormats(formats);
    return sameTypes.size() == sameFormats.size();
}
} // namespace ge
#endif
