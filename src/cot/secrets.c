/* Secrets in texts. An issuer's key is known by its head and by the characters that stand behind it (secrets.def), so it is looked for where a word
 * begins, in the text as it stands: in quotes, in URLs, in strings whose quotes, slashes and line ends are escaped. A private key is known by its
 * first line and by the base64 behind it. A text is read once; what one head asks for is bounded, so that no text takes longer than its length. */
#include "cot/corpus.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* Classes of characters, as bits. URL is base64's alphabet of RFC 4648, section 5. */
enum { UPPER = 1, LOWER = 2, DIGIT = 4, HEX = 8, BASE32 = 16, DASH = 32, PLUS = 64, BREAK = 128 };
enum { BASE62 = UPPER | LOWER | DIGIT, URL = BASE62 | DASH, BASE64 = BASE62 | PLUS, MORE = 0 };
enum demand { ANY, MIXED, NOT_WORDS };

struct part {
    const char *text; /* these characters; NULL: so many of a class */
    int of, least, most;
};
struct form {
    const char *head;
    bool named; /* the head is a name that a value is assigned to */
    enum demand demand;
    const char *kind;
    struct part parts[8]; /* up to one of neither text nor class */
};
#define TEXT(string)                    {string, 0, 0, 0}
#define OF(class, least, most)          {NULL, class, least, most}
#define SECRET(head, demand, kind, ...) {head, false, demand, kind, {__VA_ARGS__}},
#define NAMED(head, demand, kind, ...)  {head, true, demand, kind, {__VA_ARGS__}},
static const struct form forms[] = {
#include "cot/secrets.def"
};
enum { FORMS = sizeof forms / sizeof *forms };

static int class_of(char c)
{
    if (c >= '0' && c <= '9')
        return DIGIT | HEX | (c >= '2' && c <= '7' ? BASE32 : 0);
    if (c >= 'A' && c <= 'Z')
        return UPPER | BASE32;
    if (c >= 'a' && c <= 'z')
        return LOWER | (c <= 'f' ? HEX : 0);
    return c == '-' || c == '_' ? DASH : c == '+' || c == '/' ? PLUS : c == '\n' || c == '\r' ? BREAK : 0;
}

static bool is_word(char c)
{
    return class_of(c) & BASE62;
}

/* JSON's `\/` is a slash. */
static const char *past_escape(const char *at)
{
    const char *slash = at + strspn(at, "\\");
    return *slash == '/' ? slash : at;
}

/* Behind these characters; NULL: others stand there. */
static const char *past_text(const char *at, const char *text, bool caseless)
{
    for (; *text; text++, at++) {
        at = *text == '/' ? past_escape(at) : at;
        if (*at != *text && !(caseless && tolower((unsigned char)*at) == *text))
            return NULL;
    }
    return at;
}

/* Whether no capital is behind this one in the same word: two small letters are, as far as the text goes. */
static bool begins_a_word(const char *text, size_t length)
{
    return (length < 2 || class_of(text[1]) & LOWER) && (length < 3 || class_of(text[2]) & LOWER);
}

/* Words, alone or put together (AutoModel, auto-model, auto_model2): few digits, and behind each capital two small letters. */
static bool are_words(const char *text, size_t length)
{
    size_t digits = 0;
    for (size_t i = 0; i < length; i++) {
        digits += class_of(text[i]) & DIGIT ? 1 : 0;
        if (class_of(text[i]) & UPPER && !begins_a_word(text + i, length - i))
            return false;
    }
    return digits <= 2;
}

/* Whether these characters are as random ones are. */
static bool meets(enum demand demand, const char *text, size_t length)
{
    size_t upper = 0, lower = 0, digits = 0;
    for (size_t i = 0; i < length; i++) {
        int class = class_of(text[i]);
        upper += class & UPPER ? 1 : 0;
        lower += class & LOWER ? 1 : 0;
        digits += class & DIGIT ? 1 : 0;
    }
    switch (demand) {
    case ANY:
        return true;
    case MIXED: /* capitals, small letters, digits: two of them */
        return (upper != 0) + (lower != 0) + (digits != 0) > 1;
    case NOT_WORDS: /* or hexadecimal */
        return (upper && lower && !are_words(text, length)) || (digits >= length / 4 && upper + lower);
    }
    return false;
}

/* How many characters of a class, `most` at most, stand at `*at`, which it sets behind them. */
static size_t take(const char **at, int class, size_t most)
{
    size_t length = 0;
    for (; length < most; length++, ++*at) {
        const char *character = class & PLUS ? past_escape(*at) : *at;
        if (!(class_of(*character) & class))
            break;
        *at = character;
    }
    return length;
}

/* Whether a key of this form stands behind its head. */
static bool is_secret(const struct form *form, const char *at)
{
    const char *last = at;
    size_t length = 0;
    bool ends = true;
    for (const struct part *part = form->parts; part->text || part->of; part++) {
        if (part->text) {
            at = past_text(at, part->text, false);
            if (!at)
                return false;
            continue;
        }
        ends = part->most != MORE;
        last = at;
        if (take(&at, part->of, (size_t)(ends ? part->most : part->least)) < (size_t)part->least)
            return false;
        length = (size_t)(at - last);
    }
    return !(ends && is_word(*at)) && meets(form->demand, last, length);
}

