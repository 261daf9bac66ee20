/* What most kernels use, used once: the precompiled header, and nothing else, includes this, so that these templates are
 * instantiated there and not again in each kernel. No code comes of it. */
#ifndef ASCENDC_INSTANCES_H
#define ASCENDC_INSTANCES_H

#include "kernel_operator.h"

namespace akgen::instances
{
using namespace AscendC;

template <typename T> AKGEN_API void transfers(GM_ADDR address, LocalTensor<T> local)
{
    GlobalTensor<T> global;
    global.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(address), 1);
    global.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(address));
    global.SetValue(1, global.GetValue(0));
    local.SetValue(1, local.GetValue(0));
    DataCopy(local[0], global[0], 1);
    DataCopy(global[0], local[0], 1);
    DataCopy(local, global, DataCopyParams());
    DataCopy(global, local, DataCopyParams());
    DataCopyPad(local, global, DataCopyExtParams(), DataCopyPadExtParams<T>());
    DataCopyPad(global, local, DataCopyExtParams());
    DataCopyPad(local, global, DataCopyParams(), DataCopyPadParams());
    DataCopyPad(global, local, DataCopyParams());
}

template <typename T, typename Queue> AKGEN_API void tensors(Queue &queue)
{
    LocalTensor<T> tensor = queue.template AllocTensor<T>();
    queue.EnQue(tensor);
    queue.template EnQue<T>(tensor);
    tensor = queue.template DeQue<T>();
    queue.FreeTensor(tensor);
}

template <typename Queue> AKGEN_API void queue(TPipe &pipe, Queue queue)
{
    pipe.InitBuffer(queue, 1, 32);
    tensors<half>(queue);
    tensors<float>(queue);
    tensors<int32_t>(queue);
}

template <typename T> AKGEN_API void arithmetic(LocalTensor<T> x)
{
    const T one = 1;
    Duplicate(x, one, 1);
    Add(x, x, x, 1);
    Sub(x, x, x, 1);
    Mul(x, x, x, 1);
    Max(x, x, x, 1);
    Min(x, x, x, 1);
    Adds(x, x, one, 1);
    Muls(x, x, one, 1);
    Maxs(x, x, one, 1);
    Mins(x, x, one, 1);
}

template <typename T> AKGEN_API void functions(LocalTensor<T> x)
{
    arithmetic(x);
    Div(x, x, x, 1);
    Abs(x, x, 1);
    Exp(x, x, 1);
    Ln(x, x, 1);
    Relu(x, x, 1);
    Sqrt(x, x, 1);
    Rsqrt(x, x, 1);
    Reciprocal(x, x, 1);
    ReduceSum<T>(x, x, x, 1);
    ReduceMax<T>(x, x, x, 1);
}

inline __aicore__ void use(GM_ADDR gm, TPipe &pipe, TBuf<TPosition::VECCALC> buffer)
{
    pipe.InitBuffer(buffer, 32);
    LocalTensor<half> halves = buffer.Get<half>();
    LocalTensor<float> floats = buffer.Get<float>();
    LocalTensor<int32_t> ints = buffer.Get<int32_t>();
    LocalTensor<bfloat16_t> bfloats = buffer.Get<bfloat16_t>();
    transfers<half>(gm, halves);
    transfers<float>(gm, floats);
    transfers<int32_t>(gm, ints);
    transfers<bfloat16_t>(gm, bfloats);
    queue(pipe, TQue<TPosition::VECIN, 1>());
    queue(pipe, TQue<TPosition::VECIN, 2>());
    queue(pipe, TQue<TPosition::VECOUT, 1>());
    queue(pipe, TQue<TPosition::VECOUT, 2>());
    arithmetic(ints);
    functions(halves);
    functions(floats);
    Cast(floats, halves, RoundMode::CAST_NONE, 1);
    Cast(halves, floats, RoundMode::CAST_RINT, 1);
    Cast(floats, bfloats, RoundMode::CAST_NONE, 1);
    Cast(bfloats, floats, RoundMode::CAST_RINT, 1);
    Cast(floats, ints, RoundMode::CAST_NONE, 1);
    Cast(ints, floats, RoundMode::CAST_RINT, 1);
    PipeBarrier<PIPE_V>();
    PipeBarrier<PIPE_ALL>();
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
}
} // namespace akgen::instances

#endif
