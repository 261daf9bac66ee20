#include "jail/places_internal.h"
#include "base/symbolize.h"
#include "jail/job_exchange.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void places_close(struct places *places)
{
    for (int i = JOB_VECTOR; i <= JOB_CUBE; i++)
        if (places->tables[i]) {
            symbolizer_close(places->tables[i]);
            close(places->fds[i]);
        }
}

static struct symbolizer *table_of(struct places *places, enum job_object object)
{
    const char *path = object == JOB_VECTOR ? places->job->kernel_so : places->job->cube_so;
    if (places->tables[object] || !path)
        return places->tables[object];
    places->fds[object] = open(path, O_RDONLY | O_CLOEXEC);
    places->tables[object] = symbolizer_open(places->fds[object]);
    if (!places->tables[object] && places->fds[object] >= 0)
        close(places->fds[object]);
    return places->tables[object];
}

void places_line(struct places *places, const struct job_place *at, const char **file, int *line)
{
    *file = NULL;
    *line = 0;
    /* A return address: the call is the instruction before it. */
    if (at->object != JOB_NOWHERE &&
        !symbolizer_place(table_of(places, at->object), at->address - 1, places->job->headers, file, line))
        *file = NULL;
    if (!*file)
        *line = 0;
}

/* The calls around a place that is known. */
static const struct job_call *calls_around(struct arena *arena, struct places *places, const struct job_place *at)
{
    enum { CALLS_MAX = 8 };
    struct symbolizer_call found[CALLS_MAX];
    int count = symbolizer_calls(table_of(places, at->object), at->address - 1, places->job->headers, found, CALLS_MAX);
    struct job_call *calls = arena_alloc(arena, (size_t)(count + 1) * sizeof *calls);
    for (int i = 0; i < count; i++)
        calls[i] = (struct job_call){arena_strdup(arena, found[i].file), found[i].line};
    return calls;
}

void places_find(struct arena *arena, const struct job *job, struct job_result *result)
{
    struct places places = {.job = job};
    for (size_t i = 0; i < result->finding_count; i++) {
        struct job_finding *finding = &result->findings[i];
        places_line(&places, &finding->place, &finding->file, &finding->line);
        places_line(&places, &finding->place_other, &finding->file_other, &finding->line_other);
        if (finding->file) {
            finding->file = arena_strdup(arena, finding->file);
            finding->calls = calls_around(arena, &places, &finding->place);
        }
        if (finding->file_other) {
            finding->file_other = arena_strdup(arena, finding->file_other);
            finding->calls_other = calls_around(arena, &places, &finding->place_other);
        }
    }
    for (size_t i = 0; i < result->endless_count; i++) {
        struct job_endless *endless = &result->endless[i];
        places_line(&places, &endless->place, &endless->file, &endless->line);
        if (endless->file) {
            endless->file = arena_strdup(arena, endless->file);
            endless->calls = calls_around(arena, &places, &endless->place);
        }
    }
    struct job_timing *timing = &result->timing;
    places_line(&places, &timing->place, &timing->file, &timing->line);
    if (timing->file) {
        timing->file = arena_strdup(arena, timing->file);
        timing->calls = calls_around(arena, &places, &timing->place);
    }
    places_close(&places);
}

/* Takes the place off the end of a line. */
static struct job_place cut_place(char *line)
{
    char *mark = NULL;
    for (char *at = line; (at = strstr(at, "  @")); at++)
        mark = at;
    int object;
    unsigned long long address;
    if (!mark || sscanf(mark, JOB_LOG_PLACE, &object, &address) != 2 || object < JOB_NOWHERE || object > JOB_CUBE)
        return (struct job_place){0};
    memcpy(mark, "\n", sizeof "\n");
    return (struct job_place){(enum job_object)object, address};
}

FILE *places_stream(int fd, const char *mode)
{
    int copy = dup(fd);
    return copy < 0 ? NULL : fdopen(copy, mode);
}

void places_copy_log(const struct job *job, int log)
{
    struct places places = {.job = job};
    FILE *from = lseek(log, 0, SEEK_SET) == 0 ? places_stream(log, "r") : NULL, *to = places_stream(job->log_fd, "a");
    char *line = NULL;
    size_t room = 0;
    while (from && to && getline(&line, &room, from) > 0) {
        struct job_place at = cut_place(line);
        const char *file;
        int number;
        places_line(&places, &at, &file, &number);
        if (file) {
            line[strcspn(line, "\n")] = '\0';
            fprintf(to, "%s  %s:%d\n", line, file, number);
        } else
            fputs(line, to);
    }
    free(line);
    if (from)
        fclose(from);
    if (to)
        fclose(to);
    places_close(&places);
}
