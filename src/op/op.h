/* An operator project: its files, what its OpDef says, and what its tiling function decides.
 *
 * op_project_find() reads files in memory and runs nothing. op_describe() and op_tile() execute the candidate's host part
 * (a loaded host.so), so they are called inside the jail only; their results travel as messages (src/jail/wire.h). */
#ifndef OP_OP_H
#define OP_OP_H

#include "abi/dtype.h"
#include "base/arena.h"
#include "base/error.h"
#include "npu/npu.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The files. */
struct op_file {
    const char *path;  /* in the project, "op_kernel/add_custom.cpp"; that of a folder ends in a slash */
    const char *bytes; /* `length` of them, and a NUL behind; of a folder "" */
    size_t length;
};
struct op_files {
    const struct op_file *items; /* in the order of a walk: each folder before what is in it, by name */
    size_t count;
};
/* Files in any order as a project has them, with the folders that their paths name. Paths and bytes are not copied. Of
 * files of one path one stays. */
struct op_files op_files_of(struct arena *arena, const struct op_file *files, size_t count);
/* The file, or the folder ("op_host/"), of that path; NULL: not found. `files` may be NULL. */
const struct op_file *op_files_find(const struct op_files *files, const char *path);
bool op_file_is_folder(const struct op_file *file);
/* The digest of every name and byte: what a candidate is called by. */
const char *op_files_digest(struct arena *arena, const struct op_files *files);
/* Writes them below a folder, which is made. */
struct akgen_error *op_files_write(const char *dir, const struct op_files *files);

/* The project. Paths are those of its files. */
struct op_project {
    const struct op_files *files;
    const char *entry;         /* kernel file stem and entry point: "add_custom" */
    const char *kernel_source; /* op_kernel/<entry>.cpp, or the file that the OpDef names in its place */
    const char **host_sources; /* the .cpp files of op_host (those that include aclnn or opdev are left out) */
    int host_count;
    const char *options; /* compile options read from CMakeLists.txt that matter here, "" if none */
    enum npu_sync sync;  /* from --cce-auto-sync=on|off in CMakeLists.txt; default NPU_SYNC_AUTO */
    bool sync_stated;
};
/* "AddCustom" -> "add_custom", as msopgen and NPUKernelBench do (TopKV3 -> top_kv3). */
const char *op_snake_case(struct arena *arena, const char *op_type);
/* Reads the project that the files are; they stay the caller's. op_type may be NULL: then op_kernel must hold exactly one .cpp
 * with a __global__ function. need_host: an error if op_host has no source. Errors name the missing file or folder. */
struct akgen_error *op_project_find(struct arena *arena, const struct op_files *files, const char *op_type,
                                    bool need_host, struct op_project *project);

/* The OpDef. */
enum op_param_type { OP_REQUIRED, OP_OPTIONAL, OP_DYNAMIC };
/* A fill of memory: the element over and over, the last one cut off at the memory's end. */
struct op_fill {
    int bytes; /* of the element: 1, 2, 4 or 8 */
    uint64_t element;
};
struct op_param {
    const char *name;
    enum op_param_type param_type;
    enum akgen_dtype *types;  /* one per dtype combination */
    int *formats;             /* ge::Format codes, one per combination */
    int count;                /* combinations */
    bool scalar, scalar_list; /* Scalar(), ScalarList(): arrives as a GM tensor of 1 or N elements */
    bool value_depend;        /* tiling reads its values */
    bool shape_depends;       /* output: OutputShapeDependOnCompute */
    struct op_fill *fills;    /* output: InitValue, one per combination; NULL: none */
};
enum op_attr_type {
    OP_ATTR_BOOL,
    OP_ATTR_INT,
    OP_ATTR_FLOAT,
    OP_ATTR_STRING,
    OP_ATTR_LIST_BOOL,
    OP_ATTR_LIST_INT,
    OP_ATTR_LIST_FLOAT,
    OP_ATTR_LIST_LIST_INT
};
struct op_attr {
    const char *name;
    enum op_attr_type type;
    bool required;
    json_t *value; /* the default, or the value of a call: bool, integer, real, string, array */
};
struct op_tiling_field {
    const char *name, *type;        /* C type as written: "uint32_t", "float", or the name of a nested structure */
    uint32_t offset, bytes;         /* bytes: of the whole field */
    uint32_t array;                 /* number of elements; 0 = no array */
    struct op_tiling_field *fields; /* of a nested structure, offsets relative to it */
    int field_count;
};
struct op_tiling_struct {
    const char *key;  /* the name it was registered under: the op type, "LayerNormV4_100", or a nested struct's */
    const char *name; /* class name */
    uint32_t bytes;
    struct op_tiling_field *fields;
    int count;
};
struct op_def {
    const char *type; /* "AddCustom" */
    struct op_param *inputs, *outputs;
    int input_count, output_count;
    struct op_attr *attrs;
    int attr_count;
    int combinations; /* dtype combinations: length of the DataType lists */
    struct op_tiling_struct *tilings;
    int tiling_count;
    const char **socs; /* AddConfig names */
    int soc_count;
    bool has_tiling;
};
enum { OP_MAX_ITEMS = 1024 }; /* of each list: inputs, attributes, fields of a structure, ... */
/* Checks what a candidate registered, or sent as a definition: an error names what is no identifier, or what does not fit. */
struct akgen_error *op_def_check(const struct op_def *def);
/* The C++ text that a kernel is compiled with (`-include`): every registered structure and what it nests, innermost
 * first, with the host's layout, and
 *   #define AKGEN_TILING_DEFAULT_STRUCT Name          the class registered under the op type (absent if there is none)
 *   typedef Name akgen_tiling_default;                the same, as GET_TILING_DATA names it
 *   #define AKGEN_TILING_KEYED(AKGEN_ROW) AKGEN_ROW(100, Name) ...   the classes registered under `<OpType>_<key>`
 * The text guards itself against a second inclusion. */
