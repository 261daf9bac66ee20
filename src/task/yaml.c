#include "task/yaml.h"

#include <string.h>
#include <yaml.h>

/* MAX_NAMES: libyaml compares an anchor, an alias and a %TAG line with all names before it. */
enum { MAX_DEPTH = 16, MAX_NODES = 1 << 16, MAX_NAMES = 1024 };

struct reader {
    struct arena *arena;
    const char *name;
    yaml_document_t document;
    int nodes;
};

static int line_of(const yaml_node_t *node)
{
    return (int)node->start_mark.line + 1;
}

static struct akgen_error *read_node(struct reader *r, int index, int depth, const struct yaml_node **result);

static struct akgen_error *read_list(struct reader *r, const yaml_node_t *from, int depth, struct yaml_node *node)
{
    node->kind = YAML_LIST;
    node->count = (int)(from->data.sequence.items.top - from->data.sequence.items.start);
    const struct yaml_node **items = arena_alloc(r->arena, sizeof *items * (size_t)(node->count + 1));
    node->items = items;
    for (int i = 0; i < node->count; i++) {
        struct akgen_error *error = read_node(r, from->data.sequence.items.start[i], depth + 1, &items[i]);
        if (error)
            return error;
    }
    return NULL;
}

static struct akgen_error *read_map(struct reader *r, const yaml_node_t *from, int depth, struct yaml_node *node)
{
    node->kind = YAML_MAP;
    node->count = (int)(from->data.mapping.pairs.top - from->data.mapping.pairs.start);
    struct yaml_pair *pairs = arena_alloc(r->arena, sizeof *pairs * (size_t)(node->count + 1));
    node->pairs = pairs;
    for (int i = 0; i < node->count; i++) {
        const yaml_node_pair_t *pair = &from->data.mapping.pairs.start[i];
        const struct yaml_node *key;
        struct akgen_error *error = read_node(r, pair->key, depth + 1, &key);
        if (!error && key->kind != YAML_TEXT)
            error = error_new("%s:%d: a key must be a word", r->name, key->line);
        if (!error)
            error = read_node(r, pair->value, depth + 1, &pairs[i].value);
        if (error)
            return error;
        pairs[i].key = key->text;
        pairs[i].line = key->line;
    }
    return NULL;
}

/* An alias is read as often as it stands somewhere, also within what it stands for: both limits end that. */
static struct akgen_error *read_node(struct reader *r, int index, int depth, const struct yaml_node **result)
{
    const yaml_node_t *from = yaml_document_get_node(&r->document, index);
    struct yaml_node *node = arena_alloc(r->arena, sizeof *node);
    node->line = line_of(from);
    *result = node;
    if (depth > MAX_DEPTH || ++r->nodes > MAX_NODES)
        return error_new("%s:%d: more than %d %s", r->name, node->line, depth > MAX_DEPTH ? MAX_DEPTH : MAX_NODES,
                         depth > MAX_DEPTH ? "nested parts" : "parts");
    if (from->type == YAML_SEQUENCE_NODE)
        return read_list(r, from, depth, node);
    if (from->type == YAML_MAPPING_NODE)
        return read_map(r, from, depth, node);
    node->text = arena_strndup(r->arena, (const char *)from->data.scalar.value, from->data.scalar.length);
    if (strlen(node->text) != from->data.scalar.length)
        return error_new("%s:%d: a text holds a NUL byte", r->name, node->line);
    return NULL;
}

static struct akgen_error *syntax_error(const struct reader *r, const yaml_parser_t *parser)
{
    int line = (int)(parser->problem_mark.line ? parser->problem_mark.line : parser->context_mark.line) + 1;
    const char *problem = parser->problem ? parser->problem : "no YAML";
    return parser->context ? error_new("%s:%d: %s (%s)", r->name, line, problem, parser->context)
                           : error_new("%s:%d: %s", r->name, line, problem);
}

