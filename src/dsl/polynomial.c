#include "dsl/polynomial.h"
#include "base/text.h"

#include <string.h>

static const struct polynomial unknown = {.unknown = true};

struct polynomial polynomial_of(int64_t number)
{
    struct polynomial made = {.count = number != 0};
    made.terms[0].times = number;
    return made;
}

static int compare_factors(const struct polynomial_term *a, const struct polynomial_term *b)
{
    for (int i = 0; i < a->factor_count && i < b->factor_count; i++)
        if (a->factors[i] != b->factors[i])
            return a->factors[i] - b->factors[i];
    return a->factor_count - b->factor_count;
}

static void add_term(struct polynomial *to, struct polynomial_term term)
{
    int at = 0;
    while (at < to->count && compare_factors(&to->terms[at], &term) < 0)
        at++;
    if (at < to->count && compare_factors(&to->terms[at], &term) == 0) {
        if (__builtin_add_overflow(to->terms[at].times, term.times, &term.times)) {
            *to = unknown;
            return;
        }
        to->terms[at].times = term.times;
        if (!term.times)
            memmove(&to->terms[at], &to->terms[at + 1], (size_t)(--to->count - at) * sizeof *to->terms);
    } else if (term.times && to->count == POLYNOMIAL_TERMS) {
        *to = unknown;
    } else if (term.times) {
        memmove(&to->terms[at + 1], &to->terms[at], (size_t)(to->count++ - at) * sizeof *to->terms);
        to->terms[at] = term;
    }
}

struct polynomial polynomial_add(struct polynomial a, struct polynomial b, int64_t times)
{
    if (a.unknown || b.unknown)
        return unknown;
    for (int i = 0; i < b.count && !a.unknown; i++) {
        struct polynomial_term term = b.terms[i];
        if (__builtin_mul_overflow(term.times, times, &term.times))
            return unknown;
        add_term(&a, term);
    }
    return a;
}

struct polynomial polynomial_multiply(struct polynomial a, struct polynomial b)
{
    struct polynomial product = {0};
    if (a.unknown || b.unknown)
        return unknown;
    for (int i = 0; i < a.count; i++)
        for (int k = 0; k < b.count && !product.unknown; k++) {
            struct polynomial_term term = a.terms[i];
            const struct polynomial_term *other = &b.terms[k];
            if (term.factor_count + other->factor_count > POLYNOMIAL_FACTORS ||
                __builtin_mul_overflow(term.times, other->times, &term.times))
                return unknown;
            for (int f = 0; f < other->factor_count; f++) {
                int at = term.factor_count++;
                for (; at > 0 && term.factors[at - 1] > other->factors[f]; at--)
                    term.factors[at] = term.factors[at - 1];
                term.factors[at] = other->factors[f];
            }
            add_term(&product, term);
        }
    return product;
}

bool polynomial_equal(const struct polynomial *a, const struct polynomial *b)
{
    bool equal = !a->unknown && !b->unknown && a->count == b->count;
    for (int i = 0; equal && i < a->count; i++)
        equal = a->terms[i].times == b->terms[i].times && compare_factors(&a->terms[i], &b->terms[i]) == 0;
    return equal;
}

bool polynomial_has(const struct atoms *atoms, const struct polynomial *of, int atom)
{
    for (int i = 0; i < of->count; i++)
        for (int f = 0; f < of->terms[i].factor_count; f++) {
            int factor = of->terms[i].factors[f];
            const struct atom *inner = &atoms->items[factor];
            if (factor == atom || polynomial_has(atoms, &inner->a, atom) || polynomial_has(atoms, &inner->b, atom))
                return true;
        }
    return false;
}

bool polynomial_moves(const struct atoms *atoms, const struct polynomial *of)
{
    bool moves = of->unknown;
    for (int i = 0; i < of->count && !moves; i++)
        for (int f = 0; f < of->terms[i].factor_count && !moves; f++)
            moves = atoms->items[of->terms[i].factors[f]].moves;
    return moves;
}

int polynomial_atom(const struct polynomial *of)
{
    bool one = !of->unknown && of->count == 1 && of->terms[0].times == 1 && of->terms[0].factor_count == 1;
    return one ? of->terms[0].factors[0] : -1;
}

/* Counts the atoms in its written form. */
static int size_of(const struct atoms *atoms, const struct polynomial *of)
{
    int size = 0;
    for (int i = 0; i < of->count; i++)
        for (int f = 0; f < of->terms[i].factor_count; f++)
            size += atoms->items[of->terms[i].factors[f]].size;
    return size;
}

