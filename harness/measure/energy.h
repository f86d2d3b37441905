/*
 * energy.h - what a launch takes of energy, by the GPU's own counter over a long row of launches. Not part of what is
 * timed: it comes behind the last block of a cell. Relies on device.h and segment.h. Called by worker/cell.c.
 */
#ifndef CUDAL2_MEASURE_ENERGY_H
#define CUDAL2_MEASURE_ENERGY_H

#include "measure/bench.h"

/* The counter moves in steps of 20 to 100 ms. A stretch begins and ends with a step, and has so many and so long at
 * least: an end is then off by under 1%. */
#define ENERGY_STEPS 10u
#define ENERGY_STRETCH_NS 1e9
/* Without a step for so long it stands still. */
#define ENERGY_PATIENCE_NS 1e9
/* The counter is read after so much of launches, for reading it takes time in which nothing runs. */
#define ENERGY_LOOK_NS 2e6
/* Of a stretch, the share that launches ran in. Below it is the energy of idling that would be told. */
#define ENERGY_LEAST_BUSY 0.8

/* For each living entrant with a segment, offline: record.energy becomes {"joules": a launch, "gflop_per_joule",
 * "launches", "seconds", "steps", "busy"} of its stretch, or {"not_measured": why}. What a launch fails with is the
 * entrant's fault (entrant_fault); an error is the device's. */
int energy_measure(struct bench *bench, struct error *err);

#endif
