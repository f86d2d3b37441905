/*
 * bench.h - what the stages of one cell share: the device, the operands, the entrants and the record they fill.
 */
#ifndef CUDAL2_MEASURE_BENCH_H
#define CUDAL2_MEASURE_BENCH_H

#include "base/random.h"
#include "base/text.h"
#include "config/config.h"
#include "contender/contender.h"
#include "contender/tuned.h"
#include "device/host_threads.h"
#include "measure/leak_watch.h"
#include "model/borrowed.h"
#include "operands/arenas.h"
#include "operands/operands.h"
#include "record/record.h"

struct ranker; /* choice/rank.h */

/* Tells the supervisor what is about to happen, so that a crash or hang has an owner: contender name ("" for the
 * harness itself), stage, and how long it may take before it counts as hung. */
typedef void (*stage_reporter)(void *context, const char *contender, const char *stage, double deadline_seconds);

/* A variant that cost an earlier try of this cell its worker; the tuner loses it alone, and not its contender. */
#define VARIANT_TAG_MAX 8
struct skipped_variant {
    char contender[RECORD_NAME_MAX];
    char tag[VARIANT_TAG_MAX];
    char reason[RECORD_REASON_MAX];
};

/* Launches that were timed, those whose output was judged, and how (measure/timed.h). */
struct timed_counts {
    uint64_t launches, judged, products, bands, rows;
    uint64_t alone;          /* of those judged: single launches, each on inputs of its own */
    double errors, error_sq; /* of elements judged, and the sum of their squares (measure/timed_error.h) */
    uint64_t slow_reads;     /* after which C took long to be read */
    uint64_t due;            /* the launch behind which a row is judged whatever else is drawn */
    bool owed;               /* the next segment of its headline timing is judged whatever else is drawn */
};

/* How often its threads were looked at when its inputs were new, and computed (verify/ahead.h). */
struct ahead_counts {
    unsigned trials, hits;
    double latest_ns;
};

/* A row of launches, prepared to be timed as one (device_ops.prepare). */
struct prepared_row {
    struct device_segment *segment; /* NULL: none */
    struct device_shape shape;      /* of that segment */
    bool replayed;                  /* once since it was prepared, untimed, and not counted as busy yet */
};

/* One contender taking part in this cell. */
struct entrant {
    const struct contender *contender;
    struct contender_record *record; /* in bench.record */
    bool alive;                      /* still racing; false once anything failed */
    bool set_up;
    void *state;      /* the contender's own, between setup and teardown */
    size_t first_set; /* of the operands */
    size_t n_sets;
    bool has_variants;
    char variant[sizeof(((struct cudal2_variant *)0)->key)]; /* "" for the contender's own choice */
    bool blame_variant;      /* a stage names the variant too, so that a crash is held against that one alone */
    unsigned shares_ranking; /* 1 + index of the entrant from whose ranking this one takes its variant; 0: its own */
    double estimate_ns;      /* of one launch, from a first look; decides the segment's length */
    double passes_ns;        /* sum of the headline times of this block's passes so far */
    struct device_work work;
    bool joins;                                  /* launches of its rows are joined, or tried for it (measure/join.h) */
    struct prepared_row row;                     /* of bench_row_timing */
    struct prepared_row beside[TIMING_COUNT];    /* of the other timings by segments, in groups that take them */
    struct device_segment *chains[TIMING_COUNT]; /* mode chain (measure/chain.h), else NULL */
    struct leak_watch leaks;
    unsigned grew;    /* of the latest segments under check, so many in a row that left more memory held */
    unsigned threads; /* most that began in one of its setups or checks */
    bool has_graph_work;
    struct device_work graph_work; /* one launch as a graph: the equal launch path; only where has_graph_work */
    double
        error_allowed;  /* RMS error of an output on N(0,1) inputs, relative to it; 0: not verified (measure/judge.h) */
    double error_bound; /* most of it that verification takes of a candidate; 0: not known, or a baseline */
    double error_shown, error_shown_of; /* that RMS error in verification, 0: not known, and of how many elements */
    struct timed_counts timed;
    struct ahead_counts ahead;
    char borrowed[BORROWED_TEXT]; /* "cuBLAS: nvjet_...": a kernel of its segments, by its name; "": none is known */
};

/* A candidate from a file that was named, a plugin or a manifest: somebody else's. */
static inline bool entrant_is_strangers(const struct entrant *entrant)
{
    const char *asked = entrant->contender->asked;
    return entrant->record->candidate && asked && text_is_contender_file(asked);
}

