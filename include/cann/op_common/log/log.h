// The messages of newer operators (opbase, op_common/log/log.h): errors go to stderr, what is less is compiled and not
// printed. `op` is the operator's name, or the context that knows it.
#ifndef CANN_OP_COMMON_LOG_LOG_H
#define CANN_OP_COMMON_LOG_LOG_H

#include "base/alog_pub.h"
#include "base/err_msg.h"
#include "exe_graph/runtime/shape.h"
#include "graph/ge_error_codes.h"
#include "graph/types.h"
#include "graph/utils/type_utils.h"
#include "op_common/op_host/util/opbase_export.h"
#include "toolchain/slog.h"

#include <sstream>
#include <string>
#include <vector>

constexpr int32_t OP_MODULE_ID = 63;

namespace Ops
{
namespace Base
{
inline std::string ToString(ge::DataType type)
{
    return ge::TypeUtils::DataTypeToSerialString(type);
}
inline std::string ToString(ge::Format format)
{
    return ge::TypeUtils::FormatToSerialString(format);
}
inline std::string ToString(const gert::Shape &shape)
{
    std::ostringstream text;
    for (size_t i = 0; i < shape.GetDimNum(); i++)
        text << (i ? ", " : "") << shape.GetDim(i);
    return "[" + text.str() + "]";
}
inline std::string ToString(const std::vector<const gert::Shape *> &shapes)
{
    std::string text;
    for (const gert::Shape *shape : shapes)
        text += (text.empty() ? "" : ", ") + ToString(*shape);
    return "[" + text + "]";
}
inline const char *GetSafeStr(const char *text)
{
    return text;
}
inline const char *GetSafeStr(const std::string &text)
{
    return text.c_str();
}
template <typename Name> std::string GetOpInfo(const Name &name)
{
    return ::ops::AkgenName(name);
}
// What was wrong with an argument: its name, the value it has and the one it should have, or why.
template <typename... Parts> void AkgenExplain(const std::string &op, const char *what, const Parts &...parts)
{
    std::ostringstream text;
    ((text << "; " << parts), ...);
    std::fprintf(stderr, "[%s] %s%s\n", op.c_str(), what, text.str().c_str());
}
} // namespace Base
} // namespace Ops

#define OpLogSub(module, level, op, ...)    AKGEN_OPS_LOG(level, op, __VA_ARGS__)
#define OpLogErrSub(module, level, op, ...) AKGEN_OPS_LOG(level, op, __VA_ARGS__)
#define AKGEN_OPS_LOG(level, op, ...)                                                                                  \
    do {                                                                                                               \
        if ((level) >= DLOG_ERROR)                                                                                     \
            AKGEN_OPS_SAY(op, __VA_ARGS__);                                                                            \
    } while (0)
#define D_OP_LOGD(op, ...)               AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define D_OP_LOGI(op, ...)               AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define D_OP_LOGW(op, ...)               AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define D_OP_LOGE(op, ...)               AKGEN_OPS_SAY(op, __VA_ARGS__)
#define OP_LOGD(op, ...)                 AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define OP_LOGI(op, ...)                 AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define OP_LOGW(op, ...)                 AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define OP_LOGE(op, ...)                 AKGEN_OPS_SAY(op, __VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(op, ...)  AKGEN_OPS_SAY(op, __VA_ARGS__)
#define OP_LOGE_LIBOPAPI_REPORT(op, ...) AKGEN_OPS_SAY(op, __VA_ARGS__)

#ifndef likely
#define likely(x)   __builtin_expect((x), 1)
#define unlikely(x) __builtin_expect((x), 0)
#endif

