/* Answers are cut into segments, segments into lexemes; equal segments are one that is counted. */
#include "cot/fragments.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "cot/fragments_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 12,   /* occurrences of a pair that becomes one, and of a lexeme that is a fragment */
    AT_ONCE = 400 /* pairs, at most, that become one in a round: they have nothing in common */
};

struct cot_fragments *cot_fragments_new(void)
{
    struct cot_fragments *fragments = memory_alloc(sizeof *fragments);
    fragments->lexer = cot_lexer_new();
    return fragments;
}

void cot_fragments_free(struct cot_fragments *fragments)
{
    if (!fragments)
        return;
    cot_lexer_free(fragments->lexer);
    text_free(&fragments->told);
    arena_free(&fragments->arena);
    free(fragments);
}

int cot_fragments_rows(const struct cot_fragments *fragments)
{
    return fragments->answer_count;
}

/* The formulas that an answer begins with, in a comment's line; a project's is below the name of its first file. */
static const char *head(const char *answer)
{
    if (*answer == '<')
        answer = strchr(answer, '\n') ? strchr(answer, '\n') + 1 : "";
    if (strncmp(answer, "# ", 2) == 0)
        answer += 2;
    else if (strncmp(answer, "// ", 3) == 0)
        answer += 3;
    return answer;
}

static void count_segment(void *closure, const int *lexemes, int count)
{
    struct cot_fragments *fragments = closure;
    int segment = strings_number(&fragments->arena, &fragments->segments, lexemes, (size_t)count * sizeof *lexemes);
    if (segment == fragments->times_count)
        ARRAY_ADD(&fragments->arena, fragments->times, fragments->times_count, fragments->times_capacity, 0);
    fragments->times[segment]++;
}

void cot_fragments_add(struct cot_fragments *fragments, const char *question, const char *answer)
{
    const char *formulas = head(answer);
    text_add(&fragments->told, question);
    text_add(&fragments->told, "\n");
    text_append(&fragments->told, formulas, strcspn(formulas, "\n"));
    text_add(&fragments->told, "\n");
    ARRAY_ADD(&fragments->arena, fragments->answers, fragments->answer_count, fragments->answer_capacity,
              arena_strdup(&fragments->arena, answer));
    cot_lexer_cut(fragments->lexer, question, answer, &fragments->arena, &fragments->lexemes, count_segment, fragments);
}

/* ---- Candidates: what merges of neighbours make. */

/* A segment that has several parts still. */
struct part {
    int *cut, length;
    int64_t times;
};
struct pair {
    int left, right;
    int64_t times;
    int order; /* when it was met */
};
struct pairs {
    struct arena arena;
    struct strings keys;
    struct pair *items;
    int count, capacity;
};

static void count_pair(struct pairs *pairs, int left, int right, int64_t times)
{
    const int number = strings_number(&pairs->arena, &pairs->keys, (int[]){left, right}, 2 * sizeof left);
    if (number == pairs->count)
        ARRAY_ADD(&pairs->arena, pairs->items, pairs->count, pairs->capacity, (struct pair){left, right, 0, number});
    pairs->items[number].times += times;
}

static int by_times(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    return a->times != b->times ? (a->times < b->times) - (a->times > b->times) : a->order - b->order;
}

/* What becomes one in a round, by the lexeme on the left; -1: nothing. */
struct round {
    int *right, *both;
    bool *used;
    int lexemes, chosen;
};

/* The most frequent pairs, those far behind the first left out: what merges make is counted before they are looked at again. */
static void choose_pairs(struct round *round, struct cot_fragments *fragments, struct pairs *pairs)
{
    if (pairs->count)
        qsort(pairs->items, (size_t)pairs->count, sizeof *pairs->items, by_times);
    for (int i = 0; i < pairs->count && i < AT_ONCE; i++) {
        const struct pair *pair = &pairs->items[i];
        if (pair->times < LEAST || (double)pair->times < 0.6 * (double)pairs->items[0].times)
            return;
        if (round->used[pair->left] || round->used[pair->right])
            continue;
        round->used[pair->left] = round->used[pair->right] = true;
        round->right[pair->left] = pair->right;
        const struct string a = fragments->lexemes.items[pair->left], b = fragments->lexemes.items[pair->right];
        const char *both = arena_printf(&pairs->arena, "%s%s", a.at, b.at);
        round->both[pair->left] = strings_number(&fragments->arena, &fragments->lexemes, both, a.length + b.length);
        round->chosen++;
    }
}

