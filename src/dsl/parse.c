/* Words to tree: the statements, by recursive descent. parse_expr.c has the expressions. What is wrong is told and the
 * rest of the line left out, so that one reading tells of several mistakes. */
#include "base/array.h"
#include "dsl/dsl.h"
#include "dsl/parse.h"

#include <string.h>

enum { ELIFS_MAX = 32 };

static void parse_block(struct parser *p, struct dsl_block *block);
static void parse_statement(struct parser *p, struct dsl_block *block);

/* Gives up on the line: what follows begins at the next. */
static void skip_line(struct parser *p)
{
    while (p->now->kind != TOKEN_LINE && p->now->kind != TOKEN_END)
        p->now++;
    if (p->now->kind == TOKEN_LINE)
        p->now++;
}

static void add_comment(struct parser *p, struct dsl_comments *comments, struct dsl_comment comment)
{
    ARRAY_ADD(p->arena, comments->items, comments->count, comments->capacity, comment);
}

/* Comments of their own lines before the current token, which nobody has taken yet. */
static void take_lead(struct parser *p, struct dsl_comments *lead)
{
    for (const struct dsl_remark *remark; (remark = parser_remark(p)); p->remark++)
        add_comment(p, lead, remark->comment);
}

/* The end of a statement's line: its comment goes with it. */
static void end_line(struct parser *p, struct dsl_statement *statement)
{
    if (p->now->kind != TOKEN_LINE) {
        if (parser_is(p, ";"))
            dsl_complain(p->messages, p->now->place, DSL_RULE_syntax, "give each statement a line of its own",
                         "there is one statement in a line");
        else
            parser_expect(p, "the end of the line");
        skip_line(p);
        return;
    }
    for (const struct dsl_remark *remark; (remark = parser_remark(p)); p->remark++)
        if (!remark->alone && remark->line == p->now->place.line)
            statement->trail = remark->comment.text;
        else /* between the lines of a longer expression */
            add_comment(p, &statement->lead, remark->comment);
    parser_hoist(p, statement->target, true);
    parser_hoist(p, statement->value, true);
    parser_hoist(p, statement->note, statement->kind == DSL_ASSERT);
    const struct dsl_function *function = statement->function;
    if (function && function->decorator_count) /* those before it have lines of their own, which have ended */
        parser_hoist(p, function->decorators[function->decorator_count - 1], false);
    for (int i = 0; i < p->orphans.count; i++)
        add_comment(p, &statement->lead, p->orphans.items[i]);
    p->orphans.count = 0;
    p->now++;
}

static struct dsl_statement *add(struct parser *p, struct dsl_block *block, enum dsl_statement_kind kind)
{
    struct dsl_statement *statement = arena_alloc(p->arena, sizeof *statement);
    *statement = (struct dsl_statement){.kind = kind, .place = p->now->place, .op = DSL_NO_OPERATOR};
    ARRAY_ADD(p->arena, block->items, block->count, block->capacity, statement);
    return statement;
}

/* NAME[: ANNOTATION][= VALUE], .. and the bracket behind. */
static void parse_parameters(struct parser *p, struct dsl_function *function)
{
    while (!parser_accept(p, ")")) {
        struct dsl_parameter parameter = {.place = p->now->place};
        take_lead(p, &parameter.lead);
        parameter.name = parser_name(p, "the name of a parameter");
        if (!parameter.name)
            return;
        if (parser_accept(p, ":"))
            parameter.annotation = parse_choice(p);
        if (parser_accept(p, "="))
            parameter.value = parse_choice(p);
        parser_hoist(p, parameter.annotation, false);
        parser_hoist(p, parameter.value, false);
        bool more = parser_accept(p, ",");
        parameter.trail = parser_trail(p);
        ARRAY_ADD(p->arena, function->parameters, function->count, function->capacity, parameter);
        if (!more && !parser_is(p, ")")) {
            parser_expect(p, "',' or ')' behind the parameter");
            return;
        }
    }
}

/* Whether the statement that comes next has a block of its own. */
static bool opens_block(const struct parser *p)
{
    static const char *const words[] = {"if", "for", "while", "with", "def", "@", "class", "try"};
    bool opens = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        opens |= parser_is(p, words[i]);
    return opens;
}

