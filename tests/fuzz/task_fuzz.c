/* A task of any text: task.yaml, a line "=== cases.csv", and the cases. Loading ends with a task or with an error that
 * names the file. */
#include "fuzz.h"

#include "base/files.h"
#include "task/task.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char between[] = "=== cases.csv\n";
static char folder[PATH_MAX]; /* where the texts are put to be loaded */

static void check(struct akgen_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "%s\n", error->message);
    abort();
}

static void remove_folder(void)
{
    files_remove_tree(folder);
}

static void make_folder(void)
{
    const char *memory = "/dev/shm"; /* thousands of files */
    snprintf(folder, sizeof folder, "%s/akgen-task-fuzz.XXXXXX", access(memory, W_OK) ? "/tmp" : memory);
    if (!mkdtemp(folder))
        abort();
    atexit(remove_folder);
}

static void write_text(const char *name, const char *text, size_t length)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(text, 1, length, file) != length || fclose(file))
        abort();
}

void fuzz_seeds(void)
{
    struct arena arena = {0};
    struct task *tasks;
    int count;
    check(task_load_all(&arena, AKGEN_SOURCE_DIR, &tasks, &count));
    for (int i = 0; i < count; i++) {
        char *yaml, *csv;
        check(files_read(&arena, arena_printf(&arena, "%s/task.yaml", tasks[i].dir), SIZE_MAX, &yaml, NULL));
        check(files_read(&arena, arena_printf(&arena, "%s/cases.csv", tasks[i].dir), SIZE_MAX, &csv, NULL));
        fuzz_seed_text(arena_printf(&arena, "%s%s%s", yaml, between, csv));
    }
    for (int i = 0; task_reference_name(i); i++) {
        const char *yaml, *csv, *head = "suite: mine\nlevel: 1\ncategory: New\nop: New\n";
        if (task_skeleton(&arena, task_reference_find(task_reference_name(i)), head, &yaml, &csv))
            fuzz_seed_text(arena_printf(&arena, "%s%s%s", yaml, between, csv));
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct task task = {0};
    if (!*folder)
        make_folder();
    const char *text = (const char *)bytes, *end = text + length;
    const char *cases = memmem(text, length, between, strlen(between));
    write_text("task.yaml", text, (size_t)((cases ? cases : end) - text));
    cases = cases ? cases + strlen(between) : end;
    write_text("cases.csv", cases, (size_t)(end - cases));
    struct akgen_error *error = task_load(&arena, folder, &task);
    if (error && strncmp(error->message, folder, strlen(folder)) != 0)
        abort();
    if (!error && !task.case_count)
        abort();
    error_free(error);
    arena_free(&arena);
    return 0;
}
