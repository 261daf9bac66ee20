/* The text of an answer: made clean, and freed of the thinking before it. */
#include "base/text.h"
#include "candidate/answer_internal.h"

#include <ctype.h>
#include <strings.h>

struct answer_span answer_line(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return answer_between(at, stop ? stop : end);
}

const char *answer_next_line(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return stop ? stop + 1 : end;
}

struct answer_span answer_trim(struct answer_span span)
{
    while (span.length && isspace((unsigned char)*span.at))
        span = (struct answer_span){span.at + 1, span.length - 1};
    while (span.length && isspace((unsigned char)span.at[span.length - 1]))
        span.length--;
    return span;
}

bool answer_is_blank(struct answer_span span)
{
    return answer_trim(span).length == 0;
}

bool answer_begins(struct answer_span span, const char *word)
{
    size_t length = strlen(word);
    return span.length >= length && strncasecmp(span.at, word, length) == 0;
}

bool answer_has_word(struct answer_span span, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= span.length; i++)
        if (strncasecmp(span.at + i, word, length) == 0 && (i == 0 || !isalpha((unsigned char)span.at[i - 1])) &&
            (i + length == span.length || !isalpha((unsigned char)span.at[i + length])))
            return true;
    return false;
}

/* What a server may leave at the end of a text that it should have stopped at. */
static const char *const end_tokens[] = {
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>",    "<|end_of_text|>",      "<|end|>",
    "<|return|>", "<|eom_id|>",    "<end_of_turn>", "<|end_of_turn|>",      "</s>",
    "<eos>",      "[EOS]",         "</answer>",     "<｜end▁of▁sentence｜>"};

static size_t without_end_tokens(const char *text, size_t length)
{
    for (bool found = true; found;) {
        found = false;
        while (length && isspace((unsigned char)text[length - 1]))
            length--;
        for (size_t i = 0; i < sizeof end_tokens / sizeof *end_tokens; i++) {
            size_t token = strlen(end_tokens[i]);
            if (length >= token && memcmp(text + length - token, end_tokens[i], token) == 0) {
                length -= token;
                found = true;
            }
        }
    }
    return length;
}

char *answer_clean(struct arena *arena, const char *text, size_t length)
{
    char *clean = arena_alloc(arena, length + 2), *out = clean;
    size_t i = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (; i < length; i++)
        if (text[i] != '\r')
            *out++ = text[i] ? text[i] : '?';
        else if (i + 1 == length || text[i + 1] != '\n')
            *out++ = '\n';
    size_t rest = without_end_tokens(clean, (size_t)(out - clean));
    if (rest)
        clean[rest++] = '\n';
    clean[rest] = '\0';
    text_make_utf8(clean);
    return clean;
}

/* Thinking. Each model family marks it in its own way. */
static const struct {
    const char *open, *close;
} marks[] = {
    {"<think>", "</think>"},
    {"<thinking>", "</thinking>"},
    {"<thought>", "</thought>"},
    {"<thoughts>", "</thoughts>"},
    {"<reasoning>", "</reasoning>"},
    {"<reflection>", "</reflection>"},
    {"<analysis>", "</analysis>"},
    {"<scratchpad>", "</scratchpad>"},
    {"<seed:think>", "</seed:think>"},
    {"<|begin_of_thought|>", "<|end_of_thought|>"},
    {"<|START_THINKING|>", "<|END_THINKING|>"},
    {"<|channel>thought", "<channel|>"},
    {"[THINK]", "[/THINK]"},
    {"◁think▷", "◁/think▷"},
};
enum { MARKS = sizeof marks / sizeof *marks };
enum { GONE = 1 }; /* a byte that no text needs */

static size_t length_of(const char *at, const char *mark)
{
    size_t length = strlen(mark);
    return strncasecmp(at, mark, length) == 0 ? length : 0;
}

/* Marks what is not to be read; lines stay lines. */
static void blank(char *from, const char *to)
{
    for (; from < to; from++)
        if (*from != '\n')
            *from = GONE;
}

static void remove_blanks(char *text)
{
    char *out = text;
    for (; *text; text++)
        if (*text != GONE)
            *out++ = *text;
    *out = '\0';
}

