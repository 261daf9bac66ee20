/* What was read becomes a candidate: files in a folder, programs compiled, or a verdict that says why there is none. */
#include "base/digest.h"
#include "base/files.h"
#include "dsl/dsl.h"
#include "dsl/write.h"
#include "candidate/answer.h"
#include "gen/program.h"
#include "toolchain/toolchain.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define PROGRAM_FILE "program.py"

/* The paper's class of what a rule of AscendDSL demands. */
enum {
    CLASS_text = DIAG_SYNTAX,
    CLASS_indentation = DIAG_SYNTAX,
    CLASS_syntax = DIAG_SYNTAX,
    CLASS_not_in_the_language = DIAG_SYNTAX,
    CLASS_number = DIAG_DTYPE,
    CLASS_depth = DIAG_SYNTAX,
    CLASS_functions = DIAG_SYNTAX,
    CLASS_launch = DIAG_SYNTAX,
    CLASS_names = DIAG_SCOPE,
    CLASS_types = DIAG_DTYPE,
    CLASS_arguments = DIAG_API,
    CLASS_stages = DIAG_API,
    CLASS_bounds = DIAG_MEMORY,
    CLASS_alignment = DIAG_MEMORY,
    CLASS_undefined = DIAG_SCOPE,
    CLASS_shared = DIAG_MEMORY,
    CLASS_coverage = DIAG_MEMORY,
    CLASS_neutral = DIAG_DTYPE,
    CLASS_arithmetic = DIAG_DTYPE,
    CLASS_refused = DIAG_MEMORY,
    CLASS_fits = DIAG_MEMORY,
    CLASS_not_compiled = DIAG_API,
    CLASS_internal = DIAG_API,
};
static const enum diagnostic_class classes[DSL_RULES] = {
#define RULE(name, text, demand) [DSL_RULE_##name] = CLASS_##name,
#include "dsl/rules.def"
#undef RULE
};

enum diagnostic_class gen_answer_class(enum dsl_rule rule)
{
    return classes[rule];
}

static struct eval_refusal *refuse(struct arena *arena, enum akgen_verdict_kind kind, const char *reason,
                                   const struct diagnostic *diagnostics, int count)
{
    struct eval_refusal *refusal = arena_alloc(arena, sizeof *refusal);
    *refusal = (struct eval_refusal){kind, reason, diagnostics, count, EVAL_ANY};
    return refusal;
}

static struct eval_refusal *refuse_for(struct arena *arena, enum diagnostic_class class, const char *file,
                                       const char *reason)
{
    struct diagnostic *diagnostic = arena_alloc(arena, sizeof *diagnostic);
    *diagnostic = (struct diagnostic){.class = class, .error = true, .file = file, .message = reason};
    return refuse(arena, AKGEN_VERDICT_COMPILE_ERROR, reason, diagnostic, 1);
}

static const char *source_line(struct arena *arena, const char *text, int line)
{
    enum { LONGEST = 400 };
    for (; line > 1 && text; line--) {
        const char *end = strchr(text, '\n');
        text = end ? end + 1 : NULL;
    }
    size_t length = text ? strcspn(text, "\n") : 0;
    return length && length <= LONGEST ? arena_strndup(arena, text, length) : NULL;
}

/* The messages of the compiler, as those of any other. A rule that says that the compiler is wrong blames no candidate. */
static struct eval_refusal *refuse_program(struct arena *arena, const struct dsl_messages *messages)
{
    struct diagnostic *diagnostics = arena_alloc(arena, sizeof *diagnostics * (size_t)(messages->kept + 1));
    const struct dsl_message *first = dsl_messages_error(messages);
    for (int i = 0; i < messages->kept; i++) {
        const struct dsl_message *message = &messages->items[i];
        diagnostics[i] = (struct diagnostic){
            .class = classes[message->rule],
            .error = !message->warning,
            .file = PROGRAM_FILE,
            .line = message->place.line,
            .column = message->place.column,
            .message = arena_printf(arena, "%s [%s]%s%s", message->text, dsl_rule_name(message->rule),
                                    message->remedy ? "; fix: " : "", message->remedy ? message->remedy : ""),
            .text = source_line(arena, messages->source, message->place.line)};
    }
    return refuse(arena, first->rule == DSL_RULE_internal ? AKGEN_VERDICT_INFRA_ERROR : AKGEN_VERDICT_COMPILE_ERROR,
                  arena_printf(arena, PROGRAM_FILE ":%d:%d: %s [%s]", first->place.line, first->place.column,
                               first->text, dsl_rule_name(first->rule)),
                  diagnostics, messages->kept);
}

