/* Blocks become the files of a project: which block is which file, which version of it counts, and what it is called. */
#include "base/array.h"
#include "candidate/answer_internal.h"

#include <stdlib.h>
#include <strings.h>

enum { MOST_FILES = 200 };

/* A file on its way. */
struct piece {
    enum answer_role role;
    const char *path; /* in the project; NULL: a header that no name stood at */
    const char *text;
    unsigned marks;
    bool complete;
};
struct pieces {
    struct arena *arena;
    const char *entry; /* the operator's name in snake case */
    const char *own_entry, *own_definition;
    struct piece *items;
    int count, capacity;
    const char *program;   /* NULL: no program */
    bool program_complete; /* ... */
    bool diff;
};

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool ends_in(const char *name, const char *const *ends)
{
    const char *dot = strrchr(name, '.');
    for (; dot && *ends; ends++)
        if (strcasecmp(dot, *ends) == 0)
            return true;
    return false;
}
static const char *const sources[] = {".cpp", ".cc", ".cxx", ".c", ".asc", NULL};
static const char *const headers[] = {".h", ".hpp", ".hh", NULL};
static const char *const programs[] = {".py", NULL};

/* Roles. */
static enum answer_role role_of_source(const char *name, enum answer_role content)
{
    static const struct {
        const char *word;
        enum answer_role role;
    } words[] = {{"aclnn", ANSWER_USELESS}, {"pybind", ANSWER_USELESS}, {"test", ANSWER_USELESS},
                 {"main", ANSWER_USELESS},  {"kernel", ANSWER_KERNEL},  {"host", ANSWER_HOST},
                 {"tiling", ANSWER_HOST}};
    if (content == ANSWER_KERNEL || content == ANSWER_HOST)
        return content;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(name, words[i].word))
            return words[i].role;
    return ANSWER_NO_ROLE;
}

static enum answer_role role_of_header(const char *name, unsigned marks, enum answer_role content)
{
    if (content == ANSWER_HOST_HEADER || content == ANSWER_HOST)
        return ANSWER_HOST_HEADER;
    if (content == ANSWER_KERNEL || (marks & ANSWER_HAS_DEVICE))
        return ANSWER_KERNEL_HEADER;
    return strcasestr(name, "kernel") ? ANSWER_KERNEL_HEADER : ANSWER_HEADER;
}

static enum answer_role role_of_path(const char *path, unsigned marks, enum answer_role content)
{
    bool kernel = strncmp(path, "op_kernel/", 10) == 0, host = strncmp(path, "op_host/", 8) == 0;
    const char *name = file_name(path);
    if (strcasecmp(name, "CMakeLists.txt") == 0)
        return ANSWER_CMAKE;
    if (ends_in(name, programs))
        return content == ANSWER_PROGRAM || strcmp(name, "program.py") == 0 ? ANSWER_PROGRAM : ANSWER_USELESS;
    if (ends_in(name, sources))
        return kernel ? ANSWER_KERNEL : host ? ANSWER_HOST : role_of_source(name, content);
    if (ends_in(name, headers))
        return kernel ? ANSWER_KERNEL_HEADER : host ? ANSWER_HOST_HEADER : role_of_header(name, marks, content);
    return ANSWER_USELESS;
}

static enum answer_role role_of(struct arena *arena, const struct answer_block *block)
{
    enum answer_role content = answer_role_of_content(block->marks, block->language), named = ANSWER_NO_ROLE;
    const struct answer_label *label = &block->label;
    const char *path = label->name ? answer_path(arena, label->name) : NULL;
    if (content == ANSWER_DIFF || (label->given && label->name && !path))
        return content == ANSWER_DIFF ? ANSWER_DIFF : ANSWER_USELESS;
    if (path)
        named = role_of_path(path, block->marks, content);
    if (label->given && named != ANSWER_NO_ROLE)
        return named;
    if (content != ANSWER_NO_ROLE)
        return content;
    if (!answer_is_code(block->text))
        return ANSWER_NO_ROLE;
    if (block->marks & ANSWER_HAS_DEVICE)
        return label->role == ANSWER_KERNEL ? ANSWER_KERNEL : ANSWER_KERNEL_HEADER;
    return named != ANSWER_NO_ROLE ? named : label->role;
}

