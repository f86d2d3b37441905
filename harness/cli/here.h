/*
 * here.h - a device and its contenders in this process, for the commands that go without a worker.
 */
#ifndef CUDAL2_CLI_HERE_H
#define CUDAL2_CLI_HERE_H

#include "cli/options.h"
#include "contender/contender.h"
#include "device/device.h"

struct here {
    struct device *device;
    struct registry *registry;
};

/* Opens the device of --device and loads what the config names. here_close also after an error. */
int here_open(const struct options *options, const struct config *config, struct here *out, struct error *err);
void here_close(struct here *here);

#endif
