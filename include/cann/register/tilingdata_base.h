// BEGIN_TILING_DATA_DEF and its relatives: structures whose bytes travel from tiling to the kernel.
//
// Layout as in CANN 8.1: a field lies at a multiple of its element's size, a structure at a multiple of 8, and the size
// of the whole is rounded up to 8 bytes. Objects keep their bytes in that layout from the start.
#ifndef CANN_REGISTER_TILINGDATA_BASE_H
#define CANN_REGISTER_TILINGDATA_BASE_H

#include "abi/op_abi.h"
#include "base/run_time_array.h"
#include "graph/ascend_string.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <securec.h>
#include <vector>

namespace optiling
{
class TilingDef
{
  public:
    TilingDef()
    {
        akgen_tiling_data_init(&akgen_);
    }
    TilingDef(const TilingDef &) = delete;
    TilingDef &operator=(const TilingDef &) = delete;
    ~TilingDef()
    {
        akgen_tiling_data_destroy(&akgen_);
    }
    void SaveToBuffer(void *buffer, size_t capacity)
    {
        akgen_tiling_data_save(&akgen_, buffer, capacity);
    }
    size_t GetDataSize() const
    {
        return akgen_.size;
    }
    const char *GetTilingClassName() const
    {
        return akgen_tiling_data_class(&akgen_);
    }
    void SetDataPtr(void *bytes)
    {
        akgen_tiling_data_place(&akgen_, bytes);
    }
    akgen_tiling_data *AkgenTilingData()
    {
        return &akgen_;
    }

  protected:
    akgen_tiling_data akgen_;
};
} // namespace optiling

#define BEGIN_TILING_DATA_DEF(class_name)                                                                              \
    class class_name : public TilingDef                                                                                \
    {                                                                                                                  \
      public:                                                                                                          \
        class_name()                                                                                                   \
        {                                                                                                              \
            akgen_tiling_data_finish(&akgen_, #class_name, false);                                                     \
        }                                                                                                              \
        explicit class_name(void *bytes)                                                                               \
        {                                                                                                              \
            akgen_tiling_data_finish(&akgen_, #class_name, true);                                                      \
            if (bytes)                                                                                                 \
                SetDataPtr(bytes);                                                                                     \
        }

#define TILING_DATA_FIELD_DEF(data_type, field_name)                                                                   \
  public:                                                                                                              \
    void set_##field_name(data_type field_name)                                                                        \
    {                                                                                                                  \
        std::memcpy(akgen_.bytes + field_name##_offset_, &field_name, sizeof(data_type));                              \
    }                                                                                                                  \
    data_type get_##field_name()                                                                                       \
    {                                                                                                                  \
        data_type akgen_value;                                                                                         \
        std::memcpy(&akgen_value, akgen_.bytes + field_name##_offset_, sizeof(data_type));                             \
        return akgen_value;                                                                                            \
    }                                                                                                                  \
                                                                                                                       \
  private:                                                                                                             \
    size_t field_name##_offset_ =                                                                                      \
        akgen_tiling_data_field(&akgen_, #data_type, #field_name, sizeof(data_type), 0, nullptr);

#define TILING_DATA_FIELD_DEF_ARR(arr_type, arr_size, field_name)                                                      \
  public:                                                                                                              \
    void set_##field_name(arr_type *field_name)                                                                        \
    {                                                                                                                  \
        akgen_tiling_data_set_array(&akgen_, field_name##_offset_, field_name, (arr_size) * sizeof(arr_type));         \
    }                                                                                                                  \
    arr_type *get_##field_name()                                                                                       \
    {                                                                                                                  \
        return reinterpret_cast<arr_type *>(akgen_.bytes + field_name##_offset_);                                      \
    }                                                                                                                  \
                                                                                                                       \
  private:                                                                                                             \
    size_t field_name##_offset_ =                                                                                      \
        akgen_tiling_data_field(&akgen_, #arr_type, #field_name, sizeof(arr_type), arr_size, nullptr);

#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, field_name)                                                          \
  public:                                                                                                              \
    struct_type field_name{nullptr};                                                                                   \
                                                                                                                       \
  private:                                                                                                             \
    size_t field_name##_offset_ =                                                                                      \
        akgen_tiling_data_field(&akgen_, #struct_type, #field_name, 8, 0, field_name.AkgenTilingData());

#define END_TILING_DATA_DEF                                                                                            \
    }                                                                                                                  \
    ;

#define REGISTER_TILING_DATA_CLASS(op_type, class_name)                                                                \
    [[maybe_unused]] static const int g_tilingdata_##op_type##class_name = akgen_tiling_register(                      \
        #op_type, [](void *sink) { akgen_tiling_describe(sink, class_name().AkgenTilingData()); });
#endif
