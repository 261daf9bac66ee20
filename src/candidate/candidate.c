#include "candidate/candidate.h"
#include "candidate/folder.h"
#include "candidate/reader.h"
#include "dsl/lower.h"

#include <string.h>

const struct words eval_scopes = WORDS(EVAL_SCOPES), eval_languages = WORDS(EVAL_LANGUAGES);

const char *eval_language_problem(struct arena *arena, enum eval_language asked, enum eval_language found)
{
    static const char *const names[] = {
        [EVAL_ASCENDC] = "Ascend C", [EVAL_DSL] = "a program in AscendDSL", [EVAL_GRAPH] = "formulas"};
    if (asked == EVAL_ANY || asked == found)
        return NULL;
    return arena_printf(arena, "the answer is %s, but %s asked for (--language %s counts it)", names[found],
                        asked == EVAL_GRAPH ? "formulas were" : arena_printf(arena, "%s was", names[asked]),
                        eval_languages.of[found]);
}

void candidate_refuse(struct arena *arena, enum akgen_verdict_kind kind, const char *reason,
                      struct candidate *candidate)
{
    const struct candidate_refusal refusal = {.kind = kind, .reason = arena_strdup(arena, reason)};
    candidate->refusal = arena_copy(arena, &refusal, sizeof refusal);
}

void candidate_refuse_for(struct arena *arena, enum diagnostic_class class, const char *file, const char *reason,
                          struct candidate *candidate)
{
    struct candidate_refusal *refusal = arena_alloc(arena, sizeof *refusal);
    struct diagnostic *diagnostic = arena_alloc(arena, sizeof *diagnostic);
    *diagnostic =
        (struct diagnostic){.class = class, .error = true, .file = file, .message = arena_strdup(arena, reason)};
    *refusal = (struct candidate_refusal){AKGEN_VERDICT_COMPILE_ERROR, diagnostic->message, diagnostic, 1};
    candidate->refusal = refusal;
}

void candidate_of_files(struct arena *arena, const struct op_file *files, size_t count, struct candidate *candidate)
{
    *candidate = (struct candidate){.name = "", .language = EVAL_ASCENDC, .files = op_files_of(arena, files, count)};
    candidate->digest = op_files_digest(arena, &candidate->files);
    candidate->map = source_map_of_files(arena, &candidate->files);
}

void candidate_of_program(struct arena *arena, const struct dsl_lowered *lowered, struct candidate *candidate)
{
    const char *text;
    const struct source_map *map = source_map_of_program(arena, lowered, &text);
    struct op_file *files = arena_alloc(arena, (size_t)(lowered->count + 1) * sizeof *files);
    for (int i = 0; i < lowered->count; i++)
        files[i] = (struct op_file){lowered->files[i].path, lowered->files[i].text, strlen(lowered->files[i].text)};
    files[lowered->count] = (struct op_file){SOURCE_MAP_FILE, text, strlen(text)};
    *candidate = (struct candidate){
        .name = "", .language = EVAL_DSL, .files = op_files_of(arena, files, (size_t)lowered->count + 1), .map = map};
    candidate->digest = op_files_digest(arena, &candidate->files);
}

/* `error`: why there is no source, or NULL; freed. */
static void read_source(struct arena *arena, const char *name, const struct candidate_source *source,
                        struct akgen_error *error, const struct task *task, const struct candidate_asked *asked,
                        struct candidate *candidate)
{
    *candidate = (struct candidate){.name = arena_strdup(arena, name), .language = EVAL_ANY};
    if (error) {
        candidate_refuse(arena, error->of_the_file ? AKGEN_VERDICT_COMPILE_ERROR : AKGEN_VERDICT_INFRA_ERROR,
                         error->message, candidate);
        error_free(error);
    } else if (source->text) {
        struct answer answer;
        candidate_read_answer(arena, candidate->name, source->text, source->length, task, asked, &answer, candidate);
        candidate->digest = source->digest;
    } else {
        candidate->language = EVAL_ASCENDC;
        candidate->files = source->files;
        candidate->digest = source->digest;
        candidate->map = source_map_of_files(arena, &source->files);
    }
}

void candidate_read_path(struct arena *arena, const char *path, const struct task *task,
                         const struct candidate_asked *asked, struct candidate *candidate)
{
    struct candidate_source source;
    struct akgen_error *error =
        task->broken ? error_new("%s", task->broken) : candidate_source_read(arena, asked->tree, path, &source);
    read_source(arena, path, &source, error, task, asked, candidate);
}

void candidate_read_file(struct arena *arena, const char *name, const char *text, size_t length,
                         const struct task *task, const struct candidate_asked *asked, struct candidate *candidate)
{
    struct candidate_source source;
    struct akgen_error *error =
        task->broken ? error_new("%s", task->broken) : candidate_source_of_text(arena, name, text, length, &source);
    read_source(arena, name, &source, error, task, asked, candidate);
}

void candidate_read_files(struct arena *arena, const char *name, const struct op_file *files, size_t count,
                          const struct task *task, const struct candidate_asked *asked, struct candidate *candidate)
{
    struct candidate_source source;
    struct akgen_error *error = candidate_source_of_files(arena, files, count, &source);
    read_source(arena, name, &source, error, task, asked, candidate);
}
