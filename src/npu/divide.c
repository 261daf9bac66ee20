/* Integer division by zero, and the one quotient that does not fit (the least number by -1). The scalar unit of the
 * chip goes on with some number, as aarch64 does; x86-64 stops the program. Here the result is aarch64's on both:
 * quotient 0 with the dividend as remainder; the least number with remainder 0. On x86-64 the instruction at which the
 * processor stopped is decoded (Intel SDM volume 2, DIV and IDIV: opcodes F6 and F7, /6 and /7) and stepped over. */
#include "npu/report.h"

#include <ucontext.h>

#if defined(__x86_64__)

/* The registers in the order of the instruction encoding. */
static const int encoded[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

struct division {
    const uint8_t *end; /* behind the instruction */
    int bits;           /* of the operands */
    bool is_signed;
};

/* Reads the instruction at `code`; false if it is no division. */
static bool decode(const uint8_t *code, struct division *division)
{
    bool half = false, wide = false;
    for (; *code == 0x66 || *code == 0xF2 || *code == 0xF3 || *code == 0x2E || *code == 0x3E || *code == 0x64; code++)
        half |= *code == 0x66;
    if ((*code & 0xF0) == 0x40) /* REX */
        wide = *code++ & 8;
    if (*code != 0xF6 && *code != 0xF7)
        return false;
    bool byte = *code++ == 0xF6;
    uint8_t modrm = *code++;
    int mode = modrm >> 6, operation = modrm >> 3 & 7, place = modrm & 7;
    if (operation < 6)
        return false;
    if (mode != 3 && place == 4) { /* SIB */
        bool no_base = mode == 0 && (*code & 7) == 5;
        code += no_base ? 5 : 1;
    } else if (mode == 0 && place == 5) /* relative to the program counter */
        code += 4;
    code += mode == 1 ? 1 : mode == 2 ? 4 : 0;
    *division = (struct division){code, byte ? 8 : wide ? 64 : half ? 16 : 32, operation == 7};
    return true;
}

static uint64_t low_bits(uint64_t value, int bits)
{
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static void store(greg_t *registers, int number, int bits, uint64_t value)
{
    greg_t *at = &registers[encoded[number]];
    /* A 32-bit result clears the upper half of the register, a narrower one leaves the rest. */
    *at = bits >= 32 ? (greg_t)low_bits(value, bits)
                     : (greg_t)(((uint64_t)*at & ~((UINT64_C(1) << bits) - 1)) | low_bits(value, bits));
}

bool divide_step_over(void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct division division;
    if (!decode((const uint8_t *)registers[REG_RIP], &division))
        return false;
    int bits = division.bits;
    uint64_t dividend = low_bits((uint64_t)registers[REG_RAX], bits), least = UINT64_C(1) << (bits - 1);
    /* Of the two reasons the rare one needs the least number as dividend. */
    bool overflow = division.is_signed && bits > 16 && dividend == least;
    uint64_t quotient = overflow ? least : 0, remainder = overflow ? 0 : dividend;
    if (bits == 8)
        store(registers, 0, 16, remainder << 8 | quotient);
    else {
        store(registers, 0, bits, quotient);
        store(registers, 2, bits, remainder);
    }
    registers[REG_RIP] = (greg_t)division.end;
    return true;
}

#else

bool divide_step_over(void *context)
{
    (void)context;
    return false;
}

#endif