static void parse_body(struct parser *p, struct dsl_statement *statement, struct dsl_block *body)
{
    if (!parser_accept(p, ":")) {
        parser_expect(p, "':'");
        skip_line(p);
        if (p->now->kind == TOKEN_INDENT) /* its block is read all the same */
            parse_block(p, body);
        return;
    }
    if (p->now->kind != TOKEN_LINE) { /* if x: y */
        if (opens_block(p)) {
            parser_expect(p, "a line of its own for what opens a block");
            skip_line(p);
        } else {
            parse_statement(p, body);
        }
        return;
    }
    end_line(p, statement);
    if (p->now->kind == TOKEN_INDENT)
        parse_block(p, body);
    else
        dsl_complain(p->messages, statement->place, DSL_RULE_indentation, "indent what belongs to it by four spaces",
                     "no indented line follows the ':'");
}

static void parse_def(struct parser *p, struct dsl_statement *statement)
{
    struct dsl_function *function = arena_alloc(p->arena, sizeof *function);
    statement->function = function;
    for (; parser_accept(p, "@"); end_line(p, statement))
        ARRAY_ADD(p->arena, function->decorators, function->decorator_count, function->decorator_capacity,
                  parse_choice(p));
    statement->place = p->now->place;
    if (!parser_accept(p, "def")) {
        parser_expect(p, "'def' behind a decorator");
        return;
    }
    statement->place = p->now->place;
    function->name = parser_name(p, "the function's name");
    if (function->name && !parser_accept(p, "("))
        parser_expect(p, "'('");
    else if (function->name)
        parse_parameters(p, function);
    if (parser_accept(p, "->")) /* says nothing: a host function launches */
        parse_choice(p);
    parse_body(p, statement, &statement->body);
}

static void parse_if(struct parser *p, struct dsl_statement *statement)
{
    statement->value = parse_choice(p);
    parse_body(p, statement, &statement->body);
    for (int count = 0; parser_is(p, "elif"); count++) {
        if (count == ELIFS_MAX)
            dsl_complain(p->messages, p->now->place, DSL_RULE_depth, NULL, "more than %d elif in a row", ELIFS_MAX);
        statement->elif = true;
        struct dsl_block *others = &statement->orelse;
        statement = add(p, others, DSL_IF);
        take_lead(p, &statement->lead);
        p->now++;
        statement->value = parse_choice(p);
        parse_body(p, statement, &statement->body);
        if (count >= ELIFS_MAX) /* the tree grows no deeper */
            others->count = 0;
    }
    if (!parser_is(p, "else"))
        return;
    struct dsl_statement head = {.place = p->now->place};
    take_lead(p, &statement->orelse_lead);
    p->now++;
    parse_body(p, &head, &statement->orelse);
    statement->orelse_trail = head.trail;
}

static void parse_loop_else(struct parser *p)
{
    if (strcmp(p->now->text, "else") == 0 && p->now->kind == TOKEN_NAME)
        dsl_complain(p->messages, p->now->place, DSL_RULE_not_in_the_language, "put what stands there behind the loop",
                     "a loop has no else");
}

static void parse_for(struct parser *p, struct dsl_statement *statement)
{
    statement->target = parse_targets(p);
    if (!parser_accept(p, "in"))
        parser_expect(p, "'in'");
    else
        statement->value = parse_tuple(p);
    parse_body(p, statement, &statement->body);
    parse_loop_else(p);
}

static void parse_while(struct parser *p, struct dsl_statement *statement)
{
    statement->value = parse_choice(p);
    parse_body(p, statement, &statement->body);
    parse_loop_else(p);
}

static void parse_with(struct parser *p, struct dsl_statement *statement)
{
    statement->value = parse_choice(p);
    parse_body(p, statement, &statement->body);
}

static void parse_assert(struct parser *p, struct dsl_statement *statement)
{
    statement->value = parse_choice(p);
    if (parser_accept(p, ","))
        statement->note = parse_choice(p);
    end_line(p, statement);
}

static void parse_return(struct parser *p, struct dsl_statement *statement)
{
    if (p->now->kind != TOKEN_LINE)
        statement->value = parse_tuple(p);
    end_line(p, statement);
}

