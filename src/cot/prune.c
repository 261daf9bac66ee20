/* A file is cut into items: a directive, the head of a namespace and its end, a declaration. Each declaration has names that it declares and names
 * that it uses. Those with `__global__` are needed, and so is, again and again, what declares a name that something needed uses. */
#include "cot/prune.h"
#include "base/array.h"
#include "base/text.h"
#include "base/strings.h"
#include "cot/scan.h"

#include <ctype.h>
#include <string.h>

enum item_kind { ITEM_KEPT, ITEM_OPEN, ITEM_CLOSE, ITEM_NAMED };
struct item {
    enum item_kind kind;
    bool needed;
    const char *begin, *end; /* with the spaces and comments before it */
    struct strings declares, uses;
};
struct cut {
    struct arena *arena;
    struct item *items;
    int count, capacity;
    struct scan scan;
};

/* Behind a comment on the same line: it is about what stands before it. */
static const char *behind_remark(const char *at)
{
    const char *remark = at + strspn(at, " \t");
    return strncmp(remark, "//", 2) == 0 ? remark + strcspn(remark, "\n") : at;
}

static struct item *add_item(struct cut *cut, enum item_kind kind, const char *begin)
{
    ARRAY_ADD(
        cut->arena, cut->items, cut->count, cut->capacity,
        (struct item){.kind = kind, .begin = begin, .end = behind_remark(cut->scan.at), .needed = kind == ITEM_KEPT});
    return &cut->items[cut->count - 1];
}

static void declare(struct cut *cut, struct item *item, const char *name, size_t length)
{
    if (length)
        strings_number(cut->arena, &item->declares, name, length);
}

/* All names in a part of the text are used. */
static void use_names(struct cut *cut, struct item *item, const char *begin, const char *end)
{
    struct scan scan = {.at = arena_strndup(cut->arena, begin, (size_t)(end - begin))};
    while (scan_next(&scan))
        if (scan.kind == SCAN_NAME)
            strings_number(cut->arena, &item->uses, scan.begin, scan.length);
        else if (scan.kind == SCAN_DIRECTIVE)
            use_names(cut, item, scan.begin + 1, scan.begin + scan.length);
}

/* The names in an enum are its values, and what they are computed of. */
static void declare_values(struct cut *cut, struct item *item)
{
    for (int i = 0; i < item->uses.count; i++) {
        const char *name = item->uses.items[i].at;
        if (strcmp(name, "enum") != 0 && strcmp(name, "class") != 0 && strcmp(name, "struct") != 0)
            declare(cut, item, name, strlen(name));
    }
}

/* "#define NAME(a) body" is named if it has a body: without one it is a guard, or tested by #ifdef. */
static void take_directive(struct cut *cut, const char *begin)
{
    const char *at = cut->scan.begin + 1, *end = cut->scan.begin + cut->scan.length;
    struct item *item = add_item(cut, ITEM_KEPT, begin);
    at += strspn(at, " \t");
    if (strncmp(at, "define", 6) == 0 && isspace((unsigned char)at[6])) {
        const char *name = at + 6 + strspn(at + 6, " \t"), *behind = name;
        while (isalnum((unsigned char)*behind) || *behind == '_')
            behind++;
        if (behind + strspn(behind, " \t\r") < end) {
            item->kind = ITEM_NAMED;
            item->needed = false;
            declare(cut, item, name, (size_t)(behind - name));
            use_names(cut, item, behind, end);
        }
    } else if (strncmp(at, "include", 7) != 0)
        use_names(cut, item, at, end);
}

/* What is known of a declaration while its tokens go by. */
struct head {
    struct strings others; /* "int a = 1, b;": those before the last */
    const char *name;      /* that comes before '(' , '=', '{', '[' or ';' */
    size_t length;
    const char *class_name; /* behind class, struct, union, enum */
    size_t class_length;
    bool is_class, is_enum, is_typedef, is_using, is_function, has_value, is_macro, keep, global, named;
};

static bool is_class_word(const struct scan *scan)
{
    return scan_is(scan, "class") || scan_is(scan, "struct") || scan_is(scan, "union") || scan_is(scan, "enum");
}

