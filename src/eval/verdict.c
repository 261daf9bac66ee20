/* The verdict as text: names, and the JSON object that docs/verdict.md documents and docs/verdict.schema.json
 * checks. */
#include "eval/eval.h"
#include "eval/kernel_baseline.h"
#include "eval/timing.h"
#include "base/digest.h"
#include "base/jsons.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERDICT_VERSION = 1 };

const struct words eval_modes = WORDS(EVAL_MODES), eval_profiles = WORDS(EVAL_PROFILES), eval_syncs = WORDS(EVAL_SYNCS),
                   eval_schedules = WORDS(EVAL_SCHEDULES);

const char *akgen_verdict_kind_name(enum akgen_verdict_kind kind)
{
    static const char *const names[] = {"pass",          "wrong",    "fault",       "timeout",
                                        "compile_error", "rejected", "unsupported", "infra_error"};
    return names[kind];
}

const char *akgen_verdict_stage_name(enum akgen_verdict_stage stage)
{
    static const char *const names[] = {"parse", "host", "kernel", "tiling", "run", "compare"};
    return names[stage];
}

/* null if it printed nothing. */
static json_t *printed(const char *value)
{
    return jsons_text(value && *value ? value : NULL);
}

static json_t *line(int number)
{
    return number > 0 ? json_integer(number) : json_null();
}

