// The calls of acl.h and acl_meta.h on the host: device memory is memory.
#include "objects.h"

#include <cstring>

extern "C" {
aclError aclInit(const char *) { return 0; }
aclError aclFinalize() { return 0; }
aclError aclrtSetDevice(int32_t) { return std::getenv("FAKE_NO_DEVICE") ? 507033 : 0; }
aclError aclrtResetDevice(int32_t) { return 0; }
aclError aclrtCreateStream(aclrtStream *stream) { return *stream = stream, 0; }
aclError aclrtDestroyStream(aclrtStream) { return 0; }
aclError aclrtSynchronizeStream(aclrtStream) { return 0; }
aclError aclrtMalloc(void **at, size_t size, aclrtMemMallocPolicy) { return (*at = std::malloc(size)) ? 0 : 1; }
aclError aclrtFree(void *at) { return std::free(at), 0; }
aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t count, aclrtMemcpyKind)
{
    return count > room ? 1 : (std::memcpy(to, from, count), 0);
}
const char *aclGetRecentErrMsg() { return "of the fake"; }

aclTensor *aclCreateTensor(const int64_t *dims, uint64_t rank, aclDataType type, const int64_t *strides, int64_t, aclFormat format,
                           const int64_t *, uint64_t, void *at)
{
    return new aclTensor{{dims, dims + rank}, {strides, strides + rank}, type, format, at};
}
aclScalar *aclCreateScalar(void *value, aclDataType type) { return new aclScalar{type, value}; }
aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size) { return new aclIntArray{{{value, value + size}}}; }
aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size) { return new aclFloatArray{{{value, value + size}}}; }
aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size) { return new aclBoolArray{{{value, value + size}}}; }
aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size) { return new aclTensorList{{value, value + size}}; }
aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size) { return new aclScalarList{{value, value + size}}; }
aclnnStatus aclDestroyTensor(const aclTensor *tensor) { return delete tensor, 0; }
aclnnStatus aclDestroyScalar(const aclScalar *scalar) { return delete scalar, 0; }
aclnnStatus aclDestroyIntArray(const aclIntArray *array) { return delete array, 0; }
aclnnStatus aclDestroyFloatArray(const aclFloatArray *array) { return delete array, 0; }
aclnnStatus aclDestroyBoolArray(const aclBoolArray *array) { return delete array, 0; }
aclnnStatus aclDestroyTensorList(const aclTensorList *list)
{
    for (const aclTensor *tensor : list->tensors)
        delete tensor;
    return delete list, 0;
}
aclnnStatus aclDestroyScalarList(const aclScalarList *list)
{
    for (const aclScalar *scalar : list->scalars)
        delete scalar;
    return delete list, 0;
}
}
