/* A build from beginning to end: digest the sources, host.so, the OpDef, then a kernel.so for each dtype combination.
 */
#include "base/digest.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "sandbox/job.h"
#include "toolchain/toolchain_internal.h"

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* One compile, possibly on its own thread with its own arena. */
struct compile {
    struct arena arena;
    const char *root; /* directory of the sources */
    struct clang_args args;
    struct sandbox_result result;
};
struct builder {
    struct arena *arena;
    const struct op_project *project;
    const struct build_options *options;
    struct build *build;
    struct clang clang;
    const char *work; /* of this build */
    struct diagnostic_list diagnostics;
    struct prepared_source prepared; /* the kernel's main file */
    struct diagnose_places places;
    const char *overlay;     /* clang's file that puts prepared texts in place of the author's */
    const char *kernel_text; /* every source of op_kernel, for prepare_mentions */
    const char *tiling_header;
    struct compile *compiles;
    int compile_count;
    atomic_int next;
};

/* Running compiles side by side. */

static void *compile_worker(void *closure)
{
    struct builder *builder = closure;
    for (int i; (i = atomic_fetch_add(&builder->next, 1)) < builder->compile_count;) {
        struct compile *compile = &builder->compiles[i];
        clang_run(&compile->arena, &builder->clang, &compile->args, compile->root, builder->work, &compile->result);
    }
    return NULL;
}

static void run_compiles(struct builder *builder, struct compile *compiles, int count)
{
    enum { MAX_THREADS = 64 };
    pthread_t threads[MAX_THREADS];
    int wanted = builder->options->jobs < count ? builder->options->jobs : count, started = 0;
    builder->compiles = compiles;
    builder->compile_count = count;
    atomic_store(&builder->next, 0);
    while (started < wanted - 1 && started < MAX_THREADS &&
           !pthread_create(&threads[started], NULL, compile_worker, builder))
        started++;
    compile_worker(builder);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < count; i++)
        arena_adopt(builder->arena, &compiles[i].arena);
}

/* True if the compiler ended well; otherwise the list says at least one thing about why not. */
static bool take_compile(struct builder *builder, const struct compile *compile, const char *source,
                         struct diagnostic_list *list)
{
    const struct sandbox_result *result = &compile->result;
    int before = list->count;
    diagnose(builder->arena, result->output, &builder->places, list);
    if (!result->exit_code)
        return true;
    for (int i = before; i < list->count; i++)
        if (list->items[i].error)
            return false;
    const char *reason = result->timed_out  ? "the compiler ran out of time"
                         : !result->started ? result->error
                         : result->signal
                             ? "the compiler was stopped: it needed more memory, output or stack than allowed"
                             : result->output;
    const char *relative = strrchr(source, '/');
    struct diagnostic diagnostic = {.class = DIAG_SYNTAX,
                                    .error = true,
                                    .file = relative ? relative + 1 : source,
                                    .message = arena_strndup(builder->arena, reason, strnlen(reason, 2000))};
    diagnose_add(builder->arena, list, &diagnostic);
    return false;
}

/* What the sources are. */

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static bool is_source(const char *path)
{
    static const char *const ends[] = {".cpp", ".cc",  ".cxx", ".c",   ".h",  ".hpp",
                                       ".hh",  ".hxx", ".inc", ".inl", ".tpp"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(path, ends[i]))
            return true;
    return false;
}

static struct akgen_error *digest_tree(struct arena *arena, struct digest *digest, const char *dir)
{
    const char **paths;
    size_t count;
    struct akgen_error *error = files_list(arena, dir, &paths, &count);
    for (size_t i = 0; i < count && !error; i++) {
        if (!is_source(paths[i]))
            continue;
        struct arena scratch = {0};
        char *bytes;
        size_t length;
        error = files_read(&scratch, arena_printf(&scratch, "%s/%s", dir, paths[i]), SOURCE_LIMIT, &bytes, &length);
        digest_string(digest, paths[i]);
        if (!error) {
            digest_bytes(digest, &length, sizeof length);
            digest_bytes(digest, bytes, length);
        }
        arena_free(&scratch);
    }
    return error;
}

