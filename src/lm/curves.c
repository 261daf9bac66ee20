/* Lines of metrics.jsonl to series, series to panels of SVG. The page's script only says what lies under the pointer. */
#include "lm/curves.h"

#include "base/array.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "lm/objective.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum measure { LOSS, EVAL_LOSS, RIGHT, MARGIN, REWARD, EVAL_REWARD, KL, RATE, NORM, SPEED, MEASURES, NONE = MEASURES };
enum { ANY_KIND = -1, KINDS = LM_GRPO + 1, MOST_POINTS = 600, COLORS = 8, MOST_TICKS = 64 };
enum { WIDTH = 720, HEIGHT = 250, LEFT = 70, RIGHT_EDGE = 696, TOP = 10, BOTTOM = 222 };
static const size_t LARGEST_FILE = (size_t)1 << 30;
static const char *const kind_names[KINDS] = {[LM_SFT] = "SFT", [LM_DPO] = "DPO", [LM_GRPO] = "GRPO"};
static const char *const colors[COLORS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                           "#8c6d1f", "#56b4e9", "#999999", "#7b3fb5"};

/* What is drawn together; `own_kind`: a panel for each objective, else of all runs that have the measure. `wide`: the axis is logarithmic where values
 * differ by more than 50 times. */
static const struct {
    const char *title;
    enum measure measures[2]; /* the second one dashed */
    bool own_kind, wide;
} panels[] = {{"loss", {LOSS, EVAL_LOSS}, true, true},
              {"share of pairs that are right", {RIGHT, NONE}, false, false},
              {"margin of chosen over rejected", {MARGIN, NONE}, false, false},
              {"reward", {REWARD, EVAL_REWARD}, false, false},
              {"divergence from the reference", {KL, NONE}, false, false},
              {"learning rate", {RATE, NONE}, false, false},
              {"norm of the gradient", {NORM, NONE}, false, true},
              {"tokens per second", {SPEED, NONE}, false, false}};

struct point {
    double x, y;
};
struct series {
    struct point *points;
    int count, capacity;
};
struct run {
    char *name;
    enum lm_objective kind;
    struct series of[MEASURES];
    double tokens, seconds;
    int step;
};
struct lm_curves {
    struct arena arena;
    struct run *runs;
    int count, capacity;
};

struct lm_curves *lm_curves_new(void)
{
    return memory_alloc(sizeof(struct lm_curves));
}

void lm_curves_free(struct lm_curves *curves)
{
    if (curves)
        arena_free(&curves->arena);
    free(curves);
}

/* ---- Reading */

static void add_point(struct lm_curves *curves, struct series *series, double x, const json_t *value)
{
    double y = json_number_value(value);
    static const double MOST = 1e100, LEAST = 1e-100; /* so that no difference or quotient leaves what double has */
    if (!json_is_number(value) || fabs(y) > MOST)     /* a loss that is no number any more is null */
        return;
    struct point point = {x, fabs(y) < LEAST ? 0 : y};
    ARRAY_ADD(&curves->arena, series->points, series->count, series->capacity, point);
}

static struct akgen_error *add_line(struct lm_curves *curves, struct run *run, const json_t *row)
{
    static const char *const keys[MEASURES] = {
        [LOSS] = "loss",     [EVAL_LOSS] = "eval_loss",     [RIGHT] = "right", [MARGIN] = NULL,
        [REWARD] = "reward", [EVAL_REWARD] = "eval_reward", [KL] = "kl",       [RATE] = "rate",
        [NORM] = "norm",     [SPEED] = "tokens_per_second"};
    const json_t *step = json_object_get(row, "step"), *chosen = json_object_get(row, "chosen"),
                 *rejected = json_object_get(row, "rejected");
    if (!json_is_integer(step) || json_integer_value(step) < 0 || json_integer_value(step) > INT32_MAX)
        return error_new("'step' has to be a whole number");
    run->step = (int)json_integer_value(step);
    for (int measure = 0; measure < MEASURES; measure++)
        if (keys[measure])
            add_point(curves, &run->of[measure], run->step, json_object_get(row, keys[measure]));
    if (json_is_number(chosen) && json_is_number(rejected)) {
        json_t *margin = json_real(json_number_value(chosen) - json_number_value(rejected));
        add_point(curves, &run->of[MARGIN], run->step, margin);
        json_decref(margin);
    }
    if (json_object_get(row, "tokens"))
        run->tokens = json_number_value(json_object_get(row, "tokens"));
    if (json_object_get(row, "seconds"))
        run->seconds = json_number_value(json_object_get(row, "seconds"));
    run->kind = run->of[REWARD].count ? LM_GRPO : run->of[RIGHT].count ? LM_DPO : LM_SFT;
    return NULL;
}

