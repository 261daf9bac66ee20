/* Files in a JSON object: {"files": {"op_kernel/sqrt.cpp": "..."}}, {"files": [{"path": "..", "content": ".."}]}, {"kernel": ".."}. */
#include "base/jsons.h"
#include "candidate/answer_internal.h"

#include <jansson.h>

static void add_file(struct arena *arena, const char *name, const json_t *content, struct answer_blocks *blocks)
{
    struct answer_label label;
    struct answer_span behind;
    const char *text = json_string_value(content);
    /* A key is what a tag would be. */
    const char *tag = arena_printf(arena, "<%.200s>", name);
    if (!text || !answer_open_tag(arena, answer_span_of(tag), &label, &behind))
        return;
    const char *clean = answer_clean(arena, text, json_string_length(content));
    if (strncmp(clean + strspn(clean, " \n"), "```", 3) == 0) { /* a code block as the file */
        struct answer_blocks inside = {0};
        answer_find_blocks(arena, clean, &inside);
        clean = inside.count ? inside.items[0].text : clean;
    }
    answer_add_block(arena, blocks,
                     (struct answer_block){.text = answer_body(arena, answer_span_of(clean), false),
                                           .label = label,
                                           .language = "",
                                           .complete = true});
}

/* The first of these keys that an object has with a string. */
static const json_t *string_of(const json_t *object, const char *const *keys)
{
    for (; *keys; keys++)
        if (json_is_string(json_object_get(object, *keys)))
            return json_object_get(object, *keys);
    return NULL;
}

static const char *const names[] = {"path", "name", "file", "filename", "file_path", NULL};
static const char *const contents[] = {"content", "contents", "code", "text", "source", "file_text", NULL};

/* {"path": "op_kernel/sqrt.cpp", "content": "..."} */
static void add_object(struct arena *arena, const json_t *file, struct answer_blocks *blocks)
{
    const json_t *name = string_of(file, names);
    if (name)
        add_file(arena, json_string_value(name), string_of(file, contents), blocks);
}

static void add_files(struct arena *arena, const json_t *files, struct answer_blocks *blocks)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_object(files)) {
        json_object_foreach((json_t *)files, key, value)
        {
            add_file(arena, key, json_is_object(value) ? string_of(value, contents) : value, blocks);
        }
    }
    json_array_foreach(files, i, value)
    {
        add_object(arena, value, blocks);
    }
}

void answer_add_json(struct arena *arena, const char *text, struct answer_blocks *blocks)
{
    static const char *const lists[] = {"files", "sources", "project", "answer", "code"};
    json_t *json = jsons_read(text, strlen(text), JSON_DISABLE_EOF_CHECK, NULL);
    int before = blocks->count;
    for (size_t i = 0; json_is_object(json) && i < sizeof lists / sizeof *lists && blocks->count == before; i++)
        add_files(arena, json_object_get(json, lists[i]), blocks);
    if (blocks->count == before)
        add_object(arena, json, blocks);
    if (blocks->count == before)
        add_files(arena, json, blocks);
    json_decref(json);
}
