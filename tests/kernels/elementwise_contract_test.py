#!/usr/bin/env python3
"""The element-wise high-level APIs: every form that CANN declares for NPU_ARCH 2201 (asc-devkit include/adv_api) compiles with
every documented data type, also through a function pointer; other data types and forms that CANN lacks are errors."""
import sys

import contract_test

BOTH = ["float", "half"]
REST = ["int32_t", "int16_t", "uint8_t", "bfloat16_t", "int64_t"]
TMP = "const LocalTensor<T> &, const LocalTensor<T> &, const LocalTensor<uint8_t> &"
UNARY = {"tmp count": "NAME(d, s, b, 64);", "tmp": "NAME(d, s, b);", "count": "NAME(d, s, 64);", "all": "NAME(d, s);",
         "reuse": "NAME<T, true>(d, s, b, 64);",
         "pointer": f"void (*f)({TMP}, const uint32_t) = &NAME<T, false>; f(d, s, b, 64);",
         "pointer all": "void (*f)(const LocalTensor<T> &, const LocalTensor<T> &) = &NAME<T, true>; f(d, s);"}
COUNTED = {form: UNARY[form] for form in ["tmp count", "count", "reuse", "pointer"]}
PAIR = {"tmp count": "NAME(d, s, t, b, 64);", "count": "NAME(d, s, t, 64);", "reuse": "NAME<T, true>(d, s, t, b, 64);"}
PAIR_ALL = {**PAIR, "tmp": "NAME(d, s, t, b);", "all": "NAME(d, s, t);"}
GELU = {"tmp": "NAME(d, s, b, 64);", "count": "NAME<T, true, true>(d, s, 64);"}
CLAMP = {"tmp": "NAME(d, s, b, x, 64);", "count": "NAME<T, false>(d, s, x, 64);"}

# name: forms, types, forms that CANN lacks
APIS = {name: (UNARY, BOTH, {}) for name in
        "Acos Acosh Asin Asinh Atan Atanh Cos Cosh Erf Erfc Frac Log2 Sigmoid Sign Sin Sinh Tan Tanh Trunc".split()}
APIS |= {name: (COUNTED, BOTH, {"all": UNARY["all"], "tmp": UNARY["tmp"]}) for name in "Ceil Floor Round Lgamma".split()}
APIS |= {name: ({"count": UNARY["count"], "all": UNARY["all"]}, BOTH, {"tmp": UNARY["tmp count"]}) for name in ["Log", "Log10"]}
APIS |= {name: (GELU, BOTH, {"all": UNARY["all"]}) for name in ["Gelu", "FasterGelu", "FasterGeluV2"]}
APIS |= {name: (CLAMP, BOTH, {"all": "NAME(d, s, x);"}) for name in ["ClampMax", "ClampMin"]}
APIS |= {name: (PAIR_ALL, BOTH, {}) for name in ["Fmod", "GeGLU"]}
POWER = {f"{operands}: {form}": text.replace("(d, s, t", f"(d, {operands}")
         for operands in ["s, t", "s, x", "x, t"] for form, text in PAIR_ALL.items()}
APIS |= {
    "Digamma": ({form: COUNTED[form] for form in ["tmp count", "count", "reuse"]}, BOTH,
                {"temporary": "NAME(d, s, LocalTensor<uint8_t>(), 64);", "pointer": COUNTED["pointer"]}),
    "Silu": ({"count": "NAME(d, s, 64);"}, BOTH, {"tmp": "NAME(d, s, b, 64);"}),
    "Swish": ({"count": "NAME(d, s, 64, x);"}, BOTH, {"all": "NAME(d, s, x);"}),
    "Exp": ({"tmp": "NAME<T, 10>(d, s, b, 64);", "count": "NAME<T, 10, true>(d, s, 64);"}, BOTH, {"all": "NAME<T, 10>(d, s);"}),
    "Axpy": ({"tmp": "NAME(d, s, x, b, 64);"}, BOTH, {"all": "NAME(d, s, x, b);"}),
    "Power": (POWER, BOTH + ["int32_t"], {"scalars": "NAME(d, x, x);"}),
    "ReGlu": (PAIR, BOTH + ["bfloat16_t"], {"all": "NAME(d, s, t);"}),
    "SwiGLU": ({"tmp count": "NAME(d, s, t, 1.5f, b, 64);", "count": "NAME(d, s, t, 1.5f, 64);", "tmp": "NAME(d, s, t, 1.5f, b);",
                "all": "NAME(d, s, t, 1.5f);"}, BOTH, {"no beta": "NAME(d, s, t, b, 64);"}),
    "Xor": (PAIR_ALL, ["int16_t", "uint16_t"], {}),
    "Arange": ({"count": "NAME(d, x, x, 64);"}, ["float", "half", "int16_t", "int32_t"], {}),
    "CumSum": ({"tmp": "NAME(d, t, s, b, {16, 64});", "none": "NAME(d, t, s, {16, 64});",
                "first axis": "static constexpr CumSumConfig c{false, false, true}; NAME<T, c>(d, t, s, CumSumInfo());"}, BOTH,
               {"temporary": "NAME(d, t, s, LocalTensor<uint8_t>(), {16, 64});"}),
    "Clamp": ({}, [], {"scalars": "NAME(d, s, x, x, 64);"}),
    "Hypot": ({}, [], PAIR_ALL),
}

def main():
    good, bad, absent = [], [], []
    for name, (forms, types, lacking) in APIS.items():
        for form, statement in forms.items():
            good += [((name, form, t), contract_test.line_of(name, t, statement)) for t in types]
        # A type is refused once, whichever form asks first.
        others = [t for t in BOTH + REST if t not in types] if forms else []
        bad += [((name, t), contract_test.line_of(name, t, next(iter(forms.values())))) for t in others]
        absent += [((name, form), contract_test.line_of(name, "float", statement)) for form, statement in lacking.items()]
    good += [(("ArithProgression", t), contract_test.line_of("ArithProgression", t, "NAME(d, x, x, 64);")) for t in BOTH]
    good.append((("Axpy", "wider", "half"), "{ LocalTensor<float> d; LocalTensor<half> s; Axpy(d, s, half(1), b, 64); }"))
    absent.append((("Axpy", "narrower"), "{ LocalTensor<half> d; LocalTensor<float> s; Axpy(d, s, 1.0f, b, 64); }"))

    def accepted(_, messages):
        return messages[0] if messages else None
    def says_types(what, messages):
        wanted = f"{what[0]}: data type is not supported on Ascend910B; supported: "
        return None if any(wanted in message for message in messages) else f"said {messages[:1]}"
    def rejected(_, messages):
        return None if messages else "was accepted"
    ok = contract_test.check("accepted", good, accepted)
    ok &= contract_test.check("other types", bad, says_types)
    ok &= contract_test.check("no such form", absent, rejected)
    return 0 if ok and len(good) > 400 and len(bad) > 150 else 1

if __name__ == "__main__":
    sys.exit(main())
