/*
 * roofline.c - draws a roofline picture as SVG: logarithmic axes, the roof, points, and a row for each contender.
 * Relies on roofline_points.h for what is shown. Called by `verify --roofline`.
 */
#include "report/roofline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/plain.h"
#include "report/roofline_points.h"

/* ---- the sheet ---- */

#define WIDTH 980
#define HEIGHT 586
#define LEFT 74.0
#define RIGHT 640.0 /* of the plot; rows stand behind it */
#define TOP 106.0
#define BOTTOM 500.0
#define ROW_X 676.0
#define ROW_STEP 27.0
#define ROWS_MOST 14
#define NAME_MOST 27  /* characters of a row's name */
#define LABELS_MOST 8 /* problems that have their names at the axis */
#define LABEL_GAP 13.0
#define PEAK_X 510.0     /* a name that begins behind this leaves the plot */
#define LABEL_SHARE 0.31 /* of the plot's height, which those names need at the bottom */
#define APART 9.0        /* marks of one problem stand side by side; of several problems nearer */

struct canvas {
    const struct roofline *r;
    struct text *out;
    double x0, x1, y0, y1; /* ends of the axes */
    double unit;           /* FLOP/s of what the axis counts */
    const char *unit_name;
};

static const char style[] =
    "<style>svg{font-family:system-ui,'Segoe UI',Helvetica,Arial,sans-serif;font-size:13px}"
    ".paper{fill:#fff}.ink{fill:#1c2430}.soft{fill:#5d6876}.grid{stroke:#e6e9ee;fill:none}.axis{stroke:#9aa4b1;fill:"
    "none}.roof{stroke:#1c2430;stroke-width:2;fill:none;stroke-linejoin:round}.under{fill:#f4f6f9}.guide{stroke:#"
    "b7c0cb;"
    "stroke-dasharray:2 4;fill:none}.lead{stroke:#c3cad3;fill:none}.edge{stroke:#fff;stroke-width:1.5}"
    ".k0{fill:#d55e00}.k1{fill:#e69f00}.k2{fill:#a63603}.b0{fill:#0072b2}.b1{fill:#009e73}.b2{fill:#56b4e9}"
    ".b3{fill:#b0609a}.b4{fill:#8c6d31}.b5{fill:#6b6b6b}.head{font-size:19px;font-weight:600}.bold{font-weight:600}"
    ".small{font-size:11.5px}text{font-variant-numeric:tabular-nums}"
    "@media(prefers-color-scheme:dark){.paper{fill:#12161c}.ink{fill:#e8ecf2}.soft{fill:#98a3b1}.grid{stroke:#232a34}"
    ".axis{stroke:#5a6573}.roof{stroke:#e8ecf2}.under{fill:#191f28}.guide{stroke:#465160}.lead{stroke:#3a4451}"
    ".edge{stroke:#12161c}.b0{fill:#4ba3e3}.b2{fill:#8fd0f5}.b5{fill:#a5a5a5}.k2{fill:#e0713a}}</style>";

static double across(const struct canvas *s, double intensity)
{
    return LEFT + (RIGHT - LEFT) * log(intensity / s->x0) / log(s->x1 / s->x0);
}

static double up(const struct canvas *s, double rate)
{
    return BOTTOM - (BOTTOM - TOP) * log(rate / s->y0) / log(s->y1 / s->y0);
}

static void add_words(struct text *out, const char *words)
{
    for (const char *at = words; *at; at++) {
        const char *entity = *at == '&'   ? "&amp;"
                             : *at == '<' ? "&lt;"
                             : *at == '>' ? "&gt;"
                             : *at == '"' ? "&quot;"
                                          : NULL;
        if (entity)
            text_add(out, "%s", entity);
        else
            text_add_bytes(out, at, 1);
    }
}

/* At most so many characters, the last an ellipsis where some are left out. */
static void add_short(struct text *out, const char *words, size_t most)
{
    char kept[4 * NAME_MOST + 8];
    size_t length = strlen(words), used = 0, n = 0;
    while (used < length && n + 1 < most && used + 4 < sizeof kept - 4) {
        used += plain_next(words + used, length - used);
        n++;
    }
    bool cut = used < length && plain_next(words + used, length - used) < length - used;
    size_t keep = cut || used >= length ? used : length;
    snprintf(kept, sizeof kept, "%.*s%s", (int)keep, words, cut ? "\xe2\x80\xa6" : "");
    add_words(out, kept);
}

