/* The model of time against published timings of the chip. benchmarks/timing/published.tsv holds what documents of
 * asc-devkit report of experiments that they describe; the experiments are rebuilt below, with kernels of our own to the
 * same description (benchmarks/timing/FOLDER/op_kernel), and run on the machine. Prints modelled beside published time for
 * each row, how far off each family is, and whether what is faster on the chip is faster here.
 *
 * Usage: timing [--markdown] [--summary] [--full] [--plot=FILE.svg] [FAMILY | ID]...
 * --summary: without the rows.
 * --full: at the published size what otherwise runs with an eighth or less of the work. */
#include "abi/tiling_abi.h"
#include "base/elf.h"
#include "base/files.h"
#include "candidate/folder.h"
#include "npu/npu.h"
#include "npu/task_types.h"
#include "jail/inside/load.h"
#include "toolchain/toolchain.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TENSORS = 3, WORDS = 6, MIB = 1 << 20, WORKSPACE = 16 << 20, TICKS_PER_US = 50 };
enum { SQUARE = 8192 * 8192 * 2, COPIED = 12288 * 12288 * 2, SHARED = 6144 * 512 * 2 }; /* bytes */

/* A matrix product: what a TCubeTiling says of it, with the names of that structure. */
struct product {
    int m, n, k;
    int core_m, core_n, core_k;
    int base_m, base_n, base_k;
    int step_ka, step_kb, depth_a, depth_b;
};
struct experiment {
    const char *id, *folder;
    int key, blocks;
    const char *soc;        /* NULL: Ascend910B1 */
    size_t bytes[TENSORS];  /* of x, y, z; a product's follow from its shape */
    uint32_t words[WORDS];  /* tiling data, unless there is a product */
    bool careless;          /* copies over what was copied before, as published, which is a hazard */
    const int *times;       /* the word that says how often: what counts is how much longer that takes than never */
    struct product product; /* m = 0: none */
    bool bias;              /* a bias is added to the product; it stands behind B */
    size_t workspace;       /* bytes of the kernel's own */
    int step_m;             /* blocks of M that A brings at once; 0: 1 */
    double scale;           /* the published size has so many times the work; 0: 1 */
    int full[3];            /* m, n, k of that size, which --full takes; 0: as they are */
    int full_key;           /* and the key; 0: as it is */
};
#include "timing/experiments.def"

/* Rows of published.tsv. */
enum column { ID, SHAPE, DTYPE, VARIANT, METRIC, VALUE, UNIT, SOURCE, REMARK, COLUMNS };
enum { MOST_ROWS = 512 };
static struct row {
    const char *text[COLUMNS];
    const struct experiment *experiment; /* NULL: not rebuilt */
    double published, modelled;          /* modelled 0: there is no figure */
    double scale;
} rows[MOST_ROWS];
static int row_count;
static bool full_size, markdown, summary;
static const char *plot; /* NULL: none is wanted */

/* What a document calls a figure, and where the model has it. */
enum source { TASK, CYCLES, CORE_MEAN, CORE_LONGEST, BUSY, TICKS, FIRST_MTE2 };
static const struct metric {
    const char *name;
    enum source source;
    bool aic;
    enum npu_lane lane;
} metrics[] = {
    {"Task_Duration", TASK, false, 0},
    {"Task_time", TASK, false, 0},
    {"head_overhead", TASK, false, 0},
    {"total_time", TASK, false, 0},
    {"ticks_per_1000_Add", TICKS, false, 0},
    {"GetSystemCycle_ticks", TICKS, false, 0},
    {"cycles", CYCLES, false, 0},
    {"aiv_time", CORE_MEAN, false, 0},
    {"time_avg", TASK, true, 0},
    {"aicore_time", CORE_MEAN, true, 0},
    {"aic_time", CORE_MEAN, true, 0},
    {"aic_time_avg", CORE_MEAN, true, 0},
    {"aic_time_max", CORE_LONGEST, true, 0},
    {"aic_mte2_time_max", BUSY, true, NPU_LANE_MTE2},
    {"aiv_vec_time", BUSY, false, NPU_LANE_V},
    {"aiv_scalar_time", BUSY, false, NPU_LANE_S},
    {"aiv_mte2_time", BUSY, false, NPU_LANE_MTE2},
    {"aiv_mte3_time", BUSY, false, NPU_LANE_MTE3},
    {"aic_mac_time", BUSY, true, NPU_LANE_M},
    {"aic_scalar_time", BUSY, true, NPU_LANE_S},
    {"aic_scalar_time_avg", BUSY, true, NPU_LANE_S},
    {"aic_mte1_time", BUSY, true, NPU_LANE_MTE1},
    {"aic_mte2_time", BUSY, true, NPU_LANE_MTE2},
    {"aic_mte2_time_avg", BUSY, true, NPU_LANE_MTE2},
    {"aic_fixpipe_time", BUSY, true, NPU_LANE_FIX},
    {"first_mte2_at", FIRST_MTE2, true, 0},
};

