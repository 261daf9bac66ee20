/* What a pair says, in words. The compiler's statements are about the program, whose names and calls the project has in other forms: they are put
 * into the project's. */
#include "cot/project_internal.h"
#include "base/text.h"
#include "toolchain/tokens.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_REAL = 9 }; /* digits that tell one float32 from another */

static const char *json_text(struct arena *arena, const json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags | JSON_ENCODE_ANY | JSON_REAL_PRECISION(SHORT_REAL));
    const char *copy = arena_strdup(arena, text ? text : "null");
    free(text);
    return copy;
}

/* Names. */
static bool in_comment(const char *text, const char *at)
{
    for (; at > text && at[-1] != '\n'; at--)
        if (strncmp(at - 1, "//", 2) == 0)
            return true;
    return false;
}

/* Whether the code of the project has the name, or with one of these ends. */
static bool has_name(const struct dsl_lowered *lowered, const char *name)
{
    static const char *const ends[] = {"", "Buffer", "Queue", "Gm"};
    size_t length = strlen(name);
    for (int f = 0; f < lowered->count; f++)
        for (const char *at = lowered->files[f].text; (at = strstr(at, name)); at += length) {
            if (in_comment(lowered->files[f].text, at) || (at > lowered->files[f].text && token_name_char(at[-1])))
                continue;
            for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
                if (strncmp(at + length, ends[e], strlen(ends[e])) == 0 &&
                    !token_name_char(at[length + strlen(ends[e])]))
                    return true;
        }
    return false;
}

/* What the project calls a name of the program: "per_core" is perCore, "x_ub" x, "tile" TILE; the name itself where the project has none
 * of these. */
static const char *project_name(struct arena *arena, const struct dsl_lowered *lowered, const char *name)
{
    char *camel = arena_strdup(arena, name), *to = camel, *upper = arena_strdup(arena, name);
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, "_ub") == 0)
        camel[length - 3] = 0;
    for (const char *at = camel; *at; at++)
        if (*at == '_' && at > camel && at[1])
            *to++ = (char)toupper((unsigned char)*++at);
        else
            *to++ = *at;
    *to = 0;
    for (char *at = upper; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return has_name(lowered, camel) ? camel : has_name(lowered, upper) ? upper : name;
}

/* Code of the program between backquotes, as the project has it. */
static void add_code(struct arena *arena, const struct dsl_lowered *lowered, struct text *text, const char *code,
                     size_t length)
{
    static const char *const calls[][2] = {{"tl.program_id(0)", "GetBlockIdx()"},
                                           {"tl.sync_all()", "SyncAll()"},
                                           {"tl.num_vec_cores()", "GetCoreNumAiv()"},
                                           {"tl.cdiv(", "CeilDiv("},
                                           {"max(", "Max("},
                                           {"min(", "Min("}};
    for (size_t i = 0; i < length;) {
        size_t call = 0, end = i;
        while (call < sizeof calls / sizeof *calls && strncmp(code + i, calls[call][0], strlen(calls[call][0])) != 0)
            call++;
        while (end < length && (token_name_char(code[end]) || (end > i && code[end] == '.')))
            end++;
        if (call < sizeof calls / sizeof *calls) {
            text_add(text, calls[call][1]);
            i += strlen(calls[call][0]);
        } else if (end > i) {
            text_add(text, project_name(arena, lowered, arena_strndup(arena, code + i, end - i)));
            i = end;
        } else
            text_append(text, code + i++, 1);
    }
}

/* " in line 12" is of a program that nobody sees here. */
static size_t line_number(const char *at)
{
    size_t length = strlen(" in line ");
    if (strncmp(at, " in line ", length) != 0 || !isdigit((unsigned char)at[length]))
        return 0;
    return length + strspn(at + length, "0123456789");
}

/* Whether the code at `at`, `length` bytes, is a buffer "x_ub" of a tensor `x` that the sentence names as well: the project has one name for
 * both. */
static bool is_buffer_beside_tensor(struct arena *arena, const char *sentence, const char *at, size_t length)
{
    return length > 3 && strncmp(at + length - 3, "_ub", 3) == 0 &&
           strstr(sentence, arena_printf(arena, "`%.*s`", (int)length - 3, at));
}