struct bench {
    const struct config *config;
    struct device *device;
    struct cudal2_problem problem;
    enum mode mode;
    enum timing headline;
    uint64_t seed;
    struct random random;
    struct operands *operands;
    struct arenas arenas; /* that the operands lie in */
    double fastest_ns;    /* least estimate of a living entrant */
    size_t sets_each;     /* sets of one contender, of all visits: 1, or more to average places or to rotate */
    unsigned visits;      /* places that a segment visits one after the other */
    bool in_blocks;       /* the cell is being measured, no longer raced */
    bool cooled;          /* the device has idled longer than between two segments since the last block */
    size_t n_sets;        /* of all contenders */
    bool warmed;          /* every path has run in this process: long launches need no further warm-up */
    bool shared_sets;     /* too large for the cache, paper's protocol: only an A/A copy has sets of its own */
    void *workspace;
    uint64_t memory_limit; /* bytes that the cell may hold at a time; 0: what the device has free (measure/room.h) */
    uint64_t memory_held;  /* of those, what it holds all the time: matrices, workspace, libraries */
    struct entrant entrants[RECORD_MAX_CONTENDERS];
    size_t n_entrants;
    struct device_segment *null_segment;
    struct chain *chain;              /* mode chain (measure/chain.h), else NULL */
    const struct tuned_tables *tuned; /* NULL: none */
    struct ranker *ranker;            /* NULL: no model's choice */
    double choice_ns;                 /* that candidates' choices and races of this cell have taken */
    double choice_since_ns;           /* when the present one began */
    double race_until_ns;             /* when its race ends; 0: no limit (measure/choose.h) */
    const cJSON *search;              /* cell_request.search (worker/cell.h); NULL: no search */
    const struct skipped_variant *skipped;
    size_t n_skipped;
    const char *identity;         /* of GPU, driver and libraries: part of the key of cached winners */
    const char *library_identity; /* the same without kernel sets (bench_identity); NULL: as above */
    struct cell_record *record;
    struct leak_meter leak_meter; /* begun around setups, and around teardowns, in a row */
    stage_reporter report;
    void *report_context;
    struct host_threads *threads; /* whose they are; NULL: nobody asks (verify/rivals.h) */
    uint64_t threads_marked_ns;
    struct cpu_filled *filled;            /* told what inputs are made of (measure/timed.h); NULL: nobody asks */
    struct timed *timed;                  /* checks of timed launches (measure/timed.h), or NULL */
    double part_since_ns, part_checks_ns; /* at the last mark (measure/parts.h) */
    bool judging;    /* verification is over: what timed launches compute is held against what is allowed */
    bool in_row;     /* contenders are set up one right after another */
    bool state_seen; /* no contender's code has run since what it may leave changed was looked for */
    /* NULL, or a trial's: called when the launch comes next, behind new inputs, or to put them (measure/timed.h). */
    int (*renewed)(void *context, struct error *err);
    void *renewed_context;
    /* NULL, or called once, ahead of a cell's first segments (verify/join_trial.h); non-zero as below. */
    int (*try_joins)(struct bench *bench, struct error *err);
    /* NULL, or called after every block (verify/honesty.h); non-zero only when the worker must end. */
    int (*between_blocks)(struct bench *bench, struct error *err);
};

/* The timing by segments that every entrant is prepared for: the headline's own, or device where events or the host
 * time the headline. */
enum timing bench_row_timing(const struct bench *bench);
/* The entrant's row for a timing by segments. */
struct prepared_row *bench_row(const struct bench *bench, struct entrant *entrant, enum timing timing);
/* Whether the cell takes this timing beside its headline: asked for, possible here, and a time of its own in the
 * cell's mode and cache state. */
bool bench_takes_beside(const struct bench *bench, enum timing timing);

/* Says that `entrant` (NULL: the harness) enters `stage`; of one whose variants are judged one by one, the stage reads
 * "tune:1a2b3c" with the tag of the variant, of one whose rows are joined (join.h) "measure:joined". The deadline is
 * later by what the problem's size asks for (room.h), in server mode also by the longest gap. */
void bench_stage(const struct bench *bench, const struct entrant *entrant, const char *stage, double deadline_seconds);

/* Six hex digits that stand for a variant's key. */
void variant_tag(const char *key, char tag[VARIANT_TAG_MAX]);
/* Whether the variant is to be left out; NULL when not. */
const struct skipped_variant *bench_skipped(const struct bench *bench, const struct entrant *entrant, const char *tag);
/* Writes a variant that is out down with its reason, in the record's tuning.rejected. */
void entrant_reject_variant(struct entrant *entrant, const char *key, const char *reason);

/* Marks the entrant out of the race with a verdict; the first verdict stays. Tears it down. */
void entrant_fail(struct bench *bench, struct entrant *entrant, enum verdict verdict, const char *stage,
                  const char *reason);

/* The same for a verdict that an answer or a behaviour has earned; with config->time_anyway and such a verdict
 * (record_is_refuted) the entrant stays in the race, marked invalid. */
