/* What the pass over a kernel's code (src/toolchain/confine) puts into it: calls of the machine before accesses, at the
 * beginning of blocks and around frames. A kernel's own code cannot call them: the pass refuses their names.
 *
 * Memory of the kernel's own is the second stack of the running fiber, where all variables lie whose address somebody
 * may take, and the variables of the object. Whatever is neither that nor UB or GM ends the run. */
#ifndef AKGEN_NPU_HOOKS_H
#define AKGEN_NPU_HOOKS_H

#include <stdint.h>

/* The kernel is about to read, write, or read and write `bytes` at `at`. */
void npu_load(const void *at, uint64_t bytes);
void npu_store(void *at, uint64_t bytes);
void npu_update(void *at, uint64_t bytes);
/* memcpy, memmove; memset. */
void npu_copy(void *to, const void *from, uint64_t bytes);
void npu_fill(void *to, uint64_t bytes);
/* Checks that a pointer argument of a machine call leads to the kernel's own memory, and returns a copy of that memory for
 * the machine to use (NULL for NULL). The copy lives until npu_arguments_end(), which releases the newest `count` copies
 * and writes the NPU_ARGUMENT_WRITTEN ones back to the kernel. */
enum {
    NPU_ARGUMENT_READ = 1,
    NPU_ARGUMENT_WRITTEN = 2,
    NPU_ARGUMENT_OR_NULL = 4,
    NPU_ARGUMENT_STRING = 8 /* read up to a zero byte; `bytes` says nothing */
};
void *npu_argument(const void *at, uint64_t bytes, uint32_t use);
void npu_arguments_end(uint32_t count);
/* `bytes` of the second stack, aligned to NPU_FRAME_ALIGNMENT, until npu_frame_end() is called with what it gave. */
enum { NPU_FRAME_ALIGNMENT = 64 };
void *npu_frame(uint64_t bytes);
void npu_frame_end(void *frame, uint64_t bytes);
/* count x size bytes more for the frame that was made last; alignment is a power of two. */
void *npu_frame_more(uint64_t count, uint64_t size, uint64_t alignment);
/* Where the second stack ends, and back to there: the end of a block with arrays of variable length. */
void *npu_frame_top(void);
void npu_frame_back(void *top);
/* A block of the kernel's code begins: the row of NPU_SECTION_BLOCKS with that number. */
void npu_block(uint32_t number);
/* The operations of a block, by what they cost. The scalar unit has no vectors: an operation on one is as many as it has elements. */
enum npu_mix {
    NPU_MIX_INTEGER,
    NPU_MIX_FLOAT,
    NPU_MIX_ADDRESS,
    NPU_MIX_BRANCH,
    NPU_MIX_LOAD,
    NPU_MIX_STORE,
    NPU_MIX_CALL,
    NPU_MIX_OTHER,
    NPU_MIXES
};
struct npu_block_mix {
    uint32_t count[NPU_MIXES]; /* at most UINT32_MAX */
};
/* A call through a pointer that leads to no function of its type in the module. */
void npu_bad_call(const void *function);
/* npu_printf(): `count` words after the format, each the bits of an argument. */
void npu_print(const char *format, const uint64_t *words, uint32_t count);

/* A function of the kernel that the machine may call (npu_matmul_call_back). */
enum { NPU_CALLBACK_IN = 1, NPU_CALLBACK_OUT };
struct npu_callback {
    void *function;
    uint64_t kind;
};

/* Sections of the object: constants, and constants that hold addresses. */
#define NPU_SECTION_CONST     "akgen_const"
#define NPU_SECTION_ADDRESSES "akgen_addresses"
/* Writable variables, one copy per core; variables in GM. */
#define NPU_SECTION_BLOCK "akgen_block"
#define NPU_SECTION_GM    "akgen_gm"
/* Of the machine's: struct npu_block_mix per block, struct npu_callback per function. */
#define NPU_SECTION_BLOCKS    "akgen_blocks"
#define NPU_SECTION_CALLBACKS "akgen_callbacks"

#endif
