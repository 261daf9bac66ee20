/* akgen lm convert: a checkpoint in another form. */
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/convert.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_DTYPE = 0x500, KEY_ADAPTER, KEY_SHARD, KEY_TOWARD, KEY_SHARE, KEY_JSON };

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "the folder that is written, which may not be there yet", 1},
    {"dtype", KEY_DTYPE, "float32|bfloat16", 0, "of the weights (default: as they are)", 1},
    {"adapter", KEY_ADAPTER, "DIR", 0, "PEFT's adapters, or of 'lm train --lora', which become part of the weights", 1},
    {"toward", KEY_TOWARD, "DIR", 0, "another model of the same shapes: each weight becomes a mean of both", 1},
    {"share", KEY_SHARE, "S", 0, "of DIR in it, 0 to 1 (default 0.5)", 1},
    {"shard-size", KEY_SHARD, "N", 0, "of a file, in megabytes (default 5000)", 1},
    {"json", KEY_JSON, NULL, 0, "print the result as JSON", 1},
    {0},
};
struct arguments {
    struct lm_convert_options convert;
    bool json;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct lm_convert_options *convert = &arguments->convert;
    switch (key) {
    case 'o':
        convert->out = text;
        break;
    case KEY_DTYPE:
        convert->as_it_is = false;
        convert->dtype = strcmp(text, "bfloat16") == 0 ? LM_BF16 : LM_F32;
        if (convert->dtype == LM_F32 && strcmp(text, "float32") != 0)
            argp_error(state, "--dtype: no '%s'; there are float32 and bfloat16", text);
        break;
    case KEY_ADAPTER:
        convert->adapter = text;
        break;
    case KEY_TOWARD:
        convert->toward = text;
        break;
    case KEY_SHARE:
        convert->share = cli_parse_real(state, "share", text, 0, 1);
        break;
    case KEY_SHARD:
        convert->largest = cli_parse_number(state, "shard-size", text, 1, 1 << 30) * 1000000L;
        break;
    case KEY_JSON:
        arguments->json = true;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "unexpected argument '%s'", text);
        convert->folder = text;
        break;
    case ARGP_KEY_END:
        if (!state->arg_num || !convert->out)
            argp_error(state, "MODEL and -o OUT are needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int cli_lm_convert(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "MODEL",
        .doc = "Rewrites a checkpoint: another data type, files of another size, adapters merged, a mean with another "
               "model.\vOUT is whole or not "
               "there, whenever the command ends.",
    };
    struct arguments arguments = {.convert = {.as_it_is = true, .share = 0.5}};
    struct lm_converted converted;
    cli_parse(&argp, argc, argv, &arguments);
    struct akgen_error *error = lm_convert(&arguments.convert, &converted);
    if (error)
        return cli_fail(error->of_the_file ? EXIT_USAGE : EXIT_OWN_FAILURE, error);
    if (arguments.json) {
        json_t *root =
            json_pack("{s:I s:I s:i s:s}", "parameters", (json_int_t)converted.parameters, "bytes",
                      (json_int_t)converted.bytes, "files", converted.files, "dtype", lm_dtype_name(converted.dtype));
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(root);
    } else {
        printf("written   %s: %.4g million parameters, %s, %.4g MB in %d file%s\n", arguments.convert.out,
               1e-6 * (double)converted.parameters, lm_dtype_name(converted.dtype), 1e-6 * (double)converted.bytes,
               converted.files, converted.files == 1 ? "" : "s");
    }
    return EXIT_PASS;
}