/* ---- axes ---- */

static void choose_ends(struct canvas *s)
{
    const struct roofline *r = s->r;
    double ridge = r->peak_flops > 0 && r->peak_bytes > 0 ? r->peak_flops / r->peak_bytes : r->points[0].intensity;
    double top = r->peak_flops;
    s->x0 = s->x1 = ridge;
    s->y0 = INFINITY;
    for (size_t i = 0; i < r->n_points; i++) {
        const struct roofline_point *p = &r->points[i];
        s->x0 = fmin(s->x0, p->intensity);
        s->x1 = fmax(s->x1, p->intensity);
        s->y0 = fmin(s->y0, p->rate);
        top = fmax(top, fmax(p->rate, roofline_roof(r, p->intensity)));
    }
    s->x0 /= 2.5;
    s->x1 *= 2.5;
    s->y1 = 1.7 * top;
    s->y0 = r->n_cells > 1 ? exp((log(s->y0) - LABEL_SHARE * log(s->y1)) / (1 - LABEL_SHARE)) : s->y0 / 2;
    bool tera = top >= 1e12;
    s->unit = tera ? 1e12 : 1e9;
    s->unit_name = tera ? "TFLOP/s" : "GFLOP/s";
}

struct ruler {
    double from, to;
    bool upright; /* the axis of speed */
};

static void add_tick(const struct canvas *s, const struct ruler *ruler, double value, bool named)
{
    double at = ruler->upright ? up(s, value * s->unit) : across(s, value);
    if (ruler->upright)
        text_add(s->out, "<path class='grid' d='M%.1f %.1fH%.1f'/>", LEFT, at, RIGHT);
    else
        text_add(s->out, "<path class='grid' d='M%.1f %.1fV%.1f'/>", at, TOP, BOTTOM);
    if (named && ruler->upright)
        text_add(s->out, "<text class='soft' x='%.1f' y='%.1f' text-anchor='end'>%g</text>", LEFT - 9, at + 4.5, value);
    else if (named)
        text_add(s->out, "<text class='soft' x='%.1f' y='%.1f' text-anchor='middle'>%g</text>", at, BOTTOM + 20, value);
}

/* 1, 2 and 5 of each decade; over more than three decades the powers of ten alone are named. */
static void add_ticks(const struct canvas *s, const struct ruler *ruler)
{
    static const double steps[] = {1, 2, 5};
    bool all = log10(ruler->to / ruler->from) < 3;
    int first = (int)floor(log10(ruler->from)), last = (int)floor(log10(ruler->to));
    for (int e = first; e <= last; e++)
        for (size_t i = 0; i < 3; i++) {
            double value = steps[i] * pow(10, e);
            if (value >= ruler->from && value <= ruler->to)
                add_tick(s, ruler, value, all || i == 0);
        }
}

static void add_axes(const struct canvas *s)
{
    const struct ruler x = {s->x0, s->x1, false}, y = {s->y0 / s->unit, s->y1 / s->unit, true};
    add_ticks(s, &x);
    add_ticks(s, &y);
    text_add(s->out, "<path class='axis' d='M%.1f %.1fV%.1fH%.1f'/>", LEFT, TOP, BOTTOM, RIGHT);
    text_add(
        s->out,
        "<text class='soft' x='%.1f' y='%.1f' text-anchor='middle'>arithmetic intensity, FLOP per byte of A, B and C"
        "</text><text class='soft' x='%.1f' y='%.1f'>%s</text>",
        (LEFT + RIGHT) / 2, BOTTOM + 44, LEFT - 48, TOP - 14, s->unit_name);
}

/* ---- the roof ---- */