/* NAME.NAME.. [as NAME], and more behind commas. False: told that something else stands there. */
static bool parse_imported(struct parser *p, struct text *line, const char *close)
{
    for (bool more = true; more;) {
        const char *name = parser_name(p, "a name");
        for (; name && parser_accept(p, "."); name = parser_name(p, "a name behind '.'"))
            text_addf(line, "%s.", name);
        text_add(line, name ? name : "");
        if (name && parser_accept(p, "as") && (name = parser_name(p, "a name behind 'as'")))
            text_addf(line, " as %s", name);
        if (!name)
            return false;
        more = parser_accept(p, ",") && !(close && parser_is(p, close));
        text_add(line, more ? ", " : "");
    }
    return true;
}

/* The line as it stands: imports say to Python where names come from, and here they are known. */
static void parse_import(struct parser *p, struct dsl_statement *statement)
{
    struct text line = {0};
    bool from = strcmp(p->now[-1].text, "from") == 0, good;
    text_addf(&line, "%s ", p->now[-1].text);
    good = parse_imported(p, &line, NULL);
    if (good && from && !(good = parser_accept(p, "import")))
        parser_expect(p, "'import'");
    if (good && from) {
        bool brackets = parser_accept(p, "(");
        text_add(&line, brackets ? " import (" : " import ");
        if (!brackets && parser_accept(p, "*"))
            text_add(&line, "*");
        else
            good = parse_imported(p, &line, brackets ? ")" : NULL);
        if (good && brackets && !parser_accept(p, ")"))
            parser_expect(p, "')'");
        text_add(&line, brackets ? ")" : "");
    }
    statement->name = arena_strdup(p->arena, line.bytes);
    text_free(&line);
    end_line(p, statement);
}

static void parse_nothing(struct parser *p, struct dsl_statement *statement)
{
    end_line(p, statement);
}

/* What is assigned to, or an expression of its own. */
static void parse_simple(struct parser *p, struct dsl_statement *statement)
{
    static const struct {
        const char *sign;
        enum dsl_operator op;
    } augmented[] = {{"+=", DSL_ADD},     {"-=", DSL_SUBTRACT},      {"*=", DSL_MULTIPLY},
                     {"/=", DSL_DIVIDE},  {"//=", DSL_FLOOR_DIVIDE}, {"%=", DSL_REMAINDER},
                     {"**=", DSL_POWER},  {"|=", DSL_BIT_OR},        {"&=", DSL_BIT_AND},
                     {"^=", DSL_BIT_XOR}, {"<<=", DSL_SHIFT_LEFT},   {">>=", DSL_SHIFT_RIGHT}};
    statement->value = parse_tuple(p);
    if (parser_accept(p, ":")) {
        statement->kind = DSL_ASSIGN;
        statement->target = statement->value;
        statement->note = parse_choice(p);
        statement->value = NULL;
        if (parser_accept(p, "="))
            statement->value = parse_tuple(p);
        else
            parser_expect(p, "'=' and a value");
    } else if (parser_accept(p, "=")) {
        statement->kind = DSL_ASSIGN;
        statement->target = statement->value;
        statement->value = parse_tuple(p);
        if (parser_is(p, "="))
            dsl_complain(p->messages, p->now->place, DSL_RULE_not_in_the_language, "write a line for each name",
                         "a value is assigned to one name, or one to each of several");
    }
    for (size_t i = 0; i < sizeof augmented / sizeof *augmented; i++)
        if (statement->kind == DSL_EXPRESSION && parser_accept(p, augmented[i].sign)) {
            statement->kind = DSL_ASSIGN;
            statement->op = augmented[i].op;
            statement->target = statement->value;
            statement->value = parse_tuple(p);
        }
    end_line(p, statement);
}

/* try, lambda and the like, with their blocks. */
static void refuse(struct parser *p, struct dsl_statement *statement, const char *remedy)
{
    dsl_complain(p->messages, statement->place, DSL_RULE_not_in_the_language, remedy, "there is no '%s' in AscendDSL",
                 p->now[-1].text);
    do {
        struct dsl_block unread = {0};
        skip_line(p);
        if (p->now->kind == TOKEN_INDENT)
            parse_block(p, &unread);
    } while (parser_is(p, "except") || parser_is(p, "finally"));
}

static const struct {
    const char *word;
    enum dsl_statement_kind kind;
    void (*parse)(struct parser *p, struct dsl_statement *statement);
} statements[] = {
    {"if", DSL_IF, parse_if},
    {"for", DSL_FOR, parse_for},
    {"while", DSL_WHILE, parse_while},
    {"with", DSL_WITH, parse_with},
    {"return", DSL_RETURN, parse_return},
    {"break", DSL_BREAK, parse_nothing},
    {"continue", DSL_CONTINUE, parse_nothing},
    {"pass", DSL_PASS, parse_nothing},
    {"assert", DSL_ASSERT, parse_assert},
    {"import", DSL_IMPORT, parse_import},
    {"from", DSL_IMPORT, parse_import},
};

