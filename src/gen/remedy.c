#include "gen/remedy.h"

#include <string.h>

struct fault_row {
    const char *name, *rule, *remedy;
    const char *as; /* the fault in whose row it stands; NULL: its own */
};
static const struct fault_row faults[] = {
#define KIND(text)
#define RULE(text)   .rule = (text),
#define REMEDY(text) .remedy = (text),
#define SOURCE(text)
#define CPU_DEBUG(text)
#define NPUCHK(text)
#define MSSANITIZER(text)
#define PROOF(text)
#define AS(other)                    .as = #other,
#define NPU_FAULT(name_, kinds, ...) {.name = #name_, __VA_ARGS__},
#include "abi/fault.def"
#undef NPU_FAULT
#undef REMEDY
};

static const struct fault_row *find_fault(const char *name)
{
    for (size_t i = 0; name && i < sizeof faults / sizeof *faults; i++)
        if (strcmp(faults[i].name, name) == 0)
            return faults[i].as ? find_fault(faults[i].as) : &faults[i];
    return NULL;
}

struct gen_fault_text gen_remedy_of_fault(const char *name)
{
    const struct fault_row *row = find_fault(name);
    return row ? (struct gen_fault_text){row->rule, row->remedy} : (struct gen_fault_text){0};
}

static const struct message_remedy {
    const char *part, *more, *text;
} by_words[] = {
#define REMEDY(part, more, text) {part, more, text},
#define CLASS(value, text)
#include "gen/compile_remedies.def"
};
static const char *const by_class[] = {
#define REMEDY(part, more, text)
#define CLASS(value, text) [value] = (text),
#include "gen/compile_remedies.def"
};

const char *gen_remedy_of_diagnostic(const struct diagnostic *diagnostic)
{
    for (size_t i = 0; i < sizeof by_words / sizeof *by_words; i++) {
        const struct message_remedy *row = &by_words[i];
        if (strstr(diagnostic->message, row->part) && (!row->more || strstr(diagnostic->message, row->more)))
            return row->text;
    }
    return by_class[diagnostic->class];
}