/* Its corners between the ends of the axes; returns how many. */
static size_t roof_corners(const struct canvas *s, double x[3])
{
    const struct roofline *r = s->r;
    double ridge = r->peak_bytes > 0 && r->peak_flops > 0 ? r->peak_flops / r->peak_bytes : 0;
    size_t n = 0;
    x[n++] = r->peak_bytes > 0 ? fmax(s->x0, s->y0 / r->peak_bytes) : s->x0; /* where it leaves the bottom */
    if (ridge > x[0] && ridge < s->x1)
        x[n++] = ridge;
    x[n++] = s->x1;
    return n;
}

/* "3.35 TB/s" */
static void add_amount(struct text *out, double value, const char *what)
{
    static const char *const letters[] = {"", "k", "M", "G", "T", "P"};
    size_t i = 0;
    while (value >= 999.5 && i + 1 < sizeof letters / sizeof letters[0]) {
        value /= 1000;
        i++;
    }
    text_add(out, "%.3g %s%s", value, letters[i], what);
}

static void name_slope(const struct canvas *s, double from, double to)
{
    double x0 = across(s, from), x1 = across(s, to), y0 = up(s, roofline_roof(s->r, from)),
           y1 = up(s, roofline_roof(s->r, to));
    double middle = (x0 + x1) / 2, angle = atan2(y1 - y0, x1 - x0) * 180 / 3.14159265358979;
    if (hypot(x1 - x0, y1 - y0) < 110)
        return;
    text_add(s->out,
             "<text class='ink small' text-anchor='middle' transform='translate(%.1f %.1f) rotate(%.1f)'>memory ",
             middle - 5, (y0 + y1) / 2 - 8, angle);
    add_amount(s->out, s->r->peak_bytes, "B/s");
    text_add(s->out, "</text>");
}

/* The line, or what is under it. */
static void trace_roof(const struct canvas *s, bool under)
{
    double x[3];
    size_t n = roof_corners(s, x);
    text_add(s->out, "<path class='%s' d='", under ? "under" : "roof");
    for (size_t i = 0; i < n; i++)
        text_add(s->out, "%c%.1f %.1f", i ? 'L' : 'M', across(s, x[i]), up(s, roofline_roof(s->r, x[i])));
    text_add(s->out, under ? "V%.1fH%.1fZ'/>" : "'/>", BOTTOM, across(s, x[0]));
}

static void add_roof(const struct canvas *s)
{
    double x[3];
    const struct roofline *r = s->r;
    size_t n = roof_corners(s, x);
    trace_roof(s, false);
    if (r->peak_bytes > 0)
        name_slope(s, x[0], n == 3 ? x[1] : x[n - 1]);
    if (r->peak_flops <= 0)
        return;
    double at = across(s, n == 3 ? x[1] : x[0]) + 6; /* behind the corner, where no lines lead to rows */
    text_add(s->out, "<text class='ink small' x='%.1f' y='%.1f'%s>peak ", at > PEAK_X ? RIGHT - 4 : at,
             up(s, r->peak_flops) - 8, at > PEAK_X ? " text-anchor='end'" : "");
    add_amount(s->out, r->peak_flops, "FLOP/s");
    text_add(s->out, "</text>");
}

/* ---- problems ---- */

static void name_problem(const struct canvas *s, const struct result_cell *cell, double at)
{
    text_add(
        s->out,
        "<text class='soft small' transform='translate(%.1f %.1f) rotate(-90)'>%.0f\xc3\x97%.0f\xc3\x97%.0f</text>",
        at - 4, BOTTOM - 6, cell->m, cell->n, cell->k);
}

/* A line from the axis to the roof for each problem; its name where there is room. */
static void add_guides(const struct canvas *s)
{
    const struct roofline *r = s->r;
    double taken[LABELS_MOST];
    size_t n_taken = 0;
    const struct result_cell *last = NULL;
    for (size_t i = 0; i < r->n_points; i++) {
        const struct roofline_point *p = &r->points[i];
        double at = across(s, p->intensity), roof = roofline_roof(r, p->intensity);
        bool room = r->n_cells > 1 && n_taken < LABELS_MOST;
        if (p->cell == last)
            continue;
        last = p->cell;
        text_add(s->out, "<path class='guide' d='M%.1f %.1fV%.1f'/>", at, BOTTOM, roof > 0 ? up(s, roof) : TOP);
        for (size_t j = 0; j < n_taken; j++)
            room = room && fabs(taken[j] - at) >= LABEL_GAP;
        if (!room)
            continue;
        taken[n_taken++] = at;
        name_problem(s, p->cell, at);
    }
}

