/* A kernel whose entry is a template: ASCENDC_TPL_ARGS_DECL and ASCENDC_TPL_SEL as tables of constants, from which the
 * function that the toolchain adds behind such an entry (AKGEN_TPL_ENTRY) finds the instance of a launch's tiling key.
 * A key holds the arguments in the order of their declaration, the first in the lowest bits; ASCENDC_TPL_UINT is coded
 * by its place in the declaration, the others by their value (asc-devkit, docs/zh/api, Utils-API/Tiling模板编程). */
#ifndef ASCENDC_HOST_API_TILING_TEMPLATE_ARGUMENT_H
#define ASCENDC_HOST_API_TILING_TEMPLATE_ARGUMENT_H

#include "abi/template_codes.h"
#include "kernel_operator.h"

#include <initializer_list>
#include <utility>

/* How many inputs the operator has, and the data types of its tensors; the build knows them. */
#ifndef AKGEN_TPL_TENSORS
#define AKGEN_TPL_TENSORS 0
#endif

constexpr uint32_t ASCENDC_TPL_KERNEL_TYPE = 4;
constexpr uint32_t ASCENDC_TPL_DETERMINISTIC = 5;
constexpr uint32_t ASCENDC_TPL_SHARED_KERNEL_TYPE = 6;

template <int dataTypeId> struct TypeFromId {
    using type = void;
};
#define AKGEN_TYPE_FROM_ID(id, cpp)                                                                                    \
    template <> struct TypeFromId<id> {                                                                                \
        using type = cpp;                                                                                              \
    };
AKGEN_TYPE_FROM_ID(DT_FLOAT, float)
AKGEN_TYPE_FROM_ID(DT_FLOAT16, half)
AKGEN_TYPE_FROM_ID(DT_INT8, int8_t)
AKGEN_TYPE_FROM_ID(DT_INT32, int32_t)
AKGEN_TYPE_FROM_ID(DT_UINT8, uint8_t)
AKGEN_TYPE_FROM_ID(DT_INT16, int16_t)
AKGEN_TYPE_FROM_ID(DT_UINT16, uint16_t)
AKGEN_TYPE_FROM_ID(DT_INT64, int64_t)
AKGEN_TYPE_FROM_ID(DT_UINT32, uint32_t)
AKGEN_TYPE_FROM_ID(DT_UINT64, uint64_t)
AKGEN_TYPE_FROM_ID(DT_DOUBLE, double)
AKGEN_TYPE_FROM_ID(DT_BOOL, bool)
AKGEN_TYPE_FROM_ID(DT_BF16, bfloat16_t)
AKGEN_TYPE_FROM_ID(DT_INT4, AscendC::int4b_t)
#undef AKGEN_TYPE_FROM_ID

