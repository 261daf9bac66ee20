/* A candidate: somebody's answer to a task, as a value. Whatever form it came in (a project's folder, a model's text with files, six
 * strings, JSON, a program in AscendDSL, formulas), it is read here and becomes files in memory, or a refusal that says why there is
 * nothing to evaluate. */
#ifndef CANDIDATE_CANDIDATE_H
#define CANDIDATE_CANDIDATE_H

#include "akgen/akgen.h"
#include "base/words.h"
#include "candidate/response.h"
#include "candidate/source_map.h"
#include "task/task.h"
#include "toolchain/toolchain.h"

#define EVAL_SCOPES(X) X(EVAL_KERNEL, "kernel") X(EVAL_PROJECT, "project")
/* Languages of answers. Each is a benchmark of its own: no rate and no export mixes them. EVAL_ANY: an answer counts in its own. */
#define EVAL_LANGUAGES(X) X(EVAL_ASCENDC, "ascendc") X(EVAL_DSL, "dsl") X(EVAL_GRAPH, "graph") X(EVAL_ANY, "any")
enum eval_scope { EVAL_SCOPES(WORD_VALUE) };
enum eval_language { EVAL_LANGUAGES(WORD_VALUE) };
extern const struct words eval_scopes, eval_languages;
/* NULL if an answer in the language `found` counts where `asked` was asked for, else the sentence that says why not. */
const char *eval_language_problem(struct arena *arena, enum eval_language asked, enum eval_language found);

/* Why there is nothing to evaluate: an answer that is no candidate (compile_error, as upstream counts it), one that cheats or needs
 * what AKGen lacks, or none that came (infra_error). */
struct candidate_refusal {
    enum akgen_verdict_kind kind;
    const char *reason;
    const struct diagnostic *diagnostics;
    int diagnostic_count;
};
struct candidate {
    const char *name;                        /* what people call it: the path as given; "" */
    const char *digest;                      /* of every name and byte that was read; NULL: nothing was */
    enum eval_language language;             /* that it is in; EVAL_ANY: unknown */
    const struct candidate_refusal *refusal; /* NULL: what follows is there */
    struct op_files files;                   /* the operator project */
    const struct op_response *response;      /* of six strings: the wrapper's two among them; NULL */
    const char *program;                     /* in AscendDSL, which the files were compiled of; NULL */
    const struct source_map *map;            /* from the files' lines to a program's; NULL */
    double charged;                          /* seconds of the candidate's time that reading it took */
};

/* The demands on an answer. */
struct candidate_asked {
    enum eval_scope scope;
    enum eval_language language; /* that it must be in */
    bool language_given;         /* false: .py files count in their own language too */
    int only_case;               /* a program that fits not all cases may fit this one alone; -1: none in particular */
    double seconds;              /* that all that is done for the candidate may take; 0: no limit of this kind */
    int cancel_fd;               /* as of sandbox_limits */
    const char *tree; /* a folder that the user named, in which paths lie and below which no link is followed; NULL */
};
/* Reads what is at a path, a project's folder or a file with an answer, for a task. Never fails: candidate->refusal says what is
 * wrong. Everything is in the arena. The text of an answer is read in a process of its own (reader.h). */
void candidate_read_path(struct arena *arena, const char *path, const struct task *task,
                         const struct candidate_asked *asked, struct candidate *candidate);
/* The same of the text of a file of that name, and of the files of a project, that somebody sent. */
void candidate_read_file(struct arena *arena, const char *name, const char *text, size_t length,
                         const struct task *task, const struct candidate_asked *asked, struct candidate *candidate);
void candidate_read_files(struct arena *arena, const char *name, const struct op_file *files, size_t count,
                          const struct task *task, const struct candidate_asked *asked, struct candidate *candidate);
/* The files of a project that is there, in any order; they are not copied. */
void candidate_of_files(struct arena *arena, const struct op_file *files, size_t count, struct candidate *candidate);
/* A compiled program, with the map of its lines among the files. */
void candidate_of_program(struct arena *arena, const struct dsl_lowered *lowered, struct candidate *candidate);
/* Compiles the task's own program (candidate/program.h), which answers it without a model. */
void candidate_of_task(struct arena *arena, const struct task *task, struct candidate *candidate);
/* A refusal, without diagnostics. */
void candidate_refuse(struct arena *arena, enum akgen_verdict_kind kind, const char *reason,
                      struct candidate *candidate);
/* The same of a compile_error, with the reason as its only diagnostic. `file` may be NULL. */
void candidate_refuse_for(struct arena *arena, enum diagnostic_class class, const char *file, const char *reason,
                          struct candidate *candidate);

#endif
