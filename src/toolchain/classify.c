/* What kind of mistake a compiler's message stands for: the classes of the AscendKernelGen paper (arXiv 2601.07160, its
 * table of compile errors). The first rule whose words all occur decides; order goes from the specific to the
 * general. */
#include "toolchain/toolchain_internal.h"

#include <string.h>

const struct words diagnostic_classes = WORDS(DIAGNOSTIC_CLASSES), diagnostic_severities = WORDS(DIAGNOSTIC_SEVERITIES);

const char *diagnostic_class_name(enum diagnostic_class class)
{
    return diagnostic_classes.of[class];
}

struct rule {
    const char *words, *more; /* substrings of the message; `more` may be NULL */
    enum diagnostic_class class;
};
static const struct rule rules[] = {
    {"akgen-unsupported", NULL, DIAG_API},
    /* macros and preprocessing */
    {"unterminated conditional directive", NULL, DIAG_MACRO},
    {"unterminated function-like macro", NULL, DIAG_MACRO},
    {"macro", "redefined", DIAG_MACRO},
    {"function-like macro", NULL, DIAG_MACRO},
    {"macro invocation", NULL, DIAG_MACRO},
    {"macro name", NULL, DIAG_MACRO},
    {"macro expansion", NULL, DIAG_MACRO},
    {"macro argument", NULL, DIAG_MACRO},
    {"preprocess", NULL, DIAG_MACRO},
    {"#else", NULL, DIAG_MACRO},
    {"#elif", NULL, DIAG_MACRO},
    {"#endif", NULL, DIAG_MACRO},
    {"#if", NULL, DIAG_MACRO},
    {"#error", NULL, DIAG_MACRO},
    {"file not found", NULL, DIAG_MACRO},
    {"TILING_KEY", NULL, DIAG_MACRO},
    {"GET_TILING_DATA", NULL, DIAG_MACRO},
    {"KERNEL_TASK_TYPE", NULL, DIAG_MACRO},
    {"redefinition of", NULL, DIAG_MACRO},
    /* memory and object usage */
    {"address space", NULL, DIAG_MEMORY},
    {"__gm__", NULL, DIAG_MEMORY},
    {"__ubuf__", NULL, DIAG_MEMORY},
    {"__attribute__((address_space", NULL, DIAG_MEMORY},
    {"reinterpret_cast", NULL, DIAG_MEMORY},
    {"no member named", "in namespace", DIAG_API},
    {"no member named", "in 'AscendC::", DIAG_MEMORY},
    {"no member named", NULL, DIAG_SYNTAX},
    {"no matching member function", "SetGlobalBuffer", DIAG_MEMORY},
    {"selected deleted operator", NULL, DIAG_DTYPE},
    {"private member", NULL, DIAG_MEMORY},
    {"protected member", NULL, DIAG_MEMORY},
    {"deleted", NULL, DIAG_MEMORY},
    {"member reference", NULL, DIAG_MEMORY},
    {"indirection requires pointer", NULL, DIAG_MEMORY},
    {"position", "static assertion", DIAG_MEMORY},
    /* scope and lifetime */
    {"akgen-host", NULL, DIAG_SCOPE},
    {"__host__", NULL, DIAG_SCOPE},
    {"host function", NULL, DIAG_SCOPE},
    {"undeclared identifier", NULL, DIAG_SCOPE},
    {"unknown type name", NULL, DIAG_SCOPE},
    {"does not name a", NULL, DIAG_SCOPE},
    {"no type named", NULL, DIAG_SCOPE},
    {"undefined function", NULL, DIAG_SCOPE},
    {"undefined symbol", NULL, DIAG_SCOPE},
    {"not declared", NULL, DIAG_SCOPE},
    {"cannot be implicitly captured", NULL, DIAG_SCOPE},
    {"use of undeclared", NULL, DIAG_SCOPE},
    {"no template named", NULL, DIAG_SCOPE},
    {"ambiguous", "reference to", DIAG_SCOPE},
    /* syntax and structure; before the data types, because "expected" names what is missing */
    {"expected ", "expression", DIAG_SYNTAX},
    {"expected ';'", NULL, DIAG_SYNTAX},
    {"expected ')'", NULL, DIAG_SYNTAX},
    {"expected '}'", NULL, DIAG_SYNTAX},
    {"expected '", NULL, DIAG_SYNTAX},
    {"expected unqualified-id", NULL, DIAG_SYNTAX},
    {"invalid digit", NULL, DIAG_SYNTAX},
    {"invalid suffix", NULL, DIAG_SYNTAX},
    {"extraneous", NULL, DIAG_SYNTAX},
    {"entry point", NULL, DIAG_SYNTAX},
    {"does not match any declaration", NULL, DIAG_SYNTAX},
    {"function definition is not allowed", NULL, DIAG_SYNTAX},
    {"unterminated", NULL, DIAG_SYNTAX},
    {"missing", "terminating", DIAG_SYNTAX},
    {"must be initialized", NULL, DIAG_SYNTAX},
    /* data types and conversions */
    {"data type", NULL, DIAG_DTYPE},
    {"dtype", NULL, DIAG_DTYPE},
    {"conflicting types for parameter", NULL, DIAG_DTYPE},
    {"deduced conflicting types", NULL, DIAG_DTYPE},
    {"no viable conversion", NULL, DIAG_DTYPE},
    {"cannot convert", NULL, DIAG_DTYPE},
    {"cannot initialize", NULL, DIAG_DTYPE},
    {"cannot be narrowed", NULL, DIAG_DTYPE},
    {"incompatible", "type", DIAG_DTYPE},
    {"invalid operands to binary", NULL, DIAG_DTYPE},
    {"assigning to", NULL, DIAG_DTYPE},
    {"static_cast from", NULL, DIAG_DTYPE},
    {"C-style cast", NULL, DIAG_DTYPE},
    {"implicit conversion", NULL, DIAG_DTYPE},
    {"no viable overloaded", NULL, DIAG_DTYPE},
    /* API signatures and overloads */
    {"no matching", NULL, DIAG_API},
    {"is unavailable", NULL, DIAG_API},
    {"ambiguous", NULL, DIAG_API},
    {"arguments", NULL, DIAG_API},
    {"template argument", NULL, DIAG_API},
    {"explicitly-specified argument", NULL, DIAG_API},
    {"static assertion failed", NULL, DIAG_API},
};

