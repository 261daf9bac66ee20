/* A command's options and arguments as a table. A row says how an option is written, what its value may be and which field of the
 * command's struct takes it; argp's options, hence --help, and the parser are made from the rows (table.c).
 *
 *     #define CLI_OF struct tune
 *     static const struct cli_option options[] = {
 *         {"budget", 0, "N", CLI_NUMBER(budget, 1, MOST), 1, "settings at most (default 40)"},
 *         {NULL, 0, "TASK", CLI_TEXT(task, .needed = true), 0, NULL},
 *     };
 *
 * An argument is a row without a name. Rows of arguments are filled in their order. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "base/arena.h"
#include "base/words.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum cli_kind { CLI_HEADS, CLI_SETS, CLI_STRING, CLI_WHOLE, CLI_FRACTION, CLI_ENUM, CLI_BITS, CLI_ADDS, CLI_CALLS };
enum cli_type { CLI_BOOL, CLI_INT, CLI_LONG, CLI_DOUBLE, CLI_TEXTS };
/* The sentence that refuses a word that is none of the words. */
enum cli_complaint { CLI_NEITHER, CLI_NONE_OF, CLI_NONE_OF_AND, CLI_THERE_ARE, CLI_SEE_HELP };
/* A flag of an option, beside argp's: each value adds to those before. */
enum { CLI_SEVERAL = 0x100, CLI_PARTS = 4 };

/* A row's use of the text of a value. */
struct cli_taken {
    enum cli_kind kind;
    enum cli_type type;
    size_t at;         /* of the field in the struct; CLI_CALLS: of what is called with */
    size_t also;       /* 1 + the place of a bool that becomes true as well; 0: none */
    size_t count_at;   /* CLI_ADDS: of the int that counts */
    int most;          /* CLI_ADDS: elements of the field */
    const char *full;  /* CLI_ADDS: what is said of one more, with %s for it; NULL: "more than N" */
    long low, high;    /* of a whole number; low: what a flag sets */
    double from, to;   /* of a fraction */
    const char *shape; /* of a fraction: what a text is not; NULL: "no number" */
    const struct words *words;
    enum cli_complaint complaint;
    void (*call)(void *field, char *text, const struct argp_state *state);
    const char *of; /* the words of the command that the option is for, "build, write"; NULL: all */
    bool needed;    /* cli_table.needs is said where it lacks */
    int flags;      /* argp's, and CLI_SEVERAL */
};

struct cli_option {
    const char *name;  /* NULL: an argument, or a heading of --help */
    int letter;        /* 0: it has none */
    const char *value; /* what --help calls the value; NULL: it takes none. Of arguments: what there are too many of */
    struct cli_taken taken;
    int group;
    const char *doc;
};

/* The options of a command, or some that commands share. */
struct cli_table {
    const struct cli_option *rows;
    int count;
    struct cli_part {
        const struct cli_table *table;
        size_t at; /* of its struct in this one's */
    } parts[CLI_PARTS];
    int group; /* of a part's options in --help; 0: among the others */
    const char *args_doc, *doc;
    const char *excess; /* said of an argument too many, with %s for it; NULL: argp's own words */
    const char *needs;  /* said where a row lacks that is needed */
    void (*check)(void *arguments, const struct argp_state *state); /* at the end of the command line; NULL: nothing */
};

/* Fields of the struct CLI_OF, which a file defines before its rows. More members of struct cli_taken may follow. */
#define CLI_AT(field) offsetof(CLI_OF, field)
#define CLI_INTO(field)                                                                                                \
    .at = CLI_AT(field), .type = _Generic(((CLI_OF *)0)->field,                                                        \
                             bool: CLI_BOOL,                                                                           \
                             int: CLI_INT,                                                                             \
                             unsigned: CLI_INT,                                                                        \
                             long: CLI_LONG,                                                                           \
                             unsigned long: CLI_LONG,                                                                  \
                             double: CLI_DOUBLE)
