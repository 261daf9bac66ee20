/* Into the cube's memories: GM -> L1 with ND2NZ, L1 -> L0A, L0B and the bias table, constants. */
#ifndef ASCENDC_LOAD_DATA_H
#define ASCENDC_LOAD_DATA_H

#include "basic/cube_params.h"
#include "basic/data_copy.h"

namespace akgen
{

/* A transfer whose element type is one of several that the instruction knows. */
template <npu_op op, typename T, typename D, typename S> AKGEN_API npu_insn load(const D &dst, const S &src)
{
    npu_insn insn = transfer<op, T>(dst, src);
    insn.form = NPU_FORM_MASK_REG;
    return insn;
}
template <typename T, typename D, typename S, typename P> AKGEN_API void load_2d(const D &dst, const S &src, const P &p)
{
    npu_insn insn = load<NPU_OP_LOAD_DATA, T>(dst, src);
    insn.load_2d.start = p.startIndex;
    insn.load_2d.repeat = p.repeatTimes;
    insn.load_2d.src_stride = p.srcStride;
    insn.load_2d.dst_gap = p.dstGap;
    insn.load_2d.transpose = p.ifTranspose;
    /* Only GM -> L1 counts down: the other paths ignore the parameter. */
    insn.load_2d.descending =
        insn.src0.position == NPU_GM && insn.dst.position != NPU_A2 && insn.dst.position != NPU_B2 && p.addrMode == 1;
    npu_issue_cube(&insn);
}
AKGEN_API void set_map(int which, uint64_t height, uint64_t width, const uint8_t padding[4])
{
    npu_set_cube_register(which, width | height << 16 | uint64_t(padding[0]) << 32 | uint64_t(padding[1]) << 40 |
                                     uint64_t(padding[2]) << 48 | uint64_t(padding[3]) << 56);
}

template <typename T> AKGEN_API void copy_nd2nz(npu_insn insn, const AscendC::Nd2NzParams &params)
{
    /* Two elements of int4b_t travel as one byte, and the parameters count bytes. */
    if (std::is_same_v<T, AscendC::int4b_t>)
        insn.dst_type = insn.src_type = AKGEN_INT8;
    insn.nd2nz.nd_num = params.ndNum;
    insn.nd2nz.n = params.nValue;
    insn.nd2nz.d = params.dValue;
    insn.nd2nz.src_matrix = params.srcNdMatrixStride;
    insn.nd2nz.src_d = params.srcDValue;
    insn.nd2nz.dst_c0 = params.dstNzC0Stride;
    insn.nd2nz.dst_n = params.dstNzNStride;
    insn.nd2nz.dst_matrix = params.dstNzMatrixStride;
    npu_issue_cube(&insn);
}

} // namespace akgen

namespace AscendC
{

/* To L1 from GM; on an AIV with Matmul objects from UB, too. */
template <typename T>
AKGEN_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const Nd2NzParams &intriParams)
{
    akgen::copy_nd2nz<T>(akgen::load<NPU_OP_ND2NZ, T>(dst, src), intriParams);
}
template <typename T>
AKGEN_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const Nd2NzParams &intriParams)
{
    akgen::copy_nd2nz<T>(akgen::load<NPU_OP_ND2NZ, T>(dst, src), intriParams);
}
/* On NPU_ARCH 2201 the additional parameters have no effect between GM and local memory; what they ask for inside the
 * core (quantisation on the way out of L0C, L1 to L0C) belongs to Fixpipe or is lacking. */
