/* The compiler: where it is, its flags, precompiled headers, and running it in the jail. */
#include "base/array.h"
#include "base/digest.h"
#include "base/files.h"
#include "toolchain/toolchain_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Changes to the flags or the source pass that the digest of the headers does not show. */
#define TOOLCHAIN_REVISION "7"
/* Paths that a compile may read: the system, three of our own, the paths of CANN, and the end of the list. */
enum { CLANG_READABLE = CLANG_SYSTEM + 5 };
enum { COMPILER_SECONDS = 30, COMPILER_OUTPUT = 1 << 20, PROGRAM_LIMIT = 64 << 20 };
static const uint64_t compiler_memory = 4ULL << 30, compiler_usual = 1ULL << 30, compiler_file = 128ULL << 20;

static const char *find_program(const char *const *candidates)
{
    for (; *candidates; candidates++)
        if (!access(*candidates, X_OK))
            return *candidates;
    return NULL;
}

void clang_add(struct arena *arena, struct clang_args *args, const char *argument)
{
    ARRAY_ADD(arena, args->items, args->count, args->capacity, argument);
    /* The end of the list, which the next argument takes the place of. */
    ARRAY_ADD(arena, args->items, args->count, args->capacity, NULL);
    args->count--;
}

static const char *cache_directory(struct arena *arena, const char *given)
{
    if (given)
        return given;
    const char *base = getenv("XDG_CACHE_HOME");
    if (base && *base == '/')
        return arena_printf(arena, "%s/akgen", base);
    base = getenv("HOME");
    return arena_printf(arena, "%s/.cache/akgen", base && *base ? base : "/tmp");
}

struct akgen_error *toolchain_cache(struct arena *arena, const char *given, const char **cache)
{
    *cache = cache_directory(arena, given);
    struct akgen_error *error = files_make_directory(*cache);
    char resolved[PATH_MAX];
    if (!error && !realpath(*cache, resolved))
        error = error_new("%s: %s", *cache, strerror(errno));
    if (error)
        return error_prefix(error, "the cache directory");
    *cache = arena_strdup(arena, resolved);
    return NULL;
}

static struct akgen_error *read_headers(struct arena *arena, struct clang *clang)
{
    const char **paths;
    size_t count;
    const char *root = arena_printf(arena, "%s/include", clang->home);
    struct akgen_error *error = files_list(arena, root, &paths, &count);
    if (error)
        return error;
    struct digest *digest = digest_new();
    digest_string(digest, TOOLCHAIN_REVISION);
    digest_string(digest, clang->version);
    digest_string(digest, clang->home);
    for (size_t i = 0; i < count && !error; i++) {
        const char *path = arena_printf(arena, "%s/%s", root, paths[i]);
        char *bytes;
        size_t length;
        error = files_read(arena, path, SOURCE_LIMIT, &bytes, &length);
        digest_string(digest, path);
        if (!error)
            digest_bytes(digest, bytes, length);
    }
    char *program;
    size_t length;
    if (!error)
        error = files_read(arena, clang->confine, PROGRAM_LIMIT, &program, &length);
    if (!error)
        digest_bytes(digest, program, length);
    clang->headers = digest_finish(digest, arena);
    return error;
}

