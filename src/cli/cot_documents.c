/* akgen cot documents: questions and answers of documents, without a model. */
#include "cot/documents.h"
#include "cli/cli.h"
#include "cli/cot.h"
#include "cli/cot_files.h"
#include "cli/cot_model.h"
#include "toolchain/toolchain.h"

struct arguments {
    struct cli_cot_files files;
    struct cot_documents_options documents;
    struct cli_cot_model model;
};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"seed", 's', "S", CLI_NUMBER(documents.seed, 0, 1L << 60), 1, "of the questions' wording (default 0)"},
    {"no-compile", 0, NULL, CLI_UNSET(documents.compile), 1, "examples are taken as they are"},
};

int cli_cot_documents(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_cot_files_table, CLI_AT(files)},
                  {&cli_cot_jobs_table, CLI_AT(documents.jobs)},
                  {&cli_cot_model_table, CLI_AT(model)}},
        .args_doc = "[FILE|DIR] --db FILE",
        .doc = "Makes samples of the parts 'documents-knowledge' and 'documents-api' of Markdown, HTML and plain text: "
               "sections, rows and cells of tables, signatures, parameters, constraints, examples, which are compiled "
               "where they are whole. Without a path: of AKGen's own documents.\vThe same seed makes the same samples; "
               "a run that was killed goes on. What is dropped is counted with its reason ('akgen cot stats').",
    };
    struct arguments arguments = {.documents = {.compile = true}, .model.model = cli_model_defaults()};
    struct arena arena = {0};
    struct store *store = NULL;
    struct cot_counts counts = {0}, asked = {0};
    cli_parse(&table, argc, argv, &arguments);
    struct cli_cot_files *files = &arguments.files;
    if (!files->path) {
        files->path = arena_printf(&arena, "%s/docs", toolchain_home());
        files->licence = files->licence ? files->licence : "Apache-2.0";
    }
    arguments.documents.licence = files->licence;
    struct akgen_error *error = store_open(files->db, &store);
    if (!error)
        error = cli_cot_model_open(&arguments.model, store);
    arguments.documents.asker = arguments.model.asker;
    arguments.documents.asked_jobs = arguments.model.model.endpoint.concurrency;
    if (!error)
        error = cot_documents(store, files->path, &arguments.documents, &counts, &asked);
    if (!error)
        printf("%lld files: %lld samples added, %lld dropped, %lld examples compiled; %.1f s\n",
               (long long)counts.sources, (long long)counts.added, (long long)(counts.dropped + counts.repeated),
               (long long)counts.on_machine, counts.seconds);
    if (!error && arguments.model.asker)
        printf("%lld files by the model: %lld samples added, %lld dropped, %lld answers with code that was compiled; "
               "%.1f s\n",
               (long long)asked.sources, (long long)asked.added, (long long)(asked.dropped + asked.repeated),
               (long long)asked.on_machine, asked.seconds);
    int code = cli_cot_model_close(&arguments.model, &asked);
    store_close(store);
    arena_free(&arena);
    return error ? cli_fail(EXIT_USAGE, error) : code;
}
