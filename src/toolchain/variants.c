/* The kernel's objects: one for each distinct text that the data type combinations yield, on AIVs and, where it may start
 * them, on AICs. */
#include "base/clock.h"
#include "toolchain/build_internal.h"

#include <string.h>

/* One distinct text to compile, for one or more combinations. */
struct variant {
    enum clang_side side;
    bool maybe_unused; /* the AIV side of a kernel that may start none */
    const char *config, *key, *bitcode, *object;
    bool code, loaded, compiled;
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
        clang_add(arena, args, arena_printf(arena, "-I%s/op_kernel/%s", builder->view.root, word + 2));
        clang_add(arena, args, arena_printf(arena, "-I%s/%s", builder->view.root, word + 2));
    }
}

static const char *config_path(const struct builder *builder, int index)
{
    return arena_printf(builder->arena, "%s/config%d.h", builder->work, index);
}

static void kernel_arguments(struct builder *builder, const char *pch, struct variant *variant, int index,
                             struct clang_args *args)
{
    struct arena *arena = builder->arena;
    args->header = pch;
    args->side = variant->side;
    clang_common_flags(arena, &builder->clang, variant->side, args);
    clang_add(arena, args, "-include-pch");
    clang_add(arena, args, pch);
    clang_add(arena, args, "-include");
    clang_add(arena, args, config_path(builder, index));
    /* Line tables and __FILE__ name files relative to the project: the same object wherever it lies and is built. */
    clang_add(arena, args, arena_printf(arena, "-ffile-prefix-map=%s/=", builder->view.root));
    clang_add(arena, args, arena_printf(arena, "-ffile-prefix-map=%s/=", builder->work));
    clang_add(arena, args, "-fdebug-compilation-dir=.");
    clang_add(arena, args, arena_printf(arena, "-I%s/op_kernel", builder->view.root));
    clang_add(arena, args, arena_printf(arena, "-I%s", builder->view.root));
    add_project_options(builder, args);
    clang_add(arena, args, variant->code ? "-c" : "-fsyntax-only");
    clang_add(arena, args, builder->places.shifted);
    if (variant->code) {
        variant->bitcode = arena_printf(arena, "%s/kernel%d.bc", builder->work, index);
        variant->object = arena_printf(arena, "%s/kernel%d.o", builder->work, index);
        clang_add(arena, args, "-emit-llvm");
        clang_add(arena, args, "-o");
        clang_add(arena, args, variant->bitcode);
    }
}

/* From bitcode to an object that is safe by construction (confine/confine.h): the second step of the compile. */
static void confine_arguments(const struct builder *builder, const struct variant *variant, struct compile *compile)
{
    struct arena *arena = builder->arena;
    const char *const arguments[] = {builder->clang.confine, variant->bitcode, variant->object, builder->build->entry,
                                     builder->view.root};
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        clang_add(arena, &compile->next, arguments[i]);
    /* The host part's server: the kernels' have options of code generation of their own. */
    compile->next.side = CLANG_HOST;
    error_free(clang_precompiled(arena, &builder->clang, CLANG_HOST, &compile->next.header));
}

static struct akgen_error *finish_variant(struct builder *builder, struct variant *variant,
                                          const struct compile *compile)
{
    const char *so = NULL;
    variant->compiled = true;
    variant->seconds = compile->result.seconds;
    variant->entry.good = compile_take(builder, compile, builder->project->kernel_source, &variant->list);
    if (variant->entry.good && variant->code) {
        double start = clock_seconds();
        const char *objects[] = {variant->object, NULL};
        variant->entry.good = link_objects(builder->arena, &builder->clang, variant->side, variant->maybe_unused,
                                           objects, builder->work, &builder->places, &variant->list, &so);
        variant->seconds += clock_seconds() - start;
    }
    if (variant->list.broken)
        return error_new("%s", variant->list.broken);
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
        if (variants[i].loaded || variants[i].compiled)
            continue;
        error = clang_precompiled(arena, &builder->clang, variants[i].side, &pch);
        if (error)
            break;
        compiles[opened] = (struct compile){
            .config_path = config_path(builder, i),
            .config = arena_printf(arena, PREPARE_MACROS "%s%s", variants[i].config, builder->tiling_header),
            .defines = variants[i].config};
        kernel_arguments(builder, pch, &variants[i], i, &compiles[opened].args);
        if (variants[i].code)
            confine_arguments(builder, &variants[i], &compiles[opened]);
        open[opened++] = &variants[i];
    }
    if (!error)
        compiles_run(builder, compiles, opened);
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
    return kernel_mentions_any(builder, types);
}

static bool infers_type(const struct builder *builder)
{
    static const char *const named[] = {"KERNEL_TASK_TYPE", "KERNEL_TASK_TYPE_DEFAULT", "ASCENDC_TPL_KERNEL_TYPE_SEL",
                                        "ASCENDC_TPL_KERNEL_TYPE_DECL", NULL};
    static const char *const instructions[] = {"Mmad", "Fixpipe", "Matmul", "MatmulImpl", "REGIST_MATMUL_OBJ", NULL};
    return !builder->prepared.cores && !kernel_mentions_any(builder, named) &&
           kernel_mentions_any(builder, instructions);
}

static void merge_variant(struct builder *builder, const struct variant *variant)
{
    struct build *build = builder->build;
    build_merge(builder, &variant->list);
    if (!variant->entry.good && build->stage == BUILD_OK) {
        build->stage = BUILD_KERNEL;
        build->error = "the kernel does not compile";
    }
}

