/* Inside the toolchain: the compiler as found on this machine, the source pass, diagnostics, the cache. */
#ifndef TOOLCHAIN_TOOLCHAIN_INTERNAL_H
#define TOOLCHAIN_TOOLCHAIN_INTERNAL_H

#include "jail/budget.h"
#include "jail/sandbox.h"
#include "toolchain/toolchain.h"

#include <pthread.h>

enum { SOURCE_LIMIT = 16 << 20 }; /* bytes of one source file */

/* The files of a project as the compilers of one stage of a build see them (source_view.c). */
struct source_view {
    const char *root;      /* the folder at which they see its files; it need not exist */
    struct op_file *items; /* those files and folders, as they are compiled */
    size_t count;
    int bytes;    /* all of them for a server, as a file in memory; -1: none has asked */
    bool written; /* they are at `root` */
    pthread_mutex_t lock;
};
void source_view_open(struct arena *arena, struct source_view *view, const char *root, const struct op_files *files);
void source_view_close(struct source_view *view);
/* Puts a text in the place of the file of that path, for the compiles that begin behind this. */
void source_view_change(struct source_view *view, const char *path, const char *text);
const char *source_view_path(struct arena *arena, const struct source_view *view, const char *path);
/* The descriptor of the file in memory, which stays the view's; -1: there can be none. */
int source_view_bytes(struct source_view *view);
/* Writes the files to `root`, once. */
struct akgen_error *source_view_write(struct source_view *view);

/* The compiler (clang.c). */
struct clang {
    const char *compiler, *linker; /* absolute paths */
    const char *confine;           /* the program that makes objects of kernels' bitcode */
    const char *version;
    const char *home;      /* toolchain_home() */
    const char *headers;   /* digest of everything under home/include */
    const char *cache;     /* absolute; exists */
    const char *paths;     /* the folder of paths_make(), or NULL while the compiler is only asked for its version */
    double seconds;        /* limit per compile */
    struct budget *budget; /* the candidate's, or NULL while something of our own is made */
    bool debug;            /* kernels are compiled for a debugger */
    bool plain;            /* every compile is a process of the compiler's own: no pool */
};
struct akgen_error *clang_find(struct arena *arena, const char *cache_dir, struct clang *clang);

/* CLANG_CUBE: a kernel once more, for the AIC of its blocks. */
enum clang_side { CLANG_HOST, CLANG_KERNEL, CLANG_CUBE };
/* A check of the same source, in which macros of the file of `clang_args.config` have other values. */
struct clang_other {
    /* The file's lines "#define NAME VALUE", one identifier each, with the same names in the same order. */
    const char *config;
    bool answered; /* what follows tells how the compiler ended; else it has to be run */
    bool timed_out;
    int exit_code;
    const char *output;
};
/* A growing, NULL-terminated list of arguments. */
struct clang_args {
    const char **items;
    int count, capacity;
    /* The precompiled header, of `side`, that the compile begins with, or the link belongs to: its server may serve it. NULL:
     * none may. */
    const char *header;
    enum clang_side side;
    /* Checks of the same source that a server of the pool may do with it, `jobs` side by side. */
    struct clang_other *others;
    int other_count, jobs;
};
void clang_add(struct arena *arena, struct clang_args *args, const char *argument);
/* The flags of a side that a precompiled header and the objects that use it must share. */
void clang_common_flags(struct arena *arena, const struct clang *clang, enum clang_side side, struct clang_args *args);
/* Path of the side's precompiled header, made first if it is missing. */
struct akgen_error *clang_precompiled(struct arena *arena, const struct clang *clang, enum clang_side side,
                                      const char **path);
/* Runs the compiler or the linker in the jail, in the pool or as a process of its own: it reads the system, the headers, the
 * cache and the files of `view` (NULL: none), writes `work`. One that does not end as a compiler does (it is killed, it crashes) runs once more, with no other process of
 * ours beside it. */
void clang_run(struct arena *arena, const struct clang *clang, const struct clang_args *args, struct source_view *view,
               const char *work, struct sandbox_result *result);
/* What every compile reads of the system. */
enum { CLANG_SYSTEM = 6 };
extern const char *const clang_system[CLANG_SYSTEM];
/* Why the run says nothing about the sources (somebody killed it, the disk is full); NULL: it does. */
const char *clang_broken(struct arena *arena, const struct sandbox_result *result, const char *work);

/* A folder of our own for as long as its maker needs it (work.c). */
struct work_directory {
    const char *path; /* absolute; NULL: none */
    int lock;
};
/* A fresh one below `cache`, mode 0700. */
struct akgen_error *work_make(struct arena *arena, const char *cache, struct work_directory *work);
/* Nothing if there is none. */
void work_remove(struct work_directory *work);

