/* The source pass: what Ascend C has and no host compiler reads is blanked or renamed in place, line by line. It walks
 * the text as tokens, so comments, strings and raw strings are left alone. The text is anybody's: every rule looks a
 * bounded number of tokens ahead, or over the same ones only once. */
#include "base/text.h"
#include "toolchain/toolchain_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_LITERAL, TOKEN_MARK };
struct token {
    enum token_kind kind;
    size_t start, end;
};

static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The end of a literal that starts at `at` with a quote; an unterminated one ends with its line. */
static size_t skip_quoted(const char *text, size_t at)
{
    char quote = text[at++];
    while (text[at] && text[at] != quote && text[at] != '\n')
        at += text[at] == '\\' && text[at + 1] ? 2 : 1;
    return text[at] == quote ? at + 1 : at;
}

/* R"delimiter( ... )delimiter": `at` is the quote. */
static size_t skip_raw(const char *text, size_t at)
{
    size_t open = at + 1 + strcspn(text + at + 1, "(\n");
    if (text[open] != '(' || open - at > 17)
        return skip_quoted(text, at);
    char closing[20];
    size_t n = open - at - 1;
    closing[0] = ')';
    memcpy(closing + 1, text + at + 1, n);
    closing[n + 1] = '"';
    closing[n + 2] = '\0';
    const char *end = strstr(text + open, closing);
    return end ? (size_t)(end - text) + n + 2 : strlen(text);
}

static size_t skip_comment(const char *text, size_t at)
{
    const char *end = strstr(text + at + 2, "*/");
    return end ? (size_t)(end - text) + 2 : strlen(text);
}

static size_t skip_space(const char *text, size_t at)
{
    for (;;) {
        if (isspace((unsigned char)text[at])) {
            at++;
        } else if (text[at] == '\\' && text[at + 1] == '\n') {
            at += 2;
        } else if (text[at] == '/' && text[at + 1] == '/') {
            while (text[at] && text[at] != '\n')
                at += text[at] == '\\' && text[at + 1] ? 2 : 1;
        } else if (text[at] == '/' && text[at + 1] == '*') {
            at = skip_comment(text, at);
        } else {
            return at;
        }
    }
}

/* The prefixes of a raw string. */
static bool begins_raw(const char *name, size_t length)
{
    static const char *const prefixes[] = {"R", "LR", "uR", "UR", "u8R"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strlen(prefixes[i]) == length && memcmp(name, prefixes[i], length) == 0)
            return true;
    return false;
}

static struct token next_token(const char *text, size_t at)
{
    at = skip_space(text, at);
    struct token token = {.start = at, .end = at + 1, .kind = TOKEN_MARK};
    if (!text[at]) {
        token.kind = TOKEN_END;
        token.end = at;
    } else if (name_char(text[at])) {
        bool number = isdigit((unsigned char)text[at]);
        /* A digit separator (1'000) belongs to its number. */
        while (name_char(text[token.end]) || (number && text[token.end] == '\'' && name_char(text[token.end + 1])))
            token.end++;
        token.kind = number ? TOKEN_LITERAL : TOKEN_NAME;
        if (!number && text[token.end] == '"' && begins_raw(text + at, token.end - at)) {
            token.end = skip_raw(text, token.end);
            token.kind = TOKEN_LITERAL;
        }
    } else if (text[at] == '"' || text[at] == '\'') {
        token.end = skip_quoted(text, at);
        token.kind = TOKEN_LITERAL;
    }
    return token;
}

static bool token_is(const char *text, const struct token *token, const char *word)
{
    size_t length = strlen(word);
    return token->end - token->start == length && memcmp(text + token->start, word, length) == 0;
}

static void blank(char *text, size_t from, size_t to)
{
    for (; from < to; from++)
        if (text[from] != '\n')
            text[from] = ' ';
}

static void overwrite(char *text, size_t at, const char *word)
{
    for (size_t i = 0; word[i]; i++)
        text[at + i] = word[i];
}

/* Tokens between brackets; a list of parameters has fewer. */
enum { FEW = 1024 };

