/* The blocks of an answer: one pass over its lines finds fences, tags that hold a file, and banners. */
#include "base/array.h"
#include "base/text.h"
#include "candidate/answer_internal.h"

#include <ctype.h>

enum { DEEPEST = 3 }; /* fences in fences: the parts of a text that are looked at again */

struct scan {
    struct arena *arena;
    struct answer_blocks *blocks;
    const char *end;
    struct answer_label outer;   /* of the tag around all of it */
    struct answer_label heading; /* the last line that names a file or a part; valid until a block has it */
    bool headed;
    bool at_origin; /* the text is the answer's own, not a part that was copied */
    int depth;
};
static void scan_lines(struct scan *scan, const char *at);

/* Adding. */
static bool is_frame(struct answer_span line)
{
    line = answer_trim(line);
    for (size_t i = 0; i < line.length; i++)
        if (!strchr("=-*#~/", line.at[i]))
            return false;
    return line.length >= 4;
}

/* Without lines of nothing but ==== at its ends: they belong to a banner of three lines. */
static struct answer_span without_frames(struct answer_span body)
{
    const char *end = body.at + body.length;
    while (body.at < end && (answer_is_blank(answer_line(body.at, end)) || is_frame(answer_line(body.at, end))))
        body.at = answer_next_line(body.at, end);
    while (end > body.at) {
        const char *last = end - (end[-1] == '\n');
        while (last > body.at && last[-1] != '\n')
            last--;
        if (!answer_is_blank(answer_line(last, end)) && !is_frame(answer_line(last, end)))
            break;
        end = last;
    }
    return answer_between(body.at, end);
}

static void add_part(struct arena *arena, struct answer_blocks *blocks, struct answer_block block,
                     struct answer_span part, bool cut)
{
    if (cut)
        part = without_frames(part);
    block.text = cut ? arena_strndup(arena, part.at, part.length) : block.text;
    block.marks = answer_marks(block.text);
    if (*block.text)
        ARRAY_ADD(arena, blocks->items, blocks->count, blocks->capacity, block);
}

/* `cat > op_kernel/sqrt.cpp <<'EOF'`: the delimiter; of no length: the line is no such command. */
static struct answer_span here_document(struct arena *arena, struct answer_span line, struct answer_label *label)
{
    struct answer_span trimmed = answer_trim(line), none = {line.at, 0};
    const char *mark = memmem(line.at, line.length, "<<", 2), *end = line.at + line.length;
    if (!mark || !(answer_begins(trimmed, "cat ") || answer_begins(trimmed, "tee ")))
        return none;
    for (mark += 2; mark < end && strchr("-'\"\\ ", *mark);)
        mark++;
    const char *behind = mark;
    while (behind < end && (isalnum((unsigned char)*behind) || *behind == '_'))
        behind++;
    *label = (struct answer_label){.name = answer_find_name(arena, line), .given = true};
    return label->name ? answer_between(mark, behind) : none;
}

/* Adds the files that a shell's commands would write. False: there are none. */
static bool add_here_documents(struct arena *arena, struct answer_blocks *blocks, struct answer_block block)
{
    const char *end = block.text + strlen(block.text);
    bool any = false;
    for (const char *at = strstr(block.text, "<<") ? block.text : end; at < end; at = answer_next_line(at, end)) {
        struct answer_span delimiter = here_document(arena, answer_line(at, end), &block.label);
        if (!delimiter.length)
            continue;
        const char *begin = answer_next_line(at, end), *stop = begin;
        while (stop < end) {
            struct answer_span line = answer_trim(answer_line(stop, end));
            if (line.length == delimiter.length && memcmp(line.at, delimiter.at, line.length) == 0)
                break;
            stop = answer_next_line(stop, end);
        }
        struct answer_block part = block;
        part.complete &= stop < end;
        part.language = "";
        add_part(arena, blocks, part, answer_between(begin, stop), true);
        any = true;
        at = stop;
    }
    return any;
}

