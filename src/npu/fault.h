/* The faults of fault.def, for those who report them and those who read reports: FAULT(ub_overflow). A row is a symbol that
 * the linker finds, so no file but the table's is compiled again when a row comes or changes; of a name that is no row it
 * says "undefined reference". */
#ifndef NPU_FAULT_H
#define NPU_FAULT_H

/* What went wrong. */
enum npu_kind { NPU_TRAP, NPU_DIFFERS, NPU_UNDEFINED, NPU_HAZARD, NPU_UNSUPPORTED };

struct npu_fault {
    const char *name; /* as findings, verdicts and docs/faults.md give it */
    unsigned kinds;   /* that it can have: a bit for each */
};

/* The row, const struct npu_fault *. Not for static tables, which declare the symbol themselves (memory.c). */
#define FAULT(name) NPU_FAULT_SYMBOL(fault_##name)
#define NPU_FAULT_SYMBOL(symbol)                                                                                       \
    ({                                                                                                                 \
        extern const struct npu_fault symbol;                                                                          \
        &symbol;                                                                                                       \
    })

#endif
