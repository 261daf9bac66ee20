// ge::AscendString: a string that crosses library borders in CANN; here a std::string.
#ifndef CANN_GRAPH_ASCEND_STRING_H
#define CANN_GRAPH_ASCEND_STRING_H

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace ge
{
class AscendString
{
  public:
    AscendString() = default;
    AscendString(const char *text) : text_(text ? text : "")
    {
    }
    AscendString(const char *text, size_t length) : text_(text, length)
    {
    }
    const char *GetString() const
    {
        return text_.c_str();
    }
    size_t GetLength() const
    {
        return text_.size();
    }
    bool operator==(const AscendString &other) const
    {
        return text_ == other.text_;
    }
    bool operator!=(const AscendString &other) const
    {
        return text_ != other.text_;
    }
    bool operator<(const AscendString &other) const
    {
        return text_ < other.text_;
    }

  private:
    std::string text_;
};
} // namespace ge
#endif