/* Where a role lies, and which ends its files have. */
static const struct {
    const char *folder;
    const char *const *ends;
} places[] = {
    [ANSWER_KERNEL] = {"op_kernel/", sources}, [ANSWER_KERNEL_HEADER] = {"op_kernel/", headers},
    [ANSWER_HOST] = {"op_host/", sources},     [ANSWER_HOST_HEADER] = {"op_host/", headers},
    [ANSWER_HEADER] = {"", headers},
};

/* The path of a block: its name where that fits its role, else the role's own. NULL: a header without a name. */
static const char *path_of(struct pieces *pieces, const struct answer_block *block, enum answer_role role)
{
    struct arena *arena = pieces->arena;
    const char *path = block->label.name ? answer_path(arena, block->label.name) : NULL;
    const char *folder = places[role].folder;
    const char *entry = arena_printf(arena, "%s%s.cpp", folder, pieces->entry);
    if (!path || !ends_in(path, places[role].ends))
        return places[role].ends == sources ? entry : NULL;
    if (strncmp(path, folder, strlen(folder)) != 0)
        path = arena_printf(arena, "%s%s", folder, file_name(path));
    return strcasecmp(path, entry) == 0 ? entry : path;
}

/* Repeated files. A later version counts if it is whole: complete, with what makes the earlier one this file. */
static bool replaces(const struct piece *later, const struct piece *earlier)
{
    enum {
        OF_A_WHOLE = ANSWER_HAS_INCLUDE | ANSWER_HAS_ENTRY | ANSWER_HAS_OPDEF | ANSWER_HAS_PROGRAM | ANSWER_HAS_OWN_NAME
    };
    unsigned needed = earlier->marks & OF_A_WHOLE;
    return (later->marks & needed) == needed && (later->complete || !earlier->complete);
}

/* A definition and a tiling function in two blocks without names are two files. */
static bool are_halves(const struct piece *a, const struct piece *b)
{
    enum { HALVES = ANSWER_HAS_OPDEF | ANSWER_HAS_FUNCTION };
    return a->role == ANSWER_HOST && (a->marks & HALVES) != HALVES && ((a->marks ^ b->marks) & HALVES) == HALVES;
}

static bool is_same(const struct piece *a, const struct piece *b)
{
    return a->path && b->path ? strcmp(a->path, b->path) == 0 : a->path == b->path && a->role == b->role;
}

static void add_piece(struct pieces *pieces, struct piece piece)
{
    const char *own = piece.role == ANSWER_KERNEL ? pieces->own_entry
                      : piece.role == ANSWER_HOST ? pieces->own_definition
                                                  : NULL;
    if (own && strstr(piece.text, own))
        piece.marks |= ANSWER_HAS_OWN_NAME;
    for (int i = 0; i < pieces->count; i++) {
        struct piece *old = &pieces->items[i];
        if (!is_same(&piece, old))
            continue;
        if (are_halves(&piece, old)) {
            piece.path = arena_printf(pieces->arena, "op_host/%s_second.cpp", pieces->entry);
            continue;
        }
        if (replaces(&piece, old))
            *old = piece;
        return;
    }
    if (pieces->count < MOST_FILES)
        ARRAY_ADD(pieces->arena, pieces->items, pieces->count, pieces->capacity, piece);
}

/* Programs. A kernel and its host function may stand in two blocks. */
static int functions_of(const char *text)
{
    int count = strncmp(text, "def ", 4) == 0;
    for (const char *at = text; (at = strstr(at, "\ndef ")); at += 4)
        count++;
    return count;
}

