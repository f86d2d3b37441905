/*
 * assets.c - the files of the HTML page inside the program. The assembler copies them in: no generated sources, and
 * they stay plain HTML, CSS and JavaScript. Used by page.c.
 */
#include "report/assets.h"

#define ASSET(name, file)                                                                                              \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".global " #name "\n" #name ":\n"                                                                          \
            ".incbin \"harness/report/html/" file "\"\n"                                                               \
            ".byte 0\n"                                                                                                \
            ".popsection\n")

ASSET(asset_page_html, "page.html");
ASSET(asset_page_css, "page.css");
ASSET(asset_model_js, "model.js");
ASSET(asset_table_js, "table.js");
ASSET(asset_charts_js, "charts.js");
ASSET(asset_detail_js, "detail.js");
ASSET(asset_compare_html, "compare.html");
ASSET(asset_compare_js, "compare.js");
ASSET(asset_page_js, "page.js");
