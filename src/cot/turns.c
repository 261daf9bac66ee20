#include "cot/turns.h"
#include "base/text.h"

#include <string.h>

/* The names that corpora have for who speaks, and what stands in a text for them. */
static const struct {
    const char *role, *shown;
} roles[] = {{"user", "User"},       {"human", "User"},    {"assistant", "Assistant"}, {"gpt", "Assistant"},
             {"model", "Assistant"}, {"bot", "Assistant"}, {"system", "System"}};

static const char *shown(const struct cot_turn *turn)
{
    for (size_t i = 0; turn->role && i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].role, turn->role) == 0)
            return roles[i].shown;
    return turn->role ? turn->role : "";
}

static bool says(const struct cot_turn *turn)
{
    return turn->text && *turn->text;
}

static bool is(const struct cot_turn *turn, const char *who)
{
    return says(turn) && strcmp(shown(turn), who) == 0;
}

const char *cot_turns_text(struct arena *arena, const struct cot_turn *turns, int count)
{
    struct text text = {0};
    int said = 0;
    for (int i = 0; i < count; i++)
        said += says(&turns[i]) && !is(&turns[i], "System");
    for (int i = 0; i < count; i++) {
        if (!says(&turns[i]))
            continue;
        text_addf(&text, "%s", text.length ? "\n\n" : "");
        if (said > 1 && !is(&turns[i], "System"))
            text_addf(&text, "%s:\n", shown(&turns[i]));
        text_addf(&text, "%s", turns[i].text);
    }
    const char *kept = text_keep(&text, arena);
    return *kept ? kept : NULL;
}

bool cot_turns_split(struct arena *arena, const struct cot_turn *turns, int count, const char **question,
                     const char **answer)
{
    int last = count - 1;
    while (last >= 0 && !is(&turns[last], "Assistant"))
        last--;
    if (last < 0 || !(*question = cot_turns_text(arena, turns, last)))
        return false;
    *answer = turns[last].text;
    return true;
}