/* A kernel of benchmarks/timing, built and loaded for the cores of a kind. */
struct object {
    void *entry;                       /* NULL: it does not run there */
    struct elf_section blocks, own[3]; /* described to the machine (abi/npu_hooks.h) */
    uint64_t base;
};
struct kernel {
    const char *folder;
    const struct npu_task_type *types; /* what it names, for which tiling key */
    size_t type_count;
    struct object of[2]; /* AIV, AIC */
};
static struct kernel kernels[16];
static struct arena arena;

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "timing: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

static void read_sections(struct object *kernel, const char *path)
{
    static const char *const names[] = {NPU_SECTION_BLOCK, NPU_SECTION_CONST, NPU_SECTION_ADDRESSES};
    struct elf_file *file = elf_file_open(path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        elf_section_find(file, names[i], &kernel->own[i]);
    elf_section_find(file, NPU_SECTION_BLOCKS, &kernel->blocks);
    elf_file_close(file);
}

static void load(struct object *kernel, const char *path, const char *entry)
{
    struct object_loaded object;
    bool broken;
    const char *problem = load_prepare(&arena, path, &object, &broken);
    if (!problem)
        problem = load_object(&arena, &object);
    if (problem)
        fail("%s: %s", path, problem);
    load_initialise(&object);
    read_sections(kernel, path);
    kernel->base = object.base;
    kernel->entry = dlsym(object.handle, entry);
    if (!kernel->entry)
        fail("%s", elf_load_error(path));
}

static void build_kernel(struct kernel *kernel, const char *folder)
{
    const char *host = arena_printf(&arena, "%s/benchmarks/timing", toolchain_home());
    struct candidate_source question, source;
    const struct build_options options = {.host = &question.files, .jobs = 1, .seconds = 120};
    struct op_project project;
    struct build build;
    struct akgen_error *error = candidate_source_read(&arena, NULL, host, &question);
    if (!error)
        error = candidate_source_read(&arena, host, arena_printf(&arena, "%s/%s", host, folder), &source);
    if (!error)
        error = op_project_find(&arena, &source.files, NULL, false, &project);
    if (!error)
        error = toolchain_build(&arena, &project, &options, &build);
    if (error)
        fail("%s: %s", folder, error->message);
    for (int i = 0; i < build.diagnostic_count; i++)
        fprintf(stderr, "%s:%d: %s\n", build.diagnostics[i].file, build.diagnostics[i].line,
                build.diagnostics[i].message);
    if (build.stage != BUILD_OK)
        fail("%s: %s", folder, build.error ? build.error : "it does not compile");
    kernel->folder = folder;
    kernel->type_count = task_types_read(&arena, build.kernels[0].so, &kernel->types);
    bool aiv = false, aic = false;
    for (size_t i = 0; i < kernel->type_count; i++) {
        const int type = npu_kernel_type_choose(kernel->types, kernel->type_count, kernel->types[i].key);
        aiv |= type != NPU_TYPE_AIC_ONLY;
        aic |= type == NPU_TYPE_AIC_ONLY || type == NPU_TYPE_MIX_AIC_1_1 || type == NPU_TYPE_MIX_AIC_1_2;
    }
    if (aiv)
        load(&kernel->of[0], build.kernels[0].so, build.entry);
    if (aic)
        load(&kernel->of[1], build.kernels[0].cube_so, build.entry);
}

static struct kernel *find_kernel(const char *folder)
{
    struct kernel *kernel = kernels;
    while (kernel->folder && strcmp(kernel->folder, folder) != 0)
        kernel++;
    if (!kernel->folder)
        build_kernel(kernel, folder);
    return kernel;
}

/* What a launch took. */
struct measured {
    struct npu_timing timing;
    double first_mte2; /* cycles from the start of core 0's first work to its first copy out of GM */
    double first_work;
};

static void take_slice(void *closure, const struct npu_timeline_slice *slice)
{
    struct measured *measured = closure;
    if (slice->core)
        return;
    if (measured->first_work < 0 || slice->start < measured->first_work)
        measured->first_work = slice->start;
    if (slice->lane == NPU_LANE_MTE2 && slice->bytes &&
        (measured->first_mte2 < 0 || slice->start < measured->first_mte2))
        measured->first_mte2 = slice->start;
}

static void describe_object(struct npu *npu, const struct object *kernel, bool aic)
{
    for (size_t i = 0; i < sizeof kernel->own / sizeof *kernel->own; i++)
        if (kernel->own[i].bytes)
            npu_own_memory(npu, (void *)(kernel->base + kernel->own[i].address), kernel->own[i].bytes, // NOLINT
                           i == 0);
    if (kernel->blocks.bytes)
        npu_blocks(npu, aic, (const void *)(kernel->base + kernel->blocks.address), // NOLINT
                   kernel->blocks.bytes / sizeof(struct npu_block_mix));
}

/* GM full of zeros, of which only what is written takes memory. */
static void *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        fail("no memory");
    return memory;
}

