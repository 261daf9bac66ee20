-- A file of runs of schema 5, as the commit 2a6f54d0 of AKGen wrote it, so that its readers can be tested for ever. Two folders of answers
-- and a model of seven lines made it:
--   akgen bench --provider dir:TREE --task level1/Math/Sqrt --case 0 --db runs.db
--   akgen bench --provider 'exec:sh model.sh' --language graph -n 4 --task level1/Math/Sqrt --case 0 --concurrency 1 --no-timing --db runs.db
--   akgen gen level1/Math/Sqrt --provider 'exec:sh model.sh' --language graph --rounds=2 -n 1 --seed 1 --case 0 --no-timing --db runs.db
-- (with --templates of a line each), and runs.txt is what that commit prints of it.
PRAGMA user_version = 5;
CREATE TABLE runs (id INTEGER PRIMARY KEY, started TEXT NOT NULL, seconds REAL, akgen TEXT NOT NULL, suite TEXT NOT NULL, provider TEXT NOT NULL, soc TEXT NOT NULL, mode TEXT NOT NULL, scope TEXT NOT NULL, profile TEXT NOT NULL, protocol TEXT NOT NULL DEFAULT '', settings TEXT NOT NULL DEFAULT '', planned INTEGER NOT NULL DEFAULT 0, baseline TEXT NOT NULL DEFAULT 'eager', language TEXT NOT NULL DEFAULT 'unknown');
CREATE TABLE planned (run INTEGER NOT NULL REFERENCES runs(id), task TEXT NOT NULL, level INTEGER NOT NULL, category TEXT NOT NULL, samples INTEGER NOT NULL, PRIMARY KEY (run, task));
CREATE TABLE candidates (hash TEXT PRIMARY KEY, source TEXT);
CREATE TABLE verdicts (run INTEGER NOT NULL REFERENCES runs(id), task TEXT NOT NULL, sample INTEGER NOT NULL, level INTEGER NOT NULL, category TEXT NOT NULL, candidate TEXT, verdict TEXT NOT NULL, stage TEXT NOT NULL, reason TEXT, cases_passed INTEGER NOT NULL, cases_total INTEGER NOT NULL, seconds REAL NOT NULL, json TEXT NOT NULL, PRIMARY KEY (run, task, sample));
CREATE TABLE diagnostics (run INTEGER NOT NULL, task TEXT NOT NULL, sample INTEGER NOT NULL, number INTEGER NOT NULL, severity TEXT NOT NULL, class TEXT NOT NULL, file TEXT, line INTEGER, message TEXT, PRIMARY KEY (run, task, sample, number));
CREATE TABLE prompts (hash TEXT PRIMARY KEY, messages TEXT NOT NULL, tokens INTEGER NOT NULL);
CREATE TABLE samples (run INTEGER NOT NULL REFERENCES runs(id), task TEXT NOT NULL, sample INTEGER NOT NULL, round INTEGER NOT NULL, parent INTEGER NOT NULL, prompt TEXT, request TEXT, response TEXT, answer TEXT, reasoning TEXT, finish TEXT, failure TEXT, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cost REAL NOT NULL, seconds REAL NOT NULL, tries INTEGER NOT NULL, PRIMARY KEY (run, task, sample));
INSERT INTO runs VALUES (1, '2026-11-30T03:16:06Z', 0.9761645069993392, '0.1.0', 'npukernelbench', 'dir:tree', 'Ascend910B2', 'dynamic', 'project', 'upstream', '', '', 0, 'eager', 'ascendc');
INSERT INTO runs VALUES (2, '2026-11-30T03:16:07Z', 0.7487526920012897, '0.1.0', 'npukernelbench', 'exec:sh model.sh', 'Ascend910B2', 'dynamic', 'project', 'upstream', '', '{"command":"sh model.sh","prompt":{"language":"graph","templates":"c46c08a8cd9008b8f87ec1ee598a2795","variant":"zero-shot"},"sampling":{}}', 4, 'eager', 'graph');
INSERT INTO runs VALUES (3, '2026-11-30T03:16:08Z', 2.5872691759996087, '0.1.0', 'npukernelbench', 'exec:sh model.sh', 'Ascend910B2', 'dynamic', 'project', 'strict', '', '{"command":"sh model.sh","prompt":{"language":"graph","templates":"c46c08a8cd9008b8f87ec1ee598a2795","variant":"zero-shot"},"repair":{"beam":1,"rounds":2},"sampling":{}}', 0, 'eager', 'graph');
INSERT INTO planned VALUES (1, 'level1/Math/Sqrt', 1, 'Math', 4);
INSERT INTO planned VALUES (2, 'level1/Math/Sqrt', 1, 'Math', 4);
INSERT INTO candidates VALUES ('6a225760f1f79b429453d474e09eb29d', '// y = sqrt(x). Every block takes a contiguous share; tiles move through double-buffered queues. 16-bit types are
// computed in float and rounded once.
#include "kernel_operator.h"

using namespace AscendC;

class KernelSqrt {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SqrtTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x + begin, length);
        yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y + begin, length);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(DTYPE_X));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(DTYPE_X));
        if constexpr (!std::is_same_v<DTYPE_X, float>) {
            pipe->InitBuffer(floatBuffer, tile * sizeof(float));
        }
    }

    __aicore__ inline void Process()
    {
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(at, count);
            Compute(count);
            CopyOut(at, count);
        }
    }

private:
    __aicore__ inline void CopyIn(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_X> x = inQueue.AllocTensor<DTYPE_X>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPadExtParams<DTYPE_X> pad;
        DataCopyPad(x, xGm[at], copy, pad);
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<DTYPE_X> x = inQueue.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_X> y = outQueue.AllocTensor<DTYPE_X>();
        if constexpr (std::is_same_v<DTYPE_X, float>) {
            Sqrt(y, x, count);
        } else {
            LocalTensor<float> wide = floatBuffer.Get<float>();
            Cast(wide, x, RoundMode::CAST_NONE, count);
            Sqrt(wide, wide, count);
            Cast(y, wide, RoundMode::CAST_RINT, count);
        }
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_X> y = outQueue.DeQue<DTYPE_X>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> floatBuffer;
    GlobalTensor<DTYPE_X> xGm, yGm;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void sqrt(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelSqrt op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
');
INSERT INTO candidates VALUES ('304b5c66915428a45ae3e4aa1b3899ca', '// y = sqrt(x). Every block takes a contiguous share; tiles move through double-buffered queues. 16-bit types are
// computed in float and rounded once.
#include "kernel_operator.h"

using namespace AscendC;

class KernelSqrt {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SqrtTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x + begin, length);
        yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y + begin, length);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(DTYPE_X));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(DTYPE_X));
        if constexpr (!std::is_same_v<DTYPE_X, float>) {
            pipe->InitBuffer(floatBuffer, tile * sizeof(float));
        }
    }

    __aicore__ inline void Process()
    {
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(at, count);
            Compute(count);
            CopyOut(at, count);
        }
    }

