/* What a piece of code is, seen from what it holds, and its lines as a file has them. */
#include "base/text.h"
#include "candidate/answer_internal.h"

#include <ctype.h>
#include <stdlib.h>

/* Words that only one kind of file has. */
static const struct {
    const char *word;
    unsigned mark;
} words[] = {
    {"#include", ANSWER_HAS_INCLUDE},
    {"__global__", ANSWER_HAS_ENTRY},
    {"KERNEL_ENTRY", ANSWER_HAS_ENTRY},
    {"__aicore__", ANSWER_HAS_DEVICE},
    {"OP_ADD(", ANSWER_HAS_OPDEF},
    {": public OpDef", ANSWER_HAS_OPDEF},
    {": OpDef(", ANSWER_HAS_OPDEF},
    {"IMPL_OP_OPTILING", ANSWER_HAS_HOST},
    {"TilingContext", ANSWER_HAS_HOST},
    {"TilingParseContext", ANSWER_HAS_HOST},
    {"InferShapeContext", ANSWER_HAS_HOST},
    {"SetBlockDim", ANSWER_HAS_FUNCTION},
    {"GetRawTilingData", ANSWER_HAS_FUNCTION},
    {"BEGIN_TILING_DATA_DEF", ANSWER_HAS_TILING},
    {"REGISTER_TILING_DATA_CLASS", ANSWER_HAS_TILING},
    {"add_ops_compile_options", ANSWER_HAS_OPTIONS},
    {"npu_op_kernel_options", ANSWER_HAS_OPTIONS},
};
static const char *const strings[] = {"project_json_src", "host_tiling_src", "host_operator_src",
                                      "kernel_src",       "python_bind_src", "model_src"};

/* `kernel_src =`, `model_src: str =` */
static bool assigns_string(struct answer_span line)
{
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        size_t length = strlen(strings[i]);
        if (line.length <= length || memcmp(line.at, strings[i], length) != 0)
            continue;
        struct answer_span rest = answer_trim((struct answer_span){line.at + length, line.length - length});
        if (rest.length && (*rest.at == '=' || (*rest.at == '+' && rest.length > 1 && rest.at[1] == '=')))
            return true;
        if (rest.length && *rest.at == ':' && memchr(rest.at, '=', rest.length))
            return true;
    }
    return false;
}