/* The pool (pool.c). */
/* Has the server of a precompiled header, which was started with the arguments `load`, compile or link; `sources` are
 * source_view_bytes() or -1. False: it did not; result is to be had by running the compiler. */
bool pool_run(struct arena *arena, const struct clang *clang, const struct clang_args *load,
              const struct clang_args *args, int sources, const struct sandbox_limits *limits, size_t output_limit,
              struct sandbox_result *result);

/* Other paths of the headers (paths.c). */
/* One line of include/<side>/paths.txt: CANN's path, and the header under include/<side> that it leads to. */
struct cann_path {
    const char *path, *header;
};
struct path_list {
    struct cann_path *items;
    size_t count, capacity;
};
/* The paths that `file` lists. Errors: unreadable, or a path above the first header. */
struct akgen_error *paths_read(struct arena *arena, const char *file, struct path_list *list);
/* Fills clang->paths: a folder in the cache with ascendc/<path> and cann/<path> for each path that is listed, a file of
 * one line that includes the header. Files that are there already stay. */
struct akgen_error *paths_make(struct arena *arena, struct clang *clang);
/* Likewise; what this process has made is looked at no more while the folder is the same. */
struct akgen_error *paths_find(struct arena *arena, struct clang *clang);

/* The source pass (prepare.c). */
/* A place where the text that is compiled is longer than the author's: columns behind it move back by `longer`. */
struct source_shift {
    int line, column, longer;
};
/* The cores that the entry's qualifiers __vector__, __cube__ and __mix__(cube, vector) name: asc-devkit docs, guide,
 * SIMD-BuiltIn关键字. */
enum entry_cores {
    ENTRY_UNNAMED,
    ENTRY_VECTOR,
    ENTRY_CUBE,
    ENTRY_MIX_0_1,
    ENTRY_MIX_1_0,
    ENTRY_MIX_1_1,
    ENTRY_MIX_1_2
};
struct prepared_source {
    char *text; /* what is compiled; the same lines as the author's file */
    bool changed;
    bool has_entry;   /* `void <entry>(...)` was found and renamed */
    bool is_template; /* the entry is a template; text ends with the function that chooses its instance */
    enum entry_cores cores;
    const char *found; /* "a, b": __global__ functions, for the message when the entry is missing */
    struct source_shift shifts[8];
    int shift_count;
};
/* Replaces `[aicore]` by PREPARE_AICORE and `[host, aicore]` and the `__aicore__` of constexpr functions by
 * PREPARE_HOST_AICORE, `__gm__` of a variable at namespace scope by PREPARE_GM_VARIABLE, `[[block_local]]` by
 * __BLOCK_LOCAL__, `*(float *)(&BITS)` in a constant at namespace scope by PREPARE_PUN, blanks `name<<<...>>>(...);`,
 * renames the entry point (NULL: there is none in this file) and, if asked, gives it the tiling parameter. Behind an
 * entry that is a template, AKGEN_TPL_ENTRY is put at the end (template_argument.h). */
void prepare_source(struct arena *arena, const char *text, const char *entry, bool add_tiling,
                    struct prepared_source *prepared);
/* The text with the initializer of an array made a call of akgen_array (include/cann/base/run_time_array.h), on as many lines:
 * `const int a[n] = {1};` becomes `int a[n], *akgen_array_a = akgen_array(&a[0], sizeof a / sizeof *a, {1});`. The place, from
 * 1 on, is in the brackets of its size. NULL if no such array is there. */
char *prepare_array(struct arena *arena, const char *text, int line, int column);
/* Macros that the compile defines by PREPARE_MACROS; no longer than the text they replace. */
#define PREPARE_AICORE      "_AICORE_"
#define PREPARE_HOST_AICORE "_HAICORE_"
#define PREPARE_GM_VARIABLE "_GMVAR"
#define PREPARE_PUN         "_B"
#define PREPARE_MACROS                                                                                                 \
    "#define " PREPARE_AICORE " __aicore__\n"                                                                          \
    "#define " PREPARE_HOST_AICORE " __attribute__((host)) __aicore__\n"                                               \
    "#define " PREPARE_PUN "(type, value) __builtin_bit_cast(type, value)\n"                                           \
    "#define " PREPARE_GM_VARIABLE " __gm__ __aicore__ __attribute__((section(\"akgen_gm\"), aligned(64)))\n"
/* "akgen_kernel_<entry>": a name that no library has. */
#define PREPARE_PREFIX "akgen_kernel_"

/* The names that texts use (mentions.c); zero before the first text. */
struct mentions {
    uint64_t *places; /* in the arena */
    size_t count, capacity;
    bool pastes; /* ## makes names of parts */
};
/* Adds the names of a text. Comments and strings are skipped. */
void mentions_add(struct arena *arena, struct mentions *mentions, const char *text);
/* True if a text uses an identifier, or may make it by pasting a prefix of it with ##. */
bool mentions_has(const struct mentions *mentions, const char *identifier);