static struct akgen_error *digest_sources(struct builder *builder)
{
    struct digest *digest = digest_new();
    /* The whole project, because an include may reach anything in it. */
    struct akgen_error *error = digest_tree(builder->arena, digest, builder->project->dir);
    if (!error && builder->options->host_override)
        error = digest_tree(builder->arena, digest,
                            arena_printf(builder->arena, "%s/op_host", builder->options->host_override));
    digest_string(digest, builder->project->options ? builder->project->options : "");
    builder->build->source_hash = digest_finish(digest, builder->arena);
    return error;
}

static const char *object_key(struct builder *builder, const char *part, const char *config)
{
    struct digest *digest = digest_new();
    digest_string(digest, builder->clang.headers);
    digest_string(digest, PREPARE_MACROS);
    digest_string(digest, builder->build->source_hash);
    digest_string(digest, builder->options->no_cache ? "uncached" : "cached");
    digest_string(digest, builder->options->debug ? "debug" : "");
    digest_string(digest, builder->options->sanitize_kernel_tiling ? "tiling" : "");
    digest_string(digest, part);
    digest_string(digest, config);
    return digest_finish(digest, builder->arena);
}

static bool look_up(struct builder *builder, const char *key, struct cache_entry *entry, struct diagnostic_list *list)
{
    return !builder->options->no_cache && cache_load(builder->arena, &builder->clang, key, entry, list);
}

static void merge(struct builder *builder, const struct diagnostic_list *list)
{
    for (int i = 0; i < list->count; i++)
        diagnose_add(builder->arena, &builder->diagnostics, &list->items[i]);
}

/* The host part. */

/* The question's op_host, for candidates that write only the kernel. */
static struct akgen_error *override_sources(struct builder *builder, const char ***sources, int *count)
{
    const char **paths;
    size_t n;
    const char *dir = arena_printf(builder->arena, "%s/op_host", builder->options->host_override);
    struct akgen_error *error = files_list(builder->arena, dir, &paths, &n);
    *sources = arena_alloc(builder->arena, (n + 1) * sizeof **sources);
    *count = 0;
    for (size_t i = 0; i < n && !error; i++)
        if (ends_with(paths[i], ".cpp") || ends_with(paths[i], ".cc"))
            (*sources)[(*count)++] = arena_printf(builder->arena, "%s/%s", dir, paths[i]);
    if (!error && !*count)
        error = error_new("%s: holds no .cpp file", dir);
    return error;
}

static void host_arguments(struct builder *builder, struct clang_args *args, const char *pch, const char *root,
                           const char *source, const char *object)
{
    struct arena *arena = builder->arena;
    clang_common_flags(arena, &builder->clang, CLANG_HOST, args);
    clang_add(arena, args, "-include-pch");
    clang_add(arena, args, pch);
    clang_add(arena, args, arena_printf(arena, "-I%s/op_host", root));
    clang_add(arena, args, arena_printf(arena, "-I%s", root));
    clang_add(arena, args, "-c");
    clang_add(arena, args, source);
    clang_add(arena, args, "-o");
    clang_add(arena, args, object);
}

static struct akgen_error *compile_host(struct builder *builder, struct cache_entry *entry,
                                        struct diagnostic_list *list)
{
    struct arena *arena = builder->arena;
    const char **sources = builder->project->host_sources, *pch, *so = NULL;
    const char *root = builder->options->host_override ? builder->options->host_override : builder->project->dir;
    int count = builder->project->host_count;
    struct akgen_error *error = clang_precompiled(arena, &builder->clang, CLANG_HOST, &pch);
    if (!error && builder->options->host_override)
        error = override_sources(builder, &sources, &count);
    if (error)
        return error;
    struct compile *compiles = arena_alloc(arena, (size_t)count * sizeof *compiles);
    const char **objects = arena_alloc(arena, ((size_t)count + 1) * sizeof *objects);
    for (int i = 0; i < count; i++) {
        objects[i] = arena_printf(arena, "%s/host%d.o", builder->work, i);
        compiles[i].root = root;
        host_arguments(builder, &compiles[i].args, pch, root, sources[i], objects[i]);
    }
    run_compiles(builder, compiles, count);
    entry->good = true;
    for (int i = 0; i < count; i++)
        entry->good &= take_compile(builder, &compiles[i], sources[i], list);
    if (entry->good)
        entry->good = link_objects(arena, &builder->clang, CLANG_HOST, false, objects, builder->work, &builder->places,
                                   list, &so);
    return NULL;
}

