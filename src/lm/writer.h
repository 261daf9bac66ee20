/* A model that answers requests: loaded, with its tokenizer and the engine that writes, and what turns words into an engine's request. A server
 * (server.h) has one, and so has a process that asks its own model. */
#ifndef LM_WRITER_H
#define LM_WRITER_H

#include "base/arena.h"
#include "lm/engine.h"

#include <jansson.h>

/* The grammars of the last requests, by their texts: who asks again and again with one has it read, and its masks found, once. For one
 * thread at a time; zero-initialised at first. */
enum { LM_GRAMMARS = 8 };
struct lm_grammars {
    struct {
        char *text;
        struct lm_grammar *grammar;
    } rows[LM_GRAMMARS];
    unsigned next; /* row to be replaced */
};
/* A hold of the grammar of a text, which `name` stands for in errors: the caller frees it. */
struct akgen_error *lm_grammars_take(struct lm_grammars *grammars, const char *name, const char *text,
                                     struct lm_grammar **grammar);

struct lm_writer {
    const char *folder; /* the caller's; it has to stay */
    struct lm_model model;
    struct lm_tokenizer *tokenizer;
    struct lm_engine *engine;
    int longest; /* tokens of a text, prompt included */
    struct lm_grammars grammars;
};
/* Reads a folder. Errors: a file of the model, or not enough memory. Call lm_writer_close in any case. */
struct akgen_error *lm_writer_open(const char *folder, const struct lm_engine_options *options,
                                   struct lm_writer *writer);
void lm_writer_close(struct lm_writer *writer);

/* Set a request's prompt, of a text, and of messages as lm_chat_render has them, at whose end an answer begins; tokens in the arena. Errors: what
 * the messages lack, or that the folder has another template. */
struct akgen_error *lm_writer_text(const struct lm_writer *writer, const char *text, size_t length, struct arena *arena,
                                   struct lm_request *request);
struct akgen_error *lm_writer_messages(const struct lm_writer *writer, const json_t *messages, const json_t *tools,
                                       bool thinking, struct arena *arena, struct lm_request *request);
/* A seed for a request that has none: of the moment. */
uint64_t lm_writer_seed(void);
enum { LM_PROMPT_MOST = 16 }; /* tokens of an answer to a text alone that names no number: the protocol's own */

/* The protocol's words for why a text ended; NULL: it goes on. */
extern const char *const lm_finish_words[];

#endif
