/* akgen cot's subcommands, one file each, and what their options share. */
#ifndef CLI_COT_H
#define CLI_COT_H

#include "cli/table.h"
#include "runs/cot_store.h"

int cli_cot_synth(int argc, char **argv);     /* cot_synth.c */
int cli_cot_project(int argc, char **argv);   /* cot_project.c */
int cli_cot_documents(int argc, char **argv); /* cot_documents.c */
int cli_cot_kernels(int argc, char **argv);   /* cot_kernels.c */
int cli_cot_errors(int argc, char **argv);    /* cot_errors.c */
int cli_cot_failures(int argc, char **argv);  /* cot_failures.c */
int cli_cot_stats(int argc, char **argv);     /* cot_show.c */
int cli_cot_show(int argc, char **argv);      /* cot_show.c */
int cli_cot_search(int argc, char **argv);    /* cot_show.c */
int cli_cot_export(int argc, char **argv);    /* cot_export.c */
int cli_cot_corpus(int argc, char **argv);    /* cot_corpus.c */
int cli_cot_page(int argc, char **argv);      /* cot_export.c */

/* --db FILE, which is required, of a `const char *`. */
extern const struct cli_table cli_cot_db_table;
/* --jobs N, of an `int`, which becomes the number of processors without it. */
extern const struct cli_table cli_cot_jobs_table;
/* --part, --mode, --split, --verdict, --licence, of a `struct cot_filter`. */
extern const struct cli_table cli_cot_filter_table;

#endif
