// The registry of cann-ops' common sources: templates of one operator, tried in the order of their priorities.
#ifndef CANN_TILING_TILING_TEMPLATES_REGISTRY_H
#define CANN_TILING_TILING_TEMPLATES_REGISTRY_H

#include "error/ops_error.h"
#include "tiling/tiling_base.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace optiling
{
using TilingClassCase = std::unique_ptr<TilingBaseClass> (*)(gert::TilingContext *);

class TilingRegistry
{
  public:
    static TilingRegistry &GetInstance()
    {
        static TilingRegistry registry;
        return registry;
    }
    void AkgenAdd(const std::string &op_type, int32_t priority, TilingClassCase make)
    {
        templates_[op_type].emplace(priority, make);
    }
    ge::graphStatus DoTilingImpl(gert::TilingContext *context)
    {
        for (const auto &[priority, make] : templates_[context->GetNodeType()]) {
            const ge::graphStatus status = Run(make, context);
            if (status != ge::GRAPH_PARAM_INVALID)
                return status;
        }
        OPS_LOG_E(context, "no tiling template suits this case");
        return ge::GRAPH_FAILED;
    }
    ge::graphStatus DoTilingImpl(gert::TilingContext *context, const std::vector<int32_t> &priorities)
    {
        const auto &templates = templates_[context->GetNodeType()];
        for (const int32_t priority : priorities) {
            const auto found = templates.find(priority);
            const ge::graphStatus status =
                found == templates.end() ? ge::GRAPH_PARAM_INVALID : Run(found->second, context);
            if (status != ge::GRAPH_PARAM_INVALID)
                return status;
        }
        OPS_LOG_E(context, "no tiling template suits this case");
        return ge::GRAPH_FAILED;
    }

  private:
    static ge::graphStatus Run(TilingClassCase make, gert::TilingContext *context)
    {
        return make(context)->DoTiling();
    }
    std::map<std::string, std::map<int32_t, TilingClassCase>> templates_;
};

template <typename T> std::unique_ptr<TilingBaseClass> AkgenMakeTiling(gert::TilingContext *context)
{
    return std::unique_ptr<TilingBaseClass>(new T(context));
}
template <typename T> int AkgenAddTiling(const std::string &op_type, int32_t priority)
{
    TilingRegistry::GetInstance().AkgenAdd(op_type, priority, AkgenMakeTiling<T>);
    return 0;
}
} // namespace optiling

#define AKGEN_TILING_TEMPLATE_NAME(class_name, count) g_tiling_template_##class_name##_##count
#define AKGEN_TILING_TEMPLATE(op, class_name, priority, count)                                                         \
    [[maybe_unused]] static const int AKGEN_TILING_TEMPLATE_NAME(class_name, count) =                                  \
        ::optiling::AkgenAddTiling<class_name>(op, priority)
#define AKGEN_TILING_TEMPLATE_COUNTED(op, class_name, priority, count)                                                 \
    AKGEN_TILING_TEMPLATE(op, class_name, priority, count)
#define REGISTER_TILING_TEMPLATE(op_type, class_name, priority)                                                        \
    AKGEN_TILING_TEMPLATE_COUNTED(op_type, class_name, priority, __COUNTER__)
#define REGISTER_OPS_TILING_TEMPLATE(op_type, class_name, priority)                                                    \
    AKGEN_TILING_TEMPLATE_COUNTED(#op_type, class_name, priority, __COUNTER__)
#endif
