/* Questions about a document by a model: it asks of each section what the section answers, then answers each question by the section and by what else
 * the document has on it. */
#include "base/array.h"
#include "base/text.h"
#include "cot/ask.h"
#include "cot/corpus.h"
#include "cot/document_internal.h"

#include <ctype.h>
#include <string.h>

enum {
    SHORTEST = 24,
    LONGEST_PASSAGE = 6000,
    LONGEST_QUESTION = 600,
    MOST_QUESTIONS = 6,
    SEARCHED = 512 << 10, /* bytes of a document in which related passages are looked for */
    RELATED = 1500
};

/* A question of the model's, and the section that it is about. */
struct question {
    int section;
    const char *text;
};
struct asking {
    struct document_rows rows;
    struct question *questions;
    int count, capacity;
};

/* At most so many bytes of a text, whole characters. */
static const char *cut(struct arena *arena, const char *text, size_t most)
{
    size_t length = strlen(text);
    if (length > most)
        for (length = most; length && (text[length] & 0xc0) == 0x80;)
            length--;
    return arena_strndup(arena, text, length);
}

static const char *count_of(struct arena *arena, const char *passage)
{
    size_t count = 1 + strlen(passage) / 400;
    return arena_printf(arena, "%zu", count < MOST_QUESTIONS ? count : MOST_QUESTIONS);
}

/* What the model asks of each section. */
static struct akgen_error *find_questions(struct asking *asking)
{
    struct document_rows *rows = &asking->rows;
    struct arena *arena = &rows->block->arena;
    const int most = rows->sections->count;
    struct cot_prompt *prompts = arena_alloc(arena, sizeof *prompts * (size_t)(most + 1));
    const char **answers = arena_alloc(arena, sizeof *answers * (size_t)(most + 1));
    int *sections = arena_alloc(arena, sizeof *sections * (size_t)(most + 1)), count = 0, lacking;
    for (int s = 0; s < most; s++) {
        const char *text = rows->sections->items[s].text;
        if (strlen(text) < SHORTEST || cot_secret_in(text))
            continue;
        document_look_above(rows, s);
        sections[count] = s;
        prompts[count++] = (struct cot_prompt){.template = "ask",
                                               .name = rows->name,
                                               .heading = rows->heading,
                                               .count = count_of(arena, text),
                                               .passage = cut(arena, text, LONGEST_PASSAGE)};
    }
    struct akgen_error *error = cot_ask(rows->options->asker, arena, prompts, count, answers, &lacking);
    rows->block->unfinished |= lacking > 0;
    for (int i = 0; i < count && !error; i++) {
        const char *at = answers[i] ? cot_behind_thoughts(answers[i]) : "", *question;
        int found = 0;
        for (; found < MOST_QUESTIONS && (question = cot_between(arena, &at, "question")); found++)
            if (strlen(question) <= LONGEST_QUESTION)
                ARRAY_ADD(arena, asking->questions, asking->count, asking->capacity,
                          (struct question){sections[i], question});
        if (!found)
            cot_block_drop(rows->block, "an answer of the model that cannot be used");
    }
    return error;
}

/* How many of the question's longer words a text has. */
static int words_in(struct arena *arena, const char *question, const char *text)
{
    enum { SHORTEST_WORD = 4 };
    int count = 0;
    for (const char *at = question; *at;) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_' || (at[length] & 0x80))
            length++;
        count += length >= SHORTEST_WORD && strcasestr(text, arena_strndup(arena, at, length)) != NULL;
        at += length ? length : 1;
    }
    return count;
}

/* The other section that has most of the question's words; "" if none has two. */
static const char *related(struct arena *arena, const struct document_rows *rows, const struct question *question)
{
    struct arena room = {0};
    int best = -1, most = 1;
    size_t bytes = 0;
    for (int s = 0; s < rows->sections->count; s++)
        bytes += strlen(rows->sections->items[s].text);
    for (int s = 0; s < rows->sections->count && bytes <= SEARCHED; s++) {
        int count = s == question->section ? 0 : words_in(&room, question->text, rows->sections->items[s].text);
        if (count > most) {
            most = count;
            best = s;
        }
    }
    arena_free(&room);
    return best < 0 ? "" : cut(arena, rows->sections->items[best].text, RELATED);
}

