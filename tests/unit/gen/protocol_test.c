/* The OpenAI protocol as text: bodies of requests, and what is read of replies in the forms that servers give them. */
#include "gen/protocol.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct gen_incoming incoming;

/* Reads a reply that comes in pieces of so many bytes. */
static void read_in(const char *text, size_t length, size_t piece, int wanted)
{
    gen_incoming_free(&incoming);
    incoming = (struct gen_incoming){.wanted = wanted};
    for (size_t at = 0; at < length; at += piece)
        gen_incoming_add(&incoming, text + at, length - at < piece ? length - at : piece);
    gen_incoming_end(&incoming);
}

static const char *text_of(int choice)
{
    const char *text = incoming.choices[choice].text.bytes;
    return text ? text : "";
}

/* A reply that is one answer: its text, whatever the pieces are. */
static void expect(const char *reply, const char *text)
{
    for (size_t piece = 1; piece < 9; piece++) {
        read_in(reply, strlen(reply), piece, 1);
        if (gen_incoming_wrong(&incoming))
            fail_msg("%s: %s", reply, gen_incoming_wrong(&incoming));
        assert_int_equal(incoming.count, 1);
        assert_string_equal(text_of(0), text);
    }
}

static void expect_wrong(const char *reply, const char *why)
{
    read_in(reply, strlen(reply), 3, 1);
    const char *wrong = gen_incoming_wrong(&incoming);
    if (!wrong || !strstr(wrong, why))
        fail_msg("%s: '%s' is not in '%s'", reply, why, wrong ? wrong : "");
}

static int drop(void **state)
{
    (void)state;
    gen_incoming_free(&incoming);
    return 0;
}

#define STREAM(delta)  "data: {\"choices\":[{\"index\":0,\"delta\":{" delta "}}]}\n\n"
#define DONE           "data: [DONE]\n\n"
#define WHOLE(message) "{\"choices\":[{\"index\":0,\"message\":{" message "},\"finish_reason\":\"stop\"}]}"

static void test_streams(void **state)
{
    (void)state;
    expect(STREAM("\"content\":\"a\"") STREAM("\"content\":\"b\\n\"") DONE, "ab\n");
    expect("\xef\xbb\xbf\n\n: a comment\n\n" STREAM("\"content\":\"a\"") DONE, "a");
    expect("event: x\r\nid: 4\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\ndata:[DONE]\r\n\r\n", "a");
    expect("data: {\"choices\":\rdata: [{\"text\":\"two lines\"}]}\r\rdata: [DONE]\r\r", "two lines");
    expect(STREAM("\"role\":\"assistant\",\"content\":null") STREAM("\"content\":\"a\"") STREAM("") DONE, "a");
    expect(STREAM("\"content\":\"no empty line at the end\"") "data: [DONE]", "no empty line at the end");
    expect(STREAM("\"content\":\"a\"") DONE "data: {\"choices\":[{\"delta\":{\"content\":\"behind it\"}}]}\n\n", "a");
    expect("data: {\"choices\":[{\"delta\":{\"content\":\"no DONE\"},\"finish_reason\":\"stop\"}]}\n\n", "no DONE");
}

static void test_wholes(void **state)
{
    (void)state;
    expect(WHOLE("\"content\":\"a\""), "a");
    expect("  \r\n\xef\xbb\xbf" WHOLE("\"content\":\"a\""), "a");
    expect(WHOLE("\"content\":null"), "");
    expect(WHOLE("\"content\":null,\"refusal\":\"I will not\""), "I will not");
    expect(WHOLE("\"content\":[{\"type\":\"text\",\"text\":\"in \"},{\"type\":\"text\",\"text\":\"parts\"}]"),
           "in parts");
    expect("{\"choices\":[{\"text\":\"of completions\",\"finish_reason\":null}],\"error\":null}", "of completions");
}