/* Behind the bracket that closes the one at `open`, among `most` tokens; 0 if none does. */
static size_t match(const char *text, size_t open, char opening, char closing, size_t most)
{
    int depth = 0;
    struct token token = next_token(text, open);
    for (; token.kind != TOKEN_END && most; token = next_token(text, token.end), most--) {
        if (token.kind != TOKEN_MARK)
            continue;
        depth += (text[token.start] == opening) - (text[token.start] == closing);
        if (!depth)
            return token.end;
    }
    return 0;
}

/* `[aicore]` and `[host, aicore]`, attributes that only CANN's compiler reads, become macros that are no longer. */
static bool replace_aicore(char *text, const struct token *open)
{
    struct token name = next_token(text, open->end);
    bool host = token_is(text, &name, "host");
    if (host) {
        struct token comma = next_token(text, name.end);
        if (!token_is(text, &comma, ","))
            return false;
        name = next_token(text, comma.end);
    }
    struct token close = next_token(text, name.end);
    if (!token_is(text, &name, "aicore") || !token_is(text, &close, "]"))
        return false;
    const char *macro = host ? PREPARE_HOST_AICORE : PREPARE_AICORE;
    blank(text, open->start, close.end);
    overwrite(text, open->start, macro);
    return true;
}

/* `[[block_local]]`, an attribute of CANN's compiler, becomes the macro of kernel_macros.h. */
static bool replace_block_local(char *text, const struct token *open)
{
    struct token second = next_token(text, open->end), name = next_token(text, second.end);
    struct token close = next_token(text, name.end), last = next_token(text, close.end);
    if (!token_is(text, &second, "[") || !token_is(text, &name, "block_local") || !token_is(text, &close, "]") ||
        !token_is(text, &last, "]"))
        return false;
    blank(text, open->start, last.end);
    overwrite(text, open->start, "__BLOCK_LOCAL__");
    return true;
}

/* The name in `*(type *)&name` or with brackets around either half, from the star at `at`; `type` and `end` with it. */
static struct token punned(const char *text, struct token at, struct token *type, size_t *end)
{
    struct token none = {0};
    int outer = 0;
    struct token token = next_token(text, at.end);
    for (; token_is(text, &token, "(") && outer < 2; outer++)
        token = next_token(text, token.end);
    *type = token;
    token = next_token(text, token.end);
    struct token star = token, close = next_token(text, token.end);
    if (!outer || type->kind != TOKEN_NAME || !token_is(text, &star, "*") || !token_is(text, &close, ")"))
        return none;
    token = next_token(text, close.end);
    int inner = token_is(text, &token, "(");
    if (inner)
        token = next_token(text, token.end);
    struct token name = next_token(text, token.end);
    if (!token_is(text, &token, "&") || name.kind != TOKEN_NAME)
        return none;
    *end = name.end;
    for (int left = outer - 1 + inner; left > 0; left--) {
        token = next_token(text, *end);
        if (!token_is(text, &token, ")"))
            return none;
        *end = token.end;
    }
    return name;
}

/* `const float LEAST = *(float *)(&BITS);` at namespace scope: CANN's compiler computes it, clang's rules for constants
 * forbid the pointer. `first` is the `const` that begins the statement, or follows `static`; `*names_end` is behind the
 * names that follow it. */
static bool replace_pun(char *text, const struct token *first, size_t *names_end)
{
    struct token token = next_token(text, first->end), before = token;
    for (; token.kind == TOKEN_NAME; token = next_token(text, token.end))
        before = token;
    struct token star = next_token(text, token.end), type;
    *names_end = before.end;
    if (!token_is(text, first, "const") || before.kind != TOKEN_NAME || !token_is(text, &token, "=") ||
        !token_is(text, &star, "*"))
        return false;
    size_t end = 0;
    struct token name = punned(text, star, &type, &end), semicolon = next_token(text, end);
    if (!name.end || !token_is(text, &semicolon, ";"))
        return false;
    char call[256];
    int length = snprintf(call, sizeof call, PREPARE_PUN "(%.*s,%.*s)", (int)(type.end - type.start), text + type.start,
                          (int)(name.end - name.start), text + name.start);
    if (length >= (int)sizeof call || (size_t)length > end - star.start)
        return false;
    blank(text, star.start, end);
    overwrite(text, star.start, call);
    return true;
}

/* `kernel<<<blocks, l2, stream>>>(...);` from the start of its statement to the semicolon. `*stop` is where the last one
 * that was looked at ends: at a semicolon or a brace. */