template <typename T>
AKGEN_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &intriParams,
                        const DataCopyEnhancedParams &)
{
    DataCopy(dst, src, intriParams);
}
template <typename T>
AKGEN_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &intriParams,
                        const DataCopyEnhancedParams &)
{
    DataCopy(dst, src, intriParams);
}
template <typename T>
AKGEN_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &intriParams,
                        const DataCopyEnhancedParams &)
{
    if (dst.GetPosition() == NPU_CO1 || src.GetPosition() == NPU_CO1)
        npu_unsupported(NPU_LACKS_DataCopyEnhanced);
    DataCopy(dst, src, intriParams);
}
/* Between L0C and the rest with another type on the way. */
template <
    typename T, typename U,
    std::enable_if_t<(std::is_same_v<U, float> && (std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>)) ||
                         (std::is_same_v<U, int32_t> && (std::is_same_v<T, half> || std::is_same_v<T, int16_t> ||
                                                         std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>)) ||
                         (std::is_same_v<U, half> && std::is_same_v<T, float>),
                     bool> = true>
AKGEN_API void DataCopy(const LocalTensor<T> &, const LocalTensor<U> &, const DataCopyParams &,
                        const DataCopyEnhancedParams &)
{
    npu_unsupported(NPU_LACKS_DataCopyEnhanced);
}
/* From L1 into the bias table: half may become float on the way; CANN compiles any other pair and does nothing. */
template <typename T, typename U>
AKGEN_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyParams &repeatParams)
{
    npu_insn insn = akgen::copy_blocks<NPU_OP_DATA_COPY, U>(dst, src, repeatParams);
    insn.dst_type = akgen::dtype_of<T>::value;
    npu_issue_cube(&insn);
}

template <typename T>
AKGEN_API void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2DParams &loadDataParams)
{
    akgen::load_2d<T>(dst, src, loadDataParams);
}
template <typename T>
AKGEN_API void LoadData(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const LoadData2DParams &loadDataParams)
{
    akgen::load_2d<T>(dst, src, loadDataParams);
}
/* addrMode is not read: the addresses always go up. */
template <typename T>
AKGEN_API void LoadDataWithTranspose(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                     const LoadData2dTransposeParams &loadDataParams)
{
    npu_insn insn = akgen::load<NPU_OP_LOAD_DATA_WITH_TRANSPOSE, T>(dst, src);
    insn.load_2d.start = loadDataParams.startIndex;
    insn.load_2d.repeat = loadDataParams.repeatTimes;
    insn.load_2d.src_stride = loadDataParams.srcStride;
    insn.load_2d.dst_gap = loadDataParams.dstGap;
    insn.load_2d.dst_frac_gap = loadDataParams.dstFracGap;
    npu_issue_cube(&insn);
}

AKGEN_API void SetFmatrix(uint16_t l1H, uint16_t l1W, const uint8_t padList[4], const FmatrixMode &fmatrixMode)
{
    akgen::set_map(fmatrixMode == FmatrixMode::FMATRIX_LEFT ? NPU_CUBE_MAP_LEFT : NPU_CUBE_MAP_RIGHT, l1H, l1W,
                   padList);
}
template <typename T> AKGEN_API void SetLoadDataPaddingValue(const T padValue)
{
    npu_set_cube_register(NPU_CUBE_PADDING, akgen::bits_of<T>(padValue));
}
AKGEN_API void SetLoadDataRepeat(const LoadDataRepeatParam &repeatParams)
{
    npu_set_cube_register(NPU_CUBE_REPEAT, uint64_t(repeatParams.repeatStride) |
                                               uint64_t(repeatParams.repeatTime) << 16 |
                                               uint64_t(repeatParams.repeatMode) << 24 | uint64_t(1) << 32);
}
AKGEN_API void SetLoadDataBoundary(uint32_t boundaryValue)
{
    npu_set_cube_register(NPU_CUBE_BOUNDARY, boundaryValue);
}
template <typename T, const IsResetLoad3dConfig &defaultConfig = IS_RESER_LOAD3D_DEFAULT_CONFIG, typename U = T,
          typename = std::enable_if_t<std::is_same_v<T, U>>>
