/* Text to nodes, by recursive descent. A part's nodes lie together, so that a repetition is copies of them. Each part has a node that it
 * begins with and an open end, a FORK whose `next` is set when it is known what follows. */
#include "lm/grammar.h"
#include "lm/grammar_internal.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 200, MOST_TIMES = 1 << 16, MOST_SETS = 4096, LAST_CHARACTER = 0x10ffff, NOWHERE = -1 };

struct part {
    int begin, end; /* nodes */
};
struct range {
    uint32_t low, high;
};
struct mark {
    const char *name;
    size_t length;
};
struct reader {
    struct arena arena;
    const char *name, *text, *at, *end;
    int depth;
    struct akgen_error *error; /* the first one */
    struct lm_rules rules;
    struct lm_node *nodes;
    int node_count, node_capacity;
    struct lm_byte_set *sets;
    int set_count, set_capacity;
    struct mark marks[LM_GRAMMAR_MOST_MARKS];
    int mark_count;
};

struct akgen_error *lm_grammar_error(const char *name, const char *text, const char *at, const char *format, ...)
{
    char message[256];
    int line = 1, column = 1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    for (const char *c = text; c < at; c++) {
        line += *c == '\n';
        column = *c == '\n' ? 1 : column + (((unsigned char)*c & 0xc0) != 0x80);
    }
    return error_of_the_file(error_new("%s:%d:%d: %s", name, line, column, message));
}

/* Only the first mistake is told; reading then ends everywhere. */
#define FAIL(r, ...)                                                                                                   \
    do {                                                                                                               \
        if (!(r)->error)                                                                                               \
            (r)->error = lm_grammar_error((r)->name, (r)->text, (r)->at, __VA_ARGS__);                                 \
    } while (0)

static void expect(struct reader *r, const char *expected)
{
    int length = 1;
    if (r->at == r->end) {
        FAIL(r, "expected %s, found the end", expected);
        return;
    }
    while (r->at + length < r->end && ((unsigned char)r->at[length] & 0xc0) == 0x80)
        length++;
    if (*r->at == '\n' || *r->at == '\r')
        FAIL(r, "expected %s, found the end of the line", expected);
    else
        FAIL(r, "expected %s, found '%.*s'", expected, length, r->at);
}

/* ---- Characters */

static bool next_is(const struct reader *r, char c)
{
    return r->at < r->end && *r->at == c;
}

static bool accept(struct reader *r, char c)
{
    bool is = next_is(r, c);
    r->at += is;
    return is;
}

static void skip_blanks(struct reader *r, bool lines)
{
    while (r->at < r->end) {
        if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n')
                r->at++;
        else if (*r->at == ' ' || *r->at == '\t' || *r->at == '\r' || (*r->at == '\n' && lines))
            r->at++;
        else
            return;
    }
}

static bool part_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static uint32_t read_hexadecimal(struct reader *r, int digits)
{
    uint32_t value = 0;
    for (int i = 0; i < digits; i++, r->at++) {
        char c = r->at < r->end ? *r->at : '\0', low = (char)(c | ' ');
        bool digit = c >= '0' && c <= '9';
        if (!digit && !(low >= 'a' && low <= 'f')) {
            FAIL(r, "an escape has %d hexadecimal digits", digits);
            return 0;
        }
        value = value << 4 | (uint32_t)(digit ? c - '0' : low - 'a' + 10);
    }
    if (value > LAST_CHARACTER || (value >= 0xd800 && value <= 0xdfff))
        FAIL(r, "%x is no code point", value);
    return value;
}

static uint32_t read_escape(struct reader *r)
{
    static const char letters[] = "nrt\\\"[]'-", values[] = "\n\r\t\\\"[]'-";
    char c = r->at < r->end ? *r->at : '\0';
    const char *found = c ? strchr(letters, c) : NULL;
    if (found) {
        r->at++;
        return (uint32_t)values[found - letters];
    }
    int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (!digits) {
        expect(r, "one of n r t \\ \" [ ] x u U behind '\\'");
        return 0;
    }
    r->at++;
    return read_hexadecimal(r, digits);
}

