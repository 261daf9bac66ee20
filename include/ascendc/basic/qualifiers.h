/* What the compiler must know before any kernel code: address spaces, what is device code, and the macros that CANN's
 * compiler predefines for an Ascend 910B (NPU_ARCH 2201, c220). */
#ifndef ASCENDC_QUALIFIERS_H
#define ASCENDC_QUALIFIERS_H

#include <cstddef>
#include <cstdint>

/* Kernels are compiled as clang's "device side" (see kernel_operator.h), so that its own rule applies: a function
 * without
 * __aicore__ cannot be called from one that has it, unless it is constexpr. */
#ifdef __CUDA__
#define AKGEN_DEVICE       __attribute__((device))
#define AKGEN_DEVICE_BEGIN _Pragma("clang force_cuda_host_device begin")
#define AKGEN_DEVICE_END   _Pragma("clang force_cuda_host_device end")
#else
#define AKGEN_DEVICE
#define AKGEN_DEVICE_BEGIN
#define AKGEN_DEVICE_END
#endif
/* Every API function: inlined and without line information, so that the machine's call is attributed to the kernel's
 * line. */
#define AKGEN_API AKGEN_DEVICE __attribute__((always_inline, nodebug)) inline
/* The same for what kernels also use in constants at namespace scope, which clang counts as host code. */
#define AKGEN_CONSTANT __attribute__((always_inline, nodebug)) inline constexpr

AKGEN_DEVICE_BEGIN
#include "abi/npu_abi.h"
#include "abi/npu_adv.h"
AKGEN_DEVICE_END

#define __aicore__ AKGEN_DEVICE
#ifdef __CUDA__
#define __host__ __attribute__((host))
#else
#define __host__
#endif
#define __global__
/* On an entry: the cores that it starts, which the source pass of the toolchain reads. Ratios of __mix__ and the mode
 * of scheduling: asc-devkit docs, guide, SIMD-BuiltIn关键字; the mode matters between kernels only. */
namespace akgen
{
template <int cube, int vector> struct mix_of;
template <> struct mix_of<0, 1> {
    static constexpr int supported = 1;
};
template <> struct mix_of<1, 0> : mix_of<0, 1> {
};
template <> struct mix_of<1, 1> : mix_of<0, 1> {
};
template <> struct mix_of<1, 2> : mix_of<0, 1> {
};
} // namespace akgen
#define __vector__            AKGEN_DEVICE
#define __cube__              AKGEN_DEVICE
#define __mix__(cube, vector) AKGEN_DEVICE __attribute__((annotate("mix", akgen::mix_of<cube, vector>::supported)))
#define __schedmode__(mode)
#define __gm__          __attribute__((address_space(1)))
#define __ubuf__        __attribute__((address_space(2)))
#define __cbuf__        __attribute__((address_space(3)))
#define __ca__          __attribute__((address_space(4)))
#define __cb__          __attribute__((address_space(5)))
#define __cc__          __attribute__((address_space(6)))
#define __fbuf__        __attribute__((address_space(7)))
#define __forceinline__ inline __attribute__((always_inline))
#define __inout_pipe__(pipe)
#define __in_pipe__(pipe)
#define __out_pipe__(pipe)
#define __sync_alias__
#define __sync_noalias__
#define __kfc_workspace__
/* A variable of which each core has its own; the source pass writes [[block_local]] so. */
#define __BLOCK_LOCAL__ AKGEN_DEVICE __attribute__((section("akgen_block")))
#ifndef __CCE_AICORE__
#define __CCE_AICORE__ 220
#endif
#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
/* The cube half of a kernel that starts AICs is compiled with __DAV_C220_CUBE__. */
#if !defined(__DAV_C220_VEC__) && !defined(__DAV_C220_CUBE__)
#define __DAV_C220_VEC__ 1
#endif
#ifndef __NPU_DEVICE__
#define __NPU_DEVICE__ 1
#endif
#define GM_ADDR __gm__ uint8_t *
/* Device code has no heap. */
__attribute__((unavailable("dynamic memory is not available in __aicore__ code"))) AKGEN_DEVICE void *
operator new(size_t);
__attribute__((unavailable("dynamic memory is not available in __aicore__ code"))) AKGEN_DEVICE void *
operator new[](size_t);

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

#endif