/* A program reads the headers once: its compile servers, too, go on with those that they loaded. */
static struct akgen_error *digest_headers(struct arena *arena, struct clang *clang)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        char home[PATH_MAX], version[128], digest[128];
    } known;
    struct akgen_error *error = NULL;
    pthread_mutex_lock(&lock);
    if (strcmp(known.home, clang->home) == 0 && strcmp(known.version, clang->version) == 0) {
        clang->headers = arena_strdup(arena, known.digest);
    } else {
        error = read_headers(arena, clang);
        if (!error && strlen(clang->home) < sizeof known.home && strlen(clang->version) < sizeof known.version &&
            strlen(clang->headers) < sizeof known.digest) {
            strcpy(known.home, clang->home);
            strcpy(known.version, clang->version);
            strcpy(known.digest, clang->headers);
        }
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static struct akgen_error *read_version(struct arena *arena, struct clang *clang)
{
    /* The version is asked once per compiler binary: its size and time of change name the answer. */
    struct stat status;
    char *text;
    if (stat(clang->compiler, &status))
        return error_new("%s: %s", clang->compiler, strerror(errno));
    const char *memo = arena_printf(arena, "%s/version-%llx-%llx", clang->cache, (unsigned long long)status.st_size,
                                    (unsigned long long)status.st_mtime);
    struct akgen_error *error = files_read(arena, memo, 4096, &text, NULL);
    if (!error) {
        clang->version = text;
        return NULL;
    }
    error_free(error);
    struct clang_args args = {0};
    struct sandbox_result result;
    clang_add(arena, &args, clang->compiler);
    clang_add(arena, &args, "--version");
    clang_run(arena, clang, &args, NULL, clang->cache, &result);
    const char *found = strstr(result.output, "clang version");
    if (result.exit_code || !found)
        return error_new("%s --version failed: %s", clang->compiler, result.error ? result.error : result.output);
    clang->version = arena_strndup(arena, found, strcspn(found, "\n("));
    size_t length = strlen(clang->version);
    while (length && clang->version[length - 1] == ' ')
        length--;
    clang->version = arena_strndup(arena, clang->version, length);
    return files_write(memo, clang->version, length);
}

static struct akgen_error *find_tools(struct arena *arena, const char *cache_dir, struct clang *clang)
{
    static const char *const compilers[] = {"/usr/bin/clang++-19", "/usr/lib/llvm-19/bin/clang++",
                                            "/usr/local/bin/clang++-19", NULL};
    static const char *const linkers[] = {"/usr/bin/ld.lld-19", "/usr/lib/llvm-19/bin/ld.lld",
                                          "/usr/local/bin/ld.lld-19", NULL};
    *clang = (struct clang){.home = toolchain_home(), .seconds = COMPILER_SECONDS};
    clang->compiler = find_program(compilers);
    clang->linker = find_program(linkers);
    if (!clang->compiler || !clang->linker)
        return error_new("%s is not installed; install it with: apt-get install clang-19 lld-19",
                         clang->compiler ? "lld-19" : "clang-19");
    clang->confine = files_program(arena, "akgen-confine");
    if (!clang->confine)
        return error_new("akgen-confine is not where this program lies");
    struct akgen_error *error = toolchain_cache(arena, cache_dir, &clang->cache);
    return error ? error : read_version(arena, clang);
}

struct akgen_error *clang_find(struct arena *arena, const char *cache_dir, struct clang *clang)
{
    struct akgen_error *error = find_tools(arena, cache_dir, clang);
    if (!error)
        error = digest_headers(arena, clang);
    return error ? error : paths_find(arena, clang);
}

struct akgen_error *toolchain_version(struct arena *arena, const char **version)
{
    struct clang clang;
    struct akgen_error *error = find_tools(arena, NULL, &clang);
    *version = clang.version;
    return error;
}

/* What both sides have in common: the language, position independence, and diagnostics made for reading by program. */
static const char *const shared_flags[] = {"-std=c++17",
                                           "-fPIC",
                                           "-ffp-contract=off",
                                           "-fno-stack-protector",
                                           "-fno-caret-diagnostics",
                                           "-fno-color-diagnostics",
                                           "-fno-crash-diagnostics", /* a crash is told by the exit code alone */
                                           "-fno-diagnostics-fixit-info",
                                           "-fmessage-length=0",
                                           "-ftemplate-backtrace-limit=0",
                                           "-ferror-limit=30",
                                           "-Wno-unknown-attributes",
                                           "-Wno-parentheses-equality",
                                           "-Wno-unused-command-line-argument",
#if defined(__x86_64__)
                                           "-march=x86-64-v3", /* conversions of _Float16 in hardware */
#endif
                                           NULL};
static const char *const host_flags[] = {"-O0", "-w", NULL};
/* Kernels are "device code for the host": see include/ascendc/kernel_operator.h. There is no CUDA in it. */
static const char *const kernel_flags[] = {
    "-xcuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-Xclang", "-fcuda-is-device", "-Xclang",
    "-fcuda-allow-variadic-functions", "-Wno-unknown-cuda-version",
    /* The same call in both branches stays two: merged it has no line. */
    "-mllvm", "-sink-common-insts=false", "-mllvm", "-hoist-common-insts=false", "-mllvm", "-enable-tail-merge=false",
    "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-math-errno", "-fno-omit-frame-pointer",
    /* A call that ends the kernel returns to its line all the same. */
    "-fno-optimize-sibling-calls", "-Xclang", "-ffloat16-excess-precision=none",
    /* The device's assembler would not read this processor's instructions, and nothing runs there before the kernel. */
    "-fno-gnu-inline-asm", "-Werror=global-constructors",
    /* What the build of a project asks for: impl_mode is high_performance (ascendc_bin_param_build.py of CANN). */
    "-DHIGH_PERFORMANCE=1", "-DDETERMINISTIC_MODE=0", NULL};

static const char *const speed_flags[] = {"-O1", "-gline-tables-only", NULL};
static const char *const debug_flags[] = {"-O0", "-g", "-fstandalone-debug", NULL};

static void add_all(struct arena *arena, struct clang_args *args, const char *const *flags)
{
    while (*flags)
        clang_add(arena, args, *flags++);
}

void clang_common_flags(struct arena *arena, const struct clang *clang, enum clang_side side, struct clang_args *args)
{
    clang_add(arena, args, clang->compiler);
    add_all(arena, args, shared_flags);
    add_all(arena, args, side == CLANG_HOST ? host_flags : kernel_flags);
    if (side != CLANG_HOST)
        add_all(arena, args, clang->debug ? debug_flags : speed_flags);
    if (side == CLANG_CUBE)
        clang_add(arena, args, "-D__DAV_C220_CUBE__=1");
    /* -isystem would hide what the headers assert; warnings inside them are dropped by the reader of diagnostics. */
    const char *folder = side == CLANG_HOST ? "cann" : "ascendc";
    clang_add(arena, args, arena_printf(arena, "-I%s/include/%s", clang->home, folder));
    clang_add(arena, args, arena_printf(arena, "-I%s/%s", clang->paths, folder));
    clang_add(arena, args, arena_printf(arena, "-I%s/include", clang->home));
}

/* What the precompiled header of a side includes, as far as the header exists. */
static const char *const host_headers[] = {"register/op_def_registry.h", "register/tilingdata_base.h",
                                           "tiling/platform/platform_ascendc.h", NULL};
static const char *const kernel_headers[] = {"kernel_operator.h", "basic/instances.h", NULL};

static struct akgen_error *make_precompiled(struct arena *arena, const struct clang *clang, enum clang_side side,
                                            const char *header, const char *path)
{
    const char *text = "";
    for (const char *const *name = side == CLANG_HOST ? host_headers : kernel_headers; *name; name++)
        if (files_exists(
                arena_printf(arena, "%s/include/%s/%s", clang->home, side == CLANG_HOST ? "cann" : "ascendc", *name)))
            text = arena_printf(arena, "%s#include \"%s\"\n", text, *name);
    struct akgen_error *error = files_write(header, text, strlen(text));
    struct work_directory work = {0};
    if (!error)
        error = work_make(arena, clang->cache, &work);
    if (error)
        return error;
    struct clang own = *clang;
    own.budget = NULL;
    own.seconds = COMPILER_SECONDS;
    struct clang_args args = {0};
    struct sandbox_result result;
    const char *made = arena_printf(arena, "%s/header.pch", work.path);
    clang_common_flags(arena, clang, side, &args);
    /* Without time stamps: a checkout that only touched the headers keeps its precompiled ones. */
    static const char *const both[] = {"-Xclang", "-fno-pch-timestamp", "-fpch-instantiate-templates"};
    static const char *const host[] = {"-x", "c++-header", NULL};
    static const char *const kernel[] = {"-S", "-Xclang", "-emit-pch", NULL}; /* CUDA has no header language */
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        clang_add(arena, &args, both[i]);
    for (const char *const *flag = side == CLANG_HOST ? host : kernel; *flag; flag++)
        clang_add(arena, &args, *flag);
    clang_add(arena, &args, header);
    clang_add(arena, &args, "-o");
    clang_add(arena, &args, made);
    clang_run(arena, &own, &args, NULL, work.path, &result);
    if (result.exit_code)
        error =
            error_new("the precompiled header %s was not made: %s", path, result.error ? result.error : result.output);
    else if (rename(made, path))
        error = error_new("%s: %s", path, strerror(errno));
    work_remove(&work);
    return error;
}

struct akgen_error *clang_precompiled(struct arena *arena, const struct clang *clang, enum clang_side side,
                                      const char **path)
{
    static const char *const names[] = {"host", "kernel", "cube"};
    const char *name = names[side];
    struct clang_args flags = {0};
    struct digest *digest = digest_new();
    digest_string(digest, clang->headers);
    clang_common_flags(arena, clang, side, &flags);
    for (int i = 0; i < flags.count; i++)
        digest_string(digest, flags.items[i]);
    const char *base = arena_printf(arena, "%s/pch/%s-%.16s", clang->cache, name, digest_finish(digest, arena));
    *path = arena_printf(arena, "%s.pch", base);
    if (files_exists(*path))
        return NULL;
    struct akgen_error *error = files_make_directory(arena_printf(arena, "%s/pch", clang->cache));
    if (error)
        return error;
    const char *lock_path = arena_printf(arena, "%s.lock", base);
    int lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock < 0 || flock(lock, LOCK_EX))
        error = error_new("%s: %s", lock_path, strerror(errno));
    if (!error && !files_exists(*path))
        error = make_precompiled(arena, clang, side, arena_printf(arena, "%s.hpp", base), *path);
    if (lock >= 0)
        close(lock);
    return error;
}

