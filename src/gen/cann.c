/* The folder of an exported project: the candidate's sources, the files below templates/cann with what is
 * known filled in, the cases, the program that calls the operator, the verdict. */
#include "gen/cann.h"
#include "base/files.h"
#include "gen/cann_internal.h"
#include "toolchain/toolchain.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEMPLATES "templates/cann"
enum { LONGEST_FILE = 16 << 20 };

/* Text in place of each "@NAME@" of a template. */
struct filling {
    const char *name, *text;
};

static struct akgen_error *write_file(const struct cann *cann, const char *path, const char *bytes, size_t length)
{
    return files_write_path(arena_printf(cann->arena, "%s/%s", cann->options->dir, path), bytes, length);
}

/* The options of the candidate's own CMakeLists.txt that change code, and the synchronisation that was in effect. */
static const char *kernel_options(struct arena *arena, const struct verdict *verdict, const struct op_project *project)
{
    const char *sync = verdict->sync == NPU_SYNC_AUTO ? "--cce-auto-sync=on" : "--cce-auto-sync=off";
    return *project->options ? arena_printf(arena, "%s %s", sync, project->options) : sync;
}

static const char *left_out_text(const struct cann *cann)
{
    if (!cann->written->left_out)
        return "";
    return arena_printf(cann->arena,
                        "\nCases that are left out because of their size: %s (`akgen export cann --max-mb`).\n",
                        cann->lacking.bytes);
}

static struct akgen_error *write_templates(const struct cann *cann, const struct op_project *project)
{
    struct arena *arena = cann->arena;
    const struct verdict *verdict = cann->verdict;
    const struct op_def *def = &verdict->build.def;
    const struct filling fillings[] = {
        {"@OP@", def->type},
        {"@NAME@", project->entry},
        {"@SOC@", verdict->options->soc->name},
        {"@UNIT@", verdict->options->soc->family},
        {"@OPTIONS@", kernel_options(arena, verdict, project)},
        {"@AKGEN@", AKGEN_VERSION},
        {"@TASK@", arena_printf(arena, "%s/%s", verdict->suite, verdict->task)},
        {"@VERDICT@",
         arena_printf(arena, "%s, %d of %d cases, profile %s", akgen_verdict_kind_name(verdict->kind),
                      verdict->cases_passed, verdict->case_count, eval_profiles.of[verdict->options->profile])},
        {"@CASES@", arena_printf(arena, "%d", cann->written->cases)},
        {"@LEFT_OUT@", left_out_text(cann)},
        {0},
    };
    const char *home = arena_printf(arena, "%s/" TEMPLATES, toolchain_home()), **paths;
    size_t count;
    struct akgen_error *error = files_list(arena, home, &paths, &count);
    if (!error && !count)
        error = error_new("%s holds no files: AKGen's own templates are missing", home);
    for (size_t i = 0; !error && i < count; i++) {
        const char *path = arena_printf(arena, "%s/%s", home, paths[i]);
        struct text text = {0};
        char *bytes;
        struct stat status;
        if ((error = files_read(arena, path, LONGEST_FILE, &bytes, NULL)))
            break;
        const char *from = bytes;
        while (*from) {
            const struct filling *filling = fillings;
            for (; filling->name; filling++)
                if (strncmp(from, filling->name, strlen(filling->name)) == 0)
                    break;
            if (filling->name) {
                text_add(&text, filling->text);
                from += strlen(filling->name);
            } else
                text_append(&text, from++, 1);
        }
        error = write_file(cann, paths[i], text.bytes, text.length);
        text_free(&text);
        const char *target = arena_printf(arena, "%s/%s", cann->options->dir, paths[i]);
        if (!error && stat(path, &status) == 0 && status.st_mode & S_IXUSR && chmod(target, 0755))
            error = error_new("%s: %m", target);
    }
    return error;
}

/* True for files of a candidate that are part of the operator: sources and headers, wherever they lie; not another build's files,
 * which have the names of ours, and not what `akgen gen` writes beside a project. */