namespace akgen
{

enum { TPL_VALUES = 128, TPL_PARAMS = 64, TPL_EXTRAS = 4, TPL_STRUCT = 7, TPL_NONE = 8 };

constexpr bool tpl_equal(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* One parameter with its values; a UINT's values begin with how the rest is to be read. */
struct tpl_param {
    const char *name = "";
    uint32_t kind = TPL_NONE, bits = 0;
    uint64_t values[TPL_VALUES] = {};
    int listed = 0;

    constexpr tpl_param() = default;
    constexpr tpl_param(const char *name, uint32_t kind, uint32_t bits, std::initializer_list<uint64_t> list)
        : name(name), kind(kind), bits(bits)
    {
        for (uint64_t value : list)
            values[listed++] = value;
    }
    constexpr bool counts() const
    {
        return kind <= ASCENDC_TPL_BOOL || kind == ASCENDC_TPL_SHARED_KERNEL_TYPE;
    }
    constexpr uint64_t ranged() const
    {
        return values[0] == ASCENDC_TPL_UI_LIST ? 0 : values[1];
    }
    /* Where the values stand that are listed one by one. */
    constexpr int singles() const
    {
        return kind != ASCENDC_TPL_UINT ? 0 : values[0] == ASCENDC_TPL_UI_LIST ? 1 : 2 + 2 * int(ranged());
    }
    constexpr int count() const
    {
        int n = kind == ASCENDC_TPL_UINT && values[0] == ASCENDC_TPL_UI_RANGE ? 0 : listed - singles();
        for (int i = 0; kind == ASCENDC_TPL_UINT && i < int(ranged()); i++)
            n += int(values[3 + 2 * i] - values[2 + 2 * i]) + 1;
        return n;
    }
    constexpr uint64_t at(int place) const
    {
        for (int i = 0; kind == ASCENDC_TPL_UINT && i < int(ranged()); i++) {
            int n = int(values[3 + 2 * i] - values[2 + 2 * i]) + 1;
            if (place < n)
                return values[2 + 2 * i] + uint64_t(place);
            place -= n;
        }
        return values[singles() + place];
    }
    /* The place of a value; -1: it is none of them. */
    constexpr int find(uint64_t value) const
    {
        for (int i = 0; i < count(); i++)
            if (at(i) == value)
                return i;
        return -1;
    }
};

/* What a template's instance is made of. */
struct tpl_combination {
    uint64_t arguments[TPL_PARAMS] = {};
    uint64_t key = 0, type = NPU_TEMPLATE_KEY;
    bool chosen = true;
};

/* A value from ASCENDC_TPL_INPUT or ASCENDC_TPL_OUTPUT on: the argument is the type or format of that tensor. */
constexpr bool tpl_fits(const tpl_param &declared, uint64_t argument)
{
    constexpr uint64_t tensors[] = {AKGEN_TPL_TENSORS};
    for (int i = 0; i < declared.listed; i++) {
        uint64_t value = declared.values[i], of_format = declared.kind == ASCENDC_TPL_FORMAT;
        if (value < ASCENDC_TPL_INPUT_BIAS || declared.kind > ASCENDC_TPL_FORMAT)
            continue;
        uint64_t tensor = value >= ASCENDC_TPL_OUTPUT_BIAS ? value - ASCENDC_TPL_OUTPUT_BIAS + tensors[0]
                                                           : value - ASCENDC_TPL_INPUT_BIAS;
        return argument == (of_format ? uint64_t(C_FORMAT_ND) : tensors[1 + tensor]);
    }
    return true;
}

constexpr uint64_t tpl_kernel_type(uint64_t type)
{
    constexpr KernelMetaType types[] = {KERNEL_TYPE_AIV_ONLY,    KERNEL_TYPE_AIC_ONLY,    KERNEL_TYPE_MAX,
                                        KERNEL_TYPE_MAX,         KERNEL_TYPE_MIX_AIV_1_0, KERNEL_TYPE_MIX_AIC_1_0,
                                        KERNEL_TYPE_MIX_AIC_1_1, KERNEL_TYPE_MIX_AIC_1_2, KERNEL_TYPE_AICORE,
                                        KERNEL_TYPE_VECTORCORE,  KERNEL_TYPE_MIX_AICORE,  KERNEL_TYPE_MIX_VECTOR_CORE,
                                        KERNEL_TYPE_MAX};
    return types[type];
}

/* The declarations and selections of one kernel. */
template <class Tables> struct tpl {
    static constexpr int params = sizeof(Tables::declared) / sizeof(tpl_param);
    static constexpr int groups = sizeof(Tables::selected) / sizeof(Tables::selected[0]);

    static constexpr const tpl_param &chosen(int group, int param)
    {
        for (const tpl_param &row : Tables::selected[group])
            if (row.counts() && tpl_equal(row.name, Tables::declared[param].name))
                return row;
        return Tables::selected[group][params + TPL_EXTRAS - 1];
    }
    /* Every selection names every parameter with values that are declared. */
    static constexpr bool complete()
    {
        for (int group = 0; group < groups; group++)
            for (int param = 0; param < params; param++) {
                const tpl_param &row = chosen(group, param);
                if (row.kind != Tables::declared[param].kind)
                    return false;
                for (int i = 0; i < row.count(); i++)
                    if (Tables::declared[param].find(row.at(i)) < 0)
                        return false;
            }
        return true;
    }
    static constexpr int size(int group)
    {
        int n = 1;
        for (int param = 0; param < params; param++)
            n *= chosen(group, param).count();
        return n;
    }
    static constexpr int size()
    {
        int n = 0;
        for (int group = 0; group < groups; group++)
            n += size(group);
        return n;
    }
    static constexpr void extras(int group, tpl_combination &made)
    {
        for (const tpl_param &row : Tables::selected[group]) {
            if (row.kind == ASCENDC_TPL_KERNEL_TYPE)
                made.type = tpl_kernel_type(row.at(0));
            if (row.kind == ASCENDC_TPL_DETERMINISTIC && row.at(0))
                made.chosen = false;
        }
    }
    static constexpr tpl_combination at(int index)
    {
        tpl_combination made;
        int group = 0;
        for (; index >= size(group); group++)
            index -= size(group);
        extras(group, made);
        for (int param = 0, shift = 0; param < params; param++) {
            const tpl_param &declared = Tables::declared[param], &row = chosen(group, param);
            uint64_t value = row.at(index % row.count());
            index /= row.count();
            made.arguments[param] = value;
            made.key |= (declared.kind == ASCENDC_TPL_UINT ? uint64_t(declared.find(value)) : value) << shift;
            made.chosen = made.chosen && tpl_fits(declared, value);
            if (declared.kind == ASCENDC_TPL_SHARED_KERNEL_TYPE)
                made.type = tpl_kernel_type(value);
            shift += int(declared.bits);
        }
        return made;
    }
};

/* A place in the text: of several functions that take one, the last that stands before it is called. */
template <int number> struct tpl_place : tpl_place<number - 1> {
};
template <> struct tpl_place<-1> {
};

template <class... P, size_t... I>
AKGEN_DEVICE inline void tpl_call(void (*entry)(P...), GM_ADDR const *arguments, std::index_sequence<I...>)
{
    entry(P(arguments[I])...);
}
template <class... P> AKGEN_DEVICE inline void tpl_call(void (*entry)(P...), GM_ADDR const *arguments)
{
    tpl_call(entry, arguments, std::index_sequence_for<P...>());
}
template <size_t N> constexpr bool tpl_distinct(const uint64_t (&keys)[N])
{
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < i; k++)
            if (keys[i] == keys[k])
                return false;
    return true;
}

/* The records that name the keys to the launch, and the instance of the launch's key. */
template <class Tables, template <class, int> class Instance, int... I>
AKGEN_DEVICE inline void tpl_run(GM_ADDR const *arguments, std::integer_sequence<int, I...>)
{
    static_assert(tpl<Tables>::complete(), "ASCENDC_TPL_SEL: each ASCENDC_TPL_ARGS_SEL has to name every parameter of "
                                           "ASCENDC_TPL_ARGS_DECL with values that are declared");
    constexpr uint64_t keys[] = {Instance<Tables, I>::made.key...};
    static_assert(tpl_distinct(keys), "ASCENDC_TPL_SEL: a combination of arguments is selected twice");
    __attribute__((section(NPU_TASK_TYPES), used)) static const npu_task_type instances[] = {
        {Instance<Tables, I>::made.key, Instance<Tables, I>::made.chosen ? NPU_TEMPLATE_KEY : NPU_TEMPLATE_UNUSED}...};
    __attribute__((section(NPU_TASK_TYPES), used)) static const npu_task_type types[] = {
        {Instance<Tables, I>::made.key,
         Instance<Tables, I>::made.chosen ? Instance<Tables, I>::made.type : NPU_TEMPLATE_UNUSED}...};
    (void)((Instance<Tables, I>::made.chosen && npu_tiling_key() == Instance<Tables, I>::made.key &&
            (Instance<Tables, I>::run(arguments), true)) ||
           ...);
}
} // namespace akgen