static struct measured launch(const struct kernel *kernel, const struct experiment *experiment, const void *tiling,
                              size_t tiling_bytes)
{
    static const struct {
        const char *name;
        enum npu_gm_kind kind;
    } regions[] = {{"x", NPU_GM_INPUT},
                   {"y", NPU_GM_INPUT},
                   {"z", NPU_GM_INOUT},
                   {"workspace", NPU_GM_WORKSPACE},
                   {"tiling", NPU_GM_TILING}};
    enum { REGIONS = sizeof regions / sizeof *regions };
    const size_t bytes[REGIONS] = {
        experiment->bytes[0], experiment->bytes[1], experiment->bytes[2],
        experiment->product.m || experiment->workspace ? WORKSPACE + experiment->workspace : 0, tiling_bytes};
    struct measured measured = {.first_mte2 = -1, .first_work = -1};
    const int type = npu_kernel_type_choose(kernel->types, kernel->type_count, (uint64_t)experiment->key);
    const struct npu_config config = {.soc = npu_soc_find(experiment->soc ? experiment->soc : "Ascend910B1"),
                                      .tiling_key = (uint64_t)experiment->key,
                                      .kernel_type = type,
                                      .aic_kernel = kernel->of[1].entry,
                                      .reserved_workspace = WORKSPACE,
                                      .no_hazards = experiment->careless,
                                      .timing = true,
                                      .slice = strncmp(experiment->id, "consttiling", 11) ? NULL : take_slice,
                                      .slice_closure = &measured};
    struct npu *npu = npu_create(&config);
    void *memory[REGIONS] = {NULL};
    uint64_t args[REGIONS];
    for (int i = 0; i < REGIONS; i++) {
        if (bytes[i]) {
            memory[i] = map(bytes[i]);
            npu_gm_add(npu, regions[i].name, memory[i], bytes[i], regions[i].kind, true);
        }
        args[i] = (uint64_t)memory[i];
    }
    memcpy(memory[REGIONS - 1], tiling, tiling_bytes);
    for (int aic = 0; aic < 2; aic++)
        if (kernel->of[aic].entry)
            describe_object(npu, &kernel->of[aic], aic);
    npu_confine(npu);
    if (!npu_launch(npu, type == NPU_TYPE_AIC_ONLY ? NULL : kernel->of[0].entry, args, REGIONS, experiment->blocks)) {
        size_t count;
        const struct npu_finding *findings = npu_findings(npu, &count);
        fail("%s: %s: %s", experiment->id, findings[0].fault, findings[0].message);
    }
    measured.timing = npu_timing(npu);
    npu_destroy(npu);
    for (int i = 0; i < REGIONS; i++)
        if (memory[i])
            munmap(memory[i], bytes[i]);
    return measured;
}