static bool blank_launch(char *text, size_t statement, size_t chevrons, size_t *stop)
{
    if (chevrons >= *stop) {
        struct token token = next_token(text, chevrons);
        while (token.kind != TOKEN_END && (token.kind != TOKEN_MARK || !strchr(";{}", text[token.start])))
            token = next_token(text, token.end);
        *stop = token.start;
    }
    if (text[*stop] != ';')
        return false;
    blank(text, statement, *stop);
    return true;
}

/* A constexpr function of the device is evaluated for constants at namespace scope as well, which clang counts as host
 * code: `__aicore__` among the same specifiers as `constexpr` becomes the macro of `[host, aicore]`. `*end` is behind
 * the specifiers. */
static bool widen_constexpr(char *text, const struct token *first, size_t *end)
{
    static const char *const specifiers[] = {"inline", "static", "__forceinline__", "__inline__"};
    struct token aicore = {0};
    bool constant = false, known = true;
    for (struct token token = *first; known && token.kind == TOKEN_NAME; token = next_token(text, token.end)) {
        known = false;
        for (size_t i = 0; i < sizeof specifiers / sizeof *specifiers; i++)
            known |= token_is(text, &token, specifiers[i]);
        *end = token.end;
        if (token_is(text, &token, "__aicore__"))
            aicore = token, known = true;
        else if (token_is(text, &token, "constexpr"))
            constant = known = true;
    }
    if (!aicore.end || !constant)
        return false;
    blank(text, aicore.start, aicore.end);
    overwrite(text, aicore.start, PREPARE_HOST_AICORE);
    return true;
}

/* `static volatile __gm__ uint32_t flags[16];`: a variable in GM. Clang counts a variable without the attribute of
 * device functions as the host's. `first` begins a statement; names alone up to `[`, `=`, `;` or `{` make a
 * variable. */
static bool mark_gm_variable(char *text, const struct token *first)
{
    struct token gm = {0}, token = *first;
    int names = 0;
    for (; token.kind == TOKEN_NAME; token = next_token(text, token.end), names++)
        if (token_is(text, &token, "__gm__"))
            gm = token;
    bool ends = token.kind == TOKEN_MARK && strchr("[=;{", text[token.start]);
    if (!gm.end || !ends || names < 3 || token_is(text, first, "typedef") || token_is(text, first, "extern"))
        return false;
    overwrite(text, gm.start, PREPARE_GM_VARIABLE);
    return true;
}

static bool starts_line(const char *text, size_t at)
{
    while (at && (text[at - 1] == ' ' || text[at - 1] == '\t'))
        at--;
    return !at || text[at - 1] == '\n';
}

static size_t directive_end(const char *text, size_t at)
{
    while (text[at] && text[at] != '\n')
        at += text[at] == '\\' && text[at + 1] ? 2 : 1;
    return at;
}

/* Behind what joins two lines at `at`, a backslash and the end of its line; `at` if there is none. */
static size_t skip_joint(const char *text, size_t at)
{
    size_t end = at + (text[at] == '\\');
    if (end == at)
        return at;
    end += strspn(text + end, " \t\v\f");
    end += text[end] == '\r';
    return text[end] == '\n' ? end + 1 : text[end - 1] == '\r' ? end : at;
}

/* True if the token at `at` is the first of its line, as the compiler counts: what is between it and the token before, which
 * ends at `from`, are white space, comments and joints. */
static bool begins_line(const char *text, size_t from, size_t at)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    if (!from || (from == 3 && strncmp(text, byte_order_mark, 3) == 0))
        return true;
    while (from < at && text[from] != '\n' && text[from] != '\r') {
        size_t joint = skip_joint(text, from);
        bool comment = text[from] == '/' && text[from + 1] == '*';
        from = joint > from ? joint : comment ? skip_comment(text, from) : from + 1;
    }
    return from < at;
}

/* Blanks `#line 7 "file"` and `# 7 "file"`, whose mark ends at `at`: places that the compiler and the machine name are where the
 * text is, and not where it says that it is. */
