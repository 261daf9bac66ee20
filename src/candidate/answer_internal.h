/* Reading answers, inside. An answer's text goes one way:
 *
 *   bytes -> clean text -> without the thinking (answer_text.c) -> blocks (answer_blocks.c), each a piece of code with the name
 *   that stood at it (answer_names.c) and what it holds (answer_content.c) -> files of a project (answer_project.c)
 *
 * Every step looks at each byte a bounded number of times, whatever the text is. */
#ifndef CANDIDATE_ANSWER_INTERNAL_H
#define CANDIDATE_ANSWER_INTERNAL_H

#include "candidate/answer.h"

#include <stdbool.h>
#include <string.h>

/* A part of a text. */
struct answer_span {
    const char *at;
    size_t length;
};
static inline struct answer_span answer_span_of(const char *text)
{
    return (struct answer_span){text, strlen(text)};
}
static inline struct answer_span answer_between(const char *begin, const char *end)
{
    return (struct answer_span){begin, (size_t)(end - begin)};
}
/* Up to the end of the line (which is left out), or of the span. */
struct answer_span answer_line(const char *at, const char *end);
/* Behind that line. */
const char *answer_next_line(const char *at, const char *end);
struct answer_span answer_trim(struct answer_span span);
bool answer_is_blank(struct answer_span span);
/* `word` is in lower case; the span may be in any. */
bool answer_begins(struct answer_span span, const char *word);
bool answer_has_word(struct answer_span span, const char *word);
static inline bool answer_has(struct answer_span span, const char *text)
{
    return memmem(span.at, span.length, text, strlen(text)) != NULL;
}

/* The text (answer_text.c). */
/* UTF-8 without byte order mark and NUL bytes, lines end in '\n'; what servers leave of a model's end tokens is gone. */
char *answer_clean(struct arena *arena, const char *text, size_t length);

/* What a piece of code is for. */
enum answer_role {
    ANSWER_NO_ROLE,
    ANSWER_KERNEL,        /* op_kernel, a source */
    ANSWER_KERNEL_HEADER, /* op_kernel, a header */
    ANSWER_HOST,          /* op_host, a source */
    ANSWER_HOST_HEADER,   /* op_host, a header */
    ANSWER_HEADER,        /* a header; who includes it decides where it lies */
    ANSWER_CMAKE,
    ANSWER_PROGRAM, /* AscendDSL */
    ANSWER_STRINGS, /* MultiKernelBench's six */
    ANSWER_DIFF,    /* changes of a file, not a file */
    ANSWER_USELESS, /* known, and none of a candidate's: JSON, shell, .. */
};

/* What stands at a block and says which file it is. */
struct answer_label {
    const char *name;      /* the file's; NULL: none */
    enum answer_role role; /* that words say, "host" in a heading; ANSWER_NO_ROLE */
    bool given;            /* the name is the block's; else a sentence before it mentions it */
    bool closed;           /* it stands in a tag that ends: so does the block */
};
/* A piece of code. */
struct answer_block {
    const char *text;  /* as a file holds it */
    const char *begin; /* where it stands in the answer; NULL: inside of another block */
    struct answer_label label;
    const char *language; /* of the fence, in lower case; "" */
    unsigned marks;       /* ANSWER_HAS_* */
    bool complete;        /* it ends, in the answer's own form */
};
struct answer_blocks {
    struct answer_block *items;
    int count, capacity;
};

/* Content (answer_content.c). */
enum {
    ANSWER_HAS_INCLUDE = 1,
    ANSWER_HAS_ENTRY = 2,    /* a kernel's entry */
    ANSWER_HAS_DEVICE = 4,   /* __aicore__ */
    ANSWER_HAS_OPDEF = 8,    /* the operator's definition */
    ANSWER_HAS_HOST = 16,    /* anything else of a host part */
    ANSWER_HAS_TILING = 32,  /* a tiling structure's definition */
    ANSWER_HAS_PROGRAM = 64, /* @ascend_kernel */
    ANSWER_HAS_STRINGS = 128,
    ANSWER_HAS_DIFF = 256,
    ANSWER_HAS_OPTIONS = 512,   /* compile options in CMake */
    ANSWER_HAS_FUNCTION = 1024, /* a tiling function's body */
    ANSWER_HAS_OWN_NAME = 2048, /* the entry or the definition is the operator's own */
};
unsigned answer_marks(const char *text);
/* The role that the content alone gives, ANSWER_NO_ROLE if it gives none. */
enum answer_role answer_role_of_content(unsigned marks, const char *language);
/* Whether text reads as code of C++ or Python at all. */
bool answer_is_code(const char *text);
/* The lines of a block as a file has them: line numbers, a first line that only names the language, what XML escaped
 * are undone. */
const char *answer_body(struct arena *arena, struct answer_span body, bool in_tag);
/* Code that stands in a text without fences, tags or names; a span of no length: there is none. */
struct answer_span answer_bare_code(const char *text);

/* Names (answer_names.c). */
/* The first name of a file in a text: "op_host/sqrt_tiling.h"; NULL. */
const char *answer_find_name(struct arena *arena, struct answer_span text);
/* What a line in front of a block says of it: a heading, a name, a sentence. False: nothing. */
bool answer_label_of_line(struct arena *arena, struct answer_span line, struct answer_label *label);
/* A line that names the file that follows it and is no code: "=== op_host/sqrt.cpp ===", "// FILE: sqrt.cpp". `first`: it is
 * the first of a block, where a comment with nothing but a name is enough. */
enum answer_banner { ANSWER_NO_BANNER, ANSWER_BANNER, ANSWER_BANNER_COMMENT /* that may stay */, ANSWER_BANNER_END };
enum answer_banner answer_banner_of_line(struct arena *arena, struct answer_span line, bool first,
                                         struct answer_label *label);
/* <op_kernel/sqrt.cpp>, <kernel_impl>, <file path="sqrt.cpp">: the label, and what stands behind the tag on its line. */
bool answer_open_tag(struct arena *arena, struct answer_span line, struct answer_label *label,
                     struct answer_span *behind);
/* The end of what stands before a tag that closes a file, in this line; NULL: there is none. */
const char *answer_close_tag(struct answer_span line);
/* The path in a project, "op_kernel/sqrt.cpp", or what is left of a name that leads elsewhere: its last part. NULL: no file may
 * have it. */
const char *answer_path(struct arena *arena, const char *name);

/* Blocks (answer_blocks.c). */
/* Finds all blocks of a text, in order. */
void answer_find_blocks(struct arena *arena, const char *text, struct answer_blocks *blocks);
/* Adds one, split where banners stand in it. */
void answer_add_block(struct arena *arena, struct answer_blocks *blocks, struct answer_block block);

/* JSON (answer_json.c). */
/* Adds the files of a JSON object that holds any, {"files": {"op_kernel/sqrt.cpp": "..."}}. */
void answer_add_json(struct arena *arena, const char *text, struct answer_blocks *blocks);

/* Formulas (answer_formulas.c). */
/* True if a text is statements `name = expression` alone, one of which assigns an output of the task; they are *statements then. */
bool answer_is_formulas(struct arena *arena, const char *text, const struct task *task, const char **statements);

/* Projects (answer_project.c). */
/* Files of the blocks, or a problem. */
void answer_make_files(struct arena *arena, const struct answer_blocks *blocks, const struct task *task,
                       enum eval_scope scope, enum eval_language asked, struct answer *answer);

#endif
