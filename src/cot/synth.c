/* From a seed to an operator: formulas, words, and the texts of a task. */
#include "cot/synth.h"
#include "task/expr/print.h"
#include "cot/graph.h"
#include "cot/synth_internal.h"

#include <string.h>

static bool is_used(const struct synth *s, const char *name)
{
    for (int i = 0; i < s->step_count; i++)
        if (expr_names(s->steps[i].tree, name))
            return true;
    return false;
}

/* What no formula names, a family's second thoughts, goes. */
static void drop_unused(struct synth *s)
{
    int kept = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < s->step_count; i++)
            if (!s->steps[i].output && !is_used(s, s->steps[i].name)) {
                memmove(&s->steps[i], &s->steps[i + 1], sizeof *s->steps * (size_t)(s->step_count - i - 1));
                s->step_count--;
                changed = true;
            }
    }
    for (int i = 0; i < s->tensor_count; i++)
        if (s->tensors[i].output || s->tensors[i].kept || is_used(s, s->tensors[i].name))
            s->tensors[kept++] = s->tensors[i];
    s->tensor_count = kept;
    kept = 0;
    for (int i = 0; i < s->attr_count; i++)
        if (s->attrs[i].silent || is_used(s, s->attrs[i].name))
            s->attrs[kept++] = s->attrs[i];
    s->attr_count = kept;
}

static int operations_of(const struct expr *expr)
{
    int count = expr->node == NODE_CALL && strcmp(expr->name, "type_as") != 0; /* a rounding is none */
    for (int i = 0; i < expr->kid_count; i++)
        count += expr->kids[i] ? operations_of(expr->kids[i]) : 0;
    return count;
}

static const char *answer_of(struct synth *s)
{
    struct text text = {0};
    for (int i = 0; i < s->step_count; i++) {
        text_addf(&text, "%s%s = ", i ? "; " : "", s->steps[i].name);
        expr_print(&text, s->steps[i].tree);
    }
    return text_keep(&text, s->arena);
}

static uint64_t key_of(const struct synth *s)
{
    struct graph_step steps[SYNTH_STEPS];
    for (int i = 0; i < s->step_count; i++)
        steps[i] = (struct graph_step){s->steps[i].name, s->steps[i].tree, s->steps[i].output};
    return graph_key(steps, s->step_count);
}

/* The texts of the task. */
static const char *shape_of(const struct synth *s, enum synth_place place)
{
    switch (place) {
    case SYNTH_COLUMN:
        return "[$shape[-1]]";
    case SYNTH_ROW:
        return "replace($shape, -1, 1)";
    case SYNTH_ONE:
        return "[1]";
    case SYNTH_HALF:
        return "replace($shape, -1, $shape[-1] // 2)";
    case SYNTH_AXIS:
        return arena_printf(s->arena, "replace($shape, %d, 1)", s->axis);
    case SYNTH_FULL:
        break;
    }
    return "$shape";
}

const char *const synth_types[SYNTH_TYPES] = {"float16", "float32", "bfloat16"};

static void add_tensor(const struct synth *s, struct text *yaml, const struct synth_tensor *tensor, unsigned some)
{
    const char *comma = "";
    text_addf(yaml, "  - name: %s\n    shape: \"%s\"\n    dtype: \"%s\"\n    types: [", tensor->name,
              shape_of(s, tensor->place), tensor->type ? tensor->type : "$dtype");
    for (int i = 0; i < SYNTH_TYPES; i++)
        if (some & 1U << i) {
            text_addf(yaml, "%s%s", comma, tensor->type ? tensor->type : synth_types[i]);
            comma = ", ";
        }
    text_add(yaml, "]\n");
}

static void add_outputs(const struct synth *s, struct text *yaml, unsigned some)
{
    int step = 0;
    for (int i = 0; i < s->tensor_count; i++) {
        if (!s->tensors[i].output)
            continue;
        add_tensor(s, yaml, &s->tensors[i], some);
        text_add(yaml, "    formula: \"");
        for (; !s->steps[step].output; step++) {
            text_addf(yaml, "%s = ", s->steps[step].name);
            expr_print(yaml, s->steps[step].tree);
            text_add(yaml, "; ");
        }
        expr_print(yaml, s->steps[step++].tree);
        text_add(yaml, "\"\n");
    }
}

static bool is_truth(const struct synth_tensor *tensor)
{
    return tensor->type && strcmp(tensor->type, "bool") == 0;
}