const char *op_tiling_header(struct arena *arena, const struct op_def *def);

/* Running the host part (inside the jail). */
/* One tensor argument of a call; an absent optional has rank -1. Shapes are in elements. */
enum { OP_MAX_RANK = 25 };
struct op_tensor {
    enum akgen_dtype type;
    int format; /* ge::Format code; 2 = ND */
    int rank;
    int64_t dims[OP_MAX_RANK];
    const void *values; /* host copy for value-depend inputs and Scalar inputs; else NULL */
};
/* The tensors bound to one OpDef parameter: one, or any number for a dynamic one. */
struct op_argument {
    struct op_tensor *tensors;
    int count;
};
struct op_call {
    const struct npu_soc *soc;
    struct op_argument *inputs, *outputs; /* as many as the OpDef has */
    struct op_attr *attrs;                /* values in OpDef order; NULL value = default */
    int input_count, output_count, attr_count;
    int deterministic;
};
enum {
    /* kMaxTilingDataSize of the graph runtime: what a tiling function may write. */
    OP_TILING_CAPACITY = 16 * 1024,
    OP_MAX_BLOCKS = 65535
};
struct op_tiling {
    int block_dim; /* 1 to OP_MAX_BLOCKS */
    uint64_t key;
    uint64_t workspace; /* bytes: sum of GetWorkspaceSizes */
    void *bytes;        /* tiling data, from malloc */
    uint32_t size;      /* up to OP_TILING_CAPACITY */
    int schedule_mode;
    bool need_atomic; /* SetNeedAtomic(true): outputs with fills are filled before the launch */
};
/* Says which file the registrations that follow come from: its initialisers run next. NULL ends that. */
void op_registry_loading(const char *host_so);
/* Describes the one op that host.so has registered (or `op_type` if several), as it is for the chip; an error if it has no AddConfig for that (NULL: no chip, all configurations together). */
struct akgen_error *op_describe(struct arena *arena, const char *host_so, const char *op_type,
                                const struct npu_soc *soc, struct op_def *def);
/* Releases the attributes' JSON values; the rest is the arena's. */
void op_def_release(struct op_def *def);
/* `end` does not return; it is told the function when the host part calls one that is compiled here and never run.
 * Without it the process aborts. */
void op_on_never_run(void (*end)(void *context, const char *function), void *context);
/* Runs TilingParse (if registered) and the tiling function of the host part that op_describe described in this process. An
 * error is the candidate's: "the tiling function returned GRAPH_FAILED", a missing attribute, tiling data larger than
 * its buffer, ... */
struct akgen_error *op_tile(const struct op_def *def, const struct op_call *call, struct op_tiling *tiling);
/* The structure that a tiling key selects: the one registered for it, else the op's default, else NULL. */
const struct op_tiling_struct *op_tiling_select(const struct op_def *def, uint64_t key);
/* The tiling bytes by field, as JSON, decoded with the structure that the key selects. An operator that registered none
 * (plain structures through GetTilingData<T>) gives an empty object; a field beyond `size` is null. */
json_t *op_tiling_decode(const struct op_def *def, uint64_t key, const void *bytes, uint32_t size);

#endif