/* JSON that is not quite right costs no answer. */
static void test_characters(void **state)
{
    (void)state;
    expect(WHOLE("\"content\":\"\\ud83d\\ude42 \\ud83d! \\ude42 \\u0000 \\\\ud83d\""),
           "\xf0\x9f\x99\x82 \xef\xbf\xbd! \xef\xbf\xbd \xef\xbf\xbd \\ud83d");
    expect(WHOLE("\"content\":\"\xff\xe6\xbc\""), "???");
    expect(STREAM("\"content\":\"\xe6\xbc\"") STREAM("\"content\":\"\xa2\"") DONE, "???");
    expect("{\"created\":123456789012345678901234567890,"
           "\"choices\":[{\"text\":\"a\"}],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":8}}",
           "a");
    assert_int_equal(incoming.prompt_tokens, 7); /* the other numbers are as they were */
}

static void test_what_is_wrong(void **state)
{
    (void)state;
    expect_wrong("", "empty");
    expect_wrong("{\"choices\":[{\"text\":\"a\"}", "no JSON object");
    expect_wrong("[1]", "no JSON object");
    expect_wrong("{}", "no choices");
    expect_wrong("{\"choices\":[]}", "no choices");
    expect_wrong("<html>", "no JSON object");
    expect_wrong("plain text", "no choices");
    expect_wrong(DONE, "no choices");
    expect_wrong(STREAM("\"content\":\"a\""), "without [DONE] and without a finish_reason");
    expect_wrong(STREAM("\"content\":\"a\"") "data: {\"choi", "no JSON object");
    expect_wrong("data: 7\n\n", "no JSON object");
    expect_wrong("{\"error\":{\"message\":\"words\",\"type\":\"kind\",\"code\":\"name\"}}", "words (name) (kind)");
    expect_wrong("{\"error\":\"just words\"}", "just words");
    expect_wrong("{\"detail\":[{\"msg\":\"FastAPI\"}]}", "FastAPI");
    expect_wrong("{\"object\":\"error\",\"message\":\"old vLLM\",\"code\":404}", "old vLLM");
    assert_int_equal(incoming.code, 404);
    expect_wrong(STREAM("\"content\":\"a\"") "data: {\"error\":{\"message\":\"midway\",\"code\":503}}\n\n" DONE,
                 "midway");
    assert_int_equal(incoming.code, 503);
    expect_wrong("[{\"error\":{\"code\":400,\"message\":\"Google's\"}}]", "Google's");
}

/* Choices come by index, also in turn, and those that nobody asked for are dropped. */
static void test_choices(void **state)
{
    (void)state;
    const char *reply =
        "data: "
        "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"B\"}},{\"index\":0,\"delta\":{\"content\":\"A\"}}]}\n\n"
        "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"length\"}]}\n\n"
        "data: "
        "{\"choices\":[{\"index\":7,\"delta\":{\"content\":\"x\"}},{\"index\":-1,\"delta\":{\"content\":\"x\"}}]}\n\n"
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n"
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}}\n\n";
    read_in(reply, strlen(reply), 11, 2);
    assert_null(gen_incoming_wrong(&incoming));
    assert_int_equal(incoming.count, 2);
    assert_string_equal(text_of(0), "Aa");
    assert_string_equal(text_of(1), "Bb");
    assert_string_equal(incoming.choices[1].finish, "length");
    assert_true(incoming.counted);
    assert_int_equal(incoming.prompt_tokens, 5);
    assert_int_equal(incoming.completion_tokens, 6);
}

/* Totals that come for each answer add up; totals that grow with the stream, or come again, do not. */
static void test_usage(void **state)
{
    (void)state;
#define TOTAL(tokens) "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":" tokens "}}\n\n"
#define SO_FAR(tokens)                                                                                                 \
    "data: {\"choices\":[{\"text\":\"a\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":" tokens "}}\n\n"
    static const struct {
        const char *reply;
        int wanted, tokens;
    } rows[] = {
        {TOTAL("3") STREAM("\"content\":\"a\"") TOTAL("5") DONE, 2, 8},
        {SO_FAR("1") SO_FAR("2") TOTAL("3") DONE, 2, 3},
        {SO_FAR("1") SO_FAR("2") TOTAL("3") DONE, 1, 3},
        {SO_FAR("1") TOTAL("3") TOTAL("3") DONE, 1, 3},
        {SO_FAR("1") SO_FAR("2") DONE, 2, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        read_in(rows[i].reply, strlen(rows[i].reply), 17, rows[i].wanted);
        assert_int_equal(incoming.prompt_tokens, 9);
        assert_int_equal(incoming.completion_tokens, rows[i].tokens);
    }
}

