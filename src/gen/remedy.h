/* What to do about a fault or a compiler's message: the tables that feedback to a model quotes. */
#ifndef GEN_REMEDY_H
#define GEN_REMEDY_H

#include "toolchain/toolchain.h"

/* A fault of include/abi/fault.def: what it demands and what to do. NULL fields: there is no fault of this name. */
struct gen_fault_text {
    const char *rule, *remedy;
};
struct gen_fault_text gen_remedy_of_fault(const char *name);
/* What to do about a compiler's message, by its words (compile_remedies.def), else by its class; never NULL. */
const char *gen_remedy_of_diagnostic(const struct diagnostic *diagnostic);

#endif
