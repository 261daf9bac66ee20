/* asc_dump and its relatives: DumpTensor by address, without a tensor. */
#ifndef ASCENDC_UTILS_DEBUG_ASC_DUMP_H
#define ASCENDC_UTILS_DEBUG_ASC_DUMP_H

#include "kernel_operator.h"

/* Utils-API, 调测接口/asc_dump: the address space says which memory, dump_size counts elements. */
#define AKGEN_ASC_DUMP(name, space, place)                                                                             \
    template <typename T> AKGEN_API void name(space T *input, uint32_t desc, uint32_t dump_size)                       \
    {                                                                                                                  \
        const npu_tensor raw = {.addr = uint64_t(input), .position = place, .flags = NPU_TENSOR_RAW};                  \
        static_assert(akgen::is_element<T> && !std::is_same_v<T, AscendC::int4b_t>,                                    \
                      #name ": data type is not supported on Ascend910B");                                             \
        npu_dump_tensor(&raw, akgen::dtype_of<T>::value, desc, dump_size, nullptr, 0);                                 \
    }
AKGEN_ASC_DUMP(asc_dump_gm, __gm__, NPU_GM)
AKGEN_ASC_DUMP(asc_dump_ubuf, __ubuf__, NPU_VECCALC)
AKGEN_ASC_DUMP(asc_dump_l1buf, __cbuf__, NPU_A1)
AKGEN_ASC_DUMP(asc_dump_cbuf, __cc__, NPU_CO1)
AKGEN_ASC_DUMP(asc_dump, __gm__, NPU_GM)
AKGEN_ASC_DUMP(asc_dump, __ubuf__, NPU_VECCALC)
AKGEN_ASC_DUMP(asc_dump, __cbuf__, NPU_A1)
AKGEN_ASC_DUMP(asc_dump, __cc__, NPU_CO1)
#undef AKGEN_ASC_DUMP

#endif
