/* Names of operators, tensors, attributes and steps. A model has to copy names that it has never seen, so that three in ten have no
 * meaning at all. */
#include "base/words.h"
#include "cot/synth_internal.h"
#include "task/expr/formula.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *synth_choose(struct synth *s, const char *words)
{
    int count = 1;
    for (const char *c = words; *c; c++)
        count += *c == '|';
    int chosen = synth_pick(s, count);
    for (; chosen; chosen--)
        words = strchr(words, '|') + 1;
    return arena_strndup(s->arena, words, strcspn(words, "|"));
}

/* Words that mean something in formulas, or in the words around them. */
static bool is_reserved(const char *name)
{
    static const char *const words[] = {
        "all",   "pi",   "e",     "inf",   "nan", "true",  "false", "none", "and",  "or",   "not",    "if",  "else",
        "where", "with", "dim",   "axis",  "in",  "is",    "torch", "np",   "size", "pow",  "select", "lse", "rows",
        "tile",  "cols", "tl",    "range", "len", "float", "int",   "half", "min",  "max",  "abs",    "sum", "norm",
        "exp",   "log",  "shape", "dtype", "do",  "for",   "new",   "try",  "asm",  "auto", "goto"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(words[i], name) == 0)
            return true;
    return false;
}

static bool is_taken(const struct synth *s, const char *name)
{
    for (int i = 0; i < s->name_count; i++)
        if (strcasecmp(s->names[i], name) == 0)
            return true;
    return false;
}

const struct synth_tensor *synth_tensor_of(const struct synth *s, const char *name)
{
    for (int i = 0; i < s->tensor_count; i++)
        if (strcmp(s->tensors[i].name, name) == 0)
            return &s->tensors[i];
    return NULL;
}

bool synth_is_name(const struct synth *s, const char *name)
{
    for (int i = 0; i < s->name_count; i++)
        if (strcmp(s->names[i], name) == 0)
            return true;
    return false;
}

/* Letters that mean nothing: a word that stands nowhere else. */
static const char *letters(struct synth *s)
{
    struct text text = {0};
    for (int i = 2 + synth_pick(s, 5); i; i--)
        text_addf(&text, "%c", "aaeeiioubcdfghjklmnprstvwxyzqrst"[synth_pick(s, 32)]);
    if (synth_chance(s, 25))
        text_addf(&text, "%s%c", synth_chance(s, 50) ? "_" : "", 'A' + synth_pick(s, 26));
    return text_keep(&text, s->arena);
}

/* Words of this trade, two or three of them, joined as programs join them. */
static const char *joined(struct synth *s)
{
    static const char parts[] =
        "input|output|data|grad|clip|value|min|max|state|factor|bias|mask|start|end|index|scale|"
        "list|tensor|momentum|weight|num|first|last|keep|base|cache|norm|loss|row|col|flag|sum|"
        "var|prev|cur|new|old|self|mat|size|step|rate|param|hidden|shift|offset|logit|prob";
    bool camel = synth_chance(s, 35);
    struct text text = {0};
    for (int i = 0, count = 2 + synth_chance(s, 30); i < count; i++) {
        const char *part = synth_choose(s, parts);
        text_addf(&text, "%s%c%s", i && !camel ? "_" : "", i && camel ? toupper((unsigned char)*part) : *part,
                  part + 1);
    }
    return text_keep(&text, s->arena);
}

/* As graphs name what goes into their nodes: "mul_1_input0", "add0_x". */
static const char *node_input(struct synth *s)
{
    const char *node = synth_choose(s, "add|mul|sub|div|max|relu|select|cast|mean|bn|fc|gate|sigmoid|exp|concat|bias"),
               *input = synth_choose(s, "input|in|x|y|input|arg|data|lhs|rhs");
    node = arena_printf(s->arena, synth_chance(s, 50) ? "%s_%d" : "%s%d", node, synth_pick(s, 4));
    return arena_printf(s->arena, synth_chance(s, 60) ? "%s_%s%d" : "%s_%s", node, input, synth_pick(s, 3));
}

static const char *meaningless(struct synth *s)
{
    static const char *const syllables = "ab|be|ca|da|el|fo|ga|ha|in|jo|ka|lo|ma|ne|op|pa|qu|ra|si|ta|un|va|wi|xa|yo|"
                                         "za|tr|st|ll|gr|ten|mul|add|val|sum|arr|vec|mat|buf|reg|acc|out|src";
    struct text text = {0};
    int kind = synth_pick(s, 10), count = 1 + synth_pick(s, 3);
    if (kind < 6)
        return kind < 3 ? letters(s) : joined(s);
    if (kind == 6)
        return node_input(s);
    for (int i = 0; i < count; i++) {
        if (i && synth_chance(s, 20))
            text_add(&text, "_");
        text_add(&text, synth_choose(s, syllables));
    }
    if (synth_chance(s, 30))
        text_addf(&text, "%s%d", synth_chance(s, 30) ? "_" : "", synth_pick(s, synth_chance(s, 80) ? 5 : 40));
    return text_keep(&text, s->arena);
}

