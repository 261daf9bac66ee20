/* Names of files in an answer: in tags, headings, banners and sentences, and what a project makes of them. */
#include "candidate/answer_internal.h"

#include <ctype.h>
#include <strings.h>

enum { LONGEST_NAME = 200, LONGEST_LABEL = 400 };

/* Ends of names. What is no file of a project is named all the same, so that it is not taken for one. */
static const char *const ends[] = {".cpp", ".cc", ".cxx", ".h",    ".hpp", ".hh", ".py",  ".json",  ".asc",
                                   ".c",   ".md", ".sh",  ".yaml", ".csv", ".cu", ".txt", ".cmake", ".patch"};

static bool is_name_character(char c)
{
    return isalnum((unsigned char)c) || strchr("_./\\-+~", c);
}

static bool is_file_name(const char *at, size_t length)
{
    if (length > LONGEST_NAME)
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (length > end && strncasecmp(at + length - end, ends[i], end) == 0)
            return isalnum((unsigned char)at[length - end - 1]) || at[length - end - 1] == '_';
    }
    return false;
}

/* The first name in the text, as a part of it; of no length: there is none. */
static struct answer_span find_name(struct answer_span text)
{
    const char *end = text.at + text.length;
    for (const char *at = text.at; at < end;) {
        if (!*at || !is_name_character(*at)) {
            at++;
            continue;
        }
        const char *behind = at;
        while (behind < end && is_name_character(*behind))
            behind++;
        size_t length = (size_t)(behind - at);
        while (length && strchr(".+~-", at[length - 1])) /* of the sentence */
            length--;
        if (is_file_name(at, length))
            return (struct answer_span){at, length};
        at = behind;
    }
    return (struct answer_span){text.at, 0};
}

const char *answer_find_name(struct arena *arena, struct answer_span text)
{
    struct answer_span name = find_name(text);
    return name.length ? arena_strndup(arena, name.at, name.length) : NULL;
}

/* Words that say what a block is for. */
static enum answer_role role_of_words(struct answer_span line)
{
    bool kernel = answer_has_word(line, "kernel") || answer_has_word(line, "op_kernel") || answer_has(line, "核函数");
    bool host = answer_has_word(line, "host") || answer_has_word(line, "op_host");
    bool tiling = answer_has_word(line, "tiling");
    if (kernel && !host && !tiling)
        return ANSWER_KERNEL;
    if (tiling && !kernel &&
        (answer_has_word(line, "header") || answer_has_word(line, "structure") || answer_has_word(line, "struct") ||
         answer_has_word(line, "data")))
        return ANSWER_HOST_HEADER;
    return host && !kernel ? ANSWER_HOST : ANSWER_NO_ROLE;
}

static struct answer_span without_left(struct answer_span span, const char *characters)
{
    while (span.length && *span.at && strchr(characters, *span.at))
        span = (struct answer_span){span.at + 1, span.length - 1};
    return span;
}

/* "- ", "12. ", "(b) " and "Step 3:" are not part of a name. */
static struct answer_span without_item_mark(struct answer_span line)
{
    line = without_left(line, " \t>#*-+_`");
    struct answer_span rest = line;
    if (answer_begins(rest, "step "))
        rest = (struct answer_span){rest.at + 5, rest.length - 5};
    size_t digits = 0;
    while (digits < rest.length && isdigit((unsigned char)rest.at[digits]))
        digits++;
    if (digits && digits < rest.length && strchr(".):", rest.at[digits]))
        line = (struct answer_span){rest.at + digits + 1, rest.length - digits - 1};
    return without_left(line, " \t>#*-+_`");
}

static struct answer_span without_keyword(struct answer_span line)
{
    static const char *const keywords[] = {"begin of file", "begin file", "filename", "file name",     "file path",
                                           "filepath",      "file",       "path",     "start of file", "new file",
                                           "create",        "文件名",     "文件"};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        size_t length = strlen(keywords[i]);
        if (answer_begins(line, keywords[i]) && (line.length == length || !isalpha((unsigned char)line.at[length])))
            return without_left((struct answer_span){line.at + length, line.length - length},
                                " \t:*`_=\"'\xef\xbc\x9a");
    }
    return line;
}

bool answer_label_of_line(struct arena *arena, struct answer_span line, struct answer_label *label)
{
    struct answer_span trimmed = answer_trim(line);
    if (!trimmed.length || trimmed.length > LONGEST_LABEL)
        return false;
    struct answer_span name = find_name(trimmed);
    bool heading = *trimmed.at == '#' || (answer_begins(trimmed, "**") && trimmed.length > 4);
    *label = (struct answer_label){.role = role_of_words(trimmed)};
    if (name.length) {
        struct answer_span bare = without_keyword(without_item_mark(trimmed));
        bool alone = bare.at == name.at;
        struct answer_span rest = answer_between(name.at + name.length, trimmed.at + trimmed.length);
        rest = without_left(rest, " \t*`_:\"')");
        /* Behind the name a remark may stand: "(kernel side)", "- the tiling", "：" */
        alone &= !rest.length || *rest.at == '(' || *rest.at == '-' || (*rest.at & 0x80);
        label->name = arena_strndup(arena, name.at, name.length);
        label->given = heading || alone;
    }
    return label->name || (label->role && (heading || trimmed.at[trimmed.length - 1] == ':'));
}

