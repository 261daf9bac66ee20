/* From slices to a trace: an array of events in JSON, as the Trace Event Format of Chrome has them. A process for each core, a
 * thread for each pipe, and a second one beside it where work of one pipe overlaps. */
#include "jail/trace_internal.h"
#include "base/jsons.h"
#include "base/memory.h"
#include "npu/npu.h"
#include "jail/job_exchange.h"
#include "jail/places_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CORES = 1 << 17 /* two AIVs of each of 65535 blocks */, SIDES = 4 /* threads of a pipe */ };

/* A line of akgen-run's. */
struct slice {
    int core, aic, lane;
    double start, end; /* cycles */
    uint64_t bytes, elements;
    int64_t flow;
    struct job_place place;
    const char *name, *of;
};
/* The author's lines of the addresses met so far, as text in JSON, in an open hash. */
struct known_line {
    struct job_place place;
    char *text; /* NULL: none is known */
    bool used;
};
/* The newest slice of each flow, likewise. */
struct known_flow {
    int64_t flow; /* 0: free */
    int process, thread;
    double start, end;
};
/* A core that was met. */
struct tracks {
    double busy_until[NPU_LANES][SIDES];
    uint8_t named[NPU_LANES]; /* threads, a bit each */
};
struct trace {
    FILE *to;
    double cycles_per_us;
    bool begun;
    struct places places;
    struct known_line *lines;
    struct known_flow *flows;
    size_t line_count, line_room, flow_count, flow_room; /* rooms: powers of two */
    struct tracks **cores[2];                            /* by kind and number; NULL: not met */
    int core_count[2];
    uint64_t arrows;
};

static size_t slot_of(uint64_t key, size_t room)
{
    return (key * 0x9e3779b97f4a7c15 >> 20) & (room - 1);
}

/* Lines. */
static char *line_text(struct places *places, const struct job_place *place)
{
    const char *file;
    int number;
    places_line(places, place, &file, &number);
    if (!file)
        return NULL;
    struct arena arena = {0};
    json_t *json = jsons_text(arena_printf(&arena, "%s:%d", file, number));
    char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    json_decref(json);
    arena_free(&arena);
    return text;
}

static struct known_line *line_slot(struct known_line *lines, size_t room, const struct job_place *place)
{
    size_t at = slot_of(place->address, room);
    while (lines[at].used && (lines[at].place.address != place->address || lines[at].place.object != place->object))
        at = (at + 1) & (room - 1);
    return &lines[at];
}

static void grow_lines(struct trace *trace)
{
    size_t room = trace->line_room ? 2 * trace->line_room : 256;
    struct known_line *lines = memory_alloc(room * sizeof *lines);
    for (size_t i = 0; i < trace->line_room; i++)
        if (trace->lines[i].used)
            *line_slot(lines, room, &trace->lines[i].place) = trace->lines[i];
    free(trace->lines);
    trace->lines = lines;
    trace->line_room = room;
}

static const char *line_of(struct trace *trace, const struct job_place *place)
{
    if (place->object == JOB_NOWHERE)
        return NULL;
    if (2 * trace->line_count >= trace->line_room)
        grow_lines(trace);
    struct known_line *line = line_slot(trace->lines, trace->line_room, place);
    if (!line->used) {
        *line = (struct known_line){*place, line_text(&trace->places, place), true};
        trace->line_count++;
    }
    return line->text;
}

/* Events. */
static void begin_event(struct trace *trace)
{
    fputs(trace->begun ? ",\n" : "[\n", trace->to);
    trace->begun = true;
}

/* Of akgen-run's words nothing gets out of the string. */
static void put_word(FILE *to, const char *word)
{
    for (; *word; word++)
        putc(*word < ' ' || *word > '~' || *word == '"' || *word == '\\' ? '?' : *word, to);
}

static int process_of(const struct slice *slice)
{
    return slice->aic ? MOST_CORES + slice->core : slice->core;
}

static void name_process(struct trace *trace, const struct slice *slice)
{
    const int process = process_of(slice);
    begin_event(trace);
    fprintf(trace->to,
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"%s %d\"}},\n"
            "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":%d,\"args\":{\"labels\":\"modelled\"}},\n"
            "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"args\":{\"sort_index\":%d}}",
            process, slice->aic ? "AIC" : "AIV", slice->core, process, process, process);
}

static void name_thread(struct trace *trace, const struct slice *slice, int side)
{
    const int process = process_of(slice), thread = slice->lane * SIDES + side;
    begin_event(trace);
    fprintf(trace->to, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s", process,
            thread, job_lanes[slice->lane]);
    if (side)
        fprintf(trace->to, " (%d)", side + 1);
    fprintf(trace->to,
            "\"}},\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%d,\"tid\":%d,\"args\":{\"sort_index\":%d}}",
            process, thread, thread);
}

