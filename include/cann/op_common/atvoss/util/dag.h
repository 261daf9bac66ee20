// ATVOSS: an elementwise kernel described as a graph of operations, types all of them, for chips whose vector unit works on
// registers (opbase, pkg_inc/op_common/atvoss/util). Operators for several chips tile for those in the same source: the graph's
// types are here as far as such a source names them; the tiling that would read them is never called on a simulated chip
// (elewise_tiling.h).
#ifndef CANN_OP_COMMON_ATVOSS_UTIL_DAG_H
#define CANN_OP_COMMON_ATVOSS_UTIL_DAG_H

#include <cstdint>

#define __aicore__
#define __global__
#define __gm__

namespace Ops
{
namespace Base
{
struct half {
    uint16_t value;
};
struct bfloat16_t {
    uint16_t value;
};
struct uint1_t {
};
template <class T> struct LocalTensor {
};
template <class T> struct GlobalTensor {
};

template <class... Types> struct Elems {
};
template <class Operation, class... Operands> struct Bind {
};
enum class MemLevel { LEVEL_0, LEVEL_1, LEVEL_2 };
template <MemLevel level = MemLevel::LEVEL_0> struct MemOptCfg {
};
template <class Outputs, class... Settings> struct DAGSch {
};
template <class T> struct AkgenConst {
};
#define MAKE_CONST(type, value) Ops::Base::AkgenConst<type>

namespace Placeholder
{
enum HolderScope { GM, VECTOR };
template <HolderScope scope = GM, int is_scalar = 0> struct InAttr {
};
template <int is_scalar = 0> struct ScalarAttr {
};
template <HolderScope scope = GM> struct ScopeAttr {
};
#define AKGEN_HOLDER(number)                                                                                           \
    template <class T, class Attr = InAttr<>> struct In##number {                                                      \
    };                                                                                                                 \
    template <class T, class Attr = void, class Parent = void> struct Out##number {                                    \
    };
AKGEN_HOLDER(0)
AKGEN_HOLDER(1)
AKGEN_HOLDER(2)
AKGEN_HOLDER(3)
AKGEN_HOLDER(4)
AKGEN_HOLDER(5)
AKGEN_HOLDER(6)
AKGEN_HOLDER(7)
AKGEN_HOLDER(8)
AKGEN_HOLDER(9)
AKGEN_HOLDER(10)
AKGEN_HOLDER(11)
#undef AKGEN_HOLDER
template <class T, int index = 0> struct Var {
};
} // namespace Placeholder

namespace Vec
{
// What an operator's own operation is derived from: the result, the operands, then numbers.
#define AKGEN_OPERATION(name, ...)                                                                                     \
    template <class R, __VA_ARGS__, int temporary = 0, int fixed = 0, bool advanced = false> struct name {             \
    }
AKGEN_OPERATION(ElemwiseUnaryOP, class A);
AKGEN_OPERATION(ElemwiseBinaryOP, class A, class B);
AKGEN_OPERATION(ElemwiseTernaryOP, class A, class B, class C);
AKGEN_OPERATION(ElemwiseQuaternaryOP, class A, class B, class C, class D);
AKGEN_OPERATION(ElemwiseQuinaryOP, class A, class B, class C, class D, class E);
AKGEN_OPERATION(Elemwise6OP, class A, class B, class C, class D, class E, class F);
AKGEN_OPERATION(Elemwise7OP, class A, class B, class C, class D, class E, class F, class G);
AKGEN_OPERATION(Elemwise8OP, class A, class B, class C, class D, class E, class F, class G, class H);
AKGEN_OPERATION(Elemwise9OP, class A, class B, class C, class D, class E, class F, class G, class H, class I);
AKGEN_OPERATION(Elemwise10OP, class A, class B, class C, class D, class E, class F, class G, class H, class I, class J);
AKGEN_OPERATION(Elemwise11OP, class A, class B, class C, class D, class E, class F, class G, class H, class I, class J,
                class K);
#undef AKGEN_OPERATION

#define AKGEN_OF_ONE_TYPE(name)                                                                                        \
    template <class T> struct name {                                                                                   \
    }
AKGEN_OF_ONE_TYPE(Abs);
AKGEN_OF_ONE_TYPE(Add);
AKGEN_OF_ONE_TYPE(Adds);
AKGEN_OF_ONE_TYPE(And);
AKGEN_OF_ONE_TYPE(Ands);
AKGEN_OF_ONE_TYPE(AtanPolyApprox);
AKGEN_OF_ONE_TYPE(Axpy);
AKGEN_OF_ONE_TYPE(Copy);
AKGEN_OF_ONE_TYPE(CopyIn);
AKGEN_OF_ONE_TYPE(CopyOut);
AKGEN_OF_ONE_TYPE(Cos);
AKGEN_OF_ONE_TYPE(Div);
AKGEN_OF_ONE_TYPE(DivHighPrecision);
AKGEN_OF_ONE_TYPE(Divs);
AKGEN_OF_ONE_TYPE(Duplicate);
AKGEN_OF_ONE_TYPE(Erf);
AKGEN_OF_ONE_TYPE(Erfc);
AKGEN_OF_ONE_TYPE(Exp);
AKGEN_OF_ONE_TYPE(Fmod);
AKGEN_OF_ONE_TYPE(FmodHighPrecision);
AKGEN_OF_ONE_TYPE(FusedMulAdd);
AKGEN_OF_ONE_TYPE(LeakyRelu);
AKGEN_OF_ONE_TYPE(Log);
AKGEN_OF_ONE_TYPE(Max);
AKGEN_OF_ONE_TYPE(Maxs);
AKGEN_OF_ONE_TYPE(Min);
AKGEN_OF_ONE_TYPE(Mins);
AKGEN_OF_ONE_TYPE(Mul);
AKGEN_OF_ONE_TYPE(Muls);
AKGEN_OF_ONE_TYPE(Not);
AKGEN_OF_ONE_TYPE(Or);
AKGEN_OF_ONE_TYPE(Ors);
AKGEN_OF_ONE_TYPE(Power);
AKGEN_OF_ONE_TYPE(Reciprocal);
AKGEN_OF_ONE_TYPE(ReduceOp);
AKGEN_OF_ONE_TYPE(Relu);
AKGEN_OF_ONE_TYPE(Sin);
AKGEN_OF_ONE_TYPE(Sqrt);
AKGEN_OF_ONE_TYPE(Sub);
AKGEN_OF_ONE_TYPE(Subs);
#undef AKGEN_OF_ONE_TYPE
template <class R, class T> struct Sqrt0ULP {
};
template <class T, int mode> struct Truncate {
};
template <class R, class T, int mode> struct Cast {
};
template <class R, class T, int mode> struct Compare {
};
template <class U, class T, int mode> struct Select {
};
template <class T, int group = 0> struct CopyInBrc {
};
template <class T, int group = 0, int rank = -1> struct Brc {
};
} // namespace Vec
} // namespace Base
} // namespace Ops
#endif
