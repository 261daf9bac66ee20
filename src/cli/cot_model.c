/* --provider of the steps in which a model may write. */
#include "cli/cot_model.h"
#include "cli/cli.h"

#define CLI_OF struct cli_cot_model
static const struct cli_option rows[] = {
    {"provider", 0, "NAME", CLI_TEXT(provider), 9,
     "a model writes as well: openai:URL, lm:DIR or exec:COMMAND, as of 'akgen gen' (docs/models.md)"},
};
const struct cli_table cli_cot_model_table = {CLI_ROWS(rows), .parts = {{&cli_server_table, CLI_AT(model)}}};

struct akgen_error *cli_cot_model_open(struct cli_cot_model *model, struct store *store)
{
    if (!model->provider)
        return NULL;
    struct akgen_error *error = cli_model_provider(&model->model, model->provider);
    return error ? error : cot_asker_open(store, &model->model, &model->asker);
}

int cli_cot_model_close(struct cli_cot_model *model, const struct cot_counts *counts)
{
    int code = EXIT_PASS;
    if (model->asker) {
        struct cot_asked sum = cot_asker_sum(model->asker);
        printf("%s: %lld requests answered, %lld before; %lld failed, %lld answers of no use; %lld tokens",
               cot_asker_model(model->asker), (long long)sum.asked, (long long)sum.known, (long long)sum.failed,
               (long long)counts->unusable, (long long)sum.tokens);
        if (sum.cost > 0)
            printf(", cost %.4g", sum.cost);
        putchar('\n');
        fflush(stdout);
        if (counts->unfinished)
            fprintf(stderr, "akgen: %lld sources lack answers and wait for another run: %s\n",
                    (long long)counts->unfinished,
                    sum.ended     ? sum.ended
                    : sum.failure ? sum.failure
                                  : "none came");
        code = sum.failed && !sum.asked && !sum.known ? EXIT_OWN_FAILURE : EXIT_PASS;
    }
    cot_asker_close(model->asker);
    gen_model_free(&model->model);
    return code;
}
