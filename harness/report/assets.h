/*
 * assets.h - the files under report/html/, built into the program.
 */
#ifndef CUDAL2_REPORT_ASSETS_H
#define CUDAL2_REPORT_ASSETS_H

/* Each ends with a NUL. */
extern const char asset_page_html[];
extern const char asset_page_css[];
extern const char asset_model_js[];
extern const char asset_table_js[];
extern const char asset_charts_js[], asset_detail_js[], asset_compare_html[], asset_compare_js[];
extern const char asset_page_js[];

#endif