private:
    __aicore__ inline void CopyIn(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_X> x = inQueue.AllocTensor<DTYPE_X>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPadExtParams<DTYPE_X> pad;
        DataCopyPad(x, xGm[at], copy, pad);
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<DTYPE_X> x = inQueue.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_X> y = outQueue.AllocTensor<DTYPE_X>();
        if constexpr (std::is_same_v<DTYPE_X, float>) {
            Sqrt(y, x, count);
        } else {
            LocalTensor<float> wide = floatBuffer.Get<float>();
            Cast(wide, x, RoundMode::CAST_NONE, count);
            Sqrt(wide, wide, count);
            Cast(y, wide, RoundMode::CAST_RINT, count);
        }
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_X> y = outQueue.DeQue<DTYPE_X>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> floatBuffer;
    GlobalTensor<DTYPE_X> xGm, yGm;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void sqrt(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelSqrt op;
    op.Init(x, y, tilingData, &pipe);
    op.Proces();
}
');
INSERT INTO candidates VALUES ('359ac4564174356240e39b3accaab390', '// y = sqrt(x). Every block takes a contiguous share; tiles move through double-buffered queues. 16-bit types are
// computed in float and rounded once.
#include "kernel_operator.h"

using namespace AscendC;

class KernelSqrt {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SqrtTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x + begin, length);
        yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y + begin, length);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(DTYPE_X));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(DTYPE_X));
        if constexpr (!std::is_same_v<DTYPE_X, float>) {
            pipe->InitBuffer(floatBuffer, tile * sizeof(float));
        }
    }

    __aicore__ inline void Process()
    {
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(at, count);
            Compute(count);
            CopyOut(at, count);
        }
    }

private:
    __aicore__ inline void CopyIn(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_X> x = inQueue.AllocTensor<DTYPE_X>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPadExtParams<DTYPE_X> pad;
        DataCopyPad(x, xGm[at], copy, pad);
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<DTYPE_X> x = inQueue.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_X> y = outQueue.AllocTensor<DTYPE_X>();
        if constexpr (std::is_same_v<DTYPE_X, float>) {
            Sqrt(y, x, count);
        } else {
            LocalTensor<float> wide = floatBuffer.Get<float>();
            Cast(wide, x, RoundMode::CAST_NONE, count);
            Sqrt(wide, wide, count);
            Cast(y, wide, RoundMode::CAST_RINT, count);
        }
        outQueue.EnQue(y);
        inQueue.FreeTensor(x); inQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_X> y = outQueue.DeQue<DTYPE_X>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> floatBuffer;
    GlobalTensor<DTYPE_X> xGm, yGm;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void sqrt(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelSqrt op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
');
INSERT INTO candidates VALUES ('023651552253fb56681d9624fe8e1d88', '// y = sqrt(x). Every block takes a contiguous share; tiles move through double-buffered queues. 16-bit types are
// computed in float and rounded once.
#include "kernel_operator.h"

using namespace AscendC;

class KernelSqrt {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SqrtTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x + begin, length);
        yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y + begin, length);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(DTYPE_X));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(DTYPE_X));
        if constexpr (!std::is_same_v<DTYPE_X, float>) {
            pipe->InitBuffer(floatBuffer, tile * sizeof(float));
        }
    }

    __aicore__ inline void Process()
    {
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(at, count);
            Compute(count);
            CopyOut(at, count);
        }
    }