/* NULL: it is about the language of programs. */
static const char *sentence_of(struct arena *arena, const struct dsl_lowered *lowered, const json_t *statement)
{
    const char *sentence = json_string_value(json_object_get(statement, "sentence"));
    struct text text = {0};
    for (const char *at = sentence; *at;) {
        size_t skipped = line_number(at), length = *at == '`' ? strcspn(at + 1, "`") : 0;
        if (strncmp(at, "tl.float", 8) == 0 || strncmp(at, "tl.bfloat", 9) == 0 || strncmp(at, "tl.int", 6) == 0)
            skipped = strlen("tl.");
        if (skipped)
            at += skipped;
        else if (*at == '`' && at[1 + length]) {
            if (is_buffer_beside_tensor(arena, sentence, at + 1, length))
                text_add(&text, at == sentence ? "Buffer " : "buffer ");
            text_add(&text, "`");
            add_code(arena, lowered, &text, at + 1, length);
            text_add(&text, "`");
            at += length + 2;
        } else
            text_append(&text, at++, 1);
    }
    const char *told = text_keep(&text, arena);
    return strstr(told, "tl.") ? NULL : told;
}

/* The statements of these subjects (NULL behind the last), a line each; none twice. */
static void add_statements(struct arena *arena, const struct dsl_lowered *lowered, struct text *text,
                           const json_t *statements, const char *const *subjects)
{
    size_t i, begin = text->length;
    const json_t *statement;
    for (; *subjects; subjects++)
        json_array_foreach(statements, i, statement)
        {
            if (strcmp(json_string_value(json_object_get(statement, "subject")), *subjects) != 0)
                continue;
            const char *sentence = sentence_of(arena, lowered, statement);
            const char *line = sentence ? arena_printf(arena, "- %s\n", sentence) : NULL;
            if (line && (!text->bytes || !strstr(text->bytes + begin, line)))
                text_add(text, line);
        }
}

/* Tensors and attributes of the case. */
static void add_tensor(struct text *text, const char *what, const char *name, const struct task_argument *argument)
{
    text_addf(text, "- %s `%s`: %s [", what, name, akgen_dtype_name(argument->tensors->type));
    for (int d = 0; d < argument->tensors->rank; d++)
        text_addf(text, "%s%" PRId64, d ? ", " : "", argument->tensors->dims[d]);
    text_add(text, "]\n");
}

static void add_interface(struct arena *arena, const struct task_instance *instance, struct text *text)
{
    const struct task *task = instance->task;
    for (int i = 0; i < task->input_count; i++)
        add_tensor(text, "input", task->inputs[i].name, &instance->inputs[i]);
    for (int i = 0; i < task->attr_count; i++)
        text_addf(text, "- attribute `%s`: %s, %s\n", task->attrs[i].name, task_attr_type_names[task->attrs[i].type],
                  json_text(arena, instance->attrs[i], 0));
    for (int i = 0; i < task->output_count; i++)
        add_tensor(text, "output", task->outputs[i].name, &instance->outputs[i]);
}

static bool is_kernel(const char *path)
{
    return strncmp(path, "op_kernel/", strlen("op_kernel/")) == 0;
}

const char *project_files(struct arena *arena, const struct dsl_lowered *lowered, bool kernel_first)
{
    struct text text = {0};
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < lowered->count; i++) {
            const char *path = lowered->files[i].path;
            if ((!kernel_first || is_kernel(path)) == !pass)
                text_addf(&text, "%s<%s>\n%s</%s>", text.length ? "\n" : "", path, lowered->files[i].text, path);
        }
    return text_keep(&text, arena);
}

void project_begin_kernel(struct arena *arena, struct dsl_lowered *lowered, const char *comment)
{
    for (int i = 0; i < lowered->count; i++)
        if (is_kernel(lowered->files[i].path))
            lowered->files[i].text = arena_printf(arena, "%s%s", comment, lowered->files[i].text);
}

/* The head of the kernel's entry, which a host part's caller has to know; and which file it is in. */
static const char *entry_of(struct arena *arena, const struct dsl_lowered *lowered, const char **path)
{
    for (int i = 0; i < lowered->count; i++) {
        const char *entry = strstr(lowered->files[i].text, "extern \"C\" __global__");
        *path = lowered->files[i].path;
        if (entry)
            return arena_strndup(arena, entry, strcspn(entry, "{"));
    }
    return NULL; /* the compiler writes one */
}

