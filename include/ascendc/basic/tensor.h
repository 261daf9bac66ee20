/* LocalTensor and GlobalTensor: an address with an extent. Element accesses go through the machine's scalar unit. */
#ifndef ASCENDC_TENSOR_H
#define ASCENDC_TENSOR_H

#include "basic/contract.h"
#include "basic/lacks.h"

namespace AscendC
{
template <typename T> class LocalTensor;
template <typename T> class GlobalTensor;
using TTagType = int32_t;
using TBufHandle = uint8_t *;
/* A place in local memory: what GetBufferAddr says of a queue's buffer and SetAddr makes a tensor of. */
struct TBuffAddr {
    uint32_t dataLen;        /* bytes */
    uint32_t bufferAddr;     /* from the start of the memory that logicPos lies in */
    TBufHandle bufferHandle; /* the number of the queue's buffer; null: none */
    uint8_t logicPos;        /* TPosition */
};

constexpr uint32_t K_MAX_SHAPE_DIM = 8;
constexpr int32_t K_MAX_DIM = 8;
struct ShapeInfo {
    AKGEN_API ShapeInfo()
    {
    }
    AKGEN_API ShapeInfo(const uint8_t dims, const uint32_t sizes[], const uint8_t originalDims,
                        const uint32_t originalSizes[], const DataFormat format)
        : shapeDim(dims), originalShapeDim(originalDims), dataFormat(format)
    {
        for (uint32_t i = 0; i < dims && i < K_MAX_SHAPE_DIM; i++)
            shape[i] = sizes[i];
        for (uint32_t i = 0; i < originalDims && i < K_MAX_SHAPE_DIM; i++)
            originalShape[i] = originalSizes[i];
    }
    AKGEN_API ShapeInfo(const uint8_t dims, const uint32_t sizes[], const DataFormat format)
        : ShapeInfo(dims, sizes, dims, sizes, format)
    {
    }
    AKGEN_API ShapeInfo(const uint8_t dims, const uint32_t sizes[]) : ShapeInfo(dims, sizes, DataFormat::ND)
    {
    }
    /* Not initialised, as in CANN: every tensor carries one, and hardly any kernel looks at it. */
    uint8_t shapeDim;
    uint8_t originalShapeDim;
    uint32_t shape[K_MAX_SHAPE_DIM];
    uint32_t originalShape[K_MAX_SHAPE_DIM];
    DataFormat dataFormat;
};
AKGEN_API uint64_t GetShapeSize(const ShapeInfo &shapeInfo)
{
    uint64_t elements = 1;
    for (int i = 0; i < shapeInfo.shapeDim; i++)
        elements *= shapeInfo.shape[i];
    return elements;
}
} // namespace AscendC

