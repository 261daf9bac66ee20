/* How a header names what CANN has and AKGen lacks: basic/unsupported.h tells what becomes of it. */
#ifndef ASCENDC_LACKS_H
#define ASCENDC_LACKS_H

#include "basic/qualifiers.h"

/* A macro in the place of a declaration: akgen::lacks has a type of its name. */
#define AKGEN_LACKS_MACRO(Name) static_assert(sizeof(akgen::lacks::Name) > 0, "")
#define AKGEN_LACKS(Name)       __attribute__((unavailable("akgen-unsupported: " #Name)))

/* The last argument may stand in braces, from which nothing is deduced. */
namespace akgen
{
/* The result of what is lacking may be put to any use. */
struct lacking {
    template <class T> AKGEN_DEVICE constexpr operator T() const
    {
        return T();
    }
};
struct braced {
    template <class... A> AKGEN_DEVICE constexpr braced(const A &...)
    {
    }
};
} // namespace akgen
#define AKGEN_COMMA ,
#define AKGEN_LACKS_BRACED(Name, Types, Arguments)                                                                     \
    template <Types> AKGEN_LACKS(Name) AKGEN_DEVICE akgen::lacking Name(Arguments, const akgen::braced &);

/* Explicit template arguments may be types, values, or types first and values then. */
#define AKGEN_LACKS_FUNCTION(Name)                                                                                     \
    template <class... E, class... A> AKGEN_LACKS(Name) AKGEN_DEVICE akgen::lacking Name(const A &...);                \
    template <class E, auto V0, auto... V, class... A>                                                                 \
    AKGEN_LACKS(Name)                                                                                                  \
    AKGEN_DEVICE akgen::lacking Name(const A &...);                                                                    \
    template <class E, class F, auto V0, auto... V, class... A>                                                        \
    AKGEN_LACKS(Name)                                                                                                  \
    AKGEN_DEVICE akgen::lacking Name(const A &...);                                                                    \
    template <auto V0, auto... V, class... A> AKGEN_LACKS(Name) AKGEN_DEVICE akgen::lacking Name(const A &...);        \
    AKGEN_LACKS(Name) AKGEN_DEVICE akgen::lacking Name(const akgen::braced &);                                         \
    AKGEN_LACKS_BRACED(Name, class A0, const A0 &)                                                                     \
    AKGEN_LACKS_BRACED(Name, class A0 AKGEN_COMMA class A1, const A0 &AKGEN_COMMA const A1 &)                          \
    AKGEN_LACKS_BRACED(Name, class A0 AKGEN_COMMA class A1 AKGEN_COMMA class A2,                                       \
                       const A0 &AKGEN_COMMA const A1 &AKGEN_COMMA const A2 &)                                         \
    AKGEN_LACKS_BRACED(Name, class A0 AKGEN_COMMA class A1 AKGEN_COMMA class A2 AKGEN_COMMA class A3,                  \
                       const A0 &AKGEN_COMMA const A1 &AKGEN_COMMA const A2 &AKGEN_COMMA const A3 &)
/* Complete, so that the first thing wrong with a use is that it is used. */
#define AKGEN_LACKS_TYPE(Name)                                                                                         \
    struct AKGEN_LACKS(Name) Name {                                                                                    \
        template <class... A> AKGEN_DEVICE constexpr Name(const A &...)                                                \
        {                                                                                                              \
        }                                                                                                              \
    };
#define AKGEN_LACKS_VALUE(Name) AKGEN_LACKS(Name) constexpr int Name = 0;

#endif