static struct akgen_error *build_host(struct builder *builder)
{
    double start = clock_seconds();
    struct diagnostic_list list = {0};
    struct cache_entry entry = {0};
    const char *key =
        object_key(builder, "host", builder->options->host_override ? builder->options->host_override : "");
    struct akgen_error *error = NULL;
    if (!look_up(builder, key, &entry, &list)) {
        error = compile_host(builder, &entry, &list);
        const char *so = arena_printf(builder->arena, "%s/host.so", builder->work);
        if (!error)
            error = cache_store(builder->arena, &builder->clang, key, entry.good ? so : NULL, &list, &entry);
    }
    merge(builder, &list);
    builder->build->host_so = entry.so;
    builder->build->host_seconds = clock_seconds() - start;
    if (!error && !entry.good) {
        builder->build->stage = BUILD_HOST;
        builder->build->error = "the host part does not compile";
    }
    return error;
}

/* The OpDef, by running the host part's constructors in the jail. */
static void describe(struct builder *builder)
{
    struct build *build = builder->build;
    const struct job job = {.kind = JOB_DESCRIBE, .host_so = build->host_so, .gm_fd = -1, .seconds = 30};
    struct job_result result;
    double start = clock_seconds();
    job_run(builder->arena, &job, &result);
    build->def = result.def;
    build->describe_seconds = clock_seconds() - start;
    if (result.status != JOB_OK) {
        build->stage = result.status == JOB_BROKEN ? BUILD_BROKEN : BUILD_DESCRIBE;
        build->cheated = result.status == JOB_CHEATED;
        build->error = result.error ? result.error : "the host part could not be run";
    }
    job_result_free(&result);
}

/* The kernel. */

static void overlay_add(struct text *overlay, const char *name, const char *contents)
{
    json_t *file = json_pack("{ss ss ss}", "name", name, "type", "file", "external-contents", contents);
    char *text = json_dumps(file, JSON_COMPACT);
    text_addf(overlay, "%s%s", overlay->length ? "," : "", text ? text : "");
    free(text);
    json_decref(file);
}

static void no_entry(struct builder *builder, const char *source)
{
    struct arena *arena = builder->arena;
    const char *found = builder->prepared.found;
    struct diagnostic diagnostic = {
        .class = DIAG_SYNTAX,
        .error = true,
        .line = 1,
        .file = arena_printf(arena, "op_kernel/%s", strrchr(source, '/') + 1),
        .message = arena_printf(
            arena,
            "no entry point: the file must define extern \"C\" __global__ __aicore__ void %s(...); it defines %s",
            builder->project->entry, found ? found : "no __global__ function")};
    diagnose_add(arena, &builder->diagnostics, &diagnostic);
    builder->build->stage = BUILD_PARSE;
    builder->build->error = diagnostic.message;
}