static void add_program(struct pieces *pieces, const struct answer_block *block, bool has_kernel)
{
    if (!has_kernel && pieces->program && functions_of(pieces->program) == 1 && functions_of(block->text))
        pieces->program = arena_printf(pieces->arena, "%s\n\n%s", pieces->program, block->text);
    if (!has_kernel || (pieces->program && pieces->program_complete && !block->complete))
        return;
    pieces->program = block->text;
    pieces->program_complete = block->complete;
}

static void add_block(struct pieces *pieces, const struct answer_block *block)
{
    enum answer_role role = role_of(pieces->arena, block);
    bool python = strcmp(block->language, "python") == 0 || strcmp(block->language, "py") == 0;
    if (role == ANSWER_DIFF)
        pieces->diff = true;
    else if (role == ANSWER_CMAKE) {
        const char *path =
            block->label.given && block->label.name ? answer_path(pieces->arena, block->label.name) : NULL;
        bool known = path && (strcmp(path, "CMakeLists.txt") == 0 || strcmp(path, "op_kernel/CMakeLists.txt") == 0);
        if (known || (!path && (block->marks & ANSWER_HAS_OPTIONS)))
            add_piece(pieces, (struct piece){ANSWER_CMAKE, known ? path : "op_kernel/CMakeLists.txt", block->text,
                                             block->marks, block->complete});
    } else if (role == ANSWER_PROGRAM)
        add_program(pieces, block, (block->marks & ANSWER_HAS_PROGRAM) || functions_of(block->text) > 1);
    else if (role == ANSWER_USELESS && python)
        add_program(pieces, block, false);
    else if (role != ANSWER_NO_ROLE && role < ANSWER_CMAKE)
        add_piece(pieces,
                  (struct piece){role, path_of(pieces, block, role), block->text, block->marks, block->complete});
}

/* Includes. */
/* The next file's name that is included in quotes behind `at`; NULL: none. */
static const char *next_include(struct arena *arena, const char *at, const char **behind)
{
    while ((at = strstr(at, "#include"))) {
        at += strlen("#include");
        at += strspn(at, " \t");
        size_t length = *at == '"' ? strcspn(at + 1, "\"\n") : 0;
        if (length) {
            *behind = at + 1 + length;
            return file_name(arena_strndup(arena, at + 1, length));
        }
    }
    return NULL;
}

static bool has_file(const struct pieces *pieces, const char *name)
{
    for (int i = 0; i < pieces->count; i++)
        if (pieces->items[i].path && strcmp(file_name(pieces->items[i].path), name) == 0)
            return true;
    return false;
}

/* CANN's own headers are there without the answer. */
static bool is_own_header(const char *name)
{
    return strcmp(name, "kernel_operator.h") != 0 && strncmp(name, "op_def_", 7) != 0 &&
           strncmp(name, "tilingdata_", 11) != 0 && strncmp(name, "platform_", 9) != 0;
}

/* Goes through what the files of a folder include: which of them, and how far in its text. */
struct include_walk {
    const struct pieces *pieces;
    const char *folder;
    int piece;
    const char *at; /* NULL: its text was not begun */
};

/* The next of them; NULL: there is no other. */
static const char *walk_includes(struct include_walk *walk)
{
    for (; walk->piece < walk->pieces->count; walk->piece++, walk->at = NULL) {
        const struct piece *piece = &walk->pieces->items[walk->piece];
        if (!piece->path || strncmp(piece->path, walk->folder, strlen(walk->folder)) != 0)
            continue;
        const char *name = next_include(walk->pieces->arena, walk->at ? walk->at : piece->text, &walk->at);
        if (name)
            return name;
    }
    return NULL;
}

/* A header that the files of a folder include and the answer does not hold; NULL. */
static const char *missing_header(const struct pieces *pieces, const char *folder)
{
    struct include_walk walk = {.pieces = pieces, .folder = folder};
    const char *name;
    while ((name = walk_includes(&walk)) && !(is_own_header(name) && ends_in(name, headers) &&
                                              !has_file(pieces, name) && answer_path(pieces->arena, name)))
        ;
    return name;
}

