/* What a kernel does is told by the functions that it calls: docs/api.md says of each on which pipe it runs. */
#include "base/array.h"
#include "base/files.h"
#include "base/names.h"
#include "base/random.h"
#include "base/text.h"
#include "cot/kernels.h"
#include "base/strings.h"
#include "cot/scan.h"
#include "cot/sections.h"
#include "cot/snippet.h"
#include "toolchain/toolchain.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The functions, and what of a kernel they tell. */
enum tell { TELL_MOVES, TELL_COMPUTES, TELL_CUBE, TELL_ORDERS, TELL_QUEUE, TELLS };
/* Read once, for all threads. */
static struct {
    pthread_once_t once;
    struct arena arena;
    struct strings names;
    enum tell *tells; /* by number */
    int count, capacity;
    struct akgen_error *error;
} known = {.once = PTHREAD_ONCE_INIT};

/* Of the column "pipe"; -1: it is about nothing that a request names. */
static int tell_of(const char *section, const char *pipe)
{
    static const struct {
        const char *pipe;
        enum tell tell;
    } tells[] = {{"MTE", TELL_MOVES}, {"GM", TELL_MOVES}, {"V", TELL_COMPUTES}, {"high-level", TELL_COMPUTES},
                 {"M", TELL_CUBE},    {"FIX", TELL_CUBE}, {"sync", TELL_ORDERS}};
    if (strcmp(section, "TQue") == 0)
        return strcmp(pipe, "resource") == 0 ? TELL_QUEUE : -1;
    for (size_t i = 0; i < sizeof tells / sizeof *tells && strcmp(section, "Functions") == 0; i++)
        if (strncmp(pipe, tells[i].pipe, strlen(tells[i].pipe)) == 0)
            return (int)tells[i].tell;
    return -1;
}

static const char *bare(struct arena *arena, const char *cell)
{
    size_t length = strlen(cell);
    return length > 2 && *cell == '`' ? arena_strndup(arena, cell + 1, length - 2) : cell;
}

static void read_known(void)
{
    enum { LARGEST = 4 << 20 };
    struct arena *arena = &known.arena;
    struct cot_sections sections;
    char *text;
    known.error = files_read(arena, arena_printf(arena, "%s/docs/api.md", toolchain_home()), LARGEST, &text, NULL);
    if (known.error)
        return;
    cot_sections_cut(arena, text, &sections);
    for (int s = 0; s < sections.count; s++)
        for (int t = 0; t < sections.items[s].table_count; t++) {
            const struct cot_table *table = &sections.items[s].tables[t];
            for (int r = 1; r < table->count && table->columns > 1; r++) {
                int tell = tell_of(sections.items[s].title, table->rows[r][1]);
                const char *name = bare(arena, table->rows[r][0]);
                if (tell >= 0 && strings_number(arena, &known.names, name, strlen(name)) == known.count)
                    ARRAY_ADD(arena, known.tells, known.count, known.capacity, (enum tell)tell);
            }
        }
}

/* A function that the file defines, and what it calls. */
struct function {
    const char *name, *end; /* end: behind its body */
    struct strings calls;
};
struct reading {
    struct arena *arena;
    struct strings told[TELLS]; /* names in the order of the file */
    struct function *functions;
    int function_count, function_capacity;
    struct strings defined, types;
};

/* Behind the parenthesis or brace that `scan` has read, and what it holds. */
static void skip_pair(struct scan *scan, char open, char close)
{
    int depth = 0;
    do {
        depth += scan->kind == SCAN_OTHER && *scan->begin == open;
        depth -= scan->kind == SCAN_OTHER && *scan->begin == close;
    } while (depth > 0 && scan_next(scan));
}

/* Where the body of a function ends whose name was read; NULL: it is a call or a declaration. */
static const char *body_of(struct scan scan)
{
    if (names_among(scan.begin, scan.length, "if|for|while|switch|return|sizeof|catch|constexpr") ||
        !scan_next(&scan) || !scan_is(&scan, "("))
        return NULL;
    skip_pair(&scan, '(', ')');
    while (scan_next(&scan) && scan.kind == SCAN_NAME) /* const, override, noexcept */
        ;
    if (!scan_is(&scan, "{"))
        return NULL;
    skip_pair(&scan, '{', '}');
    return scan.at;
}

/* "LocalTensor<half>" tells a data type. */
static void note_type(struct reading *reading, struct scan scan)
{
    static const char *const types = "half|float|bfloat16_t|int8_t|uint8_t|int16_t|int32_t|uint16_t|uint32_t|int64_t";
    if (scan_next(&scan) && scan_is(&scan, "<") && scan_next(&scan) && names_among(scan.begin, scan.length, types))
        strings_number(reading->arena, &reading->types, scan.begin, scan.length);
}

static void note_call(struct reading *reading, const struct scan *scan)
{
    struct scan behind = *scan;
    const int api = strings_find(&known.names, scan->begin, scan->length);
    const bool own = strings_find(&reading->defined, scan->begin, scan->length) >= 0;
    if ((api < 0 && !own) || !scan_next(&behind) || (!scan_is(&behind, "(") && !scan_is(&behind, "<")))
        return;
    if (!own)
        strings_number(reading->arena, &reading->told[known.tells[api]], scan->begin, scan->length);
    for (int f = reading->function_count - 1; f >= 0; f--) {
        struct function *function = &reading->functions[f];
        if (scan->begin >= function->end || strings_find(&function->calls, scan->begin, scan->length) >= 0)
            continue;
        strings_number(reading->arena, &function->calls, scan->begin, scan->length);
        break;
    }
}

