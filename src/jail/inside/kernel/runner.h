/* Inside akgen-run: one job on its way through the program. main_kernel.c calls what follows in this order: job_in.c
 * takes the job, doors.c looks through the kernel's objects, objects.c loads them, doors.c closes the process, bind.c and launch.c run the kernel, findings.c writes down what the machine saw, result.c ends the process. */
#ifndef JAIL_INSIDE_KERNEL_RUNNER_H
#define JAIL_INSIDE_KERNEL_RUNNER_H

#include "abi/npu_abi.h"
#include "npu/npu.h"
#include "jail/inside/guard.h"
#include "jail/inside/jailed.h"
#include "jail/inside/load.h"
#include "jail/job_exchange.h"

#include <stdio.h>

/* Sections of an object: abi/npu_hooks.h. */
enum loaded_part {
    LOADED_GM,
    LOADED_BLOCK,
    LOADED_CONST,
    LOADED_ADDRESSES,
    LOADED_BLOCKS,
    LOADED_CALLBACKS,
    LOADED_PARTS
};
/* One of the candidate's kernel objects. */
struct loaded {
    struct loaded_section {
        uint64_t address, bytes; /* in the file */
    } parts[LOADED_PARTS];
    void *entry;
    uint64_t base;
    struct object_loaded object;
};
struct runner {
    struct arena arena;
    struct job job;
    struct job_result result;
    int result_fd;
    struct guard guard;
    struct jailed_evidence evidence;        /* of a violation, without its words */
    const struct npu_task_type *task_types; /* that the kernel names */
    size_t task_type_count;
    uint8_t *gm;
    uint64_t next_block;        /* of GM, in NPU_AREA_BLOCKS */
    struct loaded kernel, cube; /* what AIVs and AICs run */
    struct npu *npu;
    FILE *log;    /* the instruction log; NULL: none */
    FILE *slices; /* the timeline; NULL: none */
    long slice_bytes;
    uint64_t args[NPU_MAX_ARGS];
    int arg_count;
};

/* Taking the job (job_in.c). */
void runner_read_job(struct runner *runner, int fd);
/* The tensors' memory. */
void runner_map_gm(struct runner *runner, int fd);

/* Before the candidate (doors.c). Everything that needs a file is done here; then none is open. */
void runner_read_objects(struct runner *runner);
void runner_shut_the_door(struct runner *runner);

/* The candidate's objects (objects.c). */
/* The type that the kernel names for the launch's tiling key; loads the objects that it needs. */
enum npu_kernel_type runner_load_kernel(struct runner *runner);
/* What their loader would have run. */
void runner_initialise(struct runner *runner);

/* The kernel. */
/* A block of GM (bind.c). */
uint8_t *runner_allocate(struct runner *runner, uint64_t bytes);
/* Tells the machine what GM holds and puts down the kernel's arguments (bind.c). */
void runner_bind_arguments(struct runner *runner);
void runner_launch(struct runner *runner, const struct npu_soc *soc, enum npu_kernel_type type);

/* What the machine saw (findings.c). */
/* Where in the kernel's objects a return address lies. */
struct job_place runner_place(const struct runner *runner, uint64_t pc);
void runner_report(struct runner *runner);

/* The end (result.c). */
void runner_set_stage(struct runner *runner, enum job_stage stage);
/* Writes the result and ends the process at once: the candidate's destructors are of no interest. */
_Noreturn void runner_finish(struct runner *runner);
_Noreturn void runner_fail(struct runner *runner, enum job_status status, const char *message);
_Noreturn void runner_fail_error(struct runner *runner, enum job_status status, struct akgen_error *error);
/* memory_last_words of this program: says whose fault it is that there is no memory. */
void runner_out_of_memory(size_t bytes);
/* Makes the message that runner_violated fills in. */
void runner_prepare_evidence(struct runner *runner);
/* The guard's call when the candidate did what it must not; `closure` is the runner. */
_Noreturn void runner_violated(void *closure, const char *what);
/* The guard's call when somebody else ends the process. */
_Noreturn void runner_ended_from_outside(void *closure);

#endif
