/* akgen cot: training data; and the options that its commands share. */
#include "cli/cot.h"
#include "cli/cli.h"

#include <string.h>
#include <unistd.h>

static const struct cli_command commands[] = {
    {"synth", cli_cot_synth, "make operators up, with descriptions and proved answers"},
    {"project", cli_cot_project, "take made-up operators apart into pairs of host part and kernel, with their tiling"},
    {"documents", cli_cot_documents, "ask what documents say: sections, tables, signatures, examples"},
    {"kernels", cli_cot_kernels, "merge kernels of a folder into files that compile alone"},
    {"errors", cli_cot_errors, "break right answers, and make samples of what is found and how it is mended"},
    {"failures", cli_cot_failures, "count failures by verdict and class"},
    {"stats", cli_cot_stats, "count what a database holds, and what was dropped"},
    {"show", cli_cot_show, "print a sample"},
    {"search", cli_cot_search, "find samples by words"},
    {"corpus", cli_cot_corpus, "add questions and answers of JSONL and Parquet files"},
    {"export", cli_cot_export, "write samples as files for trainers, with a card"},
    {"page", cli_cot_page, "write an HTML page to browse samples"},
};

int cli_cot(int argc, char **argv)
{
    return cli_run_command(
        "cot", "Ascend-CoT: samples to train language models on, each with its source, licence and verdict.", commands,
        sizeof commands / sizeof *commands, argc, argv);
}

struct database {
    const char *path;
};
#define CLI_OF struct database
static const struct cli_option db_rows[] = {
    {"db", 0, "FILE", CLI_TEXT(path, .needed = true), 0, "the database of samples"},
};
const struct cli_table cli_cot_db_table = {CLI_ROWS(db_rows), .needs = "--db FILE is needed"};

#undef CLI_OF
#define CLI_OF struct threads
struct threads {
    int count;
};
static const struct cli_option jobs_rows[] = {
    {"jobs", 'j', "N", CLI_NUMBER(count, 1, 256), 0, "threads (default: one for each processor)"},
};

static void set_jobs(void *arguments, const struct argp_state *state)
{
    int *jobs = arguments;
    (void)state;
    *jobs = *jobs ? *jobs : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

const struct cli_table cli_cot_jobs_table = {CLI_ROWS(jobs_rows), .check = set_jobs};

static void take_licence(void *arguments, char *text, const struct argp_state *state)
{
    struct cot_filter *filter = arguments;
    (void)state;
    filter->known_licence = strcmp(text, "known") == 0;
    filter->licence = filter->known_licence ? NULL : text;
}

#undef CLI_OF
#define CLI_OF struct cot_filter
static const struct cli_option filter_rows[] = {
    {"part", 0, WORD_CHOICE(COT_PARTS, ""), CLI_WORDS(parts, cot_parts), 1, "only samples of this part; several times"},
    {"mode", 0, WORD_CHOICE(COT_MODES, ""), CLI_WORDS(modes, cot_modes), 1,
     "only samples whose answer is this; several times"},
    {"split", 0, WORD_CHOICE(COT_SPLITS, ""), CLI_WORDS(splits, cot_splits), 1,
     "only samples of this split; several times"},
    {"verdict", 0, "WORD", CLI_TEXT(verdict), 1, "only samples with this verdict: pass, ..., or none"},
    {"licence", 0, "SPDX", CLI_CALL(take_licence), 1,
     "only samples under this licence; 'known': under any that is known"},
};
const struct cli_table cli_cot_filter_table = {CLI_ROWS(filter_rows)};
