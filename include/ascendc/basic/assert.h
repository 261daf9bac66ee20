/* ASSERT of the device. No include guard: this file is in the precompiled header, and the kernel's own #include of
 * kernel_operator.h reads it again with the ASCENDC_DUMP that the kernel or its CMakeLists defines. As in CANN 8.1
 * there is nothing at all without ASCENDC_DUMP=1: published kernels have an ASSERT where a statement cannot stand, or
 * with names that are not declared. */
#undef ASSERT
#undef assert
#undef ascendc_assert
#if defined(ASCENDC_DUMP) && ASCENDC_DUMP == 1
#define ASSERT(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            akgen::assert_failed(#condition, __FILE__, __LINE__, ##__VA_ARGS__);                                       \
    } while (0)
#else
#define ASSERT(...)
#endif
/* Not subject to ASCENDC_DUMP, and with a format. */
#undef ASSERT_MSG
#define ASSERT_MSG(condition, ...)                                                                                     \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            akgen::assert_failed(#condition, __FILE__, __LINE__, __VA_ARGS__);                                         \
    } while (0)
#define assert(...)         ASSERT(__VA_ARGS__)
#define ascendc_assert(...) ASSERT(__VA_ARGS__)