/* Of diffs, of patches, and of what is to be searched and replaced. */
static bool is_diff_line(struct answer_span line)
{
    static const char *const begins[] = {"diff --git ",
                                         "+++ ",
                                         "@@ -",
                                         "<<<<<<< SEARCH",
                                         ">>>>>>> REPLACE",
                                         "*** Begin Patch",
                                         "*** Add File:",
                                         "*** Update File:",
                                         "*** End Patch"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (answer_begins(line, begins[i]))
            return true;
    return false;
}

static unsigned marks_of_lines(const char *text)
{
    const char *end = text + strlen(text);
    unsigned marks = 0;
    int diff_lines = 0;
    for (const char *at = text; at < end; at = answer_next_line(at, end)) {
        struct answer_span line = answer_line(at, end);
        diff_lines += is_diff_line(line);
        line = answer_trim(line);
        if (answer_begins(line, "@ascend_kernel"))
            marks |= ANSWER_HAS_PROGRAM;
        if (assigns_string(line))
            marks |= ANSWER_HAS_STRINGS;
    }
    return marks | (diff_lines > 1 ? ANSWER_HAS_DIFF : 0);
}

unsigned answer_marks(const char *text)
{
    unsigned marks = marks_of_lines(text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!(marks & words[i].mark) && strstr(text, words[i].word))
            marks |= words[i].mark;
    return marks;
}

/* The first row that fits. */
static const struct {
    unsigned any;
    enum answer_role role;
} roles_of_marks[] = {
    {ANSWER_HAS_DIFF, ANSWER_DIFF},          {ANSWER_HAS_STRINGS, ANSWER_STRINGS},
    {ANSWER_HAS_PROGRAM, ANSWER_PROGRAM},    {ANSWER_HAS_OPDEF, ANSWER_HOST},
    {ANSWER_HAS_ENTRY, ANSWER_KERNEL},       {ANSWER_HAS_HOST | ANSWER_HAS_FUNCTION, ANSWER_HOST},
    {ANSWER_HAS_TILING, ANSWER_HOST_HEADER}, {ANSWER_HAS_OPTIONS, ANSWER_CMAKE},
};
static const char *const useless_languages[] = {"bash",     "sh",  "shell", "console", "zsh", "python",   "py",
                                                "markdown", "md",  "yaml",  "yml",     "xml", "latex",    "math",
                                                "tex",      "csv", "html",  "make",    "log", "makefile", "toml"};

enum answer_role answer_role_of_content(unsigned marks, const char *language)
{
    if (strcmp(language, "diff") == 0 || strcmp(language, "patch") == 0)
        return ANSWER_DIFF;
    if (strncmp(language, "json", 4) == 0)
        return ANSWER_USELESS;
    for (size_t i = 0; i < sizeof roles_of_marks / sizeof *roles_of_marks; i++)
        if (marks & roles_of_marks[i].any)
            return roles_of_marks[i].role;
    for (size_t i = 0; i < sizeof useless_languages / sizeof *useless_languages; i++)
        if (strcmp(language, useless_languages[i]) == 0)
            return ANSWER_USELESS;
    return ANSWER_NO_ROLE;
}

static bool is_code_line(struct answer_span line)
{
    bool indented = line.length && (*line.at == ' ' || *line.at == '\t');
    line = answer_trim(line);
    return line.length && (indented || strchr("#}@", *line.at) || answer_has(line, "//") ||
                           (line.length && strchr(";{}),\\", line.at[line.length - 1])));
}

bool answer_is_code(const char *text)
{
    const char *end = text + strlen(text);
    for (const char *at = text; at < end; at = answer_next_line(at, end)) {
        struct answer_span line = answer_trim(answer_line(at, end));
        if (answer_begins(line, "#include") || (line.length && strchr(";{}", line.at[line.length - 1])))
            return true;
    }
    return false;
}

/* Code among prose. */
static bool begins_code(struct answer_span line)
{
    static const char *const begins[] = {"#include",  "#ifndef",        "#pragma",     "#define",      "using ",
                                         "namespace", "extern \"C\"",   "template",    "constexpr",    "//",
                                         "/*",        "@ascend_kernel", "import tile", "import torch", "from tile",
                                         "static ",   "typedef ",       "__global__"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (line.length >= strlen(begins[i]) && memcmp(line.at, begins[i], strlen(begins[i])) == 0)
            return true;
    bool declares = answer_begins(line, "class ") || answer_begins(line, "struct ") || answer_begins(line, "def ");
    return declares && strchr("{:;", line.at[line.length - 1]);
}

struct answer_span answer_bare_code(const char *text)
{
    enum { CODE = ~(ANSWER_HAS_INCLUDE | ANSWER_HAS_DIFF | ANSWER_HAS_STRINGS | ANSWER_HAS_OPTIONS) };
    const char *end = text + strlen(text), *begin = NULL, *behind = NULL;
    unsigned marks = answer_marks(text);
    if (!(marks & (unsigned)CODE) || (marks & ANSWER_HAS_DIFF))
        return (struct answer_span){text, 0};
    for (const char *at = text; at < end; at = answer_next_line(at, end)) {
        struct answer_span line = answer_line(at, end);
        if (!begin && begins_code(answer_trim(line)))
            begin = at;
        if (begin && is_code_line(line))
            behind = answer_next_line(at, end);
    }
    return behind ? answer_between(begin, behind) : (struct answer_span){text, 0};
}

/* The lines of a block. */
static struct answer_span without_blank_ends(struct answer_span body)
{
    const char *end = body.at + body.length, *first = body.at;
    while (first < end && answer_is_blank(answer_line(first, end)))
        first = answer_next_line(first, end);
    while (end > first && isspace((unsigned char)end[-1]))
        end--;
    return answer_between(first, end);
}

/* "cpp" in a line of its own, as a model's interface copies it. */
static struct answer_span without_language_line(struct answer_span body)
{
    static const char *const languages[] = {"cpp", "c++", "c", "python", "py", "plaintext"};
    struct answer_span line = answer_trim(answer_line(body.at, body.at + body.length));
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (line.length == strlen(languages[i]) && answer_begins(line, languages[i]))
            return answer_between(answer_next_line(body.at, body.at + body.length), body.at + body.length);
    return body;
}

/* The bytes of "  12 | ", "12: " or "12\t" before a line, if its number is `number`; 0: it has none. */
static size_t line_number_of(struct answer_span line, long number)
{
    char *behind;
    size_t at = 0;
    while (at < line.length && line.at[at] == ' ')
        at++;
    if (at == line.length || !isdigit((unsigned char)line.at[at]) || strtol(line.at + at, &behind, 10) != number)
        return 0;
    size_t digits = (size_t)(behind - line.at);
    if (digits == line.length)
        return digits;
    size_t spaces = 0;
    while (digits + spaces < line.length && line.at[digits + spaces] == ' ')
        spaces++;
    size_t mark = digits + spaces;
    if (mark < line.length && strchr("|:\t", line.at[mark]))
        return mark + 1 + (mark + 1 < line.length && line.at[mark] != '\t' && line.at[mark + 1] == ' ');
    return 0;
}

/* Whether every line that is not empty has its number. */
static bool is_numbered(struct answer_span body)
{
    const char *end = body.at + body.length;
    long number = 0;
    for (const char *at = body.at; at < end; at = answer_next_line(at, end)) {
        struct answer_span line = answer_line(at, end);
        number++;
        if (!line_number_of(line, number) && !(answer_is_blank(line) && number > 1))
            return false;
    }
    return number > 2;
}

/* Spaces that every line begins with: code of an indented block. */
static size_t common_indent(struct answer_span body)
{
    const char *end = body.at + body.length;
    size_t common = body.length;
    for (const char *at = body.at; at < end && common; at = answer_next_line(at, end)) {
        struct answer_span line = answer_line(at, end);
        size_t spaces = 0;
        while (spaces < line.length && line.at[spaces] == ' ')
            spaces++;
        common = spaces < line.length && spaces < common ? spaces : common;
    }
    return common;
}

static struct answer_span without_cdata(struct answer_span body)
{
    static const char open[] = "<![CDATA[", close[] = "]]>";
    size_t begin = sizeof open - 1, end = sizeof close - 1;
    if (body.length < begin + end || memcmp(body.at, open, begin) != 0)
        return body;
    const char *last = body.at + body.length - end;
    return without_blank_ends(
        answer_between(body.at + begin, memcmp(last, close, end) == 0 ? last : body.at + body.length));
}

/* What XML escapes, in place. */
static void unescape(char *text)
{
    static const struct {
        const char *escaped;
        char plain;
    } entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&#39;", '\''}};
    char *out = text;
    for (const char *at = text; *at;) {
        size_t length = 0;
        for (size_t i = 0; *at == '&' && i < sizeof entities / sizeof *entities && !length; i++)
            if (strncmp(at, entities[i].escaped, strlen(entities[i].escaped)) == 0) {
                length = strlen(entities[i].escaped);
                *out++ = entities[i].plain;
            }
        if (!length)
            *out++ = *at;
        at += length ? length : 1;
    }
    *out = '\0';
}

const char *answer_body(struct arena *arena, struct answer_span body, bool in_tag)
{
    struct text text = {0};
    body = without_blank_ends(body);
    if (in_tag)
        body = without_cdata(body);
    body = without_blank_ends(without_language_line(body));
    const char *end = body.at + body.length;
    bool numbered = is_numbered(body);
    size_t indent = numbered ? 0 : common_indent(body);
    long number = 0;
    for (const char *at = body.at; at < end; at = answer_next_line(at, end)) {
        struct answer_span line = answer_line(at, end);
        size_t skipped = numbered ? line_number_of(line, ++number) : indent < line.length ? indent : line.length;
        text_append(&text, line.at + skipped, line.length - skipped);
        text_add(&text, "\n");
    }
    char *lines = arena_strdup(arena, text.bytes ? text.bytes : "");
    text_free(&text);
    bool escaped = strstr(lines, "&lt;") || strstr(lines, "&gt;") || strstr(lines, "&quot;");
    if (in_tag && escaped && !strpbrk(lines, "<>"))
        unescape(lines);
    return lines;
}