/* Over template<...>: the scanner stands behind the word. */
static void skip_angles(struct scan *scan)
{
    struct scan ahead = *scan;
    int depth = 0;
    if (!scan_next(&ahead) || !scan_is(&ahead, "<"))
        return;
    do {
        depth += scan_is(&ahead, "<");
        depth -= scan_is(&ahead, ">");
    } while (depth > 0 && scan_next(&ahead));
    *scan = ahead;
}

static bool is_upper(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (islower((unsigned char)name[i]))
            return false;
    return length > 1;
}

/* A name at the outer level of a declaration, before its body. */
static void take_name(struct head *head, const struct scan *scan)
{
    bool before = !head->is_function && !head->has_value && !head->class_length;
    if (before && is_class_word(scan)) {
        head->is_enum |= scan_is(scan, "enum");
        head->is_class = true;
    } else if (before && head->is_class && !scan_is(scan, "alignas") && !scan_is(scan, "__attribute__")) {
        head->class_name = scan->begin;
        head->class_length = scan->length;
    }
    head->is_typedef |= scan_is(scan, "typedef");
    head->is_using |= scan_is(scan, "using") && !head->named;
    head->keep |=
        scan_is(scan, "operator") || scan_is(scan, "static_assert") || (head->is_using && scan_is(scan, "namespace"));
    head->global |= scan_is(scan, "__global__");
    if (!head->is_function && !head->has_value && !scan_is(scan, "__attribute__")) {
        head->name = scan->begin;
        head->length = scan->length;
        head->named = true;
    }
}

/* The declaration that begins with the token that was read. `begin`: where it begins with its comments. */
static void take_declaration(struct cut *cut, const char *begin)
{
    struct scan *scan = &cut->scan;
    struct head head = {0};
    const char *from = scan->begin;
    int depth = 0;
    bool body = false, more = true;
    for (; more; more = scan_next(scan)) {
        bool opens = scan->kind == SCAN_OTHER && strchr("({[", *scan->begin),
             closes = scan->kind == SCAN_OTHER && strchr(")}]", *scan->begin);
        if (!depth && scan->kind == SCAN_NAME && !body) {
            take_name(&head, scan);
            if (scan_is(scan, "template"))
                skip_angles(scan);
        } else if (!depth && !body && scan_is(scan, "("))
            head.is_function |=
                !head.has_value && head.named && !(head.length == 7 && strncmp(head.name, "alignas", 7) == 0);
        else if (!depth && !body && (scan_is(scan, "=") || scan_is(scan, "[")))
            head.has_value = true;
        else if (!depth && !body && scan_is(scan, ",") && head.named && !head.is_function) {
            strings_number(cut->arena, &head.others, head.name, head.length);
            head.has_value = false;
        }
        if (!depth && scan_is(scan, "{"))
            body = true;
        depth += opens;
        depth -= closes && depth;
        if (!depth && scan_is(scan, ";"))
            break;
        if (!depth && scan_is(scan, "}") && head.is_function && !head.has_value)
            break;
    }
    struct item *item = add_item(cut, ITEM_NAMED, begin);
    bool is_type = head.is_class && !head.is_function && !head.has_value && body;
    use_names(cut, item, from, scan->at);
    if (is_type)
        declare(cut, item, head.class_name, head.class_length);
    if (is_type && head.is_enum)
        declare_values(cut, item);
    if (head.is_using && !is_type) { /* "using T = half;", "using A::b;" */
        struct scan words = {.at = from};
        while (scan_next(&words) && words.begin < scan->at && !scan_is(&words, "=") && !scan_is(&words, ";"))
            if (words.kind == SCAN_NAME && words.begin != from)
                declare(cut, item, words.begin, words.length);
    } else if (head.is_typedef || !is_type) {
        item->declares = head.others;
        declare(cut, item, head.name, head.length);
    }
    /* A line like `REGISTER(X);` is a macro's: nobody knows what for. */
    head.is_macro = head.is_function && !body && is_upper(head.name, head.length);
    item->needed = head.global || head.keep || head.is_macro || !item->declares.count;
}