/* The first of the pipe's threads that is free at the slice's start; the last where none is. */
static int choose_side(struct tracks *tracks, const struct slice *slice)
{
    double *busy_until = tracks->busy_until[slice->lane];
    int side = 0;
    while (side < SIDES - 1 && busy_until[side] > slice->start)
        side++;
    busy_until[side] = slice->end;
    return side;
}

static void put_slice(struct trace *trace, const struct slice *slice, int thread)
{
    FILE *to = trace->to;
    const char *line = line_of(trace, &slice->place), *between = "";
    begin_event(trace);
    fputs("{\"ph\":\"X\",\"name\":\"", to);
    put_word(to, slice->name);
    fprintf(to, "\",\"pid\":%d,\"tid\":%d,\"ts\":%.6f,\"dur\":%.6f,\"args\":{", process_of(slice), thread,
            slice->start / trace->cycles_per_us, (slice->end - slice->start) / trace->cycles_per_us);
    if (slice->bytes)
        fprintf(to, "\"bytes\":%llu", (unsigned long long)slice->bytes), between = ",";
    if (slice->elements)
        fprintf(to, "%s\"elements\":%llu", between, (unsigned long long)slice->elements), between = ",";
    if (line)
        fprintf(to, "%s\"line\":%s", between, line), between = ",";
    if (*slice->of) {
        fprintf(to, "%s\"of\":\"", between);
        put_word(to, slice->of);
        putc('"', to);
    }
    fputs("}}", to);
}

/* Flows. */
static struct known_flow *flow_slot(struct known_flow *flows, size_t room, int64_t flow)
{
    size_t at = slot_of((uint64_t)flow, room);
    while (flows[at].flow && flows[at].flow != flow)
        at = (at + 1) & (room - 1);
    return &flows[at];
}

static void grow_flows(struct trace *trace)
{
    size_t room = trace->flow_room ? 2 * trace->flow_room : 1024;
    struct known_flow *flows = memory_alloc(room * sizeof *flows);
    for (size_t i = 0; i < trace->flow_room; i++)
        if (trace->flows[i].flow)
            *flow_slot(flows, room, trace->flows[i].flow) = trace->flows[i];
    free(trace->flows);
    trace->flows = flows;
    trace->flow_room = room;
}

/* What sets a flag ends no later than what waits for it; a wait begins before it may. An arrow must not go back in time. */
static void put_arrow(struct trace *trace, const struct known_flow *a, const struct known_flow *b)
{
    bool a_sets = a->end < b->end || (a->end == b->end && a->start >= b->start);
    const struct known_flow *set = a_sets ? a : b, *wait = a_sets ? b : a;
    double at = fmax(set->start, wait->start);
    trace->arrows++;
    begin_event(trace);
    fprintf(
        trace->to,
        "{\"ph\":\"s\",\"name\":\"flag\",\"cat\":\"flag\",\"id\":%llu,\"pid\":%d,\"tid\":%d,\"ts\":%.6f},\n"
        "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"flag\",\"cat\":\"flag\",\"id\":%llu,\"pid\":%d,\"tid\":%d,\"ts\":%.6f}",
        (unsigned long long)trace->arrows, set->process, set->thread, set->start / trace->cycles_per_us,
        (unsigned long long)trace->arrows, wait->process, wait->thread, at / trace->cycles_per_us);
}

static void follow_flow(struct trace *trace, const struct slice *slice, int thread)
{
    const struct known_flow now = {slice->flow, process_of(slice), thread, slice->start, slice->end};
    if (2 * trace->flow_count >= trace->flow_room)
        grow_flows(trace);
    struct known_flow *before = flow_slot(trace->flows, trace->flow_room, slice->flow);
    if (before->flow)
        put_arrow(trace, before, &now);
    else
        trace->flow_count++;
    *before = now;
}

/* The tracks of the slice's core, which has a process from its first slice on. */
static struct tracks *tracks_of(struct trace *trace, const struct slice *slice)
{
    struct tracks ***cores = &trace->cores[slice->aic];
    int *count = &trace->core_count[slice->aic];
    if (slice->core >= *count) {
        *cores = memory_grow(*cores, (size_t)(slice->core + 1) * sizeof **cores);
        while (*count <= slice->core)
            (*cores)[(*count)++] = NULL;
    }
    struct tracks **tracks = &(*cores)[slice->core];
    if (!*tracks) {
        *tracks = memory_alloc(sizeof **tracks);
        name_process(trace, slice);
    }
    return *tracks;
}

