/*
 * screen_device - what measured, for the screen.
 */
#ifndef CUDAL2_REPORT_SCREEN_DEVICE_H
#define CUDAL2_REPORT_SCREEN_DEVICE_H

#include "report/screen_rows.h"

/* Adds the first worker's device, its driver and peak; and where several devices measured (several GPUs of a host, or a
 * run that went on on another), how many cells each did: a speedup is of one of them. */
void screen_device(struct screen *screen);

#endif
