// fe::PlatFormInfos: the chip, as the older interface sees it. `this` is an akgen_platform.
#ifndef CANN_PLATFORM_PLATFORM_INFO_H
#define CANN_PLATFORM_PLATFORM_INFO_H

#include "abi/op_abi.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// CANN has these at global scope, and published code relies on them.
using std::map;
using std::string;
using std::vector;

namespace fe
{
enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

// The chip as structures, with the fields that are known.
struct StrInfo {
    std::string aic_version;
    std::string short_soc_version;
};
struct SoCInfo {
    uint32_t ai_core_cnt = 0;
    uint32_t vector_core_cnt = 0;
    uint64_t memory_size = 0;
    uint64_t l2_size = 0;
};
struct AiCoreSpec {
    uint64_t l0_a_size = 0;
    uint64_t l0_b_size = 0;
    uint64_t l0_c_size = 0;
    uint64_t l1_size = 0;
    uint64_t ub_size = 0;
};
struct PlatformInfo {
    StrInfo str_info;
    SoCInfo soc_info;
    AiCoreSpec ai_core_spec;
};
struct OptionalInfo {
    std::string soc_version;
    std::string core_type;
    uint32_t ai_core_num = 0;
};

class PlatformInfoManager
{
  public:
    static PlatformInfoManager &Instance()
    {
        static PlatformInfoManager manager;
        return manager;
    }
    // 0: the chip is known.
    uint32_t GetPlatformInfoWithOutSocVersion(PlatformInfo &platform, OptionalInfo &optional) const
    {
        const akgen_platform *chip = akgen_platform_current();
        platform.str_info = {akgen_platform_resource(chip, "version", "AIC_version"),
                             akgen_platform_resource(chip, "version", "Short_SoC_version")};
        const auto memory = [chip](LocalMemType type) { return akgen_platform_memory(chip, static_cast<int>(type)); };
        platform.soc_info = {akgen_platform_aic(chip), akgen_platform_aiv(chip), memory(LocalMemType::HBM),
                             memory(LocalMemType::L2)};
        platform.ai_core_spec = {memory(LocalMemType::L0_A), memory(LocalMemType::L0_B), memory(LocalMemType::L0_C),
                                 memory(LocalMemType::L1), memory(LocalMemType::UB)};
        optional.soc_version = akgen_platform_resource(chip, "version", "SoC_version");
        optional.ai_core_num = akgen_platform_aic(chip);
        return 0;
    }
};

class PlatFormInfos
{
  public:
    PlatFormInfos() = delete;
    PlatFormInfos(const PlatFormInfos &) = delete;

    uint32_t GetCoreNum() const
    {
        return akgen_platform_aic(View());
    }
    uint32_t GetCoreNumByType(const std::string &core_type) const
    {
        return core_type == "VectorCore" ? akgen_platform_aiv(View()) : akgen_platform_aic(View());
    }
    void GetLocalMemSize(const LocalMemType &type, uint64_t &bytes) const
    {
        bytes = akgen_platform_memory(View(), static_cast<int>(type));
    }
    void GetLocalMemBw(const LocalMemType &type, uint64_t &bytes_per_cycle) const
    {
        bytes_per_cycle = akgen_platform_bandwidth(View(), static_cast<int>(type));
    }

    // A line of the chip's configuration file; false, and `value` as it was, for one that is not known.
    bool GetPlatformRes(const std::string &label, const std::string &key, std::string &value) const
    {
        const char *text = akgen_platform_resource(View(), label.c_str(), key.c_str());
        if (text != nullptr)
            value = text;
        return text != nullptr;
    }
    bool GetPlatformResWithLock(const std::string &label, const std::string &key, std::string &value) const
    {
        return GetPlatformRes(label, key, value);
    }
    uint32_t GetCoreNumWithLock() const
    {
        return GetCoreNum();
    }
    // Which kind of core GetCoreNum counts next: here each kind is asked for by name.
    void SetCoreNumByCoreType(const std::string &) const
    {
    }

  private:
    const akgen_platform *View() const
    {
        return reinterpret_cast<const akgen_platform *>(this);
    }
};
} // namespace fe
#endif