static bool blank_line_directive(char *text, size_t mark, size_t at)
{
    static const char word[] = "line";
    size_t matched = 0, before;
    do {
        before = at;
        at = skip_joint(text, at);
        at += strspn(text + at, " \t\v\f");
        if (text[at] == '/' && text[at + 1] == '*')
            at = skip_comment(text, at);
    } while (at != before);
    bool number = isdigit((unsigned char)text[at]);
    while (!number && matched < sizeof word - 1 && text[at] == word[matched]) {
        matched++;
        at = skip_joint(text, at + 1);
    }
    if (!number && (matched < sizeof word - 1 || name_char(text[at])))
        return false;
    blank(text, mark, directive_end(text, at));
    return true;
}

/* A brace that a namespace or a linkage opens, by the first words of its statement. */
static bool opens_namespace(const char *text, size_t statement)
{
    struct token first = next_token(text, statement), second = next_token(text, first.end);
    return token_is(text, &first, "namespace") || token_is(text, &second, "namespace") ||
           token_is(text, &first, "extern");
}

/* Where the walk of blank_foreign() is. */
struct walk {
    size_t before;                    /* the end of the token before this one; 0: it is the first */
    size_t statement, first;          /* where the statement begins, and its first token */
    int inside;                       /* braces that are no namespace's */
    size_t directive;                 /* the end of the last one */
    size_t specifiers, names, launch; /* how far widen_constexpr(), replace_pun() and blank_launch() have looked */
};

static void begin_statement(const char *text, size_t at, struct walk *walk)
{
    walk->statement = at;
    walk->first = next_token(text, at).start;
}

static bool replace_name(char *text, const struct token *token, struct walk *walk)
{
    static const char *const specifiers[] = {"constexpr", "__aicore__", "static", "inline"};
    bool changed = walk->first == token->start && mark_gm_variable(text, token);
    for (size_t i = 0; i < sizeof specifiers / sizeof *specifiers; i++)
        if (token->start >= walk->specifiers && token_is(text, token, specifiers[i]))
            changed |= widen_constexpr(text, token, &walk->specifiers);
    if (!walk->inside && token->start >= walk->names && token_is(text, token, "const"))
        changed |= replace_pun(text, token, &walk->names);
    return changed;
}

static bool replace_mark(char *text, const struct token *token, struct walk *walk)
{
    char mark = text[token->start];
    bool other_spelling = mark == '%' && text[token->end] == ':', changed = false;
    if ((mark == '#' || other_spelling) && begins_line(text, walk->before, token->start))
        changed = blank_line_directive(text, token->start, token->end + other_spelling);
    if (mark == '#' && token->start >= walk->directive && starts_line(text, token->start)) {
        walk->directive = directive_end(text, token->end);
        if (walk->first == token->start)
            begin_statement(text, walk->directive, walk);
    }
    if (mark == '{' && token->start >= walk->directive)
        walk->inside += walk->inside || !opens_namespace(text, walk->statement);
    else if (mark == '}' && token->start >= walk->directive)
        walk->inside -= walk->inside > 0;
    if (mark == ';' || mark == '{' || mark == '}')
        begin_statement(text, token->end, walk);
    else if (mark == '[')
        changed |= replace_aicore(text, token) || replace_block_local(text, token);
    else if (mark == '<' && text[token->end] == '<' && text[token->end + 1] == '<')
        changed |= blank_launch(text, walk->statement, token->start, &walk->launch);
    return changed;
}

static bool blank_foreign(char *text)
{
    bool changed = false;
    struct walk walk = {0};
    begin_statement(text, 0, &walk);
    struct token token = next_token(text, 0);
    for (; token.kind != TOKEN_END; walk.before = token.end, token = next_token(text, token.end)) {
        if (token.kind == TOKEN_NAME)
            changed |= replace_name(text, &token, &walk);
        else if (token.kind == TOKEN_MARK)
            changed |= replace_mark(text, &token, &walk);
    }
    return changed;
}

