/* Questions about a document. What a section is about is told by its heading and those above it: "Add" names an API, "Parameters" below it what
 * of it is told. Each question has several wordings, drawn by the seed and the place. */
#include "base/random.h"
#include "base/text.h"
#include "cot/corpus.h"
#include "cot/document_internal.h"
#include "cot/sections.h"
#include "cot/snippet.h"
#include "dsl/dsl.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { SHORTEST = 24, LONGEST = 8000, PASSAGE_ROWS = 8 };

/* What a section below an API tells of it. */
struct kind {
    const char *words;        /* heads that say so, '|' between them, in lower case */
    const char *questions[3]; /* with the API's name */
};
static const struct kind kinds[] = {
    {"prototype|signature|signatures|synopsis|function prototype|declaration|函数原型|定义原型",
     {"What is the signature of %s?", "How is %s declared?", "Which forms does %s have?"}},
    {"parameters|arguments|parameter|参数说明|参数|参数列表",
     {"What are the parameters of %s?", "Which arguments does %s take, and what do they mean?",
      "Explain the parameters of %s."}},
    {"constraints|restrictions|constraint|limitations|notes|约束说明|约束|注意事项",
     {"What has to be observed when %s is called?", "Which constraints does %s have?",
      "What restricts the use of %s?"}},
    {"returns|return value|return|返回值|返回值说明",
     {"What does %s return?", "What is the result of a call of %s?", "Which value does %s give back?"}},
    {"description|function|overview|功能说明|功能|功能描述", {"What does %s do?", "What is %s for?", "Describe %s."}},
    {"example|examples|usage|sample|调用示例|示例|使用样例",
     {"Show how %s is called.", "Give an example of %s.", "How is %s used?"}},
};
enum { KINDS = sizeof kinds / sizeof *kinds, EXAMPLE = KINDS - 1, DESCRIPTION = KINDS - 2, SIGNATURE = 0 };

/* "Add", "tl.vadd", "DataCopyPad(x)"; not a word of a language. */
static const char *api_of(struct arena *arena, const char *title)
{
    size_t length = 0;
    bool marked = false;
    while (isalnum((unsigned char)title[length]) || strchr("_.:", title[length]) != NULL) {
        if (!title[length])
            break;
        marked |= length > 0 && (isupper((unsigned char)title[length]) || strchr("_.:", title[length]) != NULL);
        length++;
    }
    while (length && strchr(".:", title[length - 1]))
        length--;
    const char *behind = title + length + strspn(title + length, " ");
    bool ends = !*behind || *behind == '(' || *behind == '<';
    /* One word in plain letters may be any word: "Add" is an API where sections below it say what of it is told. */
    if (!length || !ends || isdigit((unsigned char)*title))
        return NULL;
    return marked || isupper((unsigned char)*title) ? arena_strndup(arena, title, length) : NULL;
}

static int kind_of(const char *title)
{
    for (int k = 0; k < KINDS; k++)
        for (const char *word = kinds[k].words; *word;) {
            size_t length = strcspn(word, "|");
            if (strlen(title) == length && strncasecmp(title, word, length) == 0)
                return k;
            word += length + (word[length] == '|');
        }
    return -1;
}

static int pick(struct document_rows *rows, int count)
{
    return (int)rng_integer(&rows->rng, 0, count);
}

void document_add(struct document_rows *rows, enum cot_part part, enum cot_mode mode, const char *question,
                  const char *answer, const char *verdict, const char *tag)
{
    struct arena *arena = &rows->block->arena;
    size_t length = strlen(answer);
    if (!length || length > LONGEST) {
        cot_block_drop(rows->block, length ? "too long" : "too short");
        return;
    }
    if (cot_secret_in(question) || cot_secret_in(answer)) {
        cot_block_drop(rows->block, "a secret in it");
        return;
    }
    const struct cot_sample sample = {
        .part = part,
        .mode = mode,
        .question = question,
        .chain = rows->chain,
        .answer = answer,
        .verdict = verdict,
        .provenance = arena_printf(arena, "%s%s%s", rows->path, *rows->heading ? "#" : "", rows->heading),
        .licence = rows->licence,
        .tags = arena_printf(arena, "[\"%s\"%s%s]", tag, rows->passage ? ",\"passage\"" : "",
                             rows->more_tags ? rows->more_tags : "")};
    cot_block_add(rows->block, &sample);
}

