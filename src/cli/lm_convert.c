/* akgen lm convert: a checkpoint in another form. */
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/convert.h"

struct arguments {
    struct lm_convert_options convert;
    int megabytes; /* of a file */
    bool retyped, json;
};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"output", 'o', "OUT", CLI_TEXT(convert.out, .needed = true), 1,
     "the folder that is written, which may not be there yet"},
    {"dtype", 0, "float32|bfloat16", CLI_CALL(cli_lm_take_dtype, .at = CLI_AT(convert.dtype), CLI_ALSO(retyped)), 1,
     "of the weights (default: as they are)"},
    {"adapter", 0, "DIR", CLI_TEXT(convert.adapter), 1,
     "PEFT's adapters, or of 'lm train --lora', which become part of the weights"},
    {"toward", 0, "DIR", CLI_TEXT(convert.toward), 1,
     "another model of the same shapes: each weight becomes a mean of both"},
    {"share", 0, "S", CLI_REAL(convert.share, 0, 1), 1, "of DIR in it, 0 to 1 (default 0.5)"},
    {"shard-size", 0, "N", CLI_NUMBER(megabytes, 1, 1 << 30), 1, "of a file, in megabytes (default 5000)"},
    {"json", 0, NULL, CLI_FLAG(json), 1, "print the result as JSON"},
    {NULL, 0, "MODEL", CLI_TEXT(convert.folder, .needed = true), 0, NULL},
};

int cli_lm_convert(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "MODEL and -o OUT are needed",
        .excess = CLI_UNEXPECTED,
        .args_doc = "MODEL",
        .doc = "Rewrites a checkpoint: another data type, files of another size, adapters merged, a mean with another "
               "model.\vOUT is whole or not "
               "there, whenever the command ends.",
    };
    struct arguments arguments = {.convert.share = 0.5};
    struct lm_converted converted;
    cli_parse(&table, argc, argv, &arguments);
    arguments.convert.as_it_is = !arguments.retyped;
    arguments.convert.largest = arguments.megabytes * 1000000L;
    struct akgen_error *error = lm_convert(&arguments.convert, &converted);
    if (error)
        return cli_end(error);
    if (arguments.json) {
        json_t *root =
            json_pack("{s:I s:I s:i s:s}", "parameters", (json_int_t)converted.parameters, "bytes",
                      (json_int_t)converted.bytes, "files", converted.files, "dtype", lm_dtype_name(converted.dtype));
        cli_print_json(root, JSON_INDENT(2));
    } else {
        printf("written   %s: %.4g million parameters, %s, %.4g MB in %d file%s\n", arguments.convert.out,
               1e-6 * (double)converted.parameters, lm_dtype_name(converted.dtype), 1e-6 * (double)converted.bytes,
               converted.files, converted.files == 1 ? "" : "s");
    }
    return EXIT_PASS;
}