struct thinking {
    struct text taken;
    char *begin;        /* of the thinking at hand, or where text may begin that somebody calls thinking later */
    int which;          /* row of `marks`; -1: none is open */
    const char *spaces; /* the line at hand has nothing but spaces and thinking before this byte */
};

/* True if the line has nothing but spaces and thinking before `at`. Goes on where it came to last: a line can have a million marks. */
static bool begins_line(struct thinking *thinking, const char *at)
{
    const char **from = &thinking->spaces;
    while (*from < at && (**from == ' ' || **from == '\t' || **from == GONE))
        ++*from;
    return *from >= at;
}

static void take(struct thinking *thinking, char *to, char *behind)
{
    size_t mark = thinking->which >= 0 ? strlen(marks[thinking->which].open) : 0;
    if (thinking->taken.length)
        text_add(&thinking->taken, "\n");
    text_append(&thinking->taken, thinking->begin + mark, (size_t)(to - thinking->begin) - mark);
    blank(thinking->begin, behind);
    thinking->begin = behind;
    thinking->which = -1;
}

/* The bytes of a mark at `at`, which opens or closes thinking; 0: there is none. */
static size_t meet_mark(struct thinking *thinking, char *at)
{
    size_t length;
    if (thinking->which >= 0) {
        if ((length = length_of(at, marks[thinking->which].close)))
            take(thinking, at, at + length);
        return length;
    }
    for (int i = 0; i < MARKS; i++) {
        if ((length = length_of(at, marks[i].open)) && begins_line(thinking, at)) {
            thinking->begin = at;
            thinking->which = i;
            return length;
        }
        /* What opened it was in the prompt. */
        if ((length = length_of(at, marks[i].close))) {
            if (begins_line(thinking, at) || at[length] == '\n' || !at[length])
                take(thinking, at, at + length);
            return length;
        }
    }
    return 0;
}

static int line_number(const char *text, const char *at)
{
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

static char *last_of(char *text, const char *word)
{
    char *last = NULL;
    for (char *at = text; (at = strstr(at, word)); at += strlen(word))
        last = at;
    return last;
}

/* gpt-oss: what the channel `final` holds is the answer, `<|channel|>final<|message|>`, or "assistantfinal" where a server left
 * the tokens out. NULL: the text has no channels. */
static char *final_channel(char *text, char **answer)
{
    static const char message[] = "<|message|>";
    char *first = strstr(text, "<|channel|>"), *last = first ? last_of(first, "<|channel|>final") : NULL;
    *answer = NULL;
    if (last) {
        char *behind = strstr(last, message);
        *answer = behind ? behind + sizeof message - 1 : last + strlen(last);
        char *stop = strstr(*answer, "<|");
        if (stop && (length_of(stop, "<|end|>") || length_of(stop, "<|return|>") || length_of(stop, "<|start|>")))
            blank(stop, stop + strlen(stop));
    } else if (!first && length_of(text + strspn(text, " \n\t"), "analysis") &&
               (last = last_of(text, "assistantfinal"))) {
        *answer = last + strlen("assistantfinal");
        return last;
    }
    return first;
}

const char *answer_take_thinking(struct arena *arena, char *text, int *open)
{
    struct thinking thinking = {.begin = text, .which = -1, .spaces = text};
    char *answer, *channel = final_channel(text, &answer), *end = text + strlen(text);
    *open = 0;
    if (channel) {
        take(&thinking, answer ? answer : end, answer ? answer : end);
        *open = answer ? 0 : 1;
    } else {
        for (char *at = text; *at;) {
            size_t length = strchr("<[\xe2", *at) ? meet_mark(&thinking, at) : 0;
            if (*at == '\n')
                thinking.spaces = at + 1;
            at += length ? length : 1;
        }
        if (thinking.which >= 0) {
            *open = line_number(text, thinking.begin);
            take(&thinking, end, end);
        }
    }
    remove_blanks(text);
    const char *taken = thinking.taken.bytes ? arena_strdup(arena, thinking.taken.bytes) : NULL;
    text_free(&thinking.taken);
    return taken;
}