static const struct {
    const char *word, *remedy;
} refused[] = {
    {"try", "a kernel has no exceptions: write the one form that is right"},
    {"except", NULL},
    {"finally", NULL},
    {"raise", "where a shape cannot be computed write 'assert CONDITION, \"REASON\"' in the host function"},
    {"class", "a program is kernels and a host function"},
    {"yield", NULL},
    {"del", NULL},
    {"global", "pass the value as an argument"},
    {"nonlocal", "pass the value as an argument"},
    {"async", NULL},
    {"await", NULL},
};

static void parse_statement(struct parser *p, struct dsl_block *block)
{
    struct dsl_comments lead = {0};
    const struct dsl_remark *first = parser_remark(p);
    bool after_blank = first ? first->comment.after_blank : p->words->blank[p->now->place.line];
    take_lead(p, &lead);
    struct dsl_statement *statement = add(p, block, DSL_EXPRESSION);
    statement->lead = lead;
    statement->after_blank = after_blank;
    statement->apart = lead.count && p->words->blank[p->now->place.line];
    if (parser_is(p, "@") || parser_is(p, "def")) {
        statement->kind = DSL_DEF;
        parse_def(p, statement);
        return;
    }
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (parser_accept(p, statements[i].word)) {
            statement->kind = statements[i].kind;
            statements[i].parse(p, statement);
            return;
        }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (parser_accept(p, refused[i].word)) {
            refuse(p, statement, refused[i].remedy);
            block->count--;
            return;
        }
    parse_simple(p, statement);
}

/* Comments at the end of a block: those that are indented as the block is belong to it. */
static void take_remarks(struct parser *p, struct dsl_block *block, int column)
{
    struct dsl_statement *remarks = NULL;
    for (const struct dsl_remark *remark; (remark = parser_remark(p)) && remark->column >= column; p->remark++) {
        if (!remarks) {
            remarks = add(p, block, DSL_REMARKS);
            remarks->place = (struct dsl_place){remark->line, remark->column, 1};
            remarks->after_blank = remark->comment.after_blank;
        }
        add_comment(p, &remarks->lead, remark->comment);
    }
}

static void parse_block(struct parser *p, struct dsl_block *block)
{
    int column = p->now[1].place.column;
    p->now++;

    while (p->now->kind != TOKEN_DEDENT && p->now->kind != TOKEN_END)
        if (p->now->kind == TOKEN_INDENT) {
            dsl_complain(p->messages, p->now->place, DSL_RULE_indentation, "indent it as the line before",
                         "the line is indented further than the one before, which opens no block");
            parse_block(p, block);
        } else {
            parse_statement(p, block);
        }
    take_remarks(p, block, column);
    if (p->now->kind == TOKEN_DEDENT)
        p->now++;
}

const struct dsl_tree *dsl_parse(struct arena *arena, const char *path, const char *text, size_t length,
                                 struct dsl_messages *messages)
{
    struct dsl_words words = {0};
    struct dsl_tree *tree = arena_alloc(arena, sizeof *tree);
    *tree = (struct dsl_tree){.path = arena_strdup(arena, path), .text = arena_strndup(arena, text, length)};
    char *shown = arena_strdup(arena, tree->text);
    text_make_utf8(shown); /* for messages: what is no UTF-8 is told, and JSON takes nothing else */
    *messages = (struct dsl_messages){.arena = arena, .path = tree->path, .source = shown};
    dsl_lex(arena, tree->text, length, messages, &words);
    struct parser p = {.arena = arena, .messages = messages, .words = &words, .now = words.tokens};
    while (p.now->kind != TOKEN_END)
        if (p.now->kind == TOKEN_INDENT) {
            dsl_complain(messages, p.now->place, DSL_RULE_indentation, "begin the line at the margin",
                         "the line is indented, but belongs to no block");
            parse_block(&p, &tree->body);
        } else if (p.now->kind == TOKEN_DEDENT) {
            p.now++;
        } else {
            parse_statement(&p, &tree->body);
        }
    take_remarks(&p, &tree->body, 1);
    return messages->count ? NULL : tree;
}
