/* Documents in sections: Markdown, plain text and HTML, cut at headings, with their tables and code. No parser of all that these formats
 * allow: what it does not know stays text. */
#ifndef COT_SECTIONS_H
#define COT_SECTIONS_H

#include "base/arena.h"

struct cot_table {
    char ***rows; /* [0]: the heads; each of `columns` cells, "" where a row is shorter */
    int count, capacity, columns;
};
struct cot_code {
    const char *language, *text; /* language: what stands behind the fence, "" if nothing */
};
struct cot_section {
    const char *title; /* without marks; "" before the first heading */
    int level;         /* 1 to 6; 0: before the first heading */
    int parent;        /* index of the section that it is below; -1: none */
    const char *text;  /* what stands in it up to the next heading, as Markdown */
    const char *prose; /* of that what is neither table nor code */
    struct cot_table *tables;
    struct cot_code *codes;
    int table_count, table_capacity, code_count, code_capacity;
};
struct cot_sections {
    struct cot_section *items;
    int count, capacity;
};
/* Cuts a text in Markdown. Everything lives in the arena. */
void cot_sections_cut(struct arena *arena, const char *markdown, struct cot_sections *sections);
/* A page in HTML as Markdown: headings, tables, preformatted text in fences, lists, paragraphs. */
const char *cot_markdown_of_html(struct arena *arena, const char *html);

#endif
