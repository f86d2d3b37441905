/*
 * plugin_exports.h - reads what a shared object exports, before any of its code runs.
 */
#ifndef CUDAL2_CONTENDER_PLUGIN_EXPORTS_H
#define CUDAL2_CONTENDER_PLUGIN_EXPORTS_H

#include "base/error.h"

/* The largest file that is taken for a plugin. */
#define PLUGIN_MAX_BYTES (512u << 20)

/* 0 when the file is a 64-bit little-endian ELF shared object whose dynamic symbols are exactly cudal2_plugin and
 * cudal2_plugin_abi (names that linkers add by themselves, _init and the like, are let pass). A plugin that exports
 * more could interpose symbols of the libraries loaded after it. EXIT_CODE_DATA with the offending name otherwise.
 * Reads the table that the dynamic loader itself uses, not the section headers, which may say anything. */
int plugin_check_exports(const char *path, struct error *err);

#endif
