/* akgen lm train: supervised fine-tuning, and training from scratch. */
#include "base/arena.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "cli/lm_judge.h"
#include "cli/lm_torchrun.h"
#include "lm/train.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MAX_DATA = 64 };

struct arguments {
    struct lm_train_options train;
    const char *data[FILES_MAX_DATA];
    struct lm_adapters_options lora;
    struct lm_online online;
    double alpha;
    struct cli_torchrun torchrun;
    bool preset, json, constant;
    bool precise; /* --precision was given */
};

static void take_targets(void *adapters, char *text, const struct argp_state *state)
{
    struct lm_adapters_options *lora = adapters;
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

static void take_preset(void *arguments, char *text, const struct argp_state *state)
{
    (void)arguments;
    if (strcmp(text, "paper") != 0)
        argp_error(state, "--preset: no '%s'; there is 'paper'", text);
}

static void take_device(void *device, char *text, const struct argp_state *state)
{
    if (strcmp(text, "cpu") != 0 && strcmp(text, "cuda") != 0 && strncmp(text, "cuda:", 5) != 0)
        argp_error(state, "--device: no '%s'; there are cpu, cuda and cuda:N", text);
    *(int *)device = strcmp(text, "cpu") == 0 ? LM_ON_CPU
                     : text[4]                ? (int)cli_parse_number(state, "device", text + 5, 0, 1023)
                                              : 0;
}

static void take_precision(void *elements, char *text, const struct argp_state *state)
{
    const bool whole = strcmp(text, "float32") == 0;
    *(enum lm_dtype *)elements = whole ? LM_F32 : LM_BF16;
    if (!whole && strcmp(text, "bfloat16") != 0)
        argp_error(state, "--precision: no '%s'; there are bfloat16 and float32", text);
}

static const struct words objectives = {3, {[LM_SFT] = "sft", [LM_DPO] = "dpo", [LM_GRPO] = "grpo"}};
static const struct words schedules = {2, {"cosine", "constant"}}, engines = {2, {"c", "torchrun"}};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"data", 0, "FILE", CLI_LIST(data, train.data_count), 1,
     "JSON lines to learn from: {\"text\"}, {\"messages\"}, {\"prompt\", \"completion\"} or {\"input_ids\", "
     "\"labels\"}; for DPO {\"prompt\", \"chosen\", \"rejected\"}, for GRPO {\"prompt\", \"completions\", "
     "\"rewards\"}; several times"},
    {"eval", 0, "FILE", CLI_TEXT(train.eval), 1, "likewise, whose loss is told beside; with --online whose reward"},
    {"output", 'o', "DIR", CLI_TEXT(train.out), 1, "where the model, checkpoints and metrics.jsonl go"},
    {"new", 0, NULL, CLI_FLAG(train.fresh), 1,
     "MODEL has config.json and tokenizer.json alone: its weights are drawn by --seed"},
    {"resume", 0, NULL, CLI_FLAG(train.resume), 1, "go on with the newest checkpoint in DIR, if there is one"},
    {"objective", 0, "sft|dpo|grpo", CLI_WORD(train.objective.kind, objectives, CLI_THERE_ARE), 2,
     "what is learned: answers (default), which answer of two is better, what rewards of a group's answers say"},
    {"beta", 0, "B", CLI_REAL(train.objective.beta, 0, 1000), 2,
     "how close DPO and GRPO stay to the reference (default 0.1 and 0.04)"},
    {"ratio-clip", 0, "E", CLI_REAL(train.objective.clip, 0, 1), 2,
     "GRPO: the ratio of probabilities counts from 1-E to 1+E (default 0.2)"},
    {"reference", 0, "DIR", CLI_TEXT(train.reference), 2,
     "the model that they stay close to (default: MODEL as it is)"},
    {"online", 0, "G", CLI_NUMBER(online.group, 2, 4096), 2,
     "GRPO of the model's own answers: --data has prompts, to each of which a step writes G answers, has them judged "
     "and learns from them"},
    {"judge", 0, CLI_LM_JUDGES, CLI_CALL(cli_lm_take_judge, .at = CLI_AT(online.judge)), 2,
     "who judges them. operators: planner and interpreter, of rows of 'akgen cot export --format prompts' (default). "
     "text: the row's \"answer\" is the right one"},
    {"answer-tokens", 0, "N", CLI_NUMBER(online.most, 1, 1 << 20), 2,
     "of an answer; a longer one is worth nothing (default 256)"},
    {"preset", 0, "NAME", CLI_CALL(take_preset, CLI_ALSO(preset)), 2,
     "paper: AscendKernelGen's. SFT: rate 1.25e-6, with --lora 1.25e-5; 1 % warm-up, 128 samples a step, decay 0.1, "
     "clip 1. DPO: rate 1e-6, 10 % warm-up, 64 pairs a step, 150 steps, beta 0.1. Cosine both. Options that are given "
     "go before it"},
    {"lora", 0, "RANK", CLI_NUMBER(lora.rank, 1, 4096), 2, "train adapters of this rank, not the model"},
    {"lora-alpha", 0, "A", CLI_REAL(alpha, 1e-6, 1e6), 2, "they count A / RANK times (default: twice the rank)"},
    {"lora-targets", 0, "NAMES", CLI_CALL(take_targets, .at = CLI_AT(lora)), 2,
     "matrices that get one (default q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj)"},
    {"rate", 0, "R", CLI_REAL(train.optimizer.rate, 0, 10), 3, "the largest learning rate (default 1e-5)"},
    {"schedule", 0, "cosine|constant", CLI_WORD(constant, schedules, CLI_THERE_ARE), 3,
     "how it goes on behind the warm-up (default cosine)"},
    {"warmup", 0, "W", CLI_REAL(train.warmup, 0, 1e9), 3,
     "share of the steps, or from 1 on steps, in which it rises (default 0.03)"},
    {"decay", 0, "D", CLI_REAL(train.optimizer.decay, 0, 100), 3, "AdamW's weight decay, of matrices (default 0)"},
    {"clip", 0, "N", CLI_REAL(train.optimizer.clip, 0, 1e9), 3, "largest norm of the gradient; 0: any (default 1)"},
    {"batch", 0, "N", CLI_NUMBER(train.batch, 1, 1 << 24), 4, "samples of a step (default 16)"},
    {"tokens", 0, "N", CLI_NUMBER(train.tokens, 1, 1 << 24), 4,
     "tokens of a pass: less needs less memory, and changes no result (default 4096)"},
    {"length", 0, "N", CLI_NUMBER(train.longest, 2, 1 << 24), 4,
     "longer samples are cut (default: what the model can read)"},
    {"epochs", 0, "N", CLI_NUMBER(train.epochs, 1, 1 << 20), 4, "times through the data (default 1)"},
    {"steps", 0, "N", CLI_NUMBER(train.steps, 1, 1 << 30), 4, "in place of --epochs"},
    {"in-order", 0, NULL, CLI_FLAG(train.in_order), 4, "do not shuffle"},
    {"seed", 0, "S", CLI_NUMBER(train.seed, 0, INT32_MAX), 4, "of new weights and the order (default 1)"},
    {"recompute", 0, NULL, CLI_FLAG(train.recompute), 4,
     "keep of each layer only what comes in: less memory, a third more time"},
    {"device", 0, "cpu|cuda[:N]", CLI_CALL(take_device, .at = CLI_AT(train.device)), 4,
     "what computes; cuda: a GPU of NVIDIA's (default cpu)"},
    {"precision", 0, "bfloat16|float32", CLI_CALL(take_precision, .at = CLI_AT(train.elements), CLI_ALSO(precise)), 4,
     "of products of matrices, and on a GPU of activations; weights and sums are float32 in any case (default: on a "
     "GPU bfloat16, else float32)"},
    {"threads", 0, "N", CLI_NUMBER(train.threads, 1, 1024), 4, "default: one for each processor"},
    {"save-every", 0, "N", CLI_NUMBER(train.save_every, 0, 1 << 30), 5,
     "steps between checkpoints; 0: only at the end (default 100)"},
    {"keep", 0, "N", CLI_NUMBER(train.keep, 1, 1 << 20), 5, "checkpoints that stay (default 2)"},
    {"eval-every", 0, "N", CLI_NUMBER(train.eval_every, 0, 1 << 30), 5,
     "steps between evaluations; 0: only at the end (default)"},
    {"dtype", 0, "float32|bfloat16", CLI_CALL(cli_lm_take_dtype, .at = CLI_AT(train.dtype)), 5,
     "of the weights at the end (default float32)"},
    {"json", 0, NULL, CLI_FLAG(json), 5, "print the result as JSON"},
    {"engine", 0, "c|torchrun", CLI_WORD(torchrun.asked, engines, CLI_THERE_ARE), 6,
     "what computes: this program (default), or PyTorch on several processes, for models that one machine cannot hold: "
     "the same rows in the same order, under torchrun on CPUs (DDP), under accelerate with --device cuda (FSDP)"},
    {"processes", 0, "N", CLI_NUMBER(torchrun.processes, 1, 1024), 6,
     "torchrun: on each machine; with --device cuda, GPUs (default 1)"},
    {"nodes", 0, "N", CLI_NUMBER(torchrun.nodes, 1, 65536), 6,
     "torchrun: machines that all see MODEL and DIR; DIR/torchrun/run.sh starts each (default 1)"},
    {"dry-run", 0, NULL, CLI_FLAG(torchrun.dry_run), 6, "torchrun: only write DIR/torchrun; needs no Python"},
    {NULL, 0, "MODEL", CLI_TEXT(train.model), 0, NULL},
};