/* Which variant serves each combination. */
struct kernel_plan {
    bool infer; /* the kernel's type is inferred from its two objects */
    bool cube;  /* it may start AICs */
    int combinations, count;
    struct variant *variants;       /* count of them */
    struct variant **of, **cube_of; /* per combination; cube_of only where `cube` */
};

/* The combinations that code is wanted for: what the options say, and what their function says of the OpDef. */
static bool *wanted_combinations(struct builder *builder, int combinations)
{
    const struct build_options *options = builder->options;
    bool *wanted = arena_alloc(builder->arena, (size_t)combinations);
    memset(wanted, !options->select, (size_t)combinations);
    if (options->wanted)
        memcpy(wanted, options->wanted, (size_t)combinations);
    if (options->select)
        options->select(options->closure, &builder->build->def, wanted);
    return wanted;
}

/* The same text for AICs, for each combination. */
static void plan_cube(struct kernel_plan *plan)
{
    plan->cube = true;
    for (int i = 0; i < plan->combinations; i++)
        plan->cube_of[i] =
            variant_for(plan->variants, &plan->count, CLANG_CUBE, plan->of[i]->config, plan->of[i]->code);
}

static struct kernel_plan plan_kernels(struct builder *builder)
{
    struct arena *arena = builder->arena;
    enum entry_cores cores = builder->prepared.cores;
    int combinations = builder->build->def.combinations > 0 ? builder->build->def.combinations : 1;
    struct kernel_plan plan = {.infer = infers_type(builder), .combinations = combinations};
    const bool *wanted = wanted_combinations(builder, combinations);
    plan.variants = arena_alloc(arena, 2 * (size_t)combinations * sizeof *plan.variants);
    plan.of = arena_alloc(arena, 2 * (size_t)combinations * sizeof *plan.of);
    plan.cube_of = plan.of + combinations;
    for (int i = 0; i < combinations; i++) {
        const char *config = combination_config(builder, i);
        plan.of[i] = variant_for(plan.variants, &plan.count, CLANG_KERNEL, config, wanted[i]);
        plan.of[i]->maybe_unused = plan.infer || cores == ENTRY_CUBE || cores == ENTRY_MIX_1_0;
    }
    if (plan.infer || names_cube_type(builder) || cores == ENTRY_CUBE || cores >= ENTRY_MIX_1_0)
        plan_cube(&plan);
    return plan;
}

static void look_up_variant(struct builder *builder, struct variant *variant)
{
    const char *kind = variant->side == CLANG_CUBE ? "cube " : variant->maybe_unused ? "maybe unused " : "";
    const char *config = arena_printf(builder->arena, "%s%s%s", kind, variant->config, builder->tiling_header);
    variant->key = build_object_key(builder, variant->code ? "kernel" : "check", config);
    variant->loaded = build_look_up(builder, variant->key, &variant->entry, &variant->list);
}

/* Looks up or compiles the variants from number `first` on. */
static struct akgen_error *make_variants(struct builder *builder, struct kernel_plan *plan, int first)
{
    for (int i = first; i < plan->count; i++)
        look_up_variant(builder, &plan->variants[i]);
    return compile_variants(builder, plan->variants, plan->count);
}

static bool any_names_aic(const struct builder *builder, const struct kernel_plan *plan)
{
    bool found = false;
    for (int i = 0; i < plan->count && !found; i++)
        found = core_names_aic(builder->arena, plan->variants[i].entry.so);
    return found;
}

struct akgen_error *build_kernels(struct builder *builder)
{
    struct build *build = builder->build;
    double start = clock_seconds();
    build_begin_stage(builder, "kernel", &builder->kernel, builder->project->files);
    builder->places.shifted = source_view_path(builder->arena, &builder->view, builder->project->kernel_source);
    builder->places.prepared = &builder->prepared;
    struct kernel_plan plan = plan_kernels(builder);
    struct akgen_error *error = make_variants(builder, &plan, 0);
    int before = plan.count;
    /* Its sources did not say so in a way that plan_kernels() sees (a name made by macros). */
    if (!error && !plan.cube && any_names_aic(builder, &plan)) {
        plan_cube(&plan);
        error = make_variants(builder, &plan, before);
    }
    if (!error) {
        build->kernels = arena_alloc(builder->arena, (size_t)plan.combinations * sizeof *build->kernels);
        build->kernel_count = plan.combinations;
        for (int i = 0; i < plan.combinations; i++) {
            const struct variant *variant = plan.of[i], *cube = plan.cube ? plan.cube_of[i] : NULL;
            struct build_kernel *kernel = &builder->build->kernels[i];
            *kernel = (struct build_kernel){
                .combination = i, .so = variant->entry.so, .seconds = variant->seconds, .cached = variant->loaded};
            merge_variant(builder, variant);
            if (variant->maybe_unused || builder->prepared.cores) {
                struct core_uses aiv = core_uses_of(builder->arena, variant->entry.so);
                struct core_uses aic = core_uses_of(builder->arena, cube ? cube->entry.so : NULL);
                if (aiv.unknown || aic.unknown)
                    return error_new("%s: this machine cannot read what it has linked", variant->entry.so);
                kernel->inferred_type = core_type_of(builder->prepared.cores, &aiv, &aic);
            }
            if (cube) {
                kernel->cube_so = cube->entry.so;
                kernel->seconds += cube->seconds;
                kernel->cached &= cube->loaded;
                merge_variant(builder, cube);
            }
        }
    }
    build->kernel_seconds = clock_seconds() - start;
    return error;
}