/* A character of a text or a class; the grammar's text is known to be UTF-8. */
static uint32_t read_character(struct reader *r)
{
    if (r->at == r->end || *r->at == '\n') {
        expect(r, "the end of what is quoted");
        return 0;
    }
    if (accept(r, '\\'))
        return read_escape(r);
    unsigned char lead = (unsigned char)*r->at++;
    int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    uint32_t value = more ? lead & (0x3fu >> more) : lead;
    for (; more; more--)
        value = value << 6 | ((unsigned char)*r->at++ & 0x3f);
    return value;
}

/* ---- Nodes */

static int add_node(struct reader *r, enum lm_node_kind kind, int next, int other)
{
    if (r->node_count == LM_GRAMMAR_MOST_NODES) {
        FAIL(r, "the grammar becomes larger than %d nodes", LM_GRAMMAR_MOST_NODES);
        return 0;
    }
    ARRAY_ADD(&r->arena, r->nodes, r->node_count, r->node_capacity, (struct lm_node){kind, next, other});
    return r->node_count - 1;
}

static int add_open(struct reader *r)
{
    return add_node(r, LM_NODE_FORK, NOWHERE, NOWHERE);
}

static int set_number(struct reader *r, const struct lm_byte_set *set)
{
    for (int i = 0; i < r->set_count; i++)
        if (memcmp(&r->sets[i], set, sizeof *set) == 0)
            return i;
    if (r->set_count == MOST_SETS)
        FAIL(r, "more than %d classes of characters", MOST_SETS);
    else
        ARRAY_ADD(&r->arena, r->sets, r->set_count, r->set_capacity, *set);
    return r->set_count - 1;
}

static int range_number(struct reader *r, struct lm_byte_range range)
{
    struct lm_byte_set set = {0};
    for (unsigned byte = range.low; byte <= range.high; byte++)
        set.bits[byte / 64] |= 1ULL << byte % 64;
    return set_number(r, &set);
}

/* The first, then the second. */
static struct part join(struct reader *r, struct part first, struct part second)
{
    r->nodes[first.end].next = second.begin;
    return (struct part){first.begin, second.end};
}

static struct part either(struct reader *r, struct part first, struct part second)
{
    int end = add_open(r);
    r->nodes[first.end].next = end;
    r->nodes[second.end].next = end;
    return (struct part){add_node(r, LM_NODE_FORK, first.begin, second.begin), end};
}

static struct part nothing(struct reader *r)
{
    int node = add_open(r);
    return (struct part){node, node};
}

struct choice {
    struct reader *reader;
    struct part part;
    bool any;
};

static void add_sequence(void *closure, const struct lm_byte_range *ranges, int count)
{
    struct choice *choice = closure;
    struct reader *r = choice->reader;
    struct part part = {0, add_open(r)};
    for (int i = count - 1, next = part.end; i >= 0; i--)
        part.begin = next = add_node(r, LM_NODE_BYTE, next, range_number(r, ranges[i]));
    choice->part = choice->any ? either(r, choice->part, part) : part;
    choice->any = true;
}

/* One of the characters; single bytes are one node. */
static struct part characters(struct reader *r, const struct range *ranges, int count)
{
    struct choice choice = {.reader = r};
    struct lm_byte_set single = {0};
    bool any = false;
    for (int i = 0; i < count; i++) {
        for (uint32_t c = ranges[i].low; c <= ranges[i].high && c < 0x80; c++) {
            single.bits[c / 64] |= 1ULL << c % 64;
            any = true;
        }
        if (ranges[i].high >= 0x80)
            lm_utf8_ranges(ranges[i].low < 0x80 ? 0x80 : ranges[i].low, ranges[i].high, add_sequence, &choice);
    }
    if (!any)
        return choice.any ? choice.part : nothing(r);
    int end = add_open(r);
    struct part part = {add_node(r, LM_NODE_BYTE, end, set_number(r, &single)), end};
    return choice.any ? either(r, part, choice.part) : part;
}