/* Options that count only beside another. */
static void check_dependents(const struct arguments *arguments, const struct argp_state *state)
{
    const struct lm_train_options *train = &arguments->train;
    const bool referred = train->objective.kind != LM_SFT;
    const struct {
        const char *name, *of;
        bool asked;
    } dependents[] = {{"lora-alpha", "--lora", arguments->lora.rank > 0},
                      {"lora-targets", "--lora", arguments->lora.rank > 0},
                      {"beta", "--objective dpo and grpo", referred},
                      {"reference", "--objective dpo and grpo", referred},
                      {"ratio-clip", "--objective grpo", train->objective.kind == LM_GRPO},
                      {"judge", "--online", train->online},
                      {"answer-tokens", "--online", train->online},
                      {"eval-every", "--eval", train->eval}};
    for (size_t i = 0; i < sizeof dependents / sizeof *dependents; i++)
        if (!dependents[i].asked && cli_given(state, dependents[i].name))
            argp_error(state, "--%s is of %s", dependents[i].name, dependents[i].of);
}

static void check_arguments(void *lm_train, const struct argp_state *state)
{
    struct arguments *arguments = lm_train;
    struct lm_train_options *train = &arguments->train;
    train->online = arguments->online.group ? &arguments->online : NULL;
    train->optimizer.cosine = !arguments->constant;
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
        cli_print_json(root, JSON_INDENT(2));
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
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .excess = CLI_UNEXPECTED,
        .check = check_arguments,
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
    cli_parse(&table, argc, argv, &asked);
    begin(&arguments, &asked);
    cli_parse(&table, argc, argv, &arguments);
    if (arguments.torchrun.asked)
        return cli_torchrun(&arguments.train, &arguments.torchrun, arguments.json);
    arguments.train.on_progress = print_progress;
    arguments.train.stop = &stop;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct lm_train_result result;
    struct akgen_error *error = lm_train(&arguments.train, &result);
    if (!error)
        print_result(&arguments, &result);
    return cli_end(error);
}