/* The code of an answer that is code and nothing else; NULL: it is not. */
static const char *code_alone(const char *answer, const struct cot_sections *sections)
{
    if (document_code_kind(answer) != COT_TEXT && !strstr(answer, "```"))
        return answer;
    const struct cot_section *only = sections->count == 1 ? &sections->items[0] : NULL;
    return only && only->code_count == 1 && !only->table_count && !only->prose[strspn(only->prose, " \n\r\t")]
               ? only->codes[0].text
               : NULL;
}

/* An answer becomes a sample if all code in it is right. */
static struct akgen_error *take_answer(struct document_rows *rows, const struct question *question, const char *answer)
{
    struct arena *arena = &rows->block->arena;
    struct cot_sections sections;
    const char *why = NULL, *verdict = NULL;
    struct akgen_error *error = NULL;
    cot_sections_cut(arena, answer, &sections);
    const char *code = code_alone(answer, &sections);
    for (int s = 0; s < sections.count && !code; s++)
        for (int c = 0; c < sections.items[s].code_count && !error && !why; c++) {
            const char *some;
            error = document_judge(arena, sections.items[s].codes[c].text, &some, &why);
            verdict = some ? some : verdict;
        }
    if (code)
        error = document_judge(arena, code, &verdict, &why);
    rows->block->on_machine += verdict != NULL;
    if (why)
        cot_block_drop(rows->block, "an answer of the model that does not compile");
    else if (!error)
        document_add(rows, rows->api ? COT_API : COT_KNOWLEDGE, code && verdict ? document_code_kind(code) : COT_TEXT,
                     question->text, code ? code : answer, verdict, "asked");
    return error;
}

static struct akgen_error *find_answers(struct asking *asking)
{
    struct document_rows *rows = &asking->rows;
    struct arena *arena = &rows->block->arena;
    struct cot_prompt *prompts = arena_alloc(arena, sizeof *prompts * (size_t)(asking->count + 1));
    const char **answers = arena_alloc(arena, sizeof *answers * (size_t)(asking->count + 1));
    int lacking;
    for (int i = 0; i < asking->count; i++) {
        const struct question *question = &asking->questions[i];
        prompts[i] =
            (struct cot_prompt){.template = "answer",
                                .question = question->text,
                                .passage = cut(arena, rows->sections->items[question->section].text, LONGEST_PASSAGE),
                                .related = related(arena, rows, question)};
    }
    struct akgen_error *error = cot_ask(rows->options->asker, arena, prompts, asking->count, answers, &lacking);
    rows->block->unfinished |= lacking > 0;
    for (int i = 0; i < asking->count && !error && !rows->block->unfinished; i++) {
        const char *said = answers[i] ? cot_behind_thoughts(answers[i]) : "", *again = said,
                   *answer = cot_between(arena, &said, "answer"), *chain = cot_between(arena, &again, "chain");
        document_look_above(rows, asking->questions[i].section);
        rows->chain = chain;
        if (answer && chain && !cot_secret_in(chain))
            error = take_answer(rows, &asking->questions[i], answer);
        else
            cot_block_drop(rows->block, strstr(said, "NONE") ? "a question that the document does not answer"
                                                             : "an answer of the model that cannot be used");
    }
    return error;
}

/* The model's name, for a JSON string. */
static const char *plain(struct arena *arena, const char *name)
{
    char *copy = arena_strdup(arena, name);
    for (char *at = copy; *at; at++)
        if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ' || (*at & 0x80))
            *at = '?';
    return copy;
}

struct akgen_error *cot_document_ask(const char *path, const char *name, const char *markdown,
                                     const struct cot_documents_options *options, const char *scratch,
                                     struct cot_block *block)
{
    struct cot_sections sections;
    struct arena *arena = &block->arena;
    struct asking asking = {
        .rows = {.block = block,
                 .options = options,
                 .sections = &sections,
                 .path = path,
                 .name = name,
                 .licence = options->licence,
                 .scratch = scratch,
                 .more_tags = arena_printf(arena, ",\"model: %s\"", plain(arena, cot_asker_model(options->asker)))}};
    cot_sections_cut(arena, markdown, &sections);
    struct akgen_error *error = find_questions(&asking);
    return error || block->unfinished ? error : find_answers(&asking);
}
