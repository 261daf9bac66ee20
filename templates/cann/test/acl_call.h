// What main.cpp needs of CANN: tensors of files, on the device, as aclnn functions take them.
#pragma once
#include "acl/acl.h"
#include "aclnn/acl_meta.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using Bytes = std::vector<char>;
using Dims = std::vector<int64_t>;

inline void check(int status, const char *what)
{
    if (status != 0) {
        const char *why = aclGetRecentErrMsg();
        throw std::runtime_error(std::string(what) + " returned " + std::to_string(status) + (why ? std::string(": ") + why : ""));
    }
}

inline Bytes read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read " + path);
    return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// One device, one stream, for the whole program.
class Device {
public:
    Device()
    {
        const char *number = std::getenv("ASCEND_DEVICE");
        id_ = number ? std::atoi(number) : 0;
        check(aclInit(nullptr), "aclInit");
        check(aclrtSetDevice(id_), "aclrtSetDevice");
        check(aclrtCreateStream(&stream_), "aclrtCreateStream");
    }
    ~Device()
    {
        aclrtDestroyStream(stream_);
        aclrtResetDevice(id_);
        aclFinalize();
    }
    Device(const Device &) = delete;
    aclrtStream stream() const { return stream_; }

private:
    int32_t id_ = 0;
    aclrtStream stream_ = nullptr;
};

// Device memory; at least 32 bytes, so that an empty tensor has an address too.
class Memory {
public:
    explicit Memory(const Bytes &bytes) : size_(bytes.size())
    {
        check(aclrtMalloc(&at_, size_ + 32, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        if (size_)
            check(aclrtMemcpy(at_, size_, bytes.data(), size_, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    }
    ~Memory() { aclrtFree(at_); }
    Memory(const Memory &) = delete;
    void *at() const { return at_; }
    void save(const std::string &path) const
    {
        Bytes bytes(size_);
        if (size_)
            check(aclrtMemcpy(bytes.data(), size_, at_, size_, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        std::ofstream file(path, std::ios::binary);
        file.write(bytes.data(), static_cast<std::streamsize>(size_));
        if (!file.flush())
            throw std::runtime_error("cannot write " + path);
    }

private:
    void *at_ = nullptr;
    size_t size_;
};

class Tensor {
public:
    // An input, of a file.
    Tensor(const std::string &path, int type, int format, const Dims &dims) : Tensor(read_file(path), type, format, dims) {}
    // An output of so many bytes, each of this value.
    Tensor(size_t bytes, char value, int type, int format, const Dims &dims) : Tensor(Bytes(bytes, value), type, format, dims) {}
    // An output that is the memory of an input.
    Tensor(const Tensor &input, int type, int format, const Dims &dims) : memory_(input.memory_) { create(type, format, dims); }
    Tensor(Tensor &&other) noexcept : memory_(std::move(other.memory_)), tensor_(other.tensor_) { other.tensor_ = nullptr; }
    ~Tensor()
    {
        if (tensor_)
            aclDestroyTensor(tensor_);
    }
    operator aclTensor *() const { return tensor_; }
    // A list owns its tensors: aclDestroyTensorList destroys them.
    aclTensor *release()
    {
        aclTensor *tensor = tensor_;
        tensor_ = nullptr;
        return tensor;
    }
    void save(const std::string &prefix, size_t number = 0) const { memory_->save(prefix + "." + std::to_string(number) + ".bin"); }

private:
    Tensor(const Bytes &bytes, int type, int format, const Dims &dims) : memory_(std::make_shared<Memory>(bytes))
    {
        create(type, format, dims);
    }
    void create(int type, int format, const Dims &dims)
    {
        Dims strides(dims.size(), 1);
        for (size_t i = dims.size(); i-- > 1;)
            strides[i - 1] = strides[i] * dims[i];
        tensor_ = aclCreateTensor(dims.data(), dims.size(), static_cast<aclDataType>(type), strides.data(), 0,
                                  static_cast<aclFormat>(format), dims.data(), dims.size(), memory_->at());
        if (!tensor_)
            throw std::runtime_error("aclCreateTensor returned no tensor");
    }
    std::shared_ptr<Memory> memory_;
    aclTensor *tensor_ = nullptr;
};

class TensorList {
public:
    template <typename... Arguments> void add(Arguments &&...arguments) { tensors_.emplace_back(std::forward<Arguments>(arguments)...); }
    const Tensor &operator[](size_t i) const { return tensors_[i]; }
    ~TensorList()
    {
        if (list_)
            aclDestroyTensorList(list_);
    }
    operator aclTensorList *()
    {
        std::vector<aclTensor *> all;
        for (Tensor &tensor : tensors_)
            if (!list_)
                all.push_back(tensor.release());
        if (!list_)
            list_ = aclCreateTensorList(all.data(), all.size());
        return list_;
    }
    void save(const std::string &prefix) const
    {
        for (size_t i = 0; i < tensors_.size(); i++)
            tensors_[i].save(prefix, i);
    }

private:
    std::deque<Tensor> tensors_;
    aclTensorList *list_ = nullptr;
};

class Scalar {
public:
    Scalar(const std::string &path, int type) : bytes_(read_file(path))
    {
        scalar_ = aclCreateScalar(bytes_.data(), static_cast<aclDataType>(type));
    }
    ~Scalar() { aclDestroyScalar(scalar_); }
    Scalar(const Scalar &) = delete;
    operator aclScalar *() const { return scalar_; }

private:
    Bytes bytes_;
    aclScalar *scalar_;
};

class ScalarList {
public:
    ScalarList(const std::string &path, int type, size_t size) : bytes_(read_file(path))
    {
        std::vector<aclScalar *> all;
        for (size_t at = 0; at + size <= bytes_.size(); at += size)
            all.push_back(aclCreateScalar(bytes_.data() + at, static_cast<aclDataType>(type)));
        list_ = aclCreateScalarList(all.data(), all.size());
    }
    ~ScalarList() { aclDestroyScalarList(list_); }
    ScalarList(const ScalarList &) = delete;
    operator aclScalarList *() const { return list_; }

private:
    Bytes bytes_;
    aclScalarList *list_;
};

// Arrays on the host: attributes that are lists, and inputs of whose values the shape depends. bool in a vector is no array.
template <typename Value, typename Array, Array *(*create)(const Value *, uint64_t), auto destroy> class HostArray {
public:
    HostArray(const Value *values, size_t count) : array_(create(values, count)) {}
    explicit HostArray(const Bytes &bytes) : HostArray(reinterpret_cast<const Value *>(bytes.data()), bytes.size() / sizeof(Value)) {}
    ~HostArray() { destroy(array_); }
    HostArray(const HostArray &) = delete;
    operator Array *() const { return array_; }

private:
    Array *array_;
};
using IntArray = HostArray<int64_t, aclIntArray, aclCreateIntArray, aclDestroyIntArray>;
using FloatArray = HostArray<float, aclFloatArray, aclCreateFloatArray, aclDestroyFloatArray>;
using BoolArray = HostArray<bool, aclBoolArray, aclCreateBoolArray, aclDestroyBoolArray>;

// The second stage of a call, to its end.
template <typename Call> void execute(const Device &device, Call call, uint64_t bytes, aclOpExecutor *executor, const char *name)
{
    void *workspace = nullptr;
    if (bytes)
        check(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc of the workspace");
    int status = call(workspace, bytes, executor, device.stream());
    int end = status ? 0 : aclrtSynchronizeStream(device.stream());
    if (workspace)
        aclrtFree(workspace);
    check(status, name);
    check(end, "aclrtSynchronizeStream");
}