/* Names of functions marked __global__, for the message about a missing entry. */
static const char *global_functions(struct arena *arena, const char *text)
{
    enum { NAMED = 20, NAME = 200 };
    const char *found = NULL;
    int count = 0;
    for (struct token token = next_token(text, 0); token.kind != TOKEN_END; token = next_token(text, token.end)) {
        if (!token_is(text, &token, "__global__"))
            continue;
        struct token name = {0}, next = next_token(text, token.end);
        while (next.kind == TOKEN_NAME) {
            name = next;
            next = next_token(text, next.end);
        }
        if (name.end && token_is(text, &next, "(")) {
            int length = name.end - name.start < NAME ? (int)(name.end - name.start) : NAME;
            found = arena_printf(arena, "%s%s%.*s", found ? found : "", found ? ", " : "", length, text + name.start);
            if (++count == NAMED)
                return found;
        }
        token = name.end ? name : token;
    }
    return found;
}

static void note_shift(struct prepared_source *prepared, const char *text, size_t at, int longer)
{
    if (prepared->shift_count == (int)(sizeof prepared->shifts / sizeof *prepared->shifts))
        return;
    struct source_shift shift = {.line = 1, .column = 1, .longer = longer};
    for (size_t i = 0; i < at; i++) {
        shift.line += text[i] == '\n';
        shift.column = text[i] == '\n' ? 1 : shift.column + 1;
    }
    prepared->shifts[prepared->shift_count++] = shift;
}

/* Copies text[from..to) and, in a parameter list, gives `workspace` its companion; true if it had none. */
static bool copy_parameters(struct text *out, const char *text, size_t from, size_t to,
                            struct prepared_source *prepared)
{
    bool has_tiling = false;
    size_t workspace = 0;
    for (struct token token = next_token(text, from); token.start < to && token.kind != TOKEN_END;
         token = next_token(text, token.end)) {
        has_tiling |= token_is(text, &token, "tiling");
        if (token_is(text, &token, "workspace"))
            workspace = token.end;
    }
    static const char added[] = ", GM_ADDR tiling";
    if (has_tiling || !workspace) {
        text_append(out, text + from, to - from);
        return false;
    }
    text_append(out, text + from, workspace - from);
    text_add(out, added);
    text_append(out, text + workspace, to - workspace);
    note_shift(prepared, text, workspace, (int)sizeof added - 1);
    return true;
}

/* "(AKGEN_TPL_TYPE(0), AKGEN_TPL_VALUE(1))": how an instance's arguments follow from a combination, for the parameters
 * of the template whose `<` is at `open`. */
static void template_arguments(struct text *out, const char *text, size_t open, size_t close)
{
    int depth = 0, count = 0;
    bool first = true;
    text_add(out, "(");
    for (struct token token = next_token(text, open); token.start < close; token = next_token(text, token.end)) {
        char mark = token.kind == TOKEN_MARK ? text[token.start] : '\0';
        if (first && depth == 1) {
            bool type = token_is(text, &token, "typename") || token_is(text, &token, "class");
            text_addf(out, "%s%s(%d)", count ? ", " : "", type ? "AKGEN_TPL_TYPE" : "AKGEN_TPL_VALUE", count);
            count++;
            first = false;
        }
        depth += (mark == '<' || mark == '(') - (mark == '>' || mark == ')');
        first |= depth == 1 && (mark == ',' || (mark == '<' && token.start == open));
    }
    text_add(out, ")");
}

/* "(GM_ADDR p0, GM_ADDR p1), (p0, p1)" for the parameters between the brackets at `open` and before `close`. */
static void forwarded_parameters(struct text *out, const char *text, size_t open, size_t close, int added)
{
    int depth = 0, count = 0;
    bool any = false;
    for (struct token token = next_token(text, open); token.start < close; token = next_token(text, token.end)) {
        char mark = token.kind == TOKEN_MARK ? text[token.start] : '\0';
        any |= depth > 0 && token.end < close;
        depth += (mark == '<' || mark == '(') - (mark == '>' || mark == ')');
        count += depth == 1 && mark == ',';
    }
    count += any + added;
    for (int pass = 0; pass < 2; pass++) {
        text_add(out, pass ? ", (" : "(");
        for (int i = 0; i < count; i++)
            text_addf(out, "%s%sp%d", i ? ", " : "", pass ? "" : "GM_ADDR ", i);
        text_add(out, ")");
    }
}

/* Behind the `>` of the parameters that begin at `open`; 0 if they do not end, or a statement does before. */
static size_t template_end(const char *text, size_t open)
{
    size_t close = text[open] == '<' ? match(text, open, '<', '>', FEW) : 0;
    for (struct token token = next_token(text, open); token.start < close; token = next_token(text, token.end))
        if (token.kind == TOKEN_MARK && strchr(";{}", text[token.start]))
            return 0;
    return close;
}