/* ---- contenders ---- */

static bool is_candidate(const struct result_contender *c)
{
    return c->role == RESULT_CANDIDATE;
}

/* A circle in layout NN, a diamond in TN; a candidate's is larger. */
static void add_mark(const struct canvas *s, const struct roofline_row *row, double x, double y)
{
    bool candidate = is_candidate(row->contender), tn = strcmp(row->contender->layout, "tn") == 0;
    double size = (candidate ? 7 : 5.5) * (s->r->n_cells > 1 ? 0.75 : 1);
    text_add(s->out, "<path class='edge %c%zu' d='", candidate ? 'k' : 'b', row->colour % (candidate ? 3 : 6));
    if (tn)
        text_add(s->out, "M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz'", x, y - 1.25 * size, 1.25 * size, 1.25 * size,
                 -1.25 * size, 1.25 * size, -1.25 * size, -1.25 * size);
    else
        text_add(s->out, "M%.1f %.1fa%.1f %.1f 0 1 0 %.1f 0a%.1f %.1f 0 1 0 %.1f 0z'", x - size, y, size, size,
                 2 * size, size, size, -2 * size);
}

/* Else the fastest would hide the others. */
static double mark_x(const struct canvas *s, const struct roofline_point *p)
{
    double step = s->r->n_cells == 1 ? APART : APART / 3;
    double place = (double)p->row - ((double)s->r->n_rows - 1) / 2;
    return across(s, p->intensity) + step * place;
}

static void add_point(const struct canvas *s, const struct roofline_point *p)
{
    double roof = roofline_roof(s->r, p->intensity), ns = 1e9 * 2 * p->cell->m * p->cell->n * p->cell->k / p->rate;
    add_mark(s, &s->r->rows[p->row], mark_x(s, p), up(s, p->rate));
    text_add(s->out, "><title>");
    add_words(s->out, p->contender->name);
    text_add(s->out, ", %.0f\xc3\x97%.0f\xc3\x97%.0f %s-%s: %.4g \xc2\xb5s, %.4g %s", p->cell->m, p->cell->n,
             p->cell->k, p->cell->group.dtype, p->cell->group.accumulate, ns * 1e-3, p->rate / s->unit, s->unit_name);
    if (roof > 0)
        text_add(s->out, ", %.0f%% of the roof", 100 * p->rate / roof);
    text_add(s->out, "</title></path>");
}

/* Candidates last, on top. */
static void add_points(const struct canvas *s)
{
    for (int candidates = 0; candidates < 2; candidates++)
        for (size_t i = 0; i < s->r->n_points; i++)
            if (is_candidate(s->r->points[i].contender) == (candidates == 1))
                add_point(s, &s->r->points[i]);
}

static double row_y(size_t row)
{
    return TOP + 14 + ROW_STEP * (double)row;
}

/* Of one problem each point leads to its row: both are in the order of speed, so that no lines cross. */
static void add_leads(const struct canvas *s)
{
    for (size_t i = 0; i < s->r->n_points && s->r->n_cells == 1; i++) {
        const struct roofline_point *p = &s->r->points[i];
        double x = mark_x(s, p), y = up(s, p->rate), to = row_y(p->row);
        if (p->row < ROWS_MOST)
            text_add(s->out, "<path class='lead' d='M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f'/>", x, y,
                     (x + RIGHT) / 2 + 20, y, RIGHT - 10, to, ROW_X - 12, to);
    }
}