/* Another one like it, of the nodes from `from` up to `to`. */
static struct part copy(struct reader *r, int from, int to, struct part part)
{
    int by = r->node_count - from;
    for (int i = from; i < to && !r->error; i++) {
        struct lm_node node = r->nodes[i];
        node.next += node.next >= from && node.next < to ? by : 0;
        if (node.kind == LM_NODE_FORK && node.other >= from && node.other < to)
            node.other += by;
        add_node(r, node.kind, node.next, node.other);
    }
    r->nodes[r->error ? part.end : part.end + by].next = NOWHERE;
    return r->error ? part : (struct part){part.begin + by, part.end + by};
}

static struct part once_or_more(struct reader *r, struct part part)
{
    int end = add_open(r);
    r->nodes[part.end].next = add_node(r, LM_NODE_FORK, part.begin, end);
    return (struct part){part.begin, end};
}

/* The part, whose nodes begin at `from`, at least `least` and at most `most` times; most below 0: without end. */
static struct part repeat(struct reader *r, int from, struct part part, long least, long most)
{
    const int to = r->node_count;
    struct part all = {0}, last = part;
    if (most == 0)
        return nothing(r);
    int skip = add_open(r); /* where it may end early, and ends */
    for (long i = 0; i < (most < 0 ? (least ? least : 1) : most) && !r->error; i++) {
        struct part one = i ? copy(r, from, to, part) : part;
        if (i >= least && most >= 0) { /* it may be left out, and all behind it */
            int fork = add_node(r, LM_NODE_FORK, one.begin, skip);
            one.begin = fork;
        }
        last = one;
        all = i ? join(r, all, one) : one;
    }
    if (r->error)
        return part;
    if (most < 0) { /* the last copy is a loop */
        int fork = add_node(r, LM_NODE_FORK, last.begin, skip);
        r->nodes[last.end].next = fork;
        return (struct part){least ? all.begin : fork, skip};
    }
    r->nodes[all.end].next = skip;
    return (struct part){all.begin, skip};
}

/* ---- Rules */

/* Of a name that an error shows. */
static int shown(size_t length)
{
    return (int)(length < 80 ? length : 80);
}

static uint64_t hash_of(const char *name, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325U; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3U;
    return hash;
}

static void grow_slots(struct reader *r)
{
    struct lm_rules *rules = &r->rules;
    rules->slot_count = rules->slot_count ? rules->slot_count * 2 : 64;
    rules->slots = arena_alloc(&r->arena, (size_t)rules->slot_count * sizeof *rules->slots);
    for (int i = 0; i < rules->count; i++) {
        size_t slot = rules->items[i].hash;
        while (rules->slots[slot % (size_t)rules->slot_count])
            slot++;
        rules->slots[slot % (size_t)rules->slot_count] = i + 1;
    }
}

/* The number of a rule, known or not. */
static int rule_number(struct reader *r, const char *name, size_t length)
{
    struct lm_rules *rules = &r->rules;
    uint64_t hash = hash_of(name, length);
    if (2 * (rules->count + 1) > rules->slot_count)
        grow_slots(r);
    size_t slot = hash;
    for (int found; (found = rules->slots[slot % (size_t)rules->slot_count]); slot++)
        if (rules->items[found - 1].length == length && memcmp(rules->items[found - 1].name, name, length) == 0)
            return found - 1;
    struct lm_rule rule = {name, length, hash, NOWHERE, NOWHERE};
    ARRAY_ADD(&r->arena, rules->items, rules->count, rules->capacity, rule);
    rules->slots[slot % (size_t)rules->slot_count] = rules->count;
    return rules->count - 1;
}

static size_t name_length(const struct reader *r)
{
    size_t length = 0;
    while (r->at + length < r->end && part_of_name(r->at[length]))
        length++;
    return length;
}

/* ---- What stands on the right */

static struct part parse_alternatives(struct reader *r, bool nested);

static struct part parse_text(struct reader *r)
{
    struct part all = nothing(r);
    r->at++;
    while (!r->error && !next_is(r, '"')) {
        uint32_t character = read_character(r);
        struct range range = {character, character};
        all = join(r, all, characters(r, &range, 1));
    }
    if (!r->error)
        r->at++;
    return all;
}

static int by_low(const void *left, const void *right)
{
    const struct range *a = left, *b = right;
    return (a->low > b->low) - (a->low < b->low);
}

