/* The normal form of formulas: sums and products of primitives, with operands in the order of their hashes.
 *
 *   a - b is a + -1 * b, a / b is a * b^-1, sqrt and rsqrt are powers; equal terms and factors are counted
 *   functions that others make are made of them: sigmoid, gelu, softmax, mean, var, ..
 *   what each step is rounded to is left out: type_as(x, y) is x
 *   exp(a + b) is exp(a) * exp(b), and what is one number of a row leaves its sums: so exp(x - max(x)) / sum(exp(x - max(x))) is
 *   exp(x) / sum(exp(x)), as is softmax(x)
 *
 * An input's hash is what is done with it (colour refinement, Weisfeiler and Leman 1968): at first all are the same; then each takes
 * the hashes of the places where it stands, a few times over. Graphs that differ could have one key by that; equal ones have. */
#include "cot/graph.h"
#include "base/arena.h"
#include "base/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_NUMBER, KIND_INPUT, KIND_SUM, KIND_PRODUCT, KIND_POWER, KIND_CALL };
enum { ROUNDS = 4, MOST_INPUTS = 64 };
struct node {
    enum kind kind;
    double
        number; /* KIND_NUMBER; KIND_SUM: the constant term; KIND_PRODUCT: the constant factor; KIND_POWER: the exponent, if kid_count is 1 */
    int input;
    const char *name; /* KIND_CALL */
    struct node **kids;
    double *counts; /* of a sum's terms */
    int kid_count;
    bool flat; /* one number for each row, or for all: no input stands in it but below a sum */
    uint64_t hash, identity;
};
struct maker {
    struct arena *arena;
    const struct graph_step *steps;
    struct node **made; /* of the steps */
    int step_count;
    const char *inputs[MOST_INPUTS];
    uint64_t colours[MOST_INPUTS];
    int input_count;
};

/* Hashes. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15ULL ^ (b + 0x7f4a7c15ULL + (a << 6) + (a >> 2));
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}
static uint64_t hash_text(const char *text)
{
    uint64_t hash = 14695981039346656037ULL;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211ULL;
    return hash;
}
/* Numbers that differ behind the sixth digit are the same. */
static uint64_t hash_number(double number)
{
    if (number == 0 || !isfinite(number))
        return number == 0 ? 0 : 77;
    int exponent;
    double fraction = frexp(number, &exponent);
    return mix((uint64_t)(int64_t)llround(fraction * (1 << 20)), (uint64_t)(exponent + 5000));
}

/* The hash, with the colours of inputs, or with which input it is: then it says what is equal. */
static uint64_t hash_of(const struct maker *maker, const struct node *node, bool identity)
{
    uint64_t hash = mix((uint64_t)node->kind + 1, hash_number(node->number));
    if (node->kind == KIND_INPUT)
        hash = mix(hash, identity ? (uint64_t)node->input : maker->colours[node->input]);
    if (node->name)
        hash = mix(hash, hash_text(node->name));
    for (int i = 0; i < node->kid_count; i++) {
        hash = mix(hash, identity ? node->kids[i]->identity : node->kids[i]->hash);
        if (node->counts)
            hash = mix(hash, hash_number(node->counts[i]));
    }
    return hash;
}

static void set_hash(const struct maker *maker, struct node *node)
{
    node->hash = hash_of(maker, node, false);
    node->identity = hash_of(maker, node, true);
}

static struct node *finish(struct maker *maker, struct node node, struct node *const *kids, int count)
{
    struct node *made = arena_copy(maker->arena, &node, sizeof node);
    made->kids = arena_copy(maker->arena, kids, sizeof *kids * (size_t)count);
    made->kid_count = count;
    if (node.counts)
        made->counts = arena_copy(maker->arena, node.counts, sizeof *node.counts * (size_t)count);
    made->flat = node.flat || node.kind != KIND_INPUT;
    for (int i = 0; i < count && !node.flat; i++)
        made->flat &= kids[i]->flat;
    set_hash(maker, made);
    return made;
}

static struct node *number(struct maker *maker, double value)
{
    return finish(maker, (struct node){.kind = KIND_NUMBER, .number = value}, NULL, 0);
}
static struct node *call(struct maker *maker, const char *name, struct node *const *kids, int count)
{
    return finish(maker, (struct node){.kind = KIND_CALL, .name = name}, kids, count);
}
static struct node *call1(struct maker *maker, const char *name, struct node *of)
{
    return call(maker, name, &of, 1);
}

