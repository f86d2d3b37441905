/*
 * fake_worker.h - a worker that speaks the protocol and misbehaves on order, for tests of the supervisor. The test
 * program is its own worker, started as `test_supervisor worker`. $CUDAL2_FAKE says what to do:
 *
 *     CUDAL2_FAKE="beta=crash,gamma@64=hang"  or  "start:2=exit,beta=crash"
 *
 * contender=action, in every cell or (@m) in those with this m; "harness" is the stage without contender; "start:n",
 * which comes first, acts in the first n starts (counted in the file $CUDAL2_FAKE_DIR/starts). "betaload=action" acts
 * while beta's plugin is loaded, "compile=action" while all kernels are compiled. Of workers that watch and time
 * nothing "betawatched=action" acts in beta's launch, "watcher=action" before any, "auditor=action" at the start
 * ("firstauditor" in the first of several), "recorder=none" says that there is no recorder. $CUDAL2_FAKE_KIND is the
 * kind of device they say they have. The contenders are alpha (a candidate), beta and gamma. $CUDAL2_FAKE_DIR/environ
 * lists the descriptors and variables that the process was given.
 */
#ifndef CUDAL2_TESTS_FAKE_WORKER_H
#define CUDAL2_TESTS_FAKE_WORKER_H

/* Returns the exit code. */
int fake_worker(void);

#endif
