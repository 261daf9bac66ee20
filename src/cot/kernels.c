/* From a folder to snippets: each kernel is merged, pruned, compiled and asked for. */
#include "cot/kernels.h"
#include "base/digest.h"
#include "base/text.h"
#include "cot/corpus.h"
#include "cot/licence.h"
#include "cot/merge.h"
#include "cot/prune.h"
#include "cot/snippet.h"
#include "op/op.h"

#include <string.h>

enum { LARGEST = 1 << 20, LONGEST = 64 << 10 /* of a sample */ };
#define STEP "kernels"

struct kernels {
    const struct cot_kernels_options *options;
    struct cot_sources sources;
    bool *tilings;    /* of the sources: it defines tiling data */
    const int *which; /* of the sources are kernels, or cannot be read */
};

static bool has_end(const char *path, const char *end)
{
    size_t length = strlen(path);
    return length > strlen(end) && strcmp(path + length - strlen(end), end) == 0;
}

static bool is_source(const char *path)
{
    return has_end(path, ".cpp") || has_end(path, ".cc") || has_end(path, ".cce");
}

/* Tiling data. */
static bool is_below(const char *path, const char *folder, size_t length)
{
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* A constant of one line, which an array's length may be. */
static const char *behind_constant(const char *line)
{
    static const char *const begins[] = {"constexpr ", "static constexpr ", "const ", "static const "};
    const char *end = line + strcspn(line, ";\n");
    for (size_t i = 0; i < sizeof begins / sizeof *begins && *end == ';'; i++)
        if (strncmp(line, begins[i], strlen(begins[i])) == 0 && memchr(line, '=', (size_t)(end - line)))
            return end + 1;
    return NULL;
}

/* The structures of tiling data that a file defines, with its constants; those registrations alone that are for `entry`, where `own`. Whether
 * there was one. */
static bool add_tilings(struct arena *arena, const char *text, const char *entry, bool own, struct text *tilings)
{
    static const char begins[] = "BEGIN_TILING_DATA_DEF(", ends[] = "END_TILING_DATA_DEF",
                      registers[] = "REGISTER_TILING_DATA_CLASS(";
    bool registered = false;
    for (const char *line = text; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n')) {
        const char *at = line + strspn(line, " \t"), *end = behind_constant(at);
        if (strncmp(at, begins, sizeof begins - 1) == 0 && (end = strstr(at, ends)))
            end += sizeof ends - 1;
        else if (strncmp(at, registers, sizeof registers - 1) == 0) {
            const char *type = at + sizeof registers - 1;
            size_t length = strcspn(type, ", )");
            if (!own || strcmp(op_snake_case(arena, arena_strndup(arena, type, length)), entry) == 0)
                end = strchr(at, ')');
            end = end ? end + 1 : NULL;
            registered |= end != NULL;
        }
        if (!end)
            continue;
        text_addf(tilings, "%s%.*s%s", tilings->length ? "\n" : "", (int)(end - at), at, *end == ';' ? ";" : "");
        line = end;
    }
    return registered;
}

/* Of the files in the nearest folder above the kernel that register any: for its own operator, else for whatever they are. "" if there are
 * none. */
static const char *tilings_of(struct arena *arena, const struct kernels *kernels, const char *path, const char *entry)
{
    char *folder = arena_strdup(arena, path);
    struct text tilings = {0};
    for (char *slash; !tilings.length && (slash = strrchr(folder, '/')); *slash = 0)
        for (int own = 1; own >= 0 && !tilings.length; own--)
            for (size_t i = 0; i < kernels->sources.count; i++) {
                const struct cot_file *file = &kernels->sources.files[i];
                struct text some = {0};
                size_t length;
                const char *reason, *text;
                if (kernels->tilings[i] && is_below(file->path, folder, (size_t)(slash - folder)) &&
                    (text = cot_read_text(arena, file->path, LARGEST, &length, &reason)) &&
                    add_tilings(arena, text, entry, own, &some))
                    text_addf(&tilings, "%s%s", tilings.length ? "\n" : "", some.bytes);
                text_free(&some);
            }
    return text_keep(&tilings, arena);
}

static void find_tilings(struct arena *arena, struct kernels *kernels)
{
    kernels->tilings = arena_alloc(arena, kernels->sources.count + 1);
    for (size_t i = 0; i < kernels->sources.count; i++) {
        struct arena room = {0};
        size_t length;
        const char *reason = kernels->sources.files[i].reason,
                   *text =
                       reason ? NULL : cot_read_text(&room, kernels->sources.files[i].path, LARGEST, &length, &reason);
        kernels->tilings[i] = text && strstr(text, "BEGIN_TILING_DATA_DEF(");
        arena_free(&room);
    }
}

static bool is_benchmarks(struct arena *arena, const struct cot_kernels_options *options, const char *entry)
{
    for (int i = 0; i < options->task_count; i++)
        if (options->tasks[i].op_type && strcmp(op_snake_case(arena, options->tasks[i].op_type), entry) == 0)
            return true;
    return false;
}

/* The file as it compiles: as little as its entries need, else all of it; NULL: it does not. */
static struct akgen_error *compile(struct arena *arena, const char *merged, const char *tilings, const char **text,
                                   bool *pruned, const char **dtype)
{
    const char *why, *less = cot_prune(arena, merged);
    struct akgen_error *error = snippet_compile(arena, less, tilings, &why, dtype);
    *text = less;
    *pruned = !error && !why && strlen(less) < strlen(merged);
    if (!error && why && strcmp(less, merged) != 0) {
        error = snippet_compile(arena, merged, tilings, &why, dtype);
        *text = merged;
    }
    if (why)
        *text = NULL;
    return error;
}

/* Why there is no sample of a merged file; NULL: the block has it, or *error. */
static const char *make_sample(const struct kernels *kernels, const char *path, const char *merged,
                               struct cot_block *block, struct akgen_error **error)
{
    struct arena *arena = &block->arena;
    const char *entry = snippet_entry(arena, merged), *text, *dtype, *licence = cot_licence_in(arena, merged);
    struct kernel_words words;
    bool pruned = false;
    if (!entry)
        return "no kernel";
    if (is_benchmarks(arena, kernels->options, entry))
        return "a benchmark's operator";
    const char *tilings = strstr(merged, "GET_TILING_DATA") ? tilings_of(arena, kernels, path, entry) : "";
    if ((*error = compile(arena, merged, tilings, &text, &pruned, &dtype)))
        return NULL;
    if (!text)
        return "it does not compile alone";
    if ((*error = kernel_words(arena, text, tilings, kernels->options->seed + strlen(text), &words)))
        return NULL;
    if (!words.request || strlen(text) > LONGEST)
        return words.request ? "too long" : "it calls nothing that is known";
    if (cot_secret_in(text))
        return "a secret in it";
    const struct cot_sample sample = {.part = COT_KERNEL,
                                      .mode = COT_ASCENDC,
                                      .question = words.request,
                                      .chain = words.chain,
                                      .answer = text,
                                      .verdict =
                                          arena_printf(arena, "{\"verdict\":\"pass\",\"by\":\"compiler\"%s}",
                                                       dtype ? arena_printf(arena, ",\"dtype\":\"%s\"", dtype) : ""),
                                      .provenance = path,
                                      .licence = licence ? licence : kernels->options->licence,
                                      .tags = pruned ? "[\"pruned\"]" : NULL};
    cot_block_add(block, &sample);
    block->made += pruned;
    return NULL;
}

/* What a step reads of a file to name it. */
struct merged {
    const char *text, *reason; /* text: NULL, and the reason why */
};

static void name(void *closure, int index, struct cot_block *block)
{
    const struct kernels *kernels = closure;
    const struct cot_file *file = &kernels->sources.files[kernels->which[index]];
    struct arena *arena = &block->arena;
    struct merged *merged = arena_alloc(arena, sizeof *merged);
    merged->reason = file->reason;
    merged->text = file->reason ? NULL : cot_merge(arena, &kernels->sources, file->path, &merged->reason);
    block->read = merged;
    const struct cot_asker *asker = kernels->options->asker;
    block->source =
        merged->text ? arena_printf(arena, "%s, %s, seed %llu%s%s", file->path, digest_of_string(arena, merged->text),
                                    (unsigned long long)kernels->options->seed, asker ? ", " : "",
                                    asker ? cot_asker_source(asker) : "")
                     : arena_printf(arena, "%s, %s", file->path, merged->reason);
}

static struct akgen_error *make(void *closure, int index, const char *scratch, struct cot_block *block)
{
    const struct kernels *kernels = closure;
    const struct cot_file *file = &kernels->sources.files[kernels->which[index]];
    const struct merged *merged = block->read;
    struct akgen_error *error = NULL;
    (void)scratch;
    const char *reason = merged->text ? make_sample(kernels, file->path, merged->text, block, &error) : merged->reason;
    if (!error && reason)
        cot_block_drop(block, reason);
    if (!error)
        error = cot_rewrite(kernels->options->asker, block, "kernel", true);
    return error ? error_prefix(error, "%s", file->path) : NULL;
}

struct akgen_error *cot_kernels(struct store *store, const char *path, const struct cot_kernels_options *options,
                                struct cot_counts *counts)
{
    static const char *const ends[] = {".cpp", ".cc", ".cce", ".h", ".hpp", ".hh", ".inl", ".inc", ".def", NULL};
    struct arena arena = {0};
    struct cot_file *files;
    struct kernels kernels = {.options = options};
    struct akgen_error *error = cot_walk(&arena, path, ends, &files, &kernels.sources.count);
    if (error)
        return error;
    kernels.sources.files = files;
    kernels.sources.largest = LARGEST;
    cot_sources_sort(&arena, &kernels.sources);
    find_tilings(&arena, &kernels);
    int *which = arena_alloc(&arena, sizeof *which * (kernels.sources.count + 1)), count = 0;
    for (size_t i = 0; i < kernels.sources.count; i++)
        if (is_source(files[i].path) || (files[i].reason && !has_end(files[i].path, ".h")))
            which[count++] = (int)i;
    kernels.which = which;
    struct cot_step step = {.store = store,
                            .step = STEP,
                            .count = count,
                            .jobs = options->jobs,
                            .name = name,
                            .make = make,
                            .closure = &kernels};
    error = cot_step_run(&step);
    *counts = step.counts;
    arena_free(&arena);
    return error;
}
