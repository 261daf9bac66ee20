/* akgen lm train: supervised fine-tuning, and training from scratch. */
#include "base/arena.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "cli/lm_judge.h"
#include "cli/lm_torchrun.h"
#include "lm/train.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEY_DATA = 0x500,
    KEY_EVAL,
    KEY_NEW,
    KEY_PRESET,
    KEY_OBJECTIVE,
    KEY_BETA,
    KEY_RATIO_CLIP,
    KEY_REFERENCE,
    KEY_ONLINE,
    KEY_JUDGE,
    KEY_ANSWER_TOKENS,
    KEY_LORA,
    KEY_ALPHA,
    KEY_TARGETS,
    KEY_RATE,
    KEY_SCHEDULE,
    KEY_WARMUP,
    KEY_DECAY,
    KEY_CLIP,
    KEY_BATCH,
    KEY_TOKENS,
    KEY_LENGTH,
    KEY_EPOCHS,
    KEY_STEPS,
    KEY_IN_ORDER,
    KEY_SEED,
    KEY_RECOMPUTE,
    KEY_THREADS,
    KEY_DEVICE,
    KEY_PRECISION,
    KEY_SAVE,
    KEY_KEEP,
    KEY_EVAL_EVERY,
    KEY_RESUME,
    KEY_DTYPE,
    KEY_ENGINE,
    KEY_PROCESSES,
    KEY_NODES,
    KEY_DRY_RUN,
    KEY_JSON,
    FILES_MAX_DATA = 64
};

