/* Prompts: template files filled in with what the task, the chip and the exemplars say. */
#include "gen/prompt.h"
#include "base/digest.h"
#include "gen/prompt_internal.h"
#include "base/files.h"
#include "base/memory.h"
#include "op/op.h"
#include "toolchain/toolchain.h"
#include "base/jsons.h"

#include <stdlib.h>
#include <string.h>

const struct words gen_variants = WORDS(GEN_VARIANTS);

/* The messages of a prompt, by the name of their template, which is the role too. */
static const char *const roles[] = {"system", "user", NULL};

/* The placeholders in the order of their values: texts, then flags. */
static const char *const placeholders[] = {
#define PROMPT_NAME(name) #name,
    PROMPT_TEXTS(PROMPT_NAME) PROMPT_FLAGS(PROMPT_NAME)
#undef PROMPT_NAME
        NULL};
enum { PLACEHOLDERS = sizeof placeholders / sizeof *placeholders - 1 };

/* The user's copies for this language. */
static struct akgen_error *copies_of(struct arena *arena, const struct gen_prompt_options *options, const char **copies)
{
    const char *language = eval_languages.of[options->language];
    *copies = NULL;
    if (!options->templates)
        return NULL;
    *copies = arena_printf(arena, "%s/%s", options->templates, language);
    return files_exists(*copies)
               ? NULL
               : error_new("%s: there is no folder %s; templates for this language lie there, as copies "
                           "of those in %s/prompts/%s",
                           options->templates, *copies, toolchain_home(), language);
}

/* What is looked up in: the API for Ascend C, the reference for AscendDSL, and the user's documents. AKGen's own folders hold
 * answers, to tasks and of the tests, so nothing in them is a document. */
static struct akgen_error *open_library(struct gen_shelf *shelf, const struct gen_prompt_options *options)
{
    static const char *const folders[] = {"tasks", "tests", "docs", "examples", "prompts", "benchmarks"};
    enum { FOLDERS = sizeof folders / sizeof *folders };
    const char *hidden[FOLDERS + 1] = {0};
    for (int i = 0, count = 0; i < FOLDERS; i++) {
        char *real = realpath(arena_printf(&shelf->arena, "%s/%s", shelf->home, folders[i]), NULL);
        if (real)
            hidden[count++] = arena_strdup(&shelf->arena, real);
        free(real);
    }
    struct gen_library_sources sources = {
        .documents = options->documents, .document_count = options->document_count, .hidden = hidden};
    if (options->language == EVAL_DSL)
        sources.reference = arena_printf(&shelf->arena, "%s/docs/dsl.md", shelf->home);
    else
        sources.api = arena_printf(&shelf->arena, "%s/docs/api.md", shelf->home);
    return gen_library_open(&sources, &shelf->library);
}

struct akgen_error *gen_shelf_open(const struct gen_prompt_options *options, struct gen_shelf **shelf)
{
    struct gen_shelf *opened = memory_alloc(sizeof *opened);
    struct gen_template_folders folders;
    struct arena *arena = &opened->arena;
    *shelf = opened;
    opened->home = toolchain_home();
    folders.own = arena_printf(arena, "%s/prompts/%s", opened->home, eval_languages.of[options->language]);
    struct akgen_error *error = copies_of(arena, options, &folders.copies);
    if (!error)
        error = gen_templates_read(arena, &folders, roles, placeholders, &opened->templates);
    if (!error)
        error = dsl_exemplars_load(arena, opened->home, &opened->exemplars);
    if (!error && gen_templates_ask(opened->templates, "primer"))
        error = prompt_primer_read(arena, opened->home, &opened->primer);
    if (!error && options->tokenizer)
        error = lm_tokenizer_read(options->tokenizer, &opened->tokenizer);
    if (!error && options->variant == GEN_RETRIEVAL)
        error = open_library(opened, options);
    if (!error && options->variant != GEN_RETRIEVAL && options->document_count)
        error = error_new("--documents are for --variant retrieval");
    if (!error)
        return NULL;
    gen_shelf_close(opened);
    *shelf = NULL;
    return error;
}

void gen_shelf_close(struct gen_shelf *shelf)
{
    if (!shelf)
        return;
    lm_tokenizer_free(shelf->tokenizer);
    gen_library_close(shelf->library);
    arena_free(&shelf->arena);
    free(shelf);
}

/* The cases that the prompt is about: one for scope kernel and mode static, which are made for one. */
static struct akgen_error *choose_cases(struct prompt_maker *maker)
{
    const struct task *task = maker->task;
    const struct gen_prompt_options *options = maker->options;
    bool one = options->mode == EVAL_STATIC || options->only_case >= 0;
    const struct task_case **cases = arena_alloc(maker->arena, (size_t)(task->case_count + 1) * sizeof *cases);
    maker->cases = cases;
    for (int i = 0; i < task->case_count; i++)
        if (!one || &task->cases[i] == prompt_case(task, options->only_case))
            cases[maker->case_count++] = &task->cases[i];
    if (!maker->case_count)
        return error_new("%s has no case %d", task->name, options->only_case);
    if (options->language == EVAL_ASCENDC && options->scope == EVAL_KERNEL && maker->case_count > 1)
        return error_new(
            "%s: scope kernel has no tiling data, so its kernel is made for one case: mode static, or a case "
            "by its number",
            task->name);
    return NULL;
}

