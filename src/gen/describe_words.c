/* Lines of descriptions become text that formulas are read from. LaTeX is read character by character: commands have a table,
 * \frac, \sqrt and what stands in braces are put into parentheses. Prose is cut off by words and signs that no formula has. */
#include "gen/describe_internal.h"
#include "base/text.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *from, *to;
} signs[] = {
    {"×", "*"},       {"·", "*"},      {"⋅", "*"},       {"∗", "*"},       {"⊙", "*"},       {"−", "-"},
    {"–", "-"},       {"—", "-"},      {"÷", "/"},       {"²", "^2"},      {"³", "^3"},      {"≤", "<="},
    {"≥", ">="},      {"≠", "!="},     {"√", "sqrt"},    {"∞", "inf"},     {"α", "alpha"},   {"β", "beta"},
    {"γ", "gamma"},   {"δ", "delta"},  {"ε", "epsilon"}, {"ϵ", "epsilon"}, {"η", "eta"},     {"θ", "theta"},
    {"κ", "kappa"},   {"λ", "lambda"}, {"μ", "mu"},      {"ρ", "rho"},     {"σ", "\\sigma"}, {"τ", "tau"},
    {"φ", "phi"},     {"ω", "omega"},  {"∥", "\\|"},     {"‖", "\\|"},     {":=", "="},      {"ζ", "zeta"},
    {"ι", "iota"},    {"ν", "nu"},     {"ξ", "xi"},      {"π", "pi"},      {"υ", "upsilon"}, {"ϕ", "phi"},
    {"χ", "chi"},     {"ψ", "psi"},    {"Γ", "Gamma"},   {"Δ", "Delta"},   {"Θ", "Theta"},   {"Λ", "Lambda"},
    {"Φ", "Phi"},     {"Ψ", "Psi"},    {"Ω", "Omega"},   {"∑", "\\sum "},  {"Σ", "\\sum "},  {"∏", "\\prod "},
    {"Π", "\\prod "},
};
/* Commands; others are what they are called. */
static const struct {
    const char *name, *to;
} commands[] = {
    {"cdot", "*"},        {"times", "*"},
    {"ast", "*"},         {"odot", "*"},
    {"left", ""},         {"right", ""},
    {"big", ""},          {"Big", ""},
    {"bigl", ""},         {"bigr", ""},
    {"quad", " "},        {"qquad", " "},
    {"le", "<="},         {"leq", "<="},
    {"ge", ">="},         {"geq", ">="},
    {"ne", "!="},         {"neq", "!="},
    {"vert", "|"},        {"lvert", "|"},
    {"rvert", "|"},       {"Vert", "‖"},
    {"lVert", "‖"},       {"rVert", "‖"},
    {"infty", "inf"},     {"varepsilon", "epsilon"},
    {"displaystyle", ""},
};
/* Commands whose braces hold words. */
static const char *const of_words[] = {"mathrm", "text",   "operatorname", "mathbf",
                                       "mathit", "textbf", "mathcal",      "boldsymbol"};

static void translate(struct text *out, const char **at, char end);

/* What stands in braces at *at, or the next character. */
static void translate_argument(struct text *out, const char **at)
{
    *at += strspn(*at, " ");
    if (**at == '{') {
        ++*at;
        translate(out, at, '}');
    } else if (**at) {
        text_append(out, (*at)++, 1);
    }
}

static bool is_command(const char *name, size_t length, const char *command)
{
    return strlen(command) == length && memcmp(name, command, length) == 0;
}