static void add_row(const struct canvas *s, size_t i)
{
    const struct roofline_row *row = &s->r->rows[i];
    double percent = roofline_percent(s->r, row), y = row_y(i);
    add_mark(s, row, ROW_X, y);
    text_add(s->out, "/><text class='ink%s' x='%.1f' y='%.1f'>", is_candidate(row->contender) ? " bold" : "",
             ROW_X + 14, y + 4.5);
    add_short(s->out, row->contender->name, NAME_MOST);
    text_add(s->out, "</text><text class='soft' x='%d' y='%.1f' text-anchor='end'>", WIDTH - 20, y + 4.5);
    if (s->r->n_cells == 1)
        text_add(s->out, "%.3g", row->best_rate / s->unit);
    if (!isnan(percent))
        text_add(s->out, "%s%.*f%%", s->r->n_cells == 1 ? " \xc2\xb7 " : "", percent < 10 ? 1 : 0, percent);
    text_add(s->out, "</text>");
}

static void add_rows(const struct canvas *s)
{
    size_t shown = s->r->n_rows < ROWS_MOST ? s->r->n_rows : ROWS_MOST;
    text_add(s->out, "<text class='soft small' x='%d' y='%.1f' text-anchor='end'>%s</text>", WIDTH - 20, TOP - 14,
             s->r->n_cells == 1
                 ? s->unit_name[0] == 'T' ? "TFLOP/s \xc2\xb7 of the roof" : "GFLOP/s \xc2\xb7 of the roof"
                 : "of the roof, geometric mean");
    for (size_t i = 0; i < shown; i++)
        add_row(s, i);
    if (shown < s->r->n_rows)
        text_add(s->out, "<text class='soft' x='%.1f' y='%.1f'>and %zu more</text>", ROW_X + 14, row_y(shown) + 4.5,
                 s->r->n_rows - shown);
}

/* ---- the whole ---- */

static void add_head(const struct canvas *s)
{
    const struct roofline *r = s->r;
    const struct result_cell *cell = r->first;
    text_add(s->out, "<text class='ink head' x='24' y='38'>Roofline: ");
    add_short(s->out, r->device->name, NAME_MOST);
    text_add(s->out, "</text><text class='soft' x='24' y='60'>");
    if (r->n_cells == 1)
        text_add(s->out, "%.0f\xc3\x97%.0f\xc3\x97%.0f, ", cell->m, cell->n, cell->k);
    else
        text_add(s->out, "%zu problems, ", r->n_cells);
    text_add(s->out, "%s accumulated in %s, %s, median of %s times%s</text>", cell->group.dtype, cell->group.accumulate,
             cell->group.mode, result_timing_name(cell->headline),
             r->peak_flops > 0 && r->peak_bytes > 0 ? "" : "; a peak of this device is not known");
}

static void add_foot(const struct canvas *s)
{
    text_add(s->out,
             "<text class='soft small' x='24' y='%d'>Circle: layout NN, diamond: TN; marks of a problem stand side by "
             "side. A, B and C count as moved once: "
             "who is above the slope had them in the cache.</text>",
             HEIGHT - 16);
}

int roofline_svg(const struct result *result, struct text *out, struct error *err)
{
    struct roofline r;
    int code = roofline_gather(result, &r, err);
    if (!code) {
        struct canvas s = {.r = &r, .out = out};
        choose_ends(&s);
        text_add(out,
                 "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d' role='img'><title>"
                 "Roofline</title>%s<rect class='paper' width='100%%' height='100%%'/>",
                 WIDTH, HEIGHT, WIDTH, HEIGHT, style);
        bool roofed = r.peak_flops > 0 || r.peak_bytes > 0;
        add_head(&s);
        if (roofed)
            trace_roof(&s, true);
        add_axes(&s);
        if (roofed)
            add_roof(&s);
        add_guides(&s);
        add_leads(&s);
        add_points(&s);
        add_rows(&s);
        add_foot(&s);
        text_add(out, "</svg>\n");
    }
    roofline_free(&r);
    if (!code && out->failed)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a picture");
    return code;
}

int roofline_write(const char *journal, const char *path, struct error *err)
{
    struct result *result = NULL;
    struct text svg = {0};
    int code = result_from_journal(journal, &result, err);
    if (!code)
        code = result_make_plain(result, err);
    if (!code)
        code = roofline_svg(result, &svg, err);
    if (!code)
        code = file_write_atomic(path, svg.bytes, svg.length, err);
    text_free(&svg);
    result_free(result);
    return code;
}