static void merge_part(const struct round *round, struct part *part)
{
    for (int at = part->length - 2; at >= 0; at--) {
        int left = part->cut[at];
        if (left >= round->lexemes || round->right[left] < 0 || part->cut[at + 1] != round->right[left])
            continue;
        part->cut[at] = round->both[left];
        part->length--;
        memmove(&part->cut[at + 1], &part->cut[at + 2], (size_t)(part->length - at - 1) * sizeof *part->cut);
    }
}

/* One round. False: no pair is frequent enough. */
static bool merge_once(struct cot_fragments *fragments, struct part *parts, int count)
{
    struct strings *lexemes = &fragments->lexemes;
    struct pairs pairs = {0};
    size_t known = (size_t)lexemes->count;
    struct round round = {.right = memory_alloc(known * sizeof *round.right),
                          .both = memory_alloc(known * sizeof *round.both),
                          .used = memory_alloc(known * sizeof *round.used),
                          .lexemes = lexemes->count};
    for (size_t i = 0; i < known; i++)
        round.right[i] = -1;
    for (int i = 0; i < count; i++)
        for (int at = 0; at + 1 < parts[i].length; at++)
            count_pair(&pairs, parts[i].cut[at], parts[i].cut[at + 1], parts[i].times);
    choose_pairs(&round, fragments, &pairs);
    for (int i = 0; i < count && round.chosen; i++)
        merge_part(&round, &parts[i]);
    for (size_t i = 0; i < known; i++)
        if (round.right[i] >= 0)
            lexemes->items[round.both[i]].marked = true;
    arena_free(&pairs.arena);
    free(round.right);
    free(round.both);
    free(round.used);
    return round.chosen > 0;
}

/* Marks, among the lexemes, what occurs often enough: alone, or by merges. */
static void find_candidates(struct cot_fragments *fragments)
{
    int total = fragments->segments.count, count = 0;
    struct part *parts = memory_alloc(((size_t)total + 1) * sizeof *parts);
    for (int i = 0; i < total; i++) {
        struct part part = {(int *)fragments->segments.items[i].at,
                            (int)(fragments->segments.items[i].length / sizeof *part.cut), fragments->times[i]};
        if (part.length > 1)
            parts[count++] = part;
        else if (part.times >= LEAST)
            fragments->lexemes.items[part.cut[0]].marked = true;
    }
    while (merge_once(fragments, parts, count))
        ;
    free(parts);
}

/* ---- The choice. */

static int by_bytes(const void *left, const void *right)
{
    const struct cot_fragment *a = left, *b = right;
    return strcmp(a->text, b->text);
}

static int by_saving(const void *left, const void *right)
{
    const struct cot_fragment *a = left, *b = right;
    int64_t saved_a = a->used * (a->tokens - 1), saved_b = b->used * (b->tokens - 1);
    return saved_a != saved_b ? (saved_a < saved_b) - (saved_a > saved_b) : strcmp(a->text, b->text);
}