/* A command at *at, behind its backslash. */
static void translate_command(struct text *out, const char **at)
{
    const char *name = *at;
    size_t length = 0;
    while (isalpha((unsigned char)name[length]))
        length++;
    if (!length) { /* \, \; \_ \( */
        if (strchr("_*%#", *name) && *name)
            text_append(out, name, 1);
        else if (*name == '|')
            text_add(out, "‖");
        else
            text_add(out, " ");
        *at += *name != 0;
        return;
    }
    *at += length;
    if (is_command(name, length, "frac") || is_command(name, length, "dfrac") || is_command(name, length, "tfrac")) {
        text_add(out, "((");
        translate_argument(out, at);
        text_add(out, ")/(");
        translate_argument(out, at);
        text_add(out, "))");
        return;
    }
    if (is_command(name, length, "begin") || is_command(name, length, "end")) {
        *at += strcspn(*at, "}");
        *at += **at == '}';
        return;
    }
    if (is_command(name, length, "sum") || is_command(name, length, "prod")) {
        text_addf(out, "\\%.*s", (int)length, name); /* no formula holds it: read_step */
        return;
    }
    for (size_t i = 0; i < sizeof of_words / sizeof *of_words; i++)
        if (is_command(name, length, of_words[i])) {
            translate_argument(out, at);
            return;
        }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (is_command(name, length, commands[i].name)) {
            text_add(out, commands[i].to);
            return;
        }
    bool called = (*at)[strspn(*at, " ")] == '(' || strncmp(*at, "\\left(", 6) == 0;
    if (is_command(name, length, "sigma") && called)
        text_add(out, "sigmoid");
    else
        text_append(out, name, length);
    if (**at == '{') { /* \sqrt{x}, \exp{x} */
        text_add(out, "(");
        translate_argument(out, at);
        text_add(out, ")");
    }
}

/* e^x and e^{x}: the base is no name. */
static bool ends_with_e(const struct text *out)
{
    size_t n = out->length;
    return n && out->bytes[n - 1] == 'e' &&
           (n == 1 || (!isalnum((unsigned char)out->bytes[n - 2]) && out->bytes[n - 2] != '_'));
}

static void translate(struct text *out, const char **at, char end)
{
    while (**at && **at != end) {
        char c = *(*at)++;
        if (c == '\\') {
            translate_command(out, at);
        } else if (c == '^' && **at == '{') {
            if (ends_with_e(out))
                text_add(out, "xp"); /* e^{x} is exp(x) */
            else
                text_add(out, "^");
            text_add(out, "(");
            translate_argument(out, at);
            text_add(out, ")");
        } else if (c == '^' && ends_with_e(out)) {
            text_add(out, "xp(1)^");
        } else if (c == '_' && (**at == '{' || (strchr("ijk", **at) && **at && !isalnum((unsigned char)(*at)[1])))) {
            /* x_i and x_{ij} are elements of x; x_{max} is a name. */
            struct text name = {0};
            bool braces = **at == '{';
            if (braces)
                translate_argument(&name, at);
            else
                while (isalnum((unsigned char)**at) || **at == '_')
                    text_append(&name, (*at)++, 1);
            const char *bytes = name.bytes ? name.bytes : "";
            if (strspn(bytes, "ijk, ") < strlen(bytes))
                text_addf(out, "_%s", bytes);
            text_free(&name);
        } else if (c == '&' && **at == '=') {
            continue; /* aligned */
        } else {
            text_append(out, &c, 1);
        }
    }
    *at += **at == end && end;
}

const char *describe_plain(struct arena *arena, const char *line)
{
    struct text signless = {0}, out = {0};
    for (const char *at = line; *at;) {
        size_t length = 0;
        for (size_t i = 0; i < sizeof signs / sizeof *signs && !length; i++)
            if (strncmp(at, signs[i].from, strlen(signs[i].from)) == 0) {
                length = strlen(signs[i].from);
                text_add(&signless, signs[i].to);
            }
        if (!length)
            text_append(&signless, at, length = 1);
        at += length;
    }
    const char *at = signless.bytes ? signless.bytes : "";
    translate(&out, &at, 0);
    const char *plain = arena_strdup(arena, out.bytes ? out.bytes : "");
    text_free(&signless);
    text_free(&out);
    return plain;
}

/* Prose. */
/* True if the word is one of `words`, which ends with NULL, without regard to case. */
static bool is_among(const char *word, size_t length, const char *const *words)
{
    while (*words && (strlen(*words) != length || strncasecmp(word, *words, length) != 0))
        words++;
    return *words;
}

bool describe_is_filler(const char *word)
{
    static const char *const fillers[] = {
        "tensor", "tensors", "of",    "shape", "shapes",  "is",     "are",     "has",      "have",   "with",
        "a",      "an",      "the",   "input", "in",      "output", "and",     "size",     "sizes",  "dtype",
        "type",   "float16", "fp16",  "half",  "float32", "fp32",   "float",   "bfloat16", "bf16",   "int8",
        "uint8",  "int16",   "int32", "int64", "bool",    "inputs", "outputs", "matrix",   "vector", "array",
        "where",  "each",    "both",  "row",   "rows",    "column", "columns", "torch",    NULL};
    return is_among(word, strlen(word), fillers);
}