/* Diagnostics (diagnose.c, classify.c). */
struct diagnostic_list {
    struct diagnostic *items;
    int count, capacity;
    bool late;          /* a compiler or linker ran out of time: so it may not do another time */
    const char *broken; /* a compiler or linker failed for a reason of ours: nothing is known about the sources */
};
/* `path` relative to `directory`, without `.` and `..`; NULL if it is not below it (source_line.c). */
const char *source_inside(struct arena *arena, const char *path, const char *directory);
struct diagnose_places {
    const char *project;          /* paths under it are the project's and become relative */
    const struct op_files *files; /* the project as its author wrote it, or NULL */
    const char *work;             /* directory of what the compiler writes, or NULL */
    const char *headers;          /* directory of our own headers, or NULL */
    const char *shifted;          /* the file that `prepared` describes, or NULL */
    const struct prepared_source *prepared;
};
/* Adds what the compiler printed. Repetitions of what the list already has are dropped. */
void diagnose(struct arena *arena, const char *output, const struct diagnose_places *places,
              struct diagnostic_list *list);
void diagnose_add(struct arena *arena, struct diagnostic_list *list, const struct diagnostic *diagnostic);
/* What the compiler or the linker said, without the names of folders that are this build's alone. */
const char *diagnose_without_folders(struct arena *arena, const char *message, const struct diagnose_places *places);
/* The class of a message; notes are the compiler's notes that follow it, one per line. */
enum diagnostic_class classify(const char *message, const char *notes);

/* What AKGen lacks (lacking.c). */
/* The API that a message with the mark of our headers names, if `file` and `line` (where the message, or a note on it,
 * points) are in `headers` and name it there; else NULL. */
const char *lacking_declared(struct arena *arena, const char *headers, const char *message, const char *file, int line);
/* A name of CANN's that no header of ours declares, if the message says that it is missing and it stands at `column` of
 * the source line `text`; else NULL. */
const char *lacking_written(const char *message, const char *text, int column);

/* The cache of objects (cache.c). */
struct cache_entry {
    bool good;      /* the compile succeeded */
    const char *so; /* NULL when only checked or failed */
};
/* True if there is a sound entry; its diagnostics are added to the list. */
bool cache_load(struct arena *arena, const struct clang *clang, const char *key, struct cache_entry *entry,
                struct diagnostic_list *list);
/* Moves `so` (may be NULL) into the cache and stores the diagnostics; entry->so is where it is now. Of a compile that ran
 * out of time nothing is stored. */
struct akgen_error *cache_store(struct arena *arena, const struct clang *clang, const char *key, const char *so,
                                const struct diagnostic_list *list, struct cache_entry *entry);

/* The cache's bound (cache_bound.c). */
/* Removes what was not used for the longest time, if it is time to look and there is more than the bound; `stored`: bytes
 * that were just added. */
void cache_keep_bound(struct arena *arena, const struct clang *clang, uint64_t stored);
/* Notes that a file of the cache is used now. */
void cache_used(const char *path);

/* Which cores a kernel needs that names no type (cores.c). */
struct core_uses {
    bool vector;  /* instructions of the vector unit or on UB */
    bool cube;    /* instructions of the cube */
    bool sync;    /* flags or barriers between cores */
    bool copies;  /* DataCopy, which either kind of core can mean */
    bool unknown; /* this machine could not read the object */
};
/* From what the object for AIVs, or for AICs, needs of the machine; all false without an object. */
struct core_uses core_uses_of(struct arena *arena, const char *so);
/* The same from the names that an object needs, NULL-terminated. */
struct core_uses core_uses_of_names(const char *const *names);
/* True if the object names a type that starts AICs. */
bool core_names_aic(struct arena *arena, const char *so);
/* The type (enum npu_kernel_type) of a kernel without KERNEL_TASK_TYPE: what the entry's qualifiers say, else what
 * CANN's compiler would infer; 0 if it is a vector kernel. */
int core_type_of(enum entry_cores named, const struct core_uses *aiv, const struct core_uses *aic);

/* Linking (link.c). */
/* Links objects into work/name.so. False: the linker's words are in the list. Kernels may refer to the machine's ABI
 * and to what the compiler itself calls; anything else that is declared and never defined is an error. */
/* maybe_unused: the side of a kernel that may turn out to need none of these cores; then nothing of it has to be
 * defined. */
bool link_objects(struct arena *arena, const struct clang *clang, enum clang_side side, bool maybe_unused,
                  const char *const *objects, const char *work, const struct diagnose_places *places,
                  struct diagnostic_list *list, const char **so);
/* Names that a shared object needs from others; NULL-terminated, in the arena; NULL if the file is no shared object. */
const char **link_undefined(struct arena *arena, const char *so);

#endif
