/* From sources to loadable objects: prepare, compile, link, cache, and say what the compiler said.
 *
 * A build has two halves, because a kernel is compiled with the tiling structures that its host part registers:
 *   op_host/ *.cpp        -> host.so,   then op_describe() in the jail -> OpDef, tiling header
 *   op_kernel/<entry>.cpp -> kernel.so, once per dtype combination and distinct preprocessed text
 * toolchain_build() does both, of files in memory. Compilers run in the jail. Objects are cached by content. */
#ifndef TOOLCHAIN_TOOLCHAIN_H
#define TOOLCHAIN_TOOLCHAIN_H

#include "base/arena.h"
#include "base/error.h"
#include "base/words.h"
#include "op/op.h"
#include "jail/budget.h"

/* Classes of the AscendKernelGen paper. */
#define DIAGNOSTIC_CLASSES(X)                                                                                          \
    X(DIAG_API, "api")       /* API signature and overload */                                                          \
    X(DIAG_DTYPE, "dtype")   /* data type and conversion */                                                            \
    X(DIAG_SCOPE, "scope")   /* variable scope and lifetime */                                                         \
    X(DIAG_MEMORY, "memory") /* memory and object usage */                                                             \
    X(DIAG_SYNTAX, "syntax") /* syntax and structure */                                                                \
    X(DIAG_MACRO, "macro")   /* macro and preprocessing */
enum diagnostic_class { DIAGNOSTIC_CLASSES(WORD_VALUE) };
#define DIAGNOSTIC_SEVERITIES(X) X(false, "warning") X(true, "error") /* diagnostic.error */
extern const struct words diagnostic_classes, diagnostic_severities;
const char *diagnostic_class_name(enum diagnostic_class class);

struct diagnostic {
    enum diagnostic_class class;
    bool error;       /* else a warning */
    const char *file; /* relative to the project where it lies inside it */
    int line, column; /* 0 = unknown */
    const char *message;
    const char *text;        /* the source line, NULL if unknown */
    const char *unsupported; /* the API that CANN has and AKGen lacks, if that is the reason */
};

enum build_stage { BUILD_OK, BUILD_PARSE, BUILD_HOST, BUILD_DESCRIBE, BUILD_KERNEL, BUILD_BROKEN };

struct build_kernel { /* one dtype combination of the OpDef */
    int combination;
    const char *so;      /* absolute path; NULL when only checked */
    const char *cube_so; /* the same kernel for AICs; NULL when only checked or when the kernel starts none */
    int inferred_type;   /* enum npu_kernel_type of a kernel with cube instructions that names none; else 0 */
    double seconds;
    bool cached;
};
struct build {
    enum build_stage stage; /* BUILD_OK, or where it ended */
    const char *error;      /* one line for a stage that is not OK */
    bool cheated;           /* BUILD_DESCRIBE: the host part did what guard.h forbids; error says what */
    struct op_def def;
    const char *host_so;
    const char *entry; /* exported symbol of the kernel entry in every kernel.so */
    struct build_kernel *kernels;
    int kernel_count;
    struct diagnostic *diagnostics;
    int diagnostic_count;
    double host_seconds, describe_seconds, kernel_seconds;
    const char *source_hash; /* of every name and byte that a compiler can read, hexadecimal */
};

struct build_options {
    const char *cache_dir; /* NULL = $XDG_CACHE_HOME/akgen or ~/.cache/akgen */
    bool no_cache;         /* neither look up nor store objects (the precompiled headers are still used) */
    const bool *wanted;    /* per dtype combination: generate code; NULL = all. The others get a syntax check. */
    /* Called after the OpDef is known to fill `wanted`; may be NULL. wanted has def->combinations entries. */
    void (*select)(void *closure, const struct op_def *def, bool *wanted);
    void *closure;
    const char *soc; /* the chip that the OpDef must be for; NULL = none in particular */
    const struct op_files
        *host; /* scope kernel: the question's files, whose op_host/ is built in place of the project's */
    bool sanitize_kernel_tiling; /* scope kernel: 'GM_ADDR workspace' becomes 'GM_ADDR workspace, GM_ADDR tiling' */
    int jobs;                    /* parallel compiles, at least 1 */
    double seconds;              /* limit per compile; 0 = 30 */
    double describe_seconds;     /* limit of the OpDef's call; 0 = 30 */
    struct budget *budget;       /* of the candidate, which every process of the build uses; NULL = no limit in all */
    bool debug;                  /* kernels for a debugger: every variable where the source has it */
    bool plain_compiler;         /* compilers are processes of their own, none is kept (pool.c) */
};
/* Builds a project. Errors of the candidate are in build->stage and diagnostics; an akgen_error is ours. */
struct akgen_error *toolchain_build(struct arena *arena, const struct op_project *project,
                                    const struct build_options *options, struct build *build);
/* Line `number` of a file, cut if it is long; NULL if there is none. A relative path is one of `files` (NULL: there are none), an
 * absolute one leads to a header of AKGen's; no other file is opened. */
const char *toolchain_source_line(struct arena *arena, const struct op_files *files, const char *path, int number);
/* True if a header for host parts says that calling `function` ends the run as unsupported (akgen_never_run): what a host part claims
 * besides is its own invention. */
bool toolchain_never_runs(const char *function);
/* Makes the precompiled headers if they are missing or stale; done on demand by toolchain_build. */
struct akgen_error *toolchain_prepare(struct arena *arena, const char *cache_dir);
/* Ends the compilers that builds keep running for the next one (pool.c); done at exit. */
void toolchain_end_compilers(void);
/* The absolute path of the cache, made if it is missing; `given` as build_options.cache_dir. */
struct akgen_error *toolchain_cache(struct arena *arena, const char *given, const char **cache);
/* "clang version 19.1.7" or an error that says what to install. */
struct akgen_error *toolchain_version(struct arena *arena, const char **version);
/* Directory that holds include/, include/abi/isa.def and tasks/: $AKGEN_HOME, or found from the program's own path. */
const char *toolchain_home(void);

#endif
