/* printf of a kernel. The format is the kernel's own text, and every argument is one word of its own memory: what is printed
 * is looked up conversion by conversion, so nothing but the kernel's memory is read and nothing is written. */
#include "abi/npu_hooks.h"
#include "npu/machine.h"
#include "npu/own_memory.h"
#include "npu/report.h"
#include "npu/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one conversion does: "%-8.3ld". */
struct conversion {
    char text[48]; /* for printf, with every `*` replaced */
    size_t length;
    char letter;
};

struct words {
    const uint64_t *next;
    uint32_t left;
};

static uint64_t take(struct npu_core *core, struct words *words)
{
    if (!words->left)
        npu_trap(core, FAULT(bad_pointer), "format", "printf has fewer arguments than its format names");
    words->left--;
    return *words->next++;
}

static void add(struct conversion *conversion, const char *text, size_t length)
{
    if (conversion->length + length < sizeof conversion->text) {
        memcpy(conversion->text + conversion->length, text, length);
        conversion->length += length;
    }
}

/* Flags, width and precision, with numbers of at most three digits: what is printed stays of a size. */
static const char *read_size(struct npu_core *core, const char *at, struct words *words, struct conversion *conversion)
{
    enum { MOST = 999 };
    char number[16];
    size_t flags = strspn(at, "-+ #0");
    add(conversion, at, flags < 5 ? flags : 5);
    at += flags;
    for (int i = 0; i < 2; i++) {
        if (i && *at != '.')
            break;
        if (i)
            add(conversion, at++, 1);
        int value = *at == '*' ? (int)take(core, words) : -1;
        size_t digits = *at == '*' ? 1 : strspn(at, "0123456789");
        if (*at != '*' && digits)
            value = digits > 3 ? MOST : atoi(at);
        at += digits;
        if (value >= 0 || digits)
            add(conversion, number,
                (size_t)snprintf(number, sizeof number, "%d",
                                 value > MOST    ? MOST
                                 : value < -MOST ? -MOST
                                                 : value));
    }
    return at;
}

/* The value of an integer conversion as wide as its length says. */
static uint64_t narrowed(uint64_t word, const char *length, size_t letters, bool is_signed)
{
    uint64_t bits = letters == 2 && *length == 'h' ? 8 : letters == 1 && *length == 'h' ? 16 : letters ? 64 : 32;
    if (bits == 64)
        return word;
    uint64_t low = word << (64 - bits);
    return is_signed ? (uint64_t)((int64_t)low >> (64 - bits)) : low >> (64 - bits);
}

static void print_string(struct npu_core *core, struct conversion *conversion, uint64_t word)
{
    const char *text = (const char *)word; // NOLINT: the kernel's pointer
    uint64_t room = npu_own_room(core, word, false);
    if (!room || (core->npu->confined && strnlen(text, room) == room))
        npu_bad_pointer(core, word);
    add(conversion, "s", 2);
    printf(conversion->text, text);
}

/* Prints the conversion behind a %; returns what follows it. */
static const char *print_one(struct npu_core *core, const char *at, struct words *words)
{
    struct conversion conversion = {.text = "%", .length = 1};
    at = read_size(core, at, words, &conversion);
    size_t letters = strspn(at, "hlLqjzt");
    const char *length = at;
    at += letters;
    double value;
    uint64_t word;
    switch (*at) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        add(&conversion, "l", 1);
        add(&conversion, at, 1);
        printf(conversion.text, narrowed(take(core, words), length, letters, *at == 'd' || *at == 'i'));
        break;
    case 'c':
        add(&conversion, "c", 2);
        printf(conversion.text, (int)take(core, words));
        break;
    case 'p':
        add(&conversion, "p", 2);
        printf(conversion.text, (void *)take(core, words)); // NOLINT
        break;
    case 's':
        print_string(core, &conversion, take(core, words));
        break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        word = take(core, words);
        memcpy(&value, &word, sizeof value);
        add(&conversion, at, 1);
        printf(conversion.text, value);
        break;
    default:
        npu_trap(core, FAULT(bad_pointer), "format", "printf has a conversion that no kernel can use");
    }
    return at + 1;
}

void npu_print(const char *format, const uint64_t *words, uint32_t count)
{
    NPU_ENTER(core);
    struct words left = {words, count};
    npu_steps_text(core, 1);
    while (*format) {
        size_t plain = strcspn(format, "%");
        fwrite(format, 1, plain, stdout);
        format += plain;
        if (*format == '%' && format[1] == '%') {
            putchar('%');
            format += 2;
        } else if (*format) {
            format = print_one(core, format + 1, &left);
        }
    }
}
