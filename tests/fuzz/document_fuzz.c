/* Documents of any text: pages in HTML become text, templates are read or refused with file and line. */
#include "fuzz.h"

#include "base/files.h"
#include "gen/library_internal.h"
#include "gen/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const known[] = {"cases", "cube", NULL}, *const names[] = {"user", NULL};

void fuzz_seeds(void)
{
    fuzz_seed_text(
        "<html><!-- c --><h1 class='x'>A &lt; B</h1><p>x<br>y<script>a<b</script><td>1</td>&#65;&nbsp;</html>");
    fuzz_seed_text("a {{cases}}\n{{#cube}}\nb {{^cases}} c {{/cases}}\n{{/cube}}\n{{! {{ note }}\n{{>user}}");
    fuzz_seed_text("{{#cube}}{{#cube}}{{/cube}}{{/cube}}x\n  {{^cube}}  \ny\n{{/cube}}");
}

/* In memory, made once. */
static char folder[] = "/dev/shm/akgen-template-XXXXXX";

static void remove_folder(void)
{
    files_remove_tree(folder);
}

static void read_template(const char *text)
{
    static bool made;
    struct arena arena = {0};
    struct gen_templates *templates;
    if (!made && (!mkdtemp(folder) || atexit(remove_folder)))
        abort();
    made = true;
    struct gen_template_folders folders = {.own = folder};
    const char *path = arena_printf(&arena, "%s/user.md", folder), *values[] = {"one\ntwo", NULL};
    FILE *file = fopen(path, "w");
    if (!file || fwrite(text, 1, strlen(text), file) != strlen(text) || fclose(file))
        abort();
    struct akgen_error *error = gen_templates_read(&arena, &folders, names, known, &templates);
    if (error ? strncmp(error->message, folder, strlen(folder)) != 0
              : strlen(gen_templates_fill(&arena, templates, "user", values)) > 8 * strlen(text) + 1)
        abort();
    error_free(error);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { LONGEST = 4096 };
    struct arena arena = {0};
    const char *text = arena_strndup(&arena, (const char *)bytes, length < LONGEST ? length : LONGEST);
    if (strlen(library_text_of_html(&arena, text, strlen(text))) > 8 * strlen(text))
        abort();
    read_template(text);
    arena_free(&arena);
    return 0;
}
