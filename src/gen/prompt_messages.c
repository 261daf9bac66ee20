/* Messages as JSON. */
#include "base/jsons.h"
#include "gen/prompt.h"

#include <stdlib.h>

json_t *gen_messages_json(const struct gen_message *messages, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *message = json_object();
        json_object_set_new(message, "role", jsons_text(messages[i].role));
        json_object_set_new(message, "content", jsons_text(messages[i].text));
        json_array_append_new(list, message);
    }
    return list;
}

const char *gen_messages_text(struct arena *arena, const struct gen_message *messages, int count)
{
    json_t *list = gen_messages_json(messages, count);
    char *dumped = json_dumps(list, JSON_COMPACT);
    const char *text = arena_strdup(arena, dumped ? dumped : "[]");
    free(dumped);
    json_decref(list);
    return text;
}