/* Runs the source pass over op_kernel and writes what it changed, with the overlay that shows it to the compiler. */
static struct akgen_error *prepare_kernel(struct builder *builder)
{
    struct arena *arena = builder->arena;
    const struct op_project *project = builder->project;
    const char **paths, *dir = arena_printf(arena, "%s/op_kernel", project->dir);
    size_t count;
    struct text overlay = {0}, all = {0};
    struct akgen_error *error = files_list(arena, dir, &paths, &count);
    for (size_t i = 0; i < count && !error; i++) {
        if (!is_source(paths[i]))
            continue;
        const char *path = arena_printf(arena, "%s/%s", dir, paths[i]);
        bool main_file = strcmp(path, project->kernel_source) == 0;
        struct prepared_source prepared;
        char *text;
        error = files_read(arena, path, SOURCE_LIMIT, &text, NULL);
        if (error)
            break;
        text_addf(&all, "%s\n", text);
        prepare_source(arena, text, main_file ? project->entry : NULL, builder->options->sanitize_kernel_tiling,
                       &prepared);
        if (main_file)
            builder->prepared = prepared;
        if (!prepared.changed)
            continue;
        const char *written = arena_printf(arena, "%s/source%zu", builder->work, i);
        error = files_write(written, prepared.text, strlen(prepared.text));
        overlay_add(&overlay, path, written);
    }
    builder->overlay = arena_printf(arena, "%s/overlay.json", builder->work);
    builder->kernel_text = arena_strdup(arena, all.bytes ? all.bytes : "");
    const char *text =
        arena_printf(arena, "{\"version\":0,\"case-sensitive\":\"true\",\"use-external-names\":false,\"roots\":[%s]}",
                     overlay.length ? overlay.bytes : "");
    if (!error)
        error = files_write(builder->overlay, text, strlen(text));
    text_free(&overlay);
    text_free(&all);
    if (!error && !builder->prepared.has_entry)
        no_entry(builder, project->kernel_source);
    return error;
}

static const char *upper_case(struct arena *arena, const char *name)
{
    char *upper = arena_strdup(arena, name);
    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return upper;
}

static void define(struct builder *builder, struct text *config, const char *prefix, const char *name,
                   const char *value)
{
    const char *macro = arena_printf(builder->arena, "%s%s", prefix, name);
    /* What the kernel never mentions cannot change it: combinations that differ only there share an object. */
    if (prepare_mentions(builder->kernel_text, macro))
        text_addf(config, "#define %s %s\n", macro, value);
}

static bool mentions_any(const struct builder *builder, const char *const *names)
{
    for (; *names; names++)
        if (prepare_mentions(builder->kernel_text, *names))
            return true;
    return false;
}

/* AKGEN_TPL_TENSORS of template_argument.h, if the kernel ties template arguments to its tensors. */
static void define_tensor_types(struct builder *builder, int combination, struct text *config)
{
    static const char *const ties[] = {"ASCENDC_TPL_INPUT", "ASCENDC_TPL_OUTPUT", NULL};
    const struct op_def *def = &builder->build->def;
    if (!mentions_any(builder, ties))
        return;
    text_addf(config, "#define AKGEN_TPL_TENSORS %d", def->input_count);
    for (int i = 0; i < def->input_count + def->output_count; i++) {
        const struct op_param *param = i < def->input_count ? &def->inputs[i] : &def->outputs[i - def->input_count];
        const char *name = combination < param->count ? akgen_dtype_ge_name(param->types[combination]) : NULL;
        text_addf(config, ", %s", name ? name : "DT_UNDEFINED");
    }
    text_add(config, "\n");
}

/* DTYPE_X, ORIG_DTYPE_X and FORMAT_X of each tensor, as CANN's build passes them; an output that shares the name of an
 * input is X_REF. Format code 2 is ND, and every format of the supported operators is. */
static const char *combination_config(struct builder *builder, int combination)
{
    const struct op_def *def = &builder->build->def;
    struct text config = {0};
    for (int i = 0; i < def->input_count + def->output_count; i++) {
        bool output = i >= def->input_count;
        const struct op_param *param = output ? &def->outputs[i - def->input_count] : &def->inputs[i];
        bool shared = false;
        for (int k = 0; output && k < def->input_count; k++)
            shared |= strcmp(def->inputs[k].name, param->name) == 0;
        if (combination >= param->count)
            continue;
        enum akgen_dtype type = param->types[combination];
        const char *name =
            arena_printf(builder->arena, "%s%s", upper_case(builder->arena, param->name), shared ? "_REF" : "");
        const char *kernel_type = akgen_dtype_kernel_type(type), *ge_name = akgen_dtype_ge_name(type);
        define(builder, &config, "ORIG_DTYPE_", name, ge_name ? ge_name : "DT_UNDEFINED");
        define(builder, &config, "DTYPE_", name, kernel_type ? kernel_type : "unknown");
        define(builder, &config, "FORMAT_", name, "FORMAT_ND");
    }
    if (builder->prepared.is_template)
        define_tensor_types(builder, combination, &config);
    const char *text = arena_strdup(builder->arena, config.bytes ? config.bytes : "");
    text_free(&config);
    return text;
}