struct akgen_error *toolchain_prepare(struct arena *arena, const char *cache_dir)
{
    struct clang clang;
    const char *path;
    struct akgen_error *error = clang_find(arena, cache_dir, &clang);
    if (!error)
        error = clang_precompiled(arena, &clang, CLANG_HOST, &path);
    if (!error)
        error = clang_precompiled(arena, &clang, CLANG_KERNEL, &path);
    return error;
}

/* True if a server of the pool did it. */
static bool run_served(struct arena *arena, const struct clang *clang, const struct clang_args *args,
                       struct source_view *view, const struct sandbox_limits *limits, struct sandbox_result *result)
{
    if (!args->header || clang->plain || clang->debug)
        return false;
    const int sources = view ? source_view_bytes(view) : -1;
    if (view && sources < 0)
        return false;
    struct clang_args load = {.header = args->header};
    clang_common_flags(arena, clang, args->side, &load);
    const char *const rest[] = {"-include-pch", args->header, "-c", "akgen.cpp", NULL};
    add_all(arena, &load, rest);
    return pool_run(arena, clang, &load, args, sources, limits, COMPILER_OUTPUT, result);
}

const char *const clang_system[CLANG_SYSTEM] = {"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/dev/null"};

/* Runs the compiler as a process of its own, which reads `view` as well. */
static void run_alone(struct arena *arena, const struct clang_args *args, struct source_view *view,
                      const struct sandbox_limits *limits, struct sandbox_result *result)
{
    const char *readable[CLANG_READABLE + 1];
    struct sandbox_limits own = *limits;
    struct akgen_error *error = view ? source_view_write(view) : NULL;
    size_t count = 0;
    for (; limits->readable[count]; count++)
        readable[count] = limits->readable[count];
    if (view)
        readable[count++] = view->root;
    readable[count] = NULL;
    own.readable = readable;
    if (error)
        *result =
            (struct sandbox_result){.error = arena_strdup(arena, error->message), .output = arena_strdup(arena, "")};
    else
        sandbox_spawn(arena, args->items, &own, NULL, COMPILER_OUTPUT, result);
    error_free(error);
}