const char *synth_name(struct synth *s, const char *words)
{
    const char *name = NULL;
    bool function = false;
    for (int tries = 0; !name || is_taken(s, name) || (!function && is_reserved(name)); tries++) {
        name = synth_chance(s, 30) ? meaningless(s) : synth_choose(s, words);
        function = *name == '!';
        name += function;
        if (tries > 6 || synth_chance(s, 12))
            name = arena_printf(s->arena, "%s%s%d", name, synth_chance(s, 20) ? "_" : "",
                                synth_pick(s, tries > 6 ? 90 : 4));
    }
    s->names[s->name_count++] = name;
    return name;
}

const char *synth_result_name(struct synth *s, const char *words, const char *text, int percent)
{
    const size_t length = strcspn(text, "("), all = strlen(text);
    const char *function = arena_strndup(s->arena, text, length);
    int depth = 0;
    bool call = *text != '(' && all && text[all - 1] == ')' && *synth_nouns(function); /* and nothing behind it */
    for (size_t i = 0; call && i < all; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        call = depth || i < length || i == all - 1;
    }
    if (!call || !synth_chance(s, percent))
        return synth_name(s, words);
    if (strcmp(function, "amax") == 0 || strcmp(function, "amin") == 0)
        function++;
    return synth_name(s, synth_fill(s, "!$1", function));
}

const char *synth_op_name(struct synth *s)
{
    static const char *const parts =
        "Fused|Add|Mul|Sub|Scale|Shift|Gated|Masked|Row|Col|Soft|Hard|Smooth|Mean|Sum|Max|Norm|Exp|Log|Tanh|Sig|Sqrt|"
        "Square|Inv|Residual|Bias|Act|Unit|Block|Layer|Group|Grad|Step|Decay|"
        "Loss|Score|Margin|Clip|Quant|Blend|Mix|Lift|Fold|Ratio|Delta|Power|Wave|Ramp|Center|Warp|Tilt|Custom|Fast|"
        "Stable|Linear|Cubic|Damped|Weighted|Signed|Double|Twin|Swing|Bent|Peak";
    static const char *const syllables =
        "ba|be|bi|co|da|de|du|fa|fo|ga|ha|ke|ki|la|lo|me|mi|na|no|pe|ra|ri|sa|se|so|ta|te|to|"
        "va|vo|we|za|ron|tal|mer|lin|dor|fin|gan|sel|vin|mar";
    struct synth own = *s; /* has a chance of its own: what follows is drawn as if all parts were words */
    struct text text = {0};
    int count = 2 + synth_pick(s, 3);
    for (int i = 0; i < count; i++) {
        const char *part = synth_choose(s, parts);
        if (synth_chance(&own, 25)) {
            part = synth_choose(&own, syllables);
            part = arena_printf(s->arena, "%c%s%s", toupper((unsigned char)*part), part + 1,
                                synth_choose(&own, syllables));
        }
        text_add(&text, part);
    }
    if (synth_chance(s, 12))
        text_addf(&text, "V%d", 2 + synth_pick(s, 3));
    return text_keep(&text, s->arena);
}

/* The name of the last input with another number behind it: "x2" besides "x1"; NULL: it is taken. */
static const char *sibling(struct synth *s)
{
    const char *last = s->tensors[s->tensor_count - 1].name;
    size_t stem = strlen(last);
    while (stem && isdigit((unsigned char)last[stem - 1]))
        stem--;
    const char *name = arena_printf(s->arena, "%.*s%ld", (int)stem, last, last[stem] ? atol(last + stem) + 1 : 2);
    if (!stem || is_taken(s, name) || is_reserved(name))
        return NULL;
    s->names[s->name_count++] = name;
    return name;
}

const char *synth_input(struct synth *s, enum synth_place place, const char *words)
{
    const char *name = s->tensor_count && synth_chance(s, 15) ? sibling(s) : NULL;
    if (!name)
        name = synth_name(s, words);
    s->tensors[s->tensor_count++] = (struct synth_tensor){.name = name, .place = place};
    return name;
}

const char *synth_mask(struct synth *s)
{
    const char *name = synth_name(s, "mask|sel|cond|keep|flag|choice|valid|where_in|select_mask|m");
    s->tensors[s->tensor_count++] = (struct synth_tensor){.name = name, .type = "bool"};
    return name;
}

void synth_output(struct synth *s, const char *name, enum synth_place place, const char *type)
{
    s->tensors[s->tensor_count++] = (struct synth_tensor){.name = name, .type = type, .place = place, .output = true};
}

const char *synth_attr(struct synth *s, const char *words, const char *values)
{
    const char *name = synth_name(s, words), *value = synth_choose(s, values);
    s->attrs[s->attr_count++] =
        (struct synth_attr){.name = name, .value = value, .type = strpbrk(value, ".e") ? "float" : "int"};
    return name;
}

const char *synth_silent(struct synth *s, const char *words, const char *type, const char *value)
{
    const char *name = synth_name(s, words);
    s->attrs[s->attr_count++] = (struct synth_attr){.name = name, .value = value, .type = type, .silent = true};
    return name;
}
