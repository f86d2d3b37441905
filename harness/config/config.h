/*
 * config.h - the config file (configs/; every key is described in configs/config.schema.json) as a struct. It is JSON
 * with comments (comments.h); every key but the shapes has a default, and some defaults follow the device.
 */
#ifndef CUDAL2_CONFIG_CONFIG_H
#define CUDAL2_CONFIG_CONFIG_H

#include "base/json.h"
#include "config/faults.h"
#include "model/config.h"

#define CONFIG_MAX_BYTES (3u << 20)  /* of a file */
#define CONFIG_TEXT_BYTES (4u << 20) /* of config_parse: a config with its grid and defaults written out is longer */
#define CONFIG_INPUT "-"             /* as a path: standard input */

/* The cap of a cell in that mode. */
double stop_cell_seconds(const struct stop_config *stop, enum mode mode);

/* Reads and checks the file, and tells all that is wrong with it: each fault is a line "file: $.path: what was
 * expected". Without a name the config has the file's; relative paths of contenders start at its directory. *out may be
 * used when no fault was added; free it in any case. */
void config_read(const char *path, struct config *out, struct faults *faults);

/* The same for who wants the first fault only: EXIT_CODE_DATA, and nothing is left to free. */
int config_load(const char *path, struct config *out, struct error *err);
/* The same from text (a journal, a pipe), whose paths start at the current directory. */
int config_parse(const char *text, size_t length, const char *source, struct config *out, struct error *err);
void config_free(struct config *c);

/* A config that names nothing: every default, no shapes. */
void config_defaults(struct config *c);

/* Fills in who is raced where the config does not name them: on CUDA all that NVIDIA ships, and our kernels against it;
 * on the CPU torch.matmul, OpenBLAS and an example. A config that names baselines alone has no candidate. Until
 * then the baselines are CUDA's. */
int config_settle(struct config *c, bool on_cuda, struct error *err);

/* "4096x4096x1024" as M, N and K, without a label; "4096x4096x1024:lda=1040:ldc=4104" with leading dimensions
 * (problem_args_parse). EXIT_CODE_DATA with what was expected. */
int shape_parse(const char *text, struct shape *out, struct error *err);

/* What no single key can tell: dtype against accumulate, stop rule, contenders. config_parse has called it; call it
 * again after changing a field. EXIT_CODE_DATA, the text names the key ("$.stop.max_blocks: ..."). */
int config_check(const struct config *c, struct error *err);

/* The type that the config's problems have on such a device. */
enum cudal2_dtype config_dtype(const struct config *c, bool on_cuda);

/* The accumulate types (bits) for a dtype: other types than f16 accumulate in f32 alone. */
uint32_t config_accumulates(const struct config *c, enum cudal2_dtype dtype);

/* Appends an owned copy of `name` to baselines or candidates. EXIT_CODE_DATA: empty, too long, already there, full. */
int config_add_name(char **names, const char *name, struct error *err);

/* Whether this baseline or candidate may be left out where this machine cannot run it: `optional` says so, or nobody
 * named it. */
bool config_is_optional(const struct config *c, const char *name);

/* Frees every name. */
void config_drop_names(char **names);

/* The config with every default filled in, as JSON that config_parse reads back to an equal struct; what the journal
 * keeps and its hash identifies. Owned by the caller. NULL out of memory. */
cJSON *config_to_json(const struct config *c);

#endif