/* What is in none of them; there is room for one more. */
static int complement(struct range *ranges, int count)
{
    struct range *sorted = memory_alloc((size_t)(count + 1) * sizeof *sorted);
    int kept = 0;
    uint32_t next = 0; /* the first character that is not dealt with */
    if (count) {
        memcpy(sorted, ranges, (size_t)count * sizeof *sorted);
        qsort(sorted, (size_t)count, sizeof *sorted, by_low);
    }
    for (int i = 0; i < count; i++) {
        if (sorted[i].low > next)
            ranges[kept++] = (struct range){next, sorted[i].low - 1};
        next = sorted[i].high >= next ? sorted[i].high + 1 : next;
    }
    if (next <= LAST_CHARACTER)
        ranges[kept++] = (struct range){next, LAST_CHARACTER};
    free(sorted);
    return kept;
}

static struct part parse_class(struct reader *r)
{
    struct range *ranges = NULL;
    int count = 0, capacity = 0;
    r->at++;
    bool negated = accept(r, '^');
    while (!r->error && !next_is(r, ']')) {
        struct range range;
        range.low = range.high = read_character(r);
        if (!r->error && next_is(r, '-') && r->at + 1 < r->end && r->at[1] != ']') {
            r->at++;
            range.high = read_character(r);
        }
        if (range.high < range.low)
            FAIL(r, "the range ends before it begins");
        ARRAY_ADD(&r->arena, ranges, count, capacity, range);
    }
    if (r->error)
        return nothing(r);
    r->at++;
    ARRAY_ADD(&r->arena, ranges, count, capacity, (struct range){0});
    count = negated ? complement(ranges, count - 1) : count - 1;
    if (!count)
        FAIL(r, "no character is in this class");
    return characters(r, ranges, count);
}

static struct part parse_name(struct reader *r)
{
    size_t length = name_length(r);
    int end = add_open(r), rule = rule_number(r, r->at, length);
    r->at += length;
    return (struct part){add_node(r, LM_NODE_CALL, end, rule), end};
}

static int mark_number(struct reader *r, const char *name, size_t length)
{
    for (int i = 0; i < r->mark_count; i++)
        if (r->marks[i].length == length && memcmp(r->marks[i].name, name, length) == 0)
            return i;
    if (r->mark_count == LM_GRAMMAR_MOST_MARKS) {
        FAIL(r, "more than %d marks", LM_GRAMMAR_MOST_MARKS);
        return 0;
    }
    r->marks[r->mark_count] = (struct mark){name, length};
    return r->mark_count++;
}

static struct part parse_mark(struct reader *r)
{
    r->at++;
    enum lm_node_kind kind = accept(r, '+') ? LM_NODE_SET : accept(r, '!') ? LM_NODE_UNLESS : LM_NODE_IF;
    size_t length = name_length(r);
    if (!length)
        expect(r, "the name of a mark behind '@', with '+' or '!' before it perhaps");
    int end = add_open(r), mark = length ? mark_number(r, r->at, length) : 0;
    r->at += length;
    return (struct part){add_node(r, kind, end, mark), end};
}

static struct part parse_group(struct reader *r)
{
    r->at++;
    if (++r->depth > DEEPEST)
        FAIL(r, "parentheses in more than %d others", DEEPEST);
    skip_blanks(r, true);
    struct part part = r->error ? nothing(r) : parse_alternatives(r, true);
    r->depth--;
    if (!r->error && !accept(r, ')'))
        expect(r, "')'");
    return part;
}

static bool at_item(const struct reader *r)
{
    return r->at < r->end && (part_of_name(*r->at) || strchr("\"[(.@", *r->at)) && *r->at;
}

static struct part parse_item(struct reader *r)
{
    static const struct range all = {0, LAST_CHARACTER};
    switch (*r->at) {
    case '"':
        return parse_text(r);
    case '[':
        return parse_class(r);
    case '(':
        return parse_group(r);
    case '@':
        return parse_mark(r);
    case '.':
        r->at++;
        return characters(r, &all, 1);
    default:
        return parse_name(r);
    }
}

