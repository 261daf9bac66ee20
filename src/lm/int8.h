/* Matrices as int8, for models that write: each row (an output) times a scale of its own, the largest of its magnitudes over 127. What
 * a step of a few rows takes is the time that memory needs to give the weights, and these are a quarter of them. */
#ifndef LM_INT8_H
#define LM_INT8_H

#include "lm/backend.h"
#include "lm/model.h"

struct lm_int8 {
    struct lm_backend *backend;
    const struct lm_layout *layout;
    int8_t *weights;    /* where the layout has them; vectors have none */
    float *scales;      /* of the matrices' rows, in the layout's order */
    int64_t *first_row; /* of each of the layout's parameters: where its scales begin */
};

/* Rounds every matrix to the nearest. The layout has to stay. Errors: the backend does not multiply them, or has no memory; a
 * weight is not finite. The caller frees. */
struct akgen_error *lm_int8_new(struct lm_backend *backend, const struct lm_layout *layout, const float *weights,
                                struct lm_int8 **int8);
/* The same of the matrices that a pass multiplies with, and gives the float32 matrices' memory back to the system as they are done, but for those that a pass needs as they are (embeddings and
 * routers): they read as zeros from then on. */
struct akgen_error *lm_int8_take(struct lm_backend *backend, const struct lm_layout *layout, float *weights,
                                 struct lm_int8 **int8);
/* Bytes of all weights of a model after that. */
int64_t lm_int8_bytes(const struct lm_layout *layout);
void lm_int8_free(struct lm_int8 *int8);
/* The scales of a matrix that begins at `offset`, and of those behind it. */
const float *lm_int8_scales(const struct lm_int8 *int8, int64_t offset);

#endif
