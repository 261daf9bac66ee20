/* What the steps of akgen cot that read files of the user's have in common. */
#ifndef CLI_COT_FILES_H
#define CLI_COT_FILES_H

#include "cli/table.h"

struct cli_cot_files {
    const char *db, *path, *licence; /* path: the argument; NULL where there is none */
    const char *needed;              /* what it is, "a folder": there has to be one; NULL: it may be left out */
};
/* --of-licence, --db and the argument. */
extern const struct cli_table cli_cot_files_table;

#endif