static const struct argp_option options[] = {
    {"data", KEY_DATA, "FILE", CLI_SEVERAL,
     "JSON lines to learn from: {\"text\"}, {\"messages\"}, {\"prompt\", \"completion\"} or {\"input_ids\", "
     "\"labels\"}; for DPO "
     "{\"prompt\", \"chosen\", "
     "\"rejected\"}, for GRPO {\"prompt\", \"completions\", \"rewards\"}; several times",
     1},
    {"eval", KEY_EVAL, "FILE", 0, "likewise, whose loss is told beside; with --online whose reward", 1},
    {"output", 'o', "DIR", 0, "where the model, checkpoints and metrics.jsonl go", 1},
    {"new", KEY_NEW, NULL, 0, "MODEL has config.json and tokenizer.json alone: its weights are drawn by --seed", 1},
    {"resume", KEY_RESUME, NULL, 0, "go on with the newest checkpoint in DIR, if there is one", 1},
    {"objective", KEY_OBJECTIVE, "sft|dpo|grpo", 0,
     "what is learned: answers (default), which answer of two is better, what rewards of a group's answers say", 2},
    {"beta", KEY_BETA, "B", 0, "how close DPO and GRPO stay to the reference (default 0.1 and 0.04)", 2},
    {"ratio-clip", KEY_RATIO_CLIP, "E", 0, "GRPO: the ratio of probabilities counts from 1-E to 1+E (default 0.2)", 2},
    {"reference", KEY_REFERENCE, "DIR", 0, "the model that they stay close to (default: MODEL as it is)", 2},
    {"online", KEY_ONLINE, "G", 0,
     "GRPO of the model's own answers: --data has prompts, to each of which a step writes G answers, has them judged "
     "and learns from them",
     2},
    {"judge", KEY_JUDGE, CLI_LM_JUDGES, 0,
     "who judges them. operators: planner and interpreter, of rows of 'akgen cot export --format prompts' (default). "
     "text: the row's "
     "\"answer\" is the right one",
     2},
    {"answer-tokens", KEY_ANSWER_TOKENS, "N", 0, "of an answer; a longer one is worth nothing (default 256)", 2},
    {"preset", KEY_PRESET, "NAME", 0,
     "paper: AscendKernelGen's. SFT: rate 1.25e-6, with --lora 1.25e-5; 1 % warm-up, 128 samples a step, decay 0.1, "
     "clip 1. DPO: "
     "rate 1e-6, 10 % warm-up, 64 pairs a step, 150 steps, beta 0.1. Cosine both. Options that are given go before it",
     2},
    {"lora", KEY_LORA, "RANK", 0, "train adapters of this rank, not the model", 2},
    {"lora-alpha", KEY_ALPHA, "A", 0, "they count A / RANK times (default: twice the rank)", 2},
    {"lora-targets", KEY_TARGETS, "NAMES", 0,
     "matrices that get one (default q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj)", 2},
    {"rate", KEY_RATE, "R", 0, "the largest learning rate (default 1e-5)", 3},
    {"schedule", KEY_SCHEDULE, "cosine|constant", 0, "how it goes on behind the warm-up (default cosine)", 3},
    {"warmup", KEY_WARMUP, "W", 0, "share of the steps, or from 1 on steps, in which it rises (default 0.03)", 3},
    {"decay", KEY_DECAY, "D", 0, "AdamW's weight decay, of matrices (default 0)", 3},
    {"clip", KEY_CLIP, "N", 0, "largest norm of the gradient; 0: any (default 1)", 3},
    {"batch", KEY_BATCH, "N", 0, "samples of a step (default 16)", 4},
    {"tokens", KEY_TOKENS, "N", 0, "tokens of a pass: less needs less memory, and changes no result (default 4096)", 4},
    {"length", KEY_LENGTH, "N", 0, "longer samples are cut (default: what the model can read)", 4},
    {"epochs", KEY_EPOCHS, "N", 0, "times through the data (default 1)", 4},
    {"steps", KEY_STEPS, "N", 0, "in place of --epochs", 4},
    {"in-order", KEY_IN_ORDER, NULL, 0, "do not shuffle", 4},
    {"seed", KEY_SEED, "S", 0, "of new weights and the order (default 1)", 4},
    {"recompute", KEY_RECOMPUTE, NULL, 0, "keep of each layer only what comes in: less memory, a third more time", 4},
    {"device", KEY_DEVICE, "cpu|cuda[:N]", 0, "what computes; cuda: a GPU of NVIDIA's (default cpu)", 4},
    {"precision", KEY_PRECISION, "bfloat16|float32", 0,
     "of products of matrices, and on a GPU of activations; weights and sums are float32 in any case (default: on a "
     "GPU "
     "bfloat16, else float32)",
     4},
    {"threads", KEY_THREADS, "N", 0, "default: one for each processor", 4},
    {"save-every", KEY_SAVE, "N", 0, "steps between checkpoints; 0: only at the end (default 100)", 5},
    {"keep", KEY_KEEP, "N", 0, "checkpoints that stay (default 2)", 5},
    {"eval-every", KEY_EVAL_EVERY, "N", 0, "steps between evaluations; 0: only at the end (default)", 5},
    {"dtype", KEY_DTYPE, "float32|bfloat16", 0, "of the weights at the end (default float32)", 5},
    {"json", KEY_JSON, NULL, 0, "print the result as JSON", 5},
    {"engine", KEY_ENGINE, "c|torchrun", 0,
     "what computes: this program (default), or PyTorch on several processes, for models that one machine cannot hold: "
     "the same rows in the same "
     "order, under torchrun on CPUs (DDP), under accelerate with --device cuda (FSDP)",
     6},
    {"processes", KEY_PROCESSES, "N", 0, "torchrun: on each machine; with --device cuda, GPUs (default 1)", 6},
    {"nodes", KEY_NODES, "N", 0,
     "torchrun: machines that all see MODEL and DIR; DIR/torchrun/run.sh starts each (default 1)", 6},
    {"dry-run", KEY_DRY_RUN, NULL, 0, "torchrun: only write DIR/torchrun; needs no Python", 6},
    {0},
};

/* Options that count only beside another. */
enum { OF_LORA, OF_REFERENCE, OF_GRPO, OF_ONLINE, OF_EVAL };
static const struct {
    int key;
    const char *name;
    int of;
} dependents[] = {{KEY_ALPHA, "lora-alpha", OF_LORA},
                  {KEY_TARGETS, "lora-targets", OF_LORA},
                  {KEY_BETA, "beta", OF_REFERENCE},
                  {KEY_REFERENCE, "reference", OF_REFERENCE},
                  {KEY_RATIO_CLIP, "ratio-clip", OF_GRPO},
                  {KEY_JUDGE, "judge", OF_ONLINE},
                  {KEY_ANSWER_TOKENS, "answer-tokens", OF_ONLINE},
                  {KEY_EVAL_EVERY, "eval-every", OF_EVAL}};
enum { DEPENDENTS = sizeof dependents / sizeof *dependents };