static struct akgen_error *make_values(struct prompt_maker *maker, const char **values)
{
    static struct akgen_error *(*const texts[])(struct prompt_maker *, const char **) = {
#define PROMPT_TEXT(name) prompt_text_##name,
        PROMPT_TEXTS(PROMPT_TEXT)
#undef PROMPT_TEXT
    };
    static bool (*const flags[])(const struct prompt_maker *) = {
#define PROMPT_FLAG(name) prompt_is_##name,
        PROMPT_FLAGS(PROMPT_FLAG)
#undef PROMPT_FLAG
    };
    enum { TEXTS = sizeof texts / sizeof *texts };
    struct akgen_error *error = prompt_make_example(maker);
    for (int i = 0; i < PLACEHOLDERS && !error; i++)
        if (i >= TEXTS)
            values[i] = flags[i - TEXTS](maker) ? "yes" : NULL;
        else if (gen_templates_ask(maker->shelf->templates, placeholders[i]))
            error = texts[i](maker, &values[i]);
    return error;
}

/* The prompt that messages are. */
static struct akgen_error *finish(struct arena *arena, const struct gen_shelf *shelf,
                                  const struct gen_message *messages, int count,
                                  const struct gen_prompt_options *options, struct gen_prompt *prompt)
{
    struct digest *digest = digest_new();
    *prompt = (struct gen_prompt){.messages = messages, .count = count};
    for (int i = 0; i < count; i++) {
        digest_string(digest, messages[i].role);
        digest_string(digest, messages[i].text);
    }
    prompt->hash = digest_finish(digest, arena);
    return prompt_count(arena, shelf ? shelf->tokenizer : NULL, options, prompt);
}

static struct akgen_error *fill_in(struct prompt_maker *maker, struct gen_prompt *prompt)
{
    const char *values[PLACEHOLDERS] = {0};
    struct gen_message *messages = arena_alloc(maker->arena, sizeof roles / sizeof *roles * sizeof *messages);
    int count = 0;
    struct akgen_error *error = choose_cases(maker);
    if (!error)
        error = make_values(maker, values);
    for (int i = 0; !error && roles[i]; i++) {
        const char *text = gen_templates_fill(maker->arena, maker->shelf->templates, roles[i], values);
        if (*text)
            messages[count++] = (struct gen_message){roles[i], text};
    }
    return error ? error : finish(maker->arena, maker->shelf, messages, count, maker->options, prompt);
}

struct akgen_error *gen_prompt_of_task(struct arena *arena, const struct task *task,
                                       const struct gen_prompt_options *options, struct gen_prompt *prompt)
{
    struct gen_shelf *own = NULL;
    struct akgen_error *error = options->shelf ? NULL : gen_shelf_open(options, &own);
    *prompt = (struct gen_prompt){0};
    if (error)
        return error;
    struct prompt_maker maker = {.arena = arena,
                                 .shelf = own ? own : options->shelf,
                                 .task = task,
                                 .options = options,
                                 .operator_name = op_snake_case(arena, task->op_type)};
    error = fill_in(&maker, prompt);
    gen_shelf_close(own);
    return error;
}

struct akgen_error *gen_prompt_of_messages(struct arena *arena, const struct gen_message *messages, int count,
                                           const struct gen_prompt_options *options, struct gen_prompt *prompt)
{
    struct gen_shelf own = {.tokenizer = NULL};
    struct akgen_error *error = NULL;
    *prompt = (struct gen_prompt){0};
    if (!options->shelf && options->tokenizer)
        error = lm_tokenizer_read(options->tokenizer, &own.tokenizer);
    if (!error)
        error = finish(arena, options->shelf ? options->shelf : &own, messages, count, options, prompt);
    lm_tokenizer_free(own.tokenizer);
    return error;
}

json_t *gen_messages_json(const struct gen_message *messages, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *message = json_object();
        json_object_set_new(message, "role", jsons_text(messages[i].role));
        json_object_set_new(message, "content", jsons_text(messages[i].text));
        json_array_append_new(list, message);
    }
    return list;
}

const char *gen_messages_text(struct arena *arena, const struct gen_message *messages, int count)
{
    json_t *list = gen_messages_json(messages, count);
    char *dumped = json_dumps(list, JSON_COMPACT);
    const char *text = arena_strdup(arena, dumped ? dumped : "[]");
    free(dumped);
    json_decref(list);
    return text;
}
