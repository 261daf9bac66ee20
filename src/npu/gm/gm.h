/* Global memory (gm.c): who read and wrote what between two meetings of all cores, and which bytes are defined. */
#ifndef NPU_GM_GM_H
#define NPU_GM_GM_H

#include "npu/npu_internal.h"

struct npu_gm_region;

void gm_region_free(struct npu_gm_region *region);
/* Traps unless [addr, addr+bytes) lies in one region; returns it. */
struct npu_gm_region *gm_check(struct npu_core *core, const char *operand, uint64_t addr, uint64_t bytes);
/* As gm_check, for a copy: it may reach the padding, which is noted. Returns how many bytes lie in the tensor. */
uint64_t gm_check_copy(struct npu_core *core, const char *operand, uint64_t addr, uint64_t bytes, bool write);
/* Notes a read for the race detector and reports bytes that another core wrote in this epoch. */
void gm_read(struct npu_core *core, const char *operand, uint64_t addr, uint64_t bytes);
/* Notes that the core has read what another has written, as one that waits for it does: no race is looked for in what it reads until the
 * epoch ends. */
void gm_count_as_wait(struct npu_core *core);
/* True if another core wrote one of these bytes in this epoch, or added to one. */
bool gm_written_by_others(struct npu_core *core, const struct npu_gm_region *region, uint64_t addr, uint64_t bytes);
/* Reads of addr so far were polls, no race. */
void gm_forget_reads(struct npu_core *core, const struct npu_gm_region *region, uint64_t addr);
/* Before a store: keeps the old values of bytes that another core wrote in this epoch, for npu_gm_written to
 * compare. */
void gm_expect_write(struct npu_core *core, uint64_t addr, uint64_t bytes);
void gm_forget_expected(struct npu_core *core);
/* GM (any declared region). Detects writes of different values by two cores between two SyncAll; `atomic` writes never
 * conflict with each other. Bytes whose value is undefined are passed with `defined` false. Values must already be in
 * memory when it is called. */
bool npu_gm_defined(const struct npu_core *core, const void *at, size_t bytes);
void npu_gm_written(struct npu_core *core, const void *at, size_t bytes, bool defined, bool atomic);
/* As npu_gm_written, with the old values of [at, at+bytes) at hand (NULL: unchanged where written by others). */
void gm_commit(struct npu_core *core, struct npu_gm_region *region, uint64_t at, size_t bytes, const uint8_t *old,
               bool defined, bool atomic);
struct npu_gm_view *gm_view_create(void);
void gm_view_destroy(struct npu_gm_view *view);
/* Gives back what the view holds beyond the reads of a block that has ended: a launch may have 65,535 blocks. */
void gm_view_shrink(struct npu_gm_view *view);
/* All cores have met: reports what they read from each other, then everything written counts as before. */
void gm_epoch_end(struct npu *npu);
/* Bytes of an output that hold undefined values at the end are a fault, those that were never written a note. */
void gm_report_undefined(struct npu *npu);

#endif
