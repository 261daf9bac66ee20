/* Qwen3's chat template as transformers reads it, in Jinja: what chat.c renders. Each tag takes the white space before it away, so that the
 * line ends count for nothing. tests/peers/lm_chat_test.py renders the same conversations by both, and by the template that Qwen3 ships. */
#include "lm/chat.h"

const char lm_chat_template[] = {
#embed "../../templates/chat_template.jinja" suffix(, 0)
};