/* Characters of UTF-8. */
static int characters(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* A fragment that may be a token: no short one, none that questions or formulas have, and no end of a word. */
static bool may_be(const struct cot_fragments *fragments, const char *text)
{
    return characters(text) > 2 && !strstr(fragments->told.bytes, text) &&
           (cot_lexer_alone(fragments->lexer, text) ||
            (!islower((unsigned char)*text) && !isdigit((unsigned char)*text)));
}

/* The longest fragment of the sorted ones that a text begins with; NULL: none. The range of those that agree so far gets narrower byte by byte. */
static struct cot_fragment *longest_at(struct cot_fragment *sorted, int count, const char *text)
{
    struct cot_fragment *longest = NULL;
    int low = 0, high = count;
    for (size_t depth = 0; text[depth] && low < high; depth++) {
        const unsigned char byte = (unsigned char)text[depth];
        for (int wanted = byte, end = high; low < end;) { /* the first that has at least this byte */
            int middle = low + (end - low) / 2;
            if ((unsigned char)sorted[middle].text[depth] < wanted)
                low = middle + 1;
            else
                end = middle;
        }
        for (int from = low; from < high;) { /* the first that has more */
            int middle = from + (high - from) / 2;
            if ((unsigned char)sorted[middle].text[depth] <= byte)
                from = middle + 1;
            else
                high = middle;
        }
        if (low < high && !sorted[low].text[depth + 1])
            longest = &sorted[low];
    }
    return longest;
}

/* Counts how often each of the sorted ones is found in the answers, the longest at each place. */
static void count_uses(const struct cot_fragments *fragments, struct cot_fragment *sorted, int count)
{
    for (int i = 0; i < count; i++)
        sorted[i].used = 0;
    for (int i = 0; i < fragments->answer_count; i++)
        for (const char *at = fragments->answers[i]; *at;) {
            struct cot_fragment *found = longest_at(sorted, count, at);
            if (found)
                found->used++;
            at += found ? strlen(found->text) : 1;
        }
}

/* What longer ones leave little use for goes; so others are used more, and again. */
static int keep_used(const struct cot_fragments *fragments, struct cot_fragment *sorted, int count)
{
    enum { ROUNDS = 3 };
    for (int round = 0; round < ROUNDS; round++) {
        int kept = 0;
        count_uses(fragments, sorted, count);
        for (int i = 0; i < count; i++)
            if (2 * sorted[i].used >= LEAST)
                sorted[kept++] = sorted[i];
        count = kept;
    }
    return count;
}

/* Tokens of the answers by the tokenizer, with these fragments as tokens. */
static struct akgen_error *count_tokens(const struct cot_fragments *fragments, const struct lm_tokenizer *tokenizer,
                                        struct cot_fragment *sorted, int count, int64_t *tokens)
{
    struct akgen_error *error = NULL;
    for (int i = 0; i < fragments->answer_count && !error; i++)
        for (const char *at = fragments->answers[i]; *at && !error;) {
            const char *end = at;
            int64_t between = 0;
            struct cot_fragment *found = NULL;
            while (*end && !(found = longest_at(sorted, count, end)))
                end++;
            if (end > at)
                error = lm_tokenizer_count(tokenizer, at, (size_t)(end - at), &between);
            *tokens += between + (found != NULL);
            at = found ? end + strlen(found->text) : end;
        }
    return error;
}

struct akgen_error *cot_fragments_choose(struct cot_fragments *fragments, const struct lm_tokenizer *tokenizer,
                                         int most, struct arena *arena, const char ***texts, int *count,
                                         struct cot_fragments_saving *saving)
{
    const struct strings *lexemes = &fragments->lexemes;
    struct akgen_error *error = NULL;
    int kept = 0;
    *saving = (struct cot_fragments_saving){0};
    find_candidates(fragments);
    struct cot_fragment *chosen = memory_alloc(((size_t)lexemes->count + 1) * sizeof *chosen);
    for (int i = 0; i < lexemes->count; i++)
        if (lexemes->items[i].marked && may_be(fragments, lexemes->items[i].at))
            chosen[kept++] = (struct cot_fragment){.text = lexemes->items[i].at};
    qsort(chosen, (size_t)kept, sizeof *chosen, by_bytes);
    kept = keep_used(fragments, chosen, kept);
    for (int i = 0; i < kept && !error; i++)
        error = lm_tokenizer_count(tokenizer, chosen[i].text, strlen(chosen[i].text), &chosen[i].tokens);
    qsort(chosen, (size_t)kept, sizeof *chosen, by_saving);
    while (kept && chosen[kept - 1].tokens < 2) /* is a token already */
        kept--;
    kept = kept < most ? kept : most;
    *texts = arena_alloc(arena, ((size_t)kept + 1) * sizeof **texts);
    *count = kept;
    for (int i = 0; i < kept; i++)
        (*texts)[i] = arena_strdup(arena, chosen[i].text);
    qsort(chosen, (size_t)kept, sizeof *chosen, by_bytes);
    if (!error)
        error = count_tokens(fragments, tokenizer, NULL, 0, &saving->before);
    if (!error)
        error = count_tokens(fragments, tokenizer, chosen, kept, &saving->after);
    free(chosen);
    return error;
}