/* Sums and products. */
struct terms {
    struct node **items;
    double *counts;
    int count, capacity;
    double constant;
};
static void add_item(struct maker *maker, struct terms *terms, struct node *item, double count)
{
    for (int i = 0; i < terms->count; i++)
        if (terms->items[i]->identity == item->identity) {
            terms->counts[i] += count;
            return;
        }
    if (terms->count == terms->capacity) {
        int capacity = terms->capacity ? 2 * terms->capacity : 8;
        struct node **items = arena_alloc(maker->arena, sizeof(struct node *) * (size_t)capacity);
        double *counts = arena_alloc(maker->arena, sizeof(double) * (size_t)capacity);
        for (int i = 0; i < terms->count; i++) {
            items[i] = terms->items[i];
            counts[i] = terms->counts[i];
        }
        terms->items = items;
        terms->counts = counts;
        terms->capacity = capacity;
    }
    terms->items[terms->count] = item;
    terms->counts[terms->count++] = count;
}
static bool is_before(const struct terms *terms, int a, int b)
{
    uint64_t first = terms->items[a]->hash, second = terms->items[b]->hash;
    return first < second || (first == second && terms->counts[a] < terms->counts[b]);
}
/* By hash, and by how often; without those that cancel. */
static void settle(struct terms *terms)
{
    int kept = 0;
    for (int i = 0; i < terms->count; i++)
        if (terms->counts[i] != 0) {
            terms->items[kept] = terms->items[i];
            terms->counts[kept++] = terms->counts[i];
        }
    terms->count = kept;
    for (int i = 1; i < kept; i++)
        for (int j = i; j > 0 && is_before(terms, j, j - 1); j--) {
            struct node *item = terms->items[j];
            double count = terms->counts[j];
            terms->items[j] = terms->items[j - 1];
            terms->counts[j] = terms->counts[j - 1];
            terms->items[j - 1] = item;
            terms->counts[j - 1] = count;
        }
}

static struct node *product_of(struct maker *maker, struct node *const *factors, const double *powers, int count);
static struct node *power(struct maker *maker, struct node *base, double exponent)
{
    return product_of(maker, &base, &exponent, 1);
}

static void add_terms(struct maker *maker, struct terms *terms, struct node *of, double times)
{
    if (of->kind == KIND_NUMBER) {
        terms->constant += times * of->number;
    } else if (of->kind == KIND_SUM) {
        terms->constant += times * of->number;
        for (int i = 0; i < of->kid_count; i++)
            add_item(maker, terms, of->kids[i], times * of->counts[i]);
    } else if (of->kind == KIND_PRODUCT && of->number != 1) { /* 2 * x counts x twice */
        struct node bare = *of;
        bare.number = 1;
        struct node *rest =
            of->kid_count == 1 && of->counts[0] == 1 ? of->kids[0] : finish(maker, bare, of->kids, of->kid_count);
        add_terms(maker, terms, rest, times * of->number);
    } else {
        add_item(maker, terms, of, times);
    }
}
static struct node *sum(struct maker *maker, struct node *a, double times_a, struct node *b, double times_b)
{
    struct terms terms = {0};
    add_terms(maker, &terms, a, times_a);
    add_terms(maker, &terms, b, times_b);
    settle(&terms);
    if (!terms.count)
        return number(maker, terms.constant);
    if (terms.count == 1 && terms.constant == 0) {
        struct node *factors[2] = {number(maker, terms.counts[0]), terms.items[0]};
        return product_of(maker, factors, (double[]){1, 1}, 2);
    }
    return finish(maker, (struct node){.kind = KIND_SUM, .number = terms.constant, .counts = terms.counts}, terms.items,
                  terms.count);
}

