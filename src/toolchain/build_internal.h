/* Inside a build: what build.c, compiles.c, sources.c, host_part.c, host_gnu.c, kernel_text.c, combination.c and
 * variants.c share. */
#ifndef TOOLCHAIN_BUILD_INTERNAL_H
#define TOOLCHAIN_BUILD_INTERNAL_H

#include "toolchain/toolchain_internal.h"

struct builder {
    struct arena *arena;
    const struct op_project *project;
    const struct build_options *options;
    struct build *build;
    struct clang clang;
    const char *folder; /* of this build */
    const char *work;   /* in it, what compilers write to */
    struct diagnostic_list diagnostics;
    struct prepared_source prepared; /* the kernel's main file */
    struct diagnose_places places;
    struct op_files kernel;   /* the project behind the source pass */
    struct source_view view;  /* of the part that is compiled: the host part, then the kernel */
    struct mentions mentions; /* of every file that the kernel may include */
    const char *tiling_header;
};

/* One compile, possibly on a thread of its own (compiles.c). */
struct compile {
    struct arena arena;
    const char *config_path, *config; /* a file that it includes first; NULL: none */
    const char *defines;              /* those of its lines that tell the data types */
    struct clang_args args;
    struct clang_args next; /* what goes on with the first one's file, if that ended well; empty: nothing */
    struct sandbox_result result;
    /* The next of those that are the same but for `defines`; the first of them leads (compiles.c). */
    struct compile *also;
    bool led; /* not the first */
};
/* Side by side, as many as the options allow. */
void compiles_run(struct builder *builder, struct compile *compiles, int count);
/* True if the compiler ended well; otherwise the list says at least one thing about why not, or is broken. */
bool compile_take(struct builder *builder, const struct compile *compile, const char *source,
                  struct diagnostic_list *list);

/* Compiles again what clang refused and g++ takes (host_gnu.c). */
void host_gnu_compile(struct builder *builder, struct compile *compiles, int count);

/* The sources and what is made of them (sources.c). */
bool source_ends_with(const char *path, const char *end);
/* Names what is built by its content: build->source_hash. */
void sources_digest(struct builder *builder);
/* Begins a stage whose compilers see `compiled`, which its author wrote as `written`. */
void build_begin_stage(struct builder *builder, const char *name, const struct op_files *compiled,
                       const struct op_files *written);
/* The name under which an object is in the cache, by all that goes into it. */
const char *build_object_key(struct builder *builder, const char *part, const char *config);
/* cache_load, unless the options forbid it. */
bool build_look_up(struct builder *builder, const char *key, struct cache_entry *entry, struct diagnostic_list *list);
/* Adds to the build's diagnostics. */
void build_merge(struct builder *builder, const struct diagnostic_list *list);

/* host.so, and the OpDef by running its constructors in the jail (host_part.c). */
struct akgen_error *build_host(struct builder *builder);
void build_describe(struct builder *builder);

/* Runs the source pass over op_kernel and the headers (kernel_text.c). */
void build_prepare_kernel(struct builder *builder);
/* True if the kernel's sources mention one of the names (NULL-terminated). */
bool kernel_mentions_any(const struct builder *builder, const char *const *names);

/* The macros that tell a kernel its data types, as text (combination.c). */
const char *combination_config(struct builder *builder, int combination);

/* A kernel.so for each data type combination (variants.c). */
struct akgen_error *build_kernels(struct builder *builder);

#endif
