/* The chat template: what is learned, thoughts, tools; messages that are none; templates that are another's. */
#include "base/files.h"
#include "lm/chat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct akgen_error *render(const char *messages, const struct lm_chat_options *options, struct arena *arena,
                                  struct lm_part **parts, int *count)
{
    json_error_t problem;
    json_t *root = json_loads(messages, JSON_DECODE_ANY, &problem);
    assert_non_null(root);
    struct akgen_error *error = lm_chat_render(root, options, arena, parts, count);
    json_decref(root);
    return error;
}

/* `expected`: the text, learned parts between [ and ]. */
static void check(const char *messages, const struct lm_chat_options *options, const char *expected)
{
    struct arena arena = {0};
    struct lm_part *parts;
    int count;
    char found[2000] = "";
    assert_null(render(messages, options, &arena, &parts, &count));
    for (int i = 0; i < count; i++) {
        assert_int_equal(strlen(parts[i].text), parts[i].length);
        strcat(found, parts[i].learned ? "[" : "");
        strcat(found, parts[i].text);
        strcat(found, parts[i].learned ? "]" : "");
    }
    assert_string_equal(found, expected);
    arena_free(&arena);
}

static void answers_are_learned(void **state)
{
    (void)state;
    static const char two[] = "[{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"A\"},"
                              "{\"role\":\"assistant\",\"content\":\"<think>\\nno\\n</think>\\n\\nB\"},"
                              "{\"role\":\"user\",\"content\":\"C\"},{\"role\":\"assistant\",\"content\":\"<think>"
                              "\\nwhy\\n</think>\\n\\nD\"}]";
    check(two, &(struct lm_chat_options){0},
          "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nA<|im_end|>\n<|im_start|>assistant\n[B<|im_end|>]\n"
          "<|im_start|>user\nC<|im_end|>\n<|im_start|>assistant\n[<think>\nwhy\n</think>\n\nD<|im_end|>]\n");
    check(two, &(struct lm_chat_options){.learned_from = 3},
          "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nA<|im_end|>\n<|im_start|>assistant\nB<|im_end|>\n"
          "<|im_start|>user\nC<|im_end|>\n<|im_start|>assistant\n[<think>\nwhy\n</think>\n\nD<|im_end|>]\n");
}

static void questions_are_asked(void **state)
{
    (void)state;
    static const char one[] = "[{\"role\":\"user\",\"content\":\"A\"}]";
    check(one, &(struct lm_chat_options){.ask = true}, "<|im_start|>user\nA<|im_end|>\n<|im_start|>assistant\n");
    check(one, &(struct lm_chat_options){.ask = true, .no_thinking = true},
          "<|im_start|>user\nA<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n");
}

static void what_is_no_message(void **state)
{
    (void)state;
    static const char *const lies[][2] = {
        {"{}", "'messages' has to be a list"},
        {"[]", "'messages' has to be a list of at least one"},
        {"[7]", "message 0: 'role' is 'missing'"},
        {"[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"critic\",\"content\":\"a\"}]",
         "message 1: 'role' is 'critic', expected system"},
        {"[{\"role\":\"user\"}]", "message 0: 'content' has to be a text"},
        {"[{\"role\":\"user\",\"content\":[{\"type\":\"image\"}]}]", "message 0: 'content' has to be a text"},
        {"[{\"role\":\"assistant\",\"content\":\"a\",\"reasoning_content\":1}]",
         "'reasoning_content' has to be a text"},
        {"[{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":{}}]", "'tool_calls' has to be a list"},
        {"[{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":\"f\"}}]}]",
         "call 0 needs 'name' and 'arguments'"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct arena arena = {0};
        struct lm_part *parts;
        int count;
        struct akgen_error *error = render(lies[i][0], &(struct lm_chat_options){0}, &arena, &parts, &count);
        if (!error)
            fail_msg("rendered: %s", lies[i][0]);
        if (!strstr(error->message, lies[i][1]))
            fail_msg("%s, expected %s", error->message, lies[i][1]);
        error_free(error);
        arena_free(&arena);
    }
}

static void other_templates_are_refused(void **state)
{
    (void)state;
    struct arena arena = {0};
    char folder[] = "/tmp/akgen-chat-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *config = arena_printf(&arena, "%s/tokenizer_config.json", folder),
               *own = arena_printf(&arena, "%s/chat_template.jinja", folder);
    assert_null(lm_chat_check(folder));
    assert_null(files_write(config, "{}", 2));
    assert_null(lm_chat_check(folder));
    /* transformers writes int(1e30) where texts have no limit. */
    static const char endless[] = "{\"model_max_length\":1000000000000000019884624838656}";
    assert_null(files_write(config, endless, strlen(endless)));
    assert_null(lm_chat_check(folder));
    const char *ours = arena_printf(&arena, "\n%s \n", lm_chat_template);
    assert_null(files_write(own, ours, strlen(ours)));
    assert_null(lm_chat_check(folder));
    assert_int_equal(unlink(own), 0);
    static const struct {
        const char *text, *expected;
    } lies[] = {{"{\"chat_template\":\"{{ messages }}\"}", "is not Qwen3's"},
                {"{\"chat_template\":[]}", "'chat_template' has to be a text"},
                {"{", "tokenizer_config.json:1: "}};
    for (int i = 0; i < 3; i++) {
        assert_null(files_write(config, lies[i].text, strlen(lies[i].text)));
        struct akgen_error *error = lm_chat_check(folder);
        assert_non_null(error);
        assert_non_null(strstr(error->message, lies[i].expected));
        error_free(error);
    }
    assert_null(files_write(own, "{{ x }}", 7));
    struct akgen_error *error = lm_chat_check(folder);
    assert_non_null(strstr(error->message, "chat_template.jinja: this chat template"));
    error_free(error);
    files_remove_tree(folder);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_learned),
        cmocka_unit_test(questions_are_asked),
        cmocka_unit_test(what_is_no_message),
        cmocka_unit_test(other_templates_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