static double largest_count(const struct node *sum)
{
    double largest = 0;
    for (int i = 0; i < sum->kid_count; i++)
        largest = fmax(largest, fabs(sum->counts[i]));
    return largest;
}
static void add_factors(struct maker *maker, struct terms *terms, struct node *of, double exponent)
{
    if (of->kind == KIND_NUMBER) {
        terms->constant *= pow(of->number, exponent);
    } else if (of->kind == KIND_PRODUCT) {
        terms->constant *= pow(of->number, exponent);
        for (int i = 0; i < of->kid_count; i++)
            add_item(maker, terms, of->kids[i], exponent * of->counts[i]);
    } else if (of->kind == KIND_SUM && largest_count(of) != 1) { /* (2 a + 2 b) * c is 2 * (a + b) * c */
        double scale = largest_count(of);
        terms->constant *= pow(scale, exponent);
        add_item(maker, terms, sum(maker, of, 1 / scale, number(maker, 0), 1), exponent);
    } else {
        add_item(maker, terms, of, exponent);
    }
}
static struct node *product_of(struct maker *maker, struct node *const *factors, const double *powers, int count)
{
    struct terms terms = {.constant = 1};
    for (int i = 0; i < count; i++)
        add_factors(maker, &terms, factors[i], powers[i]);
    settle(&terms);
    if (!terms.count || terms.constant == 0)
        return number(maker, terms.constant);
    if (terms.count == 1 && terms.constant == 1 && terms.counts[0] == 1)
        return terms.items[0];
    if (terms.count == 1 && terms.counts[0] == 1 && terms.items[0]->kind == KIND_SUM) /* 2 * (x + 1) is 2 * x + 2 */
        return sum(maker, terms.items[0], terms.constant, number(maker, 0), 1);
    return finish(maker, (struct node){.kind = KIND_PRODUCT, .number = terms.constant, .counts = terms.counts},
                  terms.items, terms.count);
}
static struct node *times(struct maker *maker, struct node *a, struct node *b)
{
    struct node *factors[2] = {a, b};
    return product_of(maker, factors, (double[]){1, 1}, 2);
}
static struct node *over(struct maker *maker, struct node *a, struct node *b)
{
    struct node *factors[2] = {a, b};
    return product_of(maker, factors, (double[]){1, -1}, 2);
}
static struct node *plus(struct maker *maker, struct node *a, double b)
{
    return sum(maker, a, 1, number(maker, b), 1);
}
static struct node *scaled(struct maker *maker, double a, struct node *b)
{
    return times(maker, number(maker, a), b);
}

/* Functions that others are made of. */
static struct node *exponential(struct maker *maker, struct node *of)
{
    if (of->kind != KIND_SUM)
        return call1(maker, "exp", of);
    struct node *product = number(maker, exp(of->number));
    for (int i = 0; i < of->kid_count; i++)
        product = times(maker, product, call1(maker, "exp", scaled(maker, of->counts[i], of->kids[i])));
    return product;
}
static struct node *logarithm(struct maker *maker, struct node *of)
{
    struct node *result = number(maker, 0), *rest = of;
    if (of->kind == KIND_PRODUCT)
        for (int i = 0; i < of->kid_count; i++)
            if (of->kids[i]->kind == KIND_CALL && strcmp(of->kids[i]->name, "exp") == 0) {
                result = sum(maker, result, 1, of->kids[i]->kids[0], of->counts[i]);
                rest = times(maker, rest, power(maker, of->kids[i], -of->counts[i]));
            }
    return sum(maker, result, 1, call1(maker, "log", rest), 1);
}
static struct node *extreme(struct maker *maker, const char *name, struct node *a, struct node *b)
{
    struct node *kids[2] = {a->hash < b->hash ? a : b, a->hash < b->hash ? b : a};
    return call(maker, name, kids, 2);
}
static struct node *limited(struct maker *maker, struct node *of, struct node *low, struct node *high)
{
    return extreme(maker, "min", extreme(maker, "max", of, low), high);
}
static struct node *choose(struct maker *maker, struct node *condition, struct node *a, struct node *b)
{
    struct node *kids[3] = {condition, a, b};
    return call(maker, "where", kids, 3);
}
static struct node *positive(struct maker *maker, struct node *of)
{
    struct node *kids[2] = {number(maker, 0), of};
    return call(maker, "<", kids, 2);
}
static struct node *sigmoid(struct maker *maker, struct node *of)
{
    return power(maker, plus(maker, exponential(maker, scaled(maker, -1, of)), 1), -1);
}
static struct node *softplus(struct maker *maker, struct node *of)
{
    return logarithm(maker, plus(maker, exponential(maker, of), 1));
}
static struct node *gelu(struct maker *maker, struct node *of)
{
    return times(maker, scaled(maker, 0.5, of), plus(maker, call1(maker, "erf", scaled(maker, M_SQRT1_2, of)), 1));
}
static struct node *gelu_tanh(struct maker *maker, struct node *of)
{
    struct node *inner = scaled(maker, sqrt(M_2_PI), sum(maker, of, 1, power(maker, of, 3), 0.044715));
    return times(maker, scaled(maker, 0.5, of), plus(maker, call1(maker, "tanh", inner), 1));
}
static struct node *elu(struct maker *maker, struct node *of, struct node *alpha)
{
    return choose(maker, positive(maker, of), of, times(maker, alpha, plus(maker, exponential(maker, of), -1)));
}
static struct node *hard(struct maker *maker, struct node *of)
{
    return scaled(maker, 1. / 6, limited(maker, plus(maker, of, 3), number(maker, 0), number(maker, 6)));
}

