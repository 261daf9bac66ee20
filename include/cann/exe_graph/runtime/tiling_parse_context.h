// gert::TilingParseContext: what a TilingParse function reads and fills. `this` is an akgen_parse_context.
#ifndef CANN_EXE_GRAPH_RUNTIME_TILING_PARSE_CONTEXT_H
#define CANN_EXE_GRAPH_RUNTIME_TILING_PARSE_CONTEXT_H

#include "abi/op_abi.h"

namespace fe
{
class PlatFormInfos;
}

namespace gert
{
class TilingParseContext
{
  public:
    TilingParseContext() = delete;
    TilingParseContext(const TilingParseContext &) = delete;

    template <typename T> T *GetCompiledInfo()
    {
        return static_cast<T *>(akgen_parse_compile_info(View()));
    }
    const char *GetCompiledJson() const
    {
        return akgen_parse_compile_json(View());
    }
    fe::PlatFormInfos *GetPlatformInfo() const
    {
        return reinterpret_cast<fe::PlatFormInfos *>(akgen_parse_platform(View()));
    }
    const char *GetNodeType() const
    {
        return akgen_parse_node_type(View());
    }
    const char *GetNodeName() const
    {
        return akgen_parse_node_type(View());
    }

  private:
    akgen_parse_context *View() const
    {
        return reinterpret_cast<akgen_parse_context *>(const_cast<TilingParseContext *>(this));
    }
};
} // namespace gert
#endif