struct arguments {
    struct lm_train_options train;
    const char *data[FILES_MAX_DATA];
    struct lm_adapters_options lora;
    struct lm_online online;
    double alpha;
    struct cli_torchrun torchrun;
    bool preset, json, given[DEPENDENTS];
    bool precise; /* --precision was given */
};

static void parse_targets(const struct argp_state *state, const char *text, struct lm_adapters_options *lora)
{
    memset(lora->targets, 0, sizeof lora->targets);
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        int target = 0;
        while (target < LM_TARGETS &&
               (strlen(lm_target_names[target]) != length || strncmp(at, lm_target_names[target], length) != 0))
            target++;
        if (target == LM_TARGETS)
            argp_error(state, "--lora-targets: no '%.*s'; --help lists what there is", (int)length, at);
        lora->targets[target] = true;
        at += length + (at[length] == ',');
    }
}

/* What options begin with: the defaults, or the preset that was asked for, of the objective that was. */
static void begin(struct arguments *arguments, const struct arguments *asked)
{
    bool preset = asked && asked->preset;
    enum lm_objective kind = asked ? asked->train.objective.kind : LM_SFT;
    *arguments = (struct arguments){.train = lm_train_defaults, .preset = preset};
    struct lm_train_options *train = &arguments->train;
    train->data = arguments->data;
    train->objective = (struct lm_objective_options){.kind = kind, .beta = kind == LM_GRPO ? 0.04 : 0.1, .clip = 0.2};
    arguments->online = (struct lm_online){.most = 256, .judge = cli_lm_judge("operators")};
    for (int target = 0; target < LM_TARGETS; target++)
        arguments->lora.targets[target] = true;
    if (!preset)
        return;
    train->optimizer.clip = 1;
    train->optimizer.decay = kind == LM_SFT ? 0.1 : 0;
    train->warmup = kind == LM_SFT ? 0.01 : 0.1;
    train->batch = kind == LM_SFT ? 128 : 64;
    train->steps = kind == LM_SFT ? 0 : 150;
    train->optimizer.rate = kind != LM_SFT ? 1e-6 : asked->lora.rank ? 1.25e-5 : 1.25e-6;
}