constexpr bool akgen_tpl_names_structures(...)
{
    return false;
}

#define AKGEN_TPL_PARAM(x, kind, bits, ...) akgen::tpl_param(#x, kind, bits, {__VA_ARGS__})

#define ASCENDC_TPL_DTYPE_SEL(x, ...)              ASCENDC_TPL_DTYPE_DECL(x, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_SEL(x, ...)           ASCENDC_TPL_DTYPE_DECL(x, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_SEL(x, ...)             ASCENDC_TPL_FORMAT_DECL(x, __VA_ARGS__)
#define ASCENDC_TPL_UINT_SEL(x, ...)               AKGEN_TPL_PARAM(x, ASCENDC_TPL_UINT, 0, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_SEL(x, ...)               ASCENDC_TPL_BOOL_DECL(x, __VA_ARGS__)
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...)           AKGEN_TPL_PARAM(kernel_type, ASCENDC_TPL_KERNEL_TYPE, 0, __VA_ARGS__)
#define ASCENDC_TPL_DETERMINISTIC_SEL(...)         AKGEN_TPL_PARAM(deterministic, ASCENDC_TPL_DETERMINISTIC, 0, __VA_ARGS__)
#define ASCENDC_TPL_TILING_STRUCT_SEL(x, ...)      AKGEN_TPL_PARAM(x, akgen::TPL_STRUCT, 0, 0)
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(x, ...) ASCENDC_TPL_KERNEL_TYPE_DECL(x, __VA_ARGS__)