struct akgen_error *lm_curves_parse(struct lm_curves *curves, const char *name, const char *path, const char *lines,
                                    size_t length)
{
    struct run run = {.name = arena_strdup(&curves->arena, name)};
    struct akgen_error *error = NULL;
    text_make_utf8(run.name);
    for (size_t at = 0, number = 1; at < length && !error; number++) {
        const char *end = memchr(lines + at, '\n', length - at);
        if (!end) /* it is being written, or never was to its end */
            break;
        size_t size = (size_t)(end - lines) - at;
        json_error_t problem;
        json_t *row = json_loadb(lines + at, size, 0, &problem);
        error = row ? add_line(curves, &run, row) : error_new("%s", problem.text);
        if (error)
            error = error_of_the_file(error_prefix(error, "%s:%zu", path, number));
        json_decref(row);
        at += size + 1;
    }
    if (!error)
        ARRAY_ADD(&curves->arena, curves->runs, curves->count, curves->capacity, run);
    return error;
}

struct akgen_error *lm_curves_read(struct lm_curves *curves, const char *path)
{
    struct arena arena = {0};
    const char *inside = arena_printf(&arena, "%s/metrics.jsonl", path);
    size_t named = strlen(path), length;
    while (named > 1 && path[named - 1] == '/')
        named--;
    bool folder = files_exists(inside);
    char *name = arena_strndup(&arena, path, named), *lines;
    struct akgen_error *error = files_read(&arena, folder ? inside : path, LARGEST_FILE, &lines, &length);
    if (!error)
        error = lm_curves_parse(curves, name, folder ? inside : path, lines, length);
    arena_free(&arena);
    return error;
}

/* ---- Drawing */

static void put(struct text *out, const char *text)
{
    bool plain;
    for (size_t length; *text; text += length) {
        length = text_character(text, &plain);
        const char *written = plain || isspace((unsigned char)*text) ? text_html_of(*text) : "?";
        if (written)
            text_add(out, written);
        else
            text_append(out, text, length);
    }
}

/* Means of neighbours, so that a line has at most MOST_POINTS. */
static struct series thinned(struct arena *arena, const struct series *series)
{
    int each = (series->count + MOST_POINTS - 1) / MOST_POINTS;
    struct series thin = {.points = arena_alloc(arena, ((size_t)series->count + 1) * sizeof(struct point))};
    for (int at = 0; at < series->count; at += each) {
        int n = series->count - at < each ? series->count - at : each;
        struct point mean = {0};
        for (int i = 0; i < n; i++) {
            mean.x += series->points[at + i].x / n;
            mean.y += series->points[at + i].y / n;
        }
        thin.points[thin.count++] = mean;
    }
    return thin;
}

struct axes {
    double low, high, first, last; /* of y, and of x */
    bool log;
};

static double across(const struct axes *axes, double x)
{
    return LEFT + (x - axes->first) / (axes->last - axes->first) * (RIGHT_EDGE - LEFT);
}

static double down(const struct axes *axes, double y)
{
    double share =
        axes->log ? log(y / axes->low) / log(axes->high / axes->low) : (y - axes->low) / (axes->high - axes->low);
    return BOTTOM - share * (BOTTOM - TOP);
}

/* 1, 2 or 5 times a power of ten, so that there are about `count` of it. */
static double tick_step(double range, int count)
{
    double step = pow(10, floor(log10(range / count)));
    return range / step > 5 * count   ? 10 * step
           : range / step > 2 * count ? 5 * step
           : range / step > count     ? 2 * step
                                      : step;
}