/* A message about code that a macro of Ascend C produced is about the macro's use. */
static bool from_contract_macro(const char *notes)
{
    static const char *const macros[] = {"'TILING_KEY_IS'", "'GET_TILING_DATA", "'KERNEL_TASK_TYPE", "'REGISTER_TILING",
                                         "'ASCEND_IS_"};
    if (!strstr(notes, "expanded from macro"))
        return false;
    for (size_t i = 0; i < sizeof macros / sizeof *macros; i++)
        if (strstr(notes, macros[i]))
            return true;
    return false;
}

/* Instructions that take a scalar beside their tensors: a conflict of types in their arguments may be the scalar's. */
static bool takes_scalar(const char *message)
{
    static const char *const names[] = {"'Adds'",      "'Muls'",          "'Maxs'",      "'Mins'",
                                        "'LeakyRelu'", "'ShiftLeft'",     "'Duplicate'", "'ShiftRight'",
                                        "'Axpy'",      "'CompareScalar'", "'Select'"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(message, names[i]))
            return true;
    return false;
}

enum diagnostic_class classify(const char *message, const char *notes)
{
    if (from_contract_macro(notes))
        return DIAG_MACRO;
    if (strstr(message, "no matching") && strstr(notes, "__host__ function"))
        return DIAG_SCOPE;
    /* Tensors of different data types in one call are a matter of types, everything else about arguments one of the API. */
    if (strstr(message, "no matching") && strstr(notes, "deduced conflicting types") && !takes_scalar(message))
        return DIAG_DTYPE;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strstr(message, rules[i].words) && (!rules[i].more || strstr(message, rules[i].more)))
            return rules[i].class;
    return DIAG_SYNTAX;
}
