/* akgen soc: the simulated chips. */
#include "cli/cli.h"

#include <string.h>

static int list_socs(void)
{
    printf("%-16s %4s %4s %6s %8s %8s\n", "name", "AIC", "AIV", "MHz", "HBM GiB", "L2 MiB");
    for (const struct npu_soc *soc = npu_socs; soc->name; soc++)
        printf("%-16s %4d %4d %6d %8lu %8lu\n", soc->name, soc->aic, soc->aiv, soc->mhz,
               (unsigned long)(soc->hbm_bytes >> 30), (unsigned long)(soc->l2_bytes >> 20));
    return EXIT_PASS;
}

/* The hardware as a prompt for a kernel author describes it. */
static int show_soc(const char *name)
{
    const struct npu_soc *soc = npu_soc_find(name);
    if (!soc)
        return cli_fail(EXIT_USAGE, error_new("no chip '%s'; 'akgen soc list' shows them", name));
    printf("%s (NPU_ARCH 2201)\n", soc->name);
    printf("  cores      %d AI cores, each with 1 cube core (AIC) and %d vector cores (AIV); %d AIV in all\n", soc->aic,
           soc->aiv / soc->aic, soc->aiv);
    printf("  clock      %d MHz\n", soc->mhz);
    printf("  HBM        %lu GiB, L2 %lu MiB\n", (unsigned long)(soc->hbm_bytes >> 30),
           (unsigned long)(soc->l2_bytes >> 20));
    printf("  UB         %u bytes per AIV: what TPipe can give; GetCoreMemSize(UB) tells tiling %u;\n"
           "             the documentation reserves %u more unless built without the reservation\n",
           soc->ub_bytes, soc->ub_tiling_bytes, soc->ub_reserved_bytes);
    printf("  cube side  L1 %u, L0A %u, L0B %u, L0C %u, bias table %u, fixpipe buffer %u bytes per AIC\n",
           soc->l1_bytes, soc->l0a_bytes, soc->l0b_bytes, soc->l0c_bytes, soc->bt_bytes, soc->fb_bytes);
    printf("  vector     256 bytes per repeat: 8 blocks of 32 bytes; repeat times up to 255; UB addresses aligned to "
           "32\n");
    printf("  pipes      S, V, MTE2 (GM to UB), MTE3 (UB to GM); event ids 0 to 7 per pair of pipes\n");
    return EXIT_PASS;
}

struct soc_arguments {
    const char *words[2];
    int count;
};

#define CLI_OF struct soc_arguments
static const struct cli_option rows[] = {
    {NULL, 0, "COMMAND", CLI_LIST(words, count, .full = CLI_TOO_MANY), 0, NULL},
};

int cli_soc(int argc, char **argv)
{
    static const struct cli_table table = {CLI_ROWS(rows), .args_doc = "list\nshow NAME",
                                           .doc = "The chips that AKGen simulates."};
    struct soc_arguments arguments = {0};
    cli_parse(&table, argc, argv, &arguments);
    if (arguments.count == 1 && strcmp(arguments.words[0], "list") == 0)
        return list_socs();
    if (arguments.count == 2 && strcmp(arguments.words[0], "show") == 0)
        return show_soc(arguments.words[1]);
    return cli_usage(&table, argv[0]);
}