static struct node *unary(struct maker *maker, const char *name, struct node *of)
{
    static const struct {
        const char *name;
        double exponent;
    } powers[] = {{"sqrt", 0.5}, {"rsqrt", -0.5}, {"square", 2}, {"reciprocal", -1}};
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
        if (strcmp(name, powers[i].name) == 0)
            return power(maker, of, powers[i].exponent);
#define IS(text) if (strcmp(name, text) == 0)
    IS("neg") return scaled(maker, -1, of);
    IS("exp") return exponential(maker, of);
    IS("expm1") return plus(maker, exponential(maker, of), -1);
    IS("exp2") return exponential(maker, scaled(maker, M_LN2, of));
    IS("log") return logarithm(maker, of);
    IS("log1p") return logarithm(maker, plus(maker, of, 1));
    IS("log2") return scaled(maker, 1 / M_LN2, logarithm(maker, of));
    IS("log10") return scaled(maker, 1 / M_LN10, logarithm(maker, of));
    IS("erfc") return sum(maker, number(maker, 1), 1, call1(maker, "erf", of), -1);
    IS("sinh")
    return scaled(maker, 0.5, sum(maker, exponential(maker, of), 1, exponential(maker, scaled(maker, -1, of)), -1));
    IS("cosh")
    return scaled(maker, 0.5, sum(maker, exponential(maker, of), 1, exponential(maker, scaled(maker, -1, of)), 1));
    IS("tan") return over(maker, call1(maker, "sin", of), call1(maker, "cos", of));
    IS("sigmoid") return sigmoid(maker, of);
    IS("relu") return extreme(maker, "max", of, number(maker, 0));
    IS("relu6") return limited(maker, of, number(maker, 0), number(maker, 6));
    IS("silu") return times(maker, of, sigmoid(maker, of));
    IS("gelu") return gelu(maker, of);
    IS("gelu_tanh") return gelu_tanh(maker, of);
    IS("softplus") return softplus(maker, of);
    IS("logsigmoid") return scaled(maker, -1, softplus(maker, scaled(maker, -1, of)));
    IS("mish") return times(maker, of, call1(maker, "tanh", softplus(maker, of)));
    IS("hardsigmoid") return hard(maker, of);
    IS("hardswish") return times(maker, of, hard(maker, of));
    IS("softsign") return over(maker, of, plus(maker, call1(maker, "abs", of), 1));
    IS("selu") return scaled(maker, 1.0507009873554805, elu(maker, of, number(maker, 1.6732632423543772)));
    return call1(maker, name, of);
}