/* JSON has no inf and nan: they are spelled out. */
static json_t *number(double value)
{
    if (isfinite(value))
        return json_real(value);
    return json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

/* null where a number is not finite: no count of ulps leads there. */
static json_t *ulps(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *diagnostics_json(const struct verdict *verdict)
{
    const struct build *build = &verdict->build;
    json_t *list = json_array();
    for (int i = 0; i < build->diagnostic_count; i++) {
        const struct diagnostic *diagnostic = &build->diagnostics[i];
        json_t *row = json_object();
        json_object_set_new(row, "severity", json_string(diagnostic_severities.of[diagnostic->error]));
        json_object_set_new(row, "class", json_string(diagnostic_class_name(diagnostic->class)));
        json_object_set_new(row, "file", jsons_text(diagnostic->file));
        json_object_set_new(row, "line", line(diagnostic->line));
        json_object_set_new(row, "column", line(diagnostic->column));
        json_object_set_new(
            row, "source",
            source_place_to_json(source_map_find(verdict->candidate.map, diagnostic->file, diagnostic->line)));
        json_object_set_new(row, "message", jsons_text(diagnostic->message));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *compile_json(const struct verdict *verdict)
{
    const struct build *build = &verdict->build;
    int generated = 0, cached = 0;
    for (int i = 0; i < build->kernel_count; i++) {
        generated += build->kernels[i].so != NULL;
        cached += build->kernels[i].so && build->kernels[i].cached;
    }
    json_t *json = json_object();
    json_object_set_new(json, "ok", json_boolean(build->stage == BUILD_OK && build->host_so));
    json_object_set_new(json, "seconds",
                        json_real(build->host_seconds + build->describe_seconds + build->kernel_seconds));
    json_object_set_new(json, "host_seconds", json_real(build->host_seconds));
    json_object_set_new(json, "kernel_seconds", json_real(build->kernel_seconds));
    json_object_set_new(json, "combinations", json_integer(build->kernel_count));
    json_object_set_new(json, "generated", json_integer(generated));
    json_object_set_new(json, "cached", json_integer(cached));
    json_object_set_new(json, "diagnostics", diagnostics_json(verdict));
    return json;
}

static json_t *finding_json(const struct source_map *map, const struct job_finding *finding)
{
    json_t *json = json_object();
    json_object_set_new(json, "name", jsons_text(finding->fault));
    json_object_set_new(json, "kind", json_string(job_kinds.of[finding->kind]));
    json_object_set_new(json, "message", jsons_text(finding->message));
    json_object_set_new(json, "api", jsons_text(finding->api));
    json_object_set_new(json, "operand", jsons_text(finding->operand));
    json_object_set_new(json, "pipe", jsons_text(finding->pipe));
    json_object_set_new(json, "core", json_integer(finding->core));
    json_object_set_new(json, "core_type", json_string(finding->aic ? "aic" : "aiv"));
    json_object_set_new(json, "count", json_integer((json_int_t)finding->count));
    json_object_set_new(json, "file", jsons_text(finding->file));
    json_object_set_new(json, "line", line(finding->line));
    json_object_set_new(json, "other_file", jsons_text(finding->file_other));
    json_object_set_new(json, "other_line", line(finding->line_other));
    json_object_set_new(json, "source", source_place_to_json(source_map_of_finding(map, finding, false)));
    json_object_set_new(json, "other_source", source_place_to_json(source_map_of_finding(map, finding, true)));
    return json;
}

static json_t *endless_json(const struct source_map *map, const struct job_endless *endless)
{
    json_t *json = json_object();
    json_object_set_new(json, "file", jsons_text(endless->file));
    json_object_set_new(json, "line", line(endless->line));
    json_object_set_new(json, "source",
                        source_place_to_json(source_map_of_calls(map, endless->file, endless->line, endless->calls)));
    json_object_set_new(json, "rounds", json_integer((json_int_t)endless->rounds));
    json_object_set_new(json, "core", json_integer(endless->core));
    json_object_set_new(json, "core_type", json_string(endless->aic ? "aic" : "aiv"));
    json_object_set_new(json, "cores", json_integer(endless->cores));
    return json;
}

static json_t *mismatch_json(const struct task_mismatch *mismatch)
{
    json_t *json = json_object();
    json_object_set_new(json, "elements", json_integer((json_int_t)mismatch->elements));
    json_object_set_new(json, "wrong", json_integer((json_int_t)mismatch->wrong));
    json_object_set_new(json, "not_finite", json_integer((json_int_t)mismatch->not_finite));
    json_object_set_new(json, "max_abs", number(mismatch->max_abs));
    json_object_set_new(json, "max_rel", number(mismatch->max_rel));
    json_object_set_new(json, "mean_abs", number(mismatch->mean_abs));
    if (!mismatch->ok) {
        json_t *first = json_object();
        json_object_set_new(first, "output", jsons_text(mismatch->output_name));
        json_object_set_new(first, "tensor", json_integer(mismatch->tensor));
        json_object_set_new(first, "index", json_integer(mismatch->index));
        json_object_set_new(first, "actual", number(mismatch->actual));
        json_object_set_new(first, "expected", number(mismatch->expected));
        json_object_set_new(first, "dtype", json_string(akgen_dtype_name(mismatch->type)));
        json_object_set_new(first, "ulps", ulps(mismatch->ulps));
        json_object_set_new(json, "first", first);
        json_t *worst = json_object();
        json_object_set_new(worst, "index", json_integer(mismatch->worst.index));
        json_object_set_new(worst, "actual", number(mismatch->worst.actual));
        json_object_set_new(worst, "expected", number(mismatch->worst.expected));
        json_object_set_new(worst, "ulps", ulps(mismatch->worst.ulps));
        json_object_set_new(json, "worst", worst);
        json_object_set_new(json, "where", *mismatch->where ? jsons_text(mismatch->where) : json_null());
    }
    return json;
}

static json_t *run_json(const struct job_result *run)
{
    json_t *json = json_object();
    json_object_set_new(json, "blocks", json_integer(run->block_dim));
    json_object_set_new(json, "kernel_type", json_string(npu_kernel_type_name(run->stats.kernel_type)));
    json_object_set_new(json, "tiling_key", json_integer((json_int_t)run->tiling_key));
    json_object_set_new(json, "tiling_bytes", json_integer(run->tiling_bytes));
    json_object_set_new(json, "tiling", run->tiling ? json_incref(run->tiling) : json_null());
    json_object_set_new(json, "workspace", json_integer((json_int_t)run->workspace));
    json_object_set_new(json, "seconds", json_real(run->run_seconds));
    json_object_set_new(json, "steps", json_integer((json_int_t)run->stats.steps.control));
    json_object_set_new(json, "steps_allowed", json_integer((json_int_t)run->steps.control));
    json_object_set_new(json, "data_steps", json_integer((json_int_t)run->stats.steps.data));
    json_object_set_new(json, "data_steps_allowed", json_integer((json_int_t)run->steps.data));
    json_object_set_new(json, "instructions", json_integer((json_int_t)run->stats.instructions));
    json_object_set_new(json, "scalar_loads", json_integer((json_int_t)run->stats.scalar_loads));
    json_object_set_new(json, "scalar_stores", json_integer((json_int_t)run->stats.scalar_stores));
    json_object_set_new(json, "scalar_blocks", json_integer((json_int_t)run->stats.scalar_blocks));
    json_object_set_new(json, "bytes_in", json_integer((json_int_t)run->stats.bytes_in));
    json_object_set_new(json, "bytes_out", json_integer((json_int_t)run->stats.bytes_out));
    json_object_set_new(json, "waves", json_integer(run->stats.waves));
    json_object_set_new(json, "cores_busy", json_integer(run->stats.cores_busy));
    return json;
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

/* null where the time is not known. `map` may be NULL. */
static json_t *timing_json(const struct npu_soc *soc, const struct source_map *map, const struct job_result *run)
{
    const struct npu_timing *timing = &run->timing.model;
    struct arena arena = {0};
    if (!timing->known)
        return json_null();
    json_t *json = json_object();
    json_object_set_new(json, "modelled", json_true());
    json_object_set_new(json, "cycles", rounded(timing->cycles, 1));
    json_object_set_new(json, "us", json_real(timing_us(timing)));
    json_object_set_new(json, "launch_us", us_json(timing, timing->launch));
    json_object_set_new(json, "aiv", cores_json(timing, false));
    json_object_set_new(json, "aic", cores_json(timing, true));
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
    json_object_set_new(json, "bound", json_string(timing_bound(&arena, timing)));
    json_object_set_new(json, "bound_us", us_json(timing, timing->bound_cycles));
    json_object_set_new(json, "roofline", share_json(timing_roofline(timing)));
    json_object_set_new(json, "slowest", slowest_json(map, &run->timing));
    json_object_set_new(json, "advice", jsons_text(advice_for(&arena, soc, timing, &run->stats)));
    arena_free(&arena);
    return json;
}

static json_t *case_json(const struct verdict *verdict, int i)
{
    const struct verdict_case *row = &verdict->cases[i];
    const struct source_map *map = verdict->candidate.map;
    json_t *json = json_object(), *faults = json_array(), *notes = json_array(), *endless = json_array();
    json_object_set_new(json, "case", json_integer(row->id));
    json_object_set_new(json, "ok", json_boolean(row->ok));
    json_object_set_new(json, "verdict", json_string(akgen_verdict_kind_name(row->kind)));
    json_object_set_new(json, "stage", json_string(akgen_verdict_stage_name(row->stage)));
    json_object_set_new(json, "shape", jsons_text(row->shape));
    json_object_set_new(json, "dtype", jsons_text(row->dtype));
    json_object_set_new(json, "reduced", json_boolean(row->reduced));
    json_object_set_new(json, "stand_in", jsons_text(row->stand_in));
    json_object_set_new(json, "hidden", json_boolean(row->hidden));
    json_object_set_new(json, "orders_tried", json_integer(row->orders_tried));
    json_object_set_new(json, "order_decides", jsons_text(row->order_decides));
    json_object_set_new(json, "inputs_tried", json_integer(row->trials));
    json_object_set_new(json, "error", jsons_text(row->error));
    json_object_set_new(json, "printed", printed(row->run.printed));
    json_object_set_new(json, "run", row->run.block_dim ? run_json(&row->run) : json_null());
    json_object_set_new(json, "timing", timing_json(verdict->options->soc, map, &row->run));
    json_object_set_new(json, "comparison", row->compared ? mismatch_json(&row->mismatch) : json_null());
    for (size_t k = 0; k < row->run.finding_count; k++)
        json_array_append_new(row->run.findings[k].fatal ? faults : notes, finding_json(map, &row->run.findings[k]));
    for (size_t k = 0; k < row->run.endless_count; k++)
        json_array_append_new(endless, endless_json(map, &row->run.endless[k]));
    json_object_set_new(json, "endless", endless);
    json_object_set_new(json, "faults", faults);
    json_object_set_new(json, "notes", notes);
    if (verdict->speedup.cases) {
        /* The baseline's times of a case. */
        if (verdict->speedup.cases[i].eager[0] != 0) {
            json_t *eager = json_array();
            for (int launches = 0; launches < SPEEDUP_LAUNCHES && !isnan(verdict->speedup.cases[i].eager[launches]);
                 launches++)
                json_array_append_new(eager, json_real(verdict->speedup.cases[i].eager[launches]));
            json_object_set_new(json, "eager_us", eager);
        }
        if (verdict->speedup.cases[i].kernel > 0)
            json_object_set_new(json, "baseline_us", json_real(verdict->speedup.cases[i].kernel));
    }
    return json;
}

/* Tells salts apart and does not say what they are. */
static json_t *salt_json(const struct eval_options *options)
{
    enum { TOLD = 8 };
    if (!options->salt || options->profile != TASK_STRICT)
        return json_null();
    struct arena arena = {0};
    struct digest *digest = digest_new_unforgeable();
    digest_string(digest, "salt");
    digest_string(digest, options->salt);
    json_t *json = json_stringn(digest_finish(digest, &arena), TOLD);
    arena_free(&arena);
    return json;
}

json_t *verdict_to_json(const struct verdict *verdict)
{
    const struct eval_options *options = verdict->options;
    json_t *json = json_object();
    json_object_set_new(json, "version", json_integer(VERDICT_VERSION));
    json_object_set_new(json, "akgen", json_string(AKGEN_VERSION));
    json_object_set_new(json, "verdict", json_string(akgen_verdict_kind_name(verdict->kind)));
    json_object_set_new(json, "stage", json_string(akgen_verdict_stage_name(verdict->stage)));
    json_object_set_new(json, "reason", jsons_text(verdict->reason));
    json_object_set_new(json, "suite", jsons_text(verdict->suite));
    json_object_set_new(json, "task", jsons_text(verdict->task));
    json_object_set_new(json, "candidate", jsons_text(verdict->candidate.digest));
    json_object_set_new(json, "soc", json_string(options->soc->name));
    json_object_set_new(json, "mode", json_string(eval_modes.of[options->mode]));
    json_object_set_new(json, "scope", json_string(eval_scopes.of[options->scope]));
    json_object_set_new(json, "language", json_string(eval_languages.of[verdict->language]));
    json_object_set_new(json, "profile", json_string(eval_profiles.of[options->profile]));
    json_object_set_new(json, "protocol", *verdict->protocol ? json_string(verdict->protocol) : json_null());
    json_object_set_new(json, "sync", json_string(eval_syncs.of[verdict->sync]));
    json_object_set_new(json, "schedule", json_string(eval_schedules.of[options->random_order]));
    json_object_set_new(json, "schedule_seed", json_integer((json_int_t)options->order_seed));
    json_object_set_new(json, "strict_order", json_boolean(options->strict_order));
    json_object_set_new(json, "first_failure", json_boolean(options->first_failure));
    json_object_set_new(json, "input_seed", json_integer((json_int_t)options->input_seed));
    json_object_set_new(json, "salt", salt_json(options));
    json_object_set_new(json, "input_set", line(options->input_set));
    json_object_set_new(json, "seconds", json_real(verdict->seconds));
    json_object_set_new(json, "wrapper", jsons_text(verdict->wrapper.reason));
    json_object_set_new(json, "compile", compile_json(verdict));
    json_object_set_new(json, "cases_passed", json_integer(verdict->cases_passed));
    json_object_set_new(json, "cases_total", json_integer(verdict->cases_total));
    json_t *list = json_array();
    for (int i = 0; i < verdict->case_count; i++)
        json_array_append_new(list, case_json(verdict, i));
    json_object_set_new(json, "cases", list);
    if (verdict->speedup.baseline) {
        /* What speedups are over, and what they are. */
        const struct kernel_times *kernel = verdict->speedup.kernel;
        json_object_set_new(json, "baseline", jsons_text(verdict->speedup.baseline));
        if (kernel)
            json_object_set_new(json, "baseline_kernel",
                                json_pack("{s:o, s:o, s:o}", "candidate", jsons_text(kernel->hash), "verdict",
                                          jsons_text(kernel->judged ? akgen_verdict_kind_name(kernel->kind) : NULL),
                                          "lack", jsons_text(kernel->lack)));
        if (!isnan(verdict->speedup.over_baseline))
            json_object_set_new(json, "speedup", json_real(verdict->speedup.over_baseline));
        if (!isnan(verdict->speedup.over_eager))
            json_object_set_new(json, "eager_speedup", json_real(verdict->speedup.over_eager));
    }
    if (verdict->trace.file)
        json_object_set_new(json, "trace",
                            json_pack("{s:s, s:i, s:b}", "file", verdict->trace.file, "case", verdict->trace.id,
                                      "whole", !verdict->trace.cut));
    return json;
}