static const char *question(struct arena *arena, const struct project_facts *facts, bool given)
{
    static const char *const tasks[] = {
        "Write an operator for one scenario: a host part and a kernel in Ascend C, for the shapes and the data type "
        "below. "
        "Think of the host's tiling strategy first, then of the kernel and its pipeline, and sum up the value of every "
        "field of the tiling data and the tiling key as JSON. Answer with every file, complete, each between tags that "
        "bear its path.",
        "Below is an operator in Ascend C, host part and kernel, and one scenario. Think through the host's tiling "
        "strategy, then the kernel and its pipeline. Answer with the value of every field of the tiling data, the "
        "tiling key, the block count and the workspace as JSON."};
    const struct npu_soc *soc = npu_socs;
    const char *path, *entry = entry_of(arena, facts->lowered, &path);
    struct text text = {0};
    text_addf(&text, "## Instruction\n\n%s\n\n## Kernel source\n\n", tasks[given]);
    if (given)
        text_addf(&text, "%s\n", project_files(arena, facts->lowered, false));
    else
        text_addf(&text, "`%s` has this entry, whose body is to be written:\n\n```cpp\n%s```\n", path, entry);
    text_addf(&text, "\n## Test case\n\nOperator: %s\n\nDescription: %s\n\nFormula:\n\n```\n%s\n```\n\nInterface:\n\n",
              facts->operator->op, facts->operator->description, facts->operator->answer);
    add_interface(arena, facts->instance, &text);
    text_addf(&text,
              "\n## Hardware\n\n- chip: %s, of the family %s\n- vector cores (AIV): %d\n- Unified Buffer (UB) of a "
              "vector core: %" PRIu32 " bytes\n- L2 cache: %" PRIu64 " MiB",
              soc->name, soc->family, soc->aiv, soc->ub_tiling_bytes, soc->l2_bytes >> 20);
    return text_keep(&text, arena);
}

static const char *summary_of(struct arena *arena, const struct project_facts *facts)
{
    const struct eval_tiling *tiling = facts->tiling;
    json_t *json = json_pack("{s:i, s:I, s:I, s:I, s:O}", "block_dim", tiling->block_dim, "tiling_key",
                             (json_int_t)tiling->key, "workspace", (json_int_t)tiling->workspace, "tiling_bytes",
                             (json_int_t)tiling->bytes, "tiling", tiling->fields);
    const char *text = json_text(arena, json, JSON_INDENT(1));
    json_decref(json);
    return text;
}

void project_texts(struct arena *arena, const struct project_facts *facts, struct project_pair *pair)
{
    static const char *const shares[] = {"partition", "tiling", NULL}, *const room[] = {"budget", NULL},
                             *const strategy[] = {"partition", "tiling", "budget", NULL},
                             *const pipeline[] = {"padding", "types", "order", "phases", NULL};
    struct text text = {0};
    pair->summary = summary_of(arena, facts);
    pair->question = question(arena, facts, false);
    pair->given = question(arena, facts, true);
    pair->answer = project_files(arena, facts->lowered, false);
    text_add(&text, "I. Host tiling strategy\n\nThe scenario has these tensors and attributes:\n");
    add_interface(arena, facts->instance, &text);
    text_addf(&text, "The project is for this combination of data types alone; the tiling key is %" PRIu64 ".\n",
              facts->tiling->key);
    text_add(&text, "\nHow the work is shared out, for any shape:\n");
    add_statements(arena, facts->lowered, &text, facts->statements, shares);
    text_add(&text, "\nWhat the tiles need of local memory:\n");
    add_statements(arena, facts->lowered, &text, facts->statements, room);
    text_add(&text, "\nIn this scenario:\n");
    add_statements(arena, facts->lowered, &text, facts->in_case, strategy);
    text_add(&text, "\nII. Kernel and pipeline\n\n");
    add_statements(arena, facts->lowered, &text, facts->statements, pipeline);
    text_addf(&text, "\nIII. Summary\n\n```json\n%s\n```", pair->summary);
    pair->chain = text_keep(&text, arena);
}
