/*
 * progress.c - the live line on a terminal, or a line a cell, from what the supervisor tells. Relies on terminal.c.
 * Called by cmd_run.c as its observer.
 */
#include "cli/progress.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/plain.h"
#include "base/width.h"
#include "cli/terminal.h"
#include "stats/interval.h"

#define REDRAW_NS 100000000ull
#define BAR_WIDTH 10
#define WIPE "\r\033[K"

void progress_duration(double seconds, char out[24])
{
    if (!(seconds >= 0) || seconds > 1e7) {
        snprintf(out, 24, "?");
        return;
    }
    long s = lround(seconds);
    if (s >= 3600)
        snprintf(out, 24, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, 24, "%ld:%02ld", s / 60, s % 60);
}

/* ---- one finished cell ---- */

/* The contender of that role with the lowest headline median; NULL when none was measured. */
static const struct contender_record *fastest(const struct cell_record *r, bool candidate, double *ns)
{
    const struct contender_record *best = NULL;
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *c = &r->contenders[i];
        const struct series *s = &c->timings[r->headline];
        if (c->candidate != candidate || c->copy_of[0] || s->n == 0 || c->verdict != VERDICT_OK)
            continue;
        double median = stats_median(s->ns, s->n);
        if (!best || median < *ns) {
            best = c;
            *ns = median;
        }
    }
    return best;
}

static void add_time(struct text *out, const char *name, double ns)
{
    plain_add(out, name);
    text_add(out, " %.2f %s", ns < 1e6 ? ns * 1e-3 : ns * 1e-6, ns < 1e6 ? "µs" : "ms");
}

static void add_race(const struct cell_record *r, struct text *out)
{
    double candidate_ns = 0, baseline_ns = 0;
    const struct contender_record *candidate = fastest(r, true, &candidate_ns);
    const struct contender_record *baseline = fastest(r, false, &baseline_ns);
    if (candidate || baseline)
        text_add(out, "  ");
    if (candidate)
        add_time(out, candidate->name, candidate_ns);
    if (candidate && baseline)
        text_add(out, " vs ");
    if (baseline)
        add_time(out, baseline->name, baseline_ns);
    if (candidate && baseline)
        text_add(out, "  %+.1f%%", 100.0 * (baseline_ns / candidate_ns - 1.0));
}

/* Contenders that could have run here and have no time. */
static size_t count_failed(const struct cell_record *r)
{
    static const enum verdict innocent[] = {VERDICT_OK, VERDICT_UNAVAILABLE, VERDICT_UNSUPPORTED, VERDICT_SKIPPED};
    size_t count = r->n_contenders;
    for (size_t i = 0; i < r->n_contenders; i++)
        for (size_t j = 0; j < sizeof innocent / sizeof *innocent; j++)
            count -= r->contenders[i].verdict == innocent[j];
    return count;
}

static void add_reason(const struct cell_record *r, struct text *out)
{
    text_add(out, "  ");
    plain_add(out, record_outcome(r));
    text_add(out, ": ");
    plain_add(out, r->reason);
}

static const char *course_remark(const struct cell_record *r)
{
    if (r->converged)
        return "";
    return isnan(r->worst_half_width) && !r->worst_pair[0] ? " (nothing to compare)" : " (not converged)";
}

void progress_cell_line(const struct progress *p, const struct cell_record *r, struct text *out)
{
    char key[RECORD_KEY_MAX], eta[24];
    double seconds = 0;
    record_key(&r->problem, r->mode, key);
    for (int i = 0; i < PHASE_COUNT; i++)
        seconds += r->phase_seconds[i];
    text_add(out, "[%zu/%zu] %s%s", p->done, p->n_cells, key, r->label[0] ? " " : "");
    plain_add(out, r->label);
    size_t head = out->length;
    if (r->outcome != CELL_OK && r->outcome != CELL_PARTIAL)
        add_reason(r, out);
    else
        add_race(r, out);
    if (r->blocks)
        text_add(out, "  %u block%s%s", r->blocks, r->blocks == 1 ? "" : "s", course_remark(r));
    if (r->paper_pairs) {
        int pairs = cJSON_GetArraySize(r->paper_pairs);
        text_add(out, "  %d pair%s", pairs, pairs == 1 ? "" : "s");
    }
    if (count_failed(r))
        text_add(out, "%s%zu contender%s failed", out->length > head ? ", " : "  ", count_failed(r),
                 count_failed(r) == 1 ? "" : "s");
    progress_duration(p->eta_seconds, eta);
    text_add(out, "  %.1f s  ETA %s", seconds, eta);
}

