/* Tensor lists: a dynamic input or output is a block of GM that begins with the byte offset of its addresses, then for
 * each tensor a word (its rank in the low half; in the first tensor's high half the number of tensors, if it is not 0,
 * in the others' their index) and its sizes, then the addresses. A list without shapes says rank 0 and the number of
 * tensors. Source: asc-devkit docs, 辅助数据结构/ListTensorDesc. */
#ifndef ASCENDC_LIST_TENSOR_H
#define ASCENDC_LIST_TENSOR_H

#include "basic/tensor.h"

namespace AscendC
{

class ListTensorDesc;

template <class T> class TensorDesc
{
  public:
    AKGEN_API TensorDesc()
    {
    }
    /* Where GetDesc puts the sizes: room for every dimension. */
    AKGEN_API void SetShapeAddr(uint64_t *shapePtr)
    {
        shape_ = shapePtr;
    }
    AKGEN_API uint64_t GetDim()
    {
        return dim_;
    }
    AKGEN_API uint64_t GetIndex()
    {
        return index_;
    }
    AKGEN_API uint64_t GetShape(uint32_t offset)
    {
        return shape_[offset];
    }
    AKGEN_API __gm__ T *GetDataPtr()
    {
        return data_;
    }
    AKGEN_API GlobalTensor<T> GetDataObj()
    {
        uint32_t elements = 1;
        for (uint64_t i = 0; i < dim_; i++)
            elements *= uint32_t(shape_[i]);
        GlobalTensor<T> tensor;
        tensor.SetGlobalBuffer(data_, elements);
        return tensor;
    }

  private:
    friend class ListTensorDesc;
    uint64_t dim_ = 0;
    uint64_t index_ = 0;
    uint64_t *shape_ = nullptr;
    __gm__ T *data_ = nullptr;
};

class ListTensorDesc
{
  public:
    AKGEN_API ListTensorDesc()
    {
    }
    AKGEN_API ListTensorDesc(__gm__ void *data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff)
    {
        Init(data, length, shapeSize);
    }
    /* length and shapeSize are for CANN's own check of the block. */
    AKGEN_API void Init(__gm__ void *data, uint32_t = 0xffffffff, uint32_t = 0xffffffff)
    {
        __gm__ uint64_t *words = reinterpret_cast<__gm__ uint64_t *>(data);
        uint64_t offset = words[0], first = words[1];
        shapes_ = words + 1;
        addresses_ = words + offset / sizeof(uint64_t);
        dim_ = uint32_t(first);
        stride_ = dim_ ? dim_ + 1 : 2;
        count_ = uint32_t(first >> 32);
        if (!count_)
            count_ = uint32_t(*(addresses_ - stride_) >> 32) + 1;
    }
    template <class T> AKGEN_API void GetDesc(TensorDesc<T> &desc, uint32_t index)
    {
        desc.dim_ = dim_;
        desc.index_ = index;
        desc.data_ = GetDataPtr<T>(index);
        for (uint32_t i = 0; i < dim_; i++)
            desc.shape_[i] = shapes_[index * stride_ + 1 + i];
    }
    template <class T> AKGEN_API __gm__ T *GetDataPtr(uint32_t index)
    {
        return reinterpret_cast<__gm__ T *>(addresses_[index]);
    }
    AKGEN_API uint32_t GetSize()
    {
        return count_;
    }

  private:
    __gm__ uint64_t *shapes_ = nullptr;
    __gm__ uint64_t *addresses_ = nullptr;
    uint32_t dim_ = 0, stride_ = 0, count_ = 0;
};

} // namespace AscendC

#endif
