/* What it costs to hold a model to the grammar of AscendDSL, in one thread, with vocabularies of 4,096 and 151,936 tokens, which are pieces of this
 * project's sources. First the guide alone along the first programs of tasks, 4,000 tokens: when a state's mask has to be found, and when it is there. Then
 * a model of random weights as wide as Qwen3-0.6B, two layers of it, writing with and without: tokens for each second, in one run. */
#include "base/clock.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "dsl/dsl.h"
#include "lm/engine.h"
#include "lm/guide.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST = 24, TEXTS = 8, WRITTEN = 80 };

static void require(struct akgen_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "lm_guide: %s\n", error->message);
    exit(1);
}

/* ---- Vocabularies */

/* Distinct texts, in the order in which they came. */
struct pieces {
    struct arena arena;
    const char **items;
    uint32_t *slots;
    size_t count, most, slot_count;
};

static void add_piece(struct pieces *pieces, const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325U;
    if (pieces->count == pieces->most || length > LONGEST)
        return;
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] >= 0x7f || ((unsigned char)text[i] < ' ' && text[i] != '\n'))
            return;
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3U;
    }
    size_t slot = hash % pieces->slot_count;
    for (uint32_t found; (found = pieces->slots[slot]); slot = (slot + 1) % pieces->slot_count)
        if (strlen(pieces->items[found - 1]) == length && memcmp(pieces->items[found - 1], text, length) == 0)
            return;
    pieces->items[pieces->count++] = arena_strndup(&pieces->arena, text, length);
    pieces->slots[slot] = (uint32_t)pieces->count;
}

/* The end of the piece that begins here, as pre-tokenizers cut: a word with the blank before it, a run of signs, of blanks, of ends of lines. */
static size_t piece_length(const char *at)
{
    size_t length = *at == ' ' && isalpha((unsigned char)at[1]);
    if (isalpha((unsigned char)at[length]) || at[length] == '_')
        while (isalnum((unsigned char)at[length]) || at[length] == '_')
            length++;
    else if (*at == ' ' || *at == '\n')
        length = strspn(at, *at == ' ' ? " " : "\n");
    else if (ispunct((unsigned char)*at))
        while (ispunct((unsigned char)at[length]))
            length++;
    else
        length = 1;
    return length;
}

/* Of all files: the pieces, then their begins, then two of them together. */
static void add_pieces(struct pieces *pieces, const char *text, int round)
{
    for (const char *at = text; *at; at += piece_length(at)) {
        size_t length = piece_length(at);
        if (round == 0)
            add_piece(pieces, at, length);
        for (size_t i = 1; i < length && round == 1; i++)
            add_piece(pieces, at, i);
        if (round == 2 && at[length])
            add_piece(pieces, at, length + piece_length(at + length));
        for (size_t i = 1; round == 3 && i < LONGEST && at[i]; i++)
            add_piece(pieces, at, i);
    }
}

static void add_letter(struct text *json, unsigned char c)
{
    if (c == '"' || c == '\\')
        text_addf(json, "\\%c", c);
    else if (c > ' ' && c < 0x7f)
        text_append(json, (const char *)&c, 1);
    else
        text_addf(json, "\\u%04x",
                  c <= ' '    ? 0x100U + c
                  : c == 0x7f ? 0x121U
                  : c < 0xa1  ? 0x122U + c - 0x80
                  : c == 0xad ? 0x143U
                              : c);
}