const char *describe_unlabelled(const char *line)
{
    static const char *const labels[] = {"input",      "inputs",    "output",   "outputs",    "result",     "compute",
                                         "computes",   "formula",   "formulas", "let",        "shapes",     "shape",
                                         "args",       "where",     "with",     "returns",    "return",     "given",
                                         "attributes", "attribute", "attrs",    "parameters", "parameter",  "then",
                                         "and",        "define",    "set",      "math",       "definition", NULL};
    for (bool label = true; label;) {
        const char *word = line + strspn(line, " \t>*_`$");
        size_t length = 0;
        while (isalpha((unsigned char)word[length]))
            length++;
        const char *behind = word + length;
        behind += strspn(behind, "*_`");
        label = length && is_among(word, length, labels) && strchr(": \t", *behind) && *behind;
        const char *next = behind + strspn(behind, ": \t*_");
        label &= *next && *next != '='; /* 'output = ..' is a step */
        line = label ? next : line;
    }
    return line;
}

#define PROSE "where|with|for|elementwise|element-wise|over|along|using|when|here|applied|which"
/* Where prose begins that stands behind a formula; its length if none does. */
static size_t formula_length(const char *text)
{
    static const char *const ends[] = {
        "`",
        "[[:space:]]#",
        "[,.;:]?[[:space:]]+(" PROSE ")([[:space:],.:]|$)",
        "[.;][[:space:]]+[A-Za-z$`]",
        ",[[:space:]]*(and[[:space:]]+)?[A-Za-z_][A-Za-z0-9_]*[[:space:]]*=[^=]",
        ",[[:space:]]*(and[[:space:]]+)?[A-Za-z_][A-Za-z0-9_]*[[:space:]]*:?[[:space:]]*[[(][A-Z]",
        "[[:space:]]+and[[:space:]]+[A-Za-z_][A-Za-z0-9_]*[[:space:]]*=[^=]",
        "[[:space:]]*\\$",
    };
    size_t length = strlen(text);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        regex_t compiled;
        regmatch_t found;
        if (regcomp(&compiled, ends[i], REG_EXTENDED))
            continue;
        for (size_t from = 0; regexec(&compiled, text + from, 1, &found, 0) == 0; from += (size_t)found.rm_eo) {
            size_t at = from + (size_t)found.rm_so;
            int depth = 0; /* keepdim=True and the like stand in parentheses */
            for (size_t k = 0; k < at; k++)
                depth += (text[k] == '(') - (text[k] == ')');
            if (depth <= 0 && at < length)
                length = at;
            if (depth <= 0 || found.rm_eo == 0)
                break;
        }
        regfree(&compiled);
    }
    return length;
}

/* |x| and, of rows, ||x||: bars that open stand where a value is expected. */
static const char *without_bars(struct arena *arena, const char *text)
{
    static const struct {
        const char *bar, *function;
    } bars[] = {{"‖", "norm("}, {"|", "abs("}};
    struct text out = {0};
    int open = 0;
    while (*text) {
        size_t length = 0;
        for (size_t i = 0; i < sizeof bars / sizeof *bars && !length; i++) {
            if (strncmp(text, bars[i].bar, strlen(bars[i].bar)) != 0)
                continue;
            size_t n = out.length;
            while (n && out.bytes[n - 1] == ' ')
                n--;
            bool opens = !n || strchr("+-*/^(,<>=?:%|&!", out.bytes[n - 1]);
            if (!opens && !open)
                continue; /* a | b */
            length = strlen(bars[i].bar);
            text_add(&out, opens ? bars[i].function : ")");
            open += opens ? 1 : -1;
            if (!opens && strncmp(text + length, "_2", 2) == 0)
                length += 2;
        }
        if (!length)
            text_append(&out, text, length = 1);
        text += length;
    }
    return text_keep(&out, arena);
}

const char *describe_formula(struct arena *arena, const char *text, const char **rest)
{
    size_t length = formula_length(text), end = length;
    *rest = text + length + strspn(text + length, " \t\r`$*|.,;:#");
    while (end && strchr(" \t\r`$*.,;", text[end - 1]))
        end--;
    const char *formula = without_bars(arena, arena_strndup(arena, text, end));
    end = strlen(formula);
    while (end && strchr(" \t|", formula[end - 1])) /* of a table */
        end--;
    return arena_strndup(arena, formula, end);
}