/* Whether a namespace, or extern "C" with a brace, begins here; then the scanner stands behind its brace. */
static bool take_open(struct cut *cut, const char *begin)
{
    struct scan ahead = cut->scan;
    bool external = scan_is(&ahead, "extern");
    if (scan_is(&ahead, "inline") && !scan_next(&ahead))
        return false;
    if (!external && !scan_is(&ahead, "namespace"))
        return false;
    if (external && (!scan_next(&ahead) || ahead.kind != SCAN_STRING))
        return false;
    do
        if (!scan_next(&ahead))
            return false;
    while (!external && (ahead.kind == SCAN_NAME || scan_is(&ahead, ":")));
    if (!scan_is(&ahead, "{"))
        return false;
    cut->scan = ahead;
    add_item(cut, ITEM_OPEN, begin);
    return true;
}

static void cut_items(struct cut *cut, const char *text)
{
    cut->scan = (struct scan){.at = text};
    while (scan_next(&cut->scan)) {
        const char *begin = cut->count ? cut->items[cut->count - 1].end : text;
        if (cut->scan.kind == SCAN_DIRECTIVE)
            take_directive(cut, begin);
        else if (scan_is(&cut->scan, "}"))
            add_item(cut, ITEM_CLOSE, begin);
        else if (scan_is(&cut->scan, ";"))
            add_item(cut, ITEM_KEPT, begin);
        else if (!take_open(cut, begin))
            take_declaration(cut, begin);
    }
}

static bool meets(const struct strings *declares, const struct strings *used)
{
    for (int i = 0; i < declares->count; i++)
        if (strings_find(used, declares->items[i].at, declares->items[i].length) >= 0)
            return true;
    return false;
}

/* Names are declared before they are used, mostly: a turn from the end to the beginning finds what leads to what. After PASSES turns
 * everything stays. */
static void find_needed(struct cut *cut)
{
    enum { PASSES = 32 };
    struct strings used = {0};
    bool *counted = arena_alloc(cut->arena, (size_t)cut->count + 1), changed = true;
    for (int pass = 0; changed && pass < PASSES; pass++) {
        changed = false;
        for (int i = cut->count - 1; i >= 0; i--) {
            struct item *item = &cut->items[i];
            item->needed |= item->kind == ITEM_NAMED && meets(&item->declares, &used);
            if (!item->needed || counted[i])
                continue;
            counted[i] = changed = true;
            for (int u = 0; u < item->uses.count; u++)
                strings_number(cut->arena, &used, item->uses.items[u].at, item->uses.items[u].length);
        }
    }
    for (int i = 0; i < cut->count && changed; i++)
        cut->items[i].needed = true;
}

/* Namespaces in which nothing is left go. */
static void close_namespaces(struct cut *cut)
{
    int *open = arena_alloc(cut->arena, ((size_t)cut->count + 1) * sizeof *open), depth = 0;
    bool *filled = arena_alloc(cut->arena, (size_t)cut->count + 1);
    for (int i = 0; i < cut->count; i++) {
        struct item *item = &cut->items[i];
        if (item->kind == ITEM_OPEN)
            open[depth++] = i;
        else if (item->kind != ITEM_CLOSE)
            for (int d = 0; d < depth && item->needed; d++)
                filled[open[d]] = true;
        else if (!depth)
            item->needed = true; /* one too many: an #else has it twice */
        else if (filled[open[--depth]])
            item->needed = cut->items[open[depth]].needed = true;
    }
    while (depth)
        cut->items[open[--depth]].needed = true;
}

const char *cot_prune(struct arena *arena, const char *text)
{
    struct cut cut = {.arena = arena};
    struct text kept = {0};
    cut_items(&cut, text);
    find_needed(&cut);
    close_namespaces(&cut);
    for (int i = 0; i < cut.count; i++)
        if (cut.items[i].needed)
            text_append(&kept, cut.items[i].begin, (size_t)(cut.items[i].end - cut.items[i].begin));
    if (kept.length)
        text_add(&kept, "\n");
    return text_keep(&kept, arena);
}
