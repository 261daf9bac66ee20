#include "jail/timing_internal.h"
#include "jail/fields_internal.h"

#define MOST_CYCLES ((int64_t)1e15) /* days of an AI core */
enum { MOST_MHZ = 100000 };

const char *const job_lanes[] = {
#define NPU_PIPE(id, number) #id,
#include "abi/pipe.def"
#undef NPU_PIPE
};

static const struct field timing_fields[] = {
    FLAG(npu_timing, shortened),
    INT(npu_timing, mhz, 1, MOST_MHZ),
    AMOUNT(npu_timing, cycles, MOST_CYCLES),
    AMOUNT(npu_timing, launch, MOST_CYCLES),
    SIZE(npu_timing, read),
    SIZE(npu_timing, written),
    SIZE(npu_timing, copies_in),
    SIZE(npu_timing, copies_out),
    SIZE(npu_timing, read_l2),
    SIZE(npu_timing, hbm_read),
    SIZE(npu_timing, hbm_written),
    INT(npu_timing, ub_peak, 0, UINT32_MAX),
    INT(npu_timing, bound, NPU_BOUND_PIPE, NPU_BOUND_LAUNCH),
    FLAG(npu_timing, bound_aic),
    INT(npu_timing, bound_lane, 0, NPU_LANES - 1),
    AMOUNT(npu_timing, bound_cycles, MOST_CYCLES),
    AMOUNT(npu_timing, slowest_cycles, MOST_CYCLES),
};
static const struct field cores_fields[] = {
    INT(npu_timing_cores, cores, 0, INT32_MAX),
    AMOUNT(npu_timing_cores, mean, MOST_CYCLES),
    AMOUNT(npu_timing_cores, longest, MOST_CYCLES),
};
static const struct field place_fields[] = {
    INT(job_place, object, JOB_NOWHERE, JOB_CUBE),
    SIZE(job_place, address),
};

static json_t *cores_to_json(const struct npu_timing_cores *cores)
{
    json_t *json = fields_write(cores_fields, COUNT(cores_fields), cores), *busy = json_array();
    for (int lane = 0; lane < NPU_LANES; lane++)
        json_array_append_new(busy, json_real(cores->busy[lane]));
    json_object_set_new(json, "busy", busy);
    return json;
}

json_t *timing_to_json(const struct job_timing *timing)
{
    json_t *json = fields_write(timing_fields, COUNT(timing_fields), &timing->model), *of = json_array();
    for (int aic = 0; aic < 2; aic++)
        json_array_append_new(of, cores_to_json(&timing->model.of[aic]));
    json_object_set_new(json, "of", of);
    json_object_set_new(json, "slowest", fields_write(place_fields, COUNT(place_fields), &timing->place));
    return json;
}

static void cores_from_json(struct reader *reader, const json_t *json, struct npu_timing_cores *cores)
{
    fields_read(reader, json, cores_fields, COUNT(cores_fields), cores);
    const json_t *busy = fields_read_array(reader, json, "busy", NPU_LANES), *cycles;
    size_t lane;
    json_array_foreach(busy, lane, cycles)
    {
        cores->busy[lane] = json_number_value(cycles);
        if (!json_is_number(cycles) || !(cores->busy[lane] >= 0 && cores->busy[lane] <= (double)MOST_CYCLES))
            fields_complain(reader, "busy");
    }
}

void timing_from_json(const json_t *json, struct job_timing *timing)
{
    struct reader reader = {0};
    *timing = (struct job_timing){0};
    if (!json)
        return;
    fields_read(&reader, json, timing_fields, COUNT(timing_fields), &timing->model);
    fields_read(&reader, json_object_get(json, "slowest"), place_fields, COUNT(place_fields), &timing->place);
    const json_t *of = fields_read_array(&reader, json, "of", 2);
    for (size_t aic = 0; aic < 2; aic++)
        cores_from_json(&reader, json_array_get(of, aic), &timing->model.of[aic]);
    timing->model.known = true;
    if (reader.problem)
        *timing = (struct job_timing){0};
}