/* The atom as a polynomial; a new one unless it is there. */
static struct polynomial intern(struct atoms *atoms, struct atom atom)
{
    int found = 0;
    for (; found < atoms->count; found++) {
        const struct atom *other = &atoms->items[found];
        bool same = other->kind == atom.kind &&
                    (atom.name ? other->name && strcmp(other->name, atom.name) == 0
                               : polynomial_equal(&other->a, &atom.a) && polynomial_equal(&other->b, &atom.b));
        if (same)
            break;
    }
    atom.size = 1 + size_of(atoms, &atom.a) + size_of(atoms, &atom.b);
    if (found == POLYNOMIAL_ATOMS || atom.size > POLYNOMIAL_SIZE)
        return unknown;
    if (found == atoms->count)
        atoms->items[atoms->count++] = atom;
    return (struct polynomial){.count = 1, .terms = {{1, 1, {found}}}};
}

struct polynomial polynomial_named(struct atoms *atoms, const char *name, bool moves, bool maybe_low)
{
    return intern(atoms, (struct atom){.kind = ATOM_SIZE, .name = name, .moves = moves, .maybe_low = maybe_low});
}

/* Whether nothing in it is negative. */
static bool plain(const struct atoms *atoms, const struct polynomial *of)
{
    bool good = !of->unknown;
    for (int i = 0; i < of->count && good; i++) {
        good = of->terms[i].times > 0;
        for (int f = 0; f < of->terms[i].factor_count && good; f++)
            good = !atoms->items[of->terms[i].factors[f]].maybe_low;
    }
    return good;
}

static struct polynomial atom_of(struct atoms *atoms, enum atom_kind kind, struct polynomial a, struct polynomial b)
{
    struct atom atom = {.kind = kind, .a = a, .b = b};
    atom.moves = polynomial_moves(atoms, &a) || polynomial_moves(atoms, &b);
    atom.maybe_low = kind != ATOM_POSITIVE && (!plain(atoms, &a) || !plain(atoms, &b));
    return a.unknown || b.unknown ? unknown : intern(atoms, atom);
}

/* p - pos(p - q): the same form whichever of the two p is. */
static struct polynomial less(struct atoms *atoms, struct polynomial a, struct polynomial b)
{
    struct polynomial above = polynomial_add(a, b, -1);
    if (above.unknown)
        return unknown;
    if (!above.count)
        return a;
    if (above.terms[above.count - 1].times < 0) {
        above = polynomial_add(b, a, -1);
        a = b;
    }
    if (above.count == 1 && !above.terms[0].factor_count)
        return polynomial_add(a, above, -1);
    return polynomial_add(a, atom_of(atoms, ATOM_POSITIVE, above, polynomial_of(0)), -1);
}

struct polynomial polynomial_min(struct atoms *atoms, struct polynomial a, struct polynomial b)
{
    struct polynomial apart = polynomial_add(a, b, -1);
    bool constant = !apart.unknown && (!apart.count || (apart.count == 1 && !apart.terms[0].factor_count));
    if (constant || polynomial_moves(atoms, &a) || polynomial_moves(atoms, &b))
        return less(atoms, a, b);
    return atom_of(atoms, ATOM_MIN, a, b);
}

struct polynomial polynomial_max(struct atoms *atoms, struct polynomial a, struct polynomial b)
{
    if (polynomial_moves(atoms, &a) || polynomial_moves(atoms, &b)) /* -min(-a, -b) */
        return polynomial_add(
            polynomial_of(0),
            less(atoms, polynomial_add(polynomial_of(0), a, -1), polynomial_add(polynomial_of(0), b, -1)), -1);
    return atom_of(atoms, ATOM_MAX, a, b);
}

struct polynomial polynomial_divide(struct atoms *atoms, struct polynomial a, struct polynomial b, bool up)
{
    struct polynomial one = polynomial_of(1);
    bool numbers = a.count <= 1 && b.count == 1 && !b.terms[0].factor_count && (!a.count || !a.terms[0].factor_count);
    if (a.unknown || b.unknown || !b.count)
        return unknown;
    if (numbers && b.terms[0].times > 0 && (!a.count || a.terms[0].times >= 0)) {
        int64_t x = a.count ? a.terms[0].times : 0, y = b.terms[0].times;
        return polynomial_of(x / y + (up && x % y));
    }
    if (polynomial_equal(&b, &one))
        return a;
    struct polynomial less_one = polynomial_add(polynomial_add(a, b, -1), one, 1);
    if (!up && less_one.count < a.count) /* (a + b - 1) // b */
        return polynomial_divide(atoms, less_one, b, true);
    return atom_of(atoms, up ? ATOM_CEIL : ATOM_FLOOR, a, b);
}

