/* The folder of a run under torchrun. */
#include "lm/cluster.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/memory.h"
#include "lm/adapters.h"
#include "lm/checkpoint.h"
#include "lm/course.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NOT_LEARNED = -100, LARGEST_SETTINGS = 1 << 20 };
static const int64_t LARGEST_PROGRAM = 1 << 20, LARGEST_FILE = 5000000000;

struct writing {
    const struct lm_train_options *options;
    const struct lm_cluster_options *cluster;
    struct arena arena;
    const char *folder; /* OUT/torchrun */
    struct lm_config config;
    struct lm_tokenizer *tokenizer;
    struct lm_samples data, eval;
    struct lm_course course;
};

static struct akgen_error *make_folder(struct writing *writing)
{
    const struct lm_train_options *options = writing->options;
    writing->folder = arena_printf(&writing->arena, "%s/torchrun", options->out);
    struct akgen_error *error = files_make_directory(writing->folder);
    if (!error && lm_checkpoint_newest(options->out) >= 0 && !options->resume)
        error = error_new("%s holds a run already: go on with it (--resume), or write elsewhere", options->out);
    return error;
}

static struct akgen_error *read_rows(struct writing *writing)
{
    const struct lm_train_options *options = writing->options;
    struct akgen_error *error =
        lm_config_read(arena_printf(&writing->arena, "%s/config.json", options->model), &writing->config);
    if (!error && options->adapters && writing->config.experts)
        error = error_new("%s has experts: adapters of such are not written", options->model);
    if (!error)
        error = lm_course_read(options, &writing->config, &writing->tokenizer, &writing->data, &writing->eval);
    if (!error)
        lm_course_make(&writing->course, options, &writing->data);
    return error;
}

/* Where a folder is, whatever the folder that its reader runs in; as it stands where it is none (a dry run for another machine). */
static const char *absolute(struct writing *writing, const char *path)
{
    char resolved[PATH_MAX];
    return realpath(path, resolved) ? arena_printf(&writing->arena, "%s", resolved) : path;
}

/* ---- Rows and steps */

static FILE *begin_file(struct writing *writing, const char *name, struct akgen_error **error)
{
    const char *path = arena_printf(&writing->arena, "%s/%s", writing->folder, name);
    FILE *file = fopen(path, "we");
    if (!file)
        *error = error_new("%s: %s", path, strerror(errno));
    return file;
}

static struct akgen_error *end_file(struct writing *writing, const char *name, FILE *file)
{
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return error_new("%s/%s: %s", writing->folder, name, strerror(errno));
    return NULL;
}

/* A text's tokens, or its labels: these stand at the token that is learned, not at the one before it as in a batch. */
static void put_text(FILE *file, const struct lm_samples *samples, int text, bool labels)
{
    int64_t from = samples->starts[text], end = samples->starts[text + 1];
    fputc('[', file);
    for (int64_t at = from; at < end; at++) {
        int value = !labels                                               ? samples->tokens[at]
                    : at > from && samples->labels[at - 1] != LM_NO_LABEL ? samples->tokens[at]
                                                                          : NOT_LEARNED;
        fprintf(file, "%s%d", at > from ? "," : "", value);
    }
    fputc(']', file);
}

static struct akgen_error *write_rows(struct writing *writing, const char *name, const struct lm_samples *samples)
{
    struct akgen_error *error = NULL;
    FILE *file = begin_file(writing, name, &error);
    if (!file)
        return error;
    for (int row = 0; row < lm_samples_groups(samples); row++) {
        int first = row * samples->group, last = first + samples->group;
        for (int labels = 0; labels < 2; labels++) {
            fputs(labels ? "], \"labels\": [" : "{\"input_ids\": [", file);
            for (int text = first; text < last; text++) {
                fputs(text > first ? "," : "", file);
                put_text(file, samples, text, labels);
            }
        }
        fputc(']', file);
        for (int text = first; text < last && writing->options->objective.kind == LM_GRPO; text++)
            fprintf(file, "%s%.9g%s", text > first ? "," : ", \"rewards\": [", (double)samples->rewards[text],
                    text + 1 < last ? "" : "]");
        fputs("}\n", file);
    }
    return end_file(writing, name, file);
}

