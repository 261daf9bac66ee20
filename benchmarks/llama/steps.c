/* steps MODEL.gguf TEXTS THREADS: llama.cpp's side of llama.py, by its C interface: for each line of standard input WRITTEN tokens of each of that many
 * texts, and a line: their seconds, and those of the processors. */
#include <llama.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WRITTEN = 16, CELLS = 512 };

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void be_quiet(enum ggml_log_level level, const char *text, void *closure)
{
    (void)closure;
    if (level >= GGML_LOG_LEVEL_ERROR && level != GGML_LOG_LEVEL_CONT)
        fputs(text, stderr);
}

int main(int argc, char **argv)
{
    char line[16];
    if (argc != 4)
        return 2;
    int texts = atoi(argv[2]);
    llama_log_set(be_quiet, NULL);
    llama_backend_init();
    struct llama_model_params how = llama_model_default_params();
    struct llama_model *model = llama_model_load_from_file(argv[1], how);
    struct llama_context_params params = llama_context_default_params();
    params.n_ctx = CELLS;
    params.n_batch = params.n_ubatch = 64;
    params.n_seq_max = (uint32_t)texts;
    params.n_threads = params.n_threads_batch = atoi(argv[3]);
    params.type_k = params.type_v = GGML_TYPE_F32;
    params.kv_unified = true;
    struct llama_context *context = model ? llama_init_from_model(model, params) : NULL;
    if (!context)
        return 1;
    printf("%llu parameters, %s threads\n", (unsigned long long)llama_model_n_params(model), argv[3]);
    fflush(stdout);
    struct llama_batch batch = llama_batch_init(texts, 0, 1);
    while (fgets(line, sizeof line, stdin)) {
        llama_memory_clear(llama_get_memory(context), true);
        double start = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (int place = 0; place < WRITTEN; place++) {
            batch.n_tokens = texts;
            for (int i = 0; i < texts; i++) {
                batch.token[i] = (13 * i + 7 * place) % 1000;
                batch.pos[i] = place;
                batch.n_seq_id[i] = 1;
                batch.seq_id[i][0] = i;
                batch.logits[i] = 1;
            }
            if (llama_decode(context, batch) != 0)
                return 1;
            llama_synchronize(context);
        }
        printf("%.6f %.6f\n", seconds(CLOCK_MONOTONIC) - start, seconds(CLOCK_PROCESS_CPUTIME_ID) - used);
        fflush(stdout);
    }
    return 0;
}
