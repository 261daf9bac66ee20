/* Replies of any bytes: what is read of them ends, is the same however they are cut into pieces, and is JSON or text in UTF-8.
 * The first byte says how many answers are wanted and whether the status was an error's, the second how the rest is cut. */
#include "fuzz.h"

#include "gen/protocol.h"

#include <stdlib.h>
#include <string.h>

static void read_pieces(struct gen_incoming *incoming, const char *bytes, size_t length, unsigned seed)
{
    for (size_t at = 0; at < length;) {
        seed = seed * 1103515245U + 12345;
        size_t piece = seed ? 1 + (seed >> 16) % 13 : length;
        piece = piece < length - at ? piece : length - at;
        gen_incoming_add(incoming, bytes + at, piece);
        at += piece;
    }
    gen_incoming_end(incoming);
}

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void same_text(const char *one, const char *other)
{
    must(!one == !other && (!one || strcmp(one, other) == 0));
}

static void compare(const struct gen_incoming *one, const struct gen_incoming *other)
{
    char *kept = gen_incoming_text(one), *again = gen_incoming_text(other), *clean = strdup(kept);
    same_text(gen_incoming_wrong(one), gen_incoming_wrong(other));
    same_text(kept, again);
    text_make_utf8(clean);
    same_text(kept, clean);
    must(one->count == other->count && one->count <= one->wanted && one->code == other->code);
    must(one->counted == other->counted && one->prompt_tokens == other->prompt_tokens && one->prompt_tokens >= 0);
    for (int i = 0; i < one->count; i++) {
        const struct gen_partial *a = &one->choices[i], *b = &other->choices[i];
        must(a->text.length == b->text.length && a->reasoning.length == b->reasoning.length && a->seen == b->seen);
        must(!a->text.length ||
             (memcmp(a->text.bytes, b->text.bytes, a->text.length) == 0 && strlen(a->text.bytes) == a->text.length));
        same_text(a->finish, b->finish);
    }
    free(kept);
    free(again);
    free(clean);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length < 2)
        return 0;
    const struct gen_incoming begin = {.wanted = 1 + (bytes[0] & 7), .whole = bytes[0] & 8};
    struct gen_incoming one = begin, other = begin;
    gen_incoming_add(&one, (const char *)bytes + 2, length - 2);
    gen_incoming_end(&one);
    read_pieces(&other, (const char *)bytes + 2, length - 2, bytes[1]);
    compare(&one, &other);
    gen_incoming_free(&one);
    gen_incoming_free(&other);
    return 0;
}

void fuzz_seeds(void)
{
    fuzz_seed_text(
        "\x02x"
        "data: "
        "{\"id\":\"a\",\"choices\":[{\"index\":1,\"delta\":{\"role\":\"assistant\",\"content\":\"a\\ud83d\\ude42\"}},"
        "{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\"},\"finish_reason\":null}]}\r\n\r\n"
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
        ": comment\nevent: x\ndata: {\"choices\":[],\ndata: "
        "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}}\n\n"
        "data: [DONE]\n\n");
    fuzz_seed_text(
        "\x01y"
        " \n{\"choices\":[{\"index\":0,\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\\u0000\\ud83d\"}],"
        "\"refusal\":null,\"reasoning\":\"b\"},\"finish_reason\":\"length\"},{\"text\":\"c\"}],"
        "\"usage\":{\"prompt_tokens\":1e3,\"completion_tokens\":-6}}");
    fuzz_seed_text("\x09z"
                   "[{\"error\":{\"message\":\"m\",\"type\":\"t\",\"code\":429},\"detail\":[1,{\"x\":2}]}]");
    fuzz_seed_text("\x08z"
                   "<html>502</html>");
}