static const char *yaml_of(const struct synth *s, unsigned some, const char *values)
{
    struct text yaml = {0};
    text_addf(&yaml, "suite: synthetic\nlevel: 1\ncategory: Math\nop: %s\nreference: formula\nvary: sizes%s\ninputs:\n",
              s->op, s->even ? " even" : "");
    for (int i = 0; i < s->tensor_count; i++)
        if (!s->tensors[i].output) {
            add_tensor(s, &yaml, &s->tensors[i], some);
            const char *type = s->tensors[i].type;
            text_addf(&yaml, "    generate: \"%s\"\n",
                      is_truth(&s->tensors[i])             ? "randbool"
                      : type && strcmp(type, "int32") == 0 ? "randint(-6, 7)"
                                                           : values);
        }
    text_add(&yaml, "outputs:\n");
    add_outputs(s, &yaml, some);
    for (int i = 0; i < s->attr_count; i++)
        text_addf(&yaml, "%s  - name: %s\n    type: %s\n    value: \"%s\"\n", i ? "" : "attrs:\n", s->attrs[i].name,
                  s->attrs[i].type, s->attrs[i].value);
    return text_keep(&yaml, s->arena);
}

/* A shape of the usual sizes or of others; operators of single elements come in any. */
static const char *shape_drawn(struct synth *s)
{
    static const char *const usual[] = {"[48, 128, 512]", "[96, 64, 1024]", "[1024, 4096]", "[64, 2048]",
                                        "[32, 32, 768]",  "[8, 16, 256]",   "[128, 256]",   "[4, 3, 32, 64]"};
    static const char *const sizes = "1|2|3|4|5|6|8|10|16|24|25|32|40|48|60|64|96|100|128|256",
                             *const lengths = "8|10|16|32|60|64|100|128|200|256|512|768|1000|1024|2000|2048|4096|5000";
    if (s->small && synth_chance(s, 8))
        return synth_choose(s, "[1]|[1]|[10]|[10, 10]|[2]|[100]|[2, 3]");
    if (!s->flat && synth_chance(s, 50))
        return usual[synth_pick(s, sizeof usual / sizeof *usual)];
    const char *shape = "[";
    int leading = s->flat ? 0 : s->small ? synth_pick(s, 4) : 1 + synth_pick(s, 3);
    for (int i = 0; i < leading; i++)
        shape = arena_printf(s->arena, "%s%s, ", shape, synth_choose(s, sizes));
    return arena_printf(s->arena, "%s%s]", shape, synth_choose(s, s->small && synth_chance(s, 40) ? sizes : lengths));
}

static const char *cases_of(struct synth *s, unsigned some)
{
    int first = __builtin_ctz(some), last = 31 - __builtin_clz(some);
    bool three = s->rank == 3, two = s->rank == 2;
    const char *shape =
        two     ? synth_choose(s,
                               "[1024, 4096]|[64, 2048]|[128, 256]|[256, 384]|[100, 60]|[16, 4096]|[512, 1024]|[33, 512]")
        : three ? synth_choose(s, "[48, 128, 512]|[96, 64, 1024]|[16, 256, 256]|[8, 33, 512]|[4, 10, 60]")
                : shape_drawn(s);
    return arena_printf(s->arena, "case_id;shape;dtype\n0;%s;%s\n1;%s;%s\n2;%s;%s\n", shape, synth_types[first],
                        s->flat ? "[34]"
                        : three ? "[3, 5, 34]"
                                : "[5, 34]",
                        synth_types[last],
                        s->flat ? "[216]"
                        : three ? "[2, 7, 16]"
                        : two   ? "[7, 18]"
                                : "[3, 4, 18]",
                        synth_types[first]);
}

void synth_rename(struct expr *expr, const char *from, const char *to)
{
    if (expr->node == NODE_WORD && strcmp(expr->name, from) == 0)
        expr->name = to;
    for (int i = 0; i < expr->kid_count; i++)
        if (expr->kids[i])
            synth_rename(expr->kids[i], from, to);
}

/* "x = x * a" reads as a change of x. */
static bool changes(const struct synth *s, int step, const char *name)
{
    const struct expr *tree = s->steps[step].tree;
    return tree->node == NODE_CALL && tree->kid_count == 2 && tree->kids[0]->node == NODE_WORD &&
           strcmp(tree->kids[0]->name, name) == 0;
}

