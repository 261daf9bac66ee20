/* Integers that are not known: sums of products of atoms, which are sizes, variables of loops, quotients and the like. Equal
 * integers mostly have equal forms: min(p, q) is p - pos(p - q), with pos(z) = max(z, 0), so min(v + t, e) - v and
 * min(t, e - v) are the same. */
#ifndef DSL_POLYNOMIAL_H
#define DSL_POLYNOMIAL_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { POLYNOMIAL_TERMS = 12, POLYNOMIAL_FACTORS = 6, POLYNOMIAL_ATOMS = 200, POLYNOMIAL_SIZE = 1000 };

struct polynomial {
    bool unknown; /* it has no form here; nothing is proved with it */
    int count;
    struct polynomial_term {
        int64_t times;
        int factor_count, factors[POLYNOMIAL_FACTORS]; /* atoms, ascending */
    } terms[POLYNOMIAL_TERMS];                         /* in the order of their factors, none with times 0 */
};

enum atom_kind { ATOM_SIZE, ATOM_MIN, ATOM_MAX, ATOM_POSITIVE, ATOM_CEIL, ATOM_FLOOR };
/* SIZE: by its name; MIN, MAX: of a and b, neither of which moves; POSITIVE: pos(a); CEIL, FLOOR: a divided by b > 0. */
struct atom {
    enum atom_kind kind;
    const char *name;
    struct polynomial a, b;
    bool moves;     /* it changes from core to core or turn to turn */
    bool maybe_low; /* it may be negative */
    int size;       /* atoms that it is written with, itself included; POLYNOMIAL_SIZE at most, or it has no form */
};
struct atoms {
    struct arena *arena;
    struct atom items[POLYNOMIAL_ATOMS];
    int count;
};

struct polynomial polynomial_of(int64_t number);
/* The size or variable of this name. */
struct polynomial polynomial_named(struct atoms *atoms, const char *name, bool moves, bool maybe_low);
/* a + times * b */
struct polynomial polynomial_add(struct polynomial a, struct polynomial b, int64_t times);
struct polynomial polynomial_multiply(struct polynomial a, struct polynomial b);
struct polynomial polynomial_min(struct atoms *atoms, struct polynomial a, struct polynomial b);
struct polynomial polynomial_max(struct atoms *atoms, struct polynomial a, struct polynomial b);
/* a / b rounded down, or up. */
struct polynomial polynomial_divide(struct atoms *atoms, struct polynomial a, struct polynomial b, bool up);
/* The polynomial with another in the place of an atom, also where that stands inside of others. */
struct polynomial polynomial_replace(struct atoms *atoms, struct polynomial of, int atom, struct polynomial by);
bool polynomial_equal(const struct polynomial *a, const struct polynomial *b);
/* Whether the atom stands in it, or inside of its atoms. */
bool polynomial_has(const struct atoms *atoms, const struct polynomial *of, int atom);
bool polynomial_moves(const struct atoms *atoms, const struct polynomial *of);
/* Whether it can be shown that it is not negative, by b * ceil(a / b) >= a. */
bool polynomial_not_negative(const struct atoms *atoms, struct polynomial of);
/* The number of the atom that it is; -1: it is not one. */
int polynomial_atom(const struct polynomial *of);
const char *polynomial_text(const struct atoms *atoms, const struct polynomial *of);

#endif
