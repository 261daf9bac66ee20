/* Documents of any text: cut at headings, in Markdown and HTML, and asked about; what is cut out of a text stands in it. */
#include "fuzz.h"

#include "cot/documents.h"
#include "cot/sections.h"

#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    fuzz_seed_text("# Add\n\nAdds.\n\n## Parameters\n| name | what |\n|---|---|\n| `dst` | a \\| b |\n\n## "
                   "Example\n```cpp\nAdd(a, b);\n```\n");
    fuzz_seed_text("| `Abs` | `(T dst)`<br>`(T src)` |\n|--|--|\n| `Abs` | `(T dst)`<br>`(T src)` "
                   "|\n~~~\nx\n````\n~~~\n### `a::b`(c) ##\n");
    fuzz_seed_text("<h1>Add &lt;T&gt;</h1><p>x<br>y<pre>int a;\n  b "
                   "&amp;&#x41;</pre><table><tr><th>a<td>b|c</tr><tr><td>1</td></table><!-- -->");
    fuzz_seed_text("```python\n@ascend_kernel\ndef a():\n    pass\n\ndef b():\n    pass\n");
    fuzz_seed_files("docs", "order.md");
}

static void ask(const char *markdown)
{
    const struct cot_documents_options options = {.seed = 1};
    struct cot_block block = {0};
    struct cot_sections sections;
    cot_sections_cut(&block.arena, markdown, &sections);
    for (int s = 0; s < sections.count; s++)
        if (sections.items[s].parent >= s || strlen(sections.items[s].prose) > strlen(sections.items[s].text) ||
            !strstr(markdown, sections.items[s].text))
            abort();
    struct akgen_error *error = cot_document_samples("p", "n", markdown, &options, NULL, &block);
    if (error)
        abort();
    for (int64_t i = 0; i < block.sample_count; i++)
        if (!*block.samples[i].question || !*block.samples[i].answer)
            abort();
    arena_free(&block.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { LONGEST = 4096 };
    struct arena arena = {0};
    const char *text = arena_strndup(&arena, (const char *)bytes, length < LONGEST ? length : LONGEST);
    ask(text);
    const char *markdown = cot_markdown_of_html(&arena, text);
    if (strlen(markdown) > 16 * strlen(text) + 16)
        abort();
    ask(markdown);
    arena_free(&arena);
    return 0;
}
