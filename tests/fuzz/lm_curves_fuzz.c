/* metrics.jsonl of any bytes: an error that names file and line, or a page whose script no run's name ends. */
#include "fuzz.h"

#include "lm/curves.h"

#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    fuzz_seed_text("{\"step\":1,\"epoch\":0.1,\"loss\":2.5,\"rate\":0.001,\"norm\":1.5,\"tokens\":100,\"tokens_per_"
                   "second\":5,\"seconds\":2}\n"
                   "{\"step\":2,\"loss\":null,\"norm\":1e-300,\"rate\":0}\n{\"step\":2,\"eval_loss\":2.25}\n");
    fuzz_seed_text("{\"step\":1,\"loss\":0.69,\"chosen\":0.5,\"rejected\":-1e308,\"right\":1}\n{\"step\":9,\"loss\":"
                   "1e308,\"chosen\":-1,\"rejected\":0,\"right\":0}\n");
    fuzz_seed_text("{\"step\":3,\"reward\":-1,\"kl\":0.1,\"loss\":-0.5}\n{\"step\":4,\"rew");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct lm_curves *curves = lm_curves_new();
    struct akgen_error *error = lm_curves_parse(curves, "</script><b>", "metrics.jsonl", (const char *)bytes, length);
    if (error) {
        if (strncmp(error->message, "metrics.jsonl:", 14) != 0)
            abort();
        error_free(error);
    } else {
        char *page = lm_curves_page(curves);
        if (!strstr(page, "</script></html>\n") || strstr(page, "</script><b>") || strstr(page, "nan") ||
            strstr(page, "inf"))
            abort();
        free(page);
    }
    lm_curves_free(curves);
    return 0;
}