AKGEN_API void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                        const LoadData3DParamsV2<U> &loadDataParams)
{
    npu_insn insn = akgen::load<NPU_OP_LOAD_DATA_3D, T>(dst, src);
    if constexpr (defaultConfig.isSetFMatrix)
        akgen::set_map(loadDataParams.fMatrixCtrl ? NPU_CUBE_MAP_RIGHT : NPU_CUBE_MAP_LEFT, loadDataParams.l1H,
                       loadDataParams.l1W, loadDataParams.padList);
    if constexpr (defaultConfig.isSetPadding)
        npu_set_cube_register(NPU_CUBE_PADDING, akgen::bits_of<T>(loadDataParams.padValue));
    insn.load_3d.channels = loadDataParams.channelSize;
    insn.load_3d.k = loadDataParams.kExtension;
    insn.load_3d.m = loadDataParams.mExtension;
    insn.load_3d.k_start = loadDataParams.kStartPt;
    insn.load_3d.m_start = loadDataParams.mStartPt;
    insn.load_3d.filter_w = uint16_t(loadDataParams.filterW + (loadDataParams.filterSizeW ? 256 : 0));
    insn.load_3d.filter_h = uint16_t(loadDataParams.filterH + (loadDataParams.filterSizeH ? 256 : 0));
    insn.load_3d.stride_w = loadDataParams.strideW;
    insn.load_3d.stride_h = loadDataParams.strideH;
    insn.load_3d.dilation_w = loadDataParams.dilationFilterW;
    insn.load_3d.dilation_h = loadDataParams.dilationFilterH;
    insn.load_3d.transpose = loadDataParams.enTranspose;
    insn.load_3d.right = loadDataParams.fMatrixCtrl;
    npu_issue_cube(&insn);
}
template <typename T>
AKGEN_API void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                        const LoadData3DParamsV2Pro &loadDataParams)
{
    npu_insn insn = akgen::load<NPU_OP_LOAD_DATA_3D, T>(dst, src);
    uint64_t ext = loadDataParams.extConfig, filter = loadDataParams.filterConfig;
    insn.load_3d.channels = loadDataParams.channelSize;
    insn.load_3d.k = uint16_t(ext);
    insn.load_3d.m = uint16_t(ext >> 16);
    insn.load_3d.k_start = uint16_t(ext >> 32);
    insn.load_3d.m_start = uint16_t(ext >> 48);
    insn.load_3d.stride_w = uint8_t(filter);
    insn.load_3d.stride_h = uint8_t(filter >> 8);
    insn.load_3d.filter_w = uint16_t(uint8_t(filter >> 16) + (loadDataParams.filterSizeW ? 256 : 0));
    insn.load_3d.filter_h = uint16_t(uint8_t(filter >> 24) + (loadDataParams.filterSizeH ? 256 : 0));
    insn.load_3d.dilation_w = uint8_t(filter >> 32);
    insn.load_3d.dilation_h = uint8_t(filter >> 40);
    insn.load_3d.transpose = loadDataParams.enTranspose;
    insn.load_3d.right = loadDataParams.fMatrixCtrl;
    npu_issue_cube(&insn);
}

template <typename T, typename U = T, typename = std::enable_if_t<std::is_same_v<T, U>>>
AKGEN_API void InitConstValue(const LocalTensor<T> &dst, const InitConstValueParams<U> &initConstValueParams)
{
    static_assert(akgen::require_type<NPU_OP_INIT_CONST_VALUE, T>::ok);
    npu_insn insn = akgen::start<NPU_OP_INIT_CONST_VALUE, T, T>(akgen::raw(dst));
    insn.scalar = akgen::bits_of<T>(initConstValueParams.initValue);
    insn.load_2d.repeat = initConstValueParams.repeatTimes;
    insn.load_2d.block_num = initConstValueParams.blockNum;
    insn.load_2d.dst_gap = initConstValueParams.dstGap;
    npu_issue_cube(&insn);
}
/* The newer name. */
template <typename T, typename U = T, typename = std::enable_if_t<std::is_same_v<T, U>>>
AKGEN_API void Fill(const LocalTensor<T> &dst, const InitConstValueParams<U> &initConstValueParams)
{
    InitConstValue(dst, initConstValueParams);
}

} // namespace AscendC

#endif