#define OP_CHECK_IF(condition, log, leave) AKGEN_OPS_LEAVE_IF(condition, log, leave)
#define OP_CHECK_NULL_WITH_CONTEXT(context, pointer)                                                                   \
    do {                                                                                                               \
        if ((pointer) == nullptr) {                                                                                    \
            AKGEN_OPS_SAY(context, "%s is nullptr!", #pointer);                                                        \
            return ge::GRAPH_FAILED;                                                                                   \
        }                                                                                                              \
    } while (0)

#define AKGEN_OP_EXPLAIN(op, what, ...)               ::Ops::Base::AkgenExplain(::ops::AkgenName(op), what, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_SHAPE(op, a, b, c) AKGEN_OP_EXPLAIN(op, "invalid input shape", a, b, c)
#define OP_LOGE_WITH_INVALID_ATTR(op, a, b, c)        AKGEN_OP_EXPLAIN(op, "invalid attr", a, b, c)
#define OP_LOGE_WITH_INVALID_ATTR_SIZE(op, a, b, c)   AKGEN_OP_EXPLAIN(op, "invalid attr size", a, b, c)
#define OP_LOGE_WITH_INVALID_INPUT(op, a)             AKGEN_OP_EXPLAIN(op, "invalid input", a)
#define OP_LOGE_WITH_INVALID_INPUT_SHAPESIZE(op, a, b, c)                                                              \
    AKGEN_OP_EXPLAIN(op, "invalid input number of elements", a, b, c)
#define OP_LOGE_WITH_INVALID_INPUT_FORMAT(op, a, b, c)         AKGEN_OP_EXPLAIN(op, "invalid input format", a, b, c)
#define OP_LOGE_WITH_INVALID_INPUT_DTYPE(op, a, b, c)          AKGEN_OP_EXPLAIN(op, "invalid input dtype", a, b, c)
#define OP_LOGE_FOR_INVALID_SHAPE(op, a, b, c)                 AKGEN_OP_EXPLAIN(op, "invalid shape", a, b, c)
#define OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(op, a, b, c)     AKGEN_OP_EXPLAIN(op, "invalid shape", a, b, c)
#define OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON(op, a, b, c)    AKGEN_OP_EXPLAIN(op, "invalid shapes", a, b, c)
#define OP_LOGE_FOR_INVALID_SHAPEDIM(op, a, b, c)              AKGEN_OP_EXPLAIN(op, "invalid dimensions", a, b, c)
#define OP_LOGE_FOR_INVALID_SHAPEDIM_WITH_REASON(op, a, b, c)  AKGEN_OP_EXPLAIN(op, "invalid dimensions", a, b, c)
#define OP_LOGE_FOR_INVALID_SHAPEDIMS_WITH_REASON(op, a, b, c) AKGEN_OP_EXPLAIN(op, "invalid dimensions", a, b, c)
#define OP_LOGE_FOR_INVALID_SHAPESIZE(op, a, b, c)             AKGEN_OP_EXPLAIN(op, "invalid number of elements", a, b, c)
#define OP_LOGE_FOR_INVALID_SHAPESIZE_WITH_REASON(op, a, b, c)                                                         \
    AKGEN_OP_EXPLAIN(op, "invalid number of elements", a, b, c)
#define OP_LOGE_FOR_INVALID_SHAPESIZES_WITH_REASON(op, a, b, c)                                                        \
    AKGEN_OP_EXPLAIN(op, "invalid number of elements", a, b, c)
#define OP_LOGE_FOR_INVALID_FORMAT(op, a, b, c)              AKGEN_OP_EXPLAIN(op, "invalid format", a, b, c)
#define OP_LOGE_FOR_INVALID_FORMAT_WITH_REASON(op, a, b, c)  AKGEN_OP_EXPLAIN(op, "invalid format", a, b, c)
#define OP_LOGE_FOR_INVALID_FORMATS_WITH_REASON(op, a, b, c) AKGEN_OP_EXPLAIN(op, "invalid formats", a, b, c)
#define OP_LOGE_FOR_INVALID_DTYPE(op, a, b, c)               AKGEN_OP_EXPLAIN(op, "invalid dtype", a, b, c)
#define OP_LOGE_FOR_INVALID_DTYPE_WITH_REASON(op, a, b, c)   AKGEN_OP_EXPLAIN(op, "invalid dtype", a, b, c)
#define OP_LOGE_FOR_INVALID_DTYPES_WITH_REASON(op, a, b, c)  AKGEN_OP_EXPLAIN(op, "invalid dtypes", a, b, c)
#define OP_LOGE_FOR_INVALID_TENSORNUM(op, a, b, c)           AKGEN_OP_EXPLAIN(op, "invalid number of tensors", a, b, c)
#define OP_LOGE_FOR_INVALID_TENSORNUMS_WITH_REASON(op, a, b, c)                                                        \
    AKGEN_OP_EXPLAIN(op, "invalid number of tensors", a, b, c)
#define OP_LOGE_FOR_INVALID_VALUE(op, a, b, c)                  AKGEN_OP_EXPLAIN(op, "invalid value", a, b, c)
#define OP_LOGE_FOR_INVALID_LISTSIZE(op, a, b, c)               AKGEN_OP_EXPLAIN(op, "invalid list size", a, b, c)
#define OP_LOGE_FOR_INVALID_VALUE_WITH_REASON(op, a, b, c)      AKGEN_OP_EXPLAIN(op, "invalid value", a, b, c)
#define OP_LOGE_FOR_INVALID_VALUES_WITH_REASON(op, a, b, c)     AKGEN_OP_EXPLAIN(op, "invalid values", a, b, c)
#define OP_LOGE_FOR_INVALID_STRIDE(op, a, b, c)                 AKGEN_OP_EXPLAIN(op, "invalid stride", a, b, c)
#define OP_LOGE_FOR_FILE_PATH(op, a, b)                         AKGEN_OP_EXPLAIN(op, "file path", a, b)
#define OP_LOGE_FOR_FILE_OPEN(op, a, b)                         AKGEN_OP_EXPLAIN(op, "file open", a, b)
#define OP_LOGE_FOR_FILE_PARSE(op, a, b)                        AKGEN_OP_EXPLAIN(op, "file parse", a, b)
#define OP_LOGE_FOR_INVALID_CONFIG(op, a, b, c, d)              AKGEN_OP_EXPLAIN(op, "invalid config", a, b, c, d)
#define OP_LOGE_FOR_INVALID_CONFIG_WITH_REASON(op, a, b, c, d)  AKGEN_OP_EXPLAIN(op, "invalid config", a, b, c, d)
#define OP_LOGE_FOR_INVALID_CONFIGS_WITH_REASON(op, a, b, c, d) AKGEN_OP_EXPLAIN(op, "invalid configs", a, b, c, d)
#define OP_LOGE_FOR_INVALID_GRAPH_NODE(op, a)                   AKGEN_OP_EXPLAIN(op, "invalid graph node", a)
#define OP_LOGE_FOR_INVALID_ARGUMENT_WITH_REASON(op, a, b)      AKGEN_OP_EXPLAIN(op, "invalid argument", a, b)
#define OP_LOGE_FOR_INVALID_LISTSIZE_WITH_REASON(op, a, b, c)   AKGEN_OP_EXPLAIN(op, "invalid list size", a, b, c)
#endif