/* Banners. */
static const char decoration[] = "=-*#~+<>";

/* Characters of decoration at the beginning of a span, or at its end. */
static size_t decorated(struct answer_span span, bool at_end)
{
    size_t count = 0;
    while (count < span.length) {
        char c = span.at[at_end ? span.length - 1 - count : count];
        if (!c || !strchr(decoration, c))
            break;
        count++;
    }
    return count;
}

static bool is_end_banner(struct answer_span inner)
{
    return answer_begins(inner, "end of file") || answer_begins(inner, "end file") || answer_begins(inner, "eof") ||
           (answer_begins(inner, "end") && (inner.length == 3 || inner.at[3] == ':' || inner.at[3] == ' '));
}

/* A line, taken apart. */
struct banner {
    bool slashes, hash, framed; /* begins with // or / *, with #; has decoration on both sides */
    bool keyword;               /* "FILE:" */
    bool remark;                /* something else stands behind the name */
    struct answer_span inner, name;
};

static struct banner take_apart(struct answer_span line)
{
    struct banner banner = {.slashes = answer_begins(line, "//") || answer_begins(line, "/*"), .hash = *line.at == '#'};
    struct answer_span inner = line;
    if (banner.slashes) {
        inner = answer_trim((struct answer_span){line.at + 2, line.length - 2});
        if (inner.length >= 2 && memcmp(inner.at + inner.length - 2, "*/", 2) == 0)
            inner = answer_trim((struct answer_span){inner.at, inner.length - 2});
    }
    banner.framed = decorated(inner, false) >= 2 && decorated(inner, true) >= 2;
    struct answer_span span = without_left(inner, "=-*#~+<> \t");
    while (span.length && span.at[span.length - 1] && strchr("=-*#~+<> \t", span.at[span.length - 1]))
        span.length--;
    banner.inner = inner = answer_trim(span);
    struct answer_span bare = without_left(without_keyword(inner), "`\"'*");
    banner.keyword = bare.at != inner.at;
    banner.name = find_name(inner);
    if (bare.at != banner.name.at)
        banner.name.length = 0;
    struct answer_span rest = answer_between(banner.name.at + banner.name.length, inner.at + inner.length);
    rest = answer_trim(without_left(rest, "`\"'*"));
    banner.remark = rest.length && *rest.at != '(';
    return banner;
}

enum answer_banner answer_banner_of_line(struct arena *arena, struct answer_span line, bool first,
                                         struct answer_label *label)
{
    line = answer_trim(line);
    if (line.length < 5 || line.length > LONGEST_LABEL || answer_begins(line, "#include"))
        return ANSWER_NO_BANNER;
    struct banner banner = take_apart(line);
    if (banner.framed && is_end_banner(banner.inner))
        return ANSWER_BANNER_END;
    if (!banner.name.length)
        return ANSWER_NO_BANNER;
    bool comment = banner.slashes || banner.hash,
         known = answer_has(banner.name, "op_kernel/") || answer_has(banner.name, "op_host/");
    bool alone = first && banner.name.length == line.length; /* a line of its own, no comment */
    bool names =
        banner.framed || (comment && banner.keyword) || (banner.slashes && known) || (first && comment) || alone;
    if (!names || (banner.remark && !(first && comment && known)))
        return ANSWER_NO_BANNER;
    *label = (struct answer_label){.name = arena_strndup(arena, banner.name.at, banner.name.length), .given = true};
    return banner.slashes || (banner.hash && first) ? ANSWER_BANNER_COMMENT : ANSWER_BANNER;
}

/* Tags. */
static const struct {
    const char *name;
    enum answer_role role;
} tags[] = {
    /* NPUKernelBench asks for these two. */
    {"kernel_impl", ANSWER_KERNEL},
    {"tiling_cpp", ANSWER_HOST},
    {"kernel", ANSWER_KERNEL},
    {"kernel_code", ANSWER_KERNEL},
    {"kernel_cpp", ANSWER_KERNEL},
    {"kernel_src", ANSWER_KERNEL},
    {"op_kernel", ANSWER_KERNEL},
    {"host", ANSWER_HOST},
    {"host_impl", ANSWER_HOST},
    {"host_code", ANSWER_HOST},
    {"host_cpp", ANSWER_HOST},
    {"op_host", ANSWER_HOST},
    {"tiling_impl", ANSWER_HOST},
    {"tiling_h", ANSWER_HOST_HEADER},
    {"tiling_header", ANSWER_HOST_HEADER},
    {"host_tiling", ANSWER_HOST_HEADER},
    {"tiling", ANSWER_HOST_HEADER},
    {"program", ANSWER_PROGRAM},
    {"dsl", ANSWER_PROGRAM},
    {"dsl_program", ANSWER_PROGRAM},
    {"code", ANSWER_NO_ROLE},
    {"file", ANSWER_NO_ROLE},
    {"content", ANSWER_NO_ROLE},
    {"contents", ANSWER_NO_ROLE},
    {"file_text", ANSWER_NO_ROLE},
    {"source", ANSWER_NO_ROLE},
    {"document_content", ANSWER_NO_ROLE},
    {"antartifact", ANSWER_NO_ROLE},
    {"path", ANSWER_NO_ROLE},
    {"filename", ANSWER_NO_ROLE},
};

