/* The host runtime's own structures: what a loaded host.so has registered, the OpDef while it is being recorded, and
 * the context of one tiling call. */
#ifndef OP_OP_INTERNAL_H
#define OP_OP_INTERNAL_H

#include "abi/op_abi.h"
#include "op/op.h"

/* Registrations (registry.c) Static constructors of host.so reach us without any context, so the registrations of a
 * process are a global list; each remembers the file it came from. Entries are never removed: a loaded host part stays
 * loaded. */
struct op_registration {
    struct op_registration *next;
    const char *host_so; /* the file being loaded when it arrived, "" while none is */
    const char *type;
    struct akgen_op_def *(*create)(const char *name); /* OP_ADD */
    akgen_tiling_function *def_tiling;                /* AICore().SetTiling */
    akgen_tiling_function *impl_tiling;               /* IMPL_OP_OPTILING */
    akgen_parse_function *parse;
    void *(*compile_info_create)(void);
    void (*compile_info_destroy)(void *);
    uint64_t value_depend; /* bit per input */
};
struct op_tiling_registration {
    struct op_tiling_registration *next;
    const char *host_so, *key;
    void (*describe)(void *sink);
};
/* The newest registrations of every type first. */
struct op_registration *op_registry_ops(void);
struct op_tiling_registration *op_registry_tilings(void);
/* The newest registration of that type from host_so (any file if NULL); NULL if there is none. */
struct op_registration *op_registry_find(const char *host_so, const char *type);

/* An OpDef being recorded (def_record.c). */
struct akgen_op_param {
    struct akgen_op_param *next;
    struct akgen_op_def *def;
    const char *name;
    enum op_param_type param_type;
    int *dtypes, *formats;
    size_t dtype_count, format_count;
    bool dtype_list, format_list;
    bool flags[4];             /* by enum akgen_param_flag */
    struct akgen_scalar *init; /* InitValue's; NULL: it was not called */
    size_t init_count;
    bool init_list;
    uint64_t init_number; /* what is not 0 is an error of op_def_combine */
    const char *follow;
    int follow_what;
};
struct akgen_op_attr {
    struct akgen_op_attr *next;
    struct akgen_op_def *def;
    const char *name;
    enum op_attr_type type;
    bool required;
    json_t *value; /* owned */
};
struct akgen_op_soc { /* one AddConfig */
    struct akgen_op_soc *next;
    const char *name;
    struct akgen_op_def *config; /* what differs there, a copy; NULL: nothing */
};
struct akgen_op_def {
    struct arena arena;
    const char *type;
    struct akgen_op_param *inputs, *outputs;
    struct akgen_op_attr *attrs;
    struct akgen_op_soc *socs;
    akgen_tiling_function *tiling;
};
/* Replaces inputs and outputs by those of the AddConfig for `family`, and of every one if it is NULL. False: there is
 * none. */
bool op_def_configure(struct akgen_op_def *record, const char *family);
/* Turns the recording into combinations and parameters; copies what it keeps into the arena. */
struct akgen_error *op_def_combine(struct arena *arena, const struct akgen_op_def *record, struct op_def *def);

/* Tiling data (tiling_data.c). */
/* Where akgen_tiling_describe puts a class. */
struct op_tiling_sink {
    struct arena *arena;
    struct op_tiling_struct *tiling;
};

/* One tiling call (context.c, tiling.c). */
enum { OP_MAX_WORKSPACES = 16 };
struct akgen_raw_tiling {
    unsigned char *bytes;
    size_t capacity, size;
};
struct akgen_attrs {
    const void **values;
    size_t count;
};
struct op_bound { /* the tensors of all inputs, or of all outputs */
    struct akgen_tensor *tensors;
    size_t count;
    struct akgen_instance *instances; /* by OpDef index */
    size_t parameters;
};
struct akgen_tiling_context {
    struct arena arena;
    const char *type;
    struct op_bound inputs, outputs;
    struct akgen_attrs attrs;
    const struct npu_soc *soc;
    const void *compile_info;
    int deterministic;
    struct akgen_raw_tiling raw;
    size_t workspaces[OP_MAX_WORKSPACES];
    size_t workspace_count;
    uint64_t numbers[AKGEN_CONTEXT_NUMBERS];
    bool block_dim_set;
    struct akgen_error *problem; /* the first misuse that CANN would refuse or log */
};
struct akgen_parse_context {
    const char *type;
    void *compile_info;
    const struct npu_soc *soc;
};
/* Binds the call's tensors and attributes to the OpDef's parameters. registration: value_depend of inputs. */
struct akgen_error *op_context_bind(struct akgen_tiling_context *context, const struct op_def *def,
                                    const struct op_call *call);
/* The context whose tiling function is running, for akgen_tiling_data_save, which gets none. NULL outside a call. */
extern struct akgen_tiling_context *op_current_context;

/* JSON attribute values. */
/* "int", "list_float", ... */
const char *op_attr_type_name(enum op_attr_type type);
/* NULL if the value fits the type (NULL and JSON null fit every type), else what is wrong, in words. */
const char *op_attr_mismatch(enum op_attr_type type, const json_t *value);

#endif
