// For tests/kernels/mutation.py: a queue that hands its tensors over but orders nothing. EnQue sets no flag and DeQue waits
// for none; AllocTensor and FreeTensor are the queue's own, with their flags.
#include "kernel_operator.h"

template <class Queue> class LooseQue : public Queue {
public:
    __aicore__ inline LooseQue() {}
    template <typename T> __aicore__ inline bool EnQue(const AscendC::LocalTensor<T> &tensor)
    {
        ring[(first + count++) % PLACES] = tensor.akgen_tensor;
        return true;
    }
    template <AscendC::TPosition from, AscendC::TPosition to, typename T>
    __aicore__ inline bool EnQue(const AscendC::LocalTensor<T> &tensor)
    {
        return EnQue(tensor);
    }
    template <typename T> __aicore__ inline void DeQue(AscendC::LocalTensor<T> &tensor)
    {
        tensor.akgen_tensor = ring[first];
        first = (first + 1) % PLACES;
        count--;
    }
    template <typename T> __aicore__ inline AscendC::LocalTensor<T> DeQue()
    {
        AscendC::LocalTensor<T> tensor;
        DeQue(tensor);
        return tensor;
    }
    template <AscendC::TPosition from, AscendC::TPosition to, typename T>
    __aicore__ inline AscendC::LocalTensor<T> DeQue()
    {
        return DeQue<T>();
    }

private:
    static constexpr uint32_t PLACES = 8;
    npu_tensor ring[PLACES] = {};
    uint32_t first = 0, count = 0;
};
