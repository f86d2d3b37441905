/*
 * activity.h - what really ran on a device during one launch: every kernel, copy and memset, with its stream and its
 * time on one clock. Recording changes times, and for the rest of the process, so a process that times nothing does it.
 */
#ifndef CUDAL2_DEVICE_ACTIVITY_H
#define CUDAL2_DEVICE_ACTIVITY_H

#include "device/device.h"

enum activity_kind { ACTIVITY_KERNEL, ACTIVITY_COPY, ACTIVITY_MEMSET };

#define ACTIVITY_NAME_MAX 160
#define ACTIVITY_LOG_MAX 512

/* One piece of work. */
struct activity {
    enum activity_kind kind;
    bool in_graph; /* a node of a graph that was launched */
    uint32_t stream;
    int grid[3], block[3]; /* of a kernel */
    uint64_t bytes;        /* of the others */
    uint64_t start_ns, end_ns;
    char name[ACTIVITY_NAME_MAX]; /* of a kernel, as the compiler mangled it, cut short */
};

struct activity_log {
    size_t n, lost; /* lost: pieces that did not fit, or that the recorder dropped */
    struct activity list[ACTIVITY_LOG_MAX];
};

/* What to watch: one launch of `work`, or one replay of a prepared segment. */
struct watch_request {
    const struct device_work *work;
    size_t set;
    struct device_segment *segment; /* NULL: launch `work` */
    bool hold;                      /* the stream, until the launch has returned */
    double late_ns;                 /* how long to wait afterwards for work that comes late */
    uint64_t seed;                  /* of what tells the harness's own kernels from others */
};

/* What was seen. Everything that the stream orders lies between opened_ns and closed_ns. */
struct watched {
    bool complete;           /* the harness's own brackets were recorded, and nothing was lost */
    bool held;               /* the stream was held until the launch had returned */
    uint32_t stream;         /* the one that the launch was given */
    uint64_t opened_ns;      /* before this the stream did not let anything begin */
    uint64_t closed_ns;      /* when what came behind the launch in its stream began */
    uint64_t returned_ns;    /* when the host had waited for the device */
    struct activity_log log; /* by start, without the brackets */
};

/* Who watches, for as long as its process lives; the implementation embeds it first. */
struct watcher {
    /* Errors as device_ops: EXIT_CODE_VERIFICATION the launch said no, EXIT_CODE_UNAVAILABLE the device is lost. */
    int (*watch)(struct watcher *watcher, struct device *d, const struct watch_request *request, struct watched *out,
                 struct error *err);
    unsigned version; /* of the recorder */
    char path[512];   /* of its library */
};

#endif
