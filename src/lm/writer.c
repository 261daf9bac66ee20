/* Opening, prompts and grammars. */
#include "lm/writer.h"

#include "base/memory.h"
#include "lm/chat.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const lm_finish_words[] = {[LM_AT_END] = "stop",
                                       [LM_AT_STOP] = "stop",
                                       [LM_AT_LENGTH] = "length",
                                       [LM_AT_DEAD_END] = "length",
                                       [LM_AT_NO_NUMBER] = "error"};

struct akgen_error *lm_writer_open(const char *folder, const struct lm_engine_options *options,
                                   struct lm_writer *writer)
{
    struct arena arena = {0};
    *writer = (struct lm_writer){.folder = folder};
    struct akgen_error *error = lm_model_read(&writer->model, folder);
    if (!error)
        error = lm_tokenizer_read(arena_printf(&arena, "%s/tokenizer.json", folder), &writer->tokenizer);
    if (!error)
        error = lm_engine_new(&writer->model, writer->tokenizer, options, &writer->engine);
    int most = writer->model.layout.config.max_positions;
    writer->longest = options->longest && options->longest < most ? options->longest : most;
    arena_free(&arena);
    return error;
}

void lm_writer_close(struct lm_writer *writer)
{
    lm_engine_free(writer->engine);
    for (int i = 0; i < LM_GRAMMARS; i++) {
        free(writer->grammars.rows[i].text);
        lm_grammar_free(writer->grammars.rows[i].grammar);
    }
    lm_tokenizer_free(writer->tokenizer);
    lm_model_free(&writer->model);
    *writer = (struct lm_writer){0};
}

struct akgen_error *lm_writer_text(const struct lm_writer *writer, const char *text, size_t length, struct arena *arena,
                                   struct lm_request *request)
{
    uint32_t *ids;
    int64_t count;
    struct akgen_error *error = lm_tokenizer_encode(writer->tokenizer, arena, text, length, &ids, &count);
    if (error)
        return error;
    request->prompt = (int32_t *)ids;
    request->prompt_count = (int)count;
    return NULL;
}

struct akgen_error *lm_writer_messages(const struct lm_writer *writer, const json_t *messages, const json_t *tools,
                                       bool thinking, struct arena *arena, struct lm_request *request)
{
    const struct lm_chat_options how = {.tools = tools, .ask = true, .no_thinking = !thinking};
    struct lm_part *parts;
    int count;
    struct akgen_error *error = lm_chat_check(writer->folder);
    if (!error)
        error = lm_chat_render(messages, &how, arena, &parts, &count);
    if (error)
        return error;
    const char *text = lm_chat_text(parts, count, arena);
    return lm_writer_text(writer, text, strlen(text), arena, request);
}

uint64_t lm_writer_seed(void)
{
    return (uint64_t)clock() * 1000003U + (uint64_t)time(NULL);
}

struct akgen_error *lm_grammars_take(struct lm_grammars *grammars, const char *name, const char *text,
                                     struct lm_grammar **grammar)
{
    for (int i = 0; i < LM_GRAMMARS; i++)
        if (grammars->rows[i].text && strcmp(grammars->rows[i].text, text) == 0) {
            *grammar = lm_grammar_hold(grammars->rows[i].grammar);
            return NULL;
        }
    struct akgen_error *error = lm_grammar_parse(name, text, strlen(text), grammar);
    if (error)
        return error;
    unsigned row = grammars->next++ % LM_GRAMMARS;
    free(grammars->rows[row].text);
    lm_grammar_free(grammars->rows[row].grammar);
    grammars->rows[row].text = memory_string(text);
    grammars->rows[row].grammar = lm_grammar_hold(*grammar);
    return NULL;
}