/* The y of the lines that are drawn across. Returns how many. */
static int find_ticks(const struct axes *axes, double ticks[MOST_TICKS])
{
    int count = 0;
    if (axes->log) {
        double decades = log10(axes->high / axes->low);
        int each = (int)(decades / 6) + 1;
        for (int power = (int)floor(log10(axes->low)); power <= ceil(log10(axes->high)); power++)
            for (int digit = 0; digit < (decades < 2.5 ? 3 : 1) && count < MOST_TICKS; digit++) {
                static const double digits[] = {1, 2, 5};
                double tick = digits[digit] * pow(10, power);
                if (tick >= axes->low && tick <= axes->high && (each == 1 || power % each == 0))
                    ticks[count++] = tick;
            }
        return count;
    }
    double step = tick_step(axes->high - axes->low, 5);
    for (double tick = ceil(axes->low / step) * step; tick <= axes->high + step * 1e-6 && count < MOST_TICKS;
         tick += step)
        ticks[count++] = fabs(tick) < step * 1e-6 ? 0 : tick;
    return count;
}

static void draw_axes(struct text *out, const struct axes *axes)
{
    double ticks[MOST_TICKS];
    int count = find_ticks(axes, ticks);
    for (int i = 0; i < count; i++) {
        double y = down(axes, ticks[i]);
        text_addf(out, "<path class=grid d='M%d %.1fH%d'/><text x=%d y=%.1f text-anchor=end>%.4g</text>\n", LEFT, y,
                  RIGHT_EDGE, LEFT - 6, y + 4, ticks[i]);
    }
    double step = tick_step(axes->last - axes->first, 8);
    step = step < 1 ? 1 : step;
    for (double tick = ceil(axes->first / step) * step; tick <= axes->last; tick += step)
        text_addf(out, "<text x=%.1f y=%d text-anchor=middle>%.0f</text>\n", across(axes, tick), BOTTOM + 20, tick);
}

/* A line, and its points for the script. */
static void draw_series(struct text *out, json_t *lines, const struct axes *axes, const struct series *series,
                        const char *name, const char *color, bool second)
{
    json_t *x = json_array(), *y = json_array();
    text_addf(out, "<polyline fill=none stroke='%s'%s points='", color, second ? " stroke-dasharray='5 3'" : "");
    for (int i = 0; i < series->count; i++) {
        const struct point *point = &series->points[i];
        text_addf(out, "%s%.1f,%.1f", i ? " " : "", across(axes, point->x), down(axes, point->y));
        json_array_append_new(x, json_real(point->x));
        json_array_append_new(y, json_real(point->y));
    }
    text_add(out, "'/>\n");
    for (int i = 0; i < series->count && (second || series->count == 1); i++)
        text_addf(out, "<circle r=3 cx=%.1f cy=%.1f fill='%s'/>\n", across(axes, series->points[i].x),
                  down(axes, series->points[i].y), color);
    json_array_append_new(lines, json_pack("{s:s s:o s:o}", "name", name, "x", x, "y", y));
}

static void widen(struct axes *axes, const struct series *series, double *least)
{
    for (int i = 0; i < series->count; i++) {
        const struct point *point = &series->points[i];
        axes->low = fmin(axes->low, point->y);
        axes->high = fmax(axes->high, point->y);
        axes->first = fmin(axes->first, point->x);
        axes->last = fmax(axes->last, point->x);
        *least = fmin(*least, point->y);
    }
}

static void round_axes(struct axes *axes, double least, bool wide)
{
    axes->log = wide && least > 0 && axes->high > 50 * least;
    if (axes->last <= axes->first)
        axes->last = axes->first + 1;
    if (axes->log) {
        axes->low /= 1.1;
        axes->high *= 1.1;
        return;
    }
    double room = axes->high > axes->low ? 0.05 * (axes->high - axes->low) : fmax(0.1 * fabs(axes->high), 1e-9);
    bool above = axes->low >= 0;
    axes->low -= room;
    axes->high += room;
    axes->low = above && axes->low < 0 ? 0 : axes->low;
}

