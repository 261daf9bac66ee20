/* The source pass: what Ascend C has and no host compiler reads is blanked or renamed in place, line by line. It walks
 * the text as tokens, so comments, strings and raw strings are left alone. */
#include "base/text.h"
#include "toolchain/tokens.h"
#include "toolchain/toolchain_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Nothing that is looked for from many places is longer than this, so that the pass takes time in proportion to the text: a
 * template's or a function's parameters; the initializer of an array; the specifiers of a declaration; a launch. */
enum {
    TOKENS_OF_A_HEAD = 500,
    TOKENS_OF_AN_ARRAY = 1 << 20,
    WORDS_OF_A_DECLARATION = 32,
    TOKENS_OF_A_LAUNCH = 2000,
    DECLARATIONS_OF_AN_ENTRY = 64
};

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

/* Behind the bracket that closes the one at `open`; 0 if none of the next `most` tokens does. */
static size_t match(const char *text, size_t open, char opening, char closing, int most)
{
    int depth = 0;
    struct token token = token_next(text, open);
    for (; token.kind != TOKEN_END && most-- > 0; token = token_next(text, token.end)) {
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
    struct token name = token_next(text, open->end);
    bool host = token_is(text, &name, "host");
    if (host) {
        struct token comma = token_next(text, name.end);
        if (!token_is(text, &comma, ","))
            return false;
        name = token_next(text, comma.end);
    }
    struct token close = token_next(text, name.end);
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
    struct token second = token_next(text, open->end), name = token_next(text, second.end);
    struct token close = token_next(text, name.end), last = token_next(text, close.end);
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
    struct token token = token_next(text, at.end);
    for (; token_is(text, &token, "(") && outer < 2; outer++)
        token = token_next(text, token.end);
    *type = token;
    token = token_next(text, token.end);
    struct token star = token, close = token_next(text, token.end);
    if (!outer || type->kind != TOKEN_NAME || !token_is(text, &star, "*") || !token_is(text, &close, ")"))
        return none;
    token = token_next(text, close.end);
    int inner = token_is(text, &token, "(");
    if (inner)
        token = token_next(text, token.end);
    struct token name = token_next(text, token.end);
    if (!token_is(text, &token, "&") || name.kind != TOKEN_NAME)
        return none;
    *end = name.end;
    for (int left = outer - 1 + inner; left > 0; left--) {
        token = token_next(text, *end);
        if (!token_is(text, &token, ")"))
            return none;
        *end = token.end;
    }
    return name;
}

/* `const float LEAST = *(float *)(&BITS);` at namespace scope: CANN's compiler computes it, clang's rules for constants
 * forbid the pointer. `first` is the `const` that begins the statement, or follows `static`. */
static bool replace_pun(char *text, const struct token *first)
{
    struct token token = token_next(text, first->end), before = token;
    for (int i = 0; token.kind == TOKEN_NAME && i < WORDS_OF_A_DECLARATION; token = token_next(text, token.end), i++)
        before = token;
    struct token star = token_next(text, token.end), type;
    if (!token_is(text, first, "const") || before.kind != TOKEN_NAME || !token_is(text, &token, "=") ||
        !token_is(text, &star, "*"))
        return false;
    size_t end = 0;
    struct token name = punned(text, star, &type, &end), semicolon = token_next(text, end);
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

/* `kernel<<<blocks, l2, stream>>>(...);` from the start of its statement to the semicolon. `none_before`: no launch begins
 * before that place; it moves on where none was found. */
static bool blank_launch(char *text, size_t statement, size_t chevrons, size_t *none_before)
{
    int depth = 0, left = TOKENS_OF_A_LAUNCH;
    if (chevrons < *none_before)
        return false;
    struct token token = token_next(text, chevrons);
    for (; token.kind != TOKEN_END && left-- > 0; token = token_next(text, token.end)) {
        if (token.kind != TOKEN_MARK)
            continue;
        depth += (text[token.start] == '(') - (text[token.start] == ')');
        if (text[token.start] == '{' || text[token.start] == '}')
            break;
        if (text[token.start] == ';' && depth <= 0) {
            blank(text, statement, token.start);
            return true;
        }
    }
    *none_before = token.start;
    return false;
}

/* A constexpr function of the device is evaluated for constants at namespace scope as well, which clang counts as host
 * code: `__aicore__` among the same specifiers as `constexpr` becomes the macro of `[host, aicore]`. */
static bool widen_constexpr(char *text, const struct token *first)
{
    static const char *const specifiers[] = {"inline", "static", "__forceinline__", "__inline__"};
    struct token aicore = {0};
    bool constant = false, known = true;
    int left = WORDS_OF_A_DECLARATION;
    for (struct token token = *first; known && token.kind == TOKEN_NAME && left-- > 0;
         token = token_next(text, token.end)) {
        known = false;
        for (size_t i = 0; i < sizeof specifiers / sizeof *specifiers; i++)
            known |= token_is(text, &token, specifiers[i]);
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
    for (; token.kind == TOKEN_NAME; token = token_next(text, token.end), names++)
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
        from = joint > from ? joint : comment ? token_skip_comment(text, from) : from + 1;
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
            at = token_skip_comment(text, at);
    } while (at != before);
    bool number = isdigit((unsigned char)text[at]);
    while (!number && matched < sizeof word - 1 && text[at] == word[matched]) {
        matched++;
        at = skip_joint(text, at + 1);
    }
    if (!number && (matched < sizeof word - 1 || token_name_char(text[at])))
        return false;
    blank(text, mark, directive_end(text, at));
    return true;
}

/* A brace that a namespace or a linkage opens, by the first words of its statement. */
static bool opens_namespace(const char *text, size_t statement)
{
    struct token first = token_next(text, statement), second = token_next(text, first.end);
    return token_is(text, &first, "namespace") || token_is(text, &second, "namespace") ||
           token_is(text, &first, "extern");
}

/* Where the walk of blank_foreign() is. */
struct walk {
    size_t before;           /* the end of the token before this one; 0: it is the first */
    size_t statement, first; /* where the statement begins, and its first token */
    int inside;              /* braces that are no namespace's */
    size_t directive;        /* the end of the last one */
    size_t no_launch_before;
};

static void begin_statement(const char *text, size_t at, struct walk *walk)
{
    walk->statement = at;
    walk->first = token_next(text, at).start;
}

static bool replace_name(char *text, const struct token *token, const struct walk *walk)
{
    static const char *const specifiers[] = {"constexpr", "__aicore__", "static", "inline"};
    bool changed = walk->first == token->start && mark_gm_variable(text, token);
    for (size_t i = 0; i < sizeof specifiers / sizeof *specifiers; i++)
        if (token_is(text, token, specifiers[i]))
            changed |= widen_constexpr(text, token);
    if (!walk->inside && token_is(text, token, "const"))
        changed |= replace_pun(text, token);
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
        changed |= blank_launch(text, walk->statement, token->start, &walk->no_launch_before);
    return changed;
}

/* Names of the first functions marked __global__, for the message about a missing entry. */
static const char *global_functions(struct arena *arena, const char *text)
{
    enum { MOST = 8 };
    const char *found = NULL;
    int count = 0;
    struct token token = token_next(text, 0);
    for (; token.kind != TOKEN_END && count < MOST; token = token_next(text, token.end)) {
        if (!token_is(text, &token, "__global__"))
            continue;
        struct token name = {0}, next = token_next(text, token.end);
        while (next.kind == TOKEN_NAME) {
            token = name = next;
            next = token_next(text, next.end);
        }
        if (name.end && token_is(text, &next, "(")) {
            const char *copy = arena_strndup(arena, text + name.start, name.end - name.start);
            found = found ? arena_printf(arena, "%s, %s", found, copy) : copy;
            count++;
        }
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
    for (struct token token = token_next(text, from); token.start < to && token.kind != TOKEN_END;
         token = token_next(text, token.end)) {
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
    for (struct token token = token_next(text, open); token.start < close; token = token_next(text, token.end)) {
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
    for (struct token token = token_next(text, open); token.start < close; token = token_next(text, token.end)) {
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

/* The parameters of the template that a declaration began with. */
struct template_head {
    size_t open, close; /* behind `>`; 0: none */
};

static void note_template(const char *text, const struct token *token, struct template_head *head)
{
    char mark = token->kind == TOKEN_MARK ? text[token->start] : '\0';
    if (token_is(text, token, "template")) {
        struct token open = token_next(text, token->end);
        head->open = open.start;
        head->close = token_is(text, &open, "<") ? match(text, open.start, '<', '>', TOKENS_OF_A_HEAD) : 0;
    } else if (token->start >= head->close && (mark == ';' || mark == '{' || mark == '}')) {
        head->close = 0;
    }
}

/* `__mix__(1, 2)`: `mix` is the first word. Ratios that do not exist are the compiler's to refuse. */
static enum entry_cores read_mix(const char *text, const struct token *mix)
{
    static const struct {
        const char *cube, *vector;
        enum entry_cores cores;
    } ratios[] = {
        {"0", "1", ENTRY_MIX_0_1}, {"1", "0", ENTRY_MIX_1_0}, {"1", "1", ENTRY_MIX_1_1}, {"1", "2", ENTRY_MIX_1_2}};
    struct token open = token_next(text, mix->end), cube = token_next(text, open.end);
    struct token comma = token_next(text, cube.end), vector = token_next(text, comma.end);
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        if (token_is(text, &cube, ratios[i].cube) && token_is(text, &vector, ratios[i].vector))
            return ratios[i].cores;
    return ENTRY_UNNAMED;
}

/* What the qualifiers between the start of a declaration of the entry and its name say; the last that says anything. */
static void note_cores(const char *text, size_t statement, size_t name, struct prepared_source *prepared)
{
    for (struct token token = token_next(text, statement); token.start < name; token = token_next(text, token.end)) {
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
    struct token before = {0};
    struct template_head head = {0};
    struct text chooser = {0};
    size_t copied = 0, statement = 0;
    int left = DECLARATIONS_OF_AN_ENTRY;
    bool has_plain = false; /* a function beside the template, which runs when nothing selects arguments */
    for (struct token token = token_next(text, 0); token.kind != TOKEN_END;
         before = token, token = token_next(text, token.end)) {
        note_template(text, &token, &head);
        if (token.kind == TOKEN_MARK && strchr(";{}", text[token.start]))
            statement = token.end;
        if (token.kind != TOKEN_NAME || token.start < copied || !token_is(text, &token, entry) ||
            !token_is(text, &before, "void"))
            continue;
        struct token open = token_next(text, token.end);
        bool looks = token_is(text, &open, "(") && left-- > 0;
        size_t close = looks ? match(text, open.start, '(', ')', TOKENS_OF_A_HEAD) : 0;
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
        struct token behind = token_next(text, close);
        has_plain |= !head.close && token_is(text, &behind, "{");
        if (head.close && !prepared->is_template) {
            prepared->is_template = true;
            text_addf(&chooser, "\n#ifdef AKGEN_TPL_ENTRY\nAKGEN_TPL_ENTRY(" PREPARE_PREFIX "%s, ", entry);
            template_arguments(&chooser, text, head.open, head.close);
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
    bool changed = false;
    struct walk walk = {0};
    begin_statement(prepared->text, 0, &walk);
    struct token token = token_next(prepared->text, 0);
    for (; token.kind != TOKEN_END; walk.before = token.end, token = token_next(prepared->text, token.end)) {
        if (token.kind == TOKEN_NAME)
            changed |= replace_name(prepared->text, &token, &walk);
        else if (token.kind == TOKEN_MARK)
            changed |= replace_mark(prepared->text, &token, &walk);
    }
    prepared->changed = changed;
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
    struct token before = {0}, token = token_next(text, 0);
    size_t statement = 0;
    for (; token.kind != TOKEN_END && token.start <= place; before = token, token = token_next(text, token.end)) {
        if (token.kind != TOKEN_MARK)
            continue;
        if (strchr(";{}", text[token.start]))
            statement = token.end;
        if (text[token.start] != '[' || before.kind != TOKEN_NAME)
            continue;
        *array = (struct array_declarator){.statement = statement, .name = before, .sizes_end = token.start};
        struct token next = token;
        while (next.kind == TOKEN_MARK && text[next.start] == '[') {
            array->sizes_end = match(text, next.start, '[', ']', TOKENS_OF_A_HEAD);
            if (!array->sizes_end)
                return false;
            next = token_next(text, array->sizes_end);
        }
        if (array->sizes_end <= place)
            continue;
        if (token_is(text, &next, "="))
            next = token_next(text, next.end);
        array->open = next.start;
        array->end = token_is(text, &next, "{") ? match(text, next.start, '{', '}', TOKENS_OF_AN_ARRAY) : 0;
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
    for (struct token token = token_next(text, array.statement); !pointers && token.start < array.name.start;
         token = token_next(text, token.end))
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
