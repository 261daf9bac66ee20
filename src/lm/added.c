/* Added tokens: texts that are one token wherever they stand, <|im_end|> and the like. At each place the longest counts. */
#include "lm/tokenizer_internal.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

static int compare(const void *a, const void *b)
{
    const struct lm_span *left = &((const struct lm_added *)a)->text, *right = &((const struct lm_added *)b)->text;
    size_t shorter = left->length < right->length ? left->length : right->length;
    int order = memcmp(left->at, right->at, shorter);
    return order ? order : (left->length > right->length) - (left->length < right->length);
}

void lm_added_sort(struct lm_added_list *list)
{
    if (list->count)
        qsort(list->items, (size_t)list->count, sizeof *list->items, compare);
}

/* The byte at `depth` of an item's text; -1 behind its end, which sorts first. */
static int byte_at(const struct lm_added *item, size_t depth)
{
    return depth < item->text.length ? (unsigned char)item->text.at[depth] : -1;
}

/* The first of items [low, high), which agree in what is before `depth`, whose byte there is at least `byte`. */
static int first_with(const struct lm_added_list *list, int low, int high, size_t depth, int byte)
{
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (byte_at(&list->items[middle], depth) < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The longest token that begins at `at`: the range of those that agree so far gets narrower byte by byte. */
static const struct lm_added *longest_at(const struct lm_added_list *list, struct lm_span text, size_t at)
{
    const struct lm_added *longest = NULL;
    int low = 0, high = list->count;
    for (size_t depth = 0; low < high && at + depth < text.length; depth++) {
        int byte = (unsigned char)text.at[at + depth];
        low = first_with(list, low, high, depth, byte);
        high = first_with(list, low, high, depth, byte + 1);
        if (low < high && list->items[low].text.length == depth + 1)
            longest = &list->items[low];
    }
    return longest;
}

static utf8proc_int32_t character_at(struct lm_span text, size_t at, size_t *width)
{
    utf8proc_int32_t character = -1;
    utf8proc_ssize_t read =
        utf8proc_iterate((const utf8proc_uint8_t *)text.at + at, (utf8proc_ssize_t)(text.length - at), &character);
    *width = read > 0 ? (size_t)read : 1;
    return character;
}

/* Where the character before `at` begins. */
static size_t before(struct lm_span text, size_t at)
{
    at--;
    while (at && ((unsigned char)text.at[at] & 0xc0) == 0x80)
        at--;
    return at;
}

static bool is_space(struct lm_span text, size_t at, size_t *width)
{
    utf8proc_int32_t character = character_at(text, at, width);
    switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return true;
    default:
        return (character >= '\t' && character <= '\r') || character == 0x85;
    }
}

/* Letters, marks, digits, connectors and joiners are part of a word. */
static bool is_word(struct lm_span text, size_t at)
{
    size_t width;
    utf8proc_int32_t character = character_at(text, at, &width);
    if (character == 0x200c || character == 0x200d) /* joiners */
        return true;
    switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
        return true;
    default:
        return false;
    }
}

static bool stands_alone(struct lm_span text, size_t begin, size_t end)
{
    return (!begin || !is_word(text, before(text, begin))) && (end == text.length || !is_word(text, end));
}

const struct lm_added *lm_added_next(const struct lm_added_list *list, struct lm_span text, size_t from,
                                     struct lm_span *found)
{
    for (size_t at = from; list->count && at < text.length; at++) {
        const struct lm_added *token = longest_at(list, text, at);
        size_t begin = at, end = token ? at + token->text.length : 0, width;
        if (!token)
            continue;
        if (token->single_word && !stands_alone(text, begin, end)) {
            at = end - 1; /* a match that does not count takes its place all the same */
            continue;
        }
        while (token->left_strip && begin > from && is_space(text, before(text, begin), &width))
            begin = before(text, begin);
        while (token->right_strip && end < text.length && is_space(text, end, &width))
            end += width;
        *found = (struct lm_span){text.at + begin, end - begin};
        return token;
    }
    return NULL;
}
