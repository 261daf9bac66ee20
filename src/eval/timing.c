#include "eval/timing.h"
#include "base/jsons.h"
#include "eval/advice.h"

#include <math.h>

double timing_share(const struct npu_timing_cores *cores, int lane)
{
    return cores->mean > 0 ? cores->busy[lane] / cores->mean : 0;
}

int timing_busiest(const struct npu_timing_cores *cores)
{
    int busiest = 0;
    for (int lane = 1; lane < NPU_LANES; lane++)
        if (cores->busy[lane] > cores->busy[busiest])
            busiest = lane;
    return busiest;
}

const char *timing_bound(struct arena *arena, const struct npu_timing *timing)
{
    static const char *const names[] = {
        [NPU_BOUND_PIPE] = NULL, [NPU_BOUND_HBM] = "HBM", [NPU_BOUND_L2] = "L2", [NPU_BOUND_LAUNCH] = "launch"};
    const char *name = names[timing->bound];
    return name ? name
                : arena_printf(arena, "%s of %s", job_lanes[timing->bound_lane], timing->bound_aic ? "AIC" : "AIV");
}

double timing_roofline(const struct npu_timing *timing)
{
    return timing->cycles > 0 ? timing->bound_cycles / timing->cycles : 0;
}

double timing_rate(const struct npu_timing *timing, uint64_t bytes)
{
    const double us = npu_timing_us(timing, timing->cycles);
    return us > 0 ? (double)bytes / us * 1e-3 : 0;
}

double timing_us(const struct npu_timing *timing)
{
    return round(npu_timing_us(timing, timing->cycles) * 1e3) / 1e3;
}

struct source_place timing_source(const struct source_map *map, const struct job_timing *timing)
{
    const struct job_finding finding = {.file = timing->file, .line = timing->line, .calls = timing->calls};
    return source_map_of_finding(map, &finding, false);
}

/* To the `parts` of one that a model has any use for: 10, 100. */
static json_t *rounded(double value, double parts)
{
    return json_real(round(value * parts) / parts);
}

static json_t *us_json(const struct npu_timing *timing, double cycles)
{
    return rounded(npu_timing_us(timing, cycles), 1e3);
}

static json_t *share_json(double share)
{
    return rounded(share, 1e4);
}

/* Cores of a kind with the lanes that it has. */
static json_t *cores_json(const struct npu_timing *timing, bool aic)
{
    const struct npu_timing_cores *cores = &timing->of[aic];
    if (!cores->cores)
        return json_null();
    json_t *json = json_object(), *pipes = json_object();
    for (int lane = 0; lane < (aic ? NPU_LANES : NPU_LANE_M); lane++)
        if (!aic || lane != NPU_LANE_V)
            json_object_set_new(pipes, job_lanes[lane], share_json(timing_share(cores, lane)));
    json_object_set_new(json, "cores", json_integer(cores->cores));
    json_object_set_new(json, "mean_us", us_json(timing, cores->mean));
    json_object_set_new(json, "longest_us", us_json(timing, cores->longest));
    json_object_set_new(json, "pipes", pipes);
    return json;
}

static json_t *slowest_json(const struct source_map *map, const struct job_timing *timing)
{
    if (!timing->file)
        return json_null();
    json_t *json = json_object();
    json_object_set_new(json, "file", jsons_text(timing->file));
    json_object_set_new(json, "line", json_integer(timing->line));
    json_object_set_new(json, "source", source_place_to_json(timing_source(map, timing)));
    json_object_set_new(json, "us", us_json(&timing->model, timing->model.slowest_cycles));
    return json;
}

static void add_bytes(json_t *json, const struct npu_timing *timing)
{
    const struct {
        const char *name;
        uint64_t bytes;
    } counts[] = {{"bytes_read", timing->read},     {"bytes_written", timing->written},
                  {"hbm_read", timing->hbm_read},   {"hbm_written", timing->hbm_written},
                  {"copies_in", timing->copies_in}, {"copies_out", timing->copies_out},
                  {"ub_peak", timing->ub_peak}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(json, counts[i].name, json_integer((json_int_t)counts[i].bytes));
    json_object_set_new(json, "l2_share",
                        share_json(timing->read ? (double)timing->read_l2 / (double)timing->read : 0));
    json_object_set_new(json, "hbm_gb_per_s", rounded(timing_rate(timing, timing->hbm_read + timing->hbm_written), 10));
    json_object_set_new(json, "l2_gb_per_s", rounded(timing_rate(timing, timing->read + timing->written), 10));
}

json_t *timing_json(const struct npu_soc *soc, const struct source_map *map, const struct job_result *run)
{
    const struct npu_timing *timing = &run->timing.model;
    struct arena arena = {0};
    if (!timing->known)
        return json_null();
    json_t *json = json_object();
    json_object_set_new(json, "modelled", json_true());
    json_object_set_new(json, "shortened", json_boolean(timing->shortened));
    json_object_set_new(json, "cycles", rounded(timing->cycles, 1));
    json_object_set_new(json, "us", us_json(timing, timing->cycles));
    json_object_set_new(json, "launch_us", us_json(timing, timing->launch));
    json_object_set_new(json, "aiv", cores_json(timing, false));
    json_object_set_new(json, "aic", cores_json(timing, true));
    add_bytes(json, timing);
    json_object_set_new(json, "bound", json_string(timing_bound(&arena, timing)));
    json_object_set_new(json, "bound_us", us_json(timing, timing->bound_cycles));
    json_object_set_new(json, "roofline", share_json(timing_roofline(timing)));
    json_object_set_new(json, "slowest", slowest_json(map, &run->timing));
    json_object_set_new(json, "advice", jsons_text(advice_for(&arena, soc, timing, &run->stats)));
    arena_free(&arena);
    return json;
}