/* Whether this is the name of a tag that holds a file, with the role of its name. */
static bool is_tag(struct answer_span name, enum answer_role *role)
{
    *role = ANSWER_NO_ROLE;
    if (is_file_name(name.at, name.length))
        return true;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (strlen(tags[i].name) == name.length && answer_begins(name, tags[i].name)) {
            *role = tags[i].role;
            return true;
        }
    return false;
}

static struct answer_span tag_name(const char *at, const char *end)
{
    const char *behind = at;
    while (behind < end && behind - at <= LONGEST_NAME && *behind && is_name_character(*behind))
        behind++;
    return answer_between(at, behind);
}

/* Without tags around all of an answer. */
static struct answer_span without_wrappers(struct answer_span line)
{
    static const char *const wrappers[] = {"<answer>",   "<solution>",     "<output>",
                                           "<response>", "<final_answer>", "<files>"};
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (answer_begins(line, wrappers[i])) {
            size_t length = strlen(wrappers[i]);
            line = without_left((struct answer_span){line.at + length, line.length - length}, " \t");
        }
    return line;
}

bool answer_open_tag(struct arena *arena, struct answer_span line, struct answer_label *label,
                     struct answer_span *behind)
{
    enum answer_role role;
    struct answer_span rest = without_wrappers(without_left(line, " \t>`"));
    if (rest.length < 3 || *rest.at != '<')
        return false;
    const char *end = line.at + line.length;
    struct answer_span name = tag_name(rest.at + 1, end);
    const char *close = memchr(rest.at, '>', rest.length < LONGEST_LABEL ? rest.length : LONGEST_LABEL);
    if (!name.length || !close || close[-1] == '/' || !is_tag(name, &role))
        return false;
    const char *at = name.at + name.length;
    if (*at != '>' && *at != ' ')
        return false;
    struct answer_span attributes = find_name(answer_between(at, close));
    bool named = is_file_name(name.at, name.length);
    *label = (struct answer_label){.role = role};
    if (named || attributes.length) {
        struct answer_span file = named ? name : attributes;
        label->name = arena_strndup(arena, file.at, file.length);
        label->given = true;
    }
    *behind = answer_between(close + 1, end);
    return true;
}

const char *answer_close_tag(struct answer_span line)
{
    enum answer_role role;
    const char *end = line.at + line.length;
    for (const char *at = line.at; (at = memchr(at, '<', (size_t)(end - at))); at++) {
        if (at + 2 >= end || at[1] != '/')
            continue;
        struct answer_span name = tag_name(at + 2, end);
        if (name.length && name.at + name.length < end && name.at[name.length] == '>' && is_tag(name, &role))
            return at;
    }
    return NULL;
}

/* Paths in a project. */
static bool is_plain_part(const char *part)
{
    if (!*part || *part == '.' || *part == '-' || strlen(part) > LONGEST_NAME)
        return false;
    for (; *part; part++)
        if (!isalnum((unsigned char)*part) && !strchr("_.-+", *part))
            return false;
    return true;
}

/* The part of a path that begins with the last folder of a project in it; NULL: there is none. */
static char *from_folder(char *path)
{
    static const char *const folders[] = {"op_host", "op_kernel"};
    char *found = NULL;
    for (char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
            size_t length = strlen(folders[i]);
            if (strncasecmp(part, folders[i], length) == 0 && part[length] == '/') {
                memcpy(part, folders[i], length);
                found = part;
            }
        }
    return found;
}

const char *answer_path(struct arena *arena, const char *name)
{
    char *path = arena_strdup(arena, name), *last;
    for (char *c = path; *c; c++)
        *c = *c == '\\' ? '/' : *c;
    last = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char *inside = from_folder(path);
    if (!is_plain_part(last))
        return NULL;
    if (!inside)
        return last;
    char *parts = arena_strdup(arena, inside), *rest;
    for (char *part = strtok_r(parts, "/", &rest); part; part = strtok_r(NULL, "/", &rest))
        if (!is_plain_part(part))
            return last;
    return strstr(inside, "//") ? last : inside;
}
