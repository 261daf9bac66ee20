/* A model that this process itself runs: the server of lm/server.h in a thread, at an address that nobody else knows. */
#ifndef GEN_LOCAL_H
#define GEN_LOCAL_H

#include "gen/model.h"

/* Starts the endpoint's folder and sets its URL. Errors: those of lm_serve. It runs until the process ends; once in a process. */
struct akgen_error *gen_local_start(struct gen_model *model);
/* Of the model's files, in the arena: another one makes other samples. */
const char *gen_local_digest(struct arena *arena, const char *folder);

#endif