static struct lm_tokenizer *make_tokenizer(int vocabulary, const char *const *paths, size_t count)
{
    static const char folder[] = AKGEN_SOURCE_DIR;
    struct pieces pieces = {.most = (size_t)vocabulary - 257, .slot_count = 1 << 19};
    struct text json = {0};
    struct lm_tokenizer *tokenizer;
    pieces.items = memory_alloc(pieces.most * sizeof *pieces.items);
    pieces.slots = memory_alloc(pieces.slot_count * sizeof *pieces.slots);
    for (int round = 0; round < 4; round++)
        for (size_t i = 0; i < count; i++) {
            struct arena arena = {0};
            char *text;
            size_t length;
            require(files_read(&arena, arena_printf(&arena, "%s/%s", folder, paths[i]), 1 << 24, &text, &length));
            add_pieces(&pieces, text, round);
            arena_free(&arena);
        }
    text_addf(
        &json,
        "{\"added_tokens\":[{\"id\":%d,\"content\":\"<|end|>\",\"special\":true,\"single_word\":false,\"lstrip\":false,"
        "\"rstrip\":false,\"normalized\":false}],\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_"
        "prefix_space\":"
        "false,\"trim_offsets\":true,\"use_regex\":true},\"model\":{\"type\":\"BPE\",\"merges\":[],\"vocab\":{",
        vocabulary - 1);
    for (int byte = 0; byte < 256; byte++) {
        text_add(&json, byte ? ",\"" : "\"");
        add_letter(&json, (unsigned char)byte);
        text_addf(&json, "\":%d", byte);
    }
    int made = 256;
    for (size_t i = 0; i < pieces.count; i++) {
        if (strlen(pieces.items[i]) < 2)
            continue;
        text_add(&json, ",\"");
        for (const char *c = pieces.items[i]; *c; c++)
            add_letter(&json, (unsigned char)*c);
        text_addf(&json, "\":%d", made++);
    }
    text_add(&json, "}}}");
    printf("\n%d tokens, %d of them pieces\n", vocabulary, made - 256);
    require(lm_tokenizer_parse("benchmark", json.bytes, json.length, &tokenizer));
    text_free(&json);
    arena_free(&pieces.arena);
    free(pieces.items);
    free(pieces.slots);
    return tokenizer;
}

/* ---- The guide alone */