/* An input that the step of an output needs, or, if `dead`, another one before it, and none behind it does, so that the output may take
 * its place; -1. */
static int replaced_input(const struct synth *s, int step, bool dead)
{
    int found = -1;
    for (int i = 0; i < s->tensor_count; i++) {
        const struct synth_tensor *input = &s->tensors[i];
        bool free = !input->output && !input->type && input->place == SYNTH_FULL &&
                    (input->kept || dead || expr_names(s->steps[step].tree, input->name));
        for (int later = step + 1; later < s->step_count; later++)
            free &= !expr_names(s->steps[later].tree, input->name);
        for (int other = 0; other < s->tensor_count; other++) /* it was taken, by another output */
            free &= !s->tensors[other].in_place || strcmp(s->tensors[other].name, input->name) != 0;
        if (free && (found < 0 || changes(s, step, input->name)))
            found = i;
    }
    return found;
}

/* Outputs that become inputs; returns "out=in out2=in2". */
static const char *put_in_place(struct synth *s)
{
    const char *pairs = "";
    int percent = s->replaces || strcmp(s->family, "optimizer") == 0 ? 45
                  : strcmp(s->family, "softmax") == 0                ? 25
                  : strcmp(s->family, "norm") == 0                   ? 18
                  : s->small                                         ? 14
                                                                     : 8;
    if (s->mode || (!s->replaces && (s->even || s->steps[0].told)) || !synth_chance(s, s->replaces ? 100 : percent))
        return pairs;
    for (int step = 0; step < s->step_count; step++)
        for (int i = 0; i < s->tensor_count; i++) {
            struct synth_tensor *output = &s->tensors[i];
            if (!output->output || output->in_place || output->type || output->place != SYNTH_FULL ||
                strcmp(output->name, s->steps[step].name) != 0)
                continue;
            int input = replaced_input(s, step, synth_chance(s, 50));
            if (input < 0)
                continue;
            pairs = arena_printf(s->arena, "%s%s%s=%s", pairs, *pairs ? " " : "", output->name, s->tensors[input].name);
            for (int later = step + 1; later < s->step_count; later++)
                synth_rename(s->steps[later].tree, output->name, s->tensors[input].name);
            s->steps[step].name = output->name = s->tensors[input].name;
            output->in_place = true;
        }
    return pairs;
}

/* Whether tensors may be lists: nothing but single elements is computed, of inputs. */
static bool single_elements(const struct synth *s)
{
    bool tensors = false;
    for (int i = 0; i < s->tensor_count; i++)
        tensors |= !s->tensors[i].output && s->tensors[i].place == SYNTH_FULL;
    return s->small && tensors && !s->apart;
}

const char *synth_place_of(struct arena *arena, const char *pairs, const char *name, size_t length)
{
    for (const char *at = pairs; *at;) {
        size_t pair = strcspn(at, " "), output = strcspn(at, "=");
        if (output == length && memcmp(at, name, length) == 0)
            return arena_strndup(arena, at + output + 1, pair - output - 1);
        at += pair + (at[pair] == ' ');
    }
    return NULL;
}

/* A task of plain tensors with outputs in the memory of inputs. */
static const char *meant_yaml(const struct synth_operator *made, struct arena *arena, const char *yaml)
{
    struct text text = {0};
    const char *name = "";
    bool outputs = false;
    for (const char *line = yaml; *line;) {
        size_t length = strcspn(line, "\n");
        text_addf(&text, "%.*s\n", (int)length, line);
        outputs |= strncmp(line, "outputs:", 8) == 0;
        if (strncmp(line, "  - name: ", 10) == 0)
            name = arena_strndup(arena, line + 10, length - 10);
        if (strncmp(line, "    shape: ", 11) == 0) {
            const char *input = outputs ? synth_place_of(arena, made->in_place, name, strlen(name)) : NULL;
            if (input)
                text_addf(&text, "    in_place: %s\n", input);
        }
        line += length + (line[length] == '\n');
    }
    return text_keep(&text, arena);
}

/* " a b ": the tensors that are lists where the operator is of lists. */
static const char *listed(const struct synth *s)
{
    const char *names = " ";
    for (int i = 0; i < s->tensor_count; i++)
        if (s->tensors[i].place != SYNTH_ONE)
            names = arena_printf(s->arena, "%s%s ", names, s->tensors[i].name);
    return names;
}

