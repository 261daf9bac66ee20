// The messages of cann-ops' operators: errors go to stderr, what is less is compiled and not printed.
//
// Every macro takes the operator's name, or the context that knows it, a format and its arguments.
#ifndef CANN_ERROR_OPS_ERROR_H
#define CANN_ERROR_OPS_ERROR_H

#include "base/alog_pub.h"
#include "base/err_msg.h"

#define OPS_LOG_D(op, ...)                   AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define OPS_LOG_I(op, ...)                   AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define OPS_LOG_W(op, ...)                   AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define OPS_LOG_E(op, ...)                   AKGEN_OPS_SAY(op, __VA_ARGS__)
#define OPS_LOG_E_WITHOUT_REPORT(op, ...)    AKGEN_OPS_SAY(op, __VA_ARGS__)
#define OPS_LOG_EVENT(op, ...)               AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define OPS_LOG_FULL(level, op, ...)         AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define OPS_LOG_D_FULL(op, ...)              AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define OPS_LOG_I_FULL(op, ...)              AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define OPS_LOG_W_FULL(op, ...)              AKGEN_OPS_SKIP(op, __VA_ARGS__)
#define OPS_REPORT_VECTOR_INNER_ERR(op, ...) AKGEN_OPS_SAY(op, __VA_ARGS__)
#define OPS_REPORT_CUBE_INNER_ERR(op, ...)   AKGEN_OPS_SAY(op, __VA_ARGS__)
#define OPS_INNER_ERR_STUB(code, op, ...)    AKGEN_OPS_SAY(op, __VA_ARGS__)
#define OPS_CALL_ERR_STUB(code, op, ...)     AKGEN_OPS_SAY(op, __VA_ARGS__)

// Plain ifs, as in cann-ops: published code leaves the semicolon out.
#define OPS_CHECK(condition, log, leave)                                                                               \
    if (condition) {                                                                                                   \
        log;                                                                                                           \
        leave;                                                                                                         \
    }
#define OPS_LOG_E_IF_NULL(op, pointer, leave)                                                                          \
    if ((pointer) == nullptr) {                                                                                        \
        AKGEN_OPS_SAY(op, "%s is nullptr!", #pointer);                                                                 \
        leave;                                                                                                         \
    }
#define OPS_ERR_IF(condition, log, leave)           AKGEN_OPS_LEAVE_IF(condition, log, leave)
#define OPS_LOG_E_IF(condition, op, leave, ...)     OPS_ERR_IF(condition, AKGEN_OPS_SAY(op, __VA_ARGS__), leave)
#define OPS_LOG_W_IF(condition, op, leave, ...)     OPS_ERR_IF(condition, AKGEN_OPS_SKIP(op, __VA_ARGS__), leave)
#define OPS_LOG_I_IF(condition, op, leave, ...)     OPS_ERR_IF(condition, AKGEN_OPS_SKIP(op, __VA_ARGS__), leave)
#define OPS_LOG_D_IF(condition, op, leave, ...)     OPS_ERR_IF(condition, AKGEN_OPS_SKIP(op, __VA_ARGS__), leave)
#define OPS_LOG_EVENT_IF(condition, op, leave, ...) OPS_ERR_IF(condition, AKGEN_OPS_SKIP(op, __VA_ARGS__), leave)
#endif