static void read_text(struct reading *reading, const char *text)
{
    for (struct scan scan = {.at = text}; scan_next(&scan);)
        if (scan.kind == SCAN_NAME && body_of(scan))
            strings_number(reading->arena, &reading->defined, scan.begin, scan.length);
    for (struct scan scan = {.at = text}; scan_next(&scan);) {
        const char *end = scan.kind == SCAN_NAME ? body_of(scan) : NULL;
        if (end)
            ARRAY_ADD(reading->arena, reading->functions, reading->function_count, reading->function_capacity,
                      (struct function){.name = arena_strndup(reading->arena, scan.begin, scan.length), .end = end});
        else if (scan.kind == SCAN_NAME && (scan_is(&scan, "LocalTensor") || scan_is(&scan, "GlobalTensor")))
            note_type(reading, scan);
        else if (scan.kind == SCAN_NAME)
            note_call(reading, &scan);
    }
}

static void add_list(struct text *text, const struct strings *names)
{
    enum { MOST = 12 };
    for (int i = 0; i < names->count && i < MOST; i++)
        text_addf(text, "%s`%s`", !i ? "" : i == names->count - 1 ? " and " : ", ", names->items[i].at);
    if (names->count > MOST)
        text_add(text, " and others");
}

static void add_sentence(struct text *text, const struct reading *reading, enum tell tell, const char *begin,
                         const char *end)
{
    if (!reading->told[tell].count)
        return;
    text_add(text, begin);
    add_list(text, &reading->told[tell]);
    text_add(text, end);
}

/* "(GM_ADDR x, GM_ADDR y, ...)" of the entry, on one line. */
static const char *signature_of(struct arena *arena, const char *text, const char *entry)
{
    struct text one = {0};
    for (const char *at = strstr(text, "__global__"); at && (at = strstr(at, entry)); at++)
        if (at[strlen(entry)] == '(') {
            bool space = false;
            for (at += strlen(entry); *at && *at != ')'; at++) {
                bool blank = strchr(" \t\n\r", *at);
                if (!blank || !space)
                    text_append(&one, blank ? " " : at, 1);
                space = blank;
            }
            break;
        }
    const char *copy = arena_printf(arena, "%s)", one.length ? one.bytes : "(");
    text_free(&one);
    return copy;
}

static const char *request_of(struct arena *arena, const struct reading *reading, const char *text, const char *tilings,
                              uint64_t seed)
{
    static const char *const wordings[] = {"Write a kernel in Ascend C, one self-contained file, with the entry ",
                                           "I need an Ascend C kernel in a single file. Its entry is ",
                                           "Implement this Ascend C kernel, complete in one file: "};
    const char *entry = snippet_entry(arena, text);
    struct rng rng;
    struct text request = {0};
    rng_seed(&rng, seed);
    text_addf(&request, "%s`%s%s`.", wordings[rng_integer(&rng, 0, 3)], entry, signature_of(arena, text, entry));
    add_sentence(&request, reading, TELL_COMPUTES, " It computes with ", ".");
    add_sentence(&request, reading, TELL_CUBE, " The cube core does ", ".");
    add_sentence(&request, reading, TELL_MOVES, " Data are moved by ", ".");
    if (reading->types.count) {
        text_add(&request, " Its tensors are of ");
        add_list(&request, &reading->types);
        text_add(&request, ".");
    }
    if (reading->told[TELL_QUEUE].count)
        text_add(&request, " Tiles go through queues.");
    add_sentence(&request, reading, TELL_ORDERS, " What the queues do not order is ordered by ", ".");
    if (*tilings)
        text_addf(&request, " It reads this tiling data:\n\n```cpp\n%s\n```", tilings);
    return text_keep(&request, arena);
}

static const char *chain_of(struct arena *arena, const struct reading *reading)
{
    struct text chain = {0};
    for (int f = 0; f < reading->function_count; f++) {
        const struct function *function = &reading->functions[f];
        if (!function->calls.count)
            continue;
        text_addf(&chain, "%s`%s` calls ", chain.length ? "\n" : "", function->name);
        for (int i = 0; i < function->calls.count; i++)
            text_addf(&chain, "%s`%s`", i ? ", " : "", function->calls.items[i].at);
        text_add(&chain, ".");
    }
    const char *kept = text_keep(&chain, arena);
    return *kept ? kept : NULL;
}

struct akgen_error *kernel_words(struct arena *arena, const char *text, const char *tilings, uint64_t seed,
                                 struct kernel_words *words)
{
    struct reading reading = {.arena = arena};
    *words = (struct kernel_words){0};
    pthread_once(&known.once, read_known);
    if (known.error)
        return error_new("%s", known.error->message);
    read_text(&reading, text);
    if (reading.told[TELL_COMPUTES].count || reading.told[TELL_CUBE].count || reading.told[TELL_MOVES].count)
        words->request = request_of(arena, &reading, text, tilings, seed);
    words->chain = chain_of(arena, &reading);
    return NULL;
}