static void test_reasoning(void **state)
{
    (void)state;
    const char *names[] = {"reasoning", "reasoning_content"};
    for (int i = 0; i < 2; i++) {
        char reply[256];
        snprintf(reply, sizeof reply, "{\"choices\":[{\"message\":{\"content\":\"a\",\"%s\":\"why\"}}]}", names[i]);
        read_in(reply, strlen(reply), 256, 1);
        assert_string_equal(text_of(0), "a");
        assert_string_equal(incoming.choices[0].reasoning.bytes, "why");
    }
    const char *both =
        "{\"choices\":[{\"message\":{\"content\":\"a\",\"reasoning\":\"why\",\"reasoning_content\":\"why\"}}]}";
    read_in(both, strlen(both), 256, 1);
    assert_string_equal(incoming.choices[0].reasoning.bytes, "why");
}

/* What is kept of a stream is what the server would have sent at once. */
static void test_kept(void **state)
{
    (void)state;
    const char *reply =
        "data: "
        "{\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{"
        "\"content\":\"a\"}}]}\n\n"
        "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}],"
        "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n" DONE;
    read_in(reply, strlen(reply), 7, 1);
    char *text = gen_incoming_text(&incoming);
    assert_string_equal(
        text, "{\"id\":\"x\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{"
              "\"role\":\"assistant\",\"content\":"
              "\"ab\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}");
    free(text);
    read_in("no\xff", 4, 1, 1);
    text = gen_incoming_text(&incoming);
    assert_string_equal(text, "no??");
    free(text);
}

static void test_bodies(void **state)
{
    (void)state;
    const struct gen_message messages[] = {{"system", "s"}, {"user", "\xff\"u\""}};
    const struct gen_endpoint chat = {.model = "m"},
                              completions = {.model = "m", .api = GEN_COMPLETIONS, .stream = true};
    const struct gen_request request = {.messages = messages,
                                        .message_count = 2,
                                        .sampling = {.temperature = 0, .top_p = NAN, .min_p = NAN, .max_tokens = 5}};
    struct gen_quirks quirks = {0};
    char *body = gen_protocol_body(&chat, &request, 1, 0, &quirks);
    assert_string_equal(
        body, "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":"
              "\"?\\\"u\\\"\"}],\"temperature\":0.0,\"max_tokens\":5,\"stream\":false}");
    free(body);
    quirks.no_usage = quirks.completion_tokens = true;
    body = gen_protocol_body(&completions, &request, 3, 0, &quirks);
    assert_string_equal(
        body, "{\"model\":\"m\",\"prompt\":\"s\\n\\n?\\\"u\\\"\",\"temperature\":0.0,\"max_completion_tokens\":5,"
              "\"n\":3,\"stream\":true}");
    free(body);
}

/* A complaint teaches one thing, once. */
static void test_quirks(void **state)
{
    (void)state;
    struct gen_quirks quirks = {0};
    assert_false(gen_quirks_learn(&quirks, "the prompt is too long", 1));
    assert_false(gen_quirks_learn(&quirks, NULL, 5));
    assert_false(gen_quirks_learn(&quirks, "only n = 1", 1));
    assert_false(gen_quirks_learn(&quirks, "an unknown_n nothing", 5));
    assert_true(gen_quirks_learn(&quirks, "only n=1", 5));
    assert_true(quirks.single);
    assert_false(gen_quirks_learn(&quirks, "only n=1", 5));
    assert_true(gen_quirks_learn(&quirks, "'stream_options': extra", 1));
    assert_true(quirks.no_usage && !quirks.completion_tokens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams), cmocka_unit_test(test_wholes),    cmocka_unit_test(test_characters),
        cmocka_unit_test(test_choices), cmocka_unit_test(test_reasoning), cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_kept),    cmocka_unit_test(test_bodies),    cmocka_unit_test(test_quirks),
        cmocka_unit_test(test_usage),
    };
    return cmocka_run_group_tests(tests, NULL, drop);
}
