/* AscendC::Std: the parts of the C++ library that device code may use. */
#ifndef ASCENDC_STANDARD_H
#define ASCENDC_STANDARD_H

#include "basic/types.h"

namespace AscendC
{
namespace Std
{

using std::add_const;
using std::add_const_t;
using std::add_cv;
using std::add_cv_t;
using std::add_lvalue_reference;
using std::add_lvalue_reference_t;
using std::add_pointer;
using std::add_pointer_t;
using std::add_rvalue_reference;
using std::add_rvalue_reference_t;
using std::add_volatile;
using std::add_volatile_t;
using std::bool_constant;
using std::conditional;
using std::conditional_t;
using std::decay;
using std::decay_t;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::index_sequence;
using std::integer_sequence;
using std::integral_constant;
using std::is_array;
using std::is_array_v;
using std::is_base_of;
using std::is_base_of_v;
using std::is_const;
using std::is_const_v;
using std::is_constructible;
using std::is_constructible_v;
using std::is_convertible;
using std::is_convertible_v;
using std::is_floating_point;
using std::is_floating_point_v;
using std::is_integral;
using std::is_integral_v;
using std::is_pointer;
using std::is_pointer_v;
using std::is_reference;
using std::is_reference_v;
using std::is_same;
using std::is_same_v;
using std::is_void;
using std::is_void_v;
using std::make_index_sequence;
using std::make_integer_sequence;
using std::remove_const;
using std::remove_const_t;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::remove_volatile;
using std::remove_volatile_t;
using std::true_type;
using std::tuple_element;
using std::tuple_size;
using std::tuple_size_v;

template <class T, class U> AKGEN_API constexpr auto min(const T &a, const U &b)
{
    return a < b ? a : b;
}
template <class T, class U> AKGEN_API constexpr auto max(const T &a, const U &b)
{
    return a > b ? a : b;
}
template <class T> AKGEN_API constexpr remove_reference_t<T> &&move(T &&value)
{
    return static_cast<remove_reference_t<T> &&>(value);
}
template <class T> AKGEN_API constexpr T &&forward(remove_reference_t<T> &value)
{
    return static_cast<T &&>(value);
}

/* A tuple of the device: one base per element. */
template <size_t index, class T> struct tuple_leaf {
    AKGEN_API constexpr tuple_leaf() : value()
    {
    }
    AKGEN_API constexpr tuple_leaf(const T &v) : value(v)
    {
    }
    T value;
};
template <class Indices, class... Types> struct tuple_leaves;
template <size_t... indices, class... Types>
struct tuple_leaves<index_sequence<indices...>, Types...> : tuple_leaf<indices, Types>... {
    AKGEN_API constexpr tuple_leaves()
    {
    }
    AKGEN_API constexpr tuple_leaves(const Types &...values) : tuple_leaf<indices, Types>(values)...
    {
    }
};
template <> struct tuple_leaves<index_sequence<>> {
};
template <class... Types> struct tuple : tuple_leaves<std::index_sequence_for<Types...>, Types...> {
    using tuple_leaves<std::index_sequence_for<Types...>, Types...>::tuple_leaves;
    static constexpr size_t size = sizeof...(Types);
};
template <class... Types> tuple(Types...) -> tuple<Types...>;
template <size_t index, class T> AKGEN_API constexpr T &get(tuple_leaf<index, T> &leaf)
{
    return leaf.value;
}
template <size_t index, class T> AKGEN_API constexpr const T &get(const tuple_leaf<index, T> &leaf)
{
    return leaf.value;
}
template <class... Types> AKGEN_API constexpr tuple<decay_t<Types>...> make_tuple(const Types &...values)
{
    return tuple<decay_t<Types>...>(values...);
}

} // namespace Std

template <bool condition, class T, class F> using Conditional = Std::conditional<condition, T, F>;
} // namespace AscendC

namespace std
{
template <class... Types>
struct tuple_size<AscendC::Std::tuple<Types...>> : integral_constant<size_t, sizeof...(Types)> {
};
template <size_t index, class... Types> struct tuple_element<index, AscendC::Std::tuple<Types...>> {
    using type = tuple_element_t<index, tuple<Types...>>;
};
} // namespace std

#endif
