/* Qwen3's chat template: messages, as the OpenAI protocol has them, to the text that the model was trained on.
 *   <|im_start|>user\n..<|im_end|>\n<|im_start|>assistant\n<think>\n..\n</think>\n\n..<|im_end|>\n
 * Thoughts are kept of answers behind the last question alone; tools, their calls and what they returned are rendered likewise. */
#ifndef LM_CHAT_H
#define LM_CHAT_H

#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* A part of the text. Parts are tokenised one by one, as they are where a model writes the learned ones. */
struct lm_part {
    const char *text;
    size_t length;
    bool learned; /* an answer and the <|im_end|> behind it */
};
struct lm_chat_options {
    const json_t *tools; /* functions, or NULL */
    bool ask;            /* the begin of an answer is put at the end */
    bool no_thinking;    /* ask: with an empty thought, so that the model answers at once */
    int learned_from;    /* answers before this message are not learned */
};

/* messages: a list of {"role": "system|user|assistant|tool", "content": text, "reasoning_content": text, "tool_calls": [..]}. Parts in the
 * arena. Errors name the message and the field. */
struct akgen_error *lm_chat_render(const json_t *messages, const struct lm_chat_options *options, struct arena *arena,
                                   struct lm_part **parts, int *count);
/* The same in Jinja, for transformers and vLLM: what tokenizer_config.json of a new vocabulary has. */
extern const char lm_chat_template[];
/* An error if a model's folder has another template than this one or Qwen3's, in chat_template.jinja or tokenizer_config.json. */
struct akgen_error *lm_chat_check(const char *folder);
/* All parts as one text. */
const char *lm_chat_text(const struct lm_part *parts, int count, struct arena *arena);

#endif