static bool is_source(const char *path)
{
    static const char *const ends[] = {".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".inc", ".inl"};
    static const char *const others[] = {"evidence/", "task/", "test/", "cases/", "out/", "build/", "opp/"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(path, others[i], strlen(others[i])) == 0)
            return false;
    const char *end = strrchr(path, '.');
    for (size_t i = 0; end && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(end, ends[i]) == 0)
            return true;
    return false;
}

/* The size of a case's files, about; 0 for one that cannot be made. */
static uint64_t case_size(const struct cann *cann, const struct task_case *task_case)
{
    struct task_instance *instance;
    struct akgen_error *error = task_instance_shapes(cann->task, task_case, &instance);
    uint64_t bytes = error ? 0 : cann_case_bytes(instance);
    if (!error)
        task_instance_free(instance);
    error_free(error);
    return bytes;
}

static struct akgen_error *add_case(struct cann *cann, const struct task_case *task_case)
{
    struct task_instance *instance;
    struct akgen_error *error = task_instance_make(cann->task, task_case, cann->options->seed, false, &instance);
    if (error)
        return error;
    error = cann_add_case(cann, instance);
    task_instance_free(instance);
    return error;
}

/* The cases that were judged, with the strict profile hidden ones too: those whose files are not too large, at least the smallest. */
static struct akgen_error *add_cases(struct cann *cann)
{
    const struct verdict *verdict = cann->verdict;
    struct akgen_error *error = NULL;
    uint64_t limit = UINT64_MAX;
    for (int i = 0; i < verdict->case_count; i++) {
        uint64_t bytes = case_size(cann, verdict->cases[i].task_case);
        limit = bytes < limit ? bytes : limit;
    }
    if (limit < cann->options->case_bytes)
        limit = cann->options->case_bytes;
    for (int i = 0; !error && i < verdict->case_count; i++) {
        const struct task_case *task_case = verdict->cases[i].task_case;
        if (case_size(cann, task_case) <= limit)
            error = add_case(cann, task_case);
        else {
            text_addf(&cann->lacking, "%s%d", cann->lacking.length ? ", " : "", task_case->id);
            cann->written->left_out++;
        }
    }
    return error ? error : cann->written->cases ? NULL : error_new("there is no case to export");
}

static struct akgen_error *write_program(const struct cann *cann, const struct op_project *project)
{
    struct text text = {0};
    text_addf(&text,
              "// Calls aclnn%s once for each case, with the inputs of cases/, and leaves what it computes in out/. "
              "Made by AKGen.\n"
              "#include \"acl_call.h\"\n#include \"aclnn_%s.h\"\n\n#include <cmath>\n%s\n",
              cann->verdict->build.def.type, project->entry, cann->program.bytes);
    text_addf(
        &text,
        "int main()\n{\n    static const struct {\n        int number;\n        void (*call)(const Device &);\n    } "
        "cases[] = {\n%s"
        "    };\n    int failed = 0;\n    try {\n        Device device;\n        for (const auto &one : cases)\n       "
        "     try {\n"
        "                one.call(device);\n            } catch (const std::exception &error) {\n"
        "                std::fprintf(stderr, \"case %%d: %%s\\n\", one.number, error.what());\n                failed "
        "= 1;\n"
        "            }\n    } catch (const std::exception &error) {\n"
        "        std::fprintf(stderr, \"%%s\\n\", error.what());\n        failed = 2;\n    }\n    return failed;\n}\n",
        cann->calls.bytes);
    struct akgen_error *error = write_file(cann, "test/main.cpp", text.bytes, text.length);
    text_free(&text);
    return error;
}

static struct akgen_error *write_json(const struct cann *cann, const char *path, json_t *json)
{
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    struct akgen_error *error = text ? write_file(cann, path, text, strlen(text)) : error_new("out of memory");
    free(text);
    json_decref(json);
    return error;
}

static struct akgen_error *write_all(struct cann *cann, const struct op_project *project)
{
    struct akgen_error *error = files_make_directory(cann->options->dir);
    if (!error)
        error = add_cases(cann);
    if (!error) {
        const struct op_files *files = &cann->verdict->candidate.files;
        error = NULL;
        for (size_t i = 0; !error && i < files->count; i++)
            if (!op_file_is_folder(&files->items[i]) && is_source(files->items[i].path))
                error = write_file(cann, files->items[i].path, files->items[i].bytes, files->items[i].length);
    }
    if (!error)
        error = write_templates(cann, project);
    if (!error)
        error = write_program(cann, project);
    if (!error)
        error = write_json(cann, "cases/cases.json",
                           json_pack("{s:s, s:s, s:s, s:O}", "op", cann->verdict->build.def.type, "task",
                                     cann->verdict->task, "akgen", AKGEN_VERSION, "cases", cann->cases));
    return error ? error : write_json(cann, "evidence/verdict.json", verdict_to_json(cann->verdict));
}

bool gen_cann_built(const struct verdict *verdict)
{
    return verdict->build.stage == BUILD_OK && verdict->build.def.type;
}

struct akgen_error *gen_cann_write(struct arena *arena, const struct task *task, const struct verdict *verdict,
                                   const struct gen_cann_options *options, struct gen_cann *written)
{
    struct op_project project;
    struct cann cann = {.arena = arena,
                        .task = task,
                        .verdict = verdict,
                        .options = options,
                        .cases = json_array(),
                        .written = written};
    *written = (struct gen_cann){0};
    struct akgen_error *error = !gen_cann_built(verdict)
                                    ? error_new("the candidate was not built: there is no OpDef to call it by")
                                    : op_project_find(arena, &verdict->candidate.files, task->op_type, true, &project);
    if (!error)
        error = write_all(&cann, &project);
    json_decref(cann.cases);
    text_free(&cann.program);
    text_free(&cann.calls);
    text_free(&cann.lacking);
    return error;
}