/* ---- the live line ---- */

void progress_live_line(const struct progress *p, double eta_seconds, int width, struct text *out)
{
    char eta[24], bar[BAR_WIDTH + 1];
    size_t filled = p->n_cells ? p->done * BAR_WIDTH / p->n_cells : 0;
    for (size_t i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < filled ? '=' : i == filled ? '>' : ' ';
    bar[BAR_WIDTH] = '\0';
    progress_duration(eta_seconds, eta);
    text_add(out, "[%s] %zu/%zu  ETA %s  %s  %s ", bar, p->done, p->n_cells, eta, p->cell, p->stage);
    plain_add(out, p->contender);
    if (width > 0 && out->bytes) {
        out->length = width_fit(out->bytes, (size_t)width);
        out->bytes[out->length] = '\0';
    }
}

static int terminal_width(FILE *out)
{
    struct winsize size;
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
}

static void wipe(struct progress *p)
{
    if (p->line_shown)
        fputs(WIPE, p->out);
    p->line_shown = false;
}

static void draw(struct progress *p)
{
    struct text line = {0};
    double gone = (double)(clock_now_ns() - p->told_ns) * 1e-9;
    p->drawn_ns = clock_now_ns();
    progress_live_line(p, p->eta_seconds < 0 ? -1 : fmax(p->eta_seconds - gone, 0), terminal_width(p->out), &line);
    wipe(p);
    if (!line.failed)
        fputs(line.bytes, p->out);
    fflush(p->out);
    p->line_shown = true;
    text_free(&line);
}

/* ---- the observer ---- */

static void on_started(void *context, size_t n_cells, size_t already_done)
{
    struct progress *p = context;
    p->n_cells = n_cells;
    p->done = already_done;
    if (p->style != PROGRESS_QUIET && already_done)
        fprintf(p->out, "resuming: %zu of %zu cells are done\n", already_done, n_cells);
}

static void on_cell(void *context, const struct cell_record *record, size_t done, double eta_seconds)
{
    struct progress *p = context;
    struct text line = {0};
    p->done = done;
    p->eta_seconds = eta_seconds;
    p->told_ns = clock_now_ns();
    progress_cell_line(p, record, &line);
    wipe(p);
    if (!line.failed && p->style != PROGRESS_QUIET)
        fprintf(p->out, "%s\n", line.bytes);
    if (p->style == PROGRESS_LIVE)
        draw(p);
    fflush(p->out);
    text_free(&line);
}

static void on_stage(void *context, int worker, const char *cell_key, const char *contender, const char *stage)
{
    struct progress *p = context;
    (void)worker;
    if (p->style != PROGRESS_LIVE)
        return;
    snprintf(p->cell, sizeof p->cell, "%s", cell_key);
    snprintf(p->contender, sizeof p->contender, "%s", contender);
    snprintf(p->stage, sizeof p->stage, "%s", stage);
    if (clock_now_ns() - p->drawn_ns >= REDRAW_NS)
        draw(p);
}

static void on_note(void *context, const char *line)
{
    struct progress *p = context;
    if (p->style == PROGRESS_QUIET)
        return;
    wipe(p);
    terminal_say(p->out, "note: ", line);
    fflush(p->out);
}

void progress_start(struct progress *p, FILE *out, enum progress_style style)
{
    *p = (struct progress){.out = out, .style = style, .eta_seconds = -1, .told_ns = clock_now_ns()};
}

struct run_observer progress_observer(struct progress *p)
{
    return (struct run_observer){
        .context = p, .started = on_started, .cell = on_cell, .stage = on_stage, .note = on_note};
}

void progress_end(struct progress *p)
{
    wipe(p);
    fflush(p->out);
}