/* One distinct text to compile, for one or more combinations. */
struct variant {
    enum clang_side side;
    bool maybe_unused; /* the AIV side of a kernel that may start none */
    const char *config, *key, *object;
    bool code, loaded;
    struct cache_entry entry;
    struct diagnostic_list list;
    double seconds;
};

/* -D, -U and -I of the project's CMakeLists.txt; a relative folder is looked for where a build would run. */
static void add_project_options(struct builder *builder, struct clang_args *args)
{
    struct arena *arena = builder->arena;
    char *words = arena_strdup(arena, builder->project->options ? builder->project->options : ""), *rest;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (word[1] != 'I') {
            clang_add(arena, args, word);
            continue;
        }
        clang_add(arena, args, arena_printf(arena, "-I%s/op_kernel/%s", builder->project->dir, word + 2));
        clang_add(arena, args, arena_printf(arena, "-I%s/%s", builder->project->dir, word + 2));
    }
}

static void kernel_arguments(struct builder *builder, const char *pch, struct variant *variant, int index,
                             struct clang_args *args)
{
    struct arena *arena = builder->arena;
    clang_common_flags(arena, &builder->clang, variant->side, args);
    clang_add(arena, args, "-include-pch");
    clang_add(arena, args, pch);
    clang_add(arena, args, "-include");
    clang_add(arena, args, arena_printf(arena, "%s/config%d.h", builder->work, index));
    clang_add(arena, args, "-ivfsoverlay");
    clang_add(arena, args, builder->overlay);
    /* Line tables and __FILE__ name files relative to the project: the same object wherever it lies. */
    clang_add(arena, args, arena_printf(arena, "-ffile-prefix-map=%s/=", builder->project->dir));
    clang_add(arena, args, "-fdebug-compilation-dir=.");
    clang_add(arena, args, arena_printf(arena, "-I%s/op_kernel", builder->project->dir));
    clang_add(arena, args, arena_printf(arena, "-I%s", builder->project->dir));
    add_project_options(builder, args);
    clang_add(arena, args, variant->code ? "-c" : "-fsyntax-only");
    clang_add(arena, args, builder->project->kernel_source);
    if (variant->code) {
        variant->object = arena_printf(arena, "%s/kernel%d.o", builder->work, index);
        clang_add(arena, args, "-o");
        clang_add(arena, args, variant->object);
    }
}

static struct akgen_error *finish_variant(struct builder *builder, struct variant *variant,
                                          const struct compile *compile)
{
    const char *so = NULL;
    variant->seconds = compile->result.seconds;
    variant->entry.good = take_compile(builder, compile, builder->project->kernel_source, &variant->list);
    if (variant->entry.good && variant->code) {
        double start = clock_seconds();
        const char *objects[] = {variant->object, NULL};
        variant->entry.good = link_objects(builder->arena, &builder->clang, variant->side, variant->maybe_unused,
                                           objects, builder->work, &builder->places, &variant->list, &so);
        variant->seconds += clock_seconds() - start;
    }
    return cache_store(builder->arena, &builder->clang, variant->key, variant->entry.good ? so : NULL, &variant->list,
                       &variant->entry);
}

static struct akgen_error *compile_variants(struct builder *builder, struct variant *variants, int count)
{
    struct arena *arena = builder->arena;
    const char *pch;
    struct compile *compiles = arena_alloc(arena, (size_t)count * sizeof *compiles);
    struct variant **open = arena_alloc(arena, (size_t)count * sizeof *open);
    int opened = 0;
    struct akgen_error *error = NULL;
    for (int i = 0; i < count && !error; i++) {
        if (variants[i].loaded)
            continue;
        error = clang_precompiled(arena, &builder->clang, variants[i].side, &pch);
        if (error)
            break;
        const char *text = arena_printf(arena, PREPARE_MACROS "%s%s", variants[i].config, builder->tiling_header);
        error = files_write(arena_printf(arena, "%s/config%d.h", builder->work, i), text, strlen(text));
        kernel_arguments(builder, pch, &variants[i], i, &compiles[opened].args);
        compiles[opened].root = builder->project->dir;
        open[opened++] = &variants[i];
    }
    if (!error)
        run_compiles(builder, compiles, opened);
    for (int i = 0; i < opened && !error; i++)
        error = finish_variant(builder, open[i], &compiles[i]);
    return error;
}