/* What is to be written: the answer's files, or those of the program that it is. */
struct contents {
    const struct gen_answer_file *files;
    int count;
    const struct dsl_lowered *lowered; /* NULL: no program */
    const char *program;
    struct eval_refusal *refusal; /* NULL, or why there is nothing */
};

static void compile(struct arena *arena, const struct gen_answer *answer, const struct task *task,
                    struct contents *contents)
{
    const struct gen_program program = {NULL, answer->files[0].text, strlen(answer->files[0].text)};
    struct dsl_lowered *lowered = arena_alloc(arena, sizeof *lowered);
    struct dsl_messages *messages = arena_alloc(arena, sizeof *messages);
    struct akgen_error *error;
    contents->program = program.text;
    if (gen_program_compile(arena, &program, task, lowered, messages, &error))
        contents->lowered = lowered;
    else if (error) /* the task cannot call it */
        contents->refusal = refuse_for(arena, DIAG_API, PROGRAM_FILE, arena_strdup(arena, error->message));
    else
        contents->refusal = refuse_program(arena, messages);
    error_free(error);
}

/* Formulas: the planner writes the program. */
static void plan_for(struct arena *arena, const struct gen_answer *answer, const struct task *task,
                     struct contents *contents)
{
    struct gen_answer_file *program = arena_alloc(arena, sizeof *program);
    struct gen_answer planned = {.kind = GEN_ANSWER_PROGRAM, .files = program, .count = 1};
    struct task copy;
    struct akgen_error *error = task_with_formulas(arena, task, answer->files[0].text, &copy);
    program->path = PROGRAM_FILE;
    if (!error)
        error = dsl_write(arena, &copy, &program->text);
    if (error)
        contents->refusal = refuse_for(arena, DIAG_SYNTAX, answer->files[0].path, arena_strdup(arena, error->message));
    else
        compile(arena, &planned, task, contents);
    error_free(error);
}

typedef void make_function(struct arena *arena, const struct gen_answer *answer, const struct task *task,
                           struct contents *contents);

/* For all cases; where nothing comes of it and one case alone is judged, for that one. */
static void make(struct arena *arena, const struct gen_answer *answer, const struct task *task, int only_case,
                 make_function *of, struct contents *contents)
{
    struct contents alone = *contents;
    struct task own;
    of(arena, answer, task, contents);
    if (!contents->refusal || only_case < 0)
        return;
    struct akgen_error *error = task_of_case(arena, task, only_case, &own);
    if (!error)
        of(arena, answer, &own, &alone);
    if (!error && !alone.refusal)
        *contents = alone;
    error_free(error);
}

static struct contents contents_of(struct arena *arena, const struct gen_answer *answer, const struct task *task,
                                   int only_case)
{
    struct contents contents = {.files = answer->files, .count = answer->count};
    if (answer->kind == GEN_ANSWER_NONE)
        contents.refusal = refuse_for(arena, DIAG_SYNTAX, NULL, answer->problem);
    else if (answer->kind == GEN_ANSWER_PROGRAM)
        make(arena, answer, task, only_case, compile, &contents);
    else if (answer->kind == GEN_ANSWER_FORMULAS)
        make(arena, answer, task, only_case, plan_for, &contents);
    if (contents.refusal)
        contents.refusal->language = answer->language;
    return contents;
}

static struct akgen_error *write_contents(struct arena *arena, const char *dir, const struct contents *contents)
{
    if (contents->lowered)
        return gen_program_write(arena, dir, contents->lowered);
    struct akgen_error *error = files_make_directory(dir);
    for (int i = 0; i < contents->count && !error; i++) {
        const char *path = arena_printf(arena, "%s/%s", dir, contents->files[i].path);
        error = files_make_directory(arena_strndup(arena, path, (size_t)(strrchr(path, '/') - path)));
        if (!error)
            error = files_write(path, contents->files[i].text, strlen(contents->files[i].text));
    }
    return error;
}

