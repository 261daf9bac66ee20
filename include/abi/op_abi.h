/* What the headers of include/cann forward to: the C interface between a candidate's host.so and the host runtime
 * (src/op) of the program that loads it. Everything behind a handle belongs to the runtime; no function throws.
 *
 * Names and meanings follow CANN's classes, so each declaration says only what those classes do not: what is stored,
 * and where the runtime differs. */
#ifndef AKGEN_OP_ABI_H
#define AKGEN_OP_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values that cross the border. */
enum { AKGEN_MAX_RANK = 25 }; /* gert::Shape::kMaxDimNum */
struct akgen_shape {
    size_t rank;
    int64_t dims[AKGEN_MAX_RANK];
};
struct akgen_storage_shape {
    struct akgen_shape origin, storage;
};
/* One tensor of a call. gert::StorageShape, gert::Tensor and gert::CompileTimeTensorDesc are views of this. */
struct akgen_tensor {
    struct akgen_storage_shape shape;
    int dtype; /* ge::DataType */
    int origin_format, storage_format;
    const void *values; /* NULL unless the input is value-depend or a Scalar */
    size_t bytes;       /* of the values; 0 with them */
};
/* gert::ContinuousVector: the elements follow the struct. */
struct akgen_vector {
    size_t capacity, size;
};
/* gert::ContinuousVectorVector. */
struct akgen_vector_list {
    size_t size;
    const struct akgen_vector *items[];
};

/* The OpDef. */
struct akgen_op_def;    /* ops::OpDef */
struct akgen_op_param;  /* ops::OpParamDef; the class has no members, its `this` is the handle */
struct akgen_op_attr;   /* ops::OpAttrDef, likewise */
struct akgen_op_config; /* ops::OpAICoreConfig */
struct akgen_tiling_context;
struct akgen_parse_context;
/* Codes are ge::graphStatus: 0 is success. */
typedef uint32_t akgen_tiling_function(struct akgen_tiling_context *context);
typedef uint32_t akgen_parse_function(struct akgen_parse_context *context);

/* OP_ADD: `create` constructs the candidate's class and hands over the definition that its constructor filled. */
int akgen_op_add(const char *type, struct akgen_op_def *(*create)(const char *name));
struct akgen_op_def *akgen_def_new(const char *type);
void akgen_def_free(struct akgen_op_def *def);
/* The parameters of a SoC's configuration once more; the caller frees them. */
struct akgen_op_def *akgen_def_copy(const struct akgen_op_def *config);
/* The parameter of that name, made on first use. Owned by the definition. */
struct akgen_op_param *akgen_def_input(struct akgen_op_def *def, const char *name);
struct akgen_op_param *akgen_def_output(struct akgen_op_def *def, const char *name);
struct akgen_op_attr *akgen_def_attr(struct akgen_op_def *def, const char *name);
/* config: the definition behind an OpAICoreConfig, or NULL; its parameters are copied. */
void akgen_def_add_config(struct akgen_op_def *def, const char *soc, const struct akgen_op_def *config);
void akgen_def_set_tiling(struct akgen_op_def *def, akgen_tiling_function *tiling);

enum akgen_param_flag {
    AKGEN_PARAM_SCALAR,
    AKGEN_PARAM_SCALAR_LIST,
    AKGEN_PARAM_VALUE_DEPEND,
    AKGEN_PARAM_SHAPE_DEPENDS
};
/* option: ops::Option, 1 optional, 2 required, 3 dynamic. */
void akgen_param_type(struct akgen_op_param *param, int option);
/* list: DataTypeList, which combines with every combination of the other parameters. */
void akgen_param_dtypes(struct akgen_op_param *param, const int *dtypes, size_t count, bool list);
void akgen_param_formats(struct akgen_op_param *param, const int *formats, size_t count, bool list);
void akgen_param_flag_set(struct akgen_op_param *param, enum akgen_param_flag flag);
/* ops::ScalarVar. type: ops::ScalarType; value: the bytes of an int64_t or uint64_t, of a float the first four. */
struct akgen_scalar {
    uint32_t type;
    uint64_t value;
};
/* InitValue. list: one for each data type of the parameter; else `values` is one for all of them. */
void akgen_param_init(struct akgen_op_param *param, const struct akgen_scalar *values, size_t count, bool list);
/* InitValue with a plain number, for which CANN documents 0 alone. */
void akgen_param_init_number(struct akgen_op_param *param, uint64_t value);
/* what: ops::FollowType, 0 everything, 1 the data type, 2 the format, 3 the shape. */
void akgen_param_follow(struct akgen_op_param *param, const char *name, int what);

