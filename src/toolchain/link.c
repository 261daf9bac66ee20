/* Linking. References to the machine stay open until akgen-run loads the object; whatever else is missing is an error
 * here, as it is with CANN's linker. */
#include "base/array.h"
#include "base/elf.h"
#include "toolchain/toolchain_internal.h"

#include <elf.h>
#include <string.h>

/* What a kernel's object may need from outside: the functions that the pass over its code lets it call, those that the pass
 * calls, and what code generation and the linker add. */
static const char *const allowed_names[] = {
#define CALL(name, ...)          #name,
#define SPECIAL(name, kind, ...) #name,
#define HOOK(name, ...)          #name,
#include "toolchain/confine/hooks.def"
#include "toolchain/confine/machine_calls.def"
#undef CALL
#undef SPECIAL
#undef HOOK
    "_GLOBAL_OFFSET_TABLE_", "__dso_handle",  "__extendhfsf2", "__truncsfhf2",
    "__truncdfhf2",          "__extendhfdf2", "__floattihf",   NULL};

struct names {
    const char **items;
    size_t count, capacity;
};

static bool allowed(const char *name)
{
    for (const char *const *known = allowed_names; *known; known++)
        if (strcmp(name, *known) == 0)
            return true;
    return false;
}

const char **link_undefined(struct arena *arena, const char *so)
{
    struct elf_file *file = elf_file_open(so);
    struct elf_section section = {0};
    struct elf_symbol symbol;
    struct names names = {0};
    bool found = false;
    while (file && !found && elf_section_next(file, &section))
        found = section.type == SHT_DYNSYM;
    for (int i = 1; found && elf_symbol_at(file, &section, i, &symbol); i++)
        if (!symbol.defined)
            ARRAY_ADD(arena, names.items, names.count, names.capacity, arena_strdup(arena, symbol.name));
    if (found)
        ARRAY_ADD(arena, names.items, names.count, names.capacity, NULL);
    elf_file_close(file);
    return names.items;
}

/* Adds an error for each symbol of lld's report that nothing defines:
 *     ld.lld: error: undefined symbol: foo(int)
 *     >>> referenced by add.cpp:12 (/path/op_kernel/add.cpp:12) */
static void add_undefined(struct arena *arena, const char *report, const struct diagnose_places *places,
                          struct diagnostic_list *list)
{
    static const char mark[] = "undefined symbol: ";
    for (const char *at = report; (at = strstr(at, mark));) {
        at += sizeof mark - 1;
        size_t length = strcspn(at, "\n");
        const char *name = arena_strndup(arena, at, length);
        if (allowed(name))
            continue;
        struct diagnostic diagnostic = {
            .class = DIAG_SCOPE,
            .error = true,
            .file = "",
            .message = arena_printf(arena, "undefined function '%s': declared, never defined", name)};
        const char *place = at + length;
        place = strncmp(place, "\n>>> referenced by", 18) != 0 ? NULL : strchr(place, '(');
        if (place) {
            struct diagnostic_list found = {0};
            /* Line tables name the candidate's files relative to the project. */
            const char *root = place[1] == '/' ? "" : arena_printf(arena, "%s/", places->project);
            place += strncmp(place + 1, "./", 2) == 0 ? 3 : 1;
            const char *path = arena_strndup(arena, place, strcspn(place, ")\n"));
            diagnose(arena, arena_printf(arena, "%s%s:1: error: undefined", root, path), places, &found);
            if (found.count) {
                diagnostic.file = found.items[0].file;
                diagnostic.line = found.items[0].line;
                diagnostic.text = found.items[0].text;
            }
        }
        diagnose_add(arena, list, &diagnostic);
    }
}

static void run_linker(struct arena *arena, const struct clang *clang, enum clang_side side, const char *const *objects,
                       const char *work, const char *so, bool report, struct sandbox_result *result)
{
    struct clang_args args = {.side = side};
    error_free(clang_precompiled(arena, clang, side, &args.header)); /* it is there: the objects began with it */
    clang_add(arena, &args, clang->linker);
    clang_add(arena, &args, "-shared");
    clang_add(arena, &args, "-Bsymbolic");
    clang_add(arena, &args, "--error-limit=0");
    clang_add(arena, &args, report ? "-zdefs" : "--threads=1");
    /* CMakeLists.txt of a project puts the OpDef and the tiling into libraries of their own, where a function that both
     * files get from a header does not meet its double. */
    clang_add(arena, &args, "-zmuldefs");
    for (; *objects; objects++)
        clang_add(arena, &args, *objects);
    clang_add(arena, &args, "-o");
    clang_add(arena, &args, so);
    clang_run(arena, clang, &args, NULL, work, result);
}

bool link_objects(struct arena *arena, const struct clang *clang, enum clang_side side, bool maybe_unused,
                  const char *const *objects, const char *work, const struct diagnose_places *places,
                  struct diagnostic_list *list, const char **so)
{
    struct sandbox_result result;
    *so = arena_printf(arena, "%s/%s.so", work, side == CLANG_HOST ? "host" : "kernel");
    run_linker(arena, clang, side, objects, work, *so, false, &result);
    if ((list->broken = clang_broken(arena, &result, work)))
        return false;
    list->late |= result.timed_out;
    if (result.exit_code) {
        struct diagnostic diagnostic = {.class = DIAG_SYNTAX,
                                        .error = true,
                                        .file = "",
                                        .message = result.timed_out ? "the linker ran out of time"
                                                   : result.exit_code == 1
                                                       ? diagnose_without_folders(arena, result.output, places)
                                                       : "the linker was stopped: it needed more "
                                                         "memory or output than allowed"};
        diagnose_add(arena, list, &diagnostic);
        return false;
    }
    /* A host part is resolved by the loader, when akgen-host opens it. */
    if (side == CLANG_HOST)
        return true;
    const char **undefined = link_undefined(arena, *so);
    if (!undefined) {
        list->broken = arena_printf(arena, "%s: not what a linker writes", *so);
        return false;
    }
    bool good = true;
    for (const char **name = undefined; *name; name++)
        good &= allowed(*name);
    if (good || (maybe_unused && !core_uses_of(arena, *so).vector))
        return true;
    run_linker(arena, clang, side, objects, work, arena_printf(arena, "%s/report.so", work), true, &result);
    if ((list->broken = clang_broken(arena, &result, work)))
        return false;
    add_undefined(arena, result.output, places, list);
    return false;
}
