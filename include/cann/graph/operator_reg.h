// REG_OP: an operator's prototype in graphs, read and dropped; the OpDef says what counts here.
#ifndef CANN_GRAPH_OPERATOR_REG_H
#define CANN_GRAPH_OPERATOR_REG_H

#include "graph/operator.h"

namespace ge
{
struct AkgenPrototype {
    AkgenPrototype AkgenPart() const
    {
        return *this;
    }
};
} // namespace ge

#define REG_OP(name)               [[maybe_unused]] static const auto akgen_prototype_##name = ::ge::AkgenPrototype()
#define INPUT(name, type)          AkgenPart()
#define OPTIONAL_INPUT(name, type) AkgenPart()
#define DYNAMIC_INPUT(name, type)  AkgenPart()
#define OUTPUT(name, type)         AkgenPart()
#define DYNAMIC_OUTPUT(name, type) AkgenPart()
#define ATTR(name, ...)            AkgenPart()
#define REQUIRED_ATTR(name, type)  AkgenPart()
#define DATATYPE(name, type)       AkgenPart()
#define OP_END_FACTORY_REG(name)   AkgenPart();
#endif
