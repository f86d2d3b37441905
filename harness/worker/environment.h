/*
 * environment.h - what a measurement depends on and a reader must know: device, driver, libraries, host, build. The
 * JSON goes into the journal as an `env` entry, one for each worker start:
 *
 * {"time":"...Z","worker":0,"device":{kind,name,uuid,driver,ordinal,cc,...},"libraries":{plugin:{...}},
 *  "named":{name:[contender,...]},"unavailable":{contender:reason},
 *  "host":{"system","kernel","machine","cpu","cpus","memory_bytes","threads"},
 *  "build":{"program_hash","compiler","flags","commit"},"variables":{"OMP_NUM_THREADS":"2",...}}
 *
 * "named" tells which contenders each name of the config or command line brought. "unavailable" names what was asked
 * for and is not there (a plugin by its file), and is left out where all is. The worker adds "isolation": what it had
 * given up by then (worker/confine.h).
 */
#ifndef CUDAL2_WORKER_ENVIRONMENT_H
#define CUDAL2_WORKER_ENVIRONMENT_H

#include "base/digest.h"
#include "base/json.h"
#include "contender/contender.h"
#include "contender/tuned.h"
#include "worker/cell.h"

/* Hash of the running executable's bytes. */
int environment_program_hash(char hex[DIGEST_HEX], struct error *err);

/* {"system":..., ...} of this machine alone, and {"program_hash":...} of this build: no device is touched. */
cJSON *environment_host(void);
int environment_build(cJSON **out, struct error *err);
/* Commit, its date, compiler and flags as two lines for people. */
void environment_add_build(struct text *out);

/* {name: [contender, ...]}, owned by the caller. */
cJSON *environment_named(const struct registry *registry);

/* The whole entry; owned by the caller. */
int environment_collect(const struct device *device, const struct registry *registry, int worker, cJSON **out,
                        struct error *err);

/* Adds the tuning tables in use to the entry's libraries, as "tuned"; nothing without a table. After
 * environment_identity: what a table chooses is never cached. */
void environment_add_tuned(cJSON *environment, const struct tuned_tables *tables);

/* Adds the plugins that the worker was told to leave out, because an earlier one was lost while it loaded them, as
 * "refused"; nothing without one. */
void environment_add_refused(cJSON *environment, const struct exclusion *refused, size_t n);

/* Whether measurements of `now` may stand beside those of `then`: same program, device kind, model, driver and
 * libraries, but for plugins that one of the workers was told to leave out. UUIDs and hosts may differ. EXIT_CODE_DATA
 * with the first difference where they may not. */
int environment_check_same(const cJSON *then, const cJSON *now, struct error *err);

/* Names GPU model, driver and libraries, not the program: what a cached race winner depends on. Of an entry as it was
 * collected. `without_sets_of` (or NULL): the registry that it is of, whose kernel sets are left out. */
void environment_identity(const cJSON *environment, const struct registry *without_sets_of, char hex[DIGEST_HEX]);

#endif
