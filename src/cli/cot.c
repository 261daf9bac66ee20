/* akgen cot: training data; and the options that its commands share. */
#include "cli/cot.h"
#include "cli/cli.h"

#include <stdlib.h>
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

enum { KEY_DB = 0x700, KEY_PART, KEY_MODE, KEY_SPLIT, KEY_VERDICT, KEY_LICENCE };

static error_t parse_db(int key, char *text, struct argp_state *state)
{
    const char **path = state->input;
    switch (key) {
    case KEY_DB:
        *path = text;
        break;
    case ARGP_KEY_END:
        if (!*path)
            argp_error(state, "--db FILE is needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option db_options[] = {
    {"db", KEY_DB, "FILE", 0, "the database of samples", 0},
    {0},
};
const struct argp cli_cot_db_argp = {.options = db_options, .parser = parse_db};

static error_t parse_jobs(int key, char *text, struct argp_state *state)
{
    int *jobs = state->input;
    if (key == ARGP_KEY_INIT)
        *jobs = (int)sysconf(_SC_NPROCESSORS_ONLN);
    else if (key == 'j')
        *jobs = (int)cli_parse_number(state, "jobs", text, 1, 256);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp_option jobs_options[] = {
    {"jobs", 'j', "N", 0, "threads (default: one for each processor)", 0},
    {0},
};
const struct argp cli_cot_jobs_argp = {.options = jobs_options, .parser = parse_jobs};

/* One more word's bit. */
static unsigned bit_of(const struct argp_state *state, const char *option, const char *text, const struct words *words)
{
    int value = words_find(words, text);
    if (value < 0)
        argp_error(state, "--%s: no '%s'; --help lists what there is", option, text);
    return 1u << (value < 0 ? 0 : value);
}

static error_t parse_filter(int key, char *text, struct argp_state *state)
{
    struct cot_filter *filter = state->input;
    switch (key) {
    case KEY_PART:
        filter->parts |= bit_of(state, "part", text, &cot_parts);
        break;
    case KEY_MODE:
        filter->modes |= bit_of(state, "mode", text, &cot_modes);
        break;
    case KEY_SPLIT:
        filter->splits |= bit_of(state, "split", text, &cot_splits);
        break;
    case KEY_VERDICT:
        filter->verdict = text;
        break;
    case KEY_LICENCE:
        filter->known_licence = strcmp(text, "known") == 0;
        filter->licence = filter->known_licence ? NULL : text;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option filter_options[] = {
    {"part", KEY_PART, WORD_CHOICE(COT_PARTS, ""), CLI_SEVERAL, "only samples of this part; several times", 1},
    {"mode", KEY_MODE, WORD_CHOICE(COT_MODES, ""), CLI_SEVERAL, "only samples whose answer is this; several times", 1},
    {"split", KEY_SPLIT, WORD_CHOICE(COT_SPLITS, ""), CLI_SEVERAL, "only samples of this split; several times", 1},
    {"verdict", KEY_VERDICT, "WORD", 0, "only samples with this verdict: pass, ..., or none", 1},
    {"licence", KEY_LICENCE, "SPDX", 0, "only samples under this licence; 'known': under any that is known", 1},
    {0},
};
const struct argp cli_cot_filter_argp = {.options = filter_options, .parser = parse_filter};