static struct akgen_TCubeTiling tile(const struct experiment *experiment)
{
    const struct product *p = &experiment->product;
    return (struct akgen_TCubeTiling){
        .usedCoreNum = experiment->blocks,
        .M = p->m,
        .N = p->n,
        .Ka = p->k,
        .Kb = p->k,
        .singleCoreM = p->core_m,
        .singleCoreN = p->core_n,
        .singleCoreK = p->core_k,
        .baseM = p->base_m,
        .baseN = p->base_n,
        .baseK = p->base_k,
        .depthA1 = p->depth_a,
        .depthB1 = p->depth_b,
        .stepM = experiment->step_m ? experiment->step_m : 1,
        .stepN = 1,
        .stepKa = p->step_ka,
        .stepKb = p->step_kb,
        .dbL0A = 2,
        .dbL0B = 2,
        .dbL0C = 1,
        .isBias = experiment->bias,
        .shareL1Size =
            2 * p->base_k * (p->depth_a * p->base_m + p->depth_b * p->base_n) + (experiment->bias ? 4 * p->base_n : 0),
        .shareL0CSize = 4 * p->base_m * p->base_n,
        .transLength = 4 * p->base_m * p->base_n,
        .BatchNum = 1,
    };
}

/* The experiment at the published size. */
static void enlarge(struct experiment *experiment)
{
    struct product *p = &experiment->product;
    int *const sizes[] = {&p->m, &p->n, &p->k}, *const of_core[] = {&p->core_m, &p->core_n, &p->core_k};
    for (int i = 0; i < 3; i++)
        if (experiment->full[i]) {
            if (*of_core[i] == *sizes[i])
                *of_core[i] = experiment->full[i];
            *sizes[i] = experiment->full[i];
        }
    experiment->key = experiment->full_key ? experiment->full_key : experiment->key;
    experiment->scale = 1;
}

static struct measured run(struct experiment *experiment)
{
    const struct kernel *kernel = find_kernel(experiment->folder);
    struct product *p = &experiment->product;
    if (!p->m) {
        struct measured measured = launch(kernel, experiment, experiment->words, sizeof experiment->words);
        if (experiment->times) {
            experiment->words[*experiment->times] = 0;
            measured.timing.cycles -=
                launch(kernel, experiment, experiment->words, sizeof experiment->words).timing.cycles;
        }
        return measured;
    }
    if (full_size && experiment->scale > 1)
        enlarge(experiment);
    const struct akgen_TCubeTiling tiling = tile(experiment);
    experiment->bytes[0] = (size_t)p->m * (size_t)p->k * 2;
    experiment->bytes[1] = (size_t)p->n * (size_t)p->k * 2 + (experiment->bias ? (size_t)p->n * 4 : 0);
    experiment->bytes[2] = (size_t)p->m * (size_t)p->n * 4;
    return launch(kernel, experiment, &tiling, sizeof tiling);
}

/* The figure that a document calls `metric`, at the size that ran; 0: there is none. */
static double figure(const struct measured *measured, const struct metric *metric)
{
    const struct npu_timing *t = &measured->timing;
    const struct npu_timing_cores *cores = &t->of[metric->aic];
    switch (metric->source) {
    case TASK:
        return npu_timing_us(t, t->cycles);
    case CYCLES:
        return t->cycles;
    case TICKS:
        return npu_timing_us(t, t->cycles) * TICKS_PER_US;
    case CORE_MEAN:
        return npu_timing_us(t, cores->mean);
    case CORE_LONGEST:
        return npu_timing_us(t, cores->longest);
    case BUSY:
        return npu_timing_us(t, cores->busy[metric->lane]);
    case FIRST_MTE2:
        return measured->first_mte2 < 0 ? 0 : npu_timing_us(t, measured->first_mte2 - measured->first_work);
    }
    return 0;
}