static long parse_times(struct reader *r)
{
    long times = 0;
    const char *start = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9' && times <= MOST_TIMES; r->at++)
        times = 10 * times + (*r->at - '0');
    if (r->at == start)
        expect(r, "how many times");
    if (times > MOST_TIMES)
        FAIL(r, "more than %d times", MOST_TIMES);
    return times;
}

/* What stands behind the item whose nodes begin at `from`. */
static struct part parse_repetition(struct reader *r, int from, struct part part)
{
    if (r->error)
        return part;
    if (accept(r, '?'))
        return repeat(r, from, part, 0, 1);
    if (accept(r, '*'))
        return repeat(r, from, part, 0, -1);
    if (accept(r, '+'))
        return once_or_more(r, part);
    if (!accept(r, '{'))
        return part;
    skip_blanks(r, false);
    long least = parse_times(r), most = least;
    skip_blanks(r, false);
    if (!r->error && accept(r, ',')) {
        skip_blanks(r, false);
        most = next_is(r, '}') ? -1 : parse_times(r);
        skip_blanks(r, false);
    }
    if (!r->error && most >= 0 && most < least)
        FAIL(r, "at least %ld and at most %ld times", least, most);
    if (!r->error && !accept(r, '}'))
        expect(r, "'}'");
    return r->error ? part : repeat(r, from, part, least, most);
}

static struct part parse_sequence(struct reader *r, bool nested)
{
    struct part all = nothing(r);
    while (!r->error && at_item(r)) {
        int from = r->node_count;
        struct part item = parse_item(r);
        while (!r->error && r->at < r->end && *r->at && strchr("?*+{", *r->at))
            item = parse_repetition(r, from, item);
        if (r->error)
            break;
        all = join(r, all, item);
        skip_blanks(r, nested);
    }
    return all;
}

/* True, and read, if a '|' comes next, at the begin of the next line too. */
static bool accept_bar(struct reader *r, bool nested)
{
    const char *before = r->at;
    skip_blanks(r, true);
    bool is = accept(r, '|');
    if (is)
        skip_blanks(r, true);
    else if (!nested)
        r->at = before;
    return is;
}

static struct part parse_alternatives(struct reader *r, bool nested)
{
    struct part all = parse_sequence(r, nested);
    while (!r->error && accept_bar(r, nested))
        all = either(r, all, parse_sequence(r, nested));
    return all;
}

static void parse_rule(struct reader *r)
{
    size_t length = name_length(r);
    if (!length) {
        expect(r, "the name of a rule");
        return;
    }
    const char *name = r->at;
    int number = rule_number(r, name, length);
    if (r->rules.items[number].begin >= 0) {
        FAIL(r, "there is a rule '%.*s' already", shown(length), name);
        return;
    }
    r->at += length;
    skip_blanks(r, false);
    if (r->end - r->at < 3 || memcmp(r->at, "::=", 3) != 0) {
        expect(r, "'::='");
        return;
    }
    r->at += 3;
    skip_blanks(r, true);
    struct part part = parse_alternatives(r, false);
    if (!r->error && r->at < r->end && *r->at != '\n')
        expect(r, "a text, a class, a name, '(', '@', '|' or the end of the line");
    if (r->error)
        return;
    struct lm_rule *rule = &r->rules.items[number];
    rule->name = name;
    rule->begin = part.begin;
    r->nodes[part.end].next = rule->end = add_node(r, LM_NODE_END, NOWHERE, NOWHERE);
}

static void check_utf8(struct reader *r)
{
    char *copy = arena_strndup(&r->arena, r->at, (size_t)(r->end - r->at));
    text_make_utf8(copy);
    for (; r->at < r->end && !r->error; r->at++)
        if (copy[r->at - r->text] != *r->at || !*r->at)
            FAIL(r, "the text is no UTF-8: byte 0x%02x", (unsigned char)*r->at);
    r->at = r->text;
}

static void parse_rules(struct reader *r)
{
    check_utf8(r);
    for (skip_blanks(r, true); !r->error && r->at < r->end; skip_blanks(r, true))
        parse_rule(r);
    for (int i = 0; i < r->rules.count && !r->error; i++) {
        const struct lm_rule *rule = &r->rules.items[i];
        if (rule->begin < 0)
            r->error = lm_grammar_error(r->name, r->text, rule->name, "there is no rule '%.*s'", shown(rule->length),
                                        rule->name);
    }
}