static error_t parse_optimizer(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct lm_train_options *train = &arguments->train;
    switch (key) {
    case KEY_PRESET:
        arguments->preset = true;
        if (strcmp(text, "paper") != 0)
            argp_error(state, "--preset: no '%s'; there is 'paper'", text);
        break;
    case KEY_LORA:
        arguments->lora.rank = (int)cli_parse_number(state, "lora", text, 1, 4096);
        break;
    case KEY_ALPHA:
        arguments->alpha = cli_parse_real(state, "lora-alpha", text, 1e-6, 1e6);
        break;
    case KEY_TARGETS:
        parse_targets(state, text, &arguments->lora);
        break;
    case KEY_RATE:
        train->optimizer.rate = cli_parse_real(state, "rate", text, 0, 10);
        break;
    case KEY_SCHEDULE:
        train->optimizer.cosine = strcmp(text, "cosine") == 0;
        if (!train->optimizer.cosine && strcmp(text, "constant") != 0)
            argp_error(state, "--schedule: no '%s'; there are cosine and constant", text);
        break;
    case KEY_WARMUP:
        train->warmup = cli_parse_real(state, "warmup", text, 0, 1e9);
        break;
    case KEY_DECAY:
        train->optimizer.decay = cli_parse_real(state, "decay", text, 0, 100);
        break;
    case KEY_CLIP:
        train->optimizer.clip = cli_parse_real(state, "clip", text, 0, 1e9);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse_objective(int key, char *text, struct argp_state *state)
{
    static const char *const kinds[] = {[LM_SFT] = "sft", [LM_DPO] = "dpo", [LM_GRPO] = "grpo"};
    struct lm_train_options *train = &((struct arguments *)state->input)->train;
    struct lm_online *online = &((struct arguments *)state->input)->online;
    int kind = LM_SFT;
    switch (key) {
    case KEY_OBJECTIVE:
        while (kind <= LM_GRPO && strcmp(text, kinds[kind]) != 0)
            kind++;
        if (kind > LM_GRPO)
            argp_error(state, "--objective: no '%s'; there are sft, dpo and grpo", text);
        train->objective.kind = (enum lm_objective)kind; // NOLINT: one of the table's
        break;
    case KEY_BETA:
        train->objective.beta = cli_parse_real(state, "beta", text, 0, 1000);
        break;
    case KEY_RATIO_CLIP:
        train->objective.clip = cli_parse_real(state, "ratio-clip", text, 0, 1);
        break;
    case KEY_REFERENCE:
        train->reference = text;
        break;
    case KEY_ONLINE:
        online->group = (int)cli_parse_number(state, "online", text, 2, 4096);
        train->online = online;
        break;
    case KEY_JUDGE:
        online->judge = cli_lm_judge(text);
        if (!online->judge)
            argp_error(state, "--judge: no '%s'; there are operators and text", text);
        break;
    case KEY_ANSWER_TOKENS:
        online->most = (int)cli_parse_number(state, "answer-tokens", text, 1, 1 << 20);
        break;
    default:
        return parse_optimizer(key, text, state);
    }
    return 0;
}

static error_t parse_size(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct lm_train_options *train = &arguments->train;
    static const struct {
        int key;
        const char *name;
        long low, high;
    } sizes[] = {{KEY_BATCH, "batch", 1, 1 << 24},          {KEY_TOKENS, "tokens", 1, 1 << 24},
                 {KEY_LENGTH, "length", 2, 1 << 24},        {KEY_EPOCHS, "epochs", 1, 1 << 20},
                 {KEY_STEPS, "steps", 1, 1 << 30},          {KEY_THREADS, "threads", 1, 1024},
                 {KEY_SAVE, "save-every", 0, 1 << 30},      {KEY_KEEP, "keep", 1, 1 << 20},
                 {KEY_EVAL_EVERY, "eval-every", 0, 1 << 30}};
    int *const places[] = {&train->batch,   &train->tokens,     &train->longest, &train->epochs,    &train->steps,
                           &train->threads, &train->save_every, &train->keep,    &train->eval_every};
    if (key == KEY_SEED) {
        train->seed = (uint64_t)cli_parse_number(state, "seed", text, 0, INT32_MAX);
        return 0;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].key == key) {
            *places[i] = (int)cli_parse_number(state, sizes[i].name, text, sizes[i].low, sizes[i].high);
            return 0;
        }
    return parse_objective(key, text, state);
}

static void check_dependents(const struct arguments *arguments, const struct argp_state *state)
{
    static const char *const names[] = {[OF_LORA] = "--lora",
                                        [OF_REFERENCE] = "--objective dpo and grpo",
                                        [OF_GRPO] = "--objective grpo",
                                        [OF_ONLINE] = "--online",
                                        [OF_EVAL] = "--eval"};
    const struct lm_train_options *train = &arguments->train;
    const bool asked[] = {[OF_LORA] = arguments->lora.rank > 0,
                          [OF_REFERENCE] = train->objective.kind != LM_SFT,
                          [OF_GRPO] = train->objective.kind == LM_GRPO,
                          [OF_ONLINE] = train->online,
                          [OF_EVAL] = train->eval};
    for (int i = 0; i < DEPENDENTS; i++)
        if (arguments->given[i] && !asked[dependents[i].of])
            argp_error(state, "--%s is of %s", dependents[i].name, names[dependents[i].of]);
}

static void finish_arguments(struct arguments *arguments, struct argp_state *state)
{
    struct lm_train_options *train = &arguments->train;
    if (!arguments->precise)
        train->elements = train->device == LM_ON_CPU ? LM_F32 : LM_BF16;
    if (arguments->torchrun.asked && train->device == LM_ON_CPU && train->elements == LM_BF16)
        argp_error(state, "--precision bfloat16: with --engine torchrun it is of --device cuda");
    if (!state->arg_num || !train->data_count || !train->out)
        argp_error(state, "MODEL, --data FILE and -o DIR are needed");
    if (arguments->lora.rank) {
        arguments->lora.alpha = arguments->alpha > 0 ? (float)arguments->alpha : 2.0F * (float)arguments->lora.rank;
        train->adapters = &arguments->lora;
        if (train->fresh)
            argp_error(state, "--lora: adapters of a new model are of no use");
    }
    if (train->online && train->objective.kind != LM_GRPO)
        argp_error(state, "--online is of --objective grpo");
    check_dependents(arguments, state);
    if (train->online && (arguments->torchrun.asked || train->device != LM_ON_CPU))
        argp_error(state, "--online trains on the processors of this machine: no --engine torchrun, --device cuda");
    const struct cli_torchrun *torchrun = &arguments->torchrun;
    if (!torchrun->asked && (torchrun->processes || torchrun->nodes || torchrun->dry_run))
        argp_error(state, "--processes, --nodes and --dry-run are of --engine torchrun");
    if (torchrun->asked && train->device > 0)
        argp_error(state, "--device: with --engine torchrun each process has a GPU of its own; cuda, not cuda:%d",
                   train->device);
}

static error_t parse_engine(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case KEY_ENGINE:
        arguments->torchrun.asked = strcmp(text, "torchrun") == 0;
        if (!arguments->torchrun.asked && strcmp(text, "c") != 0)
            argp_error(state, "--engine: no '%s'; there are c and torchrun", text);
        break;
    case KEY_PROCESSES:
        arguments->torchrun.processes = (int)cli_parse_number(state, "processes", text, 1, 1024);
        break;
    case KEY_NODES:
        arguments->torchrun.nodes = (int)cli_parse_number(state, "nodes", text, 1, 65536);
        break;
    case KEY_DRY_RUN:
        arguments->torchrun.dry_run = true;
        break;
    default:
        return parse_size(key, text, state);
    }
    return 0;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct lm_train_options *train = &arguments->train;
    for (int i = 0; i < DEPENDENTS; i++)
        arguments->given[i] |= dependents[i].key == key;
    switch (key) {
    case KEY_DATA:
        if (train->data_count == FILES_MAX_DATA)
            argp_error(state, "--data: more than %d", FILES_MAX_DATA);
        arguments->data[train->data_count++] = text;
        break;
    case KEY_EVAL:
        train->eval = text;
        break;
    case 'o':
        train->out = text;
        break;
    case KEY_NEW:
        train->fresh = true;
        break;
    case KEY_RESUME:
        train->resume = true;
        break;
    case KEY_IN_ORDER:
        train->in_order = true;
        break;
    case KEY_RECOMPUTE:
        train->recompute = true;
        break;
    case KEY_JSON:
        arguments->json = true;
        break;
    case KEY_DEVICE:
        if (strcmp(text, "cpu") != 0 && strcmp(text, "cuda") != 0 && strncmp(text, "cuda:", 5) != 0)
            argp_error(state, "--device: no '%s'; there are cpu, cuda and cuda:N", text);
        train->device = strcmp(text, "cpu") == 0 ? LM_ON_CPU
                        : text[4]                ? (int)cli_parse_number(state, "device", text + 5, 0, 1023)
                                                 : 0;
        break;
    case KEY_PRECISION:
        train->elements = strcmp(text, "float32") == 0 ? LM_F32 : LM_BF16;
        arguments->precise = true;
        if (train->elements == LM_BF16 && strcmp(text, "bfloat16") != 0)
            argp_error(state, "--precision: no '%s'; there are bfloat16 and float32", text);
        break;
    case KEY_DTYPE:
        train->dtype = strcmp(text, "bfloat16") == 0 ? LM_BF16 : LM_F32;
        if (train->dtype == LM_F32 && strcmp(text, "float32") != 0)
            argp_error(state, "--dtype: no '%s'; there are float32 and bfloat16", text);
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "unexpected argument '%s'", text);
        train->model = text;
        break;
    case ARGP_KEY_END:
        finish_arguments(arguments, state);
        break;
    default:
        return parse_engine(key, text, state);
    }
    return 0;
}

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

