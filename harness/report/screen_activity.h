/*
 * screen_activity - what the recorder of GPU activity saw, for the screen (docs/lab/trust-details.md, "When everything
 * is timed").
 */
#ifndef CUDAL2_REPORT_SCREEN_ACTIVITY_H
#define CUDAL2_REPORT_SCREEN_ACTIVITY_H

#include "report/screen_rows.h"

/* Adds how many launches were watched and refuted, and by how much the recorder and device time agree; why nothing was
 * watched; nothing at all for a run without GPU activity. */
void screen_activity(struct screen *screen);

#endif