void akgen_attr_option(struct akgen_op_attr *attr, int option);
/* The type of an attribute without a default. type: ops::AttrDataType. */
void akgen_attr_type(struct akgen_op_attr *attr, int type);
void akgen_attr_bool(struct akgen_op_attr *attr, bool value);
void akgen_attr_int(struct akgen_op_attr *attr, int64_t value);
void akgen_attr_float(struct akgen_op_attr *attr, float value);
void akgen_attr_string(struct akgen_op_attr *attr, const char *value);
/* The default of a list attribute: empty, then appended to. */
void akgen_attr_default_list(struct akgen_op_attr *attr, int type);
void akgen_attr_append_bool(struct akgen_op_attr *attr, bool value);
void akgen_attr_append_int(struct akgen_op_attr *attr, int64_t value);
void akgen_attr_append_float(struct akgen_op_attr *attr, float value);
void akgen_attr_append_ints(struct akgen_op_attr *attr, const int64_t *values, size_t count);
bool akgen_attr_is_required(const struct akgen_op_attr *attr);

/* IMPL_OP_OPTILING and its like. */
void akgen_impl_tiling(const char *type, akgen_tiling_function *tiling);
/* create/destroy: new and delete of the candidate's CompileInfo. */
void akgen_impl_tiling_parse(const char *type, akgen_parse_function *parse, void *(*create)(void),
                             void (*destroy)(void *));
/* Inputs that tiling reads, by index: as if they were declared ValueDepend. */
void akgen_impl_value_depend(const char *type, size_t index);

/* Tiling data. */
struct akgen_tiling_layout; /* the fields, private */
/* An object of a class made with BEGIN_TILING_DATA_DEF. */
struct akgen_tiling_data {
    unsigned char *bytes; /* what set_/get_ use; NULL in a nested object until its parent places it */
    size_t size;
    struct akgen_tiling_layout *layout;
    bool borrowed; /* bytes belong to the parent or to SetDataPtr's caller */
};
void akgen_tiling_data_init(struct akgen_tiling_data *tiling);
void akgen_tiling_data_destroy(struct akgen_tiling_data *tiling);
/* Adds a field, returns its offset: a multiple of the element size (8 for a structure). array: number of elements, 0
 * for none. nested: the member object, else NULL. Strings must be literals. */
size_t akgen_tiling_data_field(struct akgen_tiling_data *tiling, const char *type, const char *name, size_t element,
                               size_t array, struct akgen_tiling_data *nested);
/* Ends the layout (size rounded up to 8 bytes); allocates zeroed bytes unless `nested`. */
void akgen_tiling_data_finish(struct akgen_tiling_data *tiling, const char *class_name, bool nested);
const char *akgen_tiling_data_class(const struct akgen_tiling_data *tiling);
void akgen_tiling_data_place(struct akgen_tiling_data *tiling, void *bytes);
void akgen_tiling_data_save(const struct akgen_tiling_data *tiling, void *buffer, size_t capacity);
void akgen_tiling_data_set_array(struct akgen_tiling_data *tiling, size_t offset, const void *values, size_t bytes);
/* REGISTER_TILING_DATA_CLASS(key, Class). describe: constructs one object and passes it to akgen_tiling_describe. */
int akgen_tiling_register(const char *key, void (*describe)(void *sink));
void akgen_tiling_describe(void *sink, const struct akgen_tiling_data *tiling);

/* gert::TilingData: the raw buffer of a context. */
struct akgen_raw_tiling;
void *akgen_raw_data(struct akgen_raw_tiling *raw);
size_t akgen_raw_capacity(const struct akgen_raw_tiling *raw);
size_t akgen_raw_size(const struct akgen_raw_tiling *raw);
void akgen_raw_set_size(struct akgen_raw_tiling *raw, size_t bytes);
/* 0 on success. */
uint32_t akgen_raw_append(struct akgen_raw_tiling *raw, const void *bytes, size_t count);

