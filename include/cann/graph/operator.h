// ge::Operator and its parts: what SetCheckSupport functions are written with. They are compiled and never called.
#ifndef CANN_GRAPH_OPERATOR_H
#define CANN_GRAPH_OPERATOR_H

#include "graph/ascend_string.h"
#include "graph/ge_error_codes.h"
#include "graph/types.h"

#include <vector>

namespace ge
{
constexpr int64_t UNKNOWN_DIM = -1;
constexpr int64_t UNKNOWN_DIM_NUM = -2;

class Shape
{
  public:
    Shape() = default;
    explicit Shape(const std::vector<int64_t> &dims) : dims_(dims)
    {
    }
    size_t GetDimNum() const
    {
        return dims_.size();
    }
    int64_t GetDim(size_t index) const
    {
        return index < dims_.size() ? dims_[index] : 0;
    }
    graphStatus SetDim(size_t index, int64_t value)
    {
        if (index >= dims_.size())
            return GRAPH_FAILED;
        dims_[index] = value;
        return GRAPH_SUCCESS;
    }
    std::vector<int64_t> GetDims() const
    {
        return dims_;
    }
    int64_t GetShapeSize() const
    {
        int64_t elements = 1;
        for (const int64_t dim : dims_)
            elements *= dim;
        return elements;
    }

  private:
    std::vector<int64_t> dims_;
};

class TensorDesc
{
  public:
    Shape GetShape() const
    {
        akgen_never_run("ge::TensorDesc::GetShape");
    }
    Shape GetOriginShape() const
    {
        akgen_never_run("ge::TensorDesc::GetOriginShape");
    }
    Format GetFormat() const
    {
        akgen_never_run("ge::TensorDesc::GetFormat");
    }
    Format GetOriginFormat() const
    {
        akgen_never_run("ge::TensorDesc::GetOriginFormat");
    }
    DataType GetDataType() const
    {
        akgen_never_run("ge::TensorDesc::GetDataType");
    }
};

class Tensor
{
  public:
    TensorDesc GetTensorDesc() const
    {
        akgen_never_run("ge::Tensor::GetTensorDesc");
    }
    const uint8_t *GetData() const
    {
        akgen_never_run("ge::Tensor::GetData");
    }
    size_t GetSize() const
    {
        akgen_never_run("ge::Tensor::GetSize");
    }
};

class Operator
{
  public:
    graphStatus GetName(AscendString &) const
    {
        akgen_never_run("ge::Operator::GetName");
    }
    graphStatus GetOpType(AscendString &) const
    {
        akgen_never_run("ge::Operator::GetOpType");
    }
    graphStatus GetInputConstData(const char *, Tensor &) const
    {
        akgen_never_run("ge::Operator::GetInputConstData");
    }
    TensorDesc GetInputDescByName(const char *) const
    {
        akgen_never_run("ge::Operator::GetInputDescByName");
    }
    TensorDesc GetOutputDescByName(const char *) const
    {
        akgen_never_run("ge::Operator::GetOutputDescByName");
    }
    TensorDesc GetInputDesc(uint32_t) const
    {
        akgen_never_run("ge::Operator::GetInputDesc");
    }
    TensorDesc GetOutputDesc(uint32_t) const
    {
        akgen_never_run("ge::Operator::GetOutputDesc");
    }
    template <typename T> graphStatus GetAttr(const char *, T &) const
    {
        akgen_never_run("ge::Operator::GetAttr");
    }
    size_t GetInputsSize() const
    {
        akgen_never_run("ge::Operator::GetInputsSize");
    }
    size_t GetOutputsSize() const
    {
        akgen_never_run("ge::Operator::GetOutputsSize");
    }
};
} // namespace ge
#endif