struct polynomial polynomial_replace(struct atoms *atoms, struct polynomial of, int atom, struct polynomial by)
{
    struct polynomial sum = polynomial_of(0);
    if (of.unknown || by.unknown)
        return unknown;
    for (int i = 0; i < of.count; i++) {
        struct polynomial product = polynomial_of(of.terms[i].times);
        for (int f = 0; f < of.terms[i].factor_count; f++) {
            int number = of.terms[i].factors[f];
            struct polynomial factor = {.count = 1, .terms = {{1, 1, {number}}}};
            const struct atom inner = atoms->items[number];
            if (number == atom) {
                factor = by;
            } else if (polynomial_has(atoms, &factor, atom)) {
                struct polynomial a = polynomial_replace(atoms, inner.a, atom, by);
                struct polynomial b = polynomial_replace(atoms, inner.b, atom, by);
                struct polynomial zero = polynomial_of(0);
                factor = inner.kind == ATOM_POSITIVE ? polynomial_add(a, less(atoms, a, zero), -1) /* a - min(a, 0) */
                         : inner.kind == ATOM_MIN    ? polynomial_min(atoms, a, b)
                         : inner.kind == ATOM_MAX    ? polynomial_max(atoms, a, b)
                                                     : polynomial_divide(atoms, a, b, inner.kind == ATOM_CEIL);
            }
            product = polynomial_multiply(product, factor);
        }
        sum = polynomial_add(sum, product, 1);
    }
    return sum;
}

/* times * b * rest with b * ceil(a / b) in it becomes a * times * rest, which is not more. False: the term has none. */
static bool lower_term(const struct atoms *atoms, const struct polynomial_term *term, struct polynomial *lower)
{
    for (int f = 0; f < term->factor_count; f++) {
        const struct atom *atom = &atoms->items[term->factors[f]];
        if (atom->kind != ATOM_CEIL || atom->b.count != 1 || term->times % atom->b.terms[0].times)
            continue;
        struct polynomial_term rest = {.times = term->times / atom->b.terms[0].times};
        const struct polynomial_term *by = &atom->b.terms[0];
        int taken = 0;
        for (int k = 0; k < term->factor_count; k++)
            if (k != f && taken < by->factor_count && term->factors[k] == by->factors[taken])
                taken++;
            else if (k != f)
                rest.factors[rest.factor_count++] = term->factors[k];
        struct polynomial others = {.count = 1, .terms = {rest}};
        if (taken < by->factor_count || !plain(atoms, &others))
            continue;
        *lower = polynomial_multiply(others, atom->a);
        return true;
    }
    return false;
}

bool polynomial_not_negative(const struct atoms *atoms, struct polynomial of)
{
    enum { STEPS = 8 };
    for (int step = 0; step < STEPS && !of.unknown; step++) {
        if (plain(atoms, &of))
            return true;
        struct polynomial lower;
        int i = 0;
        while (i < of.count && (of.terms[i].times < 0 || !lower_term(atoms, &of.terms[i], &lower)))
            i++;
        if (i == of.count)
            return false;
        const struct polynomial term = {.count = 1, .terms = {of.terms[i]}};
        of = polynomial_add(polynomial_add(of, term, -1), lower, 1);
    }
    return false;
}

static void add_text(const struct atoms *atoms, const struct polynomial *of, struct text *text);

/* In brackets where it is more than one name or number. */
static const char *operand_text(const struct atoms *atoms, const struct polynomial *of)
{
    bool single = of->count <= 1 && of->terms[0].factor_count + (of->terms[0].times != 1) <= 1;
    return arena_printf(atoms->arena, single ? "%s" : "(%s)", polynomial_text(atoms, of));
}

static void add_atom(const struct atoms *atoms, const struct atom *atom, struct text *text)
{
    static const char *const names[] = {[ATOM_MIN] = "min", [ATOM_MAX] = "max", [ATOM_CEIL] = "cdiv"};
    if (atom->kind == ATOM_SIZE) {
        text_add(text, atom->name);
        return;
    }
    if (atom->kind == ATOM_FLOOR) {
        text_addf(text, "(%s // %s)", operand_text(atoms, &atom->a), operand_text(atoms, &atom->b));
        return;
    }
    text_addf(text, "%s(", atom->kind == ATOM_POSITIVE ? "max" : names[atom->kind]);
    add_text(atoms, &atom->a, text);
    text_add(text, ", ");
    add_text(atoms, &atom->b, text);
    text_add(text, ")");
}

static void add_text(const struct atoms *atoms, const struct polynomial *of, struct text *text)
{
    if (!of->count)
        text_add(text, "0");
    for (int i = 0; i < of->count; i++) {
        const struct polynomial_term *term = &of->terms[i];
        int64_t times = term->times < 0 ? -term->times : term->times;
        text_add(text, i ? (term->times < 0 ? " - " : " + ") : term->times < 0 ? "-" : "");
        if (times != 1 || !term->factor_count)
            text_addf(text, "%lld%s", (long long)times, term->factor_count ? " * " : "");
        for (int f = 0; f < term->factor_count; f++) {
            text_add(text, f ? " * " : "");
            add_atom(atoms, &atoms->items[term->factors[f]], text);
        }
    }
}

const char *polynomial_text(const struct atoms *atoms, const struct polynomial *of)
{
    struct text text = {0};
    add_text(atoms, of, &text);
    return text_keep(&text, atoms->arena);
}
