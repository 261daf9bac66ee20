#!/usr/bin/env python3
"""The kernel headers accept exactly what CANN accepts: for each instruction of isa.def every form with every data type that
it has compiles, and each data type that it lacks is an error with the instruction's name. The same for the pairs of
cast.def. All snippets of one kind are one file with a snippet per line, so that an error is known by its line."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HOME = pathlib.Path(os.environ.get("AKGEN_HOME", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(HOME / "scripts"))
import tables

CLANG = ["clang++-19", "-std=c++17", "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-Xclang",
         "-fcuda-is-device", "-Xclang", "-fcuda-allow-variadic-functions", "-Wno-unknown-cuda-version", "-Xclang", "-ffloat16-excess-precision=none", "-O1",
         f"-I{HOME}/include/ascendc", f"-I{HOME}/include", "-include", "kernel_operator.h", "-include", "lib/matmul_intf.h",
         "-fsyntax-only", "-ferror-limit=0", "-ftemplate-backtrace-limit=0"]

TYPES = tables.kernel_types(HOME)

# Per family: form -> statement. d, s, t are LocalTensor<T>; b is LocalTensor<uint8_t>; o is LocalTensor<uint32_t>;
# gm is GlobalTensor<T>; x is a T; m is uint64_t[2]; p stands for the repeat parameters.
def masked(call, params):
    """The three level-0 forms of CALL(..., mask, repeat, params)."""
    name, rest = call.split("(", 1)
    return {"mask": f"{name}({rest}, uint64_t(8), 1, {params});", "bits": f"{name}({rest}, m, 1, {params});",
            "register": f"{name}<T, false>({rest}, MASK_PLACEHOLDER, 1, {params});"}

BINARY, UNARY = "{1, 1, 1, 8, 8, 8}", "{1, 1, 8, 8}"
REPEAT_REDUCE = {"mask": "NAME(d, s, 8, 1, 1, 1, 8);", "bits": "NAME(d, s, m, 1, 1, 1, 8);",
                 "register": "NAME<T, false>(d, s, 0x7, 1, 1, 1, 8);"}
BLOCK_REDUCE = {"mask": "NAME(d, s, 1, 8, 1, 1, 8);", "bits": "NAME(d, s, 1, m, 1, 1, 8);"}
FORMS = {
    "binary": {"count": "NAME(d, s, t, 64);", **masked("NAME(d, s, t", BINARY)},
    "scalar": {"count": "NAME(d, s, x, 64);", **masked("NAME(d, s, x", UNARY)},
    "unary": {"count": "NAME(d, s, 64);", **masked("NAME(d, s", UNARY)},
    "compare": {"count": "NAME(b, s, t, CMPMODE::EQ, 64);", "mask": f"NAME(b, s, t, CMPMODE::EQ, 8, 1, {BINARY});"},
    "get_cmp_mask": {"register": "NAME(d);"}, "set_cmp_mask": {"register": "NAME(s);"},
    "select": {"count": "NAME(d, b, s, t, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);",
               "scalar": "NAME(d, b, s, x, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);",
               "mask": f"NAME(d, b, s, t, SELMODE::VSEL_CMPMASK_SPR, 8, 1, {BINARY});"},
    "duplicate": {"count": "NAME(d, x, 64);", "mask": "NAME(d, x, 8, 1, 1, 8);", "bits": "NAME(d, x, m, 1, 1, 8);"},
    "brcb": {"count": "NAME(d, s, 1, {1, 8});"},
    "copy": masked("NAME(d, s", "{1, 1, 8, 8}"),
    "create_index": {"count": "NAME(d, x, 64);", "mask": "NAME(d, x, 8, 1, 1, 8);"},
    "gather": {"count": "NAME(d, s, o, 0u, 64);", "mask": "NAME(d, s, o, 0u, 8, 1, 8);"},
    "gather_mask": {"pattern": "uint64_t r; NAME(d, s, 1, true, 8, {1, 1, 8, 8}, r);"},
    "reduce": {"count": "NAME(d, s, t, 64);", "mask": "NAME(d, s, t, 8, 1, 8);", "bits": "NAME(d, s, t, m, 1, 8);"},
    "whole_reduce": REPEAT_REDUCE, "block_reduce": BLOCK_REDUCE, "pair_reduce": BLOCK_REDUCE,
    "data_copy": {"in": "NAME(d, gm, 64);", "out": "NAME(gm, s, 64);", "local": "NAME(d, s, 64);",
                  "blocks in": "NAME(d, gm, {1, 1, 0, 0});", "enhanced in": "NAME(d, gm, DataCopyParams(), DataCopyEnhancedParams());",
                  "enhanced out": "NAME(gm, s, DataCopyParams(), DataCopyEnhancedParams());",
                  "enhanced": "NAME(d, s, DataCopyParams(), DataCopyEnhancedParams());", "blocks out": "NAME(gm, s, {1, 1, 0, 0});"},
    "data_copy_pad": {"in": "NAME(d, gm, DataCopyParams(), DataCopyPadParams());",
                      "extended in": "NAME(d, gm, DataCopyExtParams(), DataCopyPadExtParams<T>());",
                      "out": "NAME(gm, s, DataCopyParams());", "extended out": "NAME(gm, s, DataCopyExtParams());"},
    "nd2nz": {"in": "NAME(d, gm, Nd2NzParams());", "local": "NAME(d, s, Nd2NzParams());"},
    "init_const": {"all": "NAME(d, InitConstValueParams<T>(1, 1, 0, x));"},
    "load_2d": {"local": "NAME(d, s, LoadData2DParams());", "in": "NAME(d, gm, LoadData2DParams());"},
    "load_transpose": {"local": "NAME(d, s, LoadData2dTransposeParams());"},
    "load_3d": {"v2": "NAME(d, s, LoadData3DParamsV2<T>());", "pro": "NAME(d, s, LoadData3DParamsV2Pro());"},
    "mmad": {"plain": "LocalTensor<std::conditional_t<sizeof(T) == 1, int32_t, float>> c; NAME(c, s, t, MmadParams());"},
    "fixpipe": {"out": "NAME(gm, s, FixpipeParamsV220());",
                "rows": "NAME<T, T, CFG_ROW_MAJOR>(gm, s, FixpipeParamsV220());",
                "half": "GlobalTensor<half> h; NAME<half, T, CFG_NZ>(h, s, FixpipeParamsV220());"},
    "vcadd_acc": {"raw": "NAME((__ubuf__ T *)nullptr, (__ubuf__ T *)s.GetPhyAddr(), 1, 1, 1, 8, true);"},
}
FORMS["ternary"] = FORMS["compound"] = FORMS["binary"]
# The destination of a conversion, n, is LocalTensor<Narrow<T>>.
NARROW = {"count": "NAME(n, s, t, 64);", **{form: call.replace("(d,", "(n,").replace("<T, false>", "<Narrow<T>, T, false>")
                                            for form, call in masked("NAME(d, s, t", BINARY).items()}}
FORMS |= {
    "dequant": {"count": "NAME(n, s, 64);", "count, one scale": "NAME<Narrow<T>, T, false, false>(n, s, 64);",
                "mask": f"NAME(n, s, 8, 1, {UNARY});", "bits": f"NAME(n, s, m, 1, {UNARY});"},
    "gatherb": {"repeat": "NAME(d, s, o, 1, {1, 8});"},
    "transpose": {"": "NAME(d, s);"},
    "transpose_4d": {"": "NAME(d, s, b, {1, 16, 4, 8, TransposeType::TRANSPOSE_NCHW2NHWC});"},
    "trans_5hd": {"addresses": "uint64_t a[16]; NAME<T>(a, a, {});", "tensors": "LocalTensor<T> a[16]; NAME<T>(a, a, {});",
                  "addresses in UB": "LocalTensor<uint64_t> a; NAME<T>(a, a, {});"},
    "sort32": {"repeat": "NAME(d, s, o, 1);"},
    "mrg_sort": {"structure": "MrgSort4Info i; NAME(d, MrgSortSrcList<T>(s, s, s, s), i);",
                 "counts": "uint16_t l[4]; uint32_t k[4]; NAME<T, true>(d, MrgSortSrcList<T>(s, s, s, s), l, k, 15, 1);"},
    "no_effect": {"repeat": "NAME(d, s, 1);"},
}
SPECIAL = {"Axpy": {"count": "NAME(d, s, x, 64);", "mask": f"NAME(d, s, x, 8, 1, {UNARY});"},
           "CompareScalar": {"count": "NAME(b, s, x, CMPMODE::EQ, 64);"},
           "AddReluCast": NARROW, "SubReluCast": NARROW, "MulCast": NARROW, "AddDeqRelu": NARROW,
           "MulAddDst": {**FORMS["compound"], "register": f"NAME<T, T, false>(d, s, t, MASK_PLACEHOLDER, 1, {BINARY});",
                         "wide": "LocalTensor<std::conditional_t<std::is_same_v<T, half>, float, T>> w; NAME(w, s, t, 64);"},
           "MrgSort4": FORMS["mrg_sort"] | {"counts": "MrgSort4Info i; NAME(d, MrgSortSrcList<T>(), i);"},
           "ProposalConcat": {"mode": "NAME(d, s, 1, 4);"}, "ProposalExtract": {"mode": "NAME(d, s, 1, 4);"}}
# The machine moves these as bytes; int4b_t has no padding value.
EXEMPT = {("DataCopyPad", "int4b_t")}
# Accepted and made of another instruction: int32 to half is a Cast.
ELSEWHERE = {("CastDequant", "int32_t")}
# By count they take any type as 16-bit elements; the form named here does not.
BITWISE = {"And": "mask", "Or": "mask"}
# int4b_t has no place in a list of addresses, and no value to begin with.
SILENT_EXEMPT = set()

def line_of(name, type_name, statement):
    return (f"{{ typedef {type_name} T; LocalTensor<T> d, s, t; LocalTensor<Narrow<T>> n; GlobalTensor<T> gm; T x = {{}}; (void)x; "
            f"{statement.replace('NAME', name)} }}")

def instructions():
    """Id, name, family and set of type names of each instruction."""
    for row in tables.rows(HOME, "isa.def", "NPU_INSN"):
        yield (row["ID"], row["name"], row["family"], {TYPES[i] for i in tables.types(row["types"]) if i in TYPES},
               "SILENT" in row["traits"])

def compile_lines(lines):
    """Compiles one function whose body has one snippet per line; returns per line what was said about it."""
    head = ('using namespace AscendC;\nextern "C" __global__ __aicore__ void kernel(GM_ADDR workspace)\n{ uint64_t m[2] = {1, 1}; '
            "(void)m; LocalTensor<uint8_t> b; LocalTensor<uint32_t> o;\n")
    head = ("template <typename T> using Narrow = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, "
            "int32_t>, half, int8_t>;\n") + head
    head = ("const AscendC::TransDataTo5HDParams FIVE_HD(false, false, 1, 0, 0); const AscendC::BinaryRepeatParams EVERY(1, 1, 1, 8, 8, 8); "
            "__BLOCK_LOCAL__ __inline__ uint64_t mine;\n") + head
    head = "template <typename T> __aicore__ inline void Gelu(const AscendC::LocalTensor<T> &)\n{}\n" + head
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "snippets.cpp")
        path.write_text(head + "\n".join(lines) + "\n}\n")
        output = subprocess.run([*CLANG, str(path)], capture_output=True, text=True).stderr
    said = [[] for _ in lines]
    message = ""
    for row in output.splitlines():
        if (found := re.match(r".*?:\d+:\d+: (?:fatal )?error: (.*)", row)):
            message = found[1]
        if (place := re.match(r".*?snippets\.cpp:(\d+):\d+: (error|fatal error|note: in instantiation)", row)):
            line = int(place[1]) - 8
            if 0 <= line < len(lines):
                said[line].append(message)
    return said, output

# Names outside the table of instructions.
PLAIN = {"And": "And(d, s, t, 64); Or(d, s, t, 64); LocalTensor<uint8_t> u; And(u, u, u, 32);",
         "TrueType": "static_assert(TrueType::value && !FalseType::Type::value && std::is_base_of_v<TrueType, BoolInst<true>> && "
                     "SupportType<T, half, float>() && !SupportType<T, int32_t>() && SupportBytes<T, 2, 4>());",
         "NotifyEvent": "NotifyEvent<PIPE_MTE3>(4); WaitEvent(4); WaitEvent<PIPE_V>(4); ENABLE_DETERMINISTIC(); AscendC::Barrier(); "
                        "static_assert(SYNC_AIC_FLAG == 11 && F32_NEG_INF == 0xff800000 && SYNC_AIV_ONLY_ALL == 14);",
         "CeilAlign": "static_assert(std::is_same_v<decltype(CeilAlign(int64_t(5), int64_t(3))), int64_t>); int64_t c = CeilAlign(int64_t(5), int64_t(3)); (void)c;",
         "TSCM": "TSCM<TPosition::VECCALC> scm; (void)scm; TQue<TPosition::VECIN, 1> q; TBuffAddr a = q.GetBufferAddr(q.DeQue()); d.SetAddr(a); d = q.Buf2Tensor<T>(d.GetBufferHandle());",
         "TransDataTo5HDParams": "LocalTensor<T> a[16]; TransDataTo5HD<T>(a, a, FIVE_HD);",
         "event_t": "constexpr event_t none = static_cast<event_t>(INVALID_TEVENTID); (void)none;",
         "SetAtomicAdd": "SetAtomicAdd<uint8_t>(); SetAtomicMax<uint64_t>(); SetAtomicType<bool>();",
         "GatherMask": "LocalTensor<uint16_t> pattern; uint64_t r; GatherMask(d, s, pattern, true, 8, {1, 1, 8, 8}, r);",
         "DataCopy": "LocalTensor<float> f; DataCopy<float, float>(f, f, DataCopyParams()); LocalTensor<half> h; DataCopy(h, f, DataCopyParams(), DataCopyEnhancedParams());",
         "SetBias": "using M = matmul::MatmulType<TPosition::GM, CubeFormat::ND, bfloat16_t>; matmul::Matmul<M, M, M, M> mm; GlobalTensor<bfloat16_t> bias; mm.SetBias(bias);",
         "get_para_base": "GM_ADDR *list = (GM_ADDR *)get_para_base(); (void)list; set_padding(0); set_l1_3d_size(0);",
         "Ceil": "static_assert(std::is_same_v<decltype(AscendC::Ceil(int64_t(5), 3)), uint32_t>);",
         "Conditional": "static_assert(std::is_same_v<Conditional<false, int, T>::type, T>);",
         "AscendCUtils": "AscendCUtils::SetOverflow(1);",
         "Adds": "Adds<T, T>(d, s, x, 64); Adds<T, T, false>(d, s, x, MASK_PLACEHOLDER, 1, {1, 1, 8, 8}); Adds<T, T>(d, s, x, m, 1, {1, 1, 8, 8});",
         "ShiftRight": "LocalTensor<int32_t> i; ShiftRight<int32_t, int32_t>(i, i, 1, 64); ShiftRight<int32_t, int32_t>(i, i, 1, 8, 1, {1, 1, 8, 8}, true);",
         "AddDeqRelu": "LocalTensor<half> h; LocalTensor<int32_t> i; AddDeqRelu(h, i, i, 8, 1, {1, 1, 1, 8, 8, 8}); "
                       "AddDeqRelu<false>(h, i, i, MASK_PLACEHOLDER, 1, {1, 1, 1, 8, 8, 8}); AddDeqRelu(h, i, i, m, 1, {1, 1, 1, 8, 8, 8});",
         "Std::min": "static_assert(std::is_same_v<decltype(Std::min(int64_t(5), 3)), int64_t>); static_assert(Std::max(2u, uint64_t(3)) == 3);",
         "Nd2NzParams": "DataCopy(d, s, Nd2NzParams()); DataCopy(d, gm, Nd2NzParams());",
         "Nz2NdParamsFull": "DataCopy(gm, s, Nz2NdParamsFull{1, 32, 32, 1, 32, 32, 1}); DataCopy(gm, s, Nz2NdParamsFull());",
         "Cast": "float f = Cast(bfloat16_t(1.5f)); bfloat16_t b16 = Cast(f); (void)b16; half h = Cast<float, half, RoundMode::CAST_ODD>(f); (void)h; "
                 "static_assert(std::is_same_v<decltype(Cast<float, int32_t, RoundMode::CAST_RINT>(f)), int32_t>);",
         "TTagType": "TTagType tag = 5; d.SetUserTag(tag); tag = d.GetUserTag();",
         "SaturationMode": "SetSaturationFlag<SaturationMode::CAST>(true); bool on = GetSaturationFlag<SaturationMode::INT>(); (void)on;",
         "SetHF32Mode": "SetHF32Mode(true); SetHF32TransMode(false); SetHF32Mode(HF32Mode::ENABLE);",
         "SetNextTaskStart": "SetNextTaskStart<PIPE_MTE3, PIPE_FIX, true>(); SetNextTaskStart(); WaitPreTaskEnd<true>(); WaitPreTaskEnd();",
         "NumericLimits": "static_assert(NumericLimits<half>::Max() == half(65504) && NumericLimits<half>::Min() == half(6.103515625e-5f) && NumericLimits<float>::Lowest() == -3.4028234663852886e38f && NumericLimits<int8_t>::Lowest() == -128 && NumericLimits<uint16_t>::Max() == 65535 && NumericLimits<float>::Infinity() > 3e38f && NumericLimits<half>::NegativeInfinity() < half(-65504) && NumericLimits<half>::QuietNaN() != NumericLimits<half>::QuietNaN() && NumericLimits<half>::DeNormMin() > half(0)); NumericLimits<T>::Max(d, 64); uint32_t sizes[] = {2, 3}; uint64_t elements = GetShapeSize(ShapeInfo(2, sizes)); (void)elements;",
         "element": "LocalTensor<int32_t> i; i(0)++; ++i(1); i(0) %= 3; i(0) |= 1; i(0) <<= 2; i(1) &= i(0); --i(2); int32_t v = i(2)--; (void)v;",
         "KERNEL_LOG": "ASCENDC_ASSERT(false, { KERNEL_LOG(KERNEL_ERROR, \"%d\", 1); }); TRACE_START(1); TRACE_STOP(1);"}

# Data types that only forms outside the table refuse.
REFUSED = {("GetReduceMaxMinCount", "int32_t"): "int32_t v, i; GetReduceMaxMinCount<int32_t>(v, i);",
           ("ReadGmByPassDCache", "bool"): "ReadGmByPassDCache((__gm__ bool *)nullptr);",
           ("WriteGmByPassDCache", "bool"): "WriteGmByPassDCache((__gm__ bool *)nullptr, true);",
           ("NumericLimits", "bfloat16_t"): "NumericLimits<bfloat16_t>::Max();",
           ("NumericLimits", "int32_t's infinity"): "NumericLimits<int32_t>::Infinity();",
           ("Compare", "int32_t into CMPMASK"): "LocalTensor<int32_t> i; Compare(i, i, CMPMODE::EQ, 8, {1, 1, 1, 8, 8, 8});"}

# Names of basic/unsupported.h: said to be lacking, unless the kernel has its own (Gelu in compile_lines).
UNSUPPORTED = {"Conv2D": "Conv2D(d, s, t, 1);", "AippParams": "AippParams<half> p; (void)p;", "LoadImageToLocalParams": "LoadImageToLocalParams p; (void)p;",
               "AippInputFormat": "auto f = AippInputFormat::RGB888_U8; (void)f;",
               "DataCopyPad": "DataCopyPad(d, s, DataCopyParams(), Nd2NzParams()); DataCopyPad(d, s, DataCopyExtParams(), Nd2NzParams());", "CheckLocalMemoryIA": "CheckLocalMemoryIA({0, 0u, 16u, false, false, false, true, false, false, true});", "mad": "mad((__cc__ float *)0, (__ca__ half *)0, (__cb__ half *)0, 1, 2, 3, 0, 0, 0, 1);",
               "Hccl": "Hccl<HCCL_SERVER_TYPE_AICPU> h;", "MmadWithSparse": "MmadWithSparse(d, s, t, {1, 2, 3, false});",
               "GroupBarrier": "GroupBarrier<PipeMode::MTE3_MODE> g((GM_ADDR)0, 1, 2);",
               "MakeLayout": "auto l = MakeLayout(MakeShape(1, 2), MakeStride(2, 1));",
               "TransDataConfig": "constexpr TransDataConfig c = {1, 2};",
               "LoadData2DParamsV2": "LoadData2DParamsV2 p(0, 0, 1, 1, 1, 1, false, 0); LoadData(d, s, p); LoadData(d, gm, p);",
               "LoadData2dTransposeParamsV2": "LoadDataWithTranspose(d, s, LoadData2dTransposeParamsV2());",
               "LocalTensor::Print": "d.Print();", "LocalTensor::ToFile": 'd.ToFile("d.bin");',
               "MATMUL_USE_MODULE": "struct module { MATMUL_USE_MODULE(Context); };",
               "set_nd_para": "set_nd_para(1);", "GetAbsAddr": "GetTPipePtr()->GetAbsAddr<TPosition::VECIN>(0, 32);",
               "GetOffsetC": "using M = matmul::MatmulType<TPosition::GM, CubeFormat::ND, T>; matmul::Matmul<M, M, M, M> mm; mm.GetOffsetC();",
               "HcclDataType": "auto e = HCCL_DATA_TYPE_FP16; (void)e;", "Mc2InitTiling": "Mc2InitTiling m; (void)m;",
               "CreateCubeResGroup": "CreateCubeResGroup(1);"}

def check(kind, cases, expect):
    """cases: (what, line). expect(what, messages) returns what is wrong, or None."""
    said, output = compile_lines([line for _, line in cases])
    wrong = [(what, problem) for (what, _), messages in zip(cases, said) if (problem := expect(what, messages))]
    for what, problem in wrong[:20]:
        print(f"{kind}: {what}: {problem}")
    if wrong and len(wrong) == len(cases):
        print(output[:2000])
    print(f"{kind}: {len(cases) - len(wrong)} of {len(cases)}")
    return not wrong

def main():
    if " error: " in (output := compile_lines([])[1]):
        print("the headers themselves do not compile:", output[:2000])
        return 1
    good, bad, checked = [], [], set()
    for op, name, family, types, silent in instructions():
        for form, statement in SPECIAL.get(name, FORMS[family]).items():
            accepting = [((name, form, t), line_of(name, t, statement)) for t in sorted(types) if (name, t) not in EXEMPT]
            good += accepting
            checked |= {op} if accepting else set()
        forms = SPECIAL.get(name, FORMS[family])
        others = [t for t in TYPES.values() if t not in types and (name, t) not in ELSEWHERE]
        if silent: # the machine refuses what CANN compiles to nothing (faults/gather_of_bytes)
            good += [((name, form, t), line_of(name, t, statement)) for form, statement in forms.items() for t in others
                     if (name, t) not in SILENT_EXEMPT]
            continue
        statement = forms[BITWISE.get(name, next(iter(forms)))]
        bad += [((name, t), line_of(name, t, statement)) for t in others]
    pairs = {(TYPES[d], TYPES[s]) for d, s in
             ((row["DST"], row["SRC"]) for row in tables.rows(HOME, "cast.def", "NPU_CAST"))}
    good = [case for case in good if case[0][0] != "Cast"]
    bad = [case for case in bad if case[0][0] != "Cast"]
    def cast(d, s):
        return f"{{ LocalTensor<{d}> d; LocalTensor<{s}> s; Cast(d, s, RoundMode::CAST_NONE, 64); Cast(d, s, " \
               f"RoundMode::CAST_RINT, 8, 1, {UNARY}); }}"
    good += [(("Cast", "both", d, s), cast(d, s)) for d, s in sorted(pairs)]
    bad += [(("Cast", d, s), cast(d, s)) for d in TYPES.values() for s in TYPES.values() if (d, s) not in pairs]

    good.append((("Gelu", "the kernel's own", "float"), line_of("Gelu", "float", "NAME(s);")))
    good += [((name, "plain", "float"), line_of(name, "float", statement)) for name, statement in PLAIN.items()]
    bad += [(what, line_of(what[0], "float", statement)) for what, statement in REFUSED.items()]
    lacking = [((name,), line_of(name, "float", statement)) for name, statement in UNSUPPORTED.items()]
    def named(what, messages):
        wanted = f"akgen-unsupported: {what[0]}"
        return None if any(wanted in message for message in messages) else f"'{wanted}' not in {messages}"
    def accepted(_, messages):
        return messages[0] if messages else None
    def rejected(what, messages):
        if not messages:
            return "was accepted"
        wanted = "no matching function for call to 'vcadd'" if what[0] == "vcadd" else f"{what[0]}: "
        return None if any(wanted in message for message in messages) else f"unexpected reason: {messages[0]}"
    ok = check("accepted", good, accepted)
    ok &= check("rejected", bad, rejected)
    ok &= check("unsupported", lacking, named)
    ok &= check("rows of isa.def", [("as many as instructions", f"static_assert(NPU_OPS - 1 == {len(checked)});")], accepted)
    return 0 if ok and len(good) > 300 and len(bad) > 300 else 1

if __name__ == "__main__":
    FORMS["cast"] = {"none": ";"}
    sys.exit(main())