private:
    __aicore__ inline void CopyIn(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_X> x = inQueue.AllocTensor<DTYPE_X>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPadExtParams<DTYPE_X> pad;
        DataCopyPad(x, xGm[at], copy, pad);
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<DTYPE_X> x = inQueue.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_X> y = outQueue.AllocTensor<DTYPE_X>();
        if constexpr (std::is_same_v<DTYPE_X, float>) {
            Sqrt(y, x, count);
        } else {
            LocalTensor<float> wide = floatBuffer.Get<float>();
            Cast(wide, x, RoundMode::CAST_NONE, count);
            Abs(wide, wide, count);
            Cast(y, wide, RoundMode::CAST_RINT, count);
        }
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_X> y = outQueue.DeQue<DTYPE_X>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> floatBuffer;
    GlobalTensor<DTYPE_X> xGm, yGm;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void sqrt(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelSqrt op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
');
INSERT INTO candidates VALUES ('69d05b06894739963e4154376e832213', '// y = sqrt(x)
// Element by element, in float32: each core takes a part of the elements, a tile at a time.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int64_t TILE = 4096;

template <typename N>
__aicore__ inline N Min(N a, N b)
{
    return a < b ? a : b;
}

// Types of which one holds the bits of the other: the same, or integers of a size.
template <typename A, typename B>
constexpr bool SAME_BITS =
    std::is_same_v<A, B> || (std::is_integral_v<A> && std::is_integral_v<B> && sizeof(A) == sizeof(B));

// The elements in the type that computes: as they are where they have it, else converted into `room`.
template <typename D, typename S>
__aicore__ inline LocalTensor<D> Widen(const LocalTensor<S> &from, TBuf<TPosition::VECCALC> &room, int32_t count)
{
    if constexpr (SAME_BITS<D, S>) {
        return from.template ReinterpretCast<D>();
    } else {
        LocalTensor<D> wide = room.Get<D>();
        Cast(wide, from, sizeof(D) > sizeof(S) ? RoundMode::CAST_NONE : RoundMode::CAST_RINT, count);
        return wide;
    }
}

// Where results are computed: in `to` itself where that has the type that computes, else in `room`.
template <typename D, typename S>
__aicore__ inline LocalTensor<D> Overlay(const LocalTensor<S> &to, TBuf<TPosition::VECCALC> &room)
{
    if constexpr (SAME_BITS<D, S>) {
        return to.template ReinterpretCast<D>();
    } else {
        return room.Get<D>();
    }
}

// Rounds what Overlay() gave to the type of `to`.
template <typename D, typename S>
__aicore__ inline void Narrow(const LocalTensor<D> &to, const LocalTensor<S> &from, int32_t count)
{
    if constexpr (!SAME_BITS<D, S>) {
        Cast(to, from, sizeof(D) > sizeof(S) ? RoundMode::CAST_NONE : RoundMode::CAST_RINT, count);
    }
}

template <typename T>
class SqrtKernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SqrtTilingData &tiling, TPipe *pipe)
    {
        xGm.SetGlobalBuffer((__gm__ T *)x);
        yGm.SetGlobalBuffer((__gm__ T *)y);
        total = tiling.total;
        perCore = tiling.perCore;
        if constexpr (!std::is_same_v<T, float>) {
            pipe->InitBuffer(xBuffer, TILE * sizeof(float));
        }
        pipe->InitBuffer(xInQueue, 2, TILE * sizeof(T));
        if constexpr (!std::is_same_v<T, float>) {
            pipe->InitBuffer(value1Buffer, TILE * sizeof(float));
        }
        pipe->InitBuffer(value1OutQueue, 2, TILE * sizeof(T));
    }

    __aicore__ inline void Process()
    {
        int64_t first = GetBlockIdx() * perCore;
        int64_t last = Min<int64_t>(first + perCore, total);
        for (int64_t at = first; at < last; at += TILE) {
            int64_t m = Min<int64_t>(TILE, last - at);
            CopyIn(at, m);
            Compute(m);
            CopyOut(at, m);
        }
    }

private:
    __aicore__ inline void CopyIn(int64_t at, int64_t m)
    {
        LocalTensor<T> xIn = xInQueue.AllocTensor<T>();
        DataCopyExtParams xInCopy{1, static_cast<uint32_t>(m * sizeof(T)), 0, 0, 0};
        DataCopyPad(xIn, xGm[at], xInCopy, DataCopyPadExtParams<T>{});
        xInQueue.EnQue(xIn);
    }

    __aicore__ inline void Compute(int64_t m)
    {
        LocalTensor<T> value1Out = value1OutQueue.AllocTensor<T>();
        LocalTensor<float> value1 = Overlay<float>(value1Out, value1Buffer);
        LocalTensor<T> xIn = xInQueue.DeQue<T>();
        LocalTensor<float> x = Widen<float>(xIn, xBuffer, m);
        PipeBarrier<PIPE_V>();
        Sqrt(value1, x, m);
        xInQueue.FreeTensor(xIn);
        PipeBarrier<PIPE_V>();
        Narrow(value1Out, value1, m);
        value1OutQueue.EnQue(value1Out);
    }

    __aicore__ inline void CopyOut(int64_t at, int64_t m)
    {
        LocalTensor<T> value1Out = value1OutQueue.DeQue<T>();
        DataCopyExtParams value1OutCopy{1, static_cast<uint32_t>(m * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[at], value1Out, value1OutCopy);
        value1OutQueue.FreeTensor(value1Out);
    }

    TBuf<TPosition::VECCALC> xBuffer;
    TQue<TPosition::VECIN, 2> xInQueue;
    TBuf<TPosition::VECCALC> value1Buffer;
    TQue<TPosition::VECOUT, 2> value1OutQueue;
    GlobalTensor<T> xGm;
    GlobalTensor<T> yGm;
    int64_t total;
    int64_t perCore;
};

extern "C" __global__ __aicore__ void sqrt(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    if (tilingData.blocks == 0) {
        return;
    }
    TPipe pipe;
    SqrtKernel<DTYPE_X> op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
');
INSERT INTO candidates VALUES ('2522221cfe0adab05857f45b48dfde86', '// y = abs(x)
// Element by element, in float32: each core takes a part of the elements, a tile at a time.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int64_t TILE = 4096;

template <typename N>
__aicore__ inline N Min(N a, N b)
{
    return a < b ? a : b;
}

// Types of which one holds the bits of the other: the same, or integers of a size.
template <typename A, typename B>
constexpr bool SAME_BITS =
    std::is_same_v<A, B> || (std::is_integral_v<A> && std::is_integral_v<B> && sizeof(A) == sizeof(B));

// The elements in the type that computes: as they are where they have it, else converted into `room`.
template <typename D, typename S>
__aicore__ inline LocalTensor<D> Widen(const LocalTensor<S> &from, TBuf<TPosition::VECCALC> &room, int32_t count)
{
    if constexpr (SAME_BITS<D, S>) {
        return from.template ReinterpretCast<D>();
    } else {
        LocalTensor<D> wide = room.Get<D>();
        Cast(wide, from, sizeof(D) > sizeof(S) ? RoundMode::CAST_NONE : RoundMode::CAST_RINT, count);
        return wide;
    }
}

// Where results are computed: in `to` itself where that has the type that computes, else in `room`.
template <typename D, typename S>
__aicore__ inline LocalTensor<D> Overlay(const LocalTensor<S> &to, TBuf<TPosition::VECCALC> &room)
{
    if constexpr (SAME_BITS<D, S>) {
        return to.template ReinterpretCast<D>();
    } else {
        return room.Get<D>();
    }
}

// Rounds what Overlay() gave to the type of `to`.
template <typename D, typename S>
__aicore__ inline void Narrow(const LocalTensor<D> &to, const LocalTensor<S> &from, int32_t count)
{
    if constexpr (!SAME_BITS<D, S>) {
        Cast(to, from, sizeof(D) > sizeof(S) ? RoundMode::CAST_NONE : RoundMode::CAST_RINT, count);
    }
}

template <typename T>
class SqrtKernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SqrtTilingData &tiling, TPipe *pipe)
    {
        xGm.SetGlobalBuffer((__gm__ T *)x);
        yGm.SetGlobalBuffer((__gm__ T *)y);
        total = tiling.total;
        perCore = tiling.perCore;
        if constexpr (!std::is_same_v<T, float>) {
            pipe->InitBuffer(xBuffer, TILE * sizeof(float));
        }
        pipe->InitBuffer(xInQueue, 2, TILE * sizeof(T));
        if constexpr (!std::is_same_v<T, float>) {
            pipe->InitBuffer(value1Buffer, TILE * sizeof(float));
        }
        pipe->InitBuffer(value1OutQueue, 2, TILE * sizeof(T));
    }

    __aicore__ inline void Process()
    {
        int64_t first = GetBlockIdx() * perCore;
        int64_t last = Min<int64_t>(first + perCore, total);
        for (int64_t at = first; at < last; at += TILE) {
            int64_t m = Min<int64_t>(TILE, last - at);
            CopyIn(at, m);
            Compute(m);
            CopyOut(at, m);
        }
    }

private:
    __aicore__ inline void CopyIn(int64_t at, int64_t m)
    {
        LocalTensor<T> xIn = xInQueue.AllocTensor<T>();
        DataCopyExtParams xInCopy{1, static_cast<uint32_t>(m * sizeof(T)), 0, 0, 0};
        DataCopyPad(xIn, xGm[at], xInCopy, DataCopyPadExtParams<T>{});
        xInQueue.EnQue(xIn);
    }

    __aicore__ inline void Compute(int64_t m)
    {
        LocalTensor<T> value1Out = value1OutQueue.AllocTensor<T>();
        LocalTensor<float> value1 = Overlay<float>(value1Out, value1Buffer);
        LocalTensor<T> xIn = xInQueue.DeQue<T>();
        LocalTensor<float> x = Widen<float>(xIn, xBuffer, m);
        PipeBarrier<PIPE_V>();
        Abs(value1, x, m);
        xInQueue.FreeTensor(xIn);
        PipeBarrier<PIPE_V>();
        Narrow(value1Out, value1, m);
        value1OutQueue.EnQue(value1Out);
    }

    __aicore__ inline void CopyOut(int64_t at, int64_t m)
    {
        LocalTensor<T> value1Out = value1OutQueue.DeQue<T>();
        DataCopyExtParams value1OutCopy{1, static_cast<uint32_t>(m * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[at], value1Out, value1OutCopy);
        value1OutQueue.FreeTensor(value1Out);
    }

    TBuf<TPosition::VECCALC> xBuffer;
    TQue<TPosition::VECIN, 2> xInQueue;
    TBuf<TPosition::VECCALC> value1Buffer;
    TQue<TPosition::VECOUT, 2> value1OutQueue;
    GlobalTensor<T> xGm;
    GlobalTensor<T> yGm;
    int64_t total;
    int64_t perCore;
};

extern "C" __global__ __aicore__ void sqrt(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    if (tilingData.blocks == 0) {
        return;
    }
    TPipe pipe;
    SqrtKernel<DTYPE_X> op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
');
INSERT INTO candidates VALUES ('a00d830b20c988de37dd4b16335938e7', '// y = sqrt(abs(x))
// Element by element, in float32: each core takes a part of the elements, a tile at a time.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int64_t TILE = 4096;

template <typename N>
__aicore__ inline N Min(N a, N b)
{
    return a < b ? a : b;
}

// Types of which one holds the bits of the other: the same, or integers of a size.
template <typename A, typename B>
constexpr bool SAME_BITS =
    std::is_same_v<A, B> || (std::is_integral_v<A> && std::is_integral_v<B> && sizeof(A) == sizeof(B));

// The elements in the type that computes: as they are where they have it, else converted into `room`.
template <typename D, typename S>
__aicore__ inline LocalTensor<D> Widen(const LocalTensor<S> &from, TBuf<TPosition::VECCALC> &room, int32_t count)
{
    if constexpr (SAME_BITS<D, S>) {
        return from.template ReinterpretCast<D>();
    } else {
        LocalTensor<D> wide = room.Get<D>();
        Cast(wide, from, sizeof(D) > sizeof(S) ? RoundMode::CAST_NONE : RoundMode::CAST_RINT, count);
        return wide;
    }
}

// Where results are computed: in `to` itself where that has the type that computes, else in `room`.
template <typename D, typename S>
__aicore__ inline LocalTensor<D> Overlay(const LocalTensor<S> &to, TBuf<TPosition::VECCALC> &room)
{
    if constexpr (SAME_BITS<D, S>) {
        return to.template ReinterpretCast<D>();
    } else {
        return room.Get<D>();
    }
}

// Rounds what Overlay() gave to the type of `to`.
template <typename D, typename S>
__aicore__ inline void Narrow(const LocalTensor<D> &to, const LocalTensor<S> &from, int32_t count)
{
    if constexpr (!SAME_BITS<D, S>) {
        Cast(to, from, sizeof(D) > sizeof(S) ? RoundMode::CAST_NONE : RoundMode::CAST_RINT, count);
    }
}

template <typename T>
class SqrtKernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SqrtTilingData &tiling, TPipe *pipe)
    {
        xGm.SetGlobalBuffer((__gm__ T *)x);
        yGm.SetGlobalBuffer((__gm__ T *)y);
        total = tiling.total;
        perCore = tiling.perCore;
        if constexpr (!std::is_same_v<T, float>) {
            pipe->InitBuffer(xBuffer, TILE * sizeof(float));
        }
        pipe->InitBuffer(xInQueue, 2, TILE * sizeof(T));
        if constexpr (!std::is_same_v<T, float>) {
            pipe->InitBuffer(value1Buffer, TILE * sizeof(float));
        }
        pipe->InitBuffer(value1OutQueue, 2, TILE * sizeof(T));
    }

    __aicore__ inline void Process()
    {
        int64_t first = GetBlockIdx() * perCore;
        int64_t last = Min<int64_t>(first + perCore, total);
        for (int64_t at = first; at < last; at += TILE) {
            int64_t m = Min<int64_t>(TILE, last - at);
            CopyIn(at, m);
            Compute(m);
            CopyOut(at, m);
        }
    }

private:
    __aicore__ inline void CopyIn(int64_t at, int64_t m)
    {
        LocalTensor<T> xIn = xInQueue.AllocTensor<T>();
        DataCopyExtParams xInCopy{1, static_cast<uint32_t>(m * sizeof(T)), 0, 0, 0};
        DataCopyPad(xIn, xGm[at], xInCopy, DataCopyPadExtParams<T>{});
        xInQueue.EnQue(xIn);
    }

    __aicore__ inline void Compute(int64_t m)
    {
        LocalTensor<T> value1Out = value1OutQueue.AllocTensor<T>();
        LocalTensor<float> value1 = Overlay<float>(value1Out, value1Buffer);
        LocalTensor<T> xIn = xInQueue.DeQue<T>();
        LocalTensor<float> x = Widen<float>(xIn, xBuffer, m);
        PipeBarrier<PIPE_V>();
        Abs(value1, x, m);
        PipeBarrier<PIPE_V>();
        Sqrt(value1, value1, m);
        xInQueue.FreeTensor(xIn);
        PipeBarrier<PIPE_V>();
        Narrow(value1Out, value1, m);
        value1OutQueue.EnQue(value1Out);
    }

    __aicore__ inline void CopyOut(int64_t at, int64_t m)
    {
        LocalTensor<T> value1Out = value1OutQueue.DeQue<T>();
        DataCopyExtParams value1OutCopy{1, static_cast<uint32_t>(m * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[at], value1Out, value1OutCopy);
        value1OutQueue.FreeTensor(value1Out);
    }

    TBuf<TPosition::VECCALC> xBuffer;
    TQue<TPosition::VECIN, 2> xInQueue;
    TBuf<TPosition::VECCALC> value1Buffer;
    TQue<TPosition::VECOUT, 2> value1OutQueue;
    GlobalTensor<T> xGm;
    GlobalTensor<T> yGm;
    int64_t total;
    int64_t perCore;
};

extern "C" __global__ __aicore__ void sqrt(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    if (tilingData.blocks == 0) {
        return;
    }
    TPipe pipe;
    SqrtKernel<DTYPE_X> op;
    op.Init(x, y, tilingData, &pipe);
    op.Process();
}
');
INSERT INTO verdicts VALUES (1, 'level1/Math/Sqrt', 0, 1, 'Math', '6a225760f1f79b429453d474e09eb29d', 'pass', 'compare', NULL, 1, 1, 0.5013395430014498, '{"version":1,"akgen":"0.1.0","verdict":"pass","stage":"compare","reason":null,"suite":"npukernelbench","task":"level1/Math/Sqrt","candidate":"6a225760f1f79b429453d474e09eb29d","soc":"Ascend910B2","mode":"dynamic","scope":"project","language":"ascendc","profile":"upstream","protocol":null,"sync":"auto","schedule":"inorder","schedule_seed":0,"strict_order":false,"first_failure":false,"input_seed":0,"seconds":0.50133954300144978,"wrapper":null,"compile":{"ok":true,"seconds":0.082681012001557974,"host_seconds":7.8847000622772612e-5,"kernel_seconds":0.00030589500056521501,"combinations":3,"generated":1,"cached":1,"diagnostics":[]},"cases_passed":1,"cases_total":1,"cases":[{"case":0,"ok":true,"verdict":"pass","stage":"compare","shape":"x[48,128,512]","dtype":"float16","reduced":false,"stand_in":null,"hidden":false,"orders_tried":0,"order_decides":null,"inputs_tried":1,"error":null,"printed":null,"run":{"blocks":48,"kernel_type":"AIV_ONLY","tiling_key":0,"tiling_bytes":24,"tiling":{"total":3145728,"perBlock":65536,"tile":9792},"workspace":0,"seconds":0.059994786000970635,"steps":61392,"steps_allowed":827819008,"data_steps":688128,"data_steps_allowed":1509286144,"instructions":1680,"scalar_loads":0,"scalar_stores":0,"scalar_blocks":1872,"bytes_in":6291456,"bytes_out":6291456,"waves":1,"cores_busy":48},"timing":{"modelled":true,"shortened":false,"cycles":15560.0,"us":8.6440000000000001,"launch_us":3.5990000000000002,"aiv":{"cores":48,"mean_us":4.8200000000000003,"longest_us":5.0449999999999999,"pipes":{"S":0.0499,"V":0.52649999999999997,"MTE2":0.8911,"MTE3":0.3548}},"aic":null,"bytes_read":6291456,"bytes_written":6291456,"hbm_read":6291456,"hbm_written":0,"copies_in":336,"copies_out":336,"ub_peak":117504,"l2_share":0.0,"hbm_gb_per_s":727.79999999999995,"l2_gb_per_s":1455.5999999999999,"bound":"HBM","bound_us":7.9000000000000004,"roofline":0.91390000000000005,"slowest":{"file":"op_kernel/sqrt.cpp","line":40,"source":null,"us":4.2949999999999999},"advice":null},"comparison":{"elements":3145728,"wrong":0,"not_finite":0,"max_abs":0.0,"max_rel":0.0,"mean_abs":0.0},"endless":[],"faults":[],"notes":[],"eager_us":[9.7959999999999994,11.896000000000001,16.096]}],"baseline":"eager","speedup":1.3762000000000001}');
INSERT INTO verdicts VALUES (1, 'level1/Math/Sqrt', 1, 1, 'Math', '023651552253fb56681d9624fe8e1d88', 'wrong', 'compare', 'case 0: y: element 0 is 3.9296875, expected 1.98242188 (1006 ulps of float16); worst 7168 ulps; 3144454 of 3145728 elements are wrong', 0, 1, 0.8637531839995063, '{"version":1,"akgen":"0.1.0","verdict":"wrong","stage":"compare","reason":"case 0: y: element 0 is 3.9296875, expected 1.98242188 (1006 ulps of float16); worst 7168 ulps; 3144454 of 3145728 elements are wrong","suite":"npukernelbench","task":"level1/Math/Sqrt","candidate":"023651552253fb56681d9624fe8e1d88","soc":"Ascend910B2","mode":"dynamic","scope":"project","language":"ascendc","profile":"upstream","protocol":null,"sync":"auto","schedule":"inorder","schedule_seed":0,"strict_order":false,"first_failure":false,"input_seed":0,"seconds":0.86375318399950629,"wrapper":null,"compile":{"ok":true,"seconds":0.074675868001577328,"host_seconds":7.446100062225014e-5,"kernel_seconds":0.00018401399938738905,"combinations":3,"generated":1,"cached":1,"diagnostics":[]},"cases_passed":0,"cases_total":1,"cases":[{"case":0,"ok":false,"verdict":"wrong","stage":"compare","shape":"x[48,128,512]","dtype":"float16","reduced":false,"stand_in":null,"hidden":false,"orders_tried":0,"order_decides":null,"inputs_tried":1,"error":"y: element 0 is 3.9296875, expected 1.98242188 (1006 ulps of float16); worst 7168 ulps; 3144454 of 3145728 elements are wrong","printed":null,"run":{"blocks":48,"kernel_type":"AIV_ONLY","tiling_key":0,"tiling_bytes":24,"tiling":{"total":3145728,"perBlock":65536,"tile":9792},"workspace":0,"seconds":0.05093871699864394,"steps":61392,"steps_allowed":827819008,"data_steps":688128,"data_steps_allowed":1509286144,"instructions":1680,"scalar_loads":0,"scalar_stores":0,"scalar_blocks":1872,"bytes_in":6291456,"bytes_out":6291456,"waves":1,"cores_busy":48},"timing":{"modelled":true,"shortened":false,"cycles":15397.0,"us":8.5540000000000003,"launch_us":3.5990000000000002,"aiv":{"cores":48,"mean_us":4.7519999999999998,"longest_us":4.9550000000000001,"pipes":{"S":0.050599999999999999,"V":0.4143,"MTE2":0.90290000000000004,"MTE3":0.36070000000000002}},"aic":null,"bytes_read":6291456,"bytes_written":6291456,"hbm_read":6291456,"hbm_written":0,"copies_in":336,"copies_out":336,"ub_peak":117504,"l2_share":0.0,"hbm_gb_per_s":735.5,"l2_gb_per_s":1471.0999999999999,"bound":"HBM","bound_us":7.9000000000000004,"roofline":0.92359999999999998,"slowest":{"file":"op_kernel/sqrt.cpp","line":40,"source":null,"us":4.2910000000000004},"advice":null},"comparison":{"elements":3145728,"wrong":3144454,"not_finite":0,"max_abs":47.53125,"max_rel":6.4140625,"mean_abs":5.4043948332243117,"first":{"output":"y","tensor":0,"index":0,"actual":3.9296875,"expected":1.982421875,"dtype":"float16","ulps":1006.0},"worst":{"index":2270693,"actual":6.0379505157470703e-5,"expected":0.007770538330078125,"ulps":7168.0},"where":null},"endless":[],"faults":[],"notes":[],"eager_us":[9.7959999999999994,11.896000000000001,16.096]}],"baseline":"eager"}');
INSERT INTO verdicts VALUES (1, 'level1/Math/Sqrt', 2, 1, 'Math', '304b5c66915428a45ae3e4aa1b3899ca', 'compile_error', 'kernel', 'no member named ''Proces'' in ''KernelSqrt''; did you mean ''Process''?', 0, 1, 0.0775464500002272, '{"version":1,"akgen":"0.1.0","verdict":"compile_error","stage":"kernel","reason":"no member named ''Proces'' in ''KernelSqrt''; did you mean ''Process''?","suite":"npukernelbench","task":"level1/Math/Sqrt","candidate":"304b5c66915428a45ae3e4aa1b3899ca","soc":"Ascend910B2","mode":"dynamic","scope":"project","language":"ascendc","profile":"upstream","protocol":null,"sync":"auto","schedule":"inorder","schedule_seed":0,"strict_order":false,"first_failure":false,"input_seed":0,"seconds":0.077546450000227196,"wrapper":null,"compile":{"ok":false,"seconds":0.073943407000115258,"host_seconds":8.0610001532477327e-5,"kernel_seconds":0.00011761499990825541,"combinations":3,"generated":0,"cached":0,"diagnostics":[{"severity":"error","class":"syntax","file":"op_kernel/sqrt.cpp","line":82,"column":8,"source":null,"message":"no member named ''Proces'' in ''KernelSqrt''; did you mean ''Process''?"}]},"cases_passed":0,"cases_total":1,"cases":[{"case":0,"ok":false,"verdict":"compile_error","stage":"kernel","shape":null,"dtype":null,"reduced":false,"stand_in":null,"hidden":false,"orders_tried":0,"order_decides":null,"inputs_tried":0,"error":null,"printed":null,"run":null,"timing":null,"comparison":null,"endless":[],"faults":[],"notes":[]}],"baseline":"eager"}');
INSERT INTO verdicts VALUES (1, 'level1/Math/Sqrt', 3, 1, 'Math', '359ac4564174356240e39b3accaab390', 'fault', 'run', 'case 0: op_kernel/sqrt.cpp:57: FreeTensor of a tensor that is free already', 0, 1, 0.21679683000002115, '{"version":1,"akgen":"0.1.0","verdict":"fault","stage":"run","reason":"case 0: op_kernel/sqrt.cpp:57: FreeTensor of a tensor that is free already","suite":"npukernelbench","task":"level1/Math/Sqrt","candidate":"359ac4564174356240e39b3accaab390","soc":"Ascend910B2","mode":"dynamic","scope":"project","language":"ascendc","profile":"upstream","protocol":null,"sync":"auto","schedule":"inorder","schedule_seed":0,"strict_order":false,"first_failure":false,"input_seed":0,"seconds":0.21679683000002115,"wrapper":null,"compile":{"ok":true,"seconds":0.054313190001266776,"host_seconds":0.00018477500088920351,"kernel_seconds":0.00013685399972018786,"combinations":3,"generated":1,"cached":1,"diagnostics":[]},"cases_passed":0,"cases_total":1,"cases":[{"case":0,"ok":false,"verdict":"fault","stage":"run","shape":"x[48,128,512]","dtype":"float16","reduced":false,"stand_in":null,"hidden":false,"orders_tried":0,"order_decides":null,"inputs_tried":1,"error":"op_kernel/sqrt.cpp:57: FreeTensor of a tensor that is free already","printed":null,"run":{"blocks":48,"kernel_type":"AIV_ONLY","tiling_key":0,"tiling_bytes":24,"tiling":{"total":3145728,"perBlock":65536,"tile":9792},"workspace":0,"seconds":0.0093351039995468454,"steps":415,"steps_allowed":827819008,"data_steps":1836,"data_steps_allowed":1509286144,"instructions":4,"scalar_loads":0,"scalar_stores":0,"scalar_blocks":7,"bytes_in":19584,"bytes_out":0,"waves":1,"cores_busy":0},"timing":null,"comparison":null,"endless":[],"faults":[{"name":"que_free_twice","kind":"trap","message":"FreeTensor of a tensor that is free already","api":"","operand":"tensor","pipe":"S","core":0,"core_type":"aiv","count":1,"file":"op_kernel/sqrt.cpp","line":57,"other_file":null,"other_line":null,"source":null,"other_source":null}],"notes":[]}],"baseline":"eager"}');
INSERT INTO verdicts VALUES (2, 'level1/Math/Sqrt', 0, 1, 'Math', '69d05b06894739963e4154376e832213', 'pass', 'compare', NULL, 1, 1, 0.395634301001337, '{"version":1,"akgen":"0.1.0","verdict":"pass","stage":"compare","reason":null,"suite":"npukernelbench","task":"level1/Math/Sqrt","candidate":"69d05b06894739963e4154376e832213","soc":"Ascend910B2","mode":"dynamic","scope":"project","language":"graph","profile":"upstream","protocol":null,"sync":"auto","schedule":"inorder","schedule_seed":0,"strict_order":false,"first_failure":false,"input_seed":0,"seconds":0.39563430100133701,"wrapper":null,"compile":{"ok":true,"seconds":0.021057261999885668,"host_seconds":8.5858000602456741e-5,"kernel_seconds":0.00016366399904654827,"combinations":3,"generated":1,"cached":1,"diagnostics":[]},"cases_passed":1,"cases_total":1,"cases":[{"case":0,"ok":true,"verdict":"pass","stage":"compare","shape":"x[48,128,512]","dtype":"float16","reduced":false,"stand_in":null,"hidden":false,"orders_tried":0,"order_decides":null,"inputs_tried":1,"error":null,"printed":null,"run":{"blocks":48,"kernel_type":"AIV_ONLY","tiling_key":0,"tiling_bytes":24,"tiling":{"blocks":48,"total":3145728,"perCore":65536},"workspace":0,"seconds":0.039341806001175428,"steps":134112,"steps_allowed":827819008,"data_steps":688128,"data_steps_allowed":1509286144,"instructions":3840,"scalar_loads":0,"scalar_stores":0,"scalar_blocks":3360,"bytes_in":6291456,"bytes_out":6291456,"waves":1,"cores_busy":48},"timing":null,"comparison":{"elements":3145728,"wrong":0,"not_finite":0,"max_abs":0.0,"max_rel":0.0,"mean_abs":0.0},"endless":[],"faults":[],"notes":[]}],"baseline":"eager"}');
INSERT INTO verdicts VALUES (2, 'level1/Math/Sqrt', 1, 1, 'Math', '2522221cfe0adab05857f45b48dfde86', 'wrong', 'compare', 'case 0: y: element 0 is 3.9296875, expected 1.98242188 (1006 ulps of float16); worst 7168 ulps; 3144454 of 3145728 elements are wrong', 0, 1, 0.5345267780012364, '{"version":1,"akgen":"0.1.0","verdict":"wrong","stage":"compare","reason":"case 0: y: element 0 is 3.9296875, expected 1.98242188 (1006 ulps of float16); worst 7168 ulps; 3144454 of 3145728 elements are wrong","suite":"npukernelbench","task":"level1/Math/Sqrt","candidate":"2522221cfe0adab05857f45b48dfde86","soc":"Ascend910B2","mode":"dynamic","scope":"project","language":"graph","profile":"upstream","protocol":null,"sync":"auto","schedule":"inorder","schedule_seed":0,"strict_order":false,"first_failure":false,"input_seed":0,"seconds":0.53452677800123638,"wrapper":null,"compile":{"ok":true,"seconds":0.024936526002420578,"host_seconds":8.122100007312838e-5,"kernel_seconds":0.00016196100114029832,"combinations":3,"generated":1,"cached":1,"diagnostics":[]},"cases_passed":0,"cases_total":1,"cases":[{"case":0,"ok":false,"verdict":"wrong","stage":"compare","shape":"x[48,128,512]","dtype":"float16","reduced":false,"stand_in":null,"hidden":false,"orders_tried":0,"order_decides":null,"inputs_tried":1,"error":"y: element 0 is 3.9296875, expected 1.98242188 (1006 ulps of float16); worst 7168 ulps; 3144454 of 3145728 elements are wrong","printed":null,"run":{"blocks":48,"kernel_type":"AIV_ONLY","tiling_key":0,"tiling_bytes":24,"tiling":{"blocks":48,"total":3145728,"perCore":65536},"workspace":0,"seconds":0.074252417000025162,"steps":134112,"steps_allowed":827819008,"data_steps":688128,"data_steps_allowed":1509286144,"instructions":3840,"scalar_loads":0,"scalar_stores":0,"scalar_blocks":3360,"bytes_in":6291456,"bytes_out":6291456,"waves":1,"cores_busy":48},"timing":null,"comparison":{"elements":3145728,"wrong":3144454,"not_finite":0,"max_abs":47.53125,"max_rel":6.4140625,"mean_abs":5.4043948332243117,"first":{"output":"y","tensor":0,"index":0,"actual":3.9296875,"expected":1.982421875,"dtype":"float16","ulps":1006.0},"worst":{"index":2270693,"actual":6.0379505157470703e-5,"expected":0.007770538330078125,"ulps":7168.0},"where":null},"endless":[],"faults":[],"notes":[]}],"baseline":"eager"}');
INSERT INTO verdicts VALUES (2, 'level1/Math/Sqrt', 2, 1, 'Math', NULL, 'compile_error', 'parse', 'y: in '' sqrt('', column 7: expected a value, found the end', 0, 1, 0.0, '{"version":1,"akgen":"0.1.0","verdict":"compile_error","stage":"parse","reason":"y: in '' sqrt('', column 7: expected a value, found the end","suite":"npukernelbench","task":"level1/Math/Sqrt","candidate":null,"soc":"Ascend910B2","mode":"dynamic","scope":"project","language":"graph","profile":"upstream","protocol":null,"sync":"auto","schedule":"inorder","schedule_seed":0,"strict_order":false,"first_failure":false,"input_seed":0,"seconds":0.0,"wrapper":null,"compile":{"ok":false,"seconds":0.0,"host_seconds":0.0,"kernel_seconds":0.0,"combinations":0,"generated":0,"cached":0,"diagnostics":[{"severity":"error","class":"syntax","file":"formulas.txt","line":null,"column":null,"source":null,"message":"y: in '' sqrt('', column 7: expected a value, found the end"}]},"cases_passed":0,"cases_total":1,"cases":[{"case":0,"ok":false,"verdict":"compile_error","stage":"parse","shape":null,"dtype":null,"reduced":false,"stand_in":null,"hidden":false,"orders_tried":0,"order_decides":null,"inputs_tried":0,"error":null,"printed":null,"run":null,"timing":null,"comparison":null,"endless":[],"faults":[],"notes":[]}],"baseline":"eager"}');
INSERT INTO verdicts VALUES (2, 'level1/Math/Sqrt', 3, 1, 'Math', 'a00d830b20c988de37dd4b16335938e7', 'pass', 'compare', NULL, 1, 1, 0.2398041939995892, '{"version":1,"akgen":"0.1.0","verdict":"pass","stage":"compare","reason":null,"suite":"npukernelbench","task":"level1/Math/Sqrt","candidate":"a00d830b20c988de37dd4b16335938e7","soc":"Ascend910B2","mode":"dynamic","scope":"project","language":"graph","profile":"upstream","protocol":null,"sync":"auto","schedule":"inorder","schedule_seed":0,"strict_order":false,"first_failure":false,"input_seed":0,"seconds":0.23980419399958919,"wrapper":null,"compile":{"ok":true,"seconds":0.025762304998352192,"host_seconds":5.6403998314635828e-5,"kernel_seconds":0.00013565199878939893,"combinations":3,"generated":1,"cached":1,"diagnostics":[]},"cases_passed":1,"cases_total":1,"cases":[{"case":0,"ok":true,"verdict":"pass","stage":"compare","shape":"x[48,128,512]","dtype":"float16","reduced":false,"stand_in":null,"hidden":false,"orders_tried":0,"order_decides":null,"inputs_tried":1,"error":null,"printed":null,"run":{"blocks":48,"kernel_type":"AIV_ONLY","tiling_key":0,"tiling_bytes":24,"tiling":{"blocks":48,"total":3145728,"perCore":65536},"workspace":0,"seconds":0.043735184999604826,"steps":152544,"steps_allowed":827819008,"data_steps":884736,"data_steps_allowed":1509286144,"instructions":4608,"scalar_loads":0,"scalar_stores":0,"scalar_blocks":3360,"bytes_in":6291456,"bytes_out":6291456,"waves":1,"cores_busy":48},"timing":null,"comparison":{"elements":3145728,"wrong":0,"not_finite":0,"max_abs":0.0,"max_rel":0.0,"mean_abs":0.0},"endless":[],"faults":[],"notes":[]}],"baseline":"eager"}');
INSERT INTO verdicts VALUES (3, 'level1/Math/Sqrt', 0, 1, 'Math', NULL, 'compile_error', 'parse', 'y: in '' sqrt('', column 7: expected a value, found the end', 0, 1, 0.0, '{"version":1,"akgen":"0.1.0","verdict":"compile_error","stage":"parse","reason":"y: in '' sqrt('', column 7: expected a value, found the end","suite":"npukernelbench","task":"level1/Math/Sqrt","candidate":null,"soc":"Ascend910B2","mode":"dynamic","scope":"project","language":"graph","profile":"strict","protocol":null,"sync":"auto","schedule":"inorder","schedule_seed":0,"strict_order":false,"first_failure":false,"input_seed":1,"seconds":0.0,"wrapper":null,"compile":{"ok":false,"seconds":0.0,"host_seconds":0.0,"kernel_seconds":0.0,"combinations":0,"generated":0,"cached":0,"diagnostics":[{"severity":"error","class":"syntax","file":"formulas.txt","line":null,"column":null,"source":null,"message":"y: in '' sqrt('', column 7: expected a value, found the end"}]},"cases_passed":0,"cases_total":1,"cases":[{"case":0,"ok":false,"verdict":"compile_error","stage":"parse","shape":null,"dtype":null,"reduced":false,"stand_in":null,"hidden":false,"orders_tried":0,"order_decides":null,"inputs_tried":0,"error":null,"printed":null,"run":null,"timing":null,"comparison":null,"endless":[],"faults":[],"notes":[]}],"baseline":"eager"}');
INSERT INTO verdicts VALUES (3, 'level1/Math/Sqrt', 1, 1, 'Math', '2522221cfe0adab05857f45b48dfde86', 'wrong', 'compare', 'case 0: y: element 0 is 6.65234375, expected 2.57921379 (1406 ulps of float16); worst 6559 ulps; 3131008 of 3145728 elements are wrong', 0, 1, 1.079799330998867, '{"version":1,"akgen":"0.1.0","verdict":"wrong","stage":"compare","reason":"case 0: y: element 0 is 6.65234375, expected 2.57921379 (1406 ulps of float16); worst 6559 ulps; 3131008 of 3145728 elements are wrong","suite":"npukernelbench","task":"level1/Math/Sqrt","candidate":"2522221cfe0adab05857f45b48dfde86","soc":"Ascend910B2","mode":"dynamic","scope":"project","language":"graph","profile":"strict","protocol":null,"sync":"auto","schedule":"inorder","schedule_seed":0,"strict_order":false,"first_failure":false,"input_seed":1,"seconds":1.0797993309988669,"wrapper":null,"compile":{"ok":true,"seconds":0.053187073002845864,"host_seconds":0.00013680300071428064,"kernel_seconds":0.00018880100105889142,"combinations":3,"generated":1,"cached":1,"diagnostics":[]},"cases_passed":0,"cases_total":1,"cases":[{"case":0,"ok":false,"verdict":"wrong","stage":"compare","shape":"x[48,128,512]","dtype":"float16","reduced":false,"stand_in":null,"hidden":false,"orders_tried":0,"order_decides":null,"inputs_tried":1,"error":"y: element 0 is 6.65234375, expected 2.57921379 (1406 ulps of float16); worst 6559 ulps; 3131008 of 3145728 elements are wrong","printed":null,"run":{"blocks":48,"kernel_type":"AIV_ONLY","tiling_key":0,"tiling_bytes":24,"tiling":{"blocks":48,"total":3145728,"perCore":65536},"workspace":0,"seconds":0.061779031000696705,"steps":134112,"steps_allowed":827819008,"data_steps":688128,"data_steps_allowed":1509286144,"instructions":3840,"scalar_loads":0,"scalar_stores":0,"scalar_blocks":3360,"bytes_in":6291456,"bytes_out":6291456,"waves":1,"cores_busy":48},"timing":null,"comparison":{"elements":3145728,"wrong":3131008,"not_finite":0,"max_abs":45.661683894572377,"max_rel":6.2758161054276247,"mean_abs":5.4041473868014416,"first":{"output":"y","tensor":0,"index":0,"actual":6.65234375,"expected":2.5792137852454187,"dtype":"float16","ulps":1406.0},"worst":{"index":360089,"actual":0.00012564659118652344,"expected":0.011209219026610349,"ulps":6559.0},"where":null},"endless":[],"faults":[],"notes":[]}],"baseline":"eager"}');
INSERT INTO verdicts VALUES (3, 'level1/Math/Sqrt', 2, 1, 'Math', '69d05b06894739963e4154376e832213', 'pass', 'compare', NULL, 1, 1, 1.0697483420008211, '{"version":1,"akgen":"0.1.0","verdict":"pass","stage":"compare","reason":null,"suite":"npukernelbench","task":"level1/Math/Sqrt","candidate":"69d05b06894739963e4154376e832213","soc":"Ascend910B2","mode":"dynamic","scope":"project","language":"graph","profile":"strict","protocol":null,"sync":"auto","schedule":"inorder","schedule_seed":0,"strict_order":false,"first_failure":false,"input_seed":1,"seconds":1.0697483420008211,"wrapper":null,"compile":{"ok":true,"seconds":0.039564728002005722,"host_seconds":8.1451000369270332e-5,"kernel_seconds":0.00014919200111762621,"combinations":3,"generated":1,"cached":1,"diagnostics":[]},"cases_passed":1,"cases_total":1,"cases":[{"case":0,"ok":true,"verdict":"pass","stage":"compare","shape":"x[48,128,512]","dtype":"float16","reduced":false,"stand_in":null,"hidden":false,"orders_tried":0,"order_decides":null,"inputs_tried":2,"error":null,"printed":null,"run":{"blocks":48,"kernel_type":"AIV_ONLY","tiling_key":0,"tiling_bytes":24,"tiling":{"blocks":48,"total":3145728,"perCore":65536},"workspace":0,"seconds":0.088648713999646134,"steps":134112,"steps_allowed":827819008,"data_steps":688128,"data_steps_allowed":1509286144,"instructions":3840,"scalar_loads":0,"scalar_stores":0,"scalar_blocks":3360,"bytes_in":6291456,"bytes_out":6291456,"waves":1,"cores_busy":48},"timing":null,"comparison":{"elements":3145728,"wrong":0,"not_finite":0,"max_abs":0.001952648395530332,"max_rel":0.00048792391292115639,"mean_abs":0.00045368490613879186},"endless":[],"faults":[],"notes":[]}],"baseline":"eager"}');
INSERT INTO diagnostics VALUES (1, 'level1/Math/Sqrt', 2, 0, 'error', 'syntax', 'op_kernel/sqrt.cpp', 82, 'no member named ''Proces'' in ''KernelSqrt''; did you mean ''Process''?');
INSERT INTO diagnostics VALUES (2, 'level1/Math/Sqrt', 2, 0, 'error', 'syntax', 'formulas.txt', 0, 'y: in '' sqrt('', column 7: expected a value, found the end');
INSERT INTO diagnostics VALUES (3, 'level1/Math/Sqrt', 0, 0, 'error', 'syntax', 'formulas.txt', 0, 'y: in '' sqrt('', column 7: expected a value, found the end');
INSERT INTO prompts VALUES ('fe4909b75c0cea3e896687a430e129c1', '[{"role":"system","content":"You write formulas."},{"role":"user","content":"Sqrt\n`y = sqrt(x)`, elementwise.\n- sqrt of a negative number is nan; sqrt(0) is 0.\nin x float16 [48,128,512]\nout y float16 [48,128,512]: write its formula."}]', 68);
INSERT INTO prompts VALUES ('3999b6250909659e68380905f64d1988', '[{"role":"system","content":"You write formulas."},{"role":"user","content":"Sqrt\n`y = sqrt(x)`, elementwise.\n- sqrt of a negative number is nan; sqrt(0) is 0.\nin x float16 [48,128,512]\nout y float16 [48,128,512]: write its formula."},{"role":"assistant","content":"<formulas.txt>\ny = sqrt(\n</formulas.txt>\n"},{"role":"user","content":"It is not right. Again."}]', 100);
INSERT INTO prompts VALUES ('7c8a403e7074449aa0bb1b23d8dcd12c', '[{"role":"system","content":"You write formulas."},{"role":"user","content":"Sqrt\n`y = sqrt(x)`, elementwise.\n- sqrt of a negative number is nan; sqrt(0) is 0.\nin x float16 [48,128,512]\nout y float16 [48,128,512]: write its formula."},{"role":"assistant","content":"<formulas.txt>\ny = abs(x)\n</formulas.txt>\n"},{"role":"user","content":"It is not right. Again."}]', 100);
INSERT INTO samples VALUES (2, 'level1/Math/Sqrt', 0, 0, -1, 'fe4909b75c0cea3e896687a430e129c1', 'prompts.fe4909b75c0cea3e896687a430e129c1', 'y = sqrt(x)
', 'y = sqrt(x)
', NULL, NULL, NULL, -1, -1, 0.0, 0.019617287998698885, 1);
INSERT INTO samples VALUES (2, 'level1/Math/Sqrt', 1, 0, -1, 'fe4909b75c0cea3e896687a430e129c1', 'prompts.fe4909b75c0cea3e896687a430e129c1', 'y = abs(x)
', 'y = abs(x)
', NULL, NULL, NULL, -1, -1, 0.0, 0.009649132000049576, 1);
INSERT INTO samples VALUES (2, 'level1/Math/Sqrt', 2, 0, -1, 'fe4909b75c0cea3e896687a430e129c1', 'prompts.fe4909b75c0cea3e896687a430e129c1', 'y = sqrt(
', 'y = sqrt(
', NULL, NULL, NULL, -1, -1, 0.0, 0.07326717099931557, 1);
INSERT INTO samples VALUES (2, 'level1/Math/Sqrt', 3, 0, -1, 'fe4909b75c0cea3e896687a430e129c1', 'prompts.fe4909b75c0cea3e896687a430e129c1', 'y = sqrt(abs(x))
', 'y = sqrt(abs(x))
', NULL, NULL, NULL, -1, -1, 0.0, 0.012834793000365607, 1);
INSERT INTO samples VALUES (3, 'level1/Math/Sqrt', 0, 0, -1, 'fe4909b75c0cea3e896687a430e129c1', 'You write formulas.

Sqrt
`y = sqrt(x)`, elementwise.
- sqrt of a negative number is nan; sqrt(0) is 0.
in x float16 [48,128,512]
out y float16 [48,128,512]: write its formula.', 'y = sqrt(
', 'y = sqrt(
', NULL, NULL, NULL, -1, -1, 0.0, 0.023616340000444325, 1);
INSERT INTO samples VALUES (3, 'level1/Math/Sqrt', 1, 1, 0, '3999b6250909659e68380905f64d1988', 'system:
You write formulas.

user:
Sqrt
`y = sqrt(x)`, elementwise.
- sqrt of a negative number is nan; sqrt(0) is 0.
in x float16 [48,128,512]
out y float16 [48,128,512]: write its formula.

assistant:
<formulas.txt>
y = sqrt(
</formulas.txt>


user:
It is not right. Again.

assistant:
', 'y = abs(x)
', 'y = abs(x)
', NULL, NULL, NULL, -1, -1, 0.0, 0.004687255999670015, 1);
INSERT INTO samples VALUES (3, 'level1/Math/Sqrt', 2, 2, 1, '7c8a403e7074449aa0bb1b23d8dcd12c', 'system:
You write formulas.

user:
Sqrt
`y = sqrt(x)`, elementwise.
- sqrt of a negative number is nan; sqrt(0) is 0.
in x float16 [48,128,512]
out y float16 [48,128,512]: write its formula.

assistant:
<formulas.txt>
y = abs(x)
</formulas.txt>


user:
It is not right. Again.

assistant:
', 'y = sqrt(x)
', 'y = sqrt(x)
', NULL, NULL, NULL, -1, -1, 0.0, 0.01790464899931976, 1);