/* Behind what stands between a name and its value (`: `, ` = "`, `\":\"`, `>`); NULL: nothing does. */
static const char *past_assignment(const char *at)
{
    size_t length = strspn(at, " \t\\\"'=:>");
    return length && length <= 16 ? at + length : NULL;
}

/* Behind line ends, escaped ones too, and what stands between the strings of a program's text. */
static const char *past_breaks(const char *at)
{
    for (;; at++)
        if (*at == '\\' && (at[1] == 'n' || at[1] == 'r'))
            at++;
        else if (!*at || !strchr(" \t\r\n\\\"'+,>", *at))
            return at;
}

static const char pem[] = "-----BEGIN ";

/* A private key in PEM (RFC 7468, RFC 1421) or PGP's armour (RFC 9580, section 6.2): -----BEGIN ... PRIVATE KEY-----, headers, base64. */
static bool is_pem(const char *at)
{
    enum { LABEL = 40, HEADERS = 8, HEADER = 200, LEAST = 12, LINE = 64 };
    size_t label = 0;
    while (label < LABEL && (class_of(at[label]) & (UPPER | DIGIT) || at[label] == ' '))
        label++;
    static const char pgp[] = "PGP PRIVATE KEY BLOCK", key[] = "PRIVATE KEY";
    bool is_key = label >= sizeof key - 1 && !memcmp(at + label - (sizeof key - 1), key, sizeof key - 1);
    if ((!is_key && (label != sizeof pgp - 1 || memcmp(at, pgp, label))) || strncmp(at + label, "-----", 5))
        return false;
    at = past_breaks(at + label + 5);
    for (int header = 0; header < HEADERS; header++) { /* `DEK-Info: AES-128-CBC,...` up to the end of its line */
        const char *name = at;
        size_t end = take(&name, BASE62 | DASH, HEADER);
        if (!end || strncmp(name, ": ", 2))
            break;
        while (end < HEADER && at[end] && at[end] != '\n' &&
               !(at[end] == '\\' && (at[end + 1] == 'n' || at[end + 1] == 'r')))
            end++;
        at = past_breaks(at + end);
    }
    const char *line = at;
    return take(&at, BASE64, LINE) >= LEAST && meets(MIXED, line, (size_t)(at - line));
}

/* So many hexadecimal digits before `at`, and before these the mark of an escape. */
static bool is_escape(const char *text, const char *at, size_t digits, const char *mark)
{
    size_t length = strlen(mark);
    if ((size_t)(at - text) < digits + length || memcmp(at - digits - length, mark, length))
        return false;
    for (size_t i = 1; i <= digits; i++)
        if (!isxdigit((unsigned char)at[-(long)i]))
            return false;
    return true;
}

/* Whether a word begins here: behind what is neither letter nor digit, or behind an escape that ends in one (`\n`, `\x22`, `\u0022`, `%3D`). */
static bool begins(const char *text, const char *at)
{
    if (at == text || !is_word(at[-1]) || !is_word(*at))
        return true;
    return (at - text >= 2 && at[-2] == '\\' && strchr("nrtbf0", at[-1])) || is_escape(text, at, 2, "%") ||
           is_escape(text, at, 2, "\\x") || is_escape(text, at, 4, "\\u");
}

/* The first three characters of the heads, hashed: what most places of a text are passed by with. */
enum { PLACES = 1 << 15 };
struct starts {
    uint64_t bits[PLACES / 64];
};
static unsigned place_of(const char *at)
{
    return ((unsigned)at[0] ^ (unsigned)at[1] << 5 ^ (unsigned)at[2] << 10) % PLACES;
}

static void add_start(struct starts *starts, const char *head, bool caseless)
{
    for (unsigned capitals = 0; capitals < (caseless ? 8 : 1); capitals++) {
        char start[3];
        for (unsigned i = 0; i < 3; i++)
            start[i] = capitals >> i & 1 ? (char)toupper((unsigned char)head[i]) : head[i];
        unsigned place = place_of(start);
        starts->bits[place / 64] |= UINT64_C(1) << place % 64;
    }
}

/* The kind of the secret that begins here; NULL: none does. */
static const char *kind_at(const char *at)
{
    for (size_t i = 0; i < FORMS; i++) {
        const struct form *form = &forms[i];
        if ((*at | (form->named ? 'a' - 'A' : 0)) != *form->head)
            continue;
        const char *behind = past_text(at, form->head, form->named);
        if (behind && form->named)
            behind = past_assignment(behind);
        if (behind && is_secret(form, behind))
            return form->kind;
    }
    return !strncmp(at, pem, sizeof pem - 1) && is_pem(at + sizeof pem - 1) ? "private key" : NULL;
}

const char *cot_secret_in(const char *text)
{
    struct starts starts = {0};
    add_start(&starts, pem, false);
    for (size_t i = 0; i < FORMS; i++)
        add_start(&starts, forms[i].head, forms[i].named);
    const char *kind = NULL;
    for (const char *at = text; !kind && at[0] && at[1] && at[2]; at++) {
        unsigned place = place_of(at);
        if (starts.bits[place / 64] >> place % 64 & 1 && begins(text, at))
            kind = kind_at(at);
    }
    return kind;
}
