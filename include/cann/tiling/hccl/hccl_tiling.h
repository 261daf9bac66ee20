// Tiling of the communication between cards (asc-devkit docs, HCCL-Tiling侧接口), which this project lacks.
#ifndef CANN_TILING_HCCL_HCCL_TILING_H
#define CANN_TILING_HCCL_HCCL_TILING_H

#include "register/tilingdata_base.h"
#include "tiling/unsupported.h"

namespace optiling
{
class AKGEN_UNSUPPORTED("Mc2InitTiling") Mc2InitTiling : public TilingDef
{
};
class AKGEN_UNSUPPORTED("Mc2CcTiling") Mc2CcTiling : public TilingDef
{
};
class AKGEN_UNSUPPORTED("Mc2ServerCfg") Mc2ServerCfg : public TilingDef
{
};
class AKGEN_UNSUPPORTED("Mc2HcommCfg") Mc2HcommCfg : public TilingDef
{
};
} // namespace optiling

class AKGEN_UNSUPPORTED("Mc2InitTiling") Mc2InitTiling
{
};
class AKGEN_UNSUPPORTED("Mc2CcTiling") Mc2CcTiling
{
};

namespace AscendC
{
class AKGEN_UNSUPPORTED("Mc2CcTilingConfig") Mc2CcTilingConfig
{
  public:
    template <typename... Arguments> explicit Mc2CcTilingConfig(Arguments &&...);
};
} // namespace AscendC
#endif