/* `__mix__(1, 2)`: `mix` is the first word. Ratios that do not exist are the compiler's to refuse. */
static enum entry_cores read_mix(const char *text, const struct token *mix)
{
    static const struct {
        const char *cube, *vector;
        enum entry_cores cores;
    } ratios[] = {
        {"0", "1", ENTRY_MIX_0_1}, {"1", "0", ENTRY_MIX_1_0}, {"1", "1", ENTRY_MIX_1_1}, {"1", "2", ENTRY_MIX_1_2}};
    struct token open = next_token(text, mix->end), cube = next_token(text, open.end);
    struct token comma = next_token(text, cube.end), vector = next_token(text, comma.end);
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        if (token_is(text, &cube, ratios[i].cube) && token_is(text, &vector, ratios[i].vector))
            return ratios[i].cores;
    return ENTRY_UNNAMED;
}

/* What the qualifiers between the start of a declaration of the entry and its name say; the last that says anything. */
static void note_cores(const char *text, size_t statement, size_t name, struct prepared_source *prepared)
{
    for (struct token token = next_token(text, statement); token.start < name; token = next_token(text, token.end)) {
        if (token_is(text, &token, "__vector__"))
            prepared->cores = ENTRY_VECTOR;
        else if (token_is(text, &token, "__cube__"))
            prepared->cores = ENTRY_CUBE;
        else if (token_is(text, &token, "__mix__"))
            prepared->cores = read_mix(text, &token);
    }
}

/* Renames every `void <entry>(`: the definition and declarations of it. */
static void rename_entry(const char *text, const char *entry, bool add_tiling, struct text *out,
                         struct prepared_source *prepared)
{
    enum { DECLARATIONS = 64 };
    struct token before = {0};
    struct text chooser = {0};
    size_t copied = 0, statement = 0, head = 0; /* head: behind the word template that the declaration begins with */
    int left = DECLARATIONS;
    bool has_plain = false; /* a function beside the template, which runs when nothing selects arguments */
    for (struct token token = next_token(text, 0); token.kind != TOKEN_END;
         before = token, token = next_token(text, token.end)) {
        if (token_is(text, &token, "template"))
            head = token.end;
        if (token.kind == TOKEN_MARK && strchr(";{}", text[token.start]))
            statement = token.end, head = 0;
        if (token.kind != TOKEN_NAME || token.start < copied || !token_is(text, &token, entry) ||
            !token_is(text, &before, "void"))
            continue;
        struct token open = next_token(text, token.end);
        size_t close = left-- > 0 && token_is(text, &open, "(") ? match(text, open.start, '(', ')', FEW) : 0;
        if (!close)
            continue;
        text_append(out, text + copied, token.start - copied);
        text_add(out, PREPARE_PREFIX);
        text_append(out, text + token.start, token.end - token.start);
        note_shift(prepared, text, token.start, (int)strlen(PREPARE_PREFIX));
        copied = token.end;
        bool added = add_tiling && copy_parameters(out, text, token.end, close, prepared);
        copied = add_tiling ? close : copied;
        prepared->has_entry = true;
        note_cores(text, statement, token.start, prepared);
        statement = close;
        struct token behind = next_token(text, close), parameters = next_token(text, head);
        size_t parameters_end = head ? template_end(text, parameters.start) : 0;
        has_plain |= !parameters_end && token_is(text, &behind, "{");
        if (parameters_end && !prepared->is_template) {
            prepared->is_template = true;
            text_addf(&chooser, "\n#ifdef AKGEN_TPL_ENTRY\nAKGEN_TPL_ENTRY(" PREPARE_PREFIX "%s, ", entry);
            template_arguments(&chooser, text, parameters.start, parameters_end);
            text_add(&chooser, ", ");
            forwarded_parameters(&chooser, text, open.start, close, added);
            text_add(&chooser, ")\n");
        }
    }
    text_add(out, text + copied);
    if (prepared->is_template)
        text_addf(out, "%s%s#endif\n", chooser.bytes,
                  has_plain ? ""
                            : "#else\n#error the entry is a template, and nothing selects its arguments: "
                              "ASCENDC_TPL_ARGS_DECL and ASCENDC_TPL_SEL of template_argument.h\n");
    text_free(&chooser);
}