/* The question with the passage that answers it beside it, or alone; by chance. */
static const char *with_passage(struct document_rows *rows, const char *question, const char *passage)
{
    rows->passage = strlen(passage) <= LONGEST && pick(rows, 2) == 0;
    return rows->passage
               ? arena_printf(&rows->block->arena, "%s\n\n%s, %s:\n\n%s", question, rows->name, rows->heading, passage)
               : question;
}

static const char *bare(struct arena *arena, const char *cell)
{
    char *copy = arena_strdup(arena, cell), *to = copy;
    for (const char *at = copy; *at;)
        if (strncasecmp(at, "<br>", 4) == 0) {
            *to++ = '\n';
            at += 4;
        } else if (*at != '`')
            *to++ = *at++;
        else
            at++;
    *to = 0;
    return copy;
}

/* Tables. */
static void add_table_row(struct text *text, char *const *cells, int columns)
{
    text_add(text, "|");
    for (int c = 0; c < columns; c++)
        text_addf(text, " %s |", cells[c]);
    text_add(text, "\n");
}

/* The table's head and the rows around one. */
static const char *around(struct document_rows *rows, const struct cot_table *table, int row)
{
    int first = row - pick(rows, PASSAGE_ROWS), last = first + PASSAGE_ROWS;
    struct text text = {0};
    first = first < 1 ? 1 : first;
    last = last > table->count ? table->count : last;
    add_table_row(&text, table->rows[0], table->columns);
    text_add(&text, "|");
    for (int c = 0; c < table->columns; c++)
        text_add(&text, "---|");
    text_add(&text, "\n");
    for (int r = first; r < last; r++)
        add_table_row(&text, table->rows[r], table->columns);
    return text_keep(&text, &rows->block->arena);
}

/* A cell with calls, "`(LocalTensor<T> dst, ..)`<br>..", as whole calls of `name`; NULL: it has none. */
static const char *forms_of(struct document_rows *rows, const char *name, const char *cell)
{
    struct text text = {0};
    const char *plain = bare(&rows->block->arena, cell);
    if (*cell != '`' || (*plain != '(' && *plain != '<') || !strchr(plain, '('))
        return NULL;
    for (const char *line = plain; *line;) {
        size_t length = strcspn(line, "\n");
        text_addf(&text, "%s%s%.*s", text.length ? "\n" : "", name, (int)length, line);
        line += length + (line[length] == '\n');
    }
    return text_keep(&text, &rows->block->arena);
}

static void ask_signature(struct document_rows *rows, const struct cot_table *table, int row, const char *name,
                          const char *forms)
{
    struct arena *arena = &rows->block->arena;
    const char *question =
        arena_printf(arena, kinds[SIGNATURE].questions[pick(rows, 3)], arena_printf(arena, "`%s`", name));
    document_add(rows, COT_API, COT_TEXT, with_passage(rows, question, around(rows, table, row)), forms, NULL,
                 "signature");
}

/* One cell of a row, by the head of its column. */
static void ask_cell(struct document_rows *rows, const struct cot_table *table, int row, int column, bool api)
{
    static const char *const wordings[] = {"What stands under \"%s\" for %s?",
                                           "Look up, in the column \"%s\", the row %s.",
                                           "Column \"%s\", row %s: what is there?"};
    struct arena *arena = &rows->block->arena;
    const char *question =
        arena_printf(arena, "%s, %s: %s", rows->name, *rows->heading ? rows->heading : "the table",
                     arena_printf(arena, wordings[pick(rows, 3)], table->rows[0][column], table->rows[row][0]));
    document_add(rows, api ? COT_API : COT_KNOWLEDGE, COT_TEXT, with_passage(rows, question, around(rows, table, row)),
                 bare(arena, table->rows[row][column]), NULL, "cell");
}

