/* TPipe, TQue, TQueBind, TBuf: objects of the kernel that hold nothing but the number of the machine's object. */
#ifndef ASCENDC_TPIPE_H
#define ASCENDC_TPIPE_H

#include "basic/sync.h"

namespace AscendC
{

/* A queue's third template argument may point to one. It tells CANN's queue at compile time what InitBuffer tells it
 * anyway. */
struct TQueConfig {
    bool nd2nz = false;
    bool nz2nd = false;
    bool scmBlockGroup = false;
    uint32_t bufferLen = 0;
    uint32_t bufferNumber = 0;
    uint32_t consumerSize = 0;
    TPosition consumer[8] = {};
    bool enableStaticEvtId = false;
    bool enableLoopQueue = false;
};
AKGEN_API constexpr TQueConfig GetTQueConfig(bool nd2nz, bool nz2nd, bool scmBlockGroup, uint32_t bufferLen,
                                             uint32_t bufferNumber, uint32_t consumerSize, const TPosition consumer[],
                                             bool enableStaticEvtId, bool enableLoopQueue)
{
    return {nd2nz,
            nz2nd,
            scmBlockGroup,
            bufferLen,
            bufferNumber,
            consumerSize,
            {consumer[0], consumer[1], consumer[2], consumer[3], consumer[4], consumer[5], consumer[6], consumer[7]},
            enableStaticEvtId,
            enableLoopQueue};
}

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0> class TQueBind
{
  public:
    AKGEN_API TQueBind()
    {
    }
    template <typename T> AKGEN_API LocalTensor<T> AllocTensor()
    {
        LocalTensor<T> tensor;
        npu_que_alloc(akgen_id, &tensor.akgen_tensor);
        return tensor;
    }
    template <typename T> AKGEN_API void AllocTensor(LocalTensor<T> &tensor)
    {
        npu_que_alloc(akgen_id, &tensor.akgen_tensor);
    }
    template <typename T> AKGEN_API void FreeTensor(LocalTensor<T> &tensor)
    {
        npu_que_free(akgen_id, &tensor.akgen_tensor);
    }
    template <typename T> AKGEN_API bool EnQue(const LocalTensor<T> &tensor)
    {
        npu_que_enque(akgen_id, &tensor.akgen_tensor);
        return true;
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T> AKGEN_API bool EnQue(const LocalTensor<T> &tensor)
    {
        npu_que_enque_between(akgen_id, &tensor.akgen_tensor, int(srcUserPos), int(dstUserPos));
        return true;
    }
    template <typename T> AKGEN_API LocalTensor<T> DeQue()
    {
        LocalTensor<T> tensor;
        npu_que_deque(akgen_id, &tensor.akgen_tensor);
        return tensor;
    }
    template <typename T> AKGEN_API void DeQue(LocalTensor<T> &tensor)
    {
        npu_que_deque(akgen_id, &tensor.akgen_tensor);
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T> AKGEN_API LocalTensor<T> DeQue()
    {
        LocalTensor<T> tensor;
        npu_que_deque_between(akgen_id, &tensor.akgen_tensor, int(srcUserPos), int(dstUserPos));
        return tensor;
    }
    /* Without a type: only the order of the queue matters to the caller. A handle is the buffer's number. */
    AKGEN_API TBufHandle DeQue()
    {
        npu_tensor tensor = {};
        npu_que_deque(akgen_id, &tensor);
        return reinterpret_cast<TBufHandle>(uintptr_t(tensor.buffer));
    }
    AKGEN_API bool EnQue(TBufHandle buf)
    {
        npu_tensor tensor = {};
        tensor.buffer = uint16_t(reinterpret_cast<uintptr_t>(buf));
        npu_que_enque(akgen_id, &tensor);
        return true;
    }
    AKGEN_API void FreeBuffer(TBufHandle buf)
    {
        npu_tensor tensor = {};
        tensor.buffer = uint16_t(reinterpret_cast<uintptr_t>(buf));
        npu_que_free(akgen_id, &tensor);
    }
    AKGEN_API bool VacantInQue()
    {
        return npu_que_vacant(akgen_id);
    }
    AKGEN_API bool HasTensorInQue()
    {
        return npu_que_has_tensor(akgen_id);
    }
    AKGEN_API int32_t GetTensorCountInQue()
    {
        return npu_que_tensors(akgen_id);
    }
    AKGEN_API bool HasIdleBuffer()
    {
        return npu_que_has_idle_buffer(akgen_id);
    }
    template <typename T> AKGEN_API TBufState GetState(const LocalTensor<T> &tensor) const
    {
        return npu_que_is_occupied(akgen_id, &tensor.akgen_tensor) ? TBufState::OCCUPIED : TBufState::FREE;
    }
    AKGEN_API TBufState GetState(const TBufHandle &handle) const
    {
        npu_tensor tensor = {};
        tensor.buffer = uint16_t(reinterpret_cast<uintptr_t>(handle));
        return npu_que_is_occupied(akgen_id, &tensor) ? TBufState::OCCUPIED : TBufState::FREE;
    }
    AKGEN_API TBuffAddr GetBufferAddr(TBufHandle buf)
    {
        npu_tensor tensor = {};
        uint32_t offset = npu_que_buffer(akgen_id, uint16_t(reinterpret_cast<uintptr_t>(buf)), &tensor);
        return {tensor.bytes, offset, buf, tensor.position};
    }
    template <typename T> AKGEN_API LocalTensor<T> Buf2Tensor(TBufHandle buf)
    {
        LocalTensor<T> tensor;
        npu_que_buffer(akgen_id, uint16_t(reinterpret_cast<uintptr_t>(buf)), &tensor.akgen_tensor);
        return tensor;
    }
    AKGEN_API void FreeAllEvent()
    {
        npu_que_free_all(akgen_id);
    }
    /* What the pools of a kernel's own call (EXTERN_IMPL_BUFPOOL): a handle is the place of a buffer in its pool. */
    AKGEN_API void InitStartBufHandle(TBufHandle startBufhandle, uint8_t num, uint32_t len)
    {
        akgen_first = startBufhandle;
        if constexpr (src == dst)
            npu_buf_start(&akgen_id, int(src), len);
        else
            npu_que_start(&akgen_id, int(src), int(dst), depth, num, len);
    }
    template <typename T>
    AKGEN_API void InitBufHandle(T *bufPool, uint32_t index, TBufHandle bufhandle, uint32_t curPoolAddr, uint32_t len)
    {
        (void)index;
        npu_que_place(akgen_id, uint32_t(bufhandle - akgen_first), curPoolAddr, len);
        bufPool->akgen_keep(akgen_id);
    }

    static constexpr TPosition srcPosition = src;
    static constexpr TPosition dstPosition = dst;
    static constexpr int32_t queDepth = depth;
    uint32_t akgen_id = 0;
    TBufHandle akgen_first = nullptr;
};

} // namespace AscendC

namespace akgen
{
/* The ends of a queue that is named by one position: where its tensors come from and where they go. */
constexpr AscendC::TPosition queue_source(AscendC::TPosition pos)
{
    using AscendC::TPosition;
    switch (pos) {
    case TPosition::VECIN:
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
        return TPosition::GM;
    case TPosition::A2:
        return TPosition::A1;
    case TPosition::B2:
    case TPosition::C2PIPE2GM:
        return TPosition::B1;
    case TPosition::C2:
        return TPosition::C1;
    default:
        return pos;
    }
}
constexpr AscendC::TPosition queue_destination(AscendC::TPosition pos)
{
    using AscendC::TPosition;
    return pos == TPosition::VECOUT || pos == TPosition::CO2 ? TPosition::GM
           : pos == TPosition::CO1                           ? TPosition::CO2
                                                             : pos;
}
} // namespace akgen

namespace AscendC
{

/* A queue between `pos` and its neighbour on the way of the data: VECIN is filled by MTE2 and read by V, A2 filled by
 * MTE1 and read by M, CO1 filled by M and read by FIX. */
template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<akgen::queue_source(pos), akgen::queue_destination(pos), depth, mask>
{
  public:
    AKGEN_API TQue()
    {
    }
};

/* A queue in L1, the AIC's, whose tensors become operands of Matmul. */
template <TPosition pos, int32_t depth = 1, auto mask = 0> using TSCM = TQueBind<pos, TPosition::TSCM, depth, mask>;

template <TPosition pos = TPosition::LCM> class TBuf : public TQueBind<pos, pos, 0, 0>
{
  public:
    AKGEN_API TBuf()
    {
    }
    template <typename T> AKGEN_API LocalTensor<T> Get()
    {
        LocalTensor<T> tensor;
        npu_buf_get(this->akgen_id, 0, 0, &tensor.akgen_tensor);
        return tensor;
    }
    template <typename T> AKGEN_API LocalTensor<T> Get(uint32_t len)
    {
        return GetWithOffset<T>(len, 0);
    }
    template <typename T> AKGEN_API LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset)
    {
        LocalTensor<T> tensor;
        npu_buf_get(this->akgen_id, bufOffset, uint32_t(akgen::bytes_of<T>(size)), &tensor.akgen_tensor);
        return tensor;
    }
    template <typename T> AKGEN_API LocalTensor<T> AllocTensor()
    {
        return Get<T>();
    }
    template <typename T> AKGEN_API void FreeTensor(LocalTensor<T> &)
    {
    }
    template <typename T> AKGEN_API void EnQue(const LocalTensor<T> &)
    {
    }
    template <typename T> AKGEN_API LocalTensor<T> DeQue()
    {
        return Get<T>();
    }
    AKGEN_API bool EnQue(TBufHandle)
    {
        return true;
    }
    AKGEN_API TBufHandle DeQue()
    {
        return nullptr;
    }
    AKGEN_API void FreeBuffer(TBufHandle)
    {
    }
};

} // namespace AscendC

namespace akgen
{
constexpr bool pool_position(AscendC::TPosition pos)
{
    using AscendC::TPosition;
    return pos == TPosition::VECIN || pos == TPosition::VECOUT || pos == TPosition::VECCALC || pos == TPosition::A1 ||
           pos == TPosition::B1 || pos == TPosition::C1;
}
} // namespace akgen

namespace AscendC
{

/* A piece of UB for queues and buffers of its own. */
template <TPosition pos, uint32_t bufIDSize = 4> class TBufPool
{
    static_assert(akgen::pool_position(pos), "TBufPool: pos is VECIN, VECOUT, VECCALC, A1, B1 or C1");
    static_assert(bufIDSize <= 16, "TBufPool: bufIDSize is at most 16");

  public:
    AKGEN_API TBufPool()
    {
    }
    template <class T> AKGEN_API bool InitBufPool(T &bufPool, uint32_t len)
    {
        npu_pool_init(&bufPool.akgen_pool, int(T::akgen_position), &akgen_pool, len, nullptr);
        return true;
    }
    template <class T, class U> AKGEN_API bool InitBufPool(T &bufPool, uint32_t len, U &shareBuf)
    {
        npu_pool_init(&bufPool.akgen_pool, int(T::akgen_position), &akgen_pool, len, &shareBuf.akgen_pool);
        return true;
    }
    template <class T> AKGEN_API bool InitBuffer(T &que, uint8_t num, uint32_t len)
    {
        npu_pool_open(&akgen_pool);
        npu_que_init(&que.akgen_id, int(T::srcPosition), int(T::dstPosition), T::queDepth, num, len);
        npu_pool_close(&akgen_pool);
        if (akgen_count < bufIDSize)
            akgen_queues[akgen_count++] = que.akgen_id;
        return true;
    }
    template <TPosition bufPos> AKGEN_API bool InitBuffer(TBuf<bufPos> &buf, uint32_t len)
    {
        npu_pool_open(&akgen_pool);
        npu_buf_init(&buf.akgen_id, int(bufPos), len);
        npu_pool_close(&akgen_pool);
        return true;
    }
    /* Ends what is under way in the pool's buffers, before another pool uses the same memory. */
    AKGEN_API void Reset()
    {
        for (uint32_t i = 0; i < akgen_count; i++)
            npu_que_free_all(akgen_queues[i]);
        akgen_count = 0;
        akgen_pool.next = akgen_pool.start;
    }

    static constexpr TPosition akgen_position = pos;
    npu_buf_pool akgen_pool = {};
    uint32_t akgen_queues[bufIDSize] = {};
    uint32_t akgen_count = 0;
};
/* A pool whose InitBuffer the kernel writes itself. It has BUFID_SIZE buffers, whose places are its handles. */
#define EXTERN_IMPL_BUFPOOL(EXT_BUFPOOL, POSITION, BUFID_SIZE)                                                         \
  public:                                                                                                              \
    static constexpr AscendC::TPosition poolPos = POSITION;                                                            \
    static constexpr AscendC::TPosition akgen_position = POSITION;                                                     \
    static constexpr int bufIDSize = BUFID_SIZE;                                                                       \
    static constexpr bool isTbufPool = true;                                                                           \
    __aicore__ inline ~EXT_BUFPOOL()                                                                                   \
    {                                                                                                                  \
        Reset();                                                                                                       \
    }                                                                                                                  \
    __aicore__ inline void Reset()                                                                                     \
    {                                                                                                                  \
        for (int i = 0; i < akgen_count; i++)                                                                          \
            npu_que_free_all(akgen_queues[i]);                                                                         \
        Init();                                                                                                        \
    }                                                                                                                  \
    __aicore__ inline void Init()                                                                                      \
    {                                                                                                                  \
        static_assert(akgen::pool_position(POSITION), "TbufPool Position should be L1 Buffer(A1/B1/C1)/"               \
                                                      "UB(VECIN/VECOUT/VECCALC)");                                     \
        akgen_pool = npu_buf_pool{};                                                                                   \
        akgen_taken = 0;                                                                                               \
        akgen_count = 0;                                                                                               \
    }                                                                                                                  \
    __aicore__ inline AscendC::TBufHandle GetBufHandle(uint8_t offset)                                                 \
    {                                                                                                                  \
        return akgen_places + offset;                                                                                  \
    }                                                                                                                  \
    __aicore__ inline void SetCurAddr(uint32_t curAddr)                                                                \
    {                                                                                                                  \
        akgen_pool.next = curAddr;                                                                                     \
    }                                                                                                                  \
    __aicore__ inline uint32_t GetCurAddr()                                                                            \
    {                                                                                                                  \
        return akgen_pool.next;                                                                                        \
    }                                                                                                                  \
    __aicore__ inline void SetCurBufSize(uint8_t curBufSize)                                                           \
    {                                                                                                                  \
        akgen_taken = curBufSize;                                                                                      \
    }                                                                                                                  \
    __aicore__ inline uint8_t GetCurBufSize()                                                                          \
    {                                                                                                                  \
        return akgen_taken;                                                                                            \
    }                                                                                                                  \
    __aicore__ inline void akgen_keep(uint32_t queue)                                                                  \
    {                                                                                                                  \
        bool known = false;                                                                                            \
        for (int i = 0; i < akgen_count; i++)                                                                          \
            known |= akgen_queues[i] == queue;                                                                         \
        if (!known && akgen_count < BUFID_SIZE)                                                                        \
            akgen_queues[akgen_count++] = queue;                                                                       \
    }                                                                                                                  \
    npu_buf_pool akgen_pool = {};                                                                                      \
    uint8_t akgen_places[(BUFID_SIZE) + 1] = {};                                                                       \
    uint32_t akgen_queues[BUFID_SIZE] = {};                                                                            \
    uint8_t akgen_taken = 0;                                                                                           \
    int akgen_count = 0

class TPipe
{
  public:
    AKGEN_API TPipe()
    {
        npu_pipe_create();
    }
    AKGEN_API ~TPipe()
    {
        if (akgen_live)
            npu_pipe_destroy();
    }
    AKGEN_API void Init()
    {
        npu_pipe_create();
        akgen_live = true;
    }
    template <class T> AKGEN_API bool InitBuffer(T &que, uint8_t num, uint32_t len)
    {
        npu_que_init(&que.akgen_id, int(T::srcPosition), int(T::dstPosition), T::queDepth, num, len);
        return true;
    }
    template <TPosition pos> AKGEN_API bool InitBuffer(TBuf<pos> &buf, uint32_t len)
    {
        npu_buf_init(&buf.akgen_id, int(pos), len);
        return true;
    }
    template <class T> AKGEN_API bool InitBufPool(T &bufPool, uint32_t len)
    {
        npu_pool_init(&bufPool.akgen_pool, int(T::akgen_position), nullptr, len, nullptr);
        return true;
    }
    template <class T, class U> AKGEN_API bool InitBufPool(T &bufPool, uint32_t len, U &shareBuf)
    {
        npu_pool_init(&bufPool.akgen_pool, int(T::akgen_position), nullptr, len, &shareBuf.akgen_pool);
        return true;
    }
    template <HardEvent event> AKGEN_API TEventID AllocEventID()
    {
        constexpr akgen::pipe_pair pipes = akgen::event_pipes[size_t(event)];
        return npu_alloc_event(pipes.from, pipes.to);
    }
    template <HardEvent event> AKGEN_API void ReleaseEventID(TEventID id)
    {
        constexpr akgen::pipe_pair pipes = akgen::event_pipes[size_t(event)];
        npu_release_event(pipes.from, pipes.to, id);
    }
    template <HardEvent event> AKGEN_API TEventID FetchEventID()
    {
        constexpr akgen::pipe_pair pipes = akgen::event_pipes[size_t(event)];
        return npu_fetch_event(pipes.from, pipes.to);
    }
    AKGEN_API TEventID FetchEventID(HardEvent event)
    {
        akgen::pipe_pair pipes = akgen::event_pipes[size_t(event)];
        return npu_fetch_event(pipes.from, pipes.to);
    }
    template <TPosition pos> AKGEN_LACKS(GetAbsAddr) AKGEN_DEVICE akgen::lacking GetAbsAddr(int32_t, int32_t) const;
    template <TPosition pos, typename T> AKGEN_API LocalTensor<T> GetAbsAddr(int32_t offset, int32_t size) const
    {
        LocalTensor<T> tensor;
        npu_local_tensor(int(pos), uint32_t(offset), uint32_t(akgen::bytes_of<T>(size)), &tensor.akgen_tensor);
        return tensor;
    }
    AKGEN_API void Reset()
    {
        npu_pipe_reset();
    }
    AKGEN_API void Destroy();
    /* The kernel itself sees to it that what is under way ends. */
    AKGEN_API void DestroyWithoutPipeAll();
    /* A place in GM for what UB has no room for; basic/spm.h. */
    template <typename T> AKGEN_API void InitSpmBuffer(const GlobalTensor<T> &workspace, const int32_t bufferSize)
    {
        (void)bufferSize;
        npu_spm_init(akgen::raw(workspace).addr);
    }
    template <typename T>
    AKGEN_API void WriteSpmBuffer(const LocalTensor<T> &writeBuffer, const DataCopyParams &copyParams,
                                  int32_t writeOffset = 0);
    template <typename T>
    AKGEN_API void WriteSpmBuffer(const LocalTensor<T> &writeBuffer, const int32_t writeSize, int32_t writeOffset = 0);
    template <typename T>
    AKGEN_API void ReadSpmBuffer(const LocalTensor<T> &readBuffer, const DataCopyParams &copyParams,
                                 int32_t readOffset = 0);
    template <typename T>
    AKGEN_API void ReadSpmBuffer(const LocalTensor<T> &readBuffer, const int32_t readSize, int32_t readOffset = 0);