void answer_add_block(struct arena *arena, struct answer_blocks *blocks, struct answer_block block)
{
    if (add_here_documents(arena, blocks, block))
        return;
    const char *end = block.text + strlen(block.text), *begin = block.text;
    struct answer_block part = block;
    bool first = true, cut = false;
    for (const char *at = block.text; at < end; at = answer_next_line(at, end)) {
        struct answer_label label;
        struct answer_span line = answer_line(at, end);
        enum answer_banner banner = answer_banner_of_line(arena, line, first, &label);
        if (banner == ANSWER_NO_BANNER) {
            first &= answer_is_blank(line) || is_frame(line);
            continue;
        }
        if (first && banner == ANSWER_BANNER_COMMENT) { /* it names the block and stays */
            if (!part.label.given)
                part.label = label;
            first = false;
            continue;
        }
        if (!first || cut)
            add_part(arena, blocks, part, answer_between(begin, at), true);
        first = banner != ANSWER_BANNER_COMMENT;
        cut = true;
        part.label = banner == ANSWER_BANNER_END ? (struct answer_label){0} : label;
        begin = banner == ANSWER_BANNER_COMMENT ? at : answer_next_line(at, end);
    }
    add_part(arena, blocks, part, answer_between(begin, end), cut);
}

/* Fences. */
struct fence {
    char mark;
    size_t length;   /* of its run of marks */
    size_t indented; /* columns before it */
    bool quoted;     /* behind '>' */
    struct answer_span info, before;
};

static size_t run_of(const char *at, const char *end, char mark)
{
    const char *behind = at;
    while (behind < end && *behind == mark)
        behind++;
    return (size_t)(behind - at);
}

/* "- ", "3. ": a fence may stand behind it. */
static size_t item_mark(const char *at, const char *end)
{
    const char *c = at;
    while (c < end && isdigit((unsigned char)*c))
        c++;
    bool number = c > at && c < end && (*c == '.' || *c == ')');
    bool bullet = c == at && c < end && strchr("-*+", *c);
    return (number || bullet) && c + 1 < end && c[1] == ' ' ? (size_t)(c + 2 - at) : 0;
}

static bool open_fence(struct answer_span line, struct fence *fence)
{
    const char *at = line.at, *end = line.at + line.length;
    *fence = (struct fence){.before = {line.at, 0}};
    for (; at < end && strchr(" \t>", *at); at++)
        fence->quoted |= *at == '>';
    size_t item = item_mark(at, end);
    if (item && at + item < end && strchr("`~", at[item]))
        at += item;
    const char *run = at;
    if (at == end || !strchr("`~", *at) || run_of(at, end, *at) < 3) {
        /* "The kernel: ```cpp" */
        run = memmem(at, (size_t)(end - at), "```", 3);
        if (!run || run + 3 == end)
            return false;
        for (const char *c = run + run_of(run, end, '`'); c < end; c++)
            if (!isalnum((unsigned char)*c) && !strchr("+ ", *c))
                return false;
        fence->before = answer_between(at, run);
    }
    fence->mark = *run;
    fence->length = run_of(run, end, *run);
    fence->indented = fence->before.length ? 0 : (size_t)(at - line.at);
    struct answer_span info = answer_between(run + fence->length, end);
    fence->info = answer_trim(info);
    return *run == '~' || !answer_has(info, "`");
}

static struct answer_span without_quote(struct answer_span line)
{
    struct answer_span rest = line;
    while (rest.length && (*rest.at == ' ' || *rest.at == '>'))
        rest = (struct answer_span){rest.at + 1, rest.length - 1};
    return rest;
}