#define CLI_HEADING          {.kind = CLI_HEADS}
#define CLI_FLAG(field, ...) {.kind = CLI_SETS, CLI_INTO(field), .low = 1, __VA_ARGS__}
#define CLI_UNSET(field)     {.kind = CLI_SETS, CLI_INTO(field)}
#define CLI_TEXT(field, ...)                                                                                           \
    {.kind = CLI_STRING,                                                                                               \
     .at = CLI_AT(field),                                                                                              \
     .type = _Generic(((CLI_OF *)0)->field, const char *: CLI_TEXTS),                                                  \
     __VA_ARGS__}
#define CLI_NUMBER(field, least, most, ...)                                                                            \
    {.kind = CLI_WHOLE, CLI_INTO(field), .low = (least), .high = (most), __VA_ARGS__}
#define CLI_REAL(field, least, most, ...)                                                                              \
    {.kind = CLI_FRACTION,                                                                                             \
     .at = CLI_AT(field),                                                                                              \
     .type = _Generic(((CLI_OF *)0)->field, double: CLI_DOUBLE),                                                       \
     .from = (least),                                                                                                  \
     .to = (most),                                                                                                     \
     __VA_ARGS__}
#define CLI_WORD(field, list, says, ...)                                                                               \
    {.kind = CLI_ENUM, CLI_INTO(field), .words = &(list), .complaint = (says), __VA_ARGS__}
/* A set of words as bits. */
#define CLI_WORDS(field, list)                                                                                         \
    {.kind = CLI_BITS, CLI_INTO(field), .words = &(list), .complaint = CLI_SEE_HELP, .flags = CLI_SEVERAL}
/* An array of texts and its length. */
#define CLI_LIST(field, length, ...)                                                                                   \
    {.kind = CLI_ADDS,                                                                                                 \
     .at = CLI_AT(field),                                                                                              \
     .count_at = CLI_AT(length),                                                                                       \
     .most = sizeof((CLI_OF *)0)->field / sizeof *((CLI_OF *)0)->field,                                                \
     .flags = CLI_SEVERAL,                                                                                             \
     __VA_ARGS__}
#define CLI_CALL(function, ...) {.kind = CLI_CALLS, .call = (function), __VA_ARGS__}
#define CLI_ALSO(field)         .also = 1 + CLI_AT(field)
#define CLI_ROWS(table)         .rows = (table), .count = sizeof(table) / sizeof *(table)
#define CLI_UNEXPECTED          "unexpected argument '%s'"
#define CLI_TOO_MANY            "too many arguments: '%s'"

/* A table with the struct that it fills, as argp gets it. */
struct cli_bound {
    struct argp argp; /* the first member: cli_table_of */
    const struct cli_table *table;
    char *arguments;
    struct cli_bound *parts[CLI_PARTS];
    int argument; /* the row of the next argument */
    FILE *errors; /* where usage errors go; NULL: argp's choice */
};
struct cli_bound *cli_bind(struct arena *arena, const struct cli_table *table, void *arguments);
/* The table that was bound as this argp; NULL: it is another's. */
const struct cli_table *cli_table_of(const struct argp *argp);
/* The row that argp knows by this key; NULL: the table has none. */
const struct cli_option *cli_row(const struct cli_table *table, int key);

/* Fills the struct from the command line. Ends the program with a usage error; also where an option that takes one value is given two
 * different ones (parse.c). */
void cli_parse(const struct cli_table *table, int argc, char **argv, void *arguments);
/* Prints how the command is called, to standard error. Returns the exit code. */
int cli_usage(const struct cli_table *table, char *name);
/* For checks and calls. True if an option of this name was given. */
bool cli_given(const struct argp_state *state, const char *name);
/* True if an option of this table was given. */
bool cli_given_of(const struct argp_state *state, const struct cli_table *of);
/* Ends the program with a usage error if an option of this table was given; `why` follows its name. */
void cli_refuse_options(const struct argp_state *state, const struct cli_table *of, const char *why);
/* Ends the program with a usage error if an option was given that is not for this word of the command. */
void cli_check_uses(const struct cli_table *table, int argc, char **argv, const char *word);
/* A whole number in [low, high]; ends the program with a usage error that names the option otherwise. */
long cli_parse_number(const struct argp_state *state, const char *option, const char *text, long low, long high);
/* The value of one of the words; likewise. */
int cli_parse_word(const struct argp_state *state, const char *option, const char *text, const struct words *words,
                   enum cli_complaint complaint);

#endif