static bool is_included(const struct pieces *pieces, const char *folder, const char *header)
{
    struct include_walk walk = {.pieces = pieces, .folder = folder};
    const char *name;
    while ((name = walk_includes(&walk)) && strcmp(name, header) != 0)
        ;
    return name != NULL;
}

/* Headers get the name under which they are included, and lie where that is. */
static void place_headers(struct pieces *pieces)
{
    struct arena *arena = pieces->arena;
    for (int i = 0; i < pieces->count; i++) {
        struct piece *piece = &pieces->items[i];
        if (piece->path)
            continue;
        const char *folder = places[piece->role].folder;
        const char *name = missing_header(pieces, folder);
        if (!name && piece->role == ANSWER_HOST_HEADER)
            name = arena_printf(arena, "%s_tiling.h", pieces->entry);
        piece->path = name ? arena_printf(arena, "%s%s", folder, name) : NULL;
    }
    for (int i = 0, count = pieces->count; i < count; i++) {
        struct piece piece = pieces->items[i];
        if (piece.role != ANSWER_HEADER || !piece.path)
            continue;
        const char *name = file_name(piece.path);
        bool in_kernel = is_included(pieces, "op_kernel/", name), in_host = is_included(pieces, "op_host/", name);
        pieces->items[i].path = arena_printf(arena, "%s%s", in_kernel && !in_host ? "op_kernel/" : "op_host/", name);
        piece.path = arena_printf(arena, "op_kernel/%s", name);
        piece.role = ANSWER_KERNEL_HEADER;
        if (in_kernel && in_host)
            add_piece(pieces, piece);
    }
}

/* Entry files. */
static bool names_its_kernel(const struct pieces *pieces)
{
    for (int i = 0; i < pieces->count; i++)
        if (strstr(pieces->items[i].text, "opFile.value"))
            return true;
    return false;
}

/* The file that a role's entry is: the one of that name, else the last that has the mark, else the only one. */
static void rename_entry(struct pieces *pieces, enum answer_role role, unsigned mark)
{
    const char *wanted = arena_printf(pieces->arena, "%s%s.cpp", places[role].folder, pieces->entry);
    struct piece *chosen = NULL;
    for (int i = 0; i < pieces->count; i++) {
        struct piece *piece = &pieces->items[i];
        if (piece->role != role || !piece->path)
            continue;
        if (strcmp(piece->path, wanted) == 0)
            return;
        bool better = (piece->marks & ANSWER_HAS_OWN_NAME) || !chosen || !(chosen->marks & ANSWER_HAS_OWN_NAME);
        if (!chosen || ((piece->marks & mark) && better))
            chosen = piece;
    }
    if (chosen)
        chosen->path = wanted;
}

static int by_path(const void *left, const void *right)
{
    const struct op_file *a = left, *b = right;
    return strcmp(a->path, b->path);
}

/* Why the files cannot lie in one folder: one name stands for a file and for a folder of files. NULL: they can. */
static const char *answer_collision(struct arena *arena, const struct answer *answer)
{
    for (int i = 0; i < answer->count; i++)
        for (int k = i + 1; k < answer->count; k++) {
            const char *file = answer->files[i].path, *inside = answer->files[k].path;
            size_t length = strlen(file);
            if (strncmp(file, inside, length) == 0 && inside[length] == '/')
                return arena_printf(arena,
                                    "the answer names a file %s and a file below it, %s; a name is a file or a folder",
                                    file, inside);
        }
    return NULL;
}

static bool has_role(const struct pieces *pieces, enum answer_role role)
{
    for (int i = 0; i < pieces->count; i++)
        if (pieces->items[i].role == role)
            return true;
    return false;
}

