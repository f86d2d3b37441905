/*
 * caches.h - what of the cache on disk plugins can write, and so what of it is believed: an entry there says that
 * somebody passed, or which of a library's algorithms is its fastest. Called by worker.c and plugin_sandbox.c.
 */
#ifndef CUDAL2_WORKER_CACHES_H
#define CUDAL2_WORKER_CACHES_H

#include "model/config.h"
#include "worker/confine.h"

/* Whether one of the plugins is a stranger's, as caches_choose takes it. */
bool caches_strangers(const struct config *config, const char *plugin_directory);

/* Before this process is confined, which plugins will run in. Where one of them is a stranger's, they write a directory
 * of their own, which only workers with the same plugins read; what others left is read as well. `plugin_directory`:
 * NULL for the program's own, where no stranger's plugin is. */
void caches_choose(const struct config *config, const char *plugin_directory, struct confinement *c);

/* Where plugins run with `c` in force: without Landlock an earlier run's plugin may have written anything, and nothing
 * that decides a number is taken from the cache; compiled kernels are. */
void caches_believe(const struct confinement *c);

#endif