static void draw_panel(struct text *out, json_t *drawn, const struct lm_curves *curves, int panel, int kind)
{
    struct arena arena = {0};
    struct axes axes = {INFINITY, -INFINITY, INFINITY, -INFINITY, false};
    double least = INFINITY;
    struct series(*thin)[2] = arena_alloc(&arena, (size_t)curves->count * sizeof *thin + 1);
    for (int r = 0; r < curves->count; r++)
        for (int m = 0; m < 2 && panels[panel].measures[m] != NONE; m++)
            if (kind == ANY_KIND || (int)curves->runs[r].kind == kind) {
                thin[r][m] = thinned(&arena, &curves->runs[r].of[panels[panel].measures[m]]);
                widen(&axes, &thin[r][m], &least);
            }
    if (isfinite(least)) {
        json_t *lines = json_array();
        round_axes(&axes, least, panels[panel].wide);
        text_addf(out, "<h2>%s%s%s</h2>\n<svg viewBox='0 0 %d %d' role=img>\n", panels[panel].title,
                  kind == ANY_KIND ? "" : ", ", kind == ANY_KIND ? "" : kind_names[kind], WIDTH, HEIGHT);
        draw_axes(out, &axes);
        for (int r = 0; r < curves->count; r++)
            for (int m = 0; m < 2; m++) {
                const char *name = arena_printf(&arena, "%s%s", curves->runs[r].name, m ? ", evaluation" : "");
                if (thin[r][m].count)
                    draw_series(out, lines, &axes, &thin[r][m], name, colors[r % COLORS], m == 1);
            }
        text_addf(out, "<path class=cursor d='M0 %dV%d'/></svg>\n", TOP, BOTTOM);
        json_array_append_new(drawn, json_pack("{s:[f,f] s:o}", "x", axes.first, axes.last, "lines", lines));
    }
    arena_free(&arena);
}

static const char style[] = {
#embed "../../templates/page/curves.css" suffix(, 0)
};

/* For each curve the point nearest to the pointer's step. textContent: names are no markup. */
static const char script[] = {
#embed "../../templates/page/curves.js" suffix(, 0)
};

static void put_last(struct text *out, const struct series *series)
{
    if (series->count)
        text_addf(out, "<td>%.4f", series->points[series->count - 1].y);
    else
        text_add(out, "<td>-");
}

static void put_table(struct text *out, const struct lm_curves *curves)
{
    text_add(out, "<table><tr><th>run<th>objective<th>steps<th>tokens<th>seconds<th>last loss<th>last evaluation\n");
    for (int r = 0; r < curves->count; r++) {
        const struct run *run = &curves->runs[r];
        text_addf(out, "<tr><td><i style='background:%s'></i>", colors[r % COLORS]);
        put(out, run->name);
        text_addf(out, "<td>%s<td>%d<td>%.0f<td>%.1f", kind_names[run->kind], run->step, run->tokens, run->seconds);
        put_last(out, &run->of[LOSS]);
        put_last(out, &run->of[run->of[EVAL_REWARD].count ? EVAL_REWARD : EVAL_LOSS]);
        text_add(out, "\n");
    }
    text_addf(
        out,
        "</table><p class=dim>A point is a step, or in longer runs the mean of some, so that a line has at most %d. "
        "Dashed: evaluations.</p>\n",
        MOST_POINTS);
}

char *lm_curves_page(const struct lm_curves *curves)
{
    struct text out = {0};
    json_t *drawn = json_array();
    text_add(&out, "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport "
                   "content='width=device-width'><title>Training runs</title><style>");
    for (const char *at = style; *at; at++) /* a line a rule in the file, one in the page */
        text_append(&out, at, *at != '\n');
    text_add(&out, "</style>\n");
    text_addf(&out, "<h1>%d training run%s</h1>\n", curves->count, curves->count == 1 ? "" : "s");
    put_table(&out, curves);
    for (size_t panel = 0; panel < sizeof panels / sizeof *panels; panel++)
        for (int kind = panels[panel].own_kind ? 0 : ANY_KIND; kind < (panels[panel].own_kind ? KINDS : 0); kind++)
            draw_panel(&out, drawn, curves, (int)panel, kind);
    char *json = json_dumps(drawn, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
    text_addf(&out, "<div id=tip></div>\n<script>const WIDTH=%d,LEFT=%d,EDGE=%d,panels=", WIDTH, LEFT, RIGHT_EDGE);
    for (const char *at = json; *at; at++) /* no name ends the script */
        text_append(&out, *at == '<' ? "\\u003c" : at, *at == '<' ? 6 : 1);
    text_add(&out, ";\n");
    text_add(&out, script);
    text_add(&out, "</script></html>\n");
    free(json);
    json_decref(drawn);
    return out.bytes;
}

struct akgen_error *lm_curves_of_run(const char *folder)
{
    struct arena arena = {0};
    struct lm_curves *curves = lm_curves_new();
    struct akgen_error *error = lm_curves_read(curves, folder);
    if (!error) {
        char *page = lm_curves_page(curves);
        error = files_write(arena_printf(&arena, "%s/metrics.html", folder), page, strlen(page));
        free(page);
    }
    lm_curves_free(curves);
    arena_free(&arena);
    return error;
}
