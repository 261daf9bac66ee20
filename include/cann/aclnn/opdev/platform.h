// op::PlatformInfo: the chip, as the single-operator API sees it (opbase, nnopbase/opdev/platform.h). Tiling functions ask
// it too.
#ifndef CANN_ACLNN_OPDEV_PLATFORM_H
#define CANN_ACLNN_OPDEV_PLATFORM_H

#include "graph/ascend_string.h"
#include "platform/platform_info.h"
#include "tiling/platform/platform_ascendc.h"

#include <cstring>
#include <string>

namespace op
{
enum class SocVersion {
    ASCEND910 = 0,
    ASCEND910B,
    ASCEND910_93,
    ASCEND910_95,
    ASCEND950 = ASCEND910_95,
    ASCEND910E,
    ASCEND310,
    ASCEND310P,
    ASCEND310B,
    ASCEND310C,
    ASCEND610LITE,
    KIRINX90,
    KIRIN9030,
    ASCEND350,
    RESERVED_VERSION = 99999
};
inline const char *AkgenSocName(SocVersion version)
{
    static const char *const names[] = {"Ascend910", "Ascend910B", "Ascend910_93", "Ascend950",  "Ascend910E",
                                        "Ascend310", "Ascend310P", "Ascend310B",   "Ascend310C", "Ascend610Lite",
                                        "KirinX90",  "Kirin9030",  "Ascend350"};
    const size_t at = static_cast<size_t>(version);
    return at < sizeof names / sizeof *names ? names[at] : "unknown soc version";
}
inline ge::AscendString ToString(SocVersion version)
{
    return AkgenSocName(version);
}

// What the chip's Mmad takes, in the words of its configuration ("f162f32": half in, float out).
enum class SocSpec { INST_MMAD = 0, RESERVED_SPEC = 99999 };
enum class SocSpecAbility {
    INST_MMAD_F162F16 = 0,
    INST_MMAD_F162F32,
    INST_MMAD_H322F32,
    INST_MMAD_F322F32,
    INST_MMAD_U32U8U8,
    INST_MMAD_S32S8S8,
    INST_MMAD_S32U8S8,
    INST_MMAD_F16F16F16,
    INST_MMAD_F32F16F16,
    INST_MMAD_F16F16U2,
    INST_MMAD_U8,
    INST_MMAD_S8,
    INST_MMAD_U8S8,
    INST_MMAD_F16U2,
};

class PlatformInfo
{
  public:
    PlatformInfo() = default;
    PlatformInfo(int32_t device) : device_(device)
    {
    }
    SocVersion GetSocVersion() const
    {
        const std::string name = AkgenResource("version", "Short_SoC_version");
        for (int at = 0; at <= static_cast<int>(SocVersion::ASCEND350); at++)
            if (name == AkgenSocName(static_cast<SocVersion>(at)))
                return static_cast<SocVersion>(at);
        return SocVersion::RESERVED_VERSION;
    }
    const std::string &GetSocLongVersion() const
    {
        static std::string name;
        return name = AkgenResource("version", "SoC_version");
    }
    int32_t GetDeviceId() const
    {
        return device_;
    }
    bool CheckSupport(SocSpec spec, SocSpecAbility ability) const
    {
        static const char *const words[] = {"f162f16", "f162f32", "h322f32",   "f322f32",   "u32u8u8",
                                            "s32s8s8", "s32u8s8", "f16f16f16", "f32f16f16", "f16f16u2",
                                            "u8",      "s8",      "u8s8",      "f16u2"};
        const size_t at = static_cast<size_t>(ability);
        const std::string all = std::string(",") + AkgenResource("AICoreintrinsicDtypeMap", "Intrinsic_mmad") + ",";
        return spec == SocSpec::INST_MMAD && at < sizeof words / sizeof *words &&
               all.find(std::string(",") + words[at] + ",") != std::string::npos;
    }
    int64_t GetBlockSize() const
    {
        return std::stoll(AkgenResource("AICoreSpec", "ubblock_size"));
    }
    uint32_t GetCubeCoreNum() const
    {
        return akgen_platform_aic(akgen_platform_current());
    }
    uint32_t GetVectorCoreNum() const
    {
        return akgen_platform_aiv(akgen_platform_current());
    }
    NpuArch GetCurNpuArch() const
    {
        return NpuArch::DAV_2201;
    }
    bool Valid() const
    {
        return true;
    }
    // How cores of both kinds of a block are started (CANN 8.1, data/platform_config: ffts_mode=ffts-plus).
    bool GetFftsPlusMode() const
    {
        return true;
    }
    fe::PlatFormInfos *GetPlatformInfos() const
    {
        return reinterpret_cast<fe::PlatFormInfos *>(akgen_platform_current());
    }

  private:
    static const char *AkgenResource(const char *section, const char *key)
    {
        return akgen_platform_resource(akgen_platform_current(), section, key);
    }
    int32_t device_ = 0;
};
inline const PlatformInfo &GetCurrentPlatformInfo()
{
    static const PlatformInfo platform;
    return platform;
}
} // namespace op
#endif