/* Folders of answers are read once, by the evaluation that follows: when there are many, those of an hour ago go. */
static void remove_old(struct arena *arena, const char *answers)
{
    enum { MOST = 4096, LOOK_SECONDS = 60, OLD_SECONDS = 3600 };
    static atomic_llong looked;
    long long now = time(NULL), before = atomic_load(&looked);
    if (now < before + LOOK_SECONDS || !atomic_compare_exchange_strong(&looked, &before, now))
        return;
    DIR *folder = opendir(answers);
    const struct dirent *entry = NULL;
    struct stat status;
    int count = 0;
    while (folder && readdir(folder))
        count++;
    if (folder)
        rewinddir(folder);
    while (count > MOST && (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            status.st_mtime < now - OLD_SECONDS)
            files_remove_tree(arena_printf(arena, "%s/%s", answers, entry->d_name));
    if (folder)
        closedir(folder);
}

/* Of every name and byte that is written. */
static const char *digest_of(struct arena *arena, const struct contents *contents, const char *name)
{
    struct digest *digest = digest_new_unforgeable();
    digest_string(digest, name);
    for (int i = 0; !contents->lowered && i < contents->count; i++) {
        digest_string(digest, contents->files[i].path);
        digest_string(digest, contents->files[i].text);
    }
    for (int i = 0; contents->lowered && i < contents->lowered->count; i++) {
        digest_string(digest, contents->lowered->files[i].path);
        digest_string(digest, contents->lowered->files[i].text);
    }
    if (contents->lowered)
        digest_string(digest, dsl_source_map(arena, contents->lowered));
    return digest_finish(digest, arena);
}

static struct akgen_error *place_of(struct arena *arena, const struct contents *contents, const char *name,
                                    const struct eval_options *options, const char **place)
{
    const char *cache;
    struct akgen_error *error = toolchain_cache(arena, options->cache_dir, &cache);
    if (error)
        return error;
    const char *answers = arena_printf(arena, "%s/answers", cache);
    *place = arena_printf(arena, "%s/%s", answers, digest_of(arena, contents, name));
    remove_old(arena, answers);
    return NULL;
}

/* Makes the folder all at once: who evaluates the same answer now, or after a kill, must see neither a part nor a file that is being
 * written. */
static struct akgen_error *make_place(struct arena *arena, const char *place, const char *name,
                                      const struct contents *contents)
{
    const char *unfinished;
    if (utimensat(AT_FDCWD, place, NULL, 0) == 0) /* it is there, and used again */
        return NULL;
    struct akgen_error *error = files_begin_directory(arena, place, &unfinished);
    if (error)
        return error;
    error = write_contents(arena, arena_printf(arena, "%s/%s", unfinished, name), contents);
    if (!error)
        return files_finish_directory(unfinished, place);
    files_remove_tree(unfinished);
    return error;
}

struct akgen_error *gen_answer_keep(struct arena *arena, const struct gen_answer *answer, const struct task *task,
                                    const struct eval_options *options, struct gen_candidate *candidate)
{
    struct contents contents = contents_of(arena, answer, task, options->only_case);
    *candidate =
        (struct gen_candidate){.refusal = contents.refusal, .program = contents.program, .language = answer->language};
    if (contents.refusal)
        return NULL;
    const char *place;
    struct akgen_error *error = place_of(arena, &contents, task->op, options, &place);
    if (!error)
        error = make_place(arena, place, task->op, &contents);
    if (error)
        return error;
    const char *dir = arena_printf(arena, "%s/%s", place, task->op);
    candidate->dir =
        answer->kind == GEN_ANSWER_RESPONSE ? arena_printf(arena, "%s/%s", dir, answer->files[0].path) : dir;
    return NULL;
}

struct akgen_error *gen_answer_unpack(struct arena *arena, const char *text, size_t length, const struct task *task,
                                      const struct eval_options *options, const char *dir, struct eval_answer *unpacked)
{
    struct gen_answer answer;
    gen_answer_read(arena, text, length, task, options->scope, unpacked->own_form ? EVAL_ANY : options->language,
                    &answer);
    if (answer.kind == GEN_ANSWER_FORMULAS && unpacked->own_form)
        gen_answer_hold(arena, &answer, EVAL_ASCENDC); /* a line of Python, but no form that a .py file has */
    unpacked->language = answer.language;
    if (answer.kind == GEN_ANSWER_RESPONSE) {
        unpacked->form = EVAL_ANSWER_STRINGS;
        if (answer.untouched)
            return NULL;
        unpacked->text = arena_strdup(arena, answer.files[0].text);
        unpacked->length = strlen(unpacked->text);
        return NULL;
    }
    struct contents contents = contents_of(arena, &answer, task, options->only_case);
    unpacked->form = contents.refusal ? EVAL_ANSWER_REFUSED : EVAL_ANSWER_WRITTEN;
    unpacked->refusal = contents.refusal;
    return contents.refusal ? NULL : write_contents(arena, dir, &contents);
}
