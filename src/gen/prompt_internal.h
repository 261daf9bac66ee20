/* How a prompt is made: each placeholder of the templates has a function that writes what stands in its place. */
#ifndef GEN_PROMPT_INTERNAL_H
#define GEN_PROMPT_INTERNAL_H

#include "dsl/exemplar.h"
#include "gen/library.h"
#include "gen/prompt.h"
#include "gen/template.h"
#include "lm/tokenizer.h"

/* The primer of AscendDSL, cut into what is shown and what may have to be left out. */
enum { PRIMER_STAND_INS = 2 };
struct prompt_primer {
    struct prompt_primer_piece *pieces;
    int count, capacity;
    const char *stand_ins[PRIMER_STAND_INS];
    struct task *stand_in_tasks[PRIMER_STAND_INS];
};

/* What prompts read, kept between them. Read-only once it is open. */
struct gen_shelf {
    struct arena arena;
    const char *home;
    struct gen_templates *templates; /* of the language */
    struct dsl_exemplars exemplars;
    struct prompt_primer primer;    /* empty where no template asks for it */
    struct lm_tokenizer *tokenizer; /* NULL: tokens are estimated */
    struct gen_library *library;    /* NULL: the variant looks nothing up */
};

/* A task that another one's prompt shows the answer of; nothing of it is set where none is shown. */
struct prompt_example {
    const char *task;        /* "npukernelbench/level1/Math/Sqrt" */
    const char *description; /* what it computes */
    const char *files;       /* the answer, in the form that an answer has */
    const char *cases;       /* its first case: scope kernel's answer is made for that one */
    bool of_category;        /* it is the exemplar of the task's category */
};

/* A prompt on its way. */
struct prompt_maker {
    struct arena *arena;
    const struct gen_shelf *shelf;
    const struct task *task;
    const struct gen_prompt_options *options;
    const char *operator_name;            /* "sqrt": of the entry point and the files */
    const struct task_case *const *cases; /* those the prompt is about */
    int case_count;
    struct prompt_example example;
};

/* The placeholders; docs/prompts.md says what each one is. PROMPT_FLAGs are "yes" or empty. */
#define PROMPT_TEXTS(X)                                                                                                \
    X(task)                                                                                                            \
    X(operator)                                                                                                        \
    X(operator_type)                                                                                                   \
    X(category)                                                                                                        \
    X(description)                                                                                                     \
    X(brief)                                                                                                           \
    X(interface)                                                                                                       \
    X(formulas)                                                                                                        \
    X(cases)                                                                                                           \
    X(soc)                                                                                                             \
    X(hardware)                                                                                                        \
    X(vector_cores)                                                                                                    \
    X(cube_cores)                                                                                                      \
    X(ub_bytes)                                                                                                        \
    X(files)                                                                                                           \
    X(given)                                                                                                           \
    X(primer)                                                                                                          \
    X(example_task)                                                                                                    \
    X(example_description)                                                                                             \
    X(example_files)                                                                                                   \
    X(example_case)                                                                                                    \
    X(retrieved)
#define PROMPT_FLAGS(X)                                                                                                \
    X(explained)                                                                                                       \
    X(one_case)                                                                                                        \
    X(kernel_scope)                                                                                                    \
    X(cube)                                                                                                            \
    X(several_types)                                                                                                   \
    X(tensor_lists)                                                                                                    \
    X(scalars)                                                                                                         \
    X(optional_inputs)                                                                                                 \
    X(attributes)                                                                                                      \
    X(in_place)                                                                                                        \
    X(category_example)
#define PROMPT_DECLARE(name) struct akgen_error *prompt_text_##name(struct prompt_maker *maker, const char **text);
PROMPT_TEXTS(PROMPT_DECLARE)
#undef PROMPT_DECLARE
#define PROMPT_DECLARE(name) bool prompt_is_##name(const struct prompt_maker *maker);
PROMPT_FLAGS(PROMPT_DECLARE)
#undef PROMPT_DECLARE

/* Sets `example` where the variant has one. */
struct akgen_error *prompt_make_example(struct prompt_maker *maker);
/* A file as the answer is to hold it: between tags of its path. */
const char *prompt_file(struct arena *arena, const char *path, const char *text);
/* The description of a task without its title and its section on files; "" if there is none. */
struct akgen_error *prompt_description(struct arena *arena, const struct task *task, const char **text);
/* True if a task of this name is the same operator, perhaps of another suite. */
bool prompt_same_operator(const struct task *task, const char *other);
/* True if both compute the same by their reference, as BasicMatmul and PaddingMatmul do. */
bool prompt_same_reference(const struct task *task, const struct task *other);
/* Neither: another operator. */
bool prompt_is_other(const struct task *task, const struct task *other);
/* Loads a task by its name with the suite's. */
struct akgen_error *prompt_load_task(struct arena *arena, const char *home, const char *name, struct task **task);
struct akgen_error *prompt_primer_read(struct arena *arena, const char *home, struct prompt_primer *primer);
/* What to look up for a task. */
struct akgen_error *prompt_query(struct arena *arena, const struct task *task, struct gen_query *query);
/* The table of cases. */
struct akgen_error *prompt_cases(struct arena *arena, const struct task *task, const struct task_case *const *cases,
                                 int count, const char **text);
/* Case `number` of the task; below 0 the first. */
const struct task_case *prompt_case(const struct task *task, int number);

/* Tokens of a text as no tokenizer counts them: docs/prompts.md says how well. */
int64_t prompt_estimate(const char *text);
/* Counts the prompt's tokens; an error where they are more than the options allow. */
struct akgen_error *prompt_count(struct arena *arena, const struct lm_tokenizer *tokenizer,
                                 const struct gen_prompt_options *options, struct gen_prompt *prompt);

#endif