/* "1h 02m", "3m 20s" */
static const char *duration(double seconds, char text[32])
{
    long whole = (long)seconds;
    if (whole >= 3600)
        snprintf(text, 32, "%ldh %02ldm", whole / 3600, whole / 60 % 60);
    else
        snprintf(text, 32, "%ldm %02lds", whole / 60, whole % 60);
    return text;
}

/* A line that is drawn again on a terminal; elsewhere a line for each hundredth of the run. */
static void print_progress(void *closure, const struct lm_progress *progress)
{
    static bool drawn;
    bool terminal = isatty(STDERR_FILENO), rewarded = !isnan(progress->eval_reward),
         evaluated = rewarded || !isnan(progress->eval_loss);
    int each = progress->steps / 100 > 1 ? progress->steps / 100 : 1;
    char left[32];
    (void)closure;
    if (!terminal && !evaluated && progress->step % each && progress->step != progress->steps)
        return;
    if (terminal && drawn)
        fputs("\r\033[K", stderr);
    if (rewarded) {
        fprintf(stderr, "step %d: evaluation reward %.4f, %.1f %% right\n", progress->step, progress->eval_reward,
                100 * progress->right);
    } else if (evaluated) {
        fprintf(stderr, "step %d: evaluation loss %.4f\n", progress->step, progress->eval_loss);
    } else {
        fprintf(stderr, "step %d of %d, epoch %.2f: loss %.4f, ", progress->step, progress->steps, progress->epoch,
                progress->loss);
        if (progress->kind == LM_DPO)
            fprintf(stderr, "margin %.3f, %.0f %% right, ", progress->chosen - progress->rejected,
                    100 * progress->right);
        else if (progress->kind == LM_GRPO)
            fprintf(stderr, "reward %.3f, KL %.4f, ", progress->reward, progress->kl);
        if (progress->written)
            fprintf(stderr, "%.1f %% right, ", 100 * progress->right);
        fprintf(stderr, "norm %.3g, %.0f tokens/s, %s left%s", progress->norm, progress->tokens_per_second,
                duration(progress->seconds / progress->step * (progress->steps - progress->step), left),
                terminal && progress->step < progress->steps ? "" : "\n");
    }
    drawn = terminal && !evaluated && progress->step < progress->steps;
}

