/*
 * walk.cuh - where a thread of fill.cu is in its matrix, piece after piece, without a division for each. The host's
 * test_fill_kernel compiles it as C.
 */
#ifndef CUDAL2_HARNESS_WALK_CUH
#define CUDAL2_HARNESS_WALK_CUH

/* A matrix as lines of `length` elements that lie one behind the other: element `place` of line `line` has the index
 * place * stride + line. A step is so many elements. */
struct walk {
    u64 length, stride, place, line, step_places, step_lines;
};

static __device__ __forceinline__ struct walk walk_from(u64 length, u64 stride, u64 at, u64 step)
{
    struct walk w = {length, stride, 0, 0, 0, 0};
    if ((length | at | step) >> 32) {
        w.place = at % length, w.line = at / length;
        w.step_places = step % length, w.step_lines = step / length;
    } else { /* takes a quarter of the time */
        w.place = (unsigned)at % (unsigned)length, w.line = (unsigned)at / (unsigned)length;
        w.step_places = (unsigned)step % (unsigned)length, w.step_lines = (unsigned)step / (unsigned)length;
    }
    return w;
}

static __device__ __forceinline__ u64 walk_index(const struct walk *w)
{
    return w->place * w->stride + w->line;
}

/* Whether so many elements from here on lie in this line. */
static __device__ __forceinline__ bool walk_has(const struct walk *w, u64 elements)
{
    return w->place + elements <= w->length;
}

static __device__ __forceinline__ void walk_by(struct walk *w, u64 places, u64 lines)
{
    w->place += places;
    w->line += lines;
    if (w->place >= w->length) {
        w->place -= w->length;
        w->line++;
    }
}

static __device__ __forceinline__ void walk_next(struct walk *w)
{
    walk_by(w, 1, 0);
}

static __device__ __forceinline__ void walk_step(struct walk *w)
{
    walk_by(w, w->step_places, w->step_lines);
}

#endif
