/* How far rounding carries in a program. A chip computes some things otherwise than the interpreter does, who rounds the exact
 * value once: exp and its like are a few units off, a sum depends on the order in which it is added. Where dsl_run.nudge asks for it, every
 * such value is moved by a few units, upwards or downwards at random, and so is each term of a sum. What comes out differs from
 * what comes out without as much as the program makes of that, wherever it leads: through differences that cancel, through
 * steep functions, through numbers and choices. (The idea is that of discrete stochastic arithmetic; Vignes 2004.) */
#include "dsl/interpret_internal.h"

#include <math.h>

/* splitmix64's output function. */
static uint64_t random_of(uint64_t x)
{
    x += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

/* Between a half and one, or the negative of that. */
static double random_move(struct machine *machine)
{
    uint64_t random = random_of(machine->run->nudge + machine->approximations++);
    double move = 1 - 0x1p-54 * (double)(random >> 11);
    return random & 1 ? move : -move;
}

double machine_approximation(struct machine *machine, enum akgen_dtype type, double value)
{
    uint64_t seed = machine->run->nudge;
    machine->run->approximate = true;
    if (!seed)
        return value;
    double part = type == AKGEN_FLOAT16 ? 0x1p-10 : type == AKGEN_BF16 ? 0x1p-8 : 0x1p-21; /* 2, 1 and 4 units */
    return value * (1 + part * random_move(machine));
}

double machine_approximation_of_sum(struct machine *machine, double size)
{
    machine->run->approximate = true;
    return machine->run->nudge ? size * 0x1p-21 * random_move(machine) : 0;
}

double machine_steady_approximation(struct machine *machine, enum akgen_dtype type, double value)
{
    value = machine_approximation(machine, type, value);
    return machine->run->nudge ? value + 0x1p-23 * random_move(machine) : value;
}

double machine_coarse_approximation(struct machine *machine, enum akgen_dtype type, double value)
{
    value = machine_approximation(machine, type, value);
    return machine->run->nudge ? value + 0x1p-14 * random_move(machine) : value;
}

double machine_power_approximation(struct machine *machine, enum akgen_dtype type, double value)
{
    double moved = machine_approximation(machine, type, value);
    double exponent = value != 0 && isfinite(value) ? fabs(log2(fabs(value))) : 0;
    return moved == value ? value : value + (moved - value) * (1 + exponent / 4);
}