/* Whether the line ends the fence; `kept`: what of it belongs to the block. */
static bool closes_fence(const struct fence *fence, struct answer_span line, struct answer_span *kept)
{
    struct answer_span trimmed = answer_trim(fence->quoted ? without_quote(line) : line);
    size_t run = run_of(trimmed.at, trimmed.at + trimmed.length, fence->mark);
    *kept = (struct answer_span){line.at, 0};
    if (run >= fence->length && run == trimmed.length)
        return true;
    /* "}```": the last line of code and the fence */
    if (fence->mark != '`' || fence->length != 3 || trimmed.length < 4 ||
        memcmp(trimmed.at + trimmed.length - 3, "```", 3) != 0)
        return false;
    struct answer_span before = {trimmed.at, trimmed.length - 3};
    *kept = answer_between(line.at, before.at + before.length);
    return answer_trim(before).length && strchr(";})\"'", answer_trim(before).at[answer_trim(before).length - 1]);
}

/* A fence with a language in a block that did not end: it begins the next. */
static bool begins_another(const struct fence *fence, struct answer_span line)
{
    struct fence other;
    return open_fence(line, &other) && !other.before.length && other.mark == fence->mark &&
           other.length >= fence->length && other.info.length && isalpha((unsigned char)*other.info.at);
}