/* Along rows, axes, or all: `kids` are the operand and what stands behind it. */
static struct node *summed(struct maker *maker, struct node *const *kids, int count)
{
    struct node *inner = kids[0], *outside = number(maker, 1), *own[9];
    if (inner->kind == KIND_PRODUCT) {
        outside = number(maker, inner->number);
        for (int i = 0; i < inner->kid_count; i++)
            if (inner->kids[i]->flat && count == 1)
                outside = times(maker, outside, power(maker, inner->kids[i], inner->counts[i]));
        inner = over(maker, inner, outside);
    }
    memcpy(own, kids, sizeof *kids * (size_t)count);
    own[0] = inner;
    struct node node = {.kind = KIND_CALL, .name = "sum", .flat = true};
    return times(maker, outside, finish(maker, node, own, count));
}
static struct node *row_call(struct maker *maker, const char *name, struct node *const *kids, int count)
{
    struct node node = {.kind = KIND_CALL, .name = name, .flat = true};
    return finish(maker, node, kids, count);
}
static struct node *mean(struct maker *maker, struct node *of, struct node *const *kids, int count)
{
    struct node *own[9];
    memcpy(own, kids, sizeof *kids * (size_t)count);
    own[0] = of;
    /* How many there are is a number of the shape: which tensor it is taken of does not count. */
    struct node *size[9];
    memcpy(size, kids, sizeof *kids * (size_t)count);
    size[0] = number(maker, 0);
    return over(maker, summed(maker, own, count), row_call(maker, "size", size, count));
}
static struct node *row(struct maker *maker, const char *name, struct node *const *kids, int count)
{
    struct node *own[9], *of = kids[0];
    memcpy(own, kids, sizeof *kids * (size_t)count);
    IS("sum") return summed(maker, kids, count);
    IS("mean") return mean(maker, of, kids, count);
    if (strcmp(name, "var") == 0 || strcmp(name, "std") == 0) {
        struct node *centred = sum(maker, of, 1, mean(maker, of, kids, count), -1),
                    *variance = mean(maker, power(maker, centred, 2), kids, count);
        return *name == 'v' ? variance : power(maker, variance, 0.5);
    }
    if (strcmp(name, "norm") == 0) {
        own[0] = power(maker, of, 2);
        return power(maker, summed(maker, own, count), 0.5);
    }
    own[0] = exponential(maker, of);
    IS("logsumexp") return logarithm(maker, summed(maker, own, count));
    IS("softmax") return over(maker, own[0], summed(maker, own, count));
    IS("log_softmax") return sum(maker, of, 1, logarithm(maker, summed(maker, own, count)), -1);
    if (strcmp(name, "cumsum") == 0)
        return call(maker, name, kids, count);
    if (strcmp(name, "size") == 0) {
        own[0] = number(maker, 0);
        return row_call(maker, name, own, count);
    }
    return row_call(maker, name, kids, count);
}

/* Where along an axis, the last one unless it is named: of which tensor does not count. */
static struct node *place(struct maker *maker, struct node *const *kids, int count)
{
    return call1(maker, "place", count > 1 ? kids[1] : number(maker, -1));
}

static struct node *binary(struct maker *maker, const char *name, struct node *a, struct node *b)
{
    struct node *kids[2] = {a, b}, *turned[2] = {b, a};
    IS("+") return sum(maker, a, 1, b, 1);
    IS("-") return sum(maker, a, 1, b, -1);
    IS("*") return times(maker, a, b);
    IS("/") return over(maker, a, b);
    if (strcmp(name, "**") == 0 && b->kind == KIND_NUMBER)
        return power(maker, a, b->number);
    IS(">") return call(maker, "<", turned, 2);
    IS(">=") return call(maker, "<=", turned, 2);
    IS("leaky_relu") return choose(maker, positive(maker, a), a, times(maker, a, b));
    IS("elu") return elu(maker, a, b);
    IS("logaddexp") return logarithm(maker, sum(maker, exponential(maker, a), 1, exponential(maker, b), 1));
    if (names_among(name, strlen(name), "min|max|and|or|==|!="))
        return extreme(maker, name, a, b);
    return call(maker, name, kids, 2);
}
#undef IS

static struct node *node_of(struct maker *maker, const struct expr *expr, int step);

static struct node *word(struct maker *maker, const char *name, int step)
{
    if (strcmp(name, "pi") == 0)
        return number(maker, M_PI);
    for (int i = step - 1; i >= 0; i--)
        if (strcmp(maker->steps[i].name, name) == 0)
            return maker->made[i];
    int at = 0;
    while (at < maker->input_count && strcmp(maker->inputs[at], name) != 0)
        at++;
    if (at == maker->input_count && at < MOST_INPUTS)
        maker->inputs[maker->input_count++] = name;
    return finish(maker, (struct node){.kind = KIND_INPUT, .input = at < MOST_INPUTS ? at : 0}, NULL, 0);
}

