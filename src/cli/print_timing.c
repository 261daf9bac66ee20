/* The modelled time of a case as a small table. */
#include "cli/cli.h"
#include "eval/timing_text.h"

static void print_case(FILE *out, const struct verdict *verdict, const struct verdict_case *row,
                       const struct cli_colors *colors)
{
    struct text text = {0};
    timing_add_case(&text, verdict, row, &(struct timing_style){colors->bold, colors->warn, colors->off});
    if (text.length)
        fwrite(text.bytes, 1, text.length, out);
    text_free(&text);
}

void cli_print_timing(FILE *out, const struct verdict *verdict, bool every_case, const struct cli_colors *colors)
{
    const struct verdict_case *largest = timing_largest(verdict);
    for (int i = 0; i < verdict->case_count; i++)
        if (every_case || &verdict->cases[i] == largest)
            print_case(out, verdict, &verdict->cases[i], colors);
}
