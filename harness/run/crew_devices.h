/*
 * crew_devices.h - cores and locks of a crew's workers, taken once, when the crew opens.
 */
#ifndef CUDAL2_RUN_CREW_DEVICES_H
#define CUDAL2_RUN_CREW_DEVICES_H

#include "run/crew.h"

/* Gives every slot its cores, its GPU's UUID, and the lock of its GPU where it has none yet: lock_fd, which crew_close
 * gives back. */
int crew_take_devices(struct crew *crew, struct error *err);

#endif