/* What the blocks are, for a message: "2 blocks (bash, python)". */
static const char *described(struct arena *arena, const struct answer_blocks *blocks)
{
    enum { SHOWN = 5 };
    const char *list = "";
    for (int i = 0; i < blocks->count && i < SHOWN; i++) {
        const struct answer_block *block = &blocks->items[i];
        const char *what = block->label.name ? block->label.name : *block->language ? block->language : "no name";
        list = arena_printf(arena, "%s%s%.60s", list, i ? ", " : "", what);
    }
    return arena_printf(arena, "%d block%s of code (%s%s)", blocks->count, blocks->count == 1 ? "" : "s", list,
                        blocks->count > SHOWN ? ", .." : "");
}

static const char *problem_of(const struct pieces *pieces, const struct answer_blocks *blocks, enum eval_scope scope)
{
    struct arena *arena = pieces->arena;
    bool kernel = has_role(pieces, ANSWER_KERNEL), host = has_role(pieces, ANSWER_HOST);
    if (!kernel && !host && pieces->diff)
        return "the answer is a diff, expected whole files";
    if (!kernel)
        return arena_printf(arena,
                            "the answer holds no kernel, expected op_kernel/%s.cpp with an 'extern \"C\" __global__ "
                            "__aicore__' function; it has %s",
                            pieces->entry, described(arena, blocks));
    if (!host && scope == EVAL_PROJECT)
        return arena_printf(arena,
                            "the answer holds a kernel and no host part, expected op_host/%s.cpp with the operator's "
                            "definition and tiling; it has %s",
                            pieces->entry, described(arena, blocks));
    return NULL;
}

void answer_make_files(struct arena *arena, const struct answer_blocks *blocks, const struct task *task,
                       enum eval_scope scope, enum eval_language asked, struct answer *answer)
{
    const char *type = task->op_type ? task->op_type : task->op, *entry = op_snake_case(arena, type);
    struct pieces pieces = {.arena = arena,
                            .entry = entry,
                            .own_entry = arena_printf(arena, "void %s(", entry),
                            .own_definition = arena_printf(arena, "OP_ADD(%s", type)};
    for (int i = 0; i < blocks->count; i++)
        add_block(&pieces, &blocks->items[i]);
    if (pieces.program && (asked != EVAL_ASCENDC || !has_role(&pieces, ANSWER_KERNEL))) {
        struct op_file *file = arena_alloc(arena, sizeof *file);
        *file = (struct op_file){"program.py", pieces.program, strlen(pieces.program)};
        answer->kind = ANSWER_IS_PROGRAM;
        answer->files = file;
        answer->count = 1;
        return;
    }
    answer->problem = problem_of(&pieces, blocks, scope);
    if (answer->problem)
        return;
    place_headers(&pieces);
    if (!names_its_kernel(&pieces))
        rename_entry(&pieces, ANSWER_KERNEL, ANSWER_HAS_ENTRY);
    rename_entry(&pieces, ANSWER_HOST, ANSWER_HAS_OPDEF);
    /* Headers that got their place late may be one file. */
    for (int i = 0; i < pieces.count; i++)
        for (int k = 0; k < i; k++) {
            struct piece *later = &pieces.items[i], *earlier = &pieces.items[k];
            if (!later->path || !earlier->path || strcmp(later->path, earlier->path) != 0)
                continue;
            *(replaces(later, earlier) ? &earlier->path : &later->path) = NULL;
        }
    /* The pieces of this scope, as the answer's files. */
    struct op_file *files = arena_alloc(pieces.arena, sizeof *files * (size_t)(pieces.count + 1));
    for (int i = 0; i < pieces.count; i++) {
        const struct piece *piece = &pieces.items[i];
        bool host = piece->path && strncmp(piece->path, "op_host/", 8) == 0;
        if (piece->path && !(host && scope == EVAL_KERNEL))
            files[answer->count++] = (struct op_file){piece->path, piece->text, strlen(piece->text)};
    }
    qsort(files, (size_t)answer->count, sizeof *files, by_path);
    answer->files = files;
    answer->problem = answer_collision(arena, answer);
    answer->kind = answer->problem ? ANSWER_IS_NOTHING : ANSWER_IS_PROJECT;
    answer->count = answer->problem ? 0 : answer->count;
}