static struct variant *variant_for(struct variant *variants, int *count, enum clang_side side, const char *config,
                                   bool code)
{
    for (int i = 0; i < *count; i++)
        if (variants[i].side == side && strcmp(variants[i].config, config) == 0) {
            variants[i].code |= code;
            return &variants[i];
        }
    variants[*count] = (struct variant){.side = side, .config = config, .code = code};
    return &variants[(*count)++];
}

/* A kernel may start AICs if it names one of the types that do, or no type and an instruction without which there is no
 * work for them. Otherwise it is compiled for AIVs only. */
static bool names_cube_type(const struct builder *builder)
{
    static const char *const types[] = {"KERNEL_TYPE_AIC_ONLY",    "KERNEL_TYPE_MIX_AIC_1_0", "KERNEL_TYPE_MIX_AIC_1_1",
                                        "KERNEL_TYPE_MIX_AIC_1_2", "ASCENDC_TPL_AIC_ONLY",    "ASCENDC_TPL_MIX_AIC_1_0",
                                        "ASCENDC_TPL_MIX_AIC_1_1", "ASCENDC_TPL_MIX_AIC_1_2", NULL};
    return mentions_any(builder, types);
}

static bool starts_cube(enum entry_cores cores)
{
    return cores == ENTRY_CUBE || cores >= ENTRY_MIX_1_0;
}

static bool infers_type(const struct builder *builder)
{
    static const char *const named[] = {"KERNEL_TASK_TYPE", "KERNEL_TASK_TYPE_DEFAULT", "ASCENDC_TPL_KERNEL_TYPE_SEL",
                                        "ASCENDC_TPL_KERNEL_TYPE_DECL", NULL};
    static const char *const instructions[] = {"Mmad", "Fixpipe", "Matmul", "MatmulImpl", "REGIST_MATMUL_OBJ", NULL};
    return !builder->prepared.cores && !mentions_any(builder, named) && mentions_any(builder, instructions);
}

static void merge_variant(struct builder *builder, const struct variant *variant)
{
    struct build *build = builder->build;
    merge(builder, &variant->list);
    if (!variant->entry.good && build->stage == BUILD_OK) {
        build->stage = BUILD_KERNEL;
        build->error = "the kernel does not compile";
    }
}

/* cube_of: the variants for AICs, or NULL. */
static void record_kernels(struct builder *builder, struct variant *const *of, struct variant *const *cube_of,
                           int combinations)
{
    struct build *build = builder->build;
    build->kernels = arena_alloc(builder->arena, (size_t)combinations * sizeof *build->kernels);
    build->kernel_count = combinations;
    for (int i = 0; i < combinations; i++) {
        const struct variant *variant = of[i];
        build->kernels[i] = (struct build_kernel){
            .combination = i, .so = variant->entry.so, .seconds = variant->seconds, .cached = variant->loaded};
        merge_variant(builder, variant);
        if (variant->maybe_unused || builder->prepared.cores) {
            struct core_uses aiv = core_uses_of(builder->arena, variant->entry.so);
            struct core_uses aic = core_uses_of(builder->arena, cube_of ? cube_of[i]->entry.so : NULL);
            build->kernels[i].inferred_type = core_type_of(builder->prepared.cores, &aiv, &aic);
        }
        if (!cube_of)
            continue;
        build->kernels[i].cube_so = cube_of[i]->entry.so;
        build->kernels[i].seconds += cube_of[i]->seconds;
        build->kernels[i].cached &= cube_of[i]->loaded;
        merge_variant(builder, cube_of[i]);
    }
}