static const char *language_of(struct arena *arena, struct answer_span info)
{
    enum { LONGEST = 20 };
    size_t length = 0;
    if (info.length && *info.at == '{')
        info = (struct answer_span){info.at + 1, info.length - 1};
    if (info.length && *info.at == '.')
        info = (struct answer_span){info.at + 1, info.length - 1};
    while (length < info.length && length < LONGEST &&
           (isalnum((unsigned char)info.at[length]) || strchr("+#_-", info.at[length])))
        length++;
    char *language = arena_strndup(arena, info.at, length);
    for (char *c = language; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return language;
}

/* The label of a fence: its own name, else what stands before it. */
static struct answer_label label_of_fence(struct scan *scan, const struct fence *fence)
{
    struct answer_label label = {.name = answer_find_name(scan->arena, fence->info), .given = true}, before;
    if (!label.name && fence->before.length && answer_label_of_line(scan->arena, fence->before, &before))
        label = before;
    else if (!label.name && scan->headed)
        label = scan->heading;
    else if (!label.name)
        label.given = false;
    if (!label.name && scan->outer.name)
        label = scan->outer;
    if (!label.role)
        label.role = scan->outer.role;
    label.closed = scan->outer.closed;
    scan->headed = false;
    return label;
}

/* The lines of a fence's block, without what stands before each of them in a list or a quotation. */
static struct answer_span lines_of(struct scan *scan, const struct fence *fence, struct answer_span body)
{
    struct text text = {0};
    const char *end = body.at + body.length;
    if (!fence->indented)
        return body;
    for (const char *at = body.at; at < end; at = answer_next_line(at, end)) {
        struct answer_span line = answer_line(at, end);
        for (size_t i = 0;
             i < fence->indented && line.length && (strchr(" \t", *line.at) || (fence->quoted && *line.at == '>')); i++)
            line = (struct answer_span){line.at + 1, line.length - 1};
        text_append(&text, line.at, line.length);
        text_add(&text, "\n");
    }
    struct answer_span lines = {arena_strndup(scan->arena, text.bytes ? text.bytes : "", text.length), text.length};
    text_free(&text);
    return lines;
}

static bool has_fence(struct answer_span body)
{
    struct fence fence;
    const char *end = body.at + body.length;
    for (const char *at = body.at; at < end; at = answer_next_line(at, end))
        if (open_fence(answer_line(at, end), &fence))
            return true;
    return false;
}

/* Whether the block holds an answer of its own: tags, or fences in what is no code. */
static bool holds_blocks(struct scan *scan, const char *language, struct answer_span body)
{
    static const char *const texts[] = {"", "markdown", "md", "text", "txt", "plaintext", "xml", "html"};
    struct answer_label label;
    struct answer_span behind;
    const char *end = body.at + body.length, *at = body.at;
    bool text = false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text |= strcmp(language, texts[i]) == 0;
    while (at < end && answer_is_blank(answer_line(at, end)))
        at = answer_next_line(at, end);
    return scan->depth < DEEPEST &&
           (answer_open_tag(scan->arena, answer_line(at, end), &label, &behind) || (text && has_fence(body)));
}

static void scan_inside(struct scan *scan, struct answer_span body, struct answer_label outer)
{
    const char *text = arena_strndup(scan->arena, body.at, body.length);
    struct scan inside = {.arena = scan->arena,
                          .blocks = scan->blocks,
                          .end = text + body.length,
                          .outer = outer,
                          .depth = scan->depth + 1};
    scan_lines(&inside, text);
}

/* Takes the block that a fence opens; returns what is behind it. */
static const char *take_fence(struct scan *scan, const struct fence *fence, const char *at)
{
    const char *begin = answer_next_line(at, scan->end), *stop = scan->end, *behind = scan->end;
    bool closed = false;
    for (const char *line_at = begin; line_at < scan->end && !closed; line_at = answer_next_line(line_at, scan->end)) {
        struct answer_span line = answer_line(line_at, scan->end), kept;
        if (closes_fence(fence, line, &kept)) {
            stop = kept.length ? kept.at + kept.length : line_at;
            behind = answer_next_line(line_at, scan->end);
            closed = true;
        } else if (begins_another(fence, line)) {
            stop = behind = line_at;
            break;
        }
    }
    struct answer_label label = label_of_fence(scan, fence);
    struct answer_span body = lines_of(scan, fence, answer_between(begin, stop));
    const char *language = language_of(scan->arena, fence->info);
    if (holds_blocks(scan, language, body)) {
        scan_inside(scan, body, label);
        return behind;
    }
    answer_add_block(scan->arena, scan->blocks,
                     (struct answer_block){.text = answer_body(scan->arena, body, false),
                                           .begin = scan->at_origin ? begin : NULL,
                                           .label = label,
                                           .language = language,
                                           .complete = closed || label.closed});
    return behind;
}

/* Tags. */
/* The end of a tag's content that begins at `at`: where a tag closes or the next one opens. */
static const char *end_of_tag(struct scan *scan, const char *at, const char **behind, bool *closed)
{
    const char *end = scan->end;
    *closed = false;
    for (bool first = true; at < end; at = answer_next_line(at, end), first = false) {
        struct answer_span line = answer_line(at, end), rest;
        struct answer_label label;
        const char *close = answer_close_tag(line);
        if (close) {
            *closed = true;
            *behind = answer_next_line(at, end);
            return close;
        }
        if (!first && answer_open_tag(scan->arena, line, &label, &rest))
            return *behind = at;
    }
    return *behind = end;
}

static const char *take_tag(struct scan *scan, struct answer_label label, struct answer_span rest)
{
    const char *behind, *stop = end_of_tag(scan, rest.at, &behind, &label.closed);
    struct answer_span body = answer_between(rest.at, stop);
    struct answer_label named;
    if (!label.name && !label.role && !memchr(body.at, '\n', body.length) &&
        answer_label_of_line(scan->arena, body, &named) && named.given) {
        scan->heading = named; /* <path>op_kernel/sqrt.cpp</path> */
        scan->headed = true;
        return behind;
    }
    if (!label.name && scan->headed) {
        enum answer_role role = label.role ? label.role : scan->heading.role;
        bool closed = label.closed;
        label = scan->heading;
        label.role = role;
        label.closed = closed;
    }
    if (answer_is_blank(body))
        return behind;
    scan->headed = false;
    if (has_fence(body) && scan->depth < DEEPEST)
        scan_inside(scan, body, label);
    else
        answer_add_block(scan->arena, scan->blocks,
                         (struct answer_block){.text = answer_body(scan->arena, body, true),
                                               .begin = scan->at_origin ? rest.at : NULL,
                                               .label = label,
                                               .language = "",
                                               .complete = label.closed});
    return behind;
}

/* Banners and headings over code that stands in no fence. */
static bool is_heading(struct scan *scan, struct answer_span line, struct answer_label *label)
{
    struct answer_span trimmed = answer_trim(line);
    static const char *const others[] = {"#include", "* ", "//", "+++ ", "--- ", "diff "}; /* code, comments, diffs */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (answer_begins(trimmed, others[i]))
            return false;
    return answer_label_of_line(scan->arena, line, label) && label->name && label->given;
}

static bool begins_part(struct scan *scan, struct answer_span line, enum answer_banner *banner,
                        struct answer_label *label)
{
    *banner = answer_banner_of_line(scan->arena, line, false, label);
    return *banner != ANSWER_NO_BANNER || is_heading(scan, line, label);
}

/* Takes what stands below a banner or a heading, if it is code. NULL: it is not; the line is a block's label. */
static const char *take_part(struct scan *scan, struct answer_label label, const char *begin)
{
    const char *at = begin;
    struct answer_label other;
    struct answer_span rest;
    struct fence fence;
    enum answer_banner banner = ANSWER_NO_BANNER;
    for (; at < scan->end; at = answer_next_line(at, scan->end)) {
        struct answer_span line = answer_line(at, scan->end);
        if (open_fence(line, &fence) || answer_open_tag(scan->arena, line, &other, &rest) ||
            begins_part(scan, line, &banner, &other))
            break;
    }
    struct answer_span body = without_frames(answer_between(begin, at));
    const char *text = arena_strndup(scan->arena, body.at, body.length);
    if (!answer_is_code(text))
        return NULL;
    struct answer_span code = answer_bare_code(text);
    label.closed = scan->outer.closed;
    answer_add_block(scan->arena, scan->blocks,
                     (struct answer_block){.text = answer_body(scan->arena, code.length ? code : body, false),
                                           .begin = scan->at_origin ? body.at : NULL,
                                           .label = label,
                                           .language = "",
                                           .complete = true});
    return at;
}

/* Lines. */
static void note_line(struct scan *scan, struct answer_span line)
{
    struct answer_label label;
    if (answer_begins(answer_trim(line), "#include") || !answer_label_of_line(scan->arena, line, &label))
        return;
    /* A sentence below a heading that names the file does not name another. */
    if (scan->headed && scan->heading.given && !label.given)
        return;
    if (scan->headed && !label.name && scan->heading.name)
        return;
    scan->heading = label;
    scan->headed = true;
}

static void scan_lines(struct scan *scan, const char *at)
{
    while (at < scan->end) {
        struct answer_span line = answer_line(at, scan->end), rest;
        struct answer_label label;
        struct fence fence;
        enum answer_banner banner;
        const char *behind = NULL;
        if (open_fence(line, &fence)) {
            const char *language = language_of(scan->arena, fence.info);
            behind = (fence.length == 3 && (strcmp(language, "markdown") == 0 || strcmp(language, "md") == 0))
                         ? NULL
                         : take_fence(scan, &fence, at);
        } else if (answer_open_tag(scan->arena, line, &label, &rest)) {
            behind = take_tag(scan, label, rest);
        } else if (begins_part(scan, line, &banner, &label)) {
            if (banner != ANSWER_BANNER_END)
                behind = take_part(scan, label, answer_next_line(at, scan->end));
            if (!behind && banner != ANSWER_BANNER_END) {
                scan->heading = label;
                scan->headed = true;
            }
        } else {
            note_line(scan, line);
        }
        at = behind ? behind : answer_next_line(at, scan->end);
    }
}

void answer_find_blocks(struct arena *arena, const char *text, struct answer_blocks *blocks)
{
    struct scan scan = {.arena = arena, .blocks = blocks, .end = text + strlen(text), .at_origin = true};
    scan_lines(&scan, text);
    if (blocks->count)
        return;
    struct answer_span code = answer_bare_code(text);
    if (code.length)
        answer_add_block(arena, blocks,
                         (struct answer_block){.text = answer_body(arena, code, false),
                                               .begin = code.at,
                                               .label = scan.headed ? scan.heading : (struct answer_label){0},
                                               .language = "",
                                               .complete = true});
}
