#include "base/symbolize.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

struct symbolizer {
    Dwarf *dwarf;
};

struct symbolizer *symbolizer_open(int fd)
{
    Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
    struct symbolizer *symbolizer = dwarf ? malloc(sizeof *symbolizer) : NULL;
    if (!symbolizer) {
        dwarf_end(dwarf);
        return NULL;
    }
    symbolizer->dwarf = dwarf;
    return symbolizer;
}

void symbolizer_close(struct symbolizer *symbolizer)
{
    if (!symbolizer)
        return;
    dwarf_end(symbolizer->dwarf);
    free(symbolizer);
}

/* The unit that covers an address. Clang writes no .debug_aranges, so the units are searched. */
static bool find_unit(Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *unit)
{
    Dwarf_Off offset = 0, next;
    size_t header;
    while (!dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL)) {
        if (dwarf_offdie(dwarf, offset + header, unit) && dwarf_haspc(unit, address) == 1)
            return true;
        offset = next;
    }
    return false;
}

/* Without the "./" that a relative compilation directory puts in front. */
static const char *tidy(const char *file)
{
    return file && strncmp(file, "./", 2) == 0 ? file + 2 : file;
}

static bool in_headers(const char *file, const char *headers)
{
    size_t length = headers ? strlen(headers) : 0;
    return length && strncmp(file, headers, length) == 0 && file[length] == '/';
}

static Dwarf_Word attribute(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute found;
    Dwarf_Word value = 0;
    if (!dwarf_attr(die, name, &found) || dwarf_formudata(&found, &value))
        return 0;
    return value;
}

/* Walks outwards through the calls that were inlined at the address. */
static int calls_around(Dwarf_Die *unit, Dwarf_Addr address, const char *headers, struct symbolizer_call *calls,
                        int most)
{
    Dwarf_Die *scopes = NULL;
    Dwarf_Files *files;
    size_t file_count;
    int count = dwarf_getscopes(unit, address, &scopes), found = 0;
    if (count > 0 && !dwarf_getsrcfiles(unit, &files, &file_count))
        for (int i = 0; i < count && found < most; i++) {
            if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
                continue;
            Dwarf_Word index = attribute(&scopes[i], DW_AT_call_file);
            const char *name = index < file_count ? tidy(dwarf_filesrc(files, index, NULL, NULL)) : NULL;
            int line = (int)attribute(&scopes[i], DW_AT_call_line);
            if (name && !in_headers(name, headers) && line > 0)
                calls[found++] = (struct symbolizer_call){name, line};
        }
    free(scopes);
    return found;
}

int symbolizer_calls(struct symbolizer *symbolizer, uint64_t address, const char *headers,
                     struct symbolizer_call *calls, int most)
{
    Dwarf_Die unit;
    return symbolizer && find_unit(symbolizer->dwarf, address, &unit)
               ? calls_around(&unit, address, headers, calls, most)
               : 0;
}

/* Code that belongs to no line of its own (line 0) belongs to the last line before it, in the same run of code. */
static bool line_before(Dwarf_Die *unit, Dwarf_Addr address, const char *headers, const char **file, int *line)
{
    Dwarf_Lines *lines;
    size_t count;
    bool found = false;
    if (dwarf_getsrclines(unit, &lines, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *entry = dwarf_onesrcline(lines, i);
        const char *name = tidy(dwarf_linesrc(entry, NULL, NULL));
        Dwarf_Addr at;
        bool end = false;
        int number = 0;
        if (dwarf_lineaddr(entry, &at) || at > address)
            break; /* sorted by address */
        if (!dwarf_lineendsequence(entry, &end) && end)
            found = false;
        else if (name && !in_headers(name, headers) && !dwarf_lineno(entry, &number) && number > 0) {
            *file = name;
            *line = number;
            found = true;
        }
    }
    return found;
}

bool symbolizer_place(struct symbolizer *symbolizer, uint64_t address, const char *headers, const char **file,
                      int *line)
{
    Dwarf_Die unit;
    if (!symbolizer || !find_unit(symbolizer->dwarf, address, &unit))
        return false;
    Dwarf_Line *entry = dwarf_getsrc_die(&unit, address);
    *file = entry ? tidy(dwarf_linesrc(entry, NULL, NULL)) : NULL;
    if (*file && !in_headers(*file, headers) && !dwarf_lineno(entry, line) && *line > 0)
        return true;
    struct symbolizer_call call;
    if (calls_around(&unit, address, headers, &call, 1)) {
        *file = call.file;
        *line = call.line;
        return true;
    }
    return entry && line_before(&unit, address, headers, file, line);
}