/* A header that holds these may be included more than once: each expansion declares tables of its own, numbered by
 * __COUNTER__, and what looks for tables finds the last before it. */
#define ASCENDC_TPL_ARGS_DECL(operator_type, ...) AKGEN_TPL_NUMBERED(AKGEN_TPL_DECLARE, __COUNTER__, __VA_ARGS__)
#define AKGEN_TPL_NUMBERED(macro, ...)            macro(__VA_ARGS__)
#define AKGEN_TPL_DECLARE(number, ...)                                                                                 \
    struct akgen_tpl_declared_##number {                                                                               \
        static constexpr akgen::tpl_param declared[] = {__VA_ARGS__};                                                  \
    };                                                                                                                 \
    __host__ __aicore__ akgen_tpl_declared_##number akgen_tpl_declared(akgen::tpl_place<number>)
#define ASCENDC_TPL_ARGS_SEL(...) {__VA_ARGS__}
#define ASCENDC_TPL_SEL(...)      AKGEN_TPL_NUMBERED(AKGEN_TPL_SELECT, __COUNTER__, __VA_ARGS__)
#define AKGEN_TPL_SELECT(number, ...)                                                                                  \
    struct akgen_tpl_tables_##number : decltype(akgen_tpl_declared(akgen::tpl_place<number>()))                        \
    {                                                                                                                  \
        static constexpr akgen::tpl_param                                                                              \
            selected[][sizeof(declared) / sizeof(akgen::tpl_param) + akgen::TPL_EXTRAS] = {__VA_ARGS__};               \
    };                                                                                                                 \
    __host__ __aicore__ akgen_tpl_tables_##number akgen_tpl_tables(akgen::tpl_place<number>);                          \
    constexpr bool akgen_tpl_names_structures(akgen::tpl_place<number>)                                                \
    {                                                                                                                  \
        for (const auto &group : akgen_tpl_tables_##number::selected)                                                  \
            for (const akgen::tpl_param &row : group)                                                                  \
                if (row.kind == akgen::TPL_STRUCT)                                                                     \
                    return true;                                                                                       \
        return false;                                                                                                  \
    }
/* The structure of a template's instance may differ from the default, which the plain form would declare. */
#undef GET_TILING_DATA
#define GET_TILING_DATA(name, address)                                                                                 \
    static_assert(!akgen_tpl_names_structures(akgen::tpl_place<__COUNTER__>()),                                        \
                  "akgen-unsupported: GET_TILING_DATA with ASCENDC_TPL_TILING_STRUCT_SEL");                            \
    akgen_tiling_default name;                                                                                         \
    akgen::tiling_copy(name, address)

/* What the toolchain puts behind the entry: `inner` is the template, `arguments` is AKGEN_TPL_TYPE(i) or
 * AKGEN_TPL_VALUE(i) for each of its parameters, parameters and passed are those of the kernel. */
#define AKGEN_TPL_TYPE(i)     typename ::TypeFromId<made.arguments[i]>::type
#define AKGEN_TPL_VALUE(i)    made.arguments[i]
#define AKGEN_TPL_UNPACK(...) __VA_ARGS__
#define AKGEN_TPL_ENTRY(inner, arguments, parameters, passed)                                                          \
    template <class Tables, int I> struct akgen_tpl_instance {                                                         \
        static constexpr akgen::tpl_combination made = akgen::tpl<Tables>::at(I);                                      \
        static __aicore__ inline void run(GM_ADDR const *list)                                                         \
        {                                                                                                              \
            akgen::tpl_call(&inner<AKGEN_TPL_UNPACK arguments>, list);                                                 \
        }                                                                                                              \
    };                                                                                                                 \
    extern "C" __global__ __aicore__ void inner parameters                                                             \
    {                                                                                                                  \
        GM_ADDR const list[] = {AKGEN_TPL_UNPACK passed};                                                              \
        using tables = decltype(akgen_tpl_tables(akgen::tpl_place<__COUNTER__>()));                                    \
        akgen::tpl_run<tables, akgen_tpl_instance>(list,                                                               \
                                                   std::make_integer_sequence<int, akgen::tpl<tables>::size()>());     \
    }

#endif
