/* From a task to what a model is asked: messages made of template files (prompts/), with the task's specification, the chip,
 * exemplars and retrieved pages of the API. */
#ifndef GEN_PROMPT_H
#define GEN_PROMPT_H

#include "base/words.h"
#include "eval/eval.h"

#include <jansson.h>

/* The examples and documents that the model gets besides the task. */
#define GEN_VARIANTS(X)                                                                                                \
    X(GEN_ZERO_SHOT, "zero-shot")                                                                                      \
    X(GEN_ONE_SHOT, "one-shot") X(GEN_EXEMPLARS, "exemplars") X(GEN_RETRIEVAL, "retrieval")
enum gen_variant { GEN_VARIANTS(WORD_VALUE) };
extern const struct words gen_variants;

struct gen_message {
    const char *role; /* "system", "user", "assistant" */
    const char *text;
};

struct gen_prompt_options {
    enum eval_language language; /* that the model answers in; not EVAL_ANY */
    enum gen_variant variant;
    enum eval_scope scope; /* kernel: the host part is given and the answer is the kernel alone */
    enum eval_mode mode;   /* static: made for `only_case` (below 0: the first); dynamic: for all cases */
    int only_case;
    const struct npu_soc *soc;
    const char *templates;        /* a folder of template files; NULL: AKGen's own */
    const char *const *documents; /* files and folders of the user's (.md, .txt, .html) that retrieval reads besides */
    int document_count;
    const char *tokenizer;         /* a tokenizer.json to count by; NULL: an estimate */
    int64_t token_limit;           /* a prompt with more is an error; 0: none */
    const struct gen_shelf *shelf; /* opened with the same options, for many prompts; NULL: each reads what it needs */
};

/* What prompts are made of, read once: templates, exemplars, documents, the tokenizer. Any number of threads may use it;
 * options that differ in scope, mode, case, chip or limit may share it. */
struct gen_shelf;
struct akgen_error *gen_shelf_open(const struct gen_prompt_options *options, struct gen_shelf **shelf);
void gen_shelf_close(struct gen_shelf *shelf);

struct gen_prompt {
    const struct gen_message *messages;
    int count;
    int64_t tokens;
    bool estimated;      /* `tokens` is no tokenizer's count */
    const char *hash;    /* of the messages, in hexadecimal: what the database keeps it under */
    const char *grammar; /* that answers follow (gen_model_grammar), set by who asks; NULL: none */
};
/* The prompt for a task; in the arena. Never holds the task's own program, reference or answer. An error names the template
 * file and line, or says by how much the prompt is too long and what makes it shorter. */
struct akgen_error *gen_prompt_of_task(struct arena *arena, const struct task *task,
                                       const struct gen_prompt_options *options, struct gen_prompt *prompt);
/* A task in few words, as the small model that answers with formulas reads it: name, description, a line for each tensor of the first
 * case ("in x float16 [48,128,512]") and each attribute. The trailing line end is left out. */
struct akgen_error *gen_task_brief(struct arena *arena, const struct task *task, const char **brief);
/* A prompt of these messages: with its hash, counted and held against the limit as any. For the rounds of a repair. */
struct akgen_error *gen_prompt_of_messages(struct arena *arena, const struct gen_message *messages, int count,
                                           const struct gen_prompt_options *options, struct gen_prompt *prompt);

/* Messages as the protocol and the database have them, [{"role", "content"}]: the caller's, and as text in the arena. */
json_t *gen_messages_json(const struct gen_message *messages, int count);
const char *gen_messages_text(struct arena *arena, const struct gen_message *messages, int count);

#endif