static void ask_row(struct document_rows *rows, const struct cot_table *table, int row, bool api)
{
    static const char *const wordings[] = {"What does it say of %s?", "What is known of %s?",
                                           "Tell what stands of %s."};
    struct arena *arena = &rows->block->arena;
    struct text answer = {0};
    const char *question = arena_printf(arena, "%s, %s: %s", rows->name, *rows->heading ? rows->heading : "the table",
                                        arena_printf(arena, wordings[pick(rows, 3)], table->rows[row][0]));
    for (int c = 1; c < table->columns; c++)
        if (*table->rows[row][c])
            text_addf(&answer, "%s%s%s%s", answer.length ? "\n" : "", table->rows[0][c], *table->rows[0][c] ? ": " : "",
                      bare(arena, table->rows[row][c]));
    document_add(rows, api ? COT_API : COT_KNOWLEDGE, COT_TEXT, with_passage(rows, question, around(rows, table, row)),
                 text_keep(&answer, &rows->block->arena), NULL, "row");
}

static void ask_table(struct document_rows *rows, const struct cot_table *table)
{
    struct arena *arena = &rows->block->arena;
    for (int r = 1; r < table->count && table->columns > 1; r++) {
        char *const *cells = table->rows[r];
        const char *name = *cells[0] == '`' ? api_of(arena, bare(arena, cells[0])) : NULL, *forms = NULL;
        int filled = 0, some = 0;
        for (int c = 1; c < table->columns; c++) {
            filled += *cells[c] != 0;
            if (name && !forms && (forms = forms_of(rows, name, cells[c])))
                ask_signature(rows, table, r, name, forms);
        }
        if (!*cells[0] || !filled)
            continue;
        ask_row(rows, table, r, forms);
        for (int which = pick(rows, filled), c = 1; filled > 1 && c < table->columns; c++)
            if (*cells[c] && some++ == which && *table->rows[0][c])
                ask_cell(rows, table, r, c, forms);
    }
}

/* Examples. */
/* A kernel and its host function. */
static bool is_program(const char *text)
{
    const char *kernel = strstr(text, "@ascend_kernel"), *first = kernel ? strstr(kernel, "def ") : NULL;
    return first && strstr(first + 1, "\ndef ");
}

/* Why a program in AscendDSL is none; NULL: the checker takes it. */
static const char *refuse_program(struct arena *arena, const char *text)
{
    struct dsl_messages messages = {.arena = arena};
    return dsl_check_text(arena, text, &messages) && !messages.count ? NULL : "refused";
}

static bool is_code(const char *language)
{
    static const char *const languages[] = {"c", "cpp", "c++", "cc", "python", "py"};
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (strcasecmp(language, languages[i]) == 0)
            return true;
    return false;
}

/* What of the section or the API the code is an example of; NULL: it is neither whole nor of a language that kernels are written in. */
static const char *ask_example(struct document_rows *rows, const struct cot_code *code, bool whole)
{
    static const char *const wordings[] = {"Show the code that %s, %s, has.", "%s, %s: give the example.",
                                           "Which code stands as an example in %s, %s?"};
    struct arena *arena = &rows->block->arena;
    if ((!whole && !is_code(code->language)) || strlen(code->text) < SHORTEST || (!rows->api && !*rows->heading))
        return NULL;
    return rows->api
               ? arena_printf(arena, kinds[EXAMPLE].questions[pick(rows, 3)], arena_printf(arena, "`%s`", rows->api))
               : arena_printf(arena, wordings[pick(rows, 3)], rows->name, rows->heading);
}

enum cot_mode document_code_kind(const char *text)
{
    return snippet_is_kernel(text) ? COT_ASCENDC : is_program(text) ? COT_DSL : COT_TEXT;
}

struct akgen_error *document_judge(struct arena *arena, const char *text, const char **verdict, const char **why)
{
    const char *dtype;
    struct akgen_error *error = NULL;
    *why = *verdict = NULL;
    switch (document_code_kind(text)) {
    case COT_ASCENDC:
        error = snippet_compile(arena, text, "", why, &dtype);
        *verdict = "{\"verdict\":\"pass\",\"by\":\"compiler\"}";
        break;
    case COT_DSL:
        *why = refuse_program(arena, text);
        *verdict = "{\"verdict\":\"pass\",\"by\":\"checker\"}";
        break;
    default:
        break;
    }
    return error;
}