static struct akgen_error *build_kernels(struct builder *builder)
{
    struct arena *arena = builder->arena;
    struct build *build = builder->build;
    int combinations = build->def.combinations > 0 ? build->def.combinations : 1, count = 0;
    double start = clock_seconds();
    bool *wanted = arena_alloc(arena, (size_t)combinations);
    memset(wanted, !builder->options->select, (size_t)combinations);
    if (builder->options->wanted)
        memcpy(wanted, builder->options->wanted, (size_t)combinations);
    if (builder->options->select)
        builder->options->select(builder->options->closure, &build->def, wanted);
    enum entry_cores cores = builder->prepared.cores;
    bool infer = infers_type(builder), cube = infer || names_cube_type(builder) || starts_cube(cores);
    struct variant *variants = arena_alloc(arena, 2 * (size_t)combinations * sizeof *variants);
    struct variant **of = arena_alloc(arena, 2 * (size_t)combinations * sizeof *of), **cube_of = of + combinations;
    for (int i = 0; i < combinations; i++) {
        const char *config = combination_config(builder, i);
        of[i] = variant_for(variants, &count, CLANG_KERNEL, config, wanted[i]);
        of[i]->maybe_unused = infer || cores == ENTRY_CUBE || cores == ENTRY_MIX_1_0;
        if (cube)
            cube_of[i] = variant_for(variants, &count, CLANG_CUBE, config, wanted[i]);
    }
    for (int i = 0; i < count; i++) {
        const char *config = arena_printf(arena, "%s%s%s",
                                          variants[i].side == CLANG_CUBE ? "cube "
                                          : variants[i].maybe_unused     ? "maybe unused "
                                                                         : "",
                                          variants[i].config, builder->tiling_header);
        variants[i].key = object_key(builder, variants[i].code ? "kernel" : "check", config);
        variants[i].loaded = look_up(builder, variants[i].key, &variants[i].entry, &variants[i].list);
    }
    struct akgen_error *error = compile_variants(builder, variants, count);
    if (!error)
        record_kernels(builder, of, cube ? cube_of : NULL, combinations);
    build->kernel_seconds = clock_seconds() - start;
    return error;
}

static struct akgen_error *build_stages(struct builder *builder)
{
    struct build *build = builder->build;
    struct akgen_error *error = prepare_kernel(builder);
    if (!error && build->stage == BUILD_OK)
        error = build_host(builder);
    if (!error && build->stage == BUILD_OK)
        describe(builder);
    if (error || build->stage != BUILD_OK)
        return error;
    builder->tiling_header = arena_printf(builder->arena,
                                          "%s#ifdef AKGEN_TILING_DEFAULT_STRUCT\n"
                                          "typedef AKGEN_TILING_DEFAULT_STRUCT akgen_tiling_default;\n#endif\n",
                                          op_tiling_header(builder->arena, &build->def));
    return build_kernels(builder);
}

struct akgen_error *toolchain_build(struct arena *arena, const struct op_project *project,
                                    const struct build_options *options, struct build *build)
{
    struct builder builder = {.arena = arena, .project = project, .options = options, .build = build};
    *build = (struct build){.stage = BUILD_OK, .entry = arena_printf(arena, PREPARE_PREFIX "%s", project->entry)};
    builder.places = (struct diagnose_places){.project = project->dir,
                                              .other = options->host_override,
                                              .shifted = project->kernel_source,
                                              .prepared = &builder.prepared};
    struct akgen_error *error = clang_find(arena, options->cache_dir, &builder.clang);
    builder.clang.question = options->host_override;
    builder.clang.debug = options->debug;
    if (!error && options->seconds > 0)
        builder.clang.seconds = options->seconds;
    if (!error)
        error = digest_sources(&builder);
    if (!error)
        error = clang_work_directory(arena, &builder.clang, &builder.work);
    if (!error)
        error = build_stages(&builder);
    if (builder.work)
        files_remove_tree(builder.work);
    build->diagnostics = builder.diagnostics.items;
    build->diagnostic_count = builder.diagnostics.count;
    return error;
}