namespace akgen
{

/* Elements to bytes: int4b_t packs two in a byte. */
template <typename T> AKGEN_API uint64_t bytes_of(uint64_t elements)
{
    if constexpr (std::is_same_v<T, int4b_t>)
        return elements / 2;
    else
        return elements * sizeof(T);
}
/* The part of a tensor that begins `offset` bytes further on. Past the end it keeps an extent of one byte, less than
 * any block, so that the first access through it is out of bounds. */
AKGEN_API npu_tensor tail(npu_tensor tensor, uint64_t offset)
{
    tensor.addr += offset;
    if (tensor.bytes)
        tensor.bytes = offset < tensor.bytes ? uint32_t(tensor.bytes - offset) : 1;
    return tensor;
}
/* What the machine knows of a tensor; `raw` is its one data member. */
template <typename T> AKGEN_API const npu_tensor &raw(const AscendC::LocalTensor<T> &tensor)
{
    return tensor.akgen_tensor;
}
template <typename T> AKGEN_API const npu_tensor &raw(const AscendC::GlobalTensor<T> &tensor)
{
    return tensor.akgen_tensor;
}

/* a + b of two tensors, waiting to be assigned to a third: `op` is executed by that assignment. */
template <npu_op op, typename T> struct tensor_expression {
    npu_tensor src0, src1;
    uint8_t mode;
};
enum { COMPARE_EXPRESSION = NPU_OP_COMPARE };

/* A reference to one element, as tensor(i) gives. */
template <typename T> struct element {
    npu_tensor tensor;
    uint64_t offset;
    AKGEN_API operator T() const
    {
        return from_bits<T>(npu_scalar_load(&tensor, offset, sizeof(T)));
    }
    AKGEN_API const element &operator=(T value) const
    {
        npu_scalar_store(&tensor, offset, sizeof(T), bits_of<T>(value));
        return *this;
    }
    AKGEN_API const element &operator=(const element &other) const
    {
        return *this = T(other);
    }
#define AKGEN_ASSIGN(symbol)                                                                                           \
    template <typename U> AKGEN_API const element &operator symbol##=(U value) const                                   \
    {                                                                                                                  \
        return *this = T(T(*this) symbol value);                                                                       \
    }
    AKGEN_ASSIGN(+)
    AKGEN_ASSIGN(-)
    AKGEN_ASSIGN(*)
    AKGEN_ASSIGN(/)
    AKGEN_ASSIGN(%)
    AKGEN_ASSIGN(&)
    AKGEN_ASSIGN(|)
    AKGEN_ASSIGN(^)
    AKGEN_ASSIGN(<<)
    AKGEN_ASSIGN(>>)
#undef AKGEN_ASSIGN
    AKGEN_API const element &operator++() const
    {
        return *this += 1;
    }
    AKGEN_API const element &operator--() const
    {
        return *this -= 1;
    }
    AKGEN_API T operator++(int) const
    {
        T before = *this;
        *this += 1;
        return before;
    }
    AKGEN_API T operator--(int) const
    {
        T before = *this;
        *this -= 1;
        return before;
    }
};

} // namespace akgen