static struct akgen_error *take_code(struct document_rows *rows, const struct cot_code *code)
{
    enum cot_mode mode = document_code_kind(code->text);
    bool whole = mode == COT_DSL || (mode == COT_ASCENDC && strstr(code->text, "#include"));
    const char *question = ask_example(rows, code, whole), *why = NULL, *verdict = NULL;
    struct akgen_error *error = NULL;
    rows->passage = false;
    if (!question)
        return NULL;
    if (whole && (mode == COT_DSL || rows->scratch)) {
        error = document_judge(&rows->block->arena, code->text, &verdict, &why);
        rows->block->on_machine += mode == COT_ASCENDC;
    }
    if (why)
        cot_block_drop(rows->block, "an example that does not compile");
    else if (!error)
        document_add(rows, rows->api ? COT_API : COT_KNOWLEDGE, whole ? mode : COT_TEXT, question, code->text, verdict,
                     whole ? "example" : "fragment");
    return error;
}

/* Sections. */
static void ask_section(struct document_rows *rows, const struct cot_section *section)
{
    static const char *const wordings[] = {"What does %s say under \"%s\"?", "%s, \"%s\": what stands there?",
                                           "Tell what %s says of \"%s\"."};
    struct arena *arena = &rows->block->arena;
    const char *title = section->title;
    int kind = kind_of(title);
    rows->passage = false;
    if (rows->api && (kind >= 0 || strncmp(title, rows->api, strlen(rows->api)) == 0)) {
        const char *name = arena_printf(arena, "`%s`", rows->api);
        kind = kind < 0 ? DESCRIPTION : kind;
        if (kind != EXAMPLE && strlen(section->text) >= SHORTEST)
            document_add(rows, COT_API, COT_TEXT, arena_printf(arena, kinds[kind].questions[pick(rows, 3)], name),
                         section->text, NULL, kind == SIGNATURE ? "signature" : "section");
        return;
    }
    if (strlen(section->prose) < SHORTEST)
        return;
    document_add(
        rows, COT_KNOWLEDGE, COT_TEXT,
        arena_printf(arena, wordings[pick(rows, 3)], rows->name, *rows->heading ? rows->heading : "its beginning"),
        section->text, NULL, "section");
}

/* The headings above it, and the API that the nearest of them names. */
void document_look_above(struct document_rows *rows, int number)
{
    struct arena *arena = &rows->block->arena;
    rows->heading = "";
    rows->api = NULL;
    for (int at = number; at >= 0; at = rows->sections->items[at].parent) {
        const char *title = rows->sections->items[at].title;
        if (!*title)
            continue;
        rows->heading = *rows->heading ? arena_printf(arena, "%s > %s", title, rows->heading) : title;
        bool told = at != number && kind_of(rows->sections->items[number].title) >= 0;
        const char *api = kind_of(title) < 0 ? api_of(arena, title) : NULL;
        if (!rows->api && api && (told || at == number) && (told || strpbrk(api + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_.:")))
            rows->api = api;
    }
}

struct akgen_error *cot_document_samples(const char *path, const char *name, const char *markdown,
                                         const struct cot_documents_options *options, const char *scratch,
                                         struct cot_block *block)
{
    struct cot_sections sections;
    struct akgen_error *error = NULL;
    struct document_rows rows = {.block = block,
                                 .options = options,
                                 .sections = &sections,
                                 .path = path,
                                 .name = name,
                                 .licence = options->licence,
                                 .scratch = scratch};
    cot_sections_cut(&block->arena, markdown, &sections);
    for (int s = 0; s < sections.count && !error; s++) {
        const struct cot_section *section = &sections.items[s];
        rng_seed(&rows.rng, options->seed * 1000003 + (uint64_t)s);
        document_look_above(&rows, s);
        ask_section(&rows, section);
        for (int t = 0; t < section->table_count; t++)
            ask_table(&rows, &section->tables[t]);
        for (int c = 0; c < section->code_count && !error; c++)
            error = take_code(&rows, &section->codes[c]);
    }
    return error;
}