static struct akgen_error *write_steps(struct writing *writing)
{
    struct akgen_error *error = NULL;
    FILE *file = begin_file(writing, "steps.jsonl", &error);
    if (!file)
        return error;
    for (int step = 0; step < writing->course.steps; step++) {
        int first, last;
        lm_course_step(&writing->course, step, &first, &last);
        fputs("{\"rows\": [", file);
        for (int i = first; i < last; i++)
            fprintf(file, "%s%d", i > first ? "," : "", writing->course.order[i]);
        fprintf(file, "], \"whole\": %.0f}\n",
                lm_course_whole(writing->options, &writing->data, writing->course.order, first, last));
    }
    return end_file(writing, "steps.jsonl", file);
}

static struct akgen_error *write_data(struct writing *writing)
{
    struct akgen_error *error = write_rows(writing, "rows.jsonl", &writing->data);
    if (!error && writing->eval.count)
        error = write_rows(writing, "eval.jsonl", &writing->eval);
    return error ? error : write_steps(writing);
}

/* ---- What a run begins with */

/* The same draws in the same order as lm_train's. A model that is not new is not looked into: it may be larger than this machine. */
static struct akgen_error *write_begin(struct writing *writing)
{
    const struct lm_train_options *options = writing->options;
    const char *folder = arena_printf(&writing->arena, "%s/begin", writing->folder);
    struct rng rng;
    struct akgen_error *error = options->fresh || options->adapters ? files_make_directory(folder) : NULL;
    rng_seed(&rng, options->seed);
    if (!error && options->fresh) {
        struct lm_model model;
        lm_model_new(&model, &writing->config, &rng);
        error = lm_model_write(&model, folder, LM_F32, LARGEST_FILE);
        lm_model_free(&model);
    } else if (!error && options->adapters) {
        struct lm_layout layout;
        struct lm_adapters adapters;
        lm_layout_make(&layout, &writing->config);
        error = lm_adapters_make(&adapters, &layout, options->adapters);
        if (!error) {
            float *weights = lm_adapters_new(&adapters, &rng);
            error = lm_adapters_write(&adapters, weights, folder, absolute(writing, options->model));
            free(weights);
            lm_adapters_free(&adapters);
        }
        lm_layout_free(&layout);
    }
    return error;
}

/* ---- Settings */

static int longest_text(const struct lm_samples *samples)
{
    int64_t longest = 0;
    for (int i = 0; i < samples->count; i++)
        if (samples->starts[i + 1] - samples->starts[i] > longest)
            longest = samples->starts[i + 1] - samples->starts[i];
    return (int)longest;
}

static void digest_rows(struct digest *digest, const struct lm_samples *samples)
{
    if (!samples->count)
        return;
    digest_bytes(digest, samples->tokens, (size_t)samples->starts[samples->count] * sizeof *samples->tokens);
    digest_bytes(digest, samples->labels, (size_t)samples->starts[samples->count] * sizeof *samples->labels);
    digest_bytes(digest, samples->rewards, (size_t)samples->count * sizeof *samples->rewards);
}

static json_t *optimizer_json(const struct lm_optimizer_options *how, int warmup)
{
    return json_pack("{s:f s:s s:i s:f s:f s:f s:f s:f}", "rate", how->rate, "schedule",
                     how->cosine ? "cosine" : "constant", "warmup", warmup, "beta1", how->beta1, "beta2", how->beta2,
                     "eps", how->eps, "decay", how->decay, "clip", how->clip);
}

