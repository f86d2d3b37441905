/*
 * plugin_remote.h - a plugin that runs in a process of its own, seen as struct plugin and struct contender are seen
 * elsewhere: loading it, and its hooks.
 */
#ifndef CUDAL2_CONTENDER_PLUGIN_REMOTE_H
#define CUDAL2_CONTENDER_PLUGIN_REMOTE_H

#include "contender/plugin_process.h"

/* A contender there: what `origin` of struct contender is. */
struct remote_contender {
    struct plugin_process *process;
    uint32_t index;
};

/* What the plugin said of itself, as it was when it was loaded. */
struct remote_plugin {
    struct plugin_process *process;
    struct cudal2_plugin is; /* its hooks are NULL: nothing of it can be called here */
    char name[CONTENDER_NAME_MAX];
    struct cudal2_contender contenders[PLUGIN_MAX_CONTENDERS];
    char names[PLUGIN_MAX_CONTENDERS][CONTENDER_NAME_MAX];
    struct remote_contender remote[PLUGIN_MAX_CONTENDERS];
    bool lists_variants[PLUGIN_MAX_CONTENDERS];
    bool tells_versions;
};

/* As plugin_open, in a new process of `all`. */
int remote_plugin_open(struct plugin_processes *all, const char *path, const struct device_info *device,
                       struct plugin *out, struct error *err);
void remote_plugin_close(struct plugin *plugin); /* the process stays until plugin_processes_close */

/* The hooks of contender `index`. */
const struct contender_ops *remote_plugin_ops(const struct remote_plugin *plugin, size_t index);

/* As the hook `versions` of abi/contender.h. */
int remote_plugin_versions(const struct remote_plugin *plugin, char *out, size_t capacity);

#endif
