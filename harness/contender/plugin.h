/*
 * plugin.h - loads a plugin (.so) of the ABI in abi/contender.h and shows its contenders through struct contender.
 */
#ifndef CUDAL2_CONTENDER_PLUGIN_H
#define CUDAL2_CONTENDER_PLUGIN_H

#include "contender/contender.h"

#define PLUGIN_PATH_MAX 1024
#define PLUGIN_MAX_CONTENDERS 64

struct remote_plugin;

struct plugin {
    const struct cudal2_plugin *is;
    struct remote_plugin *remote; /* where it runs in a process of its own (plugin_remote.h); NULL: in this one */
    char path[PLUGIN_PATH_MAX];
    uint32_t abi;            /* that it was built for */
    bool usable;             /* its probe said yes */
    char reason[CUDAL2_WHY]; /* why not */
};

/* Checks the exported symbols, opens the object (RTLD_NOW | RTLD_LOCAL), checks the ABI version before any struct is
 * read, then every declaration, then calls its probe for the device (once). A plugin whose probe says no is loaded
 * and not `usable`. The object is never closed again (libtorch does not survive it), so *out stays valid until the
 * process ends. EXIT_CODE_UNAVAILABLE or EXIT_CODE_DATA with the reason. */
int plugin_open(const char *path, const struct device_info *device, struct plugin *out, struct error *err);

/* Name, number of contenders and every declaration; hooks too where they are here. EXIT_CODE_DATA. */
int plugin_check(const struct plugin *plugin, struct error *err);

/* Contender `index` of the plugin; plugin must stay where it is. */
void plugin_contender(const struct plugin *plugin, size_t index, enum contender_role role, struct contender *out);

/* As the hook `versions`; without the hook `out` stays as it is. */
int plugin_versions(const struct plugin *plugin, char *out, size_t capacity);

/* Name without "-nn" or "-tn" of the contender's own layout, into family (CONTENDER_NAME_MAX bytes); returns whether
 * there was a suffix. */
bool plugin_family(const struct cudal2_contender *c, char *family);

#endif