    bool akgen_live = true;
};

} // namespace AscendC

/* The current pipe. Its buffers and events are the machine's, so any object will do; this one is nobody's: all methods
 * but Destroy() need no member of it. */
AKGEN_API AscendC::TPipe *GetTPipePtr()
{
    return reinterpret_cast<AscendC::TPipe *>(uintptr_t(64));
}

namespace AscendC
{
AKGEN_API void TPipe::Destroy()
{
    bool current = this == ::GetTPipePtr();
    if (current || akgen_live)
        npu_pipe_destroy();
    if (!current)
        akgen_live = false;
}

AKGEN_API void TPipe::DestroyWithoutPipeAll()
{
    bool current = this == ::GetTPipePtr();
    if (current || akgen_live)
        npu_pipe_leave();
    if (!current)
        akgen_live = false;
}

template <typename T, TPosition pos> AKGEN_API bool PopStackBuffer(LocalTensor<T> &popLocal)
{
    return npu_pop_stack_buffer(int(pos), &popLocal.akgen_tensor);
}

/* Tensors at chosen addresses of a memory, without a TPipe. */
template <Hardware hard = Hardware::UB> class LocalMemAllocator
{
    static constexpr TPosition any = hard == Hardware::L1       ? TPosition::A1
                                     : hard == Hardware::L0A    ? TPosition::A2
                                     : hard == Hardware::L0B    ? TPosition::B2
                                     : hard == Hardware::L0C    ? TPosition::CO1
                                     : hard == Hardware::BIAS   ? TPosition::C2
                                     : hard == Hardware::FIXBUF ? TPosition::C2PIPE2GM
                                                                : TPosition::VECCALC;

  public:
    AKGEN_API LocalMemAllocator()
    {
    }
    AKGEN_API uint32_t GetCurAddr() const
    {
        return head_;
    }
    template <TPosition pos, class DataType, uint32_t tileSize> AKGEN_API LocalTensor<DataType> Alloc()
    {
        return Alloc<pos, DataType>(tileSize);
    }
    template <TPosition pos, class DataType> AKGEN_API LocalTensor<DataType> Alloc(uint32_t tileSize)
    {
        LocalTensor<DataType> tensor(pos, head_, tileSize);
        head_ += (uint32_t(akgen::bytes_of<DataType>(tileSize)) + 31) / 32 * 32;
        return tensor;
    }
    template <class DataType, uint32_t tileSize> AKGEN_API LocalTensor<DataType> Alloc()
    {
        return Alloc<any, DataType>(tileSize);
    }
    template <class DataType> AKGEN_API LocalTensor<DataType> Alloc(uint32_t tileSize)
    {
        return Alloc<any, DataType>(tileSize);
    }

  private:
    uint32_t head_ = 0;
};

} // namespace AscendC

#endif