/* Token kinds of libyaml that open or close a part, are one, or give a name. */
static const struct {
    signed char depth, nodes, names;
} tokens[] = {
    [YAML_BLOCK_SEQUENCE_START_TOKEN] = {.depth = 1, .nodes = 1},
    [YAML_BLOCK_MAPPING_START_TOKEN] = {.depth = 1, .nodes = 1},
    [YAML_FLOW_SEQUENCE_START_TOKEN] = {.depth = 1, .nodes = 1},
    [YAML_FLOW_MAPPING_START_TOKEN] = {.depth = 1, .nodes = 1},
    [YAML_BLOCK_END_TOKEN] = {.depth = -1},
    [YAML_FLOW_SEQUENCE_END_TOKEN] = {.depth = -1},
    [YAML_FLOW_MAPPING_END_TOKEN] = {.depth = -1},
    [YAML_SCALAR_TOKEN] = {.nodes = 1},
    [YAML_ALIAS_TOKEN] = {.nodes = 1},
    [YAML_ANCHOR_TOKEN] = {.names = 1},
    [YAML_TAG_DIRECTIVE_TOKEN] = {.names = 1},
};

/* Refuses a text that libyaml would load in quadratic time: its scanner looks at every open flow collection for each token.
 * Scans tokens alone and stops at the first that passes a limit; by then it is at most 1024 characters (the longest key of one
 * line) ahead. Never counts more than read_node does, so a text within the limits passes. Leaves a mistake of syntax to the
 * loader, which reports it. */
static struct akgen_error *yaml_check_size(const struct reader *r, yaml_parser_t *parser)
{
    int depth = 0, nodes = 0, names = 0;
    for (yaml_token_t token; yaml_parser_scan(parser, &token) && token.type != YAML_NO_TOKEN;) {
        const size_t type = (size_t)token.type;
        const int line = (int)token.start_mark.line + 1;
        yaml_token_delete(&token);
        if (type >= sizeof tokens / sizeof *tokens)
            continue;
        depth += depth || tokens[type].depth > 0 ? tokens[type].depth : 0;
        nodes += tokens[type].nodes;
        names += tokens[type].names;
        if (depth > MAX_DEPTH + 1)
            return error_new("%s:%d: more than %d nested parts", r->name, line, MAX_DEPTH);
        if (nodes > MAX_NODES)
            return error_new("%s:%d: more than %d parts", r->name, line, MAX_NODES);
        if (names > MAX_NAMES)
            return error_new("%s:%d: more than %d anchors and %%TAG lines", r->name, line, MAX_NAMES);
    }
    return NULL;
}

/* Anything behind the document. */
static struct akgen_error *read_end(const struct reader *r, yaml_parser_t *parser)
{
    yaml_document_t more;
    if (!yaml_parser_load(parser, &more))
        return syntax_error(r, parser);
    const yaml_node_t *root = yaml_document_get_root_node(&more);
    struct akgen_error *error =
        root ? error_new("%s:%d: a second document, expected one", r->name, line_of(root)) : NULL;
    yaml_document_delete(&more);
    return error;
}

static struct akgen_error *read_document(struct reader *r, yaml_parser_t *parser, const struct yaml_node **root)
{
    if (!yaml_parser_load(parser, &r->document))
        return syntax_error(r, parser);
    struct akgen_error *error = yaml_document_get_root_node(&r->document)
                                    ? read_node(r, 1, 0, root)
                                    : error_new("%s:1: empty, expected keys such as 'suite: mine'", r->name);
    yaml_document_delete(&r->document);
    return error ? error : read_end(r, parser);
}

/* Runs one of the two passes with a parser of its own. */
static struct akgen_error *yaml_pass(struct reader *r, const char *text, const struct yaml_node **root)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return error_new("%s: no memory", r->name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    struct akgen_error *error = root ? read_document(r, &parser, root) : yaml_check_size(r, &parser);
    yaml_parser_delete(&parser);
    return error;
}

struct akgen_error *yaml_parse(struct arena *arena, const char *name, const char *text, const struct yaml_node **root)
{
    struct reader r = {.arena = arena, .name = name};
    struct akgen_error *error = yaml_pass(&r, text, NULL);
    return error ? error : yaml_pass(&r, text, root);
}

const struct yaml_pair *yaml_find(const struct yaml_node *map, const char *key)
{
    for (int i = 0; i < map->count; i++)
        if (strcmp(map->pairs[i].key, key) == 0)
            return &map->pairs[i];
    return NULL;
}