static const struct metric *find_metric(const char *name)
{
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (!strcmp(metrics[i].name, name))
            return &metrics[i];
    fail("published.tsv: there is no metric '%s'", name);
}

/* All rows of an experiment, from one run. A longer K leaves the results as many as they are. */
static void fill_rows(const struct experiment *given)
{
    struct experiment experiment = *given;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "%-30s\r", given->id);
    const struct measured measured = run(&experiment);
    const bool longer_k = experiment.full[2] && !experiment.full[0];
    for (int i = 0; i < row_count; i++)
        if (rows[i].experiment == given) {
            const struct metric *metric = find_metric(rows[i].text[METRIC]);
            rows[i].scale = experiment.scale > 0 ? experiment.scale : 1;
            if (longer_k && metric->source == BUSY && (!metric->aic || metric->lane == NPU_LANE_FIX))
                rows[i].scale = 1;
            rows[i].modelled = measured.timing.known ? figure(&measured, metric) * rows[i].scale : 0;
        }
}

static const struct experiment *find_experiment(const char *id)
{
    for (size_t i = 0; i < sizeof experiments / sizeof *experiments; i++)
        if (!strcmp(experiments[i].id, id))
            return &experiments[i];
    return NULL;
}

/* "bankub-s1" is of the family "bankub". */
static size_t family_length(const char *id)
{
    const char *dash = strrchr(id, '-');
    return dash ? (size_t)(dash - id) : strlen(id);
}

static void read_rows(void)
{
    char *text, *line;
    const char *path = arena_printf(&arena, "%s/benchmarks/timing/published.tsv", toolchain_home());
    struct akgen_error *error = files_read(&arena, path, MIB, &text, NULL);
    if (error)
        fail("%s", error->message);
    strsep(&text, "\n"); /* the columns' names */
    while ((line = strsep(&text, "\n")) && *line && row_count < MOST_ROWS) {
        struct row *row = &rows[row_count++];
        for (int i = 0; i < COLUMNS; i++) {
            row->text[i] = strsep(&line, "\t");
            if (!row->text[i])
                fail("%s: row %d has %d columns, expected %d", path, row_count, i, COLUMNS);
        }
        row->published = strtod(row->text[VALUE], NULL);
        row->experiment = find_experiment(row->text[ID]);
    }
}

static double ratio(const struct row *row)
{
    return row->modelled > 0 ? row->modelled / row->published : 0;
}

static void print_rows(void)
{
    const char *format = markdown ? "| %s | %s | %s | %s | %s | %s | %s |\n" : "%-20s %-20s %12s %12s %6s %6s  %s\n";
    printf(format, "experiment", "figure", "published", "modelled", "ratio", "scaled", "");
    if (markdown)
        printf("|---|---|--:|--:|--:|--:|---|\n");
    for (int i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        char modelled[32], compared[32], scaled[32] = "";
        if (row->modelled <= 0)
            continue;
        snprintf(modelled, sizeof modelled, "%.*f", row->modelled < 100 ? 2 : 0, row->modelled);
        snprintf(compared, sizeof compared, "%.2f", ratio(row));
        if (row->scale > 1)
            snprintf(scaled, sizeof scaled, "x%.0f", row->scale);
        printf(format, row->text[ID], row->text[METRIC], row->text[VALUE], modelled, compared, scaled,
               row->text[REMARK]);
    }
}