static json_t *make_settings(struct writing *writing)
{
    static const char *const kinds[] = {[LM_SFT] = "sft", [LM_DPO] = "dpo", [LM_GRPO] = "grpo"};
    const struct lm_train_options *options = writing->options;
    struct digest *digest = digest_new();
    digest_rows(digest, &writing->data);
    digest_rows(digest, &writing->eval);
    int longest = longest_text(&writing->data), other = longest_text(&writing->eval);
    const char *reference = options->reference ? absolute(writing, options->reference) : "";
    json_t *root = json_pack(
        "{s:s s:s s:s s:s s:s s:f s:f s:o s:i s:i s:i s:i s:i s:i s:b s:I s:s s:s}", "model",
        absolute(writing, options->model), "out", absolute(writing, options->out), "reference", reference, "data",
        digest_finish(digest, &writing->arena), "objective", kinds[options->objective.kind], "beta",
        options->objective.beta, "ratio_clip", options->objective.clip, "optimizer",
        optimizer_json(&options->optimizer, writing->course.warmup), "steps", writing->course.steps,
        "steps_of_an_epoch", writing->course.steps_of_an_epoch, "batch", options->batch, "texts_of_a_row",
        writing->data.group, "tokens", options->tokens, "longest", longest > other ? longest : other, "recompute",
        options->recompute, "seed", (json_int_t)options->seed, "device", options->device == LM_ON_CPU ? "cpu" : "cuda",
        "precision", options->elements == LM_F32 ? "float32" : "bfloat16");
    json_object_update_new(root, json_pack("{s:b s:b s:i s:i s:i s:s}", "new", options->fresh, "adapters",
                                           options->adapters != NULL, "save_every", options->save_every, "keep",
                                           options->keep, "eval_every", options->eval_every, "dtype",
                                           options->dtype == LM_BF16 ? "bfloat16" : "float32"));
    json_object_set_new(root, "threads", json_integer(options->threads));
    json_t *companions = json_array();
    for (int i = 0; lm_companions[i]; i++)
        json_array_append_new(companions, json_string(lm_companions[i]));
    json_object_set_new(root, "companions", companions);
    return root;
}

/* A run that goes on has the settings of the one that began, but for what changes no step. */
static struct akgen_error *compare_settings(struct writing *writing, const char *path, json_t *now)
{
    static const char *const free_ones[] = {"save_every", "keep", "eval_every", "threads"};
    char *bytes;
    size_t length;
    struct akgen_error *error = files_read(&writing->arena, path, LARGEST_SETTINGS, &bytes, &length);
    json_t *before = error ? NULL : json_loadb(bytes, length, 0, NULL), *value;
    const char *key;
    json_object_foreach(now, key, value)
    {
        bool free_one = false;
        for (size_t i = 0; i < sizeof free_ones / sizeof *free_ones; i++)
            free_one |= strcmp(key, free_ones[i]) == 0;
        if (!error && !free_one && !json_equal(json_object_get(before, key), value))
            error = error_new("%s: the run that goes on has another '%s'", path, key);
    }
    json_decref(before);
    return error;
}

static struct akgen_error *write_settings(struct writing *writing)
{
    const char *path = arena_printf(&writing->arena, "%s/settings.json", writing->folder);
    json_t *root = make_settings(writing);
    struct akgen_error *error = NULL;
    if (lm_checkpoint_newest(writing->options->out) >= 0 && files_exists(path))
        error = compare_settings(writing, path, root);
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(root);
    if (!error)
        error = files_write(path, text, strlen(text));
    free(text);
    return error;
}

/* ---- How it is started */

/* Keys as accelerate's `accelerate config` writes them. The class of layers that is sharded by itself is the one that transformers names. */
static const char fsdp[] = "compute_environment: LOCAL_MACHINE\n"
                           "distributed_type: FSDP\n"
                           "mixed_precision: '%s'\n"
                           "num_machines: %d\n"
                           "num_processes: %d\n"
                           "machine_rank: 0\n"
                           "main_training_function: main\n"
                           "rdzv_backend: static\n"
                           "same_network: true\n"
                           "use_cpu: false\n"
                           "fsdp_config:\n"
                           "  fsdp_sharding_strategy: FULL_SHARD\n"
                           "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
                           "  fsdp_transformer_layer_cls_to_wrap: %s\n"
                           "  fsdp_backward_prefetch: BACKWARD_PRE\n"
                           "  fsdp_use_orig_params: true\n"
                           "  fsdp_cpu_ram_efficient_loading: true\n"
                           "  fsdp_sync_module_states: true\n"
                           "  fsdp_offload_params: false\n"
                           "  fsdp_state_dict_type: SHARDED_STATE_DICT\n";

static const char shell[] = "#!/bin/sh\n"
                            "# %s\n"
                            "set -eu\n"
                            "here=$(cd \"$(dirname \"$0\")\" && pwd)\n"
                            "%s"
                            "exec \"${PYTHON:-python3}\" %s \\\n"
                            "    \"$here/train.py\" \"$@\"\n";