/* The contexts. */
struct akgen_attrs;    /* gert::RuntimeAttrs */
struct akgen_platform; /* fe::PlatFormInfos */
/* By position among the tensors that are present; NULL past the end. */
const struct akgen_tensor *akgen_context_input(const struct akgen_tiling_context *context, size_t index);
const struct akgen_tensor *akgen_context_output(const struct akgen_tiling_context *context, size_t index);
/* By OpDef index and position within that parameter; NULL if absent. */
const struct akgen_tensor *akgen_context_ir_input(const struct akgen_tiling_context *context, size_t ir, size_t index);
const struct akgen_tensor *akgen_context_ir_output(const struct akgen_tiling_context *context, size_t ir, size_t index);
size_t akgen_context_input_count(const struct akgen_tiling_context *context);
size_t akgen_context_output_count(const struct akgen_tiling_context *context);
/* {first, count} of the tensors bound to an OpDef parameter; NULL for an index that is none. */
struct akgen_instance {
    size_t first, count;
};
const struct akgen_instance *akgen_context_input_instance(const struct akgen_tiling_context *context, size_t ir);
const struct akgen_instance *akgen_context_output_instance(const struct akgen_tiling_context *context, size_t ir);
size_t akgen_context_ir_input_count(const struct akgen_tiling_context *context);
size_t akgen_context_ir_output_count(const struct akgen_tiling_context *context);
const struct akgen_attrs *akgen_context_attrs(const struct akgen_tiling_context *context);
/* The stored value: int64_t, float, bool, the characters of a string, struct akgen_vector, struct akgen_vector_list. */
const void *akgen_attrs_get(const struct akgen_attrs *attrs, size_t index);
size_t akgen_attrs_count(const struct akgen_attrs *attrs);
const char *akgen_context_node_type(const struct akgen_tiling_context *context);
const char *akgen_context_node_name(const struct akgen_tiling_context *context);
int32_t akgen_context_deterministic(const struct akgen_tiling_context *context);
const void *akgen_context_compile_info(const struct akgen_tiling_context *context);
struct akgen_platform *akgen_context_platform(const struct akgen_tiling_context *context);
struct akgen_raw_tiling *akgen_context_raw_tiling(struct akgen_tiling_context *context);
/* Room for `count` sizes, NULL if that is too many. */
size_t *akgen_context_workspaces(struct akgen_tiling_context *context, size_t count);
size_t akgen_context_workspace_count(const struct akgen_tiling_context *context);
/* Plain numbers that a tiling function sets and may read back. */
enum akgen_context_number {
    AKGEN_TILING_KEY,
    AKGEN_BLOCK_DIM,
    AKGEN_SCHEDULE_MODE,
    AKGEN_NEED_ATOMIC,
    AKGEN_TILING_COND,
    AKGEN_LOCAL_MEMORY_SIZE,
    AKGEN_AICPU_BLOCK_DIM,
    AKGEN_CONTEXT_NUMBERS
};
void akgen_context_set(struct akgen_tiling_context *context, enum akgen_context_number which, uint64_t value);
uint64_t akgen_context_get(const struct akgen_tiling_context *context, enum akgen_context_number which);

void *akgen_parse_compile_info(struct akgen_parse_context *context);
const char *akgen_parse_compile_json(struct akgen_parse_context *context);
struct akgen_platform *akgen_parse_platform(struct akgen_parse_context *context);
const char *akgen_parse_node_type(struct akgen_parse_context *context);

/* The platform. */
/* The chip of the current call; before any call, the default SoC. */
struct akgen_platform *akgen_platform_current(void);
uint32_t akgen_platform_aic(const struct akgen_platform *platform);
uint32_t akgen_platform_aiv(const struct akgen_platform *platform);
/* memory: platform_ascendc::CoreMemType. Bytes of the memory itself, which is what fe::PlatFormInfos tells. */
uint64_t akgen_platform_memory(const struct akgen_platform *platform, int memory);
/* What platform_ascendc::PlatformAscendC tells: less of UB and L1, by what is kept for messages. */
uint64_t akgen_platform_tiling_memory(const struct akgen_platform *platform, int memory);
/* Bytes per cycle of one core for L2 and HBM, else 0. */
uint64_t akgen_platform_bandwidth(const struct akgen_platform *platform, int memory);
/* What the chip's platform_config file of CANN 8.1 says for a key of a section, as written there; NULL for what is not
 * known. Valid until the next call of this thread. */
const char *akgen_platform_resource(const struct akgen_platform *platform, const char *section, const char *key);
/* Bytes that the library keeps at the start of the workspace. */
uint32_t akgen_platform_library_workspace(void);
/* Bytes that a group of cores needs for its messages, or for its barrier. */
uint32_t akgen_platform_group_workspace(void);
/* Blocks to launch for `slices` parts of work on aic cube and aiv vector cores, either of which may be 0. */
uint32_t akgen_platform_blocks(uint32_t slices, uint32_t aic, uint32_t aiv);

/* Element types and shapes. */
/* Bytes of one element; -1 for a type without a size. */
int akgen_ge_dtype_size(int dtype);
/* "DT_FLOAT16"; "DT_UNDEFINED" for an unknown code. */
const char *akgen_ge_dtype_name(int dtype);
const char *akgen_ge_format_name(int format);
/* Product of the dimensions, 1 for a scalar, -1 if a dimension is negative or the product overflows. */
int64_t akgen_shape_elements(const struct akgen_shape *shape);

/* Where code would end up that this runtime compiles and never calls (shape inference, support checks). Does not
 * return: the run ends as `unsupported` with the name. */
void *akgen_never_run(const char *function) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
#endif
