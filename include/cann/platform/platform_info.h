// fe::PlatFormInfos: the chip, as the older interface sees it. `this` is an akgen_platform.
#ifndef CANN_PLATFORM_PLATFORM_INFO_H
#define CANN_PLATFORM_PLATFORM_INFO_H

#include "akgen/op_abi.h"

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
