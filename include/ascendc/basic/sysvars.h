/* Where a block runs, its workspace, its kernel type and its tiling data. */
#ifndef ASCENDC_SYSVARS_H
#define ASCENDC_SYSVARS_H

#include "basic/sync.h"

AKGEN_API int64_t get_block_idx()
{
    return npu_group_idx();
}
AKGEN_API int64_t get_block_num()
{
    return npu_block_num();
}
AKGEN_API int64_t get_subblockid()
{
    return npu_sub_block_idx();
}
AKGEN_API int64_t get_subblockdim()
{
    return npu_sub_block_num();
}
AKGEN_API int64_t get_system_cycle()
{
    return npu_get_system_cycle();
}
AKGEN_API GM_ADDR GetSysWorkSpacePtr()
{
    return reinterpret_cast<GM_ADDR>(npu_sys_workspace());
}
AKGEN_API void trap()
{
    npu_user_trap();
}
#define block_idx get_block_idx()
#define block_num get_block_num()

namespace AscendC
{

AKGEN_API int64_t GetBlockIdx()
{
    return npu_block_idx();
}
AKGEN_API int64_t GetBlockNum()
{
    return npu_block_num();
}
AKGEN_API int64_t GetSubBlockIdx()
{
    return npu_sub_block_idx();
}
AKGEN_API int64_t GetSubBlockNum()
{
    return npu_sub_block_num();
}
AKGEN_API int64_t GetTaskRatio()
{
    return npu_sub_block_num();
}
/* The name in CANN 8.1. */
AKGEN_API int64_t GetTaskRation()
{
    return GetTaskRatio();
}
AKGEN_API int64_t GetSystemCycle()
{
    return npu_get_system_cycle();
}
AKGEN_API constexpr int16_t GetDataBlockSizeInBytes()
{
    return 32;
}
AKGEN_API void GetArchVersion(uint32_t &coreVersion)
{
    coreVersion = 0x220;
}
AKGEN_API void Trap()
{
    npu_user_trap();
}
/* What a kernel without TPipe calls first: the mask and atomic state that a TPipe sets up. */
AKGEN_API void InitSocState()
{
    npu_set_atomic(0, AKGEN_DTYPE_NONE);
    npu_set_mask_counter(0);
    npu_reset_mask();
}

AKGEN_API GM_ADDR GetUserWorkspace(GM_ADDR workspace)
{
    return reinterpret_cast<GM_ADDR>(npu_user_workspace(reinterpret_cast<uint64_t>(workspace)));
}
AKGEN_API void SetSysWorkspace(GM_ADDR workspace)
{
    npu_set_sys_workspace(reinterpret_cast<uint64_t>(workspace));
}
AKGEN_API void SetSysWorkspaceForce(GM_ADDR workspace)
{
    npu_set_sys_workspace(reinterpret_cast<uint64_t>(workspace));
}

} // namespace AscendC

/* Which kind of core this object is for. The conditions are CANN's: they follow a bare `if`. */
#ifdef __DAV_C220_CUBE__
constexpr int32_t g_coreType = AscendC::AIC;
#else
constexpr int32_t g_coreType = AscendC::AIV;
#endif
#define ASCEND_IS_AIV     constexpr(g_coreType == AscendC::AIV)
#define ASCEND_IS_AIC     constexpr(g_coreType == AscendC::AIC)
#define ASCEND_IS_NOT_AIV constexpr(g_coreType != AscendC::AIV)
#define ASCEND_IS_NOT_AIC constexpr(g_coreType != AscendC::AIC)

enum KernelMetaType : uint8_t {
    KERNEL_TYPE_AIV_ONLY,
    KERNEL_TYPE_AIC_ONLY,
    KERNEL_TYPE_MIX_AIV_1_0,
    KERNEL_TYPE_MIX_AIC_1_0,
    KERNEL_TYPE_MIX_AIC_1_1,
    KERNEL_TYPE_MIX_AIC_1_2,
    KERNEL_TYPE_AICORE,
    KERNEL_TYPE_VECTORCORE,
    KERNEL_TYPE_MIX_AICORE,
    KERNEL_TYPE_MIX_VECTOR_CORE,
    KERNEL_TYPE_MAX
};
/* Both leave a record in the object, which is read before the launch; nothing happens where they stand. */
#define KERNEL_TASK_TYPE(key, type)                                                                                    \
    do {                                                                                                               \
        __attribute__((section(NPU_TASK_TYPES), used)) static const npu_task_type akgen_task_type = {(key), (type)};   \
    } while (0)
#define KERNEL_TASK_TYPE_DEFAULT(type) KERNEL_TASK_TYPE(NPU_EVERY_KEY, type)

/* They tell CANN's build what the host part shall prepare; in the kernel they leave nothing. */
#define ENABLE_DETERMINISTIC()
#define ENABLE_PRINTF()
#define ENABLE_PRINTF_DUMP_SIZE()
#define ENABLE_ASSERT()
#define ENABLE_ASSERT_DUMP_SIZE()

#define TILING_KEY_VAR       npu_tiling_key()
#define TILING_KEY_IS(key)   (TILING_KEY_VAR == uint64_t(key))
#define TILING_KEY_LIST(...) akgen::tiling_key_in({__VA_ARGS__})

namespace akgen
{
AKGEN_API bool tiling_key_in(std::initializer_list<uint64_t> keys)
{
    for (uint64_t key : keys)
        if (key == npu_tiling_key())
            return true;
    return false;
}
template <typename T> AKGEN_API void tiling_copy(T &to, const __gm__ void *from, uint32_t offset = 0)
{
    static_assert(__is_trivially_copyable(T), "a tiling structure is plain data");
    npu_tiling_copy(&to, reinterpret_cast<uint64_t>(from) + offset, sizeof(T));
}
} // namespace akgen

/* The generated tiling header, or REGISTER_TILING_DEFAULT in the kernel, says what structure GET_TILING_DATA declares:
 * it makes akgen_tiling_default a name for it. */
#define REGISTER_TILING_DEFAULT(type) typedef type akgen_tiling_default
#define REGISTER_TILING_FOR_TILINGKEY(expression, type)
#define GET_TILING_DATA(name, address)                                                                                 \
    akgen_tiling_default name;                                                                                         \
    akgen::tiling_copy(name, address)
#define GET_TILING_DATA_WITH_STRUCT(type, name, address)                                                               \
    type name;                                                                                                         \
    akgen::tiling_copy(name, address)
#define GET_TILING_DATA_MEMBER(type, member, name, address)                                                            \
    decltype(type::member) name;                                                                                       \
    akgen::tiling_copy(name, address, __builtin_offsetof(type, member))

/* A pointer to the structure where it lies in GM, and copies of its parts on the stack: generate_tiling_code.py of
 * asc-devkit, for shapes that are not known when the kernel is compiled. */
#define __tiling_data_ptr__ __gm__ const
#define GET_TILING_DATA_PTR_WITH_STRUCT(type, name, address)                                                           \
    __tiling_data_ptr__ type *name = (__tiling_data_ptr__ type *)(address)
#define COPY_TILING_WITH_STRUCT(type, source, name)                                                                    \
    type name##_akgen;                                                                                                 \
    akgen::tiling_copy(name##_akgen, source);                                                                          \
    const type *name = &name##_akgen
#define COPY_TILING_WITH_ARRAY(type, count, source, name)                                                              \
    type name##_akgen[count];                                                                                          \
    akgen::tiling_copy(name##_akgen, source);                                                                          \
    const type(*name)[count] = &name##_akgen
#define REGISTER_NONE_TILING

#endif