static const char machines[] = ": \"${MASTER_ADDR:?the address of the first machine, the same on all}\"\n"
                               ": \"${NODE_RANK:?0 on the first machine, and so on}\"\n";

static struct akgen_error *write_starter(struct writing *writing)
{
    const struct lm_cluster_options *cluster = writing->cluster;
    bool cpu = writing->options->device == LM_ON_CPU, several = cluster->nodes > 1;
    struct arena *arena = &writing->arena;
    const char *command, *says, *before = several ? machines : "";
    int all = cluster->processes * cluster->nodes;
    if (cpu) {
        says = arena_printf(arena, "%d processes on CPUs: DDP over gloo, each with the whole model.", all);
        before =
            arena_printf(arena,
                         "%sexport ACCELERATE_USE_CPU=true ACCELERATE_TORCH_DEVICE=cpu CUDA_VISIBLE_DEVICES=\nexport "
                         "OMP_NUM_THREADS=\"${OMP_NUM_THREADS:-%s}\"\n",
                         before,
                         writing->options->threads ? arena_printf(arena, "%d", writing->options->threads)
                                                   : arena_printf(arena, "$((($(nproc) + %d) / %d))",
                                                                  cluster->processes - 1, cluster->processes));
        command = several ? arena_printf(arena,
                                         "-m torch.distributed.run --nnodes %d --nproc_per_node %d --node_rank "
                                         "\"$NODE_RANK\" --master_addr \"$MASTER_ADDR\" --master_port "
                                         "\"${MASTER_PORT:-29500}\"",
                                         cluster->nodes, cluster->processes)
                          : arena_printf(arena, "-m torch.distributed.run --standalone --nproc_per_node %d",
                                         cluster->processes);
    } else {
        says = arena_printf(arena, "%d GPUs: FSDP, each with a part of the model.", all);
        command = arena_printf(arena, "-m accelerate.commands.launch --config_file \"$here/accelerate.yaml\"%s",
                               several ? " --machine_rank \"$NODE_RANK\" --main_process_ip \"$MASTER_ADDR\" "
                                         "--main_process_port \"${MASTER_PORT:-29500}\""
                                       : "");
    }
    const char *path = arena_printf(arena, "%s/run.sh", writing->folder),
               *text = arena_printf(arena, shell, says, before, command);
    struct akgen_error *error = files_write(path, text, strlen(text));
    if (!error && chmod(path, 0755) != 0)
        error = error_new("%s: %s", path, strerror(errno));
    if (!error && !cpu) {
        text = arena_printf(arena, fsdp, writing->options->elements == LM_BF16 ? "bf16" : "no", cluster->nodes, all,
                            writing->config.experts ? "Qwen3MoeDecoderLayer" : "Qwen3DecoderLayer");
        error = files_write(arena_printf(arena, "%s/accelerate.yaml", writing->folder), text, strlen(text));
    }
    return error;
}

static struct akgen_error *copy_program(struct writing *writing)
{
    char *bytes;
    size_t length;
    struct akgen_error *error =
        files_read(&writing->arena, writing->cluster->program, LARGEST_PROGRAM, &bytes, &length);
    return error ? error : files_write(arena_printf(&writing->arena, "%s/train.py", writing->folder), bytes, length);
}

struct akgen_error *lm_cluster_write(const struct lm_train_options *options, const struct lm_cluster_options *cluster,
                                     struct lm_train_result *result)
{
    struct akgen_error *(*const parts[])(struct writing *) = {make_folder, read_rows,     write_settings, write_data,
                                                              write_begin, write_starter, copy_program};
    struct writing writing = {.options = options, .cluster = cluster};
    struct akgen_error *error = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !error; i++)
        error = parts[i](&writing);
    *result = (struct lm_train_result){.steps = writing.course.steps,
                                       .samples = lm_samples_groups(&writing.data),
                                       .cut = writing.data.cut,
                                       .left_out = writing.data.left_out,
                                       .learned = writing.data.learned,
                                       .loss = NAN,
                                       .eval_loss = NAN,
                                       .eval_reward = NAN};
    lm_course_free(&writing.course);
    lm_samples_free(&writing.data);
    lm_samples_free(&writing.eval);
    lm_tokenizer_free(writing.tokenizer);
    arena_free(&writing.arena);
    return error;
}
