/* Some calls of the basic API need temporary space and take it, without asking, at a fixed place of UB. A kernel that has
 * a buffer there loses what is in it. */
#include "npu/insn/reserved.h"

#include "npu/gm/shadow.h"
#include "npu/report.h"

#include <string.h>

int npu_list_reserved(const struct npu_core *core, struct npu_access *accesses, int n, uint32_t bytes)
{
    if (core->ub_bytes < NPU_RESERVED_AT + NPU_RESERVED_BYTES)
        return n;
    accesses[n++] = (struct npu_access){.addr = (uint64_t)core->ub + NPU_RESERVED_AT,
                                        .bytes = bytes,
                                        .count = 1,
                                        .count2 = 1,
                                        .write = true,
                                        .temporary = true,
                                        .operand = "temporary space"};
    return n;
}

static void overwrite(struct npu_core *core, uint32_t offset, const void *values, uint32_t bytes, const char *user,
                      const char *place)
{
    if (npu_ub_any_defined(core, core->ub + offset, bytes)) {
        npu_note(core, false, FAULT(ub_reserved), "", 0,
                 "%s overwrites %u bytes at UB offset %u, in %s; this kernel keeps something there", user, bytes,
                 offset, place);
        if (!core->pc_undefined)
            core->pc_undefined = core->pc;
    }
    if (values)
        memcpy(core->ub + offset, values, bytes);
    npu_ub_undefine(core, core->ub + offset, bytes);
}

void npu_write_reserved(struct npu_core *core, const void *values, uint32_t bytes, const char *user)
{
    if (core->ub_bytes >= NPU_RESERVED_AT + NPU_RESERVED_BYTES)
        overwrite(core, NPU_RESERVED_AT, values, bytes, user, "the last 8 KB, which CANN reserves for it");
}

void npu_write_message(struct npu_core *core)
{
    if (!core->aic)
        overwrite(core, core->ub_bytes - NPU_MESSAGE_BYTES, NULL, NPU_MESSAGE_BYTES, "a message to the AIC",
                  "the last 128, which CANN makes it in");
}