/* ---- The result */

/* The node behind open ends; NOWHERE in what was left out, an item {0} times. */
static int behind(const struct lm_node *nodes, int node)
{
    while (node != NOWHERE && nodes[node].kind == LM_NODE_FORK && nodes[node].other == NOWHERE)
        node = nodes[node].next;
    return node;
}

/* Bytes that no set tells apart. */
static void find_classes(struct lm_grammar *grammar)
{
    int of[257];
    grammar->class_count = 1;
    for (int i = 0; i < grammar->set_count && grammar->class_count < 256; i++) {
        int split[256]; /* by class: the class that its bytes in the set become */
        bool has[256][2] = {{false}};
        for (unsigned byte = 0; byte < 256; byte++)
            has[grammar->classes[byte]][lm_byte_set_has(&grammar->sets[i], byte)] = true;
        for (int c = 0; c < 256; c++)
            split[c] = c;
        for (int c = 0, count = grammar->class_count; c < count; c++)
            if (has[c][0] && has[c][1])
                split[c] = grammar->class_count++;
        for (unsigned byte = 0; byte < 256; byte++)
            of[byte] =
                lm_byte_set_has(&grammar->sets[i], byte) ? split[grammar->classes[byte]] : grammar->classes[byte];
        for (unsigned byte = 0; byte < 256; byte++)
            grammar->classes[byte] = (uint8_t)of[byte];
    }
}

static struct lm_grammar *make(const struct reader *r, int root)
{
    struct lm_grammar *grammar = memory_alloc(sizeof *grammar);
    *grammar = (struct lm_grammar){.node_count = r->node_count, .set_count = r->set_count, .holders = 1};
    grammar->nodes = memory_alloc((size_t)r->node_count * sizeof *grammar->nodes);
    grammar->sets = memory_alloc((size_t)(r->set_count + 1) * sizeof *grammar->sets);
    for (int i = 0; i < r->set_count; i++)
        grammar->sets[i] = r->sets[i];
    for (int i = 0; i < r->node_count; i++) {
        struct lm_node node = r->nodes[i];
        if (node.kind == LM_NODE_CALL)
            node.other = r->rules.items[node.other].begin;
        if (node.kind != LM_NODE_END)
            node.next = behind(r->nodes, node.next);
        if (node.kind == LM_NODE_CALL || (node.kind == LM_NODE_FORK && node.other != NOWHERE))
            node.other = behind(r->nodes, node.other);
        grammar->nodes[i] = node;
    }
    grammar->root = behind(r->nodes, r->rules.items[root].begin);
    find_classes(grammar);
    return grammar;
}

struct akgen_error *lm_grammar_parse(const char *name, const char *text, size_t length, struct lm_grammar **grammar)
{
    *grammar = NULL;
    if (length > LM_GRAMMAR_LARGEST)
        return error_of_the_file(
            error_new("%s: the grammar has %zu bytes, more than %d", name, length, LM_GRAMMAR_LARGEST));
    struct reader r = {.name = name, .text = text, .at = text, .end = text + length};
    parse_rules(&r);
    int known = r.rules.count, root = r.error ? 0 : rule_number(&r, "root", 4);
    if (!r.error && root == known)
        r.error = error_of_the_file(error_new("%s: there is no rule 'root', which texts begin with", name));
    if (!r.error)
        r.error = lm_grammar_check(name, text, &r.rules, r.nodes, r.node_count);
    if (!r.error)
        *grammar = make(&r, root);
    arena_free(&r.arena);
    return r.error;
}

struct lm_grammar *lm_grammar_hold(const struct lm_grammar *grammar)
{
    struct lm_grammar *held = (struct lm_grammar *)grammar;
    if (held)
        held->holders++;
    return held;
}

void lm_grammar_free(const struct lm_grammar *grammar)
{
    struct lm_grammar *held = (struct lm_grammar *)grammar;
    if (!held || --held->holders > 0)
        return;
    free(held->nodes);
    free(held->sets);
    free(held);
}