void prepare_source(struct arena *arena, const char *text, const char *entry, bool add_tiling,
                    struct prepared_source *prepared)
{
    *prepared = (struct prepared_source){.text = arena_strdup(arena, text)};
    prepared->changed = blank_foreign(prepared->text);
    if (!entry)
        return;
    struct text out = {0};
    rename_entry(prepared->text, entry, add_tiling, &out, prepared);
    if (prepared->has_entry) {
        prepared->text = arena_strdup(arena, out.bytes);
        prepared->changed = true;
    } else {
        prepared->found = global_functions(arena, text);
    }
    text_free(&out);
}

/* Arrays of the host part whose size is known at run time (host_gnu.c). */

struct array_declarator {
    size_t statement; /* where its declaration begins */
    struct token name;
    size_t sizes_end; /* behind the last `]` */
    size_t open, end; /* the initializer's braces: `{`, and behind `}` */
};

/* The declarator `name[...][...] = {...}` that has `place` in its sizes. */
static bool find_array(const char *text, size_t place, struct array_declarator *array)
{
    struct token before = {0}, token = next_token(text, 0);
    size_t statement = 0;
    for (; token.kind != TOKEN_END && token.start <= place; before = token, token = next_token(text, token.end)) {
        if (token.kind != TOKEN_MARK)
            continue;
        if (strchr(";{}", text[token.start]))
            statement = token.end;
        if (text[token.start] != '[' || before.kind != TOKEN_NAME)
            continue;
        *array = (struct array_declarator){.statement = statement, .name = before, .sizes_end = token.start};
        struct token next = token;
        while (next.kind == TOKEN_MARK && text[next.start] == '[') {
            array->sizes_end = match(text, next.start, '[', ']', FEW);
            if (!array->sizes_end)
                return false;
            next = next_token(text, array->sizes_end);
        }
        if (array->sizes_end <= place)
            continue;
        if (token_is(text, &next, "="))
            next = next_token(text, next.end);
        array->open = next.start;
        array->end = token_is(text, &next, "{") ? match(text, next.start, '{', '}', SIZE_MAX) : 0;
        return array->end != 0;
    }
    return false;
}

char *prepare_array(struct arena *arena, const char *text, int line, int column)
{
    size_t place = 0, length = strlen(text);
    for (; line > 1 && place < length; place++)
        line -= text[place] == '\n';
    place += column > 0 ? (size_t)column - 1 : 0;
    struct array_declarator array;
    if (line > 1 || place >= length || !find_array(text, place, &array))
        return NULL;
    char *copy = arena_strdup(arena, text),
         *name = arena_strndup(arena, text + array.name.start, array.name.end - array.name.start);
    /* An array without an initializer is not const; behind a `*` the word is about what the pointers point to. */
    bool pointers = memchr(text + array.statement, '*', array.name.start - array.statement);
    for (struct token token = next_token(text, array.statement); !pointers && token.start < array.name.start;
         token = next_token(text, token.end))
        if (token_is(text, &token, "const"))
            blank(copy, token.start, token.end);
    struct text out = {0};
    text_append(&out, copy, array.sizes_end);
    text_addf(&out, ", *akgen_array_%s = akgen_array(&%s[0], sizeof %s / sizeof *%s, ", name, name, name, name);
    for (size_t i = array.sizes_end; i < array.open; i++)
        if (text[i] == '\n')
            text_add(&out, "\n");
    text_append(&out, text + array.open, array.end - array.open);
    text_addf(&out, ")%s", text + array.end);
    char *prepared = arena_strdup(arena, out.bytes);
    text_free(&out);
    return prepared;
}

bool prepare_mentions(const char *text, const char *identifier)
{
    bool pastes = strstr(text, "##") != NULL;
    for (struct token token = next_token(text, 0); token.kind != TOKEN_END; token = next_token(text, token.end)) {
        size_t length = token.end - token.start;
        if (token.kind == TOKEN_NAME && strncmp(text + token.start, identifier, length) == 0 &&
            (!identifier[length] || pastes))
            return true;
    }
    return false;
}
