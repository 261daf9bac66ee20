/* What the tests of passes know of adapters' gradients. */
#ifndef UNIT_LM_ADAPTER_GRADIENT_H
#define UNIT_LM_ADAPTER_GRADIENT_H

#include "lm/adapters.h"

/* The gradient of an adapter of W by the chain rule from that of W: dA = scale * B^T dW, dB = scale * dW A^T. */
static inline void adapter_gradient(const struct lm_adapters *adapters, const struct lm_layout *layout,
                                    const float *weights, const float *dw, float *gradients)
{
    int rank = adapters->options.rank, in, out;
    double scale = adapters->options.alpha / rank;
    for (int l = 0; l < layout->config.layers; l++)
        for (enum lm_target target = LM_Q; target < LM_TARGETS; target++) {
            const struct lm_adapter *at = &adapters->layers[l][target];
            int64_t offset;
            lm_target_matrix(&layout->config, &layout->layers[l], target, &offset, &in, &out);
            for (int64_t o = 0; o < out && at->a >= 0; o++)
                for (int c = 0; c < in; c++)
                    for (int r = 0; r < rank; r++) {
                        float d = (float)(scale * dw[offset + o * in + c]);
                        gradients[at->a + (int64_t)r * in + c] += d * weights[at->b + o * rank + r];
                        gradients[at->b + o * rank + r] += d * weights[at->a + (int64_t)r * in + c];
                    }
        }
}

#endif