/* How far the figures of a family are off; NULL: all. */
static void print_family(const char *id, size_t length)
{
    double logs = 0, worst = 1;
    int count = 0, close = 0, far = 0;
    for (int i = 0; i < row_count; i++) {
        double r = ratio(&rows[i]);
        if (r <= 0 || (id && (family_length(rows[i].text[ID]) != length || strncmp(rows[i].text[ID], id, length) != 0)))
            continue;
        count++;
        logs += log(r);
        close += r >= 0.75 && r <= 1.25;
        far += r > 2 || r < 0.5;
        worst = fabs(log(r)) > fabs(log(worst)) ? r : worst;
    }
    const char *format =
        markdown ? "| %.*s | %d | %.2f | %.2f | %.0f %% | %d |\n" : "%-12.*s %4d %10.2f %6.2f %9.0f %% %8d\n";
    if (count)
        printf(format, (int)length, id ? id : "all", count, exp(logs / count), worst, 100.0 * close / count, far);
}

static bool same_family(const struct row *row, const struct row *other)
{
    const size_t length = family_length(row->text[ID]);
    return other && family_length(other->text[ID]) == length && !strncmp(row->text[ID], other->text[ID], length);
}

static void print_families(void)
{
    if (markdown)
        printf(
            "\n| family | figures | geometric mean | worst | within 25 %% | beyond 2x |\n|---|--:|--:|--:|--:|--:|\n");
    else
        printf("\n%-12s %4s %10s %6s %11s %8s\n", "family", "rows", "geo. mean", "worst", "within 25 %", "beyond 2x");
    for (int i = 0; i < row_count; i++)
        if (!same_family(&rows[i], i ? &rows[i - 1] : NULL))
            print_family(rows[i].text[ID], family_length(rows[i].text[ID]));
    print_family(NULL, strlen("all"));
}

static const struct row *find_row(const char *id, const char *metric)
{
    for (int i = 0; i < row_count; i++)
        if (!strcmp(rows[i].text[ID], id) && !strcmp(rows[i].text[METRIC], metric))
            return &rows[i];
    fail("published.tsv: there is no %s of %s", metric, id);
}

static void print_pairs(void)
{
    int right = 0, count = 0;
    const char *format = markdown ? "| %s | %s | %s | %.3f | %.3f | %s |\n" : "%-20s %-20s %-22s %8.3f %8.3f  %s\n";
    if (markdown)
        printf("\n| slower | faster | figure | published | modelled | |\n|---|---|---|--:|--:|---|\n");
    else
        printf("\n%-20s %-20s %-22s %8s %8s\n", "slower", "faster", "figure", "published", "modelled");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct row *slower = find_row(pairs[i].slower, pairs[i].metric),
                         *faster = find_row(pairs[i].faster, pairs[i].metric);
        if (slower->modelled <= 0 || faster->modelled <= 0)
            continue;
        double published = slower->published / faster->published, modelled = slower->modelled / faster->modelled;
        const char *word = modelled > 1.001   ? "faster here too"
                           : modelled < 0.999 ? "slower here"
                                              : "no difference here";
        count++;
        right += modelled > 1.001;
        printf(format, pairs[i].slower, pairs[i].faster, pairs[i].metric, published, modelled, word);
    }
    if (count)
        printf("\n%d of %d variants that are faster on the chip are faster here.\n", right, count);
}

static void print_omitted(void)
{
    const char *last = "";
    printf("\nNot rebuilt:\n");
    for (int i = 0; i < row_count; i++)
        if (!rows[i].experiment && strcmp(last, rows[i].text[ID]) != 0) {
            last = rows[i].text[ID];
            printf("%s%s: %s\n", markdown ? "- " : "  ", last, rows[i].text[REMARK]);
        }
}

/* Of the picture: pixels, and ratios at its sides. */
enum { LEFT = 110, WIDE = 600, LINE = 22, ABOVE = 34 };
static const double least_ratio = 1 / 16.0, most_ratio = 4;

static double across(double of)
{
    return LEFT + WIDE * log(of / least_ratio) / log(most_ratio / least_ratio);
}