namespace AscendC
{

template <typename T> class LocalTensor
{
    template <npu_op op> using expression = akgen::tensor_expression<op, T>;

  public:
    using PrimType = T;
    AKGEN_API LocalTensor()
    {
    }
    AKGEN_API LocalTensor(TPosition position, uint32_t address, uint32_t elements)
    {
        npu_local_tensor(int(position), address, uint32_t(akgen::bytes_of<T>(elements)), &akgen_tensor);
    }
    LocalTensor(const LocalTensor &) = default;
    LocalTensor &operator=(const LocalTensor &) = default;

    AKGEN_API uint64_t GetPhyAddr() const
    {
        return akgen_tensor.addr;
    }
    AKGEN_API uint64_t GetPhyAddr(const uint32_t offset) const
    {
        return akgen_tensor.addr + akgen::bytes_of<T>(offset);
    }
    AKGEN_API T GetValue(const uint32_t index) const
    {
        static_assert(akgen::is_element<T>, "LocalTensor::GetValue needs an element type of the device");
        return akgen::from_bits<T>(npu_scalar_load(&akgen_tensor, akgen::bytes_of<T>(index), sizeof(T)));
    }
    template <typename S> AKGEN_API void SetValue(const uint32_t index, const S value) const
    {
        static_assert(akgen::is_element<T>, "LocalTensor::SetValue needs an element type of the device");
        npu_scalar_store(&akgen_tensor, akgen::bytes_of<T>(index), sizeof(T), akgen::bits_of<T>(static_cast<T>(value)));
    }
    AKGEN_API akgen::element<T> operator()(const uint32_t offset) const
    {
        return {akgen_tensor, akgen::bytes_of<T>(offset)};
    }
    AKGEN_API LocalTensor operator[](const uint32_t offset) const
    {
        LocalTensor part = *this;
        part.akgen_tensor = akgen::tail(akgen_tensor, akgen::bytes_of<T>(offset));
        return part;
    }
    template <typename U> AKGEN_API LocalTensor<U> ReinterpretCast() const
    {
        LocalTensor<U> other;
        other.akgen_tensor = akgen_tensor;
        return other;
    }
    template <typename S> AKGEN_API void SetAddrWithOffset(LocalTensor<S> &src, uint32_t offset)
    {
        akgen_tensor = akgen::tail(src.akgen_tensor, akgen::bytes_of<S>(offset));
    }
    AKGEN_API void SetAddr(const TBuffAddr &address)
    {
        npu_local_tensor(address.logicPos, address.bufferAddr, address.dataLen, &akgen_tensor);
        akgen_tensor.buffer = uint16_t(reinterpret_cast<uintptr_t>(address.bufferHandle));
    }
    AKGEN_API TBufHandle GetBufferHandle() const
    {
        return reinterpret_cast<TBufHandle>(uintptr_t(akgen_tensor.buffer));
    }
    AKGEN_API int32_t GetPosition() const
    {
        return akgen_tensor.position;
    }
    AKGEN_API uint32_t GetSize() const
    {
        return uint32_t(akgen_tensor.bytes / sizeof(T) * (std::is_same_v<T, int4b_t> ? 2 : 1));
    }
    AKGEN_API uint32_t GetLength() const
    {
        return akgen_tensor.bytes;
    }
    /* CANN has them where a CPU runs the kernel. */
    template <class... A> AKGEN_LACKS(LocalTensor::Print) AKGEN_DEVICE void Print(const A &...);
    template <class... A> AKGEN_LACKS(LocalTensor::ToFile) AKGEN_DEVICE int32_t ToFile(const A &...) const;
    AKGEN_API void SetSize(const uint32_t size)
    {
        akgen_tensor.bytes = uint32_t(akgen::bytes_of<T>(size));
    }
    AKGEN_API void SetBufferLen(uint32_t bytes)
    {
        akgen_tensor.bytes = bytes;
    }
    AKGEN_API void SetUserTag(const TTagType tag)
    {
        akgen_tag = tag;
    }
    AKGEN_API TTagType GetUserTag() const
    {
        return akgen_tag;
    }
    AKGEN_API void SetShapeInfo(const ShapeInfo &info)
    {
        shapeInfo_ = info;
    }
    AKGEN_API ShapeInfo GetShapeInfo() const
    {
        return shapeInfo_;
    }

    /* c = a + b; and so on: defined in operators.h, over the whole extent of the destination. */
    AKGEN_API void operator=(const expression<NPU_OP_ADD> &e);
    AKGEN_API void operator=(const expression<NPU_OP_SUB> &e);
    AKGEN_API void operator=(const expression<NPU_OP_MUL> &e);
    AKGEN_API void operator=(const expression<NPU_OP_DIV> &e);
    AKGEN_API void operator=(const expression<NPU_OP_OR> &e);
    AKGEN_API void operator=(const expression<NPU_OP_AND> &e);
    AKGEN_API void operator=(const akgen::tensor_expression<NPU_OP_COMPARE, float> &e);
    AKGEN_API void operator=(const akgen::tensor_expression<NPU_OP_COMPARE, half> &e);
#define AKGEN_OPERATOR(symbol, op, mode)                                                                               \
    AKGEN_API expression<NPU_OP_##op> operator symbol(const LocalTensor & src1) const                                  \
    {                                                                                                                  \
        return {akgen_tensor, src1.akgen_tensor, uint8_t(mode)};                                                       \
    }
    AKGEN_OPERATOR(+, ADD, 0)
    AKGEN_OPERATOR(-, SUB, 0)
    AKGEN_OPERATOR(*, MUL, 0)
    AKGEN_OPERATOR(/, DIV, 0)
    AKGEN_OPERATOR(|, OR, 0)
    AKGEN_OPERATOR(&, AND, 0)
    AKGEN_OPERATOR(<, COMPARE, CMPMODE::LT)
    AKGEN_OPERATOR(>, COMPARE, CMPMODE::GT)
    AKGEN_OPERATOR(!=, COMPARE, CMPMODE::NE)
    AKGEN_OPERATOR(==, COMPARE, CMPMODE::EQ)
    AKGEN_OPERATOR(<=, COMPARE, CMPMODE::LE)
    AKGEN_OPERATOR(>=, COMPARE, CMPMODE::GE)
#undef AKGEN_OPERATOR

    npu_tensor akgen_tensor = {};
    TTagType akgen_tag = 0;
    ShapeInfo shapeInfo_;
};

template <typename T> class GlobalTensor
{
  public:
    using PrimType = T;
    AKGEN_API GlobalTensor()
    {
    }
    AKGEN_API void SetGlobalBuffer(__gm__ T *buffer, uint64_t bufferSize)
    {
        bufferSize_ = bufferSize;
        akgen_tensor.addr = reinterpret_cast<uint64_t>(buffer);
        uint64_t bytes = akgen::bytes_of<T>(bufferSize);
        akgen_tensor.bytes = bytes <= UINT32_MAX ? uint32_t(bytes) : 0;
    }
    AKGEN_API void SetGlobalBuffer(__gm__ T *buffer)
    {
        SetGlobalBuffer(buffer, 0);
    }
    AKGEN_API const __gm__ T *GetPhyAddr() const
    {
        return reinterpret_cast<const __gm__ T *>(akgen_tensor.addr);
    }
    AKGEN_API __gm__ T *GetPhyAddr(const uint64_t offset) const
    {
        return reinterpret_cast<__gm__ T *>(akgen_tensor.addr + akgen::bytes_of<T>(offset));
    }
    AKGEN_API T GetValue(const uint64_t offset) const
    {
        static_assert(akgen::is_element<T>, "GlobalTensor::GetValue needs an element type of the device");
        return akgen::from_bits<T>(npu_scalar_load(&akgen_tensor, akgen::bytes_of<T>(offset), sizeof(T)));
    }
    AKGEN_API akgen::element<T> operator()(const uint64_t offset) const
    {
        return {akgen_tensor, akgen::bytes_of<T>(offset)};
    }
    AKGEN_API void SetValue(const uint64_t offset, T value)
    {
        static_assert(akgen::is_element<T>, "GlobalTensor::SetValue needs an element type of the device");
        npu_scalar_store(&akgen_tensor, akgen::bytes_of<T>(offset), sizeof(T), akgen::bits_of<T>(value));
    }
    AKGEN_API uint64_t GetSize() const
    {
        return bufferSize_;
    }
    AKGEN_API GlobalTensor operator[](const uint64_t offset) const
    {
        GlobalTensor part = *this;
        part.akgen_tensor = akgen::tail(akgen_tensor, akgen::bytes_of<T>(offset));
        return part;
    }
    AKGEN_API void SetShapeInfo(const ShapeInfo &info)
    {
        shapeInfo_ = info;
    }
    AKGEN_API ShapeInfo GetShapeInfo() const
    {
        return shapeInfo_;
    }
    /* A hint to the L2 cache: no effect on values, but on the model of time. */
    template <CacheRwMode rwMode = CacheRwMode::RW> AKGEN_API void SetL2CacheHint(CacheMode mode)
    {
        constexpr uint8_t read = rwMode == CacheRwMode::WRITE ? 0 : NPU_TENSOR_READ_PAST_L2,
                          write = rwMode == CacheRwMode::READ ? 0 : NPU_TENSOR_WRITE_PAST_L2;
        akgen_tensor.flags =
            static_cast<uint8_t>(mode == CacheMode::CACHE_MODE_DISABLE ? akgen_tensor.flags | read | write
                                                                       : akgen_tensor.flags & ~(read | write));
    }

    uint64_t bufferSize_ = 0;
    npu_tensor akgen_tensor = {};
    ShapeInfo shapeInfo_;
};

} // namespace AscendC

#endif