static void print_result(const struct arguments *arguments, const struct lm_train_result *result)
{
    if (arguments->json) {
        json_t *root = json_pack("{s:i s:i s:i s:i s:i s:I s:b}", "step", result->step, "steps", result->steps,
                                 "samples", result->samples, "cut", result->cut, "left_out", result->left_out,
                                 "learned_tokens", (json_int_t)result->learned, "stopped", result->stopped);
        json_object_set_new(root, "loss", isfinite(result->loss) ? json_real(result->loss) : json_null());
        json_object_set_new(root, "eval_loss",
                            isfinite(result->eval_loss) ? json_real(result->eval_loss) : json_null());
        if (arguments->train.online)
            json_object_set_new(root, "eval_reward",
                                isfinite(result->eval_reward) ? json_real(result->eval_reward) : json_null());
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(root);
        return;
    }
    if (arguments->train.online)
        printf("prompts   %d", result->samples);
    else
        printf("samples   %d of %lld tokens to learn", result->samples, (long long)result->learned);
    if (result->cut)
        printf("; %d were cut", result->cut);
    if (result->left_out)
        printf("; %d left out, which have nothing to learn", result->left_out);
    putchar('\n');
    if (result->stopped)
        printf("stopped   at step %d of %d; the same command with --resume goes on\n", result->step, result->steps);
    else
        printf("written   %s\n", arguments->train.out);
}

int cli_lm_train(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "MODEL --data FILE -o DIR",
        .doc = "Trains a model of Qwen3's architecture by SFT, DPO or GRPO: the folder MODEL as Hugging Face has it, "
               "in float32, on the "
               "processors."
               "\vThe loss is the mean over all learned tokens of a step; texts are packed one behind the other, and "
               "none sees another. An "
               "interrupted run (Ctrl-C, SIGTERM) writes a checkpoint; one that is killed goes on from the newest. "
               "With --resume and the "
               "same options the weights become those of a run that nothing stopped, bit for bit.",
    };
    struct arguments asked, arguments;
    begin(&asked, NULL);
    cli_parse(&argp, argc, argv, &asked);
    begin(&arguments, &asked);
    cli_parse(&argp, argc, argv, &arguments);
    if (arguments.torchrun.asked)
        return cli_torchrun(&arguments.train, &arguments.torchrun, arguments.json);
    arguments.train.on_progress = print_progress;
    arguments.train.stop = &stop;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct lm_train_result result;
    struct akgen_error *error = lm_train(&arguments.train, &result);
    if (error)
        return cli_fail(error->of_the_file ? EXIT_USAGE : EXIT_OWN_FAILURE, error);
    print_result(&arguments, &result);
    return EXIT_PASS;
}