/* What stands above the families: the scale, and behind them where a figure is within 25 %. */
static void draw_scale(FILE *file, int height)
{
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\"><title>Modelled over published, by family</title><rect width=\"100%%\" height=\"100%%\" "
            "fill=\"white\"/><rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#e8f0e8\"/>\n",
            LEFT + WIDE + 20, height, across(0.75), ABOVE, across(1.25) - across(0.75), height - ABOVE);
    for (double tick = least_ratio; tick <= most_ratio; tick *= 2)
        fprintf(file,
                "<path d=\"M%.1f %dV%d\" stroke=\"%s\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
                across(tick), ABOVE, height, tick == 1 ? "#444" : "#ddd", across(tick), ABOVE - 6, tick);
    fprintf(file, "<text x=\"4\" y=\"14\">modelled / published; filled: whole kernels, hollow: pipes</text>\n");
}

/* The next row that has a figure; NULL: there is none. */
static const struct row *next_figure(const struct row *row)
{
    for (row = row ? row + 1 : rows; row < rows + row_count; row++)
        if (row->modelled > 0)
            return row;
    return NULL;
}

static bool is_of_pipe(const char *metric)
{
    static const char *const pipes[] = {"mte", "mac", "vec", "scalar", "fixpipe"};
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++)
        if (strstr(metric, pipes[i]))
            return true;
    return false;
}

/* Every figure that was modelled, a line for each family. */
static void draw(const char *path)
{
    int lines = 0, line = 0;
    const struct row *last = NULL;
    for (const struct row *row = next_figure(NULL); row; last = row, row = next_figure(row))
        lines += !same_family(row, last);
    FILE *file = fopen(path, "w");
    if (!file)
        fail("%s cannot be written", path);
    draw_scale(file, ABOVE + (lines + 1) * LINE);
    last = NULL;
    for (const struct row *row = next_figure(NULL); row; last = row, row = next_figure(row)) {
        if (!same_family(row, last))
            fprintf(file, "<text x=\"4\" y=\"%d\">%.*s</text>\n", ABOVE + ++line * LINE + 4,
                    (int)family_length(row->text[ID]), row->text[ID]);
        fprintf(file,
                "<circle cx=\"%.1f\" cy=\"%d\" r=\"3.5\" fill=\"%s\" stroke=\"#2a5db0\"><title>%s %s: "
                "%.2f</title></circle>\n",
                across(ratio(row)), ABOVE + line * LINE, is_of_pipe(row->text[METRIC]) ? "none" : "#2a5db0",
                row->text[ID], row->text[METRIC], ratio(row));
    }
    fprintf(file, "</svg>\n");
    if (fclose(file))
        fail("%s is not written", path);
}

static bool is_asked_for(const char *id, char *const *names)
{
    bool asked = !*names;
    for (; *names && !asked; names++)
        asked = !strcmp(id, *names) || (strlen(*names) == family_length(id) && !strncmp(id, *names, family_length(id)));
    return asked;
}

static void take_option(const char *option)
{
    static const struct {
        const char *name;
        bool *set;
    } options[] = {{"--full", &full_size}, {"--markdown", &markdown}, {"--summary", &summary}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (!strcmp(options[i].name, option)) {
            *options[i].set = true;
            return;
        }
    if (strncmp(option, "--plot=", 7) != 0 || !option[7])
        fail("usage: timing [--markdown] [--summary] [--full] [--plot=FILE.svg] [FAMILY | ID]...");
    plot = option + 7;
}

int main(int argc, char **argv)
{
    char **names = argv + 1;
    int ran = 0;
    (void)argc;
    for (; *names && !strncmp(*names, "--", 2); names++)
        take_option(*names);
    read_rows();
    for (size_t i = 0; i < sizeof experiments / sizeof *experiments; i++)
        if (is_asked_for(experiments[i].id, names)) {
            fill_rows(&experiments[i]);
            ran++;
        }
    if (!ran)
        fail("there is no experiment and no family '%s'", *names);
    if (!summary)
        print_rows();
    print_families();
    print_pairs();
    print_omitted();
    if (plot)
        draw(plot);
    arena_free(&arena);
    return 0;
}
