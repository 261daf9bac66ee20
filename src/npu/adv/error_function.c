/* Erf and Erfc: rational functions of x^2. */
#include "npu/adv/piece.h"

/* x * P(x^2) / Q(x^2) with |x| cut at 3.92, where erf is 1 in float. The result takes the place of x. */
static void erf_steps(const struct adv_piece *p)
{
    static const double numerator[] = {0.053443748819,  0.75517016694e1, 0.10162808918e3,
                                       0.13938061484e4, 0.50637915060e4, 0.29639384698e5};
    static const double denominator[] = {0.31212858877e2, 0.39856963806e3, 0.30231248150e4, 0.13243365831e5,
                                         0.26267224157e5};
    enum { SQUARE = T(0), P = T(1), Q = T(2), X = DST };
    RUN(p, MINS(SQUARE, SRC, 3.92), MAXS(X, SQUARE, -3.92), MUL(SQUARE, X, X), MULS(P, SQUARE, numerator[0]),
        ADDS(Q, P, numerator[1]));
    for (int i = 2; i < 6; i++)
        RUN(p, MUL(P, SQUARE, Q), ADDS(Q, P, numerator[i]));
    RUN(p, MUL(P, X, Q), ADDS(Q, SQUARE, denominator[0]));
    for (int i = 1; i < 5; i++)
        RUN(p, MUL(X, SQUARE, Q), ADDS(Q, X, denominator[i]));
    RUN(p, DIV(DST, P, Q));
}
ADV_ROUTINE(erf, .body = erf_steps, .bytes = 12, .bytes_half = 16, .convert = true)

/* With x cut at 10 and s its sign: 1 - s + s * exp(-x^2) * R(|x|) / S(|x|). */
static void erfc_steps(const struct adv_piece *p)
{
    static const double numerator[] = {0.1735313680e-7,  -0.9856738394e-6, 0.2517003236e-4,
                                       -0.3848015171e-3, 0.5681528564e0,   0.5245623129e1,
                                       0.2107740710e2,   0.4212761755e2,   0.4380524149e2};
    static const double denominator[] = {0.9349684299e1, 0.3756930664e2, 0.8058268949e2, 0.9155653738e2,
                                         0.4380524152e2};
    enum { SIZE = T(0), ONE_LESS_SIGN = T(1), S = T(2), R = T(3), PRODUCT = T(4), SIGN = DST };
    RUN(p, MINS(DST, SRC, 10), MAXS(DST, DST, -10), ABS(SIZE, DST), ADDS(SIZE, SIZE, 0x1p-62), DIV(SIGN, DST, SIZE),
        MINS(T(1), SIZE, 10), MULS(S, SIZE, numerator[0]), ADDS(R, S, numerator[1]));
    for (int i = 2; i < 9; i++)
        RUN(p, MUL(S, SIZE, R), ADDS(R, S, numerator[i]));
    RUN(p, ADDS(S, SIZE, denominator[0]));
    for (int i = 1; i < 5; i++)
        RUN(p, MUL(PRODUCT, SIZE, S), ADDS(S, PRODUCT, denominator[i]));
    RUN(p, DIV(S, R, S), MUL(SIZE, SIZE, SIZE), MULS(SIZE, SIZE, -1), EXP(SIZE, SIZE), MUL(S, SIZE, S),
        MULS(ONE_LESS_SIGN, SIGN, -1), ADDS(ONE_LESS_SIGN, ONE_LESS_SIGN, 1), MUL(S, S, SIGN),
        ADD(DST, S, ONE_LESS_SIGN));
}
ADV_ROUTINE(erfc, .body = erfc_steps, .bytes = 20, .bytes_half = 24, .convert = true)