void clang_run(struct arena *arena, const struct clang *clang, const struct clang_args *args, struct source_view *view,
               const char *work, struct sandbox_result *result)
{
    const char *readable[CLANG_READABLE];
    size_t count = 0;
    for (size_t i = 0; i < CLANG_SYSTEM; i++)
        readable[count++] = clang_system[i];
    readable[count++] = arena_printf(arena, "%s/include", clang->home);
    readable[count++] = arena_printf(arena, "%s/pch", clang->cache);
    readable[count++] = clang->confine;
    if (clang->paths)
        readable[count++] = clang->paths;
    readable[count] = NULL;
    const char *const writable[] = {work, NULL};
    struct sandbox_limits limits = {.memory = compiler_memory,
                                    .file_bytes = compiler_file,
                                    .readable = readable,
                                    .writable = writable,
                                    .expected_memory = compiler_usual,
                                    .cancel_fd = clang->budget ? clang->budget->cancel_fd : 0};
    /* Once beside others; if that says nothing about the sources, once more alone. */
    for (int attempt = 0; attempt < 2; attempt++) {
        limits.alone = attempt > 0;
        limits.seconds = budget_allows(clang->budget, clang->seconds);
        if (limits.seconds <= 0) {
            *result = (struct sandbox_result){
                .started = true, .timed_out = true, .exit_code = -1, .output = arena_strdup(arena, "")};
            return;
        }
        if (attempt > 0 || !run_served(arena, clang, args, view, &limits, result))
            run_alone(arena, args, view, &limits, result);
        budget_charge(clang->budget, result->charged);
        bool late = result->timed_out;
        for (int i = 0; i < args->other_count; i++)
            late |= args->others[i].timed_out;
        if (late) /* what one source does others may do: one limit is enough */
            budget_end(clang->budget);
        if ((result->started && (result->exit_code == 0 || result->exit_code == 1)) || result->timed_out)
            return;
    }
}

/* True if a file of some size can be written in `directory`. */
static bool has_room(struct arena *arena, const char *directory)
{
    enum { SOME_BYTES = 1 << 20 };
    char *path = arena_printf(arena, "%s/room-XXXXXX", directory);
    int fd = mkostemp(path, O_CLOEXEC);
    bool room = fd >= 0 && posix_fallocate(fd, 0, SOME_BYTES) == 0;
    if (fd >= 0) {
        unlink(path);
        close(fd);
    }
    return room;
}

const char *clang_broken(struct arena *arena, const struct sandbox_result *result, const char *work)
{
    if (!result->started)
        return result->error;
    if (result->killed)
        return arena_printf(arena, "the compiler was killed (signal %d: %s)", result->signal,
                            strsignal(result->signal));
    if (result->exit_code && !has_room(arena, work))
        return arena_printf(arena, "no space left in %s", work);
    return NULL;
}