/* How many of the first outputs stand behind the others: what is computed last is often told first. */
static int turned(struct synth *s)
{
    int outputs = 0;
    for (int i = 0; i < s->tensor_count; i++)
        outputs += s->tensors[i].output;
    return outputs > 1 && synth_chance(s, 50) ? 1 + synth_pick(s, outputs - 1) : 0;
}

/* Inputs and an attribute that change nothing of the result. */
static void add_unused(struct synth *s, struct synth_operator *made)
{
    bool tensors = false, truths = false;
    for (int i = 0; i < s->tensor_count; i++) {
        tensors |= !s->tensors[i].output && s->tensors[i].place == SYNTH_FULL;
        truths |= is_truth(&s->tensors[i]);
    }
    if (synth_chance(s, 6))
        s->absent = made->absent = synth_name(s, "bias|mask|offset|smooth|dsum|residual2|zero_points2|weight2|extra");
    if (s->idle)
        made->idle = s->idle, made->idle_as = s->idle_as;
    else if (!truths && (!tensors || synth_chance(s, 7)))
        s->idle = made->idle = synth_name(s, "y|x|out_fwd|ref|shape_of|saved|like|result|output|dims|orig|probs");
    if (!synth_chance(s, 14))
        return;
    const char *type = synth_choose(s, s->lists ? "int|int|bool|float" : "int|int|bool|string|float");
    s->unused =
        synth_silent(s,
                     *type == 'b'   ? "training|inplace|keep_dims|deterministic|is_first|use_fast"
                     : *type == 's' ? "layout|format|round_mode_name|policy|data_format"
                                    : "mode_id|version|incr|stride_x|group_id|workspace|precision|variant|axis_id|kind",
                     type,
                     *type == 'b'   ? "true"
                     : *type == 's' ? "plain"
                     : *type == 'i' ? "1"
                                    : "1.0");
}

/* `plain`: the index of its data type; below 0: it is as it is drawn. */
static void make(struct arena *arena, uint64_t seed, int plain, struct synth_operator *made)
{
    static const char *const values[SYNTH_VALUES] = {"randn", "uniform(0.1, 2)", "uniform(-0.9, 0.9)"};
    struct synth s = {.arena = arena, .plain = plain >= 0};
    rng_seed(&s.rng, seed);
    s.op = synth_op_name(&s);
    synth_make_family(&s);
    drop_unused(&s);
    if (plain < 0 && synth_chance(&s, strcmp(s.family, "single") == 0 ? 14 : 6))
        synth_round(&s);
    unsigned some = (unsigned[]){7, 7, 3, 1, 2, 6, 5}[synth_pick(&s, 7)];
    if (plain >= 0)
        some = 1U << plain;
    *made = (struct synth_operator){.op = s.op, .family = s.family, .types = some, .in_place = ""};
    for (int i = 0; i < s.step_count; i++)
        made->operations += operations_of(s.steps[i].tree);
    made->cases = cases_of(&s, some);
    if (plain < 0) {
        s.lists = made->lists = single_elements(&s) && synth_chance(&s, 35);
        add_unused(&s, made);
        made->turned = turned(&s);
    }
    for (int i = 0; i < SYNTH_VALUES; i++)
        made->yaml[i] = yaml_of(&s, some, s.generate && i != 1 ? s.generate : values[i]);
    made->key = key_of(&s);
    made->listed = listed(&s);
    if (plain < 0)
        made->in_place = put_in_place(&s);
    for (int i = 0; i < SYNTH_VALUES && (made->lists || *made->in_place); i++)
        made->meant_yaml[i] = meant_yaml(made, arena, made->yaml[i]);
    for (int i = 0; i < s.tensor_count; i++)
        s.tensors[i].each = s.lists && s.tensors[i].place == SYNTH_ONE && synth_chance(&s, 50);
    made->answer = answer_of(&s);
    for (int i = 0; i < s.step_count && s.rounds; i++) /* words say it once for all steps */
        s.steps[i].tree = s.steps[i].said;
    made->description = synth_describe(&s);
}

void synth_operator_make(struct arena *arena, uint64_t seed, struct synth_operator *made)
{
    make(arena, seed, -1, made);
}

void synth_operator_make_plain(struct arena *arena, uint64_t seed, int type, struct synth_operator *made)
{
    make(arena, seed, type, made);
}