/* The longest token that the text begins with; where begins of it are tokens too this is close to what merges make. */
static int32_t next_token(const struct lm_tokenizer *tokenizer, const char *text, size_t left)
{
    uint32_t id;
    for (size_t length = left < LONGEST ? left : LONGEST; length > 1; length--)
        if (lm_tokenizer_find(tokenizer, text, length, &id))
            return (int32_t)id;
    return (unsigned char)*text;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void follow_programs(const struct lm_tokenizer *tokenizer, int vocabulary, const struct lm_grammar *grammar,
                            const char *const *paths, size_t count)
{
    enum { PASSES = 2, MOST = 4000 };
    const int32_t end = vocabulary - 1;
    struct lm_guides *guides = lm_guides_new(tokenizer, vocabulary, &end, 1, LM_GUIDE_BYTES);
    double *took = memory_alloc(MOST * sizeof *took);
    for (int pass = 0; pass < PASSES; pass++) {
        int tokens = 0, refused = 0;
        double all = 0;
        for (size_t i = 0; i < count; i++) {
            const char *name = strrchr(paths[i], '/');
            struct arena arena = {0};
            struct lm_guided guided;
            char *text;
            size_t length, size;
            bool added;
            if (!name || strcmp(name, "/program.py") != 0)
                continue;
            require(
                files_read(&arena, arena_printf(&arena, "%s/%s", AKGEN_SOURCE_DIR, paths[i]), 1 << 20, &text, &length));
            lm_guided_begin(guides, grammar, &guided);
            for (size_t at = 0; at < length && tokens < MOST; at += size) {
                const uint64_t *mask;
                int32_t token = next_token(tokenizer, text + at, length - at);
                double start = clock_seconds();
                lm_guided_allowed(&guided, &mask);
                refused += !(mask[token / 64] >> token % 64 & 1);
                lm_guided_take(&guided, token);
                took[tokens] = clock_seconds() - start;
                all += took[tokens++];
                lm_tokenizer_bytes(tokenizer, (uint32_t)token, &size, &added);
            }
            lm_guided_end(&guided);
            arena_free(&arena);
        }
        qsort(took, (size_t)tokens, sizeof *took, by_value);
        printf("programs of tasks, %s: %d tokens, %.1f us each on average, %.1f us for half of them, %.0f us for 99 of "
               "100, %.0f us at most%s\n",
               pass ? "again" : "first time", tokens, all / tokens * 1e6, took[tokens / 2] * 1e6,
               took[tokens - tokens / 100 - 1] * 1e6, took[tokens - 1] * 1e6, refused ? "; TOKENS WERE REFUSED" : "");
    }
    free(took);
    lm_guides_free(guides);
}

/* ---- With a model */

/* Of the processor: others may want it too. */
static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool count_token(void *closure, const struct lm_token *token)
{
    (void)token;
    (*(int *)closure)++;
    return true;
}

static double write_texts(struct lm_engine *engine, const struct lm_grammar *grammar, int texts)
{
    const int32_t prompt[] = {'a'};
    int written = 0;
    double start = processor_seconds();
    for (int i = 0; i < texts; i++) {
        const struct lm_request request = {.prompt = prompt,
                                           .prompt_count = 1,
                                           .most = WRITTEN,
                                           .sampling = {.temperature = 1, .top_p = 1, .seed = (uint64_t)i},
                                           .grammar = grammar,
                                           .on_token = count_token,
                                           .closure = &written};
        require(lm_engine_add(engine, &request));
    }
    while (lm_engine_step(engine))
        ;
    return written / (processor_seconds() - start);
}

static void write_with_model(const struct lm_tokenizer *tokenizer, int vocabulary, const struct lm_grammar *grammar)
{
    const struct lm_config config = {.layers = 2,
                                     .hidden = 1024,
                                     .heads = 16,
                                     .kv_heads = 8,
                                     .head_size = 128,
                                     .intermediate = 3072,
                                     .vocabulary = vocabulary,
                                     .max_positions = 512,
                                     .begin_token = LM_NO_TOKEN,
                                     .end_token = vocabulary - 1,
                                     .rope_theta = 1e6F,
                                     .norm_eps = 1e-6F,
                                     .initial_spread = 0.02F,
                                     .tied = true};
    const struct lm_engine_options options = {.threads = 1, .texts = TEXTS, .longest = 256};
    struct lm_model model;
    struct lm_engine *engine;
    struct rng rng;
    rng_seed(&rng, 0);
    lm_model_new(&model, &config, &rng);
    require(lm_engine_new(&model, tokenizer, &options, &engine));
    for (int texts = 1; texts <= TEXTS; texts *= TEXTS) {
        double without = write_texts(engine, NULL, texts), first = write_texts(engine, grammar, texts), again = 0;
        for (int turn = 0; turn < 2; turn++) { /* the faster one of each */
            double one = write_texts(engine, NULL, texts), other = write_texts(engine, grammar, texts);
            without = one > without ? one : without;
            again = other > again ? other : again;
        }
        printf("random weights, %d texts of %d tokens: without %.1f tokens/s, guided %.1f the first time (%.2f), %.1f "
               "again (%.2f)\n",
               texts, WRITTEN, without, first, first / without, again, again / without);
    }
    lm_engine_free(engine);
    lm_model_free(&model);
}

int main(void)
{
    static const int vocabularies[] = {4096, 151936};
    struct arena arena = {0};
    const char **all, **paths;
    size_t all_count, count = 0;
    const char *text = dsl_grammar(&arena);
    struct lm_grammar *grammar;
    double start = clock_seconds();
    require(lm_grammar_parse("dsl", text, strlen(text), &grammar));
    printf("the grammar is read in %.1f ms\n", (clock_seconds() - start) * 1e3);
    require(files_list(&arena, AKGEN_SOURCE_DIR, &all, &all_count));
    paths = arena_alloc(&arena, all_count * sizeof *paths);
    for (int programs = 1; programs >= 0; programs--) /* programs first: they make the small vocabulary */
        for (size_t i = 0; i < all_count; i++) {
            const char *ending = strrchr(all[i], '.');
            bool program = ending && strcmp(ending, ".py") == 0 && strncmp(all[i], "tasks/", 6) == 0;
            bool source =
                ending && (strcmp(ending, ".c") == 0 || strcmp(ending, ".md") == 0) && strncmp(all[i], "build", 5) != 0;
            if (programs ? program : source)
                paths[count++] = all[i];
        }
    for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++) {
        struct lm_tokenizer *tokenizer = make_tokenizer(vocabularies[i], paths, count);
        follow_programs(tokenizer, vocabularies[i], grammar, paths, count);
        write_with_model(tokenizer, vocabularies[i], grammar);
        lm_tokenizer_free(tokenizer);
    }
    lm_grammar_free(grammar);
    arena_free(&arena);
    return 0;
}