static void take_slice(struct trace *trace, const struct slice *slice)
{
    struct tracks *tracks = tracks_of(trace, slice);
    int side = choose_side(tracks, slice), thread = slice->lane * SIDES + side;
    uint8_t *named = &tracks->named[slice->lane];
    if (!(*named & 1 << side))
        name_thread(trace, slice, side);
    *named |= (uint8_t)(1 << side);
    put_slice(trace, slice, thread);
    if (slice->flow)
        follow_flow(trace, slice, thread);
}

/* Reading. */
static bool read_slice(char *line, struct slice *slice)
{
    char *at = line, *tab;
    slice->core = (int)strtol(at, &at, 10);
    slice->aic = (int)strtol(at, &at, 10);
    slice->lane = (int)strtol(at, &at, 10);
    slice->start = strtod(at, &at);
    slice->end = strtod(at, &at);
    slice->bytes = strtoull(at, &at, 10);
    slice->elements = strtoull(at, &at, 10);
    slice->flow = strtoll(at, &at, 10);
    slice->place.object = (enum job_object)strtol(at, &at, 10);
    slice->place.address = strtoull(at, &at, 16);
    tab = *at == '\t' ? strchr(at + 1, '\t') : NULL;
    if (!tab)
        return false;
    slice->name = at + 1;
    *tab = '\0';
    slice->of = tab + 1;
    tab[1 + strcspn(tab + 1, "\n")] = '\0';
    return slice->core >= 0 && slice->core < MOST_CORES && (slice->aic == 0 || slice->aic == 1) && slice->lane >= 0 &&
           slice->lane < NPU_LANES && slice->start >= 0 && isfinite(slice->end) && slice->end >= slice->start &&
           slice->bytes <= INT64_MAX && slice->elements <= INT64_MAX && slice->place.object <= JOB_CUBE;
}

/* Whether there is room for one more slice, with the names of its core and pipe, its flow, and the last event of all. */
static bool has_room(const struct trace *trace, uint64_t most)
{
    enum { LONGEST = 16 << 10 };
    const off_t now = most ? ftello(trace->to) : 0; /* -1: not a file */
    return !most || now < 0 || (uint64_t)now + LONGEST <= most;
}

/* False: not all of them. */
static bool copy_slices(struct trace *trace, FILE *from, uint64_t most)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    double end = 0;
    uint64_t bytes = 0;
    bool whole = true;
    while (whole && (length = getline(&line, &room, from)) > 0) {
        struct slice slice;
        whole = has_room(trace, most);
        bytes += (uint64_t)length;
        if (whole && read_slice(line, &slice)) {
            take_slice(trace, &slice);
            end = fmax(end, slice.end);
        }
    }
    free(line);
    whole &= bytes <= JOB_SLICES_LIMIT;
    if (!whole) {
        begin_event(trace);
        fprintf(trace->to,
                "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"what follows has no room\",\"pid\":0,\"tid\":0,\"ts\":%.6f}",
                end / trace->cycles_per_us);
    }
    fputs(trace->begun ? "\n]\n" : "[]\n", trace->to);
    return whole;
}

/* An errno where something could not be written, else 0. The first one counts: later writes may find room again. */
static int finish(FILE *to, int failed)
{
    const bool lost = ferror(to) != 0;
    errno = 0;
    if (fclose(to) != 0 || lost)
        failed = failed ? failed : errno ? errno : ENOSPC;
    return failed;
}

bool trace_write(const struct job *job, const struct npu_timing *timing, int slices, int *failed)
{
    bool whole = false;
    *failed = 0;
    if (!timing->known || lseek(slices, 0, SEEK_SET) != 0)
        return false;
    FILE *from = places_stream(slices, "r"), *to = places_stream(job->trace_fd, "a");
    struct trace trace = {.to = to, .cycles_per_us = timing->mhz, .places = {.job = job}};
    bool emptied = ftruncate(job->trace_fd, 0) == 0 || errno == EINVAL; /* EINVAL: not a file */
    *failed = !to || !emptied ? errno : 0;
    if (from && to && emptied)
        whole = copy_slices(&trace, from, job->trace_bytes);
    for (size_t i = 0; i < trace.line_room; i++)
        free(trace.lines[i].text);
    free(trace.lines);
    free(trace.flows);
    for (int aic = 0; aic < 2; aic++) {
        for (int core = 0; core < trace.core_count[aic]; core++)
            free(trace.cores[aic][core]);
        free(trace.cores[aic]);
    }
    places_close(&trace.places);
    if (from)
        fclose(from);
    if (to)
        *failed = finish(to, *failed);
    return whole && !*failed;
}