static struct node *node_of(struct maker *maker, const struct expr *expr, int step)
{
    struct node *kids[EXPR_MAX_ARGS + 1];
    int count = 0;
    if (expr->node == NODE_VALUE)
        return number(maker, expr->value.real);
    if (expr->node == NODE_WORD)
        return word(maker, expr->name, step);
    for (int i = 0; i < expr->kid_count && i < EXPR_MAX_ARGS; i++)
        if (expr->kids[i])
            kids[count++] = expr->kids[i]->node == NODE_WORD && strcmp(expr->kids[i]->name, "all") == 0
                                ? call(maker, "all", NULL, 0)
                                : node_of(maker, expr->kids[i], step);
        else
            kids[count++] = call(maker, "end", NULL, 0);
    if (expr->node == NODE_CHOICE)
        return choose(maker, kids[0], kids[1], kids[2]);
    if (expr->node != NODE_CALL)
        return call(maker, expr->node == NODE_SLICE ? "slice" : "index", kids, count);
    if (strcmp(expr->name, "type_as") == 0 && count == 2)
        return kids[0];
    if (strcmp(expr->name, "index") == 0)
        return place(maker, kids, count);
    if (names_among(expr->name, strlen(expr->name),
                    "sum|mean|var|std|norm|amax|amin|logsumexp|softmax|log_softmax|cumsum|size"))
        return row(maker, expr->name, kids, count);
    if (count == 1)
        return unary(maker, expr->name, kids[0]);
    if (count == 2)
        return binary(maker, expr->name, kids[0], kids[1]);
    if (strcmp(expr->name, "clamp") == 0 && count == 3)
        return limited(maker, kids[0], kids[1], kids[2]);
    return call(maker, expr->name, kids, count);
}

/* Where inputs stand: each takes the hash of the way from an output down to it. */
static void recolour(const struct maker *maker, const struct node *node, uint64_t way, uint64_t *next)
{
    way = mix(way, node->hash);
    if (node->kind == KIND_INPUT)
        next[node->input] += mix(way, maker->colours[node->input]);
    for (int i = 0; i < node->kid_count; i++) {
        bool ordered = node->kind == KIND_CALL && strcmp(node->name, "min") != 0 && strcmp(node->name, "max") != 0;
        uint64_t place = ordered ? (uint64_t)i : node->counts ? hash_number(node->counts[i]) : 0;
        recolour(maker, node->kids[i], mix(way, place), next);
    }
}

static uint64_t add_outputs(const struct maker *maker)
{
    uint64_t key = 0;
    for (int i = 0; i < maker->step_count; i++)
        if (maker->steps[i].output)
            key += mix(maker->made[i]->hash, 11);
    return key;
}

uint64_t graph_key(const struct graph_step *steps, int count)
{
    struct arena arena = {0};
    struct maker maker = {.steps = steps, .step_count = count};
    uint64_t key = 0;
    for (int i = 0; i < MOST_INPUTS; i++)
        maker.colours[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t next[MOST_INPUTS] = {0};
        maker.arena = &arena;
        maker.made = arena_alloc(&arena, sizeof *maker.made * (size_t)(count + 1));
        for (int i = 0; i < count; i++)
            maker.made[i] = node_of(&maker, steps[i].tree, i);
        key = add_outputs(&maker);
        for (int i = 0; i < count; i++)
            if (steps[i].output)
                recolour(&maker, maker.made[i], 0, next);
        memcpy(maker.colours, next, sizeof next);
        arena_free(&arena);
    }
    return key;
}

static bool is_output(const struct graph_step *steps, int count, int step, const char *const *outputs)
{
    if (!outputs) {
        for (int i = step + 1; i < count; i++)
            if (expr_names(steps[i].tree, steps[step].name))
                return false;
        return true;
    }
    for (; *outputs; outputs++)
        if (strcmp(*outputs, steps[step].name) == 0)
            return true;
    return false;
}

struct akgen_error *graph_key_of_text(const char *text, const char *const *outputs, uint64_t *key)
{
    enum { MOST = 64 };
    struct arena arena = {0};
    struct graph_step steps[MOST];
    struct akgen_error *error = NULL;
    int count = 0;
    for (const char *at = text; *at && !error && count < MOST;) {
        size_t length = strcspn(at, ";\n");
        const char *equals = memchr(at, '=', length), *blank = at + strspn(at, " \t");
        if (equals) {
            struct expr *tree;
            size_t name = strcspn(blank, " \t=");
            error =
                expr_tree_parse(&arena, arena_strndup(&arena, equals + 1, (size_t)(at + length - equals - 1)), &tree);
            if (!error)
                steps[count++] = (struct graph_step){arena_strndup(&arena, blank, name), tree, false};
        }
        at += length + (at[length] != '\0');
    }
    for (int i = 0; i < count; i++)
        steps[i].output = is_output(steps, count, i, outputs);
    *key = error ? 0 : graph_key(steps, count);
    arena_free(&arena);
    return error;
}