void entrant_refute(struct bench *bench, struct entrant *entrant, enum verdict verdict, const char *stage,
                    const char *reason);

/* The time that no launch can take less than: the arithmetic at the device's peak, and where caches are flushed half of
 * A and B through its memory. 0 where no peak is known. */
double bench_floor_ns(const struct bench *bench);
/* False for a time below that, whatever the timing: no fast kernel but a broken measurement. */
bool bench_is_plausible(const struct bench *bench, double ns);

/* Takes the entrant out of the race as implausible_speed. */
void entrant_refuse_speed(struct bench *bench, struct entrant *entrant, enum timing timing, double ns);

/* What the operands of a group must hold for the entrants; `seed` decides the places. */
void bench_operands_request(const struct bench *bench, uint64_t seed, struct operands_request *out);

/* What is known of the contender from earlier depends on. Kernel sets have no code on the host and no part in what a
 * library does: a server that is handed a new one with each job would race and verify the libraries anew each time. */
const char *bench_identity(const struct bench *bench, const struct contender *contender);

/* Whoever of bench->entrants is set up is torn down, one right behind the other. */
void bench_teardown_all(struct bench *bench);

/* Matrices at other places, which `seed` decides, in another allocation of bench->arenas; they are not filled. Whoever
 * of bench->entrants is set up is torn down; other entrants must not be. Non-zero only when the worker must end. */
int bench_move(struct bench *bench, uint64_t seed, struct error *err);
/* Gives back all that the matrices lay in, of which there are none then. */
void bench_release_operands(struct bench *bench);

/* What inputs are made of. In a chain A is made of the C before it, which is not spread as B would be. */
static inline enum fill_kind bench_inputs(const struct bench *bench)
{
    return bench->mode == MODE_CHAIN ? FILL_NORMAL : FILL_SPREAD;
}
/* Fills all matrices, of a seed that follows from the cell's, and waits for it; or only begins to, ahead of what is put
 * into the device's stream from here on. */
int bench_begin_fill(struct bench *bench, const char *purpose, uint64_t index, struct error *err);
int bench_fill(struct bench *bench, const char *purpose, uint64_t index, struct error *err);
/* That seed. */
uint64_t bench_values(const struct bench *bench, const char *purpose, uint64_t index);
/* The seed of the pool that inputs on the CPU are made of, whether they are checked or timed. */
static inline uint64_t bench_pool(const struct bench *bench)
{
    return bench_values(bench, "pool", 0);
}

/* Threads of the process now, for entrant_threads; 0 where they are not counted. */
unsigned bench_threads(const struct bench *bench);
/* What began since then, the entrant has begun. A thread is no fault: the record says that there are some. */
void entrant_threads(const struct bench *bench, struct entrant *entrant, unsigned before);

/* What setup and list_variants receive for this entrant on the current operands; variant NULL for its own choice. */
struct cudal2_setup bench_setup(const struct bench *bench, const struct entrant *entrant, const char *variant);

/* Calls setup on the current operands with entrant->variant. Returns false and marks the entrant failed when it says
 * no. */
bool entrant_setup(struct bench *bench, struct entrant *entrant);
/* Calls it, and waits for what a candidate's own code on the host has put on the device by then (it may tune itself),
 * while its name is on the page: what never ends there is no other's hang. Non-zero only when the worker must end. */
int entrant_begin(struct bench *bench, struct entrant *entrant, struct error *err);
/* entrant_setup for a variant under trial: failure is returned in why[CUDAL2_WHY] and the entrant stays alive, not set
 * up.
 */
int entrant_try_setup(struct bench *bench, struct entrant *entrant, const char *variant, char *why);
/* Around a launch that is timed: where the contender has a process of its own it is awake in between, whatever is
 * launched; else each launch wakes it. */
void entrant_wake(const struct entrant *entrant);
/* Returns `code`; where that is 0, a verdict in err if its thread answered without coming back from a launch. */
int entrant_rest(const struct entrant *entrant, int code, struct error *err);
/* What the contender, set up, says of itself, into out; its name is on the stage page meanwhile. Returns the hook's
 * status. */
int entrant_ask(const struct bench *bench, const struct entrant *entrant, char *out, size_t capacity);
/* Keeps that in record->attributes, once, or {"describe_error": why} where it is no JSON object; a copy is described by
 * its original. */
void entrant_describe(const struct bench *bench, struct entrant *entrant);
/* Releases the segment and the contender's state; nothing when not set up. */
void entrant_teardown(struct bench *bench, struct entrant *entrant);

/* After an error inside an entrant's work: 0 if the device is well and the entrant has been failed, else the code that
 * ends the worker (err wrapped with the entrant's name). */
int entrant_fault(struct bench *bench, struct entrant *entrant, const char *stage, struct error *err);

#endif
