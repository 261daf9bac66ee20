// platform_ascendc: the chip, as tiling functions ask for it (asc-devkit docs, Utils-API, PlatformAscendC).
#ifndef CANN_TILING_PLATFORM_PLATFORM_ASCENDC_H
#define CANN_TILING_PLATFORM_PLATFORM_ASCENDC_H

#include "abi/op_abi.h"
#include "tiling/unsupported.h"

#include <cstdint>
#include <mutex>

namespace fe
{
class PlatFormInfos;
}

// The architecture's number (platform/soc_spec.h of CANN).
enum class NpuArch : uint32_t {
    DAV_1001 = 1001,
    DAV_2002 = 2002,
    DAV_2201 = 2201,
    DAV_3002 = 3002,
    DAV_3003 = 3003,
    DAV_3102 = 3102,
    DAV_3113 = 3113,
    DAV_3510 = 3510,
    DAV_5102 = 5102,
    DAV_RESV = 0xffff
};

namespace platform_ascendc
{
enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB = 7, BT = 8, RESERVED };
enum class SocVersion {
    ASCEND910 = 0,
    ASCEND910B,
    ASCEND310P,
    ASCEND310B,
    ASCEND910_95,
    ASCEND950 = ASCEND910_95,
    ASCEND910_55,
    AS31XM1,
    ASCEND910_93,
    RESERVED_VERSION = 99999
};
enum class ReservedSize { RESERVED_SIZE_8K, RESERVED_SIZE_16K, RESERVED_SIZE_32K };

class PlatformAscendC
{
  public:
    PlatformAscendC() = delete;
    explicit PlatformAscendC(fe::PlatFormInfos *platform_info)
        : platform_(reinterpret_cast<akgen_platform *>(platform_info))
    {
    }
    // On a chip with separate cube and vector cores the number of vector cores.
    uint32_t GetCoreNum() const
    {
        return akgen_platform_aiv(platform_);
    }
    uint32_t GetCoreNumAic() const
    {
        return akgen_platform_aic(platform_);
    }
    uint32_t GetCoreNumAiv() const
    {
        return akgen_platform_aiv(platform_);
    }
    // Vector cores outside AI cores, which a 910B does not have.
    uint32_t GetCoreNumVector() const
    {
        return 0;
    }
    // Combinations of one cube and two vector cores if both are used, else cores; never more than there is work.
    uint32_t CalcTschBlockDim(uint32_t slices, uint32_t aic, uint32_t aiv) const
    {
        return akgen_platform_blocks(slices, aic, aiv);
    }
    uint32_t CalcTschNumBlocks(uint32_t slices, uint32_t aic, uint32_t aiv) const
    {
        return akgen_platform_blocks(slices, aic, aiv);
    }
    uint32_t GetLibApiWorkSpaceSize() const
    {
        return akgen_platform_library_workspace();
    }
    uint32_t GetResCubeGroupWorkSpaceSize() const
    {
        return akgen_platform_group_workspace();
    }
    uint32_t GetResGroupBarrierWorkSpaceSize() const
    {
        return akgen_platform_group_workspace();
    }
    void GetCoreMemSize(const CoreMemType &type, uint64_t &size) const
    {
        size = akgen_platform_tiling_memory(platform_, static_cast<int>(type));
        if (type == CoreMemType::UB)
            size -= reserved_;
    }
    void GetCoreMemBw(const CoreMemType &type, uint64_t &bytes_per_cycle) const
    {
        bytes_per_cycle = akgen_platform_bandwidth(platform_, static_cast<int>(type));
    }
    void ReserveLocalMemory(ReservedSize size)
    {
        reserved_ = 8192u << static_cast<int>(size);
    }
    // The 910_93 series answers ASCEND910B too, so that binaries can be shared (asc-devkit docs, GetSocVersion).
    SocVersion GetSocVersion() const
    {
        return SocVersion::ASCEND910B;
    }
    fe::PlatFormInfos *GetPlatFormInfo() const
    {
        return reinterpret_cast<fe::PlatFormInfos *>(platform_);
    }
    // The width of the vector registers of other products.
    AKGEN_UNSUPPORTED("GetVecRegLen") uint32_t GetVecRegLen() const;
    NpuArch GetCurNpuArch() const
    {
        return NpuArch::DAV_2201;
    }

  private:
    akgen_platform *platform_;
    uint32_t reserved_ = 0;
};

class PlatformAscendCManager
{
  public:
    static PlatformAscendC *GetInstance()
    {
        static PlatformAscendC instance(nullptr);
        instance = PlatformAscendC(reinterpret_cast<fe::PlatFormInfos *>(akgen_platform_current()));
        return &instance;
    }
    // The name is for machines without an NPU; the SoC of the run decides here.
    static PlatformAscendC *GetInstance(const char *)
    {
        return GetInstance();
    }
};
} // namespace platform_ascendc
#endif
